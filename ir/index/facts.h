/* SPDX-License-Identifier: MIT */
/* Facts: what the graph knows about the values of a node. */
#ifndef TJ_IR_FACTS_H
#define TJ_IR_FACTS_H

#include "ir/index/graph.h"

/* The facts of an operation from those of its arguments; of a constant or a symbol from itself. */
tj_facts tj_facts_of_operation(tj_op op, const tj_facts *const args[]);
tj_facts tj_facts_of_constant(int64_t value);
tj_facts tj_facts_of_symbol(const tj_symbol *symbol);

/* What is known of a value of which both are known. */
tj_facts tj_facts_meet(const tj_facts *a, const tj_facts *b);

/* Whether `op` is known to be defined on such arguments: divisors are not 0, bits not negative, and so on. */
bool tj_facts_define(tj_op op, const tj_facts *const args[]);

/* The greatest integer that is known to divide the value; INT64_MAX for 0. */
int64_t tj_facts_content(const tj_facts *facts);

/* True when a value with these facts is surely that. False means: not known. */
bool tj_facts_nonnegative(const tj_facts *facts);
bool tj_facts_divisible(const tj_facts *facts, int64_t divisor);
bool tj_facts_nonzero(const tj_facts *facts);
bool tj_facts_bounded(const tj_facts *facts); /* both bounds are finite */

static inline bool tj_is_truth(const tj_node *node) {
  return node->facts.low >= 0 && node->facts.high <= 1;
}

/* Proofs that may use symbolic bounds (0 <= j < M), with bounded effort. */
bool tj_prove_less(tj_graph *graph, const tj_node *a, const tj_node *b);       /* a < b */
bool tj_prove_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b); /* a <= b */
bool tj_prove_equal(tj_graph *graph, const tj_node *a, const tj_node *b);
bool tj_prove_divides(tj_graph *graph, const tj_node *divisor, const tj_node *value); /* divisor | value */

#endif
