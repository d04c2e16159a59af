/* SPDX-License-Identifier: MIT */
/* Layout algebra: layouts of wider and narrower elements, and the division of shapes. */
#include "ir/layout/algebra.h"

#include "base/integer.h"
#include "ir/layout/arith.h"

#include <inttypes.h>

/* --- division of shapes --- */

typedef const tj_node *(*divide_nodes)(tj_graph *graph, const tj_node *a, const tj_node *b);

static _Noreturn void fail_ranks(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  tj_fail(graph->job, TJ_NOT_CONGRUENT, "%s and %s have different ranks", tj_tuple_text(graph->job, a),
          tj_tuple_text(graph->job, b));
}

/* Mode by mode. Missing modes of b count as 1, unless all must be there. */
static const tj_tuple *divide_modes(tj_graph *graph, const tj_tuple *a, const tj_tuple *b, divide_nodes divide,
                                    bool exact_rank);

/* An integer b divides the first mode of a as far as it goes, what is left of it the second, and so on. */
static const tj_tuple *divide_through(tj_graph *graph, const tj_tuple *a, const tj_node *b, divide_nodes divide) {
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, a->count);
  for (uint32_t i = 0; i < a->count; i++) {
    items[i] = divide_modes(graph, a->item[i], tj_tuple_integer(graph, b), divide, true);
    if (i + 1 < a->count)
      b = divide(graph, b, tj_tuple_product(graph, a->item[i]));
  }
  return tj_tuple_list(graph, items, a->count);
}

static const tj_tuple *divide_modes(tj_graph *graph, const tj_tuple *a, const tj_tuple *b, divide_nodes divide,
                                    bool exact_rank) {
  if (!tj_tuple_is_list(a))
    return tj_tuple_integer(graph, divide(graph, tj_tuple_product(graph, a), tj_tuple_product(graph, b)));
  if (!tj_tuple_is_list(b))
    return divide_through(graph, a, tj_tuple_product(graph, b), divide);
  if (exact_rank ? a->count != b->count : a->count < b->count)
    fail_ranks(graph, a, b);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, a->count);
  for (uint32_t i = 0; i < a->count; i++)
    items[i] = i < b->count ? divide_modes(graph, a->item[i], b->item[i], divide, exact_rank) : a->item[i];
  return tj_tuple_list(graph, items, a->count);
}

static void check_divisor(tj_graph *graph, const tj_node *divisor) {
  switch (tj_decide_less(graph, tj_int(graph, 0), divisor)) {
  case TJ_YES:
    return;
  case TJ_NO:
    tj_fail(graph->job, TJ_BAD_SHAPE, "a shape is divided by %s", tj_describe(graph, divisor));
  default:
    tj_fail_needs(graph, "division of a shape", divisor, ">=", tj_int(graph, 1));
  }
}

static const tj_node *ceil_divide(tj_graph *graph, const tj_node *a, const tj_node *b) {
  check_divisor(graph, b);
  bool one = tj_decide_less_equal(graph, a, b) == TJ_YES && tj_decide_less(graph, tj_int(graph, 0), a) == TJ_YES;
  return one ? tj_int(graph, 1) : tj_ceil_div(graph, a, b);
}

const tj_tuple *tj_tuple_ceil_div(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  return divide_modes(graph, a, b, ceil_divide, false);
}

/* The larger of two numbers divided by the smaller, or 1: one must divide the other. */
static const tj_node *shape_divide(tj_graph *graph, const tj_node *a, const tj_node *b) {
  check_divisor(graph, b);
  tj_decision down = tj_decide_divides(graph, b, a), up = tj_decide_divides(graph, a, b);
  if (down == TJ_YES)
    return tj_exact_div(graph, a, b);
  if (up == TJ_YES)
    return tj_int(graph, 1);
  if (down == TJ_NO && up == TJ_NO)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE, "shape_div: %s and %s do not divide each other", tj_describe(graph, a),
            tj_describe(graph, b));
  tj_fail_needs_divisible(graph, "shape_div", a, b);
}

const tj_tuple *tj_shape_div(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  return divide_modes(graph, a, b, shape_divide, true);
}

/* As many of an extent as *left asks for, which becomes what is left for further modes: one must divide the other. */
static const tj_node *take_of_extent(tj_graph *graph, const tj_node *extent, const tj_node **left) {
  const tj_node *wanted = *left;
  tj_decision within = tj_decide_divides(graph, wanted, extent), whole = tj_decide_divides(graph, extent, wanted);
  if (within == TJ_YES) {
    *left = tj_int(graph, 1);
    return wanted;
  }
  if (whole == TJ_YES) {
    *left = tj_exact_div(graph, wanted, extent);
    return extent;
  }
  if (within == TJ_NO && whole == TJ_NO)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE, "shape_mod: %s and %s do not divide each other", tj_describe(graph, extent),
            tj_describe(graph, wanted));
  tj_fail_needs_divisible(graph, "shape_mod", extent, wanted);
}

const tj_tuple *tj_shape_mod(tj_graph *graph, const tj_tuple *shape, const tj_node *count) {
  uint32_t leaf_count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, shape, &leaf_count);
  const tj_tuple **taken = TJ_NEW_ARRAY(graph->job, const tj_tuple *, leaf_count + 1);
  tj_shape_check(graph, shape);
  check_divisor(graph, count);
  for (uint32_t i = 0; i < leaf_count; i++)
    taken[i] = tj_tuple_integer(graph, take_of_extent(graph, leaves[i]->value, &count));
  return tj_tuple_from_leaves(graph, shape, taken);
}

static const tj_node *round_node_up(tj_graph *graph, const tj_node *a, const tj_node *b) {
  check_divisor(graph, b);
  return tj_terse_mul(graph, tj_ceil_div(graph, a, b), b);
}

const tj_tuple *tj_tuple_round_up(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  if (tj_tuple_is_list(a) != tj_tuple_is_list(b))
    fail_ranks(graph, a, b);
  return divide_modes(graph, a, b, round_node_up, false);
}

static uint64_t gcd_of_leaves(tj_graph *graph, const tj_tuple *tuple, uint64_t divisor) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  for (uint32_t i = 0; i < count; i++) {
    int64_t value = tj_constant_value(graph, tj_tuple_product(graph, leaves[i]), "an argument of gcd");
    divisor = tj_gcd(divisor, tj_magnitude(value));
  }
  return divisor;
}

int64_t tj_tuple_gcd(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  uint64_t divisor = gcd_of_leaves(graph, b, gcd_of_leaves(graph, a, 0));
  if (divisor > INT64_MAX)
    tj_fail(graph->job, TJ_INTEGER_OVERFLOW, "gcd does not fit in 64 bits");
  return (int64_t)divisor;
}

/* --- element sizes --- */

/* One mode of a layout seen by another element size. */
typedef tj_layout (*cast_mode)(tj_graph *graph, const tj_node *extent, const tj_node *stride, int64_t count);

static tj_layout cast_modes(tj_graph *graph, tj_layout layout, int64_t count, cast_mode cast) {
  uint32_t leaf_count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &leaf_count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  const tj_tuple **shape = TJ_NEW_ARRAY(graph->job, const tj_tuple *, leaf_count);
  const tj_tuple **stride = TJ_NEW_ARRAY(graph->job, const tj_tuple *, leaf_count);
  for (uint32_t i = 0; i < leaf_count; i++) {
    tj_layout mode = cast(graph, extents[i]->value, tj_tuple_product(graph, strides[i]), count);
    shape[i] = mode.shape;
    stride[i] = mode.stride;
  }
  return (tj_layout){tj_tuple_from_leaves(graph, layout.shape, shape),
                     tj_tuple_from_leaves(graph, layout.stride, stride)};
}

static tj_layout mode_of(tj_graph *graph, const tj_node *extent, const tj_node *stride) {
  return (tj_layout){tj_tuple_integer(graph, extent), tj_tuple_integer(graph, stride)};
}

static void check_count(tj_graph *graph, int64_t count, const char *operation) {
  if (count < 1)
    tj_fail(graph->job, TJ_BAD_SHAPE, "%s by %" PRId64, operation, count);
}

static tj_layout upcast_mode(tj_graph *graph, const tj_node *extent, const tj_node *stride, int64_t count) {
  if (tj_is_int(stride, 0))
    return mode_of(graph, extent, stride);
  const tj_node *width = tj_int(graph, count), *distance = tj_absolute(graph, stride);
  if (tj_decide_divides(graph, width, stride) == TJ_YES)
    return mode_of(graph, extent, tj_exact_div(graph, stride, width));
  if (!tj_is_constant(stride))
    tj_fail_needs_divisible(graph, "upcast", stride, width);
  if (tj_decide_divides(graph, distance, width) != TJ_YES)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE, "upcast: stride %s and %" PRId64 " do not divide each other",
            tj_describe(graph, stride), count);
  const tj_node *merged = tj_exact_div(graph, width, distance);
  return mode_of(graph, tj_ceil_div(graph, extent, merged), tj_int(graph, stride->value < 0 ? -1 : 1));
}

tj_layout tj_layout_upcast(tj_graph *graph, tj_layout layout, int64_t count) {
  check_count(graph, count, "upcast");
  return cast_modes(graph, layout, count, upcast_mode);
}

static bool is_unit(const tj_node *stride) {
  return tj_is_int(stride, 1) || tj_is_int(stride, -1);
}

static tj_layout downcast_mode(tj_graph *graph, const tj_node *extent, const tj_node *stride, int64_t count) {
  const tj_node *width = tj_int(graph, count);
  if (is_unit(stride))
    return mode_of(graph, tj_terse_mul(graph, extent, width), stride);
  return mode_of(graph, extent, tj_terse_mul(graph, stride, width));
}

tj_layout tj_layout_downcast(tj_graph *graph, tj_layout layout, int64_t count) {
  check_count(graph, count, "downcast");
  uint32_t leaf_count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, &leaf_count);
  bool adjacent = false;
  for (uint32_t i = 0; i < leaf_count; i++)
    adjacent = adjacent || (strides[i]->kind == TJ_TUPLE_INTEGER && tj_is_int(strides[i]->value, 1));
  if (!adjacent)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE, "downcast: %s has no mode of stride 1", tj_layout_text(graph->job, layout));
  return cast_modes(graph, layout, count, downcast_mode);
}

tj_layout tj_layout_recast(tj_graph *graph, tj_layout layout, int64_t from_bits, int64_t to_bits) {
  check_count(graph, from_bits, "recast");
  check_count(graph, to_bits, "recast");
  int64_t common = tj_tuple_gcd(graph, tj_tuple_constant(graph, from_bits), tj_tuple_constant(graph, to_bits));
  int64_t up = to_bits / common, down = from_bits / common;
  if (up != 1)
    layout = tj_layout_upcast(graph, layout, up);
  return down == 1 ? layout : tj_layout_downcast(graph, layout, down);
}
