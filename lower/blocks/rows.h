/* SPDX-License-Identifier: MIT */
/* Rows: the mapping for CPUs of copies whose sides are contiguous along the same mode. */
#ifndef TJ_LOWER_ROWS_H
#define TJ_LOWER_ROWS_H

#include "lower/blocks/block_shape.h"

/* The mapping that copies the rows of a flat copy, whose modes are sorted, each as a run: of which the launch chooses
 * how many a tile has, where it alone knows how long they are. */
const tj_mapping *tj_row_mapping(const tj_block_map *map, bool streams);

/* Truth, whether rows should bypass the caches. */
const tj_node *tj_rows_are_streamed(const tj_block_map *map);

/* The kernel of the rows that a mapping says, where the launch chooses their numbers this copy's own one; NULL where
 * it says none, or rows are not surely contiguous and valid. */
tj_kernel *tj_rows_as_mapped(const tj_block_map *map, const tj_mapping *mapping);

#endif
