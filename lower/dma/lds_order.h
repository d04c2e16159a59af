/* SPDX-License-Identifier: MIT */
/* The order in which an instruction writes LDS: place after place, with a pad after each interval. */
#ifndef TJ_LOWER_DMA_LDS_ORDER_H
#define TJ_LOWER_DMA_LDS_ORDER_H

#include "base/dma/engine.h"

/* All in units of the engine. */
typedef struct {
  const tj_dma_engine *engine;
  int64_t unit_bytes;
  int64_t filled;        /* what is written so far, without pads */
  int64_t interval, pad; /* zeros: none */
} tj_dma_lds_order;

/* Whether a place is where the engine would write next, be it by a pad that begins here. */
bool tj_dma_continues_lds(tj_dma_lds_order *order, int64_t place);

#endif
