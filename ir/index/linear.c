/* SPDX-License-Identifier: MIT */
/* Linear forms: computing them from nodes, their arithmetic, their ranges. Writing them back as nodes is emit.c's.
 *
 * All coefficients are checked: a form that would overflow fails, and its node becomes an atom. */
#include "ir/index/linear.h"

#include "base/integer.h"

#include <string.h>

/* --- terms --- */

static int compare_atoms(const tj_node *a, const tj_node *b) {
  return (a->rank > b->rank) - (a->rank < b->rank);
}

int tj_compare_monomials(const tj_term *a, const tj_term *b) {
  for (uint32_t i = 0; i < a->degree && i < b->degree; i++)
    if (a->atom[i] != b->atom[i])
      return compare_atoms(a->atom[i], b->atom[i]);
  return (a->degree < b->degree) - (a->degree > b->degree);
}

bool tj_term_multiply(const tj_term *a, const tj_term *b, tj_term *product) {
  if (a->degree + b->degree > TJ_MAX_DEGREE ||
      __builtin_mul_overflow(a->coefficient, b->coefficient, &product->coefficient))
    return false;
  uint32_t i = 0, j = 0;
  product->degree = a->degree + b->degree;
  for (uint32_t k = 0; k < product->degree; k++) {
    bool from_a = j == b->degree || (i < a->degree && compare_atoms(a->atom[i], b->atom[j]) <= 0);
    product->atom[k] = from_a ? a->atom[i++] : b->atom[j++];
  }
  return true;
}

/* coefficient / divisor where that is exact. */
static bool divide_coefficient(int64_t coefficient, int64_t divisor, int64_t *quotient) {
  if (divisor == 1) {
    *quotient = coefficient;
    return true;
  }
  if (divisor == 0 || (coefficient == INT64_MIN && divisor == -1) || coefficient % divisor != 0)
    return false;
  *quotient = coefficient / divisor;
  return true;
}

bool tj_term_divide(const tj_term *term, const tj_term *divisor, tj_term *quotient) {
  if (divisor->degree > term->degree ||
      !divide_coefficient(term->coefficient, divisor->coefficient, &quotient->coefficient))
    return false;
  uint32_t matched = 0, kept = 0;
  for (uint32_t i = 0; i < term->degree; i++) {
    if (matched < divisor->degree && term->atom[i] == divisor->atom[matched])
      matched++;
    else
      quotient->atom[kept++] = term->atom[i];
  }
  quotient->degree = kept;
  return matched == divisor->degree;
}

tj_term tj_term_without(const tj_term *term, uint32_t place) {
  tj_term others = *term;
  others.degree--;
  for (uint32_t i = place; i < others.degree; i++)
    others.atom[i] = term->atom[i + 1];
  return others;
}

bool tj_term_is_positive(const tj_term *term) {
  for (uint32_t i = 0; i < term->degree; i++)
    if (term->atom[i]->facts.low < 1)
      return false;
  return term->coefficient > 0;
}

bool tj_term_is_one(const tj_term *term) {
  return term->degree == 0 && term->coefficient == 1;
}

static int64_t positive_gcd(int64_t a, int64_t b) {
  uint64_t common = tj_gcd(tj_magnitude(a), tj_magnitude(b));
  return common > INT64_MAX ? 1 : (int64_t)common;
}

tj_term tj_term_gcd(const tj_term *a, const tj_term *b) {
  tj_term common = {.coefficient = positive_gcd(a->coefficient, b->coefficient)};
  for (uint32_t i = 0, j = 0; i < a->degree && j < b->degree;) {
    int order = compare_atoms(a->atom[i], b->atom[j]);
    if (order == 0)
      common.atom[common.degree++] = a->atom[i];
    i += order <= 0;
    j += order >= 0;
  }
  return common;
}

/* --- sums --- */

tj_sum tj_sum_of(int64_t constant) {
  tj_sum sum;
  sum.failed = false;
  sum.constant = constant;
  sum.count = 0;
  return sum;
}

void tj_sum_add_constant(tj_sum *sum, int64_t value) {
  sum->failed |= __builtin_add_overflow(sum->constant, value, &sum->constant);
}

void tj_sum_copy(tj_sum *copy, const tj_sum *sum) {
  copy->failed = sum->failed;
  copy->constant = sum->constant;
  copy->count = sum->count;
  memcpy(copy->term, sum->term, sum->count * sizeof *sum->term);
}

static void remove_term(tj_sum *sum, uint32_t at) {
  sum->count--;
  memmove(&sum->term[at], &sum->term[at + 1], (sum->count - at) * sizeof *sum->term);
}

static void insert_term(tj_sum *sum, uint32_t at, const tj_term *term, int64_t coefficient) {
  if (sum->count == TJ_MAX_TERMS) {
    sum->failed = true;
    return;
  }
  memmove(&sum->term[at + 1], &sum->term[at], (sum->count - at) * sizeof *sum->term);
  sum->term[at] = *term;
  sum->term[at].coefficient = coefficient;
  sum->count++;
}

static void add_to_term(tj_sum *sum, uint32_t at, int64_t coefficient) {
  if (__builtin_add_overflow(sum->term[at].coefficient, coefficient, &sum->term[at].coefficient))
    sum->failed = true;
  else if (sum->term[at].coefficient == 0)
    remove_term(sum, at);
}

void tj_sum_add_term(tj_sum *sum, const tj_term *term, int64_t factor) {
  int64_t coefficient;
  if (sum->failed || __builtin_mul_overflow(term->coefficient, factor, &coefficient)) {
    sum->failed = true;
    return;
  }
  if (term->degree == 0 || coefficient == 0) {
    tj_sum_add_constant(sum, coefficient);
    return;
  }
  uint32_t at = sum->count;
  int order = -1;
  while (at > 0 && (order = tj_compare_monomials(&sum->term[at - 1], term)) > 0)
    at--;
  if (at > 0 && order == 0)
    add_to_term(sum, at - 1, coefficient);
  else
    insert_term(sum, at, term, coefficient);
}

void tj_sum_append(tj_sum *sum, const tj_term *term) {
  sum->term[sum->count++] = *term;
}

/* Terms in order, each searched for from where the one before it went; often all go to the end. */
static void add_terms(tj_sum *sum, const tj_linear *form, int64_t factor) {
  const bool all_are_later =
      sum->count > 0 && form->count > 0 && tj_compare_monomials(&sum->term[sum->count - 1], &form->term[0]) < 0;
  uint32_t at = all_are_later ? sum->count : 0;
  for (uint32_t i = 0; i < form->count && !sum->failed; i++) {
    const tj_term *term = &form->term[i];
    int64_t coefficient;
    int order = 1;
    sum->failed |= __builtin_mul_overflow(term->coefficient, factor, &coefficient);
    while (at < sum->count && (order = tj_compare_monomials(&sum->term[at], term)) < 0)
      at++;
    if (at < sum->count && order == 0 && !sum->failed)
      add_to_term(sum, at, coefficient);
    else if (coefficient != 0 && !sum->failed)
      insert_term(sum, at, term, coefficient);
  }
}

void tj_sum_add(tj_sum *sum, const tj_linear *form, int64_t factor) {
  int64_t constant;
  sum->failed |= __builtin_mul_overflow(form->constant, factor, &constant);
  if (sum->failed)
    return;
  tj_sum_add_constant(sum, constant);
  if (sum->count == 0 && factor == 1 && form->count > 0) {
    memcpy(sum->term, form->term, form->count * sizeof *form->term);
    sum->count = form->count;
  } else {
    add_terms(sum, form, factor);
  }
}

static void add_scaled_terms(tj_sum *sum, const tj_linear *form, int64_t constant, int64_t factor) {
  int64_t scale;
  if (constant == 0)
    return;
  sum->failed |= __builtin_mul_overflow(constant, factor, &scale);
  if (!sum->failed)
    add_terms(sum, form, scale);
}

void tj_sum_add_product(tj_sum *sum, const tj_linear *a, const tj_linear *b, int64_t factor) {
  tj_term constant = {.coefficient = a->constant}, product;
  sum->failed |= __builtin_mul_overflow(constant.coefficient, b->constant, &constant.coefficient);
  if (sum->failed)
    return;
  tj_sum_add_term(sum, &constant, factor);
  add_scaled_terms(sum, a, b->constant, factor);
  add_scaled_terms(sum, b, a->constant, factor);
  for (uint32_t i = 0; i < a->count && !sum->failed; i++)
    for (uint32_t j = 0; j < b->count && !sum->failed; j++)
      if (tj_term_multiply(&a->term[i], &b->term[j], &product))
        tj_sum_add_term(sum, &product, factor);
      else
        sum->failed = true;
}

bool tj_sum_is_zero(const tj_sum *sum) {
  return sum->count == 0 && sum->constant == 0;
}

tj_linear tj_sum_form(const tj_sum *sum) {
  return (tj_linear){sum->constant, sum->count, sum->term};
}

const tj_linear *tj_sum_keep(tj_graph *graph, const tj_sum *sum) {
  tj_linear *form = TJ_NEW(graph->job, tj_linear);
  form->constant = sum->constant;
  form->count = sum->count;
  form->term = tj_arena_copy(&graph->job->arena, sum->term, sum->count * sizeof *sum->term);
  return form;
}

bool tj_linear_equal(const tj_linear *a, const tj_linear *b) {
  if (a->constant != b->constant || a->count != b->count)
    return false;
  for (uint32_t i = 0; i < a->count; i++)
    if (a->term[i].coefficient != b->term[i].coefficient || tj_compare_monomials(&a->term[i], &b->term[i]) != 0)
      return false;
  return true;
}

bool tj_linear_single(const tj_linear *form, tj_term *term) {
  if (form->count == 0) {
    *term = (tj_term){.coefficient = form->constant};
    return true;
  }
  *term = form->term[0];
  return form->count == 1 && form->constant == 0;
}

/* --- forms of nodes --- */

/* Sums nested deeper than this, and never looked at before, become atoms. */
enum { DEEPEST = 200, LARGEST_EXPANSION = 16 };

static const tj_linear *form_of(tj_graph *graph, const tj_node *node, int depth);

static void add_node(tj_graph *graph, tj_sum *sum, const tj_node *node, int depth) {
  if (tj_is_constant(node))
    tj_sum_add_constant(sum, node->value);
  else
    tj_sum_add(sum, form_of(graph, node, depth), 1);
}

static void multiply_nodes(tj_graph *graph, tj_sum *sum, const tj_node *a, const tj_node *b, int depth) {
  if (tj_is_constant(b)) {
    tj_sum_add(sum, form_of(graph, a, depth), b->value);
    return;
  }
  const tj_linear *left = form_of(graph, a, depth), *right = form_of(graph, b, depth);
  if (left->count * right->count > LARGEST_EXPANSION)
    sum->failed = true;
  else
    tj_sum_add_product(sum, left, right, 1);
}

static void expand(tj_graph *graph, tj_sum *sum, const tj_node *node, int depth) {
  const tj_node *a = node->arg[0], *b = node->arg[1];
  if (node->op == TJ_OP_ADD) {
    add_node(graph, sum, a, depth);
    add_node(graph, sum, b, depth);
  } else if (node->op == TJ_OP_MUL) {
    multiply_nodes(graph, sum, a, b, depth);
  } else if (node->op == TJ_OP_SHL && tj_is_constant(b) && b->value >= 0 && b->value <= 62) {
    tj_sum_add(sum, form_of(graph, a, depth), (int64_t)1 << b->value);
  } else {
    sum->failed = true;
  }
}

static const tj_linear *constant_form(tj_graph *graph, int64_t value) {
  tj_linear *form = TJ_NEW(graph->job, tj_linear);
  form->constant = value;
  return form;
}

static const tj_linear *atom_form(tj_graph *graph, const tj_node *node) {
  tj_linear *form = TJ_NEW(graph->job, tj_linear);
  tj_term term = {1, 1, {node}};
  form->count = 1;
  form->term = tj_arena_copy(&graph->job->arena, &term, sizeof term);
  return form;
}

static const tj_linear *expanded_form(tj_graph *graph, const tj_node *node, int depth) {
  tj_sum sum = tj_sum_of(0);
  expand(graph, &sum, node, depth);
  return sum.failed ? atom_form(graph, node) : tj_sum_keep(graph, &sum);
}

static bool may_expand(const tj_node *node) {
  return node->op == TJ_OP_ADD || node->op == TJ_OP_MUL || node->op == TJ_OP_SHL;
}

static const tj_linear *form_of(tj_graph *graph, const tj_node *node, int depth) {
  const tj_linear *known = tj_memo_of(node)->linear;
  if (known != NULL)
    return known;
  const tj_linear *form = tj_is_constant(node)                  ? constant_form(graph, node->value)
                          : may_expand(node) && depth < DEEPEST ? expanded_form(graph, node, depth + 1)
                                                                : atom_form(graph, node);
  tj_memo_of(node)->linear = form;
  return form;
}

const tj_linear *tj_linear_compute(tj_graph *graph, const tj_node *node) {
  return form_of(graph, node, 0);
}

void tj_linear_seal(tj_graph *graph, const tj_node *node) {
  const tj_linear *form = atom_form(graph, node);
  tj_memo_of(node)->linear = form;
}

void tj_linear_remember(const tj_node *node, const tj_linear *form) {
  tj_memo *memo = tj_memo_of(node);
  if (memo->linear == NULL)
    memo->linear = form;
}

bool tj_is_atom(tj_graph *graph, const tj_node *node) {
  const tj_linear *form = tj_linear_of(graph, node);
  return form->count == 1 && form->constant == 0 && form->term[0].coefficient == 1 && form->term[0].degree == 1 &&
         form->term[0].atom[0] == node;
}

/* --- ranges --- */

static __int128 clamp(__int128 value) {
  return value > TJ_RANGE_INFINITE ? TJ_RANGE_INFINITE : value < -TJ_RANGE_INFINITE ? -TJ_RANGE_INFINITE : value;
}

static bool is_infinite(__int128 value) {
  return value >= TJ_RANGE_INFINITE || value <= -TJ_RANGE_INFINITE;
}

static __int128 product_bound(__int128 a, __int128 b) {
  if (a == 0 || b == 0)
    return 0;
  if (is_infinite(a) || is_infinite(b))
    return (a < 0) == (b < 0) ? TJ_RANGE_INFINITE : -TJ_RANGE_INFINITE;
  __int128 product;
  if (a == (int64_t)a && b == (int64_t)b)
    return clamp((__int128)(int64_t)a * (int64_t)b);
  if (__builtin_mul_overflow(a, b, &product))
    return (a < 0) == (b < 0) ? TJ_RANGE_INFINITE : -TJ_RANGE_INFINITE;
  return clamp(product);
}

static tj_range product_range(tj_range a, tj_range b) {
  __int128 at[4] = {product_bound(a.low, b.low), product_bound(a.low, b.high), product_bound(a.high, b.low),
                    product_bound(a.high, b.high)};
  tj_range range = {at[0], at[0]};
  for (int i = 1; i < 4; i++) {
    range.low = at[i] < range.low ? at[i] : range.low;
    range.high = at[i] > range.high ? at[i] : range.high;
  }
  return range;
}

static tj_range atom_range(const tj_node *atom) {
  return (tj_range){atom->facts.low == INT64_MIN ? -TJ_RANGE_INFINITE : atom->facts.low,
                    atom->facts.high == INT64_MAX ? TJ_RANGE_INFINITE : atom->facts.high};
}

static tj_range scaled_range(tj_range range, int64_t factor) {
  __int128 low = product_bound(range.low, factor), high = product_bound(range.high, factor);
  return factor >= 0 ? (tj_range){low, high} : (tj_range){high, low};
}

static tj_range term_range(const tj_term *term) {
  tj_range range = atom_range(term->atom[0]);
  for (uint32_t i = 1; i < term->degree; i++)
    range = product_range(range, atom_range(term->atom[i]));
  return scaled_range(range, term->coefficient);
}

/* The range of a monomial, in 64 bits; false where it is unbounded, does not fit, or has factors that may be negative
 * and are not alone. */
static bool narrow_monomial(const tj_term *term, int64_t *low, int64_t *high) {
  *low = term->atom[0]->facts.low;
  *high = term->atom[0]->facts.high;
  bool is_known = *low != INT64_MIN && *high != INT64_MAX;
  for (uint32_t i = 1; i < term->degree && is_known; i++) {
    const tj_facts *facts = &term->atom[i]->facts;
    is_known = *low >= 0 && facts->low >= 0 && facts->high != INT64_MAX &&
               !__builtin_mul_overflow(*low, facts->low, low) && !__builtin_mul_overflow(*high, facts->high, high);
  }
  return is_known;
}

/* The range of a form by the same means. */
static bool narrow_range(const tj_linear *form, tj_range *range) {
  int64_t low = form->constant, high = form->constant;
  for (uint32_t i = 0; i < form->count; i++) {
    const int64_t coefficient = form->term[i].coefficient;
    int64_t least, most;
    if (!narrow_monomial(&form->term[i], &least, &most) || __builtin_mul_overflow(least, coefficient, &least) ||
        __builtin_mul_overflow(most, coefficient, &most) ||
        __builtin_add_overflow(low, coefficient > 0 ? least : most, &low) ||
        __builtin_add_overflow(high, coefficient > 0 ? most : least, &high))
      return false;
  }
  *range = (tj_range){low, high};
  return true;
}

static tj_range wide_range(const tj_linear *form) {
  tj_range range = {form->constant, form->constant};
  for (uint32_t i = 0; i < form->count; i++) {
    tj_range term = term_range(&form->term[i]);
    range.low = range.low <= -TJ_RANGE_INFINITE ? range.low : clamp(range.low + term.low);
    range.low = term.low <= -TJ_RANGE_INFINITE ? -TJ_RANGE_INFINITE : range.low;
    range.high = range.high >= TJ_RANGE_INFINITE ? range.high : clamp(range.high + term.high);
    range.high = term.high >= TJ_RANGE_INFINITE ? TJ_RANGE_INFINITE : range.high;
  }
  return range;
}

tj_range tj_linear_range(const tj_linear *form) {
  tj_range range;
  return narrow_range(form, &range) ? range : wide_range(form);
}
