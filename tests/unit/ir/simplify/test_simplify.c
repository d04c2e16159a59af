/* SPDX-License-Identifier: MIT */
/* The simplifier as a whole: what must be left of what layouts produce, costs, traces, sharing, and limits. */
#include "ir/index/cost.h"
#include "ir/index/linear.h"
#include "ir/simplify/simplify.h"
#include "tests/unit/support/index_support.h"
#include "tests/unit/support/large_graphs.h"

static void run(void (*body)(tj_job *, void *), void *data) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, body, data);
  tj_job_destroy(&job);
}

/* --- results --- */

typedef struct {
  const char *guards; /* what the row is there for */
  const char *text;   /* one root */
  const char *result;
} result_row;

static void check_result(tj_job *job, void *data) {
  const result_row *row = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *node = read_root(graph, row->text);
  const char *result = tj_node_text(job, tj_simplified(graph, node));
  ck_assert_msg(strcmp(result, row->result) == 0, "%s: %s became %s", row->guards, row->text, result);
}

static void check_results(result_row rows[], size_t count) {
  for (size_t i = 0; i < count; i++)
    run(check_result, &rows[i]);
}

START_TEST(what_llvm_cannot) {
  result_row rows[] = {
      {"quotient of row and column", "coordinate i in 0.., j in 0..23; root (i*24 + j)/24", "i"},
      {"remainder of row and column", "coordinate i in 0.., j in 0..23; root (i*24 + j)%24", "j"},
      {"three digits", "coordinate a in 0.., b in 0..5, c in 0..4; root ((a*6 + b)*5 + c)/30", "a"},
      {"symbolic row length", "param M in 1..65536; coordinate i in 0.., j in 0..M - 1; root (i*M + j)/M", "i"},
      {"symbolic row length, remainder", "param M in 1..65536; coordinate i in 0.., j in 0..M - 1; root (i*M + j)%M",
       "j"},
      {"symbolic row length, no range", "param M in 1..; coordinate i, j in 0..M - 1; root (i*M + j)%M", "j"},
      {"three symbolic digits",
       "param M in 1..99, N in 1..99; coordinate i in 0.., j in 0..M - 1, k in 0..N - 1; root (i*(M*N) + j*N + "
       "k)/(M*N)",
       "i"},
      {"the middle one",
       "param M in 1..99, N in 1..99; coordinate i in 0.., j in 0..M - 1, k in 0..N - 1; root ((i*M + j)*N + k)/N%M",
       "j"},
      {"a sum as divisor", "param M in 1..99; coordinate i in 0.., j in 0..M; root (i*(M + 1) + j)/(M + 1)", "i"},
      {"recomposed", "coordinate x; root (x/6)*6 + x%6", "x"},
      {"exclusive or twice", "coordinate x in 0.., y in 0..; root (x ^ y) ^ y", "x"},
      {"exact division", "coordinate i, j; root (12*i + 3*j)/3", "i*4 + j"},
      {"wave, lane, vector", "coordinate w in 0.., l in 0..63, v in 0..7; root ((w*64 + l)*8 + v)/512", "w"},
      {"lane of it", "coordinate w in 0.., l in 0..63, v in 0..7; root (((w*64 + l)*8 + v)/8)%64", "l"},
      {"half a row", "coordinate i in 0.., j in 0..23; root (i*24 + j)/12", "i*2 + j/12"},
      {"nested remainders", "coordinate i in 0..; root (i%24)%6", "i%6"},
      {"last digit by range", "coordinate x in 0..29; root x/5%6", "x/5"},
      {"digits of a digit", "coordinate x; root (x%8)/4 + (x/8)*2", "x/4"},
      {"scaled remainder", "coordinate x; root ((x*4)%8)/4", "x%2"},
      {"quotient of remainder", "coordinate i; root (i%24)/6", "i/6%4"},
      {"ceiling division of a multiple", "param M in 0..; root (M*64 + 63)/64", "M"},
  };
  check_results(rows, sizeof rows / sizeof *rows);
}
END_TEST

START_TEST(transforms) {
  result_row rows[] = {
      {"unmerge(8,15) over merge(4,6,5)",
       "coordinate i in 0..7, j in 0..14; $1 = i*15 + j; root $1/30*30 + $1/5%6*5 + $1%5", "i*15 + j"},
      {"permuted digits", "coordinate x in 0..119; root x%5 + x/30*30 + x/5%6*5", "x"},
      {"digits over other strides", "coordinate x in 0..119; root x/30*60 + x/5%6*10 + x%5*2", "x*2"},
      {"a run of digits", "coordinate x; root x/5%6*5 + x%5", "x%30"},
      {"reduced before it is recomposed", "coordinate b in 0.., t in 0..255; $1 = b*256 + t; root $1/5*5 + $1%5",
       "b*256 + t"},
      {"symbolic digits", "param N in 1..99; coordinate x; root x/N*N + x%N", "x"},
      {"a pad and its predicate", "coordinate i in 0..9; root 0 < i - 2 + 1 & i - 2 < 6", "1 < i & i < 8"},
      {"a predicate that follows from another", "param M in 1..99; coordinate i in 0..; root i < M & i < M + 3",
       "i < M"},
      {"a predicate that range decides", "coordinate i in 0..9; root i < 10 & 0 < i + 1", "1"},
      {"bounds of a merged index", "coordinate i in 0.., j in 0..23; root i*24 + j < 240", "i < 10"},
      {"a swizzle of a whole row", "coordinate r in 0..7, c in 0..7; root r*64 + ((c ^ r)*8) % 64",
       "r*64 + (r ^ c)*8"},
      {"offsets cancel", "coordinate i; root (i + 5)*4 - 20", "i*4"},
      {"strides fold", "coordinate i; root ((i*4)*8)/16", "i*2"},
      {"a divisibility of a parameter", "param M in 0..65536 multiple 64; root M/64*64 + M%32", "M"},
      {"alignment", "param M in 0..65536 multiple 64; root M*3%192", "0"},
  };
  check_results(rows, sizeof rows / sizeof *rows);
}
END_TEST

START_TEST(nothing_to_do) {
  result_row rows[] = {
      {"a constant", "root 7", "7"},
      {"a symbol", "coordinate i in 0..9; root i", "i"},
      {"a symbol of one value", "coordinate i in 4..4; root i", "4"},
      {"masks stay masks", "coordinate i in 0..99; root i & 7", "i & 7"},
      {"shifts stay shifts", "coordinate i in 0..99; root i << 3", "i << 3"},
      {"overflowing constants stay", "coordinate i; root i*9223372036854775807*4", "i*9223372036854775807*4"},
      {"what facts do not show", "coordinate i, j in 0..24; root (i*24 + j)/24", "i + j/24"},
      {"negative values", "coordinate x in -9..9; root x/3", "x/3"},
      {"what has no opposite",
       "param M in 1..9; coordinate a in 0..9, x in 0..1; root x*9223372036854775807 + x < a*M",
       "x*9223372036854775807 + x < a*M"},
      {"a constant without opposite", "coordinate x; root 9223372036854775807 < x - 1",
       "9223372036854775807 < x - 1"},
      {"a sum without opposite", "coordinate x in 0.., y in 0..; root 9223372036854775807 - y == x - 1",
       "9223372036854775807 - y == x - 1"},
      {"Horner's form is kept", "param M in 1..9, N in 1..9; coordinate i, j, k; root (i*M + j)*N + k",
       "(i*M + j)*N + k"},
  };
  check_results(rows, sizeof rows / sizeof *rows);
}
END_TEST

/* --- costs --- */

START_TEST(costs) {
  static const struct {
    tj_op_counts a, b;
    bool is_costlier;
  } rows[] = {
      {{.div = 1}, {.div = 1}, false},
      {{.mod = 1}, {.div = 1}, false},
      {{.div = 1}, {.mul = 99}, true},
      {{.mul = 2}, {.div = 1}, false},
      {{.mul = 3}, {.div = 1}, true},
      {{.add = 16}, {.mod = 1}, false},
      {{.mul = 1}, {.add = 8}, false},
      {{.mul = 1}, {.add = 7}, true},
      {{.add = 3}, {.mul = 1}, false},
      {{.add = 4}, {.mul = 1}, true},
      {{.add = 2}, {.bit = 1, .select = 1}, false},
      {{.add = 2}, {.bit = 1}, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    ck_assert_msg(tj_is_costlier(&rows[i].a, &rows[i].b) == rows[i].is_costlier, "row %zu", i);
}
END_TEST

/* --- several roots share, and never cost more together --- */

typedef struct {
  const char *text;
  uint32_t divisions; /* quotients and remainders left */
} sharing_row;

static void check_sharing(tj_job *job, void *data) {
  const sharing_row *row = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node **roots;
  const size_t count = read_roots(graph, row->text, &roots);
  const tj_op_counts before = tj_count_ops(graph, roots, count);
  tj_simplify(graph, roots, count, NULL);
  const tj_op_counts ops = tj_count_ops(graph, roots, count);
  ck_assert_msg(ops.div + ops.mod <= row->divisions, "%s: %u divisions", row->text, ops.div + ops.mod);
  ck_assert_msg(!tj_is_costlier(&ops, &before), "%s: costlier", row->text);
}

START_TEST(sharing) {
  sharing_row rows[] = {
      {"coordinate i; root i%24 root (i%24)/6", 2},
      {"coordinate i, j in 0..23; root (i*24 + j)/12 root i*24 + j", 1},
      {"coordinate x; root x/30 root x/5%6 root x%5", 4},
      {"coordinate x in 0..29; root x/30 root x/5%6 root x%5", 2},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run(check_sharing, &rows[i]);
}
END_TEST

/* --- traces --- */

static void check_trace(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *node = read_root(graph, "coordinate i in 0.., j in 0..23; root (i*24 + j)%24"), *untraced = node;
  tj_trace trace = {0};
  tj_simplify(graph, &untraced, 1, NULL);
  tj_simplify(graph, &node, 1, &trace);
  ck_assert_ptr_eq(node, untraced);
  ck_assert_uint_ge(trace.count, 2);
  ck_assert_str_eq(trace.step[0].rule, "remainder_in_range");
  ck_assert_str_eq(tj_node_text(job, trace.step[0].before), "j%24");
  ck_assert_str_eq(tj_node_text(job, trace.step[0].after), "j");
  ck_assert_str_eq(trace.step[0].because, "0 <= j < 24");
  ck_assert_str_eq(trace.step[1].rule, "remainder_of_multiple");
}

START_TEST(traces) {
  run(check_trace, NULL);
}
END_TEST

/* --- limits --- */

typedef const tj_node *(*chain_step)(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i);

static const tj_node *add_step(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i) {
  return tj_add(graph, chain, tj_mod(graph, symbol, tj_int(graph, i + 2)));
}

static const tj_node *half_step(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i) {
  (void)i;
  return tj_div(graph, tj_add(graph, chain, symbol), tj_int(graph, 2));
}

static const tj_node *xor_step(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i) {
  return tj_xor(graph, tj_mod(graph, symbol, tj_int(graph, i + 2)), chain);
}

static const tj_node *min_step(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i) {
  return tj_min(graph, chain, tj_mod(graph, tj_add(graph, symbol, chain), tj_int(graph, i + 2)));
}

static const tj_node *select_step(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i) {
  return tj_select(graph, tj_less(graph, symbol, tj_int(graph, i)), chain, tj_int(graph, i % 77));
}

static const tj_node *product_step(tj_graph *graph, const tj_node *chain, const tj_node *symbol, int64_t i) {
  return tj_mod(graph, tj_mul(graph, tj_add(graph, chain, symbol), tj_add(graph, chain, tj_int(graph, i))),
                tj_int(graph, 1009));
}

static void simplify_chain(tj_job *job, void *data) {
  enum { LENGTH = 30000 };
  const chain_step step = *(const chain_step *)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *symbol = tj_coordinate(graph, "i", tj_int(graph, 1 << 20)), *chain = symbol;
  for (int64_t i = 0; i < LENGTH; i++)
    chain = step(graph, chain, symbol, i);
  const tj_op_counts before = tj_count_ops(graph, &chain, 1);
  const tj_node *result = tj_simplified(graph, chain);
  const tj_op_counts after = tj_count_ops(graph, &result, 1);
  ck_assert(!tj_is_costlier(&after, &before));
  const int64_t value = 12345;
  int64_t values[2];
  const tj_node *both[2] = {chain, result};
  ck_assert_int_eq(tj_eval_nodes(both, 2, &(tj_bindings){&value, NULL, 1}, values), TJ_EVAL_OK);
  ck_assert_int_eq(values[0], values[1]);
}

/* Deep chains end well: no recursion in proportion to depth, work in proportion to size. */
START_TEST(deep_chains) {
  chain_step steps[] = {add_step, half_step, xor_step, min_step, select_step, product_step};
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    run(simplify_chain, &steps[i]);
}
END_TEST

enum { LARGE_NODES = 10000 };

/* What simplifying a large graph took and gave. */
typedef struct {
  size_t which;
  uint64_t work;
  uint32_t nodes_after;
  tj_op_counts after;
} large_outcome;

static void check_values(const large_graph *made, const tj_node *const before[]) {
  int64_t *values = TJ_NEW_ARRAY(made->graph->job, int64_t, made->root_count),
          *expected = TJ_NEW_ARRAY(made->graph->job, int64_t, made->root_count),
          *at = TJ_NEW_ARRAY(made->graph->job, int64_t, made->graph->symbol_count);
  const tj_walk walk = tj_walk_nodes(made->graph, before, made->root_count);
  for (uint32_t i = 0; i < walk.count; i++)
    if (walk.node[i]->op == TJ_OP_SYMBOL)
      at[walk.node[i]->symbol->index] = walk.node[i]->symbol->kind == TJ_SYMBOL_PARAMETER ? 5 : 1;
  const tj_bindings bindings = {at, NULL, made->graph->symbol_count};
  ck_assert_int_eq(tj_eval_nodes(before, made->root_count, &bindings, expected), TJ_EVAL_OK);
  ck_assert_int_eq(tj_eval_nodes(made->root, made->root_count, &bindings, values), TJ_EVAL_OK);
  ck_assert_mem_eq(values, expected, made->root_count * sizeof *values);
}

static void simplify_large(tj_job *job, void *data) {
  large_outcome *outcome = data;
  const char *name = large_graphs[outcome->which].name;
  large_graph made = make_large_graph(job, outcome->which, LARGE_NODES);
  const tj_node **before = tj_arena_copy(&job->arena, made.root, made.root_count * sizeof *before);
  const tj_op_counts cost = tj_count_ops(made.graph, made.root, made.root_count);
  const uint64_t work = made.graph->work;
  tj_simplify(made.graph, made.root, made.root_count, NULL);
  outcome->work = made.graph->work - work;
  outcome->after = tj_count_ops(made.graph, made.root, made.root_count);
  outcome->nodes_after = made.graph->node_count;
  ck_assert_msg(outcome->work <= (uint64_t)LARGE_NODES * large_graphs[outcome->which].work_per_node,
                "%s: %llu units of work for each node", name, (unsigned long long)outcome->work / LARGE_NODES);
  ck_assert_msg(!tj_is_costlier(&outcome->after, &cost), "%s became costlier", name);
  check_values(&made, before);
}

/* Expressions of 10,000 nodes, however hard: the work is bounded, the same each time, and makes nothing costlier. */
START_TEST(large_expressions) {
  large_outcome first = {.which = (size_t)_i}, second = first;
  run(simplify_large, &first);
  run(simplify_large, &second);
  ck_assert_mem_eq(&first, &second, sizeof first);
}
END_TEST

static void simplify_twice(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job), *other = tj_graph_create(job);
  const char *text = "coordinate x in 0..119, i in 0..9; root x%5 + x/30*30 + x/5%6*5 + (i*8 + x)/4";
  const char *first = tj_node_text(job, tj_simplified(graph, read_root(graph, text)));
  ck_assert_str_eq(first, tj_node_text(job, tj_simplified(other, read_root(other, text))));
}

START_TEST(deterministic) {
  run(simplify_twice, NULL);
}
END_TEST

/* --- memory --- */

typedef struct {
  int left; /* allocations that succeed */
  int held;
} failing_memory;

static void *allocate(void *user, size_t size) {
  failing_memory *memory = user;
  if (memory->left-- <= 0)
    return NULL;
  memory->held++;
  return malloc(size);
}

static void release(void *user, void *block) {
  ((failing_memory *)user)->held--;
  free(block);
}

static void simplify_much(tj_job *job, void *data) {
  simplify_twice(job, data);
  const chain_step step = add_step;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *symbol = tj_coordinate(graph, "i", tj_int(graph, 99)), *chain = symbol;
  for (int64_t i = 0; i < 500; i++)
    chain = step(graph, chain, symbol, i);
  tj_simplified(graph, chain);
}

/* Whichever allocation fails, the job fails with it and gives everything back. */
START_TEST(memory_runs_out) {
  bool succeeded = false;
  for (int successes = 0; successes < 200 && !succeeded; successes++) {
    failing_memory memory = {successes, 0};
    const tj_allocator allocator = {.allocate = allocate, .release = release, .user = &memory};
    tj_job job;
    tj_job_init(&job, &allocator);
    succeeded = tj_job_run(&job, simplify_much, NULL) == TJ_OK;
    ck_assert(succeeded || job.problem.code == TJ_OUT_OF_MEMORY);
    tj_job_destroy(&job);
    ck_assert_int_eq(memory.held, 0);
  }
  ck_assert(succeeded);
}
END_TEST

/* --- linear forms --- */

static void check_forms(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node **roots;
  read_roots(graph, "param M, N; coordinate i, j; root (i + 2)*(M*N + 3) root i*N*M + i*3 + N*M*2 + 6 root i*M*N",
             &roots);
  ck_assert(tj_linear_equal(tj_linear_of(graph, roots[0]), tj_linear_of(graph, roots[1])));
  ck_assert(!tj_linear_equal(tj_linear_of(graph, roots[0]), tj_linear_of(graph, roots[2])));
  const tj_linear *form = tj_linear_of(graph, roots[0]);
  ck_assert_uint_eq(form->count, 3);
  ck_assert_int_eq(form->constant, 6);
  tj_term term;
  ck_assert(tj_linear_single(tj_linear_of(graph, roots[2]), &term) && term.degree == 3 && term.coefficient == 1);
  ck_assert(!tj_linear_single(form, &term));
}

/* Beyond what a form can hold, a node is an atom; sums on overflow fail. */
static void check_form_limits(tj_job *job, void *data) {
  (void)data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *sum = tj_int(graph, 0), *i = tj_coordinate(graph, "i", tj_int(graph, 9));
  const tj_node *huge = tj_node_make(
      graph, TJ_OP_MUL, (const tj_node *[3]){tj_mul(graph, i, tj_int(graph, INT64_MAX)), tj_int(graph, 4), NULL});
  for (int64_t k = 0; k <= TJ_MAX_TERMS; k++)
    sum = tj_add(graph, sum, tj_mod(graph, i, tj_int(graph, k + 2)));
  ck_assert(tj_is_atom(graph, sum));
  ck_assert(tj_is_atom(graph, huge));
  ck_assert(!tj_is_atom(graph, tj_add(graph, i, tj_int(graph, 1))));
}

START_TEST(linear_forms) {
  run(check_forms, NULL);
  run(check_form_limits, NULL);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_llvm_cannot, transforms,  nothing_to_do, costs,           sharing,
                                traces,           deep_chains, deterministic, memory_runs_out, linear_forms};
  Suite *suite = suite_of("simplify", tests, sizeof tests / sizeof *tests);
  TCase *large = tcase_create("large expressions");
  tcase_set_timeout(large, 500);
  tcase_add_loop_test(large, large_expressions, 0, LARGE_GRAPHS);
  suite_add_tcase(suite, large);
  return run_suite(suite);
}
