/* SPDX-License-Identifier: MIT */
/* Vectors: how many lanes they have, what has as many, their elements. */
#include "lower/emit/emit.h"

/* --- lanes --- */

uint32_t tj_emit_width(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

LLVMTypeRef tj_emit_like(LLVMValueRef value, LLVMTypeRef element) {
  LLVMTypeRef type = LLVMTypeOf(value);
  bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  return is_vector ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
}

LLVMValueRef tj_emit_splat(LLVMValueRef like, LLVMValueRef constant) {
  LLVMTypeRef type = LLVMTypeOf(like);
  enum { MOST_LANES = 64 };
  LLVMValueRef lane[MOST_LANES];
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
    return constant;
  for (unsigned i = 0; i < LLVMGetVectorSize(type) && i < MOST_LANES; i++)
    lane[i] = constant;
  return LLVMConstVector(lane, LLVMGetVectorSize(type));
}

LLVMValueRef tj_emit_repeated(tj_emitter *emitter, LLVMValueRef number, uint32_t width) {
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(number), width);
  if (width == 1)
    return number;
  LLVMValueRef zero = LLVMConstInt(emitter->i32, 0, false);
  LLVMValueRef first = LLVMBuildInsertElement(emitter->builder, LLVMGetPoison(type), number, zero, "");
  LLVMValueRef lanes = LLVMConstNull(LLVMVectorType(emitter->i32, width));
  return LLVMBuildShuffleVector(emitter->builder, first, LLVMGetPoison(type), lanes, "");
}

/* --- elements --- */

static bool is_array(LLVMValueRef vector) {
  return LLVMGetTypeKind(LLVMTypeOf(vector)) == LLVMArrayTypeKind;
}

LLVMValueRef tj_emit_element_at(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, uint32_t lane) {
  if (width == 1)
    return vector;
  if (is_array(vector))
    return LLVMBuildExtractValue(emitter->builder, vector, lane, "");
  return LLVMBuildExtractElement(emitter->builder, vector, LLVMConstInt(emitter->i32, lane, false), "");
}

LLVMValueRef tj_emit_with_element(tj_emitter *emitter, LLVMValueRef vector, LLVMValueRef element, uint32_t lane) {
  if (LLVMTypeOf(vector) == LLVMTypeOf(element))
    return element;
  if (is_array(vector))
    return LLVMBuildInsertValue(emitter->builder, vector, element, lane, "");
  return LLVMBuildInsertElement(emitter->builder, vector, element, LLVMConstInt(emitter->i32, lane, false), "");
}
