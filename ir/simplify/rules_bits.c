/* SPDX-License-Identifier: MIT */
/* Rules of bitwise operations, on integers and on truths, and of shifts. */
#include "ir/simplify/rules.h"

static bool has_operand(const tj_node *node, tj_op op, const tj_node *operand) {
  return node->op == op && (node->arg[0] == operand || node->arg[1] == operand);
}

static bool is_bounded(const tj_node *node) {
  return node->facts.high != INT64_MAX;
}

/* --- and, or: the same for both, with the roles of the two exchanged --- */

static const tj_node *same(const tj_node *node) {
  const tj_op dual = node->op == TJ_OP_AND ? TJ_OP_OR : TJ_OP_AND;
  if (node->arg[0] == node->arg[1])
    return node->arg[0];
  for (int i = 0; i < 2; i++) {
    if (has_operand(node->arg[i], dual, node->arg[1 - i]))
      return node->arg[1 - i];
    if (has_operand(node->arg[i], node->op, node->arg[1 - i]))
      return node->arg[i];
  }
  return NULL;
}

static const tj_node *of_constants(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0];
  if (inner->op != node->op || !tj_is_constant(node->arg[1]) || !tj_is_constant(inner->arg[1]))
    return NULL;
  return tj_simple2(rewriter, node->op, inner->arg[0], tj_simple2(rewriter, node->op, inner->arg[1], node->arg[1]));
}

/* (x . y) + (x . z) = x . (y + z) */
static const tj_node *common_operand(tj_rewriter *rewriter, const tj_node *node) {
  const tj_op dual = node->op == TJ_OP_AND ? TJ_OP_OR : TJ_OP_AND;
  const tj_node *a = node->arg[0], *b = node->arg[1];
  if (a->op != dual || b->op != dual)
    return NULL;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 2; k++)
      if (a->arg[i] == b->arg[k])
        return tj_simple2(rewriter, dual, a->arg[i], tj_simple2(rewriter, node->op, a->arg[1 - i], b->arg[1 - k]));
  return NULL;
}

/* --- truths as comparisons --- */

/* sum + sign * (y - x) for a comparison x < y, which holds where y - x > 0, or x == y. */
static bool add_margin(tj_rewriter *rewriter, const tj_node *truth, tj_op op, int64_t sign, tj_sum *sum) {
  if (truth->op != op)
    return false;
  tj_sum_add(sum, tj_linear_of(rewriter->graph, truth->arg[1]), sign);
  tj_sum_add(sum, tj_linear_of(rewriter->graph, truth->arg[0]), -sign);
  return !sum->failed;
}

static bool is_nonnegative(tj_rewriter *rewriter, const tj_sum *sum) {
  const tj_linear form = tj_sum_form(sum);
  return tj_prove_nonnegative(rewriter->graph, &form);
}

/* Where x == y, a form may change by multiples of y - x; this takes a term of y - x out of it. False where p is no
 * equation, or none of its terms occurs. */
static bool assume_equal(tj_rewriter *rewriter, const tj_node *p, tj_sum *sum) {
  tj_sum zero = tj_sum_of(0);
  if (!add_margin(rewriter, p, TJ_OP_EQUAL, 1, &zero))
    return false;
  const tj_linear form = tj_sum_form(&zero);
  for (uint32_t i = 0; i < zero.count; i++)
    for (uint32_t k = 0; k < sum->count; k++) {
      const int64_t coefficient = zero.term[i].coefficient, occurring = sum->term[k].coefficient;
      if (tj_compare_monomials(&zero.term[i], &sum->term[k]) != 0 || occurring == INT64_MIN ||
          occurring % coefficient != 0)
        continue;
      tj_sum_add(sum, &form, -(occurring / coefficient));
      return !sum->failed;
    }
  return false;
}

/* x == y implies q, by putting it to use in q. */
static bool equation_implies(tj_rewriter *rewriter, const tj_node *p, const tj_node *q) {
  tj_sum less = tj_sum_of(-1), equal = tj_sum_of(0);
  if (q->op == TJ_OP_LESS)
    return add_margin(rewriter, q, TJ_OP_LESS, 1, &less) && assume_equal(rewriter, p, &less) &&
           is_nonnegative(rewriter, &less);
  return add_margin(rewriter, q, TJ_OP_EQUAL, 1, &equal) && assume_equal(rewriter, p, &equal) && equal.count == 0 &&
         equal.constant == 0;
}

static bool equation_excludes(tj_rewriter *rewriter, const tj_node *p, const tj_node *q) {
  tj_sum less = tj_sum_of(0), equal = tj_sum_of(0);
  if (q->op == TJ_OP_LESS)
    return add_margin(rewriter, q, TJ_OP_LESS, -1, &less) && assume_equal(rewriter, p, &less) &&
           is_nonnegative(rewriter, &less);
  return add_margin(rewriter, q, TJ_OP_EQUAL, 1, &equal) && assume_equal(rewriter, p, &equal) && equal.count == 0 &&
         equal.constant != 0;
}

/* q is p == 0. */
static bool is_negation_of(const tj_node *q, const tj_node *p) {
  return q->op == TJ_OP_EQUAL && q->arg[0] == p && tj_is_int(q->arg[1], 0);
}

/* p implies q where q's margin is never less than p's. */
static bool implies(tj_rewriter *rewriter, const tj_node *p, const tj_node *q) {
  tj_sum room = tj_sum_of(0);
  if (p == q)
    return true;
  if (p->op == TJ_OP_EQUAL)
    return equation_implies(rewriter, p, q);
  return add_margin(rewriter, q, TJ_OP_LESS, 1, &room) && add_margin(rewriter, p, TJ_OP_LESS, -1, &room) &&
         is_nonnegative(rewriter, &room);
}

/* Never both: their margins would be at least 1 each, but 2 is more than their sum. */
static bool exclude(tj_rewriter *rewriter, const tj_node *p, const tj_node *q) {
  tj_sum room = tj_sum_of(1);
  if (is_negation_of(p, q) || is_negation_of(q, p))
    return true;
  if (p->op == TJ_OP_EQUAL || q->op == TJ_OP_EQUAL)
    return p->op == TJ_OP_EQUAL ? equation_excludes(rewriter, p, q) : equation_excludes(rewriter, q, p);
  return add_margin(rewriter, p, TJ_OP_LESS, -1, &room) && add_margin(rewriter, q, TJ_OP_LESS, -1, &room) &&
         is_nonnegative(rewriter, &room);
}

/* Never neither: their margins would be at most 0 each, but their sum is positive. */
static bool exhaust(tj_rewriter *rewriter, const tj_node *p, const tj_node *q) {
  tj_sum room = tj_sum_of(-1);
  if (is_negation_of(p, q) || is_negation_of(q, p))
    return true;
  return add_margin(rewriter, p, TJ_OP_LESS, 1, &room) && add_margin(rewriter, q, TJ_OP_LESS, 1, &room) &&
         is_nonnegative(rewriter, &room);
}

/* The operands of nested operations of one kind, left to right; 0 where there are more than `most`. */
static uint32_t operands_of(const tj_node *node, const tj_node *operands[], uint32_t most) {
  const tj_node *stack[64];
  uint32_t waiting = 0, count = 0;
  const tj_op op = node->op;
  stack[waiting++] = node;
  while (waiting > 0) {
    const tj_node *next = stack[--waiting];
    if (next->op != op) {
      if (count == most)
        return 0;
      operands[count++] = next;
      continue;
    }
    if (waiting + 2 > sizeof stack / sizeof *stack)
      return 0;
    stack[waiting++] = next->arg[1];
    stack[waiting++] = next->arg[0];
  }
  return count;
}

static const tj_node *join(tj_rewriter *rewriter, tj_op op, const tj_node *const operands[], uint32_t count) {
  const tj_node *joined = operands[0];
  for (uint32_t i = 1; i < count; i++) {
    const tj_node *args[3] = {joined, operands[i], NULL};
    joined = tj_node_make(rewriter->graph, op, args);
  }
  return joined;
}

enum { MOST_OPERANDS = 16 };

static bool is_needless(tj_rewriter *rewriter, tj_op op, const tj_node *candidate, const tj_node *other) {
  return op == TJ_OP_AND ? implies(rewriter, other, candidate) : implies(rewriter, candidate, other);
}

static void because_implied(tj_rewriter *rewriter, tj_op op, const tj_node *candidate, const tj_node *other) {
  const tj_node *p = op == TJ_OP_AND ? other : candidate, *q = op == TJ_OP_AND ? candidate : other;
  TJ_BECAUSE(rewriter, "%s implies %s", tj_rule_text(rewriter, p), tj_rule_text(rewriter, q));
}

/* Drops an operand that another one makes needless; those right of the newest are already known not to be. */
static const tj_node *without_needless(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *operands[MOST_OPERANDS];
  if (!tj_is_truth(node->arg[0]) || !tj_is_truth(node->arg[1]))
    return NULL;
  const uint32_t count = operands_of(node, operands, MOST_OPERANDS);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < count; k++) {
      if (i == k || !is_needless(rewriter, node->op, operands[i], operands[k]))
        continue;
      because_implied(rewriter, node->op, operands[i], operands[k]);
      for (uint32_t m = i; m + 1 < count; m++)
        operands[m] = operands[m + 1];
      return join(rewriter, node->op, operands, count - 1);
    }
  return NULL;
}

static const tj_node *decided_by_pair(tj_rewriter *rewriter, const tj_node *node,
                                      bool (*decides)(tj_rewriter *, const tj_node *, const tj_node *),
                                      int64_t value) {
  const tj_node *operands[MOST_OPERANDS];
  if (!tj_is_truth(node->arg[0]) || !tj_is_truth(node->arg[1]))
    return NULL;
  const uint32_t count = operands_of(node, operands, MOST_OPERANDS);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (decides(rewriter, operands[k], operands[i])) {
        TJ_BECAUSE(rewriter, "of %s and %s %s holds", tj_rule_text(rewriter, operands[k]),
                   tj_rule_text(rewriter, operands[i]), value == 0 ? "never more than one" : "always one");
        return tj_int(rewriter->graph, value);
      }
  return NULL;
}

/* --- high parts --- */

/* form = g*high + low with low < g, for a power of two g. */
static bool split_form(const tj_linear *form, int64_t power, tj_sum *high, tj_sum *low) {
  *high = tj_sum_of(0);
  *low = tj_sum_of(form->constant & (power - 1));
  tj_sum_add_constant(high, (form->constant - low->constant) / power);
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term term = form->term[i];
    if (term.coefficient % power != 0) {
      tj_sum_add_term(low, &term, 1);
      continue;
    }
    term.coefficient /= power;
    tj_sum_add_term(high, &term, 1);
  }
  const tj_linear low_form = tj_sum_form(low), high_form = tj_sum_form(high);
  const tj_range low_range = tj_linear_range(&low_form), high_range = tj_linear_range(&high_form);
  return !low->failed && !high->failed && low_range.low >= 0 && low_range.high < power && high_range.low >= 0;
}

/* The largest power of two that divides all coefficients of a form and its constant; 0 for 0. */
static int64_t power_in(const tj_linear *form) {
  uint64_t all = (uint64_t)form->constant;
  for (uint32_t i = 0; i < form->count; i++)
    all |= (uint64_t)form->term[i].coefficient;
  const uint64_t lowest = all & (0 - all);
  return lowest > INT64_MAX ? 0 : (int64_t)lowest;
}

/* (x*g + z) . (y*g) = (x . y)*g + z, for or and exclusive or; z = 0 for and. */
static const tj_node *high_parts(tj_rewriter *rewriter, const tj_node *node) {
  tj_graph *graph = rewriter->graph;
  const tj_linear *forms[2] = {tj_linear_of(graph, node->arg[0]), tj_linear_of(graph, node->arg[1])};
  for (int i = 0; i < 2; i++) {
    const int64_t power = power_in(forms[i]);
    tj_sum high[2], low[2];
    if (power < 2 || !split_form(forms[0], power, &high[0], &low[0]) ||
        !split_form(forms[1], power, &high[1], &low[1]))
      continue;
    const tj_node *x = tj_simple_sum(rewriter, &high[0]), *y = tj_simple_sum(rewriter, &high[1]);
    const tj_node *joined = tj_simple2(rewriter, node->op, x, y);
    if (joined == NULL)
      continue;
    tj_sum sum = node->op == TJ_OP_AND ? tj_sum_of(0) : low[1 - i];
    tj_sum_add(&sum, tj_linear_of(graph, joined), power);
    return tj_simple_sum(rewriter, &sum);
  }
  return NULL;
}

/* --- and --- */

const tj_node *tj_rule_and_same(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  return same(node);
}

const tj_node *tj_rule_and_of_and(tj_rewriter *rewriter, const tj_node *node) {
  return of_constants(rewriter, node);
}

const tj_node *tj_rule_and_covered(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *value = node->arg[0], *mask = node->arg[1];
  if (!tj_is_constant(mask) || !is_bounded(value) || (tj_possible_bits(value) & ~(uint64_t)mask->value) != 0)
    return NULL;
  TJ_BECAUSE(rewriter, "%s has no bits outside %lld", tj_rule_text(rewriter, value), (long long)mask->value);
  return value;
}

const tj_node *tj_rule_and_low_mask(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *mask = node->arg[1];
  if (!tj_is_constant(mask) || mask->value < 1 || mask->value > INT64_MAX / 2 ||
      (mask->value & (mask->value + 1)) != 0)
    return NULL;
  return tj_simple2(rewriter, TJ_OP_MOD, node->arg[0], tj_int(rewriter->graph, mask->value + 1));
}

/* Dropping bits that cannot be set makes the mask shorter; it ends since bits are only dropped. */
const tj_node *tj_rule_and_needless_bits(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *value = node->arg[0], *mask = node->arg[1];
  if (!tj_is_constant(mask))
    return NULL;
  const int64_t needed = mask->value & (int64_t)(tj_possible_bits(value) & INT64_MAX);
  return needed == mask->value ? NULL : tj_simple2(rewriter, TJ_OP_AND, value, tj_int(rewriter->graph, needed));
}

const tj_node *tj_rule_and_of_remainder(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *mask = node->arg[1];
  if (inner->op != TJ_OP_MOD || !tj_is_constant(mask) || inner->arg[0]->facts.low < 0 ||
      !tj_is_constant(inner->arg[1]) || inner->arg[1]->value < 1 ||
      (inner->arg[1]->value & (inner->arg[1]->value - 1)) != 0)
    return NULL;
  return tj_simple2(rewriter, TJ_OP_AND, inner->arg[0],
                    tj_int(rewriter->graph, mask->value & (inner->arg[1]->value - 1)));
}

const tj_node *tj_rule_and_implied(tj_rewriter *rewriter, const tj_node *node) {
  return without_needless(rewriter, node);
}

const tj_node *tj_rule_and_contradiction(tj_rewriter *rewriter, const tj_node *node) {
  return decided_by_pair(rewriter, node, exclude, 0);
}

const tj_node *tj_rule_and_common(tj_rewriter *rewriter, const tj_node *node) {
  return common_operand(rewriter, node);
}

const tj_node *tj_rule_and_high_part(tj_rewriter *rewriter, const tj_node *node) {
  return high_parts(rewriter, node);
}

const tj_node *tj_rule_and_order(tj_rewriter *rewriter, const tj_node *node) {
  return tj_rule_in_order(rewriter, node);
}

/* --- or --- */

static bool are_disjoint(const tj_node *a, const tj_node *b) {
  return (is_bounded(a) || is_bounded(b)) && (tj_possible_bits(a) & tj_possible_bits(b)) == 0;
}

static const tj_node *as_sum(tj_rewriter *rewriter, const tj_node *node) {
  if (!are_disjoint(node->arg[0], node->arg[1]))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_ADD, node->arg[0], node->arg[1]);
}

const tj_node *tj_rule_or_same(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  return same(node);
}

const tj_node *tj_rule_or_zero(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  for (int i = 0; i < 2; i++)
    if (tj_is_int(node->arg[i], 0))
      return node->arg[1 - i];
  return NULL;
}

const tj_node *tj_rule_or_of_or(tj_rewriter *rewriter, const tj_node *node) {
  return of_constants(rewriter, node);
}

const tj_node *tj_rule_or_disjoint(tj_rewriter *rewriter, const tj_node *node) {
  return as_sum(rewriter, node);
}

const tj_node *tj_rule_or_implied(tj_rewriter *rewriter, const tj_node *node) {
  return without_needless(rewriter, node);
}

const tj_node *tj_rule_or_exhaustive(tj_rewriter *rewriter, const tj_node *node) {
  return decided_by_pair(rewriter, node, exhaust, 1);
}

const tj_node *tj_rule_or_common(tj_rewriter *rewriter, const tj_node *node) {
  return common_operand(rewriter, node);
}

const tj_node *tj_rule_or_high_part(tj_rewriter *rewriter, const tj_node *node) {
  return high_parts(rewriter, node);
}

const tj_node *tj_rule_or_order(tj_rewriter *rewriter, const tj_node *node) {
  return tj_rule_in_order(rewriter, node);
}

/* --- exclusive or --- */

static void sort_by_age(const tj_node *operands[], uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    for (uint32_t k = i; k > 0 && operands[k - 1]->id > operands[k]->id; k--) {
      const tj_node *swapped = operands[k];
      operands[k] = operands[k - 1];
      operands[k - 1] = swapped;
    }
}

/* Operands without pairs of equal ones, from old to new, constants joined to one, last; none is the constant 0. */
static uint32_t reduce_xor(tj_rewriter *rewriter, const tj_node *operands[], uint32_t count) {
  int64_t constant = 0;
  uint32_t kept = 0;
  sort_by_age(operands, count);
  for (uint32_t i = 0; i < count; i++) {
    if (tj_is_constant(operands[i]))
      constant ^= operands[i]->value;
    else if (kept > 0 && operands[kept - 1] == operands[i])
      kept--;
    else
      operands[kept++] = operands[i];
  }
  if (constant != 0 || kept == 0)
    operands[kept++] = tj_int(rewriter->graph, constant);
  return kept;
}

const tj_node *tj_rule_xor_cancels(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *operands[MOST_OPERANDS + 1];
  const uint32_t count = operands_of(node, operands, MOST_OPERANDS);
  if (count == 0)
    return NULL;
  const uint32_t left = reduce_xor(rewriter, operands, count);
  return left < count ? join(rewriter, TJ_OP_XOR, operands, left) : NULL;
}

const tj_node *tj_rule_xor_disjoint(tj_rewriter *rewriter, const tj_node *node) {
  return as_sum(rewriter, node);
}

const tj_node *tj_rule_xor_high_part(tj_rewriter *rewriter, const tj_node *node) {
  return high_parts(rewriter, node);
}

const tj_node *tj_rule_xor_order(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *operands[MOST_OPERANDS + 1];
  const uint32_t count = operands_of(node, operands, MOST_OPERANDS);
  if (count == 0 || reduce_xor(rewriter, operands, count) != count)
    return NULL;
  return join(rewriter, TJ_OP_XOR, operands, count);
}

/* --- shifts --- */

const tj_node *tj_rule_left_shift(tj_rewriter *rewriter, const tj_node *node) {
  if (!tj_is_constant(node->arg[1]))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_MUL, node->arg[0], tj_int(rewriter->graph, (int64_t)1 << node->arg[1]->value));
}

const tj_node *tj_rule_right_shift(tj_rewriter *rewriter, const tj_node *node) {
  if (!tj_is_constant(node->arg[1]))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_DIV, node->arg[0], tj_int(rewriter->graph, (int64_t)1 << node->arg[1]->value));
}

const tj_node *tj_rule_right_shift_of_left_shift(tj_rewriter *rewriter, const tj_node *node) {
  (void)rewriter;
  const tj_node *inner = node->arg[0];
  return inner->op == TJ_OP_SHL && inner->arg[1] == node->arg[1] ? inner->arg[0] : NULL;
}
