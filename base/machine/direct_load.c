/* SPDX-License-Identifier: MIT */
/* The rows of direct_load.def, and finding them. */
#include "base/machine/direct_load.h"

#include <stddef.h>

enum { WAVE, LANE };

static const tj_direct_loads rows[] = {
#define DIRECT_LOADS(major, minor, widths, placed_by) {major, minor, widths, placed_by == LANE},
#define NO_DIRECT_LOADS(major, minor) {major, minor, 0, false},
#include "base/machine/direct_load.def"
};

const tj_direct_loads *tj_direct_loads_of(uint32_t major, uint32_t minor) {
  const tj_direct_loads *found = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].major < major || (rows[i].major == major && rows[i].minor <= minor))
      found = &rows[i];
  }
  return found != NULL && found->widths != 0 ? found : NULL;
}

bool tj_direct_has(const tj_direct_loads *loads, uint32_t bytes) {
  return loads != NULL && bytes != 0 && (bytes & (bytes - 1)) == 0 && (loads->widths & bytes) != 0;
}

uint32_t tj_direct_widest(const tj_direct_loads *loads, uint32_t limit) {
  uint32_t widest = 0;
  for (uint32_t bytes = 1; loads != NULL && bytes <= loads->widths && bytes <= limit; bytes *= 2)
    widest = tj_direct_has(loads, bytes) ? bytes : widest;
  return widest;
}
