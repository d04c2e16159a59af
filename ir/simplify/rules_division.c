/* SPDX-License-Identifier: MIT */
/* Rules of quotients and remainders.
 *
 * A divisor is a constant or a product of one, in linear forms one term. The dividend's form is split into terms that
 * the divisor, or a factor of it, divides, and the rest, of which ranges must be proven. */
#include "ir/simplify/rules.h"

#include "base/integer.h"

/* A division at work: x / d or x % d with d > 0. */
typedef struct {
  tj_rewriter *rewriter;
  tj_graph *graph;
  const tj_node *divisor;
  const tj_linear *form; /* of x */
  tj_term by;            /* d as a term */
} division;

/* False where the divisor is not one term, or not known to be positive. */
static bool start(tj_rewriter *rewriter, const tj_node *node, division *of) {
  of->rewriter = rewriter;
  of->graph = rewriter->graph;
  of->divisor = node->arg[1];
  if (of->divisor->facts.low < 1)
    return false;
  of->form = tj_linear_of(rewriter->graph, node->arg[0]);
  return tj_linear_single(tj_linear_of(rewriter->graph, of->divisor), &of->by) && of->by.coefficient > 0;
}

/* The block k with k*d <= form < k*d + d for a constant d. */
static bool find_block(const tj_linear *form, int64_t divisor, int64_t *block) {
  tj_range range = tj_linear_range(form);
  if (range.low < INT64_MIN || range.high > INT64_MAX)
    return false;
  *block = tj_floor_div((int64_t)range.low, divisor);
  return *block == tj_floor_div((int64_t)range.high, divisor);
}

/* Likewise for any divisor, where only the blocks 0 and -1 are tried by proof. */
static bool prove_block(tj_rewriter *rewriter, const tj_linear *form, const tj_node *divisor, int64_t *block) {
  if (tj_is_constant(divisor) && find_block(form, divisor->value, block))
    return true;
  *block = 0;
  if (tj_rule_in_range(rewriter, form, divisor))
    return true;
  tj_sum next = tj_sum_of(0);
  tj_sum_add(&next, form, 1);
  tj_sum_add(&next, tj_linear_of(rewriter->graph, divisor), 1);
  tj_linear moved = tj_sum_form(&next);
  *block = -1;
  return !next.failed && tj_linear_range(form).low < 0 && tj_rule_in_range(rewriter, &moved, divisor);
}

static void because_block(tj_rewriter *rewriter, const tj_linear *form, const tj_node *divisor, int64_t block) {
  if (rewriter->trace == NULL)
    return;
  const char *low = block == 0 ? "0"
                               : tj_string_format(rewriter->graph->job, "%lld*%s", (long long)block,
                                                  tj_rule_text(rewriter, divisor));
  TJ_BECAUSE(rewriter, "%s <= %s < %s%s%s", low, tj_rule_text(rewriter, tj_linear_node(rewriter->graph, form)),
             block == 0 ? "" : low, block == 0 ? "" : " + ", tj_rule_text(rewriter, divisor));
}

/* Terms of the form that the divisor divides, divided by it, and the others, with the constant. */
static void split_multiples(tj_graph *graph, const tj_linear *form, const tj_term *by, tj_sum *quotient,
                            tj_sum *rest) {
  *quotient = tj_sum_of(0);
  *rest = tj_sum_of(form->constant);
  for (uint32_t i = 0; i < form->count; i++) {
    tj_term divided;
    if (tj_term_divide_by_facts(graph, &form->term[i], by, &divided))
      tj_sum_add_term(quotient, &divided, 1);
    else
      tj_sum_append(rest, &form->term[i]);
  }
}

/* --- by units, and by range --- */

const tj_node *tj_rule_quotient_by_unit(tj_rewriter *rewriter, const tj_node *node) {
  if (tj_is_int(node->arg[1], 1))
    return tj_simple(rewriter, node->arg[0]);
  if (!tj_is_int(node->arg[1], -1))
    return NULL;
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, tj_linear_of(rewriter->graph, node->arg[0]), -1);
  return tj_simple_sum(rewriter, &sum);
}

const tj_node *tj_rule_quotient_in_range(tj_rewriter *rewriter, const tj_node *node) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node->arg[0]);
  int64_t block;
  if (node->arg[1]->facts.low < 1 || !prove_block(rewriter, form, node->arg[1], &block))
    return NULL;
  because_block(rewriter, form, node->arg[1], block);
  return tj_int(rewriter->graph, block);
}

const tj_node *tj_rule_remainder_in_range(tj_rewriter *rewriter, const tj_node *node) {
  const tj_linear *form = tj_linear_of(rewriter->graph, node->arg[0]);
  int64_t block;
  if (node->arg[1]->facts.low < 1 || !prove_block(rewriter, form, node->arg[1], &block))
    return NULL;
  because_block(rewriter, form, node->arg[1], block);
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, form, 1);
  if (block == INT64_MIN)
    return NULL;
  tj_sum_add(&sum, tj_linear_of(rewriter->graph, node->arg[1]), -block);
  return tj_simple_sum(rewriter, &sum);
}

/* --- multiples of the divisor --- */

/* Division of forms by a divisor of several terms, such as M + 1, by its first term, as long as the rest shrinks. */
static bool divide_by_sum(const tj_linear *form, const tj_linear *by, tj_sum *quotient, tj_sum *rest) {
  *quotient = tj_sum_of(0);
  *rest = tj_sum_of(0);
  tj_sum_add(rest, form, 1);
  for (uint32_t i = 0; i < rest->count && !rest->failed;) {
    tj_term divided;
    if (!tj_term_divide(&rest->term[i], &by->term[0], &divided)) {
      i++;
      continue;
    }
    const uint32_t before = rest->count;
    const tj_linear divided_form =
        divided.degree == 0 ? (tj_linear){.constant = divided.coefficient} : (tj_linear){0, 1, &divided};
    tj_sum_add_term(quotient, &divided, 1);
    tj_sum_add_product(rest, by, &divided_form, -1);
    if (rest->count >= before)
      return false;
  }
  return !rest->failed && !quotient->failed && !tj_sum_is_zero(quotient);
}

static const tj_node *quotient_and_rest(tj_rewriter *rewriter, const tj_sum *quotient, const tj_sum *rest,
                                        const tj_node *divisor) {
  const tj_node *rest_node = tj_simple_sum(rewriter, rest);
  if (rest_node == NULL || quotient->failed)
    return NULL;
  const tj_node *divided = tj_simple2(rewriter, TJ_OP_DIV, rest_node, divisor);
  tj_sum sum;
  tj_sum_copy(&sum, quotient);
  tj_sum_add(&sum, tj_linear_of(rewriter->graph, divided), 1);
  return tj_simple_sum(rewriter, &sum);
}

/* The form of an atom: its quotient, where facts show that to be exact, is as simple as it gets. */
static bool is_lone_atom(const tj_linear *form) {
  return form->count == 1 && form->constant == 0 && form->term[0].coefficient == 1 && form->term[0].degree == 1;
}

const tj_node *tj_rule_quotient_of_multiple(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  tj_sum quotient, rest;
  const tj_node *divisor = node->arg[1];
  if (!start(rewriter, node, &of)) {
    const tj_linear *by = tj_linear_of(rewriter->graph, divisor);
    if (divisor->facts.low < 1 || by->count == 0 ||
        !divide_by_sum(tj_linear_of(rewriter->graph, node->arg[0]), by, &quotient, &rest))
      return NULL;
    return quotient_and_rest(rewriter, &quotient, &rest, divisor);
  }
  split_multiples(of.graph, of.form, &of.by, &quotient, &rest);
  if (of.by.degree == 0 && rest.constant % of.by.coefficient == 0) {
    tj_sum_add_constant(&quotient, rest.constant / of.by.coefficient);
    rest.constant = 0;
  }
  if (tj_sum_is_zero(&quotient) || (quotient.count > 0 && is_lone_atom(of.form)))
    return NULL;
  TJ_BECAUSE(rewriter, "%s divides the terms of %s", tj_rule_text(rewriter, divisor),
             tj_rule_text(rewriter, tj_sum_node(of.graph, &quotient)));
  return quotient_and_rest(rewriter, &quotient, &rest, divisor);
}

/* Coefficients nearest to zero, or from 0 up, that are the given ones modulo a constant. */
static int64_t residue_of(int64_t coefficient, int64_t modulus, bool nearest) {
  int64_t residue = coefficient - tj_floor_div(coefficient, modulus) * modulus;
  return nearest && residue > modulus / 2 ? residue - modulus : residue;
}

/* Whether each coefficient is its residue already. */
static bool are_residues(const tj_linear *form, int64_t modulus, bool nearest) {
  const int64_t most = nearest ? modulus / 2 : modulus - 1, least = nearest ? most + 1 - modulus : 0;
  for (uint32_t i = 0; i < form->count; i++)
    if (form->term[i].coefficient < least || form->term[i].coefficient > most)
      return false;
  return true;
}

static bool reduce_coefficients(const division *of, bool nearest, tj_sum *quotient, tj_sum *rest) {
  const int64_t divisor = of->by.coefficient;
  if (are_residues(of->form, divisor, nearest))
    return false;
  *quotient = tj_sum_of(0);
  *rest = tj_sum_of(of->form->constant);
  for (uint32_t i = 0; i < of->form->count; i++) {
    tj_term term = of->form->term[i];
    if (term.coefficient < INT64_MIN + divisor || term.coefficient > INT64_MAX - divisor)
      return false;
    const int64_t residue = residue_of(term.coefficient, divisor, nearest);
    term.coefficient = (term.coefficient - residue) / divisor;
    if (term.coefficient != 0)
      tj_sum_append(quotient, &term);
    term.coefficient = residue;
    if (residue != 0)
      tj_sum_append(rest, &term);
  }
  return quotient->count > 0;
}

const tj_node *tj_rule_quotient_by_reduction(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  if (!start(rewriter, node, &of) || of.by.degree > 0 || of.by.coefficient == 1)
    return NULL;
  for (int nearest = 0; nearest < 2; nearest++) {
    tj_sum quotient, rest;
    int64_t block;
    if (!reduce_coefficients(&of, nearest, &quotient, &rest))
      continue;
    const tj_linear rest_form = tj_sum_form(&rest);
    if (!find_block(&rest_form, of.by.coefficient, &block))
      continue;
    because_block(rewriter, &rest_form, of.divisor, block);
    tj_sum_add_constant(&quotient, block);
    return tj_simple_sum(rewriter, &quotient);
  }
  return NULL;
}

const tj_node *tj_rule_remainder_of_multiple(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  tj_sum quotient, rest;
  const tj_node *divisor = node->arg[1];
  if (!start(rewriter, node, &of)) {
    const tj_linear *by = tj_linear_of(rewriter->graph, divisor);
    if (divisor->facts.low < 1 || by->count == 0 ||
        !divide_by_sum(tj_linear_of(rewriter->graph, node->arg[0]), by, &quotient, &rest))
      return NULL;
    return tj_simple2(rewriter, TJ_OP_MOD, tj_simple_sum(rewriter, &rest), divisor);
  }
  split_multiples(of.graph, of.form, &of.by, &quotient, &rest);
  if (of.by.degree == 0 && rest.constant % of.by.coefficient == 0) {
    quotient.constant = rest.constant;
    rest.constant = 0;
  }
  if (tj_sum_is_zero(&quotient))
    return NULL;
  TJ_BECAUSE(rewriter, "%s divides the rest of %s", tj_rule_text(rewriter, divisor),
             tj_rule_text(rewriter, node->arg[0]));
  return tj_simple2(rewriter, TJ_OP_MOD, tj_simple_sum(rewriter, &rest), divisor);
}

/* Coefficients are reduced only where that pays: other divisions of the same value may share it as it is. */
const tj_node *tj_rule_remainder_by_reduction(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  if (!start(rewriter, node, &of) || of.by.degree > 0 || of.by.coefficient == 1)
    return NULL;
  for (int nearest = 0; nearest < 2; nearest++) {
    tj_sum quotient, rest;
    int64_t block;
    if (!reduce_coefficients(&of, nearest, &quotient, &rest))
      continue;
    const tj_linear rest_form = tj_sum_form(&rest);
    if (find_block(&rest_form, of.by.coefficient, &block)) {
      because_block(rewriter, &rest_form, of.divisor, block);
      tj_sum base = tj_sum_of(block);
      const tj_linear base_form = tj_sum_form(&base);
      tj_sum_add(&rest, &base_form, -of.by.coefficient);
      return tj_simple_sum(rewriter, &rest);
    }
    if (rest.count == 1 && (rest.term[0].coefficient == 1 || rest.term[0].coefficient == -1))
      return tj_simple2(rewriter, TJ_OP_MOD, tj_simple_sum(rewriter, &rest), of.divisor);
  }
  return NULL;
}

/* --- low parts --- */

/* A split of a dividend by a common factor g of it and the divisor: form = g*high + low, 0 <= low < g. */
typedef struct {
  tj_term factor;
  tj_sum high, low;
} parts;

static bool split_at(division *of, const tj_term *factor, parts *split) {
  split->factor = *factor;
  of->graph->work += of->form->count;
  split_multiples(of->graph, of->form, factor, &split->high, &split->low);
  if (split->high.count == 0 || split->high.failed || split->low.failed)
    return false;
  const tj_node *factor_node = tj_monomial_node(of->graph, factor);
  const tj_linear low = tj_sum_form(&split->low);
  int64_t block;
  if (!prove_block(of->rewriter, &low, factor_node, &block) || block == INT64_MIN)
    return false;
  if (split->low.count > 0 || factor->degree > 0)
    because_block(of->rewriter, &low, factor_node, block);
  tj_sum_add_constant(&split->high, block);
  tj_sum_add(&split->low, tj_linear_of(of->graph, factor_node), -block);
  return !split->high.failed && !split->low.failed;
}

/* Tries the common factors of the divisor with each term, and of all terms from one on. */
static bool find_low_part(division *of, parts *split) {
  tj_term running = of->by;
  for (uint32_t i = 0; i < of->form->count; i++) {
    const tj_term own = tj_term_gcd(&of->by, &of->form->term[i]);
    if (!tj_term_is_one(&own) && split_at(of, &own, split))
      return true;
    running = tj_term_gcd(&running, &of->form->term[i]);
    const bool is_new = running.degree != own.degree || running.coefficient != own.coefficient;
    if (!tj_term_is_one(&running) && is_new && split_at(of, &running, split))
      return true;
  }
  return false;
}

/* The divisor without the factor; always positive, since divisor and factor are. */
static const tj_node *divisor_without(division *of, const tj_term *factor) {
  tj_term left;
  if (!tj_term_divide(&of->by, factor, &left))
    return NULL;
  const tj_node *node = tj_monomial_node(of->graph, &left);
  return node->facts.low >= 1 ? tj_simple(of->rewriter, node) : NULL;
}

const tj_node *tj_rule_quotient_drops_low_part(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  parts split;
  if (!start(rewriter, node, &of) || !tj_term_is_positive(&of.by) || !find_low_part(&of, &split))
    return NULL;
  const tj_node *divisor = divisor_without(&of, &split.factor);
  const tj_node *high = divisor == NULL ? NULL : tj_simple_sum(rewriter, &split.high);
  return high == NULL ? NULL : tj_simple2(rewriter, TJ_OP_DIV, high, divisor);
}

const tj_node *tj_rule_remainder_keeps_low_part(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  parts split;
  if (!start(rewriter, node, &of) || !tj_term_is_positive(&of.by) || !find_low_part(&of, &split))
    return NULL;
  const tj_node *divisor = divisor_without(&of, &split.factor);
  const tj_node *high = divisor == NULL ? NULL : tj_simple_sum(rewriter, &split.high);
  if (high == NULL)
    return NULL;
  const tj_node *remainder = tj_simple2(rewriter, TJ_OP_MOD, high, divisor);
  tj_sum sum;
  tj_sum_copy(&sum, &split.low);
  tj_sum_add_product(&sum, tj_linear_of(of.graph, remainder),
                     tj_linear_of(of.graph, tj_monomial_node(of.graph, &split.factor)), 1);
  return tj_simple_sum(rewriter, &sum);
}

/* --- quotients and remainders inside --- */

/* a * b as a simple node; NULL where it overflows or is not known to be positive. */
static const tj_node *positive_product(tj_rewriter *rewriter, const tj_node *a, const tj_node *b) {
  if (a->facts.low < 1 || b->facts.low < 1)
    return NULL;
  tj_sum sum = tj_sum_of(0);
  tj_sum_add_product(&sum, tj_linear_of(rewriter->graph, a), tj_linear_of(rewriter->graph, b), 1);
  const tj_node *product = tj_simple_sum(rewriter, &sum);
  return product != NULL && product->facts.low >= 1 ? product : NULL;
}

const tj_node *tj_rule_quotient_of_quotient(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0];
  if (inner->op != TJ_OP_DIV)
    return NULL;
  const tj_node *divisor = positive_product(rewriter, inner->arg[1], node->arg[1]);
  TJ_BECAUSE(rewriter, "%s > 0 and %s > 0", tj_rule_text(rewriter, inner->arg[1]),
             tj_rule_text(rewriter, node->arg[1]));
  return divisor == NULL ? NULL : tj_simple2(rewriter, TJ_OP_DIV, inner->arg[0], divisor);
}

/* a / b where b divides a spelled out, both positive; else NULL. */
static const tj_node *exact_ratio(tj_rewriter *rewriter, const tj_node *a, const tj_node *b) {
  tj_term dividend, divisor, ratio;
  if (a->facts.low < 1 || b->facts.low < 1 || !tj_linear_single(tj_linear_of(rewriter->graph, a), &dividend) ||
      !tj_linear_single(tj_linear_of(rewriter->graph, b), &divisor) || !tj_term_divide(&dividend, &divisor, &ratio))
    return NULL;
  const tj_node *node = tj_monomial_node(rewriter->graph, &ratio);
  return node->facts.low >= 1 ? tj_simple(rewriter, node) : NULL;
}

const tj_node *tj_rule_quotient_of_remainder(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0];
  if (inner->op != TJ_OP_MOD)
    return NULL;
  const tj_node *ratio = exact_ratio(rewriter, inner->arg[1], node->arg[1]);
  if (ratio == NULL)
    return NULL;
  TJ_BECAUSE(rewriter, "%s divides %s", tj_rule_text(rewriter, node->arg[1]), tj_rule_text(rewriter, inner->arg[1]));
  const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, inner->arg[0], node->arg[1]);
  return tj_simple2(rewriter, TJ_OP_MOD, quotient, ratio);
}

const tj_node *tj_rule_remainder_of_remainder(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  if (inner->op != TJ_OP_MOD || divisor->facts.low < 1 || !tj_prove_divides(rewriter->graph, divisor, inner->arg[1]))
    return NULL;
  TJ_BECAUSE(rewriter, "%s divides %s", tj_rule_text(rewriter, divisor), tj_rule_text(rewriter, inner->arg[1]));
  return tj_simple2(rewriter, TJ_OP_MOD, inner->arg[0], divisor);
}

const tj_node *tj_rule_remainder_of_quotient(tj_rewriter *rewriter, const tj_node *node) {
  division of, inner;
  if (node->arg[0]->op != TJ_OP_DIV || !start(rewriter, node, &of) || !start(rewriter, node->arg[0], &inner))
    return NULL;
  tj_sum rest = tj_sum_of(inner.form->constant);
  for (uint32_t i = 0; i < inner.form->count; i++) {
    tj_term once, twice;
    if (!tj_term_divide_by_facts(of.graph, &inner.form->term[i], &inner.by, &once) ||
        !tj_term_divide_by_facts(of.graph, &once, &of.by, &twice))
      tj_sum_append(&rest, &inner.form->term[i]);
  }
  if (rest.count == inner.form->count)
    return NULL;
  TJ_BECAUSE(rewriter, "%s and %s divide the rest of %s", tj_rule_text(rewriter, inner.divisor),
             tj_rule_text(rewriter, of.divisor), tj_rule_text(rewriter, node->arg[0]->arg[0]));
  const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, tj_simple_sum(rewriter, &rest), inner.divisor);
  return tj_simple2(rewriter, TJ_OP_MOD, quotient, of.divisor);
}

/* The place of an atom c / a, with a positive constant a, that is a term by itself. */
static bool find_lone_quotient(const tj_linear *form, uint32_t *place) {
  for (uint32_t i = 0; i < form->count; i++) {
    const tj_node *atom = form->term[i].atom[0];
    if (form->term[i].degree == 1 && form->term[i].coefficient == 1 && atom->op == TJ_OP_DIV &&
        tj_is_constant(atom->arg[1]) && atom->arg[1]->value > 0) {
      *place = i;
      return true;
    }
  }
  return false;
}

const tj_node *tj_rule_quotient_of_sum_with_quotient(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  uint32_t place;
  if (!start(rewriter, node, &of) || of.by.degree > 0 || !find_lone_quotient(of.form, &place))
    return NULL;
  const tj_node *quotient = of.form->term[place].atom[0];
  const tj_node *divisor = positive_product(rewriter, quotient->arg[1], of.divisor);
  tj_sum sum = tj_sum_of(0);
  tj_sum_add(&sum, of.form, 1);
  tj_sum_add_term(&sum, &of.form->term[place], -1);
  const tj_linear others = tj_sum_form(&sum);
  tj_sum scaled = tj_sum_of(0);
  tj_sum_add(&scaled, &others, quotient->arg[1]->value);
  tj_sum_add(&scaled, tj_linear_of(of.graph, quotient->arg[0]), 1);
  const tj_node *dividend = divisor == NULL ? NULL : tj_simple_sum(rewriter, &scaled);
  return dividend == NULL ? NULL : tj_simple2(rewriter, TJ_OP_DIV, dividend, divisor);
}

/* A term c*(y%m) where the divisor divides c*m, and the others of the term: c and further atoms. */
static bool is_removable_remainder(division *of, const tj_term *term, uint32_t place, tj_term *others,
                                   tj_sum *multiple) {
  const tj_node *atom = term->atom[place];
  if (atom->op != TJ_OP_MOD)
    return false;
  *others = tj_term_without(term, place);
  const tj_linear single =
      others->degree == 0 ? (tj_linear){.constant = others->coefficient} : (tj_linear){0, 1, others};
  tj_sum product = tj_sum_of(0), rest;
  tj_sum_add_product(&product, tj_linear_of(of->graph, atom->arg[1]), &single, 1);
  if (product.failed)
    return false;
  const tj_linear product_form = tj_sum_form(&product);
  split_multiples(of->graph, &product_form, &of->by, multiple, &rest);
  if (of->by.degree == 0 && rest.constant % of->by.coefficient == 0) {
    tj_sum_add_constant(multiple, rest.constant / of->by.coefficient);
    rest.constant = 0;
  }
  return tj_sum_is_zero(&rest) && !multiple->failed;
}

/* form - c*(y%m) + c*y */
static void replace_remainder(division *of, const tj_term *term, uint32_t place, const tj_term *others, tj_sum *sum) {
  const tj_linear single =
      others->degree == 0 ? (tj_linear){.constant = others->coefficient} : (tj_linear){0, 1, others};
  *sum = tj_sum_of(0);
  tj_sum_add(sum, of->form, 1);
  tj_sum_add_term(sum, term, -1);
  tj_sum_add_product(sum, tj_linear_of(of->graph, term->atom[place]->arg[0]), &single, 1);
}

/* Coefficients and constant modulo a constant divisor, with the signs they had: the sum is new, so nobody shares it.
 */
static void reduce_new_sum(const division *of, tj_sum *sum) {
  tj_sum reduced = tj_sum_of(sum->constant);
  if (of->by.degree > 0 || sum->failed)
    return;
  reduced.constant %= of->by.coefficient;
  for (uint32_t i = 0; i < sum->count; i++) {
    tj_term term = sum->term[i];
    term.coefficient %= of->by.coefficient;
    if (term.coefficient != 0)
      tj_sum_add_term(&reduced, &term, 1);
  }
  *sum = reduced;
}

const tj_node *tj_rule_remainder_of_sum_with_remainder(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  if (!start(rewriter, node, &of))
    return NULL;
  for (uint32_t i = 0; i < of.form->count; i++)
    for (uint32_t k = 0; k < of.form->term[i].degree; k++) {
      const tj_term *term = &of.form->term[i];
      tj_term others;
      tj_sum multiple, sum;
      if (!is_removable_remainder(&of, term, k, &others, &multiple))
        continue;
      replace_remainder(&of, term, k, &others, &sum);
      reduce_new_sum(&of, &sum);
      TJ_BECAUSE(rewriter, "%s divides the modulus of %s", tj_rule_text(rewriter, of.divisor),
                 tj_rule_text(rewriter, tj_monomial_node(of.graph, term)));
      const tj_node *dividend = tj_simple_sum(rewriter, &sum);
      return dividend == NULL ? NULL : tj_simple2(rewriter, TJ_OP_MOD, dividend, of.divisor);
    }
  return NULL;
}

/* (z + c*(y%m))/d = (z + c*y)/d - (c*m/d)*(y/m), worth it where z + c*y is shorter than z. */
const tj_node *tj_rule_quotient_of_truncation(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  if (!start(rewriter, node, &of))
    return NULL;
  for (uint32_t i = 0; i < of.form->count; i++)
    for (uint32_t k = 0; k < of.form->term[i].degree; k++) {
      const tj_term *term = &of.form->term[i];
      tj_term others;
      tj_sum multiple, sum, result = tj_sum_of(0);
      if (!is_removable_remainder(&of, term, k, &others, &multiple))
        continue;
      replace_remainder(&of, term, k, &others, &sum);
      if (sum.failed || sum.count + 1 >= of.form->count)
        continue;
      const tj_node *inner = term->atom[k];
      const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, inner->arg[0], inner->arg[1]);
      const tj_linear multiple_form = tj_sum_form(&multiple);
      tj_sum_add_product(&result, tj_linear_of(of.graph, quotient), &multiple_form, -1);
      return quotient_and_rest(rewriter, &result, &sum, of.divisor);
    }
  return NULL;
}

/* --- terms that facts show to be divisible --- */

/* Terms that a constant divisor divides by the facts of their atoms, and the others, with the constant. */
static void split_divisible(const division *of, tj_sum *divisible, tj_sum *rest) {
  *divisible = tj_sum_of(0);
  *rest = tj_sum_of(of->form->constant);
  for (uint32_t i = 0; i < of->form->count; i++)
    tj_sum_append(tj_prove_divides_term(of->graph, &of->by, &of->form->term[i]) ? divisible : rest,
                  &of->form->term[i]);
}

const tj_node *tj_rule_remainder_of_divisible(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  tj_sum divisible, rest;
  if (!start(rewriter, node, &of) || of.by.degree > 0)
    return tj_prove_divides(rewriter->graph, node->arg[1], node->arg[0]) ? tj_int(rewriter->graph, 0) : NULL;
  split_divisible(&of, &divisible, &rest);
  if (divisible.count == 0)
    return NULL;
  TJ_BECAUSE(rewriter, "%s divides %s", tj_rule_text(rewriter, of.divisor),
             tj_rule_text(rewriter, tj_sum_node(of.graph, &divisible)));
  return tj_simple2(rewriter, TJ_OP_MOD, tj_simple_sum(rewriter, &rest), of.divisor);
}

const tj_node *tj_rule_quotient_of_divisible(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  tj_sum divisible, rest;
  int64_t block;
  if (!start(rewriter, node, &of) || of.by.degree > 0)
    return NULL;
  split_divisible(&of, &divisible, &rest);
  const tj_linear rest_form = tj_sum_form(&rest);
  if (divisible.count == 0 || tj_sum_is_zero(&rest) || !find_block(&rest_form, of.by.coefficient, &block))
    return NULL;
  because_block(rewriter, &rest_form, of.divisor, block);
  const tj_node *quotient = tj_simple2(rewriter, TJ_OP_DIV, tj_simple_sum(rewriter, &divisible), of.divisor);
  tj_sum sum = tj_sum_of(block);
  tj_sum_add(&sum, tj_linear_of(of.graph, quotient), 1);
  return tj_simple_sum(rewriter, &sum);
}

/* By facts, dividend and divisor are multiples of a number, but for a constant that is positive, and less than it. */
static bool has_low_constant(tj_rewriter *rewriter, const tj_node *node, division *of) {
  if (!start(rewriter, node, of) || of->form->constant < 1 || of->form->count == 0 || of->divisor->facts.residue != 0)
    return false;
  const tj_facts *dividend = &node->arg[0]->facts;
  int64_t common = (int64_t)tj_gcd((uint64_t)of->divisor->facts.modulus, (uint64_t)dividend->modulus);
  if (of->form->constant >= common || dividend->residue % common != of->form->constant)
    return false;
  TJ_BECAUSE(rewriter, "%lld divides %s and what is divided, less %lld", (long long)common,
             tj_rule_text(rewriter, of->divisor), (long long)of->form->constant);
  return true;
}

/* op(x, d) of x + c */
static const tj_node *without_constant(tj_rewriter *rewriter, tj_op op, const division *of) {
  tj_sum sum = tj_sum_of(-of->form->constant);
  tj_sum_add(&sum, of->form, 1);
  return tj_simple2(rewriter, op, tj_simple_sum(rewriter, &sum), of->divisor);
}

const tj_node *tj_rule_quotient_drops_constant(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  return has_low_constant(rewriter, node, &of) ? without_constant(rewriter, TJ_OP_DIV, &of) : NULL;
}

const tj_node *tj_rule_remainder_keeps_constant(tj_rewriter *rewriter, const tj_node *node) {
  division of;
  if (!has_low_constant(rewriter, node, &of))
    return NULL;
  const tj_node *constant = tj_int(rewriter->graph, of.form->constant);
  return tj_simple2(rewriter, TJ_OP_ADD, without_constant(rewriter, TJ_OP_MOD, &of), constant);
}

/* --- choices --- */

/* op(select(p, x, y), d), and likewise for min and max, operand by operand; only where that saves something. */
static const tj_node *on_alternatives(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *inner = node->arg[0], *divisor = node->arg[1];
  const unsigned first = inner->op == TJ_OP_SELECT;
  const tj_node *a = tj_simple2(rewriter, node->op, inner->arg[first], divisor);
  const tj_node *b = tj_simple2(rewriter, node->op, inner->arg[first + 1], divisor);
  const tj_node *result = inner->op == TJ_OP_SELECT ? tj_simple_select(rewriter, inner->arg[0], a, b)
                                                    : tj_simple2(rewriter, inner->op, a, b);
  return result != NULL && result->weight < node->weight ? result : NULL;
}

const tj_node *tj_rule_quotient_of_choice(tj_rewriter *rewriter, const tj_node *node) {
  const tj_op op = node->arg[0]->op;
  const bool is_extreme = op == TJ_OP_MIN || op == TJ_OP_MAX;
  if (op != TJ_OP_SELECT && !(is_extreme && node->arg[1]->facts.low >= 1))
    return NULL;
  return on_alternatives(rewriter, node);
}

const tj_node *tj_rule_remainder_of_choice(tj_rewriter *rewriter, const tj_node *node) {
  return node->arg[0]->op == TJ_OP_SELECT ? on_alternatives(rewriter, node) : NULL;
}
