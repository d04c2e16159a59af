/* SPDX-License-Identifier: MIT */
/* What programs mean: AST to values.
 *
 * sema.c evaluates items, sema_kernel.c and sema_walk.c those that are kernels, sema_statement.c and sema_array.c
 * statements of arrays, sema_expression.c expressions, sema_number.c numbers that may be fractions, sema_compose.c
 * what `o` means, builtin_*.c the functions that builtin.def lists. Everything fails with tj_fail at the AST node
 * that is to blame. */
#ifndef TJ_FRONTEND_SEMA_H
#define TJ_FRONTEND_SEMA_H

#include "frontend/sema/earlier.h"
#include "ir/value/value.h"

/* Evaluates a program. Fixed parameters become constants, checked against their declared facts (TJ2025); a name
 * that is no parameter of the program is TJ2026. */
const tj_program_values *tj_evaluate(tj_graph *graph, const tj_program_ast *program, const tj_parameter_value fixed[],
                                     size_t fixed_count);

/* The same after earlier programs, which may be NULL: what they define is seen, and may be defined anew. A fixed
 * value may be that of a parameter of theirs. */
const tj_program_values *tj_evaluate_after(tj_earlier *earlier, tj_graph *graph, const tj_program_ast *program,
                                           const tj_parameter_value fixed[], size_t fixed_count);

/* --- between sema*.c and builtin*.c --- */

struct tj_misspelling; /* names/spelling.h */

/* What a name stands for: a value, or a function of the program (sema_function.c). */
typedef struct {
  const char *name;
  const tj_value *value; /* NULL: a function */
  tj_span span;
  const struct tj_function *function;
  uint32_t text;  /* which one defines it, as tj_earlier counts them */
  uint32_t hides; /* 1 + the index of the binding of the same name that it hides; 0: none */
} tj_binding;

/* The names in scope, in order of definition. */
typedef struct tj_scope {
  tj_graph *graph;
  tj_job *job;
  uint32_t text;                /* of what is defined */
  uint64_t sees;                /* a bit for each text whose bindings are found */
  const struct tj_scope *outer; /* where names are found that are not here; NULL: nowhere */
  uint32_t mappings;            /* calls of mapping(…) whose arguments are being evaluated */
  uint32_t height;              /* levels of nesting of the bodies that are being evaluated */
  tj_binding *binding;
  uint32_t count, capacity;
  uint32_t first_own; /* bindings before it are of earlier programs: they may be hidden */
  uint32_t *slot;     /* open addressing by name: 1 + index into binding, 0 free */
  uint32_t slot_count;
} tj_scope;

tj_scope tj_scope_open(tj_graph *graph, uint32_t capacity);
/* Adds a name, and hides an earlier binding of it. */
void tj_scope_define(tj_scope *scope, tj_binding binding);
const tj_binding *tj_scope_find(const tj_scope *scope, const char *name);
/* Tries all names that are found (names/spelling.h). */
void tj_scope_try_names(const tj_scope *scope, struct tj_misspelling *of);

/* The function that an item defines: it keeps what its body mentions, so later definitions do not change it. TJ2001
 * for names that are not defined here. (sema_function.c) */
const struct tj_function *tj_function_define(tj_scope *scope, const tj_item *item);
/* What it is made of. (sema_function.c) */
const struct tj_item *tj_function_item(const struct tj_function *function);
const tj_scope *tj_function_scope(const struct tj_function *function);
/* What a parameter is where a call gives none; NULL: each call gives one. */
const tj_value *tj_function_otherwise(const struct tj_function *function, uint32_t parameter);
/* By parameter, what a call gives, in order or by name; NULL: nothing. TJ2006, TJ2008. */
void tj_function_arguments(tj_job *job, const struct tj_function *function, const tj_ast *application,
                           const tj_ast *given[]);
/* From the call to the body, whose text failures speak of; the caller has the result be the job's innermost call. And
 * back. */
tj_open_call tj_function_open(tj_job *job, const struct tj_function *function, const tj_ast *application);
void tj_function_close(tj_job *job, const tj_open_call *call);
/* Its body with the arguments in place. TJ2006 and TJ2008 for arguments that do not fit, TJ7002 where calls and
 * brackets nest too deeply. Failures in the body name the call, too. */
const tj_value *tj_function_call(tj_scope *scope, const struct tj_function *function, const tj_ast *application);

/* filter_tuple(X, …, f): the tuples f(x, …) for the modes of X, …, one behind the other. (sema_function.c) */
const tj_value *tj_evaluate_filter(tj_scope *scope, const tj_ast *application);

const tj_value *tj_evaluate_expression(tj_scope *scope, const tj_ast *ast);

/* A number of a copy's arithmetic, called `what`: decimal numbers, and divisions that are not rounded down. */
tj_number tj_evaluate_number(tj_scope *scope, const tj_ast *ast, const char *what);

/* The constant 0 or 1, called `what`: TJ2005 for others. */
bool tj_evaluate_truth(tj_scope *scope, const tj_ast *ast, const char *what);

/* A kernel item: TJ4001, TJ4005, TJ4014 for what makes no kernel. */
tj_kernel_definition tj_evaluate_kernel(tj_scope *scope, const tj_item *item);

/* Where the indices of a dimension are looked up. */
typedef struct {
  uint32_t argument, dimension;
} tj_indexed;

/* The argument, or [argument, dimension], that `name` is given: TJ4001, TJ4003, TJ4005 for what names none.
 * (sema_kernel.c) */
tj_indexed tj_evaluate_indices(tj_scope *scope, const tj_kernel_definition *kernel, const char *name,
                               const tj_ast *ast);

/* Whether the name is that of a function of arrays, which functions of the program may have in their bodies.
 * (sema_array.c) */
bool tj_is_array_function(const char *name);

/* The statements of a kernel, whose arguments have been evaluated: TJ4025 to TJ4027 for those that cannot be
 * followed. Marks the arguments that are read and written. (sema_statement.c) */
const struct tj_array_program *tj_evaluate_statements(tj_scope *scope, const tj_kernel_definition *kernel,
                                                      const tj_item *item, tj_kernel_argument argument[]);

/* What describes a walk, and where it stands; `count` and `starts` may be NULL. */
typedef struct {
  const tj_value *map, *step, *count, *starts;
  tj_span map_span, step_span, count_span, starts_span;
} tj_walk_parts;

/* TJ2005, TJ2006, TJ2013, TJ3009 for what describes none. Where no count is given, walks go on until all of them have
 * left the view; steps have to be constants for that. (sema_walk.c) */
const tj_path *tj_walk_of(tj_scope *scope, const tj_walk_parts *parts);
/* The walk of offsets(destination, map, step=…, count=…, starts=…), or the one that the map is; NULL where there is
 * none. may_race=… is none of the walk's. (sema_walk.c) */
const tj_path *tj_evaluate_walk(tj_scope *scope, const tj_value *map, const tj_ast *body, bool *may_race);

/* What an application means when a value, not a builtin, is applied: layouts, swizzles, views. */
const tj_value *tj_apply_value(tj_graph *graph, const tj_value *function, const tj_value *const args[],
                               uint32_t count);

/* A layout, integers, or <A, B> as a tiler; NULL for anything else. */
const struct tj_tiler *tj_tiler_of_value(tj_graph *graph, const tj_value *value);

/* A value as a linear map over F2; TJ2032 where it is none. */
const tj_f2 *tj_need_linear(tj_graph *graph, const tj_value *value);

/* The layout or composed layout that has the values of a linear map; where there is none, the linear map. */
const tj_value *tj_value_of_linear_or_layout(tj_graph *graph, const tj_f2 *map);

/* a o b */
const tj_value *tj_compose_values(tj_graph *graph, const tj_value *a, const tj_value *b);

/* One index for each of the `rank` dimensions of `what`: TJ2013 where the coordinate has another rank. */
const tj_node *const *tj_need_indices(tj_graph *graph, const tj_tuple *coordinate, uint32_t rank, const char *what);

/* One index for each dimension of a view: TJ2013 where the coordinate has another rank. */
const tj_node *const *tj_view_coordinate(tj_graph *graph, const tj_view *view, const tj_tuple *coordinate);

/* Values as what a place needs; TJ2005 otherwise, calling the place `what`. A rank-1 tuple is its element where an
 * integer is needed. */
const tj_node *tj_need_node(tj_graph *graph, const tj_value *value, const char *what);
int64_t tj_need_constant(tj_graph *graph, const tj_value *value, const char *what);
const tj_tuple *tj_need_tuple(tj_graph *graph, const tj_value *value, const char *what);
tj_layout tj_need_layout(tj_graph *graph, const tj_value *value, const char *what);
_Noreturn void tj_fail_type(tj_job *job, const tj_value *value, const char *what, const char *needed);

#endif
