/* SPDX-License-Identifier: MIT */
/* Arena allocation in chunks that double in size. */
#include "base/arena.h"

#include "base/job.h"

#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 16 * 1024, LARGEST_STEP = 4 * 1024 * 1024 };

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
  chunk->older = arena->chunk;
  arena->chunk = chunk;
  arena->total += chunk->capacity;
  arena->used = 0;
}

static void *take(tj_arena *arena, size_t bytes) {
  if (bytes > SIZE_MAX / 4)
    tj_fail_out_of_memory(arena->job);
  bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  if (arena->chunk == NULL || bytes > arena->chunk->capacity - arena->used)
    add_chunk(arena, bytes);
  void *block = arena->chunk->data + arena->used;
  arena->used += bytes;
  return block;
}

void *tj_arena_alloc(tj_arena *arena, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    tj_fail_out_of_memory(arena->job);
  return memset(take(arena, bytes), 0, bytes);
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
  while (arena->chunk != mark.chunk)
    spare_newest(arena);
  arena->used = mark.used;
}
