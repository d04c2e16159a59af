/* SPDX-License-Identifier: MIT */
/* The kernels of bench_arrays, what they have to give by plain loops over doubles, and elements as numbers. */
#include "array_programs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what they have to give --- */

static void expect_softmax(const array_row row, int64_t columns) {
  double most = -INFINITY, sum = 0;
  for (int64_t j = 0; j < columns; j++)
    most = fmax(most, row[0][j]);
  for (int64_t j = 0; j < columns; j++)
    sum += exp(row[0][j] - most);
  for (int64_t j = 0; j < columns; j++)
    row[1][j] = exp(row[0][j] - most) / sum;
}

static void normalize(const double *of, const double *weight, double *to, int64_t columns) {
  double sum = 0;
  for (int64_t j = 0; j < columns; j++)
    sum += of[j] * of[j];
  for (int64_t j = 0; j < columns; j++)
    to[j] = of[j] / sqrt(sum / (double)columns + 1e-6) * weight[j];
}

static void expect_rmsnorm(const array_row row, int64_t columns) {
  normalize(row[0], row[1], row[2], columns);
}

static void expect_residual(const array_row row, int64_t columns) {
  for (int64_t j = 0; j < columns; j++)
    row[3][j] = row[0][j] + row[1][j];
  normalize(row[3], row[2], row[4], columns);
}

static double most_of(const double *of, int64_t count) {
  double most = 0;
  for (int64_t j = 0; j < count; j++)
    most = fmax(most, fabs(of[j]));
  return most;
}

static void expect_rows(const array_row row, int64_t columns) {
  row[2][0] = fmax(most_of(row[0], columns), 1e-12) / 448;
  for (int64_t j = 0; j < columns; j++)
    row[1][j] = row[0][j] / row[2][0];
}

static void expect_groups(const array_row row, int64_t columns) {
  for (int64_t j = 0; j < columns; j += GROUP) {
    double scale = exp2(floor(log2(fmax(most_of(row[0] + j, GROUP), 1e-30))) - 8);
    row[2][j / GROUP] = scale;
    for (int64_t k = j; k < j + GROUP; k++)
      row[1][k] = fmin(448, fmax(-448, row[0][k] / scale));
  }
}

static void expect_turned(const array_row row, int64_t columns) {
  for (int64_t j = 0; j < columns; j++)
    row[1][j] = row[2][j] = row[0][j] * 16;
}

/* --- programs --- */

const array_program array_programs[] = {
    {"softmax",
     "kernel k(x: * @ (M, N):(N, 1), y: * @ (M, N):(N, 1)) = { let e = exp(x - max(x, 1)); y = e / sum(e, 1) }",
     NULL,
     0,
     {{"x", "*", EACH, false}, {"y", "*", EACH, true}},
     expect_softmax},
    {"rmsnorm",
     "kernel k(x: * @ (M, N):(N, 1), w: * @ (1, N):(0, 1), eps: f32, y: * @ (M, N):(N, 1)) = {"
     " y = x * rsqrt(mean(x * x, 1) + eps) * w }",
     "eps",
     1e-6,
     {{"x", "*", EACH, false}, {"w", "*", OF_ALL_ROWS, false}, {"y", "*", EACH, true}},
     expect_rmsnorm},
    {"rmsnorm with residual",
     "kernel k(x: * @ (M, N):(N, 1), r: * @ (M, N):(N, 1), w: * @ (1, N):(0, 1), eps: f32, h: * @ (M, N):(N, 1),"
     " y: * @ (M, N):(N, 1)) = { let s = x + r; h = s; y = s * rsqrt(mean(s * s, 1) + eps) * w }",
     "eps",
     1e-6,
     {{"x", "*", EACH, false},
      {"r", "*", EACH, false},
      {"w", "*", OF_ALL_ROWS, false},
      {"h", "*", EACH, true},
      {"y", "*", EACH, true}},
     expect_residual},
    {"row quantise",
     "kernel k(x: * @ (M, N):(N, 1), q: f8e4m3fn @ (M, N):(N, 1), s: f32 @ (M, 1):(1, 1)) = {"
     " let scale = maximum(max(abs(x), 1), 0.000000000001) / 448; s = scale; q = x / scale }",
     NULL,
     0,
     {{"x", "*", EACH, false}, {"q", "f8e4m3fn", EACH, true}, {"s", "f32", OF_ROW, true}},
     expect_rows},
    {"mx quantise",
     "kernel k(x: * @ (M, N/32, 32):(N, 32, 1), q: f8e4m3fn @ (M, N/32, 32):(N, 32, 1),"
     " s: e8m0 @ (M, N/32, 1):(N/32, 1, 1)) = {"
     " let e = floor(log2(maximum(max(abs(x), 2), 0.000000000000000000000000000001))) - 8;"
     " s = exp2(e); q = x * exp2(-e) }",
     NULL,
     0,
     {{"x", "*", EACH, false}, {"q", "f8e4m3fn", EACH, true}, {"s", "e8m0", OF_GROUP, true}},
     expect_groups},
    {"cast-transpose",
     "kernel k(x: * @ (M, N):(N, 1), scale: f32, q: f8e4m3fn @ (M, N):(N, 1), t: f8e4m3fn @ (M, N):(1, M)) = {"
     " q = x * scale; t = x * scale }",
     "scale",
     16,
     {{"x", "*", EACH, false}, {"q", "f8e4m3fn", EACH, true}, {"t", "f8e4m3fn", TURNED, true}},
     expect_turned},
};
const size_t array_program_count = sizeof array_programs / sizeof array_programs[0];

void array_program_write(char text[PROGRAM_TEXT], const array_program *p, const char *type, int64_t rows,
                         int64_t columns, bool is_dynamic) {
  int at = is_dynamic ? snprintf(text, PROGRAM_TEXT, "param M in 1..1048576, N in 32..131072 multiple 32\n")
                      : snprintf(text, PROGRAM_TEXT, "let M = %" PRId64 "; let N = %" PRId64 "\n", rows, columns);
  for (const char *from = p->text; *from != '\0' && at + 16 < PROGRAM_TEXT; from++) {
    bool is_type = from[0] == '*' && from[1] == ' ' && from[2] == '@';
    at += snprintf(text + at, (size_t)(PROGRAM_TEXT - at), "%.*s", is_type ? (int)strlen(type) : 1,
                   is_type ? type : from);
  }
}

/* --- elements --- */

size_t array_type_bytes(const char *type) {
  return strcmp(type, "f32") == 0 ? 4 : strcmp(type, "bf16") == 0 ? 2 : 1;
}

int64_t array_row_elements(array_form form, int64_t columns) {
  return form == OF_ROW ? 1 : form == OF_GROUP ? columns / GROUP : columns;
}

static double single_number(uint32_t bits) {
  float single;
  memcpy(&single, &bits, sizeof single);
  return single;
}

static double float8_number(uint8_t code) {
  int exponent = code >> 3 & 15, fraction = code & 7;
  double size = exponent == 0 ? fraction * 0x1p-9 : ldexp(8 + fraction, exponent - 10);
  return code >> 7 != 0 ? -size : size;
}

double array_number(const char *type, const void *element) {
  uint32_t bits = 0;
  memcpy(&bits, element, array_type_bytes(type));
  if (strcmp(type, "f32") == 0)
    return single_number(bits);
  if (strcmp(type, "bf16") == 0)
    return single_number(bits << 16);
  return strcmp(type, "e8m0") == 0 ? ldexp(1, (int)bits - 127) : float8_number((uint8_t)bits);
}

void array_store(const char *type, void *element, double number) {
  float single = (float)number;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (strcmp(type, "f32") != 0)
    bits >>= 16;
  memcpy(element, &bits, array_type_bytes(type));
}

double array_tolerance(const char *type, double number) {
  if (strcmp(type, "f32") == 0)
    return 2e-5 * fabs(number) + 1e-30;
  if (strcmp(type, "bf16") == 0)
    return 0x1.4p-8 * fabs(number) + 1e-30;
  return strcmp(type, "e8m0") == 0 ? 0 : 0x1.2p-4 * fabs(number) + 0x1p-10;
}
