/* SPDX-License-Identifier: MIT */
/* Layout algebra: layouts as lists of modes, filters, and compact strides by order. */
#include "ir/layout/algebra.h"

#include "ir/layout/arith.h"

/* --- lists of modes --- */

/* Room for a layout's modes and `more`. */
static tj_layout *modes_of(tj_graph *graph, tj_layout layout, uint32_t more) {
  uint32_t rank = tj_tuple_rank(layout.shape);
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, rank + more);
  for (uint32_t i = 0; i < rank; i++)
    modes[i] = tj_layout_mode(graph, layout, i);
  return modes;
}

static void check_range(tj_graph *graph, tj_layout layout, uint32_t begin, uint32_t end) {
  uint32_t rank = tj_tuple_rank(layout.shape);
  if (begin > end || end > rank)
    tj_fail(graph->job, TJ_RANK, "modes %u to %u of a layout of rank %u", begin, end, rank);
}

tj_layout tj_layout_take(tj_graph *graph, tj_layout layout, uint32_t begin, uint32_t end) {
  check_range(graph, layout, begin, end);
  return tj_layout_concat(graph, modes_of(graph, layout, 0) + begin, end - begin);
}

tj_layout tj_layout_select(tj_graph *graph, tj_layout layout, const uint32_t modes[], uint32_t count) {
  tj_layout *selected = TJ_NEW_ARRAY(graph->job, tj_layout, count);
  for (uint32_t i = 0; i < count; i++)
    selected[i] = tj_layout_mode(graph, layout, modes[i]);
  return tj_layout_concat(graph, selected, count);
}

tj_layout tj_layout_group(tj_graph *graph, tj_layout layout, uint32_t begin, uint32_t end) {
  check_range(graph, layout, begin, end);
  uint32_t rank = tj_tuple_rank(layout.shape), count = begin;
  if (begin == end)
    return layout;
  tj_layout *modes = modes_of(graph, layout, 0);
  modes[count++] = tj_layout_take(graph, layout, begin, end);
  for (uint32_t i = end; i < rank; i++)
    modes[count++] = modes[i];
  return tj_layout_concat(graph, modes, count);
}

tj_layout tj_layout_replace(tj_graph *graph, tj_layout layout, uint32_t mode, tj_layout with) {
  check_range(graph, layout, mode, mode + 1);
  if (!tj_tuple_is_list(layout.shape))
    return with;
  tj_layout *modes = modes_of(graph, layout, 0);
  modes[mode] = with;
  return tj_layout_concat(graph, modes, layout.shape->count);
}

/* The number of modes to add; 0 leaves the layout as it is. */
static uint32_t missing_modes(tj_graph *graph, tj_layout layout, uint32_t rank) {
  uint32_t before = tj_tuple_rank(layout.shape);
  if (rank == 0)
    return 1;
  if (rank < before || rank > TJ_MAX_RANK)
    tj_fail(graph->job, TJ_RANK, "a layout of rank %u cannot get rank %u", before, rank);
  return rank - before;
}

tj_layout tj_layout_append(tj_graph *graph, tj_layout layout, tj_layout x, uint32_t rank) {
  uint32_t more = missing_modes(graph, layout, rank), before = tj_tuple_rank(layout.shape);
  if (more == 0)
    return layout;
  tj_layout *modes = modes_of(graph, layout, more);
  for (uint32_t i = 0; i < more; i++)
    modes[before + i] = x;
  return tj_layout_concat(graph, modes, before + more);
}

tj_layout tj_layout_prepend(tj_graph *graph, tj_layout layout, tj_layout x, uint32_t rank) {
  uint32_t more = missing_modes(graph, layout, rank), before = tj_tuple_rank(layout.shape);
  if (more == 0)
    return layout;
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, before + more);
  for (uint32_t i = 0; i < before + more; i++)
    modes[i] = i < more ? x : tj_layout_mode(graph, layout, i - more);
  return tj_layout_concat(graph, modes, before + more);
}

static tj_layout pair(tj_graph *graph, tj_layout a, tj_layout b) {
  return tj_layout_concat(graph, (const tj_layout[]){a, b}, 2);
}

tj_layout tj_layout_zip(tj_graph *graph, tj_layout a, tj_layout b) {
  if (!tj_tuple_is_list(a.shape)) {
    tj_layout both = pair(graph, a, b);
    return tj_layout_concat(graph, &both, 1);
  }
  if (!tj_tuple_is_list(b.shape) || a.shape->count != b.shape->count)
    tj_fail(graph->job, TJ_RANK, "%s and %s have different ranks", tj_layout_text(graph->job, a),
            tj_layout_text(graph->job, b));
  tj_layout *pairs = TJ_NEW_ARRAY(graph->job, tj_layout, a.shape->count);
  for (uint32_t i = 0; i < a.shape->count; i++)
    pairs[i] = pair(graph, tj_layout_mode(graph, a, i), tj_layout_mode(graph, b, i));
  return tj_layout_concat(graph, pairs, a.shape->count);
}

static void check_fit(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple) {
  if (!tj_tuple_weakly_congruent(coordinate, tuple))
    tj_fail(graph->job, TJ_SLICE_STRUCTURE, "%s does not fit %s", tj_tuple_text(graph->job, coordinate),
            tj_tuple_text(graph->job, tuple));
}

const tj_tuple *tj_tuple_dice(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple) {
  check_fit(graph, coordinate, tuple);
  return tj_tuple_keep(graph, coordinate, tuple, true);
}

const tj_tuple *tj_tuple_slice(tj_graph *graph, const tj_tuple *coordinate, const tj_tuple *tuple) {
  check_fit(graph, coordinate, tuple);
  return tj_tuple_keep(graph, coordinate, tuple, false);
}

tj_layout tj_layout_dice(tj_graph *graph, const tj_tuple *coordinate, tj_layout layout) {
  return (tj_layout){tj_tuple_dice(graph, coordinate, layout.shape), tj_tuple_dice(graph, coordinate, layout.stride)};
}

/* --- tuples --- */

const tj_tuple *tj_tuple_reverse(tj_graph *graph, const tj_tuple *tuple) {
  if (!tj_tuple_is_list(tuple))
    return tuple;
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, tuple->count);
  for (uint32_t i = 0; i < tuple->count; i++)
    items[i] = tuple->item[tuple->count - 1 - i];
  return tj_tuple_list(graph, items, tuple->count);
}

const tj_tuple *tj_tuple_unflatten(tj_graph *graph, const tj_tuple *flat, const tj_tuple *profile) {
  if (flat->depth > 1 || flat->leaf_count != profile->leaf_count)
    tj_fail(graph->job, TJ_NOT_CONGRUENT, "%s does not unflatten to the structure of %s",
            tj_tuple_text(graph->job, flat), tj_tuple_text(graph->job, profile));
  return tj_tuple_from_leaves(graph, profile, tj_tuple_leaves(graph, flat, NULL));
}

tj_layout tj_layout_unflatten(tj_graph *graph, tj_layout layout, const tj_tuple *profile) {
  return (tj_layout){tj_tuple_unflatten(graph, layout.shape, profile),
                     tj_tuple_unflatten(graph, layout.stride, profile)};
}

const tj_tuple *tj_tuple_product_each(tj_graph *graph, const tj_tuple *shape) {
  uint32_t rank = tj_tuple_rank(shape);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t i = 0; i < rank; i++)
    items[i] = tj_tuple_integer(graph, tj_tuple_product(graph, tj_tuple_mode(shape, i)));
  return tj_tuple_list(graph, items, rank);
}

/* --- filters --- */

tj_layout tj_layout_filter_zeros(tj_graph *graph, tj_layout layout) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, layout.shape, &count);
  const tj_tuple *const *strides = tj_tuple_leaves(graph, layout.stride, NULL);
  const tj_tuple **filtered = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    filtered[i] = tj_is_int(strides[i]->value, 0) ? tj_tuple_constant(graph, 1) : extents[i];
  return (tj_layout){tj_tuple_from_leaves(graph, layout.shape, filtered), layout.stride};
}

tj_layout tj_layout_filter(tj_graph *graph, tj_layout layout) {
  return tj_layout_coalesce(graph, tj_layout_filter_zeros(graph, layout));
}

tj_layout tj_layout_filter_by(tj_graph *graph, tj_layout layout, const tj_tuple *profile) {
  return tj_layout_coalesce_by(graph, tj_layout_filter_zeros(graph, layout), profile);
}

/* --- compact strides --- */

static const tj_tuple *row_major(tj_graph *graph, const tj_tuple *shape, const tj_node **next) {
  if (!tj_tuple_is_list(shape))
    return tj_compact_strides(graph, shape, *next);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, shape->count);
  for (uint32_t i = shape->count; i-- > 0;) {
    items[i] = row_major(graph, shape->item[i], next);
    if (!tj_tuple_is_list(shape->item[i]))
      *next = tj_terse_mul(graph, *next, tj_tuple_product(graph, shape->item[i]));
  }
  return tj_tuple_list(graph, items, shape->count);
}

const tj_tuple *tj_compact_row_major(tj_graph *graph, const tj_tuple *shape) {
  const tj_node *next = tj_int(graph, 1);
  return row_major(graph, shape, &next);
}

/* The parts of a shape that an order ranks, and their ranks. */
typedef struct {
  const tj_node **size;
  int64_t *order;
  uint32_t count;
} ranking;

static void rank_parts(tj_graph *graph, const tj_tuple *shape, const tj_tuple *order, ranking *parts) {
  if (!tj_tuple_is_list(order)) {
    if (order->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_WRONG_TYPE, "an order is made of integers, not %s", tj_tuple_text(graph->job, order));
    parts->size[parts->count] = tj_tuple_product(graph, shape);
    parts->order[parts->count++] = tj_constant_value(graph, order->value, "an order");
    return;
  }
  for (uint32_t i = 0; i < order->count; i++)
    rank_parts(graph, shape->item[i], order->item[i], parts);
}

/* The product of all parts of lesser order. */
static const tj_node *first_stride(tj_graph *graph, const ranking *parts, int64_t order) {
  tj_spend(graph->job, parts->count);
  const tj_node *stride = tj_int(graph, 1);
  for (uint32_t i = 0; i < parts->count; i++)
    if (parts->order[i] < order)
      stride = tj_terse_mul(graph, stride, parts->size[i]);
  return stride;
}

static const tj_tuple *strides_by_rank(tj_graph *graph, const tj_tuple *shape, const tj_tuple *order,
                                       const ranking *parts) {
  if (!tj_tuple_is_list(order))
    return tj_compact_strides(graph, shape, first_stride(graph, parts, order->value->value));
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, order->count);
  for (uint32_t i = 0; i < order->count; i++)
    items[i] = strides_by_rank(graph, shape->item[i], order->item[i], parts);
  return tj_tuple_list(graph, items, order->count);
}

const tj_tuple *tj_compact_order(tj_graph *graph, const tj_tuple *shape, const tj_tuple *order) {
  if (!tj_tuple_weakly_congruent(order, shape))
    tj_fail(graph->job, TJ_NOT_CONGRUENT, "order %s does not fit shape %s", tj_tuple_text(graph->job, order),
            tj_tuple_text(graph->job, shape));
  ranking parts = {TJ_NEW_ARRAY(graph->job, const tj_node *, order->leaf_count),
                   TJ_NEW_ARRAY(graph->job, int64_t, order->leaf_count), 0};
  rank_parts(graph, shape, order, &parts);
  return strides_by_rank(graph, shape, order, &parts);
}

tj_layout tj_layout_ordered(tj_graph *graph, const tj_tuple *shape, const tj_tuple *order) {
  return tj_layout_make(graph, shape, tj_compact_order(graph, shape, order));
}

tj_layout tj_layout_like(tj_graph *graph, tj_layout layout) {
  const tj_tuple *filtered = tj_layout_filter_zeros(graph, layout).shape;
  return (tj_layout){layout.shape, tj_compact_order(graph, filtered, layout.stride)};
}

static const tj_tuple *with_first(tj_graph *graph, const tj_tuple *tuple, const tj_tuple *first) {
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, tuple->count);
  for (uint32_t i = 0; i < tuple->count; i++)
    items[i] = i == 0 ? first : tuple->item[i];
  return tj_tuple_list(graph, items, tuple->count);
}

tj_layout tj_layout_fragment_like(tj_graph *graph, tj_layout layout) {
  const tj_tuple *shape = layout.shape;
  if (tj_tuple_rank(shape) < 2 || !tj_is_constant(tj_tuple_product(graph, shape)))
    return tj_layout_of_shape(graph, shape);
  const tj_tuple *filtered = tj_layout_filter_zeros(graph, tj_layout_mode(graph, layout, 0)).shape;
  const tj_tuple *foremost = tj_tuple_integer(graph, tj_int(graph, INT64_MIN));
  const tj_tuple *order = with_first(graph, layout.stride, foremost);
  tj_layout like = {shape, tj_compact_order(graph, with_first(graph, shape, filtered), order)};
  if (shape->count > 2)
    return like;
  tj_layout second = tj_layout_mode(graph, like, 1);
  return pair(graph, tj_layout_mode(graph, like, 0), tj_layout_concat(graph, &second, 1));
}

/* --- identity --- */

static const tj_tuple *basis_like(tj_graph *graph, const tj_tuple *shape, uint32_t path[], uint32_t level) {
  if (!tj_tuple_is_list(shape))
    return tj_tuple_basis(graph, tj_int(graph, 1), path, level);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, shape->count);
  for (uint32_t i = 0; i < shape->count; i++) {
    path[level] = i;
    items[i] = basis_like(graph, shape->item[i], path, level + 1);
  }
  return tj_tuple_list(graph, items, shape->count);
}

tj_layout tj_layout_identity(tj_graph *graph, const tj_tuple *shape) {
  uint32_t path[TJ_MAX_TUPLE_DEPTH];
  return tj_layout_make(graph, shape, basis_like(graph, shape, path, 0));
}
