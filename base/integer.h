/* SPDX-License-Identifier: MIT */
/* Arithmetic of integers that cannot overflow. */
#ifndef TJ_BASE_INTEGER_H
#define TJ_BASE_INTEGER_H

#include <stdint.h>

static inline uint64_t tj_magnitude(int64_t value) {
  return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static inline int64_t tj_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static inline int64_t tj_greatest(int64_t a, int64_t b) {
  return a > b ? a : b;
}

/* The same of counts. */
static inline uint32_t tj_fewer(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

static inline uint32_t tj_more(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* floor(a / b), and a - b * floor(a / b), of a divisor that is neither 0 nor -1. */
static inline int64_t tj_floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t tj_floor_mod(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* The greatest common divisor; of 0 and a number, that number. */
static inline uint64_t tj_gcd(uint64_t a, uint64_t b) {
  while (b > 1) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return b == 0 ? a : b;
}

#endif
