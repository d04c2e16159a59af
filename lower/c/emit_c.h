/* SPDX-License-Identifier: MIT */
/* Functions as C: the formula, for those who compile it themselves. */
#ifndef TJ_LOWER_EMIT_C_H
#define TJ_LOWER_EMIT_C_H

#include "lower/c/c_expression.h"
#include "lower/plan/statement_function.h"

/* Definitions in C99, which are C++ and HIP as well: `static inline` functions, in HIP and CUDA for host and device,
 * with the range of each argument and result. Divisions round to minus infinity; nothing overflows. Several such
 * texts may stand in one file. The function is simplified. */
void tj_emit_c(tj_text *text, tj_graph *graph, const tj_function *function);

/* The same of a kernel's statements: with <math.h>, and what C lacks beside them. Every function rounds as the kernel
 * does, where the compiler follows IEEE 754. (emit_statement_c.c) */
void tj_emit_statements_c(tj_text *text, tj_graph *graph, const tj_statement_functions *functions);

/* Declarations in C or C++, to call what LLVM IR or an object file defines. */
void tj_emit_c_header(tj_text *text, const tj_function *function);

/* --- what both have in common --- */

/* Headers, unless they are included at run time, and macros. */
void tj_c_write_frame(tj_text *text, const char *includes);
/* The functions of integers that expressions call. */
void tj_c_write_routines(tj_text *text, const tj_c_expression *const expression[], uint32_t count);
/* A line of a comment; and what the compiler may take for granted whatever other arguments are. */
void tj_c_write_argument_range(tj_text *text, const tj_function_argument *argument);
void tj_c_write_bounds(tj_text *text, const tj_function_argument *argument);

#endif
