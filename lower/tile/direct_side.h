/* SPDX-License-Identifier: MIT */
/* What work-items load straight into LDS: of each place there, what the layout's swizzle brings to it. */
#ifndef TJ_LOWER_DIRECT_SIDE_H
#define TJ_LOWER_DIRECT_SIDE_H

#include "lower/tile/tiling.h"

/* The digits of a side whose slots would be in LDS where `placed` says without the swizzle of the mapping's layout;
 * `vector` slots move together. The layout has no obstacle (lds/direct.h). */
tj_tile_side tj_direct_side(tj_graph *graph, const tj_mapping *mapping, const tj_tile_side *placed, uint32_t vector);

#endif
