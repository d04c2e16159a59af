/* SPDX-License-Identifier: MIT */
/* Waves and workgroups while they run, and access to their registers.
 *
 * A wave is executed by one thread, instruction after instruction, all of its lanes at once. A workgroup's waves take
 * turns on one thread: each runs until it ends or waits at a barrier. What goes wrong is recorded in the wave
 * (tj_sim_wave_fail), which then stops; nothing is thrown.
 *
 * A dispatch is shared by threads that each run other workgroups of it; counters are each thread's own. */
#ifndef TJ_RT_SIM_WAVE_H
#define TJ_RT_SIM_WAVE_H

#include "rt/sim/machine/counters.h"
#include "rt/sim/machine/instruction.h"
#include "rt/sim/machine/memory.h"
#include "rt/sim/machine/processor.h"
#include "rt/sim/machine/shadow.h"
#include "rt/sim/machine/undefined.h"
#include "rt/sim/machine/waits.h"

typedef enum { TJ_SIM_RUNNING, TJ_SIM_AT_BARRIER, TJ_SIM_ENDED, TJ_SIM_FAILED } tj_sim_state;

enum { TJ_SIM_FAILURE_SIZE = 384 };

/* What the waves of a workgroup share. */
typedef struct {
  const tj_processor *processor;
  const tj_sim_program *program;
  tj_sim_memory *memory;
  tj_sim_counters *counters;
  unsigned char *lds;
  tj_sim_shadow *shadow; /* of each byte of LDS; NULL: accesses are not checked against each other */
  uint32_t lds_bytes;
  uint32_t line_bytes;    /* of a cache line of vector memory */
  uint32_t scratch_bytes; /* of one lane */
  uint64_t budget;        /* instructions that all its waves together may still execute */
  uint32_t barriers;      /* that all waves have passed */
  uint32_t lds_loads;     /* from memory, so far */
} tj_sim_group;

struct tj_sim_wave {
  tj_sim_group *group;
  tj_sim_state state;
  uint16_t number;   /* in its workgroup */
  uint32_t lanes;    /* 32 or 64 */
  uint32_t position; /* index of the instruction that runs */
  uint32_t next;     /* index of the one that follows */
  bool scc;
  uint8_t banks;              /* of vector registers, that operands are in: two bits each */
  uint32_t vector_count;      /* VGPRs, AGPRs included */
  uint32_t first_accumulator; /* the VGPR that AGPR 0 is */
  uint32_t scalar[TJ_SIM_SCALARS];
  uint32_t (*vector)[TJ_SIM_LANES];
  tj_sim_loads loads;
  tj_sim_undefined *undefined; /* NULL: uses of registers that nothing has written are not noticed */
  unsigned char *scratch;      /* of lane 0; the other lanes' follow */
  uint64_t failed_lanes;
  bool is_fault; /* what failed is an access outside of memory */
  uint64_t fault_address;
  char failure[TJ_SIM_FAILURE_SIZE];
};

/* Stops the wave: what is wrong with the instruction that runs, and in which lanes (0: all, or none in particular).
 * Only the first failure counts. */
void tj_sim_wave_fail(tj_sim_wave *wave, uint64_t lanes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for an access outside of the memory that the kernel may read or write. */
void tj_sim_wave_fault(tj_sim_wave *wave, uint64_t lanes, unsigned bytes, uint64_t address, bool is_write);

/* Takes one instruction from what the group may still execute. False where there is none left, and the wave has
 * failed. */
bool tj_sim_spend(tj_sim_wave *wave);

/* Runs the wave until it ends, fails or waits at a barrier. */
void tj_sim_wave_run(tj_sim_wave *wave);

/* Executes one instruction. */
void tj_sim_execute(tj_sim_wave *wave, const tj_sim_instruction *instruction);

static inline uint64_t tj_sim_all_lanes(const tj_sim_wave *wave) {
  return wave->lanes == 64 ? UINT64_MAX : UINT32_MAX;
}

static inline uint64_t tj_sim_exec(const tj_sim_wave *wave) {
  uint64_t high = wave->lanes == 64 ? wave->scalar[TJ_SIM_EXEC + 1] : 0;
  return wave->scalar[TJ_SIM_EXEC] | high << 32;
}

static inline void tj_sim_set_exec(tj_sim_wave *wave, uint64_t exec) {
  wave->scalar[TJ_SIM_EXEC] = (uint32_t)exec;
  if (wave->lanes == 64)
    wave->scalar[TJ_SIM_EXEC + 1] = (uint32_t)(exec >> 32);
}

/* A lane mask: a register pair in waves of 64, one register in waves of 32. */
uint64_t tj_sim_read_mask(const tj_sim_wave *wave, const tj_sim_operand *operand);
void tj_sim_write_mask(tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t mask);

/* The raw bits of a scalar operand: a constant, or one register or (for 64 bits) two. */
uint64_t tj_sim_read_scalar(const tj_sim_wave *wave, const tj_sim_operand *operand, unsigned bits);
void tj_sim_write_scalar(tj_sim_wave *wave, const tj_sim_operand *operand, uint64_t value, unsigned bits);

/* The first vector register of an operand, by its number in the wave. */
static inline unsigned tj_sim_first_register(const tj_sim_wave *wave, const tj_sim_operand *operand) {
  unsigned bank = (unsigned)wave->banks >> operand->bank & 3;
  return operand->index + bank * TJ_SIM_BANK_REGISTERS +
         (operand->place == TJ_SIM_ACCUMULATOR ? wave->first_accumulator : 0u);
}

/* The row of lanes of a vector operand's register `offset`. Decoding has checked that it exists in the instruction
 * set, not that the kernel has it; NULL then, and the wave has failed. */
uint32_t *tj_sim_row(tj_sim_wave *wave, const tj_sim_operand *operand, unsigned offset);

/* A load from memory straight into LDS, of bytes that may be read. */
void tj_sim_move_direct(tj_sim_wave *wave, const tj_sim_instruction *instruction, const uint64_t at[TJ_SIM_LANES]);

/* Executing functions that the tables name; each knows the operands of its instructions. */
#define EXECUTOR(name) void tj_sim_execute_##name(tj_sim_wave *wave, const tj_sim_instruction *instruction)
EXECUTOR(vector);
EXECUTOR(scalar);
EXECUTOR(branch);
EXECUTOR(branch_scc0);
EXECUTOR(branch_scc1);
EXECUTOR(branch_vccz);
EXECUTOR(branch_vccnz);
EXECUTOR(branch_execz);
EXECUTOR(branch_execnz);
EXECUTOR(jump);
EXECUTOR(call);
EXECUTOR(address);
EXECUTOR(nothing);
EXECUTOR(time);
EXECUTOR(get_hardware);
EXECUTOR(set_hardware);
EXECUTOR(set_hardware_constant);
EXECUTOR(set_denormals);
EXECUTOR(set_rounding);
EXECUTOR(set_banks);
EXECUTOR(wait);
EXECUTOR(barrier);
EXECUTOR(end);
EXECUTOR(trap);
EXECUTOR(scalar_load);
EXECUTOR(scalar_buffer_load);
EXECUTOR(global);
EXECUTOR(flat);
EXECUTOR(scratch);
EXECUTOR(buffer);
EXECUTOR(lds);
EXECUTOR(lds_pair);
EXECUTOR(lds_transposed);
EXECUTOR(lds_permute);
EXECUTOR(lds_bpermute);
EXECUTOR(lds_swizzle);
EXECUTOR(tensor);
EXECUTOR(async);
EXECUTOR(first_lane);
EXECUTOR(read_lane);
EXECUTOR(write_lane);
EXECUTOR(swap);
EXECUTOR(pack_move);
EXECUTOR(permute_rows);
EXECUTOR(permute_rows_crossed);
EXECUTOR(swap_rows_16);
EXECUTOR(swap_rows_32);
EXECUTOR(swap_halves);
EXECUTOR(count_low);
EXECUTOR(count_high);
EXECUTOR(matrix);
#undef EXECUTOR

#endif
