/* SPDX-License-Identifier: MIT */
/* Functions as C: the formula, for those who compile it themselves. */
#ifndef TJ_LOWER_EMIT_C_H
#define TJ_LOWER_EMIT_C_H

#include "lower/plan/function.h"

/* Definitions in C99, which are C++ and HIP as well: `static inline` functions, in HIP and CUDA for host and device,
 * with the range of each argument and result. Divisions round to minus infinity; nothing overflows. Several such
 * texts may stand in one file. The function is simplified. */
void tj_emit_c(tj_text *text, tj_graph *graph, const tj_function *function);

/* Declarations in C or C++, to call what LLVM IR or an object file defines. */
void tj_emit_c_header(tj_text *text, const tj_function *function);

#endif
