/* SPDX-License-Identifier: MIT */
/* Partial results of reductions, in slots; and how they come together. */
#include "lower/rows/array_reduce.h"

#include "lower/array/array_extreme.h"
#include "lower/rows/array_elements.h"
#include "lower/rows/array_online_steps.h"
#include "lower/rows/array_split.h"

#include "base/number/power.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

static bool is_of_level(const tj_array_maker *maker, const tj_array *array, uint32_t level) {
  return tj_array_is_reduction(array->op) && maker->level[array->number] == level;
}

static int combination(const tj_array_maker *maker, const tj_array *reduction) {
  return (int)maker->space->combination[reduction->number];
}

static uint32_t slots_of(const tj_array_maker *maker, const tj_array *reduction) {
  bool is_online = tj_array_online_of(maker, reduction) != NULL;
  return is_online ? tj_online_slots(maker, reduction) : maker->partials;
}

/* So many slots begin as what changes no result, so many at once. */
static void begin_slots(tj_array_maker *maker, const tj_array *reduction, uint32_t slot, uint32_t count,
                        uint32_t width) {
  for (uint32_t k = 0; k < count; k += width)
    tj_array_compute(maker, reduction->arg[1], 0, width, slot + k, TJ_ARRAY_OP_COUNT);
}

void tj_array_begin_reductions(tj_array_maker *maker, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  bool computes_vectors = maker->target != NULL && maker->target->wave_size == 1;
  maker->partials = computes_vectors ? tj_array_columns(maker) : maker->shape.width;
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *reduction = program->array[i];
    if (!is_of_level(maker, reduction, level))
      continue;
    maker->slot[i] = tj_array_slots(maker, reduction->dtype, slots_of(maker, reduction));
    if (tj_array_online_of(maker, reduction) != NULL)
      tj_online_begin(maker, reduction);
    else if (maker->shape.loops)
      begin_slots(maker, reduction, maker->slot[i], maker->partials, 1);
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
    *count += slots_of(maker, program->array[i]);
  }
}

/* Some columns of a lane's become part of partial results, or, as the first ones that are surely there, all of them.
 * First ones of which some are not there are combined with what changes nothing: selected, they would save an
 * instruction each, and cost NVIDIA's GPUs a register that softmax does not have. */
static void reduce_some(tj_array_maker *maker, const tj_array_region *region, const tj_array *reduction,
                        uint32_t first, uint32_t width) {
  const tj_node *is_there = tj_array_column_is_there(maker, region, first);
  uint32_t partials = maker->partials, slot = maker->slot[reduction->number] + first % partials;
  bool begins = !maker->shape.loops && !region->goes_on && first < partials;
  bool is_all = begins && tj_is_int(is_there, 1);
  if (begins && !is_all)
    begin_slots(maker, reduction, slot, width, width);
  int how = is_all ? TJ_ARRAY_OP_COUNT : combination(maker, reduction);
  tj_array_compute(maker, reduction->arg[0], first, width, slot, how)->access.valid = is_there;
}

static bool is_gpu(const tj_array_maker *maker) {
  return maker->target != NULL && maker->target->wave_size > 1;
}

/* Columns one by one, or where all lanes of a vector are there together, as vectors. */
static void reduce_one(tj_array_maker *maker, const tj_array_region *region, const tj_array *reduction) {
  uint32_t columns = tj_array_columns(maker), even = tj_array_even_width(maker, region);
  uint32_t most = tj_array_computed_width(maker);
  most = most < maker->partials ? most : maker->partials;
  uint32_t width = most < even ? most : even;
  tj_array_region taken = *region;
  if (maker->takes_lowest || (is_gpu(maker) && tj_array_takes_zeros(maker->graph, maker->space, reduction))) {
    width = most;
    taken.end = NULL;
  }
  for (uint32_t i = 0; i < columns; i += width)
    reduce_some(maker, &taken, reduction, i, width);
}

static void compute_columns(tj_array_maker *maker, const tj_array *array) {
  uint32_t columns = tj_array_columns(maker), width = tj_array_computed_width(maker);
  uint32_t slot = tj_array_slots(maker, array->dtype, columns);
  for (uint32_t i = 0; i < columns; i += width)
    tj_array_compute(maker, array, i, width, slot + i, TJ_ARRAY_OP_COUNT);
  tj_array_know(maker, array, slot, true);
}

/* What is computed for a reduction is kept in slots where the row stays there. */
static void keep_argument(tj_array_maker *maker, const tj_array *array) {
  if (!maker->shape.loops && !maker->is_known[array->number] && tj_array_changes(maker, array))
    compute_columns(maker, array);
}

/* Whether reductions of later levels, or what is stored, need an array once this level is known. */
static bool is_needed_after(tj_array_maker *maker, uint32_t level, uint32_t number) {
  const tj_array_program *program = maker->space->arrays->program;
  bool *known = maker->is_known, is_needed = false;
  maker->is_known = TJ_NEW_ARRAY(maker->graph->job, bool, program->count + 1);
  for (uint32_t i = 0; i < program->count; i++)
    maker->is_known[i] = tj_array_is_reduction(program->array[i]->op) && maker->level[i] <= level;
  for (uint32_t i = 0; i < program->count && !is_needed; i++) {
    if (tj_array_is_reduction(program->array[i]->op) && maker->level[i] > level)
      is_needed = tj_array_needed_by(maker, program->array[i])[number];
  }
  for (uint32_t i = 0; i < program->store_count && !is_needed; i++)
    is_needed = tj_array_needed_by(maker, program->store[i].value)[number];
  maker->is_known = known;
  return is_needed;
}

static bool has_room(const tj_array_maker *maker) {
  uint64_t elements = (uint64_t)maker->kernel->lds_elements + maker->shape.kept;
  return elements * tj_element_bytes(maker->kernel, TJ_LDS) <= maker->target->lds_bytes;
}

/* What costs much and is needed again goes to LDS where the row passes by in a loop. */
static void keep_costly(tj_array_maker *maker, const tj_array_region *region, const tj_array *of, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  for (uint32_t i = 0; i <= of->number; i++) {
    const tj_array *array = program->array[i];
    if (maker->is_known[i] || maker->is_kept[i] || !tj_array_is_costly(maker, array) ||
        !tj_array_needed_by(maker, of)[i] || !is_needed_after(maker, level, i))
      continue;
    if (maker->place[i] < 0 && !has_room(maker))
      continue;
    if (maker->place[i] < 0) {
      maker->place[i] = maker->kernel->lds_elements;
      maker->kernel->lds_elements += maker->shape.kept;
    }
    compute_columns(maker, array);
    tj_array_keep(maker, region, array);
  }
}

/* --- columns --- */

void tj_array_reduce_columns(tj_array_maker *maker, const tj_array_region *region, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  for (uint32_t i = 0; i < program->count; i++) {
    if (!is_of_level(maker, program->array[i], level))
      continue;
    tj_array_load(maker, region, program->array[i]->arg[0]);
    if (tj_array_online_of(maker, program->array[i]) != NULL) {
      tj_online_reduce(maker, region, program->array[i]);
      continue;
    }
    keep_argument(maker, program->array[i]->arg[0]);
    if (maker->shape.kept > 0)
      keep_costly(maker, region, program->array[i]->arg[0], level);
    reduce_one(maker, region, program->array[i]);
  }
}

/* --- pieces --- */

void tj_array_reduce_pieces(tj_array_maker *maker, uint32_t level) {
  const tj_array_program *program = maker->space->arrays->program;
  tj_array_pieces pieces = tj_array_pieces_of(maker);
  uint32_t partials = maker->partials;
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *reduction = program->array[i];
    if (!is_of_level(maker, reduction, level))
      continue;
    if (tj_array_online_of(maker, reduction) != NULL) {
      tj_online_reduce_pieces(maker, reduction, &pieces);
      continue;
    }
    uint32_t own = tj_array_load_pieces(maker, reduction, &pieces);
    for (uint32_t k = 0; k < pieces.count; k++)
      tj_array_combine_where(maker, pieces.is_there[k], maker->slot[i] + k % partials, own + k,
                             combination(maker, reduction));
  }
}

/* --- across lanes --- */

/* Lanes of a row that are in one wave. */
static uint32_t lanes_of_wave(const tj_array_maker *maker) {
  uint32_t lanes = maker->shape.lanes;
  return maker->target != NULL && lanes > maker->target->wave_size ? maker->target->wave_size : lanes;
}

static void combine_lanes(tj_array_maker *maker, uint32_t slot, uint32_t lanes, int how) {
  for (uint32_t distance = 1; distance < lanes; distance *= 2)
    tj_array_combine_lanes(maker, slot, distance, how);
}

/* --- across waves --- */

/* Of more, a power of two, each lane loads one. */
enum { FEW_WAVES = 8 };

/* Elements of LDS, from `offset` on. */
static tj_kernel_step *add_lds(tj_array_maker *maker, tj_step_kind kind, const tj_node *offset, uint32_t slot) {
  tj_kernel_step *step = tj_array_step(maker, kind);
  step->access =
      (tj_access){.buffer = TJ_LDS, .offset = tj_simplified(maker->graph, offset), .valid = tj_int(maker->graph, 1)};
  step->slot = slot;
  return step;
}

/* Partial results that are loaded together. */
static uint32_t lds_width(const tj_array_maker *maker) {
  return tj_target_widest(maker->target, tj_element_bytes(maker->kernel, TJ_LDS));
}

/* A part of LDS that nobody else uses: an element for each wave of the workgroup. */
static int64_t reserve(tj_array_maker *maker) {
  uint32_t waves = maker->kernel->workgroup_size / maker->target->wave_size, width = lds_width(maker);
  int64_t first = maker->kernel->lds_elements;
  maker->kernel->lds_elements += (waves + width - 1) / width * width;
  return first;
}

/* The first lane of each wave stores. */
static void store_of_wave(tj_array_maker *maker, int64_t place, uint32_t slot) {
  tj_graph *graph = maker->graph;
  const tj_node *lanes = tj_int(graph, maker->target->wave_size);
  const tj_node *wave = tj_terse_div(graph, maker->item, lanes);
  tj_kernel_step *step = add_lds(maker, TJ_STEP_STORE, tj_terse_add(graph, wave, tj_int(graph, place)), slot);
  step->access.valid = tj_simplified(graph, tj_equal(graph, tj_mod(graph, maker->item, lanes), tj_int(graph, 0)));
}

static uint32_t waves_of_row(const tj_array_maker *maker) {
  return maker->shape.lanes / maker->target->wave_size;
}

/* Loads what the waves of the row have stored, from an element on, and puts it together. Returns the slot. */
static uint32_t load_few_waves(tj_array_maker *maker, const tj_node *begin, const tj_array *reduction) {
  tj_graph *graph = maker->graph;
  uint32_t waves = waves_of_row(maker);
  uint32_t slot = tj_array_slots(maker, reduction->dtype, waves), most = lds_width(maker);
  if (maker->shape.rows > 1 && tj_power_in(waves) < most)
    most = (uint32_t)tj_power_in(waves);
  for (uint32_t i = 0, width; i < waves; i += width) {
    width = (uint32_t)tj_power_within(waves - i < most ? waves - i : most);
    add_lds(maker, TJ_STEP_LOAD, tj_terse_add(graph, begin, tj_int(graph, i)), slot + i)->width = width;
  }
  tj_array_combine_halves(maker, slot, waves, combination(maker, reduction));
  return slot;
}

/* The same, a wave's result for each lane, and then as lanes are put together. */
static uint32_t load_many_waves(tj_array_maker *maker, const tj_node *begin, const tj_array *reduction) {
  tj_graph *graph = maker->graph;
  uint32_t waves = waves_of_row(maker), slot = tj_array_slots(maker, reduction->dtype, 1);
  const tj_node *own = tj_terse_mod(graph, maker->item, tj_int(graph, waves));
  add_lds(maker, TJ_STEP_LOAD, tj_terse_add(graph, begin, own), slot);
  combine_lanes(maker, slot, waves, combination(maker, reduction));
  return slot;
}

static uint32_t load_waves(tj_array_maker *maker, int64_t place, const tj_array *reduction) {
  tj_graph *graph = maker->graph;
  uint32_t waves = waves_of_row(maker);
  const tj_node *row = tj_terse_div(graph, maker->item, tj_int(graph, maker->shape.lanes));
  const tj_node *begin = tj_terse_add(graph, tj_terse_mul(graph, row, tj_int(graph, waves)), tj_int(graph, place));
  bool are_many = waves > FEW_WAVES && tj_is_power_of_two(waves);
  return are_many ? load_many_waves(maker, begin, reduction) : load_few_waves(maker, begin, reduction);
}

/* Those of a level that go with others, or those that do not. */
static bool is_ending(const tj_array_maker *maker, const tj_array *array, uint32_t level, bool with_others) {
  return is_of_level(maker, array, level) && (tj_array_online_of(maker, array) != NULL) == with_others;
}

static void begin_end(tj_array_maker *maker, const tj_array *reduction) {
  uint32_t slot = maker->slot[reduction->number];
  if (tj_array_online_of(maker, reduction) != NULL)
    tj_online_end(maker, reduction);
  else
    tj_array_combine_halves(maker, slot, maker->partials, combination(maker, reduction));
  combine_lanes(maker, slot, lanes_of_wave(maker), combination(maker, reduction));
}

static void know_all(tj_array_maker *maker, const tj_array *reduction, uint32_t slot) {
  const tj_array_online *online = tj_array_online_of(maker, reduction);
  if (online != NULL && online->rest != NULL && !maker->is_partial)
    tj_array_compute(maker, online->rest, 0, 1, slot, TJ_ARRAY_add);
  tj_array_know(maker, reduction, slot, false);
}

static void end_some(tj_array_maker *maker, uint32_t level, bool with_others) {
  const tj_array_program *program = maker->space->arrays->program;
  int64_t *place = TJ_NEW_ARRAY(maker->graph->job, int64_t, program->count + 1);
  bool crosses_waves = maker->shape.lanes > lanes_of_wave(maker), is_any = false;
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *reduction = program->array[i];
    if (!is_ending(maker, reduction, level, with_others))
      continue;
    is_any = true;
    begin_end(maker, reduction);
    if (crosses_waves)
      store_of_wave(maker, place[i] = reserve(maker), maker->slot[i]);
    else
      know_all(maker, reduction, maker->slot[i]);
  }
  if (crosses_waves && is_any)
    tj_array_step(maker, TJ_STEP_BARRIER);
  for (uint32_t i = 0; crosses_waves && i < program->count; i++) {
    if (is_ending(maker, program->array[i], level, with_others))
      know_all(maker, program->array[i], load_waves(maker, place[i], program->array[i]));
  }
}

void tj_array_end_reductions(tj_array_maker *maker, uint32_t level) {
  for (uint32_t i = 0; i < maker->space->arrays->program->count; i++)
    maker->is_kept[i] = maker->place[i] >= 0;
  end_some(maker, level, false);
  end_some(maker, level, true);
}
