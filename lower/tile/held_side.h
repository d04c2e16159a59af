/* SPDX-License-Identifier: MIT */
/* From who holds what, as a mapping says it, to the coordinates of slots as expressions of the work-item. */
#ifndef TJ_LOWER_HELD_SIDE_H
#define TJ_LOWER_HELD_SIDE_H

#include "ir/value/mapping.h"
#include "lower/tile/tiling.h"

/* A side as work-items hold it. */
typedef struct {
  const tj_mapping_side *side;
  const tj_node *item;               /* that the work-item is */
  const tj_node *const *item_digits; /* of its layout */
  const tj_node *exists;             /* truth: there is such an item */
} tj_holding;

tj_holding tj_hold(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side, const tj_node *work_item);

/* The coordinates in the tile of every slot's element, and who of several holders passes it on. What reaches beyond
 * the tile begins earlier, or is left out. */
tj_tile_side tj_tile_side_held(tj_graph *graph, const tj_mapping *mapping, const tj_holding *held, bool leaves_out);

#endif
