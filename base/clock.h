/* SPDX-License-Identifier: MIT */
/* Time that passes, for measuring durations. */
#ifndef TJ_BASE_CLOCK_H
#define TJ_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment in the past; never runs backwards. */
static inline uint64_t tj_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif
