/* SPDX-License-Identifier: MIT */
/* CuTe's C++ text and prints, where they are not this language's own: types with template arguments, functions that
 * make tuples and tilers, printed pointers. cute.def lists them. */
#ifndef TJ_FRONTEND_CUTE_H
#define TJ_FRONTEND_CUTE_H

#include "frontend/builtin.h"

/* The template that stands for a printed pointer, smem_ptr[16b](unset): its argument is the element's bits. */
#define TJ_CUTE_FLAG "smem_ptr_flag_bits"

/* Whether CuTe gives the name template arguments; and whether it then is a function, as in get<0>(L), not a type. */
bool tj_cute_has_template(const char *name);
bool tj_cute_is_function(const char *name);

/* How many of the template's arguments, the first ones, are types, which say nothing here. */
uint32_t tj_cute_type_count(const char *name);

/* Whether the name has a meaning in CuTe's text where nothing else is called so: X, LayoutRight. */
bool tj_cute_is_word(const char *name);

/* make_shape, make_tile and their like, as functions; NULL for other names. */
const tj_builtin *tj_cute_call(const char *name);

/* A call of a function of the language or of tj_cute_call, whose arguments may be CuTe's words. */
const tj_value *tj_cute_or_builtin(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application);

/* The value of a TJ_AST_TEMPLATE; and of an application of one that is a function. */
const tj_value *tj_cute_type(tj_scope *scope, const tj_ast *ast);
const tj_value *tj_cute_function(tj_scope *scope, const tj_ast *application);

/* The value with which a chain of operators begins where it is a print of CuTe: a swizzle of bytes and a pointer, a
 * pointer and a layout, ArithTuple(…) and a layout. *count is how many of the links it takes. NULL for other chains.
 */
const tj_value *tj_cute_chain(tj_scope *scope, const tj_ast *const chain[], uint32_t length, uint32_t *count);

#endif
