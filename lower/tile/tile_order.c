/* SPDX-License-Identifier: MIT */
/* Orders of tiles as layouts, of the modes that have several. */
#include "lower/tile/tile_order.h"

#include "ir/index/facts.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"

/* In a form that shows that there is one at least. */
const tj_node *tj_tiles_along(tj_graph *graph, const tj_domain *domain, uint32_t mode, const tj_node *reach) {
  const tj_node *extent = domain->mode[mode].extent, *one = tj_int(graph, 1);
  if (tj_is_constant(reach))
    return tj_simplified(graph, tj_div(graph, tj_add(graph, extent, tj_sub(graph, reach, one)), reach));
  return tj_add(graph, tj_div(graph, tj_sub(graph, extent, one), reach), one);
}

tj_tiles tj_tiles_of(tj_graph *graph, const tj_domain *domain, const tj_node *const reach[]) {
  tj_tiles tiles = {TJ_NEW_ARRAY(graph->job, const tj_node *, domain->count + 1), tj_int(graph, 1)};
  for (uint32_t m = 0; m < domain->count; m++) {
    tiles.along[m] = tj_tiles_along(graph, domain, m, reach[m]);
    tiles.count = tj_mul(graph, tiles.count, tiles.along[m]);
  }
  tiles.count = tj_simplified(graph, tiles.count);
  return tiles;
}

const tj_node *tj_tile_begin(tj_graph *graph, const tj_node *extent, const tj_node *reach, const tj_node *number) {
  const tj_node *begin = tj_mul(graph, number, reach);
  bool is_even = tj_is_constant(reach) && tj_facts_divisible(&extent->facts, reach->value);
  return is_even ? begin : tj_min(graph, begin, tj_sub(graph, extent, reach));
}

const tj_node *tj_next_tile(tj_graph *graph, const tj_tiles *tiles, const tj_node *workgroup) {
  const tj_node *one = tj_int(graph, 1);
  return tj_min(graph, tj_add(graph, workgroup, one), tj_sub(graph, tiles->count, one));
}

const tj_layout *tj_order_of_tiles(tj_graph *graph, const tj_domain *domain, const int64_t reach[],
                                   const uint32_t sequence[]) {
  tj_leaves tiled = {.count = 0};
  tj_layout *order = TJ_NEW(graph->job, tj_layout);
  uint32_t before = UINT32_MAX;
  bool descends = true;
  for (uint32_t i = 0; i < domain->count; i++) {
    uint32_t mode = sequence[i];
    const tj_node *tiles = tj_tiles_along(graph, domain, mode, tj_int(graph, reach[mode]));
    if (tj_is_int(tiles, 1))
      continue;
    descends = descends && mode < before;
    before = mode;
    tj_leaves_put(&tiled, tj_tuple_integer(graph, tiles), tj_tuple_basis(graph, tj_int(graph, 1), &mode, 1));
  }
  *order = tj_leaves_mode(graph, &tiled);
  return descends ? NULL : order;
}
