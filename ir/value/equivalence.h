/* SPDX-License-Identifier: MIT */
/* Equivalence: whether two values are the same for all parameters and coordinates, and where they are not.
 *
 * Four ways, in order: the simplifier turns both into one expression; every case is tried, where there are at most
 * 2^24 of them; a sample of cases refutes; an SMT solver proves or refutes, where the build has one. What none of
 * them decides stays undecided. */
#ifndef TJ_IR_EQUIVALENCE_H
#define TJ_IR_EQUIVALENCE_H

#include "ir/value/value.h"

typedef enum {
  TJ_EQUAL_BY_RULES, /* both simplify to the same expressions; or do in each of `case_count` cases of parameters that
                      * have a few values each */
  TJ_EQUAL_BY_CASES, /* every case was tried */
  TJ_EQUAL_BY_SMT,   /* Z3 proved it */
  TJ_EQUAL_AS_IS,    /* they are one expression already */
  TJ_DIFFERENT,      /* there is a counterexample */
  TJ_DIFFERENT_DOMAINS,
  TJ_UNDECIDED
} tj_verdict;

/* `symbol`, with `value`, is the case at which they differ, or NULL; `case_count` how many were tried. */
typedef struct {
  tj_verdict verdict;
  const tj_node *const *symbol;
  const int64_t *value;
  uint32_t symbol_count;
  uint64_t case_count;
  const char *why_not; /* of TJ_UNDECIDED: what the solver says */
} tj_equivalence;

bool tj_is_equal(tj_verdict verdict);

/* Integers and tuples are compared leaf by leaf; maps at every coordinate of their domain, validity included. Two
 * layouts of one size are compared by linear coordinate, other maps need equal domains. */
tj_equivalence tj_equivalence_of(tj_graph *graph, const tj_value *a, const tj_value *b);

/* The same of two integers, without the rules: a certificate of what they did. */
tj_equivalence tj_equivalence_of_nodes(tj_graph *graph, const tj_node *a, const tj_node *b);

#endif
