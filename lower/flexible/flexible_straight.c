/* SPDX-License-Identifier: MIT */
/* Flexible tiles that stay in registers: both sides have neighbours along the same mode.
 *
 * The tile is a box: vectors along the common first mode, and coordinates of the next mode of either side, so that
 * work-items that follow each other find long runs on both sides however short the first mode is. Each of the modes
 * is shared out between work-items and their slots, which the launch does so that little of a tile is empty. */
#include "lower/flexible/flexible_straight.h"
#include "ir/layout/arith.h"
#include "lower/access/cost.h"
#include "lower/kernel/arithmetic.h"

enum { LONG_RUN = 64, SHORT_RUN = 16, LINE_RUN = 8, LANES = 64 };

enum { AXES = TJ_STRAIGHT_AXES, FIRST_AXES = TJ_STRAIGHT_FIRST_AXES };

typedef tj_straight straight;
typedef tj_straight_axis axis;

static const tj_node *int_of(const straight *s, int64_t value) {
  return tj_straight_int(s, value);
}

/* --- the shape of the box --- */

static const tj_node *share_of(const straight *s, const axis *a, const tj_node *taken, int64_t of) {
  const tj_node *left = tj_flexible_at_least(s->graph, tj_terse_div(s->graph, int_of(s, of), taken), 1);
  return tj_flexible_balanced(s->graph, a->all, left);
}

/* What is left of the work-items goes along the axes from `first` on, wherever there is room. */
static void share_rest(const straight *s, const tj_node *items[AXES], const tj_node *taken, unsigned first) {
  for (unsigned i = first; i < AXES; i++) {
    items[i] = share_of(s, &s->axis[i], taken, TJ_FLEXIBLE_ITEMS);
    taken = tj_terse_mul(s->graph, taken, items[i]);
  }
}

/* Vectors first; short runs are continued along the source's next mode, then along the destination's. */
static void share_for_runs(const straight *s, const tj_node *items[AXES]) {
  tj_graph *graph = s->graph;
  const axis *c = &s->axis[1], *d = &s->axis[2];
  items[1] = share_of(s, c, items[0], SHORT_RUN);
  items[2] = share_of(s, d, tj_terse_mul(graph, items[0], items[1]), TJ_FLEXIBLE_ITEMS);
  const tj_node *stored = tj_terse_mul(graph, items[0], items[2]);
  items[1] = share_of(s, c, stored, TJ_FLEXIBLE_ITEMS);
  share_rest(s, items, tj_terse_mul(graph, stored, items[1]), FIRST_AXES);
}

/* As many times the items of an axis that divide it as those that are taken otherwise leave. */
static const tj_node *with_rest(const straight *s, const axis *a, const tj_node *items, const tj_node *taken) {
  tj_graph *graph = s->graph;
  const tj_node *left = tj_terse_div(graph, int_of(s, TJ_FLEXIBLE_ITEMS), tj_terse_mul(graph, taken, items));
  const tj_node *all = tj_flexible_parts(graph, a->all, items);
  return tj_terse_mul(graph, items, tj_flexible_balanced(graph, all, tj_flexible_at_least(graph, left, 1)));
}

/* Where runs are made of whole cache lines, one on either side is enough, and a wave has both. */
static void share_for_lines(const straight *s, const tj_node *items[AXES]) {
  tj_graph *graph = s->graph;
  const tj_node *first = items[0];
  for (unsigned side = 0; side < TJ_FLEXIBLE_SIDES; side++)
    items[1 + side] = share_of(s, &s->axis[1 + side], first, LINE_RUN);
  share_rest(s, items, tj_terse_mul(graph, tj_terse_mul(graph, first, items[1]), items[2]), FIRST_AXES);
  for (unsigned i = FIRST_AXES; i < AXES; i++)
    first = tj_terse_mul(graph, first, items[i]);
  items[2] = with_rest(s, &s->axis[2], items[2], tj_terse_mul(graph, first, items[1]));
  items[1] = with_rest(s, &s->axis[1], items[1], tj_terse_mul(graph, first, items[2]));
}

const tj_node *tj_straight_lines(const straight *s, const tj_node *first, const tj_node *loaded,
                                 const tj_node *stored) {
  const tj_flexible *f = s->f;
  const tj_node *elements = tj_terse_mul(s->graph, first, int_of(s, s->width));
  tj_flexible_run from = tj_flexible_run_along(f, TJ_FLEXIBLE_SOURCE, s->axis[0].mode, elements),
                  to = tj_flexible_run_along(f, TJ_FLEXIBLE_DESTINATION, s->axis[0].mode, elements);
  from = tj_flexible_run_on(f, from, s->axis[1].mode, loaded);
  to = tj_flexible_run_on(f, to, s->axis[2].mode, stored);
  return tj_terse_add(s->graph, tj_flexible_lines(f, &from, LANES), tj_flexible_lines(f, &to, LANES));
}

/* Work-items side by side are neighbours of the source first: where they take its next mode, a wave has only so many
 * whole rows of the destination's. */
static const tj_node *lines_of(const straight *s, const tj_node *const items[AXES]) {
  tj_graph *graph = s->graph;
  const tj_node *row = tj_terse_mul(graph, items[0], items[1]), *is_alone = tj_equal(graph, items[1], int_of(s, 1));
  const tj_node *left = tj_flexible_at_least(graph, tj_terse_div(graph, int_of(s, LANES), row), 1);
  const tj_node *stored = tj_flexible_choice(graph, is_alone, items[2], tj_min(graph, left, items[2]));
  return tj_straight_lines(s, items[0], items[1], stored);
}

/* What all tiles that have so many units of an axis move along it: launch. */
static const tj_node *moved_along(const straight *s, const axis *a, const tj_node *part) {
  enum { MANY = 1 << 13 };
  const tj_node *all = tj_flexible_at_most(s->graph, a->all, MANY);
  return tj_terse_mul(s->graph, tj_flexible_parts(s->graph, all, part), part);
}

const tj_node *tj_straight_cost(const straight *s, const tj_node *const part[TJ_STRAIGHT_NEXT_AXES],
                                const tj_node *lines) {
  const tj_node *cost = lines;
  for (unsigned i = 0; i < TJ_STRAIGHT_NEXT_AXES; i++)
    cost = tj_terse_mul(s->graph, cost, moved_along(s, &s->axis[1 + i], part[i]));
  return cost;
}

/* Shares that make lines, where they touch none in vain, or cost clearly less than long runs do. */
static void share_items(straight *s) {
  const tj_node *runs[AXES], *lines[AXES];
  runs[0] = lines[0] = tj_flexible_balanced(s->graph, s->axis[0].all, int_of(s, LONG_RUN));
  share_for_runs(s, runs);
  share_for_lines(s, lines);
  const tj_node *of_runs = lines_of(s, runs), *of_lines = lines_of(s, lines);
  const tj_node *is_least = tj_less_equal(s->graph, of_lines, int_of(s, 2 * TJ_FLEXIBLE_LINE_PARTS));
  const tj_node *cost = tj_straight_cost(s, lines + 1, of_lines);
  cost = tj_add(s->graph, cost, tj_div(s->graph, cost, int_of(s, TJ_GAIN_OF_LINED_SHARES)));
  const tj_node *is_less = tj_less_equal(s->graph, cost, tj_straight_cost(s, runs + 1, of_runs));
  const tj_node *truth = tj_or(s->graph, is_least, is_less);
  s->lines = tj_flexible_choice(s->graph, truth, of_lines, of_runs);
  for (unsigned i = 0; i < AXES; i++)
    s->axis[i].items = tj_flexible_choice(s->graph, truth, lines[i], runs[i]);
}

/* What is moved along an axis with 2^log slots. */
static const tj_node *cost_of(const straight *s, const axis *a, unsigned log) {
  const tj_node *slots = int_of(s, 1 << log);
  return a->mode == NULL ? slots : moved_along(s, a, tj_terse_mul(s->graph, a->items, slots));
}

static bool is_way(const straight *s, const unsigned logs[AXES]) {
  unsigned sum = 0;
  for (unsigned i = 0; i < AXES; i++) {
    sum += logs[i];
    if (s->axis[i].mode == NULL && logs[i] > 0)
      return false;
  }
  return sum == TJ_STRAIGHT_LOG_SLOTS;
}

/* The cheapest way to share out the slots, and of those the one with most along the last axes. */
static void share_slots(straight *s) {
  tj_graph *graph = s->graph;
  axis *axes = s->axis;
  const tj_node *best = NULL;
  for (unsigned i = 0; i < AXES; i++)
    axes[i].log = int_of(s, 0);
  for (unsigned way = 0; way < 1u << 2 * AXES; way++) {
    unsigned logs[AXES];
    for (unsigned i = 0; i < AXES; i++)
      logs[i] = way >> 2 * i & 3;
    if (!is_way(s, logs))
      continue;
    const tj_node *cost = int_of(s, 1);
    for (unsigned i = 0; i < AXES; i++)
      cost = tj_terse_mul(graph, cost, cost_of(s, &axes[i], logs[i]));
    const tj_node *is_less = best == NULL ? int_of(s, 1) : tj_less(graph, cost, best);
    for (unsigned i = 0; i < AXES; i++)
      axes[i].log = tj_flexible_choice(graph, is_less, int_of(s, logs[i]), axes[i].log);
    best = best == NULL ? cost : tj_min(graph, best, cost);
  }
}

static void set_axis(straight *s, uint32_t number, uint32_t mode, int64_t unit) {
  axis *a = &s->axis[number];
  a->number = mode;
  a->mode = mode != TJ_FLEXIBLE_NONE ? &s->f->mode[mode] : NULL;
  a->unit = unit;
  a->all = a->mode != NULL ? tj_flexible_parts(s->graph, a->mode->extent.launch, int_of(s, unit)) : int_of(s, 1);
}

/* --- the mapping --- */

const tj_node *tj_straight_slots_along(const straight *s, const axis *a) {
  return tj_flexible_slots(s->f, a->number, tj_flexible_power(s->graph, a->log), a->log, TJ_STRAIGHT_SLOTS);
}

static bool is_alone(const straight *s) {
  return s->axis[1].mode == NULL;
}

/* Work-items first along the first axis; slots first along the last one. */
static void make_mapping(straight *s) {
  tj_flexible *f = s->f;
  tj_graph *graph = s->graph;
  const tj_node *items[AXES];
  tj_leaves side[2] = {{.count = 0}, {.count = 0}};
  tj_flexible_put_vector(f, &side[1], TJ_FLEXIBLE_SOURCE);
  for (unsigned i = 0; i < AXES; i++) {
    const axis *a = &s->axis[i];
    items[i] = tj_flexible_items(f, a->number, a->items, TJ_FLEXIBLE_ITEMS);
    tj_flexible_put(f, &side[0], items[i], a->number, int_of(s, a->unit));
  }
  for (unsigned i = AXES; i-- > 0;) {
    const axis *a = &s->axis[i];
    const tj_node *slots = is_alone(s) && i == 0 ? int_of(s, TJ_STRAIGHT_SLOTS) : tj_straight_slots_along(s, a);
    tj_flexible_put(f, &side[1], slots, a->number, tj_terse_mul(graph, items[i], int_of(s, a->unit)));
  }
  tj_flexible_set_mapping(f, side, side);
}

void tj_straight_set_lengths(straight *s) {
  tj_graph *graph = s->graph;
  tj_flexible_need(s->f, s->f->first_loaded, s->width);
  for (unsigned i = 0; i < AXES; i++) {
    axis *a = &s->axis[i];
    const tj_node *units = tj_terse_mul(graph, a->items, int_of(s, a->unit));
    if (a->mode != NULL)
      a->mode->length =
          tj_min(graph, a->mode->extent.launch, tj_terse_mul(graph, units, tj_flexible_power(s->graph, a->log)));
  }
}

straight *tj_straight_share(tj_flexible *f) {
  uint32_t source = tj_element_bytes(f->kernel, f->source), destination = tj_element_bytes(f->kernel, f->destination);
  straight *s = TJ_NEW(f->graph->job, straight);
  *s = (straight){.f = f, .graph = f->graph};
  if (f->given == NULL)
    f->width[TJ_FLEXIBLE_SOURCE] = f->target->vector_bytes / (source > destination ? source : destination);
  s->width = f->width[TJ_FLEXIBLE_DESTINATION] = f->width[TJ_FLEXIBLE_SOURCE];
  const uint32_t modes[AXES] = {f->first_loaded, f->next_loaded, f->next_stored,
                                f->other[0],     f->other[1],    f->other[2]};
  for (unsigned i = 0; i < AXES; i++)
    set_axis(s, i, modes[i], i == 0 ? s->width : 1);
  share_items(s);
  share_slots(s);
  return s;
}

void *tj_flexible_straight_shape(tj_flexible *f) {
  straight *s = tj_straight_share(f);
  tj_straight_set_lengths(s);
  make_mapping(s);
  tj_set_source_slots(f->graph, f->kernel, (uint32_t)(TJ_STRAIGHT_SLOTS * s->width));
  tj_flexible_place_tiles(f);
  return s;
}

void tj_flexible_straight_steps(void *shape) {
  tj_flexible *f = ((straight *)shape)->f;
  for (uint32_t side = 0; side < TJ_FLEXIBLE_SIDES; side++) {
    tj_flexible_hold hold = tj_flexible_split_items(f, side);
    tj_flexible_move_some(&hold, 0, TJ_STRAIGHT_SLOTS, 0);
  }
}
