/* SPDX-License-Identifier: MIT */
/* Rules that see what a mask, or a quotient or remainder by a power of two, does not let through. */
#include "ir/simplify/rules.h"

/* An expression that has the same bits within the mask; the node itself where nothing can be left out. Looks through
 * quotients by powers of two; `depth` bounds the look. */
static const tj_node *seen_through(tj_rewriter *rewriter, const tj_node *node, uint64_t mask, int depth) {
  if (depth == 0)
    return node;
  if (node->op == TJ_OP_XOR || node->op == TJ_OP_OR)
    for (int i = 0; i < 2; i++)
      if ((tj_possible_bits(node->arg[i]) & mask) == 0) {
        TJ_BECAUSE(rewriter, "%s has none of these bits", tj_rule_text(rewriter, node->arg[i]));
        return seen_through(rewriter, node->arg[1 - i], mask, depth - 1);
      }
  const int exponent = node->op == TJ_OP_DIV ? tj_exponent_of(node->arg[1]) : -1;
  if (exponent < 0 || (mask << exponent) >> exponent != mask || mask << exponent > INT64_MAX)
    return node;
  const tj_node *inner = seen_through(rewriter, node->arg[0], mask << exponent, depth - 1);
  return inner == node->arg[0] ? node : tj_simple2(rewriter, TJ_OP_DIV, inner, node->arg[1]);
}

enum { DEEPEST_LOOK = 8 };

const tj_node *tj_rule_and_ignores_change(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *mask = node->arg[1];
  if (!tj_is_constant(mask))
    return NULL;
  const tj_node *seen = seen_through(rewriter, node->arg[0], (uint64_t)mask->value, DEEPEST_LOOK);
  return seen == node->arg[0] ? NULL : tj_simple2(rewriter, TJ_OP_AND, seen, mask);
}

const tj_node *tj_rule_remainder_ignores_change(tj_rewriter *rewriter, const tj_node *node) {
  const int exponent = tj_exponent_of(node->arg[1]);
  if (exponent < 1)
    return NULL;
  const tj_node *seen = seen_through(rewriter, node->arg[0], ((uint64_t)1 << exponent) - 1, DEEPEST_LOOK);
  return seen == node->arg[0] ? NULL : tj_simple2(rewriter, TJ_OP_MOD, seen, node->arg[1]);
}

/* --- bits by powers of two --- */

static bool is_bits_with_constant(const tj_node *node) {
  return (node->op == TJ_OP_AND || node->op == TJ_OP_OR || node->op == TJ_OP_XOR) && tj_is_constant(node->arg[1]);
}

const tj_node *tj_rule_quotient_of_masked(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  if (tj_exponent_of(divisor) < 0 || !is_bits_with_constant(inner))
    return NULL;
  const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, inner->arg[0], divisor);
  return tj_simple2(rewriter, inner->op, quotient, tj_int(rewriter->graph, inner->arg[1]->value / divisor->value));
}

const tj_node *tj_rule_quotient_of_low_change(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  if (tj_exponent_of(divisor) < 0 || (inner->op != TJ_OP_OR && inner->op != TJ_OP_XOR))
    return NULL;
  for (int i = 0; i < 2; i++)
    if (inner->arg[i]->facts.high < divisor->value) {
      TJ_BECAUSE(rewriter, "%s < %lld", tj_rule_text(rewriter, inner->arg[i]), (long long)divisor->value);
      return tj_simple2(rewriter, TJ_OP_DIV, inner->arg[1 - i], divisor);
    }
  return NULL;
}

const tj_node *tj_rule_quotient_of_high_change(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  if (tj_exponent_of(divisor) < 0 || (inner->op != TJ_OP_OR && inner->op != TJ_OP_XOR))
    return NULL;
  for (int i = 0; i < 2; i++) {
    const tj_node *change = inner->arg[i];
    if (!tj_facts_divisible(&change->facts, divisor->value))
      continue;
    const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, inner->arg[1 - i], divisor);
    if (quotient == NULL || quotient->op == TJ_OP_DIV)
      continue;
    TJ_BECAUSE(rewriter, "%lld divides %s", (long long)divisor->value, tj_rule_text(rewriter, change));
    return tj_simple2(rewriter, inner->op, quotient, tj_simple2(rewriter, TJ_OP_DIV, change, divisor));
  }
  return NULL;
}

const tj_node *tj_rule_remainder_of_masked(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  if (tj_exponent_of(divisor) < 0 || !is_bits_with_constant(inner))
    return NULL;
  const int64_t mask = inner->arg[1]->value, low = mask & (divisor->value - 1);
  if (inner->op == TJ_OP_AND)
    return tj_simple2(rewriter, TJ_OP_AND, inner->arg[0], tj_int(rewriter->graph, low));
  const tj_node *remainder = tj_simple2(rewriter, TJ_OP_MOD, inner->arg[0], divisor);
  return tj_simple2(rewriter, inner->op, remainder, tj_int(rewriter->graph, low));
}

const tj_node *tj_rule_remainder_of_high_change(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  if (tj_exponent_of(divisor) < 0 || (inner->op != TJ_OP_OR && inner->op != TJ_OP_XOR))
    return NULL;
  for (int i = 0; i < 2; i++)
    if (tj_facts_divisible(&inner->arg[i]->facts, divisor->value)) {
      TJ_BECAUSE(rewriter, "%lld divides %s", (long long)divisor->value, tj_rule_text(rewriter, inner->arg[i]));
      return tj_simple2(rewriter, TJ_OP_MOD, inner->arg[1 - i], divisor);
    }
  return NULL;
}

/* --- sums behind a mask --- */

/* The least power of two above a number. */
static int64_t power_above(int64_t number) {
  return (int64_t)1 << (64 - __builtin_clzll((unsigned long long)number));
}

/* Terms that a power of two divides, divided by it, and the others; the constant goes with the others. */
static void split_at_power(const tj_linear *form, int64_t power, tj_sum *high, tj_sum *low) {
  *high = tj_sum_of(0);
  *low = tj_sum_of(form->constant & (power - 1));
  tj_sum_add_constant(high, (form->constant - low->constant) / power);
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term term = form->term[i];
    if (term.coefficient % power == 0) {
      term.coefficient /= power;
      tj_sum_add_term(high, &term, 1);
    } else {
      tj_sum_add_term(low, &term, 1);
    }
  }
}

static bool is_in_range(const tj_sum *sum, int64_t below) {
  const tj_linear form = tj_sum_form(sum);
  const tj_range range = tj_linear_range(&form);
  return !sum->failed && range.low >= 0 && range.high < below;
}

/* The largest power of two that splits a low part off, and that the mask has no bits below. */
static int64_t split_low_part(const tj_linear *form, int64_t mask, tj_sum *high, tj_sum *low) {
  for (int64_t power = mask & -mask; power >= 2; power /= 2) {
    split_at_power(form, power, high, low);
    if (high->count > 0 && !tj_sum_is_zero(low) && !high->failed && is_in_range(low, power))
      return power;
  }
  return 0;
}

const tj_node *tj_rule_and_drops_low_part(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *mask = node->arg[1];
  tj_sum high, low;
  if (!tj_is_constant(mask) || mask->value <= 0)
    return NULL;
  const int64_t power = split_low_part(tj_linear_of(rewriter->graph, node->arg[0]), mask->value, &high, &low);
  if (power == 0)
    return NULL;
  const tj_node *masked =
      tj_simple2(rewriter, TJ_OP_AND, tj_simple_sum(rewriter, &high), tj_int(rewriter->graph, mask->value / power));
  return tj_simple2(rewriter, TJ_OP_MUL, masked, tj_int(rewriter->graph, power));
}

/* The rest must not be negative, for its bits to be what the mask sees; a power of two beyond the mask is added to
 * nothing that carries into it. */
const tj_node *tj_rule_and_drops_high_part(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *mask = node->arg[1];
  if (!tj_is_constant(mask) || mask->value <= 0 || mask->value > INT64_MAX / 4)
    return NULL;
  const int64_t power = power_above(mask->value);
  tj_sum high, low;
  split_at_power(tj_linear_of(rewriter->graph, node->arg[0]), power, &high, &low);
  if (tj_sum_is_zero(&high) || high.failed || !is_in_range(&low, INT64_MAX))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_AND, tj_simple_sum(rewriter, &low), mask);
}

/* --- sums under or and exclusive or --- */

/* The least power of two above `most` that splits a low part off which is below it; 0: there is none. */
static int64_t split_below(const tj_linear *form, int64_t most, tj_sum *high, tj_sum *low) {
  while (most >= 1 && most <= INT64_MAX / 4) {
    const int64_t power = power_above(most);
    split_at_power(form, power, high, low);
    if (tj_sum_is_zero(high) || high->failed || low->failed)
      return 0;
    const tj_linear low_form = tj_sum_form(low);
    const tj_range range = tj_linear_range(&low_form);
    if (range.low < 0 || range.high > INT64_MAX / 4)
      return 0;
    if (range.high < power)
      return power;
    most = (int64_t)range.high;
  }
  return 0;
}

/* (x*g + z) . y = x*g + (z . y) for an y below g */
static const tj_node *low_part(tj_rewriter *rewriter, const tj_node *node) {
  for (int i = 0; i < 2; i++) {
    const tj_node *sum = node->arg[i], *change = node->arg[1 - i];
    tj_sum high, low;
    if (sum->op != TJ_OP_ADD)
      continue;
    const int64_t power = split_below(tj_linear_of(rewriter->graph, sum), change->facts.high, &high, &low);
    if (power == 0 || tj_sum_is_zero(&low))
      continue;
    const tj_node *joined = tj_simple2(rewriter, node->op, tj_simple_sum(rewriter, &low), change);
    const tj_linear high_form = tj_sum_form(&high);
    tj_sum result = tj_sum_of(0);
    if (joined == NULL)
      continue;
    tj_sum_add(&result, &high_form, power);
    tj_sum_add(&result, tj_linear_of(rewriter->graph, joined), 1);
    TJ_BECAUSE(rewriter, "%s < %lld", tj_rule_text(rewriter, change), (long long)power);
    return tj_simple_sum(rewriter, &result);
  }
  return NULL;
}

const tj_node *tj_rule_or_low_part(tj_rewriter *rewriter, const tj_node *node) {
  return low_part(rewriter, node);
}

const tj_node *tj_rule_xor_low_part(tj_rewriter *rewriter, const tj_node *node) {
  return low_part(rewriter, node);
}
