/* SPDX-License-Identifier: MIT */
/* The simulator's instructions between lanes, its branches and masks, and its memory: global, scratch, buffers, LDS;
 * with bounds, and what the phase model counts. */
#include "tests/unit/support/sim_support.h"

#include <stdio.h>

/* --- lanes --- */

/* What lane `lane` holds after an instruction on v0, which held 100 + the lane; v8 held 7. `lanes`: of the wave. */
typedef struct {
  const char *text;
  unsigned processors;
  unsigned (*expected)(unsigned lane, unsigned lanes);
} lane_row;

static unsigned pairs_swapped(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane ^ 1);
}

static unsigned shifted_right(unsigned lane, unsigned lanes) {
  (void)lanes;
  return (lane & 15) == 0 ? 7 : 100 + lane - 1;
}

static unsigned shifted_right_with_zero(unsigned lane, unsigned lanes) {
  (void)lanes;
  return (lane & 15) == 0 ? 0 : 100 + lane - 1;
}

static unsigned shifted_left_by_2(unsigned lane, unsigned lanes) {
  (void)lanes;
  return (lane & 15) >= 14 ? 0 : 100 + lane + 2;
}

static unsigned rotated(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + ((lane & ~15u) | ((lane - 3) & 15));
}

static unsigned mirrored(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane ^ 15);
}

static unsigned half_mirrored(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane ^ 7);
}

static unsigned shared(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane & ~15u) + 5;
}

static unsigned crossed(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane ^ 6);
}

static unsigned reversed_by_8(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane ^ 7);
}

static unsigned second_row_only(unsigned lane, unsigned lanes) {
  (void)lanes;
  return lane / 16 == 1 ? 100 + (lane ^ 1) : 7;
}

static unsigned second_bank_only(unsigned lane, unsigned lanes) {
  (void)lanes;
  return lane % 16 / 4 == 1 ? 100 + (lane ^ 1) : 7;
}

static unsigned fifth(unsigned lane, unsigned lanes) {
  (void)lane, (void)lanes;
  return 105;
}

static unsigned fetched(unsigned lane, unsigned lanes) {
  return 100 + ((lane + 1) & (lanes - 1));
}

static unsigned sent(unsigned lane, unsigned lanes) {
  return 100 + ((lane - 1) & (lanes - 1));
}

static unsigned swapped_halves(unsigned lane, unsigned lanes) {
  (void)lanes;
  return 100 + (lane ^ 16);
}

static unsigned below(unsigned lane, unsigned lanes) {
  (void)lanes;
  return lane;
}

static unsigned only_lane_3(unsigned lane, unsigned lanes) {
  (void)lanes;
  return lane == 3 ? 1234 : 7;
}

static const lane_row lane_rows[] = {
    {"v_mov_b32_dpp v8, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", ALL, pairs_swapped},
    {"v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0xf", ALL, shifted_right},
    {"v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", ALL, shifted_right_with_zero},
    {"v_mov_b32_dpp v8, v0 row_shl:2 row_mask:0xf bank_mask:0xf bound_ctrl:1", ALL, shifted_left_by_2},
    {"v_mov_b32_dpp v8, v0 row_ror:3 row_mask:0xf bank_mask:0xf", ALL, rotated},
    {"v_mov_b32_dpp v8, v0 row_mirror row_mask:0xf bank_mask:0xf", ALL, mirrored},
    {"v_mov_b32_dpp v8, v0 row_half_mirror row_mask:0xf bank_mask:0xf", ALL, half_mirrored},
    {"v_mov_b32_dpp v8, v0 row_share:5 row_mask:0xf bank_mask:0xf", NEWER, shared},
    {"v_mov_b32_dpp v8, v0 row_newbcast:5 row_mask:0xf bank_mask:0xf", G9, shared},
    {"v_mov_b32_dpp v8, v0 row_xmask:6 row_mask:0xf bank_mask:0xf", NEWER, crossed},
    {"v_mov_b32_dpp v8, v0 dpp8:[7,6,5,4,3,2,1,0]", NEWER, reversed_by_8},
    {"v_mov_b32_dpp v8, v0 quad_perm:[1,0,3,2] row_mask:0x2 bank_mask:0xf", ALL, second_row_only},
    {"v_mov_b32_dpp v8, v0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0x2", ALL, second_bank_only},
    {"v_readlane_b32 s4, v0, 5\nv_mov_b32 v8, s4", ALL, fifth},
    {"s_movk_i32 s3, 1234\nv_writelane_b32 v8, s3, 3", ALL, only_lane_3},
    {"v_add_nc_u32 v1, v2, 4\nds_bpermute_b32 v8, v1, v0\ns_waitcnt lgkmcnt(0)", G10 | G11, fetched},
    {"v_add_u32 v1, v2, 4\nds_bpermute_b32 v8, v1, v0\ns_waitcnt lgkmcnt(0)", 0, fetched},
    {"ds_bpermute_b32 v8, v2, v0 offset:4\ns_nop 0", ALL, fetched},
    {"ds_permute_b32 v8, v2, v0 offset:4\ns_nop 0", ALL, sent},
    {"ds_swizzle_b32 v8, v0 offset:swizzle(SWAP,16)", ALL, swapped_halves},
    {"ds_swizzle_b32 v8, v0 offset:swizzle(QUAD_PERM,1,0,3,2)", ALL, pairs_swapped},
    {"v_permlanex16_b32 v8, v0, s6, s7", NEWER, swapped_halves},
    {"v_mbcnt_lo_u32_b32 v8, -1, 0\nv_mbcnt_hi_u32_b32 v8, -1, v8", G9, below},
    {"v_mbcnt_lo_u32_b32 v8, -1, 0", NEWER, below},
};

static sim_machine *open_lanes(const char *processor, unsigned lanes, const char *body, char text[512]) {
  sim_machine *m = sim_open(processor, sim_program(text, 512, body, lanes));
  for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++) {
    m->vector[0][lane] = 100 + lane;
    m->vector[2][lane] = 4 * lane;
    m->vector[8][lane] = 7;
  }
  m->wave.scalar[6] = 0x76543210;
  m->wave.scalar[7] = 0xfedcba98;
  return m;
}

START_TEST(lanes_exchange) {
  for (size_t i = 0; i < sizeof lane_rows / sizeof lane_rows[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      char text[512];
      const lane_row *row = &lane_rows[i];
      if ((row->processors & sim_generation(p)) == 0)
        continue;
      sim_machine *m = open_lanes(simulated[p], sim_lanes(p), row->text, text);
      sim_run(m);
      for (unsigned lane = 0; lane < m->wave.lanes; lane++)
        ck_assert_msg(m->vector[8][lane] == row->expected(lane, m->wave.lanes), "%s: %s: lane %u is %u, not %u",
                      m->processor, row->text, lane, m->vector[8][lane], row->expected(lane, m->wave.lanes));
      sim_close(m);
    }
  }
}
END_TEST

START_TEST(lanes_that_are_off) {
  char text[512];
  sim_machine *m = open_lanes("gfx942", 64,
                              "v_readfirstlane_b32 s4, v0\nds_bpermute_b32 v8, v2, v0 offset:4\n"
                              "v_cmp_eq_u32 s[8:9], v0, v0\nv_mov_b32_dpp v3, v0 quad_perm:[1,0,3,2] row_mask:0xf "
                              "bank_mask:0xf",
                              text);
  tj_sim_set_exec(&m->wave, 0x1c);
  sim_run(m);
  ck_assert_uint_eq(m->wave.scalar[4], 102);
  ck_assert_uint_eq(m->vector[8][2], 103);
  ck_assert_uint_eq(m->vector[8][4], 0);
  ck_assert_uint_eq(m->vector[8][5], 7);
  ck_assert_uint_eq(sim_scalar_pair(m, 8), 0x1c);
  ck_assert_uint_eq(m->vector[3][2], 103);
  ck_assert_uint_eq(m->vector[3][4], 0);
  sim_close(m);
}
END_TEST

/* --- branches and masks --- */

/* What v8 has of names that are no registers; v1 is 0. */
START_TEST(names_that_are_no_registers) {
  static const struct {
    const char *text;
    unsigned processors;
    uint32_t expected;
  } rows[] = {
      {"s_cmp_eq_u32 s6, s6\nv_mov_b32 v8, src_scc", ALL, 1},
      {"s_cmp_eq_u32 s6, s7\nv_mov_b32 v8, src_scc", ALL, 0},
      {"v_cmp_eq_u32 VCC, v1, v1\nv_mov_b32 v8, src_vccz", OLDER, 0},
      {"v_cmp_ne_u32 VCC, v1, v1\nv_mov_b32 v8, src_vccz", OLDER, 1},
      {"v_mov_b32 v8, src_execz", OLDER, 0},
      {"v_mov_b32 v8, null", NEWER, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      char text[512];
      if ((rows[i].processors & sim_generation(p)) == 0)
        continue;
      sim_machine *m = open_lanes(simulated[p], sim_lanes(p), rows[i].text, text);
      sim_run(m);
      ck_assert_msg(m->vector[8][3] == rows[i].expected, "%s: %s: %u", m->processor, rows[i].text, m->vector[8][3]);
      sim_close(m);
    }
  }
}
END_TEST

START_TEST(branches) {
  static const char body[] = "s_mov_b32 s0, 0\ns_mov_b32 s1, 5\n"
                             "loop:\ns_add_i32 s0, s0, s1\ns_add_i32 s1, s1, -1\ns_cmp_lg_u32 s1, 0\n"
                             "s_cbranch_scc1 loop\n"
                             "v_cmp_lt_u32 VCC, 0x80, v0\ns_cbranch_vccz never\ns_cbranch_execz never\n"
                             "s_branch end\nnever:\ns_mov_b32 s0, 99\nend:\ns_nop 0";
  for (size_t p = 0; p < SIMULATED_COUNT; p++) {
    char text[512];
    sim_machine *m = open_lanes(simulated[p], sim_lanes(p), body, text);
    m->vector[0][1] = 200;
    sim_run(m);
    ck_assert_uint_eq(m->wave.scalar[0], 15);
    sim_close(m);
  }
}
END_TEST

/* Back to the first instruction by its address, once. */
START_TEST(jumps_to_the_beginning) {
  char text[512];
  sim_machine *m = open_lanes("gfx942", 64,
                              "s_cmp_eq_u32 s9, 2\ns_cbranch_scc1 end\ns_add_u32 s9, s9, 1\ns_getpc_b64 s[4:5]\n"
                              "s_sub_u32 s4, s4, 16\ns_subb_u32 s5, s5, 0\ns_setpc_b64 s[4:5]\nend:",
                              text);
  sim_run(m);
  ck_assert_uint_eq(m->wave.scalar[9], 2);
  sim_close(m);
}
END_TEST

START_TEST(saved_masks) {
  char text[512];
  sim_machine *m = open_lanes("gfx90a", 64,
                              "v_cmp_gt_u32 vcc, 0x70, v0\ns_and_saveexec_b64 s[0:1], vcc\nv_mov_b32 v8, 1\n"
                              "s_xor_b64 s[2:3], exec, s[0:1]\ns_andn2_saveexec_b64 s[4:5], s[2:3]\n"
                              "s_mov_b64 exec, s[0:1]",
                              text);
  sim_run(m);
  ck_assert_uint_eq(sim_scalar_pair(m, 0), UINT64_MAX);
  ck_assert_uint_eq(sim_scalar_pair(m, 2), ~0xfffull);
  ck_assert_uint_eq(sim_scalar_pair(m, 4), 0xfff);
  ck_assert_uint_eq(m->vector[8][11], 1);
  ck_assert_uint_eq(m->vector[8][12], 7);
  ck_assert_uint_eq(tj_sim_exec(&m->wave), UINT64_MAX);
  sim_close(m);
}
END_TEST

/* Comparisons that write exec alone: as LLVM writes them, as it wrote them until version 16, with 0 in the field of a
 * destination, and what is none because something else is in that field. */
START_TEST(comparisons_narrow_exec) {
  static const struct {
    const char *text;
    bool is_known;
  } rows[] = {{"v_cmpx_gt_u32_e32 0x70, v0", true},
              {"v_cmpx_gt_u32_e64 s20, v0", true},
              {".long 0xd4d4007e, 0x00020014", true},
              {".long 0xd4d40000, 0x00020014", true},
              {".long 0xd4d40004, 0x00020014", false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char body[256], text[512];
    snprintf(body, sizeof body, "s_movk_i32 s20, 0x70\n%s\nv_mov_b32 v8, 1\ns_or_saveexec_b32 s0, -1", rows[i].text);
    sim_machine *m = open_lanes("gfx1030", 32, body, text);
    tj_sim_wave_run(&m->wave);
    ck_assert_msg((m->wave.state == TJ_SIM_ENDED) == rows[i].is_known, "%s", rows[i].text);
    if (rows[i].is_known) {
      ck_assert_uint_eq(m->wave.scalar[0], 0xfff);
      ck_assert_uint_eq(m->vector[8][11], 1);
      ck_assert_uint_eq(m->vector[8][12], 7);
    }
    sim_close(m);
  }
}
END_TEST

/* --- memory --- */

/* Sets v[4:5] and s[10:11] to the machine's memory, v6 to 16 times the lane, and fills memory by its addresses. */
static sim_machine *open_memory(const char *processor, unsigned lanes, const char *body, char text[512]) {
  sim_machine *m = open_lanes(processor, lanes, body, text);
  uint64_t base = (uint64_t)(uintptr_t)m->global;
  for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++) {
    uint64_t address = base + 16 * lane;
    m->vector[4][lane] = (uint32_t)address;
    m->vector[5][lane] = (uint32_t)(address >> 32);
    m->vector[6][lane] = 16 * lane;
  }
  m->wave.scalar[10] = (uint32_t)base;
  m->wave.scalar[11] = (uint32_t)(base >> 32);
  for (unsigned i = 0; i < SIM_MEMORY_BYTES; i++)
    m->global[i] = (unsigned char)(i * 7 + 0x80);
  return m;
}

/* Loads of lane 3 at offset 2 of its 16 bytes: names of gfx9 and gfx11, result. */
START_TEST(loads_of_all_widths) {
  static const struct {
    const char *older, *newer;
    unsigned bytes;
    bool is_signed, keeps_high, is_high;
  } rows[] = {
      {"load_ubyte", "load_u8", 1, false, false, false},
      {"load_sbyte", "load_i8", 1, true, false, false},
      {"load_ushort", "load_u16", 2, false, false, false},
      {"load_sshort", "load_i16", 2, true, false, false},
      {"load_short_d16", "load_d16_b16", 2, false, true, false},
      {"load_short_d16_hi", "load_d16_hi_b16", 2, false, true, true},
      {"load_ubyte_d16_hi", "load_d16_hi_u8", 1, false, true, true},
      {"load_dword", "load_b32", 4, false, false, false},
      {"load_dwordx2", "load_b64", 8, false, false, false},
      {"load_dwordx3", "load_b96", 12, false, false, false},
      {"load_dwordx4", "load_b128", 16, false, false, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      char text[512], body[256], to[16];
      const char *name = sim_generation(p) <= G10 ? rows[i].older : rows[i].newer;
      unsigned words = (rows[i].bytes + 3) / 4;
      snprintf(to, sizeof to, words == 1 ? "v8" : "v[8:%u]", 7 + words);
      snprintf(body, sizeof body, "global_%s %s, v[4:5], off offset:2\nglobal_%s %s, v6, s[10:11] offset:2", name, to,
               name, to);
      sim_machine *m = open_memory(simulated[p], sim_lanes(p), body, text);
      sim_run(m);
      unsigned char expected[16] = {0};
      const unsigned char *from = m->global + 50;
      uint32_t value = rows[i].bytes == 1 ? from[0] : from[0] | (unsigned)from[1] << 8;
      if (rows[i].is_signed)
        value = rows[i].bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
      if (rows[i].keeps_high)
        value = rows[i].is_high ? value << 16 | 7 : value;
      if (rows[i].bytes >= 4)
        memcpy(expected, from, rows[i].bytes);
      else
        memcpy(expected, &value, 4);
      for (unsigned w = 0; w < words; w++)
        ck_assert_msg(memcmp(&m->vector[8 + w][3], expected + 4 * w, 4) == 0, "%s: %s: word %u is %08x", m->processor,
                      name, w, m->vector[8 + w][3]);
      sim_close(m);
    }
  }
}
END_TEST

START_TEST(stores_and_atomics) {
  char text[512];
  sim_machine *m = open_memory("gfx942", 64,
                               "v_mov_b32 v1, 0\nglobal_store_byte v6, v0, s[10:11] offset:1\n"
                               "global_store_short_d16_hi v6, v8, s[10:11] offset:4\n"
                               "global_atomic_add v6, v0, s[10:11] offset:8\n"
                               "global_atomic_add v9, v6, v0, s[10:11] offset:8 sc0\n"
                               "global_atomic_umax v1, v0, s[10:11] offset:2048",
                               text);
  for (unsigned lane = 0; lane < 64; lane++)
    m->vector[8][lane] = 0x12345678;
  memset(m->global, 0, SIM_MEMORY_BYTES);
  sim_run(m);
  uint32_t sum, most;
  memcpy(&sum, m->global + 5 * 16 + 8, 4);
  memcpy(&most, m->global + 2048, 4);
  ck_assert_uint_eq(m->global[5 * 16 + 1], 105);
  ck_assert_uint_eq(m->global[5 * 16 + 4], 0x34);
  ck_assert_uint_eq(m->global[5 * 16 + 5], 0x12);
  ck_assert_uint_eq(sum, 210);
  ck_assert_uint_eq(m->vector[9][5], 105);
  ck_assert_uint_eq(most, 163);
  sim_close(m);
}
END_TEST

/* Words 2 and 3 of a resource of raw bytes: `records` of them. */
static sim_machine *open_buffer(size_t processor, uint32_t records, const char *body, char text[512]) {
  sim_machine *m = open_memory(simulated[processor], sim_lanes(processor), body, text);
  m->wave.scalar[12] = m->wave.scalar[10];
  m->wave.scalar[13] = m->wave.scalar[11];
  m->wave.scalar[14] = records;
  m->wave.scalar[15] = sim_generation(processor) == G9 ? 0x27000 : 0x31027000;
  return m;
}

/* Buffer instructions of lanes at 16 bytes each, with a scalar offset of 32 in s0: which lanes are within so many
 * bytes, by what is added to their offsets. Up to gfx9, the scalar's bytes count as skipped, and where they are more
 * than all, none are left. */
START_TEST(buffers_have_bounds) {
  static const struct {
    const char *older, *newer;
    uint32_t records, lanes, lanes_of_gfx9;
    unsigned from; /* the byte of memory that lane 0 gets, or gives */
    unsigned bytes;
    bool is_store;
  } rows[] = {
      {"buffer_load_dword v8, v6, s[12:15], 0 offen offset:4",
       "buffer_load_b32 v8, v6, s[12:15], NULL offen offset:4", 16 * 10 + 8, 11, 11, 4, 4, false},
      {"buffer_load_dwordx4 v[8:11], v6, s[12:15], s0 offen", "buffer_load_b128 v[8:11], v6, s[12:15], s0 offen", 160,
       10, 8, 32, 16, false},
      {"buffer_load_dwordx2 v[8:9], v6, s[12:15], s0 offen offset:8",
       "buffer_load_b64 v[8:9], v6, s[12:15], s0 offen offset:8", 160, 10, 8, 40, 8, false},
      {"buffer_load_ushort v8, v6, s[12:15], 0 offen offset:14",
       "buffer_load_u16 v8, v6, s[12:15], NULL offen offset:14", 78, 4, 4, 14, 2, false},
      {"buffer_load_ubyte v8, v6, s[12:15], 0 offen", "buffer_load_u8 v8, v6, s[12:15], NULL offen", 0, 0, 0, 0, 1,
       false},
      {"buffer_store_dword v0, v6, s[12:15], 0 offen offset:12",
       "buffer_store_b32 v0, v6, s[12:15], NULL offen offset:12", 64, 4, 4, 12, 4, true},
      {"buffer_store_dword v0, v6, s[12:15], s0 offen", "buffer_store_b32 v0, v6, s[12:15], s0 offen", 64, 4, 2, 32,
       4, true},
      {"buffer_load_dword v8, v6, s[12:15], s0 offen", "buffer_load_b32 v8, v6, s[12:15], s0 offen", 32, 2, 0, 32, 4,
       false},
      {"buffer_load_dword v8, v6, s[12:15], s0 offen", "buffer_load_b32 v8, v6, s[12:15], s0 offen", 16, 1, 0, 32, 4,
       false},
      {"buffer_store_dword v0, v6, s[12:15], s0 offen", "buffer_store_b32 v0, v6, s[12:15], s0 offen", 16, 1, 0, 32,
       4, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      char text[512], body[256];
      const char *rest = strstr(rows[i].newer, "NULL");
      size_t length = rest != NULL ? (size_t)(rest - rows[i].newer) : strlen(rows[i].newer);
      snprintf(body, sizeof body, "%.*s%s%s", (int)length, rows[i].newer,
               rest == NULL               ? ""
               : sim_generation(p) == G12 ? "null"
                                          : "0",
               rest == NULL ? "" : rest + 4);
      sim_machine *m = open_buffer(p, rows[i].records, sim_generation(p) <= G10 ? rows[i].older : body, text);
      unsigned char before[SIM_MEMORY_BYTES];
      uint32_t lanes = sim_generation(p) == G9 ? rows[i].lanes_of_gfx9 : rows[i].lanes;
      m->wave.scalar[0] = 32;
      memcpy(before, m->global, sizeof before);
      sim_run(m);
      for (unsigned lane = 0; lane < 16; lane++) {
        unsigned char *memory = before + rows[i].from + 16 * lane, expected[16] = {0}, found[16] = {0};
        if (lane < lanes)
          memcpy(expected, memory, rows[i].bytes);
        for (unsigned w = 0; 4 * w < rows[i].bytes; w++)
          memcpy(found + 4 * w, &m->vector[8 + w][lane], 4);
        uint32_t stored = 100 + lane;
        if (rows[i].is_store && lane < lanes)
          memcpy(memory, &stored, 4);
        if (!rows[i].is_store)
          ck_assert_msg(memcmp(found, expected, 16) == 0, "%s: %s: lane %u", m->processor, m->text, lane);
      }
      ck_assert_msg(memcmp(before, m->global, sizeof before) == 0, "%s: %s: memory", m->processor, m->text);
      sim_close(m);
    }
  }
}
END_TEST

/* Where documents leave open what comes, no wave goes on. */
START_TEST(unclear_bounds_stop) {
  static const struct {
    const char *processor, *body, *expected;
    uint32_t records, word3;
  } rows[] = {
      {"gfx942", "buffer_load_dwordx4 v[8:11], v6, s[12:15], 0 offen", "of which 8 are within it", 168, 0x27000},
      {"gfx942", "buffer_store_dword v0, v6, s[12:15], 0 offen offset:2", "(lane 0), of which 1 are", 3, 0x27000},
      {"gfx1030", "buffer_load_dword v8, v6, s[12:15], 0 offen", "OOB_SELECT is 0", 160, 0x27000},
      {"gfx942", "v_mov_b32 v6, -4\nbuffer_load_dword v8, v6, s[12:15], 0 offen offset:8", "more than 32 bits", 160,
       0x27000},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[512];
    sim_machine *m = open_memory(rows[i].processor, tj_processor_wave_size(tj_processor_by_name(rows[i].processor)),
                                 rows[i].body, text);
    m->wave.scalar[12] = m->wave.scalar[10];
    m->wave.scalar[13] = m->wave.scalar[11];
    m->wave.scalar[14] = rows[i].records;
    m->wave.scalar[15] = rows[i].word3;
    sim_run_failing(m, rows[i].expected);
    sim_close(m);
  }
}
END_TEST

START_TEST(accesses_outside_of_memory_stop) {
  static const struct {
    const char *body, *expected;
    uint64_t lanes;
  } rows[] = {
      {"global_load_dword v8, v[4:5], off offset:4088", "not memory that the kernel may read", 0xfffffffffffffffe},
      {"global_load_dwordx4 v[8:11], v6, s[10:11] offset:3072\nglobal_load_dwordx4 v[8:11], v6, s[10:11] offset:3080",
       "not memory", 1ull << 63},
      {"v_mov_b32 v5, 0\nglobal_store_dword v[4:5], v0, off", "may write", UINT64_MAX},
      {"s_mov_b64 exec, 2\nglobal_atomic_add v6, v0, s[10:11] offset:2", "not aligned", 2},
      {"s_load_dword s0, s[0:1], 0x0", "not memory that the kernel may read", 0},
      {"v_mov_b32 v1, 0xffe\nds_read_b32 v8, v1", "the workgroup has 4096 bytes", UINT64_MAX},
      {"v_mov_b32 v1, 0x1000\nds_write_b8 v1, v0", "LDS address 4096", UINT64_MAX},
      {"ds_add_u32 v6, v0 offset:3100", "4 bytes at LDS address 4108", 1ull << 63},
      {"s_mov_b64 exec, 4\nds_add_u32 v6, v0 offset:2", "not aligned for an atomic", 4},
      {"s_trap 2", "the kernel traps", 0},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3", "floating-point mode", 0},
      {"s_getreg_b32 s0, hwreg(HW_REG_HW_ID)", "does not have this hardware register", 0},
      {"v_mov_b32 v100, 0", "no vector register 100", 0},
      {"s_setpc_b64 s[10:11]", "leads to no instruction", 0},
      {"v_cubeid_f32 v0, v1, v2, v3", "does not know the instruction v_cubeid_f32", 0},
      {"v_mad_u32_u24 v0, v1, v2, v3 clamp", "does not know the modifiers of", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[512];
    sim_machine *m = open_memory("gfx942", 64, rows[i].body, text);
    sim_run_failing(m, rows[i].expected);
    ck_assert_msg(m->wave.failed_lanes == rows[i].lanes, "%s: lanes %llx", rows[i].body,
                  (unsigned long long)m->wave.failed_lanes);
    sim_close(m);
  }
}
END_TEST

/* --- LDS --- */

START_TEST(lds_pairs) {
  static const char older[] = "ds_write2_b32 v6, v0, v2 offset1:1\nds_write2st64_b32 v6, v2, v0 offset0:4 offset1:8\n"
                              "ds_read2_b32 v[8:9], v6 offset1:1\nds_read2st64_b32 v[10:11], v6 offset0:4 offset1:8";
  static const char newer[] = "ds_store_2addr_b32 v6, v0, v2 offset1:1\n"
                              "ds_store_2addr_stride64_b32 v6, v2, v0 offset0:4 offset1:8\n"
                              "ds_load_2addr_b32 v[8:9], v6 offset1:1\n"
                              "ds_load_2addr_stride64_b32 v[10:11], v6 offset0:4 offset1:8";
  for (size_t p = 0; p < SIMULATED_COUNT; p++) {
    char text[512];
    const char *body = sim_generation(p) <= G10 ? older : newer;
    sim_machine *m = open_memory(simulated[p], sim_lanes(p), body, text);
    sim_run(m);
    for (unsigned lane = 0; lane < m->wave.lanes; lane++) {
      ck_assert_uint_eq(m->vector[8][lane], 100 + lane);
      ck_assert_uint_eq(m->vector[9][lane], 4 * lane);
      ck_assert_uint_eq(m->vector[10][lane], 4 * lane);
      ck_assert_uint_eq(m->vector[11][lane], 100 + lane);
    }
    sim_close(m);
  }
}
END_TEST

static uint32_t every_word(unsigned lane) {
  return lane * 4;
}

static uint32_t every_second_word(unsigned lane) {
  return lane * 8;
}

static uint32_t every_fourth_word(unsigned lane) {
  return lane * 16;
}

static uint32_t every_eighth_word(unsigned lane) {
  return lane * 32;
}

static uint32_t one_word(unsigned lane) {
  (void)lane;
  return 64;
}

/* 16 bytes in the half of the banks that the lanes of one phase of gfx942 share out, each four lanes in another row.
 */
static uint32_t halves_of_gfx942(unsigned lane) {
  return lane % 4 * 16 + (lane / 16 & 1) * 64 + lane / 4 * 128;
}

/* The same for the quarters of gfx950's banks. */
static uint32_t quarters_of_gfx950(unsigned lane) {
  static const uint8_t quarter[] = {0, 0, 1, 1, 2, 2, 3, 3};
  return lane % 4 * 16 + quarter[lane / 4 % 8] * 64u + lane / 4 * 256;
}

START_TEST(lds_cycles_by_the_phase_model) {
  static const struct {
    const char *processor, *text;
    uint32_t (*address)(unsigned lane);
    uint64_t cycles, least;
  } rows[] = {
      {"gfx942", "ds_read_b32 v8, v1", every_word, 2, 2},
      {"gfx942", "ds_read_b32 v8, v1", every_second_word, 4, 2},
      {"gfx942", "ds_read_b32 v8, v1", one_word, 2, 2},
      {"gfx942", "ds_read_b64 v[8:9], v1", every_second_word, 4, 4},
      {"gfx942", "ds_read_b128 v[8:11], v1", every_fourth_word, 8, 8},
      {"gfx942", "ds_read_b128 v[8:11], v1", halves_of_gfx942, 8, 8},
      {"gfx90a", "ds_read_b128 v[8:11], v1", halves_of_gfx942, 8, 8},
      {"gfx942", "ds_write_b128 v1, v[8:11]", halves_of_gfx942, 16, 8},
      {"gfx942", "ds_write_b128 v1, v[8:11]", every_fourth_word, 8, 8},
      {"gfx950", "ds_read_b32 v8, v1", every_word, 1, 1},
      {"gfx950", "ds_read_b128 v[8:11], v1", every_fourth_word, 4, 4},
      {"gfx950", "ds_read_b128 v[8:11], v1", quarters_of_gfx950, 4, 4},
      {"gfx950", "ds_write_b128 v1, v[8:11]", quarters_of_gfx950, 8, 4},
      {"gfx1100", "ds_load_b32 v8, v1", every_word, 1, 1},
      {"gfx1100", "ds_load_b32 v8, v1", every_eighth_word, 8, 1},
      {"gfx1100", "ds_load_b128 v[8:11], v1", every_fourth_word, 4, 4},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[512];
    sim_machine *m = open_lanes(rows[i].processor, 64, rows[i].text, text);
    for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++)
      m->vector[1][lane] = rows[i].address(lane);
    sim_run(m);
    ck_assert_msg(m->counters.lds_cycles == rows[i].cycles && m->counters.least_lds_cycles == rows[i].least,
                  "%s: %s: %llu cycles, at least %llu (row %zu)", rows[i].processor, rows[i].text,
                  (unsigned long long)m->counters.lds_cycles, (unsigned long long)m->counters.least_lds_cycles, i);
    sim_close(m);
  }
}
END_TEST

/* Accesses of two waves to two bytes, one after another: what the last one is told. */
START_TEST(lds_order) {
  enum { R, W, C };
  static const tj_sim_shadow_access accesses[] = {TJ_SIM_SHADOW_READ, TJ_SIM_SHADOW_WRITE, TJ_SIM_SHADOW_COMBINE};
  static const struct {
    struct {
      unsigned access;
      uint32_t time;
      uint16_t wave;
    } step[4];
    unsigned count;
    const char *expected;
  } rows[] = {
      {{{R, 1, 0}}, 1, "nothing has been written"},
      {{{W, 1, 0}, {R, 1, 0}}, 2, NULL},
      {{{W, 1, 0}, {R, 1, 1}}, 2, "another wave has written"},
      {{{W, 1, 0}, {R, 2, 1}}, 2, NULL},
      {{{W, 1, 0}, {W, 1, 1}}, 2, "another wave has written"},
      {{{W, 1, 0}, {W, 2, 1}}, 2, NULL},
      {{{W, 1, 0}, {R, 2, 1}, {W, 2, 0}}, 3, "another wave has read"},
      {{{W, 1, 0}, {R, 2, 1}, {W, 2, 1}}, 3, NULL},
      {{{W, 1, 0}, {R, 2, 0}, {R, 2, 1}, {W, 2, 1}}, 4, "another wave has read"},
      {{{W, 1, 0}, {R, 2, 1}, {W, 3, 0}}, 3, NULL},
      {{{W, 1, 0}, {C, 2, 0}, {C, 2, 1}}, 3, NULL},
      {{{W, 1, 0}, {C, 1, 1}}, 2, "another wave has written"},
      {{{W, 1, 0}, {C, 2, 0}, {R, 2, 1}}, 3, "another wave has written"},
      {{{C, 1, 0}}, 1, "nothing has been written"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_sim_shadow shadow[2] = {0};
    const char *problem = NULL;
    for (unsigned k = 0; k < rows[i].count; k++) {
      ck_assert_msg(problem == NULL, "row %zu stops before its end: %s", i, problem);
      problem =
          tj_sim_shadow_note(shadow, 2, accesses[rows[i].step[k].access], rows[i].step[k].time, rows[i].step[k].wave);
    }
    bool agrees =
        rows[i].expected == NULL ? problem == NULL : problem != NULL && strstr(problem, rows[i].expected) == problem;
    ck_assert_msg(agrees, "row %zu: %s", i, problem == NULL ? "nothing is wrong" : problem);
  }
}
END_TEST

START_TEST(waits_come_before_uses) {
  static const struct {
    const char *processor, *text;
    const char *expected; /* NULL: nothing is wrong */
  } rows[] = {
      {"gfx942", "global_load_dword v8, v6, s[10:11]\nv_mov_b32 v9, v8", "v8 is used before"},
      {"gfx942", "global_load_dword v8, v6, s[10:11]\ns_waitcnt vmcnt(0)\nv_mov_b32 v9, v8", NULL},
      {"gfx942", "global_load_dword v8, v6, s[10:11]\nv_mov_b32 v8, 0", "v8 is used before"},
      {"gfx942", "global_load_dword v8, v6, s[10:11]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v9, v8", "v8 is used before"},
      {"gfx942",
       "global_load_dword v8, v6, s[10:11]\nglobal_load_dwordx2 v[12:13], v6, s[10:11]\ns_waitcnt vmcnt(1)\n"
       "v_mov_b32 v9, v8",
       NULL},
      {"gfx942",
       "global_load_dword v8, v6, s[10:11]\nglobal_load_dwordx2 v[12:13], v6, s[10:11]\ns_waitcnt vmcnt(1)\n"
       "v_mov_b32 v9, v13",
       "v13 is used before"},
      {"gfx942",
       "global_load_dword v8, v6, s[10:11]\nglobal_store_dword v6, v9, s[10:11]\ns_waitcnt vmcnt(1)\nv_mov_b32 v9, "
       "v8",
       NULL},
      {"gfx1030",
       "global_load_dword v8, v6, s[10:11]\nglobal_store_dword v6, v9, s[10:11]\ns_waitcnt vmcnt(1)\nv_mov_b32 v9, "
       "v8",
       "v8 is used before"},
      {"gfx942", "s_load_dwordx2 s[2:3], s[10:11], 0x0\ns_add_u32 s4, s3, s3", "s3 is used before"},
      {"gfx942", "s_load_dwordx2 s[2:3], s[10:11], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s4, s3, s3", NULL},
      {"gfx942",
       "s_load_dword s2, s[10:11], 0x0\ns_load_dword s3, s[10:11], 0x0\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s4, s2",
       "s2 is used before"},
      {"gfx1100", "ds_store_b32 v6, v0\nds_load_b32 v8, v6\nv_mov_b32 v9, v8", "v8 is used before"},
      {"gfx1100", "ds_store_b32 v6, v0\nds_load_b32 v8, v6\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v9, v8", NULL},
      {"gfx1100", "ds_load_b32 v8, v6\nds_load_b32 v9, v6\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v12, v8", NULL},
      {"gfx1201", "global_load_b32 v8, v6, s[10:11]\ns_wait_loadcnt 0x0\nv_mov_b32 v9, v8", NULL},
      {"gfx1201", "global_load_b32 v8, v6, s[10:11]\ns_wait_kmcnt 0x0\nv_mov_b32 v9, v8", "v8 is used before"},
      {"gfx1201", "global_load_b32 v8, v6, s[10:11]\ns_wait_loadcnt_dscnt 0x0\nv_mov_b32 v9, v8", NULL},
      {"gfx1201", "global_load_b32 v8, v6, s[10:11]\ns_wait_loadcnt_dscnt 0x100\nv_mov_b32 v9, v8",
       "v8 is used before"},
      {"gfx1201", "s_load_b64 s[2:3], s[10:11], 0x0\ns_wait_kmcnt 0x0\ns_mov_b32 s4, s3", NULL},
      {"gfx1201", "ds_load_b32 v8, v6\ns_wait_dscnt 0x0\nv_dual_mov_b32 v9, v1 :: v_dual_mov_b32 v10, v8", NULL},
      {"gfx1201", "ds_load_b32 v8, v6\nv_dual_mov_b32 v9, v1 :: v_dual_mov_b32 v10, v8", "v8 is used before"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[512];
    sim_machine *m = open_memory(rows[i].processor, 64, rows[i].text, text);
    if (rows[i].expected == NULL)
      sim_run(m);
    else
      sim_run_failing(m, rows[i].expected);
    sim_close(m);
  }
}
END_TEST

START_TEST(cache_lines) {
  static const struct {
    const char *processor, *text;
    uint64_t lines, least;
    bool is_stored;
    int width; /* index of the counter of its bytes a lane */
  } rows[] = {
      {"gfx942", "global_load_dword v8, v2, s[10:11]", 2, 2, false, 2},
      {"gfx90a", "global_load_dword v8, v2, s[10:11]", 4, 4, false, 2},
      {"gfx942", "global_load_dword v8, v6, s[10:11]", 8, 2, false, 2},
      {"gfx942", "global_load_dwordx4 v[8:11], v6, s[10:11]", 8, 8, false, 5},
      {"gfx942", "global_load_dword v8, v2, s[10:11] offset:2", 3, 2, false, 2},
      {"gfx1201", "global_load_b32 v8, v2, s[10:11]", 1, 1, false, 2},
      {"gfx942", "global_load_dwordx4 v[8:11], v6, s[10:11] offset:8", 9, 8, false, 5},
      {"gfx90a", "global_load_dwordx2 v[8:9], v6, s[10:11]", 16, 8, false, 3},
      {"gfx942", "global_store_dwordx4 v6, v[8:11], s[10:11]", 8, 8, true, 5},
      {"gfx942", "global_store_byte v2, v8, s[10:11]", 2, 1, true, 0},
      {"gfx942", "global_atomic_add v2, v8, s[10:11]", 2, 2, true, 2},
      {"gfx1100", "s_mov_b32 exec_lo, 0x80000001\nglobal_store_b128 v6, v[8:11], s[10:11] offset:120", 3, 1, true, 5},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[512];
    sim_machine *m = open_memory(rows[i].processor, 64, rows[i].text, text);
    uint64_t base = ((uint64_t)(uintptr_t)m->global + 127) / 128 * 128;
    m->wave.scalar[10] = (uint32_t)base;
    m->wave.scalar[11] = (uint32_t)(base >> 32);
    sim_run(m);
    ck_assert_msg(m->counters.cache_lines == rows[i].lines && m->counters.least_cache_lines == rows[i].least,
                  "%s: %s: %llu lines, at least %llu", rows[i].processor, rows[i].text,
                  (unsigned long long)m->counters.cache_lines, (unsigned long long)m->counters.least_cache_lines);
    const tj_sim_counters *c = &m->counters;
    ck_assert_uint_eq(rows[i].is_stored ? c->store_lines : c->load_lines, rows[i].lines);
    ck_assert_uint_eq(rows[i].is_stored ? c->least_store_lines : c->least_load_lines, rows[i].least);
    ck_assert_uint_eq(c->load_lines + c->store_lines, c->cache_lines);
    const uint64_t *moved = rows[i].is_stored ? c->store_bytes : c->load_bytes;
    ck_assert_uint_eq(moved[rows[i].width], c->memory_bytes);
    sim_close(m);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {lanes_exchange,
                                lanes_that_are_off,
                                names_that_are_no_registers,
                                branches,
                                jumps_to_the_beginning,
                                saved_masks,
                                comparisons_narrow_exec,
                                loads_of_all_widths,
                                stores_and_atomics,
                                buffers_have_bounds,
                                unclear_bounds_stop,
                                accesses_outside_of_memory_stop,
                                lds_pairs,
                                lds_cycles_by_the_phase_model,
                                lds_order,
                                waits_come_before_uses,
                                cache_lines};
  return run_suite(suite_of("sim_lanes", tests, sizeof tests / sizeof tests[0]));
}
