/* SPDX-License-Identifier: MIT */
/* Matrix instructions of the simulator, each on every processor that has it: lanes hold what the library of atoms
 * says of the instruction, and D is A B + C. Elements are small integers, of which all sums are exact, so that their
 * order does not matter; where sums are rounded, they are in the order of A's columns. */
#include "tests/unit/support/sim_support.h"

#include "tilejit/tilejit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 256, MOST = 4096, D_REGISTER = 0, A_REGISTER = 32, B_REGISTER = 52 };

typedef enum { GFX90A = 1, GFX942 = 2, GFX950 = 4, GFX1100 = 8, GFX1201 = 16, GFX1250 = 32 } processors_of_row;

static const char *const names[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"};

enum { MFMA = GFX90A | GFX942 | GFX950, SINCE_942 = GFX942 | GFX950, WMMA = GFX1100 | GFX1201 };

typedef struct {
  const char *atom, *old; /* without v_ and the generation; as gfx90a calls it, NULL: the same */
  unsigned processors;
  const char *d, *a, *b; /* types */
  const char *modifiers;
} matrix_row;

static const matrix_row matrix_rows[] = {
    {"mfma_f32_32x32x1_2b_f32", "mfma_f32_32x32x1f32", MFMA, "f32", "f32", "f32", ""},
    {"mfma_f32_16x16x1_4b_f32", "mfma_f32_16x16x1f32", MFMA, "f32", "f32", "f32", ""},
    {"mfma_f32_4x4x1_16b_f32", "mfma_f32_4x4x1f32", MFMA, "f32", "f32", "f32", ""},
    {"mfma_f32_32x32x2_f32", "mfma_f32_32x32x2f32", MFMA, "f32", "f32", "f32", ""},
    {"mfma_f32_16x16x4_f32", "mfma_f32_16x16x4f32", MFMA, "f32", "f32", "f32", ""},
    {"mfma_f32_32x32x4_2b_f16", "mfma_f32_32x32x4f16", MFMA, "f32", "f16", "f16", ""},
    {"mfma_f32_16x16x4_4b_f16", "mfma_f32_16x16x4f16", MFMA, "f32", "f16", "f16", ""},
    {"mfma_f32_4x4x4_16b_f16", "mfma_f32_4x4x4f16", MFMA, "f32", "f16", "f16", ""},
    {"mfma_f32_32x32x8_f16", "mfma_f32_32x32x8f16", MFMA, "f32", "f16", "f16", ""},
    {"mfma_f32_16x16x16_f16", "mfma_f32_16x16x16f16", MFMA, "f32", "f16", "f16", ""},
    {"mfma_f32_32x32x4_2b_bf16_1k", "mfma_f32_32x32x4bf16_1k", MFMA, "f32", "bf16", "bf16", ""},
    {"mfma_f32_16x16x4_4b_bf16_1k", "mfma_f32_16x16x4bf16_1k", MFMA, "f32", "bf16", "bf16", ""},
    {"mfma_f32_4x4x4_16b_bf16_1k", "mfma_f32_4x4x4bf16_1k", MFMA, "f32", "bf16", "bf16", ""},
    {"mfma_f32_32x32x8_bf16_1k", "mfma_f32_32x32x8bf16_1k", MFMA, "f32", "bf16", "bf16", ""},
    {"mfma_f32_16x16x16_bf16_1k", "mfma_f32_16x16x16bf16_1k", MFMA, "f32", "bf16", "bf16", ""},
    {"mfma_i32_32x32x4_2b_i8", "mfma_i32_32x32x4i8", MFMA, "i32", "i8", "i8", ""},
    {"mfma_i32_16x16x4_4b_i8", "mfma_i32_16x16x4i8", MFMA, "i32", "i8", "i8", ""},
    {"mfma_i32_4x4x4_16b_i8", "mfma_i32_4x4x4i8", MFMA, "i32", "i8", "i8", ""},
    {"mfma_f64_16x16x4_f64", "mfma_f64_16x16x4f64", MFMA, "f64", "f64", "f64", ""},
    {"mfma_f64_4x4x4_4b_f64", "mfma_f64_4x4x4f64", MFMA, "f64", "f64", "f64", ""},
    {"mfma_f32_32x32x2_2b_bf16", "mfma_f32_32x32x2bf16", GFX90A, "f32", "bf16", "bf16", ""},
    {"mfma_f32_16x16x2_4b_bf16", "mfma_f32_16x16x2bf16", GFX90A, "f32", "bf16", "bf16", ""},
    {"mfma_f32_4x4x2_16b_bf16", "mfma_f32_4x4x2bf16", GFX90A, "f32", "bf16", "bf16", ""},
    {"mfma_f32_32x32x4_bf16", "mfma_f32_32x32x4bf16", GFX90A, "f32", "bf16", "bf16", ""},
    {"mfma_f32_16x16x8_bf16", "mfma_f32_16x16x8bf16", GFX90A, "f32", "bf16", "bf16", ""},
    {"mfma_i32_32x32x8_i8", "mfma_i32_32x32x8i8", GFX90A, "i32", "i8", "i8", ""},
    {"mfma_i32_16x16x16_i8", "mfma_i32_16x16x16i8", GFX90A, "i32", "i8", "i8", ""},
    {"mfma_i32_32x32x16_i8", NULL, SINCE_942, "i32", "i8", "i8", ""},
    {"mfma_i32_16x16x32_i8", NULL, SINCE_942, "i32", "i8", "i8", ""},
    {"mfma_f32_32x32x16_fp8_fp8", NULL, SINCE_942, "f32", "fp8", "fp8", ""},
    {"mfma_f32_32x32x16_fp8_bf8", NULL, SINCE_942, "f32", "fp8", "bf8", ""},
    {"mfma_f32_32x32x16_bf8_fp8", NULL, SINCE_942, "f32", "bf8", "fp8", ""},
    {"mfma_f32_32x32x16_bf8_bf8", NULL, SINCE_942, "f32", "bf8", "bf8", ""},
    {"mfma_f32_16x16x32_fp8_fp8", NULL, SINCE_942, "f32", "fp8", "fp8", ""},
    {"mfma_f32_16x16x32_fp8_bf8", NULL, SINCE_942, "f32", "fp8", "bf8", ""},
    {"mfma_f32_16x16x32_bf8_fp8", NULL, SINCE_942, "f32", "bf8", "fp8", ""},
    {"mfma_f32_16x16x32_bf8_bf8", NULL, SINCE_942, "f32", "bf8", "bf8", ""},
    {"mfma_f32_32x32x16_f16", NULL, GFX950, "f32", "f16", "f16", ""},
    {"mfma_f32_16x16x32_f16", NULL, GFX950, "f32", "f16", "f16", ""},
    {"mfma_f32_32x32x16_bf16", NULL, GFX950, "f32", "bf16", "bf16", ""},
    {"mfma_f32_16x16x32_bf16", NULL, GFX950, "f32", "bf16", "bf16", ""},
    {"mfma_i32_32x32x32_i8", NULL, GFX950, "i32", "i8", "i8", ""},
    {"mfma_i32_16x16x64_i8", NULL, GFX950, "i32", "i8", "i8", ""},
    {"mfma_f32_32x32x64_f8f6f4", NULL, GFX950, "f32", "fp8", "bf8", " blgp:1"},
    {"mfma_f32_32x32x64_f8f6f4", NULL, GFX950, "f32", "fp6", "fp4", " cbsz:2 blgp:4"},
    {"mfma_f32_16x16x128_f8f6f4", NULL, GFX950, "f32", "fp4", "bf6", " cbsz:4 blgp:3"},
    {"mfma_f32_16x16x128_f8f6f4", NULL, GFX950, "f32", "bf8", "fp8", " cbsz:1"},
    {"mfma_scale_f32_16x16x128_f8f6f4", NULL, GFX950, "f32", "fp8", "bf8",
     ", v48, v49 op_sel:[1,0,0] op_sel_hi:[0,1,0] blgp:1"},
    {"mfma_scale_f32_32x32x64_f8f6f4", NULL, GFX950, "f32", "fp4", "fp6",
     ", v48, v49 op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:4 blgp:2"},
    {"wmma_f32_16x16x16_f16", NULL, WMMA, "f32", "f16", "f16", ""},
    {"wmma_f32_16x16x16_bf16", NULL, WMMA, "f32", "bf16", "bf16", ""},
    {"wmma_f16_16x16x16_f16", NULL, WMMA, "f16", "f16", "f16", ""},
    {"wmma_bf16_16x16x16_bf16", NULL, WMMA, "bf16", "bf16", "bf16", ""},
    {"wmma_f16_16x16x16_f16", NULL, GFX1100, "f16", "f16", "f16", " op_sel:[0,0,1]"},
    {"wmma_i32_16x16x16_iu8", NULL, WMMA, "i32", "i8", "u8", " neg_lo:[1,0,0]"},
    {"wmma_i32_16x16x16_iu8", NULL, WMMA, "i32", "u8", "i8", " neg_lo:[0,1,0] clamp"},
    {"wmma_i32_16x16x16_iu4", NULL, WMMA, "i32", "u4", "i4", " neg_lo:[0,1,0]"},
    {"wmma_i32_16x16x32_iu4", NULL, GFX1201, "i32", "i4", "u4", " neg_lo:[1,0,0]"},
    {"wmma_f32_16x16x16_fp8_fp8", NULL, GFX1201, "f32", "fp8", "fp8", ""},
    {"wmma_f32_16x16x16_fp8_bf8", NULL, GFX1201, "f32", "fp8", "bf8", ""},
    {"wmma_f32_16x16x16_bf8_fp8", NULL, GFX1201, "f32", "bf8", "fp8", ""},
    {"wmma_f32_16x16x16_bf8_bf8", NULL, GFX1201, "f32", "bf8", "bf8", ""},
    {"wmma_f32_16x16x4_f32", NULL, GFX1250, "f32", "f32", "f32", ""},
    {"wmma_f32_16x16x32_f16", NULL, GFX1250, "f32", "f16", "f16", ""},
    {"wmma_f32_16x16x32_bf16", NULL, GFX1250, "f32", "bf16", "bf16", ""},
    {"wmma_f16_16x16x32_f16", NULL, GFX1250, "f16", "f16", "f16", ""},
    {"wmma_bf16_16x16x32_bf16", NULL, GFX1250, "bf16", "bf16", "bf16", ""},
    {"wmma_i32_16x16x64_iu8", NULL, GFX1250, "i32", "i8", "u8", " neg_lo:[1,0,0]"},
    {"wmma_i32_16x16x64_iu8", NULL, GFX1250, "i32", "u8", "i8", " neg_lo:[0,1,0]"},
    {"wmma_f32_16x16x64_fp8_fp8", NULL, GFX1250, "f32", "fp8", "fp8", ""},
    {"wmma_f32_16x16x64_fp8_bf8", NULL, GFX1250, "f32", "fp8", "bf8", ""},
    {"wmma_f32_16x16x64_bf8_fp8", NULL, GFX1250, "f32", "bf8", "fp8", ""},
    {"wmma_f32_16x16x64_bf8_bf8", NULL, GFX1250, "f32", "bf8", "bf8", ""},
    {"wmma_f16_16x16x64_fp8_fp8", NULL, GFX1250, "f16", "fp8", "fp8", ""},
    {"wmma_f16_16x16x64_fp8_bf8", NULL, GFX1250, "f16", "fp8", "bf8", ""},
    {"wmma_f16_16x16x64_bf8_fp8", NULL, GFX1250, "f16", "bf8", "fp8", ""},
    {"wmma_f16_16x16x64_bf8_bf8", NULL, GFX1250, "f16", "bf8", "bf8", ""},
    {"wmma_f32_16x16x128_fp8_fp8", NULL, GFX1250, "f32", "fp8", "fp8", ""},
    {"wmma_f32_16x16x128_fp8_bf8", NULL, GFX1250, "f32", "fp8", "bf8", ""},
    {"wmma_f32_16x16x128_bf8_fp8", NULL, GFX1250, "f32", "bf8", "fp8", ""},
    {"wmma_f32_16x16x128_bf8_bf8", NULL, GFX1250, "f32", "bf8", "bf8", ""},
    {"wmma_f16_16x16x128_fp8_fp8", NULL, GFX1250, "f16", "fp8", "fp8", ""},
    {"wmma_f16_16x16x128_fp8_bf8", NULL, GFX1250, "f16", "fp8", "bf8", ""},
    {"wmma_f16_16x16x128_bf8_fp8", NULL, GFX1250, "f16", "bf8", "fp8", ""},
    {"wmma_f16_16x16x128_bf8_bf8", NULL, GFX1250, "f16", "bf8", "bf8", ""},
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
static size_t numbers_of(tj_context *context, const char *atom, const char *expression, long number[MOST]) {
  char text[TEXT];
  tj_program *program;
  tj_blob blob;
  size_t count = 0;
  snprintf(text, sizeof text, "import \"amd_mma.tile\"\nimport \"amd_copy.tile\"\nlet X = %.80s; %.80s", atom,
           expression);
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
  unsigned rows, depth;
  matrix a, b, d;
} run;

static void name_atom(const run *r, char text[TEXT]) {
  static const char *const generations[] = {"", "", "", "gfx11_", "gfx12_", "gfx1250_"};
  snprintf(text, TEXT, "%s%s", generations[r->number], r->of->atom);
}

static void read_matrix(tj_context *context, const run *r, const char *part, unsigned lanes, matrix *x) {
  char atom[TEXT];
  name_atom(r, atom);
  x->of_lane = numbers_of(context, atom, part, x->element) / lanes;
  ck_assert_uint_gt(x->of_lane, 0);
}

static void read_atom(tj_context *context, run *r, unsigned lanes) {
  bool is_wide = r->number == 3 && bits_of(r->of->d) == 16;
  unsigned columns;
  const char *shape = strchr(r->of->atom, 'x');
  while (shape[-1] >= '0' && shape[-1] <= '9')
    shape--;
  ck_assert_int_eq(sscanf(shape, "%ux%ux%u", &r->rows, &columns, &r->depth), 3);
  ck_assert_uint_eq(r->rows, columns);
  r->a = (matrix){.type = r->of->a, .first = A_REGISTER, .stride = bits_of(r->of->a)};
  r->b = (matrix){.type = r->of->b, .first = B_REGISTER, .stride = bits_of(r->of->b)};
  r->d = (matrix){.type = r->of->d,
                  .first = D_REGISTER,
                  .stride = is_wide ? 32 : bits_of(r->of->d),
                  .shift = is_wide && strstr(r->of->modifiers, "op_sel") != NULL ? 16 : 0};
  read_matrix(context, r, "mma_A(X)", lanes, &r->a);
  read_matrix(context, r, "mma_B(X)", lanes, &r->b);
  read_matrix(context, r, "mma_C(X)", lanes, &r->d);
}

/* D, C and D in the same registers. gfx942 has no 1k in its names. */
static void write_instruction(const run *r, char text[2 * TEXT]) {
  char d[TEXT], a[TEXT], b[TEXT], name[TEXT];
  bool is_old = r->number == 0 && r->of->old != NULL;
  write_registers(d, D_REGISTER, registers_of(&r->d));
  write_registers(a, A_REGISTER, registers_of(&r->a));
  write_registers(b, B_REGISTER, registers_of(&r->b));
  snprintf(name, sizeof name, "%s", is_old ? r->of->old : r->of->atom);
  char *suffix = strstr(name, "_1k");
  if (suffix != NULL && !is_old)
    *suffix = '\0';
  snprintf(text, 2 * TEXT, "v_%.60s %.20s, %.20s, %.20s, %.20s%.60s\ns_endpgm\n", name, d, a, b, d, r->of->modifiers);
}

static bool is_scaled(const run *r) {
  return strstr(r->of->atom, "scale") != NULL;
}

/* Each lane has a scale for its 32 elements: of A 1, 2 or 4, in byte 1, and of B 1 or 2, in byte 2. */
static long scale_of(const run *r, long row, long k, long scales) {
  long lane = row + r->rows * (k / 32);
  return is_scaled(r) ? 1L << lane % scales : 1;
}

static void set_scales(sim_machine *m) {
  for (unsigned lane = 0; lane < 64; lane++) {
    m->vector[48][lane] = 0x12340056 | (127 + lane % 3) << 8;
    m->vector[49][lane] = 0x12005634 | (127 + lane % 2) << 16;
  }
}

/* Elements have numbers row + rows * (column + columns * block) in D, and the like in A and B. */
static long expected(const run *r, long element) {
  long rows = r->rows, depth = r->depth, row = element % rows, column = element / rows % rows,
       block = element / rows / rows, sum = r->d.value[element];
  for (long k = 0; k < depth; k++)
    sum += scale_of(r, row, k, 3) * scale_of(r, column, k, 2) * (long)r->a.value[row + rows * (k + depth * block)] *
           r->b.value[column + rows * (k + depth * block)];
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

static void check_row(tj_context *context, const matrix_row *of, unsigned number) {
  static run r;
  char text[2 * TEXT];
  uint64_t state = 17 * number + (uint64_t)(of - matrix_rows);
  r = (run){.of = of, .number = number};
  read_atom(context, &r, number < 3 ? 64 : 32);
  write_instruction(&r, text);
  sim_machine *m = sim_open(names[number], text);
  bool is_fnuz = number == 1;
  fill(m, &r.a, &state, is_fnuz);
  fill(m, &r.b, &state, is_fnuz);
  fill(m, &r.d, &state, is_fnuz);
  if (is_scaled(&r))
    set_scales(m);
  uint32_t kept = m->vector[D_REGISTER][5] & 0xffff;
  sim_run(m);
  check_result(m, &r);
  if (r.d.shift != 0)
    ck_assert_uint_eq(m->vector[D_REGISTER][5] & 0xffff, kept);
  sim_close(m);
}

START_TEST(lanes_hold_what_the_atoms_say) {
  tj_context *context;
  ck_assert_int_eq(tj_context_create(NULL, &context), TJ_OK);
  tj_context_set_reader(context, read_atoms, NULL);
  for (unsigned number = 0; number < sizeof names / sizeof names[0]; number++) {
    if ((matrix_rows[_i].processors >> number & 1) != 0)
      check_row(context, &matrix_rows[_i], number);
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
  ck_assert_uint_eq(numbers_of(context, atom, "get(X, 2)", element), lanes * each);
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
