/* SPDX-License-Identifier: MIT */
/* Argument blocks of kernels: words of 8 bytes, and a tensor map behind them, aligned as its kernel takes it. */
#ifndef TJ_BASE_ARGUMENT_BLOCK_H
#define TJ_BASE_ARGUMENT_BLOCK_H

#include "tilejit/runtime.h"

#include <stdbool.h>

/* Where a tensor map lies behind so many words. */
static inline uint32_t tj_map_offset(uint32_t words) {
  return (8 * words + TJ_TENSOR_MAP_ALIGNMENT - 1) / TJ_TENSOR_MAP_ALIGNMENT * TJ_TENSOR_MAP_ALIGNMENT;
}

static inline uint32_t tj_argument_bytes(uint32_t words, bool has_map) {
  return has_map ? tj_map_offset(words) + TJ_TENSOR_MAP_BYTES : 8 * words;
}

#endif
