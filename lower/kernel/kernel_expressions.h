/* SPDX-License-Identifier: MIT */
/* The expressions of a kernel as a whole: where they stand, simplified together, and those that readers see. */
#ifndef TJ_LOWER_KERNEL_EXPRESSIONS_H
#define TJ_LOWER_KERNEL_EXPRESSIONS_H

#include "ir/simplify/simplify.h"
#include "lower/kernel/kernel.h"

/* Where a kernel's expressions stand: those of its steps, bindings and loop, its counts. In the graph's arena. */
typedef struct {
  const tj_node ***place;
  uint32_t count;
} tj_kernel_places;

tj_kernel_places tj_places_of_kernel(tj_graph *graph, tj_kernel *kernel);

/* Simplifies every expression of the kernel together. `trace` may be NULL. */
void tj_kernel_simplify(tj_graph *graph, tj_kernel *kernel, tj_trace *trace);

/* Whether `fact` is among the truths that `truth` is the conjunction of, as far as a few steps show; NULL: it always
 * is. */
bool tj_surely_implies(const tj_node *truth, const tj_node *fact);

/* A named expression of a kernel, for showing. */
typedef struct {
  const char *name;
  const tj_node *node;
} tj_named_node;

/* The expressions that matter to a reader: offsets, predicates, the value; what a loop carries, before the first trip
 * and after each. In the job's arena; *shown is how many. */
const tj_named_node *tj_kernel_expressions(tj_job *job, const tj_kernel *kernel, uint32_t *shown);

#endif
