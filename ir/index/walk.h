/* SPDX-License-Identifier: MIT */
/* Walks over the nodes that a set of expressions is made of, each visited once, however they are shared. */
#ifndef TJ_IR_WALK_H
#define TJ_IR_WALK_H

#include "ir/index/graph.h"

/* The nodes reachable from roots[0 … count-1], arguments before their users, in order of their ids; in the job's
 * arena. */
typedef struct {
  const tj_node **node;
  uint32_t count;
} tj_walk;

tj_walk tj_walk_nodes(tj_graph *graph, const tj_node *const roots[], size_t count);

/* The same in any order, until the next walk; tj_walk_place alone finds nodes there. */
tj_walk tj_walk_briefly(tj_graph *graph, const tj_node *const roots[], size_t count);

/* The same as far as it is not known what nodes simplify to, since an epoch; those of which it is known included, but
 * not what is only below them. */
tj_walk tj_walk_new(tj_graph *graph, const tj_node *const roots[], size_t count, uint32_t epoch);

/* All of them, with the nodes that bounds of symbols are made of. */
tj_walk tj_walk_with_bounds(tj_graph *graph, const tj_node *const roots[], size_t count);

enum { TJ_NO_POSITION = UINT32_MAX };

/* A node's position in a graph's last walk, or TJ_NO_POSITION; of earlier ones, perhaps nothing. */
static inline uint32_t tj_walk_place(const tj_walk *walk, const tj_node *node) {
  const uint32_t place = tj_memo_of(node)->place;
  return place < walk->count && walk->node[place] == node ? place : TJ_NO_POSITION;
}

/* The same by the order of ids. */
uint32_t tj_walk_search(const tj_walk *walk, const tj_node *node);

/* A node's position in any walk but a brief one. */
static inline uint32_t tj_walk_find(const tj_walk *walk, const tj_node *node) {
  const uint32_t place = tj_walk_place(walk, node);
  return place != TJ_NO_POSITION ? place : tj_walk_search(walk, node);
}

#endif
