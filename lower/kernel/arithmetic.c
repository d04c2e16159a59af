/* SPDX-License-Identifier: MIT */
/* The arithmetic of copies.
 *
 * A copy is the program of one statement, or of several of different destinations: what is stored is a function of
 * the source's elements. Scale and bias are one of them: integers stay integers where they are; what remains of the
 * result are its low bits, as in every conversion of integers. All other arithmetic is that of a float type, with one
 * rounding. Elements are computed on the side of the buffer whose type is the wider one, so that the narrower one is
 * what is carried; of several sources, or for destinations that do not get the same, where they are stored. */
#include "lower/kernel/arithmetic.h"

#include "ir/index/substitute.h"
#include "lower/kernel/array_kernel.h"

#include <math.h>
#include <string.h>

static bool is_float(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) == TJ_CLASS_FLOAT;
}

/* Floats of 32 bits, but for elements of 64 bits, and for integers that these do not hold on their way to integers.
 */
static tj_dtype float_arithmetic(tj_dtype from, tj_dtype to) {
  uint32_t widest = tj_dtype_bits(from) > tj_dtype_bits(to) ? tj_dtype_bits(from) : tj_dtype_bits(to);
  uint32_t most = is_float(from) || is_float(to) ? 32 : 16;
  return widest > most ? TJ_DTYPE_f64 : TJ_DTYPE_f32;
}

static tj_dtype arithmetic_of(const tj_kernel_definition *definition, tj_dtype from, tj_dtype to) {
  bool all_integers = !is_float(from) && !is_float(to) && definition->scale.is_integer && definition->bias.is_integer;
  return all_integers ? TJ_DTYPE_i64 : float_arithmetic(from, to);
}

static void check_range(tj_graph *graph, const char *name, double value) {
  float nearest = (float)value;
  if (!isfinite(nearest) || (nearest == 0 && value != 0))
    tj_fail(graph->job, TJ_SCALING_RANGE, "%s: f32, in which the elements are scaled, does not hold %g", name, value);
}

static const tj_array *number_of(tj_graph *graph, tj_array_program *program, const char *name,
                                 const tj_number *number, tj_dtype dtype) {
  if (dtype == TJ_DTYPE_i64)
    return tj_array_integer(graph, program, tj_int(graph, number->integer));
  if (dtype == TJ_DTYPE_f32)
    check_range(graph, name, number->real);
  return tj_array_number(graph, program, number->real);
}

static bool is_integer(const tj_number *number, int64_t value) {
  return number->is_integer && number->integer == value;
}

/* DESTINATION = scale * SOURCE + bias */
static const tj_array_program *program_of_scaling(tj_graph *graph, const tj_kernel_definition *definition,
                                                  tj_dtype from, tj_dtype to) {
  tj_array_program *program = TJ_NEW(graph->job, tj_array_program);
  tj_dtype arithmetic = arithmetic_of(definition, from, to);
  const char *name = definition->argument[definition->source].name;
  const tj_array *element = tj_array_buffer(graph, program, definition->source, name, from, NULL, 0);
  const tj_array *scale = number_of(graph, program, "scale", &definition->scale, arithmetic);
  const tj_array *bias = number_of(graph, program, "bias", &definition->bias, arithmetic);
  program->store = TJ_NEW(graph->job, tj_array_store);
  program->store[program->store_count++] =
      (tj_array_store){.argument = definition->destination,
                       .value = tj_array_scaled(graph, program, element, scale, bias, arithmetic),
                       .span = definition->body_span};
  return program;
}

const tj_array_program *tj_arithmetic_program(tj_graph *graph, const tj_kernel_definition *definition, tj_dtype from,
                                              tj_dtype to) {
  if (definition->arrays != NULL)
    return definition->arrays;
  if (is_integer(&definition->scale, 1) && is_integer(&definition->bias, 0))
    return NULL;
  graph->job->here = definition->body_span;
  if (tj_dtype_class_of(from) == TJ_CLASS_BITS || tj_dtype_class_of(to) == TJ_CLASS_BITS)
    tj_fail(graph->job, TJ_NO_CONVERSION, "raw bits cannot be scaled: from %s to %s", tj_dtype_name(from),
            tj_dtype_name(to));
  return program_of_scaling(graph, definition, from, to);
}

/* The array that stands for an argument's elements. */
static const tj_array *element_of(const tj_array_program *program, const char *name) {
  uint32_t i = 0;
  while (program->array[i]->op != TJ_ARRAY_BUFFER || strcmp(program->array[i]->name, name) != 0)
    i++;
  return program->array[i];
}

static void set_sources(tj_job *job, tj_arithmetic *arithmetic, const tj_kernel_definition *definition) {
  uint32_t count = 1 + definition->other_sources;
  uint32_t *buffer = TJ_NEW_ARRAY(job, uint32_t, 1 + (size_t)definition->other_count);
  const tj_array **element = TJ_NEW_ARRAY(job, const tj_array *, count);
  for (uint32_t i = 0; i < 1 + definition->other_count; i++)
    buffer[i] = i == 0 ? definition->source : definition->other[i - 1];
  for (uint32_t i = 0; i < count; i++)
    element[i] = element_of(arithmetic->program, definition->argument[buffer[i]].name);
  arithmetic->element = element;
  arithmetic->buffer = buffer;
  arithmetic->count = count;
}

static bool is_element(const tj_arithmetic *arithmetic, const tj_array *array) {
  bool is_element = false;
  for (uint32_t i = 0; i < arithmetic->count; i++)
    is_element = is_element || arithmetic->element[i] == array;
  return is_element;
}

static uint32_t argument_named(const tj_kernel_definition *definition, const char *name) {
  uint32_t i = 0;
  while (strcmp(definition->argument[i].name, name) != 0)
    i++;
  return i;
}

/* What statements are functions of besides the sources: arguments of one element. */
static void set_singles(tj_graph *graph, tj_arithmetic *arithmetic, const tj_kernel_definition *definition) {
  const tj_array_program *program = arithmetic->program;
  const tj_array **single = TJ_NEW_ARRAY(graph->job, const tj_array *, program->count);
  uint32_t *buffer = TJ_NEW_ARRAY(graph->job, uint32_t, program->count);
  const bool *is_part = tj_array_stored_parts(graph, program);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    if (!is_part[i] || array->op != TJ_ARRAY_BUFFER || is_element(arithmetic, array))
      continue;
    buffer[arithmetic->single_count] = argument_named(definition, array->name);
    single[arithmetic->single_count++] = array;
  }
  arithmetic->single = single;
  arithmetic->single_buffer = buffer;
}

/* What a statement says, but for its rounding to the type in which it is stored. */
static const tj_array *unrounded(const tj_array_store *store, tj_dtype stored) {
  const tj_array *value = store->value;
  while (value->op == TJ_ARRAY_CAST && value->dtype == stored)
    value = value->arg[0];
  return value;
}

/* Whether all destinations get the same elements. */
static bool gives_the_same(const tj_array_program *program, const tj_kernel *kernel) {
  bool is_same = true;
  for (uint32_t i = 1; i < program->store_count; i++) {
    tj_dtype first = kernel->buffer[program->store[0].argument].dtype,
             next = kernel->buffer[program->store[i].argument].dtype;
    is_same = is_same && next == first && unrounded(&program->store[i], next) == unrounded(&program->store[0], first);
  }
  return is_same;
}

tj_dtype tj_arithmetic_carried(const tj_kernel_definition *definition, const tj_kernel *kernel) {
  tj_dtype from = kernel->buffer[definition->source].dtype, to = kernel->buffer[definition->destination].dtype;
  bool is_one =
      definition->other_sources == 0 && (definition->arrays == NULL || gives_the_same(definition->arrays, kernel));
  return is_one ? tj_dtype_narrower(from, to) : from;
}

static tj_computed when_computed(const tj_arithmetic *arithmetic, const tj_kernel *kernel, tj_dtype to) {
  const tj_array_program *program = arithmetic->program;
  if (arithmetic->count > 1 || !gives_the_same(program, kernel))
    return TJ_COMPUTED_STORING;
  if (program->store[0].value == arithmetic->element[0])
    return TJ_COMPUTED_NEVER;
  return kernel->carried == to ? TJ_COMPUTED_LOADING : TJ_COMPUTED_STORING;
}

tj_arithmetic tj_arithmetic_make(tj_graph *graph, const tj_kernel_definition *definition, const tj_kernel *kernel) {
  tj_dtype from = kernel->buffer[definition->source].dtype, to = kernel->buffer[definition->destination].dtype;
  tj_arithmetic arithmetic = {.program = tj_arithmetic_program(graph, definition, from, to)};
  if (arithmetic.program == NULL)
    return arithmetic;
  set_sources(graph->job, &arithmetic, definition);
  set_singles(graph, &arithmetic, definition);
  arithmetic.when = when_computed(&arithmetic, kernel, to);
  return arithmetic;
}

const tj_array *tj_arithmetic_value(const tj_kernel *kernel, uint32_t buffer) {
  const tj_array_program *program = kernel->arithmetic.program;
  if (kernel->arithmetic.when == TJ_COMPUTED_NEVER)
    return NULL;
  for (uint32_t i = 0; i < program->store_count; i++) {
    if (program->store[i].argument == buffer)
      return program->store[i].value;
  }
  return NULL;
}

/* --- slots --- */

void tj_set_source_slots(tj_graph *graph, tj_kernel *kernel, uint32_t slots) {
  uint32_t sources = kernel->arithmetic.count;
  kernel->slot_count = slots;
  if (sources < 2)
    return;
  kernel->slot_count = slots * sources;
  kernel->arithmetic.slots = slots;
  tj_dtype *dtype = TJ_NEW_ARRAY(graph->job, tj_dtype, kernel->slot_count);
  for (uint32_t i = 0; i < kernel->slot_count; i++)
    dtype[i] = i < slots ? kernel->carried : kernel->buffer[kernel->arithmetic.buffer[i / slots]].dtype;
  kernel->slot_dtype = dtype;
}

/* --- numbers of the launch --- */

const tj_array_program *tj_kernel_program(const tj_kernel *kernel) {
  return kernel->arrays != NULL ? kernel->arrays->program : kernel->arithmetic.program;
}

bool tj_kernel_only_moves(const tj_kernel *kernel) {
  bool moves = tj_kernel_program(kernel) == NULL;
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    moves = moves && kernel->buffer[i].dtype == kernel->carried;
  return moves;
}

const tj_node *tj_arithmetic_integer(tj_graph *graph, const tj_kernel *kernel, const tj_array *array) {
  const tj_node *node = array->integer, *const *spoken_of = kernel->arithmetic.parameter;
  if (spoken_of == NULL || spoken_of == kernel->parameter)
    return node;
  const tj_node **from = tj_arena_copy(&graph->job->arena, spoken_of, kernel->parameter_count * sizeof *from);
  const tj_node **to = tj_arena_copy(&graph->job->arena, kernel->parameter, kernel->parameter_count * sizeof *to);
  tj_substitute(graph, &(tj_substitution){from, to, kernel->parameter_count}, &node, 1);
  return node;
}

uint32_t tj_arithmetic_integers(tj_graph *graph, const tj_kernel *kernel, const tj_node *integer[]) {
  const tj_array_program *program = kernel->arithmetic.program;
  uint32_t count = 0;
  for (uint32_t i = 0; program != NULL && i < program->count; i++) {
    if (program->array[i]->op == TJ_ARRAY_INTEGER)
      integer[count++] = tj_arithmetic_integer(graph, kernel, program->array[i]);
  }
  return count;
}
