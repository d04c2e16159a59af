/* SPDX-License-Identifier: MIT */
/* Gathering a value's index expressions, and simplifying them by their structure and by rules, whichever is better.
 */
#include "ir/value/expressions.h"

#include "ir/map/map.h"

/* --- gathering --- */

static void take_coordinate(tj_graph *graph, tj_expressions *e, const tj_tuple *coordinate) {
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, coordinate, &e->rank);
  const tj_node **nodes = TJ_NEW_ARRAY(graph->job, const tj_node *, e->rank);
  for (uint32_t i = 0; i < e->rank; i++)
    nodes[i] = leaves[i]->value;
  e->coordinate = nodes;
}

static void take_roots(tj_graph *graph, tj_expressions *e, const tj_node *predicate) {
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, e->output, &e->leaf_count);
  e->root = TJ_NEW_ARRAY(graph->job, const tj_node *, e->leaf_count + 1);
  for (uint32_t i = 0; i < e->leaf_count; i++) {
    if (leaves[i]->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_WRONG_TYPE, "%s has no index arithmetic",
              leaves[i]->value == NULL ? "an underscore" : "a basis element");
    e->root[i] = leaves[i]->value;
  }
  e->has_predicate = predicate != NULL && !tj_is_int(predicate, 1);
  if (e->has_predicate)
    e->root[e->leaf_count] = predicate;
}

static bool may_be_invalid(tj_value_kind kind) {
  return kind == TJ_VALUE_TRANSFORM || kind == TJ_VALUE_VIEW || kind == TJ_VALUE_ADAPTOR;
}

tj_expressions tj_expressions_of(tj_graph *graph, const tj_value *value) {
  tj_expressions e = {.value = value, .has_validity = may_be_invalid(value->kind)};
  if (value->kind == TJ_VALUE_TUPLE) {
    e.output = value->tuple;
    take_roots(graph, &e, NULL);
    return e;
  }
  tj_map map = tj_map_of_value(graph, value);
  e.output = map.output;
  take_coordinate(graph, &e, map.input);
  take_roots(graph, &e, map.valid);
  return e;
}

/* --- simplification --- */

static uint64_t weight_of(const tj_expressions *e) {
  uint64_t weight = 0;
  for (uint32_t i = 0; i < tj_expressions_count(e); i++)
    weight += e->root[i]->weight;
  return weight;
}

static void simplify_roots(tj_graph *graph, tj_expressions *e, tj_simplification *done) {
  tj_simplify(graph, e->root, tj_expressions_count(e), &done->rules);
}

/* The same expressions of the view with its transforms simplified. */
static tj_expressions restructured(tj_graph *graph, const tj_expressions *e, const tj_view *view,
                                   tj_simplification *done) {
  tj_expressions r = *e;
  const tj_view *structured = tj_view_structured(graph, view, &done->structure);
  r.root = TJ_NEW_ARRAY(graph->job, const tj_node *, e->leaf_count + 1);
  r.root[0] = tj_view_offset(graph, structured, e->coordinate);
  r.root[e->leaf_count] = tj_view_valid(graph, structured, e->coordinate, false);
  return r;
}

tj_simplification tj_expressions_simplify(tj_graph *graph, tj_expressions *e) {
  tj_simplification direct = {0}, structural = {0};
  if (e->value->kind != TJ_VALUE_VIEW) {
    simplify_roots(graph, e, &direct);
    return direct;
  }
  tj_expressions other = restructured(graph, e, e->value->view, &structural);
  simplify_roots(graph, &other, &structural);
  simplify_roots(graph, e, &direct);
  if (weight_of(&other) > weight_of(e))
    return direct;
  *e = other;
  return structural;
}
