/* SPDX-License-Identifier: MIT */
/* Time as benchmarks take it, in microseconds, and the median of what they have taken. */
#ifndef TJ_BENCH_TIMING_H
#define TJ_BENCH_TIMING_H

#include <stddef.h>
#include <stdlib.h>
#include <time.h>

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static inline int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Sorts them, the least first. */
static inline double median(double times[], size_t count) {
  qsort(times, count, sizeof *times, compare_times);
  return times[count / 2];
}

#endif
