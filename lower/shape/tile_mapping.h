/* SPDX-License-Identifier: MIT */
/* Who takes what of a tile: from its shape to the mapping that says it. */
#ifndef TJ_LOWER_TILE_MAPPING_H
#define TJ_LOWER_TILE_MAPPING_H

#include "ir/value/mapping.h"
#include "lower/shape/tile_shape.h"

/* Shares the tile out among work-items in the order of each side's strides. A slot is an element of a block, first
 * along the side's first mode, then, for loads of a tile in LDS, along the destination's. The domain of the mapping
 * is `domain`; its layout in LDS and the order of tiles are not chosen yet. store_as may be NULL. */
tj_mapping *tj_mapping_of_shape(tj_graph *graph, const tj_shape_problem *problem, const tj_tile_shape *shape,
                                const tj_layout *domain, const struct tj_value *store_as);

#endif
