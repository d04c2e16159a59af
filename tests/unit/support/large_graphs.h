/* SPDX-License-Identifier: MIT */
/* Expressions of any number of nodes, each as hard on some part of the simplifier as expressions are: for the test
 * that work is bounded, and for the benchmark. */
#ifndef TJ_TESTS_LARGE_GRAPHS_H
#define TJ_TESTS_LARGE_GRAPHS_H

#include "ir/index/graph.h"

typedef struct {
  tj_graph *graph;
  uint64_t state; /* of random numbers */
  uint32_t least; /* nodes that the graph is to have */
  const tj_node **root;
  size_t root_count;
} large_graph;

static inline uint32_t large_random(large_graph *of, uint32_t count) {
  of->state = of->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(of->state >> 33) % count;
}

static inline const tj_node *large_random_int(large_graph *of, uint32_t least, uint32_t count) {
  return tj_int(of->graph, (int64_t)least + large_random(of, count));
}

static inline bool is_growing(const large_graph *of) {
  return of->graph->node_count < of->least;
}

static inline void add_large_root(large_graph *to, const tj_node *root) {
  to->root[to->root_count++] = root;
}

/* Coordinates of extents from one up: extent, extent + 1, … */
static inline void make_coordinates(large_graph *of, const tj_node *symbol[], uint32_t count, int64_t extent) {
  for (uint32_t i = 0; i < count; i++)
    symbol[i] = tj_coordinate(of->graph, "i", tj_int(of->graph, extent + i));
}

/* Coordinates of their own extents, merged and taken apart. */
static inline void make_layouts(large_graph *of) {
  tj_graph *graph = of->graph;
  while (is_growing(of)) {
    const tj_node *outer = large_random_int(of, 2, 30), *inner = large_random_int(of, 2, 30);
    const tj_node *i = tj_coordinate(graph, "i", outer), *j = tj_coordinate(graph, "j", inner);
    const tj_node *merged = tj_add(graph, tj_mul(graph, i, inner), j), *by = large_random_int(of, 2, 30);
    const tj_node *high = tj_div(graph, merged, by), *low = tj_mod(graph, merged, by);
    add_large_root(of, tj_add(graph, tj_mul(graph, high, by), low));
    add_large_root(of, tj_add(graph, tj_mul(graph, tj_div(graph, merged, inner), inner), tj_mod(graph, low, inner)));
  }
}

static inline const tj_node *random_large_operation(large_graph *of, const tj_node *base, const tj_node *a,
                                                    const tj_node *b) {
  tj_graph *graph = of->graph;
  const tj_node *by = large_random_int(of, 2, 62);
  switch (large_random(of, 7)) {
  case 0:
  case 1:
    return tj_add(graph, tj_div(graph, a, by), tj_mul(graph, base, by));
  case 2:
  case 3:
    return tj_mod(graph, a, by);
  case 4:
    return tj_min(graph, a, b);
  case 5:
    return tj_select(graph, tj_less(graph, a, by), a, b);
  default:
    return tj_add(graph, tj_mod(graph, a, tj_int(graph, 1 << 20)), tj_mod(graph, b, by));
  }
}

/* Random operations on what was made lately; all of it stays in use. */
static inline void make_random(large_graph *of) {
  enum { RECENT = 16 };
  tj_graph *graph = of->graph;
  const tj_node *base[RECENT], *recent[RECENT], *all = tj_int(graph, 0);
  for (int i = 0; i < RECENT; i++)
    base[i] = recent[i] = tj_coordinate(graph, "i", tj_int(graph, 1000 + (int64_t)i * 77));
  while (is_growing(of)) {
    const uint32_t at = large_random(of, RECENT);
    const tj_node *made =
        random_large_operation(of, base[large_random(of, RECENT)], recent[at], recent[large_random(of, RECENT)]);
    all = tj_add(graph, all, tj_mod(graph, recent[at], tj_int(graph, 7)));
    recent[at] = made;
  }
  add_large_root(of, all);
}

/* A quotient and remainder of each other, thousands deep. */
static inline void make_deep(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *node = tj_coordinate(graph, "i", tj_int(graph, INT64_C(1) << 40));
  const tj_node *j = tj_coordinate(graph, "j", tj_int(graph, 12));
  for (int64_t i = 0; is_growing(of); i++) {
    const tj_node *sum = tj_add(graph, tj_mul(graph, node, tj_int(graph, 3 + i % 5)), j);
    node = tj_mod(graph, tj_div(graph, sum, tj_int(graph, 2 + i % 3)), tj_int(graph, (INT64_C(1) << 40) + i));
  }
  add_large_root(of, node);
}

/* One sum of thousands of terms. */
static inline void make_wide_sum(large_graph *of) {
  const tj_node *sum = tj_int(of->graph, 0);
  while (is_growing(of))
    sum = tj_add(of->graph, sum, tj_coordinate(of->graph, "i", large_random_int(of, 100, 1000)));
  add_large_root(of, sum);
}

/* One sum of thousands of products of the same factors. */
static inline void make_products(large_graph *of) {
  const tj_node *factor[64], *sum = tj_int(of->graph, 0);
  make_coordinates(of, factor, 64, 100);
  while (is_growing(of))
    sum = tj_add(of->graph, sum, tj_mul(of->graph, factor[large_random(of, 64)], factor[large_random(of, 64)]));
  add_large_root(of, sum);
}

/* One sum of many terms by thousands of divisors. */
static inline void make_one_dividend(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *symbol[24], *dividend = tj_int(graph, 0), *all = dividend;
  make_coordinates(of, symbol, 24, 100);
  for (int i = 0; i < 24; i++)
    dividend = tj_add(graph, dividend, tj_mul(graph, symbol[i], large_random_int(of, 1, 200)));
  while (is_growing(of))
    all = tj_add(graph, tj_mod(graph, dividend, large_random_int(of, 2, 4000)),
                 tj_mod(graph, all, tj_int(graph, 100000)));
  add_large_root(of, all);
}

/* Digits of symbolic extents, merged and taken apart by other extents than theirs, over and over. */
static inline void make_symbolic_digits(large_graph *of) {
  enum { DIGITS = 8 };
  tj_graph *graph = of->graph;
  const tj_node *extent[DIGITS], *digit[DIGITS], *all = tj_int(graph, 0);
  for (int i = 0; i < DIGITS; i++) {
    extent[i] = tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, tj_int(graph, 1), tj_int(graph, 4096), 1);
    digit[i] = tj_coordinate(graph, "j", extent[i]);
  }
  while (is_growing(of)) {
    const uint32_t a = large_random(of, DIGITS), b = large_random(of, DIGITS), c = large_random(of, DIGITS);
    const tj_node *merged = tj_add(graph, tj_mul(graph, digit[a], extent[b]), digit[b]);
    merged = tj_add(graph, tj_mul(graph, merged, extent[c]), digit[c]);
    const tj_node *high = tj_div(graph, merged, tj_mul(graph, extent[c], extent[large_random(of, DIGITS)]));
    const tj_node *low = tj_mod(graph, merged, extent[large_random(of, DIGITS)]);
    all = tj_add(graph, all, tj_add(graph, tj_mul(graph, high, extent[b]), low));
    digit[a] = tj_mod(graph, all, extent[a]);
  }
  add_large_root(of, all);
}

/* Minima and maxima of each other and of their sums, none of which is known to be the less. */
static inline void make_extremes(large_graph *of) {
  enum { LANES = 16 };
  tj_graph *graph = of->graph;
  const tj_node *lane[LANES];
  make_coordinates(of, lane, LANES, 1000);
  while (is_growing(of)) {
    const uint32_t a = large_random(of, LANES), b = large_random(of, LANES);
    const tj_node *low = tj_min(graph, lane[a], lane[b]), *high = tj_max(graph, lane[a], lane[b]);
    const tj_node *sum = tj_add(graph, high, low);
    lane[a] = low;
    lane[b] = sum->facts.high > 1000000 ? tj_mod(graph, sum, tj_int(graph, 1000)) : sum;
  }
  add_large_root(of, lane[3]);
}

/* Each node a half of the one before and a remainder of the last two: as trees they double. */
static inline void make_doubling(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *a = tj_coordinate(graph, "i", tj_int(graph, 1000)),
                *b = tj_coordinate(graph, "j", tj_int(graph, 1000));
  while (is_growing(of)) {
    const tj_node *next =
        tj_add(graph, tj_mod(graph, tj_add(graph, a, b), tj_int(graph, 1000)), tj_div(graph, a, tj_int(graph, 2)));
    a = b;
    b = next;
  }
  add_large_root(of, b);
}

/* A mixed-radix number of thousands of digits, cut off again and again. */
static inline void make_horner(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *number = tj_coordinate(graph, "i", tj_int(graph, 8));
  while (is_growing(of)) {
    const tj_node *next =
        tj_add(graph, tj_mul(graph, number, tj_int(graph, 8)), tj_coordinate(graph, "i", tj_int(graph, 8)));
    number = tj_mod(graph, next, tj_int(graph, INT64_C(1) << 50));
  }
  add_large_root(of, number);
}

/* Quotients of choices, of which one alternative could be divided. */
static inline void make_choices(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *node = tj_coordinate(graph, "i", tj_int(graph, 100000)), *four = tj_int(graph, 4);
  for (int64_t i = 0; is_growing(of); i++) {
    const tj_node *j = tj_coordinate(graph, "j", tj_int(graph, 64));
    const tj_node *condition = tj_less(graph, j, tj_int(graph, i % 60));
    node = tj_div(graph, tj_select(graph, condition, tj_add(graph, tj_mul(graph, node, four), j), node), four);
  }
  add_large_root(of, node);
}

/* Exclusive ors of the last three, as of a shift register. */
static inline void make_exclusive_ors(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *last[3];
  make_coordinates(of, last, 3, 4096);
  while (is_growing(of)) {
    const tj_node *next = tj_xor(graph, tj_xor(graph, last[0], last[1]), tj_shr(graph, last[2], tj_int(graph, 1)));
    last[0] = last[1];
    last[1] = last[2];
    last[2] = next;
  }
  add_large_root(of, last[2]);
}

/* Conjunctions and disjunctions of comparisons of the same few symbols. */
static inline void make_predicates(large_graph *of) {
  tj_graph *graph = of->graph;
  const tj_node *symbol[30], *truth = tj_int(graph, 0);
  make_coordinates(of, symbol, 30, 1000);
  while (is_growing(of)) {
    const tj_node *less = tj_less(graph, symbol[large_random(of, 30)], symbol[large_random(of, 30)]);
    truth = large_random(of, 2) == 0 ? tj_or(graph, truth, less) : tj_and(graph, truth, less);
  }
  add_large_root(of, truth);
}

/* What there is, and the most work for each node of 10,000 (tj_graph.work) that simplifying it may take. */
static const struct {
  const char *name;
  void (*make)(large_graph *of);
  uint32_t work_per_node;
} large_graphs[] = {
    {"layouts", make_layouts, 40},
    {"random", make_random, 90},
    {"deep", make_deep, 60},
    {"wide_sum", make_wide_sum, 60},
    {"products", make_products, 50},
    {"one_dividend", make_one_dividend, 330},
    {"symbolic_digits", make_symbolic_digits, 200},
    {"extremes", make_extremes, 400},
    {"doubling", make_doubling, 400},
    {"horner", make_horner, 380},
    {"choices", make_choices, 240},
    {"exclusive_ors", make_exclusive_ors, 60},
    {"predicates", make_predicates, 70},
};

enum { LARGE_GRAPHS = sizeof large_graphs / sizeof *large_graphs };

/* Makes one of them in a new graph. */
static inline large_graph make_large_graph(tj_job *job, size_t which, uint32_t nodes) {
  large_graph made = {tj_graph_create(job), 2, nodes, TJ_NEW_ARRAY(job, const tj_node *, nodes), 0};
  large_graphs[which].make(&made);
  return made;
}

#endif
