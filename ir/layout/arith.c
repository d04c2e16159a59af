/* SPDX-License-Identifier: MIT */
/* Arithmetic without neutral operations, and decisions on symbolic integers. */
#include "ir/layout/arith.h"

#include "ir/index/choices.h"

#include "ir/index/print.h"
#include "ir/simplify/simplify.h"

#include <inttypes.h>

const tj_node *tj_terse_add(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(a, 0))
    return b;
  return tj_is_int(b, 0) ? a : tj_add(graph, a, b);
}

const tj_node *tj_terse_sub(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (a == b)
    return tj_int(graph, 0);
  if (a->op == TJ_OP_ADD && (a->arg[0] == b || a->arg[1] == b))
    return a->arg[0] == b ? a->arg[1] : a->arg[0];
  return tj_is_int(b, 0) ? a : tj_sub(graph, a, b);
}

const tj_node *tj_terse_mul(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(a, 1) || tj_is_int(b, 0))
    return b;
  return tj_is_int(b, 1) || tj_is_int(a, 0) ? a : tj_mul(graph, a, b);
}

const tj_node *tj_terse_div(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(b, 1))
    return a;
  const tj_node *quotient = tj_div(graph, a, b);
  return tj_is_int(a, 0) ? a : quotient;
}

const tj_node *tj_terse_mod(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(b, 1))
    return tj_int(graph, 0);
  const tj_node *remainder = tj_mod(graph, a, b);
  return tj_is_int(a, 0) ? a : remainder;
}

const tj_node *tj_terse_both(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(a, 1) || tj_is_int(b, 0) || a == b)
    return b;
  return tj_is_int(b, 1) || tj_is_int(a, 0) ? a : tj_and(graph, a, b);
}

const tj_node *tj_ceil_div(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(b, 1))
    return a;
  if (tj_decide_divides(graph, b, a) == TJ_YES)
    return tj_exact_div(graph, a, b);
  const tj_node *minus_one = tj_int(graph, -1), *one = tj_int(graph, 1);
  if (tj_is_constant(a) && tj_is_constant(b))
    return tj_add(graph, tj_div(graph, a, b), one);
  if (tj_is_constant(b))
    return tj_div(graph, tj_add(graph, a, tj_int(graph, b->value - 1)), b);
  return tj_add(graph, tj_div(graph, tj_add(graph, a, minus_one), b), one);
}

/* A factor b of the product a is taken out; NULL where it is not spelled out. */
static const tj_node *cancel_factor(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (a->op != TJ_OP_MUL)
    return NULL;
  if (a->arg[0] == b)
    return a->arg[1];
  if (a->arg[1] == b)
    return a->arg[0];
  for (int side = 0; side < 2; side++) {
    const tj_node *factor = a->arg[side], *other = a->arg[1 - side];
    bool divides = tj_is_constant(factor) && tj_is_constant(b) && b->value > 0 && factor->value % b->value == 0;
    if (divides)
      return tj_terse_mul(graph, other, tj_int(graph, factor->value / b->value));
  }
  return NULL;
}

const tj_node *tj_exact_div(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_int(b, 1))
    return a;
  if (a == b)
    return tj_int(graph, 1);
  if (b->op == TJ_OP_DIV && b->arg[0] == a && tj_prove_divides(graph, b->arg[1], a))
    return b->arg[1];
  const tj_node *rest = cancel_factor(graph, a, b);
  return rest != NULL ? rest : tj_terse_div(graph, a, b);
}

const tj_node *tj_absolute(tj_graph *graph, const tj_node *a) {
  if (tj_facts_nonnegative(&a->facts))
    return a;
  const tj_node *negated = tj_mul(graph, tj_int(graph, -1), a);
  return tj_is_constant(a) ? negated : tj_max(graph, a, negated);
}

static tj_decision decision(bool yes) {
  return yes ? TJ_YES : TJ_NO;
}

/* A relation of which nothing is known for all values of the parameters together: what holds in each case of those
 * that are one of a few values. */
static tj_decision in_each_case(tj_graph *graph, const tj_node *a, const tj_node *b,
                                tj_decision (*decide)(tj_graph *graph, const tj_node *a, const tj_node *b)) {
  const tj_node *sides[] = {a, b};
  tj_choices choices;
  tj_decision all = decide(graph, a, b);
  if (all != TJ_UNKNOWN || !tj_choices_of(graph, sides, 2, &choices))
    return all;
  for (uint32_t i = 0; i < choices.case_count; i++) {
    const tj_node *in_case[] = {a, b};
    tj_choices_take(graph, &choices, i, in_case, 2);
    tj_decision one = decide(graph, in_case[0], in_case[1]);
    if (one == TJ_UNKNOWN || (i > 0 && one != all))
      return TJ_UNKNOWN;
    all = one;
  }
  return all;
}

/* Whether samples show that the values differ somewhere. */
static bool differ_in_samples(const tj_node *a, const tj_node *b) {
  for (int i = 0; i < TJ_SAMPLE_COUNT; i++)
    if (a->sample[i] != TJ_NO_SAMPLE && b->sample[i] != TJ_NO_SAMPLE && a->sample[i] != b->sample[i])
      return true;
  return false;
}

static tj_decision equal_at_once(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (a == b)
    return TJ_YES;
  if (tj_is_constant(a) && tj_is_constant(b))
    return TJ_NO;
  if (tj_prove_equal(graph, a, b))
    return TJ_YES;
  if (tj_prove_less(graph, a, b) || tj_prove_less(graph, b, a))
    return TJ_NO;
  return !differ_in_samples(a, b) && tj_simplified(graph, a) == tj_simplified(graph, b) ? TJ_YES : TJ_UNKNOWN;
}

static tj_decision less_at_once(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_constant(a) && tj_is_constant(b))
    return decision(a->value < b->value);
  if (a == b)
    return TJ_NO;
  if (tj_prove_less(graph, a, b))
    return TJ_YES;
  return tj_prove_less_equal(graph, b, a) ? TJ_NO : TJ_UNKNOWN;
}

tj_decision tj_decide_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return in_each_case(graph, a, b, equal_at_once);
}

tj_decision tj_decide_less(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return in_each_case(graph, a, b, less_at_once);
}

tj_decision tj_decide_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  switch (tj_decide_less(graph, b, a)) {
  case TJ_YES:
    return TJ_NO;
  case TJ_NO:
    return TJ_YES;
  default:
    return TJ_UNKNOWN;
  }
}

tj_decision tj_decide_at_least(tj_graph *graph, const tj_node *value, int64_t least) {
  const tj_node *bound = tj_int(graph, least);
  tj_decision enough = tj_decide_less_equal(graph, bound, value);
  return enough != TJ_UNKNOWN ? enough : tj_decide_less_equal(graph, bound, tj_simplified(graph, value));
}

/* The residue of value shows that the constant divisor cannot divide it. */
static bool residue_excludes(const tj_facts *facts, const tj_node *divisor) {
  if (!tj_is_constant(divisor) || divisor->value <= 1 || facts->modulus % divisor->value != 0)
    return false;
  return facts->residue % divisor->value != 0;
}

static tj_decision divides_at_once(tj_graph *graph, const tj_node *divisor, const tj_node *value) {
  if (tj_is_int(divisor, 1) || tj_is_int(divisor, -1) || tj_is_int(value, 0) || divisor == value)
    return TJ_YES;
  if (tj_is_constant(divisor) && tj_is_constant(value))
    return decision(divisor->value != 0 && value->value % divisor->value == 0);
  if (tj_prove_divides(graph, divisor, value))
    return TJ_YES;
  return residue_excludes(&value->facts, divisor) ? TJ_NO : TJ_UNKNOWN;
}

tj_decision tj_decide_divides(tj_graph *graph, const tj_node *divisor, const tj_node *value) {
  return in_each_case(graph, divisor, value, divides_at_once);
}

const char *tj_describe(tj_graph *graph, const tj_node *node) {
  return tj_node_text(graph->job, node);
}

/* "M*2 is in 2..128 multiple 2" */
static const char *describe_facts(tj_graph *graph, const tj_node *node) {
  tj_job *job = graph->job;
  const tj_facts *facts = &node->facts;
  bool has_low = facts->low != INT64_MIN, has_high = facts->high != INT64_MAX;
  tj_text text = tj_text_begin(job);
  tj_text_format(&text, "%s is ", tj_node_brief(job, node));
  if (node->op == TJ_OP_SYMBOL && node->symbol->choice_count > 0) {
    tj_text_string(&text, tj_integers_text(job, node->symbol->choice, node->symbol->choice_count, " or "));
    return text.data;
  }
  if (has_low && has_high)
    tj_text_format(&text, "in %" PRId64 "..%" PRId64, facts->low, facts->high);
  else if (has_low || has_high)
    tj_text_format(&text, "%s %" PRId64, has_low ? "at least" : "at most", has_low ? facts->low : facts->high);
  else
    tj_text_string(&text, "any integer");
  if (facts->modulus > 1 && facts->residue == 0)
    tj_text_format(&text, " multiple %" PRId64, facts->modulus);
  return text.data;
}

const char *tj_describe_known(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_is_constant(b))
    return tj_is_constant(a) ? "" : tj_string_format(graph->job, "; %s", describe_facts(graph, a));
  if (tj_is_constant(a))
    return tj_string_format(graph->job, "; %s", describe_facts(graph, b));
  return tj_string_format(graph->job, "; %s, and %s", describe_facts(graph, a), describe_facts(graph, b));
}

void tj_fail_needs_divisible(tj_graph *graph, const char *what, const tj_node *value, const tj_node *divisor) {
  tj_fail(graph->job, TJ_NEEDS_FACT, "%s: needs %s divisible by %s%s", what, tj_describe(graph, value),
          tj_describe(graph, divisor), tj_describe_known(graph, value, divisor));
}

void tj_fail_needs(tj_graph *graph, const char *what, const tj_node *a, const char *relation, const tj_node *b) {
  tj_fail(graph->job, TJ_NEEDS_FACT, "%s: needs %s %s %s%s", what, tj_describe(graph, a), relation,
          tj_describe(graph, b), tj_describe_known(graph, a, b));
}
