/* SPDX-License-Identifier: MIT */
/* The rows of engine.def, and finding them. */
#include "base/dma/engine.h"

#include "base/number/power.h"

#include <string.h>

const tj_dma_engine tj_dma_engines[] = {
#define TENSOR_DESCRIPTOR(name, rank, box_bits, stride_bits, least, most, pad, iterations, iterated, rows)           \
  {.processor = (name),                                                                                              \
   .kind = TJ_DMA_DESCRIPTOR,                                                                                        \
   .dimensions = (rank),                                                                                             \
   .most_box = (INT64_C(1) << (box_bits)) - 1,                                                                       \
   .stride_end = INT64_C(1) << (stride_bits),                                                                        \
   .stride_unit = 1,                                                                                                 \
   .row_unit = 1,                                                                                                    \
   .lds_unit = 1,                                                                                                    \
   .store_unit = 1,                                                                                                  \
   .least_interval = (least),                                                                                        \
   .most_interval = (most),                                                                                          \
   .most_pad = (pad),                                                                                                \
   .most_iterations = (iterations),                                                                                  \
   .iterated_dimensions = (iterated),                                                                                \
   .most_rows = (rows)},
#define TENSOR_MAP(name, rank, extent_bits, box, stride_bits, unit, row, place, swizzle, stored)                     \
  {.processor = (name),                                                                                              \
   .kind = TJ_DMA_TENSOR_MAP,                                                                                        \
   .dimensions = (rank),                                                                                             \
   .most_extent = INT64_C(1) << (extent_bits),                                                                       \
   .most_box = (box),                                                                                                \
   .stride_end = INT64_C(1) << (stride_bits),                                                                        \
   .stride_unit = (unit),                                                                                            \
   .row_unit = (row),                                                                                                \
   .lds_unit = (place),                                                                                              \
   .most_swizzle = (swizzle),                                                                                        \
   .store_unit = (stored)},
#include "base/dma/engine.def"
};

const size_t tj_dma_engine_count = sizeof tj_dma_engines / sizeof *tj_dma_engines;

static bool is_named(const tj_dma_engine *engine, const char *processor) {
  size_t length = strlen(engine->processor);
  const char *rest = processor + length;
  if (strncmp(processor, engine->processor, length) != 0)
    return false;
  return *rest == '\0' || (engine->kind == TJ_DMA_TENSOR_MAP && *rest >= 'a' && *rest <= 'z' && rest[1] == '\0');
}

const tj_dma_engine *tj_dma_engine_of(const char *processor) {
  for (size_t i = 0; i < tj_dma_engine_count; i++) {
    if (is_named(&tj_dma_engines[i], processor))
      return &tj_dma_engines[i];
  }
  return NULL;
}

bool tj_dma_can_pad(const tj_dma_engine *engine, int64_t interval, int64_t pad) {
  enum { DWORD = 4 };
  return pad > 0 && interval % DWORD == 0 && pad % DWORD == 0 && tj_is_power_of_two(interval) &&
         interval >= engine->least_interval * DWORD && interval <= engine->most_interval * DWORD &&
         pad <= engine->most_pad * DWORD;
}
