/* SPDX-License-Identifier: MIT */
/* The way of a tile through LDS: where each slot's element is there, and how vectors take it there and back. */
#ifndef TJ_LOWER_LDS_TRANSIT_H
#define TJ_LOWER_LDS_TRANSIT_H

#include "lower/mapping/lds_layout.h"
#include "lower/mapping/tile_side.h"

typedef struct {
  tj_side *in; /* by pass: the slots of the load side on their way into LDS */
  tj_side out; /* the slots of the store side on their way out of it */
  const tj_stage_choice *choice;
} tj_staging;

/* Finds the layout in LDS of a tile that goes from the slots of `load` to those of `store`. False where it does not
 * fit into the target's LDS, or where slots of the store side are not in the passes in which their rows are. */
bool tj_plan_staging(tj_graph *graph, const tj_tiling *tiling, const tj_target *target, uint32_t element_bytes,
                     const tj_side *load, const tj_side *store, tj_staging *staging);

/* The work-item's number, with the lanes of a wave in the order in which the target's LDS serves their widest loads:
 * neighbours in this order are served together. `items` are there in all. */
const tj_node *tj_staging_order(tj_graph *graph, const tj_target *target, const tj_node *item, uint32_t items);

#endif
