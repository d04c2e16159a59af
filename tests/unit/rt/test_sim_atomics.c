/* SPDX-License-Identifier: MIT */
/* Atomics of the simulator, in LDS and in global memory: what each leaves in memory and what it returns. */
#include "tests/unit/support/sim_support.h"

#include <stdio.h>

/* What atomics leave where `before` was, given `operand`, and `compared` where they compare: names after ds_ and
 * global_atomic_ up to gfx10 and from gfx11 on. */
static const struct {
  const char *lds, *newer_lds, *global, *newer_global, *suffix;
  uint64_t before, operand, compared, after;
} atomics[] = {
    {"add", "add", "add", "add", "u32", 0xffffffff, 5, 0, 4},
    {"add", "add", "add_x2", "add", "u64", 0xffffffff, 5, 0, 0x100000004},
    {"sub", "sub", "sub", "sub", "u32", 3, 5, 0, 0xfffffffe},
    {"min", "min", "smin", "min", "i32", 0xfffffff0, 5, 0, 0xfffffff0},
    {"min", "min", "umin", "min", "u32", 0xfffffff0, 5, 0, 5},
    {"max", "max", "smax", "max", "i32", 0xfffffff0, 5, 0, 5},
    {"max", "max", "umax", "max", "u32", 0xfffffff0, 5, 0, 0xfffffff0},
    {"and", "and", "and", "and", "b32", 0xf5, 0x3c, 0, 0x34},
    {"or", "or", "or", "or", "b32", 0xf5, 0x3c, 0, 0xfd},
    {"xor", "xor", "xor_x2", "xor", "b64", 0xf500000000, 0x3c00000001, 0, 0xc900000001},
    {"inc", "inc", "inc", "inc", "u32", 4, 5, 0, 5},
    {"inc", "inc", "inc", "inc", "u32", 5, 5, 0, 0},
    {"dec", "dec", "dec", "dec", "u32", 5, 5, 0, 4},
    {"dec", "dec", "dec", "dec", "u32", 6, 5, 0, 5},
    {"dec", "dec", "dec", "dec", "u32", 0, 5, 0, 5},
    {"wrxchg_rtn", "storexchg_rtn", "swap", "swap", "b32", 1, 2, 0, 2},
    {"cmpst", "cmpstore", "cmpswap", "cmpswap", "b32", 1, 2, 1, 2},
    {"cmpst", "cmpstore", "cmpswap", "cmpswap", "b32", 1, 2, 3, 1},
    {"cmpst", "cmpstore", "cmpswap_x2", "cmpswap", "b64", 0x700000001, 2, 0x700000001, 2},
    {"cmpst", "cmpstore", "cmpswap_x2", "cmpswap", "b64", 0x700000001, 2, 0x800000001, 0x700000001},
    {"add", "add", "add_f32", "add", "f32", 0x3f800000, 0x40000000, 0, 0x40400000},
};

/* Two of row `i`: one of the bytes at v6, and one that returns to v[12:13] of the bytes after; data in v[8:9], what
 * is compared with in v[10:11]. */
static void write_atomics(char *to, size_t size, size_t i, bool is_newer, bool is_lds) {
  bool is_wide = strstr(atomics[i].suffix, "64") != NULL, compares = strncmp(atomics[i].lds, "cmpst", 5) == 0;
  const char *operand = is_wide ? "v[8:9]" : "v8", *compared = is_wide ? "v[10:11]" : "v10";
  const char *result = is_wide ? "v[12:13]" : "v12", *name = is_newer ? atomics[i].newer_lds : atomics[i].lds;
  const char *returns = strstr(name, "_rtn") != NULL ? "" : "_rtn";
  char data[32];
  if (!is_lds) {
    snprintf(data, sizeof data, "v[8:%d]", is_wide ? 11 : 9);
    name = is_newer ? atomics[i].newer_global : atomics[i].global;
    const char *joint = is_newer ? "_" : "", *suffix = is_newer ? atomics[i].suffix : "";
    snprintf(to, size,
             "%sglobal_atomic_%s%s%s v6, %s, s[10:11]\nglobal_atomic_%s%s%s %s, v6, %s, s[10:11] offset:8 %s",
             compares && !is_wide ? "v_mov_b32 v9, v10\n" : "", name, joint, suffix, compares ? data : operand, name,
             joint, suffix, result, compares ? data : operand, is_newer ? "glc" : "sc0");
    return;
  }
  snprintf(data, sizeof data, compares ? "%s, %s" : "%s", compares && !is_newer ? compared : operand,
           is_newer ? compared : operand);
  int length = 0;
  if (*returns != '\0')
    length = snprintf(to, size, "ds_%s_%s v6, %s\n", name, atomics[i].suffix, data);
  snprintf(to + length, size - (size_t)length, "ds_%s%s_%s %s, v6, %s offset:8", name, returns, atomics[i].suffix,
           result, data);
}

/* Sets s[10:11] to the machine's memory and v6 to 16 times the lane. */
static sim_machine *open_atomics(size_t processor, const char *body, char text[512]) {
  unsigned lanes = sim_lanes(processor);
  sim_machine *m = sim_open(simulated[processor], sim_program(text, 512, body, lanes));
  uint64_t base = (uint64_t)(uintptr_t)m->global;
  m->wave.scalar[10] = (uint32_t)base;
  m->wave.scalar[11] = (uint32_t)(base >> 32);
  for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++)
    m->vector[6][lane] = 16 * lane;
  return m;
}

static void check_atomics(size_t i, size_t processor, bool is_lds) {
  char text[512], body[256];
  write_atomics(body, sizeof body, i, sim_generation(processor) > G10, is_lds);
  sim_machine *m = open_atomics(processor, body, text);
  unsigned char *memory = is_lds ? m->lds : m->global;
  size_t bytes = strstr(atomics[i].suffix, "64") != NULL ? 8 : 4;
  memset(memory, 0, SIM_LDS_BYTES);
  for (unsigned at = 0; at < 16 * m->wave.lanes; at += 8)
    memcpy(memory + at, &atomics[i].before, bytes);
  sim_set_all(m, 8, atomics[i].operand, true);
  sim_set_all(m, 10, atomics[i].compared, true);
  sim_run(m);
  for (unsigned lane = 0; lane < m->wave.lanes; lane++) {
    uint64_t after[2];
    memcpy(after, memory + 16 * lane, sizeof after);
    uint64_t first = is_lds && strstr(atomics[i].lds, "_rtn") != NULL ? atomics[i].before : atomics[i].after;
    ck_assert_msg(after[0] == first && after[1] == atomics[i].after, "%s: %s: %llx %llx", m->processor, body,
                  (unsigned long long)after[0], (unsigned long long)after[1]);
    ck_assert_uint_eq(sim_pair(m, 12, lane), atomics[i].before);
  }
  sim_close(m);
}

START_TEST(atomics_of_all_kinds) {
  for (size_t i = 0; i < sizeof atomics / sizeof atomics[0]; i++) {
    for (size_t p = 0; p < SIMULATED_COUNT; p++) {
      check_atomics(i, p, true);
      if (strcmp(simulated[p], "gfx942") == 0 || strcmp(simulated[p], "gfx1100") == 0)
        check_atomics(i, p, false);
    }
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {atomics_of_all_kinds};
  return run_suite(suite_of("sim_atomics", tests, sizeof tests / sizeof tests[0]));
}
