/* SPDX-License-Identifier: MIT */
/* Floats of 8 bits: what their codes stand for, against their specifications; and copies from and to all wider
 * floats, for every code of 8 and 16 bits and for every f32 and f64 about which a rounding turns, on the host, or on
 * the device that TILEJIT_TEST_DEVICE names. The reference looks the nearest number up (conversion_support.h). */
#include "tests/unit/support/conversion_support.h"

#include "tests/unit/support/library_support.h"

#include <math.h>
#include <stdio.h>

/* --- what codes stand for --- */

/* OFP8 1.0, tables 1 and 2; MX 1.0, section 5.4.1; AMD Instinct MI300 ISA, section 6.2. */
static const struct {
  tj_dtype dtype;
  uint32_t code;
  long double value;
} known[] = {
    {TJ_DTYPE_f8e4m3fn, 0x7e, 448},        {TJ_DTYPE_f8e4m3fn, 0x7f, NAN},
    {TJ_DTYPE_f8e4m3fn, 0xff, NAN},        {TJ_DTYPE_f8e4m3fn, 0x08, 0x1p-6L},
    {TJ_DTYPE_f8e4m3fn, 0x07, 0.875 / 64}, {TJ_DTYPE_f8e4m3fn, 0x01, 0x1p-9L},
    {TJ_DTYPE_f8e4m3fn, 0x80, -0.0L},      {TJ_DTYPE_f8e4m3fn, 0xb8, -1},
    {TJ_DTYPE_f8e5m2, 0x7b, 57344},        {TJ_DTYPE_f8e5m2, 0x7c, INFINITY},
    {TJ_DTYPE_f8e5m2, 0xfc, -INFINITY},    {TJ_DTYPE_f8e5m2, 0x7d, NAN},
    {TJ_DTYPE_f8e5m2, 0xff, NAN},          {TJ_DTYPE_f8e5m2, 0x04, 0x1p-14L},
    {TJ_DTYPE_f8e5m2, 0x03, 0.75 / 16384}, {TJ_DTYPE_f8e5m2, 0x01, 0x1p-16L},
    {TJ_DTYPE_f8e4m3fnuz, 0x7f, 240},      {TJ_DTYPE_f8e4m3fnuz, 0x80, NAN},
    {TJ_DTYPE_f8e4m3fnuz, 0x08, 0x1p-7L},  {TJ_DTYPE_f8e4m3fnuz, 0x01, 0x1p-10L},
    {TJ_DTYPE_f8e4m3fnuz, 0xc0, -1},       {TJ_DTYPE_f8e5m2fnuz, 0x7f, 57344},
    {TJ_DTYPE_f8e5m2fnuz, 0x80, NAN},      {TJ_DTYPE_f8e5m2fnuz, 0x04, 0x1p-15L},
    {TJ_DTYPE_f8e5m2fnuz, 0x01, 0x1p-17L}, {TJ_DTYPE_f8e5m2fnuz, 0xc0, -1},
    {TJ_DTYPE_e8m0, 0x00, 0x1p-127L},      {TJ_DTYPE_e8m0, 0x7f, 1},
    {TJ_DTYPE_e8m0, 0xfe, 0x1p127L},       {TJ_DTYPE_e8m0, 0xff, NAN},
};

static bool is_same(long double a, long double b) {
  return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

START_TEST(codes) {
  long double value = small_floats(known[_i].dtype)->value[known[_i].code];
  ck_assert_msg(is_same(value, known[_i].value), "%s 0x%02x is %Lg", tj_dtype_name(known[_i].dtype), known[_i].code,
                value);
}
END_TEST

/* The reference's search needs numbers that ascend with their codes, and its results are known here. */
START_TEST(nearest) {
  for (tj_dtype dtype = 0; dtype < TJ_DTYPE_COUNT; dtype++)
    for (uint32_t code = 1; tj_dtype_is_small_float(dtype) && code < small_floats(dtype)->end; code++)
      ck_assert(small_floats(dtype)->value[code - 1] < small_floats(dtype)->value[code]);
  ck_assert(nearest_small_float(17, TJ_DTYPE_f8e4m3fn) == 16);
  ck_assert(nearest_small_float(19, TJ_DTYPE_f8e4m3fn) == 20);
  ck_assert(nearest_small_float(-1e30L, TJ_DTYPE_f8e4m3fn) == -448);
  ck_assert(nearest_small_float(INFINITY, TJ_DTYPE_f8e5m2) == 57344);
  ck_assert(signbit(nearest_small_float(-1e-30L, TJ_DTYPE_f8e5m2)));
  ck_assert(!signbit(nearest_small_float(-1e-30L, TJ_DTYPE_f8e5m2fnuz)));
  ck_assert(nearest_small_float(3, TJ_DTYPE_e8m0) == 4);
  ck_assert(nearest_small_float(6, TJ_DTYPE_e8m0) == 8);
  ck_assert(nearest_small_float(-3, TJ_DTYPE_e8m0) == 0x1p-127L);
}
END_TEST

/* --- elements about which roundings turn --- */

enum { MOST_ELEMENTS = 65536 };

typedef struct {
  tj_dtype dtype;
  uint32_t count;
  unsigned char data[MOST_ELEMENTS * 8];
} elements;

static void add_bits(elements *list, uint64_t bits) {
  size_t size = tj_dtype_bits(list->dtype) / 8;
  ck_assert_uint_lt(list->count, MOST_ELEMENTS);
  memcpy(list->data + list->count++ * size, &bits, size);
}

/* A number and its neighbours among f32 or f64, of both signs. */
static void add_number(elements *list, double value) {
  bool is_double = list->dtype == TJ_DTYPE_f64;
  uint64_t bits = 0, sign = (uint64_t)1 << (tj_dtype_bits(list->dtype) - 1);
  float rounded = (float)value;
  memcpy(&bits, is_double ? (const void *)&value : &rounded, is_double ? sizeof value : sizeof rounded);
  for (uint64_t neighbour = bits > 0 ? bits - 1 : 0; neighbour <= bits + 1; neighbour++) {
    add_bits(list, neighbour);
    add_bits(list, neighbour | sign);
  }
}

/* All numbers of a small float, what lies in their middle, and what lies beyond them. */
static void add_turns(elements *list, tj_dtype small) {
  const small_float_table *table = small_floats(small);
  for (uint32_t code = 0; code < table->end; code++) {
    double value = (double)table->value[code], next = (double)table->value[code + 1 < table->end ? code + 1 : code];
    add_number(list, value);
    add_number(list, (value + next) / 2);
  }
  double largest = (double)table->value[table->end - 1], step = largest - (double)table->value[table->end - 2];
  for (uint32_t half = 1; half <= 4; half++)
    add_number(list, largest + half * step / 2);
  add_number(list, (double)table->value[small == TJ_DTYPE_e8m0 ? 0 : 1] / 2);
}

/* Zeros, the least and largest subnormal and normal numbers, infinities, NaNs of several payloads. */
static void add_ends(elements *list) {
  tj_float_form form = tj_dtype_form(list->dtype);
  uint64_t normal = (uint64_t)1 << form.mantissa, infinite = (((uint64_t)1 << form.exponent) - 1) << form.mantissa;
  const uint64_t bits[] = {0,
                           1,
                           2,
                           normal / 2,
                           normal - 1,
                           normal,
                           normal + 1,
                           infinite - 1,
                           infinite,
                           infinite + 1,
                           infinite + normal / 2,
                           infinite + normal / 2 + 1,
                           infinite + normal - 1};
  for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
    add_bits(list, bits[i]);
    add_bits(list, bits[i] | (uint64_t)1 << (tj_dtype_bits(list->dtype) - 1));
  }
}

static void add_all(elements *list, tj_dtype small) {
  if (tj_dtype_bits(list->dtype) > 16) {
    add_ends(list);
    add_turns(list, small);
    return;
  }
  for (uint32_t code = 0; code >> tj_dtype_bits(list->dtype) == 0; code++)
    add_bits(list, code);
}

/* --- copies --- */

typedef struct {
  tj_context *context;
  tj_device *device;
  elements from;
  unsigned char to[MOST_ELEMENTS * 8];
} session;

static void run(session *s, tj_dtype from, tj_dtype to) {
  char text[256];
  snprintf(text, sizeof text, "kernel k(s: %s @ %u:1, d: %s @ %u:1) = copy(s, d)", tj_dtype_name(from), s->from.count,
           tj_dtype_name(to), s->from.count);
  tj_program *program;
  tj_code *code;
  tj_launch *launch;
  tj_compile_options options = {"k", tj_device_target(s->device)};
  size_t from_size = s->from.count * (tj_dtype_bits(from) / 8), to_size = s->from.count * (tj_dtype_bits(to) / 8);
  if (tj_program_create(s->context, "test", text, strlen(text), NULL, 0, &program) != TJ_OK ||
      tj_code_compile(program, &options, &code) != TJ_OK || tj_launch_create(s->context, code, &launch) != TJ_OK ||
      tj_launch_bind(launch, "s", s->from.data, from_size) != TJ_OK ||
      tj_launch_bind(launch, "d", s->to, to_size) != TJ_OK || tj_launch_run(launch, s->device) != TJ_OK)
    fail_with(s->context, text);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
}

static void check(session *s, tj_dtype from, tj_dtype to) {
  s->from.dtype = from;
  s->from.count = 0;
  add_all(&s->from, to);
  run(s, from, to);
  for (uint32_t i = 0; i < s->from.count; i++) {
    element source = element_at(s->from.data, from, i), found = element_at(s->to, to, i);
    ck_assert_msg(converts_to(source, from, found, to), "%s 0x%llx became %s 0x%llx", tj_dtype_name(from),
                  (unsigned long long)bits_of(source, from), tj_dtype_name(to),
                  (unsigned long long)bits_of(found, to));
  }
}

static const tj_dtype wider[] = {TJ_DTYPE_f16, TJ_DTYPE_bf16, TJ_DTYPE_f32, TJ_DTYPE_f64};

enum { WIDER = sizeof wider / sizeof *wider };

START_TEST(copies) {
  session *s = calloc(1, sizeof *s);
  s->context = new_context(NULL);
  s->device = open_device(s->context, tested_device());
  for (tj_dtype small = 0; small < TJ_DTYPE_COUNT; small++) {
    for (unsigned i = 0; i < WIDER && tj_dtype_is_small_float(small); i++) {
      check(s, small, wider[i]);
      check(s, wider[i], small);
    }
  }
  tj_device_close(s->device);
  tj_context_destroy(s->context);
  free(s);
}
END_TEST

int main(void) {
  TCase *cases = tcase_create("small floats");
  tcase_add_loop_test(cases, codes, 0, sizeof known / sizeof *known);
  tcase_add_test(cases, nearest);
  tcase_add_test(cases, copies);
  Suite *suite = suite_create("small floats");
  suite_add_tcase(suite, cases);
  return run_suite(suite);
}
