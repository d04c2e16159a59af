/* SPDX-License-Identifier: MIT */
/* What sums are less moves on with the other reduction, trip by trip. */
#include "lower/rows/array_online_steps.h"

#include "lower/rows/array_elements.h"

#include <string.h>

/* The slot of what partial results are less, behind them. */
static uint32_t reference_of(const tj_array_maker *maker, const tj_array *sum) {
  return maker->slot[sum->number] + maker->partials;
}

/* Of squared differences: the slot of how many elements the lane has met, and the first one of the differences. */
static uint32_t met_of(const tj_array_maker *maker, const tj_array *sum) {
  return reference_of(maker, sum) + 1;
}

static uint32_t differences_of(const tj_array_maker *maker, const tj_array *sum) {
  return reference_of(maker, sum) + 2;
}

uint32_t tj_online_slots(const tj_array_maker *maker, const tj_array *sum) {
  uint32_t partials = maker->partials;
  return tj_array_online_of(maker, sum)->deviation != NULL ? 2 * partials + 2 : partials + 1;
}

static void set_slot(tj_array_maker *maker, uint32_t slot, const tj_array *value) {
  tj_array_compute(maker, value, 0, 1, slot, TJ_ARRAY_OP_COUNT);
}

void tj_online_begin(tj_array_maker *maker, const tj_array *sum) {
  uint32_t reference = reference_of(maker, sum);
  for (uint32_t k = 0; k < tj_online_slots(maker, sum); k++) {
    uint32_t slot = maker->slot[sum->number] + k;
    set_slot(maker, slot, slot == reference ? tj_array_online_of(maker, sum)->least : sum->arg[1]);
  }
}

/* What partial results of the other reduction come to together, in a slot. */
static uint32_t together(tj_array_maker *maker, const tj_array *reduction, uint32_t count, int how) {
  uint32_t first = maker->slot[reduction->number], slot = tj_array_slots(maker, reduction->dtype, count);
  for (uint32_t k = 0; k < count; k++)
    tj_array_combine(maker, slot + k, first + k, 1, TJ_ARRAY_OP_COUNT);
  tj_array_combine_halves(maker, slot, count, how);
  return slot;
}

/* The elements of a region's columns become part of partial results from `slot` on. */
static void add_terms(tj_array_maker *maker, const tj_array_region *region, const tj_array *term, uint32_t slot,
                      uint32_t width) {
  for (uint32_t i = 0; i < tj_array_columns(maker); i += width) {
    tj_kernel_step *step = tj_array_compute(maker, term, i, width, slot + i % maker->partials, TJ_ARRAY_add);
    step->access.valid = tj_array_column_is_there(maker, region, i);
  }
}

/* --- exponentials --- */

/* The slot of the largest that `count` partial results hold, but no infinity for want of any. */
static uint32_t largest_of(tj_array_maker *maker, const tj_array_online *online, uint32_t count) {
  uint32_t largest = together(maker, online->with, count, TJ_ARRAY_LARGER);
  tj_array_compute(maker, online->least, 0, 1, largest, TJ_ARRAY_LARGER);
  return largest;
}

/* Partial sums are less what is in slot `now` from here on. */
static void rescale(tj_array_maker *maker, const tj_array *sum, uint32_t now) {
  const tj_array_online *online = tj_array_online_of(maker, sum);
  uint32_t scale = tj_array_slots(maker, sum->dtype, 1), before = reference_of(maker, sum);
  tj_array_know(maker, online->before, before, false);
  tj_array_know(maker, online->now, now, false);
  set_slot(maker, scale, online->scale);
  for (uint32_t k = 0; k < maker->partials; k++)
    tj_array_combine(maker, maker->slot[sum->number] + k, scale, 1, TJ_ARRAY_mul);
  tj_array_combine(maker, before, now, 1, TJ_ARRAY_OP_COUNT);
}

static void reduce_exponentials(tj_array_maker *maker, const tj_array_region *region, const tj_array *sum) {
  const tj_array_online *online = tj_array_online_of(maker, sum);
  rescale(maker, sum, largest_of(maker, online, maker->partials));
  add_terms(maker, region, online->term, maker->slot[sum->number], 1);
}

/* Partial sums of pieces are of exponentials less the largest of each. */
void tj_online_reduce_pieces(tj_array_maker *maker, const tj_array *sum, const tj_array_pieces *pieces) {
  const tj_array_online *online = tj_array_online_of(maker, sum);
  uint32_t partials = maker->partials, before = tj_array_load_pieces(maker, online->with, pieces);
  uint32_t own = tj_array_load_pieces(maker, sum, pieces), scale = tj_array_slots(maker, sum->dtype, pieces->count);
  rescale(maker, sum, largest_of(maker, online, partials));
  for (uint32_t k = 0; k < pieces->count; k++) {
    tj_array_compute(maker, online->least, 0, 1, before + k, TJ_ARRAY_LARGER);
    tj_array_know(maker, online->before, before + k, false);
    set_slot(maker, scale + k, online->scale);
    tj_array_combine(maker, own + k, scale + k, 1, TJ_ARRAY_mul);
    tj_array_combine_where(maker, pieces->is_there[k], maker->slot[sum->number] + k % partials, own + k,
                           TJ_ARRAY_add);
  }
}

/* --- squared differences --- */

/* An array is a number from here on, as if a launch had brought it. */
static void give_number(tj_array_maker *maker, const tj_array *array, double number) {
  int64_t bits = 0;
  float single = (float)number;
  if (array->dtype == TJ_DTYPE_f64)
    memcpy(&bits, &number, sizeof number);
  else
    memcpy(&bits, &single, sizeof single);
  uint32_t slot = tj_array_slots(maker, tj_dtype_raw(array->dtype), 1);
  tj_kernel_step *step = tj_array_step(maker, TJ_STEP_VALUE);
  step->value = tj_int(maker->graph, bits);
  step->slot = slot;
  tj_array_know(maker, array, slot, false);
}

/* A slot: how many elements the lane has met with those of a region. */
static uint32_t met_with(tj_array_maker *maker, const tj_array_region *region, const tj_array *sum) {
  const tj_array_deviation *deviation = tj_array_online_of(maker, sum)->deviation;
  uint32_t columns = tj_array_columns(maker), met = tj_array_slots(maker, sum->dtype, 1);
  uint32_t group = region->end == NULL ? columns : tj_array_even_width(maker, region);
  tj_array_combine(maker, met, met_of(maker, sum), 1, TJ_ARRAY_OP_COUNT);
  give_number(maker, deviation->met, group);
  for (uint32_t i = 0; i < columns; i += group) {
    tj_kernel_step *step = tj_array_compute(maker, deviation->met, 0, 1, met, TJ_ARRAY_add);
    step->access.valid = tj_array_column_is_there(maker, region, i);
  }
  return met;
}

/* An array is what so many partial results are from here on, whatever columns a region has. */
static void know_partials(tj_array_maker *maker, const tj_array *array, uint32_t slot, uint32_t count) {
  tj_array_know(maker, array, slot, true);
  maker->repeat[array->number].period = count;
}

/* `count` partial sums of squares and of differences are less what is in slot `now` from here on. */
static void move_on(tj_array_maker *maker, const tj_array *sum, uint32_t now, uint32_t count) {
  const tj_array_online *online = tj_array_online_of(maker, sum);
  const tj_array_deviation *deviation = online->deviation;
  uint32_t reference = reference_of(maker, sum), step = tj_array_slots(maker, sum->dtype, 2), weight = step + 1;
  uint32_t most = tj_array_computed_width(maker), width = count < most ? count : most;
  uint32_t squares = maker->slot[sum->number], differences = differences_of(maker, sum);
  tj_array_know(maker, online->before, reference, false);
  tj_array_know(maker, online->now, now, false);
  tj_array_know(maker, deviation->met, met_of(maker, sum), false);
  give_number(maker, deviation->share, 1.0 / count);
  set_slot(maker, step, deviation->grown);
  tj_array_know(maker, deviation->step, step, false);
  set_slot(maker, weight, deviation->weighed);
  tj_array_know(maker, deviation->weight, weight, false);
  know_partials(maker, deviation->squares, squares, count);
  know_partials(maker, deviation->differences, differences, count);
  for (uint32_t i = 0; i < count; i += width) {
    tj_array_compute(maker, deviation->moved_squares, i, width, squares + i, TJ_ARRAY_OP_COUNT);
    tj_array_compute(maker, deviation->moved_differences, i, width, differences + i, TJ_ARRAY_OP_COUNT);
  }
  tj_array_combine(maker, reference, now, 1, TJ_ARRAY_OP_COUNT);
}

static void reduce_squares(tj_array_maker *maker, const tj_array_region *region, const tj_array *sum) {
  const tj_array_online *online = tj_array_online_of(maker, sum);
  const tj_array_deviation *deviation = online->deviation;
  uint32_t partials = maker->partials, mean = tj_array_slots(maker, sum->dtype, 1);
  uint32_t met = met_with(maker, region, sum), most = tj_array_computed_width(maker);
  uint32_t even = tj_array_even_width(maker, region), width = most < even ? most : even;
  tj_array_know(maker, deviation->met, met, false);
  tj_array_know(maker, deviation->all, together(maker, online->with, partials, TJ_ARRAY_add), false);
  set_slot(maker, mean, deviation->mean);
  move_on(maker, sum, mean, partials);
  tj_array_combine(maker, met_of(maker, sum), met, 1, TJ_ARRAY_OP_COUNT);
  add_terms(maker, region, deviation->difference, differences_of(maker, sum), width);
  add_terms(maker, region, online->term, maker->slot[sum->number], width);
}

static void end_squares(tj_array_maker *maker, const tj_array *sum) {
  const tj_array_online *online = tj_array_online_of(maker, sum);
  uint32_t partials = maker->partials;
  tj_array_prepare(maker, online->centre);
  tj_array_combine_halves(maker, maker->slot[sum->number], partials, TJ_ARRAY_add);
  tj_array_combine_halves(maker, differences_of(maker, sum), partials, TJ_ARRAY_add);
  move_on(maker, sum, maker->slot[online->centre->number], 1);
}

/* --- either --- */

void tj_online_reduce(tj_array_maker *maker, const tj_array_region *region, const tj_array *sum) {
  if (tj_array_online_of(maker, sum)->deviation != NULL)
    reduce_squares(maker, region, sum);
  else
    reduce_exponentials(maker, region, sum);
}

void tj_online_end(tj_array_maker *maker, const tj_array *sum) {
  if (tj_array_online_of(maker, sum)->deviation != NULL) {
    end_squares(maker, sum);
    return;
  }
  rescale(maker, sum, largest_of(maker, tj_array_online_of(maker, sum), 1));
  tj_array_combine_halves(maker, maker->slot[sum->number], maker->partials, TJ_ARRAY_add);
}
