/* SPDX-License-Identifier: MIT */
/* Where the domain ends: of a tile that would reach beyond it, elements are masked, or, as the mapping allows, the
 * tile or pieces of it are moved back inside. */
#ifndef TJ_LOWER_TILE_EDGE_H
#define TJ_LOWER_TILE_EDGE_H

#include "lower/tile/tiling.h"

int64_t tj_tile_extent(const tj_tiling *tiling, uint32_t mode);

/* How many elements together are moved back inside along a mode; 0: none. */
int64_t tj_tile_piece(const tj_tiling *tiling, uint32_t mode);

/* Whether elements of some tiles are beyond the domain along a mode; all such modes, by bit. */
bool tj_tile_has_edge(const tj_tiling *tiling, uint32_t mode);
uint64_t tj_tile_edges(const tj_tiling *tiling);

/* Where tiles begin along a mode. */
typedef struct {
  const tj_node *value, *last; /* at most */
  int64_t multiple;            /* of which it surely is one */
} tj_tile_base;

/* Of the tile of a number along a mode. */
tj_tile_base tj_tile_base_of(tj_graph *graph, const tj_tiling *tiling, uint32_t mode, const tj_node *tile);

/* The coordinate in the domain of one within the tile that begins at `base`. */
const tj_node *tj_tile_coordinate(tj_graph *graph, const tj_tiling *tiling, uint32_t mode, const tj_node *base,
                                  const tj_node *within);

#endif
