/* SPDX-License-Identifier: MIT */
/* Flexible tiles that turn around in LDS.
 *
 * The tile is a box: elements of the source along its first mode, some vectors at a time, and coordinates of its next
 * mode, are columns x; vectors of the destination, and coordinates of its next mode, are rows y of several each, its
 * slots. A work-item loads a vector of one column for each of its slots, and stores all elements of one column, or a
 * part of them, for one slot. How the slots of a row are shared out between the destination's two modes, and how
 * large the box is along each mode, is up to the launch.
 *
 * Of vectors of elements that are smaller than a word, a work-item loads as many rows as make a vector of the
 * destination, a square. Where memory moves whole lines of its caches, not sectors, it does so twice: the second
 * square is half a tile further along the destination. Such tiles take more than a workgroup's part of LDS: one group
 * of their columns goes through it after the other, as a pass. */
#include "lower/flexible/flexible_turn.h"
#include "base/integer.h"
#include "base/machine/processor.h"
#include "ir/layout/arith.h"
#include "lower/kernel/arithmetic.h"
#include "lower/tile/lds_transit.h"

enum {
  SQUARES = 2, /* of a work-item */
  PASSES = 2,  /* for each square */
  A = TJ_TURN_A,
  B = TJ_TURN_B,
  C = TJ_TURN_C,
  D = TJ_TURN_D
};

static const tj_node *int_of(const tj_turn *t, int64_t value) {
  return tj_turn_int(t, value);
}

/* --- widths --- */

static bool has_sectors(const tj_turn *t) {
  return tj_sector_bytes(t->f->target->processor) > 0;
}

/* Elements that are bytes in the source, too, go through LDS at once where memory moves sectors: in smaller tiles. */
static bool are_bytes_of_sectors(const tj_turn *t) {
  const tj_flexible *f = t->f;
  return has_sectors(t) && tj_element_bytes(f->kernel, tj_flexible_buffer(f, TJ_FLEXIBLE_SOURCE)) == 1;
}

/* Where elements are computed, code is long, and more work-items take the tile. */
static uint32_t squares_of(const tj_turn *t) {
  const tj_flexible *f = t->f;
  bool are_shared = f->kernel->arithmetic.when != TJ_COMPUTED_NEVER &&
                    f->target->workgroup_limit >= SQUARES * PASSES * TJ_FLEXIBLE_ITEMS;
  return has_sectors(t) || are_shared ? 1 : SQUARES;
}

static uint32_t items_of_passes(const tj_turn *t) {
  uint32_t items = PASSES * TJ_FLEXIBLE_ITEMS;
  return has_sectors(t) ? items : items * SQUARES / (uint32_t)t->slots;
}

/* Whether tiles of squares are for twice as many work-items, and go through LDS in passes. */
static bool may_pass(const tj_turn *t) {
  return t->loaded >= PASSES * t->together && t->f->target->workgroup_limit >= PASSES * TJ_FLEXIBLE_ITEMS &&
         !are_bytes_of_sectors(t);
}

/* Squares: a work-item stores as much of each element of a column as of one, a part of a column in each pass. */
static void hold_squares(tj_turn *t) {
  t->word = tj_least(t->stored, TJ_TURN_LOADS);
  t->together = t->stored / t->word;
  t->slots = t->vectors = t->passes = 1;
  t->rows = t->loaded / t->together;
  if (may_pass(t)) {
    t->slots = squares_of(t);
    t->passes = PASSES * t->slots;
    t->rows /= PASSES;
    tj_flexible_set_items(t->f, items_of_passes(t));
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
  t->loaded = t->f->width[TJ_FLEXIBLE_SOURCE];
  t->stored = t->f->width[TJ_FLEXIBLE_DESTINATION];
  if (tj_dtype_bits(t->f->kernel->carried) / 8 < WORD && t->loaded > 1)
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
  t->x = tj_flexible_at_most(graph, tj_terse_mul(graph, f->axis[A].items, f->axis[C].items), t->most_x);
  for (uint32_t i = 0; i < TJ_TURN_AXES; i++)
    t->along[i] = tj_flexible_power(graph, f->axis[i].log);
}

/* Elements that items move along an axis by themselves, side by side. */
static int64_t unit_of(const tj_turn *t, uint32_t axis) {
  return axis == A ? t->column : axis == B ? t->stored : 1;
}

/* The lengths of the tile. */
static void measure_shape(tj_turn *t) {
  tj_flexible *f = t->f;
  tj_graph *graph = t->graph;
  for (uint32_t i = 0; i < TJ_TURN_AXES; i++) {
    if (!tj_turn_has(t, i))
      continue;
    tj_flexible_mode *mode = &f->mode[f->axis[i].mode];
    const tj_node *item = tj_terse_mul(graph, t->along[i], int_of(t, unit_of(t, i)));
    const tj_node *length = tj_terse_mul(graph, f->axis[i].items, item);
    mode->length = i == C && t->passes == 1 ? length : tj_min(graph, mode->extent.launch, length);
  }
  tj_flexible_need(f, f->axis[A].mode, t->column);
  tj_flexible_need(f, f->axis[B].mode, t->stored);
  f->kernel->lds_elements = (uint32_t)(t->rows * f->items * t->stored);
  int64_t stored = t->passes > 1 ? t->rows * t->stored : 0;
  tj_set_source_slots(graph, f->kernel, (uint32_t)(t->slots * t->word * t->loaded + stored));
}

/* --- the mapping --- */

/* The numbers that the launch chooses, and how far apart are what they number: slots of rows, passes of columns. */
typedef struct {
  const tj_node *items[TJ_TURN_AXES], *slots[TJ_TURN_AXES];
  const tj_node *step[TJ_TURN_AXES], *slot_step[TJ_TURN_AXES];
} shares;

/* Slots of squares are a row of work-items apart; others follow one another. */
static shares choose_shares(tj_turn *t) {
  shares s;
  for (uint32_t i = 0; i < TJ_TURN_AXES; i++)
    s.items[i] = tj_flexible_items(t->f, i);
  for (uint32_t i = TJ_TURN_AXES; i-- > 0;)
    s.slots[i] = tj_flexible_slots(t->f, i);
  for (uint32_t i = 0; i < TJ_TURN_AXES; i++) {
    bool are_slots_first = t->has_slots_first && i >= D;
    const tj_node *unit = int_of(t, unit_of(t, i));
    s.step[i] = are_slots_first ? tj_terse_mul(t->graph, s.slots[i], unit) : unit;
    s.slot_step[i] = are_slots_first ? unit : tj_terse_mul(t->graph, s.items[i], unit);
  }
  return s;
}

static const tj_tuple *put_items(const tj_turn *t, const shares *s, tj_leaves *list, uint32_t axis) {
  return tj_flexible_put(t->f, list, s->items[axis], axis, s->step[axis]);
}

static const tj_tuple *put_slots(const tj_turn *t, const shares *s, tj_leaves *list, uint32_t axis) {
  return tj_flexible_put(t->f, list, s->slots[axis], axis, s->slot_step[axis]);
}

static const tj_tuple *put_columns(tj_turn *t, tj_leaves *list, const shares *s) {
  tj_flexible *f = t->f;
  tj_leaves columns = {.count = 0};
  for (uint32_t i = A; i <= C; i++) {
    t->load.item[i] = put_items(t, s, &columns, i);
    t->load.pass[i] = put_slots(t, s, &columns, i);
  }
  const tj_tuple *all = tj_flexible_put_list(f, list, &columns);
  tj_flexible_group(f, all, tj_terse_mul(t->graph, t->x, int_of(t, t->passes)), t->passes * t->most_x);
  return all;
}

/* Neighbouring work-items load the vectors of a word each; then come vectors and columns, then rows. */
static void make_load(tj_turn *t, const shares *s, tj_leaves load[2]) {
  tj_flexible *f = t->f;
  tj_leaves columns = {.count = 0}, rows = {.count = 0};
  t->load.word = tj_flexible_put(f, &load[0], int_of(t, t->together), B, int_of(t, t->word));
  t->load.vector = tj_flexible_put(f, &columns, int_of(t, t->vectors), A, int_of(t, t->loaded));
  const tj_tuple *own = put_columns(t, &columns, s), *all = tj_flexible_put_list(f, &load[0], &columns);
  if (all != own)
    tj_flexible_group(f, all, tj_terse_mul(t->graph, t->x, int_of(t, t->vectors)), t->most_x * t->vectors);
  t->load.item[B] = put_items(t, s, &rows, B);
  t->load.item[D] = put_items(t, s, &rows, D);
  tj_flexible_put_list(f, &load[0], &rows);
  tj_flexible_put_vector(f, &load[1], TJ_FLEXIBLE_SOURCE);
  tj_flexible_put(f, &load[1], int_of(t, t->word), B, int_of(t, 1));
  put_slots(t, s, &load[1], B);
  put_slots(t, s, &load[1], D);
}

/* So many times as many vectors have their place in the order of stores. How many there were before. */
static const tj_node *go_on(tj_turn *t, const tj_node *extent) {
  const tj_node *before = t->in_order;
  t->in_order = tj_terse_mul(t->graph, before, tj_flexible_launched(t->f, extent));
  return before;
}

static void order_items(tj_turn *t, const shares *s, tj_leaves *items, uint32_t axis) {
  t->store.item[axis] = put_items(t, s, items, axis);
  t->order.item[axis] = go_on(t, s->items[axis]);
}

/* Slots that are not all together are along one mode. */
static void order_slots(tj_turn *t, const shares *s, tj_leaves *items, uint32_t axis) {
  put_slots(t, s, items, axis);
  const tj_node *step = go_on(t, s->slots[axis]), *all = tj_equal(t->graph, t->along[B], int_of(t, t->slots));
  t->order.slot = axis == B ? step : tj_flexible_choice(t->graph, all, t->order.slot, step);
}

static void order_slots_first(tj_turn *t, const shares *s, tj_leaves *items) {
  order_slots(t, s, items, B);
  order_slots(t, s, items, D);
  t->order.slot = int_of(t, 1);
}

static void order_parts(tj_turn *t, tj_leaves *items) {
  const tj_node *parts = int_of(t, t->parts);
  t->store.part = tj_flexible_put(t->f, items, parts, A, int_of(t, 1));
  t->order.part = go_on(t, parts);
}

static void order_axis(tj_turn *t, const shares *s, tj_leaves *items, uint32_t axis) {
  if (axis == A)
    order_parts(t, items);
  order_items(t, s, items, axis);
  if (axis >= D && !t->has_slots_first)
    order_slots(t, s, items, axis);
}

/* They store in the destination's order, but slots that fill all places of LDS first; parts of a column come before
 * columns. */
static void put_ordered(tj_turn *t, const shares *s, tj_leaves *items) {
  const uint32_t *after = tj_turn_after(t);
  t->in_order = int_of(t, 1);
  if (t->has_slots_first)
    order_slots_first(t, s, items);
  order_axis(t, s, items, B);
  for (uint32_t i = 0; i < TJ_TILE_FOLLOWING && after[i] < TJ_TILE_FOLLOWING; i++)
    order_axis(t, s, items, after[i]);
}

static void make_store(tj_turn *t, const shares *s, tj_leaves store[2]) {
  put_ordered(t, s, &store[0]);
  tj_flexible_put_vector(t->f, &store[1], TJ_FLEXIBLE_DESTINATION);
  tj_flexible_put(t->f, &store[1], int_of(t, t->rows), A, int_of(t, t->parts));
  put_slots(t, s, &store[1], A);
  put_slots(t, s, &store[1], C);
}

static void make_mapping(tj_turn *t) {
  tj_leaves load[2] = {{.count = 0}, {.count = 0}}, store[2] = {{.count = 0}, {.count = 0}};
  shares s = choose_shares(t);
  make_load(t, &s, load);
  make_store(t, &s, store);
  tj_flexible_set_mapping(t->f, load, store);
}

/* --- kernels --- */

void *tj_flexible_turn_shape(tj_flexible *f) {
  tj_turn *t = TJ_NEW(f->graph->job, tj_turn);
  *t = (tj_turn){.f = f, .graph = f->graph};
  choose_widths(t);
  choose_box(t);
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
