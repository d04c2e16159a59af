/* SPDX-License-Identifier: MIT */
/* Copies that scale their elements and add a bias, for every pair of number types, held against C's own arithmetic:
 * in straight, transposed, masked and distributed kernels; on the host, or on the device that TILEJIT_TEST_DEVICE
 * names. */
#include "tests/unit/support/conversion_support.h"

#include "tests/unit/support/library_support.h"

#include <math.h>
#include <stdio.h>

enum { ROWS = 31, COLUMNS = 29, ELEMENTS = ROWS * COLUMNS };

/* Options as text, and as what they must mean. */
typedef struct {
  const char *text;
  long double scale, bias;
  bool is_integer;
} factors;

static const factors integer_factors[] = {
    {"scale=3, bias=-7", 3, -7, true},
    {"scale=-1", -1, 0, true},
    {"bias=1000003", 1, 1000003, true},
    {"scale=4.0/2, bias=(1+2)*50", 2, 150, true},
    {"scale=4611686018427387905, bias=9223372036854775807", 4611686018427387905, 9223372036854775807, true},
};

static const factors real_factors[] = {
    {"scale=1/255, bias=-0.5", 1 / 255.0, -0.5, false},
    {"scale=-2.5e-3", -2.5e-3, 0, false},
    {"bias=0.1", 1, 0.1, false},
    {"scale=1.0e6/3, bias=1.0e10+1/2", 1.0e6 / 3, 1.0e10 + 0.5, false},
};

enum {
  INTEGER_FACTORS = sizeof integer_factors / sizeof *integer_factors,
  REAL_FACTORS = sizeof real_factors / sizeof *real_factors
};

/* Kernels of ROWS x COLUMNS elements. */
static const char *const kernels[] = {
    "kernel k(s: %s @ 899:1, d: %s @ 899:1) = copy(s, d, %s)",
    "kernel k(s: %s @ (31,29):(1,31), d: %s @ (31,29):(29,1)) = copy(s, d, %s)",
    "let D = distribution(hs=[[4], [8, 4]], ps_major=[[2]], ps_minor=[[0]], ys_major=[1, 2], ys_minor=[0, 1])"
    "kernel k(s: %s @ (31,29):(1,31), d: %s @ (31,29):(29,1)) = copy(s, d, through=D, %s)",
    "let V = transform(packed((899)), [left_pad(899, 4)], [[0]], [[0]])"
    "kernel k(s: %s @ V, d: %s @ packed((903))) = copy(s, d, fill=3, %s)",
};

enum { STRAIGHT, TRANSPOSED, DISTRIBUTED, MASKED, KERNEL_COUNT };

/* --- what must come out --- */

static tj_dtype float_arithmetic(tj_dtype from, tj_dtype to) {
  bool wide = tj_dtype_bits(from) == 64 || tj_dtype_bits(to) == 64;
  bool integers = !is_float(from) && !is_float(to) && (tj_dtype_bits(from) == 32 || tj_dtype_bits(to) == 32);
  return wide || integers ? TJ_DTYPE_f64 : TJ_DTYPE_f32;
}

static long double real_result(long double value, const factors *f, tj_dtype arithmetic) {
  value = round_float(value, arithmetic);
  long double scale = round_float(f->scale, arithmetic), bias = round_float(f->bias, arithmetic);
  if (arithmetic == TJ_DTYPE_f32)
    return fmaf((float)value, (float)scale, (float)bias);
  return fma((double)value, (double)scale, (double)bias);
}

static uint64_t extended(element from, tj_dtype dtype) {
  uint64_t bits = bits_of(from, dtype);
  unsigned unused = 64 - (unsigned)tj_dtype_bits(dtype);
  return tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static bool is_right(element from, tj_dtype from_type, element to, tj_dtype to_type, const factors *f) {
  if (!is_float(from_type) && !is_float(to_type) && f->is_integer) {
    uint64_t expected = extended(from, from_type) * (uint64_t)(int64_t)f->scale + (uint64_t)(int64_t)f->bias;
    return bits_of(to, to_type) == low_bits(expected, tj_dtype_bits(to_type));
  }
  long double result = real_result(read_number(from, from_type), f, float_arithmetic(from_type, to_type));
  if (!is_float(to_type))
    return bits_of(to, to_type) == saturated(result, to_type);
  long double found = read_number(to, to_type), expected = round_float(result, to_type);
  return isnan(expected) ? isnan(found) : found == expected && signbit(found) == signbit(expected);
}

/* The element that `fill=3` is, as the source's type has it. */
static element three(tj_dtype dtype) {
  if (tj_dtype_is_small_float(dtype))
    return element_of(small_float_code(nearest_small_float(3, dtype), dtype));
  switch (dtype) {
  case TJ_DTYPE_f16:
    return element_of(0x4200);
  case TJ_DTYPE_bf16:
    return element_of(0x4040);
  case TJ_DTYPE_f32:
    return element_of(0x40400000);
  case TJ_DTYPE_f64:
    return element_of(0x4008000000000000);
  default:
    return element_of(3);
  }
}

/* --- runs --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  random_source random;
} session;

static void open_session(session *s) {
  s->context = new_context(NULL);
  s->device = open_device(s->context, tested_device());
  s->random = (random_source){1};
}

static void close_session(session *s) {
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

static void run(session *s, const char *text, unsigned char *from, size_t from_size, unsigned char *to,
                size_t to_size) {
  tj_program *program;
  tj_code *code;
  tj_launch *launch;
  if (tj_program_create(s->context, "test", text, strlen(text), NULL, 0, &program) != TJ_OK)
    fail_with(s->context, text);
  tj_compile_options options = {"k", tj_device_target(s->device)};
  if (tj_code_compile(program, &options, &code) != TJ_OK || tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, text);
  if (tj_launch_bind(launch, "s", from, from_size) != TJ_OK || tj_launch_bind(launch, "d", to, to_size) != TJ_OK ||
      tj_launch_run(launch, s->device) != TJ_OK)
    fail_with(s->context, text);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
}

static void check_result(unsigned kernel, tj_dtype from, const unsigned char *source, tj_dtype to,
                         const unsigned char *result, const factors *f, const char *text) {
  uint32_t first = kernel == MASKED ? 4 : 0;
  for (uint32_t i = 0; i < ELEMENTS + first; i++) {
    uint32_t place = kernel == TRANSPOSED || kernel == DISTRIBUTED ? i % ROWS * COLUMNS + i / ROWS : i;
    element input = i < first ? three(from) : element_at(source, from, i - first);
    element output = element_at(result, to, place);
    ck_assert_msg(is_right(input, from, output, to, f), "%s: element %u: from %llx to %llx", text, i,
                  (unsigned long long)bits_of(input, from), (unsigned long long)bits_of(output, to));
  }
}

static void check(session *s, unsigned kernel, tj_dtype from, tj_dtype to, const factors *f) {
  char text[512];
  snprintf(text, sizeof text, kernels[kernel], tj_dtype_name(from), tj_dtype_name(to), f->text);
  size_t count = kernel == MASKED ? ELEMENTS + 4 : ELEMENTS;
  size_t from_size = ELEMENTS * tj_dtype_bits(from) / 8, to_size = count * tj_dtype_bits(to) / 8;
  unsigned char *source = make_elements(&s->random, from, ELEMENTS), *result = calloc(to_size, 1);
  run(s, text, source, from_size, result, to_size);
  check_result(kernel, from, source, to, result, f, text);
  free(source);
  free(result);
}

/* Distributions of one P need lanes as many as the wave has. */
static bool has_kernel(unsigned kernel) {
  return kernel != DISTRIBUTED || strcmp(tested_device(), "host") == 0;
}

/* Numbers; of small floats, which are alike but for their codes, one with a sign and the one without. */
static bool is_paired(tj_dtype dtype) {
  bool stands_for_others = dtype == TJ_DTYPE_f8e4m3fnuz || dtype == TJ_DTYPE_e8m0;
  return tj_dtype_class_of(dtype) != TJ_CLASS_BITS && (stands_for_others || !tj_dtype_is_small_float(dtype));
}

START_TEST(every_pair_of_types) {
  session s;
  open_session(&s);
  for (unsigned i = 0; i < TJ_DTYPE_COUNT * TJ_DTYPE_COUNT; i++) {
    tj_dtype from = i / TJ_DTYPE_COUNT, to = i % TJ_DTYPE_COUNT;
    if (!is_paired(from) || !is_paired(to))
      continue;
    check(&s, TRANSPOSED, from, to, &integer_factors[i % INTEGER_FACTORS]);
    check(&s, STRAIGHT, from, to, &real_factors[(i + i / 7) % REAL_FACTORS]);
  }
  close_session(&s);
}
END_TEST

START_TEST(every_kind_of_kernel) {
  static const tj_dtype types[] = {TJ_DTYPE_i8, TJ_DTYPE_i32, TJ_DTYPE_f8e5m2, TJ_DTYPE_f16, TJ_DTYPE_f32};
  enum { TYPES = sizeof types / sizeof *types };
  session s;
  open_session(&s);
  for (unsigned i = 0; i < TYPES * TYPES * KERNEL_COUNT; i++) {
    unsigned kernel = i % KERNEL_COUNT, pair = i / KERNEL_COUNT;
    if (!has_kernel(kernel))
      continue;
    check(&s, kernel, types[pair / TYPES], types[pair % TYPES], &integer_factors[pair % 4]);
    check(&s, kernel, types[pair / TYPES], types[pair % TYPES], &real_factors[pair % REAL_FACTORS]);
  }
  close_session(&s);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {every_pair_of_types, every_kind_of_kernel};
  return run_suite(suite_of("scaling", tests, sizeof tests / sizeof *tests));
}
