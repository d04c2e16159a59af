/* SPDX-License-Identifier: MIT */
/* Kernels whose bodies are statements of arrays. */
#ifndef TJ_LOWER_PLAN_ARRAYS_H
#define TJ_LOWER_PLAN_ARRAYS_H

#include "ir/value/value.h"
#include "lower/kernel/kernel.h"

/* The kernel of a definition with statements, but for its parameters: TJ4026 where two coordinates of a destination
 * may be one element. */
tj_kernel *tj_plan_arrays(tj_graph *graph, const tj_kernel_definition *definition);

/* Adds the numbers that the launch brings to a kernel's parameters, for which there is room. */
void tj_add_scalar_parameters(tj_kernel *kernel, const tj_node **parameter);

#endif
