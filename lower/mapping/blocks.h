/* SPDX-License-Identifier: MIT */
/* Blocks: the mapping for CPUs, whose work-items each move one small block of elements through vector registers. */
#ifndef TJ_LOWER_BLOCKS_H
#define TJ_LOWER_BLOCKS_H

#include "lower/kernel/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* The kernel that moves a flat copy's elements block by block, where both sides are contiguous along a mode and
 * nothing is masked; NULL where that is not so, or not known. Blocks at the end of a mode overlap with those before
 * them in the place of being cut off. Where it depends on parameters, the flat kernel, with faster ones. */
tj_kernel *tj_map_blocks(tj_graph *graph, tj_kernel *flat, const tj_target *target);

#endif
