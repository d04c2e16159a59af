/* SPDX-License-Identifier: MIT */
/* From statements of arrays to a kernel: buffers, and steps for one work-item a row, which say what is meant.
 * lower/array/array_map.c shares rows out for a target. */
#include "lower/plan/plan_arrays.h"

#include "lower/array/array_rows.h"
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
static void check_apart(tj_graph *graph, const tj_kernel_argument *argument, const tj_operand *operand) {
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
    check_apart(graph, argument, &operand[i]);
    number[i] = kernel->buffer_count;
    buffer[kernel->buffer_count++] = buffer_of(graph, argument, &operand[i]);
  }
  arrays->operand = operand;
  arrays->buffer = number;
  kernel->buffer = buffer;
}

/* --- kernels --- */

tj_kernel *tj_plan_arrays(tj_graph *graph, const tj_kernel_definition *definition) {
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
  const tj_array_program *program = kernel->arrays->program;
  for (uint32_t i = 0; i < program->count; i++) {
    if (program->array[i]->op == TJ_ARRAY_SCALAR)
      parameter[kernel->parameter_count++] = program->array[i]->integer;
  }
}
