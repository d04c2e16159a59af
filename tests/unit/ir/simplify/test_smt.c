/* SPDX-License-Identifier: MIT */
/* Proofs by Z3: what is equal, what is not, every sign of quotients and remainders, and random expressions with
 * symbols of large ranges and without any, before and after the simplifier.
 *
 * Without Z3 in the build, what is left is that questions stay undecided. */
#include "ir/simplify/simplify.h"
#include "ir/value/equivalence.h"
#include "ir/value/equivalence_smt.h"
#include "tests/unit/support/index_support.h"

#include <stdio.h>

static tj_smt_answer compare(tj_graph *graph, const tj_node *left, const tj_node *right, point *at) {
  const tj_node *both[2] = {left, right};
  int64_t value[MOST_SYMBOLS];
  const char *why_not;
  *at = symbols_of(graph, both, 2);
  tj_smt_answer answer = tj_smt_compare(graph, left, right, at->symbol, at->count, value, &why_not);
  ck_assert_ptr_nonnull(why_not);
  for (uint32_t i = 0; i < at->count && answer == TJ_SMT_DIFFERENT; i++)
    at->value[at->symbol[i]->symbol->index] = value[i];
  return answer;
}

static bool is_listed(const tj_symbol *symbol, int64_t value) {
  bool found = symbol->choice_count == 0;
  for (uint32_t i = 0; i < symbol->choice_count; i++)
    found = found || symbol->choice[i] == value;
  return found;
}

static bool in_domain(const point *at) {
  for (uint32_t k = 0; k < at->count; k++) {
    int64_t low, high, value = at->value[at->symbol[k]->symbol->index];
    if (!bounds_at(at, k, &low, &high) || value < low || value > high || step_at(at, k) == 0 ||
        value % step_at(at, k) != 0 || !is_listed(at->symbol[k]->symbol, value))
      return false;
  }
  return true;
}

/* That the case is of the domain, and that values differ there. */
static void check_case(tj_graph *graph, const tj_node *left, const tj_node *right, const point *at) {
  const tj_bindings bindings = bindings_of(at);
  const tj_node *both[2] = {left, right};
  int64_t value[2];
  const char *where = point_text(graph->job, at);
  ck_assert_msg(in_domain(at), "%s is outside the domain", where);
  ck_assert_msg(tj_eval_nodes(both, 2, &bindings, value) == TJ_EVAL_OK, "%s, %s at %s: no value",
                tj_node_brief(graph->job, left), tj_node_brief(graph->job, right), where);
  ck_assert_msg(value[0] != value[1], "%s, %s are the same at %s", tj_node_brief(graph->job, left),
                tj_node_brief(graph->job, right), where);
}

/* --- pairs --- */

typedef struct {
  const char *text; /* of two roots */
  tj_smt_answer answer;
} pair;

/* Each guards one thing that the formulas say. */
static const pair pairs[] = {
    {"coordinate i in 0..1000000; param M in 1..1000000; coordinate j in 0..M - 1; root (i*M + j)/M root i",
     TJ_SMT_EQUAL},
    {"coordinate i in 0..1000000; param M in 1..1000000; coordinate j in 0..M; root (i*M + j)/M root i",
     TJ_SMT_DIFFERENT},
    {"param M in 1..1000000, N in 1..1000000; coordinate i in 0..1000000, j in 0..M - 1, k in 0..N - 1;"
     " root (i*(M*N) + j*N + k)%(M*N)/N root j",
     TJ_SMT_EQUAL},
    {"param M in 1..1000000, N in 1..1000000; coordinate i in 0..1000000, j in 0..M - 1, k in 0..N;"
     " root (i*(M*N) + j*N + k)%(M*N)/N root j",
     TJ_SMT_DIFFERENT},
    {"param M in 1..1000000; coordinate i in 0..1000000, j in 0..M - 1; root (i*M + j)%M root j", TJ_SMT_EQUAL},
    {"param M in 1..1000000; coordinate i in 0..1000000, j in -1..M - 1; root (i*M + j)%M root j", TJ_SMT_DIFFERENT},
    {"param x; root (x/6)*6 + x%6 root x", TJ_SMT_EQUAL},
    {"param x; root x/6%5*6 + x%6 root x%30", TJ_SMT_EQUAL},
    {"param x; root x/6%5*6 + x%6 root x%60", TJ_SMT_DIFFERENT},
    {"param x; root x/-6*-6 + x%-6 root x", TJ_SMT_EQUAL},
    {"param x; root x%-6 root x%6", TJ_SMT_DIFFERENT},
    {"param x; root x%-6 - 5 root -(-x%6) - 5", TJ_SMT_EQUAL},
    {"param x multiple 12; root x/4*4 root x", TJ_SMT_EQUAL},
    {"param x multiple 12; root x/8*8 root x", TJ_SMT_DIFFERENT},
    {"param k in 1..64, x multiple k; root x%k root 0", TJ_SMT_EQUAL},
    {"param k in 1..64, x multiple k; root x/k*k root x", TJ_SMT_EQUAL},
    {"param k in 1..64, x multiple k; root x%(k*2) root 0", TJ_SMT_DIFFERENT},
    {"param k in 2..64, x in 1..99 multiple 6 multiple k; root x%6 root k%6", TJ_SMT_DIFFERENT},
    {"param x, y; root min(x,y) + max(x,y) root x + y", TJ_SMT_EQUAL},
    {"param x, y; root min(x,y) + max(x,y) root 2*x", TJ_SMT_DIFFERENT},
    {"param x; root x << 5 root x*32", TJ_SMT_EQUAL},
    {"param x; root x >> 5 root x/32", TJ_SMT_EQUAL},
    {"param x; root x >> 5 root x/33", TJ_SMT_DIFFERENT},
    {"param x; coordinate s in 0..5; root (x << s) >> s root x", TJ_SMT_EQUAL},
    {"param x; coordinate s in 0..5; root (x >> s) << s root x", TJ_SMT_DIFFERENT},
    {"param x in 0..; root x & 255 root x%256", TJ_SMT_EQUAL},
    {"param x in 0..; root x & 240 root x%256 - x%16", TJ_SMT_EQUAL},
    {"param x in 0..; root x & 240 root x%256", TJ_SMT_DIFFERENT},
    {"param x in 0..; root x | 7 root x/8*8 + 7", TJ_SMT_EQUAL},
    {"param x in 0..; root x ^ 7 root x/8*8 + 7 - x%8", TJ_SMT_EQUAL},
    {"param x in 0..; root x ^ 7 root x + 7", TJ_SMT_DIFFERENT},
    {"param x in 0..; coordinate y in 0..3; root (x ^ y) ^ y root x", TJ_SMT_EQUAL},
    {"param x in 0..; coordinate y in 0..15; root (x*16) | y root x*16 + y", TJ_SMT_EQUAL},
    {"param x in 0..; coordinate y in 0..16; root (x*16) | y root x*16 + y", TJ_SMT_DIFFERENT},
    {"param x in 0.., y in 0..; root x & y root y & x + 0", TJ_SMT_UNDECIDED},
    {"param x in -9..1000000000, y; root select(x < y,x,y) root min(x,y)", TJ_SMT_EQUAL},
    {"param x, y; root (x < y) & (y < x) root 0", TJ_SMT_EQUAL},
    {"param x, y; root (x < y) | (y < x) root (x == y) == 0", TJ_SMT_EQUAL},
    {"param x, y; root (x < y) | (y < x) root x == y", TJ_SMT_DIFFERENT},
    {"param x; root (0 < x + 1) & (x < 10) root min(max(x,0),9) == x", TJ_SMT_EQUAL},
};

static void check_pair(tj_job *job, void *data) {
  const pair *tested = data;
  const tj_node **roots;
  tj_graph *graph = tj_graph_create(job);
  ck_assert_uint_eq(read_roots(graph, tested->text, &roots), 2);
  point at;
  tj_smt_answer answer = compare(graph, roots[0], roots[1], &at);
  ck_assert_msg(answer == (tj_smt_available() ? tested->answer : TJ_SMT_UNDECIDED), "%s: %d", tested->text, answer);
  if (answer == TJ_SMT_DIFFERENT)
    check_case(graph, roots[0], roots[1], &at);
}

START_TEST(pairs_have_their_answers) {
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    tj_job job;
    pair tested = pairs[i];
    tj_job_init(&job, NULL);
    expect_success(&job, check_pair, &tested);
    tj_job_destroy(&job);
  }
}
END_TEST

/* --- operations, against the evaluator --- */

static const tj_node *symbol_in(tj_graph *graph, const char *name, int64_t low, int64_t high) {
  return tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, tj_int(graph, low), tj_int(graph, high), 1);
}

/* That a op b, which are fixed by their domain or by a choice in it, is what the evaluator says, and nothing else. */
static void check_operation(tj_graph *graph, tj_op op, const tj_node *const args[], const int64_t values[]) {
  int64_t value;
  point at;
  ck_assert_int_eq(tj_eval_operation(op, values, &value), TJ_EVAL_OK);
  const tj_node *made = tj_node_make(graph, op, args);
  ck_assert_msg(compare(graph, made, tj_int(graph, value), &at) == TJ_SMT_EQUAL, "%s of %lld, %lld is not %lld",
                tj_op_name(op), (long long)values[0], (long long)values[1], (long long)value);
  ck_assert_int_eq(compare(graph, made, tj_int(graph, value + 1), &at), TJ_SMT_DIFFERENT);
}

static void check_operations(tj_job *job, void *data) {
  static const tj_op ops[] = {TJ_OP_ADD, TJ_OP_MUL, TJ_OP_DIV, TJ_OP_MOD, TJ_OP_MIN,  TJ_OP_MAX,  TJ_OP_AND,
                              TJ_OP_OR,  TJ_OP_XOR, TJ_OP_SHL, TJ_OP_SHR, TJ_OP_LESS, TJ_OP_EQUAL};
  static const int64_t operands[][2] = {{7, 3}, {-7, 3}, {7, -3}, {-7, -3}, {6, 3},  {-6, 3},  {6, -3}, {-6, -3},
                                        {0, 5}, {0, -5}, {2, 7},  {-2, 7},  {2, -7}, {-2, -7}, {13, 6}, {5, 5}};
  (void)data;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    for (size_t k = 0; k < sizeof operands / sizeof *operands; k++) {
      tj_graph *graph = tj_graph_create(job);
      const int64_t *values = operands[k];
      const tj_node *args[3] = {symbol_in(graph, "a", values[0], values[0]),
                                symbol_in(graph, "b", values[1], values[1])};
      if (tj_is_defined(ops[i], args))
        check_operation(graph, ops[i], args, values);
    }
  }
}

/* Divisors whose sign the facts do not show: 2*b + 1 with b of any sign, which is fixed by the dividend's domain. */
static void check_signs(tj_job *job, void *data) {
  static const char *const texts[] = {
      "param x, b in -1000000000..1000000000; root x/(2*b + 1)*(2*b + 1) + x%(2*b + 1) root x",
      "param x, b in -1000000000..1000000000; root (0 < x%(2*b + 1)) & (2*b + 1 < 0) root 0",
      "param x, b in -1000000000..1000000000; root (x%(2*b + 1) < 0) & (0 < 2*b + 1) root 0",
      "param x, b in -1000000000..1000000000; root (max(x%(2*b + 1),-x%(2*b + 1)) < max(2*b + 1,-1 - 2*b)) root 1",
  };
  (void)data;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const tj_node **roots;
    point at;
    tj_graph *graph = tj_graph_create(job);
    ck_assert_uint_eq(read_roots(graph, texts[i], &roots), 2);
    tj_smt_answer answer = compare(graph, roots[0], roots[1], &at);
    if (answer == TJ_SMT_DIFFERENT)
      check_case(graph, roots[0], roots[1], &at);
    ck_assert_msg(answer == TJ_SMT_EQUAL, "%s: %d", texts[i], answer);
  }
}

static void run(void (*body)(tj_job *, void *)) {
  tj_job job;
  tj_job_init(&job, NULL);
  if (tj_smt_available())
    expect_success(&job, body, NULL);
  tj_job_destroy(&job);
}

START_TEST(operations_are_the_evaluators) {
  run(check_operations);
}
END_TEST

START_TEST(divisors_of_either_sign) {
  run(check_signs);
}
END_TEST

/* --- random expressions --- */

typedef struct {
  tj_graph *graph;
  random_source random;
  const tj_node *pool[32];
  uint32_t count, symbols;
  uint64_t seed, proved, wrong_proved, undecided;
} generator;

static const tj_node *pick(generator *from) {
  return from->pool[random_below(&from->random, from->count)];
}

static const tj_node *divisor(generator *from) {
  static const int64_t usual[] = {2, 3, 4, 5, 6, 8, 12, 16, 24, 30, 32, 60, 64, 128, -4, -6};
  const tj_node *symbol = from->pool[random_below(&from->random, from->symbols)];
  if (random_below(&from->random, 6) == 0 && symbol->facts.low >= 1)
    return symbol;
  return tj_int(from->graph, usual[random_below(&from->random, sizeof usual / sizeof *usual)]);
}

static void add_symbol(generator *to, const char *name) {
  tj_graph *graph = to->graph;
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  const tj_node *last = to->count > 0 ? to->pool[to->count - 1] : zero;
  const tj_node *made;
  switch (random_below(&to->random, 6)) {
  case 0:
    made = tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, NULL, NULL, 1);
    break;
  case 1:
    made = tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, zero, NULL, 1 + random_below(&to->random, 8));
    break;
  case 2:
    made = tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, one, tj_int(graph, INT64_C(1) << 31), 1);
    break;
  case 3:
    made = last->facts.low >= 1 ? tj_coordinate(graph, name, last) : symbol_in(graph, name, -1000000000, 1000000000);
    break;
  default:
    made = tj_coordinate(graph, name, tj_int(graph, 1 + random_below(&to->random, 200)));
  }
  to->pool[to->count++] = made;
}

static const tj_node *digits(generator *from, const tj_node *x) {
  tj_graph *graph = from->graph;
  const tj_node *d = divisor(from);
  return tj_add(graph, tj_mul(graph, tj_div(graph, x, d), d), tj_mod(graph, x, d));
}

static const tj_node *merged(generator *from, const tj_node *x) {
  tj_graph *graph = from->graph;
  const int64_t extent = 2 + random_below(&from->random, 30);
  const tj_node *digit = tj_mod(graph, pick(from), tj_int(graph, extent));
  return tj_add(graph, tj_mul(graph, x, tj_int(graph, extent)), digit);
}

static const tj_node *bits(generator *from, const tj_node *a) {
  tj_graph *graph = from->graph;
  const tj_node *mask = tj_int(graph, random_below(&from->random, 64));
  if (a->facts.low < 0)
    return tj_shr(graph, a, tj_int(graph, random_below(&from->random, 5)));
  switch (random_below(&from->random, 3)) {
  case 0:
    return tj_and(graph, a, mask);
  case 1:
    return tj_or(graph, a, mask);
  default:
    return tj_xor(graph, a, mask);
  }
}

static const tj_node *operation(generator *from) {
  tj_graph *graph = from->graph;
  const tj_node *a = pick(from), *b = pick(from);
  switch (random_below(&from->random, 11)) {
  case 0:
    return tj_add(graph, a, tj_mul(graph, b, tj_int(graph, (int64_t)random_below(&from->random, 40) - 8)));
  case 1:
    return tj_sub(graph, a, b);
  case 2:
  case 3:
    return tj_div(graph, a, divisor(from));
  case 4:
  case 5:
    return tj_mod(graph, a, divisor(from));
  case 6:
    return digits(from, a);
  case 7:
    return merged(from, a);
  case 8:
    return random_below(&from->random, 2) == 0 ? tj_min(graph, a, b) : tj_max(graph, a, b);
  case 9:
    return bits(from, a);
  default:
    return tj_select(graph, tj_less(graph, a, divisor(from)), a, b);
  }
}

static const tj_node *generate(generator *to) {
  static const char *const names[] = {"a", "b", "c"};
  const uint32_t symbols = 1 + random_below(&to->random, 3), operations = 2 + random_below(&to->random, 5);
  to->count = 0;
  while (to->count < symbols)
    add_symbol(to, names[to->count]);
  to->symbols = symbols;
  while (to->count < symbols + operations) {
    const tj_node *made = operation(to);
    to->pool[to->count++] = made;
  }
  return to->pool[to->count - 1];
}

/* A result that is off by one in some cases, if it has any. */
static const tj_node *spoilt(tj_graph *graph, const point *at, const tj_node *node) {
  return at->count == 0 ? node : tj_add(graph, node, tj_equal(graph, at->symbol[0], tj_int(graph, 12)));
}

static void check_one(tj_job *job, void *data) {
  generator *from = data;
  from->graph = tj_graph_create(job);
  const tj_node *before = generate(from), *after = tj_simplified(from->graph, before);
  if (before == after)
    return;
  point at;
  tj_smt_answer answer = compare(from->graph, before, after, &at);
  ck_assert_msg(answer != TJ_SMT_DIFFERENT, "seed %llu: %s -> %s: at %s", (unsigned long long)from->seed,
                tj_node_brief(job, before), tj_node_brief(job, after), point_text(job, &at));
  from->proved += answer == TJ_SMT_EQUAL;
  from->undecided += answer == TJ_SMT_UNDECIDED;
  const tj_node *wrong = spoilt(from->graph, &at, after);
  if (from->seed % 8 == 0 && answer == TJ_SMT_EQUAL && compare(from->graph, before, wrong, &at) == TJ_SMT_DIFFERENT) {
    check_case(from->graph, before, wrong, &at);
    from->wrong_proved++;
  }
}

START_TEST(random_expressions_are_proved) {
  enum { LEAST = 150 };
  const uint64_t least = environment_number("TILEJIT_RANDOM_COUNT", LEAST),
                 seed = environment_number("TILEJIT_SEED", 1);
  generator from = {.proved = 0};
  for (uint64_t i = 0; tj_smt_available() && from.proved < least && i < 20 * least; i++) {
    tj_job job;
    from.seed = seed + i;
    from.random.state = from.seed * UINT64_C(0x2545f4914f6cdd1d);
    tj_job_init(&job, NULL);
    if (tj_job_run(&job, check_one, &from) != TJ_OK)
      ck_assert_msg(job.problem.code == TJ_INTEGER_OVERFLOW || job.problem.code == TJ_NEGATIVE_BITS,
                    "seed %llu: TJ%d: %s", (unsigned long long)from.seed, (int)job.problem.code, job.problem.message);
    tj_job_destroy(&job);
  }
  printf("%llu proved, %llu undecided, %llu wrong ones refuted\n", (unsigned long long)from.proved,
         (unsigned long long)from.undecided, (unsigned long long)from.wrong_proved);
  ck_assert(!tj_smt_available() || (from.proved >= least && from.wrong_proved > 0));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {pairs_have_their_answers, operations_are_the_evaluators, divisors_of_either_sign,
                                random_expressions_are_proved};
  return run_suite(suite_of("smt", tests, sizeof tests / sizeof *tests));
}
