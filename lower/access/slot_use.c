/* SPDX-License-Identifier: MIT */
/* Uses of slots, by the steps that follow. */
#include "lower/access/slot_use.h"

#include "lower/kernel/kernel_expressions.h"

bool tj_gives_slots(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOAD || step->kind == TJ_STEP_VALUE || step->kind == TJ_STEP_COMPUTE;
}

/* Whether all slots of a step are before those of another. */
static bool is_before(const tj_kernel_step *step, const tj_kernel_step *other) {
  const uint32_t last = step->slot + (step->width - 1) * step->slot_step,
                 other_last = other->slot + (other->width - 1) * other->slot_step;
  return (step->slot > last ? step->slot : last) < (other->slot < other_last ? other->slot : other_last);
}

bool tj_shares_slots(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step *store) {
  const bool are_as_stored = kernel->arithmetic.slots == 0;
  if (are_as_stored && (is_before(load, store) || is_before(store, load)))
    return false;
  for (uint32_t k = 0; k < load->width; k++) {
    if (tj_step_has_slot(kernel, store, load->slot + k * load->slot_step))
      return true;
  }
  return false;
}

static bool takes_any_slot(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_COMPUTE || step->kind == TJ_STEP_EXCHANGE || step->kind == TJ_STEP_LOOP ||
         step->kind == TJ_STEP_AGAIN;
}

static bool stores_slots_of(const tj_kernel *kernel, const tj_kernel_step *step, const tj_kernel_step *load) {
  return step->kind == TJ_STEP_STORE && tj_shares_slots(kernel, load, step);
}

bool tj_is_slot_used(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step after[],
                     uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (takes_any_slot(&after[i]) || stores_slots_of(kernel, &after[i], load))
      return true;
  }
  return false;
}

bool tj_is_fill_used(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step after[],
                     uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (takes_any_slot(&after[i]) ||
        (stores_slots_of(kernel, &after[i], load) && !tj_surely_implies(after[i].access.valid, load->access.valid)))
      return true;
  }
  return false;
}
