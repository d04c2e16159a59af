/* SPDX-License-Identifier: MIT */
/* Index expressions as C: what emit_c.c puts into functions.
 *
 * An expression becomes statements `const T tN = …;`, one for each value that is used more than once, or that would
 * make a line too long, and a last expression. Each operation is computed in the narrowest type in which facts show
 * that neither its arguments nor its value overflow (width.h). */
#ifndef TJ_LOWER_C_EXPRESSION_H
#define TJ_LOWER_C_EXPRESSION_H

#include "lower/machine/width.h"
#include "lower/plan/function.h"

typedef enum { TJ_C_INT32, TJ_C_UINT32, TJ_C_INT64, TJ_C_TYPE_COUNT } tj_c_type;

/* int32_t, uint32_t, int64_t */
const char *tj_c_type_name(tj_c_type type);

/* The type of integers of a width. */
tj_c_type tj_c_type_of_width(tj_width width);
/* The type that a node's values have in C. */
tj_c_type tj_c_type_of(const tj_node *node);

/* An integer constant of a type. */
const char *tj_c_literal(tj_job *job, int64_t value, tj_c_type type);

/* Functions of C that round as divisions of index expressions do, for each type. */
typedef enum {
#define ROUTINE(name, text, meaning, body) TJ_C_##name,
#include "base/number/c_routine.def"
#undef ROUTINE
  TJ_C_ROUTINE_COUNT
} tj_c_routine;

/* tilejit_floor_divide_int32 */
const char *tj_c_routine_name(tj_job *job, tj_c_routine routine, tj_c_type type);

typedef struct {
  const char *statements; /* each on a line of its own, indented */
  const char *result;
  bool calls_routines;
  bool is_used[TJ_C_ROUTINE_COUNT][TJ_C_TYPE_COUNT]; /* which */
} tj_c_expression;

/* The value of `root` in the type that tj_c_type_of says. Symbols are the function's arguments, and what the state
 * `walk` of a walk carries. */
tj_c_expression tj_c_expression_of(tj_graph *graph, const tj_function *function, const tj_node *root);

/* The values of several, each of which that is no constant is a variable: result[i] is its name. */
tj_c_expression tj_c_expressions_of(tj_graph *graph, const tj_function *function, const tj_node *const roots[],
                                    uint32_t count, const char *result[]);

#endif
