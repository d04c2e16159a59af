/* SPDX-License-Identifier: MIT */
/* A program may have set a locale whose numbers have commas: generated code, pictures and simulated instructions are
 * those of any other. The locale is made here, by localedef, since few machines have one; it warns of what the locale
 * leaves out. */
#include "tests/unit/support/library_support.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char kernel[] = "kernel k(x: f32 @ (4):(1), y: f32 @ (4):(1)) = { y = x * 0.5 + 1.25 }";

static void set_commas(void) {
  char folder[] = "/tmp/tilejit-locale-XXXXXX", command[512];
  ck_assert_ptr_nonnull(mkdtemp(folder));
  snprintf(command, sizeof command,
           "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\ngrouping 3;3\\nEND LC_NUMERIC\\n' > "
           "%s/source "
           "&& localedef -c --no-archive -i %s/source %s/commas 2>/dev/null; true",
           folder, folder, folder);
  ck_assert_int_eq(system(command), 0);
  setenv("LOCPATH", folder, 1);
  ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, "commas"));
  snprintf(command, sizeof command, "rm -r %s", folder);
  ck_assert_int_eq(system(command), 0);
  snprintf(command, sizeof command, "%.1f", 0.5);
  ck_assert_str_eq(command, "0,5");
}

static tj_program *program_of(tj_context *context) {
  tj_program *program;
  expect_ok(context, tj_program_create(context, "locale", kernel, strlen(kernel), NULL, 0, &program), kernel);
  return program;
}

START_TEST(functions_have_points) {
  tj_context *context = new_context(NULL);
  tj_program *program = program_of(context);
  const tj_function_options options = {.name = "f"};
  tj_blob text;
  set_commas();
  expect_ok(context, tj_program_function(program, &options, TJ_FUNCTION_C, &text), kernel);
  ck_assert_ptr_nonnull(strstr(text.data, "0.5"));
  ck_assert_ptr_nonnull(strstr(text.data, "1.25"));
  tj_blob_release(context, &text);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

START_TEST(kernels_run) {
  tj_context *context = new_context(NULL);
  tj_program *program = program_of(context);
  tj_code *code;
  tj_launch *launch;
  tj_device *device;
  float x[] = {0, 1, 2, 3}, y[4];
  set_commas();
  expect_ok(context, tj_device_open(context, "sim:gfx942", &device), kernel);
  expect_ok(context, tj_code_compile(program, &(tj_compile_options){"k", "gfx942"}, &code), kernel);
  expect_ok(context, tj_launch_create(context, code, &launch), kernel);
  expect_ok(context, tj_launch_bind(launch, "x", x, sizeof x), kernel);
  expect_ok(context, tj_launch_bind(launch, "y", y, sizeof y), kernel);
  expect_ok(context, tj_launch_run(launch, device), kernel);
  for (int i = 0; i < 4; i++)
    ck_assert_float_eq(y[i], x[i] * 0.5f + 1.25f);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {functions_have_points, kernels_run};
  return run_suite(suite_of("locale", tests, sizeof tests / sizeof *tests));
}
