/* SPDX-License-Identifier: MIT */
/* The cache of compilations: images in memory, then entries on disk, by the key of a text or of a kernel.
 *
 * Nothing here fails: what cannot be found is compiled, what cannot be kept is lost. Thread safety: any thread, any
 * function. */
#ifndef TJ_JIT_CACHE_H
#define TJ_JIT_CACHE_H

#include "jit/cache/cache_disk.h"
#include "jit/cache/cache_key.h"
#include "jit/cache/cache_memory.h"

enum { TJ_CACHE_PATH_SIZE = 4096 };

struct tj_cache {
  tj_allocator allocator;
  atomic_uint references;
  bool is_off;
  char identity[TJ_COMPILER_IDENTITY_SIZE];
  char path[TJ_CACHE_PATH_SIZE]; /* of the folder; "" without one */
  tj_cache_memory memory;
  tj_cache_disk disk;
  atomic_uint_fast64_t memory_hits, disk_hits, kernel_hits, misses, stores, part_hits, part_misses;
};

tj_cache *tj_cache_retain(tj_cache *cache);

/* The image that a text was compiled to, retained; NULL where it is not known. `origin` gets where it came from. */
tj_image *tj_cache_find_text(tj_cache *cache, const tj_cache_key *key, tj_code_origin *origin);

/* The machine code that a kernel was compiled to, retained, ready for `plan`; NULL where it is not known. */
tj_machine *tj_cache_find_kernel(tj_cache *cache, const tj_cache_key *key, const tj_launch_plan *plan);

/* Keeps what has been compiled, under both keys, or without that of a text (NULL); `is_known`: the kernel's machine
 * code came from the cache. */
void tj_cache_keep(tj_cache *cache, const tj_cache_key *text, const tj_cache_key *kernel, bool is_known,
                   tj_image *image);
/* A part of machine code that waits, found on disk, with the machine code's allocator; NULL where it is not known. */
tj_machine_part *tj_cache_find_part(tj_cache *cache, const tj_cache_key *key, const tj_machine *machine,
                                    const tj_launch_plan *plan, uint32_t number);

/* Keeps a part that has been compiled, on disk; in memory it is kept by the machine code. */
void tj_cache_keep_part(tj_cache *cache, const tj_cache_key *key, const tj_machine_part *part);

#endif
