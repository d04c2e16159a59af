/* SPDX-License-Identifier: MIT */
/* Widths, from the intervals among the facts of nodes. */
#include "lower/machine/width.h"

#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"

#include <inttypes.h>

tj_width tj_width_of_range(int64_t low, int64_t high) {
  bool is_signed_32 = low >= INT32_MIN && high <= INT32_MAX;
  bool is_unsigned_32 = low >= 0 && high <= UINT32_MAX;
  if (is_signed_32 || is_unsigned_32)
    return (tj_width){32, is_signed_32, is_unsigned_32};
  return (tj_width){64, true, low >= 0};
}

typedef struct {
  int64_t low, high;
} range;

static range range_with(range all, const tj_node *node) {
  all.low = node->facts.low < all.low ? node->facts.low : all.low;
  all.high = node->facts.high > all.high ? node->facts.high : all.high;
  return all;
}

tj_width tj_width_of(const tj_node *const nodes[], size_t count) {
  range all = {INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < count; i++)
    all = range_with(all, nodes[i]);
  return tj_width_of_range(all.low, all.high);
}

static tj_width width_of_shift(const tj_node *node) {
  const tj_node *shifted[] = {node, node->arg[0]};
  tj_width width = tj_width_of(shifted, 2);
  if (node->arg[1]->facts.high >= 32)
    width = (tj_width){64, true, width.is_unsigned};
  return width;
}

tj_width tj_width_of_operation(const tj_node *node) {
  switch (node->op) {
  case TJ_OP_LESS:
  case TJ_OP_EQUAL:
    return tj_width_of(node->arg, 2);
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return width_of_shift(node);
  default:
    break;
  }
  range all = {node->facts.low, node->facts.high};
  for (unsigned i = node->op == TJ_OP_SELECT ? 1 : 0; i < tj_op_arity(node->op); i++)
    all = range_with(all, node->arg[i]);
  return tj_width_of_range(all.low, all.high);
}

/* --- expressions that may not fit --- */

/* Whether the operation may take arguments that fit in 64 bits to a value that does not. */
static bool may_grow(const tj_node *node) {
  switch (node->op) {
  case TJ_OP_ADD:
  case TJ_OP_MUL:
  case TJ_OP_SHL:
    return true;
  case TJ_OP_DIV:
    return node->arg[1]->facts.low < 0;
  default:
    return false;
  }
}

static bool is_unbounded_parameter(const tj_node *node) {
  return node->op == TJ_OP_SYMBOL && node->symbol->kind == TJ_SYMBOL_PARAMETER && !tj_facts_bounded(&node->facts);
}

static const tj_node *unbounded_parameter_among(const tj_walk *walk) {
  for (uint32_t i = 0; i < walk->count; i++) {
    if (is_unbounded_parameter(walk->node[i]))
      return walk->node[i];
  }
  return NULL;
}

/* A parameter without bounds that the node depends on, directly or through the bounds of its coordinates; or NULL. */
static const tj_node *unbounded_parameter(tj_graph *graph, const tj_node *node) {
  tj_walk walk = tj_walk_nodes(graph, &node, 1);
  const tj_node *found = unbounded_parameter_among(&walk);
  for (uint32_t i = 0; found == NULL && i < walk.count; i++) {
    if (walk.node[i]->op != TJ_OP_SYMBOL || walk.node[i]->symbol->high == NULL)
      continue;
    tj_walk bound = tj_walk_nodes(graph, &walk.node[i]->symbol->high, 1);
    found = unbounded_parameter_among(&bound);
  }
  return found;
}

/* The largest magnitude that the operation gives, whose arguments fit in 64 bits. */
static unsigned __int128 largest_magnitude(const tj_node *node) {
  const tj_facts *a = &node->arg[0]->facts, *b = &node->arg[1]->facts;
  unsigned __int128 largest = 0;
  for (int corner = 0; corner < 4; corner++) {
    __int128 left = corner & 1 ? a->high : a->low, right = corner & 2 ? b->high : b->low, value = left;
    if (node->op == TJ_OP_ADD)
      value = left + right;
    else if (node->op == TJ_OP_MUL)
      value = left * right;
    else if (node->op == TJ_OP_SHL && right >= 0 && right < 63)
      value = left * ((__int128)1 << right);
    unsigned __int128 magnitude = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

static const char *decimal(tj_job *job, unsigned __int128 value) {
  const uint64_t chunk = UINT64_C(1000000000000000000);
  if (value < chunk)
    return tj_string_format(job, "%" PRIu64, (uint64_t)value);
  return tj_string_format(job, "%s%018" PRIu64, decimal(job, value / chunk), (uint64_t)(value % chunk));
}

/* A step whose arguments are bounded. */
static _Noreturn void fail_size(tj_graph *graph, const tj_node *node, const char *text) {
  tj_note(graph->job, "give the parameters smaller ranges: 64 bits hold up to %" PRId64, INT64_MAX);
  tj_fail(graph->job, TJ_WIDTH, "%s may not fit in 64 bits: it may be as large as %s%s", text,
          decimal(graph->job, largest_magnitude(node)), tj_describe_known(graph, node->arg[0], node->arg[1]));
}

static _Noreturn void fail_width(tj_graph *graph, const tj_node *node) {
  const tj_node *parameter = unbounded_parameter(graph, node);
  const char *text = tj_node_brief(graph->job, node);
  if (parameter == NULL)
    fail_size(graph, node, text);
  const char *name = parameter->symbol->name;
  tj_note(graph->job, "give %s a range, as in param %s in 1..65536", name, name);
  tj_fail(graph->job, TJ_WIDTH, "%s may not fit in 64 bits: parameter %s has no bounds", text, name);
}

/* The first node that may not fit; NULL: all do. */
static const tj_node *too_wide(tj_graph *graph, const tj_node *const roots[], size_t count) {
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  tj_spend(graph->job, walk.count);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (may_grow(walk.node[i]) && !tj_facts_bounded(&walk.node[i]->facts))
      return walk.node[i];
  }
  return NULL;
}

bool tj_widths_fit(tj_graph *graph, const tj_node *const roots[], size_t count) {
  return too_wide(graph, roots, count) == NULL;
}

void tj_check_widths(tj_graph *graph, const tj_node *const roots[], size_t count) {
  const tj_node *node = too_wide(graph, roots, count);
  if (node != NULL)
    fail_width(graph, node);
}

unsigned tj_magic_bits(const tj_node *division) {
  const tj_facts *dividend = &division->arg[0]->facts, *divisor = &division->arg[1]->facts;
  if (divisor->low < 1)
    return 0;
  if (tj_width_of_operation(division).bits == 64)
    return 64;
  return dividend->high <= INT32_MAX && divisor->high <= (int64_t)1 << 31 ? 31 : 32;
}
