/* SPDX-License-Identifier: MIT */
/* Who uses the nodes of expressions, what instructions they take together by an estimate, and what they would take
 * with another expression in the place of one of the nodes. */
#ifndef TJ_LOWER_USAGE_H
#define TJ_LOWER_USAGE_H

#include "ir/index/walk.h"

typedef struct {
  const tj_node *node;
  const tj_node
      *quotient;        /* of a remainder by a constant that is no power of two: what it is cheap beside, or NULL */
  uint32_t argument[3]; /* positions */
  uint32_t uses;        /* operands and roots; 0: nobody needs it */
  uint32_t sum_uses;    /* how many of them are operands of sums */
  uint32_t alone;       /* instructions where no other node helps, but for sums */
  uint32_t width;       /* how many times as many it takes for being wide, */
  uint32_t beyond;      /* and how many more, for that or for what it may not be */
} tj_used_node;

/* Nodes by position: those of a walk, behind their operands; then those that another expression brings. */
typedef struct {
  tj_graph *graph;
  tj_walk walk;
  tj_used_node *of;
  uint32_t count;
  uint32_t *root;     /* positions, by root */
  uint32_t *quotient; /* positions of all that are by a constant, at least 1 */
  uint32_t quotients;
} tj_usage;

/* Of roots[0 … count-1], in the job's arena. */
tj_usage tj_usage_of(tj_graph *graph, const tj_node *const roots[], size_t count);

/* Room to try expressions in, for one usage. */
tj_usage tj_usage_room(const tj_usage *usage);

bool tj_usage_has(const tj_usage *usage, const tj_node *node);

/* Whether a node only serves one sum, and is computed as part of it. */
bool tj_is_part_of_sum(const tj_usage *usage, uint32_t position);

/* About how many instructions of a wave all of it takes. */
uint32_t tj_usage_cost(const tj_usage *usage);

/* The same with `after`, which has the node's value, in the place of one that is no part of a sum; UINT32_MAX where
 * that is too much to try. */
uint32_t tj_usage_cost_with(const tj_usage *usage, tj_usage *room, uint32_t position, const tj_node *after);

#endif
