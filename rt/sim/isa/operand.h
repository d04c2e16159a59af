/* SPDX-License-Identifier: MIT */
/* Operands and modifiers as text: LLVM's assembly, read into instructions. */
#ifndef TJ_RT_SIM_OPERAND_H
#define TJ_RT_SIM_OPERAND_H

#include "rt/sim/machine/instruction.h"

/* Reads one operand. False: it is of a kind that is not simulated. */
bool tj_sim_read_operand(const char *text, size_t length, tj_sim_operand *operand);

#endif
