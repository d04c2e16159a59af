/* SPDX-License-Identifier: MIT */
/* Steps of sums that go with another reduction of the row (array_online.h). Such a sum has slots for what it is less,
 * beside those of its partial results. */
#ifndef TJ_LOWER_ARRAY_ONLINE_STEPS_H
#define TJ_LOWER_ARRAY_ONLINE_STEPS_H

#include "lower/rows/array_split.h"

/* How many slots, the partial results first. */
uint32_t tj_online_slots(const tj_array_maker *maker, const tj_array *sum);
/* Makes them what they are before the first column. */
void tj_online_begin(tj_array_maker *maker, const tj_array *sum);
/* Takes a region's columns into them. The other reduction has taken these already. */
void tj_online_reduce(tj_array_maker *maker, const tj_array_region *region, const tj_array *sum);
/* Takes the results of all pieces of the row into them. */
void tj_online_reduce_pieces(tj_array_maker *maker, const tj_array *sum, const tj_array_pieces *pieces);
/* The first slot becomes all partial results together, less what the other reduction of the row has come to. */
void tj_online_end(tj_array_maker *maker, const tj_array *sum);

#endif
