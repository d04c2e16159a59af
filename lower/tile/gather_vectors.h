/* SPDX-License-Identifier: MIT */
/* Gathers in vectors: work-items that move neighbours which one index finds. */
#ifndef TJ_LOWER_GATHER_VECTORS_H
#define TJ_LOWER_GATHER_VECTORS_H

#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* Whether a flat kernel looks up where its elements are. */
bool tj_is_gather(const tj_kernel *flat);

/* The flat kernel whose work-items move `slots` elements each, a power of two, in as wide vectors as the target has.
 * NULL where these are not surely neighbours on both sides, found by one index, and valid together. */
tj_kernel *tj_gather_in_vectors(tj_graph *graph, const tj_kernel *flat, const tj_target *target, uint32_t slots);

/* The same in the widest vectors that there are; the kernel itself where there are none. */
tj_kernel *tj_gather_widest(tj_graph *graph, tj_kernel *flat, const tj_target *target);

#endif
