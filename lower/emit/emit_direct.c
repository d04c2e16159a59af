/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: steps say where every lane's elements go, and so do instructions; or they say
 * where a wave's first lane has them. */
#include "lower/emit/emit.h"

/* The address that the wave's first lane has where this one has `origin`. */
static LLVMValueRef first_of_wave(tj_emitter *emitter, LLVMValueRef origin, uint32_t bytes) {
  tj_wave_place *known = &emitter->wave_place;
  LLVMBasicBlockRef block = LLVMGetInsertBlock(emitter->builder);
  if (known->origin != origin || known->block != block || known->bytes != bytes)
    *known =
        (tj_wave_place){origin, emitter->target->family->emit_first_of_wave(emitter, origin, bytes), bytes, block};
  return known->first;
}

/* Where the wave's first lane has what a step loads. */
static LLVMValueRef place_of_wave(tj_emitter *emitter, const tj_kernel_step *step, uint32_t bytes) {
  LLVMValueRef first = first_of_wave(emitter, tj_emit_origin(emitter, &step->access), bytes);
  uint64_t displacement = (uint64_t)step->access.displacement * tj_element_bytes(emitter->kernel, TJ_LDS);
  LLVMValueRef distance = LLVMConstInt(emitter->i32, displacement, false);
  return displacement == 0 ? first : LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, first, &distance, 1, "");
}

void tj_emit_direct(tj_emitter *emitter, const tj_kernel_step *step) {
  uint32_t bytes = step->width * tj_element_bytes(emitter->kernel, TJ_LDS);
  LLVMValueRef from = tj_emit_address(emitter, &step->from);
  LLVMValueRef to = emitter->target->direct->is_by_lane ? tj_emit_address(emitter, &step->access)
                                                        : place_of_wave(emitter, step, bytes);
  emitter->target->family->emit_direct_load(emitter, from, to, bytes);
}
