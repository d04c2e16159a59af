/* SPDX-License-Identifier: MIT */
/* Steps of rows that go through LDS whole: where they lie there, and how they come and go. */
#ifndef TJ_LOWER_ARRAY_STAGED_STEPS_H
#define TJ_LOWER_ARRAY_STAGED_STEPS_H

#include "lower/rows/array_steps.h"

/* What arguments have in LDS, by argument, of a shape that is staged. */
void tj_array_place_stages(tj_array_maker *maker);
/* Loads all that is loaded into LDS; stores all that is stored from there. */
void tj_array_load_stages(tj_array_maker *maker);
void tj_array_store_stages(tj_array_maker *maker);

#endif
