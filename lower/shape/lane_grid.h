/* SPDX-License-Identifier: MIT */
/* Lane grids: how the work-items of a workgroup share out a box of vectors.
 *
 * Work-items take the digits of the box in turn, first digit fastest, as far as there are work-items; what is left of
 * the digits is for each work-item's slots. No carry goes from one digit to the next, so a slot is always the same
 * distance from the work-item's first one. */
#ifndef TJ_LOWER_LANE_GRID_H
#define TJ_LOWER_LANE_GRID_H

#include <stdbool.h>
#include <stdint.h>

enum { TJ_GRID_MOST_DIGITS = 20 };

typedef struct {
  int64_t count; /* values of the digit */
  int64_t lanes; /* of them, neighbours that work-items take side by side */
  int64_t slots; /* times `lanes`, at least all of them; where more, the last slot begins earlier */
} tj_grid_digit;

typedef struct {
  tj_grid_digit digit[TJ_GRID_MOST_DIGITS]; /* of which only the first `count` are anything */
  uint32_t count;
  int64_t lanes; /* work-items that take part */
  int64_t slots; /* of each */
  int64_t phase; /* work-items that LDS serves at a time */
  double values; /* of all digits together */
} tj_lane_grid;

/* Shares digits of these counts, first fastest, out among `most` work-items, of whom LDS serves `phase` at a time: a
 * power of two. */
void tj_lane_grid_make(const int64_t count[], uint32_t digits, int64_t most, int64_t phase, tj_lane_grid *grid);

/* Where slot `slot` of a digit begins: its work-items have that value and those that follow. */
int64_t tj_grid_digit_start(const tj_grid_digit *digit, int64_t slot);

/* Whether each slot begins at a multiple of a phase in the order of all values, first digit fastest: so that all
 * phases are whole parts of that order. */
bool tj_lane_grid_keeps_phases(const tj_lane_grid *grid);

/* The part of all slots of `work_items` that holds an element which no other one holds. */
double tj_lane_grid_use(const tj_lane_grid *grid, int64_t work_items);

#endif
