/* SPDX-License-Identifier: MIT */
/* Kernels of arrays, row by row.
 *
 * The modes of the arrays are parted in two: a *column* is a coordinate in those that reductions are over, or, where
 * there are none, in those that every array steps through together; a *row* is one in the others. A workgroup has
 * some rows. Each row has lanes, work-items side by side; each lane takes `width` columns that are neighbours,
 * `repeats` times as many, lanes * width apart; and where that is not the whole row, it does so again in a loop, once
 * for the reductions of each level and once for what is stored. Few rows that are very long are split into pieces,
 * and their reductions are kernels of their own (array_split.h). */
#ifndef TJ_LOWER_ARRAY_ROWS_H
#define TJ_LOWER_ARRAY_ROWS_H

#include "lower/array/array_shape.h"

/* The kernel of one work-item a row, by which others are defined. */
tj_kernel *tj_rows_as_written(tj_graph *graph, const tj_kernel *definition);

/* The kernel of a shape for a target, not simplified. Of rows that are split, the kernel that reduces the level
 * `number`, or behind the last one, that which stores; else `number` is 0. */
tj_kernel *tj_rows_make(tj_graph *graph, const tj_kernel *from, const tj_array_space *space, tj_array_shape shape,
                        const tj_target *target, uint32_t number);

/* How many levels reductions have there. */
uint32_t tj_rows_levels(tj_graph *graph, const tj_array_space *space, tj_array_shape shape);

#endif
