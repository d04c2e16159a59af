/* SPDX-License-Identifier: MIT */
/* The index expressions of a value: what its simplification, its proofs and its functions are about. */
#ifndef TJ_IR_EXPRESSIONS_H
#define TJ_IR_EXPRESSIONS_H

#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "ir/view/structure.h"

/* Of a map, its components at a coordinate, and its predicate; of a tuple, its leaves. */
typedef struct {
  const tj_value *value;
  const tj_node *const *coordinate; /* the leaves of the map's coordinate; none of a tuple */
  uint32_t rank;
  const tj_tuple *output; /* as it was at first */
  const tj_node **root;   /* the leaves of `output` in order, then the predicate where there is one */
  uint32_t leaf_count;
  bool has_validity;  /* the value is of a kind that may be invalid somewhere */
  bool has_predicate; /* and this one may be */
} tj_expressions;

static inline uint32_t tj_expressions_count(const tj_expressions *e) {
  return e->leaf_count + (e->has_predicate ? 1 : 0);
}

/* TJ2024 where the value is neither a map nor a tuple, TJ2005 where a leaf is an underscore or a basis element. */
tj_expressions tj_expressions_of(tj_graph *graph, const tj_value *value);

/* What simplification did: to a view's transforms, then to index expressions. Starts from {0}. */
typedef struct {
  tj_structure_trace structure;
  tj_trace rules;
} tj_simplification;

/* Simplifies all roots together. Each equals what it replaces wherever the value is valid, and the predicate
 * everywhere. A view's transforms are simplified first, and then the index expressions, unless these alone come out
 * cheaper. */
tj_simplification tj_expressions_simplify(tj_graph *graph, tj_expressions *e);

#endif
