/* SPDX-License-Identifier: MIT */
/* Slots: which digits of the tile a work-item has in each.
 *
 * Along a mode with units, the tile has room for whole units. The elements of the last one are the last of the mode,
 * and some of them are in the unit before, too. */
#include "lower/mapping/tile_share.h"

#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"

#include <string.h>

typedef struct {
  tj_graph *graph;
  const tj_shape_problem *problem;
  const tj_tile_shape *shape;
  tj_shape_digits digits;
  tj_lane_grid grid;
  const tj_node *lane[TJ_GRID_MOST_DIGITS]; /* the work-item's part of each digit */
  uint32_t along, across;                   /* the digits of the side's first mode, and of the other with units */
  int64_t width, depth;                     /* of a block: along that mode, and along the other one with units */
  uint32_t passes;                          /* whose slots come one after the other */
  uint32_t slots;
  bool is_masked;            /* no element is twice in the tile's slots */
  const tj_node *takes_part; /* whether the work-item does */
} sharing;

/* A part of a digit: `count` values that each move `scale`. */
typedef struct {
  uint32_t digit;
  int64_t count, scale;
} lane_part;

enum { TOGETHER = TJ_GRID_MOST_DIGITS, NONE, MOST_PARTS = TJ_GRID_MOST_DIGITS + 3 };

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

/* The work-item's part of the last digit. Those that take no part are beyond it; where passes have to
 * be told apart, they are not. */
static const tj_node *last_lane(const sharing *s, const tj_node *item, int64_t lanes) {
  bool is_within = s->passes == 1 || s->grid.lanes == s->shape->work_items;
  return is_within ? item : tj_min(s->graph, item, tj_int(s->graph, lanes - 1));
}

/* Digits that are one to those that take turns. */
static void split_together(sharing *s, const tj_node *together) {
  for (uint32_t i = 0; i < s->across; i++) {
    const tj_node *size = tj_int(s->graph, s->grid.digit[i].lanes);
    s->lane[i] = i + 1 < s->across ? tj_mod(s->graph, together, size) : together;
    together = tj_div(s->graph, together, size);
  }
}

static void make_lanes(sharing *s, const tj_node *item) {
  tj_graph *graph = s->graph;
  const tj_node *lane[TOGETHER + 1];
  lane_part part[MOST_PARTS];
  lane_turn turn = find_turn(s);
  uint32_t count = list_parts(s, turn, part), last = 0;
  for (uint32_t i = 0; i <= TOGETHER; i++)
    lane[i] = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++)
    last = part[i].count > 1 ? i : last;
  for (uint32_t i = 0; i <= last; i++) {
    const tj_node *size = tj_int(graph, part[i].count);
    const tj_node *value = i < last ? tj_mod(graph, item, size) : last_lane(s, item, part[i].count);
    lane[part[i].digit] = tj_add(graph, lane[part[i].digit], tj_mul(graph, value, tj_int(graph, part[i].scale)));
    item = i < last ? tj_div(graph, item, size) : item;
  }
  memcpy(s->lane, lane, sizeof s->lane);
  if (turn.digit == TOGETHER)
    split_together(s, lane[TOGETHER]);
}

static sharing begin_sharing(tj_graph *graph, const tj_shape_problem *problem, const tj_tile_shape *shape,
                             tj_side_name side, const tj_node *item) {
  sharing s = {graph, problem, shape, .digits = tj_shape_digits_of(problem, shape, side), .width = 1, .depth = 1};
  s.grid = tj_lane_grid_make(s.digits.count, s.digits.digits, shape->work_items, problem->lds_phase);
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
  s.passes = side == TJ_DESTINATION ? (uint32_t)shape->passes : 1;
  s.slots = (uint32_t)(s.grid.slots * s.width * s.depth) * s.passes;
  make_lanes(&s, item);
  s.is_masked = shape->is_staged && side == TJ_SOURCE;
  s.takes_part =
      s.grid.lanes == shape->work_items ? tj_int(graph, 1) : tj_less(graph, item, tj_int(graph, s.grid.lanes));
  return s;
}

/* Element `within` of the unit `index` of a digit: where it is in the room that the tile has along the mode. */
static const tj_node *room_digit(const sharing *s, uint32_t digit, const tj_node *index, int64_t within) {
  tj_graph *graph = s->graph;
  return tj_add(graph, tj_mul(graph, index, tj_int(graph, s->digits.scale[digit])), tj_int(graph, within));
}

/* Which element of the tile it is: units beyond the last whole one begin earlier. */
static const tj_node *tile_digit(const sharing *s, uint32_t digit, const tj_node *index, int64_t within) {
  tj_graph *graph = s->graph;
  uint32_t mode = s->digits.mode[digit];
  int64_t extent = s->shape->extent[mode], size = s->shape->unit[mode];
  const tj_node *at = room_digit(s, digit, index, within), *unit = tj_int(graph, size);
  if (extent % size == 0)
    return at;
  bool is_unit = s->digits.scale[digit] == size;
  const tj_node *first = is_unit ? tj_mul(graph, index, unit) : tj_mul(graph, tj_div(graph, at, unit), unit);
  const tj_node *rest = is_unit ? tj_int(graph, within) : tj_mod(graph, at, unit);
  return tj_add(graph, tj_min(graph, first, tj_int(graph, extent - size)), rest);
}

/* The unit of a digit in which the work-item has its slot: the last slots begin earlier, or are not all there. */
static const tj_node *unit_at(const sharing *s, uint32_t digit, int64_t slot, int64_t pass) {
  const tj_grid_digit *d = &s->grid.digit[digit];
  int64_t start = s->is_masked ? slot * d->lanes : tj_grid_digit_start(d, slot);
  start += s->digits.mode[digit] == s->shape->split ? pass * d->count : 0;
  return tj_add(s->graph, s->lane[digit], tj_int(s->graph, start));
}

/* Whether there is such a unit. */
static const tj_node *is_there(const sharing *s, uint32_t digit, int64_t slot, const tj_node *unit) {
  const tj_grid_digit *d = &s->grid.digit[digit];
  bool is_whole = !s->is_masked || (slot + 1) * d->lanes <= d->count;
  return is_whole ? tj_int(s->graph, 1) : tj_less(s->graph, unit, tj_int(s->graph, d->count));
}

typedef struct {
  const tj_node **digit, **place;
  const tj_node *active;
} slot_digits;

static slot_digits digits_of(const sharing *s, uint32_t slot) {
  tj_graph *graph = s->graph;
  uint32_t modes = s->problem->count;
  slot_digits d = {TJ_NEW_ARRAY(graph->job, const tj_node *, modes + 1),
                   TJ_NEW_ARRAY(graph->job, const tj_node *, modes + 1), s->takes_part};
  uint32_t of_pass = s->slots / s->passes;
  int64_t block = slot % of_pass / (s->width * s->depth), j = slot % s->width, k = slot / s->width % s->depth;
  for (uint32_t m = 0; m < modes; m++)
    d.digit[m] = d.place[m] = tj_int(graph, 0);
  for (uint32_t i = 0; i < s->digits.digits; i++) {
    int64_t at = block % s->grid.digit[i].slots, within = i == s->along ? j : s->digits.scale[i] > 1 ? k : 0;
    const tj_node *index = unit_at(s, i, at, slot / of_pass);
    block /= s->grid.digit[i].slots;
    d.digit[s->digits.mode[i]] = tile_digit(s, i, index, within);
    d.place[s->digits.mode[i]] = room_digit(s, i, index, within);
    d.active = tj_and(graph, d.active, is_there(s, i, at, index));
  }
  return d;
}

/* Slots by the block, then along the second mode, then along the first; or, with the last two changed. */
static const uint32_t *slot_order(const sharing *s, bool is_turned) {
  uint32_t *order = TJ_NEW_ARRAY(s->graph->job, uint32_t, s->slots + 1);
  uint32_t width = (uint32_t)s->width, depth = (uint32_t)s->depth, volume = width * depth;
  for (uint32_t i = 0; i < s->slots; i++) {
    uint32_t within = i % volume;
    order[i] = is_turned ? i - within + within % depth * width + within / depth : i;
  }
  return order;
}

tj_tile_side tj_share_tile(tj_graph *graph, const tj_shape_problem *problem, const tj_tile_shape *shape,
                           tj_side_name side, const tj_node *item) {
  sharing s = begin_sharing(graph, problem, shape, side, item);
  const tj_node *const **digit = TJ_NEW_ARRAY(graph->job, const tj_node *const *, s.slots);
  const tj_node *const **place = TJ_NEW_ARRAY(graph->job, const tj_node *const *, s.slots);
  const tj_node **active = TJ_NEW_ARRAY(graph->job, const tj_node *, s.slots);
  const uint32_t **orders = TJ_NEW_ARRAY(graph->job, const uint32_t *, 2);
  for (uint32_t slot = 0; slot < s.slots; slot++) {
    slot_digits d = digits_of(&s, slot);
    digit[slot] = d.digit;
    place[slot] = d.place;
    active[slot] = d.active;
  }
  tj_simplify(graph, active, s.slots, NULL);
  orders[0] = slot_order(&s, false);
  orders[1] = slot_order(&s, true);
  return (tj_tile_side){s.slots, digit, place, active, orders, s.depth > 1 ? 2 : 1};
}
