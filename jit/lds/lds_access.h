/* SPDX-License-Identifier: MIT */
/* Between registers and LDS: by which instructions threads move the values that they hold, given where each of these
 * lies. Instructions are rows of lds_instruction.def. */
#ifndef TJ_JIT_LDS_ACCESS_H
#define TJ_JIT_LDS_ACCESS_H

#include "base/machine/processor.h"
#include "jit/inspect/thread_values.h"

typedef struct {
  const char *name;
  tj_maker maker;
  uint32_t first, last; /* generations */
  bool is_store;
  uint32_t lanes;      /* that work together; 1: each by itself */
  uint32_t lane_bytes; /* that a lane moves to or from its registers */
  uint32_t bytes;      /* from an address on */
  const char *address,
      *place; /* of lane and byte in registers: whose address, and which byte from there; "" for 1 lane */
} tj_lds_instruction;

/* An instruction of all waves: the values order[first … first + count - 1] of each thread. */
typedef struct {
  const tj_lds_instruction *is;
  uint32_t first, count;
} tj_lds_step;

typedef struct {
  const tj_thread_values *held;
  const int64_t *place; /* the element of value v of thread t: place[t * values + v] */
  uint32_t element_bytes;
  uint32_t lanes;        /* of a wave */
  const uint32_t *order; /* of values */
  const tj_lds_step *step;
  uint32_t step_count;
} tj_lds_plan;

/* The fewest instructions that a compiler finds: of the widest accesses that all threads can make, for values in
 * their own order, or else sorted by where they are. TJ2005 where an element is wider than any access. */
tj_lds_plan tj_lds_plan_of(tj_graph *graph, const tj_shared_memory *memory, bool is_store, uint32_t element_bytes,
                           const tj_thread_values *held, const int64_t place[]);

/* What the lanes of a wave want: the element from which on each active one has the address. */
typedef struct {
  uint64_t active;
  int64_t element[TJ_BANK_LANES];
} tj_lds_request;

tj_lds_request tj_lds_request_of(const tj_lds_plan *plan, const tj_lds_step *step, int64_t wave);

int64_t tj_lds_wave_count(const tj_lds_plan *plan);

#endif
