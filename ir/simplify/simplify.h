/* SPDX-License-Identifier: MIT */
/* The simplifier: rewrites index expressions by the rows of the rule tables until none applies. */
#ifndef TJ_IR_SIMPLIFY_H
#define TJ_IR_SIMPLIFY_H

#include "ir/index/graph.h"

/* One rewrite that happened. */
typedef struct {
  const char *rule; /* its name in the tables */
  const tj_node *before;
  const tj_node *after;
  const char *because; /* the facts that allowed it, as text; never NULL */
} tj_step;

/* The rewrites of one or more calls, oldest first. Start from {0}. */
typedef struct {
  tj_step *step;
  size_t count, capacity;
} tj_trace;

/* Simplifies roots[0 … count-1] in place, together, so that what they share stays shared. Each result equals what
 * it replaces wherever the symbols' facts hold, and costs no more. `trace` may be NULL. */
void tj_simplify(tj_graph *graph, const tj_node *roots[], size_t count, tj_trace *trace);

/* The same for one expression, without a trace. */
const tj_node *tj_simplified(tj_graph *graph, const tj_node *node);

#endif
