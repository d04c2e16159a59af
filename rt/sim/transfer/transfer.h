/* SPDX-License-Identifier: MIT */
/* What memory instructions have in common: bytes in memory to and from the registers of a lane. */
#ifndef TJ_RT_SIM_TRANSFER_H
#define TJ_RT_SIM_TRANSFER_H

#include "rt/sim/machine/wave.h"

enum { TJ_SIM_DATA_ROWS = 4, TJ_SIM_TRANSFER_BYTES = 16 };

/* The rows of registers that an instruction's data are in. */
typedef struct {
  uint32_t *row[TJ_SIM_DATA_ROWS];
  uint8_t part; /* of 16-bit registers: v0.h */
} tj_sim_data;

/* The registers for `bytes` bytes a lane, from register `first` of the operand on. False: the wave has failed. */
bool tj_sim_open_data(tj_sim_wave *wave, const tj_sim_operand *operand, unsigned first, unsigned bytes,
                      tj_sim_data *data);

/* Moves the bytes of one lane between registers and memory; not for atomics. */
void tj_sim_move(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane, unsigned char *memory);

/* Loads zeros. */
void tj_sim_load_zeros(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane);

/* Combines memory with the lane's operand, as one step as far as other threads are concerned, and returns what was
 * there before. The operand is followed by what cmpswap compares with. */
uint64_t tj_sim_combine_memory(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane,
                               unsigned char *memory);

/* Writes what an atomic instruction returns. */
void tj_sim_return_old(const tj_sim_operation *operation, const tj_sim_data *data, unsigned lane, uint64_t old);

#endif
