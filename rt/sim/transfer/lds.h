/* SPDX-License-Identifier: MIT */
/* The table of LDS instructions. */
#ifndef TJ_RT_SIM_LDS_H
#define TJ_RT_SIM_LDS_H

#include "rt/sim/machine/wave.h"

extern const tj_sim_operation tj_sim_lds_operations[];
extern const size_t tj_sim_lds_operation_count;

#endif
