/* SPDX-License-Identifier: MIT */
/* Gathering a kernel's nodes. */
#include "lower/kernel/kernel_nodes.h"

#include "base/integer.h"
#include "ir/index/linear.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/loop.h"

#include <stdlib.h>

static const tj_node *without_some(tj_graph *graph, const tj_kernel *kernel, const tj_node *node, bool launched) {
  tj_substitution bound = {TJ_NEW_ARRAY(graph->job, const tj_node *, kernel->binding_count + 1),
                           TJ_NEW_ARRAY(graph->job, const tj_node *, kernel->binding_count + 1), 0};
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    if (kernel->binding[i].is_launched != launched)
      continue;
    bound.from[bound.count] = kernel->binding[i].symbol;
    bound.to[bound.count++] = kernel->binding[i].value;
  }
  tj_substitute(graph, &bound, &node, 1);
  return node;
}

static const tj_node *without_bindings(tj_graph *graph, const tj_kernel *kernel, const tj_node *node) {
  return without_some(graph, kernel, without_some(graph, kernel, node, false), true);
}

const tj_node *tj_launched_value(const tj_kernel *kernel, const tj_node *node) {
  for (uint32_t i = 0; node->op == TJ_OP_SYMBOL && i < kernel->binding_count; i++) {
    if (kernel->binding[i].is_launched && kernel->binding[i].symbol == node)
      return kernel->binding[i].value;
  }
  return node;
}

const tj_node *tj_access_element(tj_graph *graph, const tj_kernel *kernel, const tj_access *access) {
  const tj_node *element = access->base != NULL ? tj_add(graph, access->base, access->offset) : access->offset;
  if (access->displacement != 0)
    element = tj_add(graph, element, tj_int(graph, access->displacement));
  return without_bindings(graph, kernel, element);
}

const tj_node *tj_access_valid(tj_graph *graph, const tj_kernel *kernel, const tj_access *access) {
  return without_bindings(graph, kernel, access->valid);
}

static void add_root(tj_kernel_nodes *nodes, const tj_node *root) {
  if (root != NULL)
    nodes->root[nodes->root_count++] = root;
}

static void gather_steps(tj_kernel_nodes *nodes, const tj_kernel_step *step, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    add_root(nodes, step[i].value);
    add_root(nodes, step[i].limit);
    add_root(nodes, step[i].access.valid);
    add_root(nodes, step[i].access.base);
    add_root(nodes, step[i].access.offset);
    add_root(nodes, step[i].from.base);
    add_root(nodes, step[i].from.offset);
    add_root(nodes, step[i].ahead.base);
    add_root(nodes, step[i].ahead.offset);
    for (uint32_t k = 0; k < step[i].word_count; k++)
      add_root(nodes, step[i].word[k]);
  }
}

static void gather_loop(tj_kernel_nodes *nodes, const tj_loop *loop) {
  add_root(nodes, loop->counter);
  add_root(nodes, loop->trips);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    add_root(nodes, loop->carried[i].symbol);
    add_root(nodes, loop->carried[i].initial);
    add_root(nodes, loop->carried[i].next);
  }
}

static uint32_t loop_roots(const tj_kernel *kernel) {
  return kernel->loop == NULL ? 0 : 2 + 3 * kernel->loop->carried_count;
}

static uint32_t arithmetic_roots(const tj_kernel *kernel) {
  return kernel->arithmetic.program != NULL ? kernel->arithmetic.program->count : 0;
}

/* A tiled kernel's count is the launch's business alone, as are the values of launched bindings. */
static void gather_roots(tj_graph *graph, tj_kernel_nodes *nodes, const tj_kernel *kernel) {
  if (kernel->index != NULL)
    add_root(nodes, kernel->count);
  add_root(nodes, kernel->inner);
  add_root(nodes, kernel->items);
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    add_root(nodes, kernel->binding[i].symbol);
    add_root(nodes, kernel->binding[i].is_launched ? NULL : kernel->binding[i].value);
  }
  if (kernel->loop != NULL)
    gather_loop(nodes, kernel->loop);
  nodes->root_count += tj_arithmetic_integers(graph, kernel, nodes->root + nodes->root_count);
  gather_steps(nodes, kernel->step, kernel->step_count);
  gather_steps(nodes, kernel->inner_step, kernel->inner_step_count);
}

static bool is_bound_in_workgroup(const tj_kernel *kernel, const tj_node *node) {
  for (uint32_t i = 0; node->op == TJ_OP_SYMBOL && i < kernel->binding_count; i++) {
    if (kernel->binding[i].symbol == node)
      return !kernel->binding[i].is_launched;
  }
  return false;
}

/* Whether one of the steps of a kind gives the symbol its value. */
static bool is_given(const tj_kernel_step step[], uint32_t count, tj_step_kind kind, const tj_node *node) {
  for (uint32_t i = 0; node->op == TJ_OP_SYMBOL && i < count; i++) {
    if (step[i].kind == kind && step[i].value == node)
      return true;
  }
  return false;
}

static bool is_given_anywhere(const tj_kernel *kernel, tj_step_kind kind, const tj_node *node) {
  return is_given(kernel->step, kernel->step_count, kind, node) ||
         is_given(kernel->inner_step, kernel->inner_step_count, kind, node);
}

bool tj_is_looked_up(const tj_kernel *kernel, const tj_node *node) {
  return is_given_anywhere(kernel, TJ_STEP_LOOKUP, node);
}

bool tj_is_trip(const tj_kernel *kernel, const tj_node *node) {
  return is_given_anywhere(kernel, TJ_STEP_LOOP, node);
}

static tj_level level_of(const tj_kernel_nodes *nodes, const tj_kernel *kernel, const tj_node *node) {
  if (node == kernel->index || node == kernel->item || tj_is_looked_up(kernel, node))
    return TJ_LEVEL_ITEM;
  if ((kernel->loop != NULL && tj_loop_changes(kernel->loop, node)) || tj_is_trip(kernel, node))
    return TJ_LEVEL_TRIP;
  bool is_of_workgroup = node == kernel->workgroup || is_bound_in_workgroup(kernel, node);
  tj_level level = is_of_workgroup ? TJ_LEVEL_WORKGROUP : TJ_LEVEL_LAUNCH;
  for (unsigned i = 0; i < tj_op_arity(node->op); i++) {
    tj_level of_argument = tj_kernel_nodes_level(nodes, node->arg[i]);
    level = of_argument > level ? of_argument : level;
  }
  return level;
}

static bool is_of_workgroup(const tj_kernel_nodes *nodes, const tj_node *node) {
  return tj_is_constant(node) || tj_kernel_nodes_level(nodes, node) <= TJ_LEVEL_WORKGROUP;
}

tj_uniformity tj_kernel_nodes_uniformity(const tj_kernel_nodes *nodes, const tj_node *node) {
  return tj_is_constant(node) ? TJ_UNIFORM_IN_SCALARS : nodes->uniform[tj_kernel_nodes_find(nodes, node)];
}

bool tj_kernel_nodes_is_uniform(const tj_kernel_nodes *nodes, const tj_node *node) {
  return tj_kernel_nodes_uniformity(nodes, node) != TJ_UNIFORM_NOT;
}

bool tj_kernel_nodes_is_scalar_load(const tj_kernel_nodes *nodes, const tj_node *offset, const tj_node *valid) {
  return tj_kernel_nodes_is_uniform(nodes, offset) &&
         (valid == NULL || tj_kernel_nodes_uniformity(nodes, valid) == TJ_UNIFORM_IN_SCALARS);
}

static bool is_masked_scalar(const tj_kernel_nodes *nodes, const tj_access *access) {
  return access->buffer != TJ_LDS && tj_kernel_nodes_is_uniform(nodes, access->offset) &&
         !tj_kernel_nodes_is_scalar_load(nodes, access->offset, access->valid);
}

bool tj_kernel_nodes_have_masked_scalars(const tj_kernel_nodes *nodes, const tj_kernel_step step[], uint32_t count) {
  bool is_any = false;
  for (uint32_t i = 0; i < count && !is_any; i++)
    is_any =
        (step[i].kind == TJ_STEP_LOAD || step[i].kind == TJ_STEP_LOOKUP) && is_masked_scalar(nodes, &step[i].access);
  return is_any;
}

/* Of what is looked up: where its place is uniform, that of its mask. */
static tj_uniformity when_found(const tj_kernel_nodes *nodes, const tj_kernel_step step[], uint32_t count,
                                const tj_node *node) {
  for (uint32_t i = 0; node->op == TJ_OP_SYMBOL && i < count; i++) {
    const tj_access *access = &step[i].access;
    if (step[i].kind == TJ_STEP_LOOKUP && step[i].value == node)
      return tj_kernel_nodes_is_uniform(nodes, access->offset) ? tj_kernel_nodes_uniformity(nodes, access->valid)
                                                               : TJ_UNIFORM_NOT;
  }
  return TJ_UNIFORM_NOT;
}

/* The number of a wave, or of several: waves are of consecutive work-items, whether workgroups count them or a launch
 * does, whose workgroups are whole waves. */
static bool is_of_wave(const tj_kernel *kernel, uint32_t lanes, const tj_node *node) {
  if (lanes <= 1 || node->op != TJ_OP_DIV || !tj_is_constant(node->arg[1]))
    return false;
  bool are_counted =
      node->arg[0] == kernel->item || (node->arg[0] == kernel->index && kernel->workgroup_size % lanes == 0);
  return are_counted && node->arg[1]->value > 0 && node->arg[1]->value % lanes == 0;
}

static tj_uniformity found_uniformity(const tj_kernel_nodes *nodes, const tj_kernel *kernel, uint32_t lanes,
                                      const tj_node *node) {
  if (is_of_workgroup(nodes, node) || tj_is_trip(kernel, node))
    return TJ_UNIFORM_IN_SCALARS;
  if (is_of_wave(kernel, lanes, node))
    return TJ_UNIFORM_IN_LANES;
  tj_uniformity found = TJ_UNIFORM_IN_SCALARS;
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    found = (tj_uniformity)tj_least(found, tj_kernel_nodes_uniformity(nodes, node->arg[i]));
  if (tj_op_arity(node->op) > 0)
    return found;
  found = when_found(nodes, kernel->step, kernel->step_count, node);
  return found != TJ_UNIFORM_NOT ? found : when_found(nodes, kernel->inner_step, kernel->inner_step_count, node);
}

/* Arguments come before what is made of them. Symbols that are looked up may come before where they are looked up,
 * which depends on none of them: where there are such, all are asked twice. */
static void find_uniform(tj_graph *graph, tj_kernel_nodes *nodes, const tj_kernel *kernel, uint32_t lanes) {
  const bool does_look_up = tj_steps_have(kernel->step, kernel->step_count, TJ_STEP_LOOKUP) ||
                            tj_steps_have(kernel->inner_step, kernel->inner_step_count, TJ_STEP_LOOKUP);
  nodes->uniform = TJ_NEW_ARRAY(graph->job, tj_uniformity, nodes->walk.count);
  for (unsigned time = 0; time < (does_look_up ? 2 : 1); time++) {
    for (uint32_t i = 0; i < nodes->walk.count; i++)
      nodes->uniform[i] = found_uniformity(nodes, kernel, lanes, nodes->walk.node[i]);
  }
}

tj_kernel_nodes tj_kernel_nodes_of(tj_graph *graph, const tj_kernel *kernel, uint32_t lanes) {
  size_t most = 9 * ((size_t)kernel->step_count + kernel->inner_step_count) + 2 * (size_t)kernel->binding_count + 3 +
                loop_roots(kernel) + arithmetic_roots(kernel) + tj_words_of_steps(kernel->step, kernel->step_count) +
                tj_words_of_steps(kernel->inner_step, kernel->inner_step_count);
  tj_kernel_nodes nodes = {.root = TJ_RAW_ARRAY(graph->job, const tj_node *, most)};
  gather_roots(graph, &nodes, kernel);
  nodes.walk = tj_walk_nodes(graph, nodes.root, nodes.root_count);
  tj_spend(graph->job, nodes.walk.count);
  nodes.level = TJ_RAW_ARRAY(graph->job, tj_level, nodes.walk.count);
  for (uint32_t i = 0; i < nodes.walk.count; i++)
    nodes.level[i] = level_of(&nodes, kernel, nodes.walk.node[i]);
  find_uniform(graph, &nodes, kernel, lanes);
  return nodes;
}

uint32_t tj_kernel_nodes_find(const tj_kernel_nodes *nodes, const tj_node *node) {
  return tj_walk_find(&nodes->walk, node);
}

tj_level tj_kernel_nodes_level(const tj_kernel_nodes *nodes, const tj_node *node) {
  return nodes->level[tj_kernel_nodes_find(nodes, node)];
}

/* --- quotients --- */

/* A quotient must not be made of the remainder. Nothing is made of what is as deep; and remainders never serve as
 * quotients, so that sorting by depth, remainders last, puts quotients first. */
static bool may_serve(const tj_kernel_nodes *nodes, const tj_node *quotient, const tj_node *remainder) {
  if (tj_op_arity(quotient->op) == 0 || quotient->op == TJ_OP_MOD || quotient->depth > remainder->depth)
    return false;
  return tj_kernel_nodes_find(nodes, quotient) != TJ_NO_POSITION &&
         tj_kernel_nodes_level(nodes, quotient) == tj_kernel_nodes_level(nodes, remainder);
}

/* Of (x/a)%b, where a and b are at least 1, a quotient x/(a*b) of the same x: simplifying (x/a)/b may put the terms
 * of x in another order. */
static const tj_node *find_outer_quotient(tj_graph *graph, const tj_kernel_nodes *nodes, const tj_node *remainder) {
  const tj_node *inner = remainder->arg[0], *found = NULL;
  if (inner->op != TJ_OP_DIV || inner->arg[1]->facts.low < 1)
    return NULL;
  const tj_node *divisor = tj_mul(graph, inner->arg[1], remainder->arg[1]);
  for (uint32_t i = 0; i < nodes->walk.count && found == NULL; i++) {
    const tj_node *node = nodes->walk.node[i];
    bool is_same = node->op == TJ_OP_DIV && node->arg[0] == inner->arg[0] &&
                   tj_linear_equal(tj_linear_of(graph, node->arg[1]), tj_linear_of(graph, divisor));
    found = is_same && may_serve(nodes, node, remainder) ? node : NULL;
  }
  return found;
}

static const tj_node *find_quotient(tj_graph *graph, const tj_kernel_nodes *nodes, const tj_node *remainder) {
  if (remainder->arg[1]->facts.low < 1)
    return NULL;
  const tj_node *quotient = tj_node_make(graph, TJ_OP_DIV, remainder->arg);
  if (may_serve(nodes, quotient, remainder))
    return quotient;
  quotient = tj_simplified(graph, quotient);
  return may_serve(nodes, quotient, remainder) ? quotient : find_outer_quotient(graph, nodes, remainder);
}

static int compare_keys(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Depth, then remainders last, then the walk's own order. */
static uint64_t sort_key(const tj_node *node, uint32_t position) {
  return ((uint64_t)node->depth * 2 + (node->op == TJ_OP_MOD)) << 32 | position;
}

/* Counts a use, by a sum or by what is none. */
static void count_use(tj_kernel_nodes *nodes, uint32_t *uses, const tj_node *node, bool is_by_sum) {
  uint32_t position = tj_kernel_nodes_find(nodes, node);
  if (position != TJ_NO_POSITION)
    nodes->is_part[position] = uses[position]++ == 0 && is_by_sum;
}

static void find_parts(tj_graph *graph, tj_kernel_nodes *nodes) {
  uint32_t *uses = TJ_NEW_ARRAY(graph->job, uint32_t, nodes->walk.count);
  nodes->is_part = TJ_NEW_ARRAY(graph->job, bool, nodes->walk.count);
  for (uint32_t i = 0; i < nodes->walk.count; i++) {
    const tj_node *node = nodes->walk.node[i];
    for (unsigned k = 0; k < tj_op_arity(node->op); k++)
      count_use(nodes, uses, node->arg[k], node->op == TJ_OP_ADD);
  }
  for (uint32_t i = 0; i < nodes->root_count; i++)
    count_use(nodes, uses, nodes->root[i], false);
}

void tj_kernel_nodes_schedule(tj_graph *graph, tj_kernel_nodes *nodes) {
  uint32_t count = nodes->walk.count;
  find_parts(graph, nodes);
  uint64_t *key = TJ_RAW_ARRAY(graph->job, uint64_t, count);
  nodes->quotient = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  nodes->order = TJ_RAW_ARRAY(graph->job, uint32_t, count);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *node = nodes->walk.node[i];
    key[i] = sort_key(node, i);
    if (node->op == TJ_OP_MOD)
      nodes->quotient[i] = find_quotient(graph, nodes, node);
  }
  qsort(key, count, sizeof *key, compare_keys);
  for (uint32_t i = 0; i < count; i++)
    nodes->order[i] = (uint32_t)key[i];
}

const tj_node *tj_kernel_nodes_quotient(const tj_kernel_nodes *nodes, const tj_node *node) {
  return nodes->quotient[tj_kernel_nodes_find(nodes, node)];
}

/* --- what expressions need --- */

void tj_kernel_nodes_mark(const tj_kernel_nodes *nodes, const tj_node *node, bool *mark) {
  uint32_t position = node != NULL ? tj_kernel_nodes_find(nodes, node) : TJ_NO_POSITION;
  if (position != TJ_NO_POSITION)
    mark[position] = true;
}

void tj_kernel_nodes_spread(const tj_kernel_nodes *nodes, bool *mark) {
  for (uint32_t i = nodes->walk.count; i-- > 0;) {
    uint32_t position = nodes->order[i];
    if (!mark[position])
      continue;
    const tj_node *node = nodes->walk.node[position];
    for (unsigned k = 0; k < tj_op_arity(node->op); k++)
      tj_kernel_nodes_mark(nodes, node->arg[k], mark);
    tj_kernel_nodes_mark(nodes, nodes->quotient[position], mark);
  }
}

uint32_t tj_kernel_nodes_operations(const tj_kernel_nodes *nodes) {
  uint32_t operations = 0;
  for (uint32_t i = 0; i < nodes->walk.count; i++)
    operations += tj_op_arity(nodes->walk.node[i]->op) > 0;
  return operations;
}
