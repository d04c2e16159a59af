/* SPDX-License-Identifier: MIT */
/* Where tiles that turn around lie in LDS, so that no phase of a wave finds two lanes at one bank.
 *
 * Small elements lie in the order in which vectors of them are stored, as one plane for each element of a column that
 * a work-item stores: who takes neighbours takes them from neighbouring places. Those who put vectors there go along
 * a column's number; by it the place within eight is changed, just often enough that eight that follow each other are
 * in different places, and only where all eight of the order change alike.
 *
 * Elements that are words or more lie in blocks: each column has blocks of eight vectors of the destination by as
 * many elements as the column has, each a constant distance away from the one before. Which of the eight places a
 * vector takes is changed by the column, so that columns use different banks. */
#include "ir/layout/arith.h"
#include "lower/flexible/flexible_turn.h"

enum { PLACES = TJ_TURN_PLACES };

static const tj_node *int_of(const tj_turn *t, int64_t value) {
  return tj_turn_int(t, value);
}

/* --- in the order of stores --- */

/* Vectors of a plane. */
static int64_t plane_of(const tj_turn *t) {
  return t->f->items;
}

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
static const tj_node *change_in_order(tj_turn *t, const order_steps *s, const tj_node *a, const tj_node *c) {
  tj_graph *graph = t->graph;
  const tj_node *shift = int_of(t, 3);
  tj_measure on = tj_flexible_measure(t->f, "columns", columns_on(t, s), 0, t->most_x, 1);
  const tj_node *column = tj_terse_add(graph, a, tj_flexible_product(t->f, c, on.name, plane_of(t)));
  for (int64_t bits = 1; bits <= 3; bits++) {
    const tj_node *rest = tj_terse_mod(graph, s->a, int_of(t, (int64_t)1 << bits));
    const tj_node *is_multiple = tj_equal(graph, rest, int_of(t, 0));
    shift = tj_flexible_choice(graph, is_multiple, int_of(t, 3 - bits), shift);
  }
  tj_measure name = tj_flexible_measure(t->f, "shift", shift, 0, 3, 1);
  return tj_shr(graph, tj_terse_mod(graph, column, int_of(t, PLACES)), name.name);
}

static const tj_node *stepped(tj_turn *t, const tj_node *digit, const tj_node *step) {
  return step == NULL || tj_is_int(digit, 0) ? int_of(t, 0)
                                             : tj_flexible_product(t->f, digit, step_name(t, step), plane_of(t));
}

static const tj_node *elements_at(const tj_turn *t, const tj_node *vector, const tj_node *change) {
  return tj_terse_mul(t->graph, tj_xor(t->graph, vector, change), int_of(t, t->stored));
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

/* Vectors of the pass, each a plane's element of a column, or as many rows of it as a word has. */
static void put_in_order(tj_turn *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  order_steps s = steps_of_order(t);
  const tj_node *a = tj_flexible_number(hold, t->load.a), *c = tj_flexible_number(hold, t->load.c);
  const tj_node *change = change_in_order(t, &s, a, c), *vector = tj_flexible_number(hold, t->load.row_b);
  vector = tj_terse_add(graph, vector, stepped(t, tj_flexible_number(hold, t->load.row_d), s.row_d));
  vector = tj_terse_add(graph, vector, stepped(t, a, s.a));
  vector = tj_terse_add(graph, vector, stepped(t, c, s.c));
  const tj_node *word = tj_terse_mul(graph, tj_flexible_number(hold, t->load.word), int_of(t, t->word));
  for (int64_t i = 0; i < t->slots * t->parts; i++) {
    int64_t slot = i / t->parts, part = i % t->parts, first = slot * t->word * t->loaded + part;
    const tj_node *offset = elements_at(t, tj_terse_add(graph, vector, part_in_order(t, &s, slot, part)), change);
    for (int64_t row = 0; row < t->rows; row++) {
      tj_access access = {.buffer = TJ_LDS,
                          .offset = tj_terse_add(graph, offset, word),
                          .displacement = row * plane_of(t) * t->stored};
      tj_flexible_step(t->f, TJ_STEP_STORE, access, (uint32_t)t->word, (uint32_t)(first + row * t->parts),
                       (uint32_t)t->loaded);
    }
  }
}

static void take_in_order(tj_turn *t, const tj_flexible_hold *hold, uint32_t slot) {
  order_steps s = steps_of_order(t);
  const tj_node *a = tj_flexible_number(hold, t->store.a), *c = tj_flexible_number(hold, t->store.c);
  const tj_node *offset = elements_at(t, hold->item, change_in_order(t, &s, a, c));
  for (int64_t row = 0; row < t->rows; row++) {
    tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = row * plane_of(t) * t->stored};
    tj_flexible_step(t->f, TJ_STEP_LOAD, access, (uint32_t)t->stored, slot + (uint32_t)(row * t->stored), 1);
  }
}

/* --- in blocks --- */

/* Columns in a row of places, where the vectors of a column are as far apart as can be. */
static int64_t columns_of_places(const tj_turn *t) {
  return PLACES / t->vectors;
}

/* Columns are numbered on from those of the row before, unless slots along d are told apart by them. */
static const tj_node *columns_of_row(const tj_turn *t) {
  tj_graph *graph = t->graph;
  int64_t columns = columns_of_places(t);
  const tj_node *least = int_of(t, tj_turn_least(t->slots, columns));
  return tj_flexible_choice(graph, tj_less_equal(graph, least, t->along_b.launch),
                            tj_terse_mod(graph, t->x, int_of(t, columns)), int_of(t, 0));
}

/* Where a work-item is in a tile: its column and the part of it, its row and, of that, the number along b, its slot.
 */
typedef struct {
  const tj_node *x, *part, *y, *of_b, *slot;
} block_place;

static block_place place_of_item(tj_turn *t, const tj_flexible_hold *hold, const tj_turn_parts *parts) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  block_place p = {.x = tj_flexible_number(hold, parts->x),
                   .part = tj_flexible_number(hold, parts->part),
                   .of_b = tj_flexible_number(hold, parts->row_b),
                   .slot = tj_flexible_number(hold, parts->slot_b)};
  const tj_node *of_d = tj_flexible_number(hold, parts->row_d), *slot_d = tj_flexible_number(hold, parts->slot_d);
  p.y = tj_terse_add(graph, p.of_b, tj_flexible_product(f, of_d, t->row_b.name, t->most_y));
  p.slot = tj_terse_add(graph, p.slot, tj_flexible_product(f, slot_d, t->along_b.name, t->slots));
  return p;
}

/* Which of the eight places of its block a vector takes: by its slot, changed by the vector of the source whose
 * elements it has, so that work-items that load neighbours store to different places; and by its row along b, so that
 * vectors which follow each other there are in different places. */
static const tj_node *place_of(tj_turn *t, const block_place *p, const tj_node *part) {
  tj_graph *graph = t->graph;
  const tj_node *columns = int_of(t, columns_of_places(t));
  const tj_node *running = tj_terse_add(graph, p->x, tj_terse_mul(graph, p->y, t->row_columns.name));
  const tj_node *change =
      tj_terse_add(graph, tj_terse_mod(graph, running, columns), tj_terse_mul(graph, part, columns));
  const tj_node *number = tj_xor(graph, p->slot, change);
  if (t->d == NULL)
    return number;
  const tj_node *mask =
      tj_flexible_measure(t->f, "mask", tj_sub(graph, t->along_d.launch, int_of(t, 1)), 0, t->slots - 1, 1).name;
  const tj_node *turned = tj_flexible_product(t->f, tj_and(graph, p->of_b, mask), t->along_b.name, t->slots);
  return tj_xor(graph, number, turned);
}

/* Where the element `first_row` of a place's column is, whose part is `part`. */
static const tj_node *block_offset(tj_turn *t, const block_place *p, const tj_node *part, const tj_node *first_row) {
  tj_graph *graph = t->graph;
  int64_t block = PLACES * t->column * t->stored;
  const tj_node *of_column = tj_flexible_product(t->f, p->x, t->pitch.name, t->f->kernel->lds_elements);
  const tj_node *of_place = tj_terse_mul(graph, place_of(t, p, part), int_of(t, t->stored));
  const tj_node *offset = tj_terse_add(graph, of_column, tj_terse_mul(graph, p->y, int_of(t, block)));
  offset = tj_terse_add(graph, offset, of_place);
  return tj_terse_add(graph, offset, tj_terse_mul(graph, first_row, int_of(t, PLACES * t->stored)));
}

/* The same in another place of the block. */
static const tj_node *moved(tj_turn *t, const tj_node *offset, int64_t places) {
  return places == 0 ? offset : tj_xor(t->graph, offset, int_of(t, places * t->stored));
}

/* The elements of a word are of different vectors. */
static void put_in_blocks(tj_turn *t, const tj_flexible_hold *hold) {
  tj_graph *graph = t->graph;
  block_place p = place_of_item(t, hold, &t->load);
  const tj_node *first_row = tj_terse_mul(graph, p.part, int_of(t, t->loaded));
  const tj_node *word = tj_terse_mul(graph, tj_flexible_number(hold, t->load.word), int_of(t, t->word));
  const tj_node *first = tj_terse_add(graph, block_offset(t, &p, p.part, first_row), word);
  for (int64_t slot = 0; slot < t->slots; slot++) {
    const tj_node *offset = moved(t, first, slot);
    for (int64_t j = 0; j < t->loaded; j++) {
      tj_access access = {.buffer = TJ_LDS, .offset = offset, .displacement = j * PLACES * t->stored};
      tj_flexible_step(t->f, TJ_STEP_STORE, access, (uint32_t)t->word, (uint32_t)(slot * t->word * t->loaded + j),
                       (uint32_t)t->loaded);
    }
  }
}

static void take_in_blocks(tj_turn *t, const tj_flexible_hold *hold, uint32_t slot) {
  block_place p = place_of_item(t, hold, &t->store);
  const tj_node *none = int_of(t, 0), *from = block_offset(t, &p, none, none);
  for (int64_t i = 0; i < t->rows; i++) {
    tj_access access = {.buffer = TJ_LDS,
                        .offset = moved(t, from, i / t->loaded * columns_of_places(t)),
                        .displacement = i * PLACES * t->stored};
    tj_flexible_step(t->f, TJ_STEP_LOAD, access, (uint32_t)t->stored, slot + (uint32_t)(i * t->stored), 1);
  }
}

/* --- either way --- */

void tj_turn_measure_lds(tj_turn *t) {
  tj_flexible *f = t->f;
  if (t->is_ordered) {
    f->kernel->lds_elements = (uint32_t)(t->rows * plane_of(t) * t->stored);
    return;
  }
  int64_t block = PLACES * t->column * t->stored;
  t->row_b = tj_flexible_measure(f, "items", t->y_b, 1, t->most_y, 1);
  t->pitch =
      tj_flexible_measure(f, "pitch", tj_mul(t->graph, t->y, int_of(t, block)), block, block * t->most_y, block);
  t->row_columns = tj_flexible_measure(f, "columns", columns_of_row(t), 0, PLACES - 1, 1);
  f->kernel->lds_elements = (uint32_t)(t->most_x * t->slots * t->column * t->stored);
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
  if (t->is_ordered)
    put_in_order(t, hold);
  else
    put_in_blocks(t, hold);
  t->f->gate = gate;
}

void tj_turn_take(tj_turn *t, const tj_flexible_hold *hold, uint32_t slot) {
  if (t->is_ordered)
    take_in_order(t, hold, slot);
  else
    take_in_blocks(t, hold, slot);
}
