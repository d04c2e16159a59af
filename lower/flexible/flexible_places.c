/* SPDX-License-Identifier: MIT */
/* Where tiles that turn around lie in LDS, so that no phase of a wave finds two lanes at one bank.
 *
 * Each element of a column that a work-item stores has a plane, of a vector for each work-item, in which vectors lie
 * in the order in which they are stored: who takes neighbours takes them from neighbouring places. Those who put
 * vectors there go along columns; by the number of a vector's column its place within eight is changed, just often
 * enough that eight that follow each other are in different places, and only where all eight of the order change
 * alike. Where these are the slots of one row, any number will do, and it is that of the loading work-item. */
#include "ir/layout/arith.h"
#include "lower/flexible/flexible_turn.h"

enum { PLACES = TJ_TURN_PLACES, A = TJ_TURN_A, B = TJ_TURN_B, C = TJ_TURN_C, D = TJ_TURN_D };

static const tj_node *int_of(const tj_turn *t, int64_t value) {
  return tj_turn_int(t, value);
}

/* Vectors of a plane. */
static int64_t plane_of(const tj_turn *t) {
  return t->f->items;
}

/* --- the order --- */

static const tj_node *step_name(const tj_turn *t, const tj_node *step) {
  return tj_flexible_measure(t->f, "step", tj_flexible_at_most(t->graph, step, plane_of(t)), 0, plane_of(t), 1).name;
}

static const tj_node *stepped(const tj_turn *t, const tj_flexible_hold *hold, const tj_tuple *part,
                              const tj_node *step) {
  const tj_node *digit = tj_flexible_number(hold, part);
  return tj_is_int(digit, 0) ? digit : tj_flexible_product(t->f, digit, step_name(t, step), plane_of(t));
}

/* The first vector that a work-item puts into LDS. */
static const tj_node *first_vector(const tj_turn *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  const tj_node *sum = tj_int(graph, 0);
  for (uint32_t i = 0; i < TJ_TURN_AXES; i++) {
    static const uint32_t axis[] = {B, D, A, C};
    sum = tj_terse_add(graph, sum, stepped(t, hold, t->load.item[axis[i]], t->order.item[axis[i]]));
  }
  return sum;
}

/* How many vectors further on a part of the elements of a slot is. */
static const tj_node *further(const tj_turn *t, int64_t slot, int64_t part) {
  tj_graph *graph = t->graph;
  const tj_node *step = tj_terse_mul(graph, int_of(t, slot), t->order.slot);
  return step_name(t, tj_terse_add(graph, step, tj_terse_mul(graph, int_of(t, part), t->order.part)));
}

/* --- numbers of columns --- */

/* Whether coordinates of c come right after the columns along a. */
static bool has_columns_in_order(const tj_turn *t) {
  const uint32_t *after = tj_turn_after(t);
  bool has = false;
  for (uint32_t i = 0; i + 1 < TJ_TILE_FOLLOWING; i++)
    has = has || (after[i] == A && after[i + 1] == C);
  return has;
}

static const tj_node *is_of_places(const tj_turn *t, const tj_node *step) {
  tj_graph *graph = t->graph;
  return tj_equal(graph, tj_terse_mod(graph, step, int_of(t, PLACES)), int_of(t, 0));
}

/* By how many columns those of the next coordinate of c are numbered on: by all along a where they follow these in
 * the order, or where eight of the order have one such coordinate; else by none. */
static const tj_node *columns_on(const tj_turn *t) {
  const tj_node *along = t->f->axis[A].items;
  if (t->has_slots_first || !tj_turn_has(t, C) || has_columns_in_order(t))
    return along;
  const tj_node *all = is_of_places(t, tj_terse_mul(t->graph, t->order.item[A], along));
  return tj_flexible_choice(t->graph, tj_terse_both(t->graph, all, is_of_places(t, t->order.item[C])), along,
                            int_of(t, 0));
}

static const tj_node *column_of(const tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  tj_measure on = tj_flexible_measure(t->f, "columns", columns_on(t), 0, t->most_x, 1);
  const tj_node *before = tj_flexible_product(t->f, tj_flexible_number(hold, parts->item[C]), on.name, plane_of(t));
  return tj_terse_add(t->graph, tj_flexible_number(hold, parts->item[A]), before);
}

/* Columns are numbered on from row to row, as the work-items are that load them. */
static const tj_node *column_in_rows(const tj_turn *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  if (hold->side == TJ_FLEXIBLE_SOURCE)
    return tj_terse_div(graph, hold->item, int_of(t, t->together * t->vectors));
  tj_measure rows = tj_flexible_measure(t->f, "items", t->f->axis[B].items, 1, t->most_y, 1);
  tj_measure columns = tj_flexible_measure(t->f, "items", t->x, 1, t->most_x, 1);
  const tj_node *of_d = tj_flexible_product(t->f, tj_flexible_number(hold, t->store.item[D]), rows.name, t->most_y);
  const tj_node *row = tj_terse_add(graph, tj_flexible_number(hold, t->store.item[B]), of_d);
  const tj_node *before = tj_flexible_product(t->f, row, columns.name, plane_of(t));
  return tj_terse_add(graph, column_of(t, hold, &t->store), before);
}

/* --- places --- */

/* As many of the lower bits of a column's number as its step has bits less than eight: without these it is less than
 * the greatest power of two, up to eight, that divides the step. Of as many vectors from a multiple of that on, which
 * are of one column, each has a place of its own. Coordinates of c step by multiples of it, too, or else do not
 * number columns on. */
static const tj_node *alike(const tj_turn *t) {
  tj_graph *graph = t->graph;
  const tj_node *shift = int_of(t, 3);
  for (int64_t bits = 1; bits <= 3; bits++) {
    const tj_node *rest = tj_terse_mod(graph, t->order.item[A], int_of(t, (int64_t)1 << bits));
    const tj_node *is_multiple = tj_equal(graph, rest, int_of(t, 0));
    shift = tj_flexible_choice(graph, is_multiple, int_of(t, 3 - bits), shift);
  }
  return tj_flexible_measure(t->f, "shift", shift, 0, 3, 1).name;
}

/* Columns whose vectors of the same slot have places of their own. */
static int64_t columns_of_places(const tj_turn *t) {
  return PLACES / t->vectors;
}

/* What a vector's place within eight is changed by. */
static const tj_node *change_of(const tj_turn *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  const tj_turn_parts *parts = hold->side == TJ_FLEXIBLE_SOURCE ? &t->load : &t->store;
  const tj_node *columns = int_of(t, columns_of_places(t));
  if (!t->has_slots_first)
    return tj_shr(graph, tj_terse_mod(graph, column_of(t, hold, parts), columns), alike(t));
  const tj_node *vector = tj_terse_mul(graph, tj_flexible_number(hold, parts->vector), columns);
  return tj_terse_add(graph, tj_terse_mod(graph, column_in_rows(t, hold), columns), vector);
}

static const tj_node *elements_at(const tj_turn *t, const tj_node *vector, const tj_node *change) {
  return tj_terse_mul(t->graph, tj_xor(t->graph, vector, change), int_of(t, t->stored));
}

/* The same in another place of eight. */
static const tj_node *moved(const tj_turn *t, const tj_node *offset, int64_t places) {
  return places == 0 ? offset : tj_xor(t->graph, offset, int_of(t, places * t->stored));
}

/* Vectors of the pass, each a plane's element of a column, or as many rows of it as a word has. */
static void put(tj_turn *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  int64_t plane = plane_of(t) * t->stored;
  const tj_node *of_column = tj_flexible_number(hold, t->load.vector), *word = tj_flexible_number(hold, t->load.word);
  const tj_node *vector = first_vector(t, hold), *change = change_of(t, hold);
  const tj_node *element = tj_terse_add(graph, tj_terse_mul(graph, of_column, int_of(t, t->loaded * plane)),
                                        tj_terse_mul(graph, word, int_of(t, t->word)));
  for (int64_t i = 0; i < t->slots * t->parts; i++) {
    int64_t slot = i / t->parts, part = i % t->parts, first = slot * t->word * t->loaded + part;
    const tj_node *own = t->has_slots_first ? vector : tj_terse_add(graph, vector, further(t, slot, part));
    const tj_node *offset = tj_terse_add(graph, elements_at(t, own, change), element);
    offset = moved(t, offset, t->has_slots_first ? slot : 0);
    for (int64_t row = 0; row < t->loaded / t->parts; row++) {
      tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = row * plane};
      tj_flexible_step(t->f, TJ_STEP_STORE, access, (uint32_t)t->word, (uint32_t)(first + row * t->parts),
                       (uint32_t)t->loaded);
    }
  }
}

void tj_turn_take(tj_turn *t, const tj_flexible_hold *hold, uint32_t slot) {
  const tj_node *offset = elements_at(t, hold->item, change_of(t, hold));
  for (int64_t row = 0; row < t->rows; row++) {
    tj_access access = {.buffer = TJ_LDS,
                        .offset = moved(t, offset, row / t->loaded * columns_of_places(t)),
                        .displacement = row * plane_of(t) * t->stored};
    tj_flexible_step(t->f, TJ_STEP_LOAD, access, (uint32_t)t->stored, slot + (uint32_t)(row * t->stored), 1);
  }
}

/* Whether a work-item's column is of the pass. */
static const tj_node *is_of_pass(tj_turn *t, const tj_flexible_hold *hold, int64_t pass) {
  tj_graph *graph = t->graph;
  const tj_node *of_c = tj_flexible_number(hold, t->load.pass[C]);
  tj_measure along_a = tj_flexible_measure(t->f, "passes", t->along[A], 1, t->passes, 1);
  const tj_node *number = tj_terse_add(graph, tj_flexible_number(hold, t->load.pass[A]),
                                       tj_flexible_product(t->f, of_c, along_a.name, t->passes));
  return tj_equal(graph, number, int_of(t, pass));
}

void tj_turn_put(tj_turn *t, const tj_flexible_hold *hold, int64_t pass) {
  const tj_node *gate = t->f->gate;
  if (t->passes > 1)
    t->f->gate = tj_terse_both(t->graph, gate, is_of_pass(t, hold, pass));
  put(t, hold);
  t->f->gate = gate;
}
