/* SPDX-License-Identifier: MIT */
/* Kernels whose bodies are statements of arrays. */
#ifndef TJ_LOWER_PLAN_ARRAYS_H
#define TJ_LOWER_PLAN_ARRAYS_H

#include "ir/value/value.h"
#include "lower/kernel/kernel.h"
#include "lower/kernel/operand.h"

/* One statement whose elements are a function of those of another argument, of the same shape, is a copy; or of
 * several that are layouts of plain modes, of which one has all. Returns that, with the arguments that have views;
 * NULL: the statements are something else. */
const tj_kernel_definition *tj_arrays_as_copy(tj_graph *graph, const tj_kernel_definition *definition);

/* The kernel of a definition with statements, but for its parameters: TJ4026 where two coordinates of a destination
 * may be one element. */
tj_kernel *tj_plan_arrays(tj_graph *graph, const tj_kernel_definition *definition);

/* TJ4026 where two coordinates of the argument, which is written, may be one element. */
void tj_check_apart(tj_graph *graph, const tj_kernel_argument *argument, const tj_operand *operand);

/* Adds the numbers that the launch brings to a kernel's parameters, for which there is room. */
void tj_add_scalar_parameters(tj_kernel *kernel, const tj_node **parameter);

#endif
