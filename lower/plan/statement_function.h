/* SPDX-License-Identifier: MIT */
/* Functions of a kernel's statements: the arithmetic of an element by itself, for somebody else's kernel.
 *
 *     NAME(elements…, reductions…, coordinates…, parameters…)   what is stored, of a kernel with one destination
 *     NAME_D(…)                                                 with several: in destination D
 *     NAME_sum0(…), NAME_max1(…), …                             what a reduction takes of each element
 *
 * Each has the arguments that it is made of, in this order: elements of the kernel's arguments, and numbers of the
 * launch, in order of declaration; elements that are gathered; results of reductions, which whoever calls has
 * reduced; coordinates, where statements have index(k); parameters. An element that does not belong to every
 * coordinate is the one that does to this; who has it where is the caller's business, as is the order in which
 * elements are reduced. */
#ifndef TJ_LOWER_STATEMENT_FUNCTION_H
#define TJ_LOWER_STATEMENT_FUNCTION_H

#include "ir/array/array.h"
#include "ir/value/value.h"
#include "lower/plan/function.h"

/* What a function gives: an array converted to a type. */
typedef struct {
  const char *name;
  const tj_array *value;
  tj_dtype dtype;
  const char *destination;   /* NULL: what a reduction takes */
  const tj_array *reduction; /* NULL: what is stored */
  const bool *takes;         /* which arguments */
} tj_statement_result;

typedef struct {
  const char *kernel;
  const tj_array_program *program;
  tj_function function;     /* its name and all arguments; of those that are no integers without symbols */
  const tj_array **element; /* what an argument is, by its number; NULL: an integer */
  tj_statement_result *result;
  uint32_t result_count;
} tj_statement_functions;

/* TJ4012 where `name` cannot name a function in C beside <math.h> and <string.h>, TJ4028 where the kernel has no
 * statements. */
tj_statement_functions *tj_statement_functions_of(tj_graph *graph, const tj_program_values *values,
                                                  const tj_kernel_definition *kernel, const char *name);

/* Whether an array is an argument of functions: what is read, or was reduced. */
bool tj_is_statement_input(const tj_array *array);

#endif
