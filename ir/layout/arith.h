/* SPDX-License-Identifier: MIT */
/* Arithmetic for layouts and views: expressions without neutral operations, and decisions on symbolic integers.
 *
 * Layout algebra builds its expressions and asks its questions here. Constants decide directly; anything else is
 * left to the proofs of facts.h. */
#ifndef TJ_IR_ARITH_H
#define TJ_IR_ARITH_H

#include "ir/index/facts.h"

/* As the constructors of graph.h, but 0 + a, 1 * a, a / 1, a + b - b are a, and 0 * a, 0 / b, 0 % b, a % 1, a - a
 * are 0. */
const tj_node *tj_terse_add(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_terse_sub(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_terse_mul(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_terse_div(tj_graph *graph, const tj_node *a, const tj_node *b);
const tj_node *tj_terse_mod(tj_graph *graph, const tj_node *a, const tj_node *b);
/* The conjunction of truths; either may be the constant 1. */
const tj_node *tj_terse_both(tj_graph *graph, const tj_node *a, const tj_node *b);

/* ceil(a / b) for b >= 1. */
const tj_node *tj_ceil_div(tj_graph *graph, const tj_node *a, const tj_node *b);
/* a / b where b is known to divide a: cancels a factor that is spelled out. */
const tj_node *tj_exact_div(tj_graph *graph, const tj_node *a, const tj_node *b);
/* |a|, which is a itself where facts show a >= 0. */
const tj_node *tj_absolute(tj_graph *graph, const tj_node *a);

/* What is known of a relation, for all values of the parameters. */
typedef enum { TJ_NO, TJ_YES, TJ_UNKNOWN } tj_decision;

tj_decision tj_decide_equal(tj_graph *graph, const tj_node *a, const tj_node *b);
tj_decision tj_decide_less(tj_graph *graph, const tj_node *a, const tj_node *b);
tj_decision tj_decide_less_equal(tj_graph *graph, const tj_node *a, const tj_node *b);
/* least <= value, where need be of what the value simplifies to: for extents and such, which are checked once. */
tj_decision tj_decide_at_least(tj_graph *graph, const tj_node *value, int64_t least);
/* Whether divisor, which is not 0, divides value. */
tj_decision tj_decide_divides(tj_graph *graph, const tj_node *divisor, const tj_node *value);

static inline bool tj_surely_equal(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return tj_decide_equal(graph, a, b) == TJ_YES;
}

/* Fail with TJ2015: "WHAT: needs VALUE divisible by DIVISOR". */
_Noreturn void tj_fail_needs_divisible(tj_graph *graph, const char *what, const tj_node *value,
                                       const tj_node *divisor);
/* Fail with TJ2015: "WHAT: needs A RELATION B", for relations such as "<=" and "==". */
_Noreturn void tj_fail_needs(tj_graph *graph, const char *what, const tj_node *a, const char *relation,
                             const tj_node *b);

/* Integers for messages: the digits of a constant, the text of an expression. */
const char *tj_describe(tj_graph *graph, const tj_node *node);
/* "; M*2 is in 2..128 multiple 2, and N is any integer": what is known of those that are no constants. */
const char *tj_describe_known(tj_graph *graph, const tj_node *a, const tj_node *b);

#endif
