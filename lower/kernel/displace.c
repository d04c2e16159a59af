/* SPDX-License-Identifier: MIT */
/* Constants come out of sums, and of disjoint bits, also through an xor that leaves them alone. */
#include "lower/kernel/displace.h"

#include "ir/index/facts.h"

enum { MOST_LEVELS = 8 };

static tj_displaced take_out(tj_graph *graph, const tj_node *node, unsigned levels);

/* The bits that may be set. */
static uint64_t bits_of(const tj_node *node) {
  return ~node->facts.zeros;
}

static bool is_sum(const tj_node *node) {
  if (node->op == TJ_OP_ADD)
    return true;
  return node->op == TJ_OP_OR && (bits_of(node->arg[0]) & bits_of(node->arg[1])) == 0;
}

static const tj_node *sum_of(tj_graph *graph, const tj_node *like, const tj_node *a, const tj_node *b) {
  if (tj_is_int(a, 0) || tj_is_int(b, 0))
    return tj_is_int(a, 0) ? b : a;
  return like->op == TJ_OP_ADD ? tj_add(graph, a, b) : tj_or(graph, a, b);
}

static tj_displaced out_of_sum(tj_graph *graph, const tj_node *node, unsigned levels) {
  tj_displaced a = take_out(graph, node->arg[0], levels - 1), b = take_out(graph, node->arg[1], levels - 1);
  return (tj_displaced){sum_of(graph, node, a.rest, b.rest), a.displacement + b.displacement};
}

/* (rest + c) ^ other = (rest ^ other) + c, where the bits of c are in neither. */
static tj_displaced out_of_xor(tj_graph *graph, const tj_node *node, unsigned levels) {
  for (unsigned i = 0; i < 2; i++) {
    const tj_node *other = node->arg[1 - i];
    tj_displaced inner = take_out(graph, node->arg[i], levels - 1);
    uint64_t constant = (uint64_t)inner.displacement;
    if (constant != 0 && (constant & (bits_of(inner.rest) | bits_of(other))) == 0)
      return (tj_displaced){tj_xor(graph, inner.rest, other), inner.displacement};
  }
  return (tj_displaced){node, 0};
}

static tj_displaced take_out(tj_graph *graph, const tj_node *node, unsigned levels) {
  tj_displaced whole = {node, 0};
  if (tj_is_constant(node) && node->value >= 0)
    return (tj_displaced){tj_int(graph, 0), node->value};
  if (levels == 0 || node->facts.low < 0)
    return whole;
  tj_displaced parts = is_sum(node)            ? out_of_sum(graph, node, levels)
                       : node->op == TJ_OP_XOR ? out_of_xor(graph, node, levels)
                                               : whole;
  return tj_facts_nonnegative(&parts.rest->facts) ? parts : whole;
}

tj_displaced tj_displace(tj_graph *graph, const tj_node *offset) {
  return take_out(graph, offset, MOST_LEVELS);
}
