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

static void count(const tj_sim_wave *wave, uint32_t place, uint32_t bytes) {
  uint32_t lds[TJ_SIM_LANES];
  for (uint32_t lane = 0; lane < TJ_SIM_LANES; lane++)
    lds[lane] = place + lane * bytes;
  tj_sim_count_lds(wave->group->counters, wave->group->processor->name, lds, tj_sim_exec(wave), bytes, true);
}

void tj_sim_move_direct(tj_sim_wave *wave, const tj_sim_instruction *instruction, const uint64_t at[TJ_SIM_LANES]) {
  uint32_t bytes = instruction->operation->bytes, place = tj_sim_direct_place(wave, instruction);
  if (wave->undefined != NULL && wave->undefined->scalar[TJ_SIM_M0]) {
    tj_sim_wave_fail(wave, 0, "where the bytes go in LDS depends on m0, which nothing has written");
    return;
  }
  if (!check_place(wave, place, bytes))
    return;
  count(wave, place, bytes);
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    memcpy(wave->group->lds + place + lane * bytes, (const unsigned char *)(uintptr_t)at[lane], bytes);
  }
}
