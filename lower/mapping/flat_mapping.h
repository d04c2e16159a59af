/* SPDX-License-Identifier: MIT */
/* Flat copies: work-items take elements in their order, and no tiles. What that is as a mapping. */
#ifndef TJ_LOWER_FLAT_MAPPING_H
#define TJ_LOWER_FLAT_MAPPING_H

#include "ir/value/mapping.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"

/* A mapping of a flat copy's elements in their order, of which a workgroup's items have so many slots each, and how
 * far both step. */
tj_mapping *tj_mapping_in_order(tj_graph *graph, const tj_kernel *flat, uint32_t slots, uint32_t item_step,
                                uint32_t slot_step);

/* The mapping of a flat copy: a workgroup moves as many elements as its work-items have slots, in their order. NULL
 * for kernels that copy nothing. */
const tj_mapping *tj_mapping_of_flat(tj_graph *graph, const tj_kernel *flat);

/* How many neighbours of the only mode each work-item moves, in their order: those of flat kernels, without tiles,
 * where it is one, or where they gather. 0: work-items move something else. */
uint32_t tj_mapping_neighbours(const tj_mapping *mapping);

/* Whether element n of the source goes to element n of the destination, in the order of the flat kernel:
 * simplification has found that both maps are one. */
bool tj_copies_equals(const tj_kernel *flat);

#endif
