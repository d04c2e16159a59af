/* SPDX-License-Identifier: MIT */
/* The memory that kernels may touch: which ranges of this process's addresses have been allocated for them.
 *
 * Thread safety: adding and removing ranges locks; a dispatch works on a snapshot, which is its thread's own. */
#ifndef TJ_RT_SIM_MEMORY_H
#define TJ_RT_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint64_t begin, end;
  bool is_writable;
} tj_sim_range;

/* A sorted copy of all ranges. */
typedef struct {
  tj_sim_range *range;
  size_t count;
  size_t last; /* where the last look-up succeeded: the next one looks there first */
} tj_sim_memory;

/* Whether it worked; it does not when memory is exhausted. */
bool tj_sim_memory_add(void *block, size_t size, bool is_writable);
/* The size of the range that begins at `block`, or 0. */
size_t tj_sim_memory_remove(void *block);
bool tj_sim_memory_snapshot(tj_sim_memory *memory);
void tj_sim_memory_release(tj_sim_memory *memory);

/* The bytes at an address, or NULL where they are not all inside one range, or must not be written. */
unsigned char *tj_sim_memory_at(tj_sim_memory *memory, uint64_t address, uint64_t size, bool is_written);

#endif
