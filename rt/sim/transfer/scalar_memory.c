/* SPDX-License-Identifier: MIT */
/* Scalar memory: loads into scalar registers, from an address or from a buffer with bounds. */
#include "rt/sim/machine/wave.h"

#include <inttypes.h>

/* The offset: a constant, or a register and a constant. */
static uint64_t read_offset(const tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  const tj_sim_operand *operand = &instruction->operand[2];
  if (operand->place != TJ_SIM_SCALAR)
    return operand->constant + (uint64_t)instruction->offset;
  uint64_t unit = instruction->scales_offset ? instruction->operation->bytes : 1;
  return (uint32_t)tj_sim_read_scalar(wave, operand, 32) * unit + (uint64_t)instruction->offset;
}

static void write_words(tj_sim_wave *wave, const tj_sim_instruction *instruction, const unsigned char *bytes) {
  const tj_sim_operation *operation = instruction->operation;
  tj_sim_operand to = instruction->operand[0];
  if (operation->bytes < 4) {
    uint32_t value = 0;
    memcpy(&value, bytes, operation->bytes);
    bool is_signed = operation->transfer == TJ_SIM_LOAD_SIGNED;
    tj_sim_write_scalar(wave, &to, is_signed ? (uint32_t)extend(value, 8u * operation->bytes) : value, 32);
    return;
  }
  for (unsigned i = 0; 4 * i < operation->bytes; i++, to.index++) {
    uint32_t word;
    memcpy(&word, bytes + 4 * (size_t)i, 4);
    tj_sim_write_scalar(wave, &to, word, 32);
  }
}

static void load(tj_sim_wave *wave, const tj_sim_instruction *instruction, uint64_t address) {
  unsigned bytes = instruction->operation->bytes;
  const unsigned char *from = tj_sim_memory_at(wave->group->memory, address, bytes, false);
  if (bytes >= 4 && address % 4 != 0)
    tj_sim_wave_fail(wave, 0, "%u bytes at 0x%" PRIx64 ": not aligned to 4 bytes", bytes, address);
  else if (from == NULL)
    tj_sim_wave_fault(wave, 0, bytes, address, false);
  else
    write_words(wave, instruction, from);
}

void tj_sim_execute_scalar_load(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  load(wave, instruction, tj_sim_read_scalar(wave, &instruction->operand[1], 64) + read_offset(wave, instruction));
}

void tj_sim_execute_scalar_buffer_load(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  static const unsigned char zeros[64];
  const uint32_t *word = &wave->scalar[instruction->operand[1].index];
  uint64_t base = word[0] | (uint64_t)(word[1] & 0xffff) << 32;
  uint64_t stride = word[1] >> 16 & 0x3fff;
  uint64_t size = stride == 0 ? word[2] : stride * word[2];
  uint64_t offset = read_offset(wave, instruction);
  if (offset + instruction->operation->bytes <= size)
    load(wave, instruction, base + offset);
  else
    write_words(wave, instruction, zeros);
}
