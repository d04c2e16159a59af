/* SPDX-License-Identifier: MIT */
/* From statements of arrays to a kernel: buffers, and steps for one work-item a row, which say what is meant.
 * lower/array/array_map.c shares rows out for a target. */
#include "lower/plan/plan_arrays.h"

#include "lower/array/array_rows.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/array_kernel.h"
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
  if (!argument->is_written || tj_race_is_apart(graph, operand))
    return;
  tj_note(graph->job, "a destination has each of its elements once");
  tj_fail(graph->job, TJ_ARRAY_STATEMENT, "two coordinates of '%s' may be one element", argument->name);
}

static void set_buffers(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                        tj_array_kernel *arrays) {
  uint32_t count = definition->argument_count;
  tj_operand *operand = TJ_NEW_ARRAY(graph->job, tj_operand, count + 1);
  tj_kernel_buffer *buffer = TJ_NEW_ARRAY(graph->job, tj_kernel_buffer, count + 1);
  uint32_t *number = TJ_NEW_ARRAY(graph->job, uint32_t, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tj_kernel_argument *argument = &definition->argument[i];
    if (argument->view == NULL)
      continue;
    graph->job->here = argument->span;
    operand[i] = tj_operand_make(graph, argument->view);
    tj_operand_check_inside(graph, &operand[i]);
    tj_check_apart(graph, argument, &operand[i]);
    number[i] = kernel->buffer_count;
    buffer[kernel->buffer_count++] = buffer_of(graph, argument, &operand[i]);
  }
  arrays->operand = operand;
  arrays->buffer = number;
  kernel->buffer = buffer;
}

/* --- copies --- */

/* The only argument that a statement's elements are a function of, which has all modes; TJ_NO_ARGUMENT: there are
 * others, or none. */
static uint32_t only_source(tj_graph *graph, const tj_array_program *program, const tj_array *value) {
  const bool *is_part = tj_array_parts(graph, program, value);
  uint32_t source = TJ_NO_ARGUMENT;
  for (uint32_t i = 0; i <= value->number; i++) {
    const tj_array *array = program->array[i];
    if (!is_part[i] || (array->op != TJ_ARRAY_BUFFER && array->op != TJ_ARRAY_INDEX))
      continue;
    if (array->op == TJ_ARRAY_INDEX || source != TJ_NO_ARGUMENT ||
        !tj_array_fits(graph, array, program->extent, program->rank))
      return TJ_NO_ARGUMENT;
    source = array->of;
    for (uint32_t m = 0; m < program->rank; m++) {
      if (tj_is_int(array->extent[m], 1) && !tj_is_int(program->extent[m], 1))
        return TJ_NO_ARGUMENT;
    }
  }
  return source;
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

const tj_kernel_definition *tj_arrays_as_copy(tj_graph *graph, const tj_kernel_definition *definition) {
  const tj_array_program *program = definition->arrays;
  const tj_array_store *store = &program->store[0];
  bool is_one = program->store_count == 1 && program->reduced == 0;
  uint32_t source = is_one ? only_source(graph, program, store->value) : TJ_NO_ARGUMENT;
  if (source == TJ_NO_ARGUMENT || source == store->argument)
    return NULL;
  tj_kernel_definition *copy = TJ_NEW(graph->job, tj_kernel_definition);
  uint32_t *number = TJ_NEW_ARRAY(graph->job, uint32_t, definition->argument_count);
  *copy = *definition;
  copy->body = TJ_BODY_COPY;
  set_arguments(graph->job, copy, definition, number);
  copy->source = number[source];
  copy->destination = number[store->argument];
  return copy;
}

/* --- kernels --- */

tj_kernel *tj_plan_arrays(tj_graph *graph, const tj_kernel_definition *definition) {
  if (definition->mapping != NULL)
    tj_fail_at(graph->job, definition->load_span, TJ_MAPPING,
               "mappings share out one statement, whose elements are a function of one argument's of the same shape");
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  tj_array_kernel *arrays = TJ_NEW(graph->job, tj_array_kernel);
  kernel->name = definition->name;
  arrays->program = definition->arrays;
  set_buffers(graph, kernel, definition, arrays);
  kernel->arrays = arrays;
  graph->job->here = definition->body_span;
  return tj_rows_as_written(graph, kernel);
}

void tj_add_scalar_parameters(tj_kernel *kernel, const tj_node **parameter) {
  const tj_array_program *program = tj_kernel_program(kernel);
  for (uint32_t i = 0; program != NULL && i < program->count; i++) {
    if (program->array[i]->op == TJ_ARRAY_SCALAR)
      parameter[kernel->parameter_count++] = program->array[i]->integer;
  }
}
