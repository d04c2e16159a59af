/* SPDX-License-Identifier: MIT */
/* What the parts of flexible tiles that turn around in LDS share: numbers of a work-item and of LDS, and those that
 * the launch chooses. flexible_turn.c tells what a tile is, flexible_places.c says where elements lie in LDS. */
#ifndef TJ_LOWER_FLEXIBLE_TURN_H
#define TJ_LOWER_FLEXIBLE_TURN_H

#include "lower/flexible/flexible_maker.h"

enum {
  TJ_TURN_PLACES = 8, /* vectors that LDS serves at a time */
  TJ_TURN_LOADS = 8,  /* vectors that a work-item loads, at most; of squares for each */
};

/* The axes of a tile that turns around: columns are along the first two, rows along the others. */
enum {
  TJ_TURN_A = TJ_TILE_LOADED,
  TJ_TURN_C = TJ_TILE_NEXT_LOADED,
  TJ_TURN_D = TJ_TILE_NEXT_STORED,
  TJ_TURN_B = TJ_TILE_STORED,
  TJ_TURN_AXES
};

/* What of a side's items says where an element is in LDS; NULL: there is only one. */
typedef struct {
  const tj_tuple *item[TJ_TURN_AXES]; /* columns of a pass, and rows */
  const tj_tuple *pass[TJ_TURN_AXES]; /* of columns */
  const tj_tuple *vector, *part;      /* vectors and parts of a column */
  const tj_tuple *word;               /* words of a vector */
} tj_turn_parts;

/* How far a step of each kind leads in the order of stores, in vectors, as the launch has it; NULL: there is none. */
typedef struct {
  const tj_node *item[TJ_TURN_AXES], *slot, *part;
} tj_turn_order;

typedef struct {
  tj_flexible *f;
  tj_graph *graph;
  bool has_slots_first;    /* all slots of a row, of which there are as many as places, follow one another */
  int64_t loaded, stored;  /* elements of vectors */
  int64_t word, together;  /* rows that share a word of LDS; work-items side by side that do a vector */
  int64_t slots;           /* vectors of the destination in a row */
  int64_t vectors, column; /* of a column: vectors, elements */
  int64_t rows, parts;     /* elements of a column that a work-item stores; how many such parts there are */
  int64_t passes;          /* in which columns go through LDS */
  int64_t most_x, most_y;  /* columns of a pass; rows: their product is not more than either */
  const tj_node *x;        /* launch: columns of a pass */
  const tj_node *along[TJ_TURN_AXES]; /* launch: passes of columns, slots of rows */
  tj_turn_parts load, store;
  tj_turn_order order;
  const tj_node *in_order; /* launch: vectors of what has its place in the order */
} tj_turn;

/* The axes of columns and of `d` as they follow `b` in the destination; then TJ_TILE_FOLLOWING. */
static inline const uint32_t *tj_turn_after(const tj_turn *t) {
  return t->f->kernel->launched->tile.after;
}

static inline bool tj_turn_has(const tj_turn *t, uint32_t axis) {
  return t->f->axis[axis].mode != TJ_FLEXIBLE_NONE;
}

static inline const tj_node *tj_turn_int(const tj_turn *t, int64_t value) {
  return tj_int(t->graph, value);
}

/* What a work-item has loaded, in a pass, into LDS; and out of LDS what it stores, into slots from `slot` on. */
void tj_turn_put(tj_turn *t, const tj_flexible_hold *hold, int64_t pass);
void tj_turn_take(tj_turn *t, const tj_flexible_hold *hold, uint32_t slot);

#endif
