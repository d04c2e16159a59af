/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: steps say where every lane's elements go, instructions where a wave's first
 * lane has them. */
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

void tj_emit_direct(tj_emitter *emitter, const tj_kernel_step *step) {
  uint32_t element = tj_element_bytes(emitter->kernel, TJ_LDS), bytes = step->width * element;
  LLVMValueRef from = tj_emit_address(emitter, &step->from);
  LLVMValueRef to = first_of_wave(emitter, tj_emit_origin(emitter, &step->access), bytes);
  LLVMValueRef distance = LLVMConstInt(emitter->i32, (uint64_t)step->access.displacement * element, false);
  if (step->access.displacement > 0)
    to = LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, to, &distance, 1, "");
  emitter->target->family->emit_direct_load(emitter, from, to, bytes);
}
