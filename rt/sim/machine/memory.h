/* SPDX-License-Identifier: MIT */
/* The memory that kernels may touch: which ranges of this process's addresses are there for them, and for the kernels
 * of which agents. Ranges of an application's own memory, which it locks, may overlap each other; what is allocated
 * overlaps nothing that is.
 *
 * Thread safety: adding, changing and removing ranges locks; a dispatch works on a snapshot, which is its thread's
 * own. */
#ifndef TJ_RT_SIM_MEMORY_H
#define TJ_RT_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t begin, end;
  uint64_t agents; /* bit i: the kernels of the agent with handle i + 1 may touch it */
  uint64_t pool;   /* the handle of the pool that an application has it from, or has locked it to; 0: neither */
  bool is_writable, is_locked;
} tj_sim_range;

static const uint64_t tj_sim_all_agents = UINT64_MAX;

/* Memory of every agent. */
static inline tj_sim_range tj_sim_range_of(const void *block, size_t size, bool is_writable) {
  uint64_t begin = (uint64_t)(uintptr_t)block;
  return (tj_sim_range){.begin = begin, .end = begin + size, .agents = tj_sim_all_agents, .is_writable = is_writable};
}

/* A sorted copy of the ranges of an agent, none of which overlap. */
typedef struct {
  tj_sim_range *range;
  size_t count;
  size_t last; /* where the last look-up succeeded: the next one looks there first */
} tj_sim_memory;

/* Whether it worked; it does not when memory is exhausted. */
bool tj_sim_memory_add(const tj_sim_range *range);
/* Whether a range, of what is allocated or of what is locked, begins at `block`; then it is gone. */
bool tj_sim_memory_remove(const void *block, bool is_locked);
/* Whether what is allocated at `block` is known; then it is the agents' from now on. */
bool tj_sim_memory_allow(const void *block, uint64_t agents);
/* The range that contains so many bytes at an address, the last that was added. */
bool tj_sim_memory_find(uint64_t address, uint64_t size, tj_sim_range *found);

bool tj_sim_memory_snapshot(tj_sim_memory *memory, uint64_t agents);
void tj_sim_memory_release(tj_sim_memory *memory);

/* The bytes at an address, or NULL where they are not all inside one range, or must not be written. */
unsigned char *tj_sim_memory_at(tj_sim_memory *memory, uint64_t address, uint64_t size, bool is_written);

#endif
