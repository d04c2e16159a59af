/* SPDX-License-Identifier: MIT */
/* Orders of tiles as layouts, of the modes that have several. */
#include "lower/tile/tile_order.h"

#include "ir/index/facts.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"

const tj_node *tj_tiles_along(tj_graph *graph, const tj_domain *domain, uint32_t mode, int64_t reach) {
  const tj_node *size = tj_add(graph, domain->mode[mode].extent, tj_int(graph, reach - 1));
  return tj_simplified(graph, tj_div(graph, size, tj_int(graph, reach)));
}

const tj_layout *tj_order_of_tiles(tj_graph *graph, const tj_domain *domain, const int64_t reach[],
                                   const uint32_t sequence[]) {
  tj_leaves tiled = {.count = 0};
  tj_layout *order = TJ_NEW(graph->job, tj_layout);
  uint32_t before = UINT32_MAX;
  bool descends = true;
  for (uint32_t i = 0; i < domain->count; i++) {
    uint32_t mode = sequence[i];
    const tj_node *tiles = tj_tiles_along(graph, domain, mode, reach[mode]);
    if (tj_is_int(tiles, 1))
      continue;
    descends = descends && mode < before;
    before = mode;
    tj_leaves_put(&tiled, tj_tuple_integer(graph, tiles), tj_tuple_basis(graph, tj_int(graph, 1), &mode, 1));
  }
  *order = tj_leaves_mode(graph, &tiled);
  return descends ? NULL : order;
}
