/* SPDX-License-Identifier: MIT */
/* Mappings for CPUs: choosing them, and kernels of those that are chosen or given. */
#ifndef TJ_LOWER_HOST_MAPPING_H
#define TJ_LOWER_HOST_MAPPING_H

#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/mapping/mapped.h"

/* The kernel that moves a flat copy's elements block by block, or row by row, where both sides are contiguous along a
 * mode and nothing is masked; NULL where that is not so, or not known. Blocks at the end of a mode overlap with those
 * before them in the place of being cut off. Where it depends on parameters, or on where the destination begins, the
 * kernel that serves all, with faster ones. */
tj_kernel *tj_map_on_host(tj_graph *graph, tj_kernel *flat, const tj_target *target);

/* The kernel of blocks or rows that a mapping says. Where that asks for extents, or for where the destination begins,
 * it stands beside the kernel that serves all. NULL where the mapping says no blocks or rows of this copy. */
tj_kernel *tj_map_as_given_on_host(tj_graph *graph, tj_kernel *flat, const tj_mapped *mapped,
                                   const tj_target *target);

/* The kernel of rows whose numbers the launch chooses, of which such a mapping is. NULL where the copy's domain has
 * no rows; TJ4020 where the mapping is another. */
tj_kernel *tj_map_launched_on_host(tj_graph *graph, const tj_kernel *flat, const tj_mapping *given,
                                   const tj_target *target);

#endif
