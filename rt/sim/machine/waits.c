/* SPDX-License-Identifier: MIT */
/* Waits: reading them, and holding instructions against the loads in flight. */
#include "rt/sim/machine/waits.h"

#include "base/integer.h"
#include "rt/sim/machine/wave.h"

#include <stdlib.h>

/* --- reading --- */

/* The number after a name in the text, as in vmcnt(3); no limit where the name does not occur. */
static uint8_t limit_of(const char *text, const char *name) {
  const char *at = strstr(text, name);
  unsigned long limit = at == NULL ? TJ_SIM_NO_LIMIT : strtoul(at + strlen(name), NULL, 0);
  return (uint8_t)(limit < TJ_SIM_NO_LIMIT ? limit : TJ_SIM_NO_LIMIT);
}

/* Instructions that wait for one counter, or for two in one number: where in it the limits are. */
static const struct {
  const char *prefix;
  uint8_t counter;
  uint8_t shift;
} rows[] = {
    {"s_waitcnt_vmcnt null, ", TJ_SIM_WAIT_VECTOR, 0}, {"s_waitcnt_lgkmcnt null, ", TJ_SIM_WAIT_LDS, 0},
    {"s_wait_loadcnt ", TJ_SIM_WAIT_VECTOR, 0},        {"s_wait_dscnt ", TJ_SIM_WAIT_LDS, 0},
    {"s_wait_kmcnt ", TJ_SIM_WAIT_SCALAR, 0},          {"s_wait_loadcnt_dscnt ", TJ_SIM_WAIT_VECTOR, 8},
    {"s_wait_loadcnt_dscnt ", TJ_SIM_WAIT_LDS, 0},     {"s_wait_storecnt_dscnt ", TJ_SIM_WAIT_LDS, 0},
    {"s_wait_tensorcnt ", TJ_SIM_WAIT_TENSOR, 0},      {"s_wait_asynccnt ", TJ_SIM_WAIT_ASYNC, 0},
};

void tj_sim_read_wait(const char *text, tj_sim_instruction *instruction) {
  bool is_idle = strcmp(text, "s_wait_idle") == 0;
  memset(instruction->wait, is_idle ? 0 : TJ_SIM_NO_LIMIT, sizeof instruction->wait);
  if (strncmp(text, "s_waitcnt ", 10) == 0) {
    instruction->wait[TJ_SIM_WAIT_VECTOR] = limit_of(text, "vmcnt(");
    instruction->wait[TJ_SIM_WAIT_LDS] = limit_of(text, "lgkmcnt(");
  }
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strncmp(text, rows[i].prefix, strlen(rows[i].prefix)) == 0)
      instruction->wait[rows[i].counter] =
          (uint8_t)(strtoul(text + strlen(rows[i].prefix), NULL, 0) >> rows[i].shift & 63);
  }
}

/* --- loads --- */

static uint8_t *registers_of(tj_sim_loads *loads, bool is_scalar) {
  return is_scalar ? loads->scalar : loads->vector;
}

static void change(tj_sim_loads *loads, const tj_sim_load *load, int by) {
  uint8_t *registers = registers_of(loads, load->is_scalar);
  for (unsigned i = 0; i < load->count; i++)
    registers[load->first + i] = (uint8_t)(registers[load->first + i] + by);
  loads->in_flight = (uint32_t)((int64_t)loads->in_flight + by);
}

/* What a load writes to LDS is there, and other waves may read it after the next barrier. */
static void arrive(const tj_sim_wave *wave, const tj_sim_load *load) {
  if (wave->group->shadow != NULL && load->number != 0)
    tj_sim_shadow_arrive(wave->group->shadow + load->place, load->bytes, wave->group->barriers + 1, wave->number,
                         load->number);
}

static void retire_oldest(tj_sim_wave *wave, tj_sim_load_queue *queue) {
  change(&wave->loads, &queue->load[queue->oldest], -1);
  arrive(wave, &queue->load[queue->oldest]);
  queue->oldest = (queue->oldest + 1) % TJ_SIM_IN_FLIGHT;
  queue->count--;
}

static bool has_unordered(const tj_sim_load_queue *queue) {
  for (uint32_t i = 0; i < queue->count; i++) {
    if (queue->load[(queue->oldest + i) % TJ_SIM_IN_FLIGHT].is_unordered)
      return true;
  }
  return false;
}

/* A wait for some of what may end in any order tells nothing of which have ended. */
void tj_sim_execute_wait(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  for (unsigned i = 0; i < TJ_SIM_WAITS; i++) {
    tj_sim_load_queue *queue = &wave->loads.queue[i];
    uint32_t limit = instruction->wait[i];
    if (limit == TJ_SIM_NO_LIMIT || (limit > 0 && has_unordered(queue)))
      continue;
    while (queue->count > limit)
      retire_oldest(wave, queue);
  }
}

static void issue(tj_sim_wave *wave, unsigned counter, tj_sim_load load) {
  tj_sim_load_queue *queue = &wave->loads.queue[counter];
  if (queue->count == TJ_SIM_IN_FLIGHT)
    retire_oldest(wave, queue);
  queue->load[(queue->oldest + queue->count) % TJ_SIM_IN_FLIGHT] = load;
  queue->count++;
  change(&wave->loads, &load, 1);
}

void tj_sim_issue_lds_load(tj_sim_wave *wave, unsigned counter, uint64_t begin, uint64_t end) {
  tj_sim_load load = {.number = 0};
  if (begin < end)
    load =
        (tj_sim_load){.number = wave->group->lds_loads, .place = (uint32_t)begin, .bytes = (uint32_t)(end - begin)};
  issue(wave, counter, load);
}

static unsigned limit_of_registers(bool is_scalar) {
  return is_scalar ? TJ_SIM_SCALARS : TJ_SIM_ALL_VECTORS;
}

/* The operand that a memory instruction loads into; NULL: it loads nothing. */
static const tj_sim_operand *loaded_operand(const tj_sim_instruction *instruction) {
  return tj_sim_has_result(instruction) ? &instruction->operand[0] : NULL;
}

static bool is_memory(const tj_sim_operation *operation) {
  return operation->class == TJ_SIM_CLASS_VMEM || operation->class == TJ_SIM_CLASS_SMEM ||
         operation->class == TJ_SIM_CLASS_LDS;
}

void tj_sim_issue_loads(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operation *operation = instruction->operation;
  bool has_told = operation->transfer == TJ_SIM_DIRECT && tj_sim_exec(wave) != 0; /* tj_sim_issue_lds_load */
  if (!is_memory(operation) || operation->bytes == 0 || has_told)
    return;
  uint32_t generation = wave->group->processor->major;
  const tj_sim_operand *to = loaded_operand(instruction);
  bool is_scalar = operation->class == TJ_SIM_CLASS_SMEM;
  tj_sim_load load = {.is_scalar = is_scalar, .is_unordered = is_scalar};
  if (to != NULL && to->index != TJ_SIM_NULL) {
    load.first = (uint16_t)(is_scalar ? to->index : tj_sim_first_register(wave, to));
    load.count = (uint8_t)tj_least(to->width, limit_of_registers(is_scalar) - load.first);
  }
  if (is_scalar)
    issue(wave, generation >= 12 ? TJ_SIM_WAIT_SCALAR : TJ_SIM_WAIT_LDS, load);
  else if (operation->class == TJ_SIM_CLASS_LDS)
    issue(wave, TJ_SIM_WAIT_LDS, load);
  else if (to != NULL || generation < 10)
    issue(wave, TJ_SIM_WAIT_VECTOR, load);
  if (operation->execute == tj_sim_execute_flat)
    issue(wave, TJ_SIM_WAIT_LDS, (tj_sim_load){.is_unordered = true});
}

/* --- checking --- */

static bool check_operand(tj_sim_wave *wave, const tj_sim_operand *operand) {
  bool is_scalar = operand->place == TJ_SIM_SCALAR;
  if (operand->place == TJ_SIM_ABSENT || operand->place == TJ_SIM_CONSTANT)
    return true;
  unsigned first = is_scalar ? operand->index : tj_sim_first_register(wave, operand);
  const uint8_t *registers = registers_of(&wave->loads, is_scalar);
  unsigned limit = limit_of_registers(is_scalar);
  for (unsigned i = first; i < first + operand->width && i < limit; i++) {
    if (registers[i] == 0)
      continue;
    tj_sim_wave_fail(wave, 0, "%c%u is used before the kernel has waited for its load", is_scalar ? 's' : 'v', i);
    return false;
  }
  return true;
}

/* Loads of one counter that write the same register do so in order, and need no wait between them. */
bool tj_sim_check_loads(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  if (wave->loads.in_flight == 0)
    return true;
  bool is_ordered_load = is_memory(instruction->operation) && instruction->operation->class != TJ_SIM_CLASS_SMEM &&
                         loaded_operand(instruction) == &instruction->operand[0];
  for (unsigned i = is_ordered_load ? 1 : 0; i < instruction->operand_count; i++) {
    if (!check_operand(wave, &instruction->operand[i]))
      return false;
  }
  return instruction->pair == NULL || tj_sim_check_loads(wave, instruction->pair);
}
