/* SPDX-License-Identifier: MIT */
/* Modifiers: what stands after an instruction's operands, or at the end of its mnemonic. */
#ifndef TJ_RT_SIM_MODIFIER_H
#define TJ_RT_SIM_MODIFIER_H

#include "base/job.h"
#include "rt/sim/machine/instruction.h"

/* Reads one modifier, such as offset:16, into the instruction. False: it is not simulated. */
bool tj_sim_read_modifier(tj_job *job, const char *text, tj_sim_instruction *instruction);

/* Puts what SDWA selects into the instruction's operands, once they are known by their roles. */
void tj_sim_apply_selections(tj_sim_instruction *instruction);

#endif
