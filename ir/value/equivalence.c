/* SPDX-License-Identifier: MIT */
/* Proving that two values are equal, or finding where they differ. */
#include "ir/value/equivalence.h"

#include "ir/index/choices.h"
#include "ir/index/eval.h"
#include "ir/index/facts.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "ir/value/equivalence_smt.h"
#include "ir/value/pairing.h"

#include <string.h>

enum { CASE_LIMIT = 1 << 24, CASES_PER_FUEL = 8, CASES_PER_TELL = 4096, SAMPLES = 200000, MOST_SYMBOLS = 64 };

/* Simplifies both sides and keeps the pairs that are still different expressions. */
static void drop_equal_pairs(tj_graph *graph, tj_pairing *pairs) {
  tj_simplify(graph, pairs->left, pairs->count, NULL);
  tj_simplify(graph, pairs->right, pairs->count, NULL);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < pairs->count; i++) {
    const tj_node *left = pairs->left[i], *right = pairs->right[i];
    if (left == right || tj_prove_equal(graph, left, right))
      continue;
    pairs->left[kept] = left;
    pairs->right[kept++] = right;
  }
  pairs->count = kept;
}

/* Whether the rules show the pairs equal in each case of the parameters that have a few values; *cases is how many
 * there are. */
static bool equal_in_each_case(tj_graph *graph, const tj_pairing *pairs, uint32_t *cases) {
  uint32_t count = pairs->count;
  const tj_node **roots = TJ_NEW_ARRAY(graph->job, const tj_node *, 2 * (size_t)count);
  tj_choices choices;
  memcpy(roots, pairs->left, count * sizeof *roots);
  memcpy(roots + count, pairs->right, count * sizeof *roots);
  if (!tj_choices_of(graph, roots, 2 * (size_t)count, &choices))
    return false;
  *cases = choices.case_count;
  for (uint32_t i = 0; i < choices.case_count; i++) {
    const tj_node **in_case = tj_arena_copy(&graph->job->arena, roots, 2 * (size_t)count * sizeof *roots);
    tj_choices_take(graph, &choices, i, in_case, 2 * (size_t)count);
    tj_pairing rest = {.left = in_case, .right = in_case + count, .count = count};
    drop_equal_pairs(graph, &rest);
    if (rest.count > 0)
      return false;
  }
  return true;
}

/* --- cases --- */

/* Values of the symbols that the pairs depend on, bounds of symbols included, in order of creation. */
typedef struct {
  tj_graph *graph;
  const tj_pairing *pairs;
  const tj_node *symbol[MOST_SYMBOLS];
  uint32_t symbol_count;
  int64_t value[MOST_SYMBOLS];
  int64_t *binding; /* by symbol index */
  int64_t *result;  /* of the left, then the right expressions */
  const tj_node **root;
  tj_evaluator *evaluator; /* of the roots, while cases are tried */
  uint64_t tried, total;
  uint64_t most; /* values of each symbol that are tried */
  bool is_cancelled, is_out_of_memory;
} cases;

static bool add_symbols(cases *all, const tj_node *const roots[], uint32_t count) {
  tj_walk walk = tj_walk_nodes(all->graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i];
    bool known = node->op != TJ_OP_SYMBOL;
    for (uint32_t k = 0; k < all->symbol_count && !known; k++)
      known = all->symbol[k] == node;
    if (known)
      continue;
    const tj_node *part[TJ_MOST_SYMBOL_PARTS];
    const unsigned part_count = tj_symbol_parts(node->symbol, part);
    if (!add_symbols(all, part, part_count) || all->symbol_count == MOST_SYMBOLS)
      return false;
    all->symbol[all->symbol_count++] = node;
  }
  return true;
}

static bool open_cases(tj_graph *graph, const tj_pairing *pairs, cases *all) {
  *all = (cases){.graph = graph, .pairs = pairs, .most = UINT64_MAX};
  all->root = TJ_NEW_ARRAY(graph->job, const tj_node *, 2 * (size_t)pairs->count);
  memcpy(all->root, pairs->left, pairs->count * sizeof *all->root);
  memcpy(all->root + pairs->count, pairs->right, pairs->count * sizeof *all->root);
  all->result = TJ_NEW_ARRAY(graph->job, int64_t, 2 * (size_t)pairs->count);
  all->binding = TJ_NEW_ARRAY(graph->job, int64_t, graph->symbol_count);
  return add_symbols(all, all->root, 2 * pairs->count);
}

static tj_bindings bindings_of(const cases *all) {
  return (tj_bindings){all->binding, NULL, all->graph->symbol_count};
}

static bool evaluate_bound(cases *all, const tj_node *bound, int64_t *value) {
  tj_bindings bindings = bindings_of(all);
  if (bound == NULL)
    return true;
  if (tj_is_constant(bound)) {
    *value = bound->value;
    return true;
  }
  tj_eval_status status = tj_eval_nodes(&bound, 1, &bindings, value);
  all->is_out_of_memory |= status == TJ_EVAL_NO_MEMORY;
  return status == TJ_EVAL_OK;
}

/* The values that a symbol may have: low, low + step … up to high; or, where there are any, those of `choice`. Small
 * are those from `first` on: the low one, or, where nobody says which is, 0. */
typedef struct {
  int64_t low, high, step, first;
  const int64_t *choice;
  uint32_t choice_count;
} progression;

/* The values of a symbol, given the symbols before it; false where there are none, or they are not known. */
static bool values_of(cases *all, const tj_symbol *symbol, progression *of) {
  int64_t divisor = 1;
  *of = (progression){INT64_MIN / 4, INT64_MAX / 4, 1, 0, symbol->choice, symbol->choice_count};
  if (symbol->choice_count > 0)
    return true;
  if (!evaluate_bound(all, symbol->low, &of->low) || !evaluate_bound(all, symbol->high, &of->high) ||
      !evaluate_bound(all, symbol->divisor, &divisor) || !tj_symbol_step(symbol, divisor, &of->step))
    return false;
  const int64_t below = of->low % of->step;
  if (below != 0 && __builtin_add_overflow(of->low, below > 0 ? of->step - below : -below, &of->low))
    return false;
  of->first = symbol->low != NULL || of->high < 0 ? of->low : 0;
  return of->low <= of->high;
}

/* Value number n, of which *value is the one before, in the order of counterexamples. False where there are no more.
 */
static bool next_value(const progression *of, uint64_t n, int64_t *value) {
  if (of->choice_count > 0) {
    *value = n < of->choice_count ? of->choice[n] : 0;
    return n < of->choice_count;
  }
  if (n == 0)
    *value = of->first;
  else if (__builtin_add_overflow(*value, of->step, value))
    return false;
  return *value <= of->high;
}

static void bind(cases *all, uint32_t index, int64_t value) {
  all->value[index] = value;
  all->binding[all->symbol[index]->symbol->index] = value;
}

static bool is_cancelled(cases *all) {
  if (all->tried % CASES_PER_TELL == 0)
    all->is_cancelled = !tj_tell(&all->graph->job->listener, "cases tried", all->tried, all->total);
  return all->is_cancelled;
}

/* Whether the pairs differ in the case that is bound. A case beyond 64 bits refutes nothing. */
static bool differs(cases *all) {
  uint32_t count = all->pairs->count;
  tj_bindings bindings = bindings_of(all);
  all->tried++;
  return tj_evaluator_run(all->evaluator, &bindings, all->result) == TJ_EVAL_OK &&
         memcmp(all->result, all->result + count, count * sizeof *all->result) != 0;
}

/* How many cases there are at most; UINT64_MAX for too many. */
static uint64_t count_cases(const cases *all) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < all->symbol_count; i++) {
    const tj_facts *facts = &all->symbol[i]->facts;
    uint64_t length = (uint64_t)facts->high - (uint64_t)facts->low;
    if (all->symbol[i]->symbol->choice_count > 0) {
      count *= all->symbol[i]->symbol->choice_count;
      if (count > CASE_LIMIT)
        return UINT64_MAX;
      continue;
    }
    bool overflows = !tj_facts_bounded(facts) || length == UINT64_MAX ||
                     __builtin_mul_overflow(count, length / (uint64_t)facts->modulus + 1, &count);
    if (overflows || count > CASE_LIMIT)
      return UINT64_MAX;
  }
  return count;
}

static bool try_all(cases *all, uint32_t index);

static bool try_value(cases *all, uint32_t index, int64_t value) {
  bind(all, index, value);
  return is_cancelled(all) || try_all(all, index + 1);
}

/* Tries every value of symbols `index` and later; true at the first case that differs. */
static bool try_all(cases *all, uint32_t index) {
  if (index == all->symbol_count)
    return differs(all);
  progression of;
  if (!values_of(all, all->symbol[index]->symbol, &of))
    return false;
  int64_t at = 0;
  for (uint64_t n = 0; n < all->most && next_value(&of, n, &at); n++) {
    if (try_value(all, index, at))
      return true;
  }
  return false;
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Mostly small values and values near the bounds, where expressions differ if they do. */
static int64_t random_value(uint64_t *state, const progression *of) {
  if (of->choice_count > 0)
    return of->choice[next_random(state) % of->choice_count];
  uint64_t steps = (uint64_t)(of->high - of->low) / (uint64_t)of->step;
  uint64_t within = steps < 64 || next_random(state) % 4 == 0 ? steps : 63;
  uint64_t step = within == UINT64_MAX ? next_random(state) : next_random(state) % (within + 1);
  bool from_above = next_random(state) % 4 == 0;
  return of->low + (int64_t)(from_above ? steps - step : step) * of->step;
}

static bool try_samples(cases *all) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (int n = 0; n < SAMPLES; n++) {
    bool has_case = true;
    for (uint32_t i = 0; i < all->symbol_count && has_case; i++) {
      progression of;
      has_case = values_of(all, all->symbol[i]->symbol, &of);
      if (has_case)
        bind(all, i, random_value(&state, &of));
    }
    if (is_cancelled(all) || (has_case && differs(all)))
      return true;
  }
  return false;
}

/* --- small cases --- */

enum { SMALL_CASES = 1 << 16, MOST_LESSENED = 4096, MOST_ROUNDS = 4 };

/* How many values of each symbol make SMALL_CASES together. */
static uint64_t values_of_small(uint32_t symbols) {
  uint64_t most = SMALL_CASES, product = 0;
  while (most > 1 && (product == 0 || product > SMALL_CASES)) {
    most = product == 0 ? most : most - (most > 256 ? most / 2 : 1);
    product = 1;
    for (uint32_t i = 0; i < symbols && product <= SMALL_CASES; i++)
      product *= most;
  }
  return most;
}

static bool try_small(cases *all) {
  all->most = values_of_small(all->symbol_count);
  bool found = try_all(all, 0);
  all->most = UINT64_MAX;
  return found;
}

/* Whether every symbol has one of its values. */
static bool is_case(cases *all) {
  for (uint32_t i = 0; i < all->symbol_count; i++) {
    progression of;
    if (!values_of(all, all->symbol[i]->symbol, &of))
      return false;
    bool is_listed = of.choice_count == 0;
    for (uint32_t k = 0; k < of.choice_count; k++)
      is_listed = is_listed || of.choice[k] == all->value[i];
    bool is_in = of.choice_count > 0 || (all->value[i] >= of.low && all->value[i] <= of.high &&
                                         ((uint64_t)all->value[i] - (uint64_t)of.low) % (uint64_t)of.step == 0);
    if (!is_listed || !is_in)
      return false;
  }
  return true;
}

/* Gives symbol `index` the first value at which they still differ; false where that is the one that it has. */
static bool lessen(cases *all, uint32_t index) {
  const int64_t before = all->value[index];
  progression of;
  int64_t value = 0;
  if (!values_of(all, all->symbol[index]->symbol, &of))
    return false;
  for (uint64_t n = 0; n < MOST_LESSENED && next_value(&of, n, &value) && value != before; n++) {
    bind(all, index, value);
    if (is_case(all) && differs(all))
      return true;
  }
  bind(all, index, before);
  return false;
}

/* Samples, and the counterexamples of solvers, are made small. */
static void lessen_all(cases *all) {
  bool is_less = true;
  for (int round = 0; round < MOST_ROUNDS && is_less; round++) {
    is_less = false;
    for (uint32_t i = 0; i < all->symbol_count; i++)
      is_less = lessen(all, i) || is_less;
  }
}

static bool try_small_then_samples(cases *all) {
  if (try_small(all))
    return true;
  if (all->is_cancelled || !try_samples(all))
    return false;
  if (!all->is_cancelled)
    lessen_all(all);
  return true;
}

/* Whether one of at most `count` cases that `try` goes through differs; it also ends where the work is cancelled.
 * Nothing fails while the evaluator lives. */
static bool refute(cases *all, uint64_t count, bool (*try)(cases *all)) {
  tj_job *job = all->graph->job;
  tj_spend(job, count / CASES_PER_FUEL);
  if (tj_evaluator_create(all->root, 2 * (size_t)all->pairs->count, &all->evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  all->total = count;
  bool found = try(all);
  tj_evaluator_destroy(all->evaluator);
  if (all->is_out_of_memory)
    tj_fail_out_of_memory(job);
  if (all->is_cancelled)
    tj_fail_cancelled(job);
  return found;
}

static bool try_every(cases *all) {
  return try_all(all, 0);
}

/* The case that the solver has found. */
static bool try_bound(cases *all) {
  for (uint32_t i = 0; i < all->symbol_count; i++)
    bind(all, i, all->value[i]);
  if (!differs(all))
    return false;
  lessen_all(all);
  return true;
}

static tj_equivalence verdict_of(const cases *all, tj_verdict verdict) {
  tj_arena *arena = &all->graph->job->arena;
  return (tj_equivalence){.verdict = verdict,
                          .symbol = tj_arena_copy(arena, all->symbol, sizeof all->symbol),
                          .value = tj_arena_copy(arena, all->value, sizeof all->value),
                          .symbol_count = all->symbol_count,
                          .case_count = all->tried};
}

static tj_equivalence undecided(const cases *all, const char *why_not) {
  return (tj_equivalence){.verdict = TJ_UNDECIDED, .case_count = all->tried, .why_not = why_not};
}

static bool has_few_cases(const cases *all) {
  return count_cases(all) <= CASE_LIMIT;
}

/* Whether the cases of a pair's own symbols are few, and the pair equal in each; all->tried counts them. */
static bool is_equal_by_own_cases(cases *all, tj_pairing *pair) {
  cases own;
  if (!open_cases(all->graph, pair, &own) || !has_few_cases(&own) || refute(&own, count_cases(&own), try_every))
    return false;
  all->tried += own.tried;
  return true;
}

/* Whether a pair is equal for each value of symbols that have a few, by rules or the solver. */
static bool is_equal_value_by_value(tj_graph *graph, const tj_pairing *pair) {
  const tj_node *const roots[] = {pair->left[0], pair->right[0]};
  tj_choices choices;
  if (!tj_choices_of_ranges(graph, roots, 2, &choices))
    return false;
  for (uint32_t i = 0; i < choices.case_count; i++) {
    const tj_node *in_case[] = {roots[0], roots[1]};
    const char *why_not;
    cases rest;
    if (!tj_tell(&graph->job->listener, "values given to Z3", i, choices.case_count))
      tj_fail_cancelled(graph->job);
    tj_choices_take(graph, &choices, i, in_case, 2);
    tj_pairing left_over = {.left = &in_case[0], .right = &in_case[1], .count = 1};
    drop_equal_pairs(graph, &left_over);
    if (left_over.count == 0)
      continue;
    if (!open_cases(graph, &left_over, &rest) ||
        tj_smt_compare(graph, in_case[0], in_case[1], rest.symbol, rest.symbol_count, rest.value, &why_not) !=
            TJ_SMT_EQUAL)
      return false;
  }
  return true;
}

/* Pair by pair: by its own cases, by the solver, and by the solver for each value of some symbols. */
static tj_equivalence ask_solver(cases *all) {
  bool is_solved = false;
  for (uint32_t i = 0; i < all->pairs->count; i++) {
    const char *why_not;
    tj_pairing pair = {.left = &all->pairs->left[i], .right = &all->pairs->right[i], .count = 1};
    if (!tj_tell(&all->graph->job->listener, "expressions given to Z3", i, all->pairs->count))
      tj_fail_cancelled(all->graph->job);
    if (all->pairs->count > 1 && is_equal_by_own_cases(all, &pair))
      continue;
    is_solved = true;
    tj_smt_answer answer =
        tj_smt_compare(all->graph, pair.left[0], pair.right[0], all->symbol, all->symbol_count, all->value, &why_not);
    if (answer == TJ_SMT_UNDECIDED && !is_equal_value_by_value(all->graph, &pair))
      return undecided(all, why_not);
    if (answer == TJ_SMT_DIFFERENT)
      return refute(all, 1, try_bound) ? verdict_of(all, TJ_DIFFERENT)
                                       : undecided(all, "Z3 has a counterexample that does not fit in 64 bits");
  }
  return verdict_of(all, is_solved ? TJ_EQUAL_BY_SMT : TJ_EQUAL_BY_CASES);
}

static tj_equivalence decide(tj_graph *graph, const tj_pairing *pairs, bool has_solver) {
  cases all;
  if (!open_cases(graph, pairs, &all))
    return undecided(&all, "there are too many symbols");
  const uint64_t count = count_cases(&all);
  const bool is_small = has_few_cases(&all);
  if (refute(&all, is_small ? count : SAMPLES + SMALL_CASES, is_small ? try_every : try_small_then_samples))
    return verdict_of(&all, TJ_DIFFERENT);
  return is_small     ? verdict_of(&all, TJ_EQUAL_BY_CASES)
         : has_solver ? ask_solver(&all)
                      : undecided(&all, "none asked");
}

/* What the roots are in the case that is found; NULL where they do not fit in 64 bits. */
static const int64_t *values_in_case(tj_graph *graph, const tj_equivalence *found, const tj_node *const roots[],
                                     uint32_t count) {
  int64_t *binding = TJ_NEW_ARRAY(graph->job, int64_t, graph->symbol_count + 1);
  int64_t *value = TJ_NEW_ARRAY(graph->job, int64_t, count + 1);
  for (uint32_t i = 0; i < found->symbol_count; i++)
    binding[found->symbol[i]->symbol->index] = found->value[i];
  tj_bindings bindings = {binding, NULL, graph->symbol_count};
  tj_eval_status status = tj_eval_nodes(roots, count, &bindings, value);
  if (status == TJ_EVAL_NO_MEMORY)
    tj_fail_out_of_memory(graph->job);
  return status == TJ_EVAL_OK ? value : NULL;
}

static tj_sided_value side_in_case(tj_graph *graph, const tj_equivalence *found, const tj_node *const roots[],
                                   const tj_pairing *pairs) {
  const int64_t *leaf = values_in_case(graph, found, roots, pairs->count);
  return (tj_sided_value){.leaf = leaf,
                          .is_valid = !pairs->has_validity || (leaf != NULL && leaf[pairs->count - 1] != 0)};
}

static tj_pairing copy_of(tj_graph *graph, const tj_pairing *pairs) {
  tj_pairing copy = *pairs;
  copy.left = tj_arena_copy(&graph->job->arena, pairs->left, pairs->count * sizeof *pairs->left);
  copy.right = tj_arena_copy(&graph->job->arena, pairs->right, pairs->count * sizeof *pairs->right);
  return copy;
}

static tj_equivalence equivalence_of(tj_graph *graph, const tj_value *a, const tj_value *b, bool has_solver) {
  tj_pairing pairs = {0};
  if (!tj_pair_values(graph, a, b, &pairs))
    return (tj_equivalence){.verdict = TJ_DIFFERENT_DOMAINS, .why_not = pairs.why};
  const tj_pairing whole = copy_of(graph, &pairs);
  drop_equal_pairs(graph, &pairs);
  uint32_t case_count = 0;
  if (pairs.count == 0 || equal_in_each_case(graph, &pairs, &case_count))
    return (tj_equivalence){.verdict = TJ_EQUAL_BY_RULES, .case_count = case_count};
  tj_equivalence found = decide(graph, &pairs, has_solver);
  if (found.verdict != TJ_DIFFERENT)
    return found;
  found.left = side_in_case(graph, &found, whole.left, &whole);
  found.right = side_in_case(graph, &found, whole.right, &whole);
  found.leaf_count = whole.count - (whole.has_validity ? 1 : 0);
  return found;
}

tj_equivalence tj_equivalence_of(tj_graph *graph, const tj_value *a, const tj_value *b) {
  return equivalence_of(graph, a, b, true);
}

tj_equivalence tj_equivalence_by_cases(tj_graph *graph, const tj_value *a, const tj_value *b) {
  return equivalence_of(graph, a, b, false);
}

tj_equivalence tj_equivalence_of_nodes(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (a == b)
    return (tj_equivalence){.verdict = TJ_EQUAL_AS_IS};
  return decide(graph, &(tj_pairing){.left = &a, .right = &b, .count = 1}, true);
}

bool tj_is_equal(tj_verdict verdict) {
  return verdict == TJ_EQUAL_BY_RULES || verdict == TJ_EQUAL_BY_CASES || verdict == TJ_EQUAL_BY_SMT ||
         verdict == TJ_EQUAL_AS_IS;
}
