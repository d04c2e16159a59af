/* SPDX-License-Identifier: MIT */
/* Cache lines, by how names of processors begin. */
#include "base/cache_line.h"

#include <stddef.h>
#include <string.h>

/* The first row decides; the last one is for those of hosts, and matches every name. */
static const struct {
  const char *prefix;
  uint32_t bytes;
} lines[] = {
    {"gfx942", 128}, {"gfx950", 128}, {"gfx9-4", 128}, {"gfx9", 64}, {"gfx1", 128}, {"gfx", 64}, {"", 64},
};

uint32_t tj_cache_line_bytes(const char *processor) {
  size_t i = 0;
  while (strncmp(processor, lines[i].prefix, strlen(lines[i].prefix)) != 0)
    i++;
  return lines[i].bytes;
}
