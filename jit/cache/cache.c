/* SPDX-License-Identifier: MIT */
/* The cache's two levels together, and its public functions. */
#include "jit/cache/cache.h"

#include "jit/cache/cache_options.h"

/* --- creation --- */

tj_status tj_cache_create(const tj_allocator *given, const tj_cache_options *options, tj_cache **cache) {
  tj_job job; /* for the allocator that NULL means */
  tj_job_init(&job, given);
  const tj_allocator *allocator = &job.allocator;
  tj_cache *made = allocator->allocate(allocator->user, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  *made = (tj_cache){.allocator = *allocator, .references = 1};
  tj_cache_settings settings = tj_cache_settings_of(options, made->path, sizeof made->path);
  made->is_off = settings.is_off;
  if (!made->is_off)
    tj_compiler_identity(made->identity);
  tj_cache_memory_open(&made->memory, allocator, settings.memory_limit);
  bool has_disk = !made->is_off && made->path[0] != '\0';
  tj_cache_disk_open(&made->disk, allocator, has_disk ? made->path : NULL, settings.disk_limit);
  *cache = made;
  return TJ_OK;
}

tj_cache *tj_cache_retain(tj_cache *cache) {
  atomic_fetch_add_explicit(&cache->references, 1, memory_order_relaxed);
  return cache;
}

void tj_cache_destroy(tj_cache *cache) {
  if (cache == NULL || atomic_fetch_sub_explicit(&cache->references, 1, memory_order_acq_rel) != 1)
    return;
  tj_cache_memory_close(&cache->memory);
  tj_cache_disk_close(&cache->disk);
  cache->allocator.release(cache->allocator.user, cache);
}

/* --- finding --- */

static void count(atomic_uint_fast64_t *counter) {
  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

typedef struct {
  const tj_cache *cache;
  const tj_launch_plan *plan;
  tj_bytes bytes;
  const tj_machine *waiting; /* of a part, and so is its number */
  uint32_t number;
  tj_machine *machine;
  tj_image *image;
  tj_machine_part *part;
} restoring;

static void restore_machine(tj_job *job, void *data) {
  restoring *r = data;
  r->machine = tj_machine_read(job, &r->cache->allocator, &(tj_reader){.bytes = r->bytes}, r->plan);
}

static void restore_part(tj_job *job, void *data) {
  restoring *r = data;
  r->part = tj_machine_part_load(job, &r->waiting->allocator, r->bytes, r->plan, r->number, NULL);
}

static void restore_image(tj_job *job, void *data) {
  restoring *r = data;
  r->image = tj_image_read(job, &r->cache->allocator, &(tj_reader){.bytes = r->bytes});
}

static void restore(void (*body)(tj_job *job, void *data), restoring *r) {
  tj_job job;
  tj_job_init(&job, &r->cache->allocator);
  (void)tj_job_run(&job, body, r);
  tj_job_destroy(&job);
}

/* Makes what the body restores from an entry on disk, if there is one that makes sense. */
static void restore_from_disk(tj_cache *cache, tj_entry_kind kind, const tj_cache_key *key,
                              void (*body)(tj_job *job, void *data), restoring *r) {
  tj_disk_entry entry = tj_cache_disk_find(&cache->disk, kind, key);
  if (entry.block == NULL)
    return;
  r->cache = cache;
  r->bytes = entry.payload;
  restore(body, r);
  cache->allocator.release(cache->allocator.user, entry.block);
  if (r->image == NULL && r->machine == NULL && r->part == NULL)
    tj_cache_disk_reject(&cache->disk, kind, key);
}

tj_image *tj_cache_find_text(tj_cache *cache, const tj_cache_key *key, tj_code_origin *origin) {
  tj_image *image = tj_cache_memory_find(&cache->memory, key);
  if (image != NULL) {
    count(&cache->memory_hits);
    *origin = TJ_CODE_FROM_MEMORY;
    return image;
  }
  restoring r = {0};
  restore_from_disk(cache, TJ_ENTRY_TEXT, key, restore_image, &r);
  if (r.image != NULL) {
    count(&cache->disk_hits);
    *origin = TJ_CODE_FROM_DISK;
    tj_cache_memory_keep(&cache->memory, key, 1, r.image);
  }
  return r.image;
}

tj_machine *tj_cache_find_kernel(tj_cache *cache, const tj_cache_key *key, const tj_launch_plan *plan) {
  tj_machine *machine;
  tj_image *image = tj_cache_memory_find(&cache->memory, key);
  if (image != NULL) {
    machine = tj_machine_retain(image->machine);
    tj_image_release(image);
  } else {
    restoring r = {.plan = plan};
    restore_from_disk(cache, TJ_ENTRY_KERNEL, key, restore_machine, &r);
    machine = r.machine;
  }
  count(machine != NULL ? &cache->kernel_hits : &cache->misses);
  return machine;
}

tj_machine_part *tj_cache_find_part(tj_cache *cache, const tj_cache_key *key, const tj_machine *machine,
                                    const tj_launch_plan *plan, uint32_t number) {
  restoring r = {.plan = plan, .waiting = machine, .number = number};
  restore_from_disk(cache, TJ_ENTRY_PART, key, restore_part, &r);
  count(r.part != NULL ? &cache->part_hits : &cache->part_misses);
  return r.part;
}

/* --- keeping --- */

typedef struct {
  tj_cache *cache;
  const tj_cache_key *text, *kernel; /* NULL: there is none, it is there already */
  const tj_image *image;
  bool is_kept;
} keeping;

static void write_entries(tj_job *job, void *data) {
  keeping *k = data;
  tj_text image = tj_text_begin(job), machine = tj_text_begin(job);
  tj_machine_write(&machine, k->image->machine);
  if (k->kernel != NULL)
    k->is_kept =
        tj_cache_disk_keep(&k->cache->disk, TJ_ENTRY_KERNEL, k->kernel, (tj_bytes){machine.data, machine.length});
  tj_image_write(&image, k->image);
  if (k->text != NULL)
    k->is_kept |= tj_cache_disk_keep(&k->cache->disk, TJ_ENTRY_TEXT, k->text, (tj_bytes){image.data, image.length});
}

static bool keep_on_disk(tj_cache *cache, const tj_cache_key *text, const tj_cache_key *kernel, bool is_known,
                         tj_image *image) {
  tj_job job;
  tj_job_init(&job, &cache->allocator);
  keeping k = {.cache = cache, .text = text, .kernel = is_known ? NULL : kernel, .image = image};
  (void)tj_job_run(&job, write_entries, &k);
  tj_job_destroy(&job);
  return k.is_kept;
}

void tj_cache_keep(tj_cache *cache, const tj_cache_key *text, const tj_cache_key *kernel, bool is_known,
                   tj_image *image) {
  const tj_cache_key keys[] = {*kernel, text != NULL ? *text : *kernel};
  bool is_kept = tj_cache_memory_keep(&cache->memory, keys, text != NULL ? 2 : 1, image);
  if (tj_machine_stands_by_itself(image->machine))
    is_kept |= keep_on_disk(cache, text, kernel, is_known, image);
  if (is_kept)
    count(&cache->stores);
}

void tj_cache_keep_part(tj_cache *cache, const tj_cache_key *key, const tj_machine_part *part) {
  if (tj_machine_part_stands_by_itself(part))
    tj_cache_disk_keep(&cache->disk, TJ_ENTRY_PART, key, part->bytes);
}

/* --- statistics --- */

static uint64_t value_of(atomic_uint_fast64_t *counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

tj_cache_stats tj_cache_stats_of(tj_cache *cache) {
  tj_cache_stats stats = {.directory = cache->path,
                          .obstacle = cache->is_off ? "the cache is off" : cache->disk.obstacle,
                          .is_off = cache->is_off,
                          .has_disk = cache->disk.folder >= 0,
                          .memory_limit = cache->memory.limit,
                          .disk_limit = cache->disk.limit,
                          .memory_hits = value_of(&cache->memory_hits),
                          .disk_hits = value_of(&cache->disk_hits),
                          .kernel_hits = value_of(&cache->kernel_hits),
                          .misses = value_of(&cache->misses),
                          .stores = value_of(&cache->stores),
                          .part_hits = value_of(&cache->part_hits),
                          .part_misses = value_of(&cache->part_misses),
                          .disk_evictions = value_of(&cache->disk.evictions),
                          .damaged = value_of(&cache->disk.damaged),
                          .failures = value_of(&cache->disk.failures)};
  pthread_mutex_lock(&cache->memory.lock);
  stats.memory_entries = cache->memory.entries;
  stats.memory_bytes = cache->memory.bytes;
  stats.memory_evictions = cache->memory.evictions;
  pthread_mutex_unlock(&cache->memory.lock);
  tj_cache_disk_measure(&cache->disk, &stats.disk_entries, &stats.disk_bytes);
  return stats;
}

tj_status tj_cache_clear(tj_cache *cache) {
  tj_cache_memory_clear(&cache->memory);
  return tj_cache_disk_clear(&cache->disk) ? TJ_OK : TJ_ERROR_SYSTEM;
}
