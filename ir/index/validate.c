/* SPDX-License-Identifier: MIT */
/* The validator, on everything that is reachable from a set of roots. */
#include "ir/index/validate.h"

#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/index/walk.h"

static const char *complaint(tj_graph *graph, const tj_node *node, const char *what) {
  return tj_string_format(graph->job, "node %u (%s): %s", node->id, tj_op_name(node->op), what);
}

static bool facts_are_sane(const tj_facts *facts) {
  return facts->low <= facts->high && facts->modulus >= 1 && facts->residue >= 0 && facts->residue < facts->modulus &&
         (facts->zeros & facts->ones) == 0 && (facts->low >= 0 || (facts->zeros | facts->ones) == 0);
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

/* Facts may be sharper than the operation's own, or older than its arguments', but never contradict them. */
static bool facts_agree(const tj_node *node) {
  const tj_facts anew = facts_anew(node);
  return node->facts.low <= anew.high && anew.low <= node->facts.high && (node->facts.zeros & anew.ones) == 0 &&
         (node->facts.ones & anew.zeros) == 0;
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
  if (!tj_is_defined(node->op, node->arg))
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
  if (!facts_agree(node))
    return complaint(graph, node, "its facts contradict those of its operation");
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
  tj_fail(graph->job, TJ_INTERNAL, "invalid index graph: %s", wrong);
}
#endif
