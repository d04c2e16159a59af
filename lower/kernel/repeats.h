/* SPDX-License-Identifier: MIT */
/* Steps that do what others have done. */
#ifndef TJ_LOWER_REPEATS_H
#define TJ_LOWER_REPEATS_H

#include "lower/kernel/kernel.h"

/* Leaves out stores to memory that an earlier step of the work-item has made, where a tile holds elements twice, and
 * loads into slots that nobody stores; vectors from LDS are as wide as what is stored of them. Call it after
 * simplification, which makes equal expressions the same nodes. */
void tj_leave_out_repeats(tj_graph *graph, tj_kernel *kernel);

/* Whether two steps move the same elements of a buffer or of LDS, where they are valid. */
bool tj_is_same_access(const tj_kernel_step *a, const tj_kernel_step *b);

#endif
