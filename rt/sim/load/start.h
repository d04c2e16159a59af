/* SPDX-License-Identifier: MIT */
/* Starting waves: the registers as the kernel descriptor and the ABI ask for. */
#ifndef TJ_RT_SIM_START_H
#define TJ_RT_SIM_START_H

#include "rt/sim/load/dispatch.h"

/* Sets up wave `number` of the workgroup at `at`, whose extents are `size` (smaller than the launch's at the end of
 * the grid). The wave's memory is there already. */
void tj_sim_start_wave(tj_sim_wave *wave, const tj_sim_launch *launch, const uint32_t at[3], const uint32_t size[3],
                       uint32_t number);

#endif
