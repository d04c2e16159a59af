/* SPDX-License-Identifier: MIT */
/* Putting expressions in the place of others. */
#ifndef TJ_IR_SUBSTITUTE_H
#define TJ_IR_SUBSTITUTE_H

#include "ir/index/graph.h"

/* from[i] becomes to[i], at the same time for all i < count. */
typedef struct tj_substitution {
  const tj_node **from, **to;
  uint32_t count;
} tj_substitution;

/* Rewrites roots[0 … count-1] in place, together. Nothing is simplified; bounds of symbols stay as they are.
 * `substitution` may be NULL: nothing happens. */
void tj_substitute(tj_graph *graph, const tj_substitution *substitution, const tj_node *roots[], size_t count);

#endif
