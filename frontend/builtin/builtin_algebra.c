/* SPDX-License-Identifier: MIT */
/* CuTe's algebra as functions: thin calls of ir/layout/algebra.h. */
#include "frontend/sema/call.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"

#include <inttypes.h>

/* --- arguments --- */

static uint32_t arg_index(tj_call *call, uint32_t index, const char *what) {
  int64_t value = tj_arg_constant(call, index);
  if (value < 0 || value > TJ_MAX_RANK) {
    call->job->here = call->span[index];
    tj_fail(call->job, TJ_RANK, "%s %" PRId64 " is not 0 to %d", what, value, TJ_MAX_RANK);
  }
  return (uint32_t)value;
}

/* What functions of modes work on: a layout, or a tuple, which stands for the layout that has it twice. */
static tj_layout modes_of(tj_call *call) {
  const tj_value *value = call->arg[0];
  if (value->kind == TJ_VALUE_TUPLE)
    return (tj_layout){value->tuple, value->tuple};
  return tj_arg_inner_layout(call, 0);
}

/* What becomes a mode of argument 0: a layout of a layout, a tuple of a tuple. */
static tj_layout new_mode(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  bool of_tuple = call->arg[0]->kind == TJ_VALUE_TUPLE;
  if (value->kind != (of_tuple ? TJ_VALUE_TUPLE : TJ_VALUE_LAYOUT))
    tj_fail_arg(call, index, of_tuple ? "an integer or a tuple" : "a layout");
  return of_tuple ? (tj_layout){value->tuple, value->tuple} : value->layout;
}

static const tj_value *modes_value(tj_call *call, tj_layout result) {
  return call->arg[0]->kind == TJ_VALUE_TUPLE ? tj_give_tuple(call, result.shape) : tj_rewrapped(call, 0, result);
}

/* --- queries --- */

const tj_value *tj_builtin_coshape(tj_call *call) {
  return tj_give_tuple(call, tj_layout_coshape(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_coprofile(tj_call *call) {
  return tj_give_tuple(call, tj_layout_coprofile(call->graph, tj_arg_layout(call, 0)));
}

/* --- modes --- */

const tj_value *tj_builtin_filter(tj_call *call) {
  tj_layout of = tj_arg_inner_layout(call, 0);
  return tj_rewrapped(call, 0,
                      call->count == 1 ? tj_layout_filter(call->graph, of)
                                       : tj_layout_filter_by(call->graph, of, tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_filter_zeros(tj_call *call) {
  return tj_rewrapped(call, 0, tj_layout_filter_zeros(call->graph, tj_arg_inner_layout(call, 0)));
}

const tj_value *tj_builtin_unflatten(tj_call *call) {
  return modes_value(call, tj_layout_unflatten(call->graph, modes_of(call), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_group(tj_call *call) {
  return modes_value(
      call, tj_layout_group(call->graph, modes_of(call), arg_index(call, 1, "mode"), arg_index(call, 2, "mode")));
}

const tj_value *tj_builtin_take(tj_call *call) {
  return modes_value(
      call, tj_layout_take(call->graph, modes_of(call), arg_index(call, 1, "mode"), arg_index(call, 2, "mode")));
}

const tj_value *tj_builtin_select(tj_call *call) {
  uint32_t *modes = TJ_NEW_ARRAY(call->job, uint32_t, call->count);
  for (uint32_t i = 1; i < call->count; i++)
    modes[i - 1] = arg_index(call, i, "mode");
  return modes_value(call, tj_layout_select(call->graph, modes_of(call), modes, call->count - 1));
}

static uint32_t rank_argument(tj_call *call) {
  return call->count > 2 ? arg_index(call, 2, "rank") : 0;
}

/* Items of a list or a tiler, and x after them, up to as many as asked for. */
static const tj_value *append_item(tj_call *call) {
  const tj_value *of = call->arg[0];
  uint32_t rank = rank_argument(call), count = rank > 0 ? rank : of->count + 1;
  if (count <= of->count)
    return of;
  const tj_value **items = TJ_NEW_ARRAY(call->job, const tj_value *, count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = i < of->count ? of->item[i] : call->arg[1];
  return tj_value_of_items(call->graph, of->kind, items, count);
}

const tj_value *tj_builtin_append(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_LIST || call->arg[0]->kind == TJ_VALUE_TILER)
    return append_item(call);
  return modes_value(call, tj_layout_append(call->graph, modes_of(call), new_mode(call, 1), rank_argument(call)));
}

const tj_value *tj_builtin_prepend(tj_call *call) {
  return modes_value(call, tj_layout_prepend(call->graph, modes_of(call), new_mode(call, 1), rank_argument(call)));
}

const tj_value *tj_builtin_replace(tj_call *call) {
  return modes_value(call,
                     tj_layout_replace(call->graph, modes_of(call), arg_index(call, 1, "mode"), new_mode(call, 2)));
}

/* As in CuTe, a layout is its own reverse. */
const tj_value *tj_builtin_reverse(tj_call *call) {
  const tj_value *value = call->arg[0];
  return value->kind == TJ_VALUE_TUPLE ? tj_give_tuple(call, tj_tuple_reverse(call->graph, value->tuple)) : value;
}

const tj_value *tj_builtin_dice(tj_call *call) {
  const tj_value *of = call->arg[1];
  if (of->kind == TJ_VALUE_TUPLE)
    return tj_give_tuple(call, tj_tuple_dice(call->graph, tj_arg_tuple(call, 0), of->tuple));
  return tj_give_layout(call, tj_layout_dice(call->graph, tj_arg_tuple(call, 0), tj_arg_layout(call, 1)));
}

/* --- construction --- */

const tj_value *tj_builtin_make_ordered_layout(tj_call *call) {
  return tj_give_layout(call, tj_layout_ordered(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_make_layout_like(tj_call *call) {
  return tj_give_layout(call, tj_layout_like(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_make_fragment_like(tj_call *call) {
  return tj_give_layout(call, tj_layout_fragment_like(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_make_identity_layout(tj_call *call) {
  return tj_give_layout(call, tj_layout_identity(call->graph, tj_args_as_coordinate(call, 0)));
}

const tj_value *tj_builtin_compact_col_major(tj_call *call) {
  return tj_give_tuple(call, tj_layout_of_shape(call->graph, tj_arg_tuple(call, 0)).stride);
}

const tj_value *tj_builtin_compact_row_major(tj_call *call) {
  return tj_give_tuple(call, tj_compact_row_major(call->graph, tj_arg_tuple(call, 0)));
}

const tj_value *tj_builtin_compact_order(tj_call *call) {
  return tj_give_tuple(call, tj_compact_order(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* --- inverses --- */

const tj_value *tj_builtin_complement(tj_call *call) {
  const tj_tuple *cotarget = call->count > 1 ? tj_arg_tuple(call, 1) : NULL;
  return tj_give_layout(call, tj_layout_complement(call->graph, tj_arg_layout(call, 0), cotarget));
}

typedef tj_layout (*layout_inverse)(tj_graph *graph, tj_layout layout);
typedef const tj_f2 *(*linear_inverse)(tj_graph *graph, const tj_f2 *map);

static const tj_value *inverse(tj_call *call, layout_inverse of_layout, linear_inverse of_linear) {
  const tj_value *value = call->arg[0];
  if (value->kind == TJ_VALUE_LINEAR)
    return tj_value_of_linear(call->graph, of_linear(call->graph, value->linear));
  if (value->kind == TJ_VALUE_COMPOSED) {
    const tj_f2 *map = tj_f2_by_index(call->graph, tj_need_linear(call->graph, value));
    return tj_value_of_linear_or_layout(call->graph, of_linear(call->graph, map));
  }
  return tj_give_layout(call, of_layout(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_right_inverse(tj_call *call) {
  return inverse(call, tj_layout_right_inverse, tj_f2_right_inverse);
}

const tj_value *tj_builtin_left_inverse(tj_call *call) {
  return inverse(call, tj_layout_left_inverse, tj_f2_left_inverse);
}

const tj_value *tj_builtin_nullspace(tj_call *call) {
  return inverse(call, tj_layout_nullspace, tj_f2_kernel);
}

/* A layout, swizzled or not. */
static tj_composed arg_swizzled(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  if (value->kind == TJ_VALUE_COMPOSED && value->composed->swizzle.bits != 0)
    return *value->composed;
  return (tj_composed){.offset = tj_tuple_constant(call->graph, 0), .layout = tj_arg_layout(call, index)};
}

const tj_value *tj_builtin_max_common_vector(tj_call *call) {
  tj_composed a = arg_swizzled(call, 0), b = arg_swizzled(call, 1);
  return tj_value_of_node(call->graph, tj_composed_max_common_vector(call->graph, &a, &b));
}

const tj_value *tj_builtin_max_common_layout(tj_call *call) {
  tj_composed a = arg_swizzled(call, 0), b = arg_swizzled(call, 1);
  return tj_give_layout(call, tj_composed_max_common(call->graph, &a, &b));
}

const tj_value *tj_builtin_domain_distribute(tj_call *call) {
  return tj_give_layout(call, tj_domain_distribute(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* --- divides and products --- */

static const tj_tiler *arg_tiler(tj_call *call, uint32_t index) {
  const tj_tiler *tiler = tj_tiler_of_value(call->graph, call->arg[index]);
  if (tiler == NULL)
    tj_fail_arg(call, index, "a tiler: a layout, integers, or <A, B>");
  return tiler;
}

static const tj_value *divide(tj_call *call, tj_tiled_form form) {
  return tj_rewrapped(call, 0, tj_layout_divide(call->graph, tj_arg_inner_layout(call, 0), arg_tiler(call, 1), form));
}

static const tj_value *multiply(tj_call *call, tj_tiled_form form) {
  return tj_rewrapped(call, 0,
                      tj_layout_multiply(call->graph, tj_arg_inner_layout(call, 0), arg_tiler(call, 1), form));
}

const tj_value *tj_builtin_logical_divide(tj_call *call) {
  return divide(call, TJ_TILED_LOGICAL);
}

const tj_value *tj_builtin_zipped_divide(tj_call *call) {
  return divide(call, TJ_TILED_ZIPPED);
}

const tj_value *tj_builtin_tiled_divide(tj_call *call) {
  return divide(call, TJ_TILED_TILED);
}

const tj_value *tj_builtin_flat_divide(tj_call *call) {
  return divide(call, TJ_TILED_FLAT);
}

const tj_value *tj_builtin_logical_product(tj_call *call) {
  return multiply(call, TJ_TILED_LOGICAL);
}

const tj_value *tj_builtin_zipped_product(tj_call *call) {
  return multiply(call, TJ_TILED_ZIPPED);
}

const tj_value *tj_builtin_tiled_product(tj_call *call) {
  return multiply(call, TJ_TILED_TILED);
}

const tj_value *tj_builtin_flat_product(tj_call *call) {
  return multiply(call, TJ_TILED_FLAT);
}

const tj_value *tj_builtin_blocked_product(tj_call *call) {
  return tj_rewrapped(call, 0,
                      tj_layout_blocked_product(call->graph, tj_arg_inner_layout(call, 0), tj_arg_layout(call, 1)));
}

const tj_value *tj_builtin_raked_product(tj_call *call) {
  return tj_rewrapped(call, 0,
                      tj_layout_raked_product(call->graph, tj_arg_inner_layout(call, 0), tj_arg_layout(call, 1)));
}

const tj_value *tj_builtin_tile_to_shape(tj_call *call) {
  const tj_tuple *order = call->count > 2 ? tj_arg_tuple(call, 2) : NULL;
  return tj_rewrapped(call, 0,
                      tj_tile_to_shape(call->graph, tj_arg_inner_layout(call, 0), tj_arg_tuple(call, 1), order));
}

/* --- tiles of tensors --- */

/* A part of the tensor that argument `index` is: a layout, and where its first element lies in the tensor. A layout
 * that does not begin at 0 is a coordinate tensor. */
static const tj_value *part_of(tj_call *call, uint32_t index, tj_layout part, const tj_tuple *offset) {
  tj_graph *graph = call->graph;
  const tj_value *whole = call->arg[index];
  if (whole->kind == TJ_VALUE_COMPOSED)
    return tj_value_of_parts(graph, whole->composed->swizzle, tj_tuple_add(graph, whole->composed->offset, offset),
                             part);
  uint32_t count, zeros = 0;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, offset, &count);
  while (zeros < count && tj_is_int(leaves[zeros]->value, 0))
    zeros++;
  if (zeros == count)
    return tj_give_layout(call, part);
  tj_composed *tensor = TJ_NEW(call->job, tj_composed);
  *tensor = tj_coord_tensor(graph, offset, part);
  return tj_value_of_composed(graph, tensor);
}

const tj_value *tj_builtin_coord_tensor(tj_call *call) {
  const tj_value *of = call->arg[1];
  bool is_tensor = of->kind == TJ_VALUE_COMPOSED && of->composed->swizzle.bits == 0;
  tj_layout inner = is_tensor ? of->composed->layout : tj_arg_layout(call, 1);
  tj_composed *tensor = TJ_NEW(call->job, tj_composed);
  *tensor = tj_coord_tensor(call->graph, tj_arg_tuple(call, 0), inner);
  if (is_tensor)
    tensor->offset = tj_tuple_add(call->graph, tensor->offset, of->composed->offset);
  return tj_value_of_composed(call->graph, tensor);
}

const tj_value *tj_builtin_domain_offset(tj_call *call) {
  tj_layout inner = tj_arg_inner_layout(call, 1);
  return part_of(call, 1, inner, tj_crd2idx(call->graph, tj_arg_tuple(call, 0), inner.shape, inner.stride));
}

/* The projection that is argument 3: a tuple with _ for the modes that do not count. NULL where not given. */
static const tj_tuple *arg_projection(tj_call *call) {
  const tj_tuple *projection = call->count > 3 ? tj_arg_tuple(call, 3) : NULL;
  if (projection != NULL && !tj_tuple_is_list(projection))
    tj_fail_arg(call, 3, "a tuple such as (1,_,1)");
  return projection;
}

const tj_value *tj_builtin_local_tile(tj_call *call) {
  const tj_tuple *offset, *coordinate = tj_arg_tuple(call, 2), *projection = arg_projection(call);
  const tj_tiler *tiler = arg_tiler(call, 1);
  if (projection != NULL) {
    tiler = tj_tiler_dice(call->graph, projection, tiler);
    coordinate = tj_tuple_dice(call->graph, projection, coordinate);
  }
  tj_layout tile = tj_local_tile(call->graph, tj_arg_inner_layout(call, 0), tiler, coordinate, &offset);
  return part_of(call, 0, tile, offset);
}

const tj_value *tj_builtin_local_partition(tj_call *call) {
  const tj_tuple *offset, *projection = arg_projection(call);
  tj_layout threads = tj_arg_layout(call, 1);
  if (projection != NULL)
    threads = tj_layout_dice(call->graph, projection, threads);
  tj_layout part =
      tj_local_partition(call->graph, tj_arg_inner_layout(call, 0), threads, tj_arg_node(call, 2), &offset);
  return part_of(call, 0, part, offset);
}

/* --- element sizes --- */

typedef tj_layout (*cast_layout)(tj_graph *graph, tj_layout layout, int64_t count);
typedef tj_swizzle (*cast_swizzle)(tj_graph *graph, tj_swizzle swizzle, int64_t count);
typedef const tj_node *(*cast_offset)(tj_graph *graph, const tj_node *offset, const tj_node *count);

/* What a change of the element's size does to each part of a composed layout. */
typedef struct {
  cast_layout layout;
  cast_swizzle swizzle;
  cast_offset offset;
} casting;

static const tj_node *upcast_offset(tj_graph *graph, const tj_node *offset, const tj_node *count) {
  tj_decision divides = tj_decide_divides(graph, count, offset);
  if (divides == TJ_NO)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE, "upcast: %s does not divide the offset %s", tj_describe(graph, count),
            tj_describe(graph, offset));
  if (divides == TJ_UNKNOWN)
    tj_fail_needs_divisible(graph, "upcast", offset, count);
  return tj_exact_div(graph, offset, count);
}

static const casting upcasting = {tj_layout_upcast, tj_swizzle_upcast, upcast_offset};
static const casting downcasting = {tj_layout_downcast, tj_swizzle_downcast, tj_terse_mul};

static const tj_value *cast(tj_call *call, const tj_value *value, int64_t count, const casting *to) {
  tj_graph *graph = call->graph;
  if (value->kind == TJ_VALUE_SWIZZLE)
    return tj_value_of_swizzle(graph, to->swizzle(graph, value->swizzle, count));
  if (value->kind != TJ_VALUE_COMPOSED)
    return tj_give_layout(call, to->layout(graph, tj_need_layout(graph, value, "what is cast"), count));
  const tj_composed *composed = value->composed;
  if (composed->offset->kind != TJ_TUPLE_INTEGER)
    tj_fail(call->job, TJ_WRONG_TYPE, "%s: a layout with basis strides", call->builtin->name);
  tj_layout inner = to->layout(graph, composed->layout, count);
  const tj_tuple *offset = tj_tuple_integer(graph, to->offset(graph, composed->offset->value, tj_int(graph, count)));
  return tj_value_of_parts(graph, to->swizzle(graph, composed->swizzle, count), offset, inner);
}

const tj_value *tj_builtin_upcast(tj_call *call) {
  return cast(call, call->arg[0], tj_arg_constant(call, 1), &upcasting);
}

const tj_value *tj_builtin_downcast(tj_call *call) {
  return cast(call, call->arg[0], tj_arg_constant(call, 1), &downcasting);
}

const tj_value *tj_builtin_recast(tj_call *call) {
  int64_t from = tj_arg_constant(call, 1), to = tj_arg_constant(call, 2);
  if (from < 1 || to < 1)
    tj_fail(call->job, TJ_BAD_SHAPE, "recast by %" PRId64, from < 1 ? from : to);
  int64_t common =
      tj_tuple_gcd(call->graph, tj_tuple_constant(call->graph, from), tj_tuple_constant(call->graph, to));
  const tj_value *value = call->arg[0];
  if (to != common || from == common)
    value = cast(call, value, to / common, &upcasting);
  return from == common ? value : cast(call, value, from / common, &downcasting);
}

/* --- integers and tuples --- */

const tj_value *tj_builtin_shape_div(tj_call *call) {
  return tj_give_tuple(call, tj_shape_div(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_shape_mod(tj_call *call) {
  return tj_give_tuple(call, tj_shape_mod(call->graph, tj_arg_tuple(call, 0), tj_arg_node(call, 1)));
}

const tj_value *tj_builtin_ceil_div(tj_call *call) {
  return tj_give_tuple(call, tj_tuple_ceil_div(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_round_up(tj_call *call) {
  return tj_give_tuple(call, tj_tuple_round_up(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_gcd(tj_call *call) {
  return tj_give_integer(call, tj_tuple_gcd(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* The shape of a layout; a tuple itself. */
static const tj_tuple *profile_of(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  return value->kind == TJ_VALUE_TUPLE ? value->tuple : tj_arg_layout(call, index).shape;
}

const tj_value *tj_builtin_congruent(tj_call *call) {
  return tj_give_integer(call, tj_tuple_congruent(profile_of(call, 0), profile_of(call, 1)));
}

const tj_value *tj_builtin_compatible(tj_call *call) {
  return tj_give_integer(call, tj_tuple_compatible(call->graph, profile_of(call, 0), profile_of(call, 1)));
}

const tj_value *tj_builtin_weakly_congruent(tj_call *call) {
  return tj_give_integer(call, tj_tuple_weakly_congruent(profile_of(call, 0), profile_of(call, 1)));
}

/* Mode by mode where all three have modes. */
static const tj_tuple *moved(tj_graph *graph, const tj_tuple *c, const tj_tuple *source, const tj_tuple *target) {
  if (!tj_tuple_is_list(c) || !tj_tuple_is_list(source) || !tj_tuple_is_list(target)) {
    const tj_tuple *stride = tj_layout_of_shape(graph, source).stride;
    return tj_idx2crd(graph, tj_crd2idx(graph, c, source, stride), target, NULL);
  }
  if (c->count != source->count || c->count != target->count)
    tj_fail(graph->job, TJ_RANK, "%s, %s and %s have different ranks", tj_tuple_text(graph->job, c),
            tj_tuple_text(graph->job, source), tj_tuple_text(graph->job, target));
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, c->count);
  for (uint32_t i = 0; i < c->count; i++)
    items[i] = moved(graph, c->item[i], source->item[i], target->item[i]);
  return tj_tuple_list(graph, items, c->count);
}

const tj_value *tj_builtin_crd2crd(tj_call *call) {
  return tj_give_tuple(call, moved(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1), tj_arg_tuple(call, 2)));
}
