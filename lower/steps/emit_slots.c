/* SPDX-License-Identifier: MIT */
/* Slots, in vectors as they were loaded or computed, and as steps take them. */
#include "lower/steps/steps.h"

enum { WORD_BITS = 32 };

/* --- types --- */

LLVMTypeRef tj_emit_raw_type(tj_emitter *emitter, tj_dtype dtype) {
  return tj_emit_dtype(emitter, tj_dtype_raw(dtype));
}

/* LLVM has no vectors of vectors, which elements of 128 bits are: several of those are an array. */
LLVMTypeRef tj_emit_vector_type(tj_emitter *emitter, tj_dtype dtype, uint32_t width) {
  LLVMTypeRef element = tj_emit_raw_type(emitter, dtype);
  if (width == 1)
    return element;
  bool is_vector = LLVMGetTypeKind(element) == LLVMVectorTypeKind;
  return is_vector ? LLVMArrayType2(element, width) : LLVMVectorType(element, width);
}

/* --- slots --- */

void tj_emit_give_slots(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef vector) {
  for (uint32_t lane = 0; lane < step->width; lane++)
    emitter->steps->slot[step->slot + lane * step->slot_step] = (tj_slot_value){vector, step->width, lane};
}

static const tj_slot_value *slot_at(const tj_emitter *emitter, const tj_kernel_step *step, uint32_t lane) {
  return &emitter->steps->slot[step->slot + lane * step->slot_step];
}

/* Whether the step's slots are one loaded vector, in its order. */
static bool is_whole_vector(const tj_emitter *emitter, const tj_kernel_step *step) {
  const tj_slot_value *first = &emitter->steps->slot[step->slot];
  for (uint32_t lane = 0; lane < step->width; lane++) {
    const tj_slot_value *slot = slot_at(emitter, step, lane);
    if (slot->value != first->value || slot->width != step->width || slot->lane != lane)
      return false;
  }
  return true;
}

/* How many of the step's slots fill a word, if each so many are a word of a vector; else 0. */
static uint32_t lanes_of_words(const tj_emitter *emitter, const tj_kernel_step *step, tj_dtype dtype) {
  uint32_t lanes = WORD_BITS / tj_dtype_bits(dtype);
  if (lanes < 2 || step->width % lanes != 0)
    return 0;
  for (uint32_t lane = 0; lane < step->width; lane++) {
    const tj_slot_value *slot = slot_at(emitter, step, lane), *first = slot_at(emitter, step, lane / lanes * lanes);
    if (slot->value != first->value || slot->lane != first->lane + lane % lanes || first->lane % lanes != 0 ||
        slot->width % lanes != 0 || LLVMGetTypeKind(LLVMTypeOf(slot->value)) == LLVMArrayTypeKind)
      return 0;
  }
  return lanes;
}

/* Of elements that are side by side already, LLVM would make each a byte and put words together again. */
static LLVMValueRef gathered_words(tj_emitter *emitter, const tj_kernel_step *step, uint32_t lanes,
                                   LLVMTypeRef type) {
  LLVMBuilderRef b = emitter->builder;
  uint32_t count = step->width / lanes;
  LLVMValueRef all = LLVMGetPoison(count == 1 ? emitter->i32 : LLVMVectorType(emitter->i32, count));
  for (uint32_t i = 0; i < count; i++) {
    const tj_slot_value *slot = slot_at(emitter, step, i * lanes);
    uint32_t own = slot->width / lanes;
    LLVMTypeRef words = own == 1 ? emitter->i32 : LLVMVectorType(emitter->i32, own);
    LLVMValueRef word =
        tj_emit_element_at(emitter, LLVMBuildBitCast(b, slot->value, words, ""), own, slot->lane / lanes);
    all = tj_emit_with_element(emitter, all, word, i);
  }
  return LLVMBuildBitCast(b, all, type, "");
}

LLVMValueRef tj_emit_step_slots(tj_emitter *emitter, const tj_kernel_step *step) {
  if (is_whole_vector(emitter, step))
    return emitter->steps->slot[step->slot].value;
  tj_dtype dtype = tj_slot_dtype(emitter->kernel, step->slot);
  uint32_t lanes = lanes_of_words(emitter, step, dtype);
  if (lanes > 0)
    return gathered_words(emitter, step, lanes, tj_emit_vector_type(emitter, dtype, step->width));
  LLVMValueRef vector = LLVMGetPoison(tj_emit_vector_type(emitter, dtype, step->width));
  for (uint32_t lane = 0; lane < step->width; lane++) {
    const tj_slot_value *slot = slot_at(emitter, step, lane);
    LLVMValueRef element = tj_emit_element_at(emitter, slot->value, slot->width, slot->lane);
    vector = tj_emit_with_element(emitter, vector, element, lane);
  }
  return vector;
}

LLVMValueRef tj_emit_slots(tj_emitter *emitter, uint32_t slot, uint32_t width) {
  return tj_emit_step_slots(emitter, &(tj_kernel_step){.slot = slot, .slot_step = 1, .width = width});
}

void tj_emit_set_slots(tj_emitter *emitter, uint32_t slot, uint32_t width, LLVMValueRef vector) {
  tj_emit_give_slots(emitter, &(tj_kernel_step){.slot = slot, .slot_step = 1, .width = width}, vector);
}
