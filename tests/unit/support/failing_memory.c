/* SPDX-License-Identifier: MIT */
/* The wrapped functions, which blocks they have given, and who asked for them. */
#include "tests/unit/support/failing_memory.h"

#include "base/job.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);

/* Libraries that the program opens find these in it. */
#pragma GCC visibility push(default)
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_strdup(const char *text);
void *__wrap_strndup(const char *text, size_t length);
void __wrap_free(void *block);
void *__wrap_tj_arena_alloc(tj_arena *arena, size_t count, size_t size);
void *__wrap_tj_arena_copy(tj_arena *arena, const void *data, size_t size);
#pragma GCC visibility pop

void *__real_tj_arena_alloc(tj_arena *arena, size_t count, size_t size);
void *__real_tj_arena_copy(tj_arena *arena, const void *data, size_t size);

/* Open addressing; a block that is given back leaves GONE behind. A path is a hash of the innermost CALLERS, the
 * functions of this file among them. */
enum { SLOTS = 1 << 16, MOST_PATHS = SLOTS / 2, CALLERS = 6 };

static char gone;
#define GONE ((void *)&gone)

static struct {
  pthread_mutex_t lock; /* of what follows */
  bool is_counting;
  long count, failing, held;
  void *slot[SLOTS];
  bool is_tracing;
  uint64_t path[SLOTS]; /* 0: none */
  long first[MOST_PATHS];
  size_t path_count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t first_slot(const void *block) {
  return (size_t)((uintptr_t)block * 0x9e3779b97f4a7c15u >> 48) % SLOTS;
}

static void remember(void *block) {
  size_t at = first_slot(block);
  for (size_t i = 0; i < SLOTS && all.slot[at] != NULL && all.slot[at] != GONE; i++)
    at = (at + 1) % SLOTS;
  all.slot[at] = block;
  all.held++;
}

static void forget(const void *block) {
  size_t at = first_slot(block);
  for (size_t i = 0; i < SLOTS && all.slot[at] != NULL; i++, at = (at + 1) % SLOTS) {
    if (all.slot[at] != block)
      continue;
    all.slot[at] = GONE;
    all.held--;
    return;
  }
}

static void begin(long failing, bool is_tracing) {
  pthread_mutex_lock(&all.lock);
  all.count = all.held = 0;
  all.failing = failing;
  all.is_counting = true;
  all.is_tracing = is_tracing;
  memset(all.slot, 0, sizeof all.slot);
  pthread_mutex_unlock(&all.lock);
}

void fail_allocation(long number) {
  begin(number, false);
}

void trace_allocations(void) {
  memset(all.path, 0, sizeof all.path);
  all.path_count = 0;
  begin(-1, true);
}

size_t first_of_paths(const long **number) {
  *number = all.first;
  return all.path_count;
}

long stop_failing(long *held) {
  pthread_mutex_lock(&all.lock);
  all.is_counting = false;
  *held = all.held;
  long count = all.count;
  pthread_mutex_unlock(&all.lock);
  return count;
}

static uint64_t path_here(void) {
  void *caller[CALLERS];
  int count = backtrace(caller, CALLERS);
  uint64_t hash = 1;
  for (int i = 0; i < count; i++)
    hash = (hash ^ (uint64_t)(uintptr_t)caller[i]) * UINT64_C(0x9e3779b97f4a7c15);
  return hash | 1;
}

static void trace_path(uint64_t path) {
  size_t at = (size_t)(path >> 48) % SLOTS;
  while (all.path[at] != 0 && all.path[at] != path)
    at = (at + 1) % SLOTS;
  if (all.path[at] == path || all.path_count == MOST_PATHS)
    return;
  all.path[at] = path;
  all.first[all.path_count++] = all.count;
}

/* Counts one more allocation; whether it is to fail. */
static bool is_refused(void) {
  pthread_mutex_lock(&all.lock);
  if (all.is_counting && all.is_tracing)
    trace_path(path_here());
  bool refused = all.is_counting && all.count++ == all.failing;
  pthread_mutex_unlock(&all.lock);
  return refused;
}

static void *given(void *block) {
  pthread_mutex_lock(&all.lock);
  if (block != NULL && all.is_counting)
    remember(block);
  pthread_mutex_unlock(&all.lock);
  return block;
}

static void taken(const void *block) {
  pthread_mutex_lock(&all.lock);
  if (block != NULL)
    forget(block);
  pthread_mutex_unlock(&all.lock);
}

void *__wrap_malloc(size_t size) {
  return is_refused() ? NULL : given(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
  return is_refused() ? NULL : given(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return is_refused() ? NULL : given(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *block, size_t size) {
  if (is_refused())
    return NULL;
  taken(block);
  return given(__real_realloc(block, size));
}

void *__wrap_tj_arena_alloc(tj_arena *arena, size_t count, size_t size) {
  if (is_refused())
    tj_fail_out_of_memory(arena->job);
  return __real_tj_arena_alloc(arena, count, size);
}

void *__wrap_tj_arena_copy(tj_arena *arena, const void *data, size_t size) {
  if (is_refused())
    tj_fail_out_of_memory(arena->job);
  return __real_tj_arena_copy(arena, data, size);
}

void *__wrap_strndup(const char *text, size_t length) {
  size_t size = strnlen(text, length);
  char *copy = __wrap_malloc(size + 1);
  if (copy == NULL)
    return NULL;
  copy[size] = '\0';
  return memcpy(copy, text, size);
}

void *__wrap_strdup(const char *text) {
  return __wrap_strndup(text, strlen(text));
}

void __wrap_free(void *block) {
  taken(block);
  __real_free(block);
}
