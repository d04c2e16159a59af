/* SPDX-License-Identifier: MIT */
/* The functions of cute.def's rows that are none of the language. */
#include "frontend/names/cute.h"
#include "frontend/sema/call.h"
#include "ir/layout/algebra.h"

#include <inttypes.h>

const tj_value *tj_cute_tuple(tj_call *call) {
  const tj_tuple **items = TJ_NEW_ARRAY(call->job, const tj_tuple *, call->count);
  for (uint32_t i = 0; i < call->count; i++)
    items[i] = tj_arg_tuple(call, i);
  return tj_give_tuple(call, tj_tuple_list(call->graph, items, call->count));
}

const tj_value *tj_cute_items(tj_call *call) {
  for (uint32_t i = 0; i < call->count; i++) {
    if (call->arg[i]->kind != TJ_VALUE_TUPLE)
      return tj_value_of_items(call->graph, TJ_VALUE_LIST, call->arg, call->count);
  }
  return tj_cute_tuple(call);
}

const tj_value *tj_cute_tiler(tj_call *call) {
  return tj_value_of_items(call->graph, TJ_VALUE_TILER, call->arg, call->count);
}

const tj_value *tj_cute_integer(tj_call *call) {
  return tj_value_of_node(call->graph, tj_arg_node(call, 0));
}

/* A value of argument `index` as the number of a mode. */
static uint32_t mode_number(tj_call *call, uint32_t index, const tj_value *value) {
  int64_t mode = tj_need_constant(call->graph, value, "the mode of a basis element");
  if (mode < 0 || mode > UINT32_MAX)
    tj_fail_arg(call, index, "the number of a mode");
  return (uint32_t)mode;
}

const tj_value *tj_cute_basis(tj_call *call) {
  uint32_t *path = TJ_NEW_ARRAY(call->job, uint32_t, call->count + 1);
  for (uint32_t i = 0; i < call->count; i++)
    path[i] = mode_number(call, i, call->arg[i]);
  return tj_give_tuple(call, tj_tuple_basis(call->graph, tj_int(call->graph, 1), path, call->count));
}

const tj_value *tj_cute_scaled_basis(tj_call *call) {
  const tj_value *modes = call->arg[1];
  uint32_t count = modes->kind == TJ_VALUE_LIST ? modes->count : 1;
  uint32_t *path = TJ_NEW_ARRAY(call->job, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++)
    path[i] = mode_number(call, 1, modes->kind == TJ_VALUE_LIST ? modes->item[i] : modes);
  return tj_give_tuple(call, tj_tuple_basis(call->graph, tj_arg_node(call, 0), path, count));
}

const tj_value *tj_cute_swizzle(tj_call *call) {
  int64_t bits = tj_arg_constant(call, 0), base = tj_arg_constant(call, 1);
  int64_t shift = call->count > 2 ? tj_arg_constant(call, 2) : bits;
  return tj_value_of_swizzle(call->graph, tj_swizzle_make(call->graph, bits, base, shift));
}

const tj_value *tj_cute_row_major(tj_call *call) {
  const tj_tuple *shape = tj_arg_tuple(call, 0);
  return tj_give_layout(call, tj_layout_make(call->graph, shape, tj_compact_row_major(call->graph, shape)));
}

static bool has_whole_mode(const tj_tuple *tuple) {
  bool has = tuple->kind == TJ_TUPLE_ANY;
  for (uint32_t i = 0; tj_tuple_is_list(tuple) && i < tuple->count && !has; i++)
    has = has_whole_mode(tuple->item[i]);
  return has;
}

/* pycute's slice_ has the coordinate first, the one of CuTe's DSL last: it is what has an underscore, or is no
 * layout. */
const tj_value *tj_cute_slice(tj_call *call) {
  const tj_value *first = call->arg[0];
  bool is_coordinate = first->kind == TJ_VALUE_TUPLE && has_whole_mode(first->tuple);
  bool is_source = !is_coordinate && (first->kind != TJ_VALUE_TUPLE || call->arg[1]->kind == TJ_VALUE_TUPLE);
  const tj_value *turned[] = {call->arg[1], call->arg[0]};
  const tj_span span[] = {call->span[1], call->span[0]};
  tj_call as_cute = *call;
  as_cute.arg = is_source ? turned : call->arg;
  as_cute.span = is_source ? span : call->span;
  return tj_builtin_slice(&as_cute);
}

const tj_value *tj_cute_sizeof(tj_call *call) {
  enum { BYTE = 8 };
  int64_t bits = tj_arg_constant(call, 0);
  if (bits < 1 || bits % BYTE != 0)
    tj_fail(call->job, TJ_NOT_DIVISIBLE, "elements of %" PRId64 " bits are no bytes", bits);
  return tj_give_integer(call, bits / BYTE);
}

const tj_value *tj_cute_flag(tj_call *call) {
  tj_fail(call->job, TJ_WRONG_TYPE, "a pointer, or %s, stands only before 'o' and a layout", TJ_CUTE_FLAG);
}

const tj_value *tj_cute_tensor(tj_call *call) {
  tj_fail(call->job, TJ_WRONG_TYPE, "a tensor is a pointer or a coordinate, 'o' and a layout");
}
