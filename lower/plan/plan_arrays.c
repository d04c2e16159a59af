/* SPDX-License-Identifier: MIT */
/* From statements of arrays to a kernel: buffers, and steps for one work-item a row, which say what is meant.
 * lower/rows/array_map.c shares rows out for a target. */
#include "lower/plan/plan_arrays.h"

#include "lower/rows/array_rows.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/array_kernel.h"
#include "lower/mapping/mapped.h"
#include "lower/plan/gather.h"
#include "lower/plan/race.h"

/* --- buffers --- */

static tj_kernel_buffer buffer_of(tj_graph *graph, const tj_kernel_argument *argument, const tj_operand *operand) {
  tj_kernel_buffer buffer = {.name = argument->name,
                             .is_read = argument->is_read,
                             .is_written = argument->is_written,
                             .element_count = operand->element_count,
                             .extent = operand->extent,
                             .rank = operand->rank,
                             .is_row_major = tj_operand_is_row_major(graph, operand),
                             .is_column_major = tj_operand_is_column_major(graph, operand)};
  (void)tj_dtype_find(argument->dtype, &buffer.dtype);
  return buffer;
}

/* Elements of a destination are each one coordinate's: others would be written by whoever comes last. */
void tj_check_apart(tj_graph *graph, const tj_kernel_argument *argument, const tj_operand *operand) {
  if (!argument->is_written || tj_race_is_apart_by_values(graph, operand) == TJ_YES)
    return;
  tj_note(graph->job, "a destination has each of its elements once");
  tj_fail(graph->job, TJ_ARRAY_STATEMENT, "two coordinates of '%s' may be one element", argument->name);
}

static bool is_added_to(const tj_array_program *program, uint32_t argument) {
  const tj_array_store *store = tj_array_indexed_store(program, argument);
  return store != NULL && store->adds;
}

static void set_buffers(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                        tj_array_kernel *arrays) {
  const tj_array_program *program = definition->arrays;
  uint32_t count = definition->argument_count, all = count + program->gather_count;
  tj_operand *operand = TJ_NEW_ARRAY(graph->job, tj_operand, all + 1);
  tj_kernel_buffer *buffer = TJ_NEW_ARRAY(graph->job, tj_kernel_buffer, count + 1);
  uint32_t *number = TJ_NEW_ARRAY(graph->job, uint32_t, all + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tj_kernel_argument *argument = &definition->argument[i];
    if (argument->view == NULL)
      continue;
    graph->job->here = argument->span;
    operand[i] = tj_operand_make(graph, argument->view);
    tj_operand_check_inside(graph, &operand[i]);
    bool is_sum = is_added_to(program, i);
    if (!is_sum)
      tj_check_apart(graph, argument, &operand[i]);
    number[i] = kernel->buffer_count;
    buffer[kernel->buffer_count] = buffer_of(graph, argument, &operand[i]);
    buffer[kernel->buffer_count++].is_read |= is_sum;
  }
  for (uint32_t i = count; i < all; i++) {
    operand[i] = operand[program->gather[i - count].argument];
    number[i] = number[program->gather[i - count].argument];
  }
  arrays->operand = operand;
  arrays->buffer = number;
  kernel->buffer = buffer;
}

/* --- indices --- */

/* Indices that differ store to elements that do. */
static void check_indexed(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                          const tj_array_store *store) {
  const tj_array_kernel *arrays = kernel->arrays;
  graph->job->here = store->span;
  tj_check_indices(graph, store->adds ? "scatter_add" : "scatter", &kernel->buffer[arrays->buffer[store->indices]]);
  if (store->adds) {
    tj_check_sum(graph, &kernel->buffer[arrays->buffer[store->argument]]);
    return;
  }
  tj_check_indices_apart(graph, &definition->argument[store->indices], &arrays->operand[store->indices],
                         "indices have each of their elements once, unless scatter_add adds");
  kernel->races = TJ_RACES_OF_INDICES;
}

static void check_indices(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition) {
  const tj_array_program *program = definition->arrays;
  for (uint32_t i = 0; i < program->gather_count; i++) {
    graph->job->here = program->gather[i].span;
    tj_check_indices(graph, "gather", &kernel->buffer[kernel->arrays->buffer[program->gather[i].indices]]);
  }
  for (uint32_t i = 0; i < program->store_count; i++) {
    if (program->store[i].is_indexed)
      check_indexed(graph, kernel, definition, &program->store[i]);
  }
}

static bool has_indices(const tj_array_program *program) {
  bool has_indices = program->gather_count > 0;
  for (uint32_t i = 0; i < program->store_count; i++)
    has_indices = has_indices || program->store[i].is_indexed;
  return has_indices;
}

/* --- copies --- */

/* The arguments that a statement's elements are a function of, by number. */
typedef struct {
  uint32_t *argument;
  uint32_t count;
} source_list;

/* Whether an array has all modes of the program, none of them with one element that the others repeat. */
static bool has_all_modes(const tj_array_program *program, const tj_array *array) {
  for (uint32_t m = 0; m < program->rank; m++) {
    if (tj_is_int(array->extent[m], 1) && !tj_is_int(program->extent[m], 1))
      return false;
  }
  return true;
}

static bool are_plain_alike(const tj_tuple *shape, const tj_tuple *other) {
  return tj_tuple_is_list(shape) == tj_tuple_is_list(other) && tj_tuple_rank(shape) == tj_tuple_leaf_count(shape) &&
         tj_tuple_rank(other) == tj_tuple_leaf_count(other);
}

/* Whether the modes of an argument are leaves of a layout, as those of the destinations are; or of a composed one,
 * unless it is to be repeated. */
static bool has_plain_modes(const tj_kernel_definition *definition, const tj_array *array) {
  const tj_array_program *program = definition->arrays;
  const tj_value *view = definition->argument[array->of].view;
  const tj_value *stored = definition->argument[program->store[0].argument].view;
  bool is_layout = view->kind == TJ_VALUE_LAYOUT;
  if (stored->kind != TJ_VALUE_LAYOUT ||
      (!is_layout && (view->kind != TJ_VALUE_COMPOSED || !has_all_modes(program, array))))
    return false;
  return are_plain_alike(tj_value_layout(view)->shape, stored->layout.shape);
}

static bool is_destination(const tj_array_program *program, uint32_t argument) {
  bool is_stored = false;
  for (uint32_t i = 0; i < program->store_count; i++)
    is_stored = is_stored || program->store[i].argument == argument;
  return is_stored;
}

/* Whether all elements have the only one of an argument in common: its first. */
static bool is_single(const tj_kernel_definition *definition, const tj_array *array) {
  const tj_array_program *program = definition->arrays;
  bool is_one = definition->argument[array->of].view->kind == TJ_VALUE_LAYOUT && !has_all_modes(program, array) &&
                !is_destination(program, array->of);
  for (uint32_t m = 0; m < program->rank; m++)
    is_one = is_one && tj_is_int(array->extent[m], 1);
  return is_one;
}

/* But for arguments of one element; none where elements are functions of where they are, too. */
static source_list sources_of(tj_graph *graph, const tj_kernel_definition *definition) {
  const tj_array_program *program = definition->arrays;
  const bool *is_part = tj_array_stored_parts(graph, program);
  source_list list = {TJ_NEW_ARRAY(graph->job, uint32_t, program->count + 1), 0};
  for (uint32_t i = 0; i < program->count; i++) {
    if (is_part[i] && program->array[i]->op == TJ_ARRAY_INDEX)
      return (source_list){NULL, 0};
    if (is_part[i] && program->array[i]->op == TJ_ARRAY_BUFFER && !is_single(definition, program->array[i]))
      list.argument[list.count++] = i;
  }
  return list;
}

/* The mode along which a layout steps by one; its rank: there is none. */
static uint32_t contiguous_mode(const tj_value *view) {
  const tj_tuple *stride = tj_value_layout(view)->stride;
  uint32_t m = 0;
  while (m < tj_tuple_rank(stride) &&
         !(tj_tuple_mode(stride, m)->kind == TJ_TUPLE_INTEGER && tj_is_int(tj_tuple_mode(stride, m)->value, 1)))
    m++;
  return m;
}

/* Puts the source first that is to go through LDS: the first that has all modes and neighbours along another one than
 * the destination, or else the first that has all modes. False where there is none. */
static bool put_first(const tj_kernel_definition *definition, source_list *list) {
  const tj_array_program *program = definition->arrays;
  const tj_kernel_argument *argument = definition->argument;
  uint32_t best = UINT32_MAX, stored = contiguous_mode(argument[program->store[0].argument].view);
  for (uint32_t i = list->count; i-- > 0;) {
    const tj_array *array = program->array[list->argument[i]];
    bool is_better = best == UINT32_MAX || contiguous_mode(argument[array->of].view) != stored ||
                     contiguous_mode(argument[program->array[list->argument[best]]->of].view) == stored;
    if (has_all_modes(program, array) && is_better)
      best = i;
  }
  if (best == UINT32_MAX)
    return false;
  uint32_t first = list->argument[best];
  for (; best > 0; best--)
    list->argument[best] = list->argument[best - 1];
  list->argument[0] = first;
  return true;
}

/* Whether the sources are what a copy may have: one of any view that has all modes, or several layouts. */
static bool are_sources_of_copy(const tj_kernel_definition *definition, source_list *list) {
  const tj_array_program *program = definition->arrays;
  bool are_plain = true;
  for (uint32_t i = 0; i < list->count; i++) {
    const tj_array *array = program->array[list->argument[i]];
    are_plain = are_plain && has_plain_modes(definition, array);
    if (is_destination(program, array->of))
      return false;
  }
  if (list->count == 1)
    return has_all_modes(program, program->array[list->argument[0]]) && (program->store_count == 1 || are_plain);
  return list->count > 1 && program->store_count == 1 && are_plain && put_first(definition, list);
}

/* Whether a destination is a layout of plain modes, all of those of the program. */
static bool is_whole_layout(const tj_array_program *program, const tj_value *view) {
  if (view->kind != TJ_VALUE_LAYOUT || !tj_tuple_is_list(view->layout.shape) ||
      !are_plain_alike(view->layout.shape, view->layout.shape) || tj_tuple_rank(view->layout.shape) != program->rank)
    return false;
  for (uint32_t m = 0; m < program->rank; m++) {
    if (tj_is_int(tj_tuple_mode(view->layout.shape, m)->value, 1) && !tj_is_int(program->extent[m], 1))
      return false;
  }
  return true;
}

/* Of several statements, the one whose destination takes the elements out of LDS: the first that has neighbours along
 * another mode than the source. False where there is none: these are rows. */
static bool find_turned(const tj_kernel_definition *definition, const tj_array *source, uint32_t *turned) {
  const tj_array_program *program = definition->arrays;
  uint32_t loaded = contiguous_mode(definition->argument[source->of].view);
  *turned = program->store_count;
  for (uint32_t i = program->store_count; i-- > 0;) {
    const tj_value *view = definition->argument[program->store[i].argument].view;
    if (!is_whole_layout(program, view))
      return false;
    if (contiguous_mode(view) < program->rank && contiguous_mode(view) != loaded)
      *turned = i;
  }
  return loaded < program->rank && *turned < program->store_count;
}

/* The statements with one of them first, and arguments by their numbers among those that have views. */
static const tj_array_program *put_statement_first(tj_job *job, const tj_array_program *of, uint32_t first,
                                                   const uint32_t number[]) {
  tj_array_program *program = tj_arena_copy(&job->arena, of, sizeof *of);
  program->store = tj_arena_copy(&job->arena, of->store, of->store_count * sizeof *of->store);
  program->store[0] = of->store[first];
  for (uint32_t i = 0; i < first; i++)
    program->store[1 + i] = of->store[i];
  for (uint32_t i = 0; i < program->store_count; i++)
    program->store[i].argument = number[program->store[i].argument];
  return program;
}

/* The arguments that have views, and which number an argument has among them. */
static void set_arguments(tj_job *job, tj_kernel_definition *copy, const tj_kernel_definition *definition,
                          uint32_t number[]) {
  tj_kernel_argument *argument = TJ_NEW_ARRAY(job, tj_kernel_argument, definition->argument_count);
  copy->argument = argument;
  copy->argument_count = 0;
  for (uint32_t i = 0; i < definition->argument_count; i++) {
    number[i] = copy->argument_count;
    if (definition->argument[i].view != NULL)
      argument[copy->argument_count++] = definition->argument[i];
  }
}

/* Further sources, then further destinations. */
static void set_others(tj_job *job, tj_kernel_definition *copy, const source_list *sources) {
  const tj_array_program *program = copy->arrays;
  uint32_t *other = TJ_NEW_ARRAY(job, uint32_t, sources->count + program->store_count);
  copy->other = other;
  for (uint32_t i = 1; i < sources->count; i++)
    other[copy->other_count++] = sources->argument[i];
  copy->other_sources = copy->other_count;
  for (uint32_t i = 1; i < program->store_count; i++)
    other[copy->other_count++] = program->store[i].argument;
}

const tj_kernel_definition *tj_arrays_as_copy(tj_graph *graph, const tj_kernel_definition *definition) {
  const tj_array_program *program = definition->arrays;
  if (program->reduced != 0 || has_indices(program))
    return NULL;
  source_list list = sources_of(graph, definition);
  uint32_t first = 0;
  if (!are_sources_of_copy(definition, &list) ||
      (program->store_count > 1 && !find_turned(definition, program->array[list.argument[0]], &first)))
    return NULL;
  tj_kernel_definition *copy = TJ_NEW(graph->job, tj_kernel_definition);
  uint32_t *number = TJ_NEW_ARRAY(graph->job, uint32_t, definition->argument_count);
  *copy = *definition;
  copy->body = TJ_BODY_COPY;
  set_arguments(graph->job, copy, definition, number);
  copy->arrays = put_statement_first(graph->job, program, first, number);
  for (uint32_t i = 0; i < list.count; i++)
    list.argument[i] = number[program->array[list.argument[i]]->of];
  copy->source = list.argument[0];
  copy->destination = copy->arrays->store[0].argument;
  set_others(graph->job, copy, &list);
  return copy;
}

/* --- kernels --- */

tj_kernel *tj_plan_arrays(tj_graph *graph, const tj_kernel_definition *definition) {
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  tj_array_kernel *arrays = TJ_NEW(graph->job, tj_array_kernel);
  kernel->name = definition->name;
  arrays->program = definition->arrays;
  set_buffers(graph, kernel, definition, arrays);
  kernel->arrays = arrays;
  check_indices(graph, kernel, definition);
  graph->job->here = definition->body_span;
  kernel = tj_rows_as_written(graph, kernel);
  kernel->mapped = definition->mapping != NULL ? tj_mapped_make(graph, definition, NULL) : NULL;
  return kernel;
}

void tj_add_scalar_parameters(tj_kernel *kernel, const tj_node **parameter) {
  const tj_array_program *program = tj_kernel_program(kernel);
  for (uint32_t i = 0; program != NULL && i < program->count; i++) {
    if (program->array[i]->op == TJ_ARRAY_SCALAR)
      parameter[kernel->parameter_count++] = program->array[i]->integer;
  }
}
