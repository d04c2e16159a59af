/* SPDX-License-Identifier: MIT */
/* What drivers have made of codes, on disk: so that each compiles a code once, not once in every process.
 *
 * Nothing here fails. Thread safety: any thread, any function. */
#ifndef TJ_JIT_CACHE_LINKED_H
#define TJ_JIT_CACHE_LINKED_H

#include "jit/cache/cache.h"

/* What was kept, in a block that the caller releases with cache->allocator; empty where there is none. */
tj_disk_entry tj_cache_find_linked(tj_cache *cache, const tj_rt_linked_key *key);

void tj_cache_keep_linked(tj_cache *cache, const tj_rt_linked_key *key, tj_bytes made);

/* Removes what a driver does not take. */
void tj_cache_reject_linked(tj_cache *cache, const tj_rt_linked_key *key);

#endif
