/* SPDX-License-Identifier: MIT */
/* Whether a kernel that has been read is one that can be lowered. */
#ifndef TJ_JIT_KERNEL_CHECK_H
#define TJ_JIT_KERNEL_CHECK_H

#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

enum { TJ_KERNEL_MOST_SLOTS = 1 << 16 };

/* TJ5003: bytes are no kernel. */
_Noreturn void tj_kernel_refuse(tj_job *job);

/* Refuses a kernel without what lowering takes for granted: that symbols are symbols, slots have been given elements
 * before they are used, buffers and arrays exist, the target has the instructions. What it computes may be anything.
 */
void tj_kernel_check(tj_graph *graph, const tj_target *target, const tj_kernel *kernel);

#endif
