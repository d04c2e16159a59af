/* SPDX-License-Identifier: MIT */
/* Values of CuTe's C++ text and prints: what frontend/names/cute.h has names of. */
#ifndef TJ_FRONTEND_SEMA_CUTE_H
#define TJ_FRONTEND_SEMA_CUTE_H

#include "frontend/names/builtin.h"
#include "frontend/sema/sema.h"

/* A call of a function of the language or of tj_cute_call, whose arguments may be CuTe's words. */
const tj_value *tj_evaluate_cute_or_builtin(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application);

/* Whether a name, or a call of one without arguments, is CuTe's for a whole mode. */
bool tj_is_cute_whole(const tj_scope *scope, const tj_ast *ast);

/* The value of a TJ_AST_TEMPLATE; and of an application of one that is a function. */
const tj_value *tj_evaluate_cute_type(tj_scope *scope, const tj_ast *ast);
const tj_value *tj_evaluate_cute_function(tj_scope *scope, const tj_ast *application);

/* The value with which a chain of operators begins where it is a print of CuTe: a swizzle of bytes and a pointer, a
 * pointer and a layout, ArithTuple(…) and a layout. *count is how many of the links it takes. NULL for other chains.
 */
const tj_value *tj_evaluate_cute_chain(tj_scope *scope, const tj_ast *const chain[], uint32_t length,
                                       uint32_t *count);

/* A type of elements, such as half_t, as the number of its bits; anything else as it is. */
const tj_ast *tj_cute_type_in_bits(const tj_scope *scope, const tj_ast *ast);

#endif
