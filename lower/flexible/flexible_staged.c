/* SPDX-License-Identifier: MIT */
/* Flexible tiles whose vectors go through LDS whole: both sides have neighbours along the same first mode, and go on
 * along different ones.
 *
 * The tile is a box: all of the first mode, groups of coordinates of the source's next mode, and as many at least of
 * the destination's. Work-items side by side load along the source's next mode, a group of the destination's each,
 * and store along the destination's, a group of the source's each. Groups are of four or eight; of four, a work-item
 * has two, side by side along another mode. The launch chooses that, and how many groups there are.
 *
 * In LDS, each of the vectors that a work-item stores is in a plane of its own, where its number says: so those that
 * take vectors there find neighbours. Those that put them there go along the planes; each of a group is turned by
 * what the first mode has more than the one before it, so that neighbours are at different banks. */
#include "ir/layout/arith.h"
#include "lower/access/cost.h"
#include "lower/flexible/flexible_straight.h"
#include "lower/kernel/arithmetic.h"
#include "lower/tile/lds_transit.h"

enum { SLOTS = TJ_STRAIGHT_SLOTS, PLANE = TJ_FLEXIBLE_ITEMS };

/* More than any tile costs. */
static const int64_t never = (int64_t)1 << 60;

/* Items along the next modes of either side, and slots of a group, as the launch has them. */
typedef struct {
  const tj_node *loaded, *stored, *log;
  const tj_node *lines, *cost; /* that its runs touch; all tiles */
} way;

typedef struct {
  tj_straight *s;
  tj_straight_axis *first, *loaded, *stored, *other;           /* of the tile */
  const tj_node *slots;                                        /* launch: of a group */
  const tj_tuple *of_first, *of_group, *of_loaded, *of_stored; /* what of the loading items is in which mode */
} staged;

static const tj_node *int_of(const staged *t, int64_t value) {
  return tj_straight_int(t->s, value);
}

/* --- the shape of the box --- */

/* As many of all as there is room for besides those that are taken. */
static const tj_node *balanced_in(const staged *t, const tj_node *all, const tj_node *room, const tj_node *taken) {
  tj_graph *graph = t->s->graph;
  return tj_flexible_balanced(graph, all, tj_flexible_at_least(graph, tj_terse_div(graph, room, taken), 1));
}

/* The tile with about `wanted` groups along the source's next mode. */
static way way_of(const staged *t, unsigned log, int64_t wanted) {
  tj_graph *graph = t->s->graph;
  const tj_node *slots = int_of(t, 1 << log), *one = int_of(t, 1), *first = t->first->all;
  const tj_node *room = tj_terse_div(graph, int_of(t, PLANE), tj_terse_mul(graph, first, slots));
  const tj_node *some = tj_flexible_at_least(graph, room, 1);
  way w = {.log = int_of(t, log)};
  const tj_node *loaded = tj_flexible_parts(graph, t->loaded->all, slots);
  const tj_node *stored = tj_flexible_parts(graph, t->stored->all, slots);
  w.stored =
      balanced_in(t, stored, some, tj_flexible_balanced(graph, loaded, tj_flexible_at_most(graph, some, wanted)));
  w.loaded = balanced_in(t, loaded, some, w.stored);
  const tj_node *part[TJ_STRAIGHT_NEXT_AXES] = {tj_terse_mul(graph, slots, w.loaded),
                                                tj_terse_mul(graph, slots, w.stored), int_of(t, SLOTS >> log)};
  w.lines = tj_straight_lines(t->s, first, part[0], part[1]);
  const tj_node *is_possible = tj_less_equal(graph, one, room);
  if (1 << log < SLOTS)
    is_possible =
        tj_terse_both(graph, is_possible, tj_equal(graph, tj_terse_mod(graph, first, int_of(t, 2)), int_of(t, 0)));
  w.cost = tj_flexible_choice(graph, is_possible, tj_straight_cost(t->s, part, w.lines), int_of(t, never));
  return w;
}

static way cheaper_way(const staged *t, way first, way second) {
  tj_graph *graph = t->s->graph;
  const tj_node *is_less = tj_less(graph, second.cost, first.cost);
  return (way){tj_flexible_choice(graph, is_less, second.loaded, first.loaded),
               tj_flexible_choice(graph, is_less, second.stored, first.stored),
               tj_flexible_choice(graph, is_less, second.log, first.log),
               tj_flexible_choice(graph, is_less, second.lines, first.lines), tj_min(graph, first.cost, second.cost)};
}

static way best_way(const staged *t) {
  enum { MOST_GROUPS = 4 };
  unsigned log = TJ_STRAIGHT_LOG_SLOTS, least_log = t->other->mode != NULL ? log - 1 : log;
  way best = way_of(t, log, 1);
  for (int64_t groups = 2; log >= least_log; log--, groups = 1) {
    for (; groups <= MOST_GROUPS; groups++)
      best = cheaper_way(t, best, way_of(t, log, groups));
  }
  return best;
}

/* The tile that stays in registers. */
static way way_in_registers(const staged *t) {
  const tj_node *part[TJ_STRAIGHT_NEXT_AXES];
  for (unsigned i = 0; i < TJ_STRAIGHT_NEXT_AXES; i++) {
    const tj_straight_axis *a = &t->s->axis[1 + i];
    part[i] = tj_terse_mul(t->s->graph, a->items, tj_flexible_power(t->s->graph, a->log));
  }
  return (way){.lines = t->s->lines, .cost = tj_straight_cost(t->s, part, t->s->lines)};
}

/* What is given only has to be possible. Otherwise LDS is for saving lines that instructions touch, if tiles do not
 * move much more for it. */
static void demand_way(const staged *t, const way *best) {
  tj_graph *graph = t->s->graph;
  tj_flexible_demand(t->s->f, tj_less(graph, best->cost, int_of(t, never)));
  if (t->s->f->given != NULL)
    return;
  way other = way_in_registers(t);
  const tj_node *lines = tj_add(graph, best->lines, tj_div(graph, best->lines, int_of(t, TJ_GAIN_OF_STAGED_LINES)));
  const tj_node *cost = tj_sub(graph, best->cost, tj_div(graph, best->cost, int_of(t, TJ_LOSS_OF_STAGED_TILES)));
  tj_flexible_demand(t->s->f,
                     tj_terse_both(graph, tj_less(graph, lines, other.lines), tj_less(graph, cost, other.cost)));
}

static void choose_shape(staged *t) {
  tj_graph *graph = t->s->graph;
  way best = best_way(t);
  demand_way(t, &best);
  for (unsigned i = 0; i < TJ_STRAIGHT_AXES; i++) {
    t->s->axis[i].items = int_of(t, 1);
    t->s->axis[i].log = int_of(t, 0);
  }
  t->first->items = t->first->all;
  t->loaded->items = best.loaded;
  t->stored->items = best.stored;
  t->loaded->log = t->stored->log = best.log;
  t->other->log = tj_terse_sub(graph, int_of(t, TJ_STRAIGHT_LOG_SLOTS), best.log);
  t->slots = tj_flexible_power(t->s->graph, best.log);
  tj_straight_set_lengths(t->s);
}

/* --- the mapping --- */

static void make_mapping(staged *t) {
  tj_flexible *f = t->s->f;
  tj_leaves load[2] = {{.count = 0}, {.count = 0}}, store[2] = {{.count = 0}, {.count = 0}};
  const tj_node *one = int_of(t, 1), *width = int_of(t, t->s->width);
  const tj_node *first = tj_flexible_items(f, t->first->number, t->first->items, PLANE);
  const tj_node *loaded = tj_flexible_items(f, t->loaded->number, t->loaded->items, PLANE);
  const tj_node *stored = tj_flexible_items(f, t->stored->number, t->stored->items, PLANE);
  const tj_node *group = tj_straight_slots_along(t->s, t->loaded), *others = tj_straight_slots_along(t->s, t->stored);
  const tj_node *aside = tj_straight_slots_along(t->s, t->other);
  t->of_first = tj_flexible_put(f, &load[0], first, t->first->number, width);
  t->of_group = tj_flexible_put(f, &load[0], group, t->loaded->number, one);
  t->of_loaded = tj_flexible_put(f, &load[0], loaded, t->loaded->number, group);
  t->of_stored = tj_flexible_put(f, &load[0], stored, t->stored->number, one);
  tj_flexible_put_vector(f, &load[1], TJ_FLEXIBLE_SOURCE);
  tj_flexible_put(f, &load[1], others, t->stored->number, stored);
  tj_flexible_put(f, &load[1], aside, t->other->number, one);
  tj_flexible_put(f, &store[0], first, t->first->number, width);
  tj_flexible_put(f, &store[0], stored, t->stored->number, one);
  tj_flexible_put(f, &store[0], others, t->stored->number, stored);
  tj_flexible_put(f, &store[0], loaded, t->loaded->number, group);
  tj_flexible_put_vector(f, &store[1], TJ_FLEXIBLE_DESTINATION);
  tj_flexible_put(f, &store[1], group, t->loaded->number, one);
  tj_flexible_put(f, &store[1], aside, t->other->number, one);
  f->stored_as = tj_staging_order(f->graph, f->target);
  tj_flexible_set_mapping(f, load, store);
}

void *tj_flexible_staged_shape(tj_flexible *f) {
  tj_straight *s = tj_straight_share(f);
  staged *t = TJ_NEW(f->graph->job, staged);
  s->axis[0].all = tj_flexible_at_most(f->graph, s->axis[0].all, PLANE + 1);
  *t = (staged){.s = s, .first = &s->axis[0], .loaded = &s->axis[1], .stored = &s->axis[2], .other = &s->axis[3]};
  choose_shape(t);
  make_mapping(t);
  tj_set_source_slots(f->graph, f->kernel, (uint32_t)(SLOTS * s->width));
  f->kernel->lds_elements = (uint32_t)(SLOTS * PLANE * s->width);
  tj_flexible_place_tiles(f);
  return t;
}

/* --- LDS --- */

static const tj_node *named(const staged *t, const char *name, const tj_node *launch, int64_t most) {
  return tj_flexible_measure(t->s->f, name, tj_flexible_at_most(t->s->graph, launch, most), 0, most, 1).name;
}

/* Elements of LDS: the vector `number` of a plane, turned by some. */
static const tj_node *turned(const staged *t, const tj_node *number, const tj_node *by) {
  tj_graph *graph = t->s->graph;
  const tj_node *place = tj_terse_mod(graph, tj_terse_add(graph, number, by), int_of(t, PLANE));
  return tj_terse_mul(graph, place, int_of(t, t->s->width));
}

static void move(const staged *t, tj_step_kind kind, const tj_node *offset, int64_t displacement, int64_t slot) {
  tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = displacement * t->s->width};
  tj_flexible_step(t->s->f, kind, access, (uint32_t)t->s->width, (uint32_t)(slot * t->s->width), 1);
}

/* Slots of a work-item beyond a group. */
static const tj_node *aside_of(const staged *t, int64_t slot) {
  return slot < SLOTS / 2 ? int_of(t, 0) : tj_terse_sub(t->s->graph, int_of(t, SLOTS), t->slots);
}

/* By how much a vector of a slot's group is turned, each by so many more than the one before. */
static const tj_node *turn_of(const staged *t, int64_t slot, const tj_node *step) {
  const tj_node *along = tj_terse_sub(t->s->graph, int_of(t, slot), aside_of(t, slot));
  return named(t, "slot", tj_terse_mul(t->s->graph, along, step), PLANE - 1);
}

/* The vectors of a work-item go to one plane, or to two. */
static void put(const staged *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->s->graph;
  tj_flexible *f = t->s->f;
  const tj_node *group = tj_flexible_number(hold, t->of_group), *all = t->first->items;
  const tj_node *row = tj_terse_add(graph, tj_flexible_number(hold, t->of_stored), group);
  const tj_node *step = tj_terse_mul(graph, all, t->stored->items), *plane_of = int_of(t, PLANE * t->s->width);
  const tj_node *block = named(t, "step", tj_terse_mul(graph, step, t->slots), PLANE);
  const tj_node *number = tj_terse_add(graph, tj_flexible_number(hold, t->of_first),
                                       tj_flexible_product(f, row, named(t, "items", all, PLANE), 2 * PLANE));
  number = tj_terse_add(graph, number, tj_flexible_product(f, tj_flexible_number(hold, t->of_loaded), block, PLANE));
  for (int64_t i = 0; i < SLOTS; i++) {
    const tj_node *plane = tj_terse_add(graph, group, named(t, "plane", aside_of(t, i), SLOTS / 2));
    const tj_node *offset =
        tj_terse_add(graph, turned(t, number, turn_of(t, i, step)), tj_terse_mul(graph, plane, plane_of));
    move(t, TJ_STEP_STORE, offset, 0, i);
  }
}

static void take(const staged *t, const tj_flexible_hold *hold) {
  for (int64_t i = 0; i < SLOTS; i++)
    move(t, TJ_STEP_LOAD, turned(t, hold->item, turn_of(t, i, t->first->items)), i * PLANE, i);
}

void tj_flexible_staged_steps(void *shape) {
  const staged *t = shape;
  tj_flexible *f = t->s->f;
  tj_flexible_hold load = tj_flexible_split_items(f, TJ_FLEXIBLE_SOURCE);
  tj_flexible_move_some(&load, 0, SLOTS, 0);
  put(t, &load);
  tj_flexible_barrier(f);
  tj_flexible_hold store = tj_flexible_split_items(f, TJ_FLEXIBLE_DESTINATION);
  take(t, &store);
  tj_flexible_move_some(&store, 0, SLOTS, 0);
}
