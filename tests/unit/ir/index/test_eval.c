/* SPDX-License-Identifier: MIT */
/* The evaluator: operations by their definitions, statuses, sharing, depth, lanes. */
#include "tests/unit/support/index_support.h"

/* Every operation on small integers against its definition in plain words. */
static int64_t floored(int64_t a, int64_t b) {
  int64_t quotient = 0;
  const int64_t size = b < 0 ? -b : b, value = b < 0 ? -a : a;
  while ((quotient + 1) * size <= value)
    quotient++;
  while (quotient * size > value)
    quotient--;
  return quotient;
}

START_TEST(division) {
  for (int64_t a = -20; a <= 20; a++)
    for (int64_t b = -7; b <= 7; b++) {
      const int64_t args[2] = {a, b};
      int64_t quotient, remainder;
      const tj_eval_status status = b == 0 ? TJ_EVAL_DIVISION_BY_ZERO : TJ_EVAL_OK;
      ck_assert_int_eq(tj_eval_operation(TJ_OP_DIV, args, &quotient), status);
      ck_assert_int_eq(tj_eval_operation(TJ_OP_MOD, args, &remainder), status);
      if (b == 0)
        continue;
      ck_assert_int_eq(quotient, floored(a, b));
      ck_assert_int_eq(remainder, a - b * floored(a, b));
    }
}
END_TEST

typedef struct {
  tj_op op;
  int64_t args[3];
  tj_eval_status status;
  int64_t value;
} operation_row;

START_TEST(operations) {
  static const operation_row rows[] = {
      {TJ_OP_ADD, {INT64_MAX, 0, 0}, TJ_EVAL_OK, INT64_MAX},
      {TJ_OP_ADD, {INT64_MAX, 1, 0}, TJ_EVAL_OVERFLOW, 0},
      {TJ_OP_MUL, {INT64_MIN, 1, 0}, TJ_EVAL_OK, INT64_MIN},
      {TJ_OP_MUL, {INT64_MIN, -1, 0}, TJ_EVAL_OVERFLOW, 0},
      {TJ_OP_DIV, {INT64_MIN, -1, 0}, TJ_EVAL_OVERFLOW, 0},
      {TJ_OP_DIV, {INT64_MIN, 1, 0}, TJ_EVAL_OK, INT64_MIN},
      {TJ_OP_MOD, {INT64_MIN, -1, 0}, TJ_EVAL_OK, 0},
      {TJ_OP_MIN, {-3, 2, 0}, TJ_EVAL_OK, -3},
      {TJ_OP_MAX, {-3, 2, 0}, TJ_EVAL_OK, 2},
      {TJ_OP_AND, {12, 10, 0}, TJ_EVAL_OK, 8},
      {TJ_OP_OR, {12, 10, 0}, TJ_EVAL_OK, 14},
      {TJ_OP_XOR, {12, 10, 0}, TJ_EVAL_OK, 6},
      {TJ_OP_XOR, {-12, 10, 0}, TJ_EVAL_DIVISION_BY_ZERO, 0},
      {TJ_OP_SHL, {-3, 2, 0}, TJ_EVAL_OK, -12},
      {TJ_OP_SHL, {1, 63, 0}, TJ_EVAL_DIVISION_BY_ZERO, 0},
      {TJ_OP_SHL, {2, 62, 0}, TJ_EVAL_OVERFLOW, 0},
      {TJ_OP_SHR, {-3, 1, 0}, TJ_EVAL_OK, -2},
      {TJ_OP_SHR, {7, 62, 0}, TJ_EVAL_OK, 0},
      {TJ_OP_LESS, {2, 3, 0}, TJ_EVAL_OK, 1},
      {TJ_OP_LESS, {3, 3, 0}, TJ_EVAL_OK, 0},
      {TJ_OP_EQUAL, {3, 3, 0}, TJ_EVAL_OK, 1},
      {TJ_OP_SELECT, {1, 5, 6}, TJ_EVAL_OK, 5},
      {TJ_OP_SELECT, {0, 5, 6}, TJ_EVAL_OK, 6},
      {TJ_OP_SELECT, {2, 5, 6}, TJ_EVAL_DIVISION_BY_ZERO, 0},
      {TJ_OP_SYMBOL, {0, 0, 0}, TJ_EVAL_UNBOUND, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t value = 0;
    ck_assert_int_eq(tj_eval_operation(rows[i].op, rows[i].args, &value), rows[i].status);
    if (rows[i].status == TJ_EVAL_OK)
      ck_assert_int_eq(value, rows[i].value);
  }
}
END_TEST

static void several_roots(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node **roots;
  const size_t count =
      read_roots(graph, "param M in 1..9; coordinate i in 0..M - 1; root i*M + 3 root i root 7", &roots);
  const int64_t values[2] = {5, 4};
  const bool bound[2] = {true, true}, unbound[2] = {true, false};
  int64_t results[3];
  ck_assert_int_eq(tj_eval_nodes(roots, count, &(tj_bindings){values, bound, 2}, results), TJ_EVAL_OK);
  ck_assert_int_eq(results[0], 23);
  ck_assert_int_eq(results[1], 4);
  ck_assert_int_eq(results[2], 7);
  ck_assert_int_eq(tj_eval_nodes(roots, count, &(tj_bindings){values, unbound, 2}, results), TJ_EVAL_UNBOUND);
  ck_assert_int_eq(tj_eval_nodes(roots, count, &(tj_bindings){values, NULL, 1}, results), TJ_EVAL_UNBOUND);
  ck_assert_int_eq(tj_eval_nodes(roots, 0, &(tj_bindings){values, NULL, 0}, results), TJ_EVAL_OK);
}

/* 2^60 paths through 60 nodes, and a chain as deep as a graph may be: both are one loop. */
static void shared_and_deep(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *shared = tj_coordinate(graph, "i", tj_int(graph, 9)), *deep = shared;
  for (int i = 0; i < 60; i++)
    shared = tj_add(graph, shared, shared);
  for (int i = 0; i < TJ_MAX_NODE_DEPTH; i++)
    deep = tj_max(graph, deep, tj_int(graph, i));
  const tj_node *roots[2] = {shared, deep};
  const int64_t value = 7;
  int64_t results[2];
  ck_assert_int_eq(tj_eval_nodes(roots, 2, &(tj_bindings){&value, NULL, 1}, results), TJ_EVAL_OK);
  ck_assert_int_eq(results[0], INT64_C(7) << 60);
  ck_assert_int_eq(results[1], TJ_MAX_NODE_DEPTH - 1);
}

static void overflow(tj_job *job, void *data) {
  (void)data;
  tj_fail_eval(job, TJ_EVAL_OVERFLOW);
}

static void zero(tj_job *job, void *data) {
  (void)data;
  tj_fail_eval(job, TJ_EVAL_DIVISION_BY_ZERO);
}

static void unbound_symbol(tj_job *job, void *data) {
  (void)data;
  tj_fail_eval(job, TJ_EVAL_UNBOUND);
}

#define INTEGERS "param x in -9..9; param y in 1..9; "
#define NATURALS "param x in 0..9; param y in 1..9; "

/* Roots at many values of x, y the same for all lanes: each lane is as an evaluation by itself. */
static const struct {
  const char *root;
  int64_t from, step; /* of x, by lane */
  tj_eval_status status;
} lane_rows[] = {
    {INTEGERS "root x + y*3 root (x - y)*x root x*y", -40, 3, TJ_EVAL_OK},
    {INTEGERS "root x/4 root x%4 root x/y root x%y root (x + y)/7 root (x + y)%7", -40, 1, TJ_EVAL_OK},
    {INTEGERS "root min(x, y) root max(x, y) root x < y root x == y root select(x < y, x, y)", -30, 1, TJ_EVAL_OK},
    {NATURALS "root (x & y) + (x | y) root x ^ y root x >> 2 root x << 3", 0, 5, TJ_EVAL_OK},
    {INTEGERS "root 7 root y root x", 5, 0, TJ_EVAL_OK},
    {INTEGERS "root x + 1", INT64_MAX - 63, 1, TJ_EVAL_OVERFLOW}, /* in the last lane alone */
    {INTEGERS "root x + x", INT64_MIN / 2, -1, TJ_EVAL_OVERFLOW},
    {INTEGERS "root x*y", INT64_MAX / 6 - 32, 1, TJ_EVAL_OVERFLOW},
    {"param x in 1..9; param y in 1..9; root y/x", -63, 1, TJ_EVAL_DIVISION_BY_ZERO},
    {NATURALS "root x & y", 63, -1, TJ_EVAL_OK},
    {NATURALS "root x & y", 62, -1, TJ_EVAL_DIVISION_BY_ZERO},
};

static uint32_t index_of(tj_graph *graph, const tj_node *const roots[], size_t count, const char *name) {
  const tj_walk walk = tj_walk_nodes(graph, roots, count);
  uint32_t i = 0;
  while (i < walk.count && (walk.node[i]->op != TJ_OP_SYMBOL || strcmp(walk.node[i]->symbol->name, name) != 0))
    i++;
  ck_assert_uint_lt(i, walk.count);
  return walk.node[i]->symbol->index;
}

/* Runs one after the other: by how much x goes on in all lanes, y changes, and lanes become fewer or more. */
static const struct {
  int64_t x, y;
  uint32_t lanes;
} lane_runs[] = {{0, 0, 64},  {0, 0, 64}, {12, 0, 64}, {-7, 0, 64}, {6, 0, 32},
                 {84, 0, 32}, {0, 3, 64}, {6, -3, 64}, {0, 1, 32},  {0, 0, 64}};

/* Holds each lane of a run, and how far roots are known to have moved since the run before, against evaluations of
 * single lanes. */
static void check_run(tj_evaluator *evaluator, const tj_node *const roots[], size_t count, const tj_lane_values *x,
                      uint32_t lanes, int64_t value[], int64_t before[][TJ_EVAL_LANES], const char *text) {
  for (size_t i = 0; i < count; i++) {
    int64_t alone, distance;
    const bool is_known = tj_evaluator_moved(evaluator, i, &distance);
    for (uint32_t lane = 0; lane < lanes; lane++) {
      value[x->symbol] = x->value[lane];
      const tj_bindings bindings = {value, NULL, MOST_SYMBOLS};
      ck_assert_int_eq(tj_eval_nodes(&roots[i], 1, &bindings, &alone), TJ_EVAL_OK);
      ck_assert_msg(tj_evaluator_lanes(evaluator, i)[lane] == alone, "root %zu of %s in lane %u", i, text, lane);
      ck_assert_msg(!is_known || alone - before[i][lane] == distance,
                    "root %zu of %s has not moved by %ld in lane %u", i, text, (long)distance, lane);
      before[i][lane] = alone;
    }
  }
}

static void check_lanes(tj_job *job, void *data) {
  (void)data;
  for (size_t r = 0; r < sizeof lane_rows / sizeof *lane_rows; r++) {
    enum { MOST_ROOTS = 6 };
    tj_graph *graph = tj_graph_create(job);
    const tj_node **roots;
    const size_t count = read_roots(graph, lane_rows[r].root, &roots);
    tj_lane_values x = {.symbol = index_of(graph, roots, count, "x")};
    int64_t value[MOST_SYMBOLS], before[MOST_ROOTS][TJ_EVAL_LANES] = {0};
    const tj_bindings bindings = {value, NULL, MOST_SYMBOLS};
    tj_evaluator *evaluator;
    for (int i = 0; i < MOST_SYMBOLS; i++)
      value[i] = 6;
    for (int lane = 0; lane < TJ_EVAL_LANES; lane++)
      x.value[lane] = lane_rows[r].from + lane * lane_rows[r].step;
    ck_assert_int_eq(tj_evaluator_create(roots, count, &evaluator), TJ_EVAL_OK);
    for (size_t n = 0; n < sizeof lane_runs / sizeof *lane_runs; n++) {
      for (int i = 0; i < MOST_SYMBOLS; i++)
        value[i] = i == (int)x.symbol ? 6 : value[i] + lane_runs[n].y;
      for (int lane = 0; lane < TJ_EVAL_LANES && lane_rows[r].status == TJ_EVAL_OK; lane++)
        x.value[lane] += lane_runs[n].x;
      const uint32_t lanes = lane_rows[r].status == TJ_EVAL_OK ? lane_runs[n].lanes : TJ_EVAL_LANES;
      if (lane_rows[r].status != TJ_EVAL_OK && lane_runs[n].y != 0)
        break;
      ck_assert_msg(tj_evaluator_run_lanes(evaluator, &bindings, &x, 1, lanes) == lane_rows[r].status, "%s",
                    lane_rows[r].root);
      if (lane_rows[r].status == TJ_EVAL_OK)
        check_run(evaluator, roots, count, &x, lanes, value, before, lane_rows[r].root);
    }
    tj_evaluator_destroy(evaluator);
  }
}

START_TEST(graphs) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, several_roots, NULL);
  expect_success(&job, shared_and_deep, NULL);
  expect_success(&job, check_lanes, NULL);
  expect_failure(&job, TJ_INTEGER_OVERFLOW, overflow, NULL);
  expect_failure(&job, TJ_DIVISION_BY_ZERO, zero, NULL);
  expect_failure(&job, TJ_MISSING_PARAMETER, unbound_symbol, NULL);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {division, operations, graphs};
  return run_suite(suite_of("eval", tests, sizeof tests / sizeof *tests));
}
