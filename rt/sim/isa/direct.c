/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: no register is in between. Of a wave's lanes, the bytes lie side by side, in
 * the order of the lanes' numbers, from where M0 and the instruction's offset say. The offset is the memory's, too.
 * They are there once the kernel has waited for the load (waits.h); until then nobody may touch them. */
#include "rt/sim/machine/wave.h"

#include <string.h>

enum { WORD = 4 };

uint32_t tj_sim_direct_place(const tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  return wave->scalar[TJ_SIM_M0] + (uint32_t)instruction->offset;
}

/* Where the lanes' bytes are in memory. False: the wave has failed. */
static bool find_bytes(tj_sim_wave *wave, const tj_sim_instruction *instruction, uint64_t at[TJ_SIM_LANES]) {
  const tj_sim_operand *address = &instruction->operand[0], *scalar = &instruction->operand[1];
  bool has_base = scalar->place == TJ_SIM_SCALAR && scalar->index != TJ_SIM_NULL;
  uint64_t base = has_base ? tj_sim_read_scalar(wave, scalar, 64) : 0, outside = 0;
  const uint32_t *low = tj_sim_row(wave, address, 0), *high = has_base ? NULL : tj_sim_row(wave, address, 1);
  for (uint64_t left = wave->state == TJ_SIM_FAILED ? 0 : tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    at[lane] =
        base + (high == NULL ? low[lane] : low[lane] | (uint64_t)high[lane] << 32) + (uint64_t)instruction->offset;
    if (tj_sim_memory_at(wave->group->memory, at[lane], instruction->operation->bytes, false) == NULL)
      outside |= 1ull << lane;
  }
  if (outside != 0)
    tj_sim_wave_fault(wave, outside, instruction->operation->bytes, at[__builtin_ctzll(outside)], false);
  return wave->state != TJ_SIM_FAILED;
}

/* Whether all lanes' bytes are in LDS, and nobody else is there. */
static bool check_place(tj_sim_wave *wave, uint32_t place, uint32_t bytes) {
  for (uint64_t left = tj_sim_exec(wave); left != 0 && wave->state != TJ_SIM_FAILED; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint64_t at = place + (uint64_t)lane * bytes, size = wave->group->lds_bytes;
    const char *problem =
        at % WORD != 0                   ? "not aligned for a load into LDS"
        : at > size || bytes > size - at ? "the workgroup has less LDS"
        : wave->group->shadow == NULL
            ? NULL
            : tj_sim_shadow_expect(wave->group->shadow + at, bytes, wave->group->barriers + 1, wave->number);
    if (problem != NULL)
      tj_sim_wave_fail(wave, 1ull << lane, "%u bytes at LDS address %u (lane %u): %s", bytes, (unsigned)at, lane,
                       problem);
  }
  return wave->state != TJ_SIM_FAILED;
}

static void count(const tj_sim_wave *wave, uint32_t place, uint32_t bytes, const uint64_t at[TJ_SIM_LANES]) {
  uint64_t packed[TJ_SIM_LANES];
  uint32_t lds[TJ_SIM_LANES] = {0}, lanes = 0;
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    packed[lanes++] = at[lane];
    lds[lane] = place + lane * bytes;
  }
  tj_sim_count_access(wave->group->counters, wave->group->line_bytes, packed, lanes, bytes, false);
  tj_sim_count_lds(wave->group->counters, wave->group->processor->name, lds, tj_sim_exec(wave), bytes, true);
}

void tj_sim_execute_direct(tj_sim_wave *wave, const tj_sim_instruction *instruction) {
  uint32_t bytes = instruction->operation->bytes, place = tj_sim_direct_place(wave, instruction);
  uint64_t at[TJ_SIM_LANES];
  if (wave->undefined != NULL && wave->undefined->scalar[TJ_SIM_M0]) {
    tj_sim_wave_fail(wave, 0, "where the bytes go in LDS depends on m0, which nothing has written");
    return;
  }
  if (!find_bytes(wave, instruction, at) || !check_place(wave, place, bytes))
    return;
  count(wave, place, bytes, at);
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    memcpy(wave->group->lds + place + lane * bytes, (const unsigned char *)(uintptr_t)at[lane], bytes);
  }
}
