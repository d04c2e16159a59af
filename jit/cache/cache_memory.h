/* SPDX-License-Identifier: MIT */
/* The cache in memory: images by key, the least recently used ones given up where they exceed a number of bytes.
 *
 * An image can be found by the key of its text and by that of its kernel. Thread safety: any thread, any function. */
#ifndef TJ_JIT_CACHE_MEMORY_H
#define TJ_JIT_CACHE_MEMORY_H

#include "base/digest.h"
#include "launch/image/image.h"

#include <pthread.h>

/* A key with its digest, which is computed once. */
typedef struct {
  tj_bytes bytes;
  tj_digest digest;
} tj_cache_key;

static inline tj_cache_key tj_cache_key_of(tj_bytes bytes) {
  return (tj_cache_key){bytes, tj_digest_of(bytes)};
}

typedef struct tj_cache_entry tj_cache_entry;
typedef struct tj_cache_slot tj_cache_slot;

typedef struct {
  tj_allocator allocator;
  pthread_mutex_t lock; /* of all that follows */
  tj_cache_slot **bucket;
  size_t bucket_count; /* a power of two, or 0 before the first image */
  tj_cache_entry *newest, *oldest;
  uint64_t entries, bytes, limit, evictions;
} tj_cache_memory;

void tj_cache_memory_open(tj_cache_memory *memory, const tj_allocator *allocator, uint64_t limit);
void tj_cache_memory_close(tj_cache_memory *memory);

/* The image of a key, retained; NULL where there is none. */
tj_image *tj_cache_memory_find(tj_cache_memory *memory, const tj_cache_key *key);

/* Remembers an image by the keys that find none yet. It may be forgotten at any time. False where it is not: there is
 * no such key, or no room. */
bool tj_cache_memory_keep(tj_cache_memory *memory, const tj_cache_key keys[], size_t count, tj_image *image);

void tj_cache_memory_clear(tj_cache_memory *memory);

#endif
