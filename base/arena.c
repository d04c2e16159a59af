/* SPDX-License-Identifier: MIT */
/* Arena allocation in chunks that double in size. Under the address sanitizer, what is not allocated cannot be
 * touched, and blocks keep a distance from each other. */
#include "base/arena.h"

#include "base/job.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 16 * 1024, LARGEST_STEP = 4 * 1024 * 1024 };

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { DISTANCE = ALIGNMENT };
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
enum { DISTANCE = 0 };
#endif

struct tj_arena_chunk {
  tj_arena_chunk *older;
  size_t capacity;
  _Alignas(ALIGNMENT) unsigned char data[];
};

void tj_arena_init(tj_arena *arena, tj_job *job, size_t limit) {
  *arena = (tj_arena){.job = job, .limit = limit};
}

static void release_spare(tj_arena *arena) {
  if (arena->spare == NULL)
    return;
  ASAN_UNPOISON_MEMORY_REGION(arena->spare->data, arena->spare->capacity);
  arena->job->allocator.release(arena->job->allocator.user, arena->spare);
  arena->spare = NULL;
}

/* The newest chunk becomes the spare one: whoever resets at the end of a chunk again and again needs no new one. */
static void spare_newest(tj_arena *arena) {
  release_spare(arena);
  arena->spare = arena->chunk;
  arena->chunk = arena->spare->older;
  arena->total -= arena->spare->capacity;
}

void tj_arena_destroy(tj_arena *arena) {
  while (arena->chunk != NULL)
    spare_newest(arena);
  release_spare(arena);
  arena->used = 0;
}

void tj_arena_begin_with(tj_arena *arena, tj_arena_chunk *chunk) {
  arena->spare = chunk;
}

/* The spare chunk, or the one that is kept, which is then spare instead. What an allocator has at hand is not. */
static tj_arena_chunk *larger_of_spare(tj_arena *arena, tj_arena_chunk *kept) {
  enum { LEAST_KEPT = 256 * 1024 };
  tj_arena_chunk *spare = arena->spare;
  bool is_ordinary = spare != NULL && spare->capacity >= LEAST_KEPT && spare->capacity <= LARGEST_STEP;
  if (!is_ordinary || (kept != NULL && kept->capacity >= spare->capacity))
    return kept;
  arena->spare = kept;
  return spare;
}

tj_arena_chunk *tj_arena_end(tj_arena *arena, tj_arena_chunk *kept) {
  kept = larger_of_spare(arena, kept);
  while (arena->chunk != NULL) {
    spare_newest(arena);
    kept = larger_of_spare(arena, kept);
  }
  tj_arena_destroy(arena);
  return kept;
}

static size_t next_capacity(const tj_arena *arena, size_t needed) {
  size_t step = arena->chunk == NULL ? FIRST_CHUNK : arena->chunk->capacity * 2;
  if (step > LARGEST_STEP)
    step = LARGEST_STEP;
  return needed > step ? needed : step;
}

static tj_arena_chunk *new_chunk(tj_arena *arena, size_t needed) {
  tj_job *job = arena->job;
  size_t capacity = next_capacity(arena, needed);
  if (capacity > arena->limit - arena->total)
    tj_fail_memory_limit(job, arena->limit);
  tj_arena_chunk *chunk = job->allocator.allocate(job->allocator.user, sizeof *chunk + capacity);
  if (chunk == NULL)
    tj_fail_out_of_memory(job);
  chunk->capacity = capacity;
  return chunk;
}

static void add_chunk(tj_arena *arena, size_t needed) {
  if (arena->spare != NULL && arena->spare->capacity < needed)
    release_spare(arena);
  tj_arena_chunk *chunk = arena->spare != NULL ? arena->spare : new_chunk(arena, needed);
  arena->spare = NULL;
  ASAN_POISON_MEMORY_REGION(chunk->data, chunk->capacity);
  chunk->older = arena->chunk;
  arena->chunk = chunk;
  arena->total += chunk->capacity;
  arena->used = 0;
}

static void *take(tj_arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX / 4)
    tj_fail_out_of_memory(arena->job);
  size_t taken = ((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + DISTANCE;
  if (arena->chunk == NULL || taken > arena->chunk->capacity - arena->used)
    add_chunk(arena, taken);
  void *block = arena->chunk->data + arena->used;
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
  arena->used += taken;
  return block;
}

static size_t product_of(tj_arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    tj_fail_out_of_memory(arena->job);
  return bytes;
}

void *tj_arena_alloc(tj_arena *arena, size_t count, size_t size) {
  size_t bytes = product_of(arena, count, size);
  return memset(take(arena, bytes), 0, bytes);
}

void *tj_arena_raw(tj_arena *arena, size_t count, size_t size) {
  return take(arena, product_of(arena, count, size));
}

void *tj_arena_copy(tj_arena *arena, const void *data, size_t size) {
  void *copy = take(arena, size == 0 ? 1 : size);
  if (size != 0)
    memcpy(copy, data, size);
  return copy;
}

tj_arena_mark tj_arena_here(const tj_arena *arena) {
  return (tj_arena_mark){arena->chunk, arena->used};
}

void tj_arena_reset(tj_arena *arena, tj_arena_mark mark) {
  while (arena->chunk != mark.chunk) {
    spare_newest(arena);
    arena->used = arena->chunk != NULL ? arena->chunk->capacity : 0;
  }
  if (arena->chunk != NULL)
    ASAN_POISON_MEMORY_REGION(arena->chunk->data + mark.used, arena->used - mark.used);
  arena->used = mark.used;
}
