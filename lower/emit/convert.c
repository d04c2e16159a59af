/* SPDX-License-Identifier: MIT */
/* Conversions between element types.
 *
 * LLVM's own conversions are used where they round once and right on every target. Where a value would be rounded
 * twice on its way to a float of 16 bits or less, the first rounding is to odd: an inexact result gets its last bit
 * set, which the second rounding then takes for what it is, a value between two others. Floats of 8 bits are f32 on
 * their way (small_float.c). */
#include "lower/emit/emit_array.h"

#include <string.h>

static bool is_float(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT;
}

static bool is_signed(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED;
}

LLVMTypeRef tj_emit_dtype(tj_emitter *emitter, tj_dtype dtype) {
  const LLVMTypeRef types[TJ_DTYPE_COUNT] = {
#define DTYPE(name, bits, class, raw, llvm, ...) [TJ_DTYPE_##name] = emitter->llvm,
#include "base/number/dtype.def"
#undef DTYPE
  };
  return types[dtype];
}

static LLVMTypeRef type_like(tj_emitter *emitter, LLVMValueRef value, tj_dtype dtype) {
  return tj_emit_like(value, tj_emit_dtype(emitter, dtype));
}

static LLVMValueRef int_like(LLVMValueRef value, LLVMTypeRef type, uint64_t integer) {
  return tj_emit_splat(value, LLVMConstInt(type, integer, false));
}

/* --- to floats of 16 bits or less --- */

/* The upper halves of words, by twos where the target picks bytes of two words. */
static LLVMValueRef upper_halves(tj_emitter *emitter, LLVMValueRef words) {
  static const uint8_t upper[] = {2, 3, 6, 7};
  LLVMBuilderRef builder = emitter->builder;
  unsigned width = tj_emit_width(words);
  if (width % 2 != 0 || emitter->target->family->emit_bytes == NULL) {
    words = LLVMBuildLShr(builder, words, int_like(words, emitter->i32, 16), "");
    return LLVMBuildTrunc(builder, words, tj_emit_like(words, emitter->i16), "");
  }
  LLVMValueRef pairs = LLVMGetPoison(LLVMVectorType(emitter->i32, width / 2));
  for (unsigned i = 0; i < width; i += 2) {
    LLVMValueRef low = tj_emit_part(emitter, words, i, 1), high = tj_emit_part(emitter, words, i + 1, 1);
    LLVMValueRef pair = emitter->target->family->emit_bytes(emitter, low, high, upper);
    pairs = LLVMBuildInsertElement(builder, pairs, pair, LLVMConstInt(emitter->i32, i / 2, false), "");
  }
  return LLVMBuildBitCast(builder, pairs, tj_emit_like(words, emitter->i16), "");
}

/* Adds half a step, less one bit where the result is even already, and cuts off; NaNs become one of them, unless they
 * are no more than their upper halves, which nothing is carried to. */
static LLVMValueRef rounded_to_bfloat(tj_emitter *emitter, LLVMValueRef value) {
  enum { NAN_BITS = 0x7fc00000 };
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef bits = LLVMBuildBitCast(builder, value, tj_emit_like(value, emitter->i32), "");
  LLVMValueRef odd = LLVMBuildLShr(builder, bits, int_like(value, emitter->i32, 16), "");
  odd = LLVMBuildAnd(builder, odd, int_like(value, emitter->i32, 1), "");
  LLVMValueRef half = LLVMBuildAdd(builder, odd, int_like(value, emitter->i32, 0x7fff), "");
  LLVMValueRef result = LLVMBuildAdd(builder, bits, half, "");
  if (emitter->has_short_nans)
    return result;
  LLVMValueRef is_nan = LLVMBuildFCmp(builder, LLVMRealUNO, value, value, "");
  return LLVMBuildSelect(builder, is_nan, int_like(value, emitter->i32, NAN_BITS), result, "");
}

static LLVMValueRef bfloat_by_hand(tj_emitter *emitter, LLVMValueRef value) {
  LLVMValueRef words = tj_emit_in_parts(emitter, value, 1, rounded_to_bfloat);
  return LLVMBuildBitCast(emitter->builder, upper_halves(emitter, words), tj_emit_like(value, emitter->bf16), "");
}

/* A product as a sum with -0, of which the optimizer knows nothing: where it is rounded by the same instruction, LLVM
 * 22 adds 0, and what is to be -0 is not. */
static LLVMValueRef product_with_sign(tj_emitter *emitter, LLVMValueRef product) {
  enum { MINUS_ZERO = 0x80000000 };
  LLVMValueRef zero = tj_emit_hidden(emitter, LLVMConstInt(emitter->i32, MINUS_ZERO, false), TJ_DTYPE_f32);
  LLVMValueRef argument[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1),
                             tj_emit_repeated(emitter, zero, tj_emit_width(product))};
  return tj_emit_typed_intrinsic(emitter, "llvm.fma", argument, 3);
}

/* What has the bits of a number: of one that has been in a slot, the number itself. */
static LLVMValueRef behind_casts(LLVMValueRef value) {
  LLVMValueRef behind = value;
  while (LLVMGetInstructionOpcode(behind) == LLVMBitCast && LLVMIsAInstruction(behind) != NULL)
    behind = LLVMGetOperand(behind, 0);
  return LLVMTypeOf(behind) == LLVMTypeOf(value) ? behind : value;
}

static LLVMValueRef with_sign(tj_emitter *emitter, LLVMValueRef value) {
  LLVMValueRef number = behind_casts(value);
  LLVMOpcode op = LLVMGetInstructionOpcode(number);
  LLVMValueRef inner = op == LLVMFNeg ? behind_casts(LLVMGetOperand(number, 0)) : number;
  if (LLVMGetInstructionOpcode(inner) != LLVMFMul)
    return value;
  inner = product_with_sign(emitter, inner);
  return op == LLVMFNeg ? LLVMBuildFNeg(emitter->builder, inner, "") : inner;
}

/* Numbers of which the optimizer does not know what they are made of: products and sums of f16 that become bf16 LLVM
 * 22 gets wrong. */
static LLVMValueRef of_unknown_origin(tj_emitter *emitter, LLVMValueRef value) {
  LLVMBuilderRef builder = emitter->builder;
  if (LLVMIsAInstruction(value) == NULL)
    return value;
  LLVMValueRef bits = LLVMBuildBitCast(builder, value, tj_emit_like(value, emitter->i32), "");
  if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVectorTypeKind)
    return tj_emit_hidden(emitter, bits, TJ_DTYPE_f32);
  LLVMValueRef result = LLVMGetPoison(LLVMTypeOf(value));
  for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(value)); i++) {
    LLVMValueRef place = LLVMConstInt(emitter->i32, i, false);
    LLVMValueRef element = tj_emit_hidden(emitter, LLVMBuildExtractElement(builder, bits, place, ""), TJ_DTYPE_f32);
    result = LLVMBuildInsertElement(builder, result, element, place, "");
  }
  return result;
}

static LLVMValueRef short_from_float(tj_emitter *emitter, LLVMValueRef value, tj_dtype to) {
  if (tj_dtype_is_small_float(to))
    return value;
  if (to == TJ_DTYPE_bf16 && !emitter->target->has_bfloat_rounding)
    return bfloat_by_hand(emitter, value);
  if (to == TJ_DTYPE_bf16 && emitter->target->has_bfloat_sums)
    value = of_unknown_origin(emitter, value);
  if (to == TJ_DTYPE_f16 && emitter->target->has_short_sums)
    value = tj_emit_in_parts(emitter, value, tj_emit_float_lanes(emitter), with_sign);
  return LLVMBuildFPTrunc(emitter->builder, value, type_like(emitter, value, to), "");
}

static LLVMValueRef absolute(tj_emitter *emitter, LLVMValueRef value) {
  return tj_emit_typed_intrinsic(emitter, "llvm.fabs", &value, 1);
}

/* A double as a float, rounded to odd. */
static LLVMValueRef float_rounded_to_odd(tj_emitter *emitter, LLVMValueRef value) {
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef one = int_like(value, emitter->i32, 1);
  LLVMValueRef nearest = LLVMBuildFPTrunc(builder, value, tj_emit_like(value, emitter->f32), "");
  LLVMValueRef back = LLVMBuildFPExt(builder, nearest, tj_emit_like(value, emitter->f64), "");
  LLVMValueRef bits = LLVMBuildBitCast(builder, nearest, tj_emit_like(value, emitter->i32), "");
  LLVMValueRef is_exact = LLVMBuildFCmp(builder, LLVMRealUEQ, back, value, "");
  LLVMValueRef is_odd = LLVMBuildTrunc(builder, bits, tj_emit_like(value, emitter->i1), "");
  LLVMValueRef is_above = LLVMBuildFCmp(builder, LLVMRealOGT, absolute(emitter, back), absolute(emitter, value), "");
  LLVMValueRef step =
      LLVMBuildSelect(builder, is_above, LLVMConstAllOnes(tj_emit_like(value, emitter->i32)), one, "");
  LLVMValueRef keeps = LLVMBuildOr(builder, is_exact, is_odd, "");
  LLVMValueRef odd = LLVMBuildSelect(builder, keeps, bits, LLVMBuildAdd(builder, bits, step, ""), "");
  return LLVMBuildBitCast(builder, odd, tj_emit_like(value, emitter->f32), "");
}

static LLVMValueRef short_from_double(tj_emitter *emitter, LLVMValueRef value, tj_dtype to) {
  return short_from_float(emitter, float_rounded_to_odd(emitter, value), to);
}

/* --- integers to floats --- */

/* A 64-bit integer that a double holds, and that rounds as `value` does to far fewer bits: beyond 2^53, the last 11
 * bits become one bit that says whether any of them was set. */
static LLVMValueRef with_sticky_bit(tj_emitter *emitter, LLVMValueRef value, bool is_signed_integer) {
  enum { LOW_BITS = 0x7ff };
  LLVMBuilderRef builder = emitter->builder;
  LLVMValueRef exact = int_like(value, emitter->i64, (uint64_t)1 << 53);
  LLVMValueRef twice = int_like(value, emitter->i64, (uint64_t)1 << 54);
  LLVMValueRef distance = is_signed_integer ? LLVMBuildAdd(builder, value, exact, "") : value;
  LLVMValueRef is_large = LLVMBuildICmp(builder, LLVMIntUGT, distance, is_signed_integer ? twice : exact, "");
  LLVMValueRef low = LLVMBuildAnd(builder, value, int_like(value, emitter->i64, LOW_BITS), "");
  LLVMValueRef high = LLVMBuildXor(builder, value, low, "");
  LLVMValueRef has_low = LLVMBuildICmp(builder, LLVMIntNE, low, int_like(value, emitter->i64, 0), "");
  LLVMValueRef sticky = LLVMBuildSelect(builder, has_low, int_like(value, emitter->i64, LOW_BITS + 1),
                                        int_like(value, emitter->i64, 0), "");
  return LLVMBuildSelect(builder, is_large, LLVMBuildOr(builder, high, sticky, ""), value, "");
}

static LLVMValueRef nearest_float(tj_emitter *emitter, LLVMValueRef value, bool is_signed_integer, LLVMTypeRef type) {
  return is_signed_integer ? LLVMBuildSIToFP(emitter->builder, value, type, "")
                           : LLVMBuildUIToFP(emitter->builder, value, type, "");
}

/* Whether integers beyond f32's 24 bits are beyond the type's range, too, so that an f32 between is no harm. */
static bool is_of_short_range(tj_dtype dtype) {
  tj_float_form form = tj_dtype_form(dtype);
  return (int32_t)(tj_float_largest(&form) >> form.mantissa) - form.bias < 24;
}

static LLVMValueRef float_from_int(tj_emitter *emitter, LLVMValueRef value, tj_dtype from, tj_dtype to) {
  bool sign = is_signed(from);
  if (to == TJ_DTYPE_f32 || to == TJ_DTYPE_f64)
    return nearest_float(emitter, value, sign, type_like(emitter, value, to));
  if (tj_dtype_bits(from) <= 16 || is_of_short_range(to))
    return short_from_float(emitter, nearest_float(emitter, value, sign, tj_emit_like(value, emitter->f32)), to);
  if (tj_dtype_bits(from) == 64)
    value = with_sticky_bit(emitter, value, sign);
  return short_from_double(emitter, nearest_float(emitter, value, sign, tj_emit_like(value, emitter->f64)), to);
}

/* --- the others --- */

/* Two of them are the halves of a word. */
LLVMValueRef tj_emit_floats_of_words(tj_emitter *emitter, LLVMValueRef value) {
  enum { UPPER = 0xffff0000 };
  LLVMBuilderRef builder = emitter->builder;
  uint32_t count = LLVMGetVectorSize(LLVMTypeOf(value)) / 2;
  LLVMTypeRef type = count > 1 ? LLVMVectorType(emitter->i32, count) : emitter->i32;
  LLVMValueRef words = LLVMBuildBitCast(builder, value, type, "");
  LLVMValueRef all = LLVMGetPoison(LLVMVectorType(emitter->f32, 2 * count));
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef word = tj_emit_part(emitter, words, i, 1);
    LLVMValueRef low = LLVMBuildShl(builder, word, int_like(word, emitter->i32, 16), "");
    LLVMValueRef high = LLVMBuildAnd(builder, word, int_like(word, emitter->i32, UPPER), "");
    all = tj_emit_with_element(emitter, all, LLVMBuildBitCast(builder, low, emitter->f32, ""), 2 * i);
    all = tj_emit_with_element(emitter, all, LLVMBuildBitCast(builder, high, emitter->f32, ""), 2 * i + 1);
  }
  return all;
}

/* As the upper half of an f32. Of extensions LLVM 22 makes arithmetic in bf16, extended afterwards, and of that,
 * where there are no instructions for it, arithmetic in f32 that is rounded again, on CPUs by a routine that kernels
 * are not linked with. */
static LLVMValueRef float_by_hand(tj_emitter *emitter, LLVMValueRef value) {
  LLVMBuilderRef builder = emitter->builder;
  uint32_t width = tj_emit_width(value);
  if (width % 2 == 0 && tj_emit_has_parts(emitter, width, 1))
    return tj_emit_floats_of_words(emitter, value);
  LLVMValueRef bits = LLVMBuildBitCast(builder, value, tj_emit_like(value, emitter->i16), "");
  LLVMValueRef wide = LLVMBuildZExt(builder, bits, tj_emit_like(value, emitter->i32), "");
  LLVMValueRef upper = LLVMBuildShl(builder, wide, int_like(value, emitter->i32, 16), "");
  return LLVMBuildBitCast(builder, upper, tj_emit_like(value, emitter->f32), "");
}

/* f16 and bf16 as f32; the rest as it is. */
static LLVMValueRef at_least_float(tj_emitter *emitter, LLVMValueRef value, tj_dtype dtype) {
  if (dtype == TJ_DTYPE_bf16 && !emitter->target->has_bfloat_arithmetic)
    return float_by_hand(emitter, value);
  if (tj_dtype_bits(dtype) == 16)
    return LLVMBuildFPExt(emitter->builder, value, tj_emit_like(value, emitter->f32), "");
  return value;
}

static LLVMValueRef float_from_float(tj_emitter *emitter, LLVMValueRef value, tj_dtype from, tj_dtype to) {
  value = at_least_float(emitter, value, from);
  if (tj_dtype_bits(to) <= 16)
    return from == TJ_DTYPE_f64 ? short_from_double(emitter, value, to) : short_from_float(emitter, value, to);
  LLVMTypeRef type = type_like(emitter, value, to);
  if (from == TJ_DTYPE_f64)
    return LLVMBuildFPTrunc(emitter->builder, value, type, "");
  return LLVMTypeOf(value) == type ? value : LLVMBuildFPExt(emitter->builder, value, type, "");
}

static LLVMValueRef int_from_float(tj_emitter *emitter, LLVMValueRef value, tj_dtype from, tj_dtype to) {
  value = at_least_float(emitter, value, from);
  LLVMTypeRef overloads[] = {type_like(emitter, value, to), LLVMTypeOf(value)};
  const char *name = is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  return tj_emit_intrinsic(emitter, name, overloads, 2, &value, 1);
}

static LLVMValueRef int_from_int(tj_emitter *emitter, LLVMValueRef value, tj_dtype from, tj_dtype to) {
  return LLVMBuildIntCast2(emitter->builder, value, type_like(emitter, value, to), is_signed(from), "");
}

LLVMValueRef tj_emit_converted(tj_emitter *emitter, LLVMValueRef number, tj_dtype from, tj_dtype to) {
  if (from == to)
    return number;
  if (is_float(to))
    return is_float(from) ? float_from_float(emitter, number, from, to) : float_from_int(emitter, number, from, to);
  return is_float(from) ? int_from_float(emitter, number, from, to) : int_from_int(emitter, number, from, to);
}

/* --- constants --- */

static LLVMValueRef wide_bits(tj_emitter *emitter, int64_t value) {
  uint64_t words[] = {(uint64_t)value, value < 0 ? UINT64_MAX : 0};
  LLVMValueRef parts[4];
  for (unsigned i = 0; i < 4; i++)
    parts[i] = LLVMConstInt(emitter->i32, (words[i / 2] >> (32 * (i % 2))) & UINT32_MAX, false);
  return LLVMConstVector(parts, 4);
}

LLVMValueRef tj_emit_element(tj_emitter *emitter, int64_t value, tj_dtype dtype) {
  if (tj_dtype_bits(dtype) > 64)
    return wide_bits(emitter, value);
  LLVMValueRef integer = LLVMConstInt(emitter->i64, (uint64_t)value, false);
  if (!is_float(dtype))
    return LLVMBuildIntCast2(emitter->builder, integer, tj_emit_dtype(emitter, dtype), true, "");
  LLVMValueRef number = tj_emit_converted(emitter, integer, TJ_DTYPE_i64, dtype);
  return tj_emit_number_bits(emitter, number, dtype);
}
