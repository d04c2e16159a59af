/* SPDX-License-Identifier: MIT */
/* Linear forms: an index expression as a constant plus a sum of coefficient · monomial.
 *
 * A monomial is a product of atoms: nodes that are neither sums nor products nor constants, such as symbols,
 * quotients and remainders. So i*M*N + 24*j + 3 is one form however it was written. Forms are what the simplifier
 * and the proofs reason with; they are views of a node, not a replacement: the form of a node whose terms would be
 * too many, or whose coefficients would overflow, is the node itself as the one atom. */
#ifndef TJ_IR_LINEAR_H
#define TJ_IR_LINEAR_H

#include "base/integer.h"
#include "ir/index/graph.h"

enum { TJ_MAX_TERMS = 32, TJ_MAX_DEGREE = 4 };

/* coefficient * atom[0] * … ; coefficient is not 0, degree at least 1. Atoms in order: coordinates and composite
 * expressions before parameters, older before newer. */
typedef struct {
  int64_t coefficient;
  uint32_t degree;
  const tj_node *atom[TJ_MAX_DEGREE];
} tj_term;

/* Terms are in the order of tj_compare_monomials, each monomial once. */
typedef struct tj_linear {
  int64_t constant;
  uint32_t count;
  const tj_term *term;
} tj_linear;

/* A linear form being built, on the stack. Once `failed` (a coefficient overflows, or there are too many terms) it
 * stays so, and means nothing. */
typedef struct {
  bool failed;
  int64_t constant;
  uint32_t count;
  tj_term term[TJ_MAX_TERMS];
} tj_sum;

/* What a form's value can be; bounds beyond ±TJ_RANGE_INFINITE are cut off there. */
typedef struct {
  __int128 low, high;
} tj_range;

#define TJ_RANGE_INFINITE ((__int128)1 << 100)

/* Computes a node's form and remembers it in the graph. */
const tj_linear *tj_linear_compute(tj_graph *graph, const tj_node *node);

/* A node's form, computed where it is not known. */
static inline const tj_linear *tj_linear_of(tj_graph *graph, const tj_node *node) {
  const tj_linear *known = tj_memo_of(node)->linear;
  return known != NULL ? known : tj_linear_compute(graph, node);
}

/* Makes a node an atom of the forms that are computed from now on, so that long sums stay cheap to extend. */
void tj_linear_seal(tj_graph *graph, const tj_node *node);

/* Spares computing the form of a node that was written from it. The form must live as long as the graph. */
void tj_linear_remember(const tj_node *node, const tj_linear *form);

/* True where the node's form is the node itself as the one atom. */
bool tj_is_atom(tj_graph *graph, const tj_node *node);

/* The expression that a form stands for: common factors taken out, terms in order, the constant last. */
const tj_node *tj_linear_node(tj_graph *graph, const tj_linear *form);
const tj_node *tj_sum_node(tj_graph *graph, const tj_sum *sum); /* NULL where the sum failed */
const tj_node *tj_monomial_node(tj_graph *graph, const tj_term *term);

/* A simplified sum without the constant that it ends with, and that: 0 where it ends with none. */
typedef struct {
  const tj_node *rest;
  int64_t constant;
} tj_parted_sum;

static inline tj_parted_sum tj_part_sum(const tj_node *node) {
  bool ends_with_constant = node->op == TJ_OP_ADD && tj_is_constant(node->arg[1]);
  return ends_with_constant ? (tj_parted_sum){node->arg[0], node->arg[1]->value} : (tj_parted_sum){node, 0};
}

int tj_compare_monomials(const tj_term *a, const tj_term *b);

tj_sum tj_sum_of(int64_t constant);
void tj_sum_copy(tj_sum *copy, const tj_sum *sum); /* as far as it is used */
void tj_sum_add_constant(tj_sum *sum, int64_t value);
void tj_sum_add_term(tj_sum *sum, const tj_term *term, int64_t factor);
/* Adds one of a form's terms, all earlier ones of which are in the sum or left out, and nothing else. */
void tj_sum_append(tj_sum *sum, const tj_term *term);
void tj_sum_add(tj_sum *sum, const tj_linear *form, int64_t factor);
/* Adds factor * a * b. */
void tj_sum_add_product(tj_sum *sum, const tj_linear *a, const tj_linear *b, int64_t factor);
bool tj_sum_is_zero(const tj_sum *sum);
/* The sum as a form, as long as the sum lives unchanged. */
tj_linear tj_sum_form(const tj_sum *sum);
/* A form that lives as long as the graph. */
const tj_linear *tj_sum_keep(tj_graph *graph, const tj_sum *sum);

bool tj_linear_equal(const tj_linear *a, const tj_linear *b);

/* Bounds from the facts of atoms. */
tj_range tj_linear_range(const tj_linear *form);

/* quotient = term / divisor where the divisor's coefficient and atoms divide the term's. A divisor of degree 0 is
 * its coefficient. */
bool tj_term_divide(const tj_term *term, const tj_term *divisor, tj_term *quotient);
/* False where the coefficient overflows, or the degree is too high. */
bool tj_term_multiply(const tj_term *a, const tj_term *b, tj_term *product);
/* The term without the atom at a place: term = atom * others. */
tj_term tj_term_without(const tj_term *term, uint32_t place);
/* Coefficient and atoms are known to be positive; it is the constant 1. */
bool tj_term_is_positive(const tj_term *term);
bool tj_term_is_one(const tj_term *term);
/* The greatest common divisor of coefficients (positive) and atoms. */
tj_term tj_term_gcd(const tj_term *a, const tj_term *b);
/* The form as one term, a constant as a term of degree 0; false for anything else. */
bool tj_linear_single(const tj_linear *form, tj_term *term);

/* The divisor divides every value of the term, by what is spelled out and by the facts of the term's atoms. */
bool tj_prove_divides_term(tj_graph *graph, const tj_term *divisor, const tj_term *term);
/* quotient = term / divisor where the divisor divides the term by what is spelled out and, with atoms among it, by
 * what symbols are multiples of: i*N/K is i*(N/K). */
bool tj_term_divide_by_facts(tj_graph *graph, const tj_term *term, const tj_term *divisor, tj_term *quotient);

/* form >= 0, with bounded effort, using symbolic bounds. See prove.c. */
bool tj_prove_nonnegative(tj_graph *graph, const tj_linear *form);
/* Bounds that use symbolic ones too, as far as bounded effort finds them. */
tj_range tj_range_by_bounds(tj_graph *graph, const tj_linear *form);

#endif
