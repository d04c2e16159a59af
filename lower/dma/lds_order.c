/* SPDX-License-Identifier: MIT */
/* Pads: where they may be, and how long. */
#include "lower/dma/lds_order.h"

static bool can_pad(const tj_dma_lds_order *order, int64_t interval, int64_t pad) {
  return tj_dma_can_pad(order->engine, interval * order->unit_bytes, pad * order->unit_bytes);
}

bool tj_dma_continues_lds(tj_dma_lds_order *order, int64_t place) {
  if (order->interval == 0 && place != order->filled && can_pad(order, order->filled, place - order->filled)) {
    order->interval = order->filled;
    order->pad = place - order->filled;
  }
  return place == order->filled + (order->interval == 0 ? 0 : order->filled / order->interval * order->pad);
}
