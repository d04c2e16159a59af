/* The nodes of a kernel's expressions, and which of them are uniform: the same for every work-item of a launch. */
#ifndef TJ_LOWER_KERNEL_NODES_H
#define TJ_LOWER_KERNEL_NODES_H

#include "ir/walk.h"
#include "lower/kernel.h"

/* In the job's arena. */
typedef struct {
  const tj_node **root; /* the expressions that work-items compute, and the count */
  uint32_t root_count;
  tj_walk walk;             /* the nodes that they are made of */
  bool *is_varying;         /* by position in the walk: depends on the linear coordinate */
  const tj_node **quotient; /* by position: of a MOD, the node of the walk that is its quotient; or NULL */
  uint32_t *order;          /* positions, such that arguments and quotients come before their users */
} tj_kernel_nodes;

tj_kernel_nodes tj_kernel_nodes_of(tj_graph *graph, const tj_kernel *kernel);

enum { TJ_NO_POSITION = UINT32_MAX };

/* A node's position in the walk, or TJ_NO_POSITION. */
uint32_t tj_kernel_nodes_find(const tj_kernel_nodes *nodes, const tj_node *node);

/* Finds which remainders can be computed from quotients that are computed anyway: a % b = a - b * q, where q is what
 * a / b simplifies to. Sets `quotient` and `order`. */
void tj_kernel_nodes_schedule(tj_graph *graph, tj_kernel_nodes *nodes);

/* The quotient of a MOD of the walk, or NULL. */
const tj_node *tj_kernel_nodes_quotient(const tj_kernel_nodes *nodes, const tj_node *node);

/* Whether a node of the walk depends on the linear coordinate. */
bool tj_kernel_nodes_vary(const tj_kernel_nodes *nodes, const tj_node *node);

#endif
