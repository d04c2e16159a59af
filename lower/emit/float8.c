/* SPDX-License-Identifier: MIT */
/* Floats of 8 bits by the target's own conversions, where it has them: two at a time, in the halves of words.
 *
 * Those of OCP's forms that have FNUZ's conversions instead are written by these, too: FNUZ's exponents are one more,
 * so that a code is that of half the number. Where OCP has NaN, FNUZ has a number, which NaN becomes before; and FNUZ
 * has one zero, so signs are taken from the numbers. */
#include "lower/emit/emit.h"
#include "lower/machine/target.h"

static bool is_ocp(tj_dtype dtype) {
  return dtype == TJ_DTYPE_f8e4m3fn || dtype == TJ_DTYPE_f8e5m2;
}

static bool is_written_by_half(const tj_emitter *emitter, tj_dtype dtype) {
  return emitter->target->floats8 == TJ_FLOATS8_FNUZ && is_ocp(dtype);
}

bool tj_emit_writes_float8(const tj_emitter *emitter, tj_dtype dtype) {
  return tj_emit_reads_float8(emitter, dtype) || is_written_by_half(emitter, dtype);
}

bool tj_emit_reads_float8(const tj_emitter *emitter, tj_dtype dtype) {
  switch (dtype) {
  case TJ_DTYPE_f8e4m3fn:
  case TJ_DTYPE_f8e5m2:
    return emitter->target->floats8 == TJ_FLOATS8_OCP;
  case TJ_DTYPE_f8e4m3fnuz:
  case TJ_DTYPE_f8e5m2fnuz:
    return emitter->target->floats8 == TJ_FLOATS8_FNUZ;
  default:
    return false;
  }
}

static LLVMTypeRef vector_of(LLVMTypeRef element, uint32_t width) {
  return width == 1 ? element : LLVMVectorType(element, width);
}

/* How many words so many codes fill, the last one perhaps in part. */
static uint32_t words_of(uint32_t width) {
  return (width + 3) / 4;
}

/* --- words and codes --- */

/* Codes as words, what is left of the last one undefined. */
static LLVMValueRef words_of_codes(tj_emitter *emitter, LLVMValueRef codes, uint32_t width) {
  uint32_t count = words_of(width);
  LLVMValueRef filled = codes;
  if (width % 4 != 0) {
    filled = LLVMGetPoison(LLVMVectorType(emitter->i8, 4 * count));
    for (uint32_t lane = 0; lane < width; lane++)
      filled = tj_emit_with_element(emitter, filled, tj_emit_element_at(emitter, codes, width, lane), lane);
  }
  return LLVMBuildBitCast(emitter->builder, filled, vector_of(emitter->i32, count), "");
}

static LLVMValueRef codes_of_words(tj_emitter *emitter, LLVMValueRef words, uint32_t width) {
  uint32_t count = words_of(width);
  LLVMValueRef codes = LLVMBuildBitCast(emitter->builder, words, LLVMVectorType(emitter->i8, 4 * count), "");
  if (width % 4 == 0)
    return codes;
  LLVMValueRef kept = LLVMGetPoison(vector_of(emitter->i8, width));
  for (uint32_t lane = 0; lane < width; lane++) {
    LLVMValueRef code = tj_emit_element_at(emitter, codes, 4 * count, lane);
    kept = tj_emit_with_element(emitter, kept, code, lane);
  }
  return kept;
}

/* --- conversions --- */

LLVMValueRef tj_emit_read_float8(tj_emitter *emitter, LLVMValueRef codes, tj_dtype dtype) {
  uint32_t width = tj_emit_width(codes);
  LLVMValueRef words = words_of_codes(emitter, codes, width);
  LLVMValueRef result = LLVMGetPoison(vector_of(emitter->f32, width));
  for (uint32_t lane = 0; lane < width; lane += 2) {
    LLVMValueRef word = tj_emit_element_at(emitter, words, words_of(width), lane / 4);
    LLVMValueRef pair = emitter->target->family->read_float8(emitter, word, lane % 4 != 0, dtype);
    LLVMValueRef first = tj_emit_element_at(emitter, pair, 2, 0);
    result = tj_emit_with_element(emitter, result, first, lane);
    if (lane + 1 < width)
      result = tj_emit_with_element(emitter, result, tj_emit_element_at(emitter, pair, 2, 1), lane + 1);
  }
  return result;
}

/* The numbers within a limit, NaN where they are, by instructions that only processors with OCP's conversions have. */
static LLVMValueRef limited(tj_emitter *emitter, LLVMValueRef values, double limit) {
  LLVMValueRef least = tj_emit_splat(values, LLVMConstReal(emitter->f32, -limit));
  LLVMValueRef most = tj_emit_splat(values, LLVMConstReal(emitter->f32, limit));
  return tj_emit_binary_intrinsic(emitter, "llvm.minimum",
                                  tj_emit_binary_intrinsic(emitter, "llvm.maximum", values, least), most);
}

/* The same of others. What is within is chosen as it is: LLVM takes a difference from 0 that is compared and limited
 * at once for its negation, which has the other zero. */
static LLVMValueRef chosen_within(tj_emitter *emitter, LLVMValueRef values, double limit) {
  LLVMValueRef most = tj_emit_splat(values, LLVMConstReal(emitter->f32, limit));
  LLVMValueRef magnitudes = tj_emit_typed_intrinsic(emitter, "llvm.fabs", &values, 1);
  LLVMValueRef is_beyond = LLVMBuildFCmp(emitter->builder, LLVMRealOGT, magnitudes, most, "");
  LLVMValueRef end = tj_emit_binary_intrinsic(emitter, "llvm.copysign", most, values);
  return LLVMBuildSelect(emitter->builder, is_beyond, end, values, "");
}

/* FNUZ's codes of these are OCP's of the values, but for signs: what is not negative is above a number that is, and
 * NaN, of which maxnum makes that number, has its code. */
static LLVMValueRef halves_of(tj_emitter *emitter, LLVMValueRef values, tj_dtype dtype, tj_dtype fnuz) {
  LLVMValueRef half = tj_emit_splat(values, LLVMConstReal(emitter->f32, 0.5));
  LLVMValueRef nan = tj_emit_splat(values, LLVMConstReal(emitter->f32, -tj_float_limit(fnuz)));
  LLVMValueRef most = tj_emit_splat(values, LLVMConstReal(emitter->f32, tj_float_limit(dtype) / 2));
  LLVMValueRef halves = LLVMBuildFMul(emitter->builder, values, half, "");
  LLVMValueRef sizes = tj_emit_typed_intrinsic(emitter, "llvm.fabs", &halves, 1);
  return tj_emit_binary_intrinsic(emitter, "llvm.minnum",
                                  tj_emit_binary_intrinsic(emitter, "llvm.maxnum", sizes, nan), most);
}

/* The signs of four numbers, in the first bits of the bytes of a word. */
static LLVMValueRef signs_of(tj_emitter *emitter, LLVMValueRef bits, uint32_t width, uint32_t lane) {
  static const uint8_t last_bytes[] = {3, 7, 3, 7}, first_halves[] = {0, 1, 4, 5};
  LLVMValueRef (*emit_bytes)(tj_emitter *, LLVMValueRef, LLVMValueRef, const uint8_t *) =
      emitter->target->family->emit_bytes;
  LLVMValueRef part[2];
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t first = lane + 2 * i < width ? lane + 2 * i : width - 1, second = first + 1 < width ? first + 1 : first;
    part[i] = emit_bytes(emitter, tj_emit_element_at(emitter, bits, width, first),
                         tj_emit_element_at(emitter, bits, width, second), last_bytes);
  }
  LLVMValueRef all = emit_bytes(emitter, part[0], part[1], first_halves);
  return LLVMBuildAnd(emitter->builder, all, LLVMConstInt(emitter->i32, 0x80808080, false), "");
}

/* Word by word: of vectors, LLVM makes a sign and the rest in two instructions in the place of one. */
static LLVMValueRef with_signs(tj_emitter *emitter, LLVMValueRef words, LLVMValueRef values) {
  uint32_t width = tj_emit_width(values), count = words_of(width);
  LLVMValueRef bits = LLVMBuildBitCast(emitter->builder, values, vector_of(emitter->i32, width), "");
  LLVMValueRef result = LLVMGetPoison(vector_of(emitter->i32, count));
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef word = LLVMBuildOr(emitter->builder, signs_of(emitter, bits, width, 4 * i),
                                    tj_emit_element_at(emitter, words, count, i), "");
    result = tj_emit_with_element(emitter, result, word, i);
  }
  return result;
}

static LLVMValueRef words_of_values(tj_emitter *emitter, LLVMValueRef values, tj_dtype dtype) {
  uint32_t width = tj_emit_width(values), count = words_of(width);
  LLVMValueRef words = LLVMGetPoison(vector_of(emitter->i32, count)), word = NULL;
  for (uint32_t lane = 0; lane < width; lane += 2) {
    uint32_t second = lane + 1 < width ? lane + 1 : lane;
    word = lane % 4 == 0 ? LLVMGetPoison(emitter->i32) : word;
    word = emitter->target->family->write_float8(emitter, word, lane % 4 != 0,
                                                 tj_emit_element_at(emitter, values, width, lane),
                                                 tj_emit_element_at(emitter, values, width, second), dtype);
    words = tj_emit_with_element(emitter, words, word, lane / 4);
  }
  return words;
}

LLVMValueRef tj_emit_write_float8(tj_emitter *emitter, LLVMValueRef values, tj_dtype dtype) {
  uint32_t width = tj_emit_width(values);
  if (is_written_by_half(emitter, dtype)) {
    tj_dtype fnuz = dtype == TJ_DTYPE_f8e4m3fn ? TJ_DTYPE_f8e4m3fnuz : TJ_DTYPE_f8e5m2fnuz;
    LLVMValueRef words = words_of_values(emitter, halves_of(emitter, values, dtype, fnuz), fnuz);
    return codes_of_words(emitter, with_signs(emitter, words, values), width);
  }
  if (!emitter->target->saturates_float8)
    values = (is_ocp(dtype) ? limited : chosen_within)(emitter, values, tj_float_limit(dtype));
  return codes_of_words(emitter, words_of_values(emitter, values, dtype), width);
}
