/* SPDX-License-Identifier: MIT */
/* Rows shared out among workgroups and lanes, and all steps of a kernel in their order. */
#include "lower/rows/array_rows.h"

#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/array/array_cuts.h"
#include "lower/array/array_extreme.h"
#include "lower/array/array_staged.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/rows/array_bindings.h"
#include "lower/rows/array_elements.h"
#include "lower/rows/array_reduce.h"
#include "lower/rows/array_split.h"
#include "lower/rows/array_staged_steps.h"

static const tj_array_program *program_of(const tj_array_maker *maker) {
  return maker->space->arrays->program;
}

static const tj_node *int_of(const tj_array_maker *maker, int64_t value) {
  return tj_int(maker->graph, value);
}

/* --- where a workgroup is --- */

/* How many parts of `part` there are; NULL: one. */
static const tj_node *parts_of(tj_graph *graph, const tj_node *size, const tj_node *part) {
  return part == NULL ? tj_int(graph, 1) : tj_simplified(graph, tj_ceil_div(graph, size, part));
}

static const tj_node *bind(tj_array_maker *maker, const char *name, const tj_node *number, const tj_node *part,
                           const tj_node *size) {
  tj_graph *graph = maker->graph;
  const tj_node *value = part == NULL ? int_of(maker, 0) : tj_simplified(graph, tj_mul(graph, number, part));
  if (tj_is_constant(value))
    return value;
  const tj_node *last = tj_simplified(graph, tj_sub(graph, size, tj_int(graph, 1)));
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, 0), last, tj_facts_content(&part->facts));
  tj_array_add_binding(maker, (tj_kernel_binding){.symbol = symbol, .value = value});
  return symbol;
}

/* A name for what the launch computes, of which so much is known where the kernel is taken. */
static const tj_node *bind_launched(tj_array_maker *maker, const char *name, const tj_node *value, int64_t most) {
  tj_graph *graph = maker->graph;
  if (tj_is_constant(value))
    return value;
  int64_t multiple = tj_facts_content(&value->facts);
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, int_of(maker, multiple), int_of(maker, most), multiple);
  tj_array_add_binding(maker, (tj_kernel_binding){symbol, value, true});
  return symbol;
}

/* Whether a destination has an element for each column. */
static bool has_columns(const tj_array_maker *maker, const tj_array_store *store) {
  return tj_array_goes_along(maker->space, store->argument, &maker->space->columns);
}

static bool stores_columns(const tj_array_maker *maker) {
  const tj_array_program *program = program_of(maker);
  uint32_t i = 0;
  while (i < program->store_count && !has_columns(maker, &program->store[i]))
    i++;
  return i < program->store_count;
}

/* Whether a kernel of rows that are split takes none in pieces: it stores no elements of them. */
static bool takes_whole_rows(const tj_array_maker *maker) {
  return maker->shape.is_split && maker->reduced == 0 && !stores_columns(maker);
}

/* Names what the launch computes of rows that are split. Returns how many workgroups take one. */
static const tj_node *name_pieces(tj_array_maker *maker) {
  tj_array_shape *shape = &maker->shape;
  const tj_node *columns = maker->space->columns.size, *pieces = parts_of(maker->graph, columns, shape->piece);
  maker->pieces = bind_launched(maker, "pieces", pieces, tj_array_most_pieces(maker->target));
  shape->piece = takes_whole_rows(maker) ? NULL : bind_launched(maker, "piece", shape->piece, columns->facts.high);
  return shape->piece == NULL ? int_of(maker, 1) : maker->pieces;
}

/* Workgroups number pieces of a row first. */
static void place_workgroups(tj_array_maker *maker) {
  tj_graph *graph = maker->graph;
  tj_array_shape *shape = &maker->shape;
  tj_kernel *kernel = maker->kernel;
  const tj_node *rows = maker->space->rows.size, *columns = tj_array_taken(maker);
  const tj_node *pieces = parts_of(graph, columns, takes_whole_rows(maker) ? NULL : shape->piece);
  const tj_node *groups = parts_of(graph, rows, int_of(maker, tj_array_rows_at_once(&maker->shape)));
  const tj_node *all = tj_simplified(graph, tj_terse_mul(graph, groups, pieces));
  kernel->workgroup_size = shape->rows * shape->lanes;
  kernel->count = tj_simplified(graph, tj_mul(graph, all, tj_int(graph, kernel->workgroup_size)));
  kernel->workgroup = tj_coordinate(graph, "g", all);
  kernel->item = maker->item = tj_coordinate(graph, "t", tj_int(graph, kernel->workgroup_size));
  kernel->binding = TJ_NEW_ARRAY(graph->job, tj_kernel_binding, TJ_ARRAY_MOST_BINDINGS);
  kernel->binding_count = 0;
  if (shape->is_split)
    pieces = name_pieces(maker);
  maker->base_row = bind(maker, "b0", tj_terse_div(graph, kernel->workgroup, pieces),
                         int_of(maker, tj_array_rows_at_once(&maker->shape)), rows);
  maker->piece = tj_simplified(graph, tj_terse_mod(graph, kernel->workgroup, pieces));
  maker->base_column = bind(maker, "b1", maker->piece, shape->piece, columns);
}

/* Columns before the row's first vector, and in whole vectors. */
static void place_vectors(tj_array_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_node *zero = int_of(maker, 0), *width = int_of(maker, maker->shape.width);
  const tj_node *begin = tj_array_placed(maker, maker->space->begin, maker->row, zero);
  maker->head = tj_simplified(graph, tj_mod(graph, tj_sub(graph, zero, begin), int_of(maker, maker->shape.begins)));
  const tj_node *behind = tj_max(graph, tj_sub(graph, maker->space->columns.size, maker->head), zero);
  maker->gap = tj_simplified(graph, tj_mul(graph, tj_div(graph, behind, width), width));
}

/* `is_inner`: all rows of the workgroup are there; `trip`: how often it has taken so many as are taken at once. */
static void place_items(tj_array_maker *maker, bool is_inner, const tj_node *trip) {
  tj_graph *graph = maker->graph;
  const tj_node *lanes = int_of(maker, maker->shape.lanes), *size = maker->space->rows.size;
  const tj_node *before = tj_terse_mul(graph, trip, int_of(maker, maker->shape.rows));
  bool all_there = is_inner || tj_facts_divisible(&size->facts, tj_array_rows_at_once(&maker->shape));
  maker->lane = tj_simplified(graph, tj_terse_mod(graph, maker->item, lanes));
  maker->own_row = tj_simplified(graph, tj_terse_add(graph, before, tj_terse_div(graph, maker->item, lanes)));
  maker->row = tj_simplified(graph, tj_terse_add(graph, maker->base_row, maker->own_row));
  maker->row_is_there = all_there ? int_of(maker, 1) : tj_simplified(graph, tj_less(graph, maker->row, size));
  if (maker->shape.begins > 0)
    place_vectors(maker);
}

/* --- columns --- */

/* Whether what is stored to an argument takes the place of another one's elements, or of its own. */
static bool overwrites(const tj_array_maker *maker, uint32_t argument, uint32_t other) {
  const tj_array_stage *stage = maker->stage;
  bool are_staged = stage != NULL && stage[argument].step != NULL && stage[other].step != NULL;
  return argument == other || (are_staged && stage[argument].place == stage[other].place);
}

/* Whether a statement after the one that overwrites an argument needs what it was. */
static bool is_needed_later(const tj_array_maker *maker, const tj_array *array) {
  const tj_array_program *program = program_of(maker);
  uint32_t i = 0;
  while (i < program->store_count && !overwrites(maker, program->store[i].argument, array->of))
    i++;
  for (i++; i < program->store_count; i++) {
    if (tj_array_needed_by(maker, program->store[i].value)[array->number])
      return true;
  }
  return false;
}

/* Loads what would be overwritten before it is needed. */
static void load_overwritten(tj_array_maker *maker, const tj_array_region *region) {
  const tj_array_program *program = program_of(maker);
  for (uint32_t i = 0; i < program->count; i++) {
    if (program->array[i]->op == TJ_ARRAY_BUFFER && is_needed_later(maker, program->array[i]))
      tj_array_load(maker, region, program->array[i]);
  }
}

/* What happens in a region: the reductions of a level, or, of level 0, the stores. */
static void take_columns(tj_array_maker *maker, const tj_array_region *region, uint32_t level) {
  const tj_array_program *program = program_of(maker);
  if (level > 0) {
    tj_array_reduce_columns(maker, region, level);
    return;
  }
  load_overwritten(maker, region);
  for (uint32_t i = 0; i < program->store_count; i++) {
    const tj_array_store *store = &program->store[i];
    if (!has_columns(maker, store))
      continue;
    tj_array_load(maker, region, store->value);
    tj_array_store_columns(maker, region, store);
  }
}

/* Columns that lanes take, from where vectors begin, if that is apart. */
static const tj_node *all_taken(const tj_array_maker *maker) {
  return maker->head != NULL ? maker->gap : tj_array_taken(maker);
}

/* `is_inner`: all of it is there. */
static const tj_node *end_of_piece(const tj_array_maker *maker, bool is_inner) {
  tj_graph *graph = maker->graph;
  const tj_node *size = all_taken(maker);
  if (maker->shape.piece == NULL)
    return size;
  const tj_node *end = tj_add(graph, maker->base_column, maker->shape.piece);
  return tj_simplified(graph, is_inner ? end : tj_min(graph, size, end));
}

/* A name for a column that a part has in a workgroup, or the one behind. */
static const tj_node *bind_column(tj_array_maker *maker, const tj_array_region *region, const char *name,
                                  const tj_node *value) {
  value = tj_simplified(maker->graph, value);
  if (value->op == TJ_OP_SYMBOL)
    return value;
  return tj_array_bind(maker, name, value,
                       (tj_array_bounds){region->part->symbol->low, maker->space->columns.size, 1});
}

/* Where the whole vectors of a region end: of a part, as many columns behind its beginning as vectors have; elsewhere
 * a multiple of them, and further on in other workgroups. */
static const tj_node *end_of_vectors(tj_array_maker *maker, const tj_array_region *region) {
  tj_graph *graph = maker->graph;
  const tj_node *width = int_of(maker, maker->shape.width);
  if (region->part == NULL)
    return tj_simplified(graph, tj_terse_mul(graph, tj_terse_div(graph, region->end, width), width));
  const tj_node *rest = tj_terse_mod(graph, tj_sub(graph, region->end, region->start), width);
  return bind_column(maker, region, "q", tj_sub(graph, region->end, rest));
}

/* A region that is counted from the first vector on, where vectors begin apart. */
static void place_region(const tj_array_maker *maker, tj_array_region *region) {
  tj_graph *graph = maker->graph;
  if (maker->head == NULL)
    return;
  region->line = region->start;
  region->start = tj_terse_add(graph, maker->head, region->start);
  region->end = region->end != NULL ? tj_terse_add(graph, maker->head, region->end) : NULL;
}

/* What is left of a row before and behind its vectors, where these begin apart. */
static tj_array_region ends_of_row(const tj_array_maker *maker) {
  return (tj_array_region){
      .start = maker->base_column, .end = maker->space->columns.size, .goes_on = true, .has_ends = true};
}

/* What is left behind the whole vectors of a region. */
static tj_array_region end_of_region(tj_array_maker *maker, const tj_array_region *region) {
  tj_array_region last = *region;
  last.start = end_of_vectors(maker, region);
  last.end = region->part == NULL ? end_of_piece(maker, false) : region->end;
  last.goes_on = true;
  return last;
}

/* For each of the first lanes one element. */
static void take_singly(tj_array_maker *maker, const tj_array_region *region, uint32_t level) {
  const tj_array_shape shape = maker->shape;
  maker->shape.width = maker->shape.repeats = 1;
  tj_array_turn(maker);
  take_columns(maker, region, level);
  tj_array_turn(maker);
  maker->shape = shape;
}

static bool ends_apart(const tj_array_maker *maker, const tj_array_region *region) {
  if (maker->head != NULL || maker->target == NULL)
    return maker->head != NULL;
  const tj_node *length = tj_simplified(maker->graph, tj_sub(maker->graph, region->end, region->start));
  return tj_array_ends_apart(&maker->shape, length, maker->target);
}

/* Whole vectors up to an end, and what is left: behind them, in the workgroup that has the end, or where they begin
 * apart, of the row, in the one that has its beginning. */
static void take_columns_to_end(tj_array_maker *maker, const tj_array_region *region, uint32_t level) {
  if (!ends_apart(maker, region)) {
    take_columns(maker, region, level);
    return;
  }
  tj_array_region vectors = *region, last = maker->head != NULL ? ends_of_row(maker) : end_of_region(maker, region);
  vectors.has_vectors = true;
  if (maker->head == NULL)
    vectors.end = last.start;
  place_region(maker, &vectors);
  take_columns(maker, &vectors, level);
  take_singly(maker, &last, level);
}

static int64_t columns_of_trip(const tj_array_maker *maker) {
  return (int64_t)maker->shape.lanes * (maker->shape.apart != NULL ? maker->shape.width : tj_array_columns(maker));
}

/* A loop from here on, of a reduction level's slots; which ends with TJ_STEP_AGAIN. */
static void begin_loop(tj_array_maker *maker, const tj_node *counter, const tj_node *trips, uint32_t level) {
  uint32_t first = 0, count = 0;
  if (level > 0)
    tj_array_reduction_slots(maker, level, &first, &count);
  tj_kernel_step *loop = tj_array_step(maker, TJ_STEP_LOOP);
  loop->value = counter;
  loop->limit = trips;
  loop->slot = first;
  loop->width = count;
  loop->slot_step = maker->target != NULL && maker->target->wave_size == 1 ? maker->shape.width : 1;
}

static void end_loop(tj_array_maker *maker) {
  tj_array_step(maker, TJ_STEP_AGAIN);
  tj_array_forget(maker);
}

/* Of two values at least: of one it would be that. */
static const tj_node *counter_below(const tj_array_maker *maker, int64_t trips) {
  const int64_t last = trips == INT64_MAX ? trips : trips > 2 ? trips - 1 : 1;
  return tj_symbol_create(maker->graph, "c", TJ_SYMBOL_COORDINATE, tj_int(maker->graph, 0),
                          tj_int(maker->graph, last), 1);
}

/* Columns that all lanes have, trip by trip. */
static void add_trips(tj_array_maker *maker, const tj_node *trips, uint32_t level) {
  tj_graph *graph = maker->graph;
  const tj_node *counter = counter_below(maker, trips->facts.high);
  const tj_node *start = tj_terse_mul(graph, counter, int_of(maker, columns_of_trip(maker)));
  tj_array_region region = {.start = tj_terse_add(graph, maker->base_column, start)};
  place_region(maker, &region);
  begin_loop(maker, counter, trips, level);
  take_columns(maker, &region, level);
  end_loop(maker);
}

/* Columns that some lanes have. Whether there are any, the launch may say: then a loop has one trip or none. */
static void add_rest(tj_array_maker *maker, const tj_array_region *rest, const tj_node *count, uint32_t level) {
  tj_graph *graph = maker->graph;
  const tj_node *trips = tj_simplified(graph, tj_less(graph, int_of(maker, 0), count));
  const bool is_loop = maker->head == NULL && !tj_is_constant(trips);
  if (is_loop)
    begin_loop(maker, counter_below(maker, 1), trips, level);
  take_columns_to_end(maker, rest, level);
  if (is_loop)
    end_loop(maker);
}

/* How many columns there are up to `end`: one at least, which the pieces' numbers say, and its terms alone do not.
 * Where vectors begin apart, what the last piece has may be before and behind them all. */
static const tj_node *length_to(const tj_array_maker *maker, const tj_node *end) {
  tj_graph *graph = maker->graph;
  const tj_node *length = tj_simplified(graph, tj_sub(graph, end, maker->base_column));
  if (maker->head != NULL)
    return tj_simplified(graph, tj_max(graph, length, int_of(maker, 0)));
  tj_facts known = length->facts;
  known.low = known.low > 1 ? known.low : 1;
  tj_sharpen_facts(length, &known);
  return length;
}

static void loop_over_columns(tj_array_maker *maker, uint32_t level, bool is_inner) {
  tj_graph *graph = maker->graph;
  const tj_node *trip = int_of(maker, columns_of_trip(maker)), *end = end_of_piece(maker, is_inner);
  const tj_node *length = length_to(maker, end);
  const tj_node *trips = tj_simplified(graph, tj_div(graph, length, trip));
  if (trips->facts.high > 0)
    add_trips(maker, trips, level);
  const tj_node *done = tj_terse_mul(graph, trips, trip);
  const tj_node *start = tj_simplified(graph, tj_terse_add(graph, maker->base_column, done));
  const tj_array_region rest = {.start = start, .end = end}, ends = ends_of_row(maker);
  if (!tj_facts_divisible(&length->facts, columns_of_trip(maker)))
    add_rest(maker, &rest, tj_sub(graph, length, done), level);
  else if (maker->head != NULL)
    take_singly(maker, &ends, level);
  tj_array_forget(maker);
}

/* What lies between one cut and the next, if the workgroup has any of it. */
static void take_parts(tj_array_maker *maker, uint32_t level) {
  tj_graph *graph = maker->graph;
  const tj_array_cuts *cuts = maker->shape.cuts;
  const tj_node *begin = int_of(maker, 0), *size = maker->space->columns.size, *end = end_of_piece(maker, false);
  for (uint32_t i = 0; i <= cuts->count; i++) {
    const tj_node *behind = i < cuts->count ? cuts->at[i] : size;
    tj_array_region region = {.part = tj_array_part(graph, begin, behind)};
    region.start = bind_column(maker, &region, "p", tj_max(graph, maker->base_column, begin));
    region.end = bind_column(maker, &region, "e", tj_max(graph, tj_min(graph, end, behind), region.start));
    take_columns_to_end(maker, &region, level);
    tj_array_forget(maker);
    begin = behind;
  }
}

static void add_columns(tj_array_maker *maker, uint32_t level, bool is_inner) {
  const tj_node *size = tj_array_taken(maker);
  if (maker->shape.loops) {
    loop_over_columns(maker, level, is_inner);
    return;
  }
  bool all_there =
      (is_inner && maker->shape.piece != NULL) || tj_facts_divisible(&size->facts, columns_of_trip(maker));
  const tj_array_region region = {.start = maker->base_column, .end = all_there ? NULL : all_taken(maker)};
  if (maker->shape.cuts != NULL)
    take_parts(maker, level);
  else if (all_there && maker->head == NULL)
    take_columns(maker, &region, level);
  else
    take_columns_to_end(maker, &region, level);
}

/* --- all steps --- */

static uint32_t last_level(const tj_array_maker *maker) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < program_of(maker)->count; i++)
    last = maker->level[i] > last ? maker->level[i] : last;
  return last;
}

/* Whether reductions of a level are of arrays that cost much, and are not there yet. */
static bool is_costly_level(const tj_array_maker *maker, uint32_t level) {
  const tj_array_program *program = program_of(maker);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *each = program->array[i];
    if (!tj_array_is_reduction(each->op) || maker->level[i] != level)
      continue;
    const bool *needed = tj_array_needed_by(maker, each->arg[0]);
    for (uint32_t k = 0; k < i; k++) {
      if (needed[k] && !maker->is_kept[k] && tj_array_is_costly(maker, program->array[k]))
        return true;
    }
  }
  return false;
}

/* In loops on the host, several partial results hide that each waits for the one of the trip before, where a trip has
 * not much to do anyway. */
static uint32_t repeats_of_level(const tj_array_maker *maker, uint32_t level) {
  bool is_host_loop = maker->shape.loops && maker->target != NULL && maker->target->wave_size == 1;
  return is_host_loop && (level == 0 || is_costly_level(maker, level)) ? 1 : maker->shape.repeats;
}

static void add_reductions(tj_array_maker *maker, uint32_t level, bool is_inner) {
  const tj_array_program *program = program_of(maker);
  uint32_t repeats = maker->shape.repeats;
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array_online *online = tj_array_online_of(maker, program->array[i]);
    if (tj_array_is_reduction(program->array[i]->op) && maker->level[i] == level)
      tj_array_prepare(maker, online != NULL ? online->of : program->array[i]->arg[0]);
  }
  maker->shape.repeats = repeats_of_level(maker, level);
  tj_array_begin_reductions(maker, level);
  add_columns(maker, level, is_inner);
  tj_array_end_reductions(maker, level);
  maker->shape.repeats = repeats;
}

/* The reductions of a level, of pieces that kernels before have reduced. */
static void take_pieces(tj_array_maker *maker, uint32_t level) {
  tj_array_begin_reductions(maker, level);
  tj_array_reduce_pieces(maker, level);
  tj_array_end_reductions(maker, level);
}

/* What has one element a row goes out once. */
static void store_rows(tj_array_maker *maker) {
  const tj_array_program *program = program_of(maker);
  tj_array_region region = {.start = maker->base_column};
  for (uint32_t i = 0; i < program->store_count; i++) {
    if (has_columns(maker, &program->store[i]))
      continue;
    tj_array_load(maker, &region, program->store[i].value);
    tj_array_store_columns(maker, &region, &program->store[i]);
  }
}

/* What lanes do with their rows: reductions, level by level, then stores. */
static void take_rows(tj_array_maker *maker, bool is_inner) {
  const tj_array_program *program = program_of(maker);
  tj_array_look_up_rows(maker);
  uint32_t last = maker->reduced > 0 ? maker->reduced : last_level(maker);
  for (uint32_t level = 1; level <= last; level++) {
    maker->is_partial = level == maker->reduced;
    if (maker->shape.is_split && !maker->is_partial)
      take_pieces(maker, level);
    else
      add_reductions(maker, level, is_inner);
  }
  if (maker->reduced > 0) {
    tj_array_store_pieces(maker, maker->reduced);
    return;
  }
  for (uint32_t i = 0; i < program->store_count; i++)
    tj_array_prepare(maker, program->store[i].value);
  uint32_t repeats = maker->shape.repeats;
  maker->shape.repeats = repeats_of_level(maker, 0);
  if (stores_columns(maker))
    add_columns(maker, 0, is_inner);
  store_rows(maker);
  maker->shape.repeats = repeats;
}

/* The same of rows that are in LDS, some after the others. */
static void take_staged_rows(tj_array_maker *maker, bool is_inner) {
  tj_graph *graph = maker->graph;
  const tj_node *trips = int_of(maker, maker->shape.staged), *trip = tj_coordinate(graph, "c", trips);
  tj_array_load_stages(maker);
  if (maker->shape.staged > 1) {
    tj_kernel_step *loop = tj_array_step(maker, TJ_STEP_LOOP);
    loop->value = trip;
    loop->limit = trips;
    loop->width = 0;
    place_items(maker, is_inner, trip);
  }
  take_rows(maker, is_inner);
  if (maker->shape.staged > 1)
    tj_array_step(maker, TJ_STEP_AGAIN);
  tj_array_store_stages(maker);
}

static void make_steps(tj_array_maker *maker, bool is_inner) {
  maker->kernel->lds_elements = maker->staged_elements;
  place_items(maker, is_inner, int_of(maker, 0));
  tj_array_begin(maker);
  if (maker->shape.staged > 0)
    take_staged_rows(maker, is_inner);
  else
    take_rows(maker, is_inner);
}

/* Truth, whether all rows of a workgroup are there. */
static const tj_node *has_all_rows(const tj_array_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_node *size = maker->space->rows.size, *rows = int_of(maker, tj_array_rows_at_once(&maker->shape));
  return tj_facts_divisible(&size->facts, tj_array_rows_at_once(&maker->shape))
             ? int_of(maker, 1)
             : tj_less_equal(graph, tj_add(graph, maker->base_row, rows), size);
}

static const tj_node *has_all_columns(const tj_array_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_array_shape *shape = &maker->shape;
  const tj_node *size = tj_array_taken(maker);
  bool is_whole = (shape->loops && !shape->is_split) || shape->piece == NULL ||
                  tj_facts_divisible(&size->facts, tj_facts_content(&shape->piece->facts));
  if (is_whole)
    return int_of(maker, 1);
  const tj_node *taken = tj_add(graph, shape->piece, int_of(maker, shape->begins));
  return tj_less_equal(graph, tj_add(graph, maker->base_column, taken), size);
}

/* Truth, whether all rows and columns of a workgroup are there; NULL: they always are, or that changes little: a
 * GPU's work-item that has no row does what others do, but for loads and stores. */
static const tj_node *inner_truth(const tj_array_maker *maker) {
  if (maker->shape.cuts != NULL)
    return NULL;
  const tj_node *rows = has_all_rows(maker), *columns = has_all_columns(maker);
  if (tj_is_constant(columns) && maker->target->wave_size > 1)
    return NULL;
  const tj_node *truth = tj_simplified(maker->graph, tj_terse_both(maker->graph, rows, columns));
  return tj_is_constant(truth) ? NULL : truth;
}

/* How often a row that passes by does so: for each level of reductions, and for what is stored of its columns. */
static uint32_t readings_of(const tj_array_maker *maker) {
  uint32_t reductions = last_level(maker);
  return reductions == 0 || stores_columns(maker) ? 1 + reductions : reductions;
}

/* Whether columns that are not there are -inf in rows that stay in a GPU's registers. */
static bool takes_lowest(const tj_array_maker *maker) {
  bool stays = maker->target != NULL && maker->target->wave_size > 1 && !maker->shape.loops;
  return stays && tj_array_takes_lowest(maker->space);
}

/* The shape in words, and what becomes of pieces. */
static const char *words_of(const tj_array_maker *maker, const tj_array_shape *shape, uint32_t number) {
  tj_job *job = maker->graph->job;
  uint32_t readings = shape->loops && !shape->is_split ? readings_of(maker) : 1;
  const char *words = tj_array_shape_words(job, maker->space, shape, readings);
  if (!shape->is_split)
    return words;
  const char *taken = number > 1 ? "; takes what pieces were reduced to" : "";
  return tj_string_format(job, "%s%s%s", words, taken, maker->reduced > 0 ? "; stores what each is reduced to" : "");
}

uint32_t tj_rows_levels(tj_graph *graph, const tj_array_space *space, tj_array_shape shape) {
  tj_array_maker maker = {.graph = graph, .space = space, .shape = shape};
  tj_array_begin(&maker);
  return last_level(&maker);
}

tj_kernel *tj_rows_make(tj_graph *graph, const tj_kernel *from, const tj_array_space *space, tj_array_shape shape,
                        const tj_target *target, uint32_t number) {
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *from;
  kernel->arrays = space->arrays;
  kernel->carried = shape.staged > 0 ? space->held : tj_array_carried(from->arrays->program);
  tj_array_maker maker = {.graph = graph, .target = target, .space = space, .shape = shape, .kernel = kernel};
  maker.takes_lowest = takes_lowest(&maker);
  maker.reduced = shape.is_split && number <= tj_rows_levels(graph, space, shape) ? number : 0;
  place_workgroups(&maker);
  if (shape.staged > 0)
    tj_array_place_stages(&maker);
  kernel->inner = target != NULL ? inner_truth(&maker) : NULL;
  if (kernel->inner != NULL) {
    make_steps(&maker, true);
    kernel->inner_step = maker.step;
    kernel->inner_step_count = maker.step_count;
  }
  make_steps(&maker, false);
  kernel->tile = words_of(&maker, &shape, number);
  kernel->step = maker.step;
  kernel->step_count = maker.step_count;
  kernel->slot_dtype = maker.slot_dtype;
  kernel->slot_count = maker.slot_count;
  return kernel;
}

tj_kernel *tj_rows_as_written(tj_graph *graph, const tj_kernel *definition) {
  tj_array_space *space = TJ_NEW(graph->job, tj_array_space);
  *space = tj_array_space_of(graph, definition, 0);
  const tj_array_shape shape = {.rows = 1, .lanes = 1, .width = 1, .repeats = 1, .loops = true};
  return tj_rows_make(graph, definition, space, shape, NULL, 0);
}
