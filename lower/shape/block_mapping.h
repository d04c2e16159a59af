/* SPDX-License-Identifier: MIT */
/* The mappings of blocks of copies on the host. */
#ifndef TJ_LOWER_BLOCK_MAPPING_H
#define TJ_LOWER_BLOCK_MAPPING_H

#include "ir/value/mapping.h"
#include "lower/shape/block_shape.h"

/* The mapping of blocks and tiles that were chosen of a flat copy's whole domain: load and store of the same items,
 * who turn their blocks around; or, staged, a store of an item for each run, and the place of runs in LDS. */
const tj_mapping *tj_mapping_of_blocks(tj_graph *graph, const tj_domain *domain, const tj_shape_problem *problem,
                                       const tj_block_shape *shape);

/* A mapping of tiles that reach so far, whose sides are not set. What is beyond the domain begins earlier, as whole
 * tiles, but along the mode `masked`; UINT32_MAX: none. */
tj_mapping *tj_mapping_of_tiles(tj_graph *graph, const tj_domain *domain, const tj_shape_problem *problem,
                                const tj_block_shape *shape, uint32_t masked);

#endif
