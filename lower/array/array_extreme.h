/* SPDX-License-Identifier: MIT */
/* How partial results of reductions come together.
 *
 * A maximum that is NaN where an element is takes most machines three instructions. Sizes of numbers, abs(a), compare
 * as their bits do, NaN as the largest. And nobody sees whether max(a) has left NaNs out where all that is stored of
 * it is NaN because of them anyway: as in exp(a - max(a)) / sum(exp(a - max(a))), where the sum is, whatever max(a)
 * be. Functions that are NaN where an argument is carry NaN from an element of `a` to what belongs to it, sums from
 * there to the row, and functions of those to what is stored.
 *
 * Elements beyond a row are loaded as 0. Sums of squares, and the largest of sizes, may take them in. Where they
 * become -inf, so may max(a), and sum(exp(a - max(a))): of a row of -inf alone that is NaN anyway. */
#ifndef TJ_LOWER_ARRAY_EXTREME_H
#define TJ_LOWER_ARRAY_EXTREME_H

#include "lower/array/array_space.h"

/* By number of array: the tj_array_op that puts two partial results of a reduction together. */
const tj_array_op *tj_array_combinations(tj_graph *graph, const tj_array_program *program);

/* Whether columns of a row that are not there, of which buffers have 0, change nothing of a reduction of those that
 * are. */
bool tj_array_takes_zeros(tj_graph *graph, const tj_array_space *space, const tj_array *reduction);

/* Whether no reduction is changed by columns that are not there, of which buffers have -inf. */
bool tj_array_takes_lowest(const tj_array_space *space);

#endif
