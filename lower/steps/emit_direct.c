/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: steps say where every lane's elements go, and so do instructions; or they say
 * where a wave's first lane has them. */
#include "lower/steps/steps.h"

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

/* What a wave has surely begun, found by going back from a barrier. */
typedef struct {
  uint32_t behind; /* steps that bring something and are to be passed by, */
  bool is_there;   /* and then the one that is waited for: there it ends */
  uint32_t loads, boxes, bytes;
} way_back;

/* Goes from before step `end` back to `begin`. */
static void go_back(const tj_emitter *emitter, way_back *way, const tj_kernel_step all[], uint32_t begin,
                    uint32_t end) {
  while (end > begin && !way->is_there) {
    const tj_kernel_step *step = &all[--end];
    way->is_there = brings(step) && way->behind == 0;
    if (way->is_there)
      return;
    way->behind -= brings(step);
    way->loads += step->kind == TJ_STEP_DIRECT && is_certain(step);
    way->boxes += step->kind == TJ_STEP_BOX;
    way->bytes += is_stored(step) ? step->width * tj_element_bytes(emitter->kernel, step->access.buffer) : 0;
  }
}

static uint32_t left_on(const tj_emitter *emitter, tj_phase before, const way_back *way, bool stores) {
  return way->loads + boxes_of_wave(emitter, before, way->boxes) + (stores ? way->bytes / WIDEST : 0);
}

/* The step that begins the loop in which a step is; itself where it is in none. */
static uint32_t find_loop(const tj_kernel_step step[], uint32_t number) {
  for (uint32_t i = number; i-- > 0 && step[i].kind != TJ_STEP_AGAIN;) {
    if (step[i].kind == TJ_STEP_LOOP)
      return i;
  }
  return number;
}

/* In a loop, a barrier has the trip before behind it, or on the first trip what is before the loop. */
uint32_t tj_emit_left_at_barrier(const tj_emitter *emitter, tj_phase before, bool stores) {
  const tj_kernel_step *step = before.step;
  uint32_t barrier = before.count, loop = find_loop(step, barrier), again = barrier;
  way_back first = {.behind = step[barrier].number}, later = first;
  go_back(emitter, &first, step, 0, barrier);
  uint32_t left = left_on(emitter, before, &first, stores);
  if (loop == barrier)
    return left;
  while (step[again].kind != TJ_STEP_AGAIN)
    again++;
  go_back(emitter, &later, step, loop, barrier);
  go_back(emitter, &later, step, barrier, again);
  uint32_t left_later = left_on(emitter, before, &later, stores);
  return left < left_later ? left : left_later;
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
  tj_wave_place *known = &emitter->steps->wave_place;
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
