/* SPDX-License-Identifier: MIT */
/* Finding an instruction's row by its mnemonic.
 *
 * How to add an instruction: a row in valu.def, salu.def, transfer.def (vector memory), lds.def, matrix.def or
 * control.def, by what it does; one in alias.def for each other name; its edges in
 * tests/unit/rt/test_sim_arithmetic.c. */
#ifndef TJ_RT_SIM_TABLE_H
#define TJ_RT_SIM_TABLE_H

#include "rt/sim/machine/instruction.h"

/* The row of a mnemonic without its encoding (v_add_u32, not v_add_u32_e64); NULL where no table has it. */
const tj_sim_operation *tj_sim_find(const char *mnemonic);

#endif
