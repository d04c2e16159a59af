/* SPDX-License-Identifier: MIT */
/* Waves: registers, failures, and the loop that executes instructions. */
#include "rt/sim/machine/wave.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void tj_sim_wave_fail(tj_sim_wave *wave, uint64_t lanes, const char *format, ...) {
  if (wave->state == TJ_SIM_FAILED)
    return;
  wave->state = TJ_SIM_FAILED;
  wave->failed_lanes = lanes;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(wave->failure, sizeof wave->failure, format, arguments);
  va_end(arguments);
}

void tj_sim_wave_fault(tj_sim_wave *wave, uint64_t lanes, unsigned bytes, uint64_t address, bool is_write) {
  if (wave->state == TJ_SIM_FAILED)
    return;
  char lane[24] = "";
  if (lanes != 0)
    snprintf(lane, sizeof lane, " (lane %u)", (unsigned)__builtin_ctzll(lanes));
  tj_sim_wave_fail(wave, lanes, "%u bytes at 0x%" PRIx64 "%s: not memory that the kernel may %s", bytes, address,
                   lane, is_write ? "write" : "read");
  wave->is_fault = true;
  wave->fault_address = address;
}

/* --- registers --- */

enum { SHARED_APERTURE = 0x10000, PRIVATE_APERTURE = 0x20000 };

/* The values of names that are no registers. */
static bool read_special(const tj_sim_wave *wave, unsigned index, uint64_t *value) {
  switch (index) {
  case TJ_SIM_NULL:
    *value = 0;
    return true;
  case TJ_SIM_SCC:
    *value = wave->scc;
    return true;
  case TJ_SIM_VCCZ:
    *value = (wave->scalar[TJ_SIM_VCC] | (wave->lanes == 64 ? wave->scalar[TJ_SIM_VCC + 1] : 0)) == 0;
    return true;
  case TJ_SIM_EXECZ:
    *value = tj_sim_exec(wave) == 0;
    return true;
  case TJ_SIM_SHARED_BASE:
  case TJ_SIM_SHARED_LIMIT:
    *value = (uint64_t)SHARED_APERTURE << 32 | (index == TJ_SIM_SHARED_LIMIT ? UINT32_MAX : 0);
    return true;
  case TJ_SIM_PRIVATE_BASE:
  case TJ_SIM_PRIVATE_LIMIT:
    *value = (uint64_t)PRIVATE_APERTURE << 32 | (index == TJ_SIM_PRIVATE_LIMIT ? UINT32_MAX : 0);
    return true;
  default:
    return false;
  }
}

uint64_t tj_sim_read_scalar(const tj_sim_wave *wave, const tj_sim_operand *operand, unsigned bits) {
  if (operand->place != TJ_SIM_SCALAR)
    return operand->constant;
  uint64_t value;
  if (operand->index >= TJ_SIM_SCC || operand->index == TJ_SIM_NULL) {
    if (read_special(wave, operand->index, &value))
      return value;
  }
  value = wave->scalar[operand->index];
  return bits == 64 ? value | (uint64_t)wave->scalar[operand->index + 1] << 32 : value;
}

void tj_sim_write_scalar(tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t value, unsigned bits) {
  if (operand->index == TJ_SIM_NULL)
    return;
  wave->scalar[operand->index] = (uint32_t)value;
  if (bits == 64)
    wave->scalar[operand->index + 1] = (uint32_t)(value >> 32);
}

uint64_t tj_sim_read_mask(const tj_sim_wave *wave, const tj_sim_operand *operand) {
  return tj_sim_read_scalar(wave, operand, wave->lanes) & tj_sim_all_lanes(wave);
}

void tj_sim_write_mask(tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t mask) {
  tj_sim_write_scalar(wave, operand, mask, wave->lanes);
}

uint32_t *tj_sim_row(tj_sim_wave *wave, const tj_sim_operand *operand, unsigned offset) {
  if (operand->place != TJ_SIM_VECTOR && operand->place != TJ_SIM_ACCUMULATOR) {
    tj_sim_wave_fail(wave, 0, "an operand is no vector register");
    return NULL;
  }
  unsigned index = tj_sim_first_register(wave, operand) + offset;
  if (index < wave->vector_count)
    return wave->vector[index];
  tj_sim_wave_fail(wave, 0, "the kernel has no vector register %u, only %u of them", index, wave->vector_count);
  return NULL;
}

/* --- the loop --- */

static void count(tj_sim_wave *wave, const tj_sim_operation *operation) {
  tj_sim_counters *counters = wave->group->counters;
  counters->instructions[operation->class]++;
  if (operation->class != TJ_SIM_CLASS_VALU)
    return;
  counters->lanes_total += wave->lanes;
  counters->lanes_idle += wave->lanes - (unsigned)__builtin_popcountll(tj_sim_exec(wave));
}

void tj_sim_execute(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  if (instruction->operation == NULL) {
    tj_sim_wave_fail(wave, 0, "%s", instruction->problem);
    return;
  }
  if (!tj_sim_check_loads(wave, instruction))
    return;
  count(wave, instruction->operation);
  if (wave->undefined != NULL)
    tj_sim_execute_tracked(wave, instruction);
  else
    instruction->operation->execute(wave, instruction);
  tj_sim_issue_loads(wave, instruction);
}

bool tj_sim_spend(tj_sim_wave *wave) {
  if (wave->group->budget == 0) {
    tj_sim_wave_fail(wave, 0, "the workgroup has executed too many instructions: an infinite loop");
    return false;
  }
  wave->group->budget--;
  return true;
}

static void step(tj_sim_wave *wave) {
  const tj_sim_program *program = wave->group->program;
  if (wave->next >= program->count) {
    tj_sim_wave_fail(wave, 0, "the program counter has left the kernel's code");
    return;
  }
  if (!tj_sim_spend(wave))
    return;
  wave->position = wave->next++;
  tj_sim_execute(wave, &program->instruction[wave->position]);
}

void tj_sim_wave_run(tj_sim_wave *wave) {
  wave->state = TJ_SIM_RUNNING;
  while (wave->state == TJ_SIM_RUNNING)
    step(wave);
}
