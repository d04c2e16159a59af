/* SPDX-License-Identifier: MIT */
/* Calling functions of the language: what one call carries, and its arguments as what the function needs. */
#ifndef TJ_FRONTEND_CALL_H
#define TJ_FRONTEND_CALL_H

#include "frontend/names/builtin.h"
#include "frontend/sema/sema.h"

typedef struct tj_call {
  tj_scope *scope;
  tj_graph *graph;
  tj_job *job;
  const tj_builtin *builtin;
  const tj_value *const *arg; /* positional */
  const tj_span *span;
  uint32_t count;
  const tj_binding *named;
  uint32_t named_count;
} tj_call;

/* Checks the number and names of arguments, then calls. */
const tj_value *tj_builtin_call(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application);

/* Arguments as what the function needs; on failure the argument's own place is blamed. */
const tj_node *tj_arg_node(tj_call *call, uint32_t index);
int64_t tj_arg_constant(tj_call *call, uint32_t index);
const tj_tuple *tj_arg_tuple(tj_call *call, uint32_t index);
tj_layout tj_arg_layout(tj_call *call, uint32_t index);
/* The layout of an argument, perhaps behind a swizzle or an offset; and what became of it, behind the same. */
tj_layout tj_arg_inner_layout(tj_call *call, uint32_t index);
const tj_value *tj_rewrapped(tj_call *call, uint32_t index, tj_layout result);
const tj_view *tj_arg_view(tj_call *call, uint32_t index);
const tj_transform *tj_arg_transform(tj_call *call, uint32_t index);
const tj_distribution *tj_arg_distribution(tj_call *call, uint32_t index);
const tj_value *tj_arg_list(tj_call *call, uint32_t index);
/* Three lists from argument `first` on, as transform(V, [T, …], [[lower], …], [[upper], …]) has them. */
const tj_view_step *tj_arg_steps(tj_call *call, uint32_t first, uint32_t *count);
/* A named argument and its place, NULL where it is not given; its value; and one that, if given, is to blame from
 * here on. */
const tj_binding *tj_arg_binding(const tj_call *call, const char *name);
const tj_value *tj_arg_named(const tj_call *call, const char *name);
const tj_value *tj_arg_blamed(tj_call *call, const char *name);
/* Results. */
const tj_value *tj_give_integer(tj_call *call, int64_t value);
const tj_value *tj_give_tuple(tj_call *call, const tj_tuple *value);
const tj_value *tj_give_layout(tj_call *call, tj_layout value);

_Noreturn void tj_fail_arg(tj_call *call, uint32_t index, const char *needed);

/* Positional arguments from `first` on, as the items of one tuple; a single tuple argument is that tuple. */
const tj_tuple *tj_args_as_coordinate(tj_call *call, uint32_t first);

/* What arguments `first` and on lead to, from the outside in: the mode of a tuple. And the part of argument 0 that
 * the others lead to: a mode of a tuple or a layout, an item of a list or a tiler. */
const tj_tuple *tj_args_mode_of_tuple(tj_call *call, const tj_tuple *of, uint32_t first);
const tj_value *tj_args_part(tj_call *call);

#endif
