/* The simplifier. */
#include "ir/simplify.h"

void tj_simplify(tj_graph *graph, const tj_node *roots[], size_t count, tj_trace *trace) {
  (void)graph, (void)roots, (void)count, (void)trace;
}

const tj_node *tj_simplified(tj_graph *graph, const tj_node *node) {
  tj_simplify(graph, &node, 1, NULL);
  return node;
}
