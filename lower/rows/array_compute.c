/* SPDX-License-Identifier: MIT */
/* Steps that compute arrays of what is in slots, and that put slots together. */
#include "lower/rows/array_steps.h"

#include "base/number/power.h"

static const tj_array_program *program_of(const tj_array_maker *maker) {
  return maker->space->arrays->program;
}

static void add_input(tj_computation *made, const tj_array_maker *maker, const tj_array *array, uint32_t first) {
  uint32_t i = made->count++;
  bool changes = maker->changes[array->number];
  tj_array_repeat repeat = maker->repeat[array->number];
  ((const tj_array **)made->input)[i] = array;
  ((uint32_t *)made->slot)[i] = maker->slot[array->number] + (changes ? first % repeat.period / repeat.every : 0);
  ((bool *)made->varies)[i] = changes && repeat.every == 1;
}

static tj_computation *new_computation(tj_job *job, uint32_t most) {
  tj_computation *made = TJ_NEW(job, tj_computation);
  *made = (tj_computation){.combine = TJ_ARRAY_OP_COUNT,
                           .input = TJ_NEW_ARRAY(job, const tj_array *, most + 1),
                           .slot = TJ_NEW_ARRAY(job, uint32_t, most + 1),
                           .varies = TJ_NEW_ARRAY(job, bool, most + 1)};
  return made;
}

/* So many slots become what is computed of others, always. */
static tj_kernel_step *add_step(tj_array_maker *maker, const tj_computation *made, uint32_t width, uint32_t slot) {
  tj_kernel_step *step = tj_array_step(maker, TJ_STEP_COMPUTE);
  step->compute = made;
  step->access.valid = tj_int(maker->graph, 1);
  step->width = width;
  step->slot = slot;
  return step;
}

tj_kernel_step *tj_array_compute(tj_array_maker *maker, const tj_array *array, uint32_t first, uint32_t width,
                                 uint32_t slot, int combine) {
  const tj_array_program *program = program_of(maker);
  const bool *needed = tj_array_needed_by(maker, array);
  tj_computation *made = new_computation(maker->graph->job, array->number + 1);
  made->array = array;
  made->combine = combine;
  for (uint32_t i = 0; i <= array->number; i++) {
    if (needed[i] && maker->is_known[i])
      add_input(made, maker, program->array[i], first);
  }
  return add_step(maker, made, width, slot);
}

uint32_t tj_array_computed_width(const tj_array_maker *maker) {
  enum { MOST_OF_LANE = 4 /* longer vectors, LLVM takes apart */ };
  uint32_t width = maker->shape.staged > 0 ? (uint32_t)tj_power_in(tj_array_columns(maker)) : maker->shape.width;
  if (maker->target == NULL)
    return 1;
  return maker->target->wave_size == 1 || width < MOST_OF_LANE ? width : MOST_OF_LANE;
}

static tj_computation *add_combination(tj_array_maker *maker, uint32_t slot, uint32_t with, uint32_t width,
                                       int combine) {
  tj_computation *made = new_computation(maker->graph->job, 1);
  made->combine = combine;
  made->count = 1;
  ((uint32_t *)made->slot)[0] = with;
  ((bool *)made->varies)[0] = true;
  (void)add_step(maker, made, width, slot);
  return made;
}

void tj_array_combine(tj_array_maker *maker, uint32_t slot, uint32_t with, uint32_t width, int combine) {
  (void)add_combination(maker, slot, with, width, combine);
}

void tj_array_combine_halves(tj_array_maker *maker, uint32_t slot, uint32_t count, int combine) {
  uint32_t most = tj_array_computed_width(maker);
  for (uint32_t half; count > 1; count = half) {
    half = (count + 1) / 2;
    for (uint32_t i = 0, width; half + i < count; i += width) {
      width = (uint32_t)tj_power_within(count - half - i < most ? count - half - i : most);
      tj_array_combine(maker, slot + i, slot + half + i, width, combine);
    }
  }
}

void tj_array_combine_where(tj_array_maker *maker, const tj_node *valid, uint32_t slot, uint32_t with, int combine) {
  (void)add_combination(maker, slot, with, 1, combine);
  maker->step[maker->step_count - 1].access.valid = valid;
}

void tj_array_combine_lanes(tj_array_maker *maker, uint32_t slot, uint32_t distance, int combine) {
  add_combination(maker, slot, slot, 1, combine)->across = distance;
}
