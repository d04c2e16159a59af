/* SPDX-License-Identifier: MIT */
/* Which arguments can go through LDS, whether that is worth it, and how much of it they take. */
#include "lower/array/array_staged.h"

#include "base/integer.h"
#include "base/number/cost.h"
#include "base/number/power.h"
#include "base/number/run.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "lower/access/price.h"
#include "lower/array/array_cuts.h"

tj_dtype tj_array_carried(const tj_array_program *program) {
  for (uint32_t i = 0; i < program->count; i++) {
    if (tj_array_is_reduction(program->array[i]->op) && program->array[i]->dtype == TJ_DTYPE_f64)
      return TJ_DTYPE_f64;
  }
  return TJ_DTYPE_f32;
}

/* --- arguments whose rows adjoin --- */

static bool has_columns(const tj_array_space *space, uint32_t argument) {
  return tj_array_goes_along(space, argument, &space->columns);
}

static bool has_rows(const tj_array_space *space, uint32_t argument) {
  return tj_array_goes_along(space, argument, &space->rows);
}

/* Whether what a lane loads of an argument and what it stores there is no other wave's: an element that a row has one
 * of, all lanes load, and only those of one wave surely before the first one stores. */
static bool stays_in_wave(const tj_array_space *space, uint32_t argument) {
  return has_columns(space, argument) || space->is_reduced;
}

/* Columns that an argument has of each row: from one on to before another one. False: masks are not so. */
static bool find_columns(const tj_array_space *space, uint32_t argument, const tj_array_cuts *cuts,
                         const tj_node **begin, const tj_node **end) {
  tj_graph *graph = space->graph;
  const tj_node *valid = space->access[argument].valid, *at = tj_int(graph, 0);
  *begin = at;
  *end = space->columns.size;
  if (tj_is_int(valid, 1))
    return true;
  bool is = cuts != NULL;
  *end = *begin = NULL;
  for (uint32_t i = 0; is && i <= cuts->count; i++) {
    const tj_node *behind = i < cuts->count ? cuts->at[i] : space->columns.size;
    const tj_node *there = tj_array_between_cuts(space, tj_array_part(graph, at, behind), valid);
    is = tj_is_int(there, 0) || (tj_is_int(there, 1) && (*begin == NULL || *end == at));
    *begin = tj_is_int(there, 1) && *begin == NULL ? at : *begin;
    *end = tj_is_int(there, 1) ? behind : *end;
    at = behind;
  }
  return is && *begin != NULL;
}

/* How far rows of an argument are from each other, each of which has an element for each of its columns, or one
 * alone, and no other: 0 where all rows have the same. Left out where they are not so. */
static void find_step(const tj_array_space *space, uint32_t argument, const tj_array_cuts *cuts,
                      tj_array_stage *stage) {
  tj_graph *graph = space->graph;
  const tj_node *begin, *end, *zero = tj_int(graph, 0), *place = zero;
  if (space->lookup[argument].found != NULL || !find_columns(space, argument, cuts, &begin, &end))
    return;
  if (has_columns(space, argument)) {
    stage->begin = begin;
    stage->length = tj_simplified(graph, tj_sub(graph, end, begin));
    place = tj_sub(graph, space->column, begin);
  }
  const tj_node *step = has_rows(space, argument) ? stage->length : zero;
  place = tj_add(graph, place, tj_mul(graph, space->row, step));
  if (tj_is_int(tj_simplified(graph, tj_sub(graph, space->access[argument].offset, place)), 0))
    stage->step = step;
}

/* What a program does with an argument: it may go through LDS whole as what it is, or as the carried type. */
typedef struct {
  bool is_loaded, is_stored, adds;
  bool is_held; /* what is loaded are floats, which become the carried type there, as in arithmetic */
  bool is_left; /* what is stored has it, and becomes the destination's type behind LDS */
} argument_use;

static void find_uses(const tj_array_space *space, tj_dtype carried, argument_use use[]) {
  const tj_array_program *program = space->arrays->program;
  const bool *is_part = tj_array_stored_parts(space->graph, program);
  for (uint32_t i = 0; i < space->argument_count; i++)
    use[i] = (argument_use){.is_held = true, .is_left = true};
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    if (!is_part[i] || array->op != TJ_ARRAY_BUFFER)
      continue;
    use[array->of].is_loaded = true;
    use[array->of].is_held &=
        tj_dtype_class_of(array->dtype) == TJ_CLASS_FLOAT && tj_dtype_bits(array->dtype) <= tj_dtype_bits(carried);
  }
  for (uint32_t i = 0; i < program->store_count; i++) {
    const tj_array_store *store = &program->store[i];
    use[store->argument].is_stored = true;
    use[store->argument].adds |= store->adds;
    use[store->argument].is_left &= store->value->dtype == carried;
  }
}

static tj_array_stage stage_of(const tj_array_space *space, uint32_t argument, const argument_use *use,
                               const tj_array_cuts *cuts) {
  tj_graph *graph = space->graph;
  bool is_many = has_rows(space, argument) || (has_columns(space, argument) && !use->is_stored);
  tj_array_stage stage = {.begin = tj_int(graph, 0),
                          .length = has_columns(space, argument) ? space->columns.size : tj_int(graph, 1),
                          .is_loaded = use->is_loaded,
                          .is_stored = use->is_stored,
                          .buffer = space->access[argument].buffer};
  bool is_changed = use->is_loaded && use->is_stored;
  if (space->is_array[argument] && is_many && !use->adds && (!is_changed || stays_in_wave(space, argument)))
    find_step(space, argument, cuts, &stage);
  return stage;
}

/* The type of elements in LDS: that of all arguments that go there, or else the carried one, as which not all may. */
static tj_dtype held_of(const tj_array_space *space, const tj_kernel *kernel, tj_dtype carried,
                        const argument_use use[]) {
  tj_dtype held = TJ_DTYPE_COUNT;
  bool are_same = true;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_stage *stage = &space->stage[i];
    if (stage->step == NULL)
      continue;
    tj_dtype own = kernel->buffer[stage->buffer].dtype;
    are_same = are_same && (held == TJ_DTYPE_COUNT || own == held);
    held = own;
  }
  for (uint32_t i = 0; i < space->argument_count && !are_same; i++)
    space->stage[i].step = use[i].is_held && use[i].is_left ? space->stage[i].step : NULL;
  return are_same ? held : carried;
}

void tj_array_find_stages(tj_array_space *space, const tj_kernel *kernel, const tj_array_cuts *cuts) {
  tj_graph *graph = space->graph;
  if (space->rows.count == 0 || space->seam_count > 0)
    return;
  const uint32_t count = space->argument_count;
  const tj_dtype carried = tj_array_carried(space->arrays->program);
  argument_use *use = TJ_NEW_ARRAY(graph->job, argument_use, count + 1);
  find_uses(space, carried, use);
  space->stage = TJ_NEW_ARRAY(graph->job, tj_array_stage, count + 1);
  for (uint32_t i = 0; i < count; i++)
    space->stage[i] = stage_of(space, i, &use[i], cuts);
  space->held = held_of(space, kernel, carried, use);
  uint32_t i = 0;
  while (i < count && space->stage[i].step == NULL)
    i++;
  space->stage = i < count ? space->stage : NULL;
}

/* The widest vectors, at most so wide, of which the columns of an argument have no part. */
static uint32_t whole_width(const tj_array_stage *stage, uint32_t width) {
  while (!tj_facts_divisible(&stage->begin->facts, width) || !tj_facts_divisible(&stage->length->facts, width))
    width /= 2;
  return width;
}

uint32_t tj_array_staged_width(const tj_array_space *space, uint32_t width) {
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_stage *stage = &space->stage[i];
    width = stage->step != NULL && has_columns(space, i) ? whole_width(stage, width) : width;
  }
  return width;
}

int64_t tj_array_elements_of_line(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  int64_t line = tj_price_machine_of(target).line_bytes, elements = 1;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_stage *stage = &space->stage[i];
    int64_t own = stage->step != NULL ? line / tj_element_bytes(kernel, stage->buffer) : 1;
    elements = own > elements ? own : elements;
  }
  return elements;
}

int64_t tj_array_staged_line(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  bool has_sectors = tj_price_machine_of(target).sector_bytes > 0;
  return space->stage != NULL && !has_sectors ? tj_array_elements_of_line(space, kernel, target) : 1;
}

/* --- whether it is worth it --- */

typedef struct {
  const tj_array_space *space;
  const tj_kernel *kernel;
  const tj_target *target;
  const tj_array_shape *shape;
  int64_t line;
} lines_of;

/* A length that stands for all that there may be: an odd multiple of what they are multiples of, rather a
 * short one. */
static int64_t usual_length(const tj_node *length) {
  int64_t content = tj_facts_content(&length->facts);
  return tj_is_constant(length) ? length->value : (length->facts.high / 4 / content | 1) * content;
}

/* Bytes of the lines that a run touches on average. */
static double touched(const lines_of *l, int64_t bytes) {
  tj_run run = {.bytes = bytes, .grain = tj_least(tj_power_in(bytes), l->line)};
  return (double)(tj_run_lines(&run, l->line, 0, 0) * bytes) / TJ_RUN_PARTS;
}

/* The same for a row by lanes that load it from memory, those of a wave together where it has several that adjoin. */
static double touched_by_lanes(const lines_of *l, uint32_t argument, int64_t length, int64_t bytes) {
  const tj_array_shape *shape = l->shape;
  int64_t wave = l->target->wave_size, rows = shape->lanes < wave ? wave / shape->lanes : 1;
  if (rows > 1 && l->space->lookup[argument].found == NULL)
    return touched(l, rows * length * bytes) / (double)rows;
  double cut = (double)(l->line - tj_least(tj_power_in(length * bytes), l->line));
  int64_t vectors = length / shape->width, instructions = tj_divided_up(vectors > 0 ? vectors : 1, wave);
  bool has_rest = length > shape->width && length % shape->width != 0;
  return touched(l, length * bytes) + (double)(instructions - 1) * cut + (has_rest ? (double)l->line : 0);
}

/* Bytes of a row: of lines that its elements touch, of those that elements touch which all rows have, and of its
 * elements alone. */
typedef struct {
  double own, common, least;
} touched_bytes;

/* Of `rows` at once where they go through LDS; 0: by lanes, which have what is common from the cache. */
static touched_bytes touched_by_rows(const lines_of *l, int64_t rows) {
  const tj_array_space *space = l->space;
  touched_bytes all = {0, 0, 0};
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_stage *stage = &space->stage[i];
    if (!space->is_array[i])
      continue;
    int64_t length = usual_length(stage->length), bytes = tj_element_bytes(l->kernel, stage->buffer);
    bool is_staged = rows > 0 && stage->step != NULL;
    double times = stage->is_loaded + stage->is_stored;
    if (has_rows(space, i)) {
      all.own += times * (is_staged ? touched(l, rows * length * bytes) / (double)rows
                                    : touched_by_lanes(l, i, length, bytes));
      all.least += times * (double)(length * bytes);
    } else if (is_staged) {
      all.common += times * touched(l, length * bytes) / (double)rows;
    }
  }
  return all;
}

static bool is_near_least(touched_bytes all) {
  enum { NEAR = 16 /* part of the least */ };
  return all.own + all.common <= all.least + all.least / NEAR;
}

/* What masks leave of a shape whose rows do not fill waves; in longer ones, lanes begin again where masks change. */
static tj_array_shape torn_shape(const tj_array_space *space, const tj_target *target, tj_array_shape shape) {
  uint32_t width = shape.width;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_stage *stage = &space->stage[i];
    bool is_part = has_columns(space, i) && stage->length != space->columns.size;
    width = is_part ? whole_width(stage, width) : width;
  }
  if (!space->is_reduced && shape.lanes < target->wave_size)
    tj_array_narrow(space, &shape, width);
  return shape;
}

int64_t tj_array_staged_room(const tj_array_stage *stage, int64_t rows, int64_t line_elements) {
  int64_t elements, times = tj_is_int(stage->step, 0) ? 1 : rows;
  bool is_much =
      __builtin_mul_overflow(times, stage->length->facts.high, &elements) || elements > TJ_MAPPING_MOST_LDS;
  return is_much ? TJ_MAPPING_MOST_LDS : tj_rounded_up(elements, line_elements) + line_elements;
}

/* Whether each lane may put its elements of one argument in the place of those of the other. */
static bool are_alike(const tj_array_space *space, uint32_t a, uint32_t b) {
  const tj_array_stage *one = &space->stage[a], *other = &space->stage[b];
  bool has_columns_alike = has_columns(space, a) == has_columns(space, b);
  return one->step == other->step && one->begin == other->begin && has_columns_alike && stays_in_wave(space, a);
}

uint32_t tj_array_stage_owner(const tj_array_space *space, uint32_t argument) {
  const tj_array_stage *stage = &space->stage[argument];
  uint32_t before = 0;
  for (uint32_t i = 0; i < argument && !stage->is_loaded; i++) {
    const tj_array_stage *other = &space->stage[i];
    before += are_alike(space, argument, i) && !other->is_loaded;
  }
  for (uint32_t i = 0; i < space->argument_count && !stage->is_loaded; i++) {
    const tj_array_stage *other = &space->stage[i];
    if (are_alike(space, argument, i) && other->is_loaded && !other->is_stored && before-- == 0)
      return i;
  }
  return argument;
}

/* Bytes of LDS that all arguments take. */
static int64_t room_of_all(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                           int64_t rows) {
  int64_t line = tj_array_elements_of_line(space, kernel, target), elements = 0;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_stage *stage = &space->stage[i];
    elements +=
        stage->step != NULL && tj_array_stage_owner(space, i) == i ? tj_array_staged_room(stage, rows, line) : 0;
  }
  return elements * tj_dtype_bits(space->held) / 8;
}

enum { LEAST_ROWS = 4 /* of whose elements there are whole vectors */ };

bool tj_array_can_be_staged(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                            const tj_array_shape *shape) {
  if (space->stage == NULL)
    return false;
  int64_t rows = tj_array_rows_at_once(shape), room = room_of_all(space, kernel, target, rows);
  bool is_whole = space->columns.size->facts.high <= (int64_t)shape->lanes * shape->width * shape->repeats;
  return is_whole && room <= target->lds_bytes && rows % LEAST_ROWS == 0 &&
         (!space->is_reduced || shape->lanes <= target->wave_size);
}

void tj_array_stage_rows(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                         tj_array_shape *shape, tj_array_shape staged) {
  const tj_price_machine machine = tj_price_machine_of(target);
  const tj_array_shape torn = torn_shape(space, target, *shape);
  const lines_of by_lanes = {space, kernel, target, &torn, machine.line_bytes},
                 lines = {space, kernel, target, &staged, machine.line_bytes};
  const double plain = touched_by_rows(&by_lanes, 0).own;
  int64_t rows = staged.rows;
  while (rows > LEAST_ROWS && room_of_all(space, kernel, target, rows) > target->lds_bytes / 2)
    rows /= 2;
  staged.rows = (uint32_t)rows;
  while (
      (rows < LEAST_ROWS || (rows < space->rows.size->facts.high && !is_near_least(touched_by_rows(&lines, rows)))) &&
      room_of_all(space, kernel, target, 2 * rows) <= target->lds_bytes / 2)
    rows *= 2;
  double gain = plain - touched_by_rows(&lines, rows).own;
  int64_t room = room_of_all(space, kernel, target, rows);
  if (rows < LEAST_ROWS || room > target->lds_bytes / 2 ||
      machine.costs->lines * gain * TJ_GAIN_OF_STAGED_ROWS < plain)
    return;
  staged.staged = (uint32_t)(rows / staged.rows);
  *shape = staged;
}
