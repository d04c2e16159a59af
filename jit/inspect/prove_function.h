/* SPDX-License-Identifier: MIT */
/* Proving that functions in C are the index arithmetic of a value. */
#ifndef TJ_JIT_PROVE_FUNCTION_H
#define TJ_JIT_PROVE_FUNCTION_H

#include "frontend/c/c_file.h"
#include "ir/value/equivalence.h"

/* Whether the functions `name` of a file give what the program's value is; NULL: those of the value's kind that no
 * other function of the file calls. They are named as lower/plan/function.h names them, and what they return is
 * compared where the value is valid, NAME_valid everywhere, where the file has it. Where C leaves a result undefined,
 * it differs from all.
 *
 * Functions take the leaves of the coordinate, or, of layouts, a coordinate of each mode, or an index; then
 * parameters: all in order, or some by name. Functions of walks: prove_walk.h. */
tj_equivalence tj_prove_function(tj_graph *graph, const tj_program_values *values, const tj_c_file *file,
                                 const char *name);

#endif
