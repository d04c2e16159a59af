/* Proofs about index expressions. */
#include "ir/facts.h"

bool tj_prove_less(tj_graph *graph, const tj_node *a, const tj_node *b) {
  (void)graph;
  return a->facts.high < b->facts.low;
}

bool tj_prove_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  (void)graph;
  return a == b || (a->facts.high <= b->facts.low && a->facts.high != INT64_MAX);
}

bool tj_prove_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  (void)graph;
  return a == b;
}

bool tj_prove_divides(tj_graph *graph, const tj_node *divisor, const tj_node *value) {
  (void)graph;
  return divisor == value || (tj_is_constant(divisor) && tj_facts_divisible(&value->facts, divisor->value));
}
