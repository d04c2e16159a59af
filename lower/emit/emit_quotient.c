/* SPDX-License-Identifier: MIT */
/* Quotients of many numbers by one.
 *
 * z and z' are 1/b as a number and what it lacks: z' is not negative, so that quotients of zeros have their signs.
 * q = a z + a z' is one of the two numbers around a/b, and a - b q a number; so q + (a - b q) / b, rounded once, is
 * a/b rounded once, for no quotient is close enough to the middle between two numbers for what 1/b lacks. (Markstein)
 * That holds as long as nothing is too small for its last bits or too large: b within 2^-32 and 2^32, q from 2^-64
 * on. Infinities make q NaN. Where a vector has any other, all of it is divided. */
#include "lower/emit/emit_array.h"

/* A vector's quotients in the making. */
typedef struct {
  tj_emitter *emitter;
  LLVMBuilderRef builder;
  LLVMTypeRef element;
  LLVMValueRef dividend, divisor; /* a vector; its element of which all lanes have one */
  bool is_double;
} quotients;

/* Of f32 and f64. */
static LLVMValueRef limit(const quotients *q, double single, double twice) {
  return LLVMConstReal(q->element, q->is_double ? twice : single);
}

static LLVMValueRef fma_of(const quotients *q, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) {
  return tj_emit_typed_intrinsic(q->emitter, "llvm.fma", (LLVMValueRef[]){x, y, z}, 3);
}

static LLVMValueRef absolute(const quotients *q, LLVMValueRef x) {
  return tj_emit_typed_intrinsic(q->emitter, "llvm.fabs", &x, 1);
}

/* --- by the reciprocal --- */

/* What 1/b is more than `reciprocal`, nearly. */
static LLVMValueRef lacking(const quotients *q, LLVMValueRef negative, LLVMValueRef reciprocal) {
  LLVMValueRef one = LLVMConstReal(q->element, 1);
  return LLVMBuildFMul(q->builder, fma_of(q, negative, reciprocal, one), reciprocal, "");
}

/* The number before a positive one. */
static LLVMValueRef number_before(const quotients *q, LLVMValueRef x) {
  LLVMTypeRef integer = q->is_double ? q->emitter->i64 : q->emitter->i32;
  LLVMValueRef bits = LLVMBuildBitCast(q->builder, x, integer, "");
  return LLVMBuildBitCast(q->builder, LLVMBuildSub(q->builder, bits, LLVMConstInt(integer, 1, false), ""), q->element,
                          "");
}

static LLVMValueRef by_reciprocal(const quotients *q) {
  LLVMBuilderRef b = q->builder;
  uint32_t width = LLVMGetVectorSize(LLVMTypeOf(q->dividend));
  LLVMValueRef zero = LLVMConstReal(q->element, 0), negative = LLVMBuildFNeg(b, q->divisor, "");
  LLVMValueRef reciprocal = LLVMBuildFDiv(b, LLVMConstReal(q->element, 1), q->divisor, "");
  LLVMValueRef is_more = LLVMBuildFCmp(b, LLVMRealOLT, lacking(q, negative, reciprocal), zero, "");
  LLVMValueRef below = LLVMBuildSelect(b, is_more, number_before(q, reciprocal), reciprocal, "");
  LLVMValueRef rest = tj_emit_repeated(q->emitter, lacking(q, negative, below), width);
  LLVMValueRef near =
      fma_of(q, q->dividend, tj_emit_repeated(q->emitter, below, width), LLVMBuildFMul(b, q->dividend, rest, ""));
  LLVMValueRef excess =
      fma_of(q, tj_emit_repeated(q->emitter, q->divisor, width), near, LLVMBuildFNeg(b, q->dividend, ""));
  LLVMValueRef back = tj_emit_repeated(q->emitter, LLVMBuildFNeg(b, reciprocal, ""), width);
  return fma_of(q, excess, back, near);
}

/* --- where that is right --- */

static LLVMValueRef divisor_is_usual(const quotients *q) {
  LLVMValueRef low = LLVMBuildFCmp(q->builder, LLVMRealOGE, q->divisor, limit(q, 0x1p-32, 0x1p-256), "");
  LLVMValueRef high = LLVMBuildFCmp(q->builder, LLVMRealOLE, q->divisor, limit(q, 0x1p32, 0x1p256), "");
  return LLVMBuildAnd(q->builder, low, high, "");
}

static LLVMValueRef truth_at(const quotients *q, LLVMValueRef truths, uint32_t lane) {
  return LLVMBuildExtractElement(q->builder, truths, LLVMConstInt(q->emitter->i32, lane, false), "");
}

static LLVMValueRef all_of(const quotients *q, LLVMValueRef truths) {
  if (q->emitter->target->wave_size == 1)
    return tj_emit_typed_intrinsic(q->emitter, "llvm.vector.reduce.and", &truths, 1);
  LLVMValueRef all = truth_at(q, truths, 0);
  for (uint32_t lane = 1; lane < LLVMGetVectorSize(LLVMTypeOf(truths)); lane++)
    all = LLVMBuildAnd(q->builder, all, truth_at(q, truths, lane), "");
  return all;
}

static LLVMValueRef are_large(const quotients *q, LLVMValueRef sizes) {
  return LLVMBuildFCmp(q->builder, LLVMRealOGE, sizes, tj_emit_splat(sizes, limit(q, 0x1p-64, 0x1p-512)), "");
}

static LLVMValueRef all_large(const quotients *q, LLVMValueRef found) {
  LLVMValueRef sizes = absolute(q, found);
  if (q->is_double || !q->emitter->target->has_extremes)
    return all_of(q, are_large(q, sizes));
  return are_large(q, tj_emit_typed_intrinsic(q->emitter, "llvm.vector.reduce.fminimum", &sizes, 1));
}

LLVMValueRef tj_emit_quotients(tj_emitter *emitter, tj_dtype dtype, LLVMValueRef dividend, LLVMValueRef divisors) {
  LLVMBuilderRef b = emitter->builder;
  LLVMValueRef first = LLVMBuildExtractElement(b, divisors, LLVMConstInt(emitter->i32, 0, false), "");
  const quotients q = {emitter, b, LLVMTypeOf(first), dividend, first, dtype == TJ_DTYPE_f64};
  LLVMBasicBlockRef each = tj_emit_block(emitter, "each"), after = tj_emit_block(emitter, "divided");
  LLVMValueRef found = by_reciprocal(&q), is_right = all_large(&q, found);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
  LLVMBuildCondBr(b, LLVMBuildAnd(b, divisor_is_usual(&q), is_right, ""), after, each);
  LLVMPositionBuilderAtEnd(b, each);
  LLVMValueRef divided = LLVMBuildFDiv(b, dividend, divisors, "");
  LLVMBuildBr(b, after);
  LLVMPositionBuilderAtEnd(b, after);
  LLVMValueRef result = LLVMBuildPhi(b, LLVMTypeOf(dividend), "quotients");
  LLVMAddIncoming(result, (LLVMValueRef[]){found, divided}, (LLVMBasicBlockRef[]){before, each}, 2);
  return result;
}
