/* SPDX-License-Identifier: MIT */
/* Layouts as views, and views as layouts: see bridge.h.
 *
 * Back from a view, each hidden dimension is taken, bottom up, to a layout: what its index adds to the offset. A
 * transform that is a layout itself (its lower index is a layout of its upper one) composes with it; a merge puts the
 * layouts of its lower dimensions side by side. What transforms add whatever the index (offset, slice, freeze) is
 * collected, and must come to 0. */
#include "ir/view/bridge.h"

#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"

/* --- layout to view --- */

static const tj_tuple *flat_list(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  return tj_tuple_list(graph, leaves, count);
}

static bool is_flat(tj_layout layout) {
  return layout.shape->depth <= 1;
}

/* merge of the `count` dimensions from `first` on, of which the first is fastest; `upper` is the mode's number. */
static tj_view_step merge_of(tj_graph *graph, const tj_tuple *lengths, uint32_t first, uint32_t count,
                             uint32_t *upper) {
  const tj_tuple **reversed = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  uint32_t *lower = TJ_NEW_ARRAY(graph->job, uint32_t, count);
  for (uint32_t i = 0; i < count; i++) {
    lower[i] = first + count - 1 - i;
    reversed[i] = lengths->item[lower[i]];
  }
  tj_transform_kind kind = count == 1 ? TJ_TRANSFORM_PASS_THROUGH : TJ_TRANSFORM_MERGE;
  return (tj_view_step){tj_transform_make(graph, kind, reversed, count), lower, upper, count, 1};
}

static const tj_view *merge_modes(tj_graph *graph, const tj_view *flat, const tj_tuple *lengths,
                                  const tj_tuple *shape) {
  uint32_t rank = tj_tuple_rank(shape), first = 0;
  tj_view_step *steps = TJ_NEW_ARRAY(graph->job, tj_view_step, rank);
  uint32_t *upper = TJ_NEW_ARRAY(graph->job, uint32_t, rank);
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t count = tj_tuple_leaf_count(tj_tuple_mode(shape, i));
    upper[i] = i;
    steps[i] = merge_of(graph, lengths, first, count, &upper[i]);
    first += count;
  }
  return tj_view_transform(graph, flat, steps, rank);
}

static void check_strides(tj_graph *graph, const tj_tuple *strides) {
  for (uint32_t i = 0; i < strides->count; i++)
    if (strides->item[i]->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_NOT_A_VIEW,
              "the stride %s is no integer: the layout's values are coordinates, not offsets",
              tj_tuple_text(graph->job, strides->item[i]));
}

static void check_modes(tj_graph *graph, const tj_tuple *shape) {
  if (tj_tuple_leaf_count(shape) == 0)
    tj_fail(graph->job, TJ_NOT_A_VIEW, "the layout has no modes");
  for (uint32_t i = 0; i < tj_tuple_rank(shape); i++)
    if (tj_tuple_leaf_count(tj_tuple_mode(shape, i)) == 0)
      tj_fail(graph->job, TJ_NOT_A_VIEW, "mode %u of the layout is empty", i);
}

const tj_view *tj_view_of_layout(tj_graph *graph, tj_layout layout) {
  const tj_tuple *lengths = flat_list(graph, layout.shape), *strides = flat_list(graph, layout.stride);
  check_modes(graph, layout.shape);
  check_strides(graph, strides);
  const tj_view *flat = tj_view_strided(graph, lengths, strides, NULL, -1, -1);
  return is_flat(layout) ? flat : merge_modes(graph, flat, lengths, layout.shape);
}

/* --- view to layout --- */

/* What each hidden dimension adds to the offset: a layout of one mode, coalesced. It holds for indices within the
 * dimension; `everywhere` for others too, which loose transforms make. */
typedef struct {
  tj_graph *graph;
  const tj_view *view;
  tj_layout *adds; /* by hidden dimension */
  bool *everywhere;
  const tj_node *offset; /* collected */
} flattening;

static _Noreturn void fail_stage(flattening *self, const tj_transform *transform, const char *why) {
  tj_text text = tj_text_begin(self->graph->job);
  tj_transform_print(&text, transform);
  tj_fail(self->graph->job, TJ_NOT_A_LAYOUT, "%s %s", text.data, why);
}

static tj_layout integer_mode(tj_graph *graph, const tj_node *length, const tj_node *stride) {
  return (tj_layout){tj_tuple_integer(graph, length), tj_tuple_integer(graph, stride)};
}

/* A composition that may fail. */
typedef struct {
  tj_graph *graph;
  tj_layout below, above, composed;
} attempt;

static void try_composition(tj_job *job, void *data) {
  (void)job;
  attempt *self = data;
  self->composed = tj_layout_compose(self->graph, self->below, self->above);
}

/* What a failed composition of a stage is to be reported as: inadmissible ones as the obstacle that the stage is. */
static _Noreturn void fail_composition(flattening *self, const tj_transform *transform) {
  tj_job *job = self->graph->job;
  tj_problem problem = job->problem;
  if (problem.code == TJ_COMPOSITION_STRIDE || problem.code == TJ_COMPOSITION_SHAPE ||
      problem.code == TJ_COMPOSITION_OVERLAP)
    fail_stage(self, transform, "splits otherwise what was merged below it");
  tj_note(job, "%s", problem.note);
  tj_fail(job, problem.code, "%s", problem.message);
}

/* below o above, mode by mode. */
static tj_layout compose(flattening *self, const tj_transform *transform, tj_layout below, tj_layout above) {
  attempt tried = {self->graph, below, above, below};
  if (!tj_job_try(self->graph->job, try_composition, &tried))
    fail_composition(self, transform);
  return tried.composed;
}

static bool is_zero(const tj_node *node) {
  return tj_is_int(node, 0);
}

static void lift_pass(flattening *self, const tj_stage *stage) {
  self->adds[stage->upper_id[0]] = self->adds[stage->lower_id[0]];
  self->everywhere[stage->upper_id[0]] = self->everywhere[stage->lower_id[0]];
}

/* Lower indices from `low` to `high` must lie in the lower dimension, unless that goes on evenly outside. */
static void check_reach(flattening *self, const tj_stage *stage, const tj_node *low, const tj_node *high) {
  tj_graph *graph = self->graph;
  uint32_t below = stage->lower_id[0];
  const tj_node *zero = tj_int(graph, 0), *length = self->view->hidden_length[below];
  if (self->everywhere[below])
    return;
  tj_decision from = tj_decide_less_equal(graph, zero, low), to = tj_decide_less(graph, high, length);
  if (from == TJ_UNKNOWN)
    tj_fail_needs(graph, tj_transform_name(stage->transform->kind), zero, "<=", low);
  if (to == TJ_UNKNOWN)
    tj_fail_needs(graph, tj_transform_name(stage->transform->kind), high, "<", length);
  if (from == TJ_NO || to == TJ_NO)
    fail_stage(self, stage->transform, "reaches out of the dimension below it, which does not go on evenly there");
}

/* pad, left_pad, right_pad: nothing may be invalid, so no index may leave the dimension either. */
static void lift_pad(flattening *self, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->amount_count; i++)
    if (!is_zero(stage->transform->amount[i]))
      fail_stage(self, stage->transform, "makes coordinates that are not valid, and a layout has no such");
  lift_pass(self, stage);
  self->everywhere[stage->upper_id[0]] = false;
}

/* The layouts of the lower dimensions side by side, the last one fastest. */
static void lift_merge(flattening *self, const tj_stage *stage) {
  uint32_t count = stage->transform->lower_count;
  tj_layout *modes = TJ_NEW_ARRAY(self->graph->job, tj_layout, count);
  for (uint32_t i = 0; i < count; i++)
    modes[i] = self->adds[stage->lower_id[count - 1 - i]];
  self->adds[stage->upper_id[0]] = tj_layout_coalesce(self->graph, tj_layout_concat(self->graph, modes, count));
}

/* The transform as a layout of the coefficients of its upper dimensions, on what is below. */
static void lift_linear(flattening *self, const tj_stage *stage, const tj_node *const coefficient[]) {
  tj_graph *graph = self->graph;
  const tj_transform *transform = stage->transform;
  uint32_t count = transform->upper_count;
  tj_layout below = self->adds[stage->lower_id[0]];
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, count);
  for (uint32_t i = 0; i < count; i++) {
    modes[i] = integer_mode(graph, transform->upper_length[i], coefficient[i]);
    self->everywhere[stage->upper_id[i]] = self->everywhere[stage->lower_id[0]];
  }
  if (below.shape->kind == TJ_TUPLE_INTEGER) {
    for (uint32_t i = 0; i < count; i++)
      self->adds[stage->upper_id[i]] =
          integer_mode(graph, modes[i].shape->value, tj_terse_mul(graph, coefficient[i], below.stride->value));
    return;
  }
  tj_layout composed = compose(self, transform, below, tj_layout_concat(graph, modes, count));
  for (uint32_t i = 0; i < count; i++)
    self->adds[stage->upper_id[i]] = tj_layout_coalesce(graph, tj_layout_mode(graph, composed, i));
}

/* As for unmerge; but the lower indices may lie anywhere. */
static void lift_embed(flattening *self, const tj_stage *stage) {
  tj_graph *graph = self->graph;
  const tj_transform *transform = stage->transform;
  const tj_node *low = tj_int(graph, 0), *high = low, *zero = low;
  for (uint32_t i = 0; i < transform->upper_count; i++) {
    const tj_node *last = tj_terse_add(graph, transform->upper_length[i], tj_int(graph, -1));
    const tj_node *farthest = tj_terse_mul(graph, last, transform->amount[i]);
    bool forward = tj_decide_less_equal(graph, zero, transform->amount[i]) == TJ_YES;
    if (forward)
      high = tj_terse_add(graph, high, farthest);
    else
      low = tj_terse_add(graph, low, farthest);
  }
  check_reach(self, stage, low, high);
  lift_linear(self, stage, transform->amount);
}

static void lift_unmerge(flattening *self, const tj_stage *stage) {
  const tj_transform *transform = stage->transform;
  const tj_node *coefficient[TJ_MAX_DIMENSIONS], *product = tj_int(self->graph, 1);
  for (uint32_t i = transform->upper_count; i-- > 0;) {
    coefficient[i] = product;
    product = tj_terse_mul(self->graph, product, transform->upper_length[i]);
  }
  lift_linear(self, stage, coefficient);
}

/* l = u + amount. */
static void lift_offset(flattening *self, const tj_stage *stage) {
  tj_graph *graph = self->graph;
  const tj_transform *transform = stage->transform;
  const tj_node *amount = transform->amount[0], *one = tj_int(graph, 1);
  tj_layout below = self->adds[stage->lower_id[0]];
  bool even = below.shape->kind == TJ_TUPLE_INTEGER;
  if (!is_zero(amount) && !even)
    fail_stage(self, transform, "begins inside dimensions that were merged and do not lie evenly");
  const tj_node *last = tj_terse_add(graph, transform->upper_length[0], tj_int(graph, -1));
  check_reach(self, stage, amount, tj_terse_add(graph, last, amount));
  if (!is_zero(amount))
    self->offset = tj_terse_add(graph, self->offset, tj_terse_mul(graph, amount, below.stride->value));
  lift_linear(self, stage, &one);
}

static void lift_freeze(flattening *self, const tj_stage *stage) {
  tj_graph *graph = self->graph;
  const tj_node *at = stage->transform->amount[0];
  tj_layout below = self->adds[stage->lower_id[0]];
  check_reach(self, stage, at, at);
  const tj_node *fixed = below.shape->kind == TJ_TUPLE_INTEGER
                             ? tj_terse_mul(graph, at, below.stride->value)
                             : tj_layout_apply(graph, below, tj_tuple_integer(graph, at))->value;
  self->offset = tj_terse_add(graph, self->offset, fixed);
}

static void lift_insert(flattening *self, const tj_stage *stage) {
  for (uint32_t i = 0; i < stage->transform->upper_count; i++) {
    self->adds[stage->upper_id[i]] =
        integer_mode(self->graph, stage->transform->upper_length[i], tj_int(self->graph, 0));
    self->everywhere[stage->upper_id[i]] = true;
  }
}

/* u mod m for u < L: u itself, or the digit of u below m repeated. */
static void lift_modulo(flattening *self, const tj_stage *stage) {
  tj_graph *graph = self->graph;
  const tj_transform *transform = stage->transform;
  const tj_node *modulus = transform->amount[0], *length = transform->upper_length[0], *one = tj_int(graph, 1);
  bool whole = tj_decide_less_equal(graph, length, modulus) == TJ_YES;
  check_reach(self, stage, tj_int(graph, 0), tj_terse_add(graph, whole ? length : modulus, tj_int(graph, -1)));
  if (whole) {
    lift_linear(self, stage, &one);
    self->everywhere[stage->upper_id[0]] = false;
    return;
  }
  if (tj_decide_divides(graph, modulus, length) != TJ_YES)
    fail_stage(self, transform, "does not repeat a whole number of times");
  tj_layout below = self->adds[stage->lower_id[0]];
  tj_layout inner = compose(self, transform, below, integer_mode(graph, modulus, one));
  const tj_layout modes[] = {inner, integer_mode(graph, tj_exact_div(graph, length, modulus), tj_int(graph, 0))};
  self->adds[stage->upper_id[0]] = tj_layout_coalesce(graph, tj_layout_concat(graph, modes, 2));
}

static void lift_other(flattening *self, const tj_stage *stage) {
  fail_stage(self, stage->transform, "is no sum of strided digits");
}

typedef void (*lift)(flattening *self, const tj_stage *stage);

static const lift lifts[TJ_TRANSFORM_COUNT] = {
#define TRANSFORM(name, ...) [TJ_TRANSFORM_##name] = LIFT_##name,
#define LIFT_PASS_THROUGH lift_pass
#define LIFT_PAD lift_pad
#define LIFT_LEFT_PAD lift_pad
#define LIFT_RIGHT_PAD lift_pad
#define LIFT_MERGE lift_merge
#define LIFT_UNMERGE lift_unmerge
#define LIFT_EMBED lift_embed
#define LIFT_REPLICATE lift_insert
#define LIFT_OFFSET lift_offset
#define LIFT_SLICE lift_offset
#define LIFT_MODULO lift_modulo
#define LIFT_XOR lift_other
#define LIFT_FREEZE lift_freeze
#define LIFT_INSERT lift_insert
#define LIFT_INDEXING lift_other
#define LIFT_CYCLIC_SHIFT lift_other
#include "ir/view/transform.def"
#undef TRANSFORM
};

tj_layout tj_layout_of_view(tj_graph *graph, const tj_view *view) {
  tj_spend(graph->job, (uint64_t)view->hidden_count + view->stage_count);
  flattening self = {graph, view, TJ_NEW_ARRAY(graph->job, tj_layout, view->hidden_count),
                     TJ_NEW_ARRAY(graph->job, bool, view->hidden_count), view->offset};
  self.adds[0] = integer_mode(graph, view->space_size, tj_int(graph, 1));
  self.everywhere[0] = true;
  for (uint32_t s = 0; s < view->stage_count; s++)
    lifts[view->stage[s].transform->kind](&self, &view->stage[s]);
  tj_decision from_zero = tj_decide_equal(graph, self.offset, tj_int(graph, 0));
  if (from_zero == TJ_UNKNOWN)
    tj_fail_needs(graph, "layout", self.offset, "==", tj_int(graph, 0));
  if (from_zero == TJ_NO)
    tj_fail(graph->job, TJ_NOT_A_LAYOUT, "the view begins at offset %s, and a layout at 0",
            tj_describe(graph, self.offset));
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, view->rank);
  for (uint32_t i = 0; i < view->rank; i++)
    modes[i] = self.adds[view->visible[i]];
  bool is_integer = view->rank == 1 && modes[0].shape->kind == TJ_TUPLE_INTEGER;
  return is_integer ? modes[0] : tj_layout_concat(graph, modes, view->rank);
}
