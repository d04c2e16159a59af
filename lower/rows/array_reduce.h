/* SPDX-License-Identifier: MIT */
/* Reductions of rows.
 *
 * Each lane has `width` partial results, of the columns c with the same c % (lanes * width), taken in their order
 * from the first on; what is left behind the last whole vector, where it is taken apart, comes last, one column into
 * the first result of each of the first lanes. The partial results of a lane are put together in halves: 0 with
 * width/2, 1 with width/2 + 1, and so on; then those of the row's lanes in a wave, pairs first, then pairs of pairs;
 * then, through LDS, those of its waves, in halves, or as lanes where there are more than eight. So the order is the
 * same on every run. */
#ifndef TJ_LOWER_ARRAY_REDUCE_H
#define TJ_LOWER_ARRAY_REDUCE_H

#include "lower/rows/array_steps.h"

/* Gives each reduction of this level its slots, as they are before the first column. */
void tj_array_begin_reductions(tj_array_maker *maker, uint32_t level);
/* Takes a region's columns into them. */
void tj_array_reduce_columns(tj_array_maker *maker, const tj_array_region *region, uint32_t level);
/* Takes the results of all pieces of the row into them, as if they were columns (array_split.h). */
void tj_array_reduce_pieces(tj_array_maker *maker, uint32_t level);
/* Puts them together: every lane knows the reductions of its row, or of its piece of one. */
void tj_array_end_reductions(tj_array_maker *maker, uint32_t level);

/* The slots that these have, side by side. */
void tj_array_reduction_slots(const tj_array_maker *maker, uint32_t level, uint32_t *first, uint32_t *count);

#endif
