/* SPDX-License-Identifier: MIT */
/* CK Tile's functions on adaptors and moves: making, chaining, walking. */
#include "frontend/sema/call.h"

#include "ir/view/bridge.h"
#include "ir/view/move.h"

#include <inttypes.h>

enum { MOST_STEPS = 65536, MOST_SYMBOLIC_STEPS = 1024 };

const tj_value *tj_builtin_allocation_size(tj_call *call) {
  return tj_value_of_node(call->graph, tj_view_allocation_size(call->graph, tj_arg_view(call, 0)));
}

const tj_value *tj_builtin_adaptor(tj_call *call) {
  uint32_t count;
  const tj_view_step *steps = tj_arg_steps(call, 0, &count);
  return tj_value_of_adaptor(call->graph, tj_adaptor_make(call->graph, steps, count));
}

/* --- chain --- */

/* What stands on top, as an adaptor; `buffer` is the length that a view's buffer would lie in, NULL for its own. */
static const tj_adaptor *adaptor_argument(tj_call *call, uint32_t index, const tj_node *buffer) {
  const tj_value *value = call->arg[index];
  switch (value->kind) {
  case TJ_VALUE_ADAPTOR:
    return value->adaptor;
  case TJ_VALUE_TRANSFORM:
    return tj_adaptor_of_transform(call->graph, value->transform);
  case TJ_VALUE_DISTRIBUTION:
    return tj_distribution_adaptor(call->graph, value->distribution);
  case TJ_VALUE_VIEW:
    return tj_adaptor_of_view(call->graph, value->view, buffer);
  default:
    tj_fail_arg(call, index, "a view, an adaptor, a transform or a distribution");
  }
}

/* The one dimension of what is below that a view on top can stand on. */
static const tj_node *only_length(tj_call *call, const tj_tuple *lengths) {
  if (call->arg[1]->kind == TJ_VALUE_VIEW && lengths->count != 1)
    tj_fail(call->job, TJ_CHAIN_MISMATCH, "a view stands on one dimension, its buffer, not on %" PRIu32,
            lengths->count);
  return lengths->count == 1 ? lengths->item[0]->value : NULL;
}

const tj_value *tj_builtin_chain(tj_call *call) {
  tj_graph *graph = call->graph;
  if (call->arg[0]->kind == TJ_VALUE_VIEW) {
    const tj_view *view = call->arg[0]->view;
    const tj_node *length = only_length(call, tj_view_lengths(graph, view));
    return tj_value_of_view(graph, tj_view_chain(graph, view, adaptor_argument(call, 1, length)));
  }
  const tj_adaptor *lower = adaptor_argument(call, 0, NULL);
  const tj_node *length = only_length(call, tj_adaptor_lengths(graph, lower));
  return tj_value_of_adaptor(graph, tj_adaptor_chain(graph, lower, adaptor_argument(call, 1, length)));
}

/* --- moves --- */

static const tj_node *const *coordinate_argument(tj_call *call, const tj_view *view, uint32_t index) {
  const tj_tuple *coordinate = tj_arg_tuple(call, index);
  call->job->here = call->span[index];
  return tj_view_coordinate(call->graph, view, coordinate);
}

/* Steps whose offsets stay expressions are dear. */
static void check_count(tj_call *call, const tj_cursor *cursor, int64_t count) {
  bool is_constant = tj_is_constant(tj_cursor_offset(call->graph, cursor));
  int64_t most = is_constant ? MOST_STEPS : MOST_SYMBOLIC_STEPS;
  if (count >= 0 && count <= most)
    return;
  call->job->here = call->span[3];
  if (count < 0)
    tj_fail(call->job, TJ_MOVE_COUNT, "%" PRId64 " steps", count);
  tj_fail(call->job, TJ_MOVE_COUNT, "%" PRId64 " steps, more than %" PRId64 "%s", count, most,
          is_constant ? "" : " of an offset that depends on parameters");
}

const tj_value *tj_builtin_move(tj_call *call) {
  tj_graph *graph = call->graph;
  const tj_view *view = tj_arg_view(call, 0);
  tj_span here = call->job->here;
  const tj_node *const *start = coordinate_argument(call, view, 1);
  const tj_node *const *step = coordinate_argument(call, view, 2);
  call->job->here = here;
  int64_t count = tj_arg_constant(call, 3);
  tj_cursor cursor = tj_cursor_at(graph, view, start);
  check_count(call, &cursor, count);
  const tj_value **items = TJ_NEW_ARRAY(call->job, const tj_value *, count);
  for (int64_t i = 0; i < count; i++) {
    tj_cursor_move(graph, &cursor, step);
    const tj_tuple *pair[] = {tj_tuple_integer(graph, tj_cursor_offset(graph, &cursor)),
                              tj_tuple_integer(graph, tj_cursor_valid(graph, &cursor))};
    items[i] = tj_value_of_tuple(graph, tj_tuple_list(graph, pair, 2));
  }
  return tj_value_of_items(graph, TJ_VALUE_LIST, items, (uint32_t)count);
}

/* --- layouts as views --- */

const tj_value *tj_builtin_view(tj_call *call) {
  if (call->arg[0]->kind == TJ_VALUE_VIEW)
    return call->arg[0];
  if (call->arg[0]->kind == TJ_VALUE_COMPOSED)
    tj_fail(call->job, TJ_NOT_A_VIEW, "a swizzle is no transform of a view's dimensions");
  return tj_value_of_view(call->graph, tj_view_of_layout(call->graph, tj_arg_layout(call, 0)));
}
