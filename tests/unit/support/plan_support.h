/* SPDX-License-Identifier: MIT */
/* What tests of stages before code share: the only kernel of a program, flat and simplified. */
#ifndef TJ_TESTS_PLAN_SUPPORT_H
#define TJ_TESTS_PLAN_SUPPORT_H

#include "frontend/sema/sema.h"
#include "frontend/text/parser.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/plan/plan.h"

#include <string.h>

static inline tj_kernel *planned_kernel(tj_graph *graph, const char *text) {
  graph->job->source = tj_source_of("test", text, strlen(text));
  const tj_program_values *values = tj_evaluate(graph, tj_parse(graph->job), NULL, 0);
  tj_kernel *flat = tj_plan_kernel(graph, values, &values->kernel[0]);
  tj_kernel_simplify(graph, flat, NULL);
  return flat;
}

#endif
