/* SPDX-License-Identifier: MIT */
/* Predicates on maps as functions: 1 or 0, and a counterexample. */
#include "frontend/sema/call.h"
#include "ir/value/map_image.h"
#include "ir/value/predicate.h"

static const tj_value *truth(tj_call *call, bool value) {
  return tj_value_of_node(call->graph, tj_int(call->graph, value));
}

/* A map; an integer or a shape as the layout that it stands for. */
static const tj_value *arg_map(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  if (value->kind == TJ_VALUE_TUPLE)
    return tj_value_of_layout(call->graph, tj_arg_layout(call, index));
  return value;
}

const tj_value *tj_builtin_is_injective(tj_call *call) {
  return truth(call, tj_is_injective(call->graph, arg_map(call, 0)));
}

const tj_value *tj_builtin_is_surjective(tj_call *call) {
  return truth(call, tj_is_surjective(call->graph, arg_map(call, 0)));
}

const tj_value *tj_builtin_is_bijective(tj_call *call) {
  const tj_value *map = arg_map(call, 0);
  return truth(call, tj_is_injective(call->graph, map) && tj_is_surjective(call->graph, map));
}

const tj_value *tj_builtin_is_compact(tj_call *call) {
  return tj_builtin_is_bijective(call);
}

const tj_value *tj_builtin_coverage(tj_call *call) {
  tj_graph *graph = call->graph;
  tj_map_image image = tj_map_image_decide(graph, arg_map(call, 0), TJ_IMAGE_ALL);
  const tj_value *items[] = {tj_value_of_node(graph, image.space), tj_value_of_node(graph, image.reached),
                             tj_value_of_node(graph, image.most)};
  return tj_value_of_items(graph, TJ_VALUE_LIST, items, 3);
}

static const tj_value *box_value(tj_graph *graph, const tj_tuple *domain, const tj_box *box) {
  const tj_value *corners[] = {tj_value_of_tuple(graph, tj_box_corner(graph, domain, box->begin)),
                               tj_value_of_tuple(graph, tj_box_corner(graph, domain, box->end))};
  return tj_value_of_items(graph, TJ_VALUE_LIST, corners, 2);
}

const tj_value *tj_builtin_invalid(tj_call *call) {
  tj_graph *graph = call->graph;
  tj_map map = tj_map_of_value(graph, arg_map(call, 0));
  tj_invalid_set set = tj_invalid_set_of(graph, &map);
  const tj_value *boxes[TJ_MOST_BOXES];
  for (uint32_t i = 0; i < set.box_count; i++)
    boxes[i] = box_value(graph, set.domain, &set.box[i]);
  const tj_value *items[] = {tj_value_of_node(graph, set.count),
                             tj_value_of_items(graph, TJ_VALUE_LIST, boxes, set.box_count)};
  return tj_value_of_items(graph, TJ_VALUE_LIST, items, 2);
}

/* 1; or [0, coordinate] with the first coordinate at which the maps differ; or 0 where their domains do. */
const tj_value *tj_builtin_equal(tj_call *call) {
  const tj_tuple *difference;
  if (tj_maps_equal(call->graph, arg_map(call, 0), arg_map(call, 1), &difference))
    return truth(call, true);
  if (difference == NULL)
    return truth(call, false);
  const tj_value *items[] = {truth(call, false), tj_value_of_tuple(call->graph, difference)};
  return tj_value_of_items(call->graph, TJ_VALUE_LIST, items, 2);
}
