/* SPDX-License-Identifier: MIT */
/* Arenas: all memory of one job, given back at once.
 *
 * An arena hands out zeroed, 16-byte aligned blocks that live until the arena is reset to an earlier mark or
 * destroyed. Nothing is freed one by one. An arena never returns NULL: when the allocator refuses, or the arena's
 * byte limit is reached, it leaves the job through tj_fail (see job.h). */
#ifndef TJ_BASE_ARENA_H
#define TJ_BASE_ARENA_H

#include <stddef.h>

struct tj_job;

typedef struct tj_arena_chunk tj_arena_chunk;

typedef struct {
  struct tj_job *job;    /* borrowed: whom to tell when memory runs out */
  tj_arena_chunk *chunk; /* owned: newest first */
  tj_arena_chunk *spare; /* owned: what the last reset gave back, for the next chunk; NULL: none */
  size_t used;           /* bytes handed out of the newest chunk */
  size_t total;          /* bytes of all chunks but the spare one */
  size_t limit;          /* most bytes that all chunks together may have */
} tj_arena;

/* A place in an arena; resetting to it gives back everything allocated since. */
typedef struct {
  tj_arena_chunk *chunk;
  size_t used;
} tj_arena_mark;

void tj_arena_init(tj_arena *arena, struct tj_job *job, size_t limit);
void tj_arena_destroy(tj_arena *arena);

/* An arena that has allocated nothing begins with a chunk, which it then owns; NULL: without any. */
void tj_arena_begin_with(tj_arena *arena, tj_arena_chunk *chunk);
/* Destroys the arena but for its largest chunk, of a quarter to four MiB, or `kept`, another one, where that is larger:
 * for the next arena with the same allocator, which then need not wait for the system's memory. NULL: neither is. */
tj_arena_chunk *tj_arena_end(tj_arena *arena, tj_arena_chunk *kept);

/* Zeroed memory for `count` objects of `size` bytes; an overflow of count * size fails like exhausted memory. */
void *tj_arena_alloc(tj_arena *arena, size_t count, size_t size);

/* The same, but not zeroed: for what is written before it is read. */
void *tj_arena_raw(tj_arena *arena, size_t count, size_t size);

/* A copy of `size` bytes. */
void *tj_arena_copy(tj_arena *arena, const void *data, size_t size);

tj_arena_mark tj_arena_here(const tj_arena *arena);
void tj_arena_reset(tj_arena *arena, tj_arena_mark mark);

#define TJ_NEW(job, type) ((type *)tj_arena_alloc(&(job)->arena, 1, sizeof(type)))
#define TJ_NEW_ARRAY(job, type, count) ((type *)tj_arena_alloc(&(job)->arena, (size_t)(count), sizeof(type)))
#define TJ_RAW_ARRAY(job, type, count) ((type *)tj_arena_raw(&(job)->arena, (size_t)(count), sizeof(type)))

#endif
