/* SPDX-License-Identifier: MIT */
/* The simulator's reports of registers that nothing has written: what is reported, in which lanes, and what is not,
 * because the result is the same whatever the register holds. */
#include "tests/unit/support/sim_support.h"

#include <stdio.h>

/* v0 holds 4 times the lane, v1 and s2 are 0, s[0:1] is where memory is; all else is unwritten. `expected` is part of
 * the report; NULL where there must be none. */
typedef struct {
  const char *text;
  unsigned processors;
  const char *expected;
} row;

#define SAVED "s_waitcnt vmcnt(0) lgkmcnt(0)\n"

static const char stored[] = "what is stored, from v5 on, depends on a register that nothing has written";

static const row stored_rows[] = {
    {"global_store_dword v0, v5, s[0:1]", ALL, stored},
    {"v_mov_b32 v5, v1\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"v_add_u32 v5, v6, v1\nglobal_store_dword v0, v5, s[0:1]", G9, stored},
    {"global_store_dwordx2 v0, v[6:7], s[0:1]", ALL, "what is stored, from v6"},
    {"v_mov_b32 v6, v1\nglobal_store_dwordx2 v0, v[6:7], s[0:1]", ALL, NULL},
    {"v_mov_b32 v6, v1\nv_lshlrev_b32 v7, 8, v7\nglobal_store_dwordx2 v0, v[6:7], s[0:1]", ALL,
     "what is stored, from v6"},
    {"v_mov_b32 v6, v1\nglobal_load_short_d16 v7, v0, s[0:1]\n" SAVED "global_store_dwordx2 v0, v[6:7], s[0:1]",
     G9 | G10, NULL},
    {"v_and_b32 v5, 0xff, v6\nglobal_store_byte v0, v5, s[0:1]", ALL, stored},
    {"v_and_b32 v5, 0, v6\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"v_xor_b32 v5, v6, v6\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"v_lshlrev_b32 v5, 16, v6\nglobal_store_short v0, v5, s[0:1]", ALL, NULL},
    {"v_lshlrev_b32 v5, 16, v6\nglobal_store_dword v0, v5, s[0:1]", ALL, stored},
    {"global_load_ushort v5, v0, s[0:1]\n" SAVED "global_store_dword v0, v5, s[0:1]", G9 | G10, NULL},
    {"global_load_short_d16 v5, v0, s[0:1]\n" SAVED "global_store_short v0, v5, s[0:1]", G9 | G10, NULL},
    {"global_load_short_d16 v5, v0, s[0:1]\n" SAVED "global_store_dword v0, v5, s[0:1]", G9 | G10, stored},
    {"global_load_short_d16 v5, v0, s[0:1]\n" SAVED "global_store_short_d16_hi v0, v5, s[0:1]", G9 | G10, stored},
    {"global_load_short_d16 v5, v0, s[0:1]\nglobal_load_short_d16_hi v5, v0, s[0:1]\n" SAVED
     "global_store_dword v0, v5, s[0:1]",
     G9 | G10, NULL},
    {"v_fmac_f32 v5, v1, v1\nglobal_store_dword v0, v5, s[0:1]", ALL, stored},
    {"v_mov_b32 v5, v1\nv_fmac_f32 v5, v1, v1\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"v_fma_f32 v5, v1, v1, v1\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"v_mov_b32 v5, s3\nglobal_store_dword v0, v5, s[0:1]", ALL, stored},
    {"v_mov_b32 v5, m0\nglobal_store_dword v0, v5, s[0:1]", ALL, stored},
    {"v_cndmask_b32 v5, v1, v1, VCC\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"v_cmp_eq_u32 VCC, v1, v0\nv_cndmask_b32 v5, v6, v1, VCC\nglobal_store_dword v0, v5, s[0:1]", ALL, stored},
    {"v_cmp_eq_u32 VCC, v1, v1\nv_cndmask_b32 v5, v6, v1, VCC\nglobal_store_dword v0, v5, s[0:1]", ALL, NULL},
    {"ds_write_b32 v0, v5", ALL, stored},
    {"ds_write_b16 v0, v5", ALL, stored},
    {"v_mov_b32 v5, v1\nds_write_b32 v0, v5", ALL, NULL},
    {"v_mov_b32 v6, v1\nds_write2_b32 v0, v6, v5 offset1:1", ALL, stored},
    {"ds_bpermute_b32 v5, v0, v6\n" SAVED "global_store_dword v0, v5, s[0:1]", G9, stored},
    {"v_mov_b32_dpp v5, v1 row_shr:1 row_mask:0xf bank_mask:0xf\nglobal_store_dword v0, v5, s[0:1]", ALL, stored},
    {"v_mov_b32_dpp v5, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\nglobal_store_dword v0, v5, s[0:1]", ALL,
     NULL},
    {"v_writelane_b32 v5, s2, 3\nv_readlane_b32 s4, v5, 3\nv_mov_b32 v5, s4\nglobal_store_dword v0, v5, s[0:1]", ALL,
     NULL},
    {"v_writelane_b32 v5, s2, 3\nv_readlane_b32 s4, v5, 4\nv_mov_b32 v5, s4\nglobal_store_dword v0, v5, s[0:1]", ALL,
     stored},
    {"s_mov_b32 s4, s2\ns_mov_b64 exec, 1\nv_mov_b32 v5, v1\nv_readlane_b32 s4, v5, 0\nv_mov_b32 v6, s4\n"
     "global_store_dword v0, v6, s[0:1]",
     G9, NULL},
    {"s_mov_b32 s4, s2\ns_mov_b64 exec, 1\nv_mov_b32 v5, v1\nv_readlane_b32 s4, v5, 3\nv_mov_b32 v6, s4\n"
     "global_store_dword v0, v6, s[0:1]",
     G9, "what is stored, from v6 on, depends on a register that nothing has written"},
    {"s_mov_b32 s4, s2\ns_mov_b32 exec_lo, 1\nv_mov_b32 v5, v1\nv_readlane_b32 s4, v5, 3\nv_mov_b32 v6, s4\n"
     "global_store_dword v0, v6, s[0:1]",
     NEWER, "what is stored, from v6 on, depends on a register that nothing has written"},
    {"v_accvgpr_read_b32 v5, a3\nglobal_store_dword v0, v5, s[0:1]", G9, stored},
    {"v_accvgpr_write_b32 a3, v1\nv_accvgpr_read_b32 v5, a3\nglobal_store_dword v0, v5, s[0:1]", G9, NULL},
};

static const char address[] = "the address, from ", control[] = "where the wave goes on depends",
                  lanes_text[] = "which lanes go on depends";

static const row other_rows[] = {
    {"global_load_dword v5, v3, s[0:1]", ALL, address},
    {"global_load_dword v5, v[2:3], off", ALL, address},
    {"global_load_dword v5, v0, s[4:5]", ALL, address},
    {"s_mov_b64 exec, 0\nglobal_load_dword v5, v3, s[4:5]", G9, NULL},
    {"s_mov_b64 exec, 0\ns_load_dwordx2 s[4:5], s[6:7], 0x0", G9, address},
    {"ds_read_b32 v5, v3", ALL, address},
    {"s_load_dword s4, s[0:1], s3", G10, address},
    {"s_load_dwordx2 s[4:5], s[6:7], 0x0", ALL, address},
    {"s_load_dwordx2 s[4:5], s[0:1], 0x0\n" SAVED "s_add_u32 s6, s4, s5\ns_cbranch_scc1 end\nend:", G9 | G10, NULL},
    {"s_cbranch_scc1 other\ns_nop 0\nother:", ALL, control},
    {"s_cbranch_scc1 other\nother:", ALL, NULL},
    {"s_cmp_eq_u32 s3, 0\ns_cbranch_scc1 other\ns_nop 0\nother:", ALL, NULL},
    {"s_bitcmp1_b32 s3, 0\ns_cbranch_scc1 other\ns_nop 0\nother:", ALL, control},
    {"s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 other\ns_nop 0\nother:", ALL, NULL},
    {"s_cmp_eq_u32 s2, 0\ns_cselect_b32 s4, s2, s3\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc1 other\ns_nop 0\nother:", ALL,
     NULL},
    {"s_mov_b32 vcc_lo, s2\nv_cndmask_b32 v5, v1, v0, vcc\nglobal_store_dword v0, v5, s[0:1]", G9, "what is stored"},
    {"s_mov_b32 vcc_hi, s2\nv_cndmask_b32 v5, v1, v0, vcc\nglobal_store_dword v0, v5, s[0:1]", G9, "what is stored"},
    {"s_mov_b64 vcc, 0\nv_cndmask_b32 v5, v1, v0, vcc\nglobal_store_dword v0, v5, s[0:1]", G9, NULL},
    {"s_and_b32 VCC, s2, VCC\ns_cbranch_vccz other\ns_nop 0\nother:", NEWER, NULL},
    {"s_cbranch_vccz other\ns_nop 0\nother:", ALL, control},
    {"s_cbranch_vccnz other\ns_nop 0\nother:", ALL, control},
    {"s_cbranch_vccz other\nother:", ALL, NULL},
    {"s_mov_b32 vcc_lo, s2\ns_cbranch_vccz other\ns_nop 0\nother:", G9, control},
    {"s_cmp_eq_u32 s2, 0\ns_mov_b32 vcc_lo, s2\ns_cbranch_vccz other\ns_nop 0\nother:", G9, control},
    {"s_mov_b32 vcc_hi, s2\ns_cbranch_vccnz other\ns_nop 0\nother:", G9, control},
    {"s_mov_b32 vcc_lo, s2\ns_cbranch_vccz other\ns_nop 0\nother:", NEWER, NULL},
    {"s_and_b32 VCC, 1, VCC\ns_cbranch_vccz other\ns_nop 0\nother:", NEWER, control},
    {"s_or_b32 vcc_lo, 1, vcc_lo\ns_cbranch_vccz other\ns_nop 0\nother:", ALL, NULL},
    {"v_cmp_lt_u32 VCC, 16, v5\ns_and_saveexec_b64 s[4:5], VCC", G9, lanes_text},
    {"v_cmp_gt_u32 VCC, 0, v5\ns_and_saveexec_b64 s[4:5], VCC", G9, NULL},
    {"v_cmp_lt_i32 VCC, 16, v5\ns_and_saveexec_b64 s[4:5], VCC", G9, lanes_text},
    {"v_cmp_lt_i32 VCC, 16, v5\ns_and_saveexec_b32 s4, VCC", NEWER, lanes_text},
    {"v_cmpx_lt_i32 16, v5", NEWER, lanes_text},
};

static sim_machine *open_row(const row *r, size_t processor, char text[512]) {
  unsigned lanes = sim_lanes(processor);
  sim_machine *m = sim_open(simulated[processor], sim_program(text, 512, r->text, lanes));
  sim_track(m);
  uint64_t memory = (uint64_t)(uintptr_t)m->global;
  const uint32_t scalars[] = {(uint32_t)memory, (uint32_t)(memory >> 32), 0};
  for (unsigned i = 0; i < 3; i++) {
    m->wave.scalar[i] = scalars[i];
    tj_sim_define_scalar(&m->wave, i);
  }
  for (unsigned i = 0; i < 2; i++) {
    for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++)
      m->vector[i][lane] = i == 0 ? 4 * lane : 0;
    tj_sim_define_vector(&m->wave, i, UINT64_MAX);
  }
  return m;
}

static void check_rows(const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      char text[512];
      if ((rows[i].processors & sim_generation(p)) == 0)
        continue;
      sim_machine *m = open_row(&rows[i], p, text);
      if (rows[i].expected == NULL)
        sim_run(m);
      else
        sim_run_failing(m, rows[i].expected);
      sim_close(m);
    }
  }
}

START_TEST(stores) {
  check_rows(stored_rows, sizeof stored_rows / sizeof stored_rows[0]);
}
END_TEST

START_TEST(addresses_and_branches) {
  check_rows(other_rows, sizeof other_rows / sizeof other_rows[0]);
}
END_TEST

/* Writing some lanes defines these, and the report names the others. */
START_TEST(lanes_by_themselves) {
  static const row r = {"s_mov_b64 exec, 0xf0\nv_mov_b32 v5, v1\ns_mov_b64 exec, 0x3c\n"
                        "global_store_dword v0, v5, s[0:1]",
                        G9, stored};
  char text[512];
  sim_machine *m = open_row(&r, 1, text);
  sim_run_failing(m, r.expected);
  ck_assert_uint_eq(m->wave.failed_lanes, 0xc);
  sim_close(m);
}
END_TEST

/* The padding of a wide store to LDS is as unwritten there as its register was. */
START_TEST(padding_in_lds) {
  static const row rows[] = {
      {"v_mov_b32 v6, v1\nv_mov_b32 v7, v1\nds_write_b96 v3, v[6:8]\nds_read_b64 v[8:9], v3", ALL, NULL},
      {"v_mov_b32 v6, v1\nv_mov_b32 v7, v1\nds_write_b96 v3, v[6:8]\nds_read_b96 v[8:10], v3", ALL,
       "nothing has been written there"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[512];
    sim_machine *m = open_row(&rows[i], 1, text);
    tj_sim_shadow *shadow = calloc(SIM_LDS_BYTES, sizeof *shadow);
    m->group.shadow = shadow;
    for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++)
      m->vector[3][lane] = 16 * lane;
    tj_sim_define_vector(&m->wave, 3, UINT64_MAX);
    if (rows[i].expected == NULL)
      sim_run(m);
    else
      sim_run_failing(m, rows[i].expected);
    sim_close(m);
    free(shadow);
  }
}
END_TEST

/* A buffer store that is out of bounds stores nothing. */
START_TEST(stores_that_do_not_happen) {
  static const row r = {"s_mov_b32 s4, s0\ns_mov_b32 s5, s1\ns_mov_b32 s6, s2\ns_mov_b32 s7, 0\n"
                        "buffer_store_dword v5, v0, s[4:7], 0 offen",
                        G9, NULL};
  char text[512];
  sim_machine *m = open_row(&r, 0, text);
  sim_run(m);
  sim_close(m);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {stores, addresses_and_branches, lanes_by_themselves, padding_in_lds,
                                stores_that_do_not_happen};
  return run_suite(suite_of("sim_undefined", tests, sizeof tests / sizeof tests[0]));
}
