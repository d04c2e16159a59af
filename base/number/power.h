/* SPDX-License-Identifier: MIT */
/* Powers of two, and quotients that are rounded up. */
#ifndef TJ_BASE_POWER_H
#define TJ_BASE_POWER_H

#include <stdbool.h>
#include <stdint.h>

static inline bool tj_is_power_of_two(int64_t number) {
  return number > 0 && (number & (number - 1)) == 0;
}

/* The greatest power of two that divides a number; 0 of 0. */
static inline int64_t tj_power_in(int64_t number) {
  return number & -number;
}

/* Of a positive number, rounded down. */
static inline uint32_t tj_log2(int64_t number) {
  return 63 - (uint32_t)__builtin_clzll((unsigned long long)number);
}

/* The greatest power of two that is not more; of less than 1, 1. */
static inline int64_t tj_power_within(int64_t number) {
  return number < 1 ? 1 : INT64_C(1) << tj_log2(number);
}

static inline int64_t tj_divided_up(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

static inline int64_t tj_rounded_up(int64_t value, int64_t unit) {
  return tj_divided_up(value, unit) * unit;
}

#endif
