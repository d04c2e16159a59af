/* SPDX-License-Identifier: MIT */
/* Rules of comparisons. x < y is looked at as "y - x > 0", x == y as "y - x = 0". */
#include "base/integer.h"
#include "ir/simplify/rules.h"

/* y - x; false where it overflows. */
static bool difference_of(tj_rewriter *rewriter, const tj_node *node, tj_sum *difference) {
  *difference = tj_sum_of(0);
  tj_sum_add(difference, tj_linear_of(rewriter->graph, node->arg[1]), 1);
  tj_sum_add(difference, tj_linear_of(rewriter->graph, node->arg[0]), -1);
  return !difference->failed;
}

static bool prove_at_least(tj_rewriter *rewriter, const tj_sum *sum, int64_t sign, int64_t gap) {
  tj_sum room = tj_sum_of(-gap);
  const tj_linear form = tj_sum_form(sum);
  tj_sum_add(&room, &form, sign);
  const tj_linear room_form = tj_sum_form(&room);
  return !room.failed && tj_prove_nonnegative(rewriter->graph, &room_form);
}

/* The positive terms to the right, the others, negated, to the left; the constant where there are no terms, else
 * where it is positive. */
static bool two_sides(const tj_sum *difference, tj_sum *left, tj_sum *right) {
  *left = tj_sum_of(0);
  *right = tj_sum_of(0);
  for (uint32_t i = 0; i < difference->count; i++) {
    const bool is_positive = difference->term[i].coefficient > 0;
    tj_sum_add_term(is_positive ? right : left, &difference->term[i], is_positive ? 1 : -1);
  }
  if (difference->constant == INT64_MIN)
    return false;
  if (right->count == 0 || (left->count > 0 && difference->constant > 0))
    tj_sum_add_constant(right, difference->constant);
  else
    tj_sum_add_constant(left, -difference->constant);
  return !left->failed && !right->failed;
}

static const tj_node *comparison(tj_rewriter *rewriter, tj_op op, const tj_sum *left, const tj_sum *right) {
  const tj_node *a = tj_simple_sum(rewriter, left), *b = a == NULL ? NULL : tj_simple_sum(rewriter, right);
  const tj_node *args[3] = {a, b, NULL};
  return b == NULL ? NULL : tj_node_make(rewriter->graph, op, args);
}

/* The positive greatest common divisor of all terms. */
static tj_term common_factor(const tj_sum *sum) {
  tj_term common = tj_term_gcd(&sum->term[0], &sum->term[0]);
  for (uint32_t i = 1; i < sum->count; i++)
    common = tj_term_gcd(&common, &sum->term[i]);
  return common;
}

static void divide_terms(tj_sum *sum, const tj_term *by) {
  tj_sum divided = tj_sum_of(sum->constant);
  for (uint32_t i = 0; i < sum->count; i++) {
    tj_term quotient;
    tj_term_divide(&sum->term[i], by, &quotient);
    tj_sum_add_term(&divided, &quotient, 1);
  }
  *sum = divided;
}

/* A sign that is the same for equal comparisons: that of the first term. */
static void make_first_positive(tj_sum *sum) {
  if (sum->count == 0 || sum->term[0].coefficient > 0)
    return;
  const tj_sum before = *sum;
  const tj_linear form = tj_sum_form(&before);
  *sum = tj_sum_of(0);
  tj_sum_add(sum, &form, -1);
}

/* --- less --- */

const tj_node *tj_rule_less_decided(tj_rewriter *rewriter, const tj_node *node) {
  tj_sum difference;
  if (!difference_of(rewriter, node, &difference))
    return NULL;
  const bool always = prove_at_least(rewriter, &difference, 1, 1);
  if (!always && !prove_at_least(rewriter, &difference, -1, 0))
    return NULL;
  TJ_BECAUSE(rewriter, always ? "%s < %s" : "%s >= %s", tj_rule_text(rewriter, node->arg[0]),
             tj_rule_text(rewriter, node->arg[1]));
  return tj_int(rewriter->graph, always);
}

/* Of what all values of a term are multiples. */
static uint64_t content_of(const tj_term *term) {
  uint64_t content = tj_magnitude(term->coefficient);
  for (uint32_t i = 0; i < term->degree; i++) {
    uint64_t more;
    if (!__builtin_mul_overflow(content, (uint64_t)tj_facts_content(&term->atom[i]->facts), &more))
      content = more;
  }
  return content;
}

/* B + c > 0 where B, a multiple of g, is more than g*floor(-c/g). */
static bool round_margin(tj_sum *difference) {
  uint64_t content = 0;
  for (uint32_t i = 0; i < difference->count; i++)
    content = tj_gcd(content, content_of(&difference->term[i]));
  if (content > 1 && content <= INT64_MAX && difference->constant != INT64_MIN) {
    int64_t g = (int64_t)content, rest = difference->constant - tj_floor_div(difference->constant, g) * g;
    if (rest != 0)
      tj_sum_add_constant(difference, g - rest);
  }
  return !difference->failed;
}

/* g*A + c > 0 where A > floor(-c/g). */
static bool divide_margin(tj_sum *difference) {
  tj_term common = common_factor(difference);
  if (difference->constant == INT64_MIN)
    return false;
  if (difference->constant != 0 || !tj_term_is_positive(&common))
    common.degree = 0;
  if (common.degree == 0 && common.coefficient == 1)
    return round_margin(difference);
  const int64_t constant = difference->constant;
  difference->constant = 0;
  divide_terms(difference, &common);
  tj_sum_add_constant(difference, -tj_floor_div(-constant, common.coefficient));
  return !difference->failed && round_margin(difference);
}

const tj_node *tj_rule_less_normal(tj_rewriter *rewriter, const tj_node *node) {
  tj_sum difference, left, right;
  if (!difference_of(rewriter, node, &difference) || difference.count == 0 || !divide_margin(&difference) ||
      !two_sides(&difference, &left, &right))
    return NULL;
  return comparison(rewriter, TJ_OP_LESS, &left, &right);
}

/* g*A + B > 0 where A > -k, with k*g - g < B <= k*g: A + k > 0. */
static bool drop_low_part(tj_rewriter *rewriter, const tj_sum *difference, const tj_term *factor, tj_sum *high) {
  tj_sum low = tj_sum_of(difference->constant);
  *high = tj_sum_of(0);
  for (uint32_t i = 0; i < difference->count; i++) {
    tj_term quotient;
    if (tj_term_divide(&difference->term[i], factor, &quotient))
      tj_sum_add_term(high, &quotient, 1);
    else
      tj_sum_add_term(&low, &difference->term[i], 1);
  }
  if (low.count == 0 || high->count == 0 || low.failed || high->failed)
    return false;
  const tj_node *factor_node = tj_monomial_node(rewriter->graph, factor);
  const tj_linear low_form = tj_sum_form(&low);
  const tj_range range = tj_linear_range(&low_form);
  if (tj_is_constant(factor_node) && range.low > INT64_MIN / 2 && range.high < INT64_MAX / 2) {
    const int64_t block = tj_floor_div((int64_t)range.high - 1, factor_node->value) + 1;
    tj_sum_add_constant(high, block);
    return tj_floor_div((int64_t)range.low - 1, factor_node->value) + 1 == block && !high->failed;
  }
  tj_sum negated = tj_sum_of(0);
  tj_sum_add(&negated, &low_form, -1);
  const tj_linear negated_form = tj_sum_form(&negated);
  return !negated.failed && tj_rule_in_range(rewriter, &negated_form, factor_node);
}

/* What the coefficients that are no smaller than that of term i have in common. */
static tj_term constant_factor(const tj_sum *sum, uint32_t i) {
  tj_term factor = {.coefficient = sum->term[i].coefficient};
  for (uint32_t k = 0; k < sum->count; k++)
    if (tj_magnitude(sum->term[k].coefficient) >= tj_magnitude(sum->term[i].coefficient))
      factor = tj_term_gcd(&factor, &(tj_term){.coefficient = sum->term[k].coefficient});
  return factor;
}

/* What term i has in common with the terms with which it shares an atom. */
static tj_term symbolic_factor(const tj_sum *sum, uint32_t i) {
  tj_term factor = tj_term_gcd(&sum->term[i], &sum->term[i]);
  for (uint32_t k = 0; k < sum->count; k++) {
    const tj_term common = tj_term_gcd(&factor, &sum->term[k]);
    if (common.degree > 0)
      factor = common;
  }
  return factor;
}

const tj_node *tj_rule_less_drops_low_part(tj_rewriter *rewriter, const tj_node *node) {
  tj_sum difference, high, left, right;
  if (!difference_of(rewriter, node, &difference) || difference.count < 2)
    return NULL;
  for (uint32_t i = 0; i < difference.count * 2; i++) {
    const tj_term factor = i % 2 == 0 ? constant_factor(&difference, i / 2) : symbolic_factor(&difference, i / 2);
    const bool is_useful = factor.degree > 0 ? tj_term_is_positive(&factor) && i % 2 == 1 : factor.coefficient > 1;
    if (is_useful && drop_low_part(rewriter, &difference, &factor, &high) && two_sides(&high, &left, &right))
      return comparison(rewriter, TJ_OP_LESS, &left, &right);
  }
  return NULL;
}

/* The divisor of a quotient by a positive constant. */
static bool is_quotient_by_constant(const tj_node *node) {
  return node->op == TJ_OP_DIV && tj_is_constant(node->arg[1]) && node->arg[1]->value > 0;
}

const tj_node *tj_rule_less_of_quotient(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *quotient = node->arg[0];
  if (!is_quotient_by_constant(quotient))
    return NULL;
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, tj_linear_of(rewriter->graph, node->arg[1]), quotient->arg[1]->value);
  const tj_node *bound = tj_simple_sum(rewriter, &sum);
  return bound == NULL ? NULL : tj_simple2(rewriter, TJ_OP_LESS, quotient->arg[0], bound);
}

const tj_node *tj_rule_greater_of_quotient(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *quotient = node->arg[1];
  if (!is_quotient_by_constant(quotient))
    return NULL;
  tj_sum sum = tj_sum_of(quotient->arg[1]->value - 1);
  tj_sum_add(&sum, tj_linear_of(rewriter->graph, node->arg[0]), quotient->arg[1]->value);
  const tj_node *bound = tj_simple_sum(rewriter, &sum);
  return bound == NULL ? NULL : tj_simple2(rewriter, TJ_OP_LESS, bound, quotient->arg[0]);
}

/* --- equal --- */

/* The gcd of the coefficients does not divide the constant. */
static bool misses_by_congruence(const tj_sum *difference) {
  if (difference->count == 0)
    return difference->constant != 0;
  const tj_term common = common_factor(difference);
  return difference->constant % common.coefficient != 0;
}

const tj_node *tj_rule_equal_decided(tj_rewriter *rewriter, const tj_node *node) {
  tj_sum difference;
  if (!difference_of(rewriter, node, &difference))
    return NULL;
  const bool always = difference.count == 0 && difference.constant == 0;
  if (!always && !misses_by_congruence(&difference) && !prove_at_least(rewriter, &difference, 1, 1) &&
      !prove_at_least(rewriter, &difference, -1, 1))
    return NULL;
  TJ_BECAUSE(rewriter, always ? "%s = %s" : "%s is never %s", tj_rule_text(rewriter, node->arg[0]),
             tj_rule_text(rewriter, node->arg[1]));
  return tj_int(rewriter->graph, always);
}

const tj_node *tj_rule_equal_to_one(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  return tj_is_int(node->arg[1], 1) && tj_is_truth(node->arg[0]) ? node->arg[0] : NULL;
}

static bool is_negation(const tj_node *node) {
  return node->op == TJ_OP_EQUAL && tj_is_int(node->arg[1], 0) && tj_is_truth(node->arg[0]);
}

const tj_node *tj_rule_equal_to_zero_twice(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  return is_negation(node) && is_negation(node->arg[0]) ? node->arg[0]->arg[0] : NULL;
}

const tj_node *tj_rule_not_less(tj_rewriter *rewriter, const tj_node *node) {
  if (!is_negation(node) || node->arg[0]->op != TJ_OP_LESS)
    return NULL;
  tj_sum sum = tj_sum_of(1);
  tj_sum_add(&sum, tj_linear_of(rewriter->graph, node->arg[0]->arg[0]), 1);
  const tj_node *bound = tj_simple_sum(rewriter, &sum);
  return bound == NULL ? NULL : tj_simple2(rewriter, TJ_OP_LESS, node->arg[0]->arg[1], bound);
}

const tj_node *tj_rule_equal_normal(tj_rewriter *rewriter, const tj_node *node) {
  tj_sum difference, left, right;
  if (!difference_of(rewriter, node, &difference) || difference.count == 0)
    return NULL;
  tj_term common = common_factor(&difference);
  if (difference.constant != 0 || !tj_term_is_positive(&common))
    common.degree = 0;
  if (difference.constant % common.coefficient != 0)
    return NULL;
  const int64_t constant = difference.constant / common.coefficient;
  difference.constant = 0;
  divide_terms(&difference, &common);
  tj_sum_add_constant(&difference, constant);
  make_first_positive(&difference);
  if (difference.failed || !two_sides(&difference, &right, &left))
    return NULL;
  return comparison(rewriter, TJ_OP_EQUAL, &left, &right);
}

const tj_node *tj_rule_equal_of_quotient(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *quotient = node->arg[0];
  if (!tj_is_int(node->arg[1], 0) || quotient->op != TJ_OP_DIV || quotient->arg[0]->facts.low < 0 ||
      quotient->arg[1]->facts.low < 1)
    return NULL;
  return tj_simple2(rewriter, TJ_OP_LESS, quotient->arg[0], quotient->arg[1]);
}

const tj_node *tj_rule_equal_of_xor(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node * xor = node->arg[0];
  if (xor->op != TJ_OP_XOR || !tj_is_constant(node->arg[1]) || node->arg[1]->value < 0)
    return NULL;
  if (tj_is_int(node->arg[1], 0))
    return tj_simple2(rewriter, TJ_OP_EQUAL, xor->arg[0], xor->arg[1]);
  if (!tj_is_constant(xor->arg[1]))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_EQUAL, xor->arg[0],
                    tj_int(rewriter->graph, xor->arg[1]->value ^ node->arg[1]->value));
}
