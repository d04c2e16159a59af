/* SPDX-License-Identifier: MIT */
/* Proofs about index expressions, from symbolic bounds.
 *
 * Everything is brought to "form >= 0". Where the facts of atoms do not show that, the newest atom is replaced by a
 * bound that makes the form no larger: a coordinate by its first or last value, y % d by 0, d - 1 or y, and
 * d * (y / d) by y less what y % d may be, which is nothing where d divides y; a minimum, a maximum or a choice by
 * each of its alternatives in turn. Bounds are made of older nodes, so this ends; at once where a sample (sample.h)
 * shows the form negative, and after at most MOST_REPLACEMENTS replacements. A proof that is not found means nothing.
 *
 * The range of a form is found by the same replacements (tj_range_by_bounds), one after the other. */
#include "ir/index/facts.h"
#include "ir/index/linear.h"
#include "ir/index/sample.h"

enum { MOST_REPLACEMENTS = 20, MOST_SIGNS = 16, MOST_NESTING = 12, MOST_TERMS_BOUNDED = 8, MOST_NESTED_DIVISORS = 4 };

typedef struct {
  tj_graph *graph;
  int replacements, for_signs; /* still allowed: of this form, and of slopes of which ranges do not show the sign */
} prover;

static bool is_nonnegative(prover *proof, const tj_sum *sum, int nesting);

/* --- replacing one atom --- */

/* Symbols that several atoms mention. Atoms that share none with others vary independently, and then the range of
 * the form is already exact, or as good as replacing them can make it. */
static uint32_t shared_symbols(const tj_linear *form) {
  uint32_t once = 0, shared = 0;
  for (uint32_t i = 0; i < form->count; i++)
    for (uint32_t k = 0; k < form->term[i].degree; k++) {
      shared |= once & form->term[i].atom[k]->symbols;
      once |= form->term[i].atom[k]->symbols;
    }
  return shared;
}

static const tj_node *newest_shared_atom(const tj_linear *form) {
  const uint32_t shared = shared_symbols(form);
  const tj_node *newest = NULL;
  for (uint32_t i = 0; i < form->count && shared != 0; i++)
    for (uint32_t k = 0; k < form->term[i].degree; k++) {
      const tj_node *atom = form->term[i].atom[k];
      if ((atom->symbols & shared) != 0 && (newest == NULL || atom->id > newest->id))
        newest = atom;
    }
  return newest;
}

/* sum = slope * atom + rest; false where the atom occurs squared. */
static bool split_by_atom(const tj_sum *sum, const tj_node *atom, tj_sum *slope, tj_sum *rest) {
  const tj_term divisor = {1, 1, {atom}};
  *slope = tj_sum_of(0);
  *rest = tj_sum_of(sum->constant);
  for (uint32_t i = 0; i < sum->count; i++) {
    tj_term quotient, again;
    if (!tj_term_divide(&sum->term[i], &divisor, &quotient))
      tj_sum_append(rest, &sum->term[i]);
    else if (tj_term_divide(&quotient, &divisor, &again))
      return false;
    else
      tj_sum_add_term(slope, &quotient, 1);
  }
  return !slope->failed;
}

/* 1: never negative, -1: never positive, 0: not known. */
static int sign_of(const tj_sum *sum) {
  tj_linear form = tj_sum_form(sum);
  tj_range range = tj_linear_range(&form);
  return range.low >= 0 ? 1 : range.high <= 0 ? -1 : 0;
}

static bool is_proved_slope(prover *of_slope, const tj_linear *slope, int factor, int nesting) {
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, slope, factor);
  return !sum.failed && is_nonnegative(of_slope, &sum, nesting + 1);
}

/* The same, of slopes such as (A - 1)*B by a proof of its own. */
static int proved_sign(prover *proof, const tj_sum *slope, int nesting) {
  int sign = sign_of(slope);
  prover of_slope = {proof->graph, proof->for_signs, proof->for_signs / 2};
  const tj_linear form = tj_sum_form(slope);
  if (sign != 0 || proof->for_signs <= 0)
    return sign;
  sign = is_proved_slope(&of_slope, &form, 1, nesting) ? 1 : is_proved_slope(&of_slope, &form, -1, nesting) ? -1 : 0;
  proof->for_signs = of_slope.replacements;
  return sign;
}

static bool holds_with(prover *proof, const tj_sum *slope, const tj_sum *rest, const tj_linear *bound, int nesting) {
  tj_sum replaced;
  tj_sum_copy(&replaced, rest);
  tj_linear by = tj_sum_form(slope);
  tj_sum_add_product(&replaced, &by, bound, 1);
  return !replaced.failed && is_nonnegative(proof, &replaced, nesting + 1);
}

static bool holds_with_node(prover *proof, const tj_sum *slope, const tj_sum *rest, const tj_node *bound,
                            int nesting) {
  return holds_with(proof, slope, rest, tj_linear_of(proof->graph, bound), nesting);
}

static bool holds_with_constant(prover *proof, const tj_sum *slope, const tj_sum *rest, int64_t bound, int nesting) {
  tj_linear form = {.constant = bound};
  return holds_with(proof, slope, rest, &form, nesting);
}

/* --- bounds by kind of atom --- */

/* What a symbol is at least: its divisor, where it is positive and its own bound is no expression. */
static const tj_node *low_of_symbol(const tj_node *atom) {
  const tj_symbol *symbol = atom->symbol;
  const bool is_plain = symbol->low == NULL || tj_is_constant(symbol->low);
  return is_plain && symbol->divisor != NULL && atom->facts.low >= 1 ? symbol->divisor : symbol->low;
}

/* A symbolic bound of a symbol, above (sign > 0) or below; NULL: there is none. */
static const tj_node *bound_of_symbol(const tj_node *atom, int sign) {
  return sign > 0 ? atom->symbol->high : low_of_symbol(atom);
}

static bool holds_for_symbol(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                             int nesting) {
  const tj_node *bound = bound_of_symbol(atom, -sign);
  return bound != NULL && !tj_is_constant(bound) && holds_with_node(proof, slope, rest, bound, nesting);
}

/* y % d <= d - 1, and <= y where y >= 0. */
static bool holds_for_remainder(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                                int nesting) {
  const tj_node *value = atom->arg[0], *divisor = atom->arg[1];
  if (sign > 0 || divisor->facts.low < 1)
    return false;
  if (value->facts.low >= 0 && holds_with_node(proof, slope, rest, value, nesting))
    return true;
  if (tj_is_constant(divisor))
    return false;
  tj_sum last = tj_sum_of(-1);
  tj_sum_add(&last, tj_linear_of(proof->graph, divisor), 1);
  tj_linear bound = tj_sum_form(&last);
  return !last.failed && holds_with(proof, slope, rest, &bound, nesting);
}

/* What bounds d * (y / d) from below (sign > 0) or above: y less the most, or the least, that y % d may be. */
static tj_sum bound_of_multiple(tj_graph *graph, const tj_node *quotient, int sign) {
  const tj_node *value = quotient->arg[0], *divisor = quotient->arg[1];
  const tj_facts rest = tj_facts_of_operation(TJ_OP_MOD, (const tj_facts *const[]){&value->facts, &divisor->facts});
  tj_sum bound = tj_sum_of(0);
  tj_sum_add(&bound, tj_linear_of(graph, value), 1);
  if (sign < 0 || tj_prove_divides(graph, divisor, value)) {
    tj_sum_add_constant(&bound, sign < 0 ? -rest.low : 0);
  } else if (tj_is_constant(divisor)) {
    tj_sum_add_constant(&bound, -rest.high);
  } else {
    tj_sum_add(&bound, tj_linear_of(graph, divisor), -1);
    tj_sum_add_constant(&bound, 1);
  }
  return bound;
}

/* With q = y / d: s*q + r >= 0 where d*(s*q + r) + d - 1 >= 0, for the bounds of d*q. */
static bool holds_for_quotient(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                               int nesting) {
  const tj_node *divisor = atom->arg[1];
  if (divisor->facts.low < 1)
    return false;
  const tj_linear *by = tj_linear_of(proof->graph, divisor);
  tj_linear rest_form = tj_sum_form(rest), slope_form = tj_sum_form(slope);
  tj_sum scaled = tj_sum_of(-1);
  const tj_sum bound = bound_of_multiple(proof->graph, atom, sign);
  tj_sum_add(&scaled, by, 1);
  tj_sum_add_product(&scaled, &rest_form, by, 1);
  tj_linear bound_form = tj_sum_form(&bound);
  if (scaled.failed || bound.failed)
    return false;
  tj_sum_add_product(&scaled, &slope_form, &bound_form, 1);
  return !scaled.failed && is_nonnegative(proof, &scaled, nesting + 1);
}

static bool holds_for_both(prover *proof, const tj_node *a, const tj_node *b, const tj_sum *slope, const tj_sum *rest,
                           int nesting) {
  return holds_with_node(proof, slope, rest, a, nesting) && holds_with_node(proof, slope, rest, b, nesting);
}

/* min(a, b) <= a and <= b, so where an upper bound is needed one of them is enough; max likewise below. */
static bool holds_for_extreme(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                              int nesting) {
  bool one_is_enough = (atom->op == TJ_OP_MIN) == (sign < 0);
  if (one_is_enough)
    return holds_with_node(proof, slope, rest, atom->arg[0], nesting) ||
           holds_with_node(proof, slope, rest, atom->arg[1], nesting);
  return holds_for_both(proof, atom->arg[0], atom->arg[1], slope, rest, nesting);
}

/* a & b <= a, b; a | b >= a, b. */
static bool holds_for_bits(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                           int nesting) {
  if ((atom->op == TJ_OP_AND) != (sign < 0))
    return false;
  return holds_with_node(proof, slope, rest, atom->arg[0], nesting) ||
         holds_with_node(proof, slope, rest, atom->arg[1], nesting);
}

static bool holds_for_atom(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                           int nesting) {
  switch (atom->op) {
  case TJ_OP_SYMBOL:
    return holds_for_symbol(proof, atom, sign, slope, rest, nesting);
  case TJ_OP_MOD:
    return holds_for_remainder(proof, atom, sign, slope, rest, nesting);
  case TJ_OP_DIV:
    return holds_for_quotient(proof, atom, sign, slope, rest, nesting);
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    return holds_for_extreme(proof, atom, sign, slope, rest, nesting);
  case TJ_OP_SELECT:
    return holds_for_both(proof, atom->arg[1], atom->arg[2], slope, rest, nesting);
  case TJ_OP_AND:
  case TJ_OP_OR:
    return holds_for_bits(proof, atom, sign, slope, rest, nesting);
  default:
    return false;
  }
}

static bool holds_for_facts(prover *proof, const tj_node *atom, int sign, const tj_sum *slope, const tj_sum *rest,
                            int nesting) {
  int64_t bound = sign > 0 ? atom->facts.low : atom->facts.high;
  if (bound == INT64_MIN || bound == INT64_MAX)
    return false;
  return holds_with_constant(proof, slope, rest, bound, nesting);
}

/* The symbolic part of the divisor of a quotient that the form has less of, where the quotient times the rest of the
 * divisor is what it has: g of -c*g0*(y/(g0*g)). */
static bool symbolic_divisor(prover *proof, const tj_term *term, tj_term *divisor) {
  if (term->coefficient >= 0 || term->degree != 1 || term->atom[0]->op != TJ_OP_DIV ||
      !tj_linear_single(tj_linear_of(proof->graph, term->atom[0]->arg[1]), divisor) || divisor->degree == 0 ||
      divisor->coefficient < 1 || term->coefficient % divisor->coefficient != 0)
    return false;
  divisor->coefficient = 1;
  return tj_term_is_positive(divisor);
}

/* s >= 0 for an integer s where g*(s + 1) >= 1, for g > 0: so that g*g0*(y/(g0*g)) can be bounded by y. */
static bool holds_when_scaled(prover *proof, const tj_sum *sum, const tj_linear *form, int nesting) {
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term divisor;
    if (!symbolic_divisor(proof, &form->term[i], &divisor))
      continue;
    tj_sum next = *sum, scaled = tj_sum_of(-1);
    tj_sum_add_constant(&next, 1);
    const tj_linear next_form = tj_sum_form(&next), by = {.count = 1, .term = &divisor};
    tj_sum_add_product(&scaled, &next_form, &by, 1);
    return !next.failed && !scaled.failed && is_nonnegative(proof, &scaled, nesting + 1);
  }
  return false;
}

static bool holds_by_replacement(prover *proof, const tj_sum *sum, const tj_linear *form, int nesting) {
  const tj_node *atom = newest_shared_atom(form);
  tj_sum slope, rest;
  if (atom == NULL || !split_by_atom(sum, atom, &slope, &rest))
    return false;
  int sign = proved_sign(proof, &slope, nesting);
  if (sign == 0)
    return false;
  return holds_for_atom(proof, atom, sign, &slope, &rest, nesting) ||
         holds_for_facts(proof, atom, sign, &slope, &rest, nesting);
}

static bool is_nonnegative(prover *proof, const tj_sum *sum, int nesting) {
  tj_linear form = tj_sum_form(sum);
  tj_range range = tj_linear_range(&form);
  proof->graph->work += 1 + form.count;
  if (range.low >= 0)
    return true;
  if (range.high < 0 || tj_sampled_negative(&form) || nesting == MOST_NESTING || proof->replacements-- <= 0)
    return false;
  return holds_by_replacement(proof, sum, &form, nesting) || holds_when_scaled(proof, sum, &form, nesting);
}

bool tj_prove_nonnegative(tj_graph *graph, const tj_linear *form) {
  const tj_range range = tj_linear_range(form);
  if (range.low >= 0)
    return true;
  if (range.high < 0 || shared_symbols(form) == 0 || tj_sampled_negative(form))
    return false;
  prover proof = {graph, MOST_REPLACEMENTS, MOST_SIGNS};
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, form, 1);
  return !sum.failed && is_nonnegative(&proof, &sum, 0);
}

/* --- ranges --- */

/* form = divisor * multiple + rest, term by term. False where the divisor is not one term known to be positive. */
static bool divide_form(tj_graph *graph, const tj_linear *form, const tj_node *divisor, tj_sum *multiple,
                        tj_sum *rest) {
  tj_term by;
  *multiple = tj_sum_of(0);
  *rest = tj_sum_of(form->constant);
  if (!tj_linear_single(tj_linear_of(graph, divisor), &by) || !tj_term_is_positive(&by))
    return false;
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term divided;
    if (tj_term_divide(&form->term[i], &by, &divided))
      tj_sum_add_term(multiple, &divided, 1);
    else
      tj_sum_append(rest, &form->term[i]);
  }
  return !multiple->failed && !tj_sum_is_zero(multiple);
}

/* The value of a quotient, or what bounds it above (sign > 0) or below, where that is a multiple of the divisor and
 * little more: (d*x + r)/d <= x + r/d. */
static bool bound_quotient(tj_graph *graph, const tj_node *quotient, int sign, tj_sum *bound) {
  const tj_node *value = quotient->arg[0], *divisor = quotient->arg[1];
  const tj_node *end = value->op != TJ_OP_SYMBOL ? value : bound_of_symbol(value, sign);
  tj_sum rest;
  if (end == NULL || !divide_form(graph, tj_linear_of(graph, end), divisor, bound, &rest))
    return false;
  const tj_linear rest_form = tj_sum_form(&rest);
  const tj_range range = tj_linear_range(&rest_form);
  const __int128 furthest = sign > 0 ? range.high : range.low;
  if (furthest < INT64_MIN || furthest > INT64_MAX)
    return false;
  const bool is_away = (sign > 0) == (furthest >= 0);
  tj_sum_add_constant(bound, is_away ? tj_floor_div((int64_t)furthest, divisor->facts.low) : sign > 0 ? -1 : 0);
  return !bound->failed;
}

/* What bounds an atom above (sign > 0) or below, as a form. */
static bool bound_atom(tj_graph *graph, const tj_node *atom, int sign, tj_sum *bound) {
  const int64_t end = sign > 0 ? atom->facts.high : atom->facts.low;
  const tj_node *symbolic = atom->op != TJ_OP_SYMBOL ? NULL : bound_of_symbol(atom, sign);
  const bool below_divisor = atom->op == TJ_OP_MOD && sign > 0 && atom->arg[1]->facts.low >= 1;
  if (atom->op == TJ_OP_DIV && bound_quotient(graph, atom, sign, bound))
    return true;
  *bound = tj_sum_of(below_divisor ? -1 : 0);
  if (symbolic != NULL || below_divisor)
    tj_sum_add(bound, tj_linear_of(graph, below_divisor ? atom->arg[1] : symbolic), 1);
  else
    tj_sum_add_constant(bound, end);
  return symbolic != NULL || below_divisor || (end != INT64_MIN && end != INT64_MAX);
}

/* slope * atom for a quotient: the multiples of the divisor in the slope times its bound, and the rest as it stands.
 * False where there are none. */
static bool replace_multiples(tj_graph *graph, const tj_node *atom, const tj_sum *slope, tj_sum *result) {
  const tj_term alone = {1, 1, {atom}};
  const tj_linear quotient = {.count = 1, .term = &alone}, slope_form = tj_sum_form(slope);
  tj_sum multiple, rest;
  if (!divide_form(graph, &slope_form, atom->arg[1], &multiple, &rest) || sign_of(&multiple) == 0)
    return false;
  const tj_sum bound = bound_of_multiple(graph, atom, -sign_of(&multiple));
  const tj_linear factor = tj_sum_form(&multiple), by_bound = tj_sum_form(&bound), left = tj_sum_form(&rest);
  tj_sum_add_product(result, &factor, &by_bound, 1);
  tj_sum_add_product(result, &left, &quotient, 1);
  result->failed |= bound.failed;
  return true;
}

/* Adds slope * atom to the result where the atom is as large as it may be, or as small for a slope that is negative.
 */
static bool replace_atom(tj_graph *graph, const tj_node *atom, const tj_sum *slope, tj_sum *result) {
  const int sign = sign_of(slope);
  tj_sum bound;
  if (atom->op == TJ_OP_DIV && !(sign != 0 && bound_quotient(graph, atom, sign, &bound)) &&
      replace_multiples(graph, atom, slope, result))
    return !result->failed;
  if (sign == 0 || !bound_atom(graph, atom, sign, &bound))
    return false;
  const tj_linear by = tj_sum_form(slope), bound_form = tj_sum_form(&bound);
  tj_sum_add_product(result, &by, &bound_form, 1);
  return !result->failed;
}

/* The most that factor * form can be. */
static __int128 greatest(tj_graph *graph, const tj_linear *form, int64_t factor) {
  tj_sum sum = tj_sum_of(0);
  __int128 most = TJ_RANGE_INFINITE;
  tj_sum_add(&sum, form, factor);
  for (int i = 0; i < MOST_REPLACEMENTS && !sum.failed; i++) {
    const tj_linear now = tj_sum_form(&sum);
    const __int128 high = tj_linear_range(&now).high;
    const tj_node *atom = newest_shared_atom(&now);
    tj_sum slope, rest;
    most = high < most ? high : most;
    graph->work += 1 + now.count;
    if (atom == NULL || !split_by_atom(&sum, atom, &slope, &rest))
      break;
    tj_sum_copy(&sum, &rest);
    if (!replace_atom(graph, atom, &slope, &sum))
      break;
  }
  return most;
}

tj_range tj_range_by_bounds(tj_graph *graph, const tj_linear *form) {
  if (form->count > MOST_TERMS_BOUNDED)
    return tj_linear_range(form);
  return (tj_range){-greatest(graph, form, -1), greatest(graph, form, 1)};
}

/* --- relations --- */

/* b - a >= gap */
static bool prove_gap(tj_graph *graph, const tj_node *a, const tj_node *b, int64_t gap) {
  tj_sum difference = tj_sum_of(-gap);
  tj_sum_add(&difference, tj_linear_of(graph, b), 1);
  tj_sum_add(&difference, tj_linear_of(graph, a), -1);
  tj_linear form = tj_sum_form(&difference);
  return !difference.failed && tj_prove_nonnegative(graph, &form);
}

bool tj_prove_less(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return a->facts.high < b->facts.low || (a != b && prove_gap(graph, a, b, 1));
}

bool tj_prove_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return a == b || (a->facts.high <= b->facts.low && a->facts.high != INT64_MAX && b->facts.low != INT64_MIN) ||
         prove_gap(graph, a, b, 0);
}

bool tj_prove_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return a == b || tj_linear_equal(tj_linear_of(graph, a), tj_linear_of(graph, b)) ||
         (prove_gap(graph, a, b, 0) && prove_gap(graph, b, a, 0));
}

/* --- divisibility --- */

static void cancel_atom(tj_graph *graph, const tj_node *atom, int nesting, tj_term *left);

/* Takes out of `left` factors that together divide every value of the term: those that are spelled out, then what
 * each of the other atoms is a multiple of. */
static void cancel_term(tj_graph *graph, const tj_term *term, int nesting, tj_term *left) {
  const tj_term whole = *left, common = tj_term_gcd(&whole, term);
  tj_term others;
  (void)tj_term_divide(&whole, &common, left);
  (void)tj_term_divide(term, &common, &others);
  for (uint32_t i = 0; i < others.degree && !tj_term_is_one(left); i++)
    cancel_atom(graph, others.atom[i], nesting, left);
}

/* One fact serves: the factors of the symbolic divisor and those of the facts may be the same. */
static void cancel_atom(tj_graph *graph, const tj_node *atom, int nesting, tj_term *left) {
  const tj_term before = *left, content = {.coefficient = tj_facts_content(&atom->facts)};
  const tj_node *divisor = atom->op == TJ_OP_SYMBOL ? atom->symbol->divisor : NULL;
  tj_term by;
  graph->work++;
  if (divisor != NULL && nesting < MOST_NESTED_DIVISORS && tj_linear_single(tj_linear_of(graph, divisor), &by))
    cancel_term(graph, &by, nesting + 1, left);
  if (left->coefficient == before.coefficient && left->degree == before.degree)
    left->coefficient /= tj_term_gcd(left, &content).coefficient;
}

bool tj_prove_divides_term(tj_graph *graph, const tj_term *divisor, const tj_term *term) {
  tj_term left = *divisor;
  cancel_term(graph, term, 0, &left);
  return left.degree == 0 && (left.coefficient == 1 || left.coefficient == -1);
}

/* term * (atom / divisor) */
static bool multiply_by_quotient(tj_graph *graph, const tj_node *atom, const tj_term *divisor, tj_term *term) {
  const tj_node *quotient = tj_div(graph, atom, tj_monomial_node(graph, divisor));
  const tj_term others = *term;
  tj_term by;
  return tj_linear_single(tj_linear_of(graph, quotient), &by) && tj_term_multiply(&others, &by, term);
}

bool tj_term_divide_by_facts(tj_graph *graph, const tj_term *term, const tj_term *divisor, tj_term *quotient) {
  if (tj_term_divide(term, divisor, quotient))
    return true;
  if (divisor->degree == 0 || !tj_term_is_positive(divisor) || !tj_prove_divides_term(graph, divisor, term))
    return false;
  const tj_term common = tj_term_gcd(divisor, term);
  tj_term left, others;
  bool fits = tj_term_divide(divisor, &common, &left) && tj_term_divide(term, &common, &others);
  *quotient = (tj_term){.coefficient = others.coefficient};
  for (uint32_t i = 0; i < others.degree && fits; i++) {
    const tj_term alone = {1, 1, {others.atom[i]}}, product = *quotient;
    tj_term after = left, taken;
    cancel_atom(graph, others.atom[i], 0, &after);
    if (tj_term_divide(&left, &after, &taken) && !tj_term_is_one(&taken))
      fits = multiply_by_quotient(graph, others.atom[i], &taken, quotient);
    else
      fits = tj_term_multiply(&product, &alone, quotient);
    left = after;
  }
  return fits && tj_term_is_one(&left);
}

/* A multiple of the divisor: an exact quotient y/d among its atoms, of which y is a multiple, replaced by y. */
static bool multiple_of_divisor(tj_graph *graph, const tj_term *divisor, tj_term *multiple) {
  for (uint32_t i = 0; i < divisor->degree; i++) {
    const tj_node *atom = divisor->atom[i];
    const tj_term others = tj_term_without(divisor, i);
    tj_term value;
    if (atom->op == TJ_OP_DIV && tj_linear_single(tj_linear_of(graph, atom->arg[0]), &value) &&
        tj_prove_divides(graph, atom->arg[1], atom->arg[0]))
      return tj_term_multiply(&others, &value, multiple);
  }
  return false;
}

static bool divides_form(tj_graph *graph, const tj_term *divisor, const tj_linear *form) {
  if (form->constant != 0 && (divisor->degree > 0 || form->constant % divisor->coefficient != 0))
    return false;
  for (uint32_t i = 0; i < form->count; i++)
    if (!tj_prove_divides_term(graph, divisor, &form->term[i]))
      return false;
  return true;
}

/* The divisor is what the symbol is declared to be a multiple of, or what that is declared to be, and so on. */
static bool is_declared_multiple(tj_graph *graph, const tj_node *value, const tj_node *divisor) {
  for (int i = 0; i <= MOST_NESTED_DIVISORS && value->op == TJ_OP_SYMBOL && value->symbol->divisor != NULL; i++) {
    value = value->symbol->divisor;
    if (tj_linear_equal(tj_linear_of(graph, value), tj_linear_of(graph, divisor)))
      return true;
  }
  return false;
}

bool tj_prove_divides(tj_graph *graph, const tj_node *divisor, const tj_node *value) {
  tj_term by, more;
  if (divisor == value || tj_is_int(divisor, 1) || tj_is_int(divisor, -1) || tj_is_int(value, 0))
    return true;
  if (tj_is_constant(divisor) && tj_facts_divisible(&value->facts, divisor->value))
    return true;
  if (is_declared_multiple(graph, value, divisor))
    return true;
  if (!tj_linear_single(tj_linear_of(graph, divisor), &by) || by.coefficient == 0 || by.coefficient == INT64_MIN)
    return false;
  const tj_linear *form = tj_linear_of(graph, value);
  return divides_form(graph, &by, form) ||
         (multiple_of_divisor(graph, &by, &more) && divides_form(graph, &more, form));
}
