/* SPDX-License-Identifier: MIT */
/* The functions of cute.def's rows that are CK Tile's: types of lists and distributions, descriptors. */
#include "frontend/names/cute.h"
#include "frontend/sema/call.h"

const tj_value *tj_ck_sequence(tj_call *call) {
  for (uint32_t i = 0; i < call->count; i++)
    tj_arg_node(call, i);
  return tj_value_of_items(call->graph, TJ_VALUE_LIST, call->arg, call->count);
}

const tj_value *tj_ck_itself(tj_call *call) {
  return tj_value_of_distribution(call->graph, tj_arg_distribution(call, 0));
}

const tj_value *tj_ck_called(tj_call *call) {
  call->builtin = tj_builtin_called(call->builtin->name);
  return call->builtin->function(call);
}

/* tuple<> is the empty tuple, and here an empty list. */
static const tj_value *as_list(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  bool is_empty = value->kind == TJ_VALUE_TUPLE && tj_tuple_is_list(value->tuple) && value->tuple->count == 0;
  return is_empty ? tj_value_of_items(call->graph, TJ_VALUE_LIST, NULL, 0) : value;
}

const tj_value *tj_ck_distribution(tj_call *call) {
  static const char *const names[] = {"rs", "hs", "ps_major", "ps_minor", "ys_major", "ys_minor"};
  enum { COUNT = sizeof names / sizeof names[0] };
  tj_binding *named = TJ_NEW_ARRAY(call->job, tj_binding, COUNT);
  for (uint32_t i = 0; i < COUNT; i++)
    named[i] = (tj_binding){.name = names[i], .value = as_list(call, i), .span = call->span[i]};
  call->named = named;
  call->named_count = COUNT;
  call->count = 0;
  return tj_builtin_distribution(call);
}

/* The arguments from `first` on, of which there is one at least, as vector=(length, stride). */
static void name_vector(tj_call *call, uint32_t first) {
  const tj_node *one = tj_int(call->graph, 1);
  const tj_tuple *pair[] = {
      tj_tuple_integer(call->graph, tj_arg_node(call, first)),
      tj_tuple_integer(call->graph, first + 1 < call->count ? tj_arg_node(call, first + 1) : one)};
  tj_binding *named = TJ_NEW(call->job, tj_binding);
  *named = (tj_binding){.name = "vector",
                        .value = tj_value_of_tuple(call->graph, tj_tuple_list(call->graph, pair, 2)),
                        .span = call->span[first]};
  call->named = named;
  call->named_count = 1;
  call->count = first;
}

const tj_value *tj_ck_strided(tj_call *call) {
  if (call->count > 2)
    name_vector(call, 2);
  return tj_builtin_strided(call);
}

const tj_value *tj_ck_packed(tj_call *call) {
  if (call->count > 1)
    name_vector(call, 1);
  return tj_builtin_packed(call);
}
