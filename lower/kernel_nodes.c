/* Gathering a kernel's nodes. */
#include "lower/kernel_nodes.h"

#include "ir/simplify.h"

#include <stdlib.h>

static void gather_roots(tj_kernel_nodes *nodes, const tj_kernel *kernel) {
  const tj_node *all[] = {
      kernel->count,
      kernel->store.valid,
      kernel->store.offset,
      kernel->is_copy ? kernel->load.valid : kernel->value,
      kernel->is_copy ? kernel->load.offset : NULL,
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i] != NULL)
      nodes->root[nodes->root_count++] = all[i];
  }
}

static bool depends(const tj_kernel_nodes *nodes, const tj_node *node, const tj_node *index) {
  bool is_dependent = node == index;
  for (unsigned i = 0; i < tj_op_arity(node->op) && !is_dependent; i++)
    is_dependent = tj_kernel_nodes_vary(nodes, node->arg[i]);
  return is_dependent;
}

tj_kernel_nodes tj_kernel_nodes_of(tj_graph *graph, const tj_kernel *kernel) {
  enum { MOST_ROOTS = 5 };
  tj_kernel_nodes nodes = {.root = TJ_NEW_ARRAY(graph->job, const tj_node *, MOST_ROOTS)};
  gather_roots(&nodes, kernel);
  nodes.walk = tj_walk_nodes(graph, nodes.root, nodes.root_count);
  tj_spend(graph->job, nodes.walk.count);
  nodes.is_varying = TJ_NEW_ARRAY(graph->job, bool, nodes.walk.count);
  for (uint32_t i = 0; i < nodes.walk.count; i++)
    nodes.is_varying[i] = depends(&nodes, nodes.walk.node[i], kernel->index);
  return nodes;
}

uint32_t tj_kernel_nodes_find(const tj_kernel_nodes *nodes, const tj_node *node) {
  uint32_t low = 0, high = nodes->walk.count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (nodes->walk.node[middle]->id < node->id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < nodes->walk.count && nodes->walk.node[low] == node ? low : TJ_NO_POSITION;
}

bool tj_kernel_nodes_vary(const tj_kernel_nodes *nodes, const tj_node *node) {
  return nodes->is_varying[tj_kernel_nodes_find(nodes, node)];
}

/* --- quotients --- */

/* A quotient must not be made of the remainder. Nothing is made of what is as deep; and remainders never serve as
 * quotients, so that sorting by depth, remainders last, puts quotients first. */
static bool may_serve(const tj_kernel_nodes *nodes, const tj_node *quotient, const tj_node *remainder) {
  if (tj_op_arity(quotient->op) == 0 || quotient->op == TJ_OP_MOD || quotient->depth > remainder->depth)
    return false;
  return tj_kernel_nodes_find(nodes, quotient) != TJ_NO_POSITION &&
         tj_kernel_nodes_vary(nodes, quotient) == tj_kernel_nodes_vary(nodes, remainder);
}

static const tj_node *find_quotient(tj_graph *graph, const tj_kernel_nodes *nodes, const tj_node *remainder) {
  if (remainder->arg[1]->facts.low < 1)
    return NULL;
  const tj_node *quotient = tj_node_make(graph, TJ_OP_DIV, remainder->arg);
  if (may_serve(nodes, quotient, remainder))
    return quotient;
  quotient = tj_simplified(graph, quotient);
  return may_serve(nodes, quotient, remainder) ? quotient : NULL;
}

static int compare_keys(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Depth, then remainders last, then the walk's own order. */
static uint64_t sort_key(const tj_node *node, uint32_t position) {
  return ((uint64_t)node->depth * 2 + (node->op == TJ_OP_MOD)) << 32 | position;
}

void tj_kernel_nodes_schedule(tj_graph *graph, tj_kernel_nodes *nodes) {
  uint32_t count = nodes->walk.count;
  uint64_t *key = TJ_NEW_ARRAY(graph->job, uint64_t, count);
  nodes->quotient = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  nodes->order = TJ_NEW_ARRAY(graph->job, uint32_t, count);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *node = nodes->walk.node[i];
    key[i] = sort_key(node, i);
    if (node->op == TJ_OP_MOD)
      nodes->quotient[i] = find_quotient(graph, nodes, node);
  }
  qsort(key, count, sizeof *key, compare_keys);
  for (uint32_t i = 0; i < count; i++)
    nodes->order[i] = (uint32_t)key[i];
}

const tj_node *tj_kernel_nodes_quotient(const tj_kernel_nodes *nodes, const tj_node *node) {
  return nodes->quotient[tj_kernel_nodes_find(nodes, node)];
}
