/* Gathering a kernel's nodes. */
#include "lower/kernel_nodes.h"

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
