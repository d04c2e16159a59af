/* SPDX-License-Identifier: MIT */
/* Kernels of arrays for targets: a shape that serves all sizes, and faster ones under conditions of the launch. */
#ifndef TJ_LOWER_ARRAY_MAP_H
#define TJ_LOWER_ARRAY_MAP_H

#include "lower/kernel/array_kernel.h"
#include "lower/machine/target.h"

/* The kernel for a target, simplified, with its faster ones. */
tj_kernel *tj_map_arrays(tj_graph *graph, const tj_kernel *written, const tj_target *target);

#endif
