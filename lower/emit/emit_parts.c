/* SPDX-License-Identifier: MIT */
/* Vectors of numbers in parts, as many lanes as instructions take. LLVM takes longer vectors apart by itself, node by
 * node while it selects instructions, after which it looks for what can be simplified all over again. */
#include "lower/emit/emit_array.h"

/* Sums and products of f16 LLVM finds in whole vectors alone. */
uint32_t tj_emit_float_lanes(const tj_emitter *emitter) {
  uint32_t buffers = emitter->kernel != NULL ? emitter->kernel->buffer_count : 0;
  for (uint32_t i = 0; i < buffers; i++) {
    if (emitter->kernel->buffer[i].dtype == TJ_DTYPE_f16)
      return 0;
  }
  return emitter->target->float_lanes;
}

bool tj_emit_has_parts(const tj_emitter *emitter, uint32_t width, uint32_t lanes) {
  enum { MOST_LANES = 16 /* what each part comes from is looked for from lane to lane */ };
  return tj_emit_float_lanes(emitter) > 0 && width > lanes && width % lanes == 0 && width <= MOST_LANES;
}

/* A lane of a vector, or an element. */
typedef struct {
  LLVMValueRef vector; /* NULL: an element */
  uint32_t lane;
  LLVMValueRef element;
} origin;

static LLVMValueRef operand(LLVMValueRef instruction, unsigned number) {
  return LLVMGetOperand(instruction, number);
}

static bool has_constant_place(LLVMValueRef instruction, unsigned number) {
  return LLVMIsAConstantInt(operand(instruction, number)) != NULL;
}

static uint64_t place_at(LLVMValueRef instruction, unsigned number) {
  return LLVMConstIntGetZExtValue(operand(instruction, number));
}

static origin behind_element(LLVMValueRef element) {
  bool is_extracted = LLVMGetInstructionOpcode(element) == LLVMExtractElement && has_constant_place(element, 1);
  if (!is_extracted)
    return (origin){NULL, 0, element};
  return (origin){operand(element, 0), (uint32_t)place_at(element, 1), element};
}

/* One step back; false: there is none. */
static bool step_back(origin *from) {
  LLVMValueRef vector = from->vector;
  if (LLVMGetInstructionOpcode(vector) == LLVMInsertElement && has_constant_place(vector, 2)) {
    *from = place_at(vector, 2) == from->lane ? behind_element(operand(vector, 1))
                                              : (origin){operand(vector, 0), from->lane, NULL};
    return true;
  }
  int lane = LLVMGetInstructionOpcode(vector) == LLVMShuffleVector ? LLVMGetMaskValue(vector, from->lane) : -1;
  if (lane < 0)
    return false;
  uint32_t first = tj_emit_width(operand(vector, 0));
  bool is_second = (uint32_t)lane >= first;
  *from = (origin){operand(vector, is_second), (uint32_t)lane - (is_second ? first : 0), NULL};
  return true;
}

/* Where a lane of a vector comes from, through insertions and shuffles. */
static origin origin_of(LLVMValueRef vector, uint32_t lane) {
  origin from = {vector, lane, NULL};
  while (from.vector != NULL && step_back(&from))
    ;
  return from;
}

static LLVMValueRef element_of(tj_emitter *emitter, origin from) {
  if (from.element != NULL)
    return from.element;
  return LLVMBuildExtractElement(emitter->builder, from.vector, LLVMConstInt(emitter->i32, from.lane, false), "");
}

/* Whether lanes `lane` … of a vector are those of another. */
static bool is_all_of(LLVMValueRef other, uint32_t lanes, LLVMValueRef vector, uint32_t lane) {
  bool is_other = other != NULL && tj_emit_width(other) == lanes;
  for (uint32_t i = 0; i < lanes && is_other; i++) {
    origin from = origin_of(vector, lane + i);
    is_other = from.vector == other && from.lane == i;
  }
  return is_other;
}

LLVMValueRef tj_emit_part(tj_emitter *emitter, LLVMValueRef vector, uint32_t lane, uint32_t lanes) {
  if (tj_emit_width(vector) == lanes)
    return vector;
  origin first = origin_of(vector, lane);
  if (lanes == 1)
    return element_of(emitter, first);
  if (is_all_of(first.vector, lanes, vector, lane))
    return first.vector;
  LLVMValueRef part = LLVMGetPoison(LLVMVectorType(LLVMGetElementType(LLVMTypeOf(vector)), lanes));
  for (uint32_t i = 0; i < lanes; i++)
    part = tj_emit_with_element(emitter, part, element_of(emitter, origin_of(vector, lane + i)), i);
  return part;
}

LLVMValueRef tj_emit_with_part(tj_emitter *emitter, LLVMValueRef vector, uint32_t width, LLVMValueRef part,
                               uint32_t lane) {
  uint32_t lanes = tj_emit_width(part);
  if (lanes == width)
    return part;
  LLVMTypeRef type = LLVMTypeOf(part);
  if (vector == NULL)
    vector = LLVMGetPoison(LLVMVectorType(lanes > 1 ? LLVMGetElementType(type) : type, width));
  for (uint32_t i = 0; i < lanes; i++)
    vector = tj_emit_with_element(emitter, vector, tj_emit_part(emitter, part, i, 1), lane + i);
  return vector;
}

LLVMValueRef tj_emit_in_parts(tj_emitter *emitter, LLVMValueRef vector, uint32_t lanes,
                              LLVMValueRef (*emit)(tj_emitter *, LLVMValueRef)) {
  uint32_t width = tj_emit_width(vector);
  LLVMValueRef all = NULL;
  if (!tj_emit_has_parts(emitter, width, lanes))
    lanes = width;
  for (uint32_t lane = 0; lane < width; lane += lanes) {
    LLVMValueRef made = emit(emitter, tj_emit_part(emitter, vector, lane, lanes));
    all = tj_emit_with_part(emitter, all, width, made, lane);
  }
  return all;
}
