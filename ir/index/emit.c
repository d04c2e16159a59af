/* SPDX-License-Identifier: MIT */
/* From linear forms back to expressions.
 *
 * One form always gives one expression: terms in the forms' order, with the constant last, and with factors that
 * several terms share taken out where that saves multiplications. Factors are taken out one at a time, the one that
 * saves most first, so that i*M*N + j*N + k becomes (i*M + j)*N + k, and i*4 + j*4 becomes (i + j)*4. */
#include "base/number/power.h"
#include "ir/index/cost.h"
#include "ir/index/linear.h"

#include <string.h>

enum { TERMS_PER_WORK = 4 };

/* What the form of a factored group is ordered by, and its expression. */
typedef struct {
  tj_term key;
  const tj_node *node;
  bool negative;
} part;

/* What could be taken out of several terms: an atom, or else a coefficient up to sign. */
typedef struct {
  const tj_node *atom;
  int64_t coefficient;
  uint32_t saving;
} factor;

static const tj_node *make2(tj_graph *graph, tj_op op, const tj_node *a, const tj_node *b) {
  const tj_node *args[3] = {a, b, NULL};
  return tj_node_make(graph, op, args);
}

static const tj_node *product_of_atoms(tj_graph *graph, const tj_term *term) {
  const tj_node *product = term->atom[0];
  for (uint32_t i = 1; i < term->degree; i++)
    product = make2(graph, TJ_OP_MUL, product, term->atom[i]);
  return product;
}

const tj_node *tj_monomial_node(tj_graph *graph, const tj_term *term) {
  if (term->degree == 0)
    return tj_int(graph, term->coefficient);
  const tj_node *product = product_of_atoms(graph, term);
  if (term->coefficient == 1)
    return product;
  if (term->coefficient == -1)
    return make2(graph, TJ_OP_MUL, tj_int(graph, -1), product);
  return make2(graph, TJ_OP_MUL, product, tj_int(graph, term->coefficient));
}

/* --- common factors --- */

static bool has_atom(const tj_term *term, const tj_node *atom) {
  for (uint32_t i = 0; i < term->degree; i++)
    if (term->atom[i] == atom)
      return true;
  return false;
}

static bool has_coefficient(const tj_term *term, int64_t coefficient) {
  return term->coefficient == coefficient || term->coefficient == -coefficient;
}

static bool has_factor(const tj_term *term, const factor *common) {
  return common->atom != NULL ? has_atom(term, common->atom) : has_coefficient(term, common->coefficient);
}

static uint32_t coefficient_weight(int64_t coefficient) {
  if (coefficient == 1 || coefficient == -1)
    return 0;
  return tj_is_power_of_two(coefficient) ? TJ_WEIGHT_POWER : TJ_WEIGHT_PRODUCT;
}

/* Weight of the multiplication that a term is spared when the factor leaves it. */
static uint32_t spared(const tj_term *term, const factor *common) {
  if (common->atom == NULL || term->degree == 1)
    return coefficient_weight(term->coefficient);
  return TJ_WEIGHT_PRODUCT;
}

static void measure_factor(factor *common, const tj_term terms[], uint32_t count) {
  uint32_t own = common->atom != NULL ? TJ_WEIGHT_PRODUCT : coefficient_weight(common->coefficient), sum = 0,
           users = 0;
  for (uint32_t i = 0; i < count; i++)
    if (has_factor(&terms[i], common)) {
      sum += spared(&terms[i], common);
      users++;
    }
  common->saving = users > 1 && sum > own ? sum - own : 0;
}

static void consider(factor *best, factor candidate, const tj_term terms[], uint32_t count) {
  measure_factor(&candidate, terms, count);
  if (candidate.saving > best->saving)
    *best = candidate;
}

static factor best_factor(tj_graph *graph, const tj_term terms[], uint32_t count) {
  factor best = {NULL, 0, 0};
  graph->work += count * count / TERMS_PER_WORK;
  for (uint32_t i = 0; i + 1 < count; i++) {
    for (uint32_t k = 0; k < terms[i].degree; k++)
      consider(&best, (factor){terms[i].atom[k], 0, 0}, terms, count);
    if (terms[i].coefficient > INT64_MIN && coefficient_weight(terms[i].coefficient) > 0)
      consider(&best, (factor){NULL, terms[i].coefficient < 0 ? -terms[i].coefficient : terms[i].coefficient, 0},
               terms, count);
  }
  return best;
}

/* --- writing --- */

static const tj_node *emit(tj_graph *graph, const tj_term terms[], uint32_t count, int64_t constant);

/* Moves the terms that have the factor, divided by it, to `group`; a term that is the factor's atom alone adds its
 * coefficient to the group's constant. The others stay. */
static uint32_t split_terms(tj_term terms[], uint32_t *count, const factor *common, tj_term group[],
                            int64_t *constant) {
  tj_term divisor = {common->atom != NULL ? 1 : common->coefficient, common->atom != NULL, {common->atom}};
  uint32_t kept = 0, grouped = 0;
  *constant = 0;
  for (uint32_t i = 0; i < *count; i++) {
    tj_term quotient;
    if (!has_factor(&terms[i], common)) {
      terms[kept++] = terms[i];
      continue;
    }
    tj_term_divide(&terms[i], &divisor, &quotient);
    if (quotient.degree == 0)
      *constant = quotient.coefficient;
    else
      group[grouped++] = quotient;
  }
  *count = kept;
  return grouped;
}

static part factored_part(tj_graph *graph, tj_term terms[], uint32_t *count, const factor *common) {
  tj_term group[TJ_MAX_TERMS];
  int64_t constant;
  part result = {.negative = false};
  for (uint32_t i = *count; i-- > 0;)
    if (has_factor(&terms[i], common))
      result.key = terms[i];
  uint32_t grouped = split_terms(terms, count, common, group, &constant);
  const tj_node *sum = emit(graph, group, grouped, constant);
  const tj_node *by = common->atom != NULL ? common->atom : tj_int(graph, common->coefficient);
  result.node = make2(graph, TJ_OP_MUL, sum, by);
  return result;
}

static void sort_parts(part parts[], uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    for (uint32_t k = i; k > 0 && tj_compare_monomials(&parts[k - 1].key, &parts[k].key) > 0; k--) {
      part swapped = parts[k];
      parts[k] = parts[k - 1];
      parts[k - 1] = swapped;
    }
}

static const tj_node *add_parts(tj_graph *graph, const part parts[], uint32_t count, int64_t constant) {
  uint32_t first = 0;
  while (first < count && parts[first].negative)
    first++;
  bool constant_leads = first == count && constant > 0;
  if (first == count)
    first = 0;
  const tj_node *sum = constant_leads ? tj_int(graph, constant) : parts[first].node;
  for (uint32_t i = 0; i < count; i++)
    if (constant_leads || i != first)
      sum = make2(graph, TJ_OP_ADD, sum, parts[i].node);
  return constant == 0 || constant_leads ? sum : make2(graph, TJ_OP_ADD, sum, tj_int(graph, constant));
}

static const tj_node *emit(tj_graph *graph, const tj_term terms[], uint32_t count, int64_t constant) {
  if (count == 0)
    return tj_int(graph, constant);
  if (count == 1 && constant == 0)
    return tj_monomial_node(graph, &terms[0]);
  tj_term left[TJ_MAX_TERMS];
  part parts[TJ_MAX_TERMS];
  uint32_t part_count = 0, left_count = count;
  memcpy(left, terms, count * sizeof *left);
  parts[0].node = NULL;
  for (factor common = best_factor(graph, left, left_count); common.saving > 0;
       common = best_factor(graph, left, left_count))
    parts[part_count++] = factored_part(graph, left, &left_count, &common);
  bool is_sorted = part_count == 0;
  for (uint32_t i = 0; i < left_count; i++)
    parts[part_count++] = (part){left[i], tj_monomial_node(graph, &left[i]), left[i].coefficient < 0};
  if (!is_sorted)
    sort_parts(parts, part_count);
  return add_parts(graph, parts, part_count, constant);
}

const tj_node *tj_linear_node(tj_graph *graph, const tj_linear *form) {
  return emit(graph, form->term, form->count, form->constant);
}

const tj_node *tj_sum_node(tj_graph *graph, const tj_sum *sum) {
  if (sum->failed)
    return NULL;
  const tj_node *written = emit(graph, sum->term, sum->count, sum->constant);
  if (tj_memo_of(written)->linear == NULL)
    tj_linear_remember(written, tj_sum_keep(graph, sum));
  return written;
}
