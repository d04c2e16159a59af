/* SPDX-License-Identifier: MIT */
/* Tensor DMA of gfx1250: what descriptors that are written down here bit by bit move, held against loops; and that
 * nobody touches what is loaded before it is waited for. */
#include "tests/unit/support/sim_support.h"

enum { ROWS = 7, COLUMNS = 11, PITCH = 16, PLACE = 256 };

static tj_sim_shadow shadow[SIM_LDS_BYTES];

/* A box of `rows` by `columns` words of a matrix whose rows are PITCH words apart, of which so many are left. */
typedef struct {
  uint32_t columns, rows;
  uint32_t columns_left, rows_left;
  uint32_t interval, pad; /* words; 0: no pads */
} box;

static const box boxes[] = {
    {COLUMNS, ROWS, COLUMNS, ROWS, 0, 0},
    {COLUMNS, ROWS, 4, 5, 0, 0},
    {8, ROWS, 8, ROWS, 8, 1},
    {8, 4, 8, 4, 4, 3},
    {8, 6, 5, 3, 16, 2},
    {1, 1, 1, 1, 0, 0},
};

enum { BOXES = sizeof boxes / sizeof *boxes };

static void put_descriptor(sim_machine *m, const box *b) {
  uint64_t address = (uint64_t)(uintptr_t)m->global;
  uint32_t pads =
      b->interval == 0 ? 0 : 1u << 20 | (uint32_t)(__builtin_ctz(b->interval) - 1) << 22 | (b->pad - 1) << 25;
  const uint32_t dword[12] = {1,
                              PLACE,
                              (uint32_t)address,
                              (uint32_t)(address >> 32) | 2u << 30,
                              2u << 16 | pads,
                              b->columns_left << 16,
                              b->rows_left << 16,
                              b->columns << 16,
                              b->rows,
                              PITCH,
                              0,
                              0};
  memcpy(m->wave.scalar, dword, sizeof dword);
}

static sim_machine *open_box(const box *b, const char *body, char text[512]) {
  sim_machine *m = sim_open("gfx1250", sim_program(text, 512, body, 32));
  put_descriptor(m, b);
  for (unsigned i = 0; i < SIM_MEMORY_BYTES; i++)
    m->global[i] = (unsigned char)(i * 7 + i / 256);
  memset(shadow, 0, sizeof shadow);
  memset(m->lds, 0xee, SIM_LDS_BYTES);
  m->group.shadow = shadow;
  return m;
}

START_TEST(loads_have_zeros_beyond_the_tensor_and_pads) {
  const box *b = &boxes[_i];
  char text[512];
  unsigned char expected[SIM_LDS_BYTES];
  sim_machine *m = open_box(b, "tensor_load_to_lds s[0:3], s[4:11]\ns_wait_tensorcnt 0x0", text);
  tj_sim_set_exec(&m->wave, 0);
  memset(expected, 0xee, sizeof expected);
  uint32_t at = PLACE;
  for (uint32_t n = 0; n < b->rows * b->columns; n++, at += 4) {
    uint32_t row = n / b->columns, column = n % b->columns;
    bool is_inside = row < b->rows_left && column < b->columns_left;
    if (n > 0 && b->interval != 0 && n % b->interval == 0)
      at += 4 * b->pad;
    memset(expected + at, 0, 4);
    if (is_inside)
      memcpy(expected + at, m->global + 4 * (row * PITCH + column), 4);
  }
  sim_run(m);
  ck_assert(memcmp(m->lds, expected, sizeof expected) == 0);
  uint32_t rows = b->rows < b->rows_left ? b->rows : b->rows_left;
  ck_assert_uint_eq(m->counters.memory_bytes,
                    4 * rows * (b->columns < b->columns_left ? b->columns : b->columns_left));
  sim_close(m);
}
END_TEST

START_TEST(what_is_waited_for_may_be_read) {
  char text[512];
  sim_machine *m = open_box(&boxes[0],
                            "v_mov_b32 v1, 0x100\ntensor_load_to_lds s[0:3], s[4:11]\ns_wait_tensorcnt 0x0\n"
                            "ds_load_b32 v0, v1\ns_wait_dscnt 0x0",
                            text);
  sim_run(m);
  ck_assert_mem_eq(&m->vector[0][0], m->global, 4);
  sim_close(m);
}
END_TEST

START_TEST(stores_leave_out_what_is_beyond_the_tensor_and_pads) {
  const box *b = &boxes[_i];
  char text[512];
  static unsigned char expected[SIM_MEMORY_BYTES];
  sim_machine *m = open_box(b, "tensor_store_from_lds s[0:3], s[4:11]\ns_wait_tensorcnt 0x0", text);
  for (unsigned i = 0; i < SIM_LDS_BYTES; i++) {
    m->lds[i] = (unsigned char)(i * 5 + 3);
    shadow[i] = (tj_sim_shadow){.write_time = 1};
  }
  memcpy(expected, m->global, sizeof expected);
  for (uint32_t n = 0; n < b->rows * b->columns; n++)
    if (n / b->columns < b->rows_left && n % b->columns < b->columns_left)
      memcpy(expected + 4 * (n / b->columns * PITCH + n % b->columns), m->lds + PLACE + 4 * n, 4);
  sim_run(m);
  ck_assert(memcmp(m->global, expected, sizeof expected) == 0);
  sim_close(m);
}
END_TEST

START_TEST(failures_are_told) {
  static const struct {
    const char *body;
    uint32_t dword, value; /* what else the descriptor has */
    const char *message;
  } rows[] = {
      {"v_mov_b32 v1, 0x100\ntensor_load_to_lds s[0:3], s[4:11]\nds_load_b32 v0, v1", 1, PLACE,
       "a load from memory writes there, and nobody has waited for it"},
      {"v_mov_b32 v1, 0x100\ntensor_load_to_lds s[0:3], s[4:11]\ntensor_load_to_lds s[0:3], s[4:11]\n"
       "s_wait_tensorcnt 0x1\nds_load_b32 v0, v1",
       1, PLACE, "a load from memory writes there, and nobody has waited for it"},
      {"tensor_load_to_lds s[0:3], s[4:11]", 1, SIM_LDS_BYTES - 8, "the workgroup has less LDS"},
      {"tensor_load_to_lds s[0:3], s[4:11]", 0, 0, "no descriptor that a program may give"},
      {"tensor_load_to_lds s[0:3], s[4:11]", 2, 0, "not memory that the kernel may read"},
      {"tensor_store_from_lds s[0:3], s[4:11]", 1, PLACE, "nothing has been written there"},
  };
  char text[512];
  sim_machine *m = open_box(&boxes[0], rows[_i].body, text);
  m->wave.scalar[rows[_i].dword] = rows[_i].value;
  sim_run_failing(m, rows[_i].message);
  sim_close(m);
}
END_TEST

/* 11 by 65535 by 65535 elements, none of them in the tensor. */
START_TEST(transfers_end) {
  char text[512];
  sim_machine *m = open_box(&boxes[0], "tensor_store_from_lds s[0:3], s[4:11]", text);
  m->wave.scalar[5] = 0;
  m->wave.scalar[8] = UINT32_MAX;
  sim_run_failing(m, "too many instructions");
  sim_close(m);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sim_tensor");
  TCase *cases = tcase_create("tensor DMA");
  tcase_add_loop_test(cases, loads_have_zeros_beyond_the_tensor_and_pads, 0, BOXES);
  tcase_add_test(cases, what_is_waited_for_may_be_read);
  tcase_add_loop_test(cases, stores_leave_out_what_is_beyond_the_tensor_and_pads, 0, BOXES);
  tcase_add_loop_test(cases, failures_are_told, 0, 6);
  tcase_add_test(cases, transfers_end);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
