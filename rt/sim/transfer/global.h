/* SPDX-License-Identifier: MIT */
/* The tables of vector and scalar memory instructions. */
#ifndef TJ_RT_SIM_GLOBAL_H
#define TJ_RT_SIM_GLOBAL_H

#include "rt/sim/machine/wave.h"

extern const tj_sim_operation tj_sim_memory_operations[];
extern const size_t tj_sim_memory_operation_count;

#endif
