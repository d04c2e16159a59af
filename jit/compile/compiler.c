/* SPDX-License-Identifier: MIT */
/* Contexts that compile: what they keep, and their choices. */
#include "jit/compile/compiler.h"

#include "jit/cache/cache_linked.h"
#include "jit/compile/part.h"

static void close_compiler(tj_context *context) {
  tj_compiler *compiler = tj_compiler_of(context);
  tj_idle_codegens_close(&compiler->idle_codegens);
  tj_cache_destroy(compiler->cache);
}

/* --- what drivers make of codes --- */

static bool find_linked(void *data, const tj_rt_linked_key *key, tj_bytes *made, void **block) {
  tj_cache *cache = tj_context_cache(data);
  if (cache == NULL || cache->disk.folder < 0)
    return false;
  tj_disk_entry found = tj_cache_find_linked(cache, key);
  *made = found.payload;
  *block = found.block;
  return true;
}

static void release_linked(void *data, void *block) {
  tj_cache *cache = tj_context_cache(data);
  if (block != NULL)
    cache->allocator.release(cache->allocator.user, block);
}

static void keep_linked(void *data, const tj_rt_linked_key *key, tj_bytes made) {
  tj_cache_keep_linked(tj_context_cache(data), key, made);
}

static void reject_linked(void *data, const tj_rt_linked_key *key) {
  tj_cache_reject_linked(tj_context_cache(data), key);
}

tj_status tj_context_create(const tj_allocator *allocator, tj_context **context) {
  tj_status status = tj_context_make(allocator, sizeof(tj_compiler), close_compiler, context);
  if (status != TJ_OK)
    return status;
  tj_compiler *compiler = tj_compiler_of(*context);
  tj_idle_codegens_init(&compiler->idle_codegens);
  compiler->vault = (tj_rt_vault){find_linked, release_linked, keep_linked, reject_linked, *context};
  (*context)->vault = &compiler->vault;
  (*context)->make_part = tj_part_make;
  return TJ_OK;
}

void tj_context_set_reader(tj_context *context, tj_read_function function, void *user) {
  context->importer = (tj_importer){function, user};
}

/* --- the cache --- */

void tj_context_set_cache(tj_context *context, tj_cache *cache) {
  tj_compiler *compiler = tj_compiler_of(context);
  if (cache != NULL)
    tj_cache_retain(cache);
  tj_cache_destroy(compiler->cache);
  compiler->cache = cache;
  compiler->has_cache = true;
}

tj_cache *tj_context_cache(tj_context *context) {
  tj_compiler *compiler = tj_compiler_of(context);
  if (!compiler->has_cache) { /* that of threads which share the context has been asked for before they begin */
    if (tj_cache_create(&context->allocator, NULL, &compiler->cache) != TJ_OK)
      compiler->cache = NULL;
    compiler->has_cache = true;
  }
  return compiler->cache != NULL && !compiler->cache->is_off ? compiler->cache : NULL;
}
