/* SPDX-License-Identifier: MIT */
/* Layout algebra: complement, inverses, null space, what two layouts have in common. */
#include "ir/layout/algebra.h"

#include "ir/layout/arith.h"

/* The leaves of a coalesced layout, and an order of them. */
typedef struct {
  const tj_node **extent, **stride;
  uint32_t *order;
  uint32_t count;
} mode_list;

static mode_list modes_of(tj_graph *graph, tj_layout layout, const char *operation) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  mode_list modes = {TJ_NEW_ARRAY(graph->job, const tj_node *, count),
                     TJ_NEW_ARRAY(graph->job, const tj_node *, count), TJ_NEW_ARRAY(graph->job, uint32_t, count),
                     count};
  for (uint32_t i = 0; i < count; i++) {
    if (strides[i]->kind == TJ_TUPLE_BASIS)
      tj_fail(graph->job, TJ_WRONG_TYPE, "%s: a layout with basis strides", operation);
    modes.extent[i] = extents[i]->value;
    modes.stride[i] = strides[i]->value;
    modes.order[i] = i;
  }
  return modes;
}

/* Mode a has to stand before mode b, which is there now. Equal strides stay; symbolic ones that may be equal may
 * stand either way. */
static bool comes_before(tj_graph *graph, const mode_list *modes, uint32_t a, uint32_t b, const char *operation) {
  tj_spend(graph->job, 1);
  const tj_node *left = modes->stride[a], *right = modes->stride[b];
  tj_decision less = tj_decide_less(graph, left, right);
  if (less == TJ_UNKNOWN)
    less = tj_decide_less_equal(graph, left, right);
  if (less == TJ_UNKNOWN)
    tj_fail_needs(graph, operation, left, "<=", right);
  return less == TJ_YES;
}

/* Orders modes by stride. Of equal strides the order is that of CuTe's exchange sort, which shows in results. */
static void exchange_sort(tj_graph *graph, mode_list *modes, const char *operation) {
  for (uint32_t i = 0; i < modes->count; i++)
    for (uint32_t j = i + 1; j < modes->count; j++) {
      if (!comes_before(graph, modes, modes->order[j], modes->order[i], operation))
        continue;
      uint32_t larger = modes->order[i];
      modes->order[i] = modes->order[j];
      modes->order[j] = larger;
    }
}

static bool all_strides_constant(const mode_list *modes) {
  for (uint32_t i = 0; i < modes->count; i++)
    if (!tj_is_constant(modes->stride[i]))
      return false;
  return true;
}

static void check_positive_stride(tj_graph *graph, const tj_node *stride, const char *operation) {
  switch (tj_decide_less(graph, tj_int(graph, 0), stride)) {
  case TJ_YES:
    return;
  case TJ_NO:
    tj_fail(graph->job, TJ_NOT_INJECTIVE, "%s: stride %s is not positive", operation, tj_describe(graph, stride));
  default:
    tj_fail_needs(graph, operation, stride, ">=", tj_int(graph, 1));
  }
}

/* A mode that may turn out to have the extent 1 may turn out to count for nothing. */
static void require_several(tj_graph *graph, const tj_node *extent, const char *operation) {
  if (tj_decide_less(graph, tj_int(graph, 1), extent) != TJ_YES)
    tj_fail_needs(graph, operation, extent, ">=", tj_int(graph, 2));
}

/* A flat layout under construction. */
typedef struct {
  const tj_tuple **shape, **stride;
  uint32_t count;
} layout_builder;

static layout_builder start_layout(tj_graph *graph, uint32_t capacity) {
  return (layout_builder){TJ_NEW_ARRAY(graph->job, const tj_tuple *, capacity),
                          TJ_NEW_ARRAY(graph->job, const tj_tuple *, capacity), 0};
}

static void add_mode(tj_graph *graph, layout_builder *builder, const tj_node *extent, const tj_node *stride) {
  builder->shape[builder->count] = tj_tuple_integer(graph, extent);
  builder->stride[builder->count++] = tj_tuple_integer(graph, stride);
}

static tj_layout coalesced(tj_graph *graph, const layout_builder *builder) {
  tj_layout layout = {tj_tuple_list(graph, builder->shape, builder->count),
                      tj_tuple_list(graph, builder->stride, builder->count)};
  return tj_layout_coalesce(graph, layout);
}

/* --- complement --- */

/* How often `reach` elements fit below the next stride. */
static const tj_node *gap_extent(tj_graph *graph, const tj_node *stride, const tj_node *reach) {
  bool constant = tj_is_constant(stride) && tj_is_constant(reach);
  if (constant && stride->value < reach->value)
    tj_fail(graph->job, TJ_NOT_INJECTIVE, "complement: the mode of stride %s overlaps smaller ones, which reach %s",
            tj_describe(graph, stride), tj_describe(graph, reach));
  if (constant)
    return tj_div(graph, stride, reach);
  if (tj_decide_divides(graph, reach, stride) != TJ_YES)
    tj_fail_needs_divisible(graph, "complement", stride, reach);
  return tj_exact_div(graph, stride, reach);
}

static tj_layout layout_of_size(tj_graph *graph, const tj_tuple *shape) {
  return tj_layout_of_shape(graph, tj_tuple_integer(graph, tj_tuple_product(graph, shape)));
}

tj_layout tj_layout_complement(tj_graph *graph, tj_layout layout, const tj_tuple *cotarget) {
  static const char operation[] = "complement";
  tj_layout filtered = tj_layout_filter(graph, layout);
  if (cotarget == NULL)
    cotarget = tj_tuple_integer(graph, tj_layout_cosize(graph, filtered));
  tj_shape_check(graph, cotarget);
  mode_list modes = modes_of(graph, filtered, operation);
  if (modes.count == 1 && tj_is_int(modes.stride[0], 0))
    return layout_of_size(graph, cotarget);
  for (uint32_t i = 0; i < modes.count; i++)
    check_positive_stride(graph, modes.stride[i], operation);
  exchange_sort(graph, &modes, operation);
  layout_builder builder = start_layout(graph, modes.count + 1);
  const tj_node *reach = tj_int(graph, 1);
  for (uint32_t k = 0; k < modes.count; k++) {
    uint32_t mode = modes.order[k];
    const tj_node *gap = gap_extent(graph, modes.stride[mode], reach);
    if (!tj_is_int(gap, 1))
      require_several(graph, modes.extent[mode], operation);
    add_mode(graph, &builder, gap, reach);
    reach = tj_terse_mul(graph, modes.stride[mode], modes.extent[mode]);
  }
  const tj_tuple *rest = tj_tuple_ceil_div(graph, cotarget, tj_tuple_integer(graph, reach));
  add_mode(graph, &builder, tj_tuple_product(graph, rest), reach);
  return coalesced(graph, &builder);
}

/* --- inverses --- */

/* The colexicographic index of the first coordinate of each mode. */
static const tj_node **prefix_products(tj_graph *graph, const mode_list *modes) {
  const tj_node **prefix = TJ_NEW_ARRAY(graph->job, const tj_node *, modes->count);
  const tj_node *product = tj_int(graph, 1);
  for (uint32_t i = 0; i < modes->count; i++) {
    prefix[i] = product;
    product = tj_terse_mul(graph, product, modes->extent[i]);
  }
  return prefix;
}

/* The first mode in order, not taken yet, whose stride is `stride`; count when there is none. */
static uint32_t find_stride(tj_graph *graph, const mode_list *modes, const bool taken[], const tj_node *stride) {
  tj_spend(graph->job, modes->count);
  for (uint32_t k = 0; k < modes->count; k++)
    if (!taken[modes->order[k]] && tj_surely_equal(graph, modes->stride[modes->order[k]], stride))
      return modes->order[k];
  return modes->count;
}

tj_layout tj_layout_right_inverse(tj_graph *graph, tj_layout layout) {
  mode_list modes = modes_of(graph, tj_layout_coalesce(graph, layout), "right_inverse");
  if (all_strides_constant(&modes))
    exchange_sort(graph, &modes, "right_inverse");
  const tj_node **prefix = prefix_products(graph, &modes);
  bool *taken = TJ_NEW_ARRAY(graph->job, bool, modes.count);
  layout_builder builder = start_layout(graph, modes.count + 1);
  add_mode(graph, &builder, tj_int(graph, 1), tj_int(graph, 0));
  const tj_node *next = tj_int(graph, 1);
  for (uint32_t i = find_stride(graph, &modes, taken, next); i < modes.count;
       i = find_stride(graph, &modes, taken, next)) {
    add_mode(graph, &builder, modes.extent[i], prefix[i]);
    next = tj_terse_mul(graph, modes.extent[i], modes.stride[i]);
    taken[i] = true;
  }
  return coalesced(graph, &builder);
}

/* stride / size, where it divides. */
static const tj_node *divided_stride(tj_graph *graph, const tj_node *stride, const tj_node *size) {
  switch (tj_decide_divides(graph, size, stride)) {
  case TJ_YES:
    return tj_exact_div(graph, stride, size);
  case TJ_NO:
    tj_fail(graph->job, TJ_NOT_INJECTIVE, "left_inverse: stride %s is not divisible by %s, the stride before",
            tj_describe(graph, stride), tj_describe(graph, size));
  default:
    tj_fail_needs_divisible(graph, "left_inverse", stride, size);
  }
}

tj_layout tj_layout_left_inverse(tj_graph *graph, tj_layout layout) {
  static const char operation[] = "left_inverse";
  mode_list modes = modes_of(graph, tj_layout_coalesce(graph, layout), operation);
  exchange_sort(graph, &modes, operation);
  const tj_node **prefix = prefix_products(graph, &modes);
  layout_builder builder = start_layout(graph, modes.count + 1);
  const tj_node *size = tj_int(graph, 1), *stride = tj_int(graph, 0), *before = size;
  for (uint32_t k = 0; k < modes.count; k++) {
    uint32_t mode = modes.order[k];
    if (tj_is_int(modes.stride[mode], 0))
      continue;
    check_positive_stride(graph, modes.stride[mode], operation);
    const tj_node *gap = divided_stride(graph, modes.stride[mode], size);
    if (!tj_surely_equal(graph, gap, before)) {
      require_several(graph, modes.extent[mode], operation);
      if (!tj_is_int(before, 1))
        require_several(graph, before, operation);
    }
    add_mode(graph, &builder, gap, stride);
    size = modes.stride[mode];
    stride = prefix[mode];
    before = modes.extent[mode];
  }
  add_mode(graph, &builder, modes.extent[modes.order[modes.count - 1]], stride);
  return coalesced(graph, &builder);
}

tj_layout tj_layout_nullspace(tj_graph *graph, tj_layout layout) {
  tj_layout flat = tj_layout_flatten(graph, layout);
  uint32_t count;
  const tj_tuple *const *strides = tj_tuple_leaves(graph, flat.stride, &count);
  const tj_tuple *const *extents = tj_tuple_leaves(graph, flat.shape, NULL);
  const tj_tuple *compact = tj_compact_strides(graph, flat.shape, tj_int(graph, 1));
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, count);
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++)
    if (tj_is_int(strides[i]->value, 0))
      modes[found++] = (tj_layout){extents[i], tj_tuple_mode(compact, i)};
  if (found == 0)
    return (tj_layout){tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  return found == 1 ? modes[0] : tj_layout_concat(graph, modes, found);
}

/* --- what two layouts have in common --- */

/* The first mode of a ∘ inverse of b when its stride is 1: what is contiguous in both. Else false. */
static bool common_mode(tj_graph *graph, tj_layout a, tj_layout inverse, tj_layout *mode) {
  tj_layout common = tj_layout_coalesce(graph, tj_layout_compose(graph, a, inverse));
  *mode = tj_layout_mode(graph, common, 0);
  return mode->stride->kind == TJ_TUPLE_INTEGER && tj_is_int(mode->stride->value, 1);
}

tj_layout tj_layout_max_common(tj_graph *graph, tj_layout a, tj_layout b) {
  tj_layout inverse = tj_layout_right_inverse(graph, b), mode;
  if (common_mode(graph, a, inverse, &mode))
    return tj_layout_compose(graph, inverse, mode);
  return (tj_layout){tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
}

const tj_node *tj_layout_max_common_vector(tj_graph *graph, tj_layout a, tj_layout b) {
  tj_layout mode;
  bool found = common_mode(graph, a, tj_layout_right_inverse(graph, b), &mode);
  return found ? tj_tuple_product(graph, mode.shape) : tj_int(graph, 1);
}

/* How many elements a swizzle surely keeps together, counted from its offset. */
static int64_t kept_together(const tj_composed *composed) {
  int64_t run = (int64_t)1 << composed->swizzle.base;
  while (run > 1 && !tj_facts_divisible(&composed->offset->value->facts, run))
    run /= 2;
  return run;
}

static bool same_swizzle(tj_graph *graph, const tj_composed *a, const tj_composed *b) {
  return a->swizzle.bits == b->swizzle.bits && a->swizzle.base == b->swizzle.base &&
         a->swizzle.shift == b->swizzle.shift && tj_surely_equal(graph, a->offset->value, b->offset->value);
}

/* Of two layouts, swizzled or not: how many elements their swizzles leave where the layouts have them in common. */
static int64_t most_in_common(tj_graph *graph, const tj_composed *a, const tj_composed *b) {
  int64_t most = INT64_MAX;
  if (same_swizzle(graph, a, b))
    return most;
  if (a->swizzle.bits != 0)
    most = kept_together(a);
  return b->swizzle.bits != 0 && kept_together(b) < most ? kept_together(b) : most;
}

tj_layout tj_composed_max_common(tj_graph *graph, const tj_composed *a, const tj_composed *b) {
  tj_layout common = tj_layout_max_common(graph, a->layout, b->layout);
  const tj_node *most = tj_int(graph, most_in_common(graph, a, b));
  if (tj_decide_less(graph, most, tj_layout_size(graph, common)) != TJ_YES)
    return common;
  return tj_layout_compose(graph, common, tj_layout_of_shape(graph, tj_tuple_integer(graph, most)));
}

const tj_node *tj_composed_max_common_vector(tj_graph *graph, const tj_composed *a, const tj_composed *b) {
  const tj_node *most = tj_int(graph, most_in_common(graph, a, b));
  const tj_node *size = tj_layout_max_common_vector(graph, a->layout, b->layout);
  return tj_decide_less_equal(graph, size, most) == TJ_YES ? size : tj_min(graph, size, most);
}

tj_layout tj_domain_distribute(tj_graph *graph, const tj_tuple *shape, const tj_tuple *size) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, shape, &count);
  const tj_node *prefix = tj_int(graph, 1);
  layout_builder builder = start_layout(graph, count);
  tj_shape_check(graph, shape);
  tj_shape_check(graph, size);
  const tj_tuple *rest = tj_tuple_integer(graph, tj_tuple_product(graph, size));
  for (uint32_t i = 0; i < count; i++) {
    int64_t divisor = tj_tuple_gcd(graph, extents[i], rest);
    add_mode(graph, &builder, tj_int(graph, divisor), prefix);
    prefix = tj_terse_mul(graph, prefix, extents[i]->value);
    rest = tj_tuple_constant(graph, rest->value->value / divisor);
  }
  return coalesced(graph, &builder);
}
