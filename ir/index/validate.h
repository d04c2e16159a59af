/* SPDX-License-Identifier: MIT */
/* The validator: whether a graph is what graph.h says. Run after every pass in debug builds. */
#ifndef TJ_IR_VALIDATE_H
#define TJ_IR_VALIDATE_H

#include "ir/index/graph.h"

/* NULL where everything reachable from the roots is well formed, else what is wrong, in the job's arena: arguments
 * are older than users, equal nodes are one node, facts contradict nothing, operations are defined. */
const char *tj_validate_nodes(tj_graph *graph, const tj_node *const roots[], size_t count);

/* Stops the process with the complaint, in debug builds. */
#ifdef TJ_DEBUG
void tj_require_valid(tj_graph *graph, const tj_node *const roots[], size_t count);
#define TJ_VALIDATE(graph, roots, count) tj_require_valid(graph, roots, count)
#else
#define TJ_VALIDATE(graph, roots, count) ((void)0)
#endif

#endif
