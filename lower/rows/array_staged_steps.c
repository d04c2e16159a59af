/* SPDX-License-Identifier: MIT */
#include "lower/rows/array_staged_steps.h"

#include "base/integer.h"
#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/array/array_staged.h"
#include "lower/kernel/displace.h"
#include "lower/rows/array_bindings.h"

/* --- places --- */

/* How far the first element of a workgroup is behind the beginning of a line of so many, which all have in common. */
static const tj_node *skew_of(tj_array_maker *maker, const tj_node *step, int64_t line) {
  tj_graph *graph = maker->graph;
  const tj_node *first = tj_simplified(graph, tj_terse_mul(graph, maker->base_row, step));
  const tj_node *skew = tj_simplified(graph, tj_terse_mod(graph, first, tj_int(graph, line)));
  int64_t multiple = tj_least(tj_power_in(tj_facts_content(&first->facts)), line);
  return tj_array_bind(maker, "s", skew,
                       (tj_array_bounds){tj_int(graph, 0), tj_int(graph, line - multiple), multiple});
}

static const tj_node *end_of(tj_array_maker *maker, const tj_array_stage *stage, int64_t line) {
  tj_graph *graph = maker->graph;
  if (tj_is_int(stage->step, 0))
    return stage->length;
  const int64_t taken = tj_array_rows_at_once(&maker->shape);
  const tj_node *size = maker->space->rows.size, *most = tj_int(graph, taken);
  bool are_all = tj_facts_divisible(&size->facts, taken);
  const tj_node *rows = are_all ? most : tj_min(graph, most, tj_sub(graph, size, maker->base_row));
  const tj_node *count = tj_mul(graph, rows, stage->step), *all = tj_mul(graph, size, stage->step);
  int64_t multiple = tj_power_in(tj_facts_content(&tj_simplified(graph, all)->facts)),
          own = tj_power_in(taken * tj_facts_content(&stage->step->facts));
  const tj_node *high = tj_int(graph, taken * stage->step->facts.high + line);
  return tj_array_bind(maker, "e", tj_add(graph, stage->skew, count),
                       (tj_array_bounds){tj_int(graph, 1), high, tj_least(tj_least(multiple, own), line)});
}

/* Where the run begins and ends: as that of an earlier argument whose rows are as long. */
static void bound_stage(tj_array_maker *maker, uint32_t argument, int64_t line) {
  tj_array_stage *stage = &maker->stage[argument];
  for (uint32_t i = 0; i < argument && stage->skew == NULL; i++) {
    if (maker->stage[i].step == stage->step) {
      stage->skew = maker->stage[i].skew;
      stage->behind = maker->stage[i].behind;
    }
  }
  if (stage->skew != NULL)
    return;
  stage->skew = skew_of(maker, stage->step, line);
  stage->behind = end_of(maker, stage, line);
}

void tj_array_place_stages(tj_array_maker *maker) {
  const tj_array_space *space = maker->space;
  uint32_t count = space->argument_count;
  int64_t line = tj_array_elements_of_line(space, maker->kernel, maker->target);
  maker->stage = TJ_NEW_ARRAY(maker->graph->job, tj_array_stage, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    tj_array_stage *stage = &maker->stage[i];
    *stage = space->stage[i];
    if (stage->step == NULL)
      continue;
    bound_stage(maker, i, line);
    if (tj_array_stage_owner(space, i) != i)
      continue;
    stage->place = maker->staged_elements;
    maker->staged_elements += (uint32_t)tj_array_staged_room(stage, tj_array_rows_at_once(&maker->shape), line);
  }
  for (uint32_t i = 0; i < count; i++)
    maker->stage[i].place = maker->stage[tj_array_stage_owner(space, i)].place;
}

/* --- steps --- */

/* Elements that a work-item moves at once. */
static uint32_t width_of(const tj_array_maker *maker, const tj_array_stage *stage) {
  if (tj_is_int(stage->step, 0) && stage->behind->facts.high <= maker->kernel->workgroup_size)
    return 1;
  uint32_t width = tj_target_widest(maker->target, tj_element_bytes(maker->kernel, TJ_LDS));
  uint32_t own = tj_target_widest(maker->target, tj_element_bytes(maker->kernel, stage->buffer));
  width = own < width ? own : width;
  while (!tj_facts_divisible(&stage->skew->facts, width))
    width /= 2;
  return width;
}

/* Elements of an argument's part of LDS, which are moved together. */
typedef struct {
  const tj_node *first, *valid;
  uint32_t width;
} staged_vector;

static void add_move(tj_array_maker *maker, const tj_array_stage *stage, tj_step_kind kind, bool is_lds,
                     const staged_vector *vector, uint32_t slot) {
  tj_graph *graph = maker->graph;
  const tj_node *first = tj_sub(graph, tj_mul(graph, maker->base_row, stage->step), stage->skew);
  const tj_node *in_lds = tj_add(graph, vector->first, tj_int(graph, stage->place));
  tj_displaced parts = tj_displace(graph, tj_simplified(graph, is_lds ? in_lds : vector->first));
  tj_kernel_step *step = tj_array_step(maker, kind);
  step->access = (tj_access){.buffer = is_lds ? TJ_LDS : stage->buffer,
                             .base = is_lds ? NULL : tj_simplified(graph, first),
                             .offset = parts.rest,
                             .displacement = parts.displacement,
                             .valid = vector->valid};
  step->width = vector->width;
  step->slot = slot;
}

/* Vectors of all work-items in turn; behind them, elements of the first ones. Returns how many. */
static uint32_t vectors_of(const tj_array_maker *maker, const tj_array_stage *stage, staged_vector **vectors) {
  tj_graph *graph = maker->graph;
  uint32_t width = width_of(maker, stage), count = 0;
  int64_t all = maker->kernel->workgroup_size, most = stage->behind->facts.high;
  uint32_t turns = (uint32_t)tj_divided_up(most, all * width);
  *vectors = TJ_NEW_ARRAY(graph->job, staged_vector, turns + 1);
  for (uint32_t i = 0; i < turns; i++) {
    const tj_node *number = tj_add(graph, maker->item, tj_int(graph, i * all));
    const tj_node *first = tj_mul(graph, number, tj_int(graph, width));
    const tj_node *is_before = tj_less_equal(graph, tj_add(graph, first, tj_int(graph, width)), stage->behind);
    const tj_node *is_own = tj_less_equal(graph, stage->skew, first);
    (*vectors)[count++] = (staged_vector){tj_simplified(graph, first),
                                          tj_simplified(graph, tj_terse_both(graph, is_own, is_before)), width};
  }
  if (tj_facts_divisible(&stage->behind->facts, width))
    return count;
  const tj_node *rest = tj_mod(graph, stage->behind, tj_int(graph, width));
  const tj_node *first = tj_add(graph, tj_sub(graph, stage->behind, rest), maker->item);
  (*vectors)[count++] =
      (staged_vector){tj_simplified(graph, first), tj_simplified(graph, tj_less(graph, maker->item, rest)), 1};
  return count;
}

enum { TOGETHER = 4 /* vectors that are on their way */ };

static void move_stage(tj_array_maker *maker, const tj_array_stage *stage, bool is_stored) {
  staged_vector *vector;
  uint32_t count = vectors_of(maker, stage, &vector), slot = 0;
  for (uint32_t i = 0; i < count; i += TOGETHER) {
    uint32_t end = i + TOGETHER < count ? i + TOGETHER : count;
    slot = tj_array_slots(maker, maker->kernel->carried, TOGETHER * vector[0].width);
    for (uint32_t k = i; k < end; k++)
      add_move(maker, stage, TJ_STEP_LOAD, is_stored, &vector[k], slot + (k - i) * vector[0].width);
    for (uint32_t k = i; k < end; k++)
      add_move(maker, stage, TJ_STEP_STORE, !is_stored, &vector[k], slot + (k - i) * vector[0].width);
  }
}

void tj_array_load_stages(tj_array_maker *maker) {
  for (uint32_t i = 0; i < maker->space->argument_count; i++) {
    if (maker->stage[i].step != NULL && maker->stage[i].is_loaded)
      move_stage(maker, &maker->stage[i], false);
  }
  tj_array_step(maker, TJ_STEP_BARRIER);
}

void tj_array_store_stages(tj_array_maker *maker) {
  tj_array_step(maker, TJ_STEP_BARRIER);
  for (uint32_t i = 0; i < maker->space->argument_count; i++) {
    if (maker->stage[i].step != NULL && maker->stage[i].is_stored)
      move_stage(maker, &maker->stage[i], true);
  }
}
