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
 * A walk becomes four functions around a struct NAME_walk of what is carried from place to place:
 *
 *     NAME_init(walk, coordinates…, parameters…)      the start
 *     NAME_next(walk, parameters…)                    goes on by a step
 *     NAME_offset(walk, parameters…)                  of the place
 *     NAME_valid(walk, parameters…)                   1 or 0
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

/* What a function does with the state of a walk. */
typedef enum { TJ_STATE_NONE, TJ_STATE_BEGUN, TJ_STATE_ADVANCED, TJ_STATE_READ } tj_function_state;

/* What one function gives: an integer, or all integers of the state. */
typedef struct {
  const char *name;
  tj_function_state state;
  const tj_node **node;
  uint32_t count;
  bool is_predicate;
} tj_function_result;

typedef struct {
  const char *name;
  tj_expressions expressions;
  const tj_function_argument *argument;
  uint32_t coordinate_count, argument_count; /* coordinates stand first */
  const char *state_name;                    /* of a walk: of the struct; NULL: there is none */
  const tj_function_argument *state;         /* what it carries */
  uint32_t state_count;
  struct tj_kernel *walk; /* a loop whose steps are the offset and the validity of a place */
  tj_function_result *result;
  uint32_t result_count;
} tj_function;

/* Whether the function sets the state, and returns nothing. */
static inline bool tj_function_sets_state(const tj_function_result *result) {
  return result->state == TJ_STATE_BEGUN || result->state == TJ_STATE_ADVANCED;
}

/* Whether the function sees the state as it was. */
static inline bool tj_function_reads_state(const tj_function_result *result) {
  return result->state == TJ_STATE_ADVANCED || result->state == TJ_STATE_READ;
}

/* Which arguments it has: from this one on, all. */
static inline uint32_t tj_function_first_argument(const tj_function *function, const tj_function_result *result) {
  return tj_function_reads_state(result) ? function->coordinate_count : 0;
}

/* The functions of the program's value. TJ4012 where `name` cannot name a function in C, TJ2022 where the program has
 * no value, TJ2024 where it is neither a map nor a tuple. */
tj_function *tj_function_of(tj_graph *graph, const tj_program_values *values, const char *name);

/* TJ4012 where `name` cannot name a function in C. */
void tj_function_check_name(tj_job *job, const char *name);

/* The name with an underscore for each "::", which C does not have in names. */
const char *tj_function_plain_name(tj_job *job, const char *name);

/* A name for argument number `count`, as like `name` as can be. */
const char *tj_function_free_name(tj_job *job, const tj_function *function, uint32_t count, const char *name);

/* Simplifies its expressions. Fails with TJ4006 where one may not fit in 64 bits, with TJ7003 where there are too
 * many operations. */
void tj_function_simplify(tj_graph *graph, tj_function *function);

#endif
