/* SPDX-License-Identifier: MIT */
/* Which sums are of exponentials less the largest, and what they are made of. */
#include "lower/array/array_online.h"

#include <float.h>

static bool is_online(const tj_array *sum) {
  const tj_array *power = sum->arg[0];
  if (sum->op != TJ_ARRAY_SUM || power->op != TJ_ARRAY_exp || power->arg[0]->op != TJ_ARRAY_sub)
    return false;
  const tj_array *of = power->arg[0]->arg[0], *largest = power->arg[0]->arg[1];
  return largest->op == TJ_ARRAY_LARGEST && largest->arg[0] == of && largest->modes == sum->modes &&
         largest->dtype == sum->dtype && power->dtype == sum->dtype;
}

static const tj_array *apply(tj_graph *graph, tj_array_program *program, tj_array_op op, const tj_array *a,
                             const tj_array *b) {
  return tj_array_apply(graph, program, op, (const tj_array *[]){a, b});
}

static const tj_array *new_number(tj_graph *graph, tj_array_program *program, const char *name, tj_dtype dtype) {
  const tj_node *symbol = tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, 0), tj_int(graph, 1), 1);
  return tj_array_scalar(graph, program, symbol, dtype);
}

static tj_array_online *make(tj_graph *graph, tj_array_program *program, const tj_array *sum) {
  tj_array_online *online = TJ_NEW(graph->job, tj_array_online);
  const tj_array *of = sum->arg[0]->arg[0]->arg[0];
  online->largest = sum->arg[0]->arg[0]->arg[1];
  online->before = new_number(graph, program, "before", sum->dtype);
  online->now = new_number(graph, program, "now", sum->dtype);
  online->least = tj_array_number(graph, program, sum->dtype == TJ_DTYPE_f64 ? -DBL_MAX : (double)-FLT_MAX);
  const tj_array *grown = apply(graph, program, TJ_ARRAY_sub, online->before, online->now);
  const tj_array *below = apply(graph, program, TJ_ARRAY_sub, of, online->now);
  online->scale = apply(graph, program, TJ_ARRAY_exp, grown, NULL);
  online->term = apply(graph, program, TJ_ARRAY_exp, below, NULL);
  online->rest = apply(graph, program, TJ_ARRAY_sub, online->largest, online->largest);
  return online;
}

void tj_array_find_online(tj_array_space *space) {
  tj_graph *graph = space->graph;
  tj_array_kernel *arrays = tj_arena_copy(&graph->job->arena, space->arrays, sizeof *arrays);
  tj_array_program *program = tj_arena_copy(&graph->job->arena, arrays->program, sizeof *program);
  const tj_array **all = TJ_NEW_ARRAY(graph->job, const tj_array *, TJ_ARRAY_MOST);
  uint32_t count = program->count;
  for (uint32_t i = 0; i < count; i++)
    all[i] = program->array[i];
  program->array = all;
  space->online = TJ_NEW_ARRAY(graph->job, const tj_array_online *, TJ_ARRAY_MOST);
  for (uint32_t i = 0; i < count; i++) {
    if (is_online(all[i]))
      space->online[i] = make(graph, program, all[i]);
  }
  arrays->program = program;
  space->arrays = arrays;
}
