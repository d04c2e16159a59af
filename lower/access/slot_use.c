/* SPDX-License-Identifier: MIT */
/* Uses of slots, by the steps that follow. */
#include "lower/access/slot_use.h"

#include "lower/kernel/kernel_expressions.h"

bool tj_gives_slots(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOAD || step->kind == TJ_STEP_VALUE || step->kind == TJ_STEP_COMPUTE;
}

bool tj_shares_slots(const tj_kernel *kernel, const tj_kernel_step *load, const tj_kernel_step *store) {
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
        (!tj_surely_implies(after[i].access.valid, load->access.valid) && stores_slots_of(kernel, &after[i], load)))
      return true;
  }
  return false;
}
