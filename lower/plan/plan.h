/* SPDX-License-Identifier: MIT */
/* Planning: from a kernel's definition, in layouts and views, to what each work-item does, in index expressions. */
#ifndef TJ_LOWER_PLAN_H
#define TJ_LOWER_PLAN_H

#include "ir/value/value.h"
#include "lower/kernel/kernel.h"

enum { TJ_WORKGROUP_SIZE = 256 };

/* The kernel of a definition, unsimplified. TJ4001 to TJ4011 where the definition makes no sense. */
tj_kernel *tj_plan_kernel(tj_graph *graph, const tj_program_values *program, const tj_kernel_definition *definition);

/* offsets(dst, map) for a map alone, with the narrowest of i32 and i64 that holds every offset. */
tj_kernel *tj_plan_offsets(tj_graph *graph, const tj_program_values *program, const tj_value *map);

#endif
