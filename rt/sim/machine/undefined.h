/* SPDX-License-Identifier: MIT */
/* Uses of registers that nothing has written.
 *
 * What such a register holds on hardware is anybody's guess. Every wave therefore has a twin, whose unwritten
 * registers hold other bits than the wave's own, and an instruction that reads a register in which the two differ is
 * executed on both. Where the results are the same bits, they do not depend on what was not written: masking an
 * undefined half away, selecting the other operand, or writing one lane after another are no errors. The wave is
 * stopped where the twin would do something else that can be seen: another address, a byte stored to memory or to
 * LDS, a branch, the exec mask. So each report has a witness, two contents of the registers that tell; values that
 * both guesses happen to make equal go unnoticed.
 *
 * In a store of several words, halves of which all bits are unwritten beside a written word are padding, as compilers
 * store it behind vectors of three: it is no error in memory, and LDS counts as unwritten there.
 *
 * A register of the twin is looked at only while it differs: `vector` has a bit for each lane in which it does. What
 * spills to scratch memory counts as written. */
#ifndef TJ_RT_SIM_UNDEFINED_H
#define TJ_RT_SIM_UNDEFINED_H

#include "rt/sim/machine/instruction.h"
#include "rt/sim/machine/waits.h"

typedef struct {
  tj_sim_wave *twin; /* with registers of its own, in the wave's group */
  uint64_t vector[TJ_SIM_ALL_VECTORS];
  bool scalar[TJ_SIM_SCALARS];
  bool scc;
} tj_sim_undefined;

/* Fills the wave's registers and its twin's with what nobody has written. */
void tj_sim_forget_registers(tj_sim_wave *wave);

/* What is now in these registers of the wave has been written. */
void tj_sim_define_scalar(tj_sim_wave *wave, unsigned index);
void tj_sim_define_vector(tj_sim_wave *wave, unsigned index, uint64_t lanes);

/* Executes an instruction of a wave that has a twin. */
void tj_sim_execute_tracked(tj_sim_wave *wave, const tj_sim_instruction *instruction);

/* The lanes of those in which half `number` (16 bits) of what a store takes from the operand is padding. */
uint64_t tj_sim_padding(const tj_sim_wave *wave, const tj_sim_operand *operand, unsigned number, uint64_t lanes);

/* Whether all bits that a store takes from the operand's registers have been written, in these lanes; the wave has
 * failed otherwise. */
bool tj_sim_check_stored(tj_sim_wave *wave, const tj_sim_instruction *instruction, const tj_sim_operand *operand,
                         uint64_t lanes);

#endif
