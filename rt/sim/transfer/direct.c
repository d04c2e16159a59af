/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: no register is in between. Where a wave's bytes go, M0 says on gfx9: side by
 * side, in the order of the lanes' numbers; on gfx1250 a register, of each lane. The instruction's offset is added to
 * both places. Bytes are there once the kernel has waited for the load (waits.h); until then nobody may touch them.
 */
#include "rt/sim/machine/wave.h"

#include <string.h>

enum { WORD = 4 };

static bool has_places(const tj_sim_instruction *instruction) {
  return instruction->operation->execute == tj_sim_execute_async;
}

/* By lane, where its bytes go. */
static bool find_places(tj_sim_wave *wave, const tj_sim_instruction *instruction, uint32_t place[TJ_SIM_LANES]) {
  bool is_open = !has_places(instruction);
  const uint32_t *row = is_open ? NULL : tj_sim_row(wave, &instruction->operand[0], 0);
  if (is_open && wave->undefined != NULL && wave->undefined->scalar[TJ_SIM_M0])
    tj_sim_wave_fail(wave, 0, "where the bytes go in LDS depends on m0, which nothing has written");
  for (uint32_t lane = 0; lane < TJ_SIM_LANES && wave->state != TJ_SIM_FAILED; lane++)
    place[lane] = (uint32_t)instruction->offset +
                  (row != NULL ? row[lane] : wave->scalar[TJ_SIM_M0] + lane * instruction->operation->bytes);
  return wave->state != TJ_SIM_FAILED;
}

/* Whether all lanes' bytes are in LDS, and nobody else is there. */
static bool check_places(tj_sim_wave *wave, const uint32_t place[TJ_SIM_LANES], uint32_t bytes) {
  const tj_sim_group *group = wave->group;
  for (uint64_t left = tj_sim_exec(wave); left != 0 && wave->state != TJ_SIM_FAILED; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    uint64_t at = place[lane], size = group->lds_bytes;
    const char *problem =
        at % (bytes < WORD ? bytes : WORD) != 0 ? "not aligned for a load into LDS"
        : at > size || bytes > size - at        ? "the workgroup has less LDS"
        : group->shadow == NULL
            ? NULL
            : tj_sim_shadow_expect(group->shadow + at, bytes, group->barriers + 1, wave->number, group->lds_loads);
    if (problem != NULL)
      tj_sim_wave_fail(wave, 1ull << lane, "%u bytes at LDS address %u (lane %u): %s", bytes, (unsigned)at, lane,
                       problem);
  }
  return wave->state != TJ_SIM_FAILED;
}

void tj_sim_move_direct(tj_sim_wave *wave, const tj_sim_instruction *instruction, const uint64_t at[TJ_SIM_LANES]) {
  uint32_t bytes = instruction->operation->bytes, place[TJ_SIM_LANES];
  uint64_t begin = UINT64_MAX, end = 0;
  wave->group->lds_loads++;
  if (!find_places(wave, instruction, place) || !check_places(wave, place, bytes))
    return;
  tj_sim_count_lds(wave->group->counters, wave->group->processor->name, place, tj_sim_exec(wave), bytes, true);
  for (uint64_t left = tj_sim_exec(wave); left != 0; left &= left - 1) {
    unsigned lane = (unsigned)__builtin_ctzll(left);
    memcpy(wave->group->lds + place[lane], (const unsigned char *)(uintptr_t)at[lane], bytes);
    begin = place[lane] < begin ? place[lane] : begin;
    end = place[lane] + bytes > end ? place[lane] + bytes : end;
  }
  tj_sim_issue_lds_load(wave, has_places(instruction) ? TJ_SIM_WAIT_ASYNC : TJ_SIM_WAIT_VECTOR, begin, end);
}
