/* SPDX-License-Identifier: MIT */
/* What instructions do to their operands, found once when they are decoded. */
#ifndef TJ_RT_SIM_EFFECTS_H
#define TJ_RT_SIM_EFFECTS_H

#include "rt/sim/machine/instruction.h"

/* Fills in instruction->effects from its operation and operands. */
void tj_sim_find_effects(tj_sim_instruction *instruction);

#endif
