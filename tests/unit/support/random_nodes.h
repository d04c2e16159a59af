/* SPDX-License-Identifier: MIT */
/* Random index expressions whose every value is defined and fits in 64 bits, with the edges of integer ranges among
 * their constants and parameters. */
#ifndef TJ_TESTS_RANDOM_NODES_H
#define TJ_TESTS_RANDOM_NODES_H

#include "ir/index/facts.h"
#include "ir/index/graph.h"
#include "tests/unit/support/random_source.h"

/* An integer in low … high, often one of the bounds or next to one. */
static inline int64_t random_in_range(random_source *source, int64_t low, int64_t high) {
  int64_t value = random_between(source, low, high);
  int64_t edges[] = {low, high, low < high ? low + 1 : low, low < high ? high - 1 : high, value, value};
  return edges[random_below(source, sizeof edges / sizeof edges[0])];
}

static inline int64_t random_constant(random_source *source) {
  static const int64_t edges[] = {
      0,
      1,
      2,
      3,
      4,
      5,
      7,
      8,
      16,
      24,
      63,
      64,
      100,
      255,
      256,
      1000,
      4096,
      65535,
      65536,
      16777215,
      16777216,
      1000003,
      INT32_MAX,
      INT32_MIN,
      UINT32_MAX,
      1ll << 31,
      1ll << 32,
      1ll << 33,
      1ll << 40,
      1ll << 61,
      999999937,
      -1,
      -2,
      -3,
      -7,
      -8,
      -24,
      -65536,
      -16777216,
      -(1ll << 32),
      -(1ll << 40),
      4294967291,
      -4294967297,
      2147483629,
      3000000019,
  };
  return random_below(source, 3) == 0 ? random_between(source, -40, 200)
                                      : edges[random_below(source, sizeof edges / sizeof edges[0])];
}

enum { RANDOM_POOL = 40 };

/* Nodes to build on. */
typedef struct {
  random_source *source;
  tj_graph *graph;
  const tj_node *node[RANDOM_POOL];
  uint32_t count;
} random_pool;

static inline const tj_node *random_operand(random_pool *pool) {
  if (random_below(pool->source, 4) == 0)
    return tj_int(pool->graph, random_constant(pool->source));
  return pool->node[random_below(pool->source, pool->count)];
}

static inline const tj_node *nonnegative(random_pool *pool, const tj_node *node) {
  return node->facts.low >= 0 ? node : tj_max(pool->graph, node, tj_int(pool->graph, 0));
}

/* Whether a + b, a * b, a << b surely fits, so that the constructor may be asked for it. */
static inline bool fits(tj_op op, const tj_node *a, const tj_node *b) {
  const tj_facts *args[] = {&a->facts, &b->facts};
  tj_facts facts = tj_facts_of_operation(op, args);
  return tj_facts_bounded(&facts);
}

/* 2 * node + 1, which may have either sign but is never 0; 3 where that would not fit. */
static inline const tj_node *odd_of(random_pool *pool, const tj_node *node) {
  const tj_node *one = tj_int(pool->graph, 1), *two = tj_int(pool->graph, 2);
  if (!fits(TJ_OP_MUL, node, two) || !fits(TJ_OP_ADD, tj_mul(pool->graph, node, two), one))
    return tj_int(pool->graph, 3);
  return tj_add(pool->graph, tj_mul(pool->graph, node, two), one);
}

/* A divisor that is never 0: often positive, sometimes negative, sometimes of unknown sign. */
static inline const tj_node *nonzero(random_pool *pool, const tj_node *node) {
  if (tj_facts_nonzero(&node->facts))
    return node;
  switch (random_below(pool->source, 4)) {
  case 0:
    return tj_min(pool->graph, node, tj_int(pool->graph, -1));
  case 1:
    return odd_of(pool, node);
  default:
    return tj_max(pool->graph, node, tj_int(pool->graph, 1));
  }
}

static inline const tj_node *shift_amount(random_pool *pool, const tj_node *node) {
  int64_t most = random_below(pool->source, 2) == 0 ? 5 : random_between(pool->source, 0, 62);
  return tj_min(pool->graph, nonnegative(pool, node), tj_int(pool->graph, most));
}

static inline const tj_node *random_truth(random_pool *pool) {
  const tj_node *a = random_operand(pool), *b = random_operand(pool);
  switch (random_below(pool->source, 3)) {
  case 0:
    return tj_equal(pool->graph, a, b);
  case 1:
    return tj_less_equal(pool->graph, nonnegative(pool, tj_min(pool->graph, a, tj_int(pool->graph, 1 << 30))), b);
  default:
    return tj_less(pool->graph, a, b);
  }
}

static inline const tj_node *random_operation(random_pool *pool) {
  tj_graph *graph = pool->graph;
  const tj_node *a = random_operand(pool), *b = random_operand(pool);
  switch (random_below(pool->source, 17)) {
  case 0:
  case 1:
    return fits(TJ_OP_ADD, a, b) ? tj_add(graph, a, b) : a;
  case 2:
  case 3:
    return fits(TJ_OP_MUL, a, b) ? tj_mul(graph, a, b) : b;
  case 4:
  case 5:
    b = nonzero(pool, b);
    return fits(TJ_OP_DIV, a, b) ? tj_div(graph, a, b) : b;
  case 6:
  case 7:
    return tj_mod(graph, a, nonzero(pool, b));
  case 8:
    return tj_min(graph, a, b);
  case 9:
    return tj_max(graph, a, b);
  case 10:
    return tj_and(graph, nonnegative(pool, a), nonnegative(pool, b));
  case 11:
    return tj_or(graph, nonnegative(pool, a), nonnegative(pool, b));
  case 12:
    return tj_xor(graph, nonnegative(pool, a), nonnegative(pool, b));
  case 13:
    b = shift_amount(pool, b);
    return fits(TJ_OP_SHL, a, b) ? tj_shl(graph, a, b) : a;
  case 14:
    return tj_shr(graph, a, shift_amount(pool, b));
  case 15:
    return random_truth(pool);
  default:
    return tj_select(graph, random_truth(pool), a, b);
  }
}

/* An expression of `steps` random operations on the pool's nodes, which grows by them; pool->count must be >= 1. */
static inline const tj_node *random_expression(random_pool *pool, uint32_t steps) {
  const tj_node *node = pool->node[0];
  for (uint32_t i = 0; i < steps; i++) {
    node = random_operation(pool);
    if (pool->count < RANDOM_POOL)
      pool->node[pool->count++] = node;
    else
      pool->node[RANDOM_POOL / 2 + random_below(pool->source, RANDOM_POOL / 2)] = node;
  }
  return node;
}

#endif
