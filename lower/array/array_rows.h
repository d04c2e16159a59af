/* SPDX-License-Identifier: MIT */
/* Kernels of arrays for targets.
 *
 * The modes of the arrays are parted in two: a *column* is a coordinate in those that reductions are over, or, where
 * there are none, in those that every array steps through together; a *row* is one in the others. A workgroup has
 * some rows. Each row has lanes, work-items side by side; each lane takes `width` columns that are neighbours,
 * `repeats` times as many, lanes * width apart; and where that is not the whole row, it does so again in a loop, once
 * for the reductions of each level and once for what is stored. */
#ifndef TJ_LOWER_ARRAY_ROWS_H
#define TJ_LOWER_ARRAY_ROWS_H

#include "lower/kernel/array_kernel.h"
#include "lower/machine/target.h"

/* The kernel of one work-item a row, by which others are defined. */
tj_kernel *tj_rows_as_written(tj_graph *graph, const tj_kernel *definition);

/* The kernel for a target, simplified. */
tj_kernel *tj_map_arrays(tj_graph *graph, const tj_kernel *written, const tj_target *target);

#endif
