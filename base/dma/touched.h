/* SPDX-License-Identifier: MIT */
/* What a box touches of memory, as simulated GPUs count it and `tilejit check` tells it: elements one after the other
 * are runs of neighbours, as the rows of a box are, and a run touches lines as one access. */
#ifndef TJ_BASE_DMA_TOUCHED_H
#define TJ_BASE_DMA_TOUCHED_H

#include "base/dma/decode.h"

/* Begins as zeros but for the bytes of a line. */
typedef struct {
  uint32_t line_bytes;
  uint64_t begin, end;                /* of the run at hand */
  uint64_t bytes, lines, least_lines; /* of those that have ended */
} tj_dma_touched;

/* The next element; what is filled touches nothing. */
void tj_dma_touch(tj_dma_touched *touched, const tj_dma_element *element);

/* There are no more. */
void tj_dma_touch_no_more(tj_dma_touched *touched);

#endif
