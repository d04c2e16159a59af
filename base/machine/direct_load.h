/* SPDX-License-Identifier: MIT */
/* What AMD's processors load from memory straight into LDS: the rows of direct_load.def. Immutable; any thread may
 * read them. */
#ifndef TJ_BASE_DIRECT_LOAD_H
#define TJ_BASE_DIRECT_LOAD_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t major, minor; /* of the first processors that have them */
  uint32_t widths;       /* bytes that a lane loads at a time, powers of two: their sum; 0: there are no such loads */
  bool is_by_lane;       /* each lane has a place in LDS; else a wave's lie side by side */
} tj_direct_loads;

/* Of a processor's generation; NULL where it has none. */
const tj_direct_loads *tj_direct_loads_of(uint32_t major, uint32_t minor);

/* Whether a lane loads so many bytes at a time; and the most that are at most `limit`, 0 where there are none.
 * `loads` may be NULL: there are none. */
bool tj_direct_has(const tj_direct_loads *loads, uint32_t bytes);
uint32_t tj_direct_widest(const tj_direct_loads *loads, uint32_t limit);

#endif
