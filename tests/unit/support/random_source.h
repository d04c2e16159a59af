/* SPDX-License-Identifier: MIT */
/* Random numbers of tests: the same ones for the same seed. */
#ifndef TJ_TESTS_RANDOM_SOURCE_H
#define TJ_TESTS_RANDOM_SOURCE_H

#include <stdint.h>
#include <stdlib.h>

/* SplitMix64. The seed is TILEJIT_SEED of the environment, or the one given. */
typedef struct {
  uint64_t state;
} random_source;

static inline random_source random_begin(uint64_t seed) {
  const char *given = getenv("TILEJIT_SEED");
  return (random_source){given != NULL ? strtoull(given, NULL, 0) : seed};
}

static inline uint64_t random_next(random_source *source) {
  uint64_t z = source->state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static inline uint32_t random_below(random_source *source, uint32_t end) {
  return (uint32_t)(random_next(source) % end);
}

/* The numbers below `count` in any order. */
static inline void random_order(random_source *source, uint32_t order[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    order[i] = i;
  for (uint32_t i = count; i > 1; i--) {
    uint32_t k = random_below(source, i), kept = order[i - 1];
    order[i - 1] = order[k];
    order[k] = kept;
  }
}

static inline int64_t random_between(random_source *source, int64_t low, int64_t high) {
  uint64_t span = (uint64_t)high - (uint64_t)low + 1;
  uint64_t offset = span == 0 ? random_next(source) : random_next(source) % span;
  return (int64_t)((uint64_t)low + offset);
}

#endif
