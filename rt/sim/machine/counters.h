/* SPDX-License-Identifier: MIT */
/* What a dispatch is measured by, without time: instructions by class, and how well memory is used.
 *
 * Plain sums, so that each thread may have its own and tj_sim_counters_add puts them together. The layout is also
 * what tj_hsasim_counters hands out, as an array of uint64_t in this order. */
#ifndef TJ_RT_SIM_COUNTERS_H
#define TJ_RT_SIM_COUNTERS_H

#include "base/dma/touched.h"
#include "rt/sim/machine/instruction.h"

enum { TJ_SIM_WIDTHS = 6 }; /* of accesses to memory: 1, 2, 4, 8, 12 and 16 bytes a lane */

typedef struct {
  uint64_t waves;
  uint64_t instructions[TJ_SIM_CLASS_COUNT];
  uint64_t lanes_idle;        /* of vector instructions, that exec had switched off */
  uint64_t lanes_total;       /* of vector instructions */
  uint64_t memory_accesses;   /* vector memory instructions with a lane at least, and those of engines */
  uint64_t cache_lines;       /* that they touched */
  uint64_t least_cache_lines; /* that these bytes need, each once */
  uint64_t memory_bytes;
  uint64_t lds_cycles;
  uint64_t least_lds_cycles;
  uint64_t load_lines, least_load_lines;   /* cache lines of instructions that only load */
  uint64_t store_lines, least_store_lines; /* of the others */
  uint64_t load_bytes[TJ_SIM_WIDTHS];      /* memory_bytes, by the bytes of a lane */
  uint64_t store_bytes[TJ_SIM_WIDTHS];
} tj_sim_counters;

void tj_sim_counters_add(tj_sim_counters *to, const tj_sim_counters *from);

/* Counts the cache lines of one vector memory instruction: `size` bytes, up to a line, at each of the addresses. */
void tj_sim_count_access(tj_sim_counters *counters, uint32_t line_bytes, const uint64_t address[], uint32_t count,
                         uint32_t size, bool is_written);

/* Counts what an engine moved of memory, in elements of `size` bytes. */
void tj_sim_count_box(tj_sim_counters *counters, const tj_dma_touched *touched, uint32_t size, bool is_written);

/* Counts the cycles of one LDS access by the phases in which its lanes are served: address[i] of lane i, for the
 * lanes in `exec`. */
void tj_sim_count_lds(tj_sim_counters *counters, const char *processor, const uint32_t address[TJ_SIM_LANES],
                      uint64_t exec, uint32_t bytes, bool is_store);

#endif
