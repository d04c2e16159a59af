/* SPDX-License-Identifier: MIT */
/* Facts: of each operation, against all values of small domains; sharp where they should be; and proofs. */
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "tests/unit/support/index_support.h"

static void run(void (*body)(tj_job *, void *), void *data) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, body, data);
  tj_job_destroy(&job);
}

/* --- what is known of an expression, exactly --- */

typedef struct {
  const char *text;
  int64_t low, high, modulus, residue;
  uint64_t zeros; /* at least these bits are known to be 0 */
} fact_row;

static void check_facts(tj_job *job, void *data) {
  const fact_row *row = data;
  const tj_facts facts = read_root(tj_graph_create(job), row->text)->facts;
  ck_assert_msg(facts.low == row->low && facts.high == row->high, "%s: %lld..%lld", row->text, (long long)facts.low,
                (long long)facts.high);
  ck_assert_msg(row->modulus == 0 || (facts.modulus == row->modulus && facts.residue == row->residue),
                "%s: %lld mod %lld", row->text, (long long)facts.residue, (long long)facts.modulus);
  ck_assert_msg((facts.zeros & row->zeros) == row->zeros, "%s: zeros %llx", row->text,
                (unsigned long long)facts.zeros);
}

START_TEST(facts) {
  enum { ANY = 0 };
  const int64_t least = INT64_MIN, most = INT64_MAX;
  fact_row rows[] = {
      {"root 7", 7, 7, 7, 0, ~UINT64_C(7)},
      {"root 0", 0, 0, ANY, 0, ~UINT64_C(0)},
      {"param a; root a", least, most, 1, 0, 0},
      {"param a in 1..65536 multiple 64; root a", 64, 65536, 64, 0, 63},
      {"param a in -100.. multiple 8; root a", -96, most, 8, 0, 0},
      {"param K in 5..9, a in 1..100 multiple K; root a", 5, 100, 1, 0, ~UINT64_C(127)},
      {"param K in 1..9, a in 1..100 multiple K; root a/K", 1, 100, 1, 0, ~UINT64_C(127)},
      {"param K in 2..9, a in 0..100 multiple K; root a/K", 0, 50, 1, 0, ~UINT64_C(63)},
      {"param K in 1..9, a in 1..1000 multiple K*12; root a", 12, 996, 12, 0, ~UINT64_C(1020)},
      {"param K in 1..9, a in 1..1000 multiple 8 multiple K*12; root a", 24, 984, 24, 0, ~UINT64_C(1016)},
      {"param M in 1..10; coordinate i in 0..M - 1; root i", 0, 9, 1, 0, ~UINT64_C(15)},
      {"coordinate i in 0..9; root i*24 + 5", 5, 221, 24, 5, 0},
      {"coordinate i in -3..9; root i*-2", -18, 6, 2, 0, 0},
      {"param a in 0..; root a + 1", 1, most, 1, 0, 0},
      {"param a; root a*a", least, most, 1, 0, 0},
      {"param a in 9223372036854775800..; root a + 100", most, most, 1, 0, 0}, /* saturates */
      {"coordinate i in -7..9; root i/4", -2, 2, 1, 0, 0},
      {"coordinate i in -7..9; root i/-4", -3, 1, 1, 0, 0},
      {"param d in -2..3 multiple 1; coordinate i in 4..8; root i/(d*2 + 1)", -8, 8, 1, 0, 0},
      {"param a in 0.., M in 1..; root a/M", 0, most, 1, 0, 0},
      {"coordinate i in 0..9; root i*24/12", 0, 18, 2, 0, 1},
      {"coordinate i in -5..99; root i%8", 0, 7, 1, 0, ~UINT64_C(7)},
      {"coordinate i in 17..22; root i%8", 1, 6, 1, 0, 0},
      {"coordinate i in -5..99; root i%-8", -7, 0, 1, 0, 0},
      {"coordinate i in -5..99; root (i*12 + 3)%8", 3, 7, 4, 3, 0},
      {"param M in 1..65536; coordinate i in 0..; root i%M", 0, 65535, 1, 0, 0},
      {"param M in 64..640 multiple 64; param a; root a*32%M", 0, 608, 32, 0, 31},
      {"coordinate i in 0..5, j in 3..9; root min(i,j)", 0, 5, 1, 0, 0},
      {"coordinate i in 0..5, j in 3..9; root max(i*4,j*4 + 2)", 14, 38, 2, 0, 0},
      {"coordinate i in 0..5, j in 0..9; root i & j", 0, 5, 1, 0, 0},
      {"coordinate i in 0..5, j in 0..9; root i | j", 0, 15, 1, 0, 0},
      {"coordinate i in 0..5; root i | 8", 8, 15, 1, 0, 0},
      {"coordinate i in 0..5, j in 0..9; root i*8 ^ j*16", 0, 248, 8, 0, 7},
      {"param a in 0..; root a & 12", 0, 12, 4, 0, ~UINT64_C(12)},
      {"param a in 0..; root a & 12 | 1", 1, 13, 4, 1, 0},
      {"coordinate i in -3..5; root i << 3", -24, 40, 8, 0, 0},
      {"coordinate i in -3..5; root i >> 1", -2, 2, 1, 0, 0},
      {"coordinate i in 0..5, k in 0..3; root i << k", 0, 40, 1, 0, 0},
      {"coordinate i in 0..5; root i < 6", 1, 1, ANY, 0, 0},
      {"coordinate i in 0..5; root i < 0", 0, 0, ANY, 0, 0},
      {"coordinate i in 0..5; root i < 5", 0, 1, 1, 0, 0},
      {"coordinate i in 0..5; root i*2 == 5", 0, 0, ANY, 0, 0},
      {"coordinate i in 0..5; root i == 9", 0, 0, ANY, 0, 0},
      {"coordinate i in 0..5; root select(i < 3,8,24)", 8, 24, 16, 8, 7},
      {"coordinate i in 0..3, j in 0..7; root i*8 + j", 0, 31, 1, 0, ~UINT64_C(31)},
      /* parameters that are related */
      {"param M in 1..100, N in 1..1000/M; root M*N", 1, 1000, 1, 0, 0},
      {"param N in 1..100, M in 1..1000/N; root M*N", 1, 1000, 1, 0, 0},
      {"param M in 1..100, N in 1..1000/M; root M*N*8 + 3", 11, 8003, 8, 3, 0},
      {"param M in 1..100, N in 1..1000/M; coordinate i in 0..M - 1, j in 0..N - 1; root i*N + j", 0, 999, 1, 0, 0},
      {"param M in 1..100, N in 1..1000/M; coordinate i in 0..M - 1, j in 0..N - 1; root j*M + i", 0, 999, 1, 0, 0},
      {"param M in 1..100, N in 1..1000/M; coordinate i in 0..M*N - 1; root i", 0, 999, 1, 0, 0},
      {"param M in 1..100, N in 1..1000/M; coordinate i in 0..M*N - 1; root i%M*N + i/M", 0, 999, 1, 0, 0},
      {"param M in 1..100, N in 1..1000/M; coordinate i in 0..M*N - 1; root i/N*N", 0, 990, 1, 0, 0},
      {"param M in 1..9, N in 1..9, K in 1..1000/(M*N); root M*N*K", 1, 1000, 1, 0, 0},
      {"param M in 4611686018427387904.., N in M..; root M*N", most, most, 1, 0, 0},
      {"param M in 4611686018427387904.., N in M..; root M*N*-4", least, least, 4, 0, 0},
      {"param M in 1..9, N in 1..M; root M - N", 0, 8, 1, 0, 0},
      {"param M in 1..9, N in M..M + 3; root N - M", 0, 3, 1, 0, 0},
      {"param M in 1..100, N in 1..1000/M; coordinate i in 0..M - 1; root M*N - i*N", 1, 1000, 1, 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run(check_facts, &rows[i]);
}
END_TEST

/* --- every operation on every pair of small ranges and congruences contains every value --- */

typedef struct {
  int64_t low, high, multiple;
} range_row;

static const range_row ranges[] = {{0, 0, 1},  {1, 1, 1},  {0, 7, 1},   {3, 12, 1},  {-4, 5, 1}, {-9, -2, 1},
                                   {0, 24, 6}, {4, 28, 4}, {-8, 16, 8}, {17, 22, 1}, {0, 1, 1},  {60, 62, 1}};

static void check_operation(tj_job *job, void *data) {
  const tj_op op = *(const tj_op *)data;
  const size_t count = sizeof ranges / sizeof *ranges;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++) {
      tj_graph *graph = tj_graph_create(job);
      const tj_node *a = tj_symbol_create(graph, "a", TJ_SYMBOL_COORDINATE, tj_int(graph, ranges[i].low),
                                          tj_int(graph, ranges[i].high), ranges[i].multiple);
      const tj_node *b = tj_symbol_create(graph, "b", TJ_SYMBOL_COORDINATE, tj_int(graph, ranges[k].low),
                                          tj_int(graph, ranges[k].high), ranges[k].multiple);
      const tj_node *truth = tj_less(graph, a, b);
      const tj_node *args[3] = {op == TJ_OP_SELECT ? truth : a, op == TJ_OP_SELECT ? a : b, b};
      if (!tj_is_defined(op, args))
        continue;
      const tj_node *node = tj_node_make(graph, op, args);
      point at = symbols_of(graph, args, 3);
      comparison compared = begin_comparison(job, &node, &node, 1);
      uint64_t points = 0;
      const char *wrong = NULL;
      for (bool more = first_point(&at); more && wrong == NULL; more = next_point(&at))
        wrong = wrong_at(&compared, &at, &points);
      end_comparison(&compared);
      ck_assert_msg(wrong == NULL, "%s of ranges %zu, %zu: %s", tj_op_name(op), i, k, wrong);
    }
}

START_TEST(operations) {
  for (tj_op op = TJ_OP_ADD; op < TJ_OP_COUNT; op++)
    run(check_operation, &op);
}
END_TEST

/* --- random sums, products and digits of related symbols contain every value --- */

enum { RELATED_CASES = 1000, RELATED_SYMBOLS = 7, RELATED_STEPS = 6 };

typedef struct {
  random_source source;
  uint32_t sharper; /* roots of which the relations told more than the ranges of their operands */
} related_session;

/* M, N <= 8/M, K <= M + N that is even; i < M, j < N, k < M*N; L <= 12 that is a multiple of N. */
static void related_symbols(tj_graph *graph, const tj_node *symbol[]) {
  const tj_node *one = tj_int(graph, 1), *zero = tj_int(graph, 0);
  const tj_node *m = tj_symbol_create(graph, "M", TJ_SYMBOL_PARAMETER, one, tj_int(graph, 4), 1);
  const tj_node *last = tj_div(graph, tj_int(graph, 8), m);
  const tj_node *n = tj_symbol_create(graph, "N", TJ_SYMBOL_PARAMETER, one, last, 1);
  symbol[0] = m;
  symbol[1] = n;
  symbol[2] = tj_symbol_create(graph, "K", TJ_SYMBOL_PARAMETER, zero, tj_add(graph, m, n), 2);
  symbol[3] = tj_coordinate(graph, "i", m);
  symbol[4] = tj_coordinate(graph, "j", n);
  symbol[5] = tj_coordinate(graph, "k", tj_mul(graph, m, n));
  symbol[6] = tj_symbol_declare(graph, (tj_symbol){.name = "L",
                                                   .kind = TJ_SYMBOL_PARAMETER,
                                                   .low = one,
                                                   .high = tj_int(graph, 12),
                                                   .multiple = 1,
                                                   .divisor = n});
}

/* An operation on two of the nodes; divisors are M, N, their product or a constant. */
static const tj_node *related_step(random_source *source, tj_graph *graph, const tj_node *const node[],
                                   uint32_t count) {
  const tj_node *a = node[random_below(source, count)], *b = node[random_below(source, count)];
  const tj_node *const divisor[] = {node[0], node[1], tj_mul(graph, node[0], node[1]), tj_int(graph, 3)};
  switch (random_below(source, 6)) {
  case 0:
    return tj_add(graph, a, b);
  case 1:
    return tj_sub(graph, a, b);
  case 2:
    return tj_div(graph, a, divisor[random_below(source, 4)]);
  case 3:
    return tj_mod(graph, a, divisor[random_below(source, 4)]);
  default:
    return tj_mul(graph, a, b);
  }
}

static void check_related(tj_job *job, void *data) {
  related_session *session = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *node[RELATED_SYMBOLS + RELATED_STEPS];
  uint32_t count = RELATED_SYMBOLS;
  related_symbols(graph, node);
  for (int step = 0; step < RELATED_STEPS; step++, count++)
    node[count] = related_step(&session->source, graph, node, count);
  const tj_node *root = node[count - 1], *simple = tj_simplified(graph, root);
  if (root->op == TJ_OP_ADD || root->op == TJ_OP_MUL) {
    const tj_facts plain =
        tj_facts_of_operation(root->op, (const tj_facts *const[]){&root->arg[0]->facts, &root->arg[1]->facts, NULL});
    session->sharper += root->facts.low > plain.low || root->facts.high < plain.high;
  }
  point at = symbols_of(graph, &root, 1);
  comparison compared = begin_comparison(job, &root, &simple, 1);
  uint64_t points = 0;
  const char *wrong = NULL;
  for (bool more = first_point(&at); more && wrong == NULL; more = next_point(&at))
    wrong = wrong_at(&compared, &at, &points);
  end_comparison(&compared);
  ck_assert_msg(wrong == NULL && points > 0, "%s: %s", tj_node_text(job, root), wrong);
}

START_TEST(related) {
  related_session session = {.source = {environment_number("TILEJIT_SEED", 3)}};
  for (int i = 0; i < RELATED_CASES; i++)
    run(check_related, &session);
  ck_assert_uint_gt(session.sharper, RELATED_CASES / 10);
}
END_TEST

/* --- proofs --- */

typedef enum { LESS, LESS_EQUAL, EQUAL, DIVIDES } relation;

typedef struct {
  relation relation;
  const char *text; /* with two roots */
  bool expected;
} proof_row;

static void check_proof(tj_job *job, void *data) {
  const proof_row *row = data;
  tj_graph *graph = tj_graph_create(job);
  const tj_node **roots;
  ck_assert_uint_eq(read_roots(graph, row->text, &roots), 2);
  const bool proven = row->relation == LESS         ? tj_prove_less(graph, roots[0], roots[1])
                      : row->relation == LESS_EQUAL ? tj_prove_less_equal(graph, roots[0], roots[1])
                      : row->relation == EQUAL      ? tj_prove_equal(graph, roots[0], roots[1])
                                                    : tj_prove_divides(graph, roots[0], roots[1]);
  ck_assert_msg(proven == row->expected, "%s: %s", row->text, proven ? "proven" : "not proven");
}

START_TEST(proofs) {
  proof_row rows[] = {
      {LESS, "coordinate i in 0..4, j in 5..9; root i root j", true},
      {LESS, "coordinate i in 0..5, j in 5..9; root i root j", false},
      {LESS, "coordinate i in 0..5; root i root i", false},
      {LESS, "coordinate i in 0..5; root i root i + 1", true},
      {LESS, "param M in 1..99; coordinate i in 0..M - 1; root i root M", true},
      {LESS, "param M in 1..99; coordinate i in 0..M; root i root M", false},
      {LESS_EQUAL, "param M in 1..99; coordinate i in 0..M; root i root M", true},
      {LESS, "param M; coordinate i in 0..M - 1; root i root M", true},
      {LESS, "param M in 1.., N in 1..; coordinate j in 0..M - 1, k in 0..N - 1; root j*N + k root M*N", true},
      {LESS, "param M in 1.., N in 1..; coordinate j in 0..M - 1, k in 0..N; root j*N + k root M*N", false},
      {LESS,
       "param M in 1.., N in 1..; coordinate i, j in 0..M - 1, k in 0..N - 1;"
       "root i*(M*N) + j*N + k root M*N*(i + 1)",
       true},
      {LESS_EQUAL, "param L in 1.., M in 1.., N in 1..; root M*N root L*M*N", true},
      {LESS_EQUAL, "param L in 0.., M in 1.., N in 1..; root M*N root L*M*N", false},
      {LESS, "param L in 1.., M in 1.., N in 1..; root M*N root L*M*N", false},
      {LESS_EQUAL, "param L in 1.., M in 1.., N in 1..; root (M + 3)*N + 4 root ((M + 3)*N + 4)*L", true},
      {LESS, "param K in 1.., L in 1.., M in 1.., N in 1..; root K*M*N - 1 root (K*M + 1)*L*N", true},
      {LESS, "param M in 1..99; coordinate x; root x%M root M", true},
      {LESS_EQUAL, "param M in 1..99; coordinate x in 0..; root x%M root x", true},
      {LESS_EQUAL, "param M in 1..99; coordinate x; root x%M root x", false},
      {LESS_EQUAL, "param M in 1..99; coordinate x; root x/M*M root x", true},
      {LESS, "param M in 1..99; coordinate x; root x - M root x/M*M", true},
      {LESS, "param M in 1..99, N in 1..99; coordinate x in 0..M*N - 1; root x/N root M", true},
      {LESS, "param M in 1..99, N in 1..99; coordinate x in 0..M*N; root x/N root M", false},
      {LESS_EQUAL, "param M, N; root min(M,N) root M", true},
      {LESS_EQUAL, "param M, N; root M root min(M,N)", false},
      {LESS_EQUAL, "param M, N; root N root max(M,N)", true},
      {LESS, "param M in 1..9; coordinate i in 0..M - 1; root select(i < 3,i,0) root M", true},
      {LESS_EQUAL, "param M in 0.., N in 0..; root M & N root N", true},
      {EQUAL, "param M, N; root (M + 1)*N root M*N + N", true},
      {EQUAL, "param M, N; root (M + 1)*N root M*N + M", false},
      {EQUAL, "param K multiple 64; root K/64*64 root K", true},
      {EQUAL, "param K multiple 64; root K/16/4*64 root K", true},
      {EQUAL, "param K multiple 64; root (K + 63)/64*64 root K", true},
      {EQUAL, "param K multiple 32; root K/64*64 root K", false},
      {EQUAL, "param K, M in 1..; root K*M/M*M root K*M", true},
      {EQUAL, "param K multiple 64, M in 1..; root K/64*M*64 root K*M", true},
      {LESS_EQUAL, "param K multiple 64; root K root K/64*64", true},
      {LESS_EQUAL, "param K; root K root K/64*64 + 63", true},
      {LESS_EQUAL, "param K; root K root K/64*64 + 62", false},
      {LESS_EQUAL, "param K multiple 2; root K root K/64*64 + 62", true},
      {DIVIDES, "param M multiple 64; root 64 root M*3", true},
      {DIVIDES, "param M multiple 64; root 128 root M*2 + 256", true},
      {DIVIDES, "param M multiple 64; root 128 root M*3", false},
      {DIVIDES, "param M, N; root N root M*N + 3*N", true},
      {DIVIDES, "param M, N; root N*2 root M*N*4", true},
      {DIVIDES, "param M, N; root N root M*N + 3", false},
      {DIVIDES, "param K in 64..640 multiple 64; root K/64 root K", true},
      {DIVIDES, "param K in 64..640 multiple 64, M in 1..9; root K/64*M root K*M*3", true},
      {DIVIDES, "param K in 64..640 multiple 32; root K/64 root K", false},
      {DIVIDES, "param K in 64..640 multiple 64; root K/64*5 root K", false},
      {DIVIDES, "param K in 1..9, N multiple K; root K root N", true},
      {DIVIDES, "param K in 1..9, N multiple K; root K root N*3 - K*5", true},
      {DIVIDES, "param K in 1..9, N multiple K; root K*2 root N*6", true},
      {DIVIDES, "param K in 1..9, N multiple K; root K*2 root N*3", false},
      {DIVIDES, "param K in 1..9, N multiple K; root K*K root N", false},
      {DIVIDES, "param K in 1..9, N multiple K; root N root K", false},
      {DIVIDES, "param K in 1..9, N multiple K; root K root N + 1", false},
      {DIVIDES, "param K in 1..9, L in 1..9, M multiple K, N multiple L; root K*L root M*N", true},
      {DIVIDES, "param K in 1..9, M multiple K, N multiple K; root K*K root M*N", true},
      {DIVIDES, "param K in 1..9, M multiple K, N multiple K; root K*K*K root M*N", false},
      {DIVIDES, "param J in 1..9, K in 1..99 multiple J, N multiple K; root J root N", true},
      {DIVIDES, "param K in 1..9, N multiple K*4; root 4 root N", true},
      {DIVIDES, "param K in 1..9, N multiple K*4; root K*2 root N", true},
      {DIVIDES, "param K in 1..9, N multiple K*4; root K*8 root N", false},
      {DIVIDES, "param K in 2..8 multiple 2, N multiple 4 multiple K; root 4 root N", true},
      {DIVIDES, "param K in 2..8 multiple 2, N multiple 4 multiple K; root 8 root N", false},
      {DIVIDES, "param K in 1..9, N multiple K + 1; root K + 1 root N", true},
      {DIVIDES, "param K in 1..9, N multiple K + 1; root K root N", false},
      {EQUAL, "param K in 1..9, N multiple K; root N/K*K root N", true},
      {EQUAL, "param K in 1..9, N multiple K; root N/K*K*3 root N*3", true},
      {EQUAL, "param K in 1..9, L in 1..9, N multiple L; root N/K*K root N", false},
      {LESS_EQUAL, "param K in 1..9, N in 1.. multiple K; root K root N", true},
      {LESS_EQUAL, "param K in 1..9, N in 0.. multiple K; root K root N", false},
      {LESS, "param K in 1..9, N in 1.. multiple K; coordinate i in 0..N/K - 1, j in 0..K - 1; root i*K + j root N",
       true},

      {DIVIDES, "param M, N; root M*N root M", false},
      {DIVIDES, "param M, N multiple 4; root M*8 root M*N*2", true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run(check_proof, &rows[i]);
}
END_TEST

/* What two ways of knowing a value give together, and predicates of facts. */
START_TEST(meeting) {
  const tj_facts even = {0, 100, 2, 0, 1, 0}, small = {-5, 9, 1, 0, 0, 0};
  const tj_facts both = tj_facts_meet(&even, &small);
  ck_assert_int_eq(both.low, 0);
  ck_assert_int_eq(both.high, 8);
  ck_assert_int_eq(both.modulus, 2);
  const tj_facts constant = tj_facts_of_constant(12);
  ck_assert(tj_facts_divisible(&constant, 4) && tj_facts_divisible(&constant, -3));
  ck_assert(!tj_facts_divisible(&constant, 5) && !tj_facts_divisible(&constant, 0));
  ck_assert(tj_facts_divisible(&both, 2) && !tj_facts_divisible(&both, 4));
  ck_assert(tj_facts_nonzero(&constant) && !tj_facts_nonzero(&both));
  ck_assert(tj_facts_bounded(&both) && tj_facts_nonnegative(&both) && !tj_facts_nonnegative(&small));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {facts, operations, related, proofs, meeting};
  return run_suite(suite_of("facts", tests, sizeof tests / sizeof *tests));
}
