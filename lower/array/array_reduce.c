/* SPDX-License-Identifier: MIT */
/* Partial results of reductions, in slots; and how they come together. */
#include "lower/array/array_reduce.h"

#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

enum { LDS_WIDTH = 4 }; /* partial results that are loaded together */

static bool is_of_level(const tj_array_maker *maker, const tj_array *array, uint32_t level) {
  return tj_array_is_reduction(array->op) && maker->level[array->number] == level;
}

static int combination(const tj_array *reduction) {
  return reduction->op == TJ_ARRAY_SUM ? TJ_ARRAY_add
                                       : (reduction->op == TJ_ARRAY_LARGEST ? TJ_ARRAY_max : TJ_ARRAY_min);
}

void tj_array_begin_reductions(tj_array_maker *maker, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *reduction = program->array[i];
    if (!is_of_level(maker, reduction, level))
      continue;
    uint32_t slot = tj_array_slots(maker, reduction->dtype, maker->shape.width);
    for (uint32_t k = 0; k < maker->shape.width; k++)
      tj_array_compute(maker, reduction->arg[1], 0, 1, slot + k, TJ_ARRAY_OP_COUNT);
    maker->slot[i] = slot;
  }
}

void tj_array_reduction_slots(const tj_array_maker *maker, uint32_t level, uint32_t *first, uint32_t *count) {
  const tj_array_program *program = maker->space->arrays->program;
  *first = UINT32_MAX;
  *count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    if (!is_of_level(maker, program->array[i], level))
      continue;
    *first = maker->slot[i] < *first ? maker->slot[i] : *first;
    *count += maker->shape.width;
  }
}

/* Columns one by one, or where all lanes of a vector are there together, as vectors. */
static void reduce_one(tj_array_maker *maker, const tj_array_region *region, const tj_array *reduction) {
  uint32_t columns = tj_array_columns(maker), even = tj_array_even_width(maker, region);
  bool computes_vectors = maker->target != NULL && maker->target->wave_size == 1;
  uint32_t width = computes_vectors ? even : 1;
  for (uint32_t i = 0; i < columns; i += width) {
    uint32_t slot = maker->slot[reduction->number] + i % maker->shape.width;
    tj_kernel_step *step = tj_array_compute(maker, reduction->arg[0], i, width, slot, combination(reduction));
    step->access.valid = tj_array_column_is_there(maker, region, i / even * even);
  }
}

/* What is computed for a reduction is kept in slots where the row stays there. */
static void keep_argument(tj_array_maker *maker, const tj_array *array) {
  uint32_t columns = tj_array_columns(maker);
  if (maker->shape.loops || maker->is_known[array->number] || !tj_array_changes(maker, array))
    return;
  uint32_t slot = tj_array_slots(maker, array->dtype, columns);
  for (uint32_t i = 0; i < columns; i++)
    tj_array_compute(maker, array, i, 1, slot + i, TJ_ARRAY_OP_COUNT);
  tj_array_know(maker, array, slot, true);
}

void tj_array_reduce_columns(tj_array_maker *maker, const tj_array_region *region, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  for (uint32_t i = 0; i < program->count; i++) {
    if (!is_of_level(maker, program->array[i], level))
      continue;
    tj_array_load(maker, region, program->array[i]->arg[0]);
    keep_argument(maker, program->array[i]->arg[0]);
    reduce_one(maker, region, program->array[i]);
  }
}

/* --- across lanes --- */

/* Slot `slot` becomes all of `count` from there on together; a power of two. */
static void combine_halves(tj_array_maker *maker, uint32_t slot, uint32_t count, int how) {
  bool computes_vectors = maker->target != NULL && maker->target->wave_size == 1;
  for (uint32_t half = count / 2; half > 0; half /= 2) {
    uint32_t width = computes_vectors ? half : 1;
    for (uint32_t i = 0; i < half; i += width)
      tj_array_combine(maker, slot + i, slot + half + i, width, how);
  }
}

/* Elements of LDS, from `offset` on. */
static tj_kernel_step *add_lds(tj_array_maker *maker, tj_step_kind kind, const tj_node *offset, uint32_t slot) {
  tj_kernel_step *step = tj_array_step(maker, kind);
  step->access =
      (tj_access){.buffer = TJ_LDS, .offset = tj_simplified(maker->graph, offset), .valid = tj_int(maker->graph, 1)};
  step->slot = slot;
  return step;
}

/* Loads `count` results that lie side by side from `begin` on, and puts them together. Returns the slot. */
static uint32_t gather(tj_array_maker *maker, const tj_node *begin, uint32_t count, tj_dtype dtype, int how) {
  uint32_t slot = tj_array_slots(maker, dtype, count), width = count < LDS_WIDTH ? count : LDS_WIDTH;
  for (uint32_t i = 0; i < count; i += width) {
    const tj_node *offset = tj_terse_add(maker->graph, begin, tj_int(maker->graph, i));
    add_lds(maker, TJ_STEP_LOAD, offset, slot + i)->width = width;
  }
  combine_halves(maker, slot, count, how);
  return slot;
}

/* How many lanes side by side put their results together at first. */
static uint32_t group_of(uint32_t lanes) {
  enum { SMALL = 16, LARGE = 32 };
  uint32_t group = lanes > SMALL * SMALL ? LARGE : SMALL;
  return lanes < group ? lanes : group;
}

static const tj_node *rounded_down(tj_graph *graph, const tj_node *node, uint32_t multiple) {
  const tj_node *by = tj_int(graph, multiple);
  return tj_terse_mul(graph, tj_terse_div(graph, node, by), by);
}

/* A part of LDS that nobody else uses. */
static int64_t reserve(tj_array_maker *maker, uint32_t count) {
  int64_t first = maker->kernel->lds_elements;
  maker->kernel->lds_elements += (count + LDS_WIDTH - 1) / LDS_WIDTH * LDS_WIDTH;
  return first;
}

/* Two rounds: results of groups, then of the row's groups. */
typedef struct {
  int64_t first, second;
  uint32_t slot;
} lane_round;

static void store_first(tj_array_maker *maker, lane_round *round, uint32_t slot) {
  tj_graph *graph = maker->graph;
  round->first = reserve(maker, maker->kernel->workgroup_size);
  add_lds(maker, TJ_STEP_STORE, tj_terse_add(graph, maker->item, tj_int(graph, round->first)), slot);
}

static void gather_first(tj_array_maker *maker, lane_round *round, const tj_array *reduction) {
  tj_graph *graph = maker->graph;
  const tj_node *begin = rounded_down(graph, maker->item, group_of(maker->shape.lanes));
  round->slot = gather(maker, tj_terse_add(graph, begin, tj_int(graph, round->first)), group_of(maker->shape.lanes),
                       reduction->dtype, combination(reduction));
}

static void store_second(tj_array_maker *maker, lane_round *round) {
  tj_graph *graph = maker->graph;
  const tj_node *group = tj_int(graph, group_of(maker->shape.lanes));
  round->second = reserve(maker, maker->kernel->workgroup_size / group_of(maker->shape.lanes));
  const tj_node *place = tj_terse_div(graph, maker->item, group);
  tj_kernel_step *step =
      add_lds(maker, TJ_STEP_STORE, tj_terse_add(graph, place, tj_int(graph, round->second)), round->slot);
  const tj_node *is_first = tj_equal(graph, tj_mod(graph, maker->item, group), tj_int(graph, 0));
  step->access.valid = tj_simplified(graph, is_first);
}

static void gather_second(tj_array_maker *maker, lane_round *round, const tj_array *reduction) {
  tj_graph *graph = maker->graph;
  uint32_t groups = maker->shape.lanes / group_of(maker->shape.lanes);
  const tj_node *row = tj_terse_div(graph, maker->item, tj_int(graph, maker->shape.lanes));
  const tj_node *begin = tj_terse_mul(graph, row, tj_int(graph, groups));
  round->slot = gather(maker, tj_terse_add(graph, begin, tj_int(graph, round->second)), groups, reduction->dtype,
                       combination(reduction));
}

void tj_array_end_reductions(tj_array_maker *maker, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  lane_round *round = TJ_NEW_ARRAY(maker->graph->job, lane_round, program->count + 1);
  bool crosses = maker->shape.lanes > 1, is_twice = maker->shape.lanes > group_of(maker->shape.lanes);
  for (int phase = 0; phase < 5; phase++) {
    bool is_left_out = (phase > 0 && !crosses) || (phase > 2 && !is_twice);
    if (!is_left_out && (phase == 1 || phase == 3))
      tj_array_step(maker, TJ_STEP_BARRIER);
    for (uint32_t i = 0; i < program->count; i++) {
      const tj_array *reduction = program->array[i];
      if (is_left_out || !is_of_level(maker, reduction, level))
        continue;
      if (phase == 0) {
        combine_halves(maker, maker->slot[i], maker->shape.width, combination(reduction));
        round[i].slot = maker->slot[i];
        if (crosses)
          store_first(maker, &round[i], maker->slot[i]);
      } else if (phase == 1) {
        gather_first(maker, &round[i], reduction);
      } else if (phase == 2 && is_twice) {
        store_second(maker, &round[i]);
      } else if (phase == 3) {
        gather_second(maker, &round[i], reduction);
      }
      tj_array_know(maker, reduction, round[i].slot, false);
    }
  }
}
