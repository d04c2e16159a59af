/* SPDX-License-Identifier: MIT */
/* The graph: sharing, folding, checks, symbols, counts, costs, the validator. */
#include "ir/index/validate.h"
#include "tests/unit/support/index_support.h"

static tj_job job;

static void set_up(void) {
  tj_job_init(&job, NULL);
}

static void tear_down(void) {
  tj_job_destroy(&job);
}

/* --- sharing --- */

static void equal_nodes_are_one(tj_job *in, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(in);
  const tj_node *i = tj_coordinate(graph, "i", tj_int(graph, 9)), *k = tj_coordinate(graph, "i", tj_int(graph, 9));
  ck_assert_ptr_eq(tj_add(graph, i, tj_int(graph, 5)), tj_add(graph, i, tj_int(graph, 5)));
  ck_assert_ptr_ne(tj_add(graph, i, tj_int(graph, 5)), tj_add(graph, tj_int(graph, 5), i));
  ck_assert_ptr_ne(tj_add(graph, i, tj_int(graph, 5)), tj_mul(graph, i, tj_int(graph, 5)));
  ck_assert_ptr_ne(i, k);
  ck_assert_ptr_ne(tj_select(graph, tj_less(graph, i, k), i, k), tj_select(graph, tj_less(graph, i, k), k, i));
}

START_TEST(sharing) {
  expect_success(&job, equal_nodes_are_one, NULL);
}
END_TEST

static void sharing_survives_growth(tj_job *in, void *data) {
  (void)data;
  enum { MANY = 5000 };
  tj_graph *graph = tj_graph_create(in);
  const tj_node *i = tj_coordinate(graph, "i", tj_int(graph, 9)), *made[MANY];
  for (int64_t n = 0; n < MANY; n++)
    made[n] = tj_mul(graph, i, tj_int(graph, n));
  for (int64_t n = 0; n < MANY; n++)
    ck_assert_ptr_eq(made[n], tj_mul(graph, i, tj_int(graph, n)));
}

START_TEST(growth) {
  expect_success(&job, sharing_survives_growth, NULL);
}
END_TEST

/* --- folding and checks: a binary operation on constants --- */

typedef struct {
  const tj_node *(*make)(tj_graph *, const tj_node *, const tj_node *);
  int64_t a, b, result;
  tj_problem_code code; /* 0: it succeeds */
} fold_row;

static void fold(tj_job *in, void *data) {
  const fold_row *row = data;
  tj_graph *graph = tj_graph_create(in);
  const tj_node *node = row->make(graph, tj_int(graph, row->a), tj_int(graph, row->b));
  ck_assert_msg(tj_is_int(node, row->result), "%lld, %lld: %s", (long long)row->a, (long long)row->b,
                tj_node_text(in, node));
}

START_TEST(folding) {
  fold_row rows[] = {
      {tj_add, 3, 4, 7, 0},
      {tj_add, INT64_MAX, 1, 0, TJ_INTEGER_OVERFLOW},
      {tj_sub, 3, INT64_MIN, 0, TJ_INTEGER_OVERFLOW},
      {tj_sub, -3, INT64_MIN, INT64_MAX - 2, 0},
      {tj_mul, INT64_MIN, -1, 0, TJ_INTEGER_OVERFLOW},
      {tj_div, -7, 4, -2, 0},
      {tj_div, 7, -4, -2, 0},
      {tj_div, INT64_MIN, -1, 0, TJ_INTEGER_OVERFLOW},
      {tj_div, 1, 0, 0, TJ_DIVISION_BY_ZERO},
      {tj_mod, -7, 4, 1, 0},
      {tj_mod, 7, -4, -1, 0},
      {tj_mod, INT64_MIN, -1, 0, 0},
      {tj_mod, 1, 0, 0, TJ_DIVISION_BY_ZERO},
      {tj_min, 3, -4, -4, 0},
      {tj_max, 3, -4, 3, 0},
      {tj_and, 12, 10, 8, 0},
      {tj_or, 12, 10, 14, 0},
      {tj_xor, 12, 10, 6, 0},
      {tj_and, -1, 10, 0, TJ_NEGATIVE_BITS},
      {tj_shl, 3, 4, 48, 0},
      {tj_shl, 1, 63, 0, TJ_BAD_SHIFT},
      {tj_shl, 4, 62, 0, TJ_INTEGER_OVERFLOW},
      {tj_shl, 1, -1, 0, TJ_BAD_SHIFT},
      {tj_shr, -5, 1, -3, 0},
      {tj_less, 3, 3, 0, 0},
      {tj_less_equal, 3, 3, 1, 0},
      {tj_less_equal, INT64_MAX, INT64_MAX, 1, 0},
      {tj_equal, 3, 3, 1, 0},
      {tj_equal, 3, 4, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].code == 0)
      expect_success(&job, fold, &rows[i]);
    else
      expect_failure(&job, rows[i].code, fold, &rows[i]);
  }
}
END_TEST

/* --- checks that look at facts: text that is read is checked as constructors check --- */

typedef struct {
  const char *text;
  tj_problem_code code;
} text_row;

static void read_text(tj_job *in, void *data) {
  const text_row *row = data;
  read_root(tj_graph_create(in), row->text);
}

START_TEST(checks) {
  text_row rows[] = {
      {"param N in 0..4; root 5/N", TJ_DIVISION_BY_ZERO},
      {"param N in 1..4; root 5/N", 0},
      {"param N in -4..-1; root 5%N", 0},
      {"param N; root 5%(N*2 + 1)", 0}, /* odd, so not 0 */
      {"param N; root 5%N", TJ_DIVISION_BY_ZERO},
      {"param N in -1..4; root N & 3", TJ_NEGATIVE_BITS},
      {"param N in 0..; root N & 3", 0},
      {"param N in 0..63; root 1 << N", TJ_BAD_SHIFT},
      {"param N in 0..62; root 1 >> N", 0},
      {"param N in 0..2; root select(N,1,2)", TJ_WRONG_TYPE},
      {"param N in 0..1; root select(N,1,2)", 0},
      {"param N in 5..4; root N", TJ_EMPTY_RANGE},
      {"param N in 5..7 multiple 4; root N", TJ_EMPTY_RANGE},
      {"param N in 5..8 multiple 4; root N", 0},
      {"param N in -3..-1 multiple 4; root N", TJ_EMPTY_RANGE},
      {"param N multiple 0; root N", TJ_EMPTY_RANGE},
      {"param K, N multiple K; root N", TJ_EMPTY_RANGE},
      {"param K in 0..4, N multiple K; root N", TJ_EMPTY_RANGE},
      {"param K in 1..4, N multiple K; root N", 0},
      {"param K in 5..8, N in 1..4 multiple K; root N", TJ_EMPTY_RANGE},
      {"param K in 5..8, N in 0..4 multiple K; root N", 0},
      {"param K in 1..8, N in 1..10 multiple K*12; root N", TJ_EMPTY_RANGE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].code == 0)
      expect_success(&job, read_text, &rows[i]);
    else
      expect_failure(&job, rows[i].code, read_text, &rows[i]);
  }
}
END_TEST

/* --- depth --- */

static void too_deep(tj_job *in, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(in);
  const tj_node *node = tj_coordinate(graph, "i", tj_int(graph, 9));
  for (int i = 0; i <= TJ_MAX_NODE_DEPTH; i++)
    node = tj_div(graph, node, tj_int(graph, 2));
}

START_TEST(depth) {
  expect_failure(&job, TJ_DEPTH_LIMIT, too_deep, NULL);
}
END_TEST

static void not_constant(tj_job *in, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(in);
  ck_assert_int_eq(tj_constant_value(graph, tj_int(graph, 7), "seven"), 7);
  tj_constant_value(graph, tj_coordinate(graph, "i", tj_int(graph, 9)), "the extent");
}

START_TEST(constants) {
  expect_failure(&job, TJ_NOT_CONSTANT, not_constant, NULL);
}
END_TEST

/* --- counts --- */

typedef struct {
  const char *text;
  tj_op_counts counts;
} count_row;

static void check_counts(tj_job *in, void *data) {
  const count_row *row = data;
  tj_graph *graph = tj_graph_create(in);
  const tj_node **roots;
  const size_t count = read_roots(graph, row->text, &roots);
  const tj_op_counts counts = tj_count_ops(graph, roots, count);
  ck_assert_msg(memcmp(&counts, &row->counts, sizeof counts) == 0, "%s: div %u mod %u mul %u add %u bit %u select %u",
                row->text, counts.div, counts.mod, counts.mul, counts.add, counts.bit, counts.select);
}

START_TEST(counts) {
  count_row rows[] = {
      {"coordinate i in 0..9; root i", {0}},
      {"coordinate i in 0..9; root i*4/2 + i%3", {.div = 1, .mod = 1, .mul = 1, .add = 1}},
      {"coordinate i in 0..9; root i*4/2 root i*4/2 + 1", {.div = 1, .mul = 1, .add = 1}},
      {"coordinate i in 0..9; root 5 - i", {.add = 1}},
      {"coordinate i in 0..9; root -i", {.add = 1}},
      {"coordinate i in 0..9; root (5 - i)*(-i)", {.add = 1, .mul = 1}},
      {"coordinate i in 0..9; root min(i,3) & 5 root i < 3 root select(i == 4,i,1)",
       {.bit = 1, .select = 2, .add = 2}},
      {"coordinate i in 0..9; root (i << 2) >> 1", {.bit = 2}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_success(&job, check_counts, &rows[i]);
}
END_TEST

/* --- the validator, on graphs that were damaged on purpose --- */

typedef struct {
  void (*damage)(tj_graph *, tj_node *);
  const char *complaint;
} damage_row;

static void forget_order(tj_graph *graph, tj_node *node) {
  (void)graph;
  node->id = 0;
}

static void forget_depth(tj_graph *graph, tj_node *node) {
  (void)graph;
  node->depth++;
}

static void contradict(tj_graph *graph, tj_node *node) {
  (void)graph;
  node->facts.low = node->facts.high + 1;
}

static void lie(tj_graph *graph, tj_node *node) {
  (void)graph;
  node->facts = tj_facts_of_constant(-77);
}

static void undefine(tj_graph *graph, tj_node *node) {
  node->op = TJ_OP_DIV;
  node->arg[1] = tj_int(graph, 0);
}

static void duplicate(tj_graph *graph, tj_node *node) {
  node->arg[1] = tj_int(graph, 1);
}

static void check_damage(tj_job *in, void *data) {
  const damage_row *row = data;
  tj_graph *graph = tj_graph_create(in);
  const tj_node *i = tj_coordinate(graph, "i", tj_int(graph, 9)), *one = tj_int(graph, 1), *zero = tj_int(graph, 0);
  const tj_node *twin = tj_add(graph, i, one), *sound = tj_add(graph, i, zero);
  ck_assert_ptr_null(tj_validate_nodes(graph, &sound, 1));
  ck_assert_ptr_null(tj_validate_nodes(graph, &twin, 1));
  row->damage(graph, (tj_node *)(uintptr_t)sound);
  const char *found = tj_validate_nodes(graph, &sound, 1);
  ck_assert_msg(found != NULL && strstr(found, row->complaint) != NULL, "%s was expected, not %s", row->complaint,
                found == NULL ? "nothing" : found);
}

START_TEST(validator) {
  damage_row rows[] = {
      {forget_order, "newer than its user"},      {forget_depth, "depth"}, {contradict, "contradict each other"},
      {lie, "contradict those of its operation"}, {undefine, "undefined"}, {duplicate, "equal node"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect_success(&job, check_damage, &rows[i]);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("graph");
  TCase *tcase = tcase_create("graph");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_add_test(tcase, sharing);
  tcase_add_test(tcase, growth);
  tcase_add_test(tcase, folding);
  tcase_add_test(tcase, checks);
  tcase_add_test(tcase, depth);
  tcase_add_test(tcase, constants);
  tcase_add_test(tcase, counts);
  tcase_add_test(tcase, validator);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
