/* The nodes of a kernel's expressions, and which of them are uniform: the same for every work-item of a launch. */
#ifndef TJ_LOWER_KERNEL_NODES_H
#define TJ_LOWER_KERNEL_NODES_H

#include "ir/walk.h"
#include "lower/kernel.h"

/* In the job's arena. */
typedef struct {
  const tj_node **root; /* the expressions that work-items compute, and the count */
  uint32_t root_count;
  tj_walk walk;     /* the nodes that they are made of */
  bool *is_varying; /* by position in the walk: depends on the linear coordinate */
} tj_kernel_nodes;

tj_kernel_nodes tj_kernel_nodes_of(tj_graph *graph, const tj_kernel *kernel);

enum { TJ_NO_POSITION = UINT32_MAX };

/* A node's position in the walk, or TJ_NO_POSITION. */
uint32_t tj_kernel_nodes_find(const tj_kernel_nodes *nodes, const tj_node *node);

/* Whether a node of the walk depends on the linear coordinate. */
bool tj_kernel_nodes_vary(const tj_kernel_nodes *nodes, const tj_node *node);

#endif
