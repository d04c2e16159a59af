/* SPDX-License-Identifier: MIT */
/* The estimate, from how often nodes are used: that alone changes where an expression takes the place of another, but
 * for the nodes that come and go. */
#include "lower/machine/usage.h"

#include "base/number/magic.h"
#include "base/number/power.h"
#include "ir/index/cost.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/machine/width.h"

#include <string.h>

enum { MOST_NEW = 96 /* nodes of an expression that is tried */ };

/* --- nodes and their users --- */

/* Of a quotient or a remainder. */
static bool is_by_constant(const tj_node *quotient) {
  return tj_is_constant(quotient->arg[1]) && quotient->arg[1]->value >= 1;
}

/* Of a remainder that takes an instruction once its quotient is there. */
static const tj_node *quotient_beside(tj_graph *graph, const tj_node *node) {
  if (node->op != TJ_OP_MOD || tj_exponent_of(node->arg[1]) >= 0 || !is_by_constant(node))
    return NULL;
  return tj_simplified(graph, tj_node_make(graph, TJ_OP_DIV, node->arg));
}

static uint32_t cost_of_quotient(const tj_node *node) {
  enum { NARROW = 2, WIDE = 5, VARIABLE = 20 };
  tj_magic magic;
  if (tj_exponent_of(node->arg[1]) >= 0)
    return 1;
  if (!is_by_constant(node))
    return VARIABLE;
  bool is_narrow = node->arg[0]->facts.low >= 0 &&
                   tj_magic_narrow((uint64_t)node->arg[1]->value, (uint64_t)node->arg[0]->facts.high, &magic);
  return is_narrow ? NARROW : WIDE;
}

static uint32_t cost_of_remainder(const tj_node *node) {
  enum { FROM_NOTHING = 3, VARIABLE = 21 };
  return tj_exponent_of(node->arg[1]) >= 0 ? 1 : is_by_constant(node) ? FROM_NOTHING : VARIABLE;
}

static uint32_t cost_alone(const tj_node *node) {
  switch (node->op) {
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
    return 0;
  case TJ_OP_DIV:
    return cost_of_quotient(node);
  case TJ_OP_MOD:
    return cost_of_remainder(node);
  case TJ_OP_AND:
  case TJ_OP_OR:
    return node->facts.high <= 1 ? 0 : 1;
  default:
    return 1;
  }
}

/* Whether it may be too large for any integer: no other expression may lead there. */
static bool is_unbounded(const tj_node *node) {
  return (node->op == TJ_OP_ADD || node->op == TJ_OP_MUL) && !tj_facts_bounded(&node->facts);
}

static tj_used_node unused(const tj_node *node) {
  enum { WIDE = 4, UNBOUNDED = 10000 };
  const bool is_wide = tj_op_arity(node->op) > 0 && tj_width_of_operation(node).bits == 64;
  tj_used_node of = {.node = node, .alone = cost_alone(node), .width = is_wide ? WIDE : 1};
  of.beyond += is_wide ? WIDE : 0;
  of.beyond += is_unbounded(node) ? UNBOUNDED : 0;
  return of;
}

static void use(tj_usage *u, uint32_t position, bool is_by_sum) {
  u->of[position].uses++;
  u->of[position].sum_uses += is_by_sum;
}

/* Has a node use others, whose positions are known. */
static void use_arguments(tj_usage *u, uint32_t position, const uint32_t argument[]) {
  const tj_node *node = u->of[position].node;
  for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
    u->of[position].argument[k] = argument[k];
    use(u, argument[k], node->op == TJ_OP_ADD);
  }
  if (node->op == TJ_OP_DIV && is_by_constant(node))
    u->quotient[u->quotients++] = position;
}

static void add_found(tj_usage *u, uint32_t position) {
  const tj_node *node = u->walk.node[position];
  uint32_t argument[3];
  for (unsigned k = 0; k < tj_op_arity(node->op); k++)
    argument[k] = tj_walk_place(&u->walk, node->arg[k]);
  u->of[position] = unused(node);
  use_arguments(u, position, argument);
}

tj_usage tj_usage_of(tj_graph *graph, const tj_node *const roots[], size_t count) {
  tj_usage u = {.graph = graph, .walk = tj_walk_nodes(graph, roots, count)};
  u.count = u.walk.count;
  u.of = TJ_RAW_ARRAY(graph->job, tj_used_node, u.count + 1);
  u.root = TJ_RAW_ARRAY(graph->job, uint32_t, count + 1);
  u.quotient = TJ_RAW_ARRAY(graph->job, uint32_t, u.count + 1);
  for (uint32_t i = 0; i < u.count; i++)
    add_found(&u, i);
  for (size_t i = 0; i < count; i++) {
    u.root[i] = tj_walk_place(&u.walk, roots[i]);
    use(&u, u.root[i], false);
  }
  for (uint32_t i = 0; i < u.count; i++)
    u.of[i].quotient = quotient_beside(graph, u.of[i].node);
  return u;
}

static uint32_t position_of(const tj_usage *u, const tj_node *node) {
  const uint32_t found = tj_walk_find(&u->walk, node);
  for (uint32_t i = u->walk.count; i < u->count && found == TJ_NO_POSITION; i++) {
    if (u->of[i].node == node)
      return i;
  }
  return found;
}

bool tj_usage_has(const tj_usage *u, const tj_node *node) {
  const uint32_t position = position_of(u, node);
  return position != TJ_NO_POSITION && u->of[position].uses > 0;
}

/* --- the estimate --- */

bool tj_is_part_of_sum(const tj_usage *u, uint32_t position) {
  return u->of[position].uses == 1 && u->of[position].sum_uses == 1;
}

/* What a sum is made of, where its own sums are taken apart. */
typedef struct {
  uint32_t products, others;
} parts;

/* Whether it is shifted and then subtracted, which no instruction does at once: where its factor is none of the
 * integers that any operand may be. */
static bool is_shifted_off(const tj_node *product) {
  enum { LEAST_OPERAND = -16 };
  const tj_node *factor = product->arg[1];
  return tj_is_constant(factor) && factor->value < LEAST_OPERAND && factor->value > INT64_MIN &&
         tj_is_power_of_two(-factor->value);
}

static void count_parts(const tj_usage *u, uint32_t sum, parts *all) {
  for (unsigned i = 0; i < 2; i++) {
    const uint32_t position = u->of[sum].argument[i];
    const tj_node *node = u->of[position].node;
    const bool is_part = tj_is_part_of_sum(u, position);
    if (is_part && node->op == TJ_OP_ADD)
      count_parts(u, position, all);
    else if (is_part && node->op == TJ_OP_MUL)
      all->products += is_shifted_off(node) ? 2 : 1;
    else
      all->others++;
  }
}

/* Each product adds what there is so far (v_mad, v_lshl_add); the rest comes two at a time (v_add3). */
static uint32_t cost_of_sum(const tj_usage *u, uint32_t position) {
  parts all = {0, 0};
  count_parts(u, position, &all);
  return all.products + all.others / 2;
}

/* Whether one divisor is the other one times a power of two. */
static bool is_power_apart(int64_t a, int64_t b) {
  const int64_t large = a > b ? a : b, small = a > b ? b : a;
  return large % small == 0 && tj_is_power_of_two(large / small);
}

/* Whether another quotient of the same value has the multiplication that this one needs. */
static bool shares_product(const tj_usage *u, const tj_node *node) {
  for (uint32_t i = 0; i < u->quotients; i++) {
    const tj_used_node *other = &u->of[u->quotient[i]];
    if (other->uses > 0 && other->node->arg[0] == node->arg[0] && other->node->id < node->id &&
        is_power_apart(other->node->arg[1]->value, node->arg[1]->value))
      return true;
  }
  return false;
}

/* By a power of two, a remainder takes the quotient below it along (v_bfe). */
static bool is_field(const tj_usage *u, const tj_used_node *of) {
  const tj_node *below = of->node->arg[0];
  return tj_exponent_of(of->node->arg[1]) >= 0 && below->op == TJ_OP_DIV && tj_exponent_of(below->arg[1]) >= 0 &&
         u->of[of->argument[0]].uses == 1;
}

static uint32_t cost_of_node(const tj_usage *u, uint32_t position) {
  const tj_used_node *of = &u->of[position];
  switch (of->node->op) {
  case TJ_OP_ADD:
    return tj_is_part_of_sum(u, position) ? 0 : cost_of_sum(u, position);
  case TJ_OP_MUL:
    return tj_is_part_of_sum(u, position) ? 0 : of->alone;
  case TJ_OP_DIV:
    return is_by_constant(of->node) && of->alone > 1 && shares_product(u, of->node) ? 1 : of->alone;
  case TJ_OP_MOD:
    if (of->quotient != NULL)
      return tj_usage_has(u, of->quotient) ? 1 : of->alone;
    return is_field(u, of) ? 0 : of->alone;
  default:
    return of->alone;
  }
}

uint32_t tj_usage_cost(const tj_usage *u) {
  uint32_t cost = 0;
  for (uint32_t i = 0; i < u->count; i++) {
    if (u->of[i].uses > 0)
      cost += u->of[i].width * cost_of_node(u, i) + u->of[i].beyond;
  }
  tj_spend(u->graph->job, u->count);
  return cost;
}

/* --- another expression --- */

tj_usage tj_usage_room(const tj_usage *usage) {
  tj_job *job = usage->graph->job;
  tj_usage room = *usage;
  room.of = TJ_RAW_ARRAY(job, tj_used_node, usage->count + MOST_NEW);
  room.quotient = TJ_RAW_ARRAY(job, uint32_t, usage->count + MOST_NEW);
  return room;
}

/* The position of a node that is there, or comes with its operands; TJ_NO_POSITION where those are too many. */
static uint32_t position_with(tj_usage *u, const tj_node *node) {
  const uint32_t known = position_of(u, node);
  uint32_t argument[3];
  if (known != TJ_NO_POSITION)
    return known;
  for (unsigned k = 0; k < tj_op_arity(node->op); k++) {
    argument[k] = position_with(u, node->arg[k]);
    if (argument[k] == TJ_NO_POSITION)
      return TJ_NO_POSITION;
  }
  if (u->count == u->walk.count + MOST_NEW)
    return TJ_NO_POSITION;
  u->of[u->count] = unused(node);
  u->of[u->count].quotient = quotient_beside(u->graph, node);
  use_arguments(u, u->count, argument);
  return u->count++;
}

/* Has a node that nobody needs use its operands no longer. */
static void drop(tj_usage *u, uint32_t position) {
  const tj_used_node *of = &u->of[position];
  for (unsigned k = 0; k < tj_op_arity(of->node->op); k++) {
    tj_used_node *argument = &u->of[of->argument[k]];
    argument->sum_uses -= of->node->op == TJ_OP_ADD;
    if (--argument->uses == 0)
      drop(u, of->argument[k]);
  }
}

uint32_t tj_usage_cost_with(const tj_usage *usage, tj_usage *room, uint32_t position, const tj_node *after) {
  memcpy(room->of, usage->of, usage->count * sizeof *usage->of);
  memcpy(room->quotient, usage->quotient, usage->quotients * sizeof *usage->quotient);
  room->count = usage->count;
  room->quotients = usage->quotients;
  const uint32_t place = position_with(room, after);
  if (place == TJ_NO_POSITION)
    return UINT32_MAX;
  room->of[place].uses += room->of[position].uses;
  room->of[place].sum_uses += room->of[position].sum_uses;
  room->of[position].uses = room->of[position].sum_uses = 0;
  drop(room, position);
  return tj_usage_cost(room);
}
