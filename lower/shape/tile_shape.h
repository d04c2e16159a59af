/* SPDX-License-Identifier: MIT */
/* Choosing the shape of a tile: by the cache lines that its runs touch, the work-items that it keeps busy, and the
 * LDS that it takes. Numbers in, numbers out: what is chosen here is never wrong, only more or less fast. */
#ifndef TJ_LOWER_TILE_SHAPE_H
#define TJ_LOWER_TILE_SHAPE_H

#include "lower/shape/lane_grid.h"
#include "lower/shape/shape_problem.h"

typedef struct {
  int64_t extent[TJ_SHAPE_MOST_MODES]; /* of the tile, by mode */
  int64_t unit[TJ_SHAPE_MOST_MODES];   /* elements that move together along the mode: of the last ones of the tile, as
                                          many as that, though others have moved some of them */
  bool is_staged;                      /* through LDS */
  int64_t depth;  /* staged: elements along the destination's first mode that a work-item loads for each
                     vector along the source's */
  bool is_direct; /* staged, from memory straight into LDS: it is for work-items that store to turn blocks around */
  int64_t passes; /* staged: parts in which the tile goes through LDS */
  uint32_t split; /* the mode of which each pass has a part */
  int64_t turn; /* staged: the fewest neighbours along the source that LDS serves at a time, where columns take turns
                   within a phase */
  int64_t work_items;
  double cost;            /* in cache lines for each that has to be touched, on one side */
  double lines[TJ_SIDES]; /* touched for each that the bytes fill, on average */
} tj_tile_shape;

/* The modes of a tile as a side's work-items take them, in the side's order, from its first mode on: how many units
 * each has, for the destination in one pass. Modes of one are left out. */
typedef struct {
  uint32_t mode[TJ_SHAPE_MOST_MODES];
  int64_t count[TJ_SHAPE_MOST_MODES];
  int64_t scale[TJ_SHAPE_MOST_MODES]; /* elements of a unit */
  uint32_t digits;
} tj_shape_digits;

tj_shape_digits tj_shape_digits_of(const tj_shape_problem *problem, const tj_tile_shape *shape, tj_side_name side);

/* The extent of the mode in units, as elements: what the tile has room for. */
int64_t tj_shape_room(const tj_tile_shape *shape, uint32_t mode);

/* The modes, by bit, that lie side by side in LDS: a side's first ones, up to the other side's first one that it does
 * not begin with, too. The others are rows. What goes straight there lies as in the source, else as in the
 * destination. */
uint64_t tj_shape_columns(const tj_shape_problem *problem, tj_side_name side);

/* The best shapes, up to `most`, those of least cost first: each with the best number of work-items, and once more
 * with the best of those whose stores have whole phases of LDS, if that is another. 0: no tile fits. */
uint32_t tj_choose_tile_shapes(const tj_shape_problem *problem, tj_tile_shape shape[], uint32_t most);

#endif
