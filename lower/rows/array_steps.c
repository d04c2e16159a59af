/* SPDX-License-Identifier: MIT */
/* Loads, values, computations and stores of a lane's columns. Neighbours move together where simplified offsets show
 * that they are neighbours. */
#include "lower/rows/array_steps.h"

#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/displace.h"
#include "lower/machine/width.h"
#include "lower/rows/array_elements.h"
#include "lower/tile/tile_side.h"

#include <string.h>

static const tj_array_program *program_of(const tj_array_maker *maker) {
  return maker->space->arrays->program;
}

/* --- steps and slots --- */

const tj_array_online *tj_array_online_of(const tj_array_maker *maker, const tj_array *array) {
  const tj_array_online *online = maker->space->online != NULL ? maker->space->online[array->number] : NULL;
  bool is_possible = online != NULL && maker->shape.loops && !(maker->shape.is_split && online->deviation != NULL);
  return is_possible ? online : NULL;
}

static void find_levels(tj_array_maker *maker) {
  const tj_array_program *program = program_of(maker);
  maker->level = TJ_NEW_ARRAY(maker->graph->job, uint32_t, program->count + 1);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    for (uint32_t k = 0; k < tj_array_arity(array->op); k++) {
      uint32_t inside = maker->level[array->arg[k]->number];
      maker->level[i] = inside > maker->level[i] ? inside : maker->level[i];
    }
    maker->level[i] += tj_array_is_reduction(array->op) && tj_array_online_of(maker, array) == NULL ? 1 : 0;
  }
}

void tj_array_begin(tj_array_maker *maker) {
  uint32_t count = program_of(maker)->count;
  maker->step = NULL;
  maker->step_count = maker->step_capacity = 0;
  maker->is_known = TJ_NEW_ARRAY(maker->graph->job, bool, count + 1);
  maker->changes = TJ_NEW_ARRAY(maker->graph->job, bool, count + 1);
  maker->slot = TJ_NEW_ARRAY(maker->graph->job, uint32_t, count + 1);
  maker->repeat = TJ_NEW_ARRAY(maker->graph->job, tj_array_repeat, count + 1);
  maker->is_known_aside = TJ_NEW_ARRAY(maker->graph->job, bool, count + 1);
  maker->slot_aside = TJ_NEW_ARRAY(maker->graph->job, uint32_t, count + 1);
  maker->repeat_aside = TJ_NEW_ARRAY(maker->graph->job, tj_array_repeat, count + 1);
  maker->found = TJ_NEW_ARRAY(maker->graph->job, const tj_node *, maker->space->argument_count + 1);
  maker->is_kept = TJ_NEW_ARRAY(maker->graph->job, bool, count + 1);
  maker->place = TJ_NEW_ARRAY(maker->graph->job, int64_t, count + 1);
  for (uint32_t i = 0; i < count; i++)
    maker->place[i] = -1;
  find_levels(maker);
}

static void *with_room(tj_job *job, void *data, uint32_t count, uint32_t needed, uint32_t *capacity, size_t size) {
  if (count + needed <= *capacity)
    return data;
  *capacity = 2 * (count + needed) + 16;
  char *larger = TJ_RAW_ARRAY(job, char, *capacity *size);
  if (count > 0)
    memcpy(larger, data, count * size);
  return larger;
}

tj_kernel_step *tj_array_step(tj_array_maker *maker, tj_step_kind kind) {
  maker->step =
      with_room(maker->graph->job, maker->step, maker->step_count, 1, &maker->step_capacity, sizeof *maker->step);
  tj_kernel_step *step = &maker->step[maker->step_count++];
  *step = (tj_kernel_step){.kind = kind, .width = 1, .slot_step = 1};
  return step;
}

uint32_t tj_array_slots(tj_array_maker *maker, tj_dtype dtype, uint32_t count) {
  maker->slot_dtype = with_room(maker->graph->job, maker->slot_dtype, maker->slot_count, count, &maker->slot_capacity,
                                sizeof *maker->slot_dtype);
  uint32_t first = maker->slot_count;
  for (uint32_t i = 0; i < count; i++)
    maker->slot_dtype[maker->slot_count++] = dtype;
  return first;
}

void tj_array_know(tj_array_maker *maker, const tj_array *array, uint32_t slot, bool changes) {
  maker->is_known[array->number] = true;
  maker->slot[array->number] = slot;
  maker->repeat[array->number] = (tj_array_repeat){1, tj_array_columns(maker)};
  maker->changes[array->number] = changes;
}

void tj_array_forget(tj_array_maker *maker) {
  for (uint32_t i = 0; i < program_of(maker)->count; i++)
    maker->is_known[i] = maker->is_known[i] && !maker->changes[i];
  memset(maker->is_known_aside, 0, program_of(maker)->count * sizeof *maker->is_known_aside);
}

void tj_array_turn(tj_array_maker *maker) {
  for (uint32_t i = 0; i < program_of(maker)->count; i++) {
    const bool is_known = maker->is_known[i];
    const uint32_t slot = maker->slot[i];
    const tj_array_repeat repeat = maker->repeat[i];
    if (!tj_array_changes(maker, program_of(maker)->array[i]))
      continue;
    maker->is_known[i] = maker->is_known_aside[i];
    maker->slot[i] = maker->slot_aside[i];
    maker->repeat[i] = maker->repeat_aside[i];
    maker->is_known_aside[i] = is_known;
    maker->slot_aside[i] = slot;
    maker->repeat_aside[i] = repeat;
  }
}

bool tj_array_changes(const tj_array_maker *maker, const tj_array *array) {
  return (tj_array_varies(maker->space, array) & tj_array_axis_modes(&maker->space->columns)) != 0;
}

/* --- vectors --- */

static bool is_vector(const tj_array_maker *maker, const tj_array_elements *list, uint32_t first, uint32_t width) {
  for (uint32_t i = 1; i < width; i++) {
    if (list->valid[first + i] != list->valid[first])
      return false;
  }
  bool is_aligned = list->base == NULL || tj_facts_divisible(&list->base->facts, width);
  if (maker->target->needs_aligned_vectors || list->buffer == TJ_LDS)
    return is_aligned && tj_parts_are_neighbours(maker->graph, list->offset + first, width);
  return tj_parts_are_in_turn(maker->graph, list->offset + first, width);
}

static bool are_vectors(const tj_array_maker *maker, const tj_array_elements *list, uint32_t width) {
  bool are = list->count % width == 0;
  for (uint32_t i = 0; i < list->count && are; i += width)
    are = is_vector(maker, list, i, width);
  return are;
}

/* The widest vectors that there may be. Where only whole ones of memory are vectors, all are as wide as each other:
 * what a mask tears would have vectors of several widths, and registers for all of them. */
static uint32_t widest_of(const tj_array_maker *maker, const tj_array_elements *list) {
  uint32_t width = maker->shape.width, bytes = tj_element_bytes(maker->kernel, list->buffer);
  if (maker->target == NULL || list->adds)
    return 1;
  if (maker->target->wave_size > 1 && width > tj_target_widest(maker->target, bytes))
    width = tj_target_widest(maker->target, bytes);
  while (maker->target->needs_aligned_vectors && width > 1 && !are_vectors(maker, list, width))
    width /= 2;
  return width;
}

/* Of the vector that begins at an element: what masks tear is narrower. */
static uint32_t width_at(const tj_array_maker *maker, const tj_array_elements *list, uint32_t first,
                         uint32_t widest) {
  uint32_t width = widest;
  while (width > 1 && (first % width != 0 || width > list->count - first || !is_vector(maker, list, first, width)))
    width /= 2;
  return width;
}

static void add_moves(tj_array_maker *maker, const tj_array_elements *list, tj_step_kind kind, uint32_t slot) {
  uint32_t widest = widest_of(maker, list), bytes = tj_element_bytes(maker->kernel, list->buffer);
  int64_t limit = maker->target != NULL ? maker->target->displacement_limit / bytes : 0;
  for (uint32_t i = 0, width; i < list->count; i += width) {
    tj_kernel_step *step = tj_array_step(maker, kind);
    width = width_at(maker, list, i, widest);
    const tj_node *offset = tj_whole_value(maker->graph, list->offset[i]);
    tj_displaced parts = tj_displace(maker->graph, offset);
    bool displaces = parts.displacement < limit;
    step->access = (tj_access){.buffer = list->buffer,
                               .base = list->base,
                               .offset = displaces ? parts.rest : offset,
                               .valid = list->valid[i],
                               .displacement = displaces ? parts.displacement : 0};
    step->width = width;
    step->slot = slot + i;
    step->adds = list->adds;
  }
}

/* --- indices --- */

/* The index in column `number` of the lane's, by a name. */
static const tj_node *look_up(tj_array_maker *maker, const tj_array_region *region, const tj_array_lookup *lookup,
                              uint32_t number, const char *name) {
  tj_graph *graph = maker->graph;
  const tj_node *column = tj_array_column_of(maker, region, number), *always = tj_int(graph, 1);
  const tj_node *valid = tj_array_placed(maker, lookup->access.valid, maker->row, column);
  tj_kernel_step *step = tj_array_step(maker, TJ_STEP_LOOKUP);
  step->access = lookup->access;
  step->access.offset = tj_simplified(graph, tj_array_placed(maker, lookup->access.offset, maker->row, column));
  step->access.valid = tj_simplified(graph, tj_array_valid_at(maker, region, number, valid, always));
  step->value = tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, 0), lookup->limit, 1);
  step->limit = lookup->limit;
  return step->value;
}

/* What an earlier argument of the same index has found. */
static const tj_node *find_found(const tj_array_maker *maker, const tj_node *symbol) {
  for (uint32_t i = 0; i < maker->space->argument_count; i++) {
    if (maker->found[i] != NULL && maker->space->lookup[i].found == symbol)
      return maker->found[i];
  }
  return NULL;
}

void tj_array_look_up_rows(tj_array_maker *maker) {
  const tj_array_region whole = {.start = tj_int(maker->graph, 0)};
  for (uint32_t i = 0; i < maker->space->argument_count; i++) {
    const tj_array_lookup *lookup = &maker->space->lookup[i];
    if (lookup->found == NULL || tj_array_index_changes(maker->space, i))
      continue;
    if (maker->reduced > 0 && tj_array_indexed_store(program_of(maker), i) != NULL)
      continue;
    const tj_node *found = find_found(maker, lookup->found);
    maker->found[i] = found != NULL ? found : look_up(maker, &whole, lookup, 0, lookup->found->symbol->name);
  }
}

/* By column; NULL: the argument has no indices. */
static const tj_node *const *look_up_columns(tj_array_maker *maker, const tj_array_region *region, uint32_t argument,
                                             uint32_t count) {
  const tj_array_lookup *lookup = &maker->space->lookup[argument];
  if (lookup->found == NULL)
    return NULL;
  tj_job *job = maker->graph->job;
  const tj_node **found = TJ_NEW_ARRAY(job, const tj_node *, count), *row = maker->found[argument];
  for (uint32_t i = 0; i < count; i++)
    found[i] = row != NULL
                   ? row
                   : look_up(maker, region, lookup, i, tj_string_format(job, "%s%u", lookup->found->symbol->name, i));
  return found;
}

/* --- what an array is made of --- */

bool *tj_array_needed_by(const tj_array_maker *maker, const tj_array *array) {
  const tj_array_program *program = program_of(maker);
  bool *needed = TJ_NEW_ARRAY(maker->graph->job, bool, program->count + 1);
  needed[array->number] = true;
  for (uint32_t i = array->number + 1; i-- > 0;) {
    const tj_array *each = program->array[i];
    bool is_there = maker->is_known[i] || maker->is_kept[i];
    for (uint32_t k = 0; needed[i] && !is_there && k < tj_array_arity(each->op); k++)
      needed[each->arg[k]->number] = true;
  }
  return needed;
}

static void add_value(tj_array_maker *maker, const tj_node *value, uint32_t slot) {
  tj_kernel_step *step = tj_array_step(maker, TJ_STEP_VALUE);
  step->value = tj_simplified(maker->graph, value);
  step->slot = slot;
}

static bool are_same(const tj_array_elements *list, uint32_t one, uint32_t other) {
  return tj_is_plainly_beyond(list->offset[one], list->offset[other], 0) && list->valid[one] == list->valid[other];
}

/* Whether columns have the elements of those that stand for them. */
static bool repeats_so(const tj_array_elements *list, tj_array_repeat repeat) {
  uint32_t i = 0;
  while (i < list->count && are_same(list, i, i % repeat.period / repeat.every * repeat.every))
    i++;
  return i == list->count;
}

/* None of what is reduced, column by column, or the same for all of them. */
static tj_array_repeat find_repeat(const tj_array_maker *maker, const tj_array_elements *list) {
  uint32_t width = maker->shape.width;
  tj_array_repeat repeat = {1, list->count};
  bool is_plain = maker->space->is_reduced || maker->target == NULL || maker->target->wave_size == 1;
  if (is_plain || list->count < width)
    return repeat;
  while (repeat.every < width && repeats_so(list, (tj_array_repeat){2 * repeat.every, repeat.period}))
    repeat.every *= 2;
  for (uint32_t period = width; period < list->count; period += width) {
    if (repeats_so(list, (tj_array_repeat){repeat.every, period}))
      return (tj_array_repeat){repeat.every, period};
  }
  return repeat;
}

/* Leaves elements that others stand for out. */
static void leave_out(tj_array_elements *list, tj_array_repeat repeat) {
  list->count = repeat.period / repeat.every;
  for (uint32_t i = 0; i < list->count; i++) {
    list->offset[i] = list->offset[i * repeat.every];
    list->valid[i] = list->valid[i * repeat.every];
  }
}

/* Leaves elements of columns beyond the row out, where a lane's are so far apart that there may be any; what stands
 * for several is there where the first of them is. */
static void leave_beyond_out(const tj_array_maker *maker, const tj_array_region *region, tj_array_elements *list,
                             uint32_t every) {
  tj_graph *graph = maker->graph;
  const uint32_t width = maker->shape.width;
  for (uint32_t i = 0; i < list->count && maker->shape.overhangs; i++) {
    uint32_t number = i * every / width * width;
    const tj_node *column = tj_array_column_of(maker, region, number), *size = maker->space->columns.size;
    if (number > 0)
      list->valid[i] = tj_simplified(graph, tj_terse_both(graph, list->valid[i], tj_less(graph, column, size)));
  }
}

/* What an array is where columns are not there; NULL: nobody asks. */
static const tj_array *lowest_of(const tj_array_maker *maker, const tj_array *array) {
  const tj_array_program *program = program_of(maker);
  for (uint32_t i = 0; i < program->count && maker->takes_lowest; i++) {
    if (program->array[i]->op == TJ_ARRAY_LARGEST && program->array[i]->arg[0] == array)
      return program->array[i]->arg[1];
  }
  return NULL;
}

/* Slots of their own have what is there of an array's columns, and the lowest where there is none. */
static void fill_columns(tj_array_maker *maker, const tj_array_region *region, const tj_array *array,
                         const tj_array *lowest) {
  uint32_t columns = tj_array_columns(maker), even = tj_array_even_width(maker, region);
  uint32_t most = tj_array_computed_width(maker), width = most < even ? most : even;
  uint32_t slot = tj_array_slots(maker, maker->slot_dtype[maker->slot[array->number]], columns);
  for (uint32_t i = 0; i < columns; i += width) {
    const tj_node *is_there = tj_array_column_is_there(maker, region, i);
    tj_array_compute(maker, lowest, 0, width, slot + i, TJ_ARRAY_OP_COUNT);
    tj_array_compute(maker, array, i, width, slot + i, TJ_ARRAY_OP_COUNT)->access.valid = is_there;
  }
  tj_array_know(maker, array, slot, true);
}

static void load_buffer(tj_array_maker *maker, const tj_array_region *region, const tj_array *array, bool changes) {
  uint32_t count = changes ? tj_array_columns(maker) : 1;
  const tj_node *const *found = look_up_columns(maker, region, array->of, count);
  tj_array_elements list = tj_array_elements_of(maker, region, array->of, count, tj_int(maker->graph, 1), found);
  tj_array_repeat repeat = find_repeat(maker, &list);
  leave_out(&list, repeat);
  leave_beyond_out(maker, region, &list, repeat.every);
  uint32_t slot = tj_array_slots(maker, list.buffer == TJ_LDS ? maker->kernel->carried : array->dtype, list.count);
  add_moves(maker, &list, TJ_STEP_LOAD, slot);
  tj_array_know(maker, array, slot, changes);
  maker->repeat[array->number] = repeat;
  const tj_array *lowest = changes && region->end != NULL ? lowest_of(maker, array) : NULL;
  if (lowest != NULL)
    fill_columns(maker, region, array, lowest);
}

static void give_index(tj_array_maker *maker, const tj_array_region *region, const tj_array *array, bool changes) {
  const tj_node *digit = maker->space->digit[array->of];
  tj_width width = tj_width_of(&digit, 1);
  uint32_t count = changes ? tj_array_columns(maker) : 1;
  uint32_t slot = tj_array_slots(maker, width.bits == 32 ? TJ_DTYPE_i32 : TJ_DTYPE_i64, count);
  for (uint32_t i = 0; i < count; i++)
    add_value(maker, tj_array_placed(maker, digit, maker->row, tj_array_column_of(maker, region, i)), slot + i);
  tj_array_know(maker, array, slot, changes);
}

static void give_leaf(tj_array_maker *maker, const tj_array_region *region, const tj_array *array, bool changes) {
  tj_width width;
  uint32_t slot;
  switch (array->op) {
  case TJ_ARRAY_BUFFER:
    load_buffer(maker, region, array, changes);
    return;
  case TJ_ARRAY_INDEX:
    give_index(maker, region, array, changes);
    return;
  case TJ_ARRAY_SCALAR:
    slot = tj_array_slots(maker, tj_dtype_raw(array->dtype), 1);
    break;
  case TJ_ARRAY_INTEGER:
    width = tj_width_of(&array->integer, 1);
    slot = tj_array_slots(maker, width.bits == 32 && width.is_signed ? TJ_DTYPE_i32 : TJ_DTYPE_i64, 1);
    break;
  default:
    return;
  }
  add_value(maker, array->integer, slot);
  tj_array_know(maker, array, slot, false);
}

/* --- what is kept --- */

bool tj_array_is_costly(const tj_array_maker *maker, const tj_array *array) {
  return tj_array_op_is_costly(array->op) && array->dtype == maker->kernel->carried && tj_array_changes(maker, array);
}

/* Moves an array's slots to its place in LDS, or from there. */
static void move_kept(tj_array_maker *maker, const tj_array_region *region, const tj_array *array, tj_step_kind kind,
                      uint32_t slot) {
  tj_graph *graph = maker->graph;
  for (uint32_t i = 0; i < tj_array_columns(maker); i += maker->shape.width) {
    const tj_node *column = tj_sub(graph, tj_array_column_of(maker, region, i), maker->base_column);
    tj_kernel_step *step = tj_array_step(maker, kind);
    step->access =
        (tj_access){.buffer = TJ_LDS,
                    .offset = tj_simplified(graph, tj_add(graph, column, tj_int(graph, maker->place[array->number]))),
                    .valid = tj_int(graph, 1)};
    step->width = maker->shape.width;
    step->slot = slot + i;
  }
}

void tj_array_keep(tj_array_maker *maker, const tj_array_region *region, const tj_array *array) {
  move_kept(maker, region, array, TJ_STEP_STORE, maker->slot[array->number]);
}

static void load_kept(tj_array_maker *maker, const tj_array_region *region, const tj_array *array) {
  uint32_t slot = tj_array_slots(maker, array->dtype, tj_array_columns(maker));
  move_kept(maker, region, array, TJ_STEP_LOAD, slot);
  tj_array_know(maker, array, slot, true);
}

void tj_array_prepare(tj_array_maker *maker, const tj_array *array) {
  const tj_array_program *program = program_of(maker);
  const tj_array_region whole = {.start = tj_int(maker->graph, 0)};
  const bool *needed = tj_array_needed_by(maker, array);
  for (uint32_t i = 0; i <= array->number; i++) {
    const tj_array *each = program->array[i];
    if (!needed[i] || maker->is_known[i] || each->op == TJ_ARRAY_NUMBER || tj_array_changes(maker, each))
      continue;
    give_leaf(maker, &whole, each, false);
    if (tj_array_arity(each->op) == 0 || tj_array_is_reduction(each->op))
      continue;
    uint32_t slot = tj_array_slots(maker, each->dtype, 1);
    tj_array_compute(maker, each, 0, 1, slot, TJ_ARRAY_OP_COUNT);
    tj_array_know(maker, each, slot, false);
  }
}

void tj_array_load(tj_array_maker *maker, const tj_array_region *region, const tj_array *array) {
  const tj_array_program *program = program_of(maker);
  const bool *needed = tj_array_needed_by(maker, array);
  for (uint32_t i = 0; i <= array->number; i++) {
    if (!needed[i] || maker->is_known[i] || !tj_array_changes(maker, program->array[i]))
      continue;
    if (maker->is_kept[i])
      load_kept(maker, region, program->array[i]);
    else
      give_leaf(maker, region, program->array[i], true);
  }
}

/* --- stores --- */

/* Along modes of which the destination has one element, the first coordinate stores it. */
static const tj_node *is_first(const tj_array_maker *maker, uint32_t argument) {
  tj_graph *graph = maker->graph;
  const tj_array_program *program = program_of(maker);
  const tj_node *truth = tj_int(graph, 1);
  for (uint32_t m = 0; m < program->rank; m++) {
    if ((maker->space->varies[argument] >> m & 1) == 0 && !tj_is_int(program->extent[m], 1))
      truth = tj_terse_both(graph, truth, tj_equal(graph, maker->space->digit[m], tj_int(graph, 0)));
  }
  return truth;
}

/* How many neighbouring columns are computed by one step: each input has one element for all of them, or as many. */
static uint32_t stored_width(const tj_array_maker *maker, const tj_array *array) {
  const bool *needed = tj_array_needed_by(maker, array);
  uint32_t width = tj_array_computed_width(maker);
  for (uint32_t i = 0; i <= array->number; i++) {
    uint32_t every = needed[i] && maker->is_known[i] && maker->changes[i] ? maker->repeat[i].every : 1;
    width = every > 1 && every < width ? every : width;
  }
  return width;
}

static tj_dtype stored_dtype(const tj_array_maker *maker, uint32_t buffer) {
  return buffer == TJ_LDS ? maker->kernel->carried : maker->kernel->buffer[buffer].dtype;
}

void tj_array_store_columns(tj_array_maker *maker, const tj_array_region *region, const tj_array_store *store) {
  bool has_columns = tj_array_goes_along(maker->space, store->argument, &maker->space->columns);
  uint32_t count = has_columns ? tj_array_columns(maker) : 1;
  uint32_t width = count > 1 ? stored_width(maker, store->value) : 1;
  const tj_node *const *found = look_up_columns(maker, region, store->argument, count);
  tj_array_elements list =
      tj_array_elements_of(maker, region, store->argument, count, is_first(maker, store->argument), found);
  uint32_t slot = tj_array_slots(maker, stored_dtype(maker, list.buffer), count);
  for (uint32_t i = 0; i < count; i += width)
    tj_array_compute(maker, store->value, i, width, slot + i, TJ_ARRAY_OP_COUNT);
  leave_beyond_out(maker, region, &list, 1);
  list.adds = store->adds;
  add_moves(maker, &list, TJ_STEP_STORE, slot);
}
