/* SPDX-License-Identifier: MIT */
/* How partial results of reductions come together.
 *
 * A maximum that is NaN where an element is takes most machines three instructions. Sizes of numbers, abs(a), compare
 * as their bits do, NaN as the largest. And nobody sees whether max(a) has left NaNs out where all that is stored of
 * it is NaN because of them anyway: as in exp(a - max(a)) / sum(exp(a - max(a))), where the sum is, whatever max(a)
 * be. Functions that are NaN where an argument is carry NaN from an element of `a` to what belongs to it, sums from
 * there to the row, and functions of those to what is stored. */
#ifndef TJ_LOWER_ARRAY_EXTREME_H
#define TJ_LOWER_ARRAY_EXTREME_H

#include "ir/array/array.h"

/* By number of array: the tj_array_op that puts two partial results of a reduction together. */
const tj_array_op *tj_array_combinations(tj_graph *graph, const tj_array_program *program);

#endif
