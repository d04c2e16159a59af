/* SPDX-License-Identifier: MIT */
/* Walks, without recursion: a stack in the arena, and a visit number in each node's memo. */
#include "ir/index/walk.h"

#include <string.h>

/* What is found stands in memory of the graph's, which the next walk uses again. */
typedef struct {
  tj_graph *graph;
  const tj_node **node; /* found so far; those from `next` on still have arguments to look at */
  uint32_t count;
} search;

static void grow(search *found) {
  enum { FIRST_CAPACITY = 256 };
  tj_graph *graph = found->graph;
  uint32_t capacity = graph->found_capacity > 0 ? 2 * graph->found_capacity : FIRST_CAPACITY;
  const tj_node **larger = TJ_RAW_ARRAY(graph->job, const tj_node *, capacity);
  if (found->count > 0)
    memcpy(larger, found->node, found->count * sizeof *larger);
  graph->found = found->node = larger;
  graph->found_capacity = capacity;
}

static void append(search *found, const tj_node *node) {
  if (found->count == found->graph->found_capacity)
    grow(found);
  found->node[found->count++] = node;
}

static void visit(search *found, const tj_node *node) {
  tj_memo *memo = tj_memo_of(node);
  if (memo->visit == found->graph->visit)
    return;
  memo->visit = found->graph->visit;
  memo->place = found->count;
  append(found, node);
}

/* Of ids far apart, in place: most walks find few nodes, nearly in the order of their ids. */
static void sort_sparse(search *found) {
  static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
    const uint32_t gap = gaps[g];
    for (uint32_t i = gap; i < found->count; i++) {
      const tj_node *node = found->node[i];
      const uint32_t id = node->id;
      uint32_t at = i;
      for (; at >= gap && found->node[at - gap]->id > id; at -= gap)
        found->node[at] = found->node[at - gap];
      found->node[at] = node;
    }
  }
}

/* Users were found before their arguments. */
static void reverse(search *found) {
  for (uint32_t i = 0; i < found->count / 2; i++) {
    const tj_node *node = found->node[i];
    found->node[i] = found->node[found->count - 1 - i];
    found->node[found->count - 1 - i] = node;
  }
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
  else {
    reverse(found);
    sort_sparse(found);
  }
}

static void visit_parts(search *found, const tj_symbol *symbol) {
  const tj_node *part[TJ_MOST_SYMBOL_PARTS];
  const unsigned count = tj_symbol_parts(symbol, part);
  for (unsigned i = 0; i < count; i++)
    visit(found, part[i]);
}

static search begin(tj_graph *graph, const tj_node *const roots[], size_t count) {
  search found = {graph, graph->found, 0};
  graph->visit++;
  for (size_t i = 0; i < count; i++)
    visit(&found, roots[i]);
  return found;
}

static void visit_arguments(search *found, const tj_node *node) {
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    visit(found, node->arg[i]);
}

static search find_nodes(tj_graph *graph, const tj_node *const roots[], size_t count) {
  search found = begin(graph, roots, count);
  for (uint32_t next = 0; next < found.count; next++)
    visit_arguments(&found, found.node[next]);
  return found;
}

static search find_nodes_and_bounds(tj_graph *graph, const tj_node *const roots[], size_t count) {
  search found = begin(graph, roots, count);
  for (uint32_t next = 0; next < found.count; next++) {
    if (found.node[next]->op == TJ_OP_SYMBOL)
      visit_parts(&found, found.node[next]->symbol);
    visit_arguments(&found, found.node[next]);
  }
  return found;
}

static search find_new(tj_graph *graph, const tj_node *const roots[], size_t count, uint32_t epoch) {
  search found = begin(graph, roots, count);
  for (uint32_t next = 0; next < found.count; next++) {
    if (tj_simple_since(found.node[next], epoch) == NULL)
      visit_arguments(&found, found.node[next]);
  }
  return found;
}

/* In order of ids, in memory that stays. */
static tj_walk kept(search found) {
  sort_by_id(&found);
  const tj_node **node = TJ_RAW_ARRAY(found.graph->job, const tj_node *, found.count + 1);
  for (uint32_t i = 0; i < found.count; i++) {
    node[i] = found.node[i];
    tj_memo_of(node[i])->place = i;
  }
  return (tj_walk){node, found.count};
}

tj_walk tj_walk_nodes(tj_graph *graph, const tj_node *const roots[], size_t count) {
  return kept(find_nodes(graph, roots, count));
}

tj_walk tj_walk_with_bounds(tj_graph *graph, const tj_node *const roots[], size_t count) {
  return kept(find_nodes_and_bounds(graph, roots, count));
}

tj_walk tj_walk_new(tj_graph *graph, const tj_node *const roots[], size_t count, uint32_t epoch) {
  return kept(find_new(graph, roots, count, epoch));
}

tj_walk tj_walk_briefly(tj_graph *graph, const tj_node *const roots[], size_t count) {
  const search found = find_nodes(graph, roots, count);
  return (tj_walk){found.node, found.count};
}

uint32_t tj_walk_search(const tj_walk *walk, const tj_node *node) {
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
