/* SPDX-License-Identifier: MIT */
/* In which order workgroups take the tiles of a domain. */
#ifndef TJ_LOWER_TILE_ORDER_H
#define TJ_LOWER_TILE_ORDER_H

#include "ir/layout/layout.h"
#include "lower/kernel/domain.h"

/* How many tiles there are along a mode, of which each reaches so far. */
const tj_node *tj_tiles_along(tj_graph *graph, const tj_domain *domain, uint32_t mode, int64_t reach);

/* From the workgroup's number to the coordinate of its tile, neighbours along sequence[0] first; `sequence` has each
 * mode once. NULL where it is the order without any: neighbours along the last mode first. */
const tj_layout *tj_order_of_tiles(tj_graph *graph, const tj_domain *domain, const int64_t reach[],
                                   const uint32_t sequence[]);

#endif
