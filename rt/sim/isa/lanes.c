/* SPDX-License-Identifier: MIT */
/* Instructions between lanes, and between vector and scalar registers. */
#include "rt/sim/machine/wave.h"

/* The lane of a row; what is no row is read as the scalar that it is. */
static uint32_t read_lane(tj_sim_wave *wave, const tj_sim_operand *operand, unsigned lane) {
  if (operand->place != TJ_SIM_VECTOR && operand->place != TJ_SIM_ACCUMULATOR)
    return (uint32_t)tj_sim_read_scalar(wave, operand, 32);
  const uint32_t *row = tj_sim_row(wave, operand, 0);
  return row == NULL ? 0 : row[lane];
}

static uint32_t scalar_operand(const tj_sim_wave *wave, const tj_sim_instruction *instruction, unsigned number) {
  return (uint32_t)tj_sim_read_scalar(wave, &instruction->operand[number], 32);
}

void tj_sim_execute_first_lane(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  uint64_t exec = tj_sim_exec(wave);
  unsigned lane = exec == 0 ? 0 : (unsigned)__builtin_ctzll(exec);
  tj_sim_write_scalar(wave, &instruction->operand[0], read_lane(wave, &instruction->operand[1], lane), 32);
}

void tj_sim_execute_read_lane(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  unsigned lane = scalar_operand(wave, instruction, 2) & (wave->lanes - 1);
  tj_sim_write_scalar(wave, &instruction->operand[0], read_lane(wave, &instruction->operand[1], lane), 32);
}

void tj_sim_execute_write_lane(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  unsigned lane = scalar_operand(wave, instruction, 2) & (wave->lanes - 1);
  uint32_t *row = tj_sim_row(wave, &instruction->operand[0], 0);
  if (row != NULL)
    row[lane] = scalar_operand(wave, instruction, 1);
}

/* Both rows of an instruction on two vector registers. */
static bool open_rows(tj_sim_wave *wave, const tj_sim_instruction *instruction, uint32_t *row[2]) {
  row[0] = tj_sim_row(wave, &instruction->operand[0], 0);
  row[1] = tj_sim_row(wave, &instruction->operand[1], 0);
  return wave->state != TJ_SIM_FAILED;
}

static void exchange(uint32_t *a, uint32_t *b) {
  uint32_t kept = *a;
  *a = *b;
  *b = kept;
}

void tj_sim_execute_swap(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  uint32_t *row[2];
  if (!open_rows(wave, instruction, row))
    return;
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    exchange(&row[0][lane], &row[1][lane]);
  }
}

/* Exchanges the odd blocks of `length` lanes of the first register with the even ones of the second. */
static void swap_rows(tj_sim_wave *wave, const tj_sim_instruction *instruction, unsigned length) {
  uint32_t *row[2];
  if (!open_rows(wave, instruction, row))
    return;
  for (unsigned lane = 0; lane < wave->lanes; lane++) {
    if ((lane / length & 1) == 0)
      exchange(&row[0][lane + length], &row[1][lane]);
  }
}

void tj_sim_execute_swap_rows_16(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  swap_rows(wave, instruction, 16);
}

void tj_sim_execute_swap_rows_32(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  swap_rows(wave, instruction, 32);
}

/* v_permlane64: the two halves of a wave of 64 lanes change places. */
void tj_sim_execute_swap_halves(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  uint32_t *row[2];
  uint32_t old[TJ_SIM_LANES];
  if (!open_rows(wave, instruction, row))
    return;
  memcpy(old, row[1], sizeof old);
  for (uint64_t left = wave->lanes == 64 ? tj_sim_exec(wave) : 0; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    row[0][lane] = old[lane ^ 32];
  }
}

/* v_pk_mov_b32: the low word from source 0, the high one from source 1; op_sel says from which of their words. */
void tj_sim_execute_pack_move(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operand *from[2] = {&instruction->operand[1], &instruction->operand[2]};
  uint32_t *to[2] = {tj_sim_row(wave, &instruction->operand[0], 0), tj_sim_row(wave, &instruction->operand[0], 1)};
  const unsigned choice[2] = {instruction->op_sel & 1, instruction->op_sel >> 1 & 1};
  for (uint64_t left = tj_sim_exec(wave); left != 0 && wave->state != TJ_SIM_FAILED; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint32_t value[2];
    for (unsigned i = 0; i < 2; i++) {
      bool is_vector = from[i]->place == TJ_SIM_VECTOR || from[i]->place == TJ_SIM_ACCUMULATOR;
      const uint32_t *row = is_vector ? tj_sim_row(wave, from[i], choice[i]) : NULL;
      uint64_t scalar = is_vector ? 0 : tj_sim_read_scalar(wave, from[i], 64) >> 32 * choice[i];
      value[i] = row != NULL ? row[lane] : (uint32_t)scalar;
    }
    for (unsigned i = 0; i < 2 && wave->state != TJ_SIM_FAILED; i++)
      to[i][lane] = value[i];
  }
}

/* v_permlane16 and v_permlanex16: lane i of a row of 16 reads the lane that the i-th nibble of two scalars names, in
 * the same row or in the other one of its pair. */
static void permute_rows(tj_sim_wave *wave, const tj_sim_instruction *instruction, unsigned crossing) {
  uint64_t nibbles = scalar_operand(wave, instruction, 2) | (uint64_t)scalar_operand(wave, instruction, 3) << 32;
  uint32_t *row[2];
  uint32_t old[TJ_SIM_LANES];
  if (!open_rows(wave, instruction, row))
    return;
  memcpy(old, row[1], sizeof old);
  bool fetches_inactive = (instruction->op_sel & 1) != 0, fills_with_zero = (instruction->op_sel & 2) != 0;
  uint64_t exec = tj_sim_exec(wave);
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    unsigned from = ((lane & ~15u) | (unsigned)(nibbles >> 4 * (lane & 15) & 15)) ^ crossing;
    if (fetches_inactive || (exec >> from & 1) != 0)
      row[0][lane] = old[from];
    else if (fills_with_zero)
      row[0][lane] = 0;
  }
}

void tj_sim_execute_permute_rows(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  permute_rows(wave, instruction, 0);
}

void tj_sim_execute_permute_rows_crossed(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  permute_rows(wave, instruction, 16);
}

/* v_mbcnt: how many bits of the mask belong to lower lanes, in one half of the lanes. */
static void count_below(tj_sim_wave *wave, const tj_sim_instruction *instruction, unsigned first) {
  uint32_t *to = tj_sim_row(wave, &instruction->operand[0], 0);
  for (uint64_t left = tj_sim_exec(wave); left != 0 && wave->state != TJ_SIM_FAILED; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint64_t below = (1ull << lane) - 1;
    uint32_t mask = read_lane(wave, &instruction->operand[1], lane) & (uint32_t)(below >> first);
    uint32_t base = read_lane(wave, &instruction->operand[2], lane);
    if (wave->state != TJ_SIM_FAILED)
      to[lane] = base + (uint32_t)__builtin_popcount(mask);
  }
}

void tj_sim_execute_count_low(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  count_below(wave, instruction, 0);
}

void tj_sim_execute_count_high(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  count_below(wave, instruction, 32);
}
