/* SPDX-License-Identifier: MIT */
/* Flexible tiles that turn around in LDS.
 *
 * The tile is a box: elements of the source along its first mode, some vectors at a time, and coordinates of its next
 * mode, are columns x; vectors of the destination, and coordinates of its next mode, are rows y of several each, its
 * slots. A work-item loads a vector of one column for each of its slots, and stores all elements of one column, or a
 * part of them, for one slot. How the slots of a row are shared out between the destination's two modes, and how
 * large the box is along each mode, is up to the launch.
 *
 * Of elements that are smaller than a word, a work-item loads as many rows as make a vector of the destination, a
 * square. Where memory moves whole lines of its caches, not sectors, it does so twice: the second square is half a
 * tile further along the destination. Such tiles take more than a workgroup's part of LDS: one group of their columns
 * goes through it after the other, as a pass. */
#include "lower/flexible/flexible_turn.h"
#include "base/machine/processor.h"
#include "ir/layout/arith.h"
#include "lower/kernel/arithmetic.h"
#include "lower/tile/lds_transit.h"

enum {
  SQUARES = 2, /* of a work-item */
  PASSES = 2   /* for each square */
};

static const tj_node *int_of(const tj_turn *t, int64_t value) {
  return tj_turn_int(t, value);
}

/* --- widths --- */

/* Vectors of either side are not much longer than the other's. */
static void choose_vectors(tj_turn *t) {
  tj_flexible *f = t->f;
  uint32_t *width = f->width;
  for (uint32_t side = 0; side < TJ_FLEXIBLE_SIDES && f->given == NULL; side++)
    width[side] = f->target->vector_bytes / tj_element_bytes(f->kernel, tj_flexible_buffer(f, side));
  int64_t loaded = width[TJ_FLEXIBLE_SOURCE], stored = width[TJ_FLEXIBLE_DESTINATION];
  t->loaded = width[TJ_FLEXIBLE_SOURCE] = (uint32_t)tj_turn_least(loaded, 2 * stored);
  t->stored = width[TJ_FLEXIBLE_DESTINATION] = (uint32_t)tj_turn_least(stored, 2 * loaded);
}

static bool has_sectors(const tj_turn *t) {
  return tj_sector_bytes(t->f->target->processor) > 0;
}

/* Elements that are bytes in the source, too, go through LDS at once where memory moves sectors: in smaller tiles. */
static bool are_bytes_of_sectors(const tj_turn *t) {
  const tj_flexible *f = t->f;
  return has_sectors(t) && tj_element_bytes(f->kernel, tj_flexible_buffer(f, TJ_FLEXIBLE_SOURCE)) == 1;
}

/* Whether tiles of squares are for twice as many work-items, and go through LDS in passes. */
static bool may_pass(const tj_turn *t) {
  return t->loaded >= PASSES * t->together && t->f->target->workgroup_limit >= PASSES * TJ_FLEXIBLE_ITEMS &&
         !are_bytes_of_sectors(t);
}

/* Squares: a work-item stores as much of each element of a column as of one, a part of a column in each pass. */
static void hold_squares(tj_turn *t) {
  t->word = tj_turn_least(t->stored, TJ_TURN_LOADS);
  t->together = t->stored / t->word;
  t->slots = t->vectors = t->passes = 1;
  t->rows = t->loaded / t->together;
  if (may_pass(t)) {
    t->slots = has_sectors(t) ? 1 : SQUARES;
    t->passes = PASSES * t->slots;
    t->rows /= PASSES;
    tj_flexible_set_items(t->f, PASSES * TJ_FLEXIBLE_ITEMS);
  }
  t->f->stored_as = tj_staging_order(t->graph, t->f->target);
}

/* Blocks: a work-item stores a column, whose elements are of words, and whose vectors are not longer than there are
 * slots. */
static void hold_blocks(tj_turn *t) {
  t->word = t->passes = 1;
  t->together = t->stored;
  t->slots = TJ_TURN_LOADS;
  t->vectors = t->slots / t->stored;
  t->rows = t->vectors * t->loaded;
}

/* What a work-item holds. */
static void choose_widths(tj_turn *t) {
  enum { WORD = 4 };
  choose_vectors(t);
  if (tj_dtype_bits(t->f->kernel->carried) / 8 < WORD)
    hold_squares(t);
  else
    hold_blocks(t);
  t->has_slots_first = t->slots == TJ_TURN_PLACES;
  t->column = t->vectors * t->loaded;
  t->parts = t->column / t->rows;
  t->most_x = t->most_y = t->f->items / (t->slots * t->parts);
}

/* How many columns, rows, slots and passes there are along each mode. */
static void choose_box(tj_turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  (void)tj_flexible_choose(f, (tj_tile){.kind = TJ_TILE_TURNED,
                                        .most = (uint32_t)t->most_x,
                                        .slots = (uint32_t)t->slots,
                                        .vectors = (uint32_t)t->vectors,
                                        .parts = (uint32_t)t->parts,
                                        .passes = (uint32_t)t->passes,
                                        .together = (uint32_t)t->together});
  const tj_flexible_axis *a = &f->axis[TJ_TILE_LOADED], *b = &f->axis[TJ_TILE_STORED];
  const tj_flexible_axis *c = &f->axis[TJ_TILE_NEXT_LOADED], *d = &f->axis[TJ_TILE_NEXT_STORED];
  t->x_a = a->items;
  t->y_b = b->items;
  t->x_c = c->items;
  t->y_d = d->items;
  t->x = tj_flexible_at_most(graph, tj_terse_mul(graph, t->x_a, t->x_c), t->most_x);
  t->y = tj_flexible_at_most(graph, tj_terse_mul(graph, t->y_b, t->y_d), t->most_y);
  t->along_b = tj_flexible_measure(f, "along", tj_flexible_power(graph, b->log), 1, t->slots, 1);
  t->along_d = tj_flexible_measure(f, "along", tj_flexible_power(graph, d->log), 1, t->slots, 1);
  t->pass_a = tj_flexible_power(graph, a->log);
  t->pass_c = tj_flexible_power(graph, c->log);
}

/* The lengths of the tile. */
static void measure_shape(tj_turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  const tj_node *row = tj_terse_mul(graph, t->along_b.launch, int_of(t, t->stored));
  const tj_node *columns = tj_terse_mul(graph, tj_mul(graph, t->x_a, int_of(t, t->column)), t->pass_a);
  t->a->length = tj_min(graph, t->a->extent.launch, columns);
  t->b->length = tj_min(graph, t->b->extent.launch, tj_mul(graph, t->y_b, row));
  if (t->c != NULL)
    t->c->length =
        t->passes > 1 ? tj_min(graph, t->c->extent.launch, tj_terse_mul(graph, t->x_c, t->pass_c)) : t->x_c;
  if (t->d != NULL)
    t->d->length = tj_min(graph, t->d->extent.launch, tj_mul(graph, t->y_d, t->along_d.launch));
  tj_flexible_need(f, f->first_loaded, t->column);
  tj_flexible_need(f, f->first_stored, t->stored);
  f->kernel->lds_elements = (uint32_t)(t->rows * f->items * t->stored);
  int64_t stored = t->passes > 1 ? t->rows * t->stored : 0;
  tj_set_source_slots(graph, f->kernel, (uint32_t)(t->slots * t->word * t->loaded + stored));
}

/* --- the mapping --- */

/* The numbers that the launch chooses. */
typedef struct {
  const tj_node *items_a, *items_b, *items_c, *items_d, *slots_b, *slots_d, *pass_a, *pass_c;
  const tj_node *row_b, *row_d, *slot_b, *slot_d; /* steps of rows and of slots */
  const tj_node *step_a;                          /* of passes */
} shares;

/* Slots of squares are a row of work-items apart; others follow one another. */
static void choose_steps(const tj_turn *t, shares *s) {
  const tj_node *one = int_of(t, 1), *vector = int_of(t, t->stored);
  s->row_b = tj_terse_mul(t->graph, t->has_slots_first ? s->slots_b : one, vector);
  s->row_d = t->has_slots_first ? s->slots_d : one;
  s->slot_b = tj_terse_mul(t->graph, t->has_slots_first ? one : s->items_b, vector);
  s->slot_d = t->has_slots_first ? one : s->items_d;
}

static shares choose_shares(tj_turn *t) {
  tj_flexible *f = t->f;
  shares s = {.items_a = tj_flexible_items(f, TJ_TILE_LOADED),
              .items_b = tj_flexible_items(f, TJ_TILE_STORED),
              .items_c = tj_flexible_items(f, TJ_TILE_NEXT_LOADED),
              .items_d = tj_flexible_items(f, TJ_TILE_NEXT_STORED),
              .slots_b = tj_flexible_slots(f, TJ_TILE_STORED),
              .slots_d = tj_flexible_slots(f, TJ_TILE_NEXT_STORED),
              .pass_a = tj_flexible_slots(f, TJ_TILE_LOADED),
              .pass_c = tj_flexible_slots(f, TJ_TILE_NEXT_LOADED)};
  s.step_a = tj_terse_mul(t->graph, s.items_a, int_of(t, t->column));
  choose_steps(t, &s);
  return s;
}

static const tj_tuple *put_columns(tj_turn *t, tj_leaves *list, const shares *s) {
  tj_flexible *f = t->f;
  tj_turn_parts *parts = &t->load;
  tj_leaves columns = {.count = 0};
  parts->a = tj_flexible_put(f, &columns, s->items_a, f->first_loaded, int_of(t, t->column));
  parts->pass_a = tj_flexible_put(f, &columns, s->pass_a, f->first_loaded, s->step_a);
  parts->c = tj_flexible_put(f, &columns, s->items_c, f->next_loaded, int_of(t, 1));
  parts->pass_c = tj_flexible_put(f, &columns, s->pass_c, f->next_loaded, s->items_c);
  const tj_tuple *all = tj_flexible_put_list(f, list, &columns);
  tj_flexible_group(f, all, tj_terse_mul(t->graph, t->x, int_of(t, t->passes)), t->passes * t->most_x);
  return all;
}

/* Neighbouring work-items load the vectors of a word each; then come vectors and columns, then rows. */
static void make_load(tj_turn *t, const shares *s, tj_leaves load[2]) {
  tj_flexible *f = t->f;
  tj_leaves columns = {.count = 0}, rows = {.count = 0};
  t->load.word = tj_flexible_put(f, &load[0], int_of(t, t->together), f->first_stored, int_of(t, t->word));
  t->load.vector = tj_flexible_put(f, &columns, int_of(t, t->vectors), f->first_loaded, int_of(t, t->loaded));
  const tj_tuple *own = put_columns(t, &columns, s), *all = tj_flexible_put_list(f, &load[0], &columns);
  if (all != own)
    tj_flexible_group(f, all, tj_terse_mul(t->graph, t->x, int_of(t, t->vectors)), t->most_x * t->vectors);
  t->load.row_b = tj_flexible_put(f, &rows, s->items_b, f->first_stored, s->row_b);
  t->load.row_d = tj_flexible_put(f, &rows, s->items_d, f->next_stored, s->row_d);
  tj_flexible_put_list(f, &load[0], &rows);
  tj_flexible_put_vector(f, &load[1], TJ_FLEXIBLE_SOURCE);
  tj_flexible_put(f, &load[1], int_of(t, t->word), f->first_stored, int_of(t, 1));
  tj_flexible_put(f, &load[1], s->slots_b, f->first_stored, s->slot_b);
  tj_flexible_put(f, &load[1], s->slots_d, f->next_stored, s->slot_d);
}

/* What comes next in the order of stores, after so many vectors. */
static const tj_node *put_next(tj_turn *t, tj_leaves *items, const tj_tuple **part, const tj_node *extent,
                               uint32_t mode, const tj_node *step) {
  const tj_node *before = t->in_order;
  *part = tj_flexible_put(t->f, items, extent, mode, step);
  t->in_order = tj_terse_mul(t->graph, before, tj_flexible_launched(t->f, extent));
  return before;
}

/* Slots that are not all together are along one mode. */
static void put_slots(tj_turn *t, const shares *s, tj_leaves *items, bool are_of_b) {
  tj_flexible *f = t->f;
  const tj_tuple *part;
  const tj_node *step = are_of_b ? put_next(t, items, &part, s->slots_b, f->first_stored, s->slot_b)
                                 : put_next(t, items, &part, s->slots_d, f->next_stored, s->slot_d);
  const tj_node *all = tj_equal(t->graph, t->along_b.launch, int_of(t, t->slots));
  t->order.slot = are_of_b ? step : tj_flexible_choice(t->graph, all, t->order.slot, step);
}

static void put_slots_first(tj_turn *t, const shares *s, tj_leaves *items) {
  put_slots(t, s, items, true);
  put_slots(t, s, items, false);
  t->order.slot = int_of(t, 1);
}

static void put_rows_of_d(tj_turn *t, const shares *s, tj_leaves *items) {
  t->order.row_d = put_next(t, items, &t->store.row_d, s->items_d, t->f->next_stored, s->row_d);
  if (!t->has_slots_first)
    put_slots(t, s, items, false);
}

static void put_columns_in_order(tj_turn *t, const shares *s, tj_leaves *items) {
  uint32_t mode = t->f->first_loaded;
  t->order.part = put_next(t, items, &t->store.part, int_of(t, t->parts), mode, int_of(t, 1));
  t->order.a = put_next(t, items, &t->store.a, s->items_a, mode, int_of(t, t->column));
}

/* They store in the destination's order, but slots that fill all places of LDS first; parts of a column come before
 * columns. */
static void put_ordered(tj_turn *t, const shares *s, tj_leaves *items) {
  tj_flexible *f = t->f;
  t->in_order = int_of(t, 1);
  if (t->has_slots_first)
    put_slots_first(t, s, items);
  t->order.row_b = put_next(t, items, &t->store.row_b, s->items_b, f->first_stored, s->row_b);
  if (!t->has_slots_first)
    put_slots(t, s, items, true);
  for (unsigned i = 0; i < 3 && t->after[i] != NULL; i++) {
    if (t->after[i] == t->a)
      put_columns_in_order(t, s, items);
    else if (t->after[i] == t->c)
      t->order.c = put_next(t, items, &t->store.c, s->items_c, f->next_loaded, int_of(t, 1));
    else
      put_rows_of_d(t, s, items);
  }
}

static void make_store(tj_turn *t, const shares *s, tj_leaves store[2]) {
  tj_flexible *f = t->f;
  put_ordered(t, s, &store[0]);
  tj_flexible_put_vector(f, &store[1], TJ_FLEXIBLE_DESTINATION);
  tj_flexible_put(f, &store[1], int_of(t, t->rows), f->first_loaded, int_of(t, t->parts));
  tj_flexible_put(f, &store[1], s->pass_a, f->first_loaded, s->step_a);
  tj_flexible_put(f, &store[1], s->pass_c, f->next_loaded, s->items_c);
}

static void make_mapping(tj_turn *t) {
  tj_leaves load[2] = {{.count = 0}, {.count = 0}}, store[2] = {{.count = 0}, {.count = 0}};
  shares s = choose_shares(t);
  make_load(t, &s, load);
  make_store(t, &s, store);
  tj_flexible_set_mapping(t->f, load, store);
}

/* --- kernels --- */

static tj_flexible_mode *mode_or_none(tj_flexible *f, uint32_t mode) {
  return mode != TJ_FLEXIBLE_NONE ? &f->mode[mode] : NULL;
}

/* As the launch has them. */
static void sort_modes(tj_turn *t) {
  const tj_flexible_mode *const mode[] = {t->a, t->c, t->d, NULL};
  for (uint32_t i = 0; i < TJ_TILE_FOLLOWING; i++)
    t->after[i] = mode[t->f->kernel->launched->tile.after[i]];
}

void *tj_flexible_turn_shape(tj_flexible *f) {
  tj_turn *t = TJ_NEW(f->graph->job, tj_turn);
  *t = (tj_turn){.f = f,
                 .graph = f->graph,
                 .a = &f->mode[f->first_loaded],
                 .b = &f->mode[f->first_stored],
                 .c = mode_or_none(f, f->next_loaded),
                 .d = mode_or_none(f, f->next_stored)};
  choose_widths(t);
  choose_box(t);
  sort_modes(t);
  measure_shape(t);
  make_mapping(t);
  tj_flexible_place_tiles(f);
  return t;
}

void tj_flexible_turn_steps(void *shape) {
  tj_turn *t = shape;
  tj_flexible *f = t->f;
  uint32_t loads = (uint32_t)(t->slots * t->word), stores = (uint32_t)t->rows;
  uint32_t slot = t->passes > 1 ? loads * (uint32_t)t->loaded : 0;
  tj_flexible_hold load = tj_flexible_split_items(f, TJ_FLEXIBLE_SOURCE);
  const tj_node *loading = f->gate;
  tj_flexible_move_some(&load, 0, loads, 0);
  tj_flexible_hold store = tj_flexible_split_items(f, TJ_FLEXIBLE_DESTINATION);
  const tj_node *storing = f->gate;
  for (uint32_t pass = 0; pass < t->passes; pass++) {
    if (pass > 0)
      tj_flexible_barrier(f);
    f->gate = loading;
    tj_turn_put(t, &load, pass);
    tj_flexible_barrier(f);
    f->gate = storing;
    tj_turn_take(t, &store, slot);
    tj_flexible_move_some(&store, pass * stores, stores, slot);
  }
}
