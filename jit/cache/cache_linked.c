/* SPDX-License-Identifier: MIT */
/* Machine code of drivers as entries of the cache. The key is who made it for what, and the code that it was made of;
 * what is found is trusted as far as it is a cubin from beginning to end. */
#include "jit/cache/cache_linked.h"

#include "object/cubin.h"

/* One call. */
typedef struct {
  tj_cache *cache;
  const tj_rt_linked_key *key;
  tj_bytes made;       /* what is to be kept */
  tj_disk_entry found; /* what was found */
} request;

static tj_cache_key key_of(tj_job *job, const request *r) {
  tj_text text = tj_text_begin(job);
  tj_text_add(&text, r->key->maker, strlen(r->key->maker) + 1);
  tj_text_add(&text, r->key->code.data, r->key->code.size);
  return tj_cache_key_of((tj_bytes){text.data, text.length});
}

static void perform(void (*body)(tj_job *job, void *data), request *r) {
  tj_job job;
  tj_job_init(&job, &r->cache->allocator);
  (void)tj_job_run(&job, body, r);
  tj_job_destroy(&job);
}

static void check(tj_job *job, void *data) {
  (void)tj_cubin_parse(job, *(const tj_bytes *)data);
}

static void find_entry(tj_job *job, void *data) {
  request *r = data;
  tj_cache_key key = key_of(job, r);
  tj_disk_entry entry = tj_cache_disk_find(&r->cache->disk, TJ_ENTRY_LINKED, &key);
  if (entry.block == NULL)
    return;
  tj_job checking;
  tj_job_init(&checking, &r->cache->allocator);
  bool is_right = tj_job_run(&checking, check, &entry.payload) == TJ_OK;
  tj_job_destroy(&checking);
  if (is_right) {
    r->found = entry;
    return;
  }
  tj_cache_disk_reject(&r->cache->disk, TJ_ENTRY_LINKED, &key);
  r->cache->allocator.release(r->cache->allocator.user, entry.block);
}

static void keep_entry(tj_job *job, void *data) {
  request *r = data;
  tj_cache_key key = key_of(job, r);
  tj_cache_disk_keep(&r->cache->disk, TJ_ENTRY_LINKED, &key, r->made);
}

static void reject_entry(tj_job *job, void *data) {
  request *r = data;
  tj_cache_key key = key_of(job, r);
  tj_cache_disk_reject(&r->cache->disk, TJ_ENTRY_LINKED, &key);
}

tj_disk_entry tj_cache_find_linked(tj_cache *cache, const tj_rt_linked_key *key) {
  request r = {.cache = cache, .key = key};
  perform(find_entry, &r);
  return r.found;
}

void tj_cache_keep_linked(tj_cache *cache, const tj_rt_linked_key *key, tj_bytes made) {
  perform(keep_entry, &(request){.cache = cache, .key = key, .made = made});
}

void tj_cache_reject_linked(tj_cache *cache, const tj_rt_linked_key *key) {
  perform(reject_entry, &(request){.cache = cache, .key = key});
}
