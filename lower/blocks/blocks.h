/* SPDX-License-Identifier: MIT */
/* Blocks: how CPUs execute mappings whose work-items each move one small block of elements through vector registers.
 */
#ifndef TJ_LOWER_BLOCKS_H
#define TJ_LOWER_BLOCKS_H

#include "lower/blocks/block_mapping.h"

/* The kernel of blocks that a mapping said (tj_block_read), under what the map assumes. NULL where rows or runs are
 * not surely contiguous and valid, or the tile does not fit into LDS. */
tj_kernel *tj_block_kernel(tj_block_map *map);

#endif
