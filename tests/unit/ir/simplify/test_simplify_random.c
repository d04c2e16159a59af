/* SPDX-License-Identifier: MIT */
/* The simplifier on random expressions, against the evaluator.
 *
 * Each expression is made of a few symbols of random domains (small, with symbolic bounds, unbounded, negative) and
 * of operations on earlier nodes, with a liking for what layouts are made of: digits, recompositions, range checks.
 * Several roots are simplified together, so that sharing matters. At random points of the domain the values before
 * and after must agree, and the facts of every node must hold; the result must not cost more. Sometimes each step of
 * the trace is compared too, which names the rule that is wrong.
 *
 * TILEJIT_RANDOM_COUNT says how many expressions, TILEJIT_SEED which. */
#include "ir/index/cost.h"
#include "ir/index/linear.h"
#include "ir/simplify/simplify.h"
#include "tests/unit/support/index_support.h"

#include <stdio.h>

typedef struct {
  tj_graph *graph;
  random_source random;
  const tj_node *pool[64];
  uint32_t count, symbols;
  uint64_t points, smaller; /* compared points; expressions that became cheaper */
  uint64_t seed;            /* of the expression at hand */
} generator;

static const tj_node *pick(generator *from) {
  uint32_t recent = from->count < 6 ? from->count : 6;
  return random_below(&from->random, 2) == 0 ? from->pool[from->count - 1 - random_below(&from->random, recent)]
                                             : from->pool[random_below(&from->random, from->count)];
}

static const tj_node *pick_symbol(generator *from) {
  return from->pool[random_below(&from->random, from->symbols)];
}

static const tj_node *constant(generator *from) {
  static const int64_t usual[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 24, 30, 32, 60, 63, 64, -1, -2, -6, 100};
  if (random_below(&from->random, 40) == 0)
    return tj_int(from->graph, random_integer(&from->random));
  return tj_int(from->graph, usual[random_below(&from->random, sizeof usual / sizeof *usual)]);
}

static const tj_node *positive(generator *from) {
  static const int64_t usual[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 24, 30, 32, 60, 64, 120, 128};
  if (random_below(&from->random, 4) == 0) {
    const tj_node *symbol = pick_symbol(from);
    if (symbol->facts.low >= 1)
      return symbol;
  }
  return tj_int(from->graph, usual[random_below(&from->random, sizeof usual / sizeof *usual)]);
}

static void add(generator *to, const tj_node *node) {
  to->pool[to->count++] = node;
}

/* --- symbols --- */

/* A multiple of the symbol before, where that is positive, at most so many times that. */
static const tj_node *multiple_of_last(generator *to, const char *name, int64_t times) {
  tj_graph *graph = to->graph;
  const tj_node *last = to->count > 0 ? to->pool[to->count - 1] : tj_int(graph, 6);
  return tj_symbol_declare(graph,
                           (tj_symbol){.name = name,
                                       .kind = TJ_SYMBOL_PARAMETER,
                                       .low = tj_int(graph, random_below(&to->random, 2)),
                                       .high = tj_int(graph, 24 * times),
                                       .multiple = 1,
                                       .divisor = last->facts.low >= 1 && last->facts.high <= 24 ? last : NULL});
}

/* One of three values. */
static const tj_node *one_of_three(generator *to, const char *name) {
  tj_graph *graph = to->graph;
  int64_t *value = TJ_NEW_ARRAY(graph->job, int64_t, 3), step = 1 + random_below(&to->random, 8);
  value[0] = random_below(&to->random, 3) * step;
  for (int i = 1; i < 3; i++)
    value[i] = value[i - 1] + (1 + random_below(&to->random, 3)) * step;
  return tj_symbol_declare(graph, (tj_symbol){.name = name,
                                              .kind = TJ_SYMBOL_PARAMETER,
                                              .low = tj_int(graph, value[0]),
                                              .high = tj_int(graph, value[2]),
                                              .multiple = 1,
                                              .choice = value,
                                              .choice_count = 3});
}

static void add_symbol(generator *to) {
  static const char *const names[] = {"a", "b", "c", "d", "e"};
  tj_graph *graph = to->graph;
  random_source *random = &to->random;
  const char *name = names[to->count];
  const tj_node *zero = tj_int(graph, 0), *one = tj_int(graph, 1);
  const int64_t extent = 1 + random_below(random, 24);
  switch (random_below(random, 11)) {
  case 10:
    add(to, one_of_three(to, name));
    return;
  case 0:
    add(to, tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, NULL, NULL, 1));
    return;
  case 8:
  case 9:
    add(to, multiple_of_last(to, name, extent));
    return;
  case 1:
    add(to, tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, zero, NULL, 1 + random_below(random, 4)));
    return;
  case 2:
    add(to, tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, -extent), tj_int(graph, extent), 1));
    return;
  case 3:
    add(to, tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, one, tj_int(graph, extent), 1));
    return;
  case 4:
    if (to->count > 0 && to->pool[to->count - 1]->facts.low >= 1) {
      add(to, tj_coordinate(graph, name, to->pool[to->count - 1]));
      return;
    }
    add(to, tj_symbol_create(graph, name, TJ_SYMBOL_PARAMETER, tj_int(graph, 8), tj_int(graph, 65536), 8));
    return;
  default:
    add(to, tj_coordinate(graph, name, tj_int(graph, extent)));
    return;
  }
}

/* --- operations --- */

static const tj_node *bits(generator *from, const tj_node *a, const tj_node *b) {
  tj_graph *graph = from->graph;
  if (a->facts.low < 0 || b->facts.low < 0)
    return tj_add(graph, a, b);
  switch (random_below(&from->random, 3)) {
  case 0:
    return tj_and(graph, a, b);
  case 1:
    return tj_or(graph, a, b);
  default:
    return tj_xor(graph, a, b);
  }
}

static const tj_node *truth(generator *from) {
  tj_graph *graph = from->graph;
  const tj_node *a = pick(from), *b = random_below(&from->random, 2) == 0 ? pick(from) : constant(from);
  const tj_node *compared = random_below(&from->random, 4) == 0 ? tj_equal(graph, a, b)
                            : random_below(&from->random, 2)    ? tj_less(graph, a, b)
                                                                : tj_less(graph, b, a);
  return random_below(&from->random, 5) == 0 ? tj_not(graph, compared) : compared;
}

static const tj_node *truths(generator *from) {
  const tj_node *a = truth(from), *b = truth(from);
  return random_below(&from->random, 2) == 0 ? tj_and(from->graph, a, b) : tj_or(from->graph, a, b);
}

/* (x/d)*d + x%d, and the like with two digits. */
static const tj_node *recomposed(generator *from) {
  tj_graph *graph = from->graph;
  const tj_node *x = pick(from), *d = positive(from), *e = positive(from);
  const tj_node *low = tj_mod(graph, x, d), *high = tj_div(graph, x, d);
  if (random_below(&from->random, 2) == 0)
    return tj_add(graph, tj_mul(graph, high, d), low);
  const tj_node *middle = tj_mul(graph, tj_mod(graph, high, e), d);
  const tj_node *top = tj_mul(graph, tj_div(graph, high, e), tj_mul(graph, d, e));
  return tj_add(graph, tj_add(graph, low, middle), random_below(&from->random, 2) == 0 ? top : x);
}

static const tj_node *linear(generator *from) {
  tj_graph *graph = from->graph;
  const tj_node *sum = tj_mul(graph, pick(from), random_below(&from->random, 3) ? constant(from) : pick_symbol(from));
  sum = tj_add(graph, sum, pick(from));
  return random_below(&from->random, 3) == 0 ? tj_sub(graph, sum, pick(from)) : sum;
}

/* Keeps expressions in the range where evaluation rarely overflows. */
static bool is_moderate(const tj_node *node) {
  return node->depth < 14;
}

static const tj_node *operation(generator *from) {
  tj_graph *graph = from->graph;
  switch (random_below(&from->random, 16)) {
  case 0:
  case 1:
    return linear(from);
  case 2:
    return tj_add(graph, pick(from), random_below(&from->random, 2) ? pick(from) : constant(from));
  case 3:
    return tj_mul(graph, pick(from), constant(from));
  case 4:
  case 5:
    return tj_div(graph, pick(from), positive(from));
  case 6:
  case 7:
    return tj_mod(graph, pick(from), positive(from));
  case 8:
    return recomposed(from);
  case 9:
    return bits(from, pick(from),
                random_below(&from->random, 2) ? pick(from) : tj_int(graph, 1 + random_below(&from->random, 64)));
  case 10:
    return random_below(&from->random, 2) ? tj_min(graph, pick(from), pick(from))
                                          : tj_max(graph, pick(from), constant(from));
  case 11:
    return tj_select(graph, truth(from), pick(from), random_below(&from->random, 2) ? pick(from) : constant(from));
  case 12:
    return random_below(&from->random, 2) ? truth(from) : truths(from);
  case 13:
    return random_below(&from->random, 2) ? tj_shl(graph, pick(from), tj_int(graph, random_below(&from->random, 6)))
                                          : tj_shr(graph, pick(from), tj_int(graph, random_below(&from->random, 6)));
  case 14: {
    const tj_node *divisor = constant(from);
    return tj_is_int(divisor, 0)            ? divisor
           : random_below(&from->random, 2) ? tj_div(graph, pick(from), divisor)
                                            : tj_mod(graph, pick(from), divisor);
  }
  default:
    return tj_sub(graph, pick(from), pick(from));
  }
}

static void generate(generator *to) {
  const uint32_t symbols = 1 + random_below(&to->random, 4), operations = 3 + random_below(&to->random, 10);
  to->count = 0;
  while (to->count < symbols)
    add_symbol(to);
  to->symbols = symbols;
  for (uint32_t i = 0; i < operations; i++) {
    const tj_node *made = operation(to);
    if (is_moderate(made))
      add(to, made);
  }
}

/* --- checking --- */

static const char *compare(generator *from, const tj_node *const before[], const tj_node *const after[],
                           size_t count) {
  enum { POINTS = 10 };
  point at = symbols_of(from->graph, before, count);
  comparison compared = begin_comparison(from->graph->job, before, after, count);
  const char *wrong = NULL;
  for (int i = 0; i < POINTS && wrong == NULL; i++)
    if (random_point(&from->random, &at))
      wrong = wrong_at(&compared, &at, &from->points);
  end_comparison(&compared);
  return wrong;
}

static void check_steps(generator *from, const tj_trace *trace) {
  for (size_t i = 0; i < trace->count; i++) {
    const tj_step *step = &trace->step[i];
    const char *wrong = compare(from, &step->before, &step->after, 1);
    ck_assert_msg(wrong == NULL, "seed %llu: %s: %s -> %s: %s", (unsigned long long)from->seed, step->rule,
                  tj_node_brief(from->graph->job, step->before), tj_node_brief(from->graph->job, step->after), wrong);
  }
}

/* The samples that nodes carry are values of theirs. */
static void check_samples(generator *from, const tj_node *const roots[], size_t count) {
  tj_walk walk = tj_walk_nodes(from->graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++)
    for (int k = 0; k < TJ_SAMPLE_COUNT; k++)
      ck_assert_msg(walk.node[i]->sample[k] == TJ_NO_SAMPLE ||
                        facts_contain(&walk.node[i]->facts, walk.node[i]->sample[k]),
                    "seed %llu: sample %d of %s", (unsigned long long)from->seed, k,
                    tj_node_brief(from->graph->job, walk.node[i]));
}

static void check_one(tj_job *job, void *data) {
  generator *from = data;
  from->graph = tj_graph_create(job);
  generate(from);
  const size_t count = 1 + random_below(&from->random, 3);
  const tj_node *before[3], *after[3];
  for (size_t i = 0; i < count; i++)
    before[i] = after[i] = from->pool[from->count - 1 - i % from->count];
  tj_trace trace = {0};
  const bool traced = random_below(&from->random, 16) == 0;
  tj_simplify(from->graph, after, count, traced ? &trace : NULL);
  const tj_op_counts old_cost = tj_count_ops(from->graph, before, count);
  const tj_op_counts new_cost = tj_count_ops(from->graph, after, count);
  tj_text text = tj_text_begin(job);
  tj_graph_print(&text, from->graph, before, count);
  ck_assert_msg(!tj_is_costlier(&new_cost, &old_cost), "seed %llu: costlier:\n%s", (unsigned long long)from->seed,
                text.data);
  from->smaller += tj_is_costlier(&old_cost, &new_cost);
  check_steps(from, &trace);
  check_samples(from, before, count);
  check_samples(from, after, count);
  const char *wrong = compare(from, before, after, count);
  ck_assert_msg(wrong == NULL, "seed %llu: %s\n%s", (unsigned long long)from->seed, wrong, text.data);
}

START_TEST(random_expressions_keep_their_values) {
  const uint64_t count = environment_number("TILEJIT_RANDOM_COUNT", 100000),
                 seed = environment_number("TILEJIT_SEED", 1);
  generator from = {.points = 0};
  printf("seed %llu, %llu expressions\n", (unsigned long long)seed, (unsigned long long)count);
  for (uint64_t i = 0; i < count; i++) {
    tj_job job;
    from.seed = seed + i;
    from.random.state = from.seed * UINT64_C(0x2545f4914f6cdd1d);
    tj_job_init(&job, NULL);
    if (tj_job_run(&job, check_one, &from) != TJ_OK)
      ck_assert_msg(job.problem.code == TJ_INTEGER_OVERFLOW || job.problem.code == TJ_NEGATIVE_BITS,
                    "seed %llu: TJ%d: %s", (unsigned long long)from.seed, (int)job.problem.code, job.problem.message);
    tj_job_destroy(&job);
  }
  printf("%llu points compared, %llu expressions became cheaper\n", (unsigned long long)from.points,
         (unsigned long long)from.smaller);
  ck_assert_uint_gt(from.points, count);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {random_expressions_keep_their_values};
  return run_suite(suite_of("simplify_random", tests, 1));
}
