/* SPDX-License-Identifier: MIT */
/* How CPUs execute mappings whose work-items each move one small block of elements through vector registers, or a run
 * of neighbours. */
#ifndef TJ_LOWER_BLOCKS_H
#define TJ_LOWER_BLOCKS_H

#include "ir/value/mapping.h"
#include "lower/shape/shape_problem.h"

enum { TJ_BLOCK_STREAM_BYTES = 4 << 20 /* of a destination that is not worth caching */ };

/* A flat copy on its way to a kernel of blocks or rows. */
typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_domain *domain; /* in terms of what is assumed */
  const tj_target *target;
  tj_shape_problem problem; /* what there is to tile of it */
} tj_block_copy;

static inline const tj_node *tj_block_extent(const tj_block_copy *copy, uint32_t mode) {
  return copy->domain->mode[mode].extent;
}

/* Describes what there is to tile; false where the copy is of no modes that both sides step through evenly. */
bool tj_block_describe(tj_block_copy *copy);

/* Whether vectors of the destination, of so many elements, are aligned well enough, and never overlap: then lines are
 * stored as a whole. */
bool tj_block_has_whole_vectors(const tj_block_copy *copy, int64_t width);

/* The kernel of what a mapping says, under what the copy assumes, which is described; where the launch chooses
 * numbers, of this copy's own ones. NULL where they are no blocks and no rows, are not surely contiguous and valid, or
 * do not fit into LDS. */
tj_kernel *tj_block_kernel(const tj_block_copy *copy, const tj_mapping *mapping);

/* The same of rows alone. (row_kernel.c) */
tj_kernel *tj_row_kernel(const tj_block_copy *copy, const tj_mapping *mapping);

/* Whether what is beyond the domain along a mode begins earlier, as whole tiles. */
bool tj_block_is_moved_back(const tj_block_copy *copy, const tj_mapping *mapping, uint32_t mode);

#endif
