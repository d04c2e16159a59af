/* SPDX-License-Identifier: MIT */
/* CuTe's functions: thin calls of ir/layout/layout.h and its algebra. */
#include "frontend/sema/call.h"

#include "ir/view/bridge.h"

#include <inttypes.h>

/* --- integers --- */

typedef const tj_node *(*binary_operation)(tj_graph *graph, const tj_node *a, const tj_node *b);

static const tj_value *fold(tj_call *call, binary_operation operation) {
  const tj_node *result = tj_arg_node(call, 0);
  for (uint32_t i = 1; i < call->count; i++)
    result = operation(call->graph, result, tj_arg_node(call, i));
  return tj_value_of_node(call->graph, result);
}

const tj_value *tj_builtin_min(tj_call *call) {
  return fold(call, tj_min);
}

const tj_value *tj_builtin_max(tj_call *call) {
  return fold(call, tj_max);
}

/* Truths in operations that are written in the language. */

/* 1 where a number is positive, of one that is not negative. */
static const tj_node *is_positive(tj_graph *graph, const tj_node *number) {
  return tj_min(graph, number, tj_int(graph, 1));
}

static const tj_value *negated(tj_call *call, const tj_node *truth) {
  return tj_value_of_node(call->graph, tj_sub(call->graph, tj_int(call->graph, 1), truth));
}

/* Whether argument `a` is less than argument `b`. */
static const tj_node *is_less(tj_call *call, uint32_t a, uint32_t b) {
  tj_graph *graph = call->graph;
  const tj_node *difference = tj_sub(graph, tj_arg_node(call, b), tj_arg_node(call, a));
  return is_positive(graph, tj_max(graph, difference, tj_int(graph, 0)));
}

static const tj_node *is_other(tj_call *call) {
  tj_graph *graph = call->graph;
  const tj_node *a = tj_arg_node(call, 0), *b = tj_arg_node(call, 1);
  return is_positive(graph, tj_max(graph, tj_sub(graph, a, b), tj_sub(graph, b, a)));
}

const tj_value *tj_builtin_lt(tj_call *call) {
  return tj_value_of_node(call->graph, is_less(call, 0, 1));
}

const tj_value *tj_builtin_le(tj_call *call) {
  return negated(call, is_less(call, 1, 0));
}

const tj_value *tj_builtin_gt(tj_call *call) {
  return tj_value_of_node(call->graph, is_less(call, 1, 0));
}

const tj_value *tj_builtin_ge(tj_call *call) {
  return negated(call, is_less(call, 0, 1));
}

const tj_value *tj_builtin_eq(tj_call *call) {
  return negated(call, is_other(call));
}

const tj_value *tj_builtin_ne(tj_call *call) {
  return tj_value_of_node(call->graph, is_other(call));
}

/* --- shapes and strides --- */

/* The shape of a layout, a composed layout or a view; of a tuple, itself. */
static const tj_tuple *shape_of(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  switch (value->kind) {
  case TJ_VALUE_TUPLE:
    return value->tuple;
  case TJ_VALUE_LAYOUT:
    return value->layout.shape;
  case TJ_VALUE_COMPOSED:
    return value->composed->layout.shape;
  case TJ_VALUE_VIEW:
    return tj_view_lengths(call->graph, value->view);
  case TJ_VALUE_LINEAR:
    return tj_map_of_linear(call->graph, value->linear).domain;
  default:
    tj_fail_arg(call, index, "a layout or a tuple");
  }
}

static const tj_value *layout_of_linear(tj_call *call, const tj_f2 *map) {
  const char *obstacle;
  const tj_composed *composed = tj_layout_of_f2(call->graph, map, &obstacle);
  if (composed == NULL)
    tj_fail(call->job, TJ_NOT_LINEAR, "no layout has the values of the linear map: %s", obstacle);
  return composed->swizzle.bits == 0 ? tj_give_layout(call, composed->layout)
                                     : tj_value_of_composed(call->graph, composed);
}

const tj_value *tj_builtin_layout(tj_call *call) {
  if (call->count == 1 && call->arg[0]->kind == TJ_VALUE_LINEAR)
    return layout_of_linear(call, call->arg[0]->linear);
  if (call->count == 1 && call->arg[0]->kind == TJ_VALUE_VIEW)
    return tj_give_layout(call, tj_layout_of_view(call->graph, call->arg[0]->view));
  if (call->arg[0]->kind == TJ_VALUE_LAYOUT || call->arg[0]->kind == TJ_VALUE_COMPOSED)
    return tj_args_part(call);
  if (call->count > 2)
    tj_fail_arg(call, 0, "a layout where several modes follow");
  if (call->count == 1)
    return tj_give_layout(call, tj_layout_of_shape(call->graph, tj_arg_tuple(call, 0)));
  return tj_give_layout(call, tj_layout_make(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_size(tj_call *call) {
  const tj_tuple *shape = tj_args_mode_of_tuple(call, shape_of(call, 0), 1);
  return tj_value_of_node(call->graph, tj_tuple_product(call->graph, shape));
}

const tj_value *tj_builtin_cosize(tj_call *call) {
  return tj_value_of_node(call->graph, tj_layout_cosize(call->graph, tj_arg_inner_layout(call, 0)));
}

const tj_value *tj_builtin_rank(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_LINEAR)
    return tj_give_integer(call, tj_f2_rank(call->graph, call->arg[0]->linear));
  if (call->count == 1 && (call->arg[0]->kind == TJ_VALUE_LIST || call->arg[0]->kind == TJ_VALUE_TILER))
    return tj_give_integer(call, call->arg[0]->count);
  return tj_give_integer(call, tj_tuple_rank(tj_args_mode_of_tuple(call, shape_of(call, 0), 1)));
}

const tj_value *tj_builtin_depth(tj_call *call) {
  return tj_give_integer(call, tj_args_mode_of_tuple(call, shape_of(call, 0), 1)->depth);
}

const tj_value *tj_builtin_shape(tj_call *call) {
  return tj_give_tuple(call, tj_args_mode_of_tuple(call, shape_of(call, 0), 1));
}

const tj_value *tj_builtin_stride(tj_call *call) {
  return tj_give_tuple(call, tj_args_mode_of_tuple(call, tj_arg_inner_layout(call, 0).stride, 1));
}

const tj_value *tj_builtin_flatten(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_TUPLE)
    return tj_give_tuple(call, tj_tuple_flatten(call->graph, call->arg[0]->tuple));
  return tj_rewrapped(call, 0, tj_layout_flatten(call->graph, tj_arg_inner_layout(call, 0)));
}

/* --- algebra --- */

const tj_value *tj_builtin_coalesce(tj_call *call) {
  tj_layout of = tj_arg_inner_layout(call, 0);
  if (call->count == 1)
    return tj_rewrapped(call, 0, tj_layout_coalesce(call->graph, of));
  return tj_rewrapped(call, 0, tj_layout_coalesce_by(call->graph, of, tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_composition(tj_call *call) {
  return tj_compose_values(call->graph, call->arg[0], call->arg[1]);
}

const tj_value *tj_builtin_crd2idx(tj_call *call) {
  const tj_tuple *shape = tj_arg_tuple(call, 1);
  const tj_tuple *stride = call->count > 2 ? tj_arg_tuple(call, 2) : tj_layout_of_shape(call->graph, shape).stride;
  return tj_give_tuple(call, tj_crd2idx(call->graph, tj_arg_tuple(call, 0), shape, stride));
}

const tj_value *tj_builtin_idx2crd(tj_call *call) {
  const tj_tuple *stride = call->count > 2 ? tj_arg_tuple(call, 2) : NULL;
  return tj_give_tuple(call, tj_idx2crd(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1), stride));
}

/* --- parts of composed layouts --- */

const tj_value *tj_builtin_get_swizzle_portion(tj_call *call) {
  const tj_value *value = call->arg[0];
  if (tj_value_layout(value) == NULL)
    tj_fail_arg(call, 0, "a layout, perhaps behind a swizzle");
  enum { BASE = 4, SHIFT = 3 };
  return tj_value_of_swizzle(call->graph, value->kind == TJ_VALUE_COMPOSED
                                              ? value->composed->swizzle
                                              : tj_swizzle_make(call->graph, 0, BASE, SHIFT));
}

const tj_value *tj_builtin_get_nonswizzle_portion(tj_call *call) {
  return tj_give_layout(call, tj_arg_inner_layout(call, 0));
}
