/* SPDX-License-Identifier: MIT */
/* Where tiles that turn around lie in LDS, so that no phase of a wave finds two lanes at one bank.
 *
 * Each element of a column that a work-item stores has a plane, of a vector for each work-item. In it, vectors of
 * small elements lie in the order in which they are stored: who takes neighbours takes them from neighbouring places.
 * Those who put vectors there go along a column's number; by it the place within eight is changed, just often enough
 * that eight that follow each other are in different places, and only where all eight of the order change alike.
 *
 * Vectors of words, or of more, lie in rows of eight, which are the slots of one, along b first; then come rows of a
 * column, then columns. Which of the eight places a vector takes is changed by the column. */
#include "ir/layout/arith.h"
#include "lower/flexible/flexible_turn.h"

enum { PLACES = TJ_TURN_PLACES };

static const tj_node *int_of(const tj_turn *t, int64_t value) {
  return tj_turn_int(t, value);
}

/* Vectors of a plane. */
static int64_t plane_of(const tj_turn *t) {
  return t->f->items;
}

/* --- in the order of stores --- */

/* How far a step of each kind leads in the order of stores, as the launch has it. */
typedef struct {
  const tj_node *row_b, *row_d, *slot_b, *slot_d, *part, *a, *c;
} order_steps;

static order_steps steps_of_order(const tj_turn *t) {
  tj_graph *graph = t->graph;
  order_steps s = {.row_b = int_of(t, 1), .slot_b = t->y_b};
  const tj_node *all = tj_terse_mul(graph, t->y_b, t->along_b.launch);
  for (unsigned i = 0; i < 3 && t->after[i] != NULL; i++) {
    const tj_flexible_mode *next = t->after[i];
    if (next == t->a) {
      s.part = all;
      s.a = tj_terse_mul(graph, all, int_of(t, t->parts));
      all = tj_terse_mul(graph, s.a, t->x_a);
    } else if (next == t->c) {
      s.c = all;
      all = tj_terse_mul(graph, all, t->x_c);
    } else {
      s.row_d = all;
      s.slot_d = tj_terse_mul(graph, all, t->y_d);
      all = tj_terse_mul(graph, s.slot_d, t->along_d.launch);
    }
  }
  return s;
}

static const tj_node *step_name(tj_turn *t, const tj_node *step) {
  return tj_flexible_measure(t->f, "step", tj_flexible_at_most(t->graph, step, plane_of(t)), 1, plane_of(t), 1).name;
}

/* Whether coordinates of c come right after the columns along a. */
static bool has_columns_in_order(const tj_turn *t) {
  for (unsigned i = 0; i + 1 < 3; i++) {
    if (t->c != NULL && t->after[i] == t->a && t->after[i + 1] == t->c)
      return true;
  }
  return false;
}

static const tj_node *is_of_places(const tj_turn *t, const tj_node *step) {
  tj_graph *graph = t->graph;
  return tj_equal(graph, tj_terse_mod(graph, step, int_of(t, PLACES)), int_of(t, 0));
}

/* By how many columns those of the next coordinate of c are numbered on: by all along a where they follow these in
 * the order, or where eight of the order have one such coordinate; else by none. */
static const tj_node *columns_on(const tj_turn *t, const order_steps *s) {
  if (t->c == NULL || has_columns_in_order(t))
    return t->x_a;
  const tj_node *all = is_of_places(t, tj_terse_mul(t->graph, s->a, t->x_a));
  return tj_flexible_choice(t->graph, tj_terse_both(t->graph, all, is_of_places(t, s->c)), t->x_a, int_of(t, 0));
}

/* What a vector's place within eight is changed by: its column's number modulo eight, without as many of the lower
 * bits as the column's step has bits less than eight. So it is less than the greatest power of two, up to eight, that
 * divides the step: of as many vectors from a multiple of that on, which are of one column, each has a place of its
 * own. Coordinates of c step by multiples of it, too, or else do not number columns on. */
static const tj_node *change_in_order(tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  tj_graph *graph = t->graph;
  const order_steps s = steps_of_order(t);
  const tj_node *shift = int_of(t, 3), *c = tj_flexible_number(hold, parts->c);
  tj_measure on = tj_flexible_measure(t->f, "columns", columns_on(t, &s), 0, t->most_x, 1);
  const tj_node *before = tj_flexible_product(t->f, c, on.name, plane_of(t));
  const tj_node *column = tj_terse_add(graph, tj_flexible_number(hold, parts->a), before);
  for (int64_t bits = 1; bits <= 3; bits++) {
    const tj_node *rest = tj_terse_mod(graph, s.a, int_of(t, (int64_t)1 << bits));
    const tj_node *is_multiple = tj_equal(graph, rest, int_of(t, 0));
    shift = tj_flexible_choice(graph, is_multiple, int_of(t, 3 - bits), shift);
  }
  tj_measure name = tj_flexible_measure(t->f, "shift", shift, 0, 3, 1);
  return tj_shr(graph, tj_terse_mod(graph, column, int_of(t, PLACES)), name.name);
}

static const tj_node *stepped(tj_turn *t, const tj_flexible_hold *hold, const tj_tuple *part, const tj_node *step) {
  const tj_node *digit = tj_flexible_number(hold, part);
  return tj_is_int(digit, 0) ? digit : tj_flexible_product(t->f, digit, step_name(t, step), plane_of(t));
}

static const tj_node *vector_in_order(tj_turn *t, const order_steps *s, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  const tj_turn_parts *parts = &t->load;
  const tj_node *row =
      tj_terse_add(graph, tj_flexible_number(hold, parts->row_b), stepped(t, hold, parts->row_d, s->row_d));
  const tj_node *before = tj_terse_add(graph, row, stepped(t, hold, parts->a, s->a));
  return tj_terse_add(graph, before, stepped(t, hold, parts->c, s->c));
}

/* How far a part of the elements of a slot is, in the order, from the first part of the first slot. */
static const tj_node *part_in_order(tj_turn *t, const order_steps *s, int64_t slot, int64_t part) {
  tj_graph *graph = t->graph;
  const tj_node *number = int_of(t, slot), *along_b = t->along_b.launch;
  const tj_node *step = tj_terse_mul(graph, tj_terse_mod(graph, number, along_b), s->slot_b);
  if (s->slot_d != NULL)
    step = tj_terse_add(graph, step, tj_terse_mul(graph, tj_terse_div(graph, number, along_b), s->slot_d));
  if (s->part != NULL)
    step = tj_terse_add(graph, step, tj_terse_mul(graph, int_of(t, part), s->part));
  if (tj_is_int(step, 0))
    return step;
  return tj_flexible_measure(t->f, "step", tj_flexible_at_most(graph, step, plane_of(t)), 0, plane_of(t), 1).name;
}

/* --- in rows --- */

/* Columns whose vectors of the same slot have places of their own. */
static int64_t columns_of_places(const tj_turn *t) {
  return PLACES / t->vectors;
}

/* The row of a vector, numbered along b first. */
static const tj_node *row_of(tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  tj_measure rows = tj_flexible_measure(t->f, "items", t->y_b, 1, t->most_y, 1);
  const tj_node *of_d = tj_flexible_product(t->f, tj_flexible_number(hold, parts->row_d), rows.name, t->most_y);
  return tj_terse_add(t->graph, tj_flexible_number(hold, parts->row_b), of_d);
}

static const tj_node *vector_in_rows(tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  tj_graph *graph = t->graph;
  tj_measure rows = tj_flexible_measure(t->f, "items", t->y, 1, t->most_y, 1);
  const tj_node *before = tj_flexible_product(t->f, tj_flexible_number(hold, parts->x), rows.name, plane_of(t));
  const tj_node *row = tj_terse_add(graph, row_of(t, hold, parts), before);
  const tj_node *slot_d = tj_flexible_number(hold, parts->slot_d);
  const tj_node *slot = tj_terse_add(graph, tj_flexible_number(hold, parts->slot_b),
                                     tj_flexible_product(t->f, slot_d, t->along_b.name, t->slots));
  return tj_terse_add(graph, tj_terse_mul(graph, row, int_of(t, PLACES)), slot);
}

/* By how much columns are numbered on from those of the row before: by none where slots along d are told apart by
 * them. */
static const tj_node *columns_of_row(const tj_turn *t) {
  tj_graph *graph = t->graph;
  int64_t columns = columns_of_places(t);
  const tj_node *least = int_of(t, tj_turn_least(t->slots, columns));
  return tj_flexible_choice(graph, tj_less_equal(graph, least, t->along_b.launch),
                            tj_terse_mod(graph, t->x, int_of(t, columns)), int_of(t, 0));
}

/* Columns change places, and so do vectors of the source that are of one. Where slots go along d, rows along b do,
 * too: vectors that follow each other along b are of different ones. */
static const tj_node *change_in_rows(tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  tj_graph *graph = t->graph;
  const tj_node *columns = int_of(t, columns_of_places(t));
  tj_measure on = tj_flexible_measure(t->f, "columns", columns_of_row(t), 0, PLACES - 1, 1);
  const tj_node *before = tj_terse_mul(graph, row_of(t, hold, parts), on.name);
  const tj_node *change =
      tj_terse_mod(graph, tj_terse_add(graph, tj_flexible_number(hold, parts->x), before), columns);
  const tj_node *part = tj_flexible_number(hold, parts->part);
  change = tj_terse_add(graph, change, tj_terse_mul(graph, part, columns));
  if (t->d == NULL)
    return change;
  const tj_node *last = tj_sub(graph, t->along_d.launch, int_of(t, 1));
  const tj_node *mask = tj_flexible_measure(t->f, "mask", last, 0, t->slots - 1, 1).name;
  const tj_node *row = tj_and(graph, tj_flexible_number(hold, parts->row_b), mask);
  return tj_xor(graph, change, tj_flexible_product(t->f, row, t->along_b.name, t->slots));
}

/* --- either way --- */

static const tj_node *change_of(tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  return t->is_ordered ? change_in_order(t, hold, parts) : change_in_rows(t, hold, parts);
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
  const tj_node *of_column = tj_flexible_number(hold, t->load.part), *word = tj_flexible_number(hold, t->load.word);
  const order_steps s = steps_of_order(t);
  const tj_node *vector = t->is_ordered ? vector_in_order(t, &s, hold) : vector_in_rows(t, hold, &t->load);
  const tj_node *change = change_of(t, hold, &t->load);
  const tj_node *element = tj_terse_add(graph, tj_terse_mul(graph, of_column, int_of(t, t->loaded * plane)),
                                        tj_terse_mul(graph, word, int_of(t, t->word)));
  const tj_node *begin = tj_terse_add(graph, elements_at(t, vector, change), element);
  for (int64_t i = 0; i < t->slots * t->parts; i++) {
    int64_t slot = i / t->parts, part = i % t->parts, first = slot * t->word * t->loaded + part;
    const tj_node *offset = moved(t, begin, slot);
    if (t->is_ordered)
      offset = tj_terse_add(
          graph, elements_at(t, tj_terse_add(graph, vector, part_in_order(t, &s, slot, part)), change), element);
    for (int64_t row = 0; row < t->loaded / t->parts; row++) {
      tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = row * plane};
      tj_flexible_step(t->f, TJ_STEP_STORE, access, (uint32_t)t->word, (uint32_t)(first + row * t->parts),
                       (uint32_t)t->loaded);
    }
  }
}

void tj_turn_take(tj_turn *t, const tj_flexible_hold *hold, uint32_t slot) {
  bool is_item = t->is_ordered || t->d == NULL;
  const tj_node *vector = is_item ? hold->item : vector_in_rows(t, hold, &t->store);
  const tj_node *offset = elements_at(t, vector, change_of(t, hold, &t->store));
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
  const tj_node *of_c = tj_flexible_number(hold, t->load.pass_c);
  tj_measure along_a = tj_flexible_measure(t->f, "passes", t->pass_a, 1, t->passes, 1);
  const tj_node *number = tj_terse_add(graph, tj_flexible_number(hold, t->load.pass_a),
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
