/* SPDX-License-Identifier: MIT */
/* Ranges of memory: one sorted table for the process. */
#include "rt/sim/machine/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
  pthread_mutex_t lock;
  tj_sim_range *range;
  size_t count, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The first range that ends after `address`. */
static size_t search(const tj_sim_range *range, size_t count, uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (range[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

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

bool tj_sim_memory_add(void *block, size_t size, bool is_writable) {
  uint64_t begin = (uint64_t)(uintptr_t)block;
  pthread_mutex_lock(&table.lock);
  bool added = grow();
  if (added) {
    size_t at = search(table.range, table.count, begin);
    memmove(&table.range[at + 1], &table.range[at], (table.count - at) * sizeof *table.range);
    table.range[at] = (tj_sim_range){begin, begin + size, is_writable};
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

size_t tj_sim_memory_remove(void *block) {
  uint64_t begin = (uint64_t)(uintptr_t)block;
  size_t size = 0;
  pthread_mutex_lock(&table.lock);
  size_t at = search(table.range, table.count, begin);
  if (at < table.count && table.range[at].begin == begin) {
    size = (size_t)(table.range[at].end - begin);
    forget(at);
  }
  pthread_mutex_unlock(&table.lock);
  return size;
}

bool tj_sim_memory_snapshot(tj_sim_memory *memory) {
  pthread_mutex_lock(&table.lock);
  size_t size = table.count * sizeof *table.range;
  *memory = (tj_sim_memory){.range = malloc(size > 0 ? size : 1), .count = table.count};
  if (memory->range != NULL && size > 0)
    memcpy(memory->range, table.range, size);
  pthread_mutex_unlock(&table.lock);
  return memory->range != NULL;
}

void tj_sim_memory_release(tj_sim_memory *memory) {
  free(memory->range);
}

static bool contains(const tj_sim_range *range, uint64_t address, uint64_t size) {
  return range->begin <= address && address < range->end && size <= range->end - address;
}

unsigned char *tj_sim_memory_at(tj_sim_memory *memory, uint64_t address, uint64_t size, bool is_written) {
  if (memory->last >= memory->count || !contains(&memory->range[memory->last], address, size)) {
    size_t at = search(memory->range, memory->count, address);
    if (at == memory->count || !contains(&memory->range[at], address, size))
      return NULL;
    memory->last = at;
  }
  if (is_written && !memory->range[memory->last].is_writable)
    return NULL;
  return (unsigned char *)(uintptr_t)address;
}
