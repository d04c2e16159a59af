/* SPDX-License-Identifier: MIT */
/* The cache lines of accesses to vector memory, as the simulator counts them and `tilejit check` tells them. A pure
 * function: any thread may call it. */
#ifndef TJ_BASE_CACHE_LINE_H
#define TJ_BASE_CACHE_LINE_H

#include <stdint.h>

enum { TJ_LINE_LANES = 64 };

/* Of one access of a wave: the lines that it touches, the runs of neighbours that these are, and the fewest lines
 * that hold as many bytes, those of lanes with the same address once. */
typedef struct {
  uint64_t touched, runs, least;
} tj_line_count;

/* Of `bytes` bytes at each address. One lane may have any number of bytes, several, TJ_LINE_LANES at most, up to a
 * line each. */
tj_line_count tj_count_lines(const uint64_t address[], uint32_t lanes, uint64_t bytes, uint32_t line_bytes);

#endif
