/* SPDX-License-Identifier: MIT */
/* Who takes what of a tile: from its shape to the elements in the slots of every work-item. */
#ifndef TJ_LOWER_TILE_SHARE_H
#define TJ_LOWER_TILE_SHARE_H

#include "lower/mapping/tile_shape.h"
#include "lower/mapping/tiling.h"

/* Shares the tile out among work-items in the order of the side's strides. A slot is an element of a block, first
 * along the side's first mode, then, for loads of a staged tile, along the destination's. */
tj_tile_side tj_share_tile(tj_graph *graph, const tj_shape_problem *problem, const tj_tile_shape *shape,
                           tj_side_name side, const tj_node *item);

#endif
