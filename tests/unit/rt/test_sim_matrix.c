/* SPDX-License-Identifier: MIT */
/* Matrix instructions of the simulator, each on every processor that has it: lanes hold what the library of atoms
 * says of the instruction, and D is A B + C. Elements are small integers, of which all sums are exact, so that their
 * order does not matter; where sums are rounded, they are in the order of A's columns. */
#include "tests/unit/support/sim_matrix_rows.h"
#include "tests/unit/support/sim_support.h"

#include "tilejit/tilejit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  TEXT = 256,
  MOST = 4096,
  D_REGISTER = 0,
  C_REGISTER = 16, /* where C is of another type */
  A_REGISTER = 32,
  EXTRA_REGISTER = 48, /* indices; scales of A */
  B_REGISTER = 52
};

enum { ROWS = sizeof matrix_rows / sizeof matrix_rows[0] };

/* --- atoms --- */

static tj_status read_atoms(void *user, const char *importer, const char *path, tj_import *import) {
  char name[1024], *text = malloc(1 << 18);
  (void)user, (void)importer;
  snprintf(name, sizeof name, "%s/../share/tilejit/%s%s", TILEJIT_TEST_DATA, path,
           strstr(path, ".tile") != NULL ? "" : ".tile");
  FILE *file = fopen(name, "r");
  ck_assert_msg(file != NULL, "%s", name);
  size_t length = fread(text, 1, 1 << 18, file);
  fclose(file);
  tj_status status = tj_import_give(import, path, text, length);
  free(text);
  return status;
}

/* What an expression over the atom X is, as a list of numbers; returns how many. */
static size_t numbers_of(tj_context *context, const char *library, const char *atom, const char *expression,
                         long number[MOST]) {
  char text[TEXT];
  tj_program *program;
  tj_blob blob;
  size_t count = 0;
  snprintf(text, sizeof text, "import \"%.20s\"\nlet X = %.80s; %.80s", library, atom, expression);
  ck_assert_msg(tj_program_create(context, atom, text, strlen(text), NULL, 0, &program) == TJ_OK, "%s: %s", text,
                tj_context_diagnostic(context) != NULL ? tj_context_diagnostic(context)->message : "");
  ck_assert_msg(tj_program_table(program, TJ_TABLE_VALUES, &blob) == TJ_OK, "%s", text);
  for (char *at = blob.data; *at != '\0' && count < MOST;) {
    char *end;
    number[count] = strtol(at, &end, 10);
    count += end != at;
    at = end != at ? end : at + 1;
  }
  tj_blob_release(context, &blob);
  tj_program_destroy(program);
  return count;
}

/* --- codes --- */

static unsigned bits_of(const char *type) {
  const char *digits = strpbrk(type, "0123456789");
  return (unsigned)atoi(digits);
}

static uint32_t sign_bit(const char *type, int value) {
  return value < 0 ? 1u << (bits_of(type) - 1) : 0;
}

/* The code of an integer of -3 … 3, by the definitions of the types. */
static uint64_t code_of(const char *type, int value, bool is_fnuz) {
  static const struct {
    const char *type;
    uint8_t ocp[3], fnuz[3]; /* of 1, 2 and 3 */
  } small[] = {{"fp8", {0x38, 0x40, 0x44}, {0x40, 0x48, 0x4c}},
               {"bf8", {0x3c, 0x40, 0x42}, {0x40, 0x44, 0x46}},
               {"fp6", {0x08, 0x10, 0x14}, {0}},
               {"bf6", {0x0c, 0x10, 0x12}, {0}},
               {"fp4", {0x02, 0x04, 0x05}, {0}}};
  float single = (float)value;
  double number = value;
  _Float16 half = (_Float16)value;
  uint64_t code = 0;
  uint32_t word;
  memcpy(&word, &single, sizeof word);
  for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
    if (strcmp(type, small[i].type) == 0)
      return value == 0 ? 0 : (is_fnuz ? small[i].fnuz : small[i].ocp)[abs(value) - 1] | sign_bit(type, value);
  }
  if (strcmp(type, "f32") == 0)
    return word;
  if (strcmp(type, "bf16") == 0)
    return word >> 16;
  if (strcmp(type, "f64") == 0)
    memcpy(&code, &number, sizeof code);
  else if (strcmp(type, "f16") == 0)
    memcpy(&code, &half, sizeof half);
  else
    code = (uint64_t)value & ((UINT64_C(1) << bits_of(type)) - 1);
  return code;
}

/* Integers that are not signed are the large ones, too. */
static int random_value(uint64_t *state, const char *type) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint32_t number = (uint32_t)(*state >> 33);
  return type[0] == 'u' ? (int)(number % (1u << bits_of(type))) : (int)(number % 7) - 3;
}

/* --- registers --- */

static void put(sim_machine *m, unsigned first, unsigned lane, unsigned at, unsigned bits, uint64_t code) {
  for (unsigned bit = 0; bit < bits; bit++) {
    uint32_t *word = &m->vector[first + (at + bit) / 32][lane], mask = 1u << (at + bit) % 32;
    *word = (code >> bit & 1) != 0 ? *word | mask : *word & ~mask;
  }
}

static uint64_t get(const sim_machine *m, unsigned first, unsigned lane, unsigned at, unsigned bits) {
  uint64_t code = 0;
  for (unsigned bit = 0; bit < bits; bit++)
    code |= (uint64_t)(m->vector[first + (at + bit) / 32][lane] >> (at + bit) % 32 & 1) << bit;
  return code;
}

/* A matrix: by number of the element, its value; by lane and number in the lane, which element. */
typedef struct {
  const char *type;
  unsigned first, stride, shift; /* registers; bits from element to element, and before the first one */
  size_t of_lane;
  long element[MOST];
  int value[MOST];
} matrix;

static void fill(sim_machine *m, matrix *x, uint64_t *state, bool is_fnuz) {
  for (int i = 0; i < MOST; i++)
    x->value[i] = random_value(state, x->type);
  for (unsigned lane = 0; lane < m->wave.lanes; lane++) {
    for (unsigned i = 0; i < x->of_lane; i++)
      put(m, x->first, lane, i * x->stride + x->shift, bits_of(x->type),
          code_of(x->type, x->value[x->element[lane + i * m->wave.lanes]], is_fnuz));
  }
}

static void write_registers(char text[TEXT], unsigned first, size_t count) {
  if (count == 1)
    snprintf(text, TEXT, "v%u", first);
  else
    snprintf(text, TEXT, "v[%u:%zu]", first, first + count - 1);
}

static size_t registers_of(const matrix *x) {
  return (x->of_lane * x->stride + 31) / 32;
}

/* --- runs --- */

typedef struct {
  const matrix_row *of;
  unsigned number; /* of the processor */
  unsigned rows, columns, depth;
  matrix a, b, c, d;
  uint8_t index[MOST]; /* of A's elements by their number: which of four */
} run;

static bool has(const run *r, const char *word) {
  return strstr(r->of->atom, word) != NULL;
}

static bool is_sparse(const run *r) {
  return has(r, "smfmac") || has(r, "swmmac");
}

static bool has_generation(unsigned number) {
  return number >= 3;
}

/* Of f8f6f4, layouts depend on the bits of A's elements and of B's; but not on gfx1250 where nothing is scaled. */
static void name_atom(const run *r, char text[TEXT]) {
  static const char *const generations[] = {"", "", "", "gfx11_", "gfx12_", "gfx1250_"};
  bool has_bits = has(r, "f8f6f4") && (has(r, "scale") || !has_generation(r->number));
  int length = snprintf(text, TEXT, "%s%s", generations[r->number], r->of->atom);
  if (has_bits)
    snprintf(text + length, TEXT - (size_t)length, "(%u,%u)", bits_of(r->of->a), bits_of(r->of->b));
}

static void read_matrix(tj_context *context, const run *r, const char *part, unsigned lanes, matrix *x) {
  char atom[TEXT];
  name_atom(r, atom);
  x->of_lane = numbers_of(context, "amd_mma.tile", atom, part, x->element) / lanes;
  ck_assert_uint_gt(x->of_lane, 0);
}

static void read_shape(run *r) {
  const char *shape = strchr(r->of->atom, 'x');
  while (shape[-1] >= '0' && shape[-1] <= '9')
    shape--;
  ck_assert_int_eq(sscanf(shape, "%ux%ux%u", &r->rows, &r->columns, &r->depth), 3);
}

static matrix matrix_of(const char *type, unsigned first) {
  return (matrix){.type = type, .first = first, .stride = bits_of(type)};
}

static void read_atom(tj_context *context, run *r, unsigned lanes) {
  bool is_wide = r->number == 3 && bits_of(r->of->d) == 16;
  read_shape(r);
  r->a = matrix_of(r->of->a, A_REGISTER);
  r->b = matrix_of(r->of->b, B_REGISTER);
  r->d = matrix_of(r->of->d, D_REGISTER);
  if (is_wide) {
    r->d.stride = 32;
    r->d.shift = strstr(r->of->modifiers, "op_sel") != NULL ? 16 : 0;
  }
  read_matrix(context, r, "mma_A(X)", lanes, &r->a);
  read_matrix(context, r, "mma_B(X)", lanes, &r->b);
  read_matrix(context, r, "mma_C(X)", lanes, &r->d);
  r->c = r->d;
  if (has(r, "bf16f32")) {
    r->c.type = "f32";
    r->c.first = C_REGISTER;
    r->c.stride = 32;
  }
}

/* Registers of the indices, two bits for each element of a lane. */
static size_t index_registers(const run *r) {
  return r->a.of_lane > 16 ? r->a.of_lane / 16 : 1;
}

/* C and D, where they are of one type, are in the same registers. gfx942 has no 1k in its names. */
static void write_instruction(const run *r, char text[2 * TEXT]) {
  char d[TEXT], a[TEXT], b[TEXT], c[TEXT], name[TEXT];
  bool is_old = r->number == 0 && r->of->old != NULL;
  write_registers(d, D_REGISTER, registers_of(&r->d));
  write_registers(a, A_REGISTER, registers_of(&r->a));
  write_registers(b, B_REGISTER, registers_of(&r->b));
  if (is_sparse(r))
    write_registers(c, EXTRA_REGISTER, index_registers(r));
  else
    write_registers(c, r->c.first, registers_of(&r->c));
  snprintf(name, sizeof name, "%s", is_old ? r->of->old : r->of->atom);
  char *suffix = strstr(name, "_1k");
  if (suffix != NULL && !is_old)
    *suffix = '\0';
  snprintf(text, 2 * TEXT, "v_%.60s %.20s, %.20s, %.20s, %.20s%.160s\ns_endpgm\n", name, d, a, b, c,
           r->of->modifiers);
}

/* --- scales --- */

/* Columns that a scale is of; 0: there is none. */
static long scaled_columns(const run *r) {
  return has(r, "scale16") ? 16 : has(r, "scale") ? 32 : 0;
}

/* Powers of two, of A of three kinds and of B of two. */
static int exponent_of(long row, long number, int kinds) {
  return (int)((row + 3 * number) % kinds);
}

static long scale_of(const run *r, long row, long k, int kinds) {
  return scaled_columns(r) != 0 ? 1L << exponent_of(row, k / scaled_columns(r), kinds) : 1;
}

/* gfx950: one byte of each lane, of A byte 1, of B byte 2, lanes along rows and then along columns. */
static void set_scales_of_lanes(sim_machine *m, const run *r) {
  for (unsigned lane = 0; lane < 64; lane++) {
    unsigned row = lane % r->rows, number = lane / r->rows;
    m->vector[EXTRA_REGISTER][lane] = 0x12340056 | (uint32_t)(127 + exponent_of(row, number, 3)) << 8;
    m->vector[EXTRA_REGISTER + 1][lane] = 0x12005634 | (uint32_t)(127 + exponent_of(row, number, 2)) << 16;
  }
}

/* gfx1250: bytes along columns, of rows in one half of the wave, or in both where there are 32. */
static void set_scales_of_rows(sim_machine *m, const run *r, bool is_b) {
  long bytes = r->depth / scaled_columns(r);
  bool has_both = !is_b && r->rows > 16;
  bool is_upper = strstr(r->of->modifiers, is_b ? "matrix_b_scale" : "matrix_a_scale") != NULL;
  unsigned first = EXTRA_REGISTER + (is_b && bytes > 4 ? 2 : is_b ? 1 : 0);
  for (unsigned lane = 0; lane < 32; lane++) {
    bool is_read = has_both || lane / 16 == is_upper;
    unsigned row = has_both ? lane : lane % 16;
    for (long i = 0; i < bytes; i++)
      put(m, first, lane, 8 * (unsigned)i, 8, is_read ? 127u + (unsigned)exponent_of(row, i, is_b ? 2 : 3) : 255);
  }
}

static void set_scales(sim_machine *m, const run *r) {
  if (!has_generation(r->number)) {
    set_scales_of_lanes(m, r);
    return;
  }
  set_scales_of_rows(m, r, false);
  set_scales_of_rows(m, r, true);
}

/* --- indices --- */

/* Two of four, the lower one first. On gfx1250, the same for each turn of A's columns, of which sources differ about
 * whose they are. */
static void set_indices(sim_machine *m, run *r, uint64_t *state) {
  static const uint8_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  unsigned bits = 2 * (unsigned)r->a.of_lane, set = 0;
  const char *given = strstr(r->of->modifiers, "abid:");
  given = given == NULL ? strstr(r->of->modifiers, "index_key:") : given;
  if (given != NULL && strstr(r->of->modifiers, "cbsz") == NULL)
    set = (unsigned)atoi(strchr(given, ':') + 1);
  long turn = r->number == 5 ? r->depth / 8 : r->depth / 2;
  for (long row = 0; row < r->rows; row++) {
    for (long k = 0; k < r->depth / 2; k += 2) {
      random_value(state, "i8");
      long like = row + r->rows * (k % turn), at = row + r->rows * k;
      const uint8_t *pair = pairs[(*state >> 40) % 6];
      r->index[at] = k < turn ? pair[0] : r->index[like];
      r->index[at + r->rows] = k < turn ? pair[1] : r->index[like + r->rows];
    }
  }
  for (unsigned lane = 0; lane < m->wave.lanes; lane++) {
    for (size_t i = 0; i < index_registers(r); i++)
      m->vector[EXTRA_REGISTER + i][lane] = 0xdddddddd;
    for (unsigned i = 0; i < r->a.of_lane; i++)
      put(m, EXTRA_REGISTER, lane, set * bits + 2 * i, 2, r->index[r->a.element[lane + i * m->wave.lanes]]);
  }
}

/* --- results --- */

/* Elements have numbers row + rows * (column + columns * block) in D, and the like in A and B. */
static long expected(const run *r, long element) {
  long rows = r->rows, columns = r->columns, length = is_sparse(r) ? r->depth / 2 : r->depth;
  long row = element % rows, column = element / rows % columns, block = element / rows / columns;
  long sum = r->c.value[element];
  for (long i = 0; i < length; i++) {
    long k = is_sparse(r) ? i / 2 * 4 + r->index[row + rows * i] : i;
    sum += scale_of(r, row, k, 3) * scale_of(r, column, k, 2) * (long)r->a.value[row + rows * (i + length * block)] *
           r->b.value[column + columns * (k + r->depth * block)];
  }
  return sum;
}

static uint64_t code_of_sum(const char *type, long sum) {
  float single = (float)sum;
  double number = (double)sum;
  _Float16 half = (_Float16)sum;
  uint64_t code = 0;
  uint32_t word;
  memcpy(&word, &single, sizeof word);
  if (type[0] == 'i')
    return (uint32_t)sum;
  if (strcmp(type, "f64") == 0)
    memcpy(&code, &number, sizeof code);
  else if (strcmp(type, "f16") == 0)
    memcpy(&code, &half, sizeof half);
  else
    code = strcmp(type, "bf16") == 0 ? word >> 16 : word;
  return code;
}

static void check_result(const sim_machine *m, const run *r) {
  for (unsigned lane = 0; lane < m->wave.lanes; lane++) {
    for (unsigned i = 0; i < r->d.of_lane; i++) {
      long element = r->d.element[lane + i * m->wave.lanes];
      uint64_t wanted = code_of_sum(r->d.type, expected(r, element));
      uint64_t found = get(m, D_REGISTER, lane, i * r->d.stride + r->d.shift, bits_of(r->d.type));
      ck_assert_msg(found == wanted, "%s on %s%s: lane %u, element %u is %lx, not %lx", r->of->atom, names[r->number],
                    r->of->modifiers, lane, i, (unsigned long)found, (unsigned long)wanted);
    }
  }
}

/* With the layouts that the run has. */
static void check_run(run *r) {
  char text[2 * TEXT];
  uint64_t state = 17 * r->number + (uint64_t)(r->of - matrix_rows);
  write_instruction(r, text);
  sim_machine *m = sim_open(names[r->number], text);
  bool is_fnuz = r->number == 1;
  fill(m, &r->a, &state, is_fnuz);
  fill(m, &r->b, &state, is_fnuz);
  fill(m, &r->c, &state, is_fnuz);
  if (scaled_columns(r) != 0)
    set_scales(m, r);
  if (is_sparse(r))
    set_indices(m, r, &state);
  uint32_t kept = m->vector[D_REGISTER][5] & 0xffff;
  sim_run(m);
  check_result(m, r);
  if (r->d.shift != 0)
    ck_assert_uint_eq(m->vector[D_REGISTER][5] & 0xffff, kept);
  sim_close(m);
}

/* MFMA's atoms are the same for all processors. */
START_TEST(lanes_hold_what_the_atoms_say) {
  static run r;
  tj_context *context;
  ck_assert_int_eq(tj_context_create(NULL, &context), TJ_OK);
  tj_context_set_reader(context, read_atoms, NULL);
  r = (run){.of = &matrix_rows[_i]};
  for (r.number = 0; r.number < sizeof names / sizeof names[0]; r.number++) {
    if ((r.of->processors >> r.number & 1) == 0)
      continue;
    if (has_generation(r.number) || r.d.of_lane == 0)
      read_atom(context, &r, has_generation(r.number) ? 32 : 64);
    check_run(&r);
  }
  tj_context_destroy(context);
}
END_TEST

/* --- what is rounded, clamped and refused --- */

static void set_float(sim_machine *m, unsigned reg, unsigned lane, float value) {
  memcpy(&m->vector[reg][lane], &value, sizeof value);
}

START_TEST(sums_are_rounded_in_the_order_of_columns) {
  sim_machine *m = sim_open("gfx942", "v_mfma_f32_16x16x4_f32 v[0:3], v32, v40, v[0:3]\ns_endpgm\n");
  static const float a[] = {1e8f, 3.3f, -1e8f, 7.7f}, b = 1.1f, c = 0.3f;
  float sum = c, found;
  for (unsigned lane = 0; lane < 64; lane++) {
    set_float(m, 32, lane, a[lane / 16]);
    set_float(m, 40, lane, b);
    for (unsigned i = 0; i < 4; i++)
      set_float(m, i, lane, c);
  }
  for (unsigned k = 0; k < 4; k++)
    sum = fmaf(a[k], b, sum);
  sim_run(m);
  for (unsigned lane = 0; lane < 64; lane++) {
    memcpy(&found, &m->vector[3][lane], sizeof found);
    ck_assert_msg(memcmp(&found, &sum, sizeof sum) == 0, "%g, not %g", found, sum);
  }
  sim_close(m);
}
END_TEST

static const struct {
  const char *processor, *text, *reason;
  uint32_t a; /* what lane 20 has in A's first register; others have 0 */
} refused[] = {
    {"gfx942", "v_mfma_f32_16x16x16_f16 v[0:3], v[32:33], v[40:41], v[0:3] cbsz:1 abid:1", "not simulated", 0},
    {"gfx1100", "v_wmma_f32_16x16x16_f16 v[0:7], v[32:39], v[40:47], v[0:7]", "than those 16 before", 1},
    {"gfx90a", "v_mfma_f32_16x16x16f16 v[0:3], v[32:33], v[40:41], v[0:3]", "denormal", 1},
    {"gfx1201", "v_wmma_f32_16x16x16_f16 v[0:7], v[32:35], v[40:43], v[0:7] neg_lo:[1,0,0]", "not simulated", 0},
    {"gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[40:41], v[44:47], v32", "do not grow", 0},
    {"gfx942", "v_smfmac_f32_16x16x32_f16 v[0:3], v[40:41], v[44:47], v32 abid:4", "this set of indices", 0},
    {"gfx1250", "v_swmmac_f32_16x16x64_f16 v[0:7], v[40:47], v[48:63], v33 index_key:1", "this set of indices", 0},
    {"gfx1250", "v_or_b32 v33, 0x44444444, v32\nv_swmmac_f32_16x16x64_f16 v[0:7], v[40:47], v[48:63], v33",
     "whose indices", 8},
    {"gfx1250", "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[32:47], v[48:55], v[0:7] matrix_b_fmt:MATRIX_FMT_FP4",
     "not simulated", 0},
    {"gfx1250", "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[32:47], v[48:63], v[0:7], 1, v2", "scales of matrices",
     0},
    {"gfx1250",
     "v_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[32:47], v[48:63], v[0:7], v1, v2 "
     "matrix_a_scale_fmt:MATRIX_SCALE_FMT_E5M3",
     "modifier", 0},
};

START_TEST(what_is_not_known_is_refused) {
  char text[2 * TEXT];
  snprintf(text, sizeof text, "%s\ns_endpgm\n", refused[_i].text);
  sim_machine *m = sim_open(refused[_i].processor, text);
  m->vector[A_REGISTER][20] = refused[_i].a;
  sim_run_failing(m, refused[_i].reason);
  sim_close(m);
}
END_TEST

/* C may be a constant; clamped integers end at the largest one. */
START_TEST(constants_and_clamps) {
  sim_machine *m = sim_open("gfx950", "v_mfma_f32_16x16x32_bf16 v[0:3], v[32:35], v[40:43], 1.0\ns_endpgm\n");
  sim_run(m);
  ck_assert_uint_eq(m->vector[2][33], 0x3f800000);
  sim_close(m);
  m = sim_open("gfx1201", "v_wmma_i32_16x16x16_iu8 v[0:7], v[32:33], v[40:41], v[0:7] clamp\ns_endpgm\n");
  for (unsigned reg = 0; reg < SIM_VECTORS; reg++)
    sim_set_all(m, reg, reg < 8 ? INT32_MAX - 5 : 0x01010101, false);
  sim_run(m);
  ck_assert_uint_eq(m->vector[7][31], INT32_MAX);
  sim_close(m);
}
END_TEST

/* --- loads that transpose --- */

static const struct {
  const char *processor, *instruction, *atom, *wait;
  unsigned lanes, bytes, bits; /* of a lane; of an element */
} transposing[] = {
    {"gfx950", "ds_read_b64_tr_b16", "ds_read_b64_tr_b16(16)", "s_waitcnt lgkmcnt(0)", 64, 8, 16},
    {"gfx950", "ds_read_b64_tr_b8", "ds_read_b64_tr_b8(8)", "s_waitcnt lgkmcnt(0)", 64, 8, 8},
    {"gfx1250", "ds_load_tr16_b128", "ds_load_tr16_b128(16)", "s_wait_dscnt 0x0", 32, 16, 16},
    {"gfx1250", "ds_load_tr8_b64", "ds_load_tr8_b64(8)", "s_wait_dscnt 0x0", 32, 8, 8},
};

/* Which element of all that the lanes load is which of what a lane then has, says the atom; lanes load their bytes
 * side by side, backwards. */
START_TEST(loads_transpose_as_the_atoms_say) {
  static long element[MOST];
  char text[TEXT], atom[TEXT];
  unsigned bits = transposing[_i].bits, lanes = transposing[_i].lanes, bytes = transposing[_i].bytes;
  unsigned each = 8 * bytes / bits;
  tj_context *context;
  ck_assert_int_eq(tj_context_create(NULL, &context), TJ_OK);
  tj_context_set_reader(context, read_atoms, NULL);
  snprintf(atom, sizeof atom, "%s", transposing[_i].atom);
  ck_assert_uint_eq(numbers_of(context, "amd_copy.tile", atom, "get(X, 2)", element), lanes * each);
  snprintf(text, sizeof text, "%s v[0:%u], v4\n%s\ns_endpgm\n", transposing[_i].instruction, bytes / 4 - 1,
           transposing[_i].wait);
  sim_machine *m = sim_open(transposing[_i].processor, text);
  for (unsigned i = 0; i < lanes * bytes; i++)
    m->lds[i] = (unsigned char)(i * 37 + i / 256);
  for (unsigned lane = 0; lane < lanes; lane++)
    m->vector[4][lane] = bytes * (lanes - 1 - lane);
  sim_run(m);
  for (unsigned lane = 0; lane < lanes; lane++) {
    for (unsigned i = 0; i < each; i++) {
      long from = element[lane + lanes * i], owner = from / each, place = from % each;
      uint64_t wanted = 0, found = get(m, 0, lane, i * bits, bits);
      memcpy(&wanted, m->lds + bytes * (lanes - 1 - owner) + place * bits / 8, bits / 8);
      ck_assert_msg(found == wanted, "%s: lane %u, element %u", transposing[_i].instruction, lane, i);
    }
  }
  sim_close(m);
  m = sim_open(transposing[_i].processor, text);
  tj_sim_set_exec(&m->wave, 0xffff);
  sim_run_failing(m, "all lanes");
  sim_close(m);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_of_cases("sim_matrix", lanes_hold_what_the_atoms_say, ROWS);
  TCase *others = tcase_create("others");
  tcase_add_test(others, sums_are_rounded_in_the_order_of_columns);
  tcase_add_test(others, constants_and_clamps);
  tcase_add_loop_test(others, loads_transpose_as_the_atoms_say, 0, 4);
  tcase_add_loop_test(others, what_is_not_known_is_refused, 0, sizeof refused / sizeof refused[0]);
  suite_add_tcase(suite, others);
  return run_suite(suite);
}
