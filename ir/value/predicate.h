/* SPDX-License-Identifier: MIT */
/* Predicates on maps: injective, surjective, equal.
 *
 * Exact. Where the structure of a layout decides, nothing is enumerated; otherwise constant maps of up to 2^24
 * coordinates are, by the oracle. Coordinates that are not valid do not count. What neither decides fails: TJ2015
 * where a fact about a parameter is missing, TJ7005 where a domain is too large. */
#ifndef TJ_IR_PREDICATE_H
#define TJ_IR_PREDICATE_H

#include "ir/value/value.h"

/* No two coordinates have the same value. */
bool tj_is_injective(tj_graph *graph, const tj_value *map);

/* Every element of the map's own space is a value: below cosize for layouts, from the least to the largest offset of
 * the base for views, in every lower dimension for transforms; and no value is negative. */
bool tj_is_surjective(tj_graph *graph, const tj_value *map);

/* Whether two maps have the same values at the same coordinates, validity included. Two layouts are compared by
 * linear coordinate, so only their sizes must agree; others need the same domain. Otherwise, where they are constant,
 * *difference becomes the first coordinate at which they differ; NULL where the domains do. */
bool tj_maps_equal(tj_graph *graph, const tj_value *a, const tj_value *b, const tj_tuple **difference);

#endif
