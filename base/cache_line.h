/* SPDX-License-Identifier: MIT */
/* The cache lines of processors' vector memory: what the simulator counts, and `tilejit check` reports. A pure
 * function over a static table: any thread may call it. */
#ifndef TJ_BASE_CACHE_LINE_H
#define TJ_BASE_CACHE_LINE_H

#include <stdint.h>

/* Bytes of a cache line of a processor as LLVM names it: gfx942, gfx11-generic, znver4. */
uint32_t tj_cache_line_bytes(const char *processor);

#endif
