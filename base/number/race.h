/* SPDX-License-Identifier: MIT */
/* Races among strides: whether two coordinates of a box are one element of the destination, and come from different
 * elements of a source.
 *
 * Integers alone, so that a launch can decide what compilation could not. The destination's element is a sum of
 * strides over a box of valid coordinates; so is each source's. Where a source is not valid at a coordinate, a fill
 * takes the place of its element, the same for all such coordinates. */
#ifndef TJ_BASE_RACE_H
#define TJ_BASE_RACE_H

#include <stdint.h>

enum { TJ_RACE_MODES = 32, TJ_RACE_SOURCES = 2, TJ_RACE_SIDES = 1 + TJ_RACE_SOURCES };

/* What one side has along one mode: its valid coordinates are begin … end - 1, and a step moves `stride` elements. */
typedef struct {
  int64_t begin, end, stride;
} tj_race_side;

/* side[mode][0] is the destination's; `sources` others follow. */
typedef struct {
  uint32_t modes, sources;
  tj_race_side side[TJ_RACE_MODES][TJ_RACE_SIDES];
} tj_race_strides;

typedef enum {
  TJ_RACE_NONE,
  TJ_RACE_FOUND,
  TJ_RACE_UNDECIDED /* more would have to be tried than is worth it */
} tj_race_verdict;

/* Decides it; of a race, two such coordinates. Exact up to two modes that move the destination, and where strides
 * nest or a bounded search ends. */
tj_race_verdict tj_race_decide(const tj_race_strides *strides, int64_t first[TJ_RACE_MODES],
                               int64_t second[TJ_RACE_MODES]);

#endif
