/* SPDX-License-Identifier: MIT */
/* Suggestions for a map in memory: how wide its accesses may be, and what would have to be known for wider ones. */
#ifndef TJ_JIT_SUGGEST_ACCESS_H
#define TJ_JIT_SUGGEST_ACCESS_H

#include "jit/compile/program.h"
#include "jit/inspect/check.h"

/* Findings of the program's value: the widest vector, and for each wider one of at most 16 bytes which parameters
 * have to be multiples of what, the fewest that suffice; or why no multiples do. */
void tj_suggest_access_of(tj_program *program, const tj_check *check, tj_findings *findings);

#endif
