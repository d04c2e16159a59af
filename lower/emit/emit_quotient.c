/* SPDX-License-Identifier: MIT */
/* Quotients of many numbers by one.
 *
 * z and z' are 1/b as a number and what it lacks: z' is not negative, so that quotients of zeros have their signs.
 * q = a z + a z' is one of the two numbers around a/b, and a - b q a number; so q + (a - b q) / b, rounded once, is
 * a/b rounded once, for no quotient is close enough to the middle between two numbers for what 1/b lacks. (Markstein)
 * That holds as long as nothing is too small for its last bits or too large: b within 2^-32 and 2^32, q from 2^-64
 * on. Infinities make q NaN. Where a vector has any other but zeros, all of it is divided: on GPUs, where a division
 * is dozens of instructions, zeros, which masks leave, too, are asked for before.
 *
 * Where f64 is as fast as f32, quotients of f32 are products in f64, which have no such limits.
 *
 * Where quotients of f32 become shorter floats at once, most are known by less: a/b lies between a l and a h, l and h
 * being the numbers on both sides of 1/b, or both 1/b; so where these round to one short float, a/b rounds to it,
 * too, be it tiny or not a number. Vectors in which one does not are divided. */
#include "lower/emit/emit_array.h"

enum { MOST_LANES = 64 };

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

/* For each of the dividends. */
static LLVMValueRef repeated(const quotients *q, LLVMValueRef number) {
  return tj_emit_repeated(q->emitter, number, LLVMGetVectorSize(LLVMTypeOf(q->dividend)));
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

/* A number's neighbour, one bit away, where a truth says so. */
static LLVMValueRef neighbour_where(const quotients *q, LLVMValueRef is_there, LLVMValueRef x, int64_t distance) {
  LLVMTypeRef integer = q->is_double ? q->emitter->i64 : q->emitter->i32;
  LLVMValueRef bits = LLVMBuildBitCast(q->builder, x, integer, "");
  LLVMValueRef moved = LLVMBuildAdd(q->builder, bits, LLVMConstInt(integer, (uint64_t)distance, true), "");
  return LLVMBuildSelect(q->builder, is_there, LLVMBuildBitCast(q->builder, moved, q->element, ""), x, "");
}

static void make_reciprocal(const quotients *q, tj_divisor *divisor) {
  LLVMBuilderRef b = q->builder;
  LLVMValueRef zero = LLVMConstReal(q->element, 0), negative = LLVMBuildFNeg(b, q->divisor, "");
  LLVMValueRef reciprocal = LLVMBuildFDiv(b, LLVMConstReal(q->element, 1), q->divisor, "");
  LLVMValueRef is_more = LLVMBuildFCmp(b, LLVMRealOLT, lacking(q, negative, reciprocal), zero, "");
  divisor->reciprocal = reciprocal;
  divisor->below = neighbour_where(q, is_more, reciprocal, -1);
  divisor->rest = lacking(q, negative, divisor->below);
}

static LLVMValueRef by_reciprocal(const quotients *q, const tj_divisor *divisor) {
  LLVMBuilderRef b = q->builder;
  LLVMValueRef near = fma_of(q, q->dividend, repeated(q, divisor->below),
                             LLVMBuildFMul(b, q->dividend, repeated(q, divisor->rest), ""));
  LLVMValueRef excess = fma_of(q, repeated(q, q->divisor), near, LLVMBuildFNeg(b, q->dividend, ""));
  return fma_of(q, excess, repeated(q, LLVMBuildFNeg(b, divisor->reciprocal, "")), near);
}

/* --- by the reciprocal in f64 --- */

/* z and z' in f64 are 1/b to 100 bits, of which z' has the sign that z has. What a z + a z' comes to in f64 is on the
 * same side as a/b of whatever lies between two f32, or there where a/b is; so it rounds as a/b does, be it tiny or
 * not a number. */
static void make_double(const quotients *q, tj_divisor *made) {
  LLVMBuilderRef b = q->builder;
  LLVMTypeRef twice = q->emitter->f64;
  LLVMValueRef one = LLVMConstReal(twice, 1), divisor = LLVMBuildFPExt(b, q->divisor, twice, "");
  LLVMValueRef reciprocal = LLVMBuildFDiv(b, one, divisor, "");
  LLVMValueRef below = LLVMBuildFMul(b, reciprocal, LLVMConstReal(twice, 1 - 0x1p-52), "");
  LLVMValueRef rest = fma_of(q, LLVMBuildFNeg(b, divisor, ""), below, one);
  LLVMValueRef is_usual = LLVMBuildFCmp(b, LLVMRealORD, rest, rest, "");
  made->below = LLVMBuildSelect(b, is_usual, below, reciprocal, "");
  made->rest = LLVMBuildSelect(b, is_usual, LLVMBuildFMul(b, rest, below, ""), reciprocal, "");
}

static LLVMValueRef part_by_double(const quotients *q, const tj_divisor *divisor, LLVMValueRef part, uint32_t lanes) {
  LLVMBuilderRef b = q->builder;
  LLVMValueRef dividend = LLVMBuildFPExt(b, part, tj_emit_like(part, q->emitter->f64), "");
  LLVMValueRef tail = LLVMBuildFMul(b, dividend, tj_emit_repeated(q->emitter, divisor->rest, lanes), "");
  LLVMValueRef quotient = fma_of(q, dividend, tj_emit_repeated(q->emitter, divisor->below, lanes), tail);
  return LLVMBuildFPTrunc(b, quotient, LLVMTypeOf(part), "");
}

static LLVMValueRef by_double(const quotients *q, const tj_divisor *divisor) {
  uint32_t width = LLVMGetVectorSize(LLVMTypeOf(q->dividend)),
           lanes = tj_emit_has_parts(q->emitter, width, 1) ? 1 : width;
  LLVMValueRef all = NULL;
  for (uint32_t lane = 0; lane < width; lane += lanes) {
    LLVMValueRef part = tj_emit_part(q->emitter, q->dividend, lane, lanes);
    all = tj_emit_with_part(q->emitter, all, width, part_by_double(q, divisor, part, lanes), lane);
  }
  return all;
}

/* --- where that is right --- */

static LLVMValueRef divisor_is_usual(const quotients *q) {
  LLVMValueRef low = LLVMBuildFCmp(q->builder, LLVMRealOGE, q->divisor, limit(q, 0x1p-32, 0x1p-256), "");
  LLVMValueRef high = LLVMBuildFCmp(q->builder, LLVMRealOLE, q->divisor, limit(q, 0x1p32, 0x1p256), "");
  return LLVMBuildAnd(q->builder, low, high, "");
}

static LLVMValueRef lane_of(const quotients *q, LLVMValueRef vector, uint32_t lane) {
  return LLVMBuildExtractElement(q->builder, vector, LLVMConstInt(q->emitter->i32, lane, false), "");
}

static LLVMValueRef all_of(const quotients *q, LLVMValueRef truths) {
  if (q->emitter->target->wave_size == 1)
    return tj_emit_typed_intrinsic(q->emitter, "llvm.vector.reduce.and", &truths, 1);
  LLVMValueRef all = lane_of(q, truths, 0);
  for (uint32_t lane = 1; lane < LLVMGetVectorSize(LLVMTypeOf(truths)); lane++)
    all = LLVMBuildAnd(q->builder, all, lane_of(q, truths, lane), "");
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

static LLVMValueRef all_large_or_zero(const quotients *q, LLVMValueRef found) {
  LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(q->dividend));
  LLVMValueRef are_zero = LLVMBuildFCmp(q->builder, LLVMRealOEQ, q->dividend, zero, "");
  return all_of(q, LLVMBuildOr(q->builder, are_large(q, absolute(q, found)), are_zero, ""));
}

/* --- between two numbers --- */

/* The numbers whose sizes are around that of 1/b. What b times its reciprocal lacks to 1 is a number, or not one
 * where the reciprocal is exact: of 0 and of infinities. */
static void make_bounds(const quotients *q, tj_divisor *divisor) {
  LLVMBuilderRef b = q->builder;
  LLVMValueRef zero = LLVMConstReal(q->element, 0), one = LLVMConstReal(q->element, 1);
  LLVMValueRef reciprocal = LLVMBuildFDiv(b, one, q->divisor, "");
  LLVMValueRef lack = fma_of(q, LLVMBuildFNeg(b, q->divisor, ""), reciprocal, one);
  divisor->low = neighbour_where(q, LLVMBuildFCmp(b, LLVMRealOLT, lack, zero, ""), reciprocal, -1);
  divisor->high = neighbour_where(q, LLVMBuildFCmp(b, LLVMRealOGT, lack, zero, ""), reciprocal, 1);
}

/* What products with a number are as short floats, in words. */
static LLVMValueRef short_products(const quotients *q, LLVMValueRef by, tj_dtype to) {
  LLVMValueRef product = LLVMBuildFMul(q->builder, q->dividend, repeated(q, by), "");
  return tj_emit_number_bits(q->emitter, tj_emit_converted(q->emitter, product, TJ_DTYPE_f32, to), to);
}

/* Word by word; as one integer, where a vector is not made of words. */
static LLVMValueRef are_same(const quotients *q, LLVMValueRef one, LLVMValueRef other) {
  uint32_t bits = tj_emit_width(one) * LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(one)));
  uint32_t words = bits % 32 == 0 ? bits / 32 : 1;
  LLVMTypeRef word = LLVMIntTypeInContext(q->emitter->context, bits / words);
  LLVMTypeRef type = words > 1 ? LLVMVectorType(word, words) : word;
  LLVMValueRef truths = LLVMBuildICmp(q->builder, LLVMIntEQ, LLVMBuildBitCast(q->builder, one, type, ""),
                                      LLVMBuildBitCast(q->builder, other, type, ""), "");
  return words > 1 ? all_of(q, truths) : truths;
}

/* --- where it is not --- */

/* The vector's lanes, each in the place before it. */
static LLVMValueRef moved_up(const quotients *q, LLVMValueRef vector) {
  uint32_t width = LLVMGetVectorSize(LLVMTypeOf(vector));
  LLVMValueRef from[MOST_LANES];
  for (uint32_t lane = 0; lane < width; lane++)
    from[lane] = LLVMConstInt(q->emitter->i32, (lane + 1) % width, false);
  return LLVMBuildShuffleVector(q->builder, vector, vector, LLVMConstVector(from, width), "");
}

/* One after the other: the first lane's quotient goes to the end, as often as there are lanes. */
static LLVMValueRef divided_in_turn(const quotients *q) {
  LLVMBuilderRef b = q->builder;
  LLVMTypeRef word = q->emitter->i32;
  uint32_t width = LLVMGetVectorSize(LLVMTypeOf(q->dividend));
  LLVMValueRef zero = LLVMConstInt(word, 0, false), last = LLVMConstInt(word, width - 1, false);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), turn = tj_emit_block(q->emitter, "turn");
  LLVMBasicBlockRef done = tj_emit_block(q->emitter, "done");
  LLVMBuildBr(b, turn);
  LLVMPositionBuilderAtEnd(b, turn);
  LLVMValueRef count = LLVMBuildPhi(b, word, "count"), rest = LLVMBuildPhi(b, LLVMTypeOf(q->dividend), "rest");
  LLVMValueRef first = LLVMBuildExtractElement(b, rest, zero, "");
  LLVMValueRef quotient = LLVMBuildFDiv(b, first, q->divisor, "");
  LLVMValueRef next = LLVMBuildInsertElement(b, moved_up(q, rest), quotient, last, "");
  LLVMValueRef counted = LLVMBuildAdd(b, count, LLVMConstInt(word, 1, false), "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, count, last, ""), done, turn);
  LLVMBasicBlockRef blocks[] = {before, turn};
  LLVMAddIncoming(count, (LLVMValueRef[]){zero, counted}, blocks, 2);
  LLVMAddIncoming(rest, (LLVMValueRef[]){q->dividend, next}, blocks, 2);
  LLVMPositionBuilderAtEnd(b, done);
  return next;
}

static LLVMValueRef divided_each(const quotients *q) {
  return q->emitter->target->has_division ? LLVMBuildFDiv(q->builder, q->dividend, repeated(q, q->divisor), "")
                                          : divided_in_turn(q);
}

/* The blocks from which a result comes, and what it is there. */
typedef struct {
  LLVMBasicBlockRef block[3], after;
  LLVMValueRef value[3];
  uint32_t count;
} ways;

static void add_way(const quotients *q, ways *all, LLVMValueRef value) {
  all->block[all->count] = LLVMGetInsertBlock(q->builder);
  all->value[all->count++] = value;
}

/* Goes on with what was found where that is right, otherwise in a new block. */
static void accept(const quotients *q, ways *all, LLVMValueRef found, LLVMValueRef is_right, const char *otherwise) {
  LLVMBasicBlockRef next = tj_emit_block(q->emitter, otherwise);
  add_way(q, all, found);
  LLVMBuildCondBr(q->builder, is_right, all->after, next);
  LLVMPositionBuilderAtEnd(q->builder, next);
}

static bool takes_doubles(const quotients *q) {
  return q->emitter->target->has_fast_doubles && !q->is_double;
}

static quotients quotients_of(tj_emitter *emitter, LLVMValueRef dividend, const tj_divisor *divisor) {
  return (quotients){emitter,  emitter->builder, LLVMTypeOf(divisor->number),
                     dividend, divisor->number,  divisor->dtype == TJ_DTYPE_f64};
}

void tj_emit_divisor(tj_emitter *emitter, tj_divisor *divisor) {
  const quotients q = quotients_of(emitter, NULL, divisor);
  if (divisor->has_bounds) {
    make_bounds(&q, divisor);
    return;
  }
  if (takes_doubles(&q)) {
    make_double(&q, divisor);
    return;
  }
  make_reciprocal(&q, divisor);
  divisor->is_usual = divisor_is_usual(&q);
}

static LLVMValueRef met(const quotients *q, ways *all, const char *name) {
  LLVMBuildBr(q->builder, all->after);
  LLVMPositionBuilderAtEnd(q->builder, all->after);
  LLVMValueRef result = LLVMBuildPhi(q->builder, LLVMTypeOf(all->value[0]), name);
  LLVMAddIncoming(result, all->value, all->block, all->count);
  return result;
}

LLVMValueRef tj_emit_quotients(tj_emitter *emitter, LLVMValueRef dividend, const tj_divisor *divisor) {
  LLVMBuilderRef b = emitter->builder;
  const quotients q = quotients_of(emitter, dividend, divisor);
  if (takes_doubles(&q))
    return by_double(&q, divisor);
  ways all = {.after = tj_emit_block(emitter, "divided")};
  LLVMValueRef found = by_reciprocal(&q, divisor), are_large = all_large(&q, found), is_usual = divisor->is_usual;
  accept(&q, &all, found, LLVMBuildAnd(b, is_usual, are_large, ""), "each");
  if (emitter->target->wave_size > 1)
    accept(&q, &all, found, LLVMBuildAnd(b, is_usual, all_large_or_zero(&q, found), ""), "others");
  add_way(&q, &all, divided_each(&q));
  return met(&q, &all, "quotients");
}

/* Processors that make bf16 of f32 make two at once, and two of f16. Not so floats of 8 bits: numbers of few bits by
 * the largest of them are often in the middle between two. What exponents of f16 and fewer bits do not reach is 0
 * long before quotients are too small. */
tj_quotients tj_emit_quotients_of(const tj_emitter *emitter, tj_dtype to) {
  enum { BITS_OF_F16 = 5 };
  const tj_target *target = emitter->target;
  bool is_float = tj_dtype_class_of(to) == TJ_CLASS_FLOAT, is_two = to == TJ_DTYPE_bf16 || to == TJ_DTYPE_f16;
  if (!is_float || target->wave_size == 1 || target->has_fast_doubles)
    return TJ_QUOTIENTS_WHOLE;
  if (is_two && target->has_bfloat_rounding)
    return TJ_QUOTIENTS_BETWEEN;
  return tj_dtype_form(to).exponent <= BITS_OF_F16 ? TJ_QUOTIENTS_NUMBERS : TJ_QUOTIENTS_WHOLE;
}

/* What is too large is NaN, as infinities are, and so is a sum with one. */
static LLVMValueRef are_numbers(const quotients *q, LLVMValueRef found) {
  LLVMValueRef sum = lane_of(q, found, 0);
  for (uint32_t lane = 1; lane < LLVMGetVectorSize(LLVMTypeOf(found)); lane++)
    sum = LLVMBuildFAdd(q->builder, sum, lane_of(q, found, lane), "");
  return LLVMBuildFCmp(q->builder, LLVMRealORD, sum, sum, "");
}

static LLVMValueRef bits_as(tj_emitter *emitter, LLVMValueRef numbers, tj_dtype to) {
  return tj_emit_number_bits(emitter, tj_emit_converted(emitter, numbers, TJ_DTYPE_f32, to), to);
}

LLVMValueRef tj_emit_short_quotients(tj_emitter *emitter, LLVMValueRef dividend, const tj_divisor *divisor,
                                     tj_dtype to) {
  const quotients q = quotients_of(emitter, dividend, divisor);
  ways all = {.after = tj_emit_block(emitter, "rounded")};
  if (divisor->has_bounds) {
    LLVMValueRef low = short_products(&q, divisor->low, to), high = short_products(&q, divisor->high, to);
    accept(&q, &all, low, are_same(&q, low, high), "each");
    add_way(&q, &all, bits_as(emitter, divided_in_turn(&q), to));
    return met(&q, &all, "quotients");
  }
  LLVMValueRef found = by_reciprocal(&q, divisor);
  accept(&q, &all, found, LLVMBuildAnd(q.builder, divisor->is_usual, are_numbers(&q, found), ""), "each");
  add_way(&q, &all, divided_each(&q));
  return bits_as(emitter, met(&q, &all, "quotients"), to);
}
