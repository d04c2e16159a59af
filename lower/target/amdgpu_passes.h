/* SPDX-License-Identifier: MIT */
/* Which of LLVM's passes to machine code AMD's kernels do without, by what they do, and how instructions are
 * selected.
 */
#ifndef TJ_LOWER_AMDGPU_PASSES_H
#define TJ_LOWER_AMDGPU_PASSES_H

#include "lower/kernel/kernel_nodes.h"
#include "lower/machine/target.h"

/* Those that find nothing in any kernel. */
extern const tj_idle_passes tj_amdgpu_idle_passes;

/* Those that find nothing in this one, which GlobalISel selects or not, as TJ_IDLE_IN_FUNCTION has them; NULL: there
 * are none. */
const char *tj_amdgpu_idle_in(const tj_target *target, const tj_kernel *kernel, bool is_selected_whole);

/* Whether GlobalISel is to select its instructions (TJ_SELECTED_WHOLE), */
bool tj_amdgpu_selects_whole(const tj_target *target, const tj_kernel *kernel, const tj_kernel_nodes *nodes);
/* and whether it only moves elements, and launches bring it no numbers (TJ_FIXED). */
bool tj_amdgpu_is_fixed(const tj_kernel *kernel);

#endif
