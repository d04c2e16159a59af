/* SPDX-License-Identifier: MIT */
/* Counting: cache lines of vector memory; cycles of LDS, by the bank model of base/bank.h. */
#include "rt/sim/machine/counters.h"

#include "base/bank.h"

enum { LINE_SLOTS = 256 };

void tj_sim_counters_add(tj_sim_counters *to, const tj_sim_counters *from) {
  uint64_t *sum = (uint64_t *)to;
  const uint64_t *term = (const uint64_t *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
    sum[i] += term[i];
}

/* --- cache lines --- */

/* A set of line numbers: open addressing, large enough for two lines a lane. */
typedef struct {
  uint64_t slot[LINE_SLOTS]; /* a line's number and 1; 0: empty */
  uint32_t count;
} line_set;

static void insert_line(line_set *set, uint64_t line) {
  uint32_t at = (uint32_t)(line * 0x9e3779b97f4a7c15u >> 56);
  while (set->slot[at] != 0 && set->slot[at] != line + 1)
    at = (at + 1) % LINE_SLOTS;
  set->count += set->slot[at] == 0 ? 1 : 0;
  set->slot[at] = line + 1;
}

static uint32_t width_index(uint32_t size) {
  static const uint8_t most[TJ_SIM_WIDTHS - 1] = {1, 2, 4, 8, 12};
  uint32_t index = 0;
  while (index < TJ_SIM_WIDTHS - 1 && size > most[index])
    index++;
  return index;
}

void tj_sim_count_access(tj_sim_counters *counters, uint32_t line_bytes, const uint64_t address[], uint32_t count,
                         uint32_t size, bool is_written) {
  if (count == 0)
    return;
  line_set set = {.count = 0};
  for (uint32_t i = 0; i < count; i++) {
    insert_line(&set, address[i] / line_bytes);
    insert_line(&set, (address[i] + size - 1) / line_bytes);
  }
  uint64_t bytes = (uint64_t)count * size, least = (bytes + line_bytes - 1) / line_bytes;
  counters->memory_accesses++;
  counters->memory_bytes += bytes;
  counters->cache_lines += set.count;
  counters->least_cache_lines += least;
  *(is_written ? &counters->store_lines : &counters->load_lines) += set.count;
  *(is_written ? &counters->least_store_lines : &counters->least_load_lines) += least;
  (is_written ? counters->store_bytes : counters->load_bytes)[width_index(size)] += bytes;
}

/* --- LDS --- */

void tj_sim_count_lds(tj_sim_counters *counters, const char *processor, const uint32_t address[TJ_SIM_LANES],
                      uint64_t exec, uint32_t bytes, bool is_store) {
  const tj_bank_model *model = tj_bank_model_of(processor);
  if (model == NULL)
    return;
  counters->lds_cycles += tj_bank_cycles(model, is_store, bytes, address, exec);
  counters->least_lds_cycles += tj_bank_ideal(model, is_store, bytes, exec);
}
