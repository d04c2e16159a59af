/* SPDX-License-Identifier: MIT */
/* Parts of a length: how many there are, and how long equal ones are. */
#ifndef TJ_BASE_PARTS_H
#define TJ_BASE_PARTS_H

#include "base/integer.h"

/* a / b rounded up, at least 1. */
static inline int64_t tj_parts(int64_t a, int64_t b) {
  return tj_greatest((a + b - 1) / b, 1);
}

/* a / b rounded down, at least 1. */
static inline int64_t tj_quotient(int64_t a, int64_t b) {
  return tj_greatest(a / b, 1);
}

/* The length of one of as few equal parts of `total` as are at most `most`, rounded up. */
static inline int64_t tj_even_part(int64_t total, int64_t most) {
  return tj_parts(total, tj_parts(total, most));
}

/* All of a length, in whole parts. */
static inline int64_t tj_covered(int64_t all, int64_t part) {
  return tj_parts(all, part) * part;
}

/* All of a length, or one of as few equal parts as possible, of whole cache lines, which have so many units, where
 * these are not more than `most`. */
static inline int64_t tj_even_lines(int64_t all, int64_t most, int64_t in_line) {
  int64_t part = tj_even_part(all, most), lines = tj_covered(part, in_line);
  return part < all && lines <= most ? lines : part;
}

#endif
