/* SPDX-License-Identifier: MIT */
/* The arithmetic of copies: in which type elements are scaled, and where on their way. */
#ifndef TJ_LOWER_SCALING_H
#define TJ_LOWER_SCALING_H

#include "ir/value/value.h"
#include "lower/kernel/kernel.h"

/* What the definition's scale and bias mean for a copy between the kernel's buffers, whose carried type is known.
 * TJ4004 where elements are raw bits, TJ4017 where the arithmetic's type does not hold scale or bias. */
tj_scaling tj_scaling_make(tj_graph *graph, const tj_kernel_definition *definition, const tj_kernel *kernel);

#endif
