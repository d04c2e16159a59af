/* SPDX-License-Identifier: MIT */
/* The simulator's vector registers beyond 255, which s_set_vgpr_msb has operands name: by two bits each for source 0,
 * which is the address of what moves memory, source 1, its data, source 2, its other data, and the destination, from
 * the lowest bits up, as LLVM's AMDGPULowerVGPREncoding writes them. */
#include "tests/unit/support/sim_support.h"

enum { REGISTERS = 1024, ADDRESS = 5 /* in every bank the number 0 */ };

static const char processor[] = "gfx1250";

/* Register r holds the float r; what `reg` holds behind the text. */
static const struct {
  const char *text;
  unsigned reg;
  float value;
} rows[] = {
    {"s_set_vgpr_msb 0x40\nv_mov_b32 v3, v4", 259, 4},
    {"s_set_vgpr_msb 0x40\nv_mov_b32 v3, v4", 3, 3},
    {"s_set_vgpr_msb 1\nv_mov_b32 v3, v4", 3, 260},
    {"s_set_vgpr_msb 0xc1\nv_mov_b32 v255, v255", 1023, 511},
    {"s_set_vgpr_msb 0x40\ns_set_vgpr_msb 0x4000\nv_mov_b32 v3, v4", 3, 4},
    {"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0x1001\nv_mov_b32 v3, v4", 259, 4},
    {"s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0x4001\nv_mov_b32 v3, v4", 3, 260},
    {"s_set_vgpr_msb 0x40\ns_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1\nv_mov_b32 v3, v4", 3, 4},
    {"s_set_vgpr_msb 0xe4\nv_fma_f32 v0, v1, v2, v3", 768, 1 * 258 + 515},
    {"s_set_vgpr_msb 0x4e\nv_sub_f32 v0, v1, v2", 256, 513 - 770},
    {"s_set_vgpr_msb 0x90\nv_fmamk_f32 v0, v1, 0x40000000, v2", 512, 1 * 2 + 258},
    {"s_set_vgpr_msb 0x4c\nv_fmaak_f32 v0, v1, v2, 0x40000000", 256, 1 * 770 + 2},
    {"s_set_vgpr_msb 0x44\nv_fmac_f32 v0, v1, v2", 256, 256 + 1 * 258},
    {"s_set_vgpr_msb 0x41\nv_dual_mov_b32 v4, v1 :: v_dual_mov_b32 v5, v2", 260, 257},
    {"s_set_vgpr_msb 0x41\nv_dual_mov_b32 v4, v1 :: v_dual_mov_b32 v5, v2", 261, 258},
    {"s_set_vgpr_msb 5\nv_cmp_lt_f32 vcc_lo, v1, v2\nv_cndmask_b32 v0, v1, v2, vcc_lo", 0, 258},
    {"s_set_vgpr_msb 2\nv_readfirstlane_b32 s8, v7\ns_set_vgpr_msb 0x80\nv_mov_b32 v0, s8", 512, 519},
    {"s_set_vgpr_msb 0x27\nds_store_2addr_b32 v5, v1, v2 offset1:1\ns_wait_dscnt 0\ns_set_vgpr_msb 0x43\n"
     "ds_load_2addr_b32 v[8:9], v5 offset1:1\ns_wait_dscnt 0",
     265, 514},
    {"s_set_vgpr_msb 7\nglobal_store_b32 v5, v7, s[2:3]\ns_set_vgpr_msb 0x83\nglobal_load_b32 v9, v5, s[2:3]\n"
     "s_wait_loadcnt 0",
     521, 263},
    {"s_set_vgpr_msb 0x43\nbuffer_store_b32 v7, v5, s[4:7], null offen\ns_set_vgpr_msb 0x80\n"
     "buffer_load_b32 v9, v5, s[4:7], null offen\ns_wait_loadcnt 0",
     521, 263},
    {"s_set_vgpr_msb 0x40\nv_mov_b32 v3, v4\ns_cbranch_execz 1\nv_mov_b32 v4, v6", 260, 6},
};

typedef struct {
  sim_machine *machine;
  uint32_t (*vector)[TJ_SIM_LANES];
} wide_machine;

static uint32_t bits_of(float number) {
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static void set_registers(wide_machine *w) {
  sim_machine *m = w->machine;
  uint64_t global = (uint64_t)(uintptr_t)m->global;
  m->wave.scalar[2] = m->wave.scalar[4] = (uint32_t)global;
  m->wave.scalar[3] = m->wave.scalar[5] = (uint32_t)(global >> 32);
  m->wave.scalar[6] = SIM_MEMORY_BYTES;
  m->wave.scalar[7] = 3u << 28; /* OOB_SELECT: bytes */
  for (unsigned r = 0; r < REGISTERS; r++) {
    for (unsigned lane = 0; lane < TJ_SIM_LANES; lane++)
      w->vector[r][lane] = r % TJ_SIM_BANK_REGISTERS == ADDRESS ? 0 : bits_of((float)r);
  }
}

static wide_machine open_wide(const char *text) {
  char program[1024];
  wide_machine w = {sim_open(processor, sim_program(program, sizeof program, text, 32)),
                    calloc(REGISTERS, sizeof *w.vector)};
  w.machine->text = text;
  w.machine->wave.vector = w.vector;
  w.machine->wave.vector_count = REGISTERS;
  set_registers(&w);
  return w;
}

static void close_wide(wide_machine *w) {
  sim_close(w->machine);
  free(w->vector);
}

START_TEST(operands_are_in_their_banks) {
  wide_machine w = open_wide(rows[_i].text);
  sim_run(w.machine);
  for (unsigned lane = 0; lane < w.machine->wave.lanes; lane++)
    ck_assert_msg(w.vector[rows[_i].reg][lane] == bits_of(rows[_i].value), "%s: v%u is %x in lane %u", rows[_i].text,
                  rows[_i].reg, w.vector[rows[_i].reg][lane], lane);
  close_wide(&w);
}
END_TEST

START_TEST(loads_are_waited_for_in_their_banks) {
  static const char load[] =
      "s_set_vgpr_msb 0x83\nglobal_load_b32 v9, v5, s[2:3]\ns_set_vgpr_msb %u\nv_mov_b32 v1, v9\n"
      "s_wait_loadcnt 0";
  char text[sizeof load + 8];
  snprintf(text, sizeof text, load, 1);
  wide_machine other = open_wide(text);
  sim_run(other.machine);
  close_wide(&other);
  snprintf(text, sizeof text, load, 2);
  wide_machine same = open_wide(text);
  sim_run_failing(same.machine, "v521 is used before the kernel has waited");
  close_wide(&same);
}
END_TEST

START_TEST(registers_are_written_in_their_banks) {
  static const char store[] =
      "v_mov_b32 v5, 0\ns_set_vgpr_msb 0x40\nv_mov_b32 v9, 0\ns_set_vgpr_msb %u\nglobal_store_b32 v5, v9, s[2:3]";
  uint32_t(*twin)[TJ_SIM_LANES] = calloc(REGISTERS, sizeof *twin);
  char text[sizeof store + 8];
  for (unsigned bank = 0; bank < 2; bank++) {
    snprintf(text, sizeof text, store, bank << TJ_SIM_BANK_SOURCE_1);
    wide_machine w = open_wide(text);
    w.machine->wave.undefined = &w.machine->undefined;
    w.machine->undefined.twin = &w.machine->twin;
    w.machine->twin = w.machine->wave;
    w.machine->twin.undefined = NULL;
    w.machine->twin.vector = twin;
    uint64_t exec = tj_sim_exec(&w.machine->wave);
    tj_sim_forget_registers(&w.machine->wave);
    tj_sim_set_exec(&w.machine->wave, exec);
    set_registers(&w);
    for (unsigned i = 0; i < TJ_SIM_OPERANDS; i++)
      tj_sim_define_scalar(&w.machine->wave, 2 + i);
    if (bank == 1)
      sim_run(w.machine);
    else
      sim_run_failing(w.machine, "nothing has written");
    close_wide(&w);
  }
  free(twin);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("sim_banks", operands_are_in_their_banks, (int)(sizeof rows / sizeof *rows));
  TCase *tests = tcase_create("in flight and unwritten");
  tcase_add_test(tests, loads_are_waited_for_in_their_banks);
  tcase_add_test(tests, registers_are_written_in_their_banks);
  suite_add_tcase(suite, tests);
  return run_suite(suite);
}
