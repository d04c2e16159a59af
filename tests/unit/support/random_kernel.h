/* SPDX-License-Identifier: MIT */
/* Random kernels: several random index expressions in one kernel, and the oracle that says what they store. */
#ifndef TJ_TESTS_RANDOM_KERNEL_H
#define TJ_TESTS_RANDOM_KERNEL_H

#include "tests/unit/support/kernel_support.h"
#include "tests/unit/support/random_nodes.h"

enum { EXPRESSIONS = 8, POINTS = 61, STEPS = 7 };

/* Parameters that kernels have, and what they may be. */
static const struct {
  const char *name;
  int64_t low, high;
} parameters[] = {
    {"A", -7, 100},
    {"B", 1, INT32_MAX},
    {"C", INT32_MIN, (1ll << 32) + 5},
    {"D", 1, 1ll << 45},
};

enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

/* The coordinate, stretched over the 32-bit integers, from `first` on. */
static inline const tj_node *stretched(tj_graph *graph, const tj_node *coordinate, int64_t first) {
  const int64_t step = UINT32_MAX / (POINTS - 1);
  return tj_add(graph, tj_mul(graph, coordinate, tj_int(graph, step)), tj_int(graph, first));
}

/* The parameters and the coordinate: what expressions are built on. */
static inline random_pool make_pool(random_source *source, tj_graph *graph, hand_kernel *made,
                                    const tj_node *coordinate) {
  random_pool pool = {.source = source, .graph = graph, .node = {coordinate}, .count = 1};
  pool.node[pool.count++] = stretched(graph, coordinate, 0);
  pool.node[pool.count++] = stretched(graph, coordinate, INT32_MIN);
  for (uint32_t i = 0; i < PARAMETERS; i++)
    pool.node[pool.count++] = made->parameter[i];
  return pool;
}

/* What random operations come by too rarely: a large dividend, divided by a parameter. */
static inline const tj_node *division_by_parameter(random_source *source, tj_graph *graph, const hand_kernel *made,
                                                   const tj_node *coordinate) {
  const tj_node *dividend = stretched(graph, coordinate, random_below(source, 2) ? 0 : INT32_MIN);
  const tj_node *divisor = made->parameter[random_below(source, 2) ? 1 : 3];
  return random_below(source, 2) ? tj_div(graph, dividend, divisor) : tj_mod(graph, dividend, divisor);
}

/* dst[e * POINTS + p] = expression e at coordinate p: all in one kernel, since compilation is what takes the time. */
static inline hand_kernel *make_random_kernel(random_source *source, tj_graph *graph) {
  hand_kernel *made = make_kernel(graph, tj_int(graph, EXPRESSIONS * POINTS), TJ_DTYPE_i64);
  for (uint32_t i = 0; i < PARAMETERS; i++)
    add_parameter(graph, made, parameters[i].name, tj_int(graph, parameters[i].low),
                  tj_int(graph, parameters[i].high));
  const tj_node *point = tj_mod(graph, made->kernel.index, tj_int(graph, POINTS));
  const tj_node *which = tj_div(graph, made->kernel.index, tj_int(graph, POINTS));
  random_pool pool = make_pool(source, graph, made, point);
  const tj_node *value = tj_int(graph, 0);
  for (uint32_t e = 0; e < EXPRESSIONS; e++) {
    const tj_node *expression =
        e == 0 ? division_by_parameter(source, graph, made, point) : random_expression(&pool, STEPS);
    value = tj_select(graph, tj_equal(graph, which, tj_int(graph, e)), expression, value);
  }
  made->step[0].value = value;
  return made;
}

static inline symbol_values random_values(random_source *source, const tj_kernel *kernel) {
  symbol_values values = {.count = 64};
  for (uint32_t i = 0; i < PARAMETERS; i++)
    values.value[kernel->parameter[i]->symbol->index] =
        random_in_range(source, parameters[i].low, parameters[i].high);
  return values;
}

static inline int64_t value_of(const tj_kernel *kernel, const symbol_values *values, uint32_t parameter) {
  return values->value[kernel->parameter[parameter]->symbol->index];
}

static inline void compare(const tj_kernel *kernel, const int64_t *found, symbol_values values) {
  tj_evaluator *evaluator;
  ck_assert_int_eq(tj_evaluator_create(&kernel->step[0].value, 1, &evaluator), TJ_EVAL_OK);
  for (int64_t n = 0; n < EXPRESSIONS * POINTS; n++) {
    int64_t expected;
    values.value[kernel->index->symbol->index] = n;
    tj_bindings bindings = {.value = values.value, .count = values.count};
    ck_assert_int_eq(tj_evaluator_run(evaluator, &bindings, &expected), TJ_EVAL_OK);
    ck_assert_msg(found[n] == expected, "at %lld: %lld, not %lld, for A=%lld B=%lld C=%lld D=%lld", (long long)n,
                  (long long)found[n], (long long)expected, (long long)value_of(kernel, &values, 0),
                  (long long)value_of(kernel, &values, 1), (long long)value_of(kernel, &values, 2),
                  (long long)value_of(kernel, &values, 3));
  }
  tj_evaluator_destroy(evaluator);
}

#endif
