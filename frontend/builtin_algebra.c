/* CuTe's algebra as functions: thin calls of ir/algebra.h. */
#include "frontend/builtin.h"
#include "ir/algebra.h"
#include "ir/facts.h"

#include <inttypes.h>

static const tj_value *integer(tj_call *call, int64_t value) {
  return tj_value_of_node(call->graph, tj_int(call->graph, value));
}

static const tj_value *tuple(tj_call *call, const tj_tuple *value) {
  return tj_value_of_tuple(call->graph, value);
}

static const tj_value *layout(tj_call *call, tj_layout value) {
  return tj_value_of_layout(call->graph, value);
}

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
static tj_layout modes_of(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  if (value->kind == TJ_VALUE_TUPLE)
    return (tj_layout){value->tuple, value->tuple};
  return tj_arg_layout(call, index);
}

static const tj_value *modes_value(tj_call *call, tj_layout result) {
  return call->arg[0]->kind == TJ_VALUE_TUPLE ? tuple(call, result.shape) : layout(call, result);
}

/* --- queries --- */

const tj_value *tj_builtin_coshape(tj_call *call) {
  return tuple(call, tj_layout_coshape(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_coprofile(tj_call *call) {
  return tuple(call, tj_layout_coprofile(call->graph, tj_arg_layout(call, 0)));
}

/* --- modes --- */

const tj_value *tj_builtin_filter(tj_call *call) {
  tj_layout of = tj_arg_layout(call, 0);
  return layout(call, call->count == 1 ? tj_layout_filter(call->graph, of)
                                       : tj_layout_filter_by(call->graph, of, tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_filter_zeros(tj_call *call) {
  return layout(call, tj_layout_filter_zeros(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_unflatten(tj_call *call) {
  return modes_value(call, tj_layout_unflatten(call->graph, modes_of(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_group(tj_call *call) {
  return modes_value(
      call, tj_layout_group(call->graph, modes_of(call, 0), arg_index(call, 1, "mode"), arg_index(call, 2, "mode")));
}

const tj_value *tj_builtin_take(tj_call *call) {
  return modes_value(
      call, tj_layout_take(call->graph, modes_of(call, 0), arg_index(call, 1, "mode"), arg_index(call, 2, "mode")));
}

const tj_value *tj_builtin_select(tj_call *call) {
  uint32_t *modes = TJ_NEW_ARRAY(call->job, uint32_t, call->count);
  for (uint32_t i = 1; i < call->count; i++)
    modes[i - 1] = arg_index(call, i, "mode");
  return modes_value(call, tj_layout_select(call->graph, modes_of(call, 0), modes, call->count - 1));
}

static uint32_t rank_argument(tj_call *call) {
  return call->count > 2 ? arg_index(call, 2, "rank") : 0;
}

const tj_value *tj_builtin_append(tj_call *call) {
  return modes_value(call, tj_layout_append(call->graph, modes_of(call, 0), modes_of(call, 1), rank_argument(call)));
}

const tj_value *tj_builtin_prepend(tj_call *call) {
  return modes_value(call, tj_layout_prepend(call->graph, modes_of(call, 0), modes_of(call, 1), rank_argument(call)));
}

const tj_value *tj_builtin_replace(tj_call *call) {
  return modes_value(
      call, tj_layout_replace(call->graph, modes_of(call, 0), arg_index(call, 1, "mode"), modes_of(call, 2)));
}

/* As in CuTe, a layout is its own reverse. */
const tj_value *tj_builtin_reverse(tj_call *call) {
  const tj_value *value = call->arg[0];
  return value->kind == TJ_VALUE_TUPLE ? tuple(call, tj_tuple_reverse(call->graph, value->tuple)) : value;
}

const tj_value *tj_builtin_dice(tj_call *call) {
  return layout(call, tj_layout_dice(call->graph, tj_arg_tuple(call, 0), tj_arg_layout(call, 1)));
}

/* --- construction --- */

const tj_value *tj_builtin_make_ordered_layout(tj_call *call) {
  return layout(call, tj_layout_ordered(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_make_layout_like(tj_call *call) {
  return layout(call, tj_layout_like(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_make_identity_layout(tj_call *call) {
  return layout(call, tj_layout_identity(call->graph, tj_args_as_coordinate(call, 0)));
}

const tj_value *tj_builtin_compact_col_major(tj_call *call) {
  return tuple(call, tj_layout_of_shape(call->graph, tj_arg_tuple(call, 0)).stride);
}

const tj_value *tj_builtin_compact_row_major(tj_call *call) {
  return tuple(call, tj_compact_row_major(call->graph, tj_arg_tuple(call, 0)));
}

const tj_value *tj_builtin_compact_order(tj_call *call) {
  return tuple(call, tj_compact_order(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* --- inverses --- */

const tj_value *tj_builtin_complement(tj_call *call) {
  const tj_tuple *cotarget = call->count > 1 ? tj_arg_tuple(call, 1) : NULL;
  return layout(call, tj_layout_complement(call->graph, tj_arg_layout(call, 0), cotarget));
}

const tj_value *tj_builtin_right_inverse(tj_call *call) {
  return layout(call, tj_layout_right_inverse(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_left_inverse(tj_call *call) {
  return layout(call, tj_layout_left_inverse(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_nullspace(tj_call *call) {
  return layout(call, tj_layout_nullspace(call->graph, tj_arg_layout(call, 0)));
}

const tj_value *tj_builtin_max_common_vector(tj_call *call) {
  return tj_value_of_node(call->graph,
                          tj_layout_max_common_vector(call->graph, tj_arg_layout(call, 0), tj_arg_layout(call, 1)));
}

const tj_value *tj_builtin_max_common_layout(tj_call *call) {
  return layout(call, tj_layout_max_common(call->graph, tj_arg_layout(call, 0), tj_arg_layout(call, 1)));
}

const tj_value *tj_builtin_domain_distribute(tj_call *call) {
  return layout(call, tj_domain_distribute(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* --- divides and products --- */

static const tj_tiler *arg_tiler(tj_call *call, uint32_t index) {
  const tj_tiler *tiler = tj_tiler_of_value(call->graph, call->arg[index]);
  if (tiler == NULL)
    tj_fail_arg(call, index, "a tiler: a layout, integers, or <A, B>");
  return tiler;
}

static const tj_value *divide(tj_call *call, tj_tiled_form form) {
  return layout(call, tj_layout_divide(call->graph, tj_arg_layout(call, 0), arg_tiler(call, 1), form));
}

static const tj_value *multiply(tj_call *call, tj_tiled_form form) {
  return layout(call, tj_layout_multiply(call->graph, tj_arg_layout(call, 0), arg_tiler(call, 1), form));
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
  return layout(call, tj_layout_blocked_product(call->graph, tj_arg_layout(call, 0), tj_arg_layout(call, 1)));
}

const tj_value *tj_builtin_raked_product(tj_call *call) {
  return layout(call, tj_layout_raked_product(call->graph, tj_arg_layout(call, 0), tj_arg_layout(call, 1)));
}

const tj_value *tj_builtin_tile_to_shape(tj_call *call) {
  const tj_tuple *order = call->count > 2 ? tj_arg_tuple(call, 2) : NULL;
  const tj_tuple *shape = tj_arg_tuple(call, 1);
  const tj_value *block = call->arg[0];
  if (block->kind != TJ_VALUE_COMPOSED)
    return layout(call, tj_tile_to_shape(call->graph, tj_arg_layout(call, 0), shape, order));
  tj_composed *composed = TJ_NEW(call->job, tj_composed);
  *composed = *block->composed;
  composed->layout = tj_tile_to_shape(call->graph, block->composed->layout, shape, order);
  return tj_value_of_composed(call->graph, composed);
}

/* --- element sizes --- */

typedef tj_layout (*cast_layout)(tj_graph *graph, tj_layout layout, int64_t count);
typedef tj_swizzle (*cast_swizzle)(tj_graph *graph, tj_swizzle swizzle, int64_t count);

static const tj_value *cast(tj_call *call, cast_layout of_layout, cast_swizzle of_swizzle) {
  const tj_value *value = call->arg[0];
  int64_t count = tj_arg_constant(call, 1);
  if (value->kind == TJ_VALUE_SWIZZLE)
    return tj_value_of_swizzle(call->graph, of_swizzle(call->graph, value->swizzle, count));
  if (value->kind != TJ_VALUE_COMPOSED)
    return layout(call, of_layout(call->graph, tj_arg_layout(call, 0), count));
  if (!tj_is_int(value->composed->offset->value, 0))
    tj_fail(call->job, TJ_NOT_IMPLEMENTED, "%s across an offset is not implemented yet", call->builtin->name);
  tj_composed *composed = TJ_NEW(call->job, tj_composed);
  composed->swizzle = of_swizzle(call->graph, value->composed->swizzle, count);
  composed->offset = value->composed->offset;
  composed->layout = of_layout(call->graph, value->composed->layout, count);
  return tj_value_of_composed(call->graph, composed);
}

const tj_value *tj_builtin_upcast(tj_call *call) {
  return cast(call, tj_layout_upcast, tj_swizzle_upcast);
}

const tj_value *tj_builtin_downcast(tj_call *call) {
  return cast(call, tj_layout_downcast, tj_swizzle_downcast);
}

const tj_value *tj_builtin_recast(tj_call *call) {
  return layout(call, tj_layout_recast(call->graph, tj_arg_layout(call, 0), tj_arg_constant(call, 1),
                                       tj_arg_constant(call, 2)));
}

/* --- integers and tuples --- */

const tj_value *tj_builtin_shape_div(tj_call *call) {
  return tuple(call, tj_shape_div(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_ceil_div(tj_call *call) {
  return tuple(call, tj_tuple_ceil_div(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_round_up(tj_call *call) {
  return tuple(call, tj_tuple_round_up(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

const tj_value *tj_builtin_gcd(tj_call *call) {
  return integer(call, tj_tuple_gcd(call->graph, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* The shape of a layout; a tuple itself. */
static const tj_tuple *profile_of(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  return value->kind == TJ_VALUE_TUPLE ? value->tuple : tj_arg_layout(call, index).shape;
}

const tj_value *tj_builtin_congruent(tj_call *call) {
  return integer(call, tj_tuple_congruent(profile_of(call, 0), profile_of(call, 1)));
}

const tj_value *tj_builtin_compatible(tj_call *call) {
  return integer(call, tj_tuple_compatible(call->graph, profile_of(call, 0), profile_of(call, 1)));
}

static bool weakly_congruent(const tj_tuple *a, const tj_tuple *b) {
  if (!tj_tuple_is_list(a))
    return true;
  if (!tj_tuple_is_list(b) || a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++) {
    if (!weakly_congruent(a->item[i], b->item[i]))
      return false;
  }
  return true;
}

const tj_value *tj_builtin_weakly_congruent(tj_call *call) {
  return integer(call, weakly_congruent(profile_of(call, 0), profile_of(call, 1)));
}

const tj_value *tj_builtin_crd2crd(tj_call *call) {
  const tj_tuple *source = tj_arg_tuple(call, 1), *target = tj_arg_tuple(call, 2);
  tj_layout from = tj_layout_of_shape(call->graph, source);
  const tj_tuple *index = tj_crd2idx(call->graph, tj_arg_tuple(call, 0), source, from.stride);
  return tuple(call, tj_idx2crd(call->graph, index, target, NULL));
}
