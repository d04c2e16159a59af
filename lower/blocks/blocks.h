/* SPDX-License-Identifier: MIT */
/* How CPUs execute mappings whose work-items each move one small block of elements through vector registers, or a run
 * of neighbours. */
#ifndef TJ_LOWER_BLOCKS_H
#define TJ_LOWER_BLOCKS_H

#include "lower/blocks/block_shape.h"

/* The kernel of what a mapping says, under what the map assumes, which is a flat copy whose modes are sorted; where
 * the launch chooses numbers, of this copy's own ones. NULL where they are no blocks and no rows, are not surely
 * contiguous and valid, or do not fit into LDS. */
tj_kernel *tj_block_kernel(const tj_block_map *map, const tj_mapping *mapping);

/* The same of rows alone. (row_kernel.c) */
tj_kernel *tj_row_kernel(const tj_block_map *map, const tj_mapping *mapping);

/* Whether what is beyond the domain along a mode begins earlier, as whole tiles. */
bool tj_block_is_moved_back(const tj_block_map *map, const tj_mapping *mapping, uint32_t mode);

#endif
