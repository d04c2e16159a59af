/* SPDX-License-Identifier: MIT */
/* What flexible tiles of copies whose sides have neighbours along the same mode have in common, those that stay in
 * registers and those whose vectors go through LDS. */
#ifndef TJ_LOWER_FLEXIBLE_STRAIGHT_H
#define TJ_LOWER_FLEXIBLE_STRAIGHT_H

#include "lower/flexible/flexible_maker.h"

enum {
  TJ_STRAIGHT_SLOTS = 8, /* vectors of a work-item */
  TJ_STRAIGHT_LOG_SLOTS = 3,
  TJ_STRAIGHT_FIRST_AXES = 3,
  TJ_STRAIGHT_NEXT_AXES = 3, /* after the first, by which tiles are priced */
  TJ_STRAIGHT_AXES = TJ_STRAIGHT_FIRST_AXES + TJ_FLEXIBLE_OTHERS
};

/* A mode of the box, in units: vectors along the first mode, coordinates along others. */
typedef struct {
  uint32_t number;                  /* of the mode, or TJ_FLEXIBLE_NONE */
  tj_flexible_mode *mode;           /* NULL: there is none */
  int64_t unit;                     /* elements */
  const tj_node *all, *items, *log; /* launch: units that there are, and that work-items have; of the slots */
} tj_straight_axis;

typedef struct {
  tj_flexible *f;
  tj_graph *graph;
  int64_t width;
  tj_straight_axis axis[TJ_STRAIGHT_AXES]; /* the first mode; the source's next; the destination's; others */
  const tj_node *lines;                    /* launch: that runs of the tile touch, if it stays in registers */
} tj_straight;

static inline const tj_node *tj_straight_int(const tj_straight *s, int64_t value) {
  return tj_int(s->graph, value);
}

/* The axes of a tile that stays in registers, with the items and slots that it has of each. */
tj_straight *tj_straight_share(tj_flexible *f);

/* The cache lines that runs of so many units along the first mode, and along the next ones of source and destination,
 * touch on both sides. */
const tj_node *tj_straight_lines(const tj_straight *s, const tj_node *first, const tj_node *loaded,
                                 const tj_node *stored);

/* What the lengths of modes are by that. */
void tj_straight_set_lengths(tj_straight *s);

/* The slots along an axis, as the mapping has them. */
const tj_node *tj_straight_slots_along(const tj_straight *s, const tj_straight_axis *a);

/* What all tiles move, by the lines that this touches; `part`: units of a tile along its next axes. */
const tj_node *tj_straight_cost(const tj_straight *s, const tj_node *const part[TJ_STRAIGHT_NEXT_AXES],
                                const tj_node *lines);

#endif
