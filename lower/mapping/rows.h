/* SPDX-License-Identifier: MIT */
/* Rows: the mapping for CPUs of copies whose sides are contiguous along the same mode. */
#ifndef TJ_LOWER_ROWS_H
#define TJ_LOWER_ROWS_H

#include "lower/mapping/block_shape.h"

/* The kernel that copies the rows of a flat copy, whose modes are sorted, each as a run: for all extents, known or
 * not. Where the destination may be large, with faster ones that bypass the caches. NULL where rows are not surely
 * contiguous and valid. */
tj_kernel *tj_map_rows(const tj_block_map *map);

#endif
