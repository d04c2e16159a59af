/* SPDX-License-Identifier: MIT */
/* Copies of every kind of view, static and dynamic, bit-exact against the tables of the oracle; on the host, or on
 * the device that TILEJIT_TEST_DEVICE names. */
#include "tests/unit/support/guarded_array.h"

#include <jansson.h>
#include <stdbool.h>

enum { MOST_SIZES = 4 };

/* One pair of views over parameters M and N. Both sides are layouts, or both are views, so that their tables run in
 * the same order. */
typedef struct {
  const char *name;
  const char *definitions;
  const char *source, *destination;
  int64_t fill;
  int64_t sizes[MOST_SIZES][2]; /* M and N; ends at {0, 0} */
} copy_case;

#define PARAMETERS "param M in 1..512, N in 1..512\n"
#define PADDED "let P = transform(packed((M, N)), [pad(M, 1, 2), pad(N, 3, 0)], [[0], [1]], [[0], [1]])\n"
#define IM2COL                                                                                                       \
  "let padded = transform(packed((2, M, N)), [pass_through(2), pad(M, 1, 1), pad(N, 1, 1)],"                         \
  " [[0], [1], [2]], [[0], [1], [2]])\n"                                                                             \
  "let windows = transform(padded, [pass_through(2), embed((3, M), (1, 1)), embed((3, N), (1, 1))],"                 \
  " [[0], [1], [2]], [[0], [1, 2], [3, 4]])\n"                                                                       \
  "let matrix = transform(windows, [merge(M, N), merge(2, 3, 3)], [[2, 4], [0, 1, 3]], [[0], [1]])\n"

static const copy_case cases[] = {
    {"row-major to column-major", "", "(M,N):(N,1)", "(M,N):(1,M)", 0, {{1, 1}, {16, 16}, {37, 19}, {257, 3}}},
    {"column-major to row-major", "", "(M,N):(1,M)", "(M,N):(N,1)", 0, {{256, 1}, {31, 33}, {5, 300}, {96, 131}}},
    {"with gaps between rows", "", "(M,N):(N+3,1)", "(M,N):(1,M+1)", 0, {{10, 20}, {64, 65}}},
    {"a vector broadcast over columns", "", "(M,N):(1,0)", "(M,N):(N,1)", 0, {{13, 21}, {300, 2}}},
    {"hierarchical modes", "", "((2,M),N):((N*M,N),1)", "((2,M),N):((1,2*N),2)", 0, {{3, 5}, {70, 9}}},
    {"a finer destination", "", "(2*M,N):(1,2*M)", "((2,M),N):((N,2*N),1)", 0, {{3, 5}, {70, 9}}},
    {"a finer source", "", "((2,M),N):((M*N,N),1)", "(2*M,N):(1,2*M)", 0, {{3, 5}, {70, 9}}},
    {"modes of one coordinate", "", "(1,M,1,N):(7,1,3,M)", "(1,M,1,N):(1,N,5,1)", 0, {{3, 5}, {1, 9}}},
    {"into a swizzled tile", "", "(M,64):(64,1)", "Sw<3,3,3> o 0 o (M,64):(64,1)", 0, {{8, 1}, {64, 1}, {100, 1}}},
    {"out of a swizzled tile", "", "Sw<2,0,3> o 0 o (M,32):(32,1)", "(M,32):(1,M)", 0, {{7, 1}, {33, 1}}},
    {"an edge of zeros", PADDED, "P", "packed((M+3, N+3))", 0, {{1, 1}, {14, 30}, {100, 7}}},
    {"an edge of another value", PADDED, "P", "packed((M+3, N+3))", -7, {{5, 6}, {17, 250}}},
    {"into the inside of a frame", PADDED, "packed((M+3, N+3))", "P", 0, {{2, 2}, {31, 18}}},
    {"each N-th row into the inside of a frame",
     "let p = transform(packed((M,6,8)), [pad(M,1,1), pad(6,1,1), pass_through(8)], [[0],[1],[2]], [[0],[1],[2]])\n"
     "let n = transform(p, [embed((M+2),(N)), pass_through(8), pass_through(8)], [[0],[1],[2]], [[0],[1],[2]])\n"
     "let f = transform(packed((M,8,8)), [pad(M,1,1), pass_through(8), pass_through(8)], [[0],[1],[2]], "
     "[[0],[1],[2]])\n",
     "n",
     "f",
     0,
     {{1, 1}, {5, 3}, {90, 1}, {200, 2}}},
    {"im2col", IM2COL, "matrix", "packed((M*N, 18))", 0, {{4, 4}, {9, 13}, {30, 1}}},
    {"merge of rows and columns",
     "let m = transform(packed((M,6,5)), [merge(M,6,5)], [[0,1,2]], [[0]])\n",
     "m",
     "packed((M*30))",
     0,
     {{1, 1}, {19, 1}}},
    {"a window",
     "let w = transform(packed((M+4,N+4)), [slice(M+4,2,M+2), slice(N+4,4,N+4)], [[0],[1]], [[0],[1]])\n",
     "w",
     "aligned((M, N), 8)",
     0,
     {{3, 4}, {40, 41}}},
    {"rows of a table",
     "let r = transform(packed((M,N)), [indexing(9, (0,M-1,0,0,0,0,0,M-1,0)), pass_through(N)], [[0],[1]], "
     "[[0],[1]])\n",
     "r",
     "packed((9, N))",
     0,
     {{1, 1}, {7, 64}, {12, 33}}},
    {"a table whose entries grow evenly",
     "let t = transform(packed((40)), [indexing(12, (1,4,7,10,13,39,38,37,36,5,5,0))], [[0]], [[0]])\n",
     "t",
     "packed((12))",
     0,
     {{1, 1}}},
    {"xor of row and column",
     "let x = transform(packed((M,32)), [xor(M,32)], [[0,1]], [[0,1]])\n",
     "x",
     "packed((M, 32))",
     0,
     {{32, 1}, {45, 1}}},
    {"exchanged dimensions",
     "let t = transform(packed((M,N)), [pass_through(M), pass_through(N)], [[0],[1]], [[1],[0]])\n",
     "t",
     "packed((N, M))",
     0,
     {{12, 34}, {1, 500}}},
    {"rows before the buffer", "", "strided((M, N), (0-N, 1))", "packed((M, N))", 7, {{3, 4}, {300, 16}, {9, 17}}},
    {"rows before the buffer, and some inside",
     "",
     "strided((M, N), (0-N, 1), offset=2*N)",
     "packed((M, N))",
     7,
     {{3, 4}, {300, 16}}},
    {"into rows before the buffer", "", "packed((M, N))", "strided((M, N), (0-N, 1))", 0, {{3, 4}, {300, 16}}},
    {"columns before the buffer", "", "strided((M, N), (N, 0-1))", "packed((M, N))", -1, {{3, 4}, {30, 16}}},
};

enum { CASE_COUNT = sizeof cases / sizeof *cases };

/* --- the oracle --- */

/* A view's table: offsets, and where they are valid. */
typedef struct {
  int64_t *offset;
  bool *valid;
  size_t size;
} view_table;

static view_table table_of(tj_context *context, const copy_case *c, const char *view, const int64_t size[2]) {
  char text[2048];
  snprintf(text, sizeof text, PARAMETERS "%s; %s", c->definitions, view);
  tj_parameter_value fixed[] = {{"M", size[0]}, {"N", size[1]}};
  tj_program *program = new_program(context, text, fixed, 2);
  tj_blob blob;
  expect_ok(context, tj_program_table(program, TJ_TABLE_OBJECT, &blob), text);
  json_t *object = json_loads(blob.data, 0, NULL);
  json_t *values = json_object_get(object, "values"), *valid = json_object_get(object, "valid");
  view_table table = {.size = json_array_size(values)};
  table.offset = calloc(table.size, sizeof *table.offset);
  table.valid = calloc(table.size, sizeof *table.valid);
  for (size_t i = 0; i < table.size; i++) {
    table.offset[i] = json_integer_value(json_array_get(values, i));
    table.valid[i] = valid == NULL || json_integer_value(json_array_get(valid, i)) == 1;
  }
  json_decref(object);
  tj_blob_release(context, &blob);
  tj_program_destroy(program);
  return table;
}

static void free_table(view_table *table) {
  free(table->offset);
  free(table->valid);
}

/* --- the kernel --- */

/* What a view has outside of its buffer is as what is not valid. */
static bool is_in(const view_table *view, size_t i, const guarded_array *array) {
  return view->valid[i] && view->offset[i] >= 0 && view->offset[i] < array->count;
}

static void check_result(const copy_case *c, const guarded_array *from, const guarded_array *to,
                         const view_table *source, const view_table *destination) {
  const int32_t *result = (const int32_t *)to->data;
  int32_t *expected = malloc(to->size);
  memset(expected, POISON, to->size);
  ck_assert_uint_eq(source->size, destination->size);
  for (size_t i = 0; i < source->size; i++) {
    if (is_in(destination, i, to))
      expected[destination->offset[i]] =
          is_in(source, i, from) ? ((const int32_t *)from->data)[source->offset[i]] : (int32_t)c->fill;
  }
  for (int64_t i = 0; i < to->count; i++)
    ck_assert_msg(result[i] == expected[i], "%s: element %ld is %d, not %d", c->name, (long)i, result[i],
                  expected[i]);
  free(expected);
}

static void run_kernel(tj_context *context, tj_device *device, const copy_case *c, const tj_code *code,
                       const int64_t size[2], bool dynamic, const view_table *source, const view_table *destination) {
  tj_launch *launch;
  random_source random = random_begin(1);
  expect_ok(context, tj_launch_create(context, code, &launch), c->name);
  if (dynamic) {
    expect_ok(context, tj_launch_set_parameter(launch, "M", size[0]), c->name);
    expect_ok(context, tj_launch_set_parameter(launch, "N", size[1]), c->name);
  }
  guarded_array from = bind_random(context, launch, 0, c->name, &random), given = copy_guarded(&from);
  guarded_array to = bind_guarded(context, launch, 1, c->name);
  expect_ok(context, tj_launch_run(launch, device), c->name);
  check_result(c, &given, &to, source, destination);
  tj_launch_destroy(launch);
  release_guarded(&given, c->name);
  release_guarded(&from, c->name);
  release_guarded(&to, c->name);
}

static tj_code *compile(tj_context *context, tj_device *device, const copy_case *c, const int64_t *fixed_size) {
  char text[2048];
  snprintf(text, sizeof text, PARAMETERS "%skernel k(src: i32 @ %s, dst: i32 @ %s) = copy(src, dst, fill=%ld)",
           c->definitions, c->source, c->destination, (long)c->fill);
  tj_parameter_value fixed[] = {{"M", fixed_size != NULL ? fixed_size[0] : 0},
                                {"N", fixed_size != NULL ? fixed_size[1] : 0}};
  return compile_for(context, device, text, fixed, fixed_size != NULL ? 2 : 0);
}

START_TEST(copies_agree_with_the_oracle) {
  const copy_case *c = &cases[_i];
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, tested_device());
  tj_code *dynamic = compile(context, device, c, NULL);
  for (int i = 0; i < MOST_SIZES && c->sizes[i][0] > 0; i++) {
    const int64_t *size = c->sizes[i];
    view_table source = table_of(context, c, c->source, size);
    view_table destination = table_of(context, c, c->destination, size);
    tj_code *fixed = compile(context, device, c, size);
    run_kernel(context, device, c, fixed, size, false, &source, &destination);
    run_kernel(context, device, c, dynamic, size, true, &source, &destination);
    tj_code_destroy(fixed);
    free_table(&source);
    free_table(&destination);
  }
  tj_code_destroy(dynamic);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  return run_suite(suite_of_cases("copy", copies_agree_with_the_oracle, CASE_COUNT));
}
