/* SPDX-License-Identifier: MIT */
/* Layouts of the two sides of a tile.
 *
 * Along a mode with units, the tile has whole units. Where the mode ends within the last one, that begins earlier:
 * the unit is the piece of the tile that overlaps; elsewhere whole tiles are moved back inside. Digits that do not
 * fill the work-items' last slot reach beyond. */
#include "lower/shape/tile_mapping.h"

#include "ir/value/value.h"

typedef struct {
  tj_graph *graph;
  const tj_shape_problem *problem;
  const tj_tile_shape *shape;
  tj_shape_digits digits;
  tj_lane_grid grid;
  uint32_t along, across; /* the digits of the side's first mode, and of the other with units */
  int64_t width, depth;   /* of a block: along that mode, and along the other one with units */
} sharing;

/* A part of a digit: `count` values that each move `scale`. */
typedef struct {
  uint32_t digit;
  int64_t count, scale;
} lane_part;

enum {
  TOGETHER = TJ_GRID_MOST_DIGITS,
  NONE,
  MOST_PARTS = TJ_GRID_MOST_DIGITS + 3,
  MOST_SLOT_DIGITS = 2 + 2 * TJ_GRID_MOST_DIGITS /* of a block; of its repetitions, and of passes */
};

_Static_assert((int)MOST_PARTS <= (int)TJ_MAPPING_MOST_DIGITS && (int)MOST_SLOT_DIGITS <= (int)TJ_MAPPING_MOST_DIGITS,
               "a side has room for all digits of a tile");

/* --- turns --- */

static uint32_t first_shared_digit(const tj_lane_grid *grid) {
  uint32_t first = 0;
  while (first < grid->count && grid->digit[first].lanes == 1)
    first++;
  return first;
}

/* The part of a phase in which a digit has neighbours, and how many units of `across` fill the phase. */
typedef struct {
  uint32_t digit; /* TOGETHER: all before `across` as one; NONE: no digits take turns */
  int64_t lanes, columns;
} lane_turn;

static int64_t lanes_of(const sharing *s, uint32_t digit) {
  int64_t lanes = 1;
  if (digit != TOGETHER)
    return s->grid.digit[digit].lanes;
  for (uint32_t i = 0; i < s->across; i++)
    lanes *= s->grid.digit[i].lanes;
  return lanes;
}

static lane_turn turn_of(const sharing *s, uint32_t digit) {
  int64_t lanes = s->grid.phase;
  while (lanes_of(s, digit) % lanes != 0)
    lanes /= 2;
  return (lane_turn){digit, lanes, s->grid.phase / lanes};
}

static bool is_possible(const sharing *s, lane_turn turn) {
  return turn.lanes >= s->shape->turn && turn.columns > 1 && lanes_of(s, s->across) % turn.columns == 0;
}

/* Whether two digits take turns by parts of phases. Where runs end in the middle of a phase, its lanes would have
 * units of two neighbouring columns anyhow, and in most such phases the same rows of both: that no layout in LDS can
 * serve. Where a shape has turns of less than half a phase, runs may be of more than the first digit, too. */
static lane_turn find_turn(const sharing *s) {
  uint32_t first = first_shared_digit(&s->grid);
  lane_turn none = {NONE, 1, 1};
  if (s->depth == 1 || first >= s->across)
    return none;
  lane_turn alone = turn_of(s, first), together = turn_of(s, TOGETHER);
  bool may_be_short = s->shape->turn < s->grid.phase / 2;
  if (alone.columns == 1 || is_possible(s, alone))
    return alone.columns > 1 ? alone : none;
  return may_be_short && is_possible(s, together) ? together : none;
}

/* Work-items by their number: first those of a phase, then the rest. */
static uint32_t list_parts(const sharing *s, lane_turn turn, lane_part part[]) {
  uint32_t count = 0, begin = turn.digit == TOGETHER ? s->across : 0;
  if (turn.digit != NONE) {
    part[count++] = (lane_part){turn.digit, turn.lanes, 1};
    part[count++] = (lane_part){s->across, turn.columns, 1};
  }
  if (turn.digit == TOGETHER)
    part[count++] = (lane_part){TOGETHER, lanes_of(s, TOGETHER) / turn.lanes, turn.lanes};
  for (uint32_t i = begin; i < s->grid.count; i++) {
    int64_t done = i == turn.digit ? turn.lanes : i == s->across ? turn.columns : 1;
    part[count++] = (lane_part){i, s->grid.digit[i].lanes / done, done};
  }
  return count;
}

/* --- layouts --- */

static void add_step(const sharing *s, tj_mapping_digits *digits, int64_t extent, uint32_t digit, int64_t step) {
  tj_mapping_add_digit(digits, extent, step, s->digits.mode[digit]);
}

static tj_mapping_digits items_of(const sharing *s, lane_turn turn) {
  lane_part part[MOST_PARTS];
  tj_mapping_digits list = {.count = 0};
  uint32_t count = list_parts(s, turn.digit == TOGETHER ? (lane_turn){NONE, 1, 1} : turn, part);
  for (uint32_t i = 0; i < count; i++)
    add_step(s, &list, part[i].count, part[i].digit, part[i].scale * s->digits.scale[part[i].digit]);
  return list;
}

/* Where digits that take turns are one: the numbers of work-items to those of items in the order of all digits. */
static const tj_value *numbers_of(const sharing *s, lane_turn turn) {
  tj_graph *graph = s->graph;
  lane_part part[MOST_PARTS];
  tj_mapping_digits list = {.count = 0};
  int64_t before[TOGETHER + 1], lanes = 1;
  if (turn.digit != TOGETHER)
    return NULL;
  for (uint32_t i = 0; i < s->grid.count; i++) {
    before[i] = lanes;
    lanes *= s->grid.digit[i].lanes;
  }
  before[TOGETHER] = 1;
  uint32_t count = list_parts(s, turn, part);
  for (uint32_t i = 0; i < count; i++)
    tj_mapping_add_digit(&list, part[i].count, before[part[i].digit] * part[i].scale, TJ_MAPPING_INDEX);
  return tj_value_of_layout(graph, tj_mapping_mode_of_digits(graph, &list));
}

/* Slots: within a block, then the blocks digit by digit, for stores by pass. */
static tj_mapping_digits slots_of(const sharing *s, tj_side_name side) {
  tj_mapping_digits list = {.count = 0};
  if (s->width > 1)
    add_step(s, &list, s->width, s->along, 1);
  if (s->depth > 1)
    add_step(s, &list, s->depth, s->across, 1);
  for (uint32_t i = 0; i < s->digits.digits; i++)
    add_step(s, &list, s->grid.digit[i].slots, i, s->grid.digit[i].lanes * s->digits.scale[i]);
  for (uint32_t i = 0; i < s->digits.digits && side == TJ_DESTINATION; i++) {
    if (s->digits.mode[i] == s->shape->split)
      add_step(s, &list, s->shape->passes, i, s->grid.digit[i].count * s->digits.scale[i]);
  }
  return list;
}

/* --- sides --- */

static sharing begin_sharing(tj_graph *graph, const tj_shape_problem *problem, const tj_tile_shape *shape,
                             tj_side_name side) {
  sharing s = {graph, problem, shape, .digits = tj_shape_digits_of(problem, shape, side), .width = 1, .depth = 1};
  tj_lane_grid_make(s.digits.count, s.digits.digits, shape->work_items, problem->lds_phase, &s.grid);
  s.along = s.across = UINT32_MAX;
  for (uint32_t i = 0; i < s.digits.digits; i++) {
    if (s.digits.mode[i] == problem->order[side][0]) {
      s.along = i;
      s.width = s.digits.scale[i];
    } else if (s.digits.scale[i] > 1) {
      s.across = i;
      s.depth = s.digits.scale[i];
    }
  }
  return s;
}

static tj_mapping_side side_of(const sharing *s, tj_side_name side, const tj_value *as) {
  lane_turn turn = find_turn(s);
  tj_mapping_digits items = items_of(s, turn), slots = slots_of(s, side);
  return tj_mapping_side_of_digits(s->graph, &items, &slots, turn.digit == TOGETHER ? numbers_of(s, turn) : as);
}

/* --- tiles --- */

tj_mapping *tj_mapping_of_shape(tj_graph *graph, const tj_shape_problem *problem, const tj_tile_shape *shape,
                                const tj_layout *domain, const tj_value *store_as) {
  sharing load = begin_sharing(graph, problem, shape, TJ_SOURCE),
          store = begin_sharing(graph, problem, shape, TJ_DESTINATION);
  int64_t *room = TJ_NEW_ARRAY(graph->job, int64_t, problem->count),
          *overlap = TJ_NEW_ARRAY(graph->job, int64_t, problem->count);
  for (uint32_t m = 0; m < problem->count; m++) {
    room[m] = tj_shape_room(shape, m);
    overlap[m] = room[m] > shape->extent[m] ? shape->unit[m] : room[m];
  }
  tj_mapping *mapping = tj_mapping_of_tile(graph, domain, tj_tuple_constants(graph, room, problem->count));
  mapping->passes = (uint32_t)shape->passes;
  mapping->overlap = overlap;
  mapping->store = side_of(&store, TJ_DESTINATION, store_as);
  mapping->load = shape->is_staged ? side_of(&load, TJ_SOURCE, NULL) : mapping->store;
  return mapping;
}
