/* SPDX-License-Identifier: MIT */
/* Counting: cache lines of vector memory; cycles of LDS, by the bank model of base/machine/bank.h. */
#include "rt/sim/machine/counters.h"

#include "base/machine/bank.h"
#include "base/machine/cache_line.h"

void tj_sim_counters_add(tj_sim_counters *to, const tj_sim_counters *from) {
  uint64_t *sum = (uint64_t *)to;
  const uint64_t *term = (const uint64_t *)from;
  for (size_t i = 0; i < sizeof *to / sizeof *sum; i++)
    sum[i] += term[i];
}

/* --- cache lines --- */

static uint32_t width_index(uint32_t size) {
  static const uint8_t most[TJ_SIM_WIDTHS - 1] = {1, 2, 4, 8, 12};
  uint32_t index = 0;
  while (index < TJ_SIM_WIDTHS - 1 && size > most[index])
    index++;
  return index;
}

void tj_sim_count_box(tj_sim_counters *counters, const tj_dma_touched *touched, uint32_t size, bool is_written) {
  counters->memory_accesses++;
  counters->memory_bytes += touched->bytes;
  counters->cache_lines += touched->lines;
  counters->least_cache_lines += touched->least_lines;
  *(is_written ? &counters->store_lines : &counters->load_lines) += touched->lines;
  *(is_written ? &counters->least_store_lines : &counters->least_load_lines) += touched->least_lines;
  (is_written ? counters->store_bytes : counters->load_bytes)[width_index(size)] += touched->bytes;
}

void tj_sim_count_access(tj_sim_counters *counters, uint32_t line_bytes, const uint64_t address[], uint32_t count,
                         uint32_t size, bool is_written) {
  if (count == 0)
    return;
  tj_line_count lines = tj_count_lines(address, count, size, line_bytes);
  const tj_dma_touched touched = {
      .bytes = (uint64_t)count * size, .lines = lines.touched, .least_lines = lines.least};
  tj_sim_count_box(counters, &touched, size, is_written);
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
