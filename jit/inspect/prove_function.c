/* SPDX-License-Identifier: MIT */
/* Calls functions in C with a value's coordinates, and compares what comes back with the value. */
#include "jit/inspect/prove_function.h"

#include "base/text.h"
#include "ir/value/expressions.h"
#include "jit/inspect/prove_walk.h"

/* --- values --- */

static tj_c_meaning meaning_of_expressions(const tj_expressions *e) {
  return (tj_c_meaning){e->coordinate, e->rank, e->root, e->leaf_count,
                        e->has_predicate ? e->root[e->leaf_count] : NULL};
}

/* A layout at a coordinate of each of its modes, or, where there is but one coordinate, at an index. */
static tj_c_meaning meaning_by_modes(tj_graph *graph, const tj_value *value, uint32_t rank) {
  const tj_tuple *shape = tj_value_layout(value)->shape;
  const tj_node **coordinate = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t i = 0; i < rank; i++) {
    const tj_node *extent = tj_tuple_product(graph, rank == 1 ? shape : tj_tuple_mode(shape, i));
    coordinate[i] = tj_coordinate(graph, rank == 1 ? "i" : tj_string_format(graph->job, "i%u", i), extent);
    item[i] = tj_tuple_integer(graph, coordinate[i]);
  }
  const tj_tuple *at = tj_value_at(graph, value, rank == 1 ? item[0] : tj_tuple_list(graph, item, rank));
  tj_expressions e = tj_expressions_of(graph, tj_value_of_tuple(graph, tj_tuple_expand_basis(graph, at)));
  return (tj_c_meaning){coordinate, rank, e.root, e.leaf_count, NULL};
}

/* The value at as many coordinates as the function takes. */
static tj_c_meaning meaning_for(const tj_c_proof *p, const tj_expressions *e, const tj_c_function *function) {
  const tj_value *value = p->values->value;
  uint32_t given = tj_c_proof_coordinates(p, function), leaves = e->rank;
  bool is_whole = function->parameter_count == leaves + tj_c_proof_parameters(p) || given == leaves;
  if (is_whole || tj_value_layout(value) == NULL)
    return meaning_of_expressions(e);
  if (given == 1 || given == tj_tuple_rank(tj_value_layout(value)->shape))
    return meaning_by_modes(p->graph, value, given);
  return meaning_of_expressions(e);
}

/* --- functions of maps and tuples --- */

static tj_equivalence prove_map(tj_c_proof *p) {
  tj_job *job = p->graph->job;
  tj_expressions e = tj_expressions_of(p->graph, p->values->value);
  if (p->name == NULL)
    p->name = tj_c_proof_only_name(p, false, e.leaf_count != 1);
  const tj_c_function *first = tj_c_proof_need(p, e.leaf_count == 1 ? "" : "_0"),
                      *valid = tj_c_proof_find(p, "_valid");
  tj_expressions_simplify(p->graph, &e);
  tj_c_meaning is = meaning_for(p, &e, first);
  const tj_node **returned = TJ_NEW_ARRAY(job, const tj_node *, (size_t)is.count + 1);
  for (uint32_t i = 0; i < is.count; i++)
    returned[i] = tj_c_proof_component(p, is.count == 1 ? first : tj_c_proof_need(p, tj_string_format(job, "_%u", i)),
                                       &is, NULL);
  return tj_c_proof_compare(p, &is, tj_int(p->graph, 1), returned,
                            valid != NULL ? tj_c_proof_call(p, valid, &is, NULL) : NULL);
}

tj_equivalence tj_prove_function(tj_graph *graph, const tj_program_values *values, const tj_c_file *file,
                                 const char *name) {
  tj_c_proof p = {.graph = graph, .values = values, .file = file, .name = name};
  if (values->value == NULL)
    tj_fail(graph->job, TJ_NOTHING_TO_EVALUATE, "the program has no expression to compare with functions");
  graph->job->here = values->value_span;
  p.place = (tj_c_place){.graph = graph, .reached = tj_int(graph, 1)};
  return values->value->kind == TJ_VALUE_WALK ? tj_prove_walk(&p) : prove_map(&p);
}
