/* SPDX-License-Identifier: MIT */
/* Checks of a layout in LDS, or NVIDIA's shared memory, against those who store and load a tile there. */
#ifndef TJ_JIT_CHECK_LDS_H
#define TJ_JIT_CHECK_LDS_H

#include "jit/inspect/check.h"
#include "jit/lds/lds_access.h"

/* What a question about LDS is about. */
typedef struct {
  tj_graph *graph;
  const char *target;
  tj_shared_memory memory;
  const char *dtype;
  uint32_t element_bytes;
  const tj_value *lds;          /* from the coordinate in the tile to the element */
  const tj_value *store, *load; /* who holds what of the tile; NULL: nobody */
  tj_span lds_span, store_span, load_span;
} tj_lds_check;

/* Cycles of all instructions of a plan. */
typedef struct {
  int64_t instructions, cycles, least;
} tj_lds_cost;

tj_lds_cost tj_lds_count(const tj_lds_check *check, const tj_lds_plan *plan);

/* An instruction of a wave. */
typedef struct {
  bool is_store;
  uint32_t bytes; /* from each address on */
  uint64_t active;
  uint32_t address[TJ_BANK_LANES];
  const char *text; /* what it is, and what it takes */
} tj_lds_wave_access;

/* Of those who store, or load, the instruction that takes the most cycles over its phases, or the first. Fails as
 * tj_check_lds_of, and where no lane wants anything. */
tj_lds_wave_access tj_lds_worst_access(const tj_lds_check *check, bool is_store);

/* The layout's bytes and whether it is one to one; of each side its instructions, those alike together, the lanes
 * that collide, and all cycles. Fails where a coordinate that is held is none of the layout's. */
void tj_check_lds_of(const tj_lds_check *check, tj_findings *findings);

#endif
