/* SPDX-License-Identifier: MIT */
/* Loops of kernels, as lists of what they carry. */
#include "lower/kernel/loop.h"

#include "base/text.h"
#include "ir/index/substitute.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"

tj_loop *tj_loop_make(tj_graph *graph, const tj_node *trips) {
  tj_loop *loop = TJ_NEW(graph->job, tj_loop);
  *loop = (tj_loop){.counter = tj_coordinate(graph, "trip", trips), .trips = trips};
  loop->carried = TJ_NEW_ARRAY(graph->job, tj_carried, TJ_MOST_CARRIED);
  return loop;
}

tj_carried *tj_loop_carry(tj_graph *graph, tj_loop *loop, const char *name, const tj_node *low, const tj_node *high,
                          int64_t multiple) {
  if (loop->carried_count == TJ_MOST_CARRIED)
    tj_fail(graph->job, TJ_WORK_LIMIT, "the loop carries more than %d integers", TJ_MOST_CARRIED);
  tj_carried *carried = &loop->carried[loop->carried_count++];
  carried->symbol = tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, low, high, multiple);
  return carried;
}

bool tj_loop_changes(const tj_loop *loop, const tj_node *node) {
  if (node->op != TJ_OP_SYMBOL)
    return false;
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    if (loop->carried[i].symbol == node)
      return true;
  }
  return node == loop->counter;
}

/* --- strength reduction --- */

static const tj_node *at_trip(tj_graph *graph, const tj_loop *loop, const tj_node *node, const tj_node *trip) {
  const tj_node *from[] = {loop->counter}, *to[] = {trip};
  tj_substitution substitution = {from, to, 1};
  tj_substitute(graph, &substitution, &node, 1);
  return tj_simplified(graph, node);
}

static bool is_invariant(tj_graph *graph, const tj_loop *loop, const tj_node *node) {
  tj_walk walk = tj_walk_nodes(graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (tj_loop_changes(loop, walk.node[i]))
      return false;
  }
  return true;
}

static const tj_node *bound_of(tj_graph *graph, int64_t bound) {
  return bound == INT64_MIN || bound == INT64_MAX ? NULL : tj_int(graph, bound);
}

tj_carried *tj_loop_carry_like(tj_graph *graph, tj_loop *loop, const char *name, const tj_node *like) {
  const tj_facts *facts = &like->facts;
  return tj_loop_carry(graph, loop, name, bound_of(graph, facts->low), bound_of(graph, facts->high),
                       facts->residue == 0 ? facts->modulus : 1);
}

const tj_node *tj_loop_reduced(tj_graph *graph, tj_loop *loop, const char *name, const tj_node *node) {
  node = tj_simplified(graph, node);
  const tj_node *next = at_trip(graph, loop, node, tj_add(graph, loop->counter, tj_int(graph, 1)));
  const tj_node *change = tj_simplified(graph, tj_sub(graph, next, node));
  if (is_invariant(graph, loop, node) || !is_invariant(graph, loop, change))
    return node;
  tj_carried *carried = tj_loop_carry_like(graph, loop, name, node);
  carried->initial = at_trip(graph, loop, node, tj_int(graph, 0));
  carried->next = tj_add(graph, carried->symbol, change);
  return carried->symbol;
}

/* --- invariants --- */

/* What a node depends on. */
typedef struct {
  bool on_item, on_trip;
} dependence;

static bool is_symbol_of(const tj_node *const symbols[], uint32_t count, const tj_node *node) {
  for (uint32_t i = 0; i < count; i++) {
    if (symbols[i] == node)
      return true;
  }
  return false;
}

static dependence *find_dependences(tj_graph *graph, const tj_loop *loop, const tj_walk *walk,
                                    const tj_node *const symbols[], uint32_t count) {
  dependence *found = TJ_NEW_ARRAY(graph->job, dependence, (size_t)walk->count + 1);
  tj_spend(graph->job, (uint64_t)walk->count * (count + loop->carried_count));
  for (uint32_t i = 0; i < walk->count; i++) {
    const tj_node *node = walk->node[i];
    found[i] = (dependence){is_symbol_of(symbols, count, node), tj_loop_changes(loop, node)};
    for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
      dependence of = found[tj_walk_find(walk, node->arg[k])];
      found[i].on_item = found[i].on_item || of.on_item;
      found[i].on_trip = found[i].on_trip || of.on_trip;
    }
  }
  return found;
}

static bool is_invariant_of_item(dependence found) {
  return found.on_item && !found.on_trip;
}

/* The largest such parts of the roots, by place in the walk. */
static bool *find_largest_invariants(tj_graph *graph, const tj_walk *walk, const dependence found[],
                                     const tj_node *const roots[], uint32_t root_count) {
  bool *is_largest = TJ_NEW_ARRAY(graph->job, bool, (size_t)walk->count + 1);
  for (uint32_t i = 0; i < walk->count; i++) {
    for (unsigned k = 0; k < tj_op_arity(walk->node[i]->op) && found[i].on_trip; k++) {
      uint32_t argument = tj_walk_find(walk, walk->node[i]->arg[k]);
      is_largest[argument] = is_largest[argument] || is_invariant_of_item(found[argument]);
    }
  }
  for (uint32_t i = 0; i < root_count; i++) {
    uint32_t root = tj_walk_find(walk, roots[i]);
    is_largest[root] = is_largest[root] || is_invariant_of_item(found[root]);
  }
  return is_largest;
}

static tj_substitution carry_each(tj_graph *graph, tj_loop *loop, const tj_walk *walk, const bool is_largest[]) {
  tj_substitution carried = {TJ_NEW_ARRAY(graph->job, const tj_node *, TJ_MOST_CARRIED),
                             TJ_NEW_ARRAY(graph->job, const tj_node *, TJ_MOST_CARRIED), 0};
  for (uint32_t i = 0; i < walk->count; i++) {
    if (!is_largest[i])
      continue;
    const char *name = tj_string_format(graph->job, "s%u", carried.count);
    tj_carried *as = tj_loop_carry_like(graph, loop, name, walk->node[i]);
    as->initial = walk->node[i];
    as->next = as->symbol;
    carried.from[carried.count] = walk->node[i];
    carried.to[carried.count++] = as->symbol;
  }
  return carried;
}

void tj_loop_carry_invariants(tj_graph *graph, const tj_kernel *kernel, const tj_node *const symbols[],
                              uint32_t count) {
  tj_loop *loop = kernel->loop;
  uint32_t carried_count = loop->carried_count, root_count = carried_count + kernel->step_count;
  const tj_node **root = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)root_count + 1);
  for (uint32_t i = 0; i < root_count; i++)
    root[i] = i < carried_count ? loop->carried[i].next : kernel->step[i - carried_count].value;
  tj_walk walk = tj_walk_nodes(graph, root, root_count);
  const dependence *found = find_dependences(graph, loop, &walk, symbols, count);
  const bool *is_largest = find_largest_invariants(graph, &walk, found, root, root_count);
  tj_substitution carried = carry_each(graph, loop, &walk, is_largest);
  tj_substitute(graph, &carried, root, root_count);
  for (uint32_t i = 0; i < carried_count; i++)
    loop->carried[i].next = root[i];
  for (uint32_t i = 0; i < kernel->step_count; i++)
    kernel->step[i].value = root[carried_count + i];
}

/* --- pruning --- */

typedef struct {
  const tj_loop *loop;
  bool *is_needed; /* by number */
  const tj_node **root;
  uint32_t root_count;
} needs;

static void add_root(needs *found, const tj_node *root) {
  if (root != NULL)
    found->root[found->root_count++] = root;
}

static bool is_among(const tj_walk *walk, const tj_node *node) {
  for (uint32_t i = 0; i < walk->count; i++) {
    if (walk->node[i] == node)
      return true;
  }
  return false;
}

/* What the roots depend on becomes needed, and what its next value depends on a root. Returns whether there was any.
 */
static bool find_more(tj_graph *graph, needs *found) {
  tj_walk walk = tj_walk_nodes(graph, found->root, found->root_count);
  bool has_found = false;
  tj_spend(graph->job, (uint64_t)walk.count + found->loop->carried_count);
  for (uint32_t i = 0; i < found->loop->carried_count; i++) {
    const tj_carried *carried = &found->loop->carried[i];
    if (found->is_needed[i] || !is_among(&walk, carried->symbol))
      continue;
    found->is_needed[i] = has_found = true;
    add_root(found, carried->next);
  }
  return has_found;
}

void tj_loop_prune(tj_graph *graph, const tj_kernel *kernel) {
  tj_loop *loop = kernel->loop;
  size_t most = 4 * (size_t)kernel->step_count + loop->carried_count;
  needs found = {loop, TJ_NEW_ARRAY(graph->job, bool, loop->carried_count + 1),
                 TJ_NEW_ARRAY(graph->job, const tj_node *, most + 1), 0};
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    add_root(&found, kernel->step[i].value);
    add_root(&found, kernel->step[i].access.base);
    add_root(&found, kernel->step[i].access.offset);
    add_root(&found, kernel->step[i].access.valid);
  }
  while (find_more(graph, &found))
    continue;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    if (found.is_needed[i])
      loop->carried[kept++] = loop->carried[i];
  }
  loop->carried_count = kept;
}
