/* SPDX-License-Identifier: MIT */
/* Floats of 8 bits by the target's own conversions, where it has them: two at a time, in the halves of words. */
#include "lower/emit/emit.h"
#include "lower/machine/target.h"

bool tj_emit_has_float8(const tj_emitter *emitter, tj_dtype dtype) {
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

static uint32_t width_of(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

static LLVMTypeRef vector_of(LLVMTypeRef element, uint32_t width) {
  return width == 1 ? element : LLVMVectorType(element, width);
}

static LLVMValueRef element_at(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, uint32_t lane) {
  if (width == 1)
    return vector;
  return LLVMBuildExtractElement(emitter->builder, vector, LLVMConstInt(emitter->i32, lane, false), "");
}

static LLVMValueRef with_element(tj_emitter *emitter, LLVMValueRef vector, LLVMValueRef element, uint32_t lane) {
  return LLVMBuildInsertElement(emitter->builder, vector, element, LLVMConstInt(emitter->i32, lane, false), "");
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
      filled = with_element(emitter, filled, element_at(emitter, codes, width, lane), lane);
  }
  return LLVMBuildBitCast(emitter->builder, filled, vector_of(emitter->i32, count), "");
}

static LLVMValueRef codes_of_words(tj_emitter *emitter, LLVMValueRef words, uint32_t width) {
  uint32_t count = words_of(width);
  LLVMValueRef codes = LLVMBuildBitCast(emitter->builder, words, LLVMVectorType(emitter->i8, 4 * count), "");
  if (width % 4 == 0)
    return codes;
  LLVMValueRef kept = width == 1 ? NULL : LLVMGetPoison(LLVMVectorType(emitter->i8, width));
  for (uint32_t lane = 0; lane < width; lane++) {
    LLVMValueRef code = element_at(emitter, codes, 4 * count, lane);
    kept = width == 1 ? code : with_element(emitter, kept, code, lane);
  }
  return kept;
}

/* --- conversions --- */

LLVMValueRef tj_emit_read_float8(tj_emitter *emitter, LLVMValueRef codes, tj_dtype dtype) {
  uint32_t width = width_of(codes);
  LLVMValueRef words = words_of_codes(emitter, codes, width);
  LLVMValueRef result = LLVMGetPoison(vector_of(emitter->f32, width));
  for (uint32_t lane = 0; lane < width; lane += 2) {
    LLVMValueRef word = element_at(emitter, words, words_of(width), lane / 4);
    LLVMValueRef pair = emitter->target->family->read_float8(emitter, word, lane % 4 != 0, dtype);
    LLVMValueRef first = element_at(emitter, pair, 2, 0);
    result = width == 1 ? first : with_element(emitter, result, first, lane);
    if (lane + 1 < width)
      result = with_element(emitter, result, element_at(emitter, pair, 2, 1), lane + 1);
  }
  return result;
}

LLVMValueRef tj_emit_write_float8(tj_emitter *emitter, LLVMValueRef values, tj_dtype dtype) {
  uint32_t width = width_of(values), count = words_of(width);
  LLVMValueRef words = LLVMGetPoison(vector_of(emitter->i32, count)), word = NULL;
  for (uint32_t lane = 0; lane < width; lane += 2) {
    uint32_t second = lane + 1 < width ? lane + 1 : lane;
    word = lane % 4 == 0 ? LLVMGetPoison(emitter->i32) : word;
    word =
        emitter->target->family->write_float8(emitter, word, lane % 4 != 0, element_at(emitter, values, width, lane),
                                              element_at(emitter, values, width, second), dtype);
    words = count == 1 ? word : with_element(emitter, words, word, lane / 4);
  }
  return codes_of_words(emitter, words, width);
}
