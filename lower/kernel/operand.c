/* SPDX-License-Identifier: MIT */
/* Layouts, composed layouts and views as operands of kernels: domain, size of the buffer, accesses. */
#include "lower/kernel/operand.h"

#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/value/map_image.h"

#include <inttypes.h>

/* --- making --- */

static void set_modes(tj_graph *graph, tj_operand *operand) {
  operand->rank = tj_tuple_rank(operand->shape);
  const tj_node **extents = TJ_NEW_ARRAY(graph->job, const tj_node *, operand->rank);
  for (uint32_t i = 0; i < operand->rank; i++)
    extents[i] = tj_tuple_product(graph, tj_tuple_mode(operand->shape, i));
  operand->extent = extents;
  operand->size = tj_tuple_product(graph, operand->shape);
}

static const tj_node *smallest_offset(tj_graph *graph, tj_layout layout) {
  const tj_tuple *index = tj_tuple_integer(graph, tj_coordinate(graph, "n", tj_layout_size(graph, layout)));
  const tj_tuple *offset = tj_layout_apply(graph, layout, index);
  if (offset->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_KERNEL_ARGUMENT, "a layout with basis strides addresses no buffer");
  return offset->value;
}

static void check_not_negative(tj_graph *graph, const tj_node *offset) {
  if (!tj_prove_less_equal(graph, tj_int(graph, 0), tj_simplified(graph, offset)))
    tj_fail(graph->job, TJ_OFFSET_RANGE, "an offset may be negative");
}

static const tj_node *layout_elements(tj_graph *graph, tj_layout layout) {
  check_not_negative(graph, smallest_offset(graph, layout));
  return tj_layout_cosize(graph, layout);
}

/* A swizzle moves offsets only within aligned blocks that end at its highest target bit: whole blocks are enough. */
static const tj_node *composed_elements(tj_graph *graph, const tj_composed *composed) {
  const tj_tuple *offset = composed->offset;
  if (offset->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_KERNEL_ARGUMENT, "a layout with basis strides addresses no buffer");
  check_not_negative(graph, offset->value);
  const tj_node *plain = tj_add(graph, offset->value, layout_elements(graph, composed->layout));
  int32_t top =
      composed->swizzle.base + composed->swizzle.bits - (composed->swizzle.shift < 0 ? composed->swizzle.shift : 0);
  const tj_node *block = tj_int(graph, (int64_t)1 << top);
  const tj_node *blocks = tj_div(graph, tj_add(graph, plain, tj_int(graph, ((int64_t)1 << top) - 1)), block);
  return tj_mul(graph, blocks, block);
}

/* 1 + the largest offset of the base. */
static const tj_node *view_elements(tj_graph *graph, const tj_view *view) {
  check_not_negative(graph, view->offset);
  const tj_node *above = tj_add(graph, view->space_size, tj_view_reach_below(graph, view));
  return tj_is_int(view->offset, 0) ? above : tj_add(graph, view->offset, above);
}

tj_operand tj_operand_make(tj_graph *graph, const tj_value *value) {
  tj_operand operand = {.value = value};
  switch (value->kind) {
  case TJ_VALUE_LAYOUT:
    operand.shape = value->layout.shape;
    operand.element_count = layout_elements(graph, value->layout);
    break;
  case TJ_VALUE_COMPOSED:
    operand.shape = value->composed->layout.shape;
    operand.element_count = composed_elements(graph, value->composed);
    break;
  case TJ_VALUE_VIEW:
    operand.view = value->view;
    operand.shape = tj_view_lengths(graph, value->view);
    operand.element_count = view_elements(graph, value->view);
    break;
  default:
    tj_fail(graph->job, TJ_KERNEL_ARGUMENT, "%s addresses no buffer", tj_value_kind_name(value->kind));
  }
  set_modes(graph, &operand);
  operand.element_count = tj_simplified(graph, operand.element_count);
  return operand;
}

static const tj_node *const *indices_of(tj_graph *graph, const tj_view *view, const tj_tuple *coordinate) {
  const tj_node **indices = TJ_NEW_ARRAY(graph->job, const tj_node *, view->rank);
  for (uint32_t i = 0; i < view->rank; i++)
    indices[i] = tj_tuple_mode(coordinate, i)->value;
  return indices;
}

void tj_operand_check_inside(tj_graph *graph, const tj_operand *operand) {
  const tj_tuple *outside = operand->view != NULL ? tj_map_image_by_structure(graph, operand->value).outside : NULL;
  if (outside == NULL)
    return;
  const tj_node *const *at = indices_of(graph, operand->view, outside);
  const tj_node *offset = tj_simplified(graph, tj_view_offset(graph, operand->view, at));
  tj_fail(graph->job, TJ_OFFSET_RANGE, "coordinate %s is valid, and reaches element %s of a buffer of %s",
          tj_tuple_text(graph->job, outside), tj_describe(graph, offset), tj_describe(graph, operand->element_count));
}

/* --- coordinates --- */

/* The digits of a linear coordinate of a view, whose last dimension is the fastest. */
static const tj_tuple *row_major_digits(tj_graph *graph, const tj_operand *operand, const tj_node *index) {
  const tj_tuple **digits = TJ_NEW_ARRAY(graph->job, const tj_tuple *, operand->rank + 1);
  for (uint32_t mode = operand->rank; mode-- > 0;) {
    digits[mode] = tj_tuple_integer(graph, mode > 0 ? tj_mod(graph, index, operand->extent[mode]) : index);
    if (mode > 0)
      index = tj_div(graph, index, operand->extent[mode]);
  }
  return tj_tuple_list(graph, digits, operand->rank);
}

const tj_tuple *tj_operand_coordinate(tj_graph *graph, const tj_operand *operand, const tj_node *index) {
  return operand->view != NULL ? row_major_digits(graph, operand, index) : tj_tuple_integer(graph, index);
}

/* --- accesses --- */

tj_access tj_operand_raw_access(tj_graph *graph, const tj_operand *operand, const tj_tuple *coordinate) {
  const tj_node *always = tj_int(graph, 1);
  switch (operand->value->kind) {
  case TJ_VALUE_LAYOUT:
    return (tj_access){.offset = tj_layout_apply(graph, operand->value->layout, coordinate)->value, .valid = always};
  case TJ_VALUE_COMPOSED:
    return (tj_access){.offset = tj_composed_apply(graph, operand->value->composed, coordinate)->value,
                       .valid = always};
  default: {
    const tj_node *const *indices = indices_of(graph, operand->view, coordinate);
    return (tj_access){.offset = tj_view_offset(graph, operand->view, indices),
                       .valid = tj_view_valid(graph, operand->view, indices, false)};
  }
  }
}

tj_access tj_operand_access(tj_graph *graph, const tj_operand *operand, uint32_t buffer, const tj_tuple *coordinate) {
  tj_access access = tj_operand_raw_access(graph, operand, coordinate);
  access.buffer = buffer;
  if (operand->view == NULL || tj_view_stays_inside(graph, operand->view))
    return access;
  const tj_node *from = tj_less_equal(graph, tj_int(graph, 0), access.offset);
  const tj_node *to = tj_less(graph, access.offset, operand->element_count);
  access.valid = tj_terse_both(graph, access.valid, tj_and(graph, from, to));
  return access;
}

/* --- row-major and column-major order --- */

/* The strides of the top-level modes, coalesced; NULL where one has several, or where the map is more than strides.
 */
static const tj_node *const *mode_strides(tj_graph *graph, const tj_operand *operand) {
  const tj_node **strides = TJ_NEW_ARRAY(graph->job, const tj_node *, operand->rank);
  if (operand->view == NULL && operand->value->kind != TJ_VALUE_LAYOUT)
    return NULL;
  if (operand->view != NULL && (operand->view->stage_count != 1 || !tj_is_int(operand->view->offset, 0)))
    return NULL;
  const tj_node *zero = tj_int(graph, 0);
  const tj_node **indices = TJ_NEW_ARRAY(graph->job, const tj_node *, operand->rank);
  for (uint32_t i = 0; i < operand->rank; i++) {
    if (operand->view == NULL) {
      const tj_tuple *stride = tj_layout_coalesce(graph, tj_layout_mode(graph, operand->value->layout, i)).stride;
      if (stride->kind != TJ_TUPLE_INTEGER)
        return NULL;
      strides[i] = stride->value;
      continue;
    }
    for (uint32_t k = 0; k < operand->rank; k++)
      indices[k] = k == i ? tj_int(graph, 1) : zero;
    strides[i] = tj_view_offset(graph, operand->view, indices);
  }
  return strides;
}

/* Whether the modes lie without gaps, the last one fastest or the first. */
static bool is_compact(tj_graph *graph, const tj_operand *operand, bool last_is_fastest) {
  const tj_node *const *strides = mode_strides(graph, operand);
  const tj_node *expected = tj_int(graph, 1);
  for (uint32_t k = 0; strides != NULL && k < operand->rank; k++) {
    uint32_t i = last_is_fastest ? operand->rank - 1 - k : k;
    if (!tj_is_int(operand->extent[i], 1) && !tj_prove_equal(graph, strides[i], expected))
      return false;
    expected = tj_mul(graph, expected, operand->extent[i]);
  }
  return strides != NULL;
}

bool tj_operand_is_row_major(tj_graph *graph, const tj_operand *operand) {
  return is_compact(graph, operand, true);
}

bool tj_operand_is_column_major(tj_graph *graph, const tj_operand *operand) {
  return is_compact(graph, operand, false);
}

tj_operand tj_operand_repeated(tj_graph *graph, const tj_operand *operand, const tj_operand *whole) {
  const tj_tuple **extent = TJ_NEW_ARRAY(graph->job, const tj_tuple *, operand->rank + 1),
                 **stride = TJ_NEW_ARRAY(graph->job, const tj_tuple *, operand->rank + 1);
  if (operand->value->kind != TJ_VALUE_LAYOUT)
    return *operand;
  for (uint32_t m = 0; m < operand->rank; m++) {
    bool is_single = tj_is_int(operand->extent[m], 1);
    extent[m] = tj_tuple_integer(graph, (is_single ? whole : operand)->extent[m]);
    stride[m] = is_single ? tj_tuple_constant(graph, 0) : tj_tuple_mode(operand->value->layout.stride, m);
  }
  bool is_list = tj_tuple_is_list(operand->shape);
  tj_layout layout = {is_list ? tj_tuple_list(graph, extent, operand->rank) : extent[0],
                      is_list ? tj_tuple_list(graph, stride, operand->rank) : stride[0]};
  return tj_operand_make(graph, tj_value_of_layout(graph, layout));
}
