/* SPDX-License-Identifier: MIT */
/* Bounds: predicates of accesses that are conjunctions of `sum of digits and strides < expression of parameters`, or
 * the other way round, as those of pads are. Two of the same sum make one form, of which work-items compute their
 * part once; what is added for a tile and a slot, and the bounds themselves, are the same for all. Where a form's
 * steps are those of an image's row in memory, the offset tells a work-item's part; where they are those of its rows,
 * and another form tells what is inside of a row, the offset tells where the image ends, as resources do. */
#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/flexible/flexible_maker.h"

/* Of sums within all of the domain, so that what is left of them fits in 32 bits. */
static const int64_t most_bound = TJ_FLEXIBLE_MOST_BOUND;

enum { FIRST_ROWS = 3 /* of a tile, which may be before a bound whose end offsets tell */ };

/* A predicate on its way to bounds. */
typedef struct {
  tj_flexible *f;
  uint32_t side;
  const tj_node *const *digit;
} predicate;

/* constant + Σ digit * stride */
typedef struct {
  const tj_node *constant, *stride[TJ_FLEXIBLE_MODES];
} linear;

static const tj_node *clamped(tj_graph *graph, const tj_node *node, int64_t low, int64_t high) {
  return tj_flexible_at_least(graph, tj_flexible_at_most(graph, node, high), low);
}

/* --- sums --- */

/* The expression where all digits are 0 but one, which is 1; none: TJ_FLEXIBLE_NONE. */
static const tj_node *at_digit(const predicate *p, const tj_node *node, uint32_t one) {
  tj_graph *graph = p->f->graph;
  const tj_node *from[TJ_FLEXIBLE_MODES], *to[TJ_FLEXIBLE_MODES];
  uint32_t count = p->f->domain->count;
  for (uint32_t m = 0; m < count; m++) {
    from[m] = p->digit[m];
    to[m] = tj_int(graph, m == one);
  }
  tj_substitute(graph, &(tj_substitution){from, to, count}, &node, 1);
  return tj_simplified(graph, node);
}

static bool is_linear(const predicate *p, const tj_node *node, linear *sum) {
  tj_graph *graph = p->f->graph;
  sum->constant = at_digit(p, node, TJ_FLEXIBLE_NONE);
  const tj_node *all = sum->constant;
  for (uint32_t m = 0; m < p->f->domain->count; m++) {
    sum->stride[m] = tj_simplified(graph, tj_sub(graph, at_digit(p, node, m), sum->constant));
    all = tj_terse_add(graph, all, tj_terse_mul(graph, p->digit[m], sum->stride[m]));
  }
  return tj_prove_equal(graph, node, tj_simplified(graph, all));
}

/* Whether no stride, times the sign, is negative. */
static bool has_sign(const predicate *p, const linear *sum, int sign) {
  bool has = true;
  for (uint32_t m = 0; m < p->f->domain->count; m++) {
    const tj_facts *facts = &sum->stride[m]->facts;
    has = has && (sign > 0 ? facts->low >= 0 : facts->high <= 0);
  }
  return has;
}

/* --- forms --- */

static bool is_form(const predicate *p, uint32_t form, const linear *sum) {
  bool is_same = p->f->form[form].side == p->side;
  for (uint32_t m = 0; m < p->f->domain->count; m++)
    is_same = is_same && p->f->mode[m].stride[form].launch == clamped(p->f->graph, sum->stride[m], 0, most_bound);
  return is_same;
}

/* A sum that stays small throughout the domain. */
static void measure_form(const predicate *p, uint32_t form, const linear *sum) {
  tj_flexible *f = p->f;
  tj_graph *graph = f->graph;
  const tj_node *most = tj_int(graph, 0);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    tj_flexible_demand_between(f, sum->stride[m], 0, most_bound);
    const tj_node *stride = clamped(graph, sum->stride[m], 0, most_bound);
    const tj_node *last = tj_terse_sub(graph, f->mode[m].extent.launch, tj_int(graph, 1));
    f->mode[m].stride[form] = tj_flexible_measure(f, "step", stride, 0, most_bound, 1);
    most = tj_terse_add(graph, most, tj_terse_mul(graph, last, stride));
  }
  tj_flexible_demand_between(f, most, 0, most_bound);
  f->form[form] = (tj_flexible_form){.base = tj_int(graph, 0), .side = p->side};
}

static tj_flexible_form *form_of(const predicate *p, const linear *sum) {
  tj_flexible *f = p->f;
  uint32_t form = TJ_FLEXIBLE_BOUNDS;
  while (form < f->form_count && !is_form(p, form, sum))
    form++;
  if (form == TJ_FLEXIBLE_FORMS - 1)
    return NULL;
  if (form == f->form_count) {
    measure_form(p, form, sum);
    f->form_count++;
  }
  return &f->form[form];
}

/* --- predicates --- */

/* before < Σ digit * stride */
static bool add_low(const predicate *p, const linear *sum) {
  tj_graph *graph = p->f->graph;
  tj_flexible_form *form = form_of(p, sum);
  if (form == NULL)
    return false;
  const tj_node *before = tj_simplified(graph, tj_sub(graph, tj_int(graph, -1), sum->constant));
  before = clamped(graph, before, -1, most_bound);
  form->before = form->before != NULL ? tj_max(graph, form->before, before) : before;
  return true;
}

/* Σ digit * stride < end, of a sum whose strides are all turned around */
static bool add_end(const predicate *p, linear *sum) {
  tj_graph *graph = p->f->graph;
  const tj_node *zero = tj_int(graph, 0);
  for (uint32_t m = 0; m < p->f->domain->count; m++)
    sum->stride[m] = tj_simplified(graph, tj_sub(graph, zero, sum->stride[m]));
  tj_flexible_form *form = form_of(p, sum);
  if (form == NULL)
    return false;
  const tj_node *end = tj_simplified(graph, tj_add(graph, sum->constant, tj_int(graph, 1)));
  end = clamped(graph, end, 0, most_bound + 1);
  form->end = form->end != NULL ? tj_min(graph, form->end, end) : end;
  return true;
}

/* Whether a vector is within 0 <= sum with all of its elements or none: where the sum is the same for these; or where
 * it has their neighbourhood, and changes its sign between vectors, as the launch makes sure. */
static bool keeps_vectors(const predicate *p, const linear *sum) {
  tj_flexible *f = p->f;
  uint32_t first = tj_flexible_first(f, p->side), width = f->width[p->side];
  const tj_node *stride = sum->stride[first];
  if (tj_is_int(stride, 0))
    return true;
  if (!tj_is_int(stride, 1) && !tj_is_int(stride, -1))
    return false;
  const tj_node *unless_cut = f->condition;
  const tj_node *end = tj_is_int(stride, 1) ? sum->constant : tj_add(f->graph, sum->constant, tj_int(f->graph, 1));
  tj_flexible_demand_multiple(f, tj_simplified(f->graph, end), width);
  for (uint32_t m = 0; m < f->domain->count; m++)
    tj_flexible_demand_multiple(f, m == first ? f->domain->mode[m].extent : sum->stride[m], width);
  f->cuts_vectors = f->cuts_vectors || f->condition != unless_cut;
  return true;
}

/* 0 <= b - a - 1 */
static bool add_less(const predicate *p, const tj_node *a, const tj_node *b) {
  tj_graph *graph = p->f->graph;
  linear sum;
  const tj_node *rest = tj_sub(graph, tj_sub(graph, b, a), tj_int(graph, 1));
  if (!is_linear(p, tj_simplified(graph, rest), &sum) || !keeps_vectors(p, &sum))
    return false;
  if (has_sign(p, &sum, 1) && has_sign(p, &sum, -1)) {
    tj_flexible_demand(p->f, tj_less_equal(graph, tj_int(graph, 0), sum.constant));
    return true;
  }
  if (has_sign(p, &sum, 1))
    return add_low(p, &sum);
  return has_sign(p, &sum, -1) && add_end(p, &sum);
}

static bool add_truth(const predicate *p, const tj_node *truth) {
  if (truth->op == TJ_OP_AND)
    return add_truth(p, truth->arg[0]) && add_truth(p, truth->arg[1]);
  return tj_is_int(truth, 1) || (truth->op == TJ_OP_LESS && add_less(p, truth->arg[0], truth->arg[1]));
}

bool tj_flexible_bound(tj_flexible *f, uint32_t side, const tj_node *valid, const tj_node *const digit[]) {
  return add_truth(&(predicate){f, side, digit}, tj_simplified(f->graph, valid));
}

/* --- truths of work-items and of tiles --- */

static const tj_node *before_of(tj_flexible *f, const tj_flexible_form *form) {
  return form->before == NULL ? tj_int(f->graph, -1)
                              : tj_flexible_measure(f, "before", form->before, -1, most_bound, 1).name;
}

static const tj_node *end_of(tj_flexible *f, const tj_flexible_form *form) {
  return form->end == NULL ? tj_int(f->graph, most_bound + 1)
                           : tj_flexible_measure(f, "end", form->end, 0, most_bound + 1, 1).name;
}

/* Whether before < of_all + of_item, and of_all + of_item + span < end. */
static const tj_node *is_between(tj_flexible *f, const tj_flexible_form *form, const tj_node *of_all,
                                 const tj_node *of_item, const tj_node *span) {
  tj_graph *graph = f->graph;
  const tj_node *truth = tj_int(graph, 1);
  if (form->before != NULL)
    truth = tj_less(graph, tj_terse_sub(graph, before_of(f, form), of_all), of_item);
  if (form->end == NULL)
    return truth;
  const tj_node *end = tj_terse_sub(graph, end_of(f, form), tj_terse_add(graph, of_all, span));
  return tj_terse_both(graph, truth, tj_less(graph, of_item, end));
}

/* The same of an offset, which is pitch times that, and something below the pitch. */
static const tj_node *is_between_by_offset(tj_flexible *f, const tj_flexible_form *form, const tj_node *of_all,
                                           const tj_node *offset) {
  tj_graph *graph = f->graph;
  const tj_node *truth = tj_int(graph, 1), *one = truth;
  int64_t limit = tj_flexible_slot_limit(f, form->side);
  if (form->before != NULL) {
    const tj_node *first = tj_terse_add(graph, tj_terse_sub(graph, before_of(f, form), of_all), one);
    first = tj_flexible_at_least(graph, tj_min(graph, first, form->room.name), 0);
    first = tj_flexible_product(f, first, form->pitch.name, limit);
    truth = tj_less(graph, tj_terse_sub(graph, first, one), offset);
  }
  if (form->end == NULL)
    return truth;
  const tj_node *end = tj_min(graph, tj_terse_sub(graph, end_of(f, form), of_all), form->room.name);
  end = tj_flexible_product(f, tj_flexible_at_least(graph, end, 0), form->pitch.name, limit);
  return tj_terse_both(graph, truth, tj_less(graph, offset, end));
}

/* The same where an edge tells the end, of an offset's last element; only the first rows may be before. */
static const tj_node *is_before_edge(tj_flexible *f, const tj_flexible_form *form, const tj_node *of_all,
                                     const tj_node *of_item, const tj_flexible_place *place) {
  tj_graph *graph = f->graph;
  const tj_node *last = tj_terse_add(graph, place->of_item, tj_int(graph, f->width[form->side] - 1));
  const tj_node *truth = tj_less(graph, last, tj_terse_sub(graph, form->edge, place->of_all));
  if (form->before == NULL || f->row >= FIRST_ROWS)
    return truth;
  return tj_terse_both(graph, tj_less(graph, tj_terse_sub(graph, before_of(f, form), of_all), of_item), truth);
}

static const tj_node *is_row(tj_flexible *f, uint32_t side) {
  tj_graph *graph = f->graph;
  const tj_node *row = tj_int(graph, f->row), *bits = f->rows[side].bits;
  if (f->rows[side].end != NULL)
    return tj_less(graph, row, f->rows[side].end);
  return bits == NULL ? tj_int(graph, 1)
                      : tj_less(graph, tj_int(graph, 0), tj_and(graph, tj_shr(graph, bits, row), tj_int(graph, 1)));
}

/* Whether it is within one of them. */
static const tj_node *is_within(tj_flexible *f, uint32_t number, const tj_flexible_place place[]) {
  const tj_flexible_form *form = &f->form[number];
  const tj_node *of_all = tj_terse_add(f->graph, form->base, place[number].of_all);
  if (form->edge != NULL)
    return is_before_edge(f, form, of_all, place[number].of_item, &place[form->side]);
  if (form->pitch.name != NULL)
    return is_between_by_offset(f, form, of_all, place[form->side].of_item);
  return is_between(f, form, of_all, place[number].of_item, tj_int(f->graph, 0));
}

const tj_node *tj_flexible_within(tj_flexible *f, uint32_t side, const tj_flexible_place place[]) {
  const tj_node *truth = tj_int(f->graph, 1);
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i < f->form_count; i++) {
    if (f->form[i].side != side)
      continue;
    truth = tj_terse_both(f->graph, truth, is_within(f, i, place));
  }
  return tj_terse_both(f->graph, truth, is_row(f, side));
}

/* How far the tile's last element is from its first. */
static const tj_node *span_of(tj_flexible *f, uint32_t form) {
  tj_graph *graph = f->graph;
  const tj_node *span = tj_int(graph, 0);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_flexible_mode *mode = &f->mode[m];
    if (mode->length == NULL)
      continue;
    const tj_node *last = tj_terse_sub(graph, mode->length, tj_int(graph, 1));
    span = tj_terse_add(graph, span, tj_terse_mul(graph, last, mode->stride[form].launch));
  }
  return tj_flexible_measure(f, "span", clamped(graph, span, 0, most_bound), 0, most_bound, 1).name;
}

const tj_node *tj_flexible_is_inner(tj_flexible *f) {
  const tj_node *truth = tj_int(f->graph, 1), *none = tj_int(f->graph, 0);
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i < f->form_count; i++)
    truth = tj_terse_both(f->graph, truth, is_between(f, &f->form[i], f->form[i].base, none, span_of(f, i)));
  return truth;
}

/* Under a name of the workgroup. */
static const tj_node *named_of_all(tj_flexible *f, const char *name, const tj_node *value, int64_t low,
                                   int64_t high) {
  tj_graph *graph = f->graph;
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, low), tj_int(graph, high), 1);
  tj_flexible_bind(f, symbol, value, false);
  return symbol;
}

/* --- sums that offsets tell --- */

/* Of modes but those left out, how many elements of the side a 1 of the sum is; NULL: not each as many. */
static const tj_node *pitch_of(tj_flexible *f, uint32_t form, uint64_t left_out) {
  tj_graph *graph = f->graph;
  const tj_node *pitch = NULL;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_node *step = f->mode[m].stride[form].launch, *of_side = tj_flexible_stride(f, m, f->form[form].side);
    if ((left_out >> m & 1) != 0 || tj_is_int(step, 0))
      continue;
    if (step->facts.low < 1)
      return NULL;
    if (pitch == NULL)
      pitch = tj_simplified(graph, tj_div(graph, of_side, step));
    if (!tj_prove_equal(graph, tj_simplified(graph, tj_mul(graph, pitch, step)), of_side))
      return NULL;
  }
  return pitch;
}

static bool has_products(const tj_flexible *f, uint32_t form, uint64_t left_out) {
  bool has = false;
  for (uint32_t m = 0; m < f->domain->count; m++)
    has = has || ((left_out >> m & 1) == 0 && !tj_is_constant(f->mode[m].stride[form].launch));
  return has;
}

/* The most that a work-item's coordinates of modes which are in a sum, or are not, add to a form. */
static const tj_node *most_of(tj_flexible *f, uint32_t form, uint32_t sum, bool is_in, uint64_t without_items) {
  tj_graph *graph = f->graph;
  const tj_node *most = tj_int(graph, 0);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_flexible_mode *mode = &f->mode[m];
    if ((without_items >> m & 1) != 0 || mode->length == NULL || is_in == tj_is_int(mode->stride[sum].launch, 0))
      continue;
    const tj_node *last = tj_terse_sub(graph, mode->length, tj_int(graph, 1));
    most = tj_terse_add(graph, most, tj_terse_mul(graph, last, mode->stride[form].launch));
  }
  return most;
}

bool tj_flexible_has_pitch(tj_flexible *f, uint32_t form, uint64_t without_items) {
  return has_products(f, form, without_items) && pitch_of(f, form, without_items) != NULL;
}

void tj_flexible_tell_by_offsets(tj_flexible *f, uint32_t form, uint64_t without_items) {
  tj_graph *graph = f->graph;
  uint32_t side = f->form[form].side;
  const tj_node *pitch = pitch_of(f, form, without_items), *one = tj_int(graph, 1);
  if (pitch == NULL || !has_products(f, form, without_items))
    return;
  int64_t limit = tj_flexible_slot_limit(f, side);
  const tj_node *room = tj_terse_add(graph, most_of(f, form, form, true, without_items), one);
  tj_flexible_demand_between(f, pitch, 1, limit - 1);
  tj_flexible_demand_between(f, room, 1, limit - 1);
  pitch = clamped(graph, pitch, 1, limit - 1);
  room = clamped(graph, room, 1, limit - 1);
  tj_flexible_demand(f, tj_less(graph, most_of(f, side, form, false, without_items), pitch));
  tj_flexible_demand_between(f, tj_terse_mul(graph, pitch, room), 1, limit - 1);
  f->form[form].pitch = tj_flexible_measure(f, "pitch", pitch, 1, limit - 1, 1);
  f->form[form].room = tj_flexible_measure(f, "room", room, 1, limit - 1, 1);
}

/* --- ends that offsets tell --- */

/* The only other form of a form's side, of other modes; 0: there is none, or there are several. */
static uint32_t other_of(const tj_flexible *f, uint32_t form) {
  uint32_t other = 0, count = 0;
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i < f->form_count; i++) {
    if (i != form && f->form[i].side == f->form[form].side) {
      other = i;
      count++;
    }
  }
  for (uint32_t m = 0; m < f->domain->count && count == 1; m++) {
    const tj_measure *stride = f->mode[m].stride;
    count += tj_is_int(stride[form].launch, 0) || tj_is_int(stride[other].launch, 0) ? 0 : 1;
  }
  return count == 1 ? other : 0;
}

/* The most that a form's sum comes to in the domain. */
static const tj_node *most_in_domain(tj_flexible *f, uint32_t form) {
  tj_graph *graph = f->graph;
  const tj_node *most = tj_int(graph, 0);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_node *last = tj_terse_sub(graph, f->mode[m].extent.launch, tj_int(graph, 1));
    most = tj_terse_add(graph, most, tj_terse_mul(graph, last, f->mode[m].stride[form].launch));
  }
  return most;
}

/* A number of steps of a form, in elements of the side, below `limit` as the launch makes sure. */
static tj_measure steps_in(tj_flexible *f, const tj_node *steps, const tj_node *pitch, int64_t limit) {
  const tj_node *all = tj_terse_mul(f->graph, steps, pitch);
  tj_flexible_demand_between(f, all, 0, limit - 1);
  return tj_flexible_measure(f, "edge", clamped(f->graph, all, 0, limit - 1), 0, limit - 1, 1);
}

/* A form, and the other one of its side, by which offsets go on within a step of it. */
typedef struct {
  uint32_t form, inner;
  const tj_node *pitch, *inner_pitch;
} nested_forms;

/* Makes sure that where the inner bound holds, what offsets add beside the form's own part is less than a step. */
static void demand_nesting(tj_flexible *f, const nested_forms *n, uint64_t without_items) {
  tj_graph *graph = f->graph;
  const tj_flexible_form *inner = &f->form[n->inner];
  uint32_t side = inner->side;
  const tj_node *rest = tj_int(graph, 0), *two = tj_int(graph, 2);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_flexible_mode *mode = &f->mode[m];
    bool is_bounded = !tj_is_int(mode->stride[n->form].launch, 0) || !tj_is_int(mode->stride[n->inner].launch, 0);
    if (is_bounded || (without_items >> m & 1) != 0 || mode->length == NULL)
      continue;
    const tj_node *last = tj_terse_sub(graph, mode->length, tj_int(graph, 1));
    rest = tj_terse_add(graph, rest, tj_terse_mul(graph, last, mode->stride[side].launch));
  }
  const tj_node *steps = tj_sub(graph, tj_sub(graph, inner->end, inner->before), two);
  tj_flexible_demand(f, tj_less(graph, tj_add(graph, tj_mul(graph, steps, n->inner_pitch), rest), n->pitch));
}

/* What offsets of a tile are less than where the form's sum is less than its end: from where the inner bound begins
 * in the first row that is not. */
static const tj_node *edge_of(tj_flexible *f, const nested_forms *n) {
  tj_graph *graph = f->graph;
  const tj_flexible_form *form = &f->form[n->form], *inner = &f->form[n->inner];
  const tj_node *one = tj_int(graph, 1), *none = tj_int(graph, 0);
  int64_t limit = tj_flexible_slot_limit(f, form->side);
  const tj_node *room = tj_terse_add(graph, most_of(f, n->form, n->form, true, 0), one);
  tj_flexible_demand_between(f, room, 1, limit - 1);
  room = clamped(graph, room, 1, limit - 1);
  steps_in(f, room, n->pitch, limit);
  steps_in(f, most_in_domain(f, n->inner), n->inner_pitch, limit);
  tj_measure first = steps_in(f, tj_add(graph, inner->before, one), n->inner_pitch, limit);
  tj_measure pitch = tj_flexible_measure(f, "pitch", n->pitch, 1, limit - 1, 1);
  tj_measure step = tj_flexible_measure(f, "pitch", n->inner_pitch, 1, limit - 1, 1);
  const tj_node *left = tj_min(graph, tj_terse_sub(graph, end_of(f, form), form->base),
                               tj_flexible_measure(f, "room", room, 1, limit - 1, 1).name);
  left = tj_flexible_product(f, tj_max(graph, left, none), pitch.name, limit);
  const tj_node *begun = tj_flexible_product(f, inner->base, step.name, limit);
  return tj_max(graph, tj_sub(graph, tj_add(graph, left, first.name), begun), none);
}

/* The elements of the side for each 1 of a sum of all its modes; NULL: not each as many, or there is no end. */
static const tj_node *whole_pitch_of(tj_flexible *f, uint32_t form) {
  int64_t limit = tj_flexible_slot_limit(f, f->form[form].side);
  const tj_node *pitch = f->form[form].end != NULL ? pitch_of(f, form, 0) : NULL;
  if (pitch == NULL)
    return NULL;
  tj_flexible_demand_between(f, pitch, 1, limit - 1);
  return clamped(f->graph, pitch, 1, limit - 1);
}

void tj_flexible_end_by_offsets(tj_flexible *f, uint32_t number, uint64_t without_items) {
  tj_graph *graph = f->graph;
  tj_flexible_form *form = &f->form[number];
  nested_forms n = {.form = number, .inner = other_of(f, number)};
  if (n.inner == 0 || f->form[n.inner].before == NULL || (n.pitch = whole_pitch_of(f, n.form)) == NULL ||
      (n.inner_pitch = whole_pitch_of(f, n.inner)) == NULL)
    return;
  demand_nesting(f, &n, without_items);
  for (uint32_t m = 0; m < f->domain->count && form->before != NULL; m++) {
    const tj_node *first = tj_terse_mul(graph, tj_int(graph, FIRST_ROWS), f->mode[m].stride[number].launch);
    if (f->mode[m].is_cut)
      tj_flexible_demand(f, tj_less(graph, form->before, first));
  }
  form->edge = named_of_all(f, "edge", edge_of(f, &n), 0, 2 * tj_flexible_slot_limit(f, form->side) - 2);
}

/* --- rows --- */

void tj_flexible_cut(tj_flexible *f, uint32_t mode) {
  uint32_t form = f->form_count++;
  for (uint32_t m = 0; m < f->domain->count; m++) {
    const tj_node *stride = tj_int(f->graph, m == mode);
    f->mode[m].stride[form] = (tj_measure){stride, stride};
  }
  tj_flexible_demand_between(f, f->mode[mode].extent.launch, 1, most_bound);
  f->form[form] = (tj_flexible_form){.base = tj_int(f->graph, 0), .side = TJ_FLEXIBLE_NONE};
  f->mode[mode].is_cut = true;
}

/* Rows from `first` on, below `end`. */
typedef struct {
  const tj_node *first, *end;
} row_range;

/* As many rows as have less than `distance` before them. */
static const tj_node *rows_before(tj_flexible *f, const tj_node *distance, tj_measure step) {
  tj_graph *graph = f->graph;
  distance = tj_flexible_at_least(graph, distance, 0);
  const tj_node *up = tj_terse_sub(graph, step.name, tj_int(graph, 1));
  return tj_terse_div(graph, tj_terse_add(graph, distance, up), step.name);
}

static row_range common_rows(tj_flexible *f, row_range a, row_range b) {
  bool begins = tj_is_int(a.first, 0);
  return (row_range){begins ? b.first : tj_max(f->graph, a.first, b.first), tj_min(f->graph, a.end, b.end)};
}

/* The distance, as far as all rows reach. */
static const tj_node *within_rows(tj_flexible *f, const tj_node *distance, const tj_measure *stride, uint32_t rows) {
  tj_graph *graph = f->graph;
  const tj_node *reach = tj_terse_mul(graph, tj_int(graph, rows), stride->launch);
  reach = tj_flexible_at_most(graph, reach, most_bound + 1);
  return tj_min(graph, distance, tj_flexible_measure(f, "reach", reach, 0, most_bound + 1, 1).name);
}

/* The rows within the bounds of a form, which is the same for all work-items. Where they are found by a division,
 * what is beyond all rows is cut off before that; otherwise the last of them is clamped with that of the domain
 * alone: of three scalars, machines would find the least in vectors. */
static row_range rows_of(tj_flexible *f, const tj_flexible_form *form, const tj_measure *stride, uint32_t rows) {
  tj_graph *graph = f->graph;
  const tj_node *none = tj_int(graph, 0), *all = tj_int(graph, rows);
  if (tj_is_int(stride->launch, 0))
    return (row_range){none, tj_flexible_choice(graph, is_between(f, form, form->base, none, none), all, none)};
  tj_flexible_demand_between(f, stride->launch, 1, most_bound);
  tj_measure step = tj_flexible_measure(f, "step", clamped(graph, stride->launch, 1, most_bound), 1, most_bound, 1);
  row_range range = {none, all};
  if (form->before != NULL) {
    const tj_node *distance = tj_terse_sub(graph, before_of(f, form), form->base);
    range.first =
        tj_flexible_at_most(graph, rows_before(f, tj_terse_add(graph, distance, tj_int(graph, 1)), step), rows);
  }
  if (form->end == NULL)
    return range;
  const tj_node *distance = tj_terse_sub(graph, end_of(f, form), form->base);
  if (tj_is_constant(step.name)) {
    range.end = rows_before(f, distance, step);
  } else {
    range.end = rows_before(f, within_rows(f, distance, stride, rows), step);
    tj_sharpen_facts(range.end, &(tj_facts){.low = 0, .high = rows, .modulus = 1});
  }
  return range;
}

/* A bit for each. */
static const tj_node *bits_of(tj_flexible *f, row_range range) {
  tj_graph *graph = f->graph;
  const tj_node *one = tj_int(graph, 1);
  const tj_node *count = tj_flexible_at_least(graph, tj_sub(graph, range.end, range.first), 0);
  const tj_node *bits = tj_shl(graph, tj_sub(graph, tj_shl(graph, one, count), one), range.first);
  return named_of_all(f, "rows", bits, 0, UINT32_MAX >> 1);
}

/* Whether the form is a sum of none but these modes. */
static bool is_of(const tj_flexible *f, uint32_t form, uint64_t modes) {
  bool is = true;
  for (uint32_t m = 0; m < f->domain->count; m++)
    is = is && ((modes >> m & 1) != 0 || tj_is_int(f->mode[m].stride[form].launch, 0));
  return is;
}

/* Rows that begin with the first are told by their number, of which machines make one comparison each; where that
 * leaves three scalars to find the least of, by bits as others are. There are bits for no more rows than there are,
 * where only the other side's bounds have cut the range off. */
static void mask_side(tj_flexible *f, uint32_t side, row_range range, bool divides, uint32_t rows) {
  const tj_facts *end = &range.end->facts;
  if (divides && tj_is_int(range.first, 0)) {
    f->rows[side].end = named_of_all(f, "rows", range.end, end->low, end->high);
    return;
  }
  range.end = tj_flexible_at_most(f->graph, range.end, rows);
  f->rows[side].bits = bits_of(f, range);
}

void tj_flexible_mask_rows(tj_flexible *f, uint32_t mode, uint64_t without_items, uint32_t rows) {
  const tj_flexible_mode *cut = &f->mode[mode];
  bool divides = false;
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i + 1 < f->form_count; i++)
    divides = divides || (is_of(f, i, without_items) && !tj_is_constant(cut->stride[i].name));
  const tj_node *left = tj_terse_sub(f->graph, cut->extent.name, f->form[f->form_count - 1].base);
  tj_sharpen_facts(left, &(tj_facts){.low = 1, .high = TJ_FLEXIBLE_MOST_EXTENT, .modulus = 1});
  const row_range inside = {tj_int(f->graph, 0), divides ? left : tj_flexible_at_most(f->graph, left, rows)};
  row_range range[TJ_FLEXIBLE_SIDES] = {inside, inside};
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i + 1 < f->form_count; i++) {
    tj_flexible_form *form = &f->form[i];
    if (!is_of(f, i, without_items))
      continue;
    range[form->side] = common_rows(f, range[form->side], rows_of(f, form, &cut->stride[i], rows));
    form->side = TJ_FLEXIBLE_NONE;
  }
  for (uint32_t side = 0; side < TJ_FLEXIBLE_SIDES; side++)
    mask_side(f, side, range[side], divides, rows);
}
