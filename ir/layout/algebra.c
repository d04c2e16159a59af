/* SPDX-License-Identifier: MIT */
/* Layout algebra, its core: coalescing and composition. Everything else of CuTe's algebra is built on these two, in
 * algebra_*.c. */
#include "ir/layout/algebra.h"

#include "ir/layout/arith.h"

/* --- coalescing --- */

/* Modes under construction, last first: they occupy the arrays' entries from `front` on. */
typedef struct {
  const tj_node **extent;
  const tj_tuple **stride;
  uint32_t front, end;
} mode_stack;

static bool strides_continue(tj_graph *graph, const tj_node *extent, const tj_tuple *stride, const tj_tuple *next) {
  const tj_tuple *end = tj_tuple_scale(graph, extent, stride);
  if (end->kind != next->kind || end->count != next->count)
    return false;
  for (uint32_t level = 0; level < end->count; level++)
    if (end->path[level] != next->path[level])
      return false;
  return tj_surely_equal(graph, end->value, next->value);
}

static void push_mode(tj_graph *graph, mode_stack *stack, const tj_node *extent, const tj_tuple *stride) {
  uint32_t front = stack->front;
  bool nothing_yet = front + 1 == stack->end && tj_is_int(stack->extent[front], 1);
  if (tj_is_int(extent, 1))
    return;
  if (nothing_yet) {
    stack->extent[front] = extent;
    stack->stride[front] = stride;
  } else if (strides_continue(graph, extent, stride, stack->stride[front])) {
    stack->extent[front] = tj_terse_mul(graph, extent, stack->extent[front]);
    stack->stride[front] = stride;
  } else {
    stack->front--;
    stack->extent[stack->front] = extent;
    stack->stride[stack->front] = stride;
  }
}

static tj_layout layout_of_stack(tj_graph *graph, const mode_stack *stack) {
  uint32_t count = stack->end - stack->front;
  if (count == 1 && tj_is_int(stack->extent[stack->front], 1))
    return (tj_layout){tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  if (count == 1)
    return (tj_layout){tj_tuple_integer(graph, stack->extent[stack->front]), stack->stride[stack->front]};
  const tj_tuple **extents = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    extents[i] = tj_tuple_integer(graph, stack->extent[stack->front + i]);
  return (tj_layout){tj_tuple_list(graph, extents, count), tj_tuple_list(graph, stack->stride + stack->front, count)};
}

/* With `extend`, the result is the same map also beyond the layout's size, where the last mode goes on: so the last
 * mode is kept even when its extent is 1. */
static tj_layout coalesce(tj_graph *graph, tj_layout layout, bool extend) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  if (count == 0)
    return (tj_layout){tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  mode_stack stack = {TJ_NEW_ARRAY(graph->job, const tj_node *, count),
                      TJ_NEW_ARRAY(graph->job, const tj_tuple *, count), count - 1, count};
  bool last_is_one = tj_is_int(extents[count - 1]->value, 1);
  stack.extent[count - 1] = extend && last_is_one ? tj_int(graph, 2) : extents[count - 1]->value;
  stack.stride[count - 1] = strides[count - 1];
  for (uint32_t i = count - 1; i-- > 0;)
    push_mode(graph, &stack, extents[i]->value, strides[i]);
  return layout_of_stack(graph, &stack);
}

static tj_layout coalesce_by(tj_graph *graph, tj_layout layout, const tj_tuple *profile, bool extend) {
  if (!tj_tuple_is_list(profile))
    return coalesce(graph, layout, extend);
  uint32_t rank = tj_tuple_rank(layout.shape);
  if (profile->count > rank)
    tj_fail(graph->job, TJ_RANK, "a profile of rank %u for layout %s of rank %u", profile->count,
            tj_layout_text(graph->job, layout), rank);
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, rank);
  for (uint32_t i = 0; i < rank; i++) {
    modes[i] = tj_layout_mode(graph, layout, i);
    if (i < profile->count)
      modes[i] = coalesce_by(graph, modes[i], profile->item[i], extend);
  }
  return tj_layout_concat(graph, modes, rank);
}

tj_layout tj_layout_coalesce(tj_graph *graph, tj_layout layout) {
  return coalesce(graph, layout, false);
}

tj_layout tj_layout_coalesce_by(tj_graph *graph, tj_layout layout, const tj_tuple *profile) {
  return coalesce_by(graph, layout, profile, false);
}

/* --- composition --- */

const tj_tuple *tj_layout_coprofile(tj_graph *graph, tj_layout layout) {
  uint32_t count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &count);
  const tj_tuple *sum = tj_tuple_constant(graph, 0);
  for (uint32_t i = 0; i < count; i++)
    if (strides[i]->kind == TJ_TUPLE_BASIS)
      sum = tj_tuple_add(graph, sum, strides[i]);
  return tj_tuple_repeat_like(graph, sum, tj_tuple_constant(graph, 0));
}

/* A composition in progress. The left-hand layout is coalesced, by mode where the right-hand codomain is a tuple. For
 * each of its leaves, `load` is the sum of the largest digits that right-hand modes put there so far: NULL for none.
 * A sum that reaches the leaf's extent would carry, and the composition would not be the sum of its modes.
 *
 * A layout at a negative index is minus what it is at the index without the sign, as in CuTe. So modes of negative
 * strides go the way of those without the sign, backwards; modes of both signs in one part of several leaves would
 * borrow.
 *
 * While `may_overhang`, right-hand modes that step over tiles may step past the end of a leaf that the step does not
 * divide: the leaf is then covered by whole tiles, the last one beyond its end, and does not carry. */
typedef struct {
  tj_graph *graph;
  const tj_node **load;
  bool *overhangs;   /* by leaf */
  int8_t *direction; /* by leaf: the sign of right-hand strides that walk over it; 0: none did so far */
  bool may_overhang;
} composer;

/* The part of the left-hand layout that a right-hand mode walks through, and the number of its first leaf. */
typedef struct {
  const tj_tuple *shape, *stride;
  uint32_t first_leaf;
} walked;

/* What is left of a right-hand mode while it walks. */
typedef struct {
  const tj_node *extent, *stride;
} remainder_mode;

static void add_load(composer *self, uint32_t leaf, const tj_node *extent, const tj_node *digit) {
  tj_graph *graph = self->graph;
  if (self->load[leaf] == NULL || self->overhangs[leaf]) {
    self->load[leaf] = digit;
    return;
  }
  self->load[leaf] = tj_terse_add(graph, self->load[leaf], digit);
  switch (tj_decide_less(graph, self->load[leaf], extent)) {
  case TJ_YES:
    return;
  case TJ_NO:
    tj_fail(graph->job, TJ_COMPOSITION_OVERLAP, "composition: right-hand modes reach %s in a left-hand shape of %s",
            tj_describe(graph, self->load[leaf]), tj_describe(graph, extent));
  default:
    tj_fail_needs(graph, "composition", self->load[leaf], "<", extent);
  }
}

/* The sign of a stride that is not 0. */
static int direction_of(tj_graph *graph, const tj_node *stride) {
  if (tj_decide_less(graph, tj_int(graph, 0), stride) == TJ_YES)
    return 1;
  if (tj_decide_less(graph, stride, tj_int(graph, 0)) != TJ_YES)
    tj_fail_needs(graph, "composition", stride, ">=", tj_int(graph, 1));
  return -1;
}

/* All right-hand modes that walk over a part of several leaves go one way. */
static void set_direction(composer *self, walked left, const tj_node *stride, int direction) {
  int8_t *of_leaf = self->direction + left.first_leaf;
  for (uint32_t i = 0; i < left.shape->leaf_count; i++) {
    if (of_leaf[i] == -direction) {
      tj_note(self->graph->job, "only a left-hand layout of one mode composes with strides of both signs");
      tj_fail(self->graph->job, TJ_COMPOSITION_STRIDE,
              "composition: stride %s of a right-hand mode has another sign than one before it",
              tj_describe(self->graph, stride));
    }
    of_leaf[i] = (int8_t)direction;
  }
}

static _Noreturn void fail_stride_above(tj_graph *graph, const tj_node *stride, const tj_node *extent) {
  tj_fail(graph->job, TJ_COMPOSITION_STRIDE,
          "composition: stride %s of the right-hand mode is not a multiple of the left-hand shape %s",
          tj_describe(graph, stride), tj_describe(graph, extent));
}

static _Noreturn void fail_stride_below(tj_graph *graph, const tj_node *stride, const tj_node *extent) {
  tj_fail(graph->job, TJ_COMPOSITION_STRIDE,
          "composition: stride %s of the right-hand mode does not divide the left-hand shape %s",
          tj_describe(graph, stride), tj_describe(graph, extent));
}

static _Noreturn void fail_shape(tj_graph *graph, const tj_node *shape, const tj_node *available,
                                 const tj_node *extent, const tj_node *stride) {
  if (tj_is_int(stride, 1))
    tj_fail(graph->job, TJ_COMPOSITION_SHAPE,
            "composition: shape %s of the right-hand mode is not divisible by the left-hand shape %s",
            tj_describe(graph, shape), tj_describe(graph, extent));
  tj_fail(graph->job, TJ_COMPOSITION_SHAPE,
          "composition: shape %s of the right-hand mode is not divisible by %s, the left-hand shape %s at stride %s",
          tj_describe(graph, shape), tj_describe(graph, available), tj_describe(graph, extent),
          tj_describe(graph, stride));
}

/* Whether a left-hand mode is surely one of its own, whatever the parameters: it does not continue in the next. */
static bool stands_alone(tj_graph *graph, walked left, uint32_t mode) {
  const tj_node *extent = left.shape->item[mode]->value, *next_extent = left.shape->item[mode + 1]->value;
  const tj_tuple *stride = left.stride->item[mode], *next = left.stride->item[mode + 1];
  if (tj_decide_equal(graph, next_extent, tj_int(graph, 1)) != TJ_NO)
    return false;
  return stride->kind != next->kind ||
         tj_decide_equal(graph, tj_terse_mul(graph, extent, stride->value), next->value) == TJ_NO;
}

/* How many of the mode's coordinates fall into a left-hand leaf that its stride does not skip: the mode ends there,
 * or fills it evenly and goes on. */
static const tj_node *taken_extent(composer *self, const remainder_mode *rest, walked left, uint32_t mode) {
  tj_graph *graph = self->graph;
  const tj_node *extent = left.shape->item[mode]->value;
  uint32_t leaf = left.first_leaf + mode;
  tj_decision even = tj_decide_divides(graph, rest->stride, extent);
  const tj_node *available = tj_ceil_div(graph, extent, rest->stride);
  tj_decision ends = tj_decide_less_equal(graph, rest->extent, available);
  bool overhangs = self->may_overhang && even != TJ_YES;
  if (overhangs && !stands_alone(graph, left, mode))
    tj_fail_needs_divisible(graph, "composition", extent, rest->stride);
  self->overhangs[leaf] = self->overhangs[leaf] || overhangs;
  if (ends == TJ_YES)
    return rest->extent;
  if (even == TJ_NO && ends == TJ_NO && !self->may_overhang)
    fail_stride_below(graph, rest->stride, extent);
  if (even != TJ_YES && !self->may_overhang)
    tj_fail_needs_divisible(graph, "composition", extent, rest->stride);
  tj_decision fills = tj_decide_divides(graph, available, rest->extent);
  if (fills == TJ_NO)
    fail_shape(graph, rest->extent, available, extent, rest->stride);
  if (fills != TJ_YES)
    tj_fail_needs_divisible(graph, "composition", rest->extent, available);
  return available;
}

/* Whether the mode's stride skips a left-hand extent altogether. Where it does neither that nor begin in it, the
 * composition is inadmissible. */
static bool skips(tj_graph *graph, const remainder_mode *rest, const tj_node *extent) {
  if (tj_decide_divides(graph, extent, rest->stride) == TJ_YES)
    return true;
  tj_decision below = tj_decide_less(graph, rest->stride, extent);
  if (below == TJ_YES || tj_decide_divides(graph, rest->stride, extent) == TJ_YES)
    return false;
  if (below == TJ_NO && tj_decide_divides(graph, extent, rest->stride) == TJ_NO)
    fail_stride_above(graph, rest->stride, extent);
  tj_fail_needs_divisible(graph, "composition", extent, rest->stride);
}

/* One right-hand mode of positive stride against a left-hand part of several modes. */
static tj_layout compose_forwards(composer *self, walked left, remainder_mode rest) {
  tj_graph *graph = self->graph;
  uint32_t rank = left.shape->count, count = 0;
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, rank);
  for (uint32_t i = 0; i + 1 < rank; i++) {
    const tj_node *extent = left.shape->item[i]->value;
    if (skips(graph, &rest, extent)) {
      rest.stride = tj_exact_div(graph, rest.stride, extent);
      continue;
    }
    if (!tj_is_int(rest.extent, 1)) {
      const tj_node *taken = taken_extent(self, &rest, left, i);
      const tj_node *largest = tj_terse_mul(graph, tj_terse_add(graph, taken, tj_int(graph, -1)), rest.stride);
      add_load(self, left.first_leaf + i, extent, largest);
      modes[count].shape = tj_tuple_integer(graph, taken);
      modes[count++].stride = tj_tuple_scale(graph, rest.stride, left.stride->item[i]);
      rest.extent = tj_exact_div(graph, rest.extent, taken);
    }
    rest.stride = tj_int(graph, 1);
  }
  if (count == 0 || !tj_is_int(rest.extent, 1)) {
    modes[count].shape = tj_tuple_integer(graph, rest.extent);
    modes[count++].stride = tj_tuple_scale(graph, rest.stride, left.stride->item[rank - 1]);
  }
  return count == 1 ? modes[0] : tj_layout_concat(graph, modes, count);
}

static tj_layout compose_through(composer *self, walked left, remainder_mode rest) {
  const tj_node *minus_one = tj_int(self->graph, -1);
  int direction = direction_of(self->graph, rest.stride);
  set_direction(self, left, rest.stride, direction);
  if (direction > 0)
    return compose_forwards(self, left, rest);
  rest.stride = tj_mul(self->graph, minus_one, rest.stride);
  tj_layout forwards = compose_forwards(self, left, rest);
  forwards.stride = tj_tuple_scale(self->graph, minus_one, forwards.stride);
  return forwards;
}

/* The part of the left-hand layout that a basis element points to. */
static walked walk_path(composer *self, walked left, const tj_tuple *basis) {
  for (uint32_t level = 0; level < basis->count; level++) {
    uint32_t mode = basis->path[level], rank = tj_tuple_rank(left.shape);
    if (mode >= rank)
      tj_fail(self->graph->job, TJ_RANK, "composition: %s points outside the left-hand shape",
              tj_tuple_text(self->graph->job, basis));
    for (uint32_t i = 0; i < mode; i++)
      left.first_leaf += tj_tuple_mode(left.shape, i)->leaf_count;
    left.shape = tj_tuple_mode(left.shape, mode);
    left.stride = tj_tuple_mode(left.stride, mode);
  }
  return left;
}

static tj_layout compose(composer *self, walked left, const tj_tuple *shape, const tj_tuple *stride) {
  tj_graph *graph = self->graph;
  tj_spend(graph->job, 1 + tj_tuple_rank(left.shape));
  if (tj_tuple_is_list(shape)) {
    tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, shape->count);
    for (uint32_t i = 0; i < shape->count; i++)
      modes[i] = compose(self, left, shape->item[i], stride->item[i]);
    return tj_layout_concat(graph, modes, shape->count);
  }
  if (stride->kind == TJ_TUPLE_BASIS)
    left = walk_path(self, left, stride);
  if (tj_is_int(stride->value, 0))
    return (tj_layout){shape, tj_tuple_constant(graph, 0)};
  if (!tj_tuple_is_list(left.shape))
    return (tj_layout){shape, tj_tuple_scale(graph, stride->value, left.stride)};
  return compose_through(self, left, (remainder_mode){shape->value, stride->value});
}

static composer start_composition(tj_graph *graph, tj_layout left) {
  uint32_t leaves = left.shape->leaf_count;
  return (composer){graph, TJ_NEW_ARRAY(graph->job, const tj_node *, leaves), TJ_NEW_ARRAY(graph->job, bool, leaves),
                    TJ_NEW_ARRAY(graph->job, int8_t, leaves), false};
}

tj_layout tj_layout_compose(tj_graph *graph, tj_layout a, tj_layout b) {
  tj_layout left = coalesce_by(graph, a, tj_layout_coprofile(graph, b), true);
  composer self = start_composition(graph, left);
  return compose(&self, (walked){left.shape, left.stride, 0}, b.shape, b.stride);
}

tj_layout tj_layout_compose_tiles(tj_graph *graph, tj_layout layout, tj_layout tile, tj_layout rest) {
  tj_layout left = coalesce(graph, layout, true);
  composer self = start_composition(graph, left);
  walked whole = {left.shape, left.stride, 0};
  tj_layout modes[2];
  modes[0] = compose(&self, whole, tile.shape, tile.stride);
  self.may_overhang = true;
  modes[1] = compose(&self, whole, rest.shape, rest.stride);
  return tj_layout_concat(graph, modes, 2);
}
