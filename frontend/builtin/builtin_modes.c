/* SPDX-License-Identifier: MIT */
/* Parts of values and values of parts: modes of layouts and tuples, items of lists and tilers, tuples made of others.
 * What functions of a program need to take apart what they are given. */
#include "frontend/sema/call.h"
#include "ir/index/facts.h"
#include "ir/layout/algebra.h"
#include "ir/layout/arith.h"

#include <inttypes.h>

/* --- parts --- */

/* The mode of a rank that argument `index` names. */
static uint32_t mode_of_rank(tj_call *call, uint32_t index, uint32_t rank) {
  int64_t mode = tj_arg_constant(call, index);
  if (mode < 0 || mode >= rank)
    tj_fail_at(call->job, call->span[index], TJ_RANK, "mode %" PRId64 " of %" PRIu32, mode, rank);
  return (uint32_t)mode;
}

const tj_tuple *tj_args_mode_of_tuple(tj_call *call, const tj_tuple *of, uint32_t first) {
  for (uint32_t i = first; i < call->count; i++)
    of = tj_tuple_mode(of, mode_of_rank(call, i, tj_tuple_rank(of)));
  return of;
}

static const tj_value *part(tj_call *call, const tj_value *of, uint32_t index) {
  tj_graph *graph = call->graph;
  switch (of->kind) {
  case TJ_VALUE_TUPLE:
    return tj_give_tuple(call, tj_tuple_mode(of->tuple, mode_of_rank(call, index, tj_tuple_rank(of->tuple))));
  case TJ_VALUE_LAYOUT:
    return tj_give_layout(
        call, tj_layout_mode(graph, of->layout, mode_of_rank(call, index, tj_tuple_rank(of->layout.shape))));
  case TJ_VALUE_COMPOSED: {
    const tj_composed *c = of->composed;
    uint32_t mode = mode_of_rank(call, index, tj_tuple_rank(c->layout.shape));
    return tj_value_of_parts(graph, c->swizzle, c->offset, tj_layout_mode(graph, c->layout, mode));
  }
  case TJ_VALUE_LIST:
  case TJ_VALUE_TILER:
    return of->item[mode_of_rank(call, index, of->count)];
  default:
    tj_fail_arg(call, 0, "a tuple, a layout, a list or a tiler");
  }
}

const tj_value *tj_args_part(tj_call *call) {
  const tj_value *of = call->arg[0];
  for (uint32_t i = 1; i < call->count; i++)
    of = part(call, of, i);
  return of;
}

const tj_value *tj_builtin_get(tj_call *call) {
  return tj_args_part(call);
}

/* --- layouts of parts --- */

/* Layouts side by side; what is no layout has strides of its own. */
const tj_value *tj_builtin_make_layout(tj_call *call) {
  if (call->arg[0]->kind != TJ_VALUE_LAYOUT)
    return tj_builtin_layout(call);
  tj_layout *modes = TJ_NEW_ARRAY(call->job, tj_layout, call->count);
  for (uint32_t i = 0; i < call->count; i++)
    modes[i] = tj_arg_layout(call, i);
  return tj_give_layout(call, tj_layout_concat(call->graph, modes, call->count));
}

const tj_value *tj_builtin_with_shape(tj_call *call) {
  const tj_tuple *shape = tj_args_as_coordinate(call, 1);
  const tj_value *by = tj_give_layout(call, tj_layout_of_shape(call->graph, shape));
  return tj_compose_values(call->graph, call->arg[0], by);
}

static void check_pair(tj_call *call, const tj_tuple *mode) {
  if (tj_tuple_rank(mode) != 2)
    tj_fail_at(call->job, call->span[0], TJ_RANK, "zip takes pairs, not %s", tj_tuple_text(call->job, mode));
}

const tj_value *tj_builtin_zip(tj_call *call) {
  tj_layout of = tj_arg_inner_layout(call, 0);
  uint32_t rank = tj_tuple_rank(of.shape);
  tj_layout *first = TJ_NEW_ARRAY(call->job, tj_layout, rank), *second = TJ_NEW_ARRAY(call->job, tj_layout, rank);
  for (uint32_t i = 0; i < rank; i++) {
    tj_layout mode = tj_layout_mode(call->graph, of, i);
    check_pair(call, mode.shape);
    first[i] = tj_layout_mode(call->graph, mode, 0);
    second[i] = tj_layout_mode(call->graph, mode, 1);
  }
  const tj_layout both[] = {tj_layout_concat(call->graph, first, rank), tj_layout_concat(call->graph, second, rank)};
  return tj_rewrapped(call, 0, tj_layout_concat(call->graph, both, 2));
}

/* --- tuples --- */

const tj_value *tj_builtin_repeat(tj_call *call) {
  int64_t count = tj_arg_constant(call, 1);
  if (count < 0 || count > TJ_MAX_RANK)
    tj_fail_at(call->job, call->span[1], TJ_RANK, "%" PRId64 " items; a tuple has at most %d", count, TJ_MAX_RANK);
  const tj_tuple **items = TJ_NEW_ARRAY(call->job, const tj_tuple *, (size_t)count + 1);
  for (int64_t i = 0; i < count; i++)
    items[i] = tj_arg_tuple(call, 0);
  return tj_give_tuple(call, tj_tuple_list(call->graph, items, (uint32_t)count));
}

const tj_value *tj_builtin_product_each(tj_call *call) {
  return tj_give_tuple(call, tj_tuple_product_each(call->graph, tj_arg_tuple(call, 0)));
}

static const tj_tuple *scale_each(tj_call *call, const tj_tuple *a, const tj_tuple *b) {
  if (!tj_tuple_is_list(a) && !tj_tuple_is_list(b))
    return tj_tuple_scale(call->graph, tj_need_node(call->graph, tj_give_tuple(call, a), "a factor"), b);
  if (!tj_tuple_is_list(a) || !tj_tuple_is_list(b) || a->count != b->count)
    tj_fail(call->job, TJ_NOT_CONGRUENT, "elem_scale: %s and %s", tj_tuple_text(call->job, a),
            tj_tuple_text(call->job, b));
  const tj_tuple **items = TJ_NEW_ARRAY(call->job, const tj_tuple *, a->count + 1);
  for (uint32_t i = 0; i < a->count; i++)
    items[i] = scale_each(call, a->item[i], b->item[i]);
  return tj_tuple_list(call->graph, items, a->count);
}

const tj_value *tj_builtin_elem_scale(tj_call *call) {
  return tj_give_tuple(call, scale_each(call, tj_arg_tuple(call, 0), tj_arg_tuple(call, 1)));
}

/* Whether a < b, entry by entry. */
static tj_decision less_each(tj_call *call, const tj_tuple *a, const tj_tuple *b) {
  tj_graph *graph = call->graph;
  if (!tj_tuple_is_list(a) && !tj_tuple_is_list(b)) {
    const tj_node *left = tj_need_node(graph, tj_give_tuple(call, a), "an entry");
    const tj_node *right = tj_need_node(graph, tj_give_tuple(call, b), "an entry");
    return tj_decide_less_equal(graph, tj_add(graph, left, tj_int(graph, 1)), right);
  }
  if (!tj_tuple_is_list(a) || !tj_tuple_is_list(b) || a->count != b->count)
    tj_fail(call->job, TJ_NOT_CONGRUENT, "elem_less: %s and %s", tj_tuple_text(call->job, a),
            tj_tuple_text(call->job, b));
  tj_decision all = TJ_YES;
  for (uint32_t i = 0; i < a->count; i++) {
    tj_decision one = less_each(call, a->item[i], b->item[i]);
    if (one == TJ_NO)
      return TJ_NO;
    all = one == TJ_UNKNOWN ? TJ_UNKNOWN : all;
  }
  return all;
}

const tj_value *tj_builtin_elem_less(tj_call *call) {
  const tj_tuple *a = tj_arg_tuple(call, 0), *b = tj_arg_tuple(call, 1);
  tj_decision decision = less_each(call, a, b);
  if (decision == TJ_UNKNOWN)
    tj_fail(call->job, TJ_NEEDS_FACT, "whether %s is less than %s, entry by entry, is not known",
            tj_tuple_text(call->job, a), tj_tuple_text(call->job, b));
  return tj_give_integer(call, decision == TJ_YES);
}

/* --- facts --- */

static void check_divides(tj_call *call, const char *name, const tj_node *x) {
  const tj_value *given = tj_arg_blamed(call, name);
  if (given == NULL)
    return;
  const tj_node *divisor = tj_need_node(call->graph, given, "what an integer is a multiple of");
  if (tj_decide_at_least(call->graph, divisor, 1) != TJ_YES)
    tj_fail(call->job, TJ_EMPTY_RANGE, "nothing is a multiple of %s", tj_describe(call->graph, divisor));
  if (tj_decide_divides(call->graph, divisor, x) != TJ_YES)
    tj_fail_needs_divisible(call->graph, "assume", x, divisor);
}

static void check_bound(tj_call *call, const char *name, const tj_node *x, bool is_low) {
  const tj_value *given = tj_arg_blamed(call, name);
  if (given == NULL)
    return;
  const tj_node *bound = tj_need_node(call->graph, given, "the bound of an integer");
  const tj_node *less = is_low ? bound : x, *more = is_low ? x : bound;
  if (tj_decide_less_equal(call->graph, less, more) != TJ_YES)
    tj_fail_needs(call->graph, "assume", less, "<=", more);
}

/* What is assumed of a parameter of the program is a fact by now (frontend/text/parse_facts.c). */
const tj_value *tj_builtin_assume(tj_call *call) {
  const tj_node *x = tj_arg_node(call, 0);
  check_divides(call, "multiple", x);
  check_divides(call, "divby", x);
  check_bound(call, "low", x, true);
  check_bound(call, "high", x, false);
  return tj_value_of_node(call->graph, x);
}

/* --- choices --- */

const tj_value *tj_builtin_filter_tuple(tj_call *call) {
  tj_fail(call->job, TJ_WRONG_TYPE, "filter_tuple: its last argument is the name of a function");
}

const tj_value *tj_builtin_is_underscore(tj_call *call) {
  const tj_value *value = call->arg[0];
  return tj_give_integer(call, value->kind == TJ_VALUE_TUPLE && value->tuple->kind == TJ_TUPLE_ANY);
}

const tj_value *tj_builtin_choose(tj_call *call) {
  int64_t condition = tj_arg_constant(call, 0);
  if (condition != 0 && condition != 1)
    tj_fail_at(call->job, call->span[0], TJ_WRONG_TYPE, "a condition is 0 or 1, not %" PRId64, condition);
  return call->arg[condition == 1 ? 1 : 2];
}
