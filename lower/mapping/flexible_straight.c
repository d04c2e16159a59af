/* SPDX-License-Identifier: MIT */
/* Flexible tiles that stay in registers: both sides have neighbours along the same mode.
 *
 * The tile is a box: vectors along the common first mode, and coordinates of the next mode of either side, so that
 * work-items that follow each other find long runs on both sides however short the first mode is. Each of the modes
 * is shared out between work-items and their slots, which the launch does so that little of a tile is empty. */
#include "ir/layout/arith.h"
#include "lower/mapping/flexible_maker.h"

enum { SLOTS = 8, LOG_SLOTS = 3, LONG_RUN = 64, SHORT_RUN = 16, AXES = 4, WAYS = 256 };

/* A mode of the box, in units: vectors along the first mode, coordinates along others. */
typedef struct {
  tj_flexible_mode *mode;           /* NULL: there is none */
  int64_t unit;                     /* elements */
  const tj_node *all, *items, *log; /* launch: units that there are, and that work-items have; of the slots */
  tj_measure count;                 /* items */
} axis;

typedef struct {
  tj_flexible *f;
  tj_graph *graph;
  int64_t width;
  axis axis[AXES]; /* the first mode; the source's next; the destination's; one more */
} straight;

static const tj_node *int_of(const straight *s, int64_t value) {
  return tj_int(s->graph, value);
}

/* --- the shape of the box --- */

static const tj_node *share_of(const straight *s, const axis *a, const tj_node *taken, int64_t of) {
  const tj_node *left = tj_flexible_at_least(s->graph, tj_terse_div(s->graph, int_of(s, of), taken), 1);
  return tj_flexible_balanced(s->graph, a->all, left);
}

/* Vectors first; short runs are continued along the source's next mode, then along the destination's. What is left of
 * the work-items goes wherever there is room. */
static void share_items(straight *s) {
  tj_graph *graph = s->graph;
  axis *a = &s->axis[0], *c = &s->axis[1], *d = &s->axis[2], *e = &s->axis[3];
  a->items = tj_flexible_balanced(graph, a->all, int_of(s, LONG_RUN));
  c->items = share_of(s, c, a->items, SHORT_RUN);
  d->items = share_of(s, d, tj_terse_mul(graph, a->items, c->items), TJ_FLEXIBLE_ITEMS);
  const tj_node *stored = tj_terse_mul(graph, a->items, d->items);
  c->items = share_of(s, c, stored, TJ_FLEXIBLE_ITEMS);
  e->items = share_of(s, e, tj_terse_mul(graph, stored, c->items), TJ_FLEXIBLE_ITEMS);
}

/* What is moved along an axis with 2^log slots. */
static const tj_node *cost_of(const straight *s, const axis *a, unsigned log) {
  enum { MANY = 1 << 13 };
  tj_graph *graph = s->graph;
  if (a->mode == NULL)
    return int_of(s, 1 << log);
  const tj_node *part = tj_terse_mul(graph, a->items, int_of(s, 1 << log));
  const tj_node *all = tj_flexible_at_most(graph, a->all, MANY);
  return tj_terse_mul(graph, tj_flexible_parts(graph, all, part), part);
}

static bool is_way(const straight *s, const unsigned logs[AXES]) {
  unsigned sum = 0;
  for (unsigned i = 0; i < AXES; i++) {
    sum += logs[i];
    if (s->axis[i].mode == NULL && logs[i] > 0)
      return false;
  }
  return sum == LOG_SLOTS;
}

/* The cheapest way to share out the slots, and of those the one with most along the last axes. */
static void share_slots(straight *s) {
  tj_graph *graph = s->graph;
  axis *axes = s->axis;
  const tj_node *best = NULL;
  for (unsigned i = 0; i < AXES; i++)
    axes[i].log = int_of(s, 0);
  for (unsigned way = 0; way < WAYS; way++) {
    const unsigned logs[AXES] = {way & 3, way >> 2 & 3, way >> 4 & 3, way >> 6};
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
  a->mode = mode != TJ_FLEXIBLE_NONE ? &s->f->mode[mode] : NULL;
  a->unit = unit;
  a->all = a->mode != NULL ? tj_flexible_parts(s->graph, a->mode->extent.launch, int_of(s, unit)) : int_of(s, 1);
}

/* The slots along an axis. */
static const tj_node *slots_along(const straight *s, const axis *a) {
  return tj_flexible_at_least(s->graph, tj_shl(s->graph, int_of(s, 1), a->log), 1);
}

/* Elements along an axis that the work-items have in one slot. */
static const tj_node *span_of(const straight *s, const axis *a) {
  return tj_terse_mul(s->graph, a->items, int_of(s, a->unit));
}

static void choose_shape(straight *s) {
  tj_graph *graph = s->graph;
  tj_flexible *f = s->f;
  set_axis(s, 0, f->first_loaded, s->width);
  set_axis(s, 1, f->next_loaded, 1);
  set_axis(s, 2, f->next_stored, 1);
  set_axis(s, 3, f->next_other, 1);
  share_items(s);
  share_slots(s);
  tj_flexible_demand(f, tj_less_equal(graph, int_of(s, s->width), s->axis[0].mode->extent.launch));
  for (unsigned i = 0; i < AXES; i++) {
    axis *a = &s->axis[i];
    a->count = tj_flexible_measure(f, "items", a->items, 1, TJ_FLEXIBLE_ITEMS, 1);
    if (a->mode != NULL)
      a->mode->length = tj_min(graph, a->mode->extent.launch, tj_terse_mul(graph, span_of(s, a), slots_along(s, a)));
  }
}

/* --- steps --- */

/* The digits of a work-item along the axes, in elements. */
static void place_item(straight *s, const tj_node *digit[AXES]) {
  tj_flexible *f = s->f;
  tj_graph *graph = s->graph;
  const axis *a = &s->axis[0];
  const tj_node *all = int_of(s, 1), *rest = f->kernel->item;
  for (unsigned i = 0; i < AXES; i++) {
    tj_flexible_digits digits = {int_of(s, 0), rest};
    if (i + 1 < AXES && s->axis[i + 1].mode != NULL)
      digits = tj_flexible_split(f, rest, s->axis[i].count, TJ_FLEXIBLE_ITEMS);
    digit[i] = digits.remainder;
    rest = digits.quotient;
    all = tj_terse_mul(graph, all, s->axis[i].items);
  }
  tj_flexible_gate(f, f->kernel->item, tj_flexible_at_most(graph, all, TJ_FLEXIBLE_ITEMS), TJ_FLEXIBLE_ITEMS);
  const tj_node *end = tj_min(graph, a->mode->length, span_of(s, a));
  const tj_node *last = tj_flexible_at_least(graph, tj_sub(graph, end, int_of(s, s->width)), 0);
  tj_measure last_a = tj_flexible_measure(f, "last", last, 0, INT32_MAX, 1);
  digit[0] = tj_flexible_least(f, tj_terse_mul(graph, digit[0], int_of(s, s->width)), last_a);
}

/* How far a slot is along an axis, at the launch: the last one is moved back inside the tile. */
static const tj_node *place_of_slot(straight *s, const axis *a, const tj_node *number) {
  tj_graph *graph = s->graph;
  const tj_node *rest = tj_flexible_at_least(graph, tj_terse_sub(graph, a->mode->length, span_of(s, a)), 0);
  return tj_min(graph, tj_terse_mul(graph, number, span_of(s, a)), rest);
}

static const tj_node *stride_of(const straight *s, unsigned number, bool of_source, bool at_launch) {
  const tj_measure *stride = of_source ? &s->axis[number].mode->source : &s->axis[number].mode->destination;
  return at_launch ? stride->launch : stride->name;
}

static const tj_node *offset_of_slot(straight *s, int64_t slot, bool of_source) {
  tj_graph *graph = s->graph;
  const tj_node *rest = int_of(s, slot), *sum = int_of(s, 0);
  for (unsigned i = AXES; i-- > 0;) {
    const axis *a = &s->axis[i];
    if (a->mode == NULL)
      continue;
    const tj_node *slots = slots_along(s, a);
    const tj_node *place = place_of_slot(s, a, tj_terse_mod(graph, rest, slots));
    rest = tj_terse_div(graph, rest, slots);
    sum = tj_terse_add(graph, sum, tj_terse_mul(graph, place, stride_of(s, i, of_source, true)));
  }
  return tj_flexible_measure(s->f, "slot", sum, 0, (int64_t)1 << 40, 1).name;
}

static void add_side(straight *s, const tj_node *const digit[AXES], bool of_source) {
  tj_flexible *f = s->f;
  tj_graph *graph = s->graph;
  const tj_node *offset = digit[0], *base = of_source ? f->source_base : f->destination_base;
  for (unsigned i = 1; i < AXES; i++) {
    const axis *a = &s->axis[i];
    if (a->mode != NULL)
      offset = tj_terse_add(graph, offset,
                            tj_flexible_product(f, digit[i], stride_of(s, i, of_source, false), a->mode->reach));
  }
  for (int64_t slot = 0; slot < SLOTS; slot++) {
    tj_access access = {.buffer = of_source ? f->source : f->destination,
                        .base = tj_terse_add(graph, base, offset_of_slot(s, slot, of_source)),
                        .offset = offset};
    tj_flexible_step(f, of_source ? TJ_STEP_LOAD : TJ_STEP_STORE, access, (uint32_t)s->width,
                     (uint32_t)(slot * s->width), 1);
  }
}

void tj_flexible_go_straight(tj_flexible *f) {
  uint32_t source = tj_dtype_bits(f->kernel->buffer[f->source].dtype) / 8;
  uint32_t destination = tj_dtype_bits(f->kernel->buffer[f->destination].dtype) / 8;
  straight s = {.f = f, .graph = f->graph};
  s.width = f->target->vector_bytes / (source > destination ? source : destination);
  choose_shape(&s);
  f->kernel->slot_count = (uint32_t)(SLOTS * s.width);
  tj_flexible_place(f);
  const tj_node *digit[AXES];
  place_item(&s, digit);
  add_side(&s, digit, true);
  add_side(&s, digit, false);
}
