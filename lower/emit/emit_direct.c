/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: steps say where every lane's elements go, and so do instructions; or they say
 * where a wave's first lane has them. */
#include "lower/emit/emit.h"

#include <string.h>

/* --- how far they have come --- */

enum { WIDEST = 16 /* bytes of an instruction's lane, at most: LLVM may make one of several */ };

static bool brings(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_DIRECT || (step->kind == TJ_STEP_BOX && !step->is_taken);
}

/* What a wave takes no branch around. */
static bool is_certain(const tj_kernel_step *step) {
  return step->access.is_bounded || tj_is_always(step->access.valid);
}

static bool is_stored(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_STORE && step->access.buffer != TJ_LDS && is_certain(step);
}

/* Of so many boxes of whole parts, those of any wave that gives some: parts have as many, and waves take turns. */
static uint32_t boxes_of_wave(const tj_emitter *emitter, tj_phase before, uint32_t boxes) {
  uint32_t lanes = emitter->target->wave_size, part = 1;
  uint32_t waves = (emitter->kernel->workgroup_size + lanes - 1) / lanes;
  for (uint32_t i = 0; i < before.count; i++) {
    const tj_kernel_step *step = &before.step[i];
    part = step->kind == TJ_STEP_BOX && step->number >= part ? step->number + 1 : part;
  }
  return boxes / part * (part < waves ? 1 : part / waves);
}

uint32_t tj_emit_left_at_barrier(const tj_emitter *emitter, tj_phase before, bool stores) {
  uint32_t left = 0, boxes = 0, bytes = 0, behind = before.step[before.count].number;
  for (uint32_t i = before.count; i-- > 0;) {
    const tj_kernel_step *step = &before.step[i];
    if (brings(step) && behind-- == 0)
      break;
    left += step->kind == TJ_STEP_DIRECT && is_certain(step);
    boxes += step->kind == TJ_STEP_BOX;
    bytes += stores && is_stored(step) ? step->width * tj_element_bytes(emitter->kernel, step->access.buffer) : 0;
  }
  return left + boxes_of_wave(emitter, before, boxes) + bytes / WIDEST;
}

/* --- buffers --- */

static LLVMMetadataRef scope_of(tj_emitter *emitter, uint32_t buffer) {
  static const char of_lds[] = "lds";
  const char *name = tj_string_format(emitter->job, "%u", buffer);
  LLVMMetadataRef domain = LLVMMDStringInContext2(emitter->context, of_lds, sizeof of_lds - 1);
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(emitter->context, name, strlen(name)),
                             LLVMMDNodeInContext2(emitter->context, &domain, 1)};
  return LLVMMDNodeInContext2(emitter->context, parts, 2);
}

/* Into which loads go. */
static uint32_t count_buffers(const tj_kernel *kernel) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    const tj_kernel_step *step = &kernel->step[i];
    count = step->kind == TJ_STEP_DIRECT && step->number >= count ? step->number + 1 : count;
  }
  return count;
}

void tj_emit_lds_scope(tj_emitter *emitter, const tj_kernel_step *step, LLVMValueRef instruction) {
  uint32_t buffers = step->access.buffer == TJ_LDS ? count_buffers(emitter->kernel) : 0, others = 0;
  if (buffers < 2)
    return;
  LLVMMetadataRef own = scope_of(emitter, step->number);
  LLVMMetadataRef *other = TJ_NEW_ARRAY(emitter->job, LLVMMetadataRef, buffers);
  for (uint32_t i = 0; i < buffers; i++) {
    if (i != step->number)
      other[others++] = scope_of(emitter, i);
  }
  tj_emit_metadata(emitter, instruction, "alias.scope", &own, 1);
  tj_emit_metadata(emitter, instruction, "noalias", other, others);
}

/* --- loads --- */

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
  tj_emit_lds_scope(emitter, step, emitter->target->family->emit_direct_load(emitter, from, to, bytes));
}
