/* SPDX-License-Identifier: MIT */
#include "ir/index/values.h"

#include "ir/index/eval.h"

#include <string.h>

typedef struct {
  tj_evaluator *evaluator;
  tj_bindings none; /* no symbol is bound */
  uint32_t symbol, reach, count;
  int64_t *value;
} table;

/* Where the symbol is `first` … , up to the last one, as many as there are lanes. */
static bool find_some(const table *t, uint32_t first) {
  const uint32_t left = t->reach - first, lanes = left < TJ_EVAL_LANES ? left : TJ_EVAL_LANES;
  tj_lane_values given = {.symbol = t->symbol};
  for (uint32_t lane = 0; lane < lanes; lane++)
    given.value[lane] = (int64_t)first + lane;
  if (tj_evaluator_run_lanes(t->evaluator, &t->none, &given, 1, lanes) != TJ_EVAL_OK)
    return false;
  for (uint32_t i = 0; i < t->count; i++)
    memcpy(t->value + (size_t)i * t->reach + first, tj_evaluator_lanes(t->evaluator, i), lanes * sizeof *t->value);
  return true;
}

/* No call that may fail the job is between making the evaluator and giving it back. */
const int64_t *tj_values_along(tj_graph *graph, const tj_node *const node[], uint32_t count, const tj_node *symbol,
                               uint32_t reach) {
  tj_job *job = graph->job;
  table t = {.symbol = symbol->symbol->index, .reach = reach, .count = count};
  t.none = (tj_bindings){TJ_NEW_ARRAY(job, int64_t, graph->symbol_count + 1),
                         TJ_NEW_ARRAY(job, bool, graph->symbol_count + 1), graph->symbol_count};
  t.value = tj_arena_raw(&job->arena, (size_t)count * reach, sizeof *t.value);
  tj_spend(job, (uint64_t)count * reach);
  if (tj_evaluator_create(node, count, &t.evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(job);
  bool is_known = true;
  for (uint32_t first = 0; first < reach && is_known; first += TJ_EVAL_LANES)
    is_known = find_some(&t, first);
  tj_evaluator_destroy(t.evaluator);
  return is_known ? t.value : NULL;
}
