/* SPDX-License-Identifier: MIT */
/* Numbers for keys, in the order in which keys come. A key is 64 bits that are mixed so well that what differs has
 * different ones. */
#ifndef TJ_BASE_KEYS_H
#define TJ_BASE_KEYS_H

#include "base/job.h"

typedef struct {
  uint64_t key;
  uint32_t number; /* 1 + the key's; 0: free */
} tj_key;

typedef struct {
  tj_job *job;
  tj_key *slot;
  uint32_t slots; /* a power of two */
  uint32_t count; /* of keys */
} tj_keys;

static inline uint64_t tj_key_mix(uint64_t key, uint64_t value) {
  key = (key * 0xd6e8feb86659fd93u + value + 1) * 0x9e3779b97f4a7c15u;
  return key ^ key >> 29;
}

static inline tj_keys tj_keys_make(tj_job *job) {
  enum { SLOTS = 32 };
  return (tj_keys){job, TJ_NEW_ARRAY(job, tj_key, SLOTS), SLOTS, 0};
}

/* Where the key is, or would be. */
static inline tj_key *tj_key_slot(const tj_keys *keys, uint64_t key) {
  uint32_t at = (uint32_t)(key >> 32) & (keys->slots - 1);
  while (keys->slot[at].number != 0 && keys->slot[at].key != key)
    at = (at + 1) & (keys->slots - 1);
  return &keys->slot[at];
}

static inline void tj_keys_grow(tj_keys *keys) {
  tj_keys old = *keys;
  keys->slots *= 4;
  keys->slot = TJ_NEW_ARRAY(keys->job, tj_key, keys->slots);
  for (uint32_t i = 0; i < old.slots; i++) {
    if (old.slot[i].number != 0)
      *tj_key_slot(keys, old.slot[i].key) = old.slot[i];
  }
}

/* The key's number, which is keys->count as it was where the key is new. */
static inline uint32_t tj_key_number(tj_keys *keys, uint64_t key) {
  tj_key *slot = tj_key_slot(keys, key);
  if (slot->number != 0)
    return slot->number - 1;
  *slot = (tj_key){key, ++keys->count};
  if (2 * keys->count > keys->slots)
    tj_keys_grow(keys);
  return keys->count - 1;
}

#endif
