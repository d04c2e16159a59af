/* SPDX-License-Identifier: MIT */
/* Functions: the index arithmetic of a value by itself, to be called from somebody else's kernel or program.
 *
 * A value becomes one function for each leaf of its codomain, and one that says where the value is valid:
 *
 *     NAME(coordinates…, parameters…)         of a value with one component
 *     NAME_0(…), NAME_1(…), …                 of a value with several
 *     NAME_valid(…)                           1 or 0: of views, transforms and adaptors
 *
 * All of them take the same arguments: the leaves of the coordinate in order, then the parameters that are not fixed,
 * in the order of their declaration, whether an expression needs them or not. So what a caller writes depends on the
 * value alone, and not on what simplification finds. Arguments must lie in their ranges. An integer is a signed
 * 32-bit integer where it is proved to fit, otherwise an unsigned one where it is proved to fit, otherwise a signed
 * 64-bit integer. Where the value is not valid, its components are any integers of their types.
 *
 * emit_c.c makes C of a function, emit_bitcode.c LLVM IR. */
#ifndef TJ_LOWER_FUNCTION_H
#define TJ_LOWER_FUNCTION_H

#include "base/text.h"
#include "ir/value/expressions.h"

/* Names are identifiers of C and C++, and differ from each other. */
typedef struct {
  const char *name;
  const tj_node *symbol;
} tj_function_argument;

typedef struct {
  const char *name;
  const tj_node *node;
  bool is_predicate;
} tj_function_result;

typedef struct {
  const char *name;
  tj_expressions expressions;
  const tj_function_argument *argument;
  uint32_t coordinate_count, argument_count; /* coordinates stand first */
  tj_function_result *result;
  uint32_t result_count;
} tj_function;

/* The functions of the program's value. TJ4012 where `name` cannot name a function in C, TJ2022 where the program has
 * no value, TJ2024 where it is neither a map nor a tuple. */
tj_function *tj_function_of(tj_graph *graph, const tj_program_values *values, const char *name);

/* Simplifies its expressions. Fails with TJ4006 where one may not fit in 64 bits, with TJ7003 where there are too
 * many operations. */
void tj_function_simplify(tj_graph *graph, tj_function *function);

#endif
