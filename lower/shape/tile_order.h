/* SPDX-License-Identifier: MIT */
/* In which order workgroups take the tiles of a domain. */
#ifndef TJ_LOWER_TILE_ORDER_H
#define TJ_LOWER_TILE_ORDER_H

#include "ir/layout/layout.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"

/* How many tiles there are along a mode, of which each reaches so far. */
const tj_node *tj_tiles_along(tj_graph *graph, const tj_domain *domain, uint32_t mode, const tj_node *reach);

/* The tiles of a domain that reach so far along each mode. */
typedef struct {
  const tj_node **along; /* how many there are, by mode */
  const tj_node *count;  /* of all */
} tj_tiles;

tj_tiles tj_tiles_of(tj_graph *graph, const tj_domain *domain, const tj_node *const reach[]);

/* Where tile `number` along a mode begins, of which the last one ends where the mode does. */
const tj_node *tj_tile_begin(tj_graph *graph, const tj_node *extent, const tj_node *reach, const tj_node *number);

/* The tile after a workgroup's, as far as there is one. */
const tj_node *tj_next_tile(tj_graph *graph, const tj_tiles *tiles, const tj_node *workgroup);

/* From the workgroup's number to the coordinate of its tile, neighbours along sequence[0] first; `sequence` has each
 * mode once. NULL where it is the order without any: neighbours along the last mode first. */
const tj_layout *tj_order_of_tiles(tj_graph *graph, const tj_domain *domain, const int64_t reach[],
                                   const uint32_t sequence[]);

/* A copy's modes in the sequence in which tiles that follow each other have the fewest pages of memory at one time:
 * in that of the source, as `loaded`, or with the first mode of one side before those of the other. */
const uint32_t *tj_tile_sequence(tj_graph *graph, const tj_kernel *flat, const tj_domain *domain,
                                 const int64_t reach[], const uint32_t loaded[], const uint32_t stored[]);

#endif
