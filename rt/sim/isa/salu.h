/* SPDX-License-Identifier: MIT */
/* The table of scalar arithmetic. */
#ifndef TJ_RT_SIM_SALU_H
#define TJ_RT_SIM_SALU_H

#include "rt/sim/machine/wave.h"

extern const tj_sim_operation tj_sim_scalar_operations[];
extern const size_t tj_sim_scalar_operation_count;

#endif
