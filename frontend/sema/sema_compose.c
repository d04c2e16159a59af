/* SPDX-License-Identifier: MIT */
/* What `o` means: composition of layouts, swizzles, composed layouts, coordinate tensors and linear maps.
 *
 * Results are layouts or composed layouts where one has the values, otherwise linear maps over F2. */
#include "frontend/sema/sema.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"

static bool is_zero(tj_graph *graph, const tj_tuple *offset) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, offset, &count);
  for (uint32_t i = 0; i < count; i++)
    if (!tj_is_int(leaves[i]->value, 0))
      return false;
  return true;
}

/* --- tilers --- */

static const tj_tiler *tiler_of_items(tj_graph *graph, const tj_value *value) {
  const tj_tiler **items = TJ_NEW_ARRAY(graph->job, const tj_tiler *, value->count);
  for (uint32_t i = 0; i < value->count; i++) {
    items[i] = tj_tiler_of_value(graph, value->item[i]);
    if (items[i] == NULL)
      tj_fail_type(graph->job, value->item[i], "an item of a tiler", "a layout, integers or a tiler");
  }
  return tj_tiler_of_modes(graph, items, value->count);
}

const tj_tiler *tj_tiler_of_value(tj_graph *graph, const tj_value *value) {
  switch (value->kind) {
  case TJ_VALUE_TUPLE:
    return tj_tiler_of_tuple(graph, value->tuple);
  case TJ_VALUE_LAYOUT:
    return tj_tiler_of_layout(graph, value->layout);
  case TJ_VALUE_TILER:
    return tiler_of_items(graph, value);
  default:
    return NULL;
  }
}

static tj_layout compose_layouts(tj_graph *graph, tj_layout a, const tj_value *b) {
  const tj_tiler *tiler = tj_tiler_of_value(graph, b);
  if (tiler == NULL)
    tj_fail_type(graph->job, b, "the right operand of 'o'", "a layout, a tiler, a swizzle or a linear map");
  return tj_layout_compose_tiler(graph, a, tiler);
}

/* --- linear maps --- */

const tj_f2 *tj_need_linear(tj_graph *graph, const tj_value *value) {
  const char *obstacle;
  if (value->kind == TJ_VALUE_TUPLE)
    value = tj_value_of_layout(graph, tj_layout_of_shape(graph, value->tuple));
  const tj_f2 *map = tj_f2_of_value(graph, value, &obstacle);
  if (map == NULL)
    tj_fail(graph->job, TJ_NOT_LINEAR, "%s is not linear: %s", tj_value_kind_name(value->kind), obstacle);
  return map;
}

const tj_value *tj_value_of_linear_or_layout(tj_graph *graph, const tj_f2 *map) {
  const char *obstacle;
  const tj_composed *composed = tj_layout_of_f2(graph, map, &obstacle);
  if (composed == NULL)
    return tj_value_of_linear(graph, map);
  return composed->swizzle.bits == 0 ? tj_value_of_layout(graph, composed->layout)
                                     : tj_value_of_composed(graph, composed);
}

static const tj_value *compose_linear(tj_graph *graph, const tj_value *a, const tj_value *b) {
  const char *obstacle;
  const tj_f2 *map = tj_f2_compose(graph, tj_need_linear(graph, a), tj_need_linear(graph, b), &obstacle);
  if (map == NULL)
    tj_fail(graph->job, TJ_NOT_LINEAR, "composition of linear maps: %s", obstacle);
  return tj_value_of_linear(graph, map);
}

/* --- swizzles --- */

static const tj_value *swizzled(tj_graph *graph, tj_swizzle swizzle, const tj_tuple *offset, tj_layout layout) {
  bool is_plain = swizzle.bits == 0 && is_zero(graph, offset);
  return is_plain ? tj_value_of_layout(graph, layout) : tj_value_of_parts(graph, swizzle, offset, layout);
}

/* swizzle o (offset + layout) */
static const tj_value *swizzle_composed(tj_graph *graph, const tj_value *a, const tj_composed *b) {
  tj_swizzle both;
  if (b->offset->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_WRONG_TYPE, "a swizzle takes integers, not %s", tj_tuple_text(graph->job, b->offset));
  if (b->swizzle.bits == 0)
    return swizzled(graph, a->swizzle, b->offset, b->layout);
  if (tj_swizzle_compose(a->swizzle, b->swizzle, &both))
    return swizzled(graph, both, b->offset, b->layout);
  return compose_linear(graph, a, tj_value_of_composed(graph, b));
}

/* layout o swizzle = swizzle o layout, or a linear map. */
static const tj_value *layout_of_swizzle(tj_graph *graph, tj_layout layout, const tj_value *b) {
  tj_swizzle outer;
  if (tj_layout_compose_swizzle(graph, layout, b->swizzle, &outer))
    return swizzled(graph, outer, tj_tuple_constant(graph, 0), layout);
  return compose_linear(graph, tj_value_of_layout(graph, layout), b);
}

/* a o swizzle */
static const tj_value *compose_with_swizzle(tj_graph *graph, const tj_value *a, const tj_value *b) {
  tj_swizzle both, inner;
  if (a->kind == TJ_VALUE_LINEAR)
    return compose_linear(graph, a, b);
  if (a->kind == TJ_VALUE_SWIZZLE)
    return tj_swizzle_compose(a->swizzle, b->swizzle, &both) ? tj_value_of_swizzle(graph, both)
                                                             : compose_linear(graph, a, b);
  if (a->kind != TJ_VALUE_COMPOSED)
    return layout_of_swizzle(graph, tj_need_layout(graph, a, "the left operand of 'o'"), b);
  const tj_composed *composed = a->composed;
  if (is_zero(graph, composed->offset) && tj_layout_compose_swizzle(graph, composed->layout, b->swizzle, &inner) &&
      tj_swizzle_compose(composed->swizzle, inner, &both))
    return swizzled(graph, both, composed->offset, composed->layout);
  return compose_linear(graph, a, b);
}

/* --- coordinate tensors --- */

/* layout(offset + L), where the layout is a sum over the offset's components, so that nothing carries. */
static const tj_value *layout_of_coordinates(tj_graph *graph, tj_layout layout, const tj_composed *b) {
  tj_layout left = tj_layout_coalesce_by(graph, layout, b->offset);
  tj_layout composed = tj_layout_compose(graph, layout, b->layout);
  if (is_zero(graph, b->offset))
    return tj_value_of_layout(graph, composed);
  if (!tj_tuple_congruent(left.shape, b->offset))
    tj_fail(graph->job, TJ_COMPOSITION_OVERLAP, "composition: the offset %s may carry in the left-hand shape %s",
            tj_tuple_text(graph->job, b->offset), tj_tuple_text(graph->job, layout.shape));
  const tj_tuple *base = tj_crd2idx(graph, b->offset, left.shape, left.stride);
  tj_composed *tensor = TJ_NEW(graph->job, tj_composed);
  *tensor = tj_coord_tensor(graph, base, composed);
  return tj_value_of_composed(graph, tensor);
}

/* a o (swizzle o offset o layout) */
static const tj_value *compose_with_composed(tj_graph *graph, const tj_value *a, const tj_value *b) {
  const tj_composed *right = b->composed;
  if (a->kind == TJ_VALUE_SWIZZLE)
    return swizzle_composed(graph, a, right);
  if (a->kind == TJ_VALUE_LINEAR)
    return compose_linear(graph, a, b);
  if (is_zero(graph, right->offset) && right->swizzle.bits != 0)
    return tj_compose_values(graph, compose_with_swizzle(graph, a, tj_value_of_swizzle(graph, right->swizzle)),
                             tj_value_of_layout(graph, right->layout));
  if (right->swizzle.bits == 0 && a->kind != TJ_VALUE_COMPOSED)
    return layout_of_coordinates(graph, tj_need_layout(graph, a, "the left operand of 'o'"), right);
  if (right->swizzle.bits == 0 && is_zero(graph, right->offset))
    return tj_compose_values(graph, a, tj_value_of_layout(graph, right->layout));
  return compose_linear(graph, a, b);
}

const tj_value *tj_compose_values(tj_graph *graph, const tj_value *a, const tj_value *b) {
  if (b->kind == TJ_VALUE_SWIZZLE)
    return compose_with_swizzle(graph, a, b);
  if (b->kind == TJ_VALUE_COMPOSED)
    return compose_with_composed(graph, a, b);
  if (a->kind == TJ_VALUE_LINEAR || b->kind == TJ_VALUE_LINEAR)
    return compose_linear(graph, a, b);
  if (a->kind == TJ_VALUE_SWIZZLE)
    return swizzled(graph, a->swizzle, tj_tuple_constant(graph, 0),
                    tj_need_layout(graph, b, "the right operand of 'o'"));
  if (a->kind == TJ_VALUE_COMPOSED)
    return tj_value_of_parts(graph, a->composed->swizzle, a->composed->offset,
                             compose_layouts(graph, a->composed->layout, b));
  return tj_value_of_layout(graph, compose_layouts(graph, tj_need_layout(graph, a, "the left operand of 'o'"), b));
}
