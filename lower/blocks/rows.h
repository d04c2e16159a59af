/* SPDX-License-Identifier: MIT */
/* Rows: the mapping for CPUs of copies whose sides are contiguous along the same mode. */
#ifndef TJ_LOWER_ROWS_H
#define TJ_LOWER_ROWS_H

#include "lower/blocks/block_shape.h"

/* The mapping that copies the rows of a flat copy, whose modes are sorted, each as a run; NULL where only the launch
 * knows its tile. */
const tj_mapping *tj_choose_rows(const tj_block_map *map);

/* The kernel that does so for extents that the launch brings. Where the destination may be large, with a faster one
 * that bypasses the caches. NULL where rows are not surely contiguous and valid. */
tj_kernel *tj_map_rows(const tj_block_map *map);

/* The same as a mapping whose numbers the launch chooses; NULL where copies of the program's rows are not of runs.
 * TJ4020 for a mapping of other rows. */
tj_kernel *tj_rows_of_launch(const tj_block_map *map, const tj_mapping *given);

/* The kernel of the rows that a mapping says; NULL where it says none. */
tj_kernel *tj_rows_as_mapped(const tj_block_map *map, const tj_mapping *mapping);

#endif
