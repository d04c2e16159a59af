/* SPDX-License-Identifier: MIT */
/* Rules of minima, maxima and choices. */
#include "ir/simplify/rules.h"

/* --- what several groups share --- */

/* The terms that two forms have in common, and what each has besides. */
void tj_rule_common_terms(const tj_linear *a, const tj_linear *b, tj_sum *common, tj_sum *only_a, tj_sum *only_b) {
  *common = tj_sum_of(0);
  *only_a = tj_sum_of(a->constant);
  *only_b = tj_sum_of(b->constant);
  uint32_t i = 0, k = 0;
  while (i < a->count || k < b->count) {
    int order = i == a->count ? 1 : k == b->count ? -1 : tj_compare_monomials(&a->term[i], &b->term[k]);
    if (order == 0 && a->term[i].coefficient == b->term[k].coefficient) {
      tj_sum_add_term(common, &a->term[i++], 1);
      k++;
      continue;
    }
    if (order <= 0)
      tj_sum_add_term(only_a, &a->term[i++], 1);
    if (order >= 0)
      tj_sum_add_term(only_b, &b->term[k++], 1);
  }
  if (a->constant == b->constant) {
    common->constant = a->constant;
    only_a->constant = only_b->constant = 0;
  }
}

/* --- minimum and maximum --- */

/* a <= b, by their alternatives where they are extremes. */
static bool is_below(tj_graph *graph, const tj_node *a, const tj_node *b) {
  if (tj_prove_less_equal(graph, a, b))
    return true;
  if (b->op == TJ_OP_MIN)
    return tj_prove_less_equal(graph, a, b->arg[0]) && tj_prove_less_equal(graph, a, b->arg[1]);
  return a->op == TJ_OP_MAX && tj_prove_less_equal(graph, a->arg[0], b) && tj_prove_less_equal(graph, a->arg[1], b);
}

static const tj_node *ordered(tj_rewriter *rewriter, const tj_node *node) {
  for (int i = 0; i < 2; i++) {
    const tj_node *a = node->arg[i], *b = node->arg[1 - i];
    if (!is_below(rewriter->graph, a, b))
      continue;
    TJ_BECAUSE(rewriter, "%s <= %s", tj_rule_text(rewriter, a), tj_rule_text(rewriter, b));
    return node->op == TJ_OP_MIN ? a : b;
  }
  return NULL;
}

/* op(op(x, c1), c2) */
static const tj_node *nested(tj_rewriter *rewriter, const tj_node *node) {
  for (int i = 0; i < 2; i++) {
    const tj_node *inner = node->arg[i], *other = node->arg[1 - i];
    if (inner->op == node->op && tj_is_constant(inner->arg[1]) && tj_is_constant(other))
      return tj_simple2(rewriter, node->op, inner->arg[0], tj_simple2(rewriter, node->op, inner->arg[1], other));
  }
  return NULL;
}

static const tj_node *of_sums(tj_rewriter *rewriter, const tj_node *node) {
  tj_graph *graph = rewriter->graph;
  tj_sum common, only_a, only_b;
  tj_rule_common_terms(tj_linear_of(graph, node->arg[0]), tj_linear_of(graph, node->arg[1]), &common, &only_a,
                       &only_b);
  if (common.count == 0 && common.constant == 0)
    return NULL;
  const tj_node *a = tj_simple_sum(rewriter, &only_a), *b = tj_simple_sum(rewriter, &only_b);
  if (a == NULL || b == NULL)
    return NULL;
  tj_sum_add(&common, tj_linear_of(graph, tj_simple2(rewriter, node->op, a, b)), 1);
  return tj_simple_sum(rewriter, &common);
}

/* What all terms of both forms, and their constants, have in common. */
static tj_term common_factor(const tj_linear *a, const tj_linear *b) {
  tj_term common = a->count > 0 ? a->term[0] : b->term[0];
  const tj_linear *forms[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    for (uint32_t k = 0; k < forms[i]->count; k++)
      common = tj_term_gcd(&common, &forms[i]->term[k]);
    if (forms[i]->constant != 0)
      common = tj_term_gcd(&common, &(tj_term){.coefficient = forms[i]->constant});
  }
  return common;
}

static const tj_node *divided(tj_rewriter *rewriter, const tj_linear *form, const tj_term *by) {
  tj_sum sum = tj_sum_of(form->constant == 0 ? 0 : form->constant / by->coefficient);
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term quotient;
    tj_term_divide(&form->term[i], by, &quotient);
    tj_sum_add_term(&sum, &quotient, 1);
  }
  return tj_simple_sum(rewriter, &sum);
}

static const tj_node *of_multiples(tj_rewriter *rewriter, const tj_node *node) {
  tj_graph *graph = rewriter->graph;
  const tj_linear *a = tj_linear_of(graph, node->arg[0]), *b = tj_linear_of(graph, node->arg[1]);
  if (a->count + b->count == 0)
    return NULL;
  tj_term common = common_factor(a, b);
  if (!tj_term_is_positive(&common))
    common.degree = 0;
  if (common.degree == 0 && common.coefficient == 1)
    return NULL;
  const tj_node *extreme =
      tj_simple2(rewriter, node->op, divided(rewriter, a, &common), divided(rewriter, b, &common));
  return tj_simple2(rewriter, TJ_OP_MUL, extreme, tj_monomial_node(graph, &common));
}

const tj_node *tj_rule_minimum_of_multiples(tj_rewriter *rewriter, const tj_node *node) {
  return of_multiples(rewriter, node);
}

const tj_node *tj_rule_maximum_of_multiples(tj_rewriter *rewriter, const tj_node *node) {
  return of_multiples(rewriter, node);
}

const tj_node *tj_rule_minimum_by_order(tj_rewriter *rewriter, const tj_node *node) {
  return ordered(rewriter, node);
}

const tj_node *tj_rule_maximum_by_order(tj_rewriter *rewriter, const tj_node *node) {
  return ordered(rewriter, node);
}

const tj_node *tj_rule_minimum_of_minimum(tj_rewriter *rewriter, const tj_node *node) {
  return nested(rewriter, node);
}

const tj_node *tj_rule_maximum_of_maximum(tj_rewriter *rewriter, const tj_node *node) {
  return nested(rewriter, node);
}

const tj_node *tj_rule_minimum_of_sums(tj_rewriter *rewriter, const tj_node *node) {
  return of_sums(rewriter, node);
}

const tj_node *tj_rule_maximum_of_sums(tj_rewriter *rewriter, const tj_node *node) {
  return of_sums(rewriter, node);
}

const tj_node *tj_rule_minimum_order(tj_rewriter *rewriter, const tj_node *node) {
  return tj_rule_in_order(rewriter, node);
}

const tj_node *tj_rule_maximum_order(tj_rewriter *rewriter, const tj_node *node) {
  return tj_rule_in_order(rewriter, node);
}

/* --- choices --- */

const tj_node *tj_rule_select_decided(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  if (node->arg[1] == node->arg[2])
    return node->arg[1];
  if (!tj_is_constant(node->arg[0]))
    return NULL;
  return node->arg[0]->value == 1 ? node->arg[1] : node->arg[2];
}

static bool is_negated_truth(const tj_node *node) {
  return node->op == TJ_OP_EQUAL && tj_is_int(node->arg[1], 0) && tj_is_truth(node->arg[0]);
}

const tj_node *tj_rule_select_of_not(tj_rewriter *rewriter, const tj_node *node) {
  if (!is_negated_truth(node->arg[0]))
    return NULL;
  return tj_simple_select(rewriter, node->arg[0]->arg[0], node->arg[2], node->arg[1]);
}

const tj_node *tj_rule_select_of_truths(tj_rewriter *rewriter, const tj_node *node) {
  if (tj_is_int(node->arg[1], 1) && tj_is_int(node->arg[2], 0))
    return node->arg[0];
  if (tj_is_int(node->arg[1], 0) && tj_is_int(node->arg[2], 1))
    return tj_simple2(rewriter, TJ_OP_EQUAL, node->arg[0], node->arg[1]);
  return NULL;
}

const tj_node *tj_rule_select_nested(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *condition = node->arg[0], *then = node->arg[1], *otherwise = node->arg[2];
  if (then->op == TJ_OP_SELECT && then->arg[0] == condition)
    return tj_simple_select(rewriter, condition, then->arg[1], otherwise);
  if (otherwise->op == TJ_OP_SELECT && otherwise->arg[0] == condition)
    return tj_simple_select(rewriter, condition, then, otherwise->arg[2]);
  return NULL;
}

/* b - a for a node a < b, compared with y - x: the same, or one less (a < b is then x <= y). */
static bool compares(tj_rewriter *rewriter, const tj_node *less, const tj_node *x, const tj_node *y) {
  tj_sum difference = tj_sum_of(0);
  tj_sum_add(&difference, tj_linear_of(rewriter->graph, less->arg[1]), 1);
  tj_sum_add(&difference, tj_linear_of(rewriter->graph, less->arg[0]), -1);
  tj_sum_add(&difference, tj_linear_of(rewriter->graph, y), -1);
  tj_sum_add(&difference, tj_linear_of(rewriter->graph, x), 1);
  return !difference.failed && difference.count == 0 && (difference.constant == 0 || difference.constant == 1);
}

const tj_node *tj_rule_select_minimum(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *condition = node->arg[0], *then = node->arg[1], *otherwise = node->arg[2];
  if (condition->op != TJ_OP_LESS)
    return NULL;
  if (compares(rewriter, condition, then, otherwise))
    return tj_simple2(rewriter, TJ_OP_MIN, then, otherwise);
  if (compares(rewriter, condition, otherwise, then))
    return tj_simple2(rewriter, TJ_OP_MAX, then, otherwise);
  return NULL;
}

const tj_node *tj_rule_select_equal(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *condition = node->arg[0], *then = node->arg[1], *otherwise = node->arg[2];
  (void)rewriter;
  if (condition->op != TJ_OP_EQUAL)
    return NULL;
  if ((condition->arg[0] == then && condition->arg[1] == otherwise) ||
      (condition->arg[0] == otherwise && condition->arg[1] == then))
    return otherwise;
  return NULL;
}

const tj_node *tj_rule_select_common(tj_rewriter *rewriter, const tj_node *node) {
  tj_graph *graph = rewriter->graph;
  tj_sum common, then_only, else_only;
  tj_rule_common_terms(tj_linear_of(graph, node->arg[1]), tj_linear_of(graph, node->arg[2]), &common, &then_only,
                       &else_only);
  if (common.count == 0)
    return NULL;
  const tj_node *then = tj_simple_sum(rewriter, &then_only), *otherwise = tj_simple_sum(rewriter, &else_only);
  if (then == NULL || otherwise == NULL)
    return NULL;
  const tj_node *choice = tj_simple_select(rewriter, node->arg[0], then, otherwise);
  tj_sum_add(&common, tj_linear_of(graph, choice), 1);
  return tj_simple_sum(rewriter, &common);
}

const tj_node *tj_rule_select_both(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[1];
  if (inner->op != TJ_OP_SELECT || inner->arg[2] != node->arg[2])
    return NULL;
  const tj_node *both = tj_simple2(rewriter, TJ_OP_AND, node->arg[0], inner->arg[0]);
  return tj_simple_select(rewriter, both, inner->arg[1], node->arg[2]);
}
