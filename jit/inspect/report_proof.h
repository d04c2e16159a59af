/* SPDX-License-Identifier: MIT */
/* Proofs of simplifications, and verdicts as the text and JSON that users see. */
#ifndef TJ_JIT_REPORT_PROOF_H
#define TJ_JIT_REPORT_PROOF_H

#include "base/json.h"
#include "ir/value/equivalence.h"

/* One verdict for each expression: of a map's components in order, then of its predicate where it has one. */
typedef struct {
  const tj_equivalence *verdict;
  uint32_t count;
  bool has_predicate;
} tj_proof;

/* Proves before[i] = after[i] for each i, components wherever the predicate holds, by trying every case or by SMT:
 * not by the rules that are to be certified. */
tj_proof tj_proof_of(tj_graph *graph, const tj_node *const before[], const tj_node *const after[], uint32_t count,
                     bool has_predicate);

bool tj_proof_holds(const tj_proof *proof);

/* A line for each expression. */
void tj_proof_print(const tj_proof *proof, tj_text *text);
/* [{"of": 0 … or "valid", "verdict": …, "cases": …, "counterexample": {…}}…] */
void tj_proof_write(const tj_proof *proof, tj_json *json);

/* "equal: in each of 24 cases" and the like. */
void tj_verdict_print(const tj_equivalence *found, tj_text *text);
/* Members of an object: "verdict", and what belongs to it: "cases"; "counterexample" and "values", of both sides, a
 * text where one is not valid; "why". */
void tj_verdict_write(const tj_equivalence *found, tj_json *json);

#endif
