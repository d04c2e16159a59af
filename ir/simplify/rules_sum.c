/* SPDX-License-Identifier: MIT */
/* Rules of sums and products, and those of any operation. Sums are looked at through their linear forms. */
#include "ir/index/eval.h"
#include "ir/simplify/rules.h"

/* --- any operation --- */

const tj_node *tj_rule_constants(tj_rewriter *rewriter, const tj_node *node) {
  int64_t values[3], result;
  const unsigned arity = tj_op_arity(node->op);
  for (unsigned i = 0; i < arity; i++) {
    if (!tj_is_constant(node->arg[i]))
      return NULL;
    values[i] = node->arg[i]->value;
  }
  if (arity == 0 || tj_eval_operation(node->op, values, &result) != TJ_EVAL_OK)
    return NULL;
  return tj_int(rewriter->graph, result);
}

const tj_node *tj_rule_known_value(tj_rewriter *rewriter, const tj_node *node) {
  const tj_facts *facts = &node->facts;
  if (facts->low != facts->high || !tj_facts_bounded(facts))
    return NULL;
  TJ_BECAUSE(rewriter, "%lld is all that the facts allow", (long long)facts->low);
  return tj_int(rewriter->graph, facts->low);
}

static bool is_choice_of_constants(const tj_node *node) {
  return node->op == TJ_OP_SELECT && tj_is_constant(node->arg[1]) && tj_is_constant(node->arg[2]);
}

const tj_node *tj_rule_choice_of_constants(tj_rewriter *rewriter, const tj_node *node) {
  if (tj_op_arity(node->op) != 2)
    return NULL;
  const bool on_left = is_choice_of_constants(node->arg[0]) && tj_is_constant(node->arg[1]);
  if (!on_left && !(tj_is_constant(node->arg[0]) && is_choice_of_constants(node->arg[1])))
    return NULL;
  const tj_node *choice = node->arg[on_left ? 0 : 1], *other = node->arg[on_left ? 1 : 0];
  int64_t results[2];
  for (int i = 0; i < 2; i++) {
    const int64_t alternative = choice->arg[i + 1]->value;
    const int64_t values[2] = {on_left ? alternative : other->value, on_left ? other->value : alternative};
    if (tj_eval_operation(node->op, values, &results[i]) != TJ_EVAL_OK)
      return NULL;
  }
  return tj_simple_select(rewriter, choice->arg[0], tj_int(rewriter->graph, results[0]),
                          tj_int(rewriter->graph, results[1]));
}

/* --- canonical form --- */

/* The operation as it stands, on simple operands. */
static const tj_node *on_simple_operands(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *args[3] = {tj_simple(rewriter, node->arg[0]), tj_simple(rewriter, node->arg[1]), NULL};
  return tj_node_make(rewriter->graph, node->op, args);
}

const tj_node *tj_rule_collect(tj_rewriter *rewriter, const tj_node *node) {
  if (node == rewriter->collected)
    return NULL;
  const tj_linear *form = tj_linear_of(rewriter->graph, node);
  const tj_node *written = tj_linear_node(rewriter->graph, form);
  if (written->weight > node->weight)
    return on_simple_operands(rewriter, node);
  tj_linear_remember(written, form);
  rewriter->collected = rewriter->settled = written;
  return written;
}

/* --- digits --- */

/* An atom as a digit of a value: (value/low) % extent. What is no quotient has low = 1; a quotient alone is the top
 * digit, of no extent. */
typedef struct {
  const tj_node *value;
  tj_term low, extent;
  bool is_top;
  tj_term others; /* the term that it is a factor of, without it */
} digit;

static bool positive_term(tj_rewriter *rewriter, const tj_node *node, tj_term *term) {
  return node->facts.low >= 1 && tj_linear_single(tj_linear_of(rewriter->graph, node), term) && term->coefficient > 0;
}

static bool digit_of(tj_rewriter *rewriter, const tj_term *term, uint32_t place, digit *result) {
  const tj_node *atom = term->atom[place];
  if (atom->op != TJ_OP_MOD && atom->op != TJ_OP_DIV)
    return false;
  *result = (digit){.value = atom, .low = {.coefficient = 1}, .is_top = atom->op == TJ_OP_DIV};
  if (atom->op == TJ_OP_MOD) {
    if (!positive_term(rewriter, atom->arg[1], &result->extent))
      return false;
    result->value = atom->arg[0];
  }
  if (result->value->op == TJ_OP_DIV) {
    if (!positive_term(rewriter, result->value->arg[1], &result->low))
      return false;
    result->value = result->value->arg[0];
  }
  result->others = tj_term_without(term, place);
  return true;
}

static bool same_terms(const tj_term *a, const tj_term *b) {
  return a->coefficient == b->coefficient && a->degree == b->degree && tj_compare_monomials(a, b) == 0;
}

/* The modulus divides a - b: each of its terms, or as far as simplification shows. */
static bool congruent(tj_rewriter *rewriter, const tj_node *a, const tj_node *b, const tj_term *modulus) {
  tj_sum difference = tj_sum_of(0);
  if (a == b)
    return true;
  tj_sum_add(&difference, tj_linear_of(rewriter->graph, a), 1);
  tj_sum_add(&difference, tj_linear_of(rewriter->graph, b), -1);
  const tj_node *node = tj_simple_sum(rewriter, &difference);
  const tj_node *rest =
      node == NULL ? NULL : tj_simple2(rewriter, TJ_OP_MOD, node, tj_monomial_node(rewriter->graph, modulus));
  return rest != NULL && tj_is_int(rest, 0);
}

/* What continues a digit of value: others * (value/low), or a digit of that. */
typedef struct {
  const tj_node *value;
  tj_term others, low;
} continuation;

/* False for a top digit, and where a product overflows. */
static bool continuation_of(const digit *low, continuation *next) {
  next->value = low->value;
  return !low->is_top && tj_term_multiply(&low->others, &low->extent, &next->others) &&
         tj_term_multiply(&low->low, &low->extent, &next->low);
}

/* Whether a term has what stands before the digit; a quick look, as most have not. */
static bool may_continue(const tj_term *term, const continuation *next) {
  return term->coefficient == next->others.coefficient && term->degree == next->others.degree + 1;
}

static bool continues(tj_rewriter *rewriter, const digit *high, const continuation *next) {
  return same_terms(&next->others, &high->others) && same_terms(&next->low, &high->low) &&
         congruent(rewriter, next->value, high->value, &next->low);
}

/* (value/low) % (both extents), or value/low; NULL where a product overflows. */
static const tj_node *merged_digit(tj_rewriter *rewriter, const digit *low, const digit *high) {
  tj_graph *graph = rewriter->graph;
  const bool is_lowest = tj_term_is_one(&low->low);
  const tj_node *quotient =
      is_lowest ? high->value : tj_simple2(rewriter, TJ_OP_DIV, high->value, tj_monomial_node(graph, &low->low));
  tj_term extent;
  if (high->is_top)
    return quotient;
  if (!tj_term_multiply(&low->extent, &high->extent, &extent))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_MOD, quotient, tj_monomial_node(graph, &extent));
}

static void add_scaled(tj_sum *sum, const tj_linear *form, const tj_term *scale, int64_t factor) {
  if (scale->degree == 0) {
    int64_t coefficient;
    sum->failed |= __builtin_mul_overflow(scale->coefficient, factor, &coefficient);
    if (!sum->failed)
      tj_sum_add(sum, form, coefficient);
    return;
  }
  const tj_linear by = {0, 1, scale};
  tj_sum_add_product(sum, form, &by, factor);
}

static const tj_node *merge_terms(tj_rewriter *rewriter, const tj_linear *form, uint32_t low_place, const digit *low,
                                  uint32_t high_place, const digit *high) {
  const tj_node *merged = merged_digit(rewriter, low, high);
  if (merged == NULL)
    return NULL;
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, form, 1);
  tj_sum_add_term(&sum, &form->term[low_place], -1);
  tj_sum_add_term(&sum, &form->term[high_place], -1);
  add_scaled(&sum, tj_linear_of(rewriter->graph, merged), &low->others, 1);
  return tj_simple_sum(rewriter, &sum);
}

/* Finds, for a digit, the term that continues it. */
static const tj_node *merge_with_next(tj_rewriter *rewriter, const tj_linear *form, uint32_t low_place,
                                      const digit *low) {
  continuation next;
  if (!continuation_of(low, &next))
    return NULL;
  for (uint32_t i = 0; i < form->count; i++)
    for (uint32_t k = 0; k < form->term[i].degree && may_continue(&form->term[i], &next); k++) {
      digit high;
      if (i == low_place || !digit_of(rewriter, &form->term[i], k, &high) || !continues(rewriter, &high, &next))
        continue;
      TJ_BECAUSE(rewriter, "they are adjacent digits of %s", tj_rule_text(rewriter, high.value));
      return merge_terms(rewriter, form, low_place, low, i, &high);
    }
  return NULL;
}

/* others*(y%d) + others*d*q = others*value, where q is what value/d has become: the sum with that in place, if it
 * has fewer terms then, or if that takes two divisions away that are not of one value any more. */
static const tj_node *merge_with_value(tj_rewriter *rewriter, const tj_node *node, uint32_t place,
                                       const tj_term *others, const tj_node *value, const tj_node *divisor,
                                       bool apart) {
  tj_graph *graph = rewriter->graph;
  const tj_linear *form = tj_linear_of(graph, node);
  const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, value, divisor);
  if (quotient == NULL || divisor->facts.low < 1)
    return NULL;
  tj_sum multiple = tj_sum_of(0), sum = tj_sum_of(0);
  tj_sum_add_product(&multiple, tj_linear_of(graph, quotient), tj_linear_of(graph, divisor), 1);
  if (multiple.failed)
    return NULL;
  const tj_linear whole = tj_sum_form(&multiple);
  tj_sum_add(&sum, form, 1);
  tj_sum_add_term(&sum, &form->term[place], -1);
  add_scaled(&sum, &whole, others, -1);
  add_scaled(&sum, tj_linear_of(graph, value), others, 1);
  if (sum.failed || sum.count > form->count || (sum.count == form->count && !apart))
    return NULL;
  const tj_node *merged = tj_simple_sum(rewriter, &sum);
  if (merged == NULL || merged->weight >= node->weight)
    return NULL;
  TJ_BECAUSE(rewriter, "%s is %s", tj_rule_text(rewriter, quotient),
             tj_string_format(graph->job, "(%s)/%s", tj_rule_text(rewriter, value), tj_rule_text(rewriter, divisor)));
  return merged;
}

/* The value whose quotient by `extent` is the quotient z/(w*extent): z/w; NULL where extent is no factor. */
static const tj_node *value_of_quotient(tj_rewriter *rewriter, const tj_node *quotient, const tj_term *extent) {
  tj_term divisor, width;
  if (!positive_term(rewriter, quotient->arg[1], &divisor) || !tj_term_divide(&divisor, extent, &width) ||
      !tj_term_is_positive(&width) || tj_term_is_one(&width))
    return NULL;
  return tj_simple2(rewriter, TJ_OP_DIV, quotient->arg[0], tj_monomial_node(rewriter->graph, &width));
}

/* others*(y%d) + others*d*(z/(w*d)), where y%d is what (z/w)%d has become. */
static const tj_node *merge_with_value_of(tj_rewriter *rewriter, const tj_node *node, uint32_t place,
                                          const digit *low, const tj_node *remainder, const tj_node *quotient) {
  const tj_node *value = value_of_quotient(rewriter, quotient, &low->extent);
  if (value == NULL || value == remainder->arg[0] ||
      tj_simple2(rewriter, TJ_OP_MOD, value, remainder->arg[1]) != remainder)
    return NULL;
  return merge_with_value(rewriter, node, place, &low->others, value, remainder->arg[1], true);
}

/* For the remainder at a place, finds the term of the quotient that it was divided off with, whatever the two have
 * become since. */
static const tj_node *merge_with_quotient(tj_rewriter *rewriter, const tj_node *node, uint32_t place,
                                          const digit *low, const tj_node *remainder) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node);
  tj_term product, rest;
  bool has_multiples = false;
  if (!tj_term_multiply(&low->others, &low->extent, &product))
    return NULL;
  for (uint32_t i = 0; i < form->count; i++) {
    if (i == place || !tj_term_divide(&form->term[i], &product, &rest))
      continue;
    has_multiples = true;
    const tj_node *quotient = rest.degree == 1 && rest.coefficient == 1 ? rest.atom[0] : NULL;
    const tj_node *merged = quotient == NULL || quotient->op != TJ_OP_DIV
                                ? NULL
                                : merge_with_value_of(rewriter, node, place, low, remainder, quotient);
    if (merged != NULL)
      return merged;
  }
  if (!has_multiples)
    return NULL;
  return merge_with_value(rewriter, node, place, &low->others, remainder->arg[0], remainder->arg[1], false);
}

static bool has_remainder_in(const tj_linear *form) {
  for (uint32_t i = 0; i < form->count; i++)
    for (uint32_t k = 0; k < form->term[i].degree; k++)
      if (form->term[i].atom[k]->op == TJ_OP_MOD)
        return true;
  return false;
}

/* The remainder at a place, of a divisor that is no product: what it was divided off with is a quotient times a sum,
 * of which parts may be gone. */
static const tj_node *merge_with_sum(tj_rewriter *rewriter, const tj_node *node, uint32_t place,
                                     const tj_term *others, const tj_node *remainder) {
  tj_term factors;
  if (tj_linear_single(tj_linear_of(rewriter->graph, remainder->arg[1]), &factors))
    return NULL;
  return merge_with_value(rewriter, node, place, others, remainder->arg[0], remainder->arg[1], true);
}

static const tj_node *merge_at(tj_rewriter *rewriter, const tj_node *node, uint32_t place, uint32_t factor) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node);
  const tj_node *remainder = form->term[place].atom[factor];
  const tj_term others = tj_term_without(&form->term[place], factor);
  digit low;
  if (!digit_of(rewriter, &form->term[place], factor, &low))
    return merge_with_sum(rewriter, node, place, &others, remainder);
  const tj_node *merged = merge_with_next(rewriter, form, place, &low);
  return merged != NULL ? merged : merge_with_quotient(rewriter, node, place, &low, remainder);
}

const tj_node *tj_rule_digits(tj_rewriter *rewriter, const tj_node *node) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node);
  if (form->count < 2 || !has_remainder_in(form))
    return NULL;
  for (uint32_t i = 0; i < form->count; i++)
    for (uint32_t k = 0; k < form->term[i].degree; k++) {
      if (form->term[i].atom[k]->op != TJ_OP_MOD)
        continue;
      const tj_node *merged = merge_at(rewriter, node, i, k);
      if (merged != NULL)
        return merged;
    }
  return NULL;
}

/* sum + c*d*(y/d) - c*y + c*(y%d), for the term -c*d*(y/d) */
static bool take_remainder(tj_rewriter *rewriter, const tj_linear *form, const tj_term *term, uint32_t place,
                           tj_sum *result) {
  tj_graph *graph = rewriter->graph;
  const tj_node *quotient = term->atom[place], *value = quotient->arg[0], *divisor = quotient->arg[1];
  const tj_term others = tj_term_without(term, place);
  const tj_linear *value_form = tj_linear_of(graph, value);
  tj_term by, scale;
  if (!tj_linear_single(tj_linear_of(graph, divisor), &by) || !tj_term_divide(&others, &by, &scale) ||
      scale.degree == TJ_MAX_DEGREE || __builtin_sub_overflow((int64_t)0, scale.coefficient, &scale.coefficient))
    return false;
  *result = tj_sum_of(0);
  tj_sum_add(result, form, 1);
  tj_sum_add_term(result, term, -1);
  add_scaled(result, value_form, &scale, -1);
  if (result->failed || result->count + 1 > form->count)
    return false;
  const tj_node *remainder = tj_simple2(rewriter, TJ_OP_MOD, value, divisor);
  add_scaled(result, tj_linear_of(graph, remainder), &scale, 1);
  return !result->failed && result->count <= form->count;
}

const tj_node *tj_rule_remainder(tj_rewriter *rewriter, const tj_node *node) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node);
  for (uint32_t i = 0; i < form->count; i++)
    for (uint32_t k = 0; k < form->term[i].degree; k++) {
      tj_sum result;
      if (form->term[i].atom[k]->op == TJ_OP_DIV && take_remainder(rewriter, form, &form->term[i], k, &result))
        return tj_simple_sum(rewriter, &result);
    }
  return NULL;
}

/* --- other pairs --- */

static bool is_extreme_of(const tj_node *node, tj_op op, const tj_node *a, const tj_node *b) {
  return node->op == op && ((node->arg[0] == a && node->arg[1] == b) || (node->arg[0] == b && node->arg[1] == a));
}

const tj_node *tj_rule_minimum_and_maximum(tj_rewriter *rewriter, const tj_node *node) {
  tj_graph *graph = rewriter->graph;
  const tj_linear *form = tj_linear_of(graph, node);
  for (uint32_t i = 0; i < form->count; i++) {
    const tj_term *low = &form->term[i];
    for (uint32_t k = 0; k < form->count && low->degree == 1 && low->atom[0]->op == TJ_OP_MIN; k++) {
      const tj_term *high = &form->term[k];
      const tj_node *a = low->atom[0]->arg[0], *b = low->atom[0]->arg[1];
      if (high->degree != 1 || high->coefficient != low->coefficient ||
          !is_extreme_of(high->atom[0], TJ_OP_MAX, a, b))
        continue;
      tj_sum sum = tj_sum_of(0);
      tj_sum_add(&sum, form, 1);
      tj_sum_add_term(&sum, low, -1);
      tj_sum_add_term(&sum, high, -1);
      tj_sum_add(&sum, tj_linear_of(graph, a), low->coefficient);
      tj_sum_add(&sum, tj_linear_of(graph, b), low->coefficient);
      return tj_simple_sum(rewriter, &sum);
    }
  }
  return NULL;
}

/* c*d*(y/d) = c*y where d divides y, for the atom at a place of a term. */
static const tj_node *without_exact_quotient(tj_rewriter *rewriter, const tj_linear *form, const tj_term *term,
                                             uint32_t place) {
  tj_graph *graph = rewriter->graph;
  const tj_node *value = term->atom[place]->arg[0], *divisor = term->atom[place]->arg[1];
  const tj_term others = tj_term_without(term, place);
  tj_term by, scale;
  if (!tj_linear_single(tj_linear_of(graph, divisor), &by) || !tj_term_divide(&others, &by, &scale) ||
      !tj_prove_divides(graph, divisor, value))
    return NULL;
  TJ_BECAUSE(rewriter, "%s divides %s", tj_rule_text(rewriter, divisor), tj_rule_text(rewriter, value));
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, form, 1);
  tj_sum_add_term(&sum, term, -1);
  add_scaled(&sum, tj_linear_of(graph, value), &scale, 1);
  return tj_simple_sum(rewriter, &sum);
}

const tj_node *tj_rule_exact_quotient(tj_rewriter *rewriter, const tj_node *node) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node);
  for (uint32_t i = 0; i < form->count; i++)
    for (uint32_t k = 0; k < form->term[i].degree; k++) {
      if (form->term[i].atom[k]->op != TJ_OP_DIV)
        continue;
      const tj_node *result = without_exact_quotient(rewriter, form, &form->term[i], k);
      if (result != NULL)
        return result;
    }
  return NULL;
}
