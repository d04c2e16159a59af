/* SPDX-License-Identifier: MIT */
/* Copies that look an index of their source up, with indices of every type that are right, negative, too large and
 * not valid, static and dynamic; held against loops; on the host, or on the device that TILEJIT_TEST_DEVICE names. */
#include "tests/unit/support/guarded_array.h"

#include <stdbool.h>
#include <stdio.h>

enum { TEXT = 1024, N = 37, V = 50, D = 12, ARGUMENTS = 3 };

/* Source element (i, j) is at i * by_row + j * by_column, destination element likewise; i or j is looked up. */
typedef struct {
  const char *source, *indices, *destination, *options;
  bool looks_up_column;
  int64_t source_stride[2], destination_stride[2];
  int64_t rows, columns; /* of the destination */
  int64_t limit;         /* of what is looked up */
  int64_t index_count;   /* indices beyond these are not valid */
  float fill, scale;
} gather_case;

static const gather_case cases[] = {
    {"(V,12):(12,1)", "N:1", "(N,12):(12,1)", "gather=i", false, {D, 1}, {D, 1}, N, D, V, N, 0, 1},
    {"(V,12):(1,V)", "N:1", "(N,12):(13,1)", "gather=i, fill=7", false, {1, V}, {13, 1}, N, D, V, N, 7, 1},
    {"(12,V):(V,1)", "N:1", "(12,N):(1,12)", "gather=[i, 1], scale=0.5", true, {V, 1}, {1, D}, D, N, V, N, 0, 0.5f},
    {"packed((V, 12))",
     "packed((N))",
     "packed((N, 12))",
     "gather=[i, 0], fill=-3",
     false,
     {D, 1},
     {D, 1},
     N,
     D,
     V,
     N,
     -3,
     1},
    {"packed((12, V))",
     "transform(packed((N)), [right_pad(N, 5)], [[0]], [[0]])",
     "packed((12, N+5))",
     "gather=[i, 1], fill=2, bias=1",
     true,
     {V, 1},
     {N + 5, 1},
     D,
     N + 5,
     V,
     N,
     2,
     1},
};

static const struct {
  const char *name;
  size_t bytes;
  bool is_signed;
} index_types[] = {{"i8", 1, true},  {"u8", 1, false},  {"i16", 2, true}, {"u16", 2, false},
                   {"i32", 4, true}, {"u32", 4, false}, {"i64", 8, true}, {"u64", 8, false}};

enum { CASES = sizeof cases / sizeof *cases, INDEX_TYPES = sizeof index_types / sizeof *index_types };

typedef struct {
  tj_context *context;
  tj_device *device;
  char text[TEXT];
} session;

/* --- indices --- */

/* Most are below the limit; the others are edges of the type, as bits. */
static int64_t index_bits(int64_t n) {
  static const int64_t edges[] = {-1, V, V - 1, INT64_MIN, INT64_MAX, 0x7f, 0x80, 0x8000, INT32_MIN, INT32_MAX, 0};
  return n % 3 == 2 ? edges[n / 3 % (int64_t)(sizeof edges / sizeof *edges)] : n * 29 % V;
}

/* What the element says, as a number; -1 for what is beyond 64 bits with a sign. */
static int64_t index_value(int64_t n, unsigned type) {
  unsigned unused = 64 - 8 * (unsigned)index_types[type].bytes;
  uint64_t bits = (uint64_t)index_bits(n) << unused;
  int64_t value = index_types[type].is_signed ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
  return value < 0 ? -1 : value;
}

/* --- arrays --- */

static void fill_source(guarded_array *a) {
  for (int64_t i = 0; i < a->count; i++) {
    float value = (float)(i + 1);
    memcpy(a->data + 4 * i, &value, sizeof value);
  }
}

static void fill_indices(guarded_array *a, unsigned type) {
  size_t bytes = index_types[type].bytes;
  for (int64_t i = 0; i < a->count; i++) {
    int64_t bits = index_bits(i);
    memcpy(a->data + (size_t)i * bytes, &bits, bytes);
  }
}

static float float_at(const guarded_array *a, int64_t i) {
  float value;
  ck_assert_int_lt(4 * i, (int64_t)a->size);
  memcpy(&value, a->data + 4 * i, sizeof value);
  return value;
}

/* --- runs --- */

static float expected_at(const gather_case *c, const guarded_array *source, unsigned type, int64_t row,
                         int64_t column) {
  int64_t *looked_up = c->looks_up_column ? &column : &row;
  float bias = strstr(c->options, "bias=1") != NULL ? 1 : 0;
  int64_t index = *looked_up < c->index_count ? index_value(*looked_up, type) : -1;
  if (index < 0 || index >= c->limit)
    return c->fill * c->scale + bias;
  *looked_up = index;
  return float_at(source, row * c->source_stride[0] + column * c->source_stride[1]) * c->scale + bias;
}

static void check_result(const session *s, const gather_case *c, const guarded_array *source,
                         const guarded_array *result, unsigned type) {
  for (int64_t row = 0; row < c->rows; row++) {
    for (int64_t column = 0; column < c->columns; column++) {
      float found = float_at(result, row * c->destination_stride[0] + column * c->destination_stride[1]);
      float expected = expected_at(c, source, type, row, column);
      ck_assert_msg(found == expected, "(%ld,%ld) is %g, not %g\n%s", (long)row, (long)column, (double)found,
                    (double)expected, s->text);
    }
  }
}

static void run(const session *s, const gather_case *c, const tj_code *code, unsigned type, bool is_dynamic) {
  tj_launch *launch;
  guarded_array arrays[ARGUMENTS];
  if (tj_launch_create(s->context, code, &launch) != TJ_OK)
    fail_with(s->context, s->text);
  if (is_dynamic &&
      (tj_launch_set_parameter(launch, "N", N) != TJ_OK || tj_launch_set_parameter(launch, "V", V) != TJ_OK))
    fail_with(s->context, s->text);
  for (size_t i = 0; i < ARGUMENTS; i++)
    arrays[i] = bind_guarded(s->context, launch, i, s->text);
  fill_source(&arrays[0]);
  fill_indices(&arrays[1], type);
  if (tj_launch_run(launch, s->device) != TJ_OK)
    fail_with(s->context, s->text);
  check_result(s, c, &arrays[0], &arrays[2], type);
  tj_launch_destroy(launch);
  for (size_t i = 0; i < ARGUMENTS; i++)
    release_guarded(&arrays[i], s->text);
}

static void check_case(session *s, const gather_case *c, unsigned type, bool is_dynamic) {
  snprintf(s->text, TEXT,
           "param N in 1..100, V in 1..100\nkernel k(s: f32 @ %s, i: %s @ %s, d: f32 @ %s) = copy(s, d, %s)",
           c->source, index_types[type].name, c->indices, c->destination, c->options);
  tj_parameter_value fixed[] = {{"N", N}, {"V", V}};
  tj_code *code = compile_for(s->context, s->device, s->text, fixed, is_dynamic ? 0 : 2);
  run(s, c, code, type, is_dynamic);
  tj_code_destroy(code);
}

START_TEST(gathers_agree_with_loops) {
  session s = {.context = new_context(NULL)};
  s.device = open_device(s.context, tested_device());
  for (unsigned type = 0; type < INDEX_TYPES; type++) {
    check_case(&s, &cases[_i], type, false);
    check_case(&s, &cases[_i], type, true);
  }
  tj_device_close(s.device);
  tj_context_destroy(s.context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("gather", gathers_agree_with_loops, CASES));
}
