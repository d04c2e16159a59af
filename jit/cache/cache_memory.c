/* SPDX-License-Identifier: MIT */
/* Images by key: a hash table with chains, and a list in order of use. */
#include "jit/cache/cache_memory.h"

enum { MOST_KEYS = 2, FIRST_BUCKETS = 64 };

/* One way to find an entry. */
struct tj_cache_slot {
  tj_cache_slot *next; /* in the bucket */
  tj_cache_entry *entry;
  tj_cache_key key; /* its bytes are in the entry's block */
};

struct tj_cache_entry {
  tj_cache_entry *newer, *older;
  tj_image *image; /* retained */
  size_t key_bytes;
  size_t bytes; /* of all, when it was last found: parts of machine code may have come since */
  size_t slot_count;
  tj_cache_slot slot[MOST_KEYS];
};

void tj_cache_memory_open(tj_cache_memory *memory, const tj_allocator *allocator, uint64_t limit) {
  *memory = (tj_cache_memory){.allocator = *allocator, .limit = limit};
  pthread_mutex_init(&memory->lock, NULL);
}

void tj_cache_memory_close(tj_cache_memory *memory) {
  tj_cache_memory_clear(memory);
  if (memory->bucket != NULL)
    memory->allocator.release(memory->allocator.user, memory->bucket);
  pthread_mutex_destroy(&memory->lock);
}

/* --- the table --- */

static tj_cache_slot **bucket_of(const tj_cache_memory *memory, tj_digest digest) {
  uint64_t hash = tj_bytes_u64((tj_bytes){digest.byte, TJ_DIGEST_BYTES}, 0);
  return &memory->bucket[hash & (memory->bucket_count - 1)];
}

static bool same_key(const tj_cache_key *a, const tj_cache_key *b) {
  return tj_digest_equal(a->digest, b->digest) && a->bytes.size == b->bytes.size &&
         memcmp(a->bytes.data, b->bytes.data, a->bytes.size) == 0;
}

static tj_cache_slot *find_slot(const tj_cache_memory *memory, const tj_cache_key *key) {
  tj_cache_slot *slot = memory->bucket_count > 0 ? *bucket_of(memory, key->digest) : NULL;
  while (slot != NULL && !same_key(&slot->key, key))
    slot = slot->next;
  return slot;
}

static void add_slot(tj_cache_memory *memory, tj_cache_slot *slot) {
  tj_cache_slot **bucket = bucket_of(memory, slot->key.digest);
  slot->next = *bucket;
  *bucket = slot;
}

static void remove_slot(tj_cache_memory *memory, const tj_cache_slot *slot) {
  tj_cache_slot **at = bucket_of(memory, slot->key.digest);
  while (*at != slot)
    at = &(*at)->next;
  *at = slot->next;
}

/* Makes room for more entries. Without memory for it, chains grow; false where there is no table at all. */
static bool grow_table(tj_cache_memory *memory) {
  if (memory->entries < memory->bucket_count)
    return true;
  size_t count = memory->bucket_count > 0 ? 2 * memory->bucket_count : FIRST_BUCKETS;
  tj_cache_slot **larger = memory->allocator.allocate(memory->allocator.user, count * sizeof *larger);
  if (larger == NULL)
    return memory->bucket_count > 0;
  memset(larger, 0, count * sizeof *larger);
  if (memory->bucket != NULL)
    memory->allocator.release(memory->allocator.user, memory->bucket);
  memory->bucket = larger;
  memory->bucket_count = count;
  for (tj_cache_entry *entry = memory->newest; entry != NULL; entry = entry->older) {
    for (size_t i = 0; i < entry->slot_count; i++)
      add_slot(memory, &entry->slot[i]);
  }
  return true;
}

/* --- the order of use --- */

static void unlink_entry(tj_cache_memory *memory, const tj_cache_entry *entry) {
  *(entry->newer != NULL ? &entry->newer->older : &memory->newest) = entry->older;
  *(entry->older != NULL ? &entry->older->newer : &memory->oldest) = entry->newer;
}

static void link_newest(tj_cache_memory *memory, tj_cache_entry *entry) {
  entry->newer = NULL;
  entry->older = memory->newest;
  *(entry->older != NULL ? &entry->older->newer : &memory->oldest) = entry;
  memory->newest = entry;
}

static size_t size_of(const tj_cache_entry *entry) {
  return sizeof *entry + entry->key_bytes + tj_image_size(entry->image);
}

static void measure_again(tj_cache_memory *memory, tj_cache_entry *entry) {
  memory->bytes -= entry->bytes;
  entry->bytes = size_of(entry);
  memory->bytes += entry->bytes;
}

tj_image *tj_cache_memory_find(tj_cache_memory *memory, const tj_cache_key *key) {
  tj_image *image = NULL;
  pthread_mutex_lock(&memory->lock);
  tj_cache_slot *slot = find_slot(memory, key);
  if (slot != NULL) {
    unlink_entry(memory, slot->entry);
    link_newest(memory, slot->entry);
    measure_again(memory, slot->entry);
    image = tj_image_retain(slot->entry->image);
  }
  pthread_mutex_unlock(&memory->lock);
  return image;
}

/* --- giving up --- */

/* Takes the oldest entries off until no more than `limit` bytes are left; they are chained by `older`. */
static tj_cache_entry *take_oldest(tj_cache_memory *memory, uint64_t limit) {
  tj_cache_entry *taken = NULL;
  while (memory->bytes > limit) {
    tj_cache_entry *entry = memory->oldest;
    unlink_entry(memory, entry);
    for (size_t i = 0; i < entry->slot_count; i++)
      remove_slot(memory, &entry->slot[i]);
    memory->bytes -= entry->bytes;
    memory->entries--;
    entry->older = taken;
    taken = entry;
  }
  return taken;
}

/* Outside of the lock, since unloading machine code takes its time. */
static void release_entries(const tj_cache_memory *memory, tj_cache_entry *entry) {
  while (entry != NULL) {
    tj_cache_entry *next = entry->older;
    tj_image_release(entry->image);
    memory->allocator.release(memory->allocator.user, entry);
    entry = next;
  }
}

void tj_cache_memory_clear(tj_cache_memory *memory) {
  pthread_mutex_lock(&memory->lock);
  tj_cache_entry *taken = take_oldest(memory, 0);
  pthread_mutex_unlock(&memory->lock);
  release_entries(memory, taken);
}

/* --- keeping --- */

static tj_cache_entry *create_entry(const tj_cache_memory *memory, const tj_cache_key keys[], size_t count,
                                    tj_image *image) {
  size_t key_bytes = 0;
  for (size_t i = 0; i < count; i++)
    key_bytes += keys[i].bytes.size;
  tj_cache_entry *entry = memory->allocator.allocate(memory->allocator.user, sizeof *entry + key_bytes);
  if (entry == NULL)
    return NULL;
  *entry = (tj_cache_entry){.image = tj_image_retain(image), .key_bytes = key_bytes, .slot_count = count};
  entry->bytes = size_of(entry);
  char *at = (char *)(entry + 1);
  for (size_t i = 0; i < count; i++) {
    memcpy(at, keys[i].bytes.data, keys[i].bytes.size);
    entry->slot[i] = (tj_cache_slot){.entry = entry, .key = {{at, keys[i].bytes.size}, keys[i].digest}};
    at += keys[i].bytes.size;
  }
  return entry;
}

/* Leaves the slots whose keys find nothing yet. */
static void drop_known_keys(const tj_cache_memory *memory, tj_cache_entry *entry) {
  size_t left = 0;
  for (size_t i = 0; i < entry->slot_count; i++) {
    if (find_slot(memory, &entry->slot[i].key) == NULL)
      entry->slot[left++] = entry->slot[i];
  }
  entry->slot_count = left;
}

static void insert(tj_cache_memory *memory, tj_cache_entry *entry) {
  for (size_t i = 0; i < entry->slot_count; i++)
    add_slot(memory, &entry->slot[i]);
  link_newest(memory, entry);
  memory->entries++;
  memory->bytes += entry->bytes;
}

/* Inserts the entry where it is new and fits. Returns the entries to be released: old ones, or this one. */
static tj_cache_entry *keep_or_return(tj_cache_memory *memory, tj_cache_entry *entry) {
  drop_known_keys(memory, entry);
  if (entry->slot_count == 0 || entry->bytes > memory->limit || !grow_table(memory))
    return entry;
  insert(memory, entry);
  uint64_t before = memory->entries;
  tj_cache_entry *taken = take_oldest(memory, memory->limit);
  memory->evictions += before - memory->entries;
  return taken;
}

bool tj_cache_memory_keep(tj_cache_memory *memory, const tj_cache_key keys[], size_t count, tj_image *image) {
  tj_cache_entry *entry = create_entry(memory, keys, count < MOST_KEYS ? count : MOST_KEYS, image);
  if (entry == NULL)
    return false;
  pthread_mutex_lock(&memory->lock);
  tj_cache_entry *given_up = keep_or_return(memory, entry);
  pthread_mutex_unlock(&memory->lock);
  bool is_kept = given_up != entry;
  release_entries(memory, given_up);
  return is_kept;
}
