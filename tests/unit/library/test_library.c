/* SPDX-License-Identifier: MIT */
/* The library through its public header alone: values, tables, diagnostics, launches, and memory that runs out. */
#include "tests/unit/support/library_support.h"

/* --- helpers --- */

static tj_status create(tj_context *context, const char *text, tj_program **program) {
  return tj_program_create(context, "test", text, strlen(text), NULL, 0, program);
}

static void expect_blob(tj_context *context, tj_status status, tj_blob *blob, const char *expected) {
  if (status != TJ_OK)
    ck_abort_msg("%s expected: %s", expected, tj_context_diagnostic(context)->message);
  ck_assert_str_eq(blob->data, expected);
  ck_assert_uint_eq(blob->size, strlen(expected));
  tj_blob_release(context, blob);
}

/* --- programs of several texts --- */

START_TEST(diagnostics_name_the_text_to_blame) {
  static const struct {
    const char *file, *expression;
    const char *name;
    uint32_t line, column;
    const char *source_line, *message;
  } rows[] = {
      {"let A = 4:1\n# end", "A +\n B", "<expression>", 2, 2, " B", "'B' is not defined"},
      {"let A = 4:1\nlet B = C\n", "A", "a.tile", 2, 9, "let B = C", "'C' is not defined"},
      {"let A = 4:1", "let A = 2; A", "<expression>", 1, 5, "let A = 2; A", "already defined at a.tile:1:5"},
      {"let A = (4", "A", "a.tile", 1, 11, "let A = (4", "to close the '(' at a.tile:1:9"},
  };
  tj_context *context = new_context(NULL);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const tj_program_piece pieces[] = {{"a.tile", rows[i].file, strlen(rows[i].file)},
                                       {"<expression>", rows[i].expression, strlen(rows[i].expression)}};
    tj_program *program = NULL;
    ck_assert_int_eq(tj_program_create_of(context, pieces, 2, NULL, 0, &program), TJ_ERROR_INPUT);
    const tj_diagnostic *d = tj_context_diagnostic(context);
    ck_assert_str_eq(d->file, rows[i].name);
    ck_assert_str_eq(d->source_line, rows[i].source_line);
    ck_assert_uint_eq(d->line, rows[i].line);
    ck_assert_uint_eq(d->column, rows[i].column);
    ck_assert_msg(strstr(d->message, rows[i].message) != NULL, "%s", d->message);
  }
  tj_context_destroy(context);
}
END_TEST

START_TEST(later_texts_see_what_earlier_ones_define) {
  tj_context *context = new_context(NULL);
  const tj_program_piece pieces[] = {
      {"a", "param M in 1..4 # four", 22}, {"b", "let A = (M,2):(2,1)", 19}, {"c", "A", 1}};
  const tj_parameter_value fixed = {"M", 3};
  tj_program *program = NULL;
  tj_blob blob;
  expect_ok(context, tj_program_create_of(context, pieces, 3, &fixed, 1, &program), "three texts");
  expect_blob(context, tj_program_value(program, &blob), &blob, "(3,2):(2,1)");
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

START_TEST(proofs_name_the_expression_to_blame) {
  tj_context *context = new_context(NULL);
  tj_blob text;
  int equal;
  expect_code(
      context,
      tj_prove(context, "param M in 1..4", "M:1", "let A = M;\n A o\n B", NULL, 0, TJ_PROOF_TEXT, &equal, &text),
      2001, "B");
  ck_assert_str_eq(tj_context_diagnostic(context)->file, "the second expression");
  ck_assert_uint_eq(tj_context_diagnostic(context)->line, 3);
  ck_assert_uint_eq(tj_context_diagnostic(context)->column, 2);
  tj_context_destroy(context);
}
END_TEST

/* --- values --- */

START_TEST(values_and_tables) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, "let A = (3,2):(2,3); A", NULL, 0);
  tj_blob blob;
  expect_blob(context, tj_program_value(program, &blob), &blob, "(3,2):(2,3)");
  expect_blob(context, tj_program_table(program, TJ_TABLE_VALUES, &blob), &blob, "[0,2,4,3,5,7]");
  ck_assert_ptr_null(tj_context_diagnostic(context));
  tj_program_destroy(program);

  program = new_program(context, "transform(packed((3)), [pad(3,1,1)], [[0]], [[0]])", NULL, 0);
  expect_blob(context, tj_program_table(program, TJ_TABLE_OBJECT, &blob), &blob,
              "{\"lengths\":[5],\"values\":[-1,0,1,2,3],\"valid\":[0,1,1,1,0]}");
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

START_TEST(fixed_parameters_are_constants) {
  static const char text[] = "param M in 4..64 multiple 4; (M, 2):(2, 1)";
  tj_context *context = new_context(NULL);
  tj_program *program;
  tj_blob blob;
  tj_parameter_value fixed = {"M", 8};
  ck_assert_int_eq(tj_program_create(context, "t", text, strlen(text), &fixed, 1, &program), TJ_OK);
  expect_blob(context, tj_program_value(program, &blob), &blob, "(8,2):(2,1)");
  tj_program_destroy(program);
  fixed.value = 6;
  ck_assert_uint_eq(failure_of(context, tj_program_create(context, "t", text, strlen(text), &fixed, 1, &program)),
                    2025);
  fixed.value = 68;
  ck_assert_uint_eq(failure_of(context, tj_program_create(context, "t", text, strlen(text), &fixed, 1, &program)),
                    2025);
  fixed = (tj_parameter_value){"K", 8};
  ck_assert_uint_eq(failure_of(context, tj_program_create(context, "t", text, strlen(text), &fixed, 1, &program)),
                    2026);
  tj_context_destroy(context);
}
END_TEST

START_TEST(diagnostics_have_a_place) {
  tj_context *context = new_context(NULL);
  tj_program *program;
  ck_assert_uint_eq(failure_of(context, create(context, "let a = 1\n\tlet b = c + 1", &program)), 2001);
  const tj_diagnostic *d = tj_context_diagnostic(context);
  ck_assert_uint_eq(d->line, 2);
  ck_assert_uint_eq(d->column, 10);
  ck_assert_uint_eq(d->length, 1);
  ck_assert_str_eq(d->source_line, "\tlet b = c + 1");
  char text[512], small[8];
  size_t length = tj_diagnostic_format(d, 0, text, sizeof text);
  ck_assert_uint_eq(length, strlen(text));
  ck_assert_ptr_nonnull(strstr(text, "test:2:10: error: TJ2001: 'c' is not defined\n"));
  ck_assert_ptr_nonnull(strstr(text, "\n  \t        ^\n"));
  ck_assert_uint_eq(tj_diagnostic_format(d, 0, small, sizeof small), length);
  ck_assert_uint_eq(strlen(small), sizeof small - 1);
  ck_assert_uint_eq(tj_diagnostic_format(d, 0, NULL, 0), length);
  ck_assert_uint_eq(tj_diagnostic_format(NULL, 0, text, sizeof text), 0);
  ck_assert_str_eq(text, "");
  ck_assert_uint_eq(failure_of(context, create(context, "let a = 1\r\nlet b = c\r\n; b", &program)), 2001);
  ck_assert_str_eq(tj_context_diagnostic(context)->source_line, "let b = c");
  tj_context_destroy(context);
}
END_TEST

/* Names that are missing are refused, or are those of nothing. */
START_TEST(missing_names_are_refused) {
  const char *text = "kernel k(src: f32 @ 8:1, dst: f32 @ 8:1) = copy(src, dst); (4,8):(8,1)";
  tj_context *context = new_context(NULL);
  tj_program *program;
  tj_code *code;
  tj_device *device;
  tj_blob output;
  ck_assert_int_eq(tj_program_create(context, NULL, text, strlen(text), NULL, 0, &program), TJ_OK);
  ck_assert_uint_eq(failure_of(context, tj_code_compile(program, &(tj_compile_options){0}, &code)), 5001);
  ck_assert_uint_eq(
      failure_of(context, tj_program_function(program, &(tj_function_options){0}, TJ_FUNCTION_C, &output)), 4012);
  const tj_function_options at = {.name = "at"};
  ck_assert_uint_eq(failure_of(context, tj_program_function(program, &at, (tj_function_form)77, &output)), 5007);
  ck_assert_uint_eq(failure_of(context, tj_device_open(context, NULL, &device)), 6001);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

/* --- launches --- */

static const char transpose[] = "param M in 1..1000, N in 1..1000\n"
                                "kernel transpose(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)";

static tj_launch *new_launch(tj_context *context, const tj_code *code) {
  tj_launch *launch;
  ck_assert_int_eq(tj_launch_create(context, code, &launch), TJ_OK);
  return launch;
}

START_TEST(a_kernel_runs_on_the_host) {
  enum { ROWS = 37, COLUMNS = 19 };
  int32_t source[ROWS * COLUMNS], result[ROWS * COLUMNS] = {0};
  for (int i = 0; i < ROWS * COLUMNS; i++)
    source[i] = i * 7 - 100;
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "host");
  tj_code *code = compile_for(context, device, transpose, NULL, 0);
  ck_assert_str_eq(tj_code_kernel(code), "transpose");

  tj_launch *launch = new_launch(context, code);
  const tj_argument *argument;
  ck_assert_uint_eq(failure_of(context, tj_launch_argument(launch, 0, &argument)), 6007);
  const int64_t shape[] = {ROWS, COLUMNS};
  ck_assert_int_eq(tj_launch_set_shape(launch, "src", shape, 2), TJ_OK);
  ck_assert_int_eq(tj_launch_argument(launch, 1, &argument), TJ_OK);
  ck_assert_int_eq(argument->element_count, ROWS * COLUMNS);
  ck_assert_int_eq(argument->is_row_major, 0);
  ck_assert_uint_eq(failure_of(context, tj_launch_bind(launch, "src", source, sizeof source - 1)), 6002);
  ck_assert_uint_eq(failure_of(context, tj_launch_bind(launch, "what", source, sizeof source)), 4001);
  ck_assert_int_eq(tj_launch_bind(launch, "src", source, sizeof source), TJ_OK);
  ck_assert_int_eq(tj_launch_bind(launch, "dst", result, sizeof result), TJ_OK);
  ck_assert_int_eq(tj_launch_run(launch, device), TJ_OK);
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++)
      ck_assert_int_eq(result[j * ROWS + i], source[i * COLUMNS + j]);
  }
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

START_TEST(launches_check_what_they_are_given) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, transpose, NULL, 0);
  tj_device *device;
  tj_code *code;
  ck_assert_uint_eq(failure_of(context, tj_device_open(context, "toaster", &device)), 6001);
  ck_assert_uint_eq(failure_of(context, tj_code_compile(program, &(tj_compile_options){"x", "host"}, &code)), 4009);
  ck_assert_uint_eq(failure_of(context, tj_code_compile(program, &(tj_compile_options){NULL, "vax"}, &code)), 5001);
  ck_assert_int_eq(tj_device_open(context, "host", &device), TJ_OK);
  ck_assert_int_eq(tj_code_compile(program, &(tj_compile_options){NULL, "gfx942"}, &code), TJ_OK);
  tj_launch *launch = new_launch(context, code);
  ck_assert_uint_eq(failure_of(context, tj_launch_set_parameter(launch, "K", 1)), 2026);
  ck_assert_uint_eq(failure_of(context, tj_launch_set_parameter(launch, "M", 1001)), 2025);
  ck_assert_int_eq(tj_launch_set_parameter(launch, "N", 1), TJ_OK);
  int32_t data[1001] = {0};
  ck_assert_uint_eq(failure_of(context, tj_launch_bind(launch, "src", data, sizeof data)), 6007);
  ck_assert_int_eq(tj_launch_set_parameter(launch, "M", 1000), TJ_OK);
  ck_assert_uint_eq(failure_of(context, tj_launch_run(launch, device)), 6009);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

/* --- memory that runs out --- */

/* Everything a user does with a context; returns at the first failure, with everything given back. */
static tj_status use_everything(tj_context *context) {
  static const char text[] = "param M in 1..64\nlet V = transform(packed((4,M)), [pad(4,1,1), pass_through(M)],"
                             "[[0],[1]], [[0],[1]])\nkernel k(src: f32 @ V, dst: f16 @ (6,M):(M,1)) = copy(src, dst)"
                             "; V";
  tj_program *program = NULL;
  tj_device *device = NULL;
  tj_code *code = NULL;
  tj_launch *launch = NULL;
  tj_blob blob;
  float source[4 * 8] = {0};
  uint16_t result[6 * 8];
  tj_parameter_value fixed = {"M", 8};
  tj_status status = tj_program_create(context, "t", text, strlen(text), &fixed, 1, &program);
  if (status == TJ_OK && (status = tj_program_value(program, &blob)) == TJ_OK)
    tj_blob_release(context, &blob);
  if (status == TJ_OK && (status = tj_program_table(program, TJ_TABLE_OBJECT, &blob)) == TJ_OK)
    tj_blob_release(context, &blob);
  if (status == TJ_OK && (status = tj_program_simplify(program, TJ_SIMPLIFY_JSON, &blob)) == TJ_OK)
    tj_blob_release(context, &blob);
  tj_compile_options gpu = {NULL, "gfx942"}, host = {NULL, "host"};
  if (status == TJ_OK && (status = tj_program_emit(program, &gpu, TJ_EMIT_STATS, &blob)) == TJ_OK)
    tj_blob_release(context, &blob);
  if (status == TJ_OK)
    status = tj_code_compile(program, &host, &code);
  if (status == TJ_OK)
    status = tj_device_open(context, "host", &device);
  if (status == TJ_OK)
    status = tj_launch_create(context, code, &launch);
  if (status == TJ_OK)
    status = tj_launch_bind(launch, "src", source, sizeof source);
  if (status == TJ_OK)
    status = tj_launch_bind(launch, "dst", result, sizeof result);
  if (status == TJ_OK)
    status = tj_launch_run(launch, device);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_program_destroy(program);
  return status;
}

enum { OUT_OF_MEMORY = 7001, OUT_OF_DEVICE_MEMORY = 6010 };

START_TEST(every_allocation_can_fail) {
  for (long allowed = 0;; allowed++) {
    meter m = {.left = allowed};
    tj_context *context;
    unsigned code = OUT_OF_MEMORY;
    tj_status status = tj_context_create(&(tj_allocator){metered_allocate, metered_release, &m}, &context);
    if (status == TJ_OK) {
      status = use_everything(context);
      if (status != TJ_OK)
        code = failure_of(context, status);
      tj_context_destroy(context);
    }
    ck_assert_int_eq(m.live, 0);
    if (status == TJ_OK) {
      ck_assert_int_gt(allowed, 5);
      return;
    }
    ck_assert(code == OUT_OF_MEMORY || code == OUT_OF_DEVICE_MEMORY);
    ck_assert_int_lt(allowed, 100000);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {diagnostics_name_the_text_to_blame,  later_texts_see_what_earlier_ones_define,
                                proofs_name_the_expression_to_blame, values_and_tables,
                                fixed_parameters_are_constants,      diagnostics_have_a_place,
                                missing_names_are_refused,           a_kernel_runs_on_the_host,
                                launches_check_what_they_are_given,  every_allocation_can_fail};
  return run_suite(suite_of("library", tests, sizeof tests / sizeof tests[0]));
}
