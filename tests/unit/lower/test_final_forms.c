/* SPDX-License-Identifier: MIT */
/* Cheaper forms of kernels' expressions: random sums of digits keep their values, and come in fewer operations. */
#include "ir/index/eval.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/final_forms.h"
#include "lower/machine/usage.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/random_nodes.h"

enum { CASES = 3000, MOST_DIGITS = 5 };

typedef struct {
  random_source source;
  uint32_t better;
} session;

/* coefficient * digit for the digits of `n` to random bases. */
static const tj_node *digits(random_source *source, tj_graph *graph, const tj_node *n) {
  const tj_node *sum = tj_int(graph, (int64_t)random_below(source, 3)), *rest = n;
  uint64_t count = 2 + random_below(source, MOST_DIGITS - 1);
  for (uint64_t i = 0; i < count; i++) {
    const tj_node *base = tj_int(graph, 2 + (int64_t)random_below(source, 8));
    const tj_node *digit = i + 1 == count ? rest : tj_mod(graph, rest, base);
    const tj_node *coefficient = tj_int(graph, 1 + (int64_t)random_below(source, 40));
    sum = tj_add(graph, sum, tj_mul(graph, digit, coefficient));
    rest = tj_div(graph, rest, base);
  }
  return sum;
}

static const tj_node *random_value(random_source *source, tj_graph *graph, const tj_node *n) {
  const tj_node *sum = digits(source, graph, n);
  if (random_below(source, 2) == 0)
    return sum;
  const tj_node *scaled = tj_mul(graph, sum, tj_int(graph, 1 + (int64_t)random_below(source, 9)));
  const tj_node *mixed = tj_xor(graph, sum, tj_int(graph, 5));
  return tj_xor(graph, tj_add(graph, scaled, n), mixed);
}

static uint32_t operations(tj_graph *graph, const tj_node *root) {
  tj_op_counts counts = tj_count_ops(graph, &root, 1);
  return counts.div + counts.mod + counts.mul + counts.add + counts.bit + counts.select;
}

static void check_case(tj_job *job, void *data) {
  session *run = data;
  tj_graph *graph = tj_graph_create(job);
  const int64_t extent = 1 + (int64_t)random_below(&run->source, 600);
  const tj_node *n = tj_coordinate(graph, "n", tj_int(graph, extent));
  const tj_node *written = random_value(&run->source, graph, n);
  const tj_node *simple = tj_simplified(graph, written), *cheap = simple;
  tj_economize(graph, &cheap, 1);
  run->better += cheap != simple && operations(graph, cheap) < operations(graph, simple);
  const tj_node *both[] = {written, cheap};
  for (int64_t i = 0; i < extent; i++) {
    int64_t values[2];
    ck_assert_int_eq(tj_eval_nodes(both, 2, &(tj_bindings){&i, NULL, 1}, values), TJ_EVAL_OK);
    ck_assert_int_eq(values[0], values[1]);
  }
}

/* Of which some have to become better. */
static void expect_cases(void (*check)(tj_job *job, void *data), uint64_t seed) {
  session run = {.source = random_begin(seed)};
  for (uint32_t i = 0; i < CASES; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check, &run);
    tj_job_destroy(&job);
  }
  ck_assert_uint_gt(run.better, CASES / 20);
}

START_TEST(sums_of_digits) {
  expect_cases(check_case, 5);
}
END_TEST

static const struct {
  const char *what;
  int64_t first, extent, base, low, high; /* low * (y % base) + high * (y / base), y = first + n */
  tj_op_counts most;
} sums[] = {
    {"a remainder goes where its quotient is there", 0, 600, 6, 1, 7, {.div = 1, .add = 1}},
    {"and where that scales", 0, 600, 6, 1, 11, {.div = 1, .mul = 1, .add = 1}},
    {"in a slice, what is divided serves in the sum", 14, 31, 24, 1, 27, {.div = 1, .mul = 1, .add = 2}},
    {"also of a large merge", 252, 3438, 100, 1, 200, {.div = 1, .mul = 1, .add = 2}},
    {"it stays where nothing is gained", 0, 600, 6, 8, 1, {.div = 1, .mod = 1, .mul = 1, .add = 1}},
};

static void check_sum(tj_job *job, void *data) {
  int row = *(const int *)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *n = tj_coordinate(graph, "n", tj_int(graph, sums[row].extent));
  const tj_node *y = tj_add(graph, n, tj_int(graph, sums[row].first));
  const tj_node *base = tj_int(graph, sums[row].base);
  const tj_node *low = tj_mul(graph, tj_mod(graph, y, base), tj_int(graph, sums[row].low));
  const tj_node *high = tj_mul(graph, tj_div(graph, y, base), tj_int(graph, sums[row].high));
  const tj_node *root = tj_simplified(graph, tj_add(graph, low, high));
  tj_economize(graph, &root, 1);
  tj_op_counts found = tj_count_ops(graph, &root, 1), most = sums[row].most;
  ck_assert_msg(found.div == most.div && found.mod == most.mod && found.mul == most.mul && found.add == most.add,
                "%s: %u quotients, %u remainders, %u products, %u sums", sums[row].what, found.div, found.mod,
                found.mul, found.add);
}

START_TEST(chosen_forms) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_sum, &_i);
  tj_job_destroy(&job);
}
END_TEST

/* Three accesses that are constants apart: y % 6 + 7 * (y / 6) is y + y / 6 for all of them, and a sum each for the
 * constants. */
static void check_apart(tj_job *job, void *data) {
  (void)data;
  enum { ROOTS = 3, APART = 30 };
  tj_graph *graph = tj_graph_create(job);
  const tj_node *n = tj_coordinate(graph, "n", tj_int(graph, 600)), *base = tj_int(graph, 6), *root[ROOTS];
  const tj_node *high = tj_mul(graph, tj_div(graph, n, base), tj_int(graph, 7));
  for (int i = 0; i < ROOTS; i++)
    root[i] = tj_simplified(
        graph, tj_add(graph, tj_add(graph, tj_mod(graph, n, base), high), tj_int(graph, (int64_t)i * APART)));
  tj_economize(graph, root, ROOTS);
  tj_op_counts found = tj_count_ops(graph, root, ROOTS);
  ck_assert_uint_eq(found.div, 1);
  ck_assert_uint_eq(found.mod + found.mul, 0);
  ck_assert_uint_eq(found.add, ROOTS);
  for (int64_t i = 0; i < 600; i++) {
    int64_t values[ROOTS];
    ck_assert_int_eq(tj_eval_nodes(root, ROOTS, &(tj_bindings){&i, NULL, 1}, values), TJ_EVAL_OK);
    for (int k = 0; k < ROOTS; k++)
      ck_assert_int_eq(values[k], i % 6 + 7 * (i / 6) + k * APART);
  }
}

START_TEST(roots_apart) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, check_apart, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* One of several roots, and another expression in its place: as if that had been the root. */
static void check_replaced(tj_job *job, void *data) {
  enum { ROOTS = 3 };
  session *run = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *n = tj_coordinate(graph, "n", tj_int(graph, 1 + (int64_t)random_below(&run->source, 600)));
  const tj_node *root[ROOTS], *after = tj_simplified(graph, random_value(&run->source, graph, n));
  for (int i = 0; i < ROOTS; i++)
    root[i] = tj_simplified(graph, random_value(&run->source, graph, n));
  const tj_usage before = tj_usage_of(graph, root, ROOTS);
  const uint32_t replaced = before.root[0];
  uint32_t roots = 0;
  for (int i = 0; i < ROOTS; i++) {
    bool is_replaced = before.root[i] == replaced;
    roots += is_replaced;
    root[i] = is_replaced ? after : root[i];
  }
  if (before.of[replaced].uses > roots)
    return; /* others are made of it */
  tj_usage room = tj_usage_room(&before);
  const uint32_t cost = tj_usage_cost_with(&before, &room, replaced, after);
  const tj_usage real = tj_usage_of(graph, root, ROOTS);
  ck_assert_uint_eq(cost, tj_usage_cost(&real));
  run->better += cost < tj_usage_cost(&before);
}

START_TEST(one_in_the_place_of_another) {
  expect_cases(check_replaced, 6);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("economy");
  TCase *cases = tcase_create("economy");
  tcase_set_timeout(cases, 500);
  tcase_add_test(cases, sums_of_digits);
  tcase_add_test(cases, roots_apart);
  tcase_add_test(cases, one_in_the_place_of_another);
  tcase_add_loop_test(cases, chosen_forms, 0, (int)(sizeof sums / sizeof sums[0]));
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
