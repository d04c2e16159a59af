/* SPDX-License-Identifier: MIT */
/* What tests of index expressions share: reading text, random numbers, points of the symbols' domains, and comparing
 * expressions by evaluating them there. */
#ifndef TJ_TESTS_INDEX_SUPPORT_H
#define TJ_TESTS_INDEX_SUPPORT_H

#include "base/text.h"
#include "ir/index/eval.h"
#include "ir/index/facts.h"
#include "ir/index/print.h"
#include "ir/index/walk.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/random_source.h"

#include <string.h>

enum { MOST_SYMBOLS = 16 };

/* --- random numbers --- */

static inline uint64_t environment_number(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

/* --- text --- */

static inline size_t read_roots(tj_graph *graph, const char *text, const tj_node ***roots) {
  tj_source *source = TJ_NEW(graph->job, tj_source);
  *source = tj_source_of("test", text, strlen(text));
  graph->job->source = *source;
  return tj_graph_read(graph, source, roots);
}

static inline const tj_node *read_root(tj_graph *graph, const char *text) {
  const tj_node **roots;
  ck_assert_uint_eq(read_roots(graph, text, &roots), 1);
  return roots[0];
}

/* --- points --- */

/* The symbols that expressions depend on, through bounds also, older first, and one value for each. */
typedef struct {
  const tj_node *symbol[MOST_SYMBOLS];
  uint32_t count;
  int64_t value[MOST_SYMBOLS * 4]; /* by symbol index */
} point;

static inline tj_bindings bindings_of(const point *at) {
  return (tj_bindings){at->value, NULL, MOST_SYMBOLS * 4};
}

static inline void add_symbols(tj_graph *graph, point *at, const tj_node *const roots[], size_t count) {
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i];
    bool known = node->op != TJ_OP_SYMBOL;
    for (uint32_t k = 0; k < at->count && !known; k++)
      known = at->symbol[k] == node;
    if (known)
      continue;
    const tj_node *part[TJ_MOST_SYMBOL_PARTS];
    add_symbols(graph, at, part, tj_symbol_parts(node->symbol, part));
    ck_assert_uint_lt(at->count, MOST_SYMBOLS);
    ck_assert_uint_lt(node->symbol->index, MOST_SYMBOLS * 4);
    at->symbol[at->count++] = node;
  }
}

static inline point symbols_of(tj_graph *graph, const tj_node *const roots[], size_t count) {
  point at = {.count = 0};
  add_symbols(graph, &at, roots, count);
  return at;
}

/* The bounds of symbol k, given the values of those before it; INT64_MIN and INT64_MAX where there are none. */
static inline bool bounds_at(const point *at, uint32_t k, int64_t *low, int64_t *high) {
  const tj_symbol *symbol = at->symbol[k]->symbol;
  const tj_bindings bindings = bindings_of(at);
  *low = INT64_MIN;
  *high = INT64_MAX;
  if (symbol->low != NULL && tj_eval_nodes(&symbol->low, 1, &bindings, low) != TJ_EVAL_OK)
    return false;
  return symbol->high == NULL || tj_eval_nodes(&symbol->high, 1, &bindings, high) == TJ_EVAL_OK;
}

/* What symbol k is a multiple of, likewise; 0: nothing. */
static inline int64_t step_at(const point *at, uint32_t k) {
  const tj_symbol *symbol = at->symbol[k]->symbol;
  const tj_bindings bindings = bindings_of(at);
  int64_t divisor = 1, step;
  if (symbol->divisor != NULL && tj_eval_nodes(&symbol->divisor, 1, &bindings, &divisor) != TJ_EVAL_OK)
    return 0;
  return tj_symbol_step(symbol, divisor, &step) ? step : 0;
}

/* The first value of symbol k; false where it has none. */
static inline bool begin_symbol(point *at, uint32_t k) {
  int64_t low, high;
  const tj_symbol *symbol = at->symbol[k]->symbol;
  if (symbol->choice_count > 0) {
    at->value[symbol->index] = symbol->choice[0];
    return true;
  }
  const int64_t multiple = step_at(at, k);
  if (!bounds_at(at, k, &low, &high) || multiple == 0)
    return false;
  const int64_t rest = ((low % multiple) + multiple) % multiple;
  at->value[at->symbol[k]->symbol->index] = rest == 0 ? low : low + multiple - rest;
  return at->value[at->symbol[k]->symbol->index] <= high;
}

static inline bool step_symbol(point *at, uint32_t k) {
  int64_t low, high;
  const tj_symbol *symbol = at->symbol[k]->symbol;
  int64_t *value = &at->value[symbol->index];
  for (uint32_t i = 1; i < symbol->choice_count; i++) {
    if (symbol->choice[i - 1] == *value) {
      *value = symbol->choice[i];
      return true;
    }
  }
  if (symbol->choice_count > 0)
    return false;
  bounds_at(at, k, &low, &high);
  *value += step_at(at, k);
  return *value <= high;
}

/* Gives symbols from k on their first values, skipping values of earlier ones, from k on, that leave none. */
static inline bool settle_from(point *at, uint32_t k) {
  uint32_t begin = k;
  bool has_value = k == at->count || begin_symbol(at, k);
  while (k < at->count) {
    if (has_value) {
      if (++k < at->count)
        has_value = begin_symbol(at, k);
    } else {
      if (k == begin)
        return false;
      has_value = step_symbol(at, --k);
    }
  }
  return true;
}

static inline bool first_point(point *at) {
  return settle_from(at, 0);
}

/* The next point, the newest symbol fastest; false after the last. Symbols must be bounded. */
static inline bool next_point(point *at) {
  for (uint32_t k = at->count; k-- > 0;)
    while (step_symbol(at, k))
      if (settle_from(at, k + 1))
        return true;
  return false;
}

static inline int64_t random_integer(random_source *source) {
  static const unsigned widths[] = {3, 3, 5, 8, 16, 30, 40};
  uint64_t bits = random_next(source) & ((UINT64_C(1) << widths[random_below(source, 7)]) - 1);
  return random_below(source, 2) == 0 ? (int64_t)bits : -(int64_t)bits;
}

static inline bool random_symbol(random_source *source, point *at, uint32_t k) {
  const tj_symbol *listed = at->symbol[k]->symbol;
  if (listed->choice_count > 0) {
    at->value[listed->index] = listed->choice[random_below(source, (int64_t)listed->choice_count)];
    return true;
  }
  int64_t low, high;
  const int64_t multiple = step_at(at, k);
  if (!bounds_at(at, k, &low, &high) || multiple == 0)
    return false;
  int64_t chosen = random_integer(source);
  if (low != INT64_MIN && high != INT64_MAX && low <= high)
    chosen = low + (int64_t)(random_next(source) % (uint64_t)(high - low + 1));
  else if (low != INT64_MIN)
    chosen = low + (chosen < 0 ? -chosen : chosen);
  else if (high != INT64_MAX)
    chosen = high - (chosen < 0 ? -chosen : chosen);
  if (random_below(source, 4) == 0 && low != INT64_MIN)
    chosen = low;
  if (random_below(source, 4) == 0 && high != INT64_MAX)
    chosen = high;
  chosen -= ((chosen % multiple) + multiple) % multiple;
  if (chosen < low)
    chosen += multiple;
  at->value[at->symbol[k]->symbol->index] = chosen;
  return low <= chosen && chosen <= high;
}

static inline bool random_point(random_source *source, point *at) {
  for (uint32_t k = 0; k < at->count; k++)
    if (!random_symbol(source, at, k))
      return false;
  return true;
}

static inline const char *point_text(tj_job *job, const point *at) {
  tj_text text = tj_text_begin(job);
  for (uint32_t k = 0; k < at->count; k++)
    tj_text_format(&text, "%s%s=%lld", k == 0 ? "" : " ", at->symbol[k]->symbol->name,
                   (long long)at->value[at->symbol[k]->symbol->index]);
  return text.data;
}

/* --- comparing --- */

static inline bool facts_contain(const tj_facts *facts, int64_t value) {
  const int64_t rest = value % facts->modulus;
  if (value < facts->low || value > facts->high)
    return false;
  if ((rest < 0 ? rest + facts->modulus : rest) != facts->residue)
    return false;
  return (facts->zeros == 0 && facts->ones == 0) ||
         (value >= 0 && ((uint64_t)value & facts->zeros) == 0 && (~(uint64_t)value & facts->ones) == 0);
}

/* Two lists of expressions of the same values, prepared to be compared at points. */
typedef struct {
  tj_job *job;
  size_t count;
  tj_evaluator *before, *after;
} comparison;

static inline comparison begin_comparison(tj_job *job, const tj_node *const before[], const tj_node *const after[],
                                          size_t count) {
  comparison compared = {job, count, NULL, NULL};
  ck_assert_int_eq(tj_evaluator_create(before, count, &compared.before), TJ_EVAL_OK);
  ck_assert_int_eq(tj_evaluator_create(after, count, &compared.after), TJ_EVAL_OK);
  return compared;
}

static inline void end_comparison(comparison *compared) {
  tj_evaluator_destroy(compared->before);
  tj_evaluator_destroy(compared->after);
}

/* What is wrong with the facts of an evaluator's nodes, at the point it ran at; NULL: nothing. */
static inline const char *wrong_facts(tj_job *job, const tj_evaluator *evaluator) {
  for (size_t i = 0; i < tj_evaluator_node_count(evaluator); i++) {
    const tj_node *node = tj_evaluator_node(evaluator, i);
    if (!facts_contain(&node->facts, tj_evaluator_value(evaluator, i)))
      return tj_string_format(
          job, "the facts of %s (low %lld high %lld, %lld mod %lld, zeros %llx ones %llx) miss %lld",
          tj_node_brief(job, node), (long long)node->facts.low, (long long)node->facts.high,
          (long long)node->facts.residue, (long long)node->facts.modulus, (unsigned long long)node->facts.zeros,
          (unsigned long long)node->facts.ones, (long long)tj_evaluator_value(evaluator, i));
  }
  return NULL;
}

/* What is wrong at a point: values that differ, facts that do not hold; NULL: nothing, or an overflow. `compared_at`
 * counts the points where both had values. */
static inline const char *wrong_at(comparison *compared, const point *at, uint64_t *compared_at) {
  int64_t before[64], after[64];
  const tj_bindings bindings = bindings_of(at);
  const tj_eval_status first = tj_evaluator_run(compared->before, &bindings, before);
  const tj_eval_status second = tj_evaluator_run(compared->after, &bindings, after);
  if (first == TJ_EVAL_OVERFLOW || second == TJ_EVAL_OVERFLOW)
    return NULL;
  if (first != TJ_EVAL_OK || second != TJ_EVAL_OK)
    return tj_string_format(compared->job, "at %s: evaluation ends with %d, %d", point_text(compared->job, at), first,
                            second);
  (*compared_at)++;
  for (size_t i = 0; i < compared->count; i++)
    if (before[i] != after[i])
      return tj_string_format(compared->job, "at %s: root %zu is %lld, then %lld", point_text(compared->job, at), i,
                              (long long)before[i], (long long)after[i]);
  const char *wrong = wrong_facts(compared->job, compared->before);
  return wrong != NULL ? wrong : wrong_facts(compared->job, compared->after);
}

#endif
