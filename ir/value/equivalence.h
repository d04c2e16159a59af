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

/* What one of them is in the case at which they differ. */
typedef struct {
  const int64_t *leaf; /* leaf_count of them; NULL: they do not fit in 64 bits */
  bool is_valid;
  const char *instead; /* what it is in the place of a value; NULL: it is one, or not valid */
} tj_sided_value;

/* `symbol`, with `value`, is the case at which they differ, or NULL; `case_count` how many were tried.
 *
 * The case is small: parameters in the order of their declaration, then coordinates, each from its least value on
 * (from 0 on where it has none). Where all cases are tried, or the first 2^16 of that order have one, it is the first
 * of them; otherwise no parameter or coordinate of it can be less by itself. */
typedef struct {
  tj_verdict verdict;
  const tj_node *const *symbol;
  const int64_t *value;
  uint32_t symbol_count;
  tj_sided_value left, right;
  uint32_t leaf_count;
  uint64_t case_count;
  bool is_inductive; /* EQUAL: at the first place of a walk, and from each to the next */
  const char
      *why_not; /* of TJ_UNDECIDED: what the solver says; of TJ_DIFFERENT_DOMAINS: what differs, "sizes 4 and 5" */
} tj_equivalence;

bool tj_is_equal(tj_verdict verdict);

/* Integers and tuples are compared leaf by leaf; maps at every coordinate of their domain, validity included. Two
 * layouts of one size are compared by linear coordinate; a layout and another map by the map's coordinates, where
 * each mode has the size of a dimension; other maps need equal domains. */
tj_equivalence tj_equivalence_of(tj_graph *graph, const tj_value *a, const tj_value *b);

/* The same without a solver. */
tj_equivalence tj_equivalence_by_cases(tj_graph *graph, const tj_value *a, const tj_value *b);

/* The same of two integers, without the rules: a certificate of what they did. */
tj_equivalence tj_equivalence_of_nodes(tj_graph *graph, const tj_node *a, const tj_node *b);

#endif
