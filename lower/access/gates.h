/* SPDX-License-Identifier: MIT */
/* Gates: branches around steps that have one mask (emit_step.c). What only stores behind a gate need of LDS is loaded
 * there, too. */
#ifndef TJ_LOWER_GATES_H
#define TJ_LOWER_GATES_H

#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* Gives loads from LDS the mask of the stores that alone need them, on GPUs, in a kernel and its faster ones, and has
 * such loads, and what is computed of them, follow what else happens before these stores. LLVM moves some of these
 * loads into the branch by itself; so it is all, and the steps say it. Call it when resources have their masks
 * (bounded.h): a store that has no branch has no gate. */
void tj_gather_gates(tj_graph *graph, tj_kernel *kernel, const tj_target *target);

#endif
