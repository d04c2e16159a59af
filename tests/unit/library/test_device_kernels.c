/* SPDX-License-Identifier: MIT */
/* Kernels on a device, bit for bit as on the host: conversions between all element types from bits that cover them,
 * raw bits, offsets, and the examples, with parameters fixed and passed at launch.
 *
 * TILEJIT_TEST_DEVICE names the device; without it, it is the host, which is then compared with itself. */
#include "tests/unit/support/library_support.h"

#include <stdio.h>

enum { TEXT = 4096, MOST_PARAMETERS = 2, MOST_ARGUMENTS = 2 };

typedef struct {
  tj_context *context;
  tj_device *host, *device;
} session;

/* Parameters and their values. */
typedef struct {
  tj_parameter_value value[MOST_PARAMETERS];
  size_t count;
} sizes;

static void open_session(session *s) {
  s->context = new_context(NULL);
  s->host = open_device(s->context, "host");
  s->device = open_device(s->context, tested_device());
}

static void close_session(session *s) {
  tj_device_close(s->device);
  tj_device_close(s->host);
  tj_context_destroy(s->context);
}

/* --- one run --- */

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 29 ^ *state << 7;
}

/* Bits of every kind: of small and large integers, of floats of all sizes, of what is no number. */
static void fill(unsigned char *bytes, size_t size) {
  static const uint64_t special[] = {0,
                                     1,
                                     0x7f,
                                     0x80,
                                     0x7fff,
                                     0x8000,
                                     0x7c00,
                                     0xfc01,
                                     0x7f800000,
                                     0xff800001,
                                     0x80000000,
                                     0xffffffff,
                                     0x3f800000,
                                     0xcf000000,
                                     0x4f7fffff,
                                     0x477fefff,
                                     0x7ff0000000000000,
                                     0xfff8000000000001,
                                     0x8000000000000000,
                                     0x43efffffffffffff,
                                     0xc3e0000000000001,
                                     0x3fe0000000000000,
                                     0x40efffdfffffffff,
                                     0x36a0000000000000};
  enum { SPECIALS = sizeof special / sizeof special[0] };
  uint64_t state = 1;
  for (size_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word = i / 8 < 4 * SPECIALS ? special[i / 8 % SPECIALS] : next_random(&state);
    if (i / 8 >= 4 * SPECIALS && i % 3 == 0)
      word = (word & 0x800fffffffffffff) | (0x3c0 + next_random(&state) % 0x80) << 52;
    memcpy(bytes + i, &word, 8);
  }
}

typedef struct {
  unsigned char *data[MOST_ARGUMENTS];
  size_t size[MOST_ARGUMENTS], element_bytes[MOST_ARGUMENTS];
  char dtype[MOST_ARGUMENTS][8];
  size_t count;
} arrays;

static void bind(const session *s, tj_launch *launch, const tj_code *code, arrays *all) {
  all->count = tj_code_argument_count(code);
  ck_assert_uint_le(all->count, MOST_ARGUMENTS);
  for (size_t i = 0; i < all->count; i++) {
    const tj_argument *argument;
    if (tj_launch_argument(launch, i, &argument) != TJ_OK)
      fail_with(s->context, "argument");
    all->element_bytes[i] = argument->element_bytes;
    all->size[i] = argument->element_bytes * (size_t)argument->element_count;
    snprintf(all->dtype[i], sizeof all->dtype[i], "%s", argument->dtype);
    all->data[i] = calloc(all->size[i] + 8, 1);
    if (argument->is_read)
      fill(all->data[i], all->size[i]);
    if (tj_launch_bind(launch, argument->name, all->data[i], all->size[i]) != TJ_OK)
      fail_with(s->context, "bind");
  }
}

static void run_on(const session *s, tj_device *device, const char *text, const char *kernel, const sizes *fixed,
                   const sizes *passed, arrays *all) {
  tj_program *program;
  tj_code *code;
  tj_launch *launch;
  if (tj_program_create(s->context, "test", text, strlen(text), fixed->value, fixed->count, &program) != TJ_OK)
    fail_with(s->context, text);
  tj_compile_options options = {kernel, tj_device_target(device)};
  if (tj_code_compile(program, &options, &code) != TJ_OK)
    fail_with(s->context, text);
  if (tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, text);
  for (size_t i = 0; i < passed->count; i++) {
    if (tj_launch_set_parameter(launch, passed->value[i].name, passed->value[i].value) != TJ_OK)
      fail_with(s->context, text);
  }
  bind(s, launch, code, all);
  if (tj_launch_run(launch, device) != TJ_OK)
    fail_with(s->context, text);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
}

static void compare(const arrays *expected, const arrays *found, const char *text) {
  for (size_t i = 0; i < expected->count; i++) {
    ck_assert_uint_eq(expected->size[i], found->size[i]);
    size_t bytes = expected->element_bytes[i];
    for (size_t k = 0; k < expected->size[i]; k += bytes)
      ck_assert_msg(is_same_element(expected->dtype[i], expected->data[i] + k, found->data[i] + k, bytes),
                    "%s: %s: byte %zu of argument %zu is %02x, not %02x", tested_device(), text, k, i,
                    found->data[i][k], expected->data[i][k]);
  }
}

static void release(arrays *all) {
  for (size_t i = 0; i < all->count; i++)
    free(all->data[i]);
}

static void check_kernel(const session *s, const char *text, const char *kernel, const sizes *fixed,
                         const sizes *passed) {
  arrays expected, found;
  run_on(s, s->host, text, kernel, fixed, passed, &expected);
  run_on(s, s->device, text, kernel, fixed, passed, &found);
  compare(&expected, &found, text);
  release(&expected);
  release(&found);
}

/* Parameters fixed, and passed at launch. */
static void check_both(const session *s, const char *text, const char *kernel, sizes values) {
  const sizes none = {.count = 0};
  check_kernel(s, text, kernel, &values, &none);
  check_kernel(s, text, kernel, &none, &values);
}

static const sizes no_sizes;

/* --- tests --- */

START_TEST(conversions) {
  static const char *const types[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                      "i64", "u64", "f16", "bf16", "f32", "f64"};
  enum { TYPES = sizeof types / sizeof types[0] };
  session s;
  open_session(&s);
  for (size_t i = 0; i < TYPES * TYPES; i++) {
    char text[TEXT];
    snprintf(text, sizeof text, "kernel k(src: %s @ (31,29):(1,31), dst: %s @ (31,29):(29,1)) = copy(src, dst)",
             types[i / TYPES], types[i % TYPES]);
    check_kernel(&s, text, "k", &no_sizes, &no_sizes);
  }
  close_session(&s);
}
END_TEST

START_TEST(raw_bits) {
  static const char *const types[] = {"b8", "b16", "b32", "b64", "b128"};
  session s;
  open_session(&s);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    char text[TEXT];
    snprintf(text, sizeof text, "kernel k(src: %s @ (31,29):(1,31), dst: %s @ (31,29):(29,1)) = copy(src, dst)",
             types[i], types[i]);
    check_kernel(&s, text, "k", &no_sizes, &no_sizes);
  }
  close_session(&s);
}
END_TEST

#define SMALL "param M in 1..4096, N in 1..4096\n"
#define LARGE "param M in 1..1000000000, N in 1..1000000000\n"
#define SWIZZLED "kernel k(src: f32 @ Sw<2,0,3> o 0 o (M,32):(32,1), dst: f32 @ (M,32):(1,M)) = copy(src, dst)"
#define FRAME                                                                                                        \
  "let P = transform(packed((M, N)), [pad(M, 1, 2), pad(N, 3, 0)], [[0], [1]], [[0], [1]])\n"                        \
  "kernel k(src: i16 @ P, dst: i16 @ packed((M+3, N+3))) = copy(src, dst, fill=-7)"

START_TEST(parameters) {
  static const char *const programs[] = {
      SMALL "kernel k(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)",
      LARGE "kernel k(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)",
      LARGE "kernel k(src: u8 @ (M,N):(N+3,1), dst: f64 @ (M,N):(1,M+1)) = copy(src, dst)",
      SMALL "kernel k(src: f16 @ ((2,M),N):((N*M,N),1), dst: f32 @ ((2,M),N):((1,2*N),2)) = copy(src, dst)",
      SMALL "kernel k(dst: i32 @ (M*N):(1)) = offsets(dst, (M,N):(N,1))",
      LARGE "kernel k(dst: i64 @ (M*N):(1)) = offsets(dst, (M,N):(N+5,1))",
      SMALL SWIZZLED,
      SMALL FRAME,
  };
  static const int64_t values[][2] = {{1, 1}, {16, 16}, {37, 19}, {257, 3}};
  session s;
  open_session(&s);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
      check_both(&s, programs[i], "k", (sizes){{{"M", values[k][0]}, {"N", values[k][1]}}, 2});
  }
  close_session(&s);
}
END_TEST

static void read_example(const char *name, char text[TEXT]) {
  char path[TEXT];
  snprintf(path, sizeof path, "%s/../examples/%s", TILEJIT_TEST_DATA, name);
  FILE *file = fopen(path, "r");
  ck_assert_msg(file != NULL, "%s", path);
  text[fread(text, 1, TEXT - 1, file)] = '\0';
  fclose(file);
}

START_TEST(examples) {
  static const struct {
    const char *file, *kernel;
    sizes values;
  } rows[] = {
      {"transpose.tile", "transpose", {{{"M", 123}, {"N", 77}}, 2}},
      {"im2col.tile", "im2col", {{{"H", 13}, {"W", 9}}, 2}},
      {"swizzle.tile", "swizzle", {.count = 0}},
      {"swizzle.tile", "unswizzle", {.count = 0}},
  };
  session s;
  open_session(&s);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char text[TEXT];
    read_example(rows[i].file, text);
    check_both(&s, text, rows[i].kernel, rows[i].values);
  }
  close_session(&s);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {conversions, raw_bits, parameters, examples};
  return run_suite(suite_of("device_kernels", tests, sizeof tests / sizeof tests[0]));
}
