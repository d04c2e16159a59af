/* SPDX-License-Identifier: MIT */
/* Copies of which no vectors move, and whose elements are masked one by one: several elements for each work-item. */
#ifndef TJ_LOWER_COARSE_H
#define TJ_LOWER_COARSE_H

#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* The flat copy with work-items that move several elements, a workgroup's size apart, so that waves touch the lines
 * that they touched; and of workgroups of several sizes, those that take the fewest instructions. What work-items
 * compute of themselves, and the resource that masks their accesses, they have once then; where the launch brings how
 * many elements there are, the flat copy, with that as what launches take that have enough of them. NULL where
 * accesses have no masks, or the target no resources. */
tj_kernel *tj_map_coarsely(tj_graph *graph, tj_kernel *flat, const tj_target *target);

#endif
