/* SPDX-License-Identifier: MIT */
/* Loads from memory straight into LDS: which bytes go where, and that nobody touches them before they are waited for.
 */
#include "tests/unit/support/sim_support.h"

enum { LANES = 64, STRIDE = 48, PLACE = 512 };

static tj_sim_shadow shadow[SIM_LDS_BYTES];

/* A wave whose lanes are at v[4:5], and at v6 from s[10:11] on, 48 bytes apart; what is in memory tells bytes apart.
 */
static sim_machine *open_direct(const char *processor, const char *body, char text[512]) {
  sim_machine *m = sim_open(processor, sim_program(text, 512, body, LANES));
  uint64_t base = (uint64_t)(uintptr_t)m->global;
  m->wave.scalar[10] = (uint32_t)base;
  m->wave.scalar[11] = (uint32_t)(base >> 32);
  for (unsigned lane = 0; lane < LANES; lane++) {
    uint64_t address = base + STRIDE * lane;
    m->vector[4][lane] = (uint32_t)address;
    m->vector[5][lane] = (uint32_t)(address >> 32);
    m->vector[6][lane] = STRIDE * lane;
    m->vector[7][lane] = 4 * lane;
  }
  for (unsigned i = 0; i < SIM_MEMORY_BYTES; i++)
    m->global[i] = (unsigned char)(i * 7 + i / 256);
  memset(shadow, 0, sizeof shadow);
  memset(m->lds, 0xee, SIM_LDS_BYTES);
  m->group.shadow = shadow;
  return m;
}

/* Lane n's bytes are found by n, whichever lanes are off. */
START_TEST(bytes_lie_side_by_side) {
  static const struct {
    const char *processor, *body;
    uint32_t bytes, offset;
    uint64_t lanes;
  } rows[] = {
      {"gfx942", "global_load_lds_dword v[4:5], off", 4, 0, UINT64_MAX},
      {"gfx942", "global_load_lds_dword v6, s[10:11] offset:16", 4, 16, UINT64_MAX},
      {"gfx950", "global_load_lds_dword v[4:5], off offset:4", 4, 4, 0xff00ff0f},
      {"gfx950", "global_load_lds_dwordx4 v[4:5], off", 16, 0, UINT64_MAX},
      {"gfx950", "global_load_lds_dwordx4 v6, s[10:11] offset:32", 16, 32, 0x8000000000000003},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[512], body[256];
    unsigned char expected[SIM_LDS_BYTES];
    snprintf(body, sizeof body, "s_movk_i32 m0, %d\n%s\ns_waitcnt vmcnt(0)", PLACE, rows[i].body);
    sim_machine *m = open_direct(rows[i].processor, body, text);
    tj_sim_set_exec(&m->wave, rows[i].lanes);
    memset(expected, 0xee, sizeof expected);
    for (uint32_t lane = 0; lane < LANES; lane++)
      for (uint32_t byte = 0; byte < rows[i].bytes && (rows[i].lanes >> lane & 1) != 0; byte++)
        expected[PLACE + rows[i].offset + lane * rows[i].bytes + byte] =
            m->global[STRIDE * lane + rows[i].offset + byte];
    sim_run(m);
    ck_assert_msg(memcmp(m->lds, expected, sizeof expected) == 0, "%s: %s", rows[i].processor, rows[i].body);
    ck_assert_uint_eq(m->counters.lds_cycles, m->counters.least_lds_cycles);
    ck_assert_uint_eq(m->counters.memory_accesses, 1);
    ck_assert_uint_eq(m->counters.memory_bytes, rows[i].bytes * (unsigned)__builtin_popcountll(rows[i].lanes));
    sim_close(m);
  }
}
END_TEST

/* On gfx1250 each lane says where its bytes go. */
START_TEST(bytes_lie_where_lanes_say) {
  static const struct {
    const char *body;
    uint32_t bytes, offset;
    uint64_t lanes;
  } rows[] = {
      {"global_load_async_to_lds_b8 v7, v6, s[10:11]", 1, 0, UINT32_MAX},
      {"global_load_async_to_lds_b32 v7, v[4:5], off offset:4", 4, 4, 0xff00ff0f},
      {"global_load_async_to_lds_b64 v7, v[4:5], off", 8, 0, 0x80000001},
      {"global_load_async_to_lds_b128 v7, v6, s[10:11] offset:16", 16, 16, UINT32_MAX},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int is_early = 0; is_early < 2; is_early++) {
      char text[512], body[256];
      unsigned char expected[SIM_LDS_BYTES];
      snprintf(body, sizeof body, "%s\n%s\nds_load_u8 v8, v7 offset:%u\ns_wait_dscnt 0x0", rows[i].body,
               is_early ? "s_wait_loadcnt 0x0" : "s_wait_asynccnt 0x0", rows[i].offset);
      sim_machine *m = open_direct("gfx1250", body, text);
      tj_sim_set_exec(&m->wave, rows[i].lanes);
      memset(expected, 0xee, sizeof expected);
      for (uint32_t lane = 0; lane < 32; lane++) {
        m->vector[7][lane] = 100 * 4 * ((lane * 5) % 8) + 32 * (lane / 8);
        if ((rows[i].lanes >> lane & 1) != 0)
          memcpy(expected + m->vector[7][lane] + rows[i].offset, m->global + STRIDE * lane + rows[i].offset,
                 rows[i].bytes);
      }
      if (is_early)
        sim_run_failing(m, "nobody has waited for it");
      else
        sim_run(m);
      ck_assert_msg(memcmp(m->lds, expected, sizeof expected) == 0, "%s", rows[i].body);
      sim_close(m);
    }
  }
}
END_TEST

START_TEST(what_is_wrong_stops) {
  static const char load[] = "global_load_lds_dword v[4:5], off";
  static const struct {
    const char *before, *after, *expected; /* NULL: nothing is wrong */
  } rows[] = {
      {"s_mov_b32 m0, 0", "s_waitcnt vmcnt(0)\nds_read_b32 v8, v7", NULL},
      {"s_mov_b32 m0, 0", "ds_read_b32 v8, v7", "nobody has waited for it"},
      {"s_mov_b32 m0, 0", "ds_write_b32 v7, v6", "nobody has waited for it"},
      {"s_mov_b32 m0, 0", "s_waitcnt lgkmcnt(0)\nds_read_b32 v8, v7", "nobody has waited for it"},
      {"s_mov_b32 m0, 0", "global_load_dword v9, v[4:5], off\ns_waitcnt vmcnt(1)\nds_read_b32 v8, v7", NULL},
      {"global_load_dword v9, v[4:5], off\ns_mov_b32 m0, 0", "s_waitcnt vmcnt(1)\nds_read_b32 v8, v7",
       "nobody has waited for it"},
      {"s_mov_b32 m0, 2", "s_waitcnt vmcnt(0)", "not aligned"},
      {"s_movk_i32 m0, 0xf04", "s_waitcnt vmcnt(0)", "LDS address 4096 (lane 63): the workgroup has less LDS"},
      {"s_mov_b32 m0, 0\nv_mov_b32 v5, 0", "s_waitcnt vmcnt(0)", "not memory that the kernel may read"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[512], body[256];
    snprintf(body, sizeof body, "%s\n%s\n%s\ns_waitcnt vmcnt(0) lgkmcnt(0)", rows[i].before, load, rows[i].after);
    sim_machine *m = open_direct("gfx942", body, text);
    if (rows[i].expected != NULL)
      sim_run_failing(m, rows[i].expected);
    else
      sim_run(m);
    sim_close(m);
  }
}
END_TEST

/* M0 says where, though the instruction's text does not name it. */
START_TEST(places_are_defined) {
  static const char *const expected[] = {"m0, which nothing has written", NULL};
  for (size_t i = 0; i < 2; i++) {
    char text[512], body[256];
    snprintf(body, sizeof body, "%sglobal_load_lds_dword v6, s[10:11]\ns_waitcnt vmcnt(0)",
             expected[i] == NULL ? "s_mov_b32 m0, 0\n" : "");
    sim_machine *m = open_direct("gfx942", body, text);
    sim_track(m);
    for (unsigned lane = 0; lane < LANES; lane++)
      m->vector[6][lane] = STRIDE * lane;
    tj_sim_define_vector(&m->wave, 6, UINT64_MAX);
    m->wave.scalar[10] = (uint32_t)(uintptr_t)m->global;
    m->wave.scalar[11] = (uint32_t)((uint64_t)(uintptr_t)m->global >> 32);
    tj_sim_define_scalar(&m->wave, 10);
    tj_sim_define_scalar(&m->wave, 11);
    if (expected[i] != NULL)
      sim_run_failing(m, expected[i]);
    else
      sim_run(m);
    sim_close(m);
  }
}
END_TEST

/* Bytes of wave 0, which waits before or after a barrier; wave 1 may read them after a barrier that comes later. */
START_TEST(other_waves_come_after_a_barrier) {
  memset(shadow, 0, sizeof shadow);
  ck_assert_ptr_null(tj_sim_shadow_expect(shadow, 4, 1, 0, 7));
  ck_assert_str_eq(tj_sim_shadow_note(shadow, 4, TJ_SIM_SHADOW_READ, 2, 1),
                   "a load from memory writes there, and nobody has waited for it");
  tj_sim_shadow_arrive(shadow, 4, 2, 0, 7);
  ck_assert_str_eq(tj_sim_shadow_note(shadow, 4, TJ_SIM_SHADOW_READ, 2, 1),
                   "another wave has written there, and no barrier lies between");
  ck_assert_ptr_null(tj_sim_shadow_note(shadow, 4, TJ_SIM_SHADOW_READ, 3, 1));
  ck_assert_str_eq(tj_sim_shadow_expect(shadow, 4, 3, 0, 8),
                   "another wave has read there, and no barrier lies between");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {bytes_lie_side_by_side, bytes_lie_where_lanes_say, what_is_wrong_stops,
                                places_are_defined, other_waves_come_after_a_barrier};
  return run_suite(suite_of("sim_direct", tests, sizeof tests / sizeof *tests));
}
