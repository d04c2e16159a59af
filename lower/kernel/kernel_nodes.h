/* SPDX-License-Identifier: MIT */
/* The nodes of a kernel's expressions, and how often each has to be computed: once for a launch, for a workgroup, for
 * a work-item, or for each trip of its loop. */
#ifndef TJ_LOWER_KERNEL_NODES_H
#define TJ_LOWER_KERNEL_NODES_H

#include "ir/index/walk.h"
#include "lower/kernel/kernel.h"

/* What a node's value is the same for. */
typedef enum { TJ_LEVEL_LAUNCH, TJ_LEVEL_WORKGROUP, TJ_LEVEL_ITEM, TJ_LEVEL_TRIP } tj_level;

/* How a value is the same for the work-items of a wave: not; as the number of the wave is, which is computed for each
 * of them; or in scalars, as what the workgroup has and what is loaded once for the wave. */
typedef enum { TJ_UNIFORM_NOT, TJ_UNIFORM_IN_LANES, TJ_UNIFORM_IN_SCALARS } tj_uniformity;

/* In the job's arena. */
typedef struct tj_kernel_nodes {
  const tj_node **root; /* the expressions that work-items compute, and the count */
  uint32_t root_count;
  tj_walk walk;             /* the nodes that they are made of */
  tj_level *level;          /* by position in the walk */
  tj_uniformity *uniform;   /* by position */
  const tj_node **quotient; /* by position: of a MOD, the node of the walk that is its quotient; or NULL */
  bool *is_part;            /* by position: it serves one sum, and nothing else */
  uint32_t *order;          /* positions, such that arguments and quotients come before their users */
} tj_kernel_nodes;

/* Whether a step gives this symbol its value. */
bool tj_is_looked_up(const tj_kernel *kernel, const tj_node *node);
/* Whether it is the trip of a loop among the steps. */
bool tj_is_trip(const tj_kernel *kernel, const tj_node *node);

/* `lanes` are those of a wave whose machine can tell that they have the same (tj_uniform_lanes), or 1. */
tj_kernel_nodes tj_kernel_nodes_of(tj_graph *graph, const tj_kernel *kernel, uint32_t lanes);

/* A node's position in the walk, or TJ_NO_POSITION. */
uint32_t tj_kernel_nodes_find(const tj_kernel_nodes *nodes, const tj_node *node);

/* Finds which remainders can be computed from quotients that are computed anyway: a % b = a - b * q, where q is what
 * a / b simplifies to; and what serves one sum. Sets `quotient`, `is_part` and `order`. */
void tj_kernel_nodes_schedule(tj_graph *graph, tj_kernel_nodes *nodes);

/* The quotient of a MOD of the walk, or NULL. */
const tj_node *tj_kernel_nodes_quotient(const tj_kernel_nodes *nodes, const tj_node *node);

/* The level of a node of the walk. */
tj_level tj_kernel_nodes_level(const tj_kernel_nodes *nodes, const tj_node *node);
/* The uniformity of a node of the walk, or of a constant. */
tj_uniformity tj_kernel_nodes_uniformity(const tj_kernel_nodes *nodes, const tj_node *node);
/* Whether a node of the walk is the same for all work-items of a workgroup, or of a wave: what is looked up in one
 * place is, too. */
bool tj_kernel_nodes_is_uniform(const tj_kernel_nodes *nodes, const tj_node *node);
/* Whether code may say that what is there is loaded once for a wave: the place is uniform, and what work-items are
 * masked by is in scalars (NULL: there is no such), so that a branch leads around the load. Of masks of lanes, LLVM
 * leaves none that does: waves of which no lane is left would load, too. */
bool tj_kernel_nodes_is_scalar_load(const tj_kernel_nodes *nodes, const tj_node *offset, const tj_node *valid);
/* Whether some steps load what is in one place for all lanes of a wave, and masks leave some of them out: LLVM may
 * have scalar instructions load it all the same, without asking whether any lane is left. */
bool tj_kernel_nodes_have_masked_scalars(const tj_kernel_nodes *nodes, const tj_kernel_step step[], uint32_t count);

/* Marks a node of the walk, by position; NULL and constants that are not in it: nothing happens. */
void tj_kernel_nodes_mark(const tj_kernel_nodes *nodes, const tj_node *node, bool *mark);
/* Marks what the marked ones are computed from. */
void tj_kernel_nodes_spread(const tj_kernel_nodes *nodes, bool *mark);

/* How many operations a work-item takes at most, and how many it would: LLVM takes time that grows with the square of
 * what it compiles. */
enum { TJ_KERNEL_MOST_OPERATIONS = 1024 };
uint32_t tj_kernel_nodes_operations(const tj_kernel_nodes *nodes);

#endif
