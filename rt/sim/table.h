/* SPDX-License-Identifier: MIT */
/* Finding an instruction's row by its mnemonic. */
#ifndef TJ_RT_SIM_TABLE_H
#define TJ_RT_SIM_TABLE_H

#include "rt/sim/instruction.h"

/* The row of a mnemonic without its encoding (v_add_u32, not v_add_u32_e64); NULL where no table has it. */
const tj_sim_operation *tj_sim_find(const char *mnemonic);

#endif
