/* SPDX-License-Identifier: MIT */
/* Pads: where they may be, and how long. */
#include "lower/dma/lds_order.h"

#include "base/number/power.h"

enum { DWORD = 4 };

static bool can_pad(const tj_dma_lds_order *order, int64_t interval, int64_t pad) {
  const tj_dma_engine *engine = order->engine;
  int64_t bytes = interval * order->unit_bytes, pad_bytes = pad * order->unit_bytes;
  return pad > 0 && bytes % DWORD == 0 && pad_bytes % DWORD == 0 && tj_is_power_of_two(bytes) &&
         bytes >= engine->least_interval * DWORD && bytes <= engine->most_interval * DWORD &&
         pad_bytes <= engine->most_pad * DWORD;
}

bool tj_dma_continues_lds(tj_dma_lds_order *order, int64_t place) {
  if (order->interval == 0 && place != order->filled && can_pad(order, order->filled, place - order->filled)) {
    order->interval = order->filled;
    order->pad = place - order->filled;
  }
  return place == order->filled + (order->interval == 0 ? 0 : order->filled / order->interval * order->pad);
}
