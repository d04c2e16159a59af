/* SPDX-License-Identifier: MIT */
/* Walks, without recursion: a stack in the arena, and a visit number in each node's memo. */
#include "ir/index/walk.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  tj_graph *graph;
  const tj_node **node; /* found so far; those from `next` on still have arguments to look at */
  uint32_t count, capacity;
} search;

static void append(search *found, const tj_node *node) {
  if (found->count == found->capacity) {
    found->capacity *= 2;
    const tj_node **larger = TJ_NEW_ARRAY(found->graph->job, const tj_node *, found->capacity);
    memcpy(larger, found->node, found->count * sizeof *larger);
    found->node = larger;
  }
  found->node[found->count++] = node;
}

static void visit(search *found, const tj_node *node) {
  tj_memo *memo = tj_memo_of(node);
  if (memo->visit == found->graph->visit)
    return;
  memo->visit = found->graph->visit;
  append(found, node);
}

static int compare_ids(const void *a, const void *b) {
  uint32_t left = (*(const tj_node *const *)a)->id, right = (*(const tj_node *const *)b)->id;
  return (left > right) - (left < right);
}

/* Each node to the place of its id among those from the first to the last, and together again. */
static void sort_dense(search *found, uint32_t first, uint32_t span) {
  const tj_arena_mark before = tj_arena_here(&found->graph->job->arena);
  const tj_node **place = TJ_NEW_ARRAY(found->graph->job, const tj_node *, span);
  for (uint32_t i = 0; i < found->count; i++)
    place[found->node[i]->id - first] = found->node[i];
  found->count = 0;
  for (uint32_t i = 0; i < span; i++)
    if (place[i] != NULL)
      found->node[found->count++] = place[i];
  tj_arena_reset(&found->graph->job->arena, before);
}

static void sort_by_id(search *found) {
  enum { MOST_PLACES_PER_NODE = 8 };
  uint32_t first = UINT32_MAX, last = 0;
  for (uint32_t i = 0; i < found->count; i++) {
    const uint32_t id = found->node[i]->id;
    first = id < first ? id : first;
    last = id > last ? id : last;
  }
  if (found->count > 0 && (last - first) / MOST_PLACES_PER_NODE < found->count)
    sort_dense(found, first, last - first + 1);
  else
    qsort(found->node, found->count, sizeof(const tj_node *), compare_ids);
}

static void visit_parts(search *found, const tj_symbol *symbol) {
  const tj_node *part[TJ_MOST_SYMBOL_PARTS];
  const unsigned count = tj_symbol_parts(symbol, part);
  for (unsigned i = 0; i < count; i++)
    visit(found, part[i]);
}

static tj_walk walk(tj_graph *graph, const tj_node *const roots[], size_t count, bool with_bounds) {
  search found = {graph, NULL, 0, 64};
  found.node = TJ_NEW_ARRAY(graph->job, const tj_node *, found.capacity);
  graph->visit++;
  for (size_t i = 0; i < count; i++)
    visit(&found, roots[i]);
  for (uint32_t next = 0; next < found.count; next++) {
    const tj_node *node = found.node[next];
    if (with_bounds && node->op == TJ_OP_SYMBOL)
      visit_parts(&found, node->symbol);
    for (unsigned i = 0; i < tj_op_arity(node->op); i++)
      visit(&found, node->arg[i]);
  }
  sort_by_id(&found);
  return (tj_walk){found.node, found.count};
}

tj_walk tj_walk_nodes(tj_graph *graph, const tj_node *const roots[], size_t count) {
  return walk(graph, roots, count, false);
}

tj_walk tj_walk_with_bounds(tj_graph *graph, const tj_node *const roots[], size_t count) {
  return walk(graph, roots, count, true);
}

uint32_t tj_walk_find(const tj_walk *walk, const tj_node *node) {
  uint32_t low = 0, high = walk->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (walk->node[middle]->id < node->id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < walk->count && walk->node[low] == node ? low : TJ_NO_POSITION;
}
