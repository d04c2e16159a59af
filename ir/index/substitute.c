/* SPDX-License-Identifier: MIT */
/* Substitution: one walk, arguments before users, each node made anew where an argument of it was. */
#include "ir/index/substitute.h"

#include "ir/index/walk.h"

static const tj_node *replacement(const tj_substitution *substitution, const tj_node *node) {
  for (uint32_t i = 0; i < substitution->count; i++) {
    if (substitution->from[i] == node)
      return substitution->to[i];
  }
  return NULL;
}

/* What bits are taken of is not negative, which facts may have told of the symbols alone that are replaced. */
static void keep_defined(tj_graph *graph, tj_op op, const tj_node *arg[]) {
  const bool is_of_bits = op == TJ_OP_AND || op == TJ_OP_OR || op == TJ_OP_XOR;
  for (unsigned i = 0; is_of_bits && i < 2; i++) {
    if (arg[i]->facts.low < 0)
      arg[i] = tj_max(graph, arg[i], tj_int(graph, 0));
  }
}

static const tj_node *made_anew(tj_graph *graph, const tj_walk *walk, const tj_node *const done[],
                                const tj_node *node) {
  const tj_node *arg[3];
  bool is_same = true;
  for (unsigned i = 0; i < tj_op_arity(node->op); i++) {
    arg[i] = done[tj_walk_find(walk, node->arg[i])];
    is_same = is_same && arg[i] == node->arg[i];
  }
  if (is_same)
    return node;
  keep_defined(graph, node->op, arg);
  return tj_node_make(graph, node->op, arg);
}

/* Whether an expression has none of the symbols that are replaced; false where more than symbols are. */
static bool is_without(const tj_substitution *substitution, const tj_node *node) {
  for (uint32_t i = 0; i < substitution->count; i++) {
    const tj_node *from = substitution->from[i];
    if (from->op != TJ_OP_SYMBOL || tj_may_mention(node, from))
      return false;
  }
  return true;
}

static bool are_without(const tj_substitution *substitution, const tj_node *const roots[], size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!is_without(substitution, roots[i]))
      return false;
  }
  return true;
}

void tj_substitute(tj_graph *graph, const tj_substitution *substitution, const tj_node *roots[], size_t count) {
  if (substitution == NULL || substitution->count == 0 || are_without(substitution, roots, count))
    return;
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  const tj_node **done = TJ_NEW_ARRAY(graph->job, const tj_node *, walk.count + 1);
  tj_spend(graph->job, walk.count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *other = replacement(substitution, walk.node[i]);
    done[i] = other != NULL ? other : made_anew(graph, &walk, done, walk.node[i]);
  }
  for (size_t i = 0; i < count; i++)
    roots[i] = done[tj_walk_find(&walk, roots[i])];
}
