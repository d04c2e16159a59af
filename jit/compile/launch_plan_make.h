/* SPDX-License-Identifier: MIT */
/* Launch plans of kernels that have just been compiled. */
#ifndef TJ_JIT_LAUNCH_PLAN_MAKE_H
#define TJ_JIT_LAUNCH_PLAN_MAKE_H

#include "ir/value/value.h"
#include "launch/image/launch_plan.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* The plan of a kernel that tj_kernel_derive has been at, in the graph's job. */
const tj_launch_plan *tj_launch_plan_make(tj_graph *graph, const tj_program_values *program, const tj_kernel *kernel,
                                          const tj_target *target);

#endif
