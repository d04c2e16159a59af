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

/* --- gathers --- */

/* Rows of 8 words of the matrix, by indices of so many bits. The matrix has 20 rows from there on. */
typedef struct {
  uint32_t bits, count, columns_left, interval, pad;
  uint32_t index[16];
} gather;

static const gather gathers[] = {
    {16, 16, 8, 0, 0, {3, 0, 19, 7, 7, 1, 2, 20, 65535, 5, 4, 11, 12, 13, 18, 6}},
    {16, 5, 3, 0, 0, {9, 8, 7, 6, 5}},
    {32, 8, 8, 8, 4, {0, 19, 20, 4, 65536, 3, 0xffffffff, 2}},
    {32, 3, 8, 4, 1, {17, 2, 5}},
    {16, 0, 8, 0, 0, {0}},
};

enum { GATHERS = sizeof gathers / sizeof *gathers, GATHERED_COLUMNS = 8, GATHERED_ROWS = 20 };

static sim_machine *open_gather(const gather *g, const char *body, char text[512]) {
  const box b = {GATHERED_COLUMNS, g->count, g->columns_left, GATHERED_ROWS, g->interval, g->pad};
  sim_machine *m = open_box(&b, body, text);
  uint32_t *scalar = m->wave.scalar;
  scalar[0] |= 1u << 31 | (g->bits == 32 ? 1u << 30 : 0);
  for (uint32_t i = 0; i < g->count; i++)
    scalar[12 + i * g->bits / 32] |= g->index[i] << (g->bits == 16 ? 16 * (i % 2) : 0);
  return m;
}

START_TEST(rows_are_gathered_by_their_indices) {
  const gather *g = &gathers[_i];
  char text[512];
  sim_machine *m =
      open_gather(g, "tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]\ns_wait_tensorcnt 0x0", text);
  sim_run(m);
  for (uint32_t n = 0; n < g->count * GATHERED_COLUMNS; n++) {
    uint32_t row = g->index[n / GATHERED_COLUMNS], column = n % GATHERED_COLUMNS, wanted = 0, found;
    uint32_t pads = g->interval == 0 ? 0 : n / g->interval * g->pad;
    if (row < GATHERED_ROWS && column < g->columns_left)
      memcpy(&wanted, m->global + 4 * (row * PITCH + column), 4);
    memcpy(&found, m->lds + PLACE + 4 * (n + pads), 4);
    ck_assert_uint_eq(found, wanted);
  }
  sim_close(m);
}
END_TEST

START_TEST(rows_are_scattered_by_their_indices) {
  static const gather g = {16, 4, 8, 0, 0, {9, 0, 20, 3}};
  static unsigned char expected[SIM_MEMORY_BYTES];
  char text[512];
  sim_machine *m =
      open_gather(&g, "tensor_store_from_lds s[0:3], s[4:11], s[12:15], s[16:19]\ns_wait_tensorcnt 0x0", text);
  for (unsigned i = 0; i < SIM_LDS_BYTES; i++) {
    m->lds[i] = (unsigned char)(i * 5 + 3);
    shadow[i] = (tj_sim_shadow){.write_time = 1};
  }
  memcpy(expected, m->global, sizeof expected);
  for (uint32_t i = 0; i < g.count; i++)
    if (g.index[i] < GATHERED_ROWS)
      memcpy(expected + 4 * (g.index[i] * PITCH), m->lds + PLACE + 4 * i * GATHERED_COLUMNS, 4 * GATHERED_COLUMNS);
  sim_run(m);
  ck_assert(memcmp(m->global, expected, sizeof expected) == 0);
  sim_close(m);
}
END_TEST

START_TEST(gathers_that_fail_are_told) {
  static const struct {
    const char *body;
    uint32_t dword, value;
    const char *message;
  } rows[] = {
      {"tensor_store_from_lds s[0:3], s[4:11], s[12:15], s[16:19]", 12, 0x00030003, "stored twice"},
      {"tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]", 8, 17, "no descriptor that a program may give"},
      {"tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]", 8, 1u << 16,
       "no descriptor that a program may give"},
      {"tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]", 4, 2u << 16 | 1u << 19, "no descriptor"},
      {"tensor_load_to_lds s[0:3], s[4:11], s[12:15], s[16:19]", 0, 1u << 30 | 1, "no descriptor"},
  };
  char text[512];
  sim_machine *m = open_gather(&gathers[1], rows[_i].body, text);
  m->wave.scalar[rows[_i].dword] = rows[_i].value;
  sim_run_failing(m, rows[_i].message);
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
      {"tensor_load_to_lds s[0:3], s[4:11]", 1, PLACE, "the wave ends before the kernel has waited"},
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
  tcase_add_loop_test(cases, failures_are_told, 0, 7);
  tcase_add_test(cases, transfers_end);
  tcase_add_loop_test(cases, rows_are_gathered_by_their_indices, 0, GATHERS);
  tcase_add_test(cases, rows_are_scattered_by_their_indices);
  tcase_add_loop_test(cases, gathers_that_fail_are_told, 0, 5);
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
