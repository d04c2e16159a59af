/* SPDX-License-Identifier: MIT */
/* How much LLVM IR kernels have for each access that they make: LLVM's time grows with it. What a row has is what the
 * compiler makes now; less is better, and then the row is to say so. */
#include "tests/unit/support/library_support.h"

#include <jansson.h>

#define MATRIX "param M in 1..32768, N in 1..32768; "
#define TURN "kernel k(src: f32 @ (M,N):(N,1), dst: f32 @ (M,N):(1,M)) = copy(src, dst)"
#define STATIC_TURN "kernel k(src: f32 @ (4096,1024):(1024,1), dst: f32 @ (4096,1024):(1,4096)) = copy(src, dst)"
#define PERMUTE                                                                                                      \
  "kernel k(src: f16 @ (96,75,96,75):(1,96,7200,691200), dst: f16 @ (96,75,96,75):(540000,96,1,7200)) = copy(src, "  \
  "dst)"
/* Its constants stay in offsets of 32 bits, though LLVM could prove that these are below 2^31. */
#define ROWS                                                                                                         \
  "kernel k(src: f32 @ (2144,64,384):(1,2144,137216), dst: f32 @ (2144,64,384):(1,823296,2144)) = copy(src, dst)"
#define COPY "kernel k(src: f32 @ (1048576):(1), dst: f32 @ (1048576):(1)) = copy(src, dst)"
#define MERGE                                                                                                        \
  "let merged = transform(packed((4,6,5)), [merge(4,6,5)], [[0,1,2]], [[0]]);"                                       \
  "let view = transform(merged, [unmerge(8,15)], [[0]], [[0,1]]);"                                                   \
  "kernel k(dst: i32 @ packed((8,15))) = offsets(dst, view)"
#define IM2COL                                                                                                       \
  "let padded = transform(packed((4,32,32)), [pass_through(4), pad(32,1,1), pad(32,1,1)], [[0],[1],[2]], "           \
  "[[0],[1],[2]]);"                                                                                                  \
  "let windows = transform(padded, [pass_through(4), embed((3,32),(1,1)), embed((3,32),(1,1))], [[0],[1],[2]], "     \
  "[[0],[1,2],[3,4]]);"                                                                                              \
  "let matrix = transform(windows, [merge(32,32), merge(4,3,3)], [[2,4],[0,1,3]], [[0],[1]]);"                       \
  "kernel k(src: f16 @ matrix, dst: f16 @ packed((1024, 36))) = copy(src, dst)"

/* Of its fastest variant. */
static const struct {
  const char *name, *target, *text;
  double most; /* instructions for each access */
} rows[] = {
    {"offsets", "gfx942", MERGE, 9.0},
    {"copy", "gfx942", COPY, 3.7},
    {"im2col", "gfx942", IM2COL, 20.5},
    {"static transpose", "gfx942", STATIC_TURN, 6.25},
    {"dynamic transpose", "gfx942", MATRIX TURN, 5.25},
    {"permute", "gfx942", PERMUTE, 6.9},
    {"rows that change places", "gfx942", ROWS, 4.55},
    {"dynamic transpose", "gfx1100", MATRIX TURN, 5.25},
    {"copy", "x86-64-v3", COPY, 15.3},
    {"static transpose", "x86-64-v3", STATIC_TURN, 4.15},
    {"dynamic transpose", "x86-64-v3", MATRIX TURN, 6.25},
    {"permute", "x86-64-v3", PERMUTE, 4.15},
};

static double figure_of(const json_t *stats, const char *name) {
  const json_t *figure = json_object_get(stats, name);
  ck_assert(json_is_integer(figure));
  return (double)json_integer_value(figure);
}

START_TEST(instructions_are_within_the_budget) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, rows[_i].text, NULL, 0);
  tj_blob text;
  tj_compile_options options = {.target = rows[_i].target};
  expect_ok(context, tj_program_emit(program, &options, TJ_EMIT_STATS, &text), rows[_i].name);
  json_t *stats = json_loads(text.data, 0, NULL);
  double instructions = figure_of(stats, "ir_instructions"), accesses = figure_of(stats, "ir_accesses");
  ck_assert_msg(accesses > 0 && instructions <= rows[_i].most * accesses, "%s for %s: %g for %g", rows[_i].name,
                rows[_i].target, instructions, accesses);
  json_decref(stats);
  tj_blob_release(context, &text);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("ir_budget");
  TCase *tcase = tcase_create("ir_budget");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, instructions_are_within_the_budget, 0, sizeof rows / sizeof rows[0]);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
