/* The validator, on everything that is reachable from a set of roots. */
#include "ir/validate.h"

#include "ir/facts.h"
#include "ir/print.h"
#include "ir/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *complaint(tj_graph *graph, const tj_node *node, const char *what) {
  return tj_string_format(graph->job, "node %u (%s): %s", node->id, tj_op_name(node->op), what);
}

static bool facts_are_sane(const tj_facts *facts) {
  return facts->low <= facts->high && facts->modulus >= 1 && facts->residue >= 0 && facts->residue < facts->modulus &&
         (facts->zeros & facts->ones) == 0 && (facts->low >= 0 || (facts->zeros | facts->ones) == 0);
}

static bool facts_are_equal(const tj_facts *a, const tj_facts *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static tj_facts facts_anew(const tj_node *node) {
  if (tj_is_constant(node))
    return tj_facts_of_constant(node->value);
  if (node->op == TJ_OP_SYMBOL)
    return tj_facts_of_symbol(node->symbol);
  const tj_facts *facts[3] = {NULL, NULL, NULL};
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    facts[i] = &node->arg[i]->facts;
  return tj_facts_of_operation(node->op, facts);
}

/* Facts that speak of no integer at all come from code that never runs: nothing is asked of those. */
static bool is_defined(const tj_node *node) {
  const tj_facts *a = &node->arg[0]->facts, *b = &node->arg[1]->facts;
  switch (node->op) {
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return tj_facts_nonzero(b);
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
    return a->low >= 0 && b->low >= 0;
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return b->low >= 0 && b->high <= 62;
  case TJ_OP_SELECT:
    return a->low >= 0 && a->high <= 1;
  default:
    return true;
  }
}

static const char *check_operation(tj_graph *graph, const tj_node *node) {
  unsigned arity = tj_op_arity(node->op);
  uint32_t depth = 0;
  for (unsigned i = 0; i < arity; i++) {
    if (node->arg[i] == NULL || node->arg[i]->id >= node->id)
      return complaint(graph, node, "an argument is missing, or newer than its user");
    depth = node->arg[i]->depth > depth ? node->arg[i]->depth : depth;
  }
  if (node->depth != depth + 1)
    return complaint(graph, node, "its depth is wrong");
  if (!is_defined(node))
    return complaint(graph, node, "it may be undefined");
  const uint32_t nodes = graph->node_count;
  if (tj_node_make(graph, node->op, node->arg) != node || graph->node_count != nodes)
    return complaint(graph, node, "an equal node exists");
  return NULL;
}

static const char *check_node(tj_graph *graph, const tj_node *node) {
  if ((unsigned)node->op >= TJ_OP_COUNT || node->id >= graph->node_count)
    return complaint(graph, node, "no such operation, or no such id");
  if (!facts_are_sane(&node->facts))
    return complaint(graph, node, "its facts contradict each other");
  const tj_facts facts = facts_anew(node);
  if (!facts_are_equal(&node->facts, &facts))
    return complaint(graph, node, "its facts are not those of its operation");
  if (tj_is_constant(node))
    return tj_int(graph, node->value) == node ? NULL : complaint(graph, node, "an equal constant exists");
  return node->op == TJ_OP_SYMBOL ? NULL : check_operation(graph, node);
}

const char *tj_validate_nodes(tj_graph *graph, const tj_node *const roots[], size_t count) {
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const char *wrong = check_node(graph, walk.node[i]);
    if (wrong != NULL)
      return wrong;
  }
  return NULL;
}

#ifdef TJ_DEBUG
void tj_require_valid(tj_graph *graph, const tj_node *const roots[], size_t count) {
  const char *wrong = tj_validate_nodes(graph, roots, count);
  if (wrong == NULL)
    return;
  fprintf(stderr, "tilejit: invalid index graph: %s\n", wrong);
  abort();
}
#endif
