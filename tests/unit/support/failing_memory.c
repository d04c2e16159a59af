/* SPDX-License-Identifier: MIT */
/* The wrapped functions, and which blocks they have given. */
#include "tests/unit/support/failing_memory.h"

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

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_strdup(const char *text);
void *__wrap_strndup(const char *text, size_t length);
void __wrap_free(void *block);

/* Open addressing; a block that is given back leaves GONE behind. */
enum { SLOTS = 1 << 16 };

static char gone;
#define GONE ((void *)&gone)

static struct {
  pthread_mutex_t lock; /* of what follows */
  bool is_counting;
  long count, failing, held;
  void *slot[SLOTS];
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

void fail_allocation(long number) {
  pthread_mutex_lock(&all.lock);
  all.count = all.held = 0;
  all.failing = number;
  all.is_counting = true;
  memset(all.slot, 0, sizeof all.slot);
  pthread_mutex_unlock(&all.lock);
}

long stop_failing(long *held) {
  pthread_mutex_lock(&all.lock);
  all.is_counting = false;
  *held = all.held;
  long count = all.count;
  pthread_mutex_unlock(&all.lock);
  return count;
}

/* Counts one more allocation; whether it is to fail. */
static bool is_refused(void) {
  pthread_mutex_lock(&all.lock);
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

void *__wrap_strndup(const char *text, size_t length) {
  size_t size = strnlen(text, length);
  char *copy = __wrap_malloc(size + 1);
  if (copy == NULL)
    return NULL;
  copy[size] = '\0';
  return memcpy(copy, text, size);
}

void *__wrap_strdup(const char *text) {
  return __wrap_strndup(text, SIZE_MAX);
}

void __wrap_free(void *block) {
  taken(block);
  __real_free(block);
}
