/* SPDX-License-Identifier: MIT */
/* The way of a tile through LDS: where each slot's element is there, and how vectors take it there and back. */
#ifndef TJ_LOWER_LDS_TRANSIT_H
#define TJ_LOWER_LDS_TRANSIT_H

#include "ir/value/value.h"
#include "lower/lds/lds_layout.h"
#include "lower/tile/tile_side.h"

typedef struct {
  tj_side *in; /* by pass: the slots of the load side on their way into LDS */
  tj_side out; /* the slots of the store side on their way out of it; what they are asked for where loads transpose */
  bool transposes;
  const tj_stage_choice *choice;
} tj_staging;

/* Finds the way through LDS of a tile that goes from the slots of `load` to those of `store`, in the layout that its
 * mapping has. False where slots of the store side are not in the passes in which their rows are. */
bool tj_plan_staging(tj_graph *graph, const tj_tiling *tiling, const tj_target *target, uint32_t element_bytes,
                     const tj_side *load, const tj_side *store, tj_staging *staging);

/* How a layout in LDS steps along the modes of a tile; false where it does not step evenly along each. */
bool tj_lds_strides(tj_graph *graph, const tj_mapping *mapping, const tj_node *stride[]);

/* The numbers of work-items by which neighbours are served together in the widest loads of the target's LDS: a linear
 * map. NULL: they are anyhow, or no linear map says it. */
const tj_value *tj_staging_order(tj_graph *graph, const tj_target *target);

#endif
