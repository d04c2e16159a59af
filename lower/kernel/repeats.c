/* SPDX-License-Identifier: MIT */
/* Repeats of stores, then what was loaded for them alone, and what of vectors from LDS was. Where an element is held
 * twice, all slots that hold it have the same value, so the first store serves. */
#include "lower/kernel/repeats.h"

typedef struct {
  const tj_kernel *kernel;
  tj_kernel_step *step;
  uint32_t count;
} step_list;

bool tj_is_same_access(const tj_kernel_step *a, const tj_kernel_step *b) {
  return a->kind == b->kind && a->access.buffer == b->access.buffer && a->access.base == b->access.base &&
         a->access.offset == b->access.offset && a->access.displacement == b->access.displacement &&
         a->access.valid == b->access.valid && a->width == b->width;
}

static bool is_repeated(const step_list *list, uint32_t number) {
  const tj_kernel_step *step = &list->step[number];
  if (step->kind != TJ_STEP_STORE || step->access.buffer == TJ_LDS)
    return false;
  for (uint32_t i = 0; i < number; i++) {
    if (tj_is_same_access(&list->step[i], step))
      return true;
  }
  return false;
}

/* Whether the next step that has to do with a slot stores it, or passes it on. */
static bool is_stored(const step_list *list, uint32_t after, uint32_t slot) {
  for (uint32_t i = after + 1; i < list->count; i++) {
    tj_step_kind kind = list->step[i].kind;
    if (kind == TJ_STEP_EXCHANGE)
      return true;
    if ((kind == TJ_STEP_LOAD || kind == TJ_STEP_STORE) && tj_step_has_slot(list->kernel, &list->step[i], slot))
      return kind == TJ_STEP_STORE;
  }
  return false;
}

static bool is_unused(const step_list *list, uint32_t number) {
  const tj_kernel_step *step = &list->step[number];
  if (step->kind != TJ_STEP_LOAD)
    return false;
  for (uint32_t k = 0; k < step->width; k++) {
    if (is_stored(list, number, step->slot + k * step->slot_step))
      return false;
  }
  return true;
}

static bool is_half_stored(const step_list *list, uint32_t number, bool is_upper) {
  const tj_kernel_step *step = &list->step[number];
  uint32_t half = step->width / 2, begin = is_upper ? half : 0;
  bool is = false;
  for (uint32_t k = begin; k < begin + half && !is; k++)
    is = is_stored(list, number, step->slot + k * step->slot_step);
  return is;
}

/* Leaves of a vector from LDS one half, again and again, as long as nobody stores the other. */
static void narrow(const step_list *list, uint32_t number) {
  tj_kernel_step *step = &list->step[number];
  bool is_plain = step->kind == TJ_STEP_LOAD && step->access.buffer == TJ_LDS && !step->transposes;
  while (is_plain && step->width > 1) {
    bool is_upper = !is_half_stored(list, number, false);
    if (!is_upper && is_half_stored(list, number, true))
      return;
    step->width /= 2;
    step->slot += is_upper ? step->width * step->slot_step : 0;
    step->access.displacement += is_upper ? step->width : 0;
  }
}

static uint32_t keep(step_list list, bool (*is_left_out)(const step_list *list, uint32_t number), bool leaves_out[]) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list.count; i++)
    leaves_out[i] = is_left_out(&list, i);
  for (uint32_t i = 0; i < list.count; i++) {
    if (!leaves_out[i])
      list.step[kept++] = list.step[i];
  }
  return kept;
}

static uint32_t thin_out(tj_graph *graph, const tj_kernel *kernel, tj_kernel_step step[], uint32_t count) {
  bool *leaves_out = TJ_NEW_ARRAY(graph->job, bool, count + 1);
  tj_spend(graph->job, count);
  uint32_t kept = keep((step_list){kernel, step, count}, is_repeated, leaves_out);
  if (kept == count)
    return kept;
  step_list stored = {kernel, step, keep((step_list){kernel, step, kept}, is_unused, leaves_out)};
  for (uint32_t i = 0; i < stored.count; i++)
    narrow(&stored, i);
  return stored.count;
}

void tj_leave_out_repeats(tj_graph *graph, tj_kernel *kernel) {
  kernel->step_count = thin_out(graph, kernel, kernel->step, kernel->step_count);
  kernel->inner_step_count = thin_out(graph, kernel, kernel->inner_step, kernel->inner_step_count);
}
