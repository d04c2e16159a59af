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
#include "lower/flexible/flexible_straight.h"
#include "lower/tile/lds_transit.h"

enum { SLOTS = TJ_STRAIGHT_SLOTS, PLANE = TJ_FLEXIBLE_ITEMS };

typedef struct {
  tj_flexible *f;
  tj_graph *graph;
  int64_t width;
  const tj_flexible_axis *first, *loaded, *stored, *other;     /* of the tile */
  const tj_node *slots;                                        /* launch: of a group */
  const tj_tuple *of_first, *of_group, *of_loaded, *of_stored; /* what of the loading items is in which mode */
} staged;

static const tj_node *int_of(const staged *t, int64_t value) {
  return tj_int(t->graph, value);
}

/* --- the mapping --- */

static void make_mapping(staged *t) {
  tj_flexible *f = t->f;
  tj_leaves load[2] = {{.count = 0}, {.count = 0}}, store[2] = {{.count = 0}, {.count = 0}};
  const tj_node *one = int_of(t, 1), *width = int_of(t, t->width);
  const tj_node *first = tj_flexible_items(f, TJ_TILE_LOADED);
  const tj_node *loaded = tj_flexible_items(f, TJ_TILE_NEXT_LOADED),
                *stored = tj_flexible_items(f, TJ_TILE_NEXT_STORED);
  const tj_node *group = tj_flexible_slots(f, TJ_TILE_NEXT_LOADED),
                *others = tj_flexible_slots(f, TJ_TILE_NEXT_STORED);
  const tj_node *aside = tj_flexible_slots(f, TJ_TILE_OTHER);
  t->of_first = tj_flexible_put(f, &load[0], first, TJ_TILE_LOADED, width);
  t->of_group = tj_flexible_put(f, &load[0], group, TJ_TILE_NEXT_LOADED, one);
  t->of_loaded = tj_flexible_put(f, &load[0], loaded, TJ_TILE_NEXT_LOADED, group);
  t->of_stored = tj_flexible_put(f, &load[0], stored, TJ_TILE_NEXT_STORED, one);
  tj_flexible_put_vector(f, &load[1], TJ_FLEXIBLE_SOURCE);
  tj_flexible_put(f, &load[1], others, TJ_TILE_NEXT_STORED, stored);
  tj_flexible_put(f, &load[1], aside, TJ_TILE_OTHER, one);
  tj_flexible_put(f, &store[0], first, TJ_TILE_LOADED, width);
  tj_flexible_put(f, &store[0], stored, TJ_TILE_NEXT_STORED, one);
  tj_flexible_put(f, &store[0], others, TJ_TILE_NEXT_STORED, stored);
  tj_flexible_put(f, &store[0], loaded, TJ_TILE_NEXT_LOADED, group);
  tj_flexible_put_vector(f, &store[1], TJ_FLEXIBLE_DESTINATION);
  tj_flexible_put(f, &store[1], group, TJ_TILE_NEXT_LOADED, one);
  tj_flexible_put(f, &store[1], aside, TJ_TILE_OTHER, one);
  f->stored_as = tj_staging_order(f->graph, f->target);
  tj_flexible_set_mapping(f, load, store);
}

void *tj_flexible_staged_shape(tj_flexible *f) {
  staged *t = TJ_NEW(f->graph->job, staged);
  tj_flexible_demand(f, tj_straight_choose(f, (tj_tile){.kind = TJ_TILE_STAGED, .slots = SLOTS}));
  *t = (staged){.f = f,
                .graph = f->graph,
                .width = f->width[TJ_FLEXIBLE_SOURCE],
                .first = &f->axis[TJ_TILE_LOADED],
                .loaded = &f->axis[TJ_TILE_NEXT_LOADED],
                .stored = &f->axis[TJ_TILE_NEXT_STORED],
                .other = &f->axis[TJ_TILE_OTHER],
                .slots = tj_flexible_power(f->graph, f->axis[TJ_TILE_NEXT_LOADED].log)};
  make_mapping(t);
  f->kernel->lds_elements = (uint32_t)(SLOTS * PLANE * t->width);
  tj_flexible_place_tiles(f);
  return t;
}

/* --- LDS --- */

static const tj_node *named(const staged *t, const char *name, const tj_node *launch, int64_t most) {
  return tj_flexible_measure(t->f, name, tj_flexible_at_most(t->graph, launch, most), 0, most, 1).name;
}

/* Elements of LDS: the vector `number` of a plane, turned by some. */
static const tj_node *turned(const staged *t, const tj_node *number, const tj_node *by) {
  tj_graph *graph = t->graph;
  const tj_node *place = tj_terse_mod(graph, tj_terse_add(graph, number, by), int_of(t, PLANE));
  return tj_terse_mul(graph, place, int_of(t, t->width));
}

static void move(const staged *t, tj_step_kind kind, const tj_node *offset, int64_t displacement, int64_t slot) {
  tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = displacement * t->width};
  tj_flexible_step(t->f, kind, access, (uint32_t)t->width, (uint32_t)(slot * t->width), 1);
}

/* Slots of a work-item beyond a group. */
static const tj_node *aside_of(const staged *t, int64_t slot) {
  return slot < SLOTS / 2 ? int_of(t, 0) : tj_terse_sub(t->graph, int_of(t, SLOTS), t->slots);
}

/* By how much a vector of a slot's group is turned, each by so many more than the one before. */
static const tj_node *turn_of(const staged *t, int64_t slot, const tj_node *step) {
  const tj_node *along = tj_terse_sub(t->graph, int_of(t, slot), aside_of(t, slot));
  return named(t, "slot", tj_terse_mul(t->graph, along, step), PLANE - 1);
}

/* The vectors of a work-item go to one plane, or to two. */
static void put(const staged *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  tj_flexible *f = t->f;
  const tj_node *group = tj_flexible_number(hold, t->of_group), *all = t->first->items;
  const tj_node *row = tj_terse_add(graph, tj_flexible_number(hold, t->of_stored), group);
  const tj_node *step = tj_terse_mul(graph, all, t->stored->items), *plane_of = int_of(t, PLANE * t->width);
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
  tj_flexible *f = t->f;
  tj_flexible_hold load = tj_flexible_split_items(f, TJ_FLEXIBLE_SOURCE);
  tj_flexible_move_some(&load, 0, SLOTS, 0);
  put(t, &load);
  tj_flexible_barrier(f);
  tj_flexible_hold store = tj_flexible_split_items(f, TJ_FLEXIBLE_DESTINATION);
  take(t, &store);
  tj_flexible_move_some(&store, 0, SLOTS, 0);
}
