/* SPDX-License-Identifier: MIT */
/* Ranges of memory: one table for the process, sorted by where they begin. */
#include "rt/sim/machine/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
  pthread_mutex_t lock;
  tj_sim_range *range;
  size_t count, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool grow(void) {
  if (table.count < table.capacity)
    return true;
  size_t capacity = table.capacity == 0 ? 64 : table.capacity * 2;
  tj_sim_range *larger = realloc(table.range, capacity * sizeof *larger);
  if (larger == NULL)
    return false;
  table.range = larger;
  table.capacity = capacity;
  return true;
}

/* How many of them begin at the address or before it. */
static size_t count_until(const tj_sim_range *range, size_t count, uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (range[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool contains(const tj_sim_range *range, uint64_t address, uint64_t size) {
  return range->begin <= address && address < range->end && size <= range->end - address;
}

bool tj_sim_memory_add(const tj_sim_range *range) {
  pthread_mutex_lock(&table.lock);
  bool added = grow();
  if (added) {
    size_t at = count_until(table.range, table.count, range->begin);
    memmove(&table.range[at + 1], &table.range[at], (table.count - at) * sizeof *table.range);
    table.range[at] = *range;
    table.count++;
  }
  pthread_mutex_unlock(&table.lock);
  return added;
}

static void forget(size_t at) {
  table.count--;
  memmove(&table.range[at], &table.range[at + 1], (table.count - at) * sizeof *table.range);
  if (table.count > 0)
    return;
  free(table.range);
  table.range = NULL;
  table.capacity = 0;
}

/* The range that begins there, the last that was added; NULL where there is none. The lock is held. */
static tj_sim_range *range_at(const void *block, bool is_locked) {
  uint64_t begin = (uint64_t)(uintptr_t)block;
  size_t at = count_until(table.range, table.count, begin);
  while (at > 0 && table.range[at - 1].begin == begin && table.range[at - 1].is_locked != is_locked)
    at--;
  return at > 0 && table.range[at - 1].begin == begin ? &table.range[at - 1] : NULL;
}

bool tj_sim_memory_remove(const void *block, bool is_locked) {
  pthread_mutex_lock(&table.lock);
  const tj_sim_range *gone = range_at(block, is_locked);
  if (gone != NULL)
    forget((size_t)(gone - table.range));
  pthread_mutex_unlock(&table.lock);
  return gone != NULL;
}

bool tj_sim_memory_allow(const void *block, uint64_t agents) {
  pthread_mutex_lock(&table.lock);
  tj_sim_range *range = range_at(block, false);
  if (range != NULL)
    range->agents = agents;
  pthread_mutex_unlock(&table.lock);
  return range != NULL;
}

bool tj_sim_memory_find(uint64_t address, uint64_t size, tj_sim_range *found) {
  pthread_mutex_lock(&table.lock);
  size_t at = count_until(table.range, table.count, address);
  while (at > 0 && !contains(&table.range[at - 1], address, size))
    at--;
  if (at > 0)
    *found = table.range[at - 1];
  pthread_mutex_unlock(&table.lock);
  return at > 0;
}

/* Ranges that overlap become one. */
bool tj_sim_memory_snapshot(tj_sim_memory *memory, uint64_t agents) {
  pthread_mutex_lock(&table.lock);
  size_t size = table.count * sizeof *table.range, count = 0;
  tj_sim_range *range = malloc(size > 0 ? size : 1);
  for (size_t i = 0; range != NULL && i < table.count; i++) {
    const tj_sim_range *next = &table.range[i];
    if ((next->agents & agents) == 0)
      continue;
    if (count == 0 || range[count - 1].end <= next->begin)
      range[count++] = *next;
    else if (range[count - 1].end < next->end)
      range[count - 1].end = next->end;
  }
  pthread_mutex_unlock(&table.lock);
  *memory = (tj_sim_memory){.range = range, .count = count};
  return range != NULL;
}

void tj_sim_memory_release(tj_sim_memory *memory) {
  free(memory->range);
}

unsigned char *tj_sim_memory_at(tj_sim_memory *memory, uint64_t address, uint64_t size, bool is_written) {
  if (memory->last >= memory->count || !contains(&memory->range[memory->last], address, size)) {
    size_t until = count_until(memory->range, memory->count, address);
    if (until == 0 || !contains(&memory->range[until - 1], address, size))
      return NULL;
    memory->last = until - 1;
  }
  if (is_written && !memory->range[memory->last].is_writable)
    return NULL;
  return (unsigned char *)(uintptr_t)address;
}
