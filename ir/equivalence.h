/* Equivalence: whether two values are the same for all parameters and coordinates, and where they are not.
 *
 * Three ways, in order: the simplifier turns both into one expression; every case is tried, where there are at most
 * 2^24 of them; a sample of cases refutes. What none of them decides stays undecided. */
#ifndef TJ_IR_EQUIVALENCE_H
#define TJ_IR_EQUIVALENCE_H

#include "ir/value.h"

typedef enum {
  TJ_EQUAL_BY_RULES, /* both simplify to the same expressions */
  TJ_EQUAL_BY_CASES, /* every case was tried */
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
} tj_equivalence;

/* Integers and tuples are compared leaf by leaf; maps at every coordinate of their domain, validity included. Two
 * layouts of one size are compared by linear coordinate, other maps need equal domains. */
tj_equivalence tj_equivalence_of(tj_graph *graph, const tj_value *a, const tj_value *b);

#endif
