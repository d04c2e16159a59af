/* SPDX-License-Identifier: MIT */
/* Planning: from a kernel's definition, in layouts and views, to what each work-item does, in index expressions. */
#ifndef TJ_LOWER_PLAN_H
#define TJ_LOWER_PLAN_H

#include "ir/simplify.h"
#include "ir/value.h"
#include "lower/kernel.h"

enum { TJ_WORKGROUP_SIZE = 256 };

/* The kernel of a definition, unsimplified. TJ4001 to TJ4011 where the definition makes no sense. */
tj_kernel *tj_plan_kernel(tj_graph *graph, const tj_program_values *program, const tj_kernel_definition *definition);

/* offsets(dst, map) for a map alone, with the narrowest of i32 and i64 that holds every offset. */
tj_kernel *tj_plan_offsets(tj_graph *graph, const tj_program_values *program, const tj_value *map);

/* Simplifies every expression of the kernel together. `trace` may be NULL. */
void tj_kernel_simplify(tj_graph *graph, tj_kernel *kernel, tj_trace *trace);

/* A named expression of a kernel, for showing. */
typedef struct {
  const char *name;
  const tj_node *node;
} tj_named_node;

/* The expressions that matter to a reader: offsets, predicates, the value; what a loop carries, before the first trip
 * and after each. In the job's arena; *shown is how many. */
const tj_named_node *tj_kernel_expressions(tj_job *job, const tj_kernel *kernel, uint32_t *shown);

#endif
