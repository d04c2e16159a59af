/* SPDX-License-Identifier: MIT */
/* Numbers of 4 bits, two to a byte: unsigned and signed integers, and floats of two bits of exponent and one of
 * fraction, whose bits in the right places of a wider float are their size, but for a power of two. What is packed is
 * rounded to the nearest, ties to even, and saturates; NaN becomes 0, as -0 does where that is no code. */
#include "lower/emit/emit_array.h"

typedef struct {
  tj_emitter *emitter;
  LLVMBuilderRef builder;
  LLVMTypeRef element, integer; /* of f32 or f64 */
  bool is_double;
} halves;

static halves halves_of(tj_emitter *emitter, tj_dtype dtype) {
  bool is_double = dtype == TJ_DTYPE_f64;
  return (halves){emitter, emitter->builder, is_double ? emitter->f64 : emitter->f32,
                  is_double ? emitter->i64 : emitter->i32, is_double};
}

static LLVMValueRef integer(const halves *h, LLVMValueRef like, uint64_t value) {
  return tj_emit_splat(like, LLVMConstInt(h->integer, value, false));
}

static LLVMValueRef real(const halves *h, LLVMValueRef like, double value) {
  return tj_emit_splat(like, LLVMConstReal(h->element, value));
}

/* --- from bytes --- */

static LLVMValueRef float_of(const halves *h, LLVMValueRef code) {
  LLVMBuilderRef b = h->builder;
  unsigned fraction = h->is_double ? 51 : 22, sign = h->is_double ? 60 : 28;
  LLVMValueRef size = LLVMBuildAnd(b, code, integer(h, code, 7), ""), side = integer(h, code, 8);
  size = LLVMBuildShl(b, size, integer(h, code, fraction), "");
  side = LLVMBuildShl(b, LLVMBuildAnd(b, code, side, ""), integer(h, code, sign), "");
  LLVMValueRef bits = LLVMBuildOr(b, size, side, "");
  LLVMValueRef number = LLVMBuildBitCast(b, bits, tj_emit_like(code, h->element), "");
  return LLVMBuildFMul(b, number, real(h, code, h->is_double ? 0x1p1022 : 0x1p126), "");
}

LLVMValueRef tj_emit_number_of_half(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef byte) {
  const halves h = halves_of(emitter, dtype);
  LLVMBuilderRef b = h.builder;
  LLVMValueRef code = LLVMBuildZExt(b, byte, tj_emit_like(byte, h.integer), "");
  LLVMTypeRef type = tj_emit_like(byte, h.element);
  if (op == TJ_ARRAY_f4e2m1)
    return float_of(&h, code);
  if (op == TJ_ARRAY_u4)
    return LLVMBuildUIToFP(b, LLVMBuildAnd(b, code, integer(&h, code, 15), ""), type, "");
  LLVMValueRef unused = integer(&h, code, h.is_double ? 60 : 28);
  return LLVMBuildSIToFP(b, LLVMBuildAShr(b, LLVMBuildShl(b, code, unused, ""), unused, ""), type, "");
}

/* --- to bytes --- */

static LLVMValueRef call(const halves *h, const char *name, LLVMValueRef x, LLVMValueRef y) {
  return tj_emit_typed_intrinsic(h->emitter, name, (LLVMValueRef[]){x, y}, y == NULL ? 1 : 2);
}

static LLVMValueRef is_less(const halves *h, LLVMValueRef x, LLVMValueRef y) {
  return LLVMBuildFCmp(h->builder, LLVMRealOLT, x, y, "");
}

static LLVMValueRef is_at_least(const halves *h, LLVMValueRef x, double least) {
  return LLVMBuildFCmp(h->builder, LLVMRealOGE, x, real(h, x, least), "");
}

static LLVMValueRef plus_where(const halves *h, LLVMValueRef truth, LLVMValueRef x, double more) {
  LLVMValueRef sum = LLVMBuildFAdd(h->builder, x, real(h, x, more), "");
  return LLVMBuildSelect(h->builder, truth, sum, x, "");
}

static LLVMValueRef within(const halves *h, LLVMValueRef x, double low, double high) {
  x = LLVMBuildSelect(h->builder, is_less(h, x, real(h, x, low)), real(h, x, low), x, "");
  return LLVMBuildSelect(h->builder, is_less(h, real(h, x, high), x), real(h, x, high), x, "");
}

static LLVMValueRef code_of_integer(const halves *h, LLVMValueRef x, bool is_signed) {
  x = call(h, "llvm.roundeven", within(h, x, is_signed ? -8 : 0, is_signed ? 7 : 15), NULL);
  return is_signed ? plus_where(h, is_less(h, x, real(h, x, 0)), x, 16) : x;
}

/* Below 2 steps are of 1/2, below 4 of 1, from there on of 2. */
static LLVMValueRef code_of_float(const halves *h, LLVMValueRef x) {
  LLVMBuilderRef b = h->builder;
  LLVMValueRef size = within(h, call(h, "llvm.fabs", x, NULL), 0, 6);
  LLVMValueRef is_middle = is_at_least(h, size, 2), is_large = is_at_least(h, size, 4);
  LLVMValueRef scale = LLVMBuildSelect(b, is_middle, real(h, x, 1), real(h, x, 2), "");
  scale = LLVMBuildSelect(b, is_large, real(h, x, 0.5), scale, "");
  LLVMValueRef code = call(h, "llvm.roundeven", LLVMBuildFMul(b, size, scale, ""), NULL);
  code = plus_where(h, is_large, plus_where(h, is_middle, code, 2), 2);
  LLVMValueRef side = call(h, "llvm.copysign", real(h, x, 1), x);
  return plus_where(h, is_less(h, side, real(h, x, 0)), code, 8);
}

static LLVMValueRef code_of(const halves *h, tj_array_op op, LLVMValueRef x) {
  LLVMValueRef code =
      op == TJ_ARRAY_pack_f4e2m1 ? code_of_float(h, x) : code_of_integer(h, x, op == TJ_ARRAY_pack_i4);
  LLVMValueRef is_number = LLVMBuildFCmp(h->builder, LLVMRealORD, x, x, "");
  return LLVMBuildSelect(h->builder, is_number, code, LLVMConstNull(LLVMTypeOf(x)), "");
}

LLVMValueRef tj_emit_byte_of_halves(tj_emitter *emitter, tj_array_op op, tj_dtype dtype, LLVMValueRef number[2]) {
  const halves h = halves_of(emitter, dtype);
  LLVMValueRef low = code_of(&h, op, number[0]), high = code_of(&h, op, number[1]);
  LLVMValueRef upper = LLVMBuildFMul(h.builder, high, real(&h, high, 16), "");
  return call(&h, "llvm.fabs", LLVMBuildFAdd(h.builder, upper, low, ""), NULL);
}
