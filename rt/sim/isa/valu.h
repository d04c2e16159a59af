/* SPDX-License-Identifier: MIT */
/* The table of vector arithmetic. */
#ifndef TJ_RT_SIM_VALU_H
#define TJ_RT_SIM_VALU_H

#include "rt/sim/machine/wave.h"

extern const tj_sim_operation tj_sim_vector_operations[];
extern const size_t tj_sim_vector_operation_count;

unsigned tj_sim_type_bits(uint8_t type);

#endif
