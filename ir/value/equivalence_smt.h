/* SPDX-License-Identifier: MIT */
/* Equality of two index expressions by an SMT solver: Z3, where the build has found it. */
#ifndef TJ_IR_EQUIVALENCE_SMT_H
#define TJ_IR_EQUIVALENCE_SMT_H

#include "ir/index/graph.h"

typedef enum {
  TJ_SMT_EQUAL,
  TJ_SMT_DIFFERENT, /* there is a case at which they differ; its values, where they fit in 64 bits */
  TJ_SMT_UNDECIDED
} tj_smt_answer;

/* Whether there is a solver: this build knows of one, and it is installed. Without one every question is undecided.
 */
bool tj_smt_available(void);

/* Whether left = right wherever the symbols' declared facts hold, over mathematical integers. `symbol` holds the
 * symbols that the two depend on, through bounds also; where the answer is TJ_SMT_DIFFERENT, `value` gets one value
 * for each, which the caller checks. Work is bounded by a count of the solver's steps, so that answers are the same
 * on every run. `why_not` (never NULL) gets the reason of TJ_SMT_UNDECIDED. */
tj_smt_answer tj_smt_compare(tj_graph *graph, const tj_node *left, const tj_node *right,
                             const tj_node *const symbol[], uint32_t symbol_count, int64_t value[],
                             const char **why_not);

#endif
