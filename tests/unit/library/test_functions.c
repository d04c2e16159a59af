/* SPDX-License-Identifier: MIT */
/* Functions by themselves, through the public header: every form, what fails, and memory that runs out. What the
 * functions compute is tested by run_functions.py. */
#include "tests/unit/support/library_support.h"

/* --- one program, one function --- */

typedef struct {
  tj_context *context;
  tj_program *program;
} fixture;

static fixture open_program(const char *text) {
  tj_context *context = new_context(NULL);
  return (fixture){context, new_program(context, text, NULL, 0)};
}

static void close_program(fixture *f) {
  tj_program_destroy(f->program);
  tj_context_destroy(f->context);
}

static tj_status emit(const fixture *f, const char *name, const char *target, tj_function_form form, tj_blob *made) {
  tj_function_options options = {.name = name, .target = target};
  return tj_program_function(f->program, &options, form, made);
}

/* --- forms --- */

static const struct {
  tj_function_form form;
  const char *target;
  const char *begin, *holds; /* text that it begins with, and has in it; "": any bytes */
} forms[] = {
    {TJ_FUNCTION_C, NULL, "/* Written by tilejit", "TILEJIT_FUNCTION int32_t at(int32_t i0, int32_t i1) {"},
    {TJ_FUNCTION_C, "gfx942", "/* Written by tilejit", "return i0 * 8 + i1;"},
    {TJ_FUNCTION_HEADER, NULL, "/* Compiled by tilejit", "TILEJIT_DECLARATION int32_t at(int32_t i0, int32_t i1);"},
    {TJ_FUNCTION_LLVM, "gfx90a:xnack-", "; ModuleID", "define noundef range(i32 0, 32) i32 @at("},
    {TJ_FUNCTION_LLVM, "host", "; ModuleID", "define noundef range(i32 0, 32) i32 @at("},
    {TJ_FUNCTION_BITCODE, "gfx942", "BC\xc0\xde", ""},
    {TJ_FUNCTION_ASM, "gfx1100", "", "at:"},
    {TJ_FUNCTION_OBJECT, "host",
     "\x7f"
     "ELF",
     ""},
    {TJ_FUNCTION_OBJECT, "gfx1201",
     "\x7f"
     "ELF",
     ""},
};

START_TEST(every_form) {
  fixture f = open_program("(4,8):(8,1)");
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    tj_blob made;
    if (emit(&f, "at", forms[i].target, forms[i].form, &made) != TJ_OK)
      ck_abort_msg("form %d: %s", (int)forms[i].form, tj_context_diagnostic(f.context)->message);
    ck_assert_uint_gt(made.size, strlen(forms[i].begin));
    ck_assert_mem_eq(made.data, forms[i].begin, strlen(forms[i].begin));
    ck_assert_msg(strstr(made.data, forms[i].holds) != NULL, "%s is not in\n%s", forms[i].holds, made.data);
    tj_blob_release(f.context, &made);
  }
  close_program(&f);
}
END_TEST

/* --- failures --- */

static const struct {
  const char *text, *name, *target;
  tj_function_form form;
  unsigned code;
} failures[] = {
    {"4:1", "at", NULL, TJ_FUNCTION_LLVM, 5001},
    {"4:1", "at", NULL, TJ_FUNCTION_BITCODE, 5001},
    {"4:1", "at", "gfx0", TJ_FUNCTION_OBJECT, 5001},
    {"4:1", "at", "gfx0", TJ_FUNCTION_C, 5001},
    {"4:1", "", NULL, TJ_FUNCTION_C, 4012},
    {"4:1", "int", NULL, TJ_FUNCTION_HEADER, 4012},
    {"4:1", "a\xc3\xa4", NULL, TJ_FUNCTION_C, 4012},
    {"4:1", "at", "host", TJ_FUNCTION_FORM_COUNT, 5007},
    {"let A = 4:1", "at", NULL, TJ_FUNCTION_C, 2022},
    {"param M in 1..4611686018427387904; (M,4):(M,1)", "at", NULL, TJ_FUNCTION_C, 4006},
};

START_TEST(every_failure) {
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    fixture f = open_program(failures[i].text);
    tj_blob made;
    tj_status status = emit(&f, failures[i].name, failures[i].target, failures[i].form, &made);
    ck_assert_msg(status == TJ_ERROR_INPUT, "row %zu: status %d", i, (int)status);
    ck_assert_uint_eq(tj_context_diagnostic(f.context)->code, failures[i].code);
    ck_assert_int_eq(emit(&f, "at", NULL, TJ_FUNCTION_HEADER, &made) == TJ_OK,
                     failures[i].code / 1000 != 2 && failures[i].code != 4006);
    if (tj_context_diagnostic(f.context) == NULL)
      tj_blob_release(f.context, &made);
    close_program(&f);
  }
}
END_TEST

/* --- memory --- */

static tj_status use_functions(tj_context *context) {
  static const char text[] = "param M in 1..64; transform(packed((M,5)), [merge(M,5)], [[0,1]], [[0]])";
  tj_program *program = NULL;
  tj_blob made;
  tj_status status = tj_program_create(context, "test", text, strlen(text), NULL, 0, &program);
  for (int form = 0; status == TJ_OK && form < TJ_FUNCTION_FORM_COUNT; form++) {
    status = tj_program_function(program, &(tj_function_options){.name = "at", .target = "gfx942"},
                                 (tj_function_form)form, &made);
    if (status == TJ_OK)
      tj_blob_release(context, &made);
  }
  tj_program_destroy(program);
  return status;
}

/* The functions of a kernel walk nowhere. */
START_TEST(walks_are_of_values) {
  fixture f = open_program("kernel k(x: f32 @ 4:1, y: f32 @ 4:1) = { y = x * 2 }; 4:1");
  tj_function_options options = {.name = "at", .kernel = "k"};
  tj_blob made;
  ck_assert_int_eq(tj_program_function(f.program, &options, TJ_FUNCTION_C, &made), TJ_OK);
  tj_blob_release(f.context, &made);
  options.walk = "step=1";
  ck_assert_int_eq(tj_program_function(f.program, &options, TJ_FUNCTION_C, &made), TJ_ERROR_INPUT);
  ck_assert_uint_eq(tj_context_diagnostic(f.context)->code, 4028);
  close_program(&f);
}
END_TEST

START_TEST(walks_need_a_step) {
  fixture f = open_program("packed((4,8))");
  tj_function_options options = {.name = "at", .walk = " "};
  tj_blob made;
  expect_code(f.context, tj_program_function(f.program, &options, TJ_FUNCTION_C, &made), 2006, "walk needs step");
  close_program(&f);
}
END_TEST

START_TEST(every_allocation_can_fail) {
  for (long allowed = 0;; allowed++) {
    meter m = {.left = allowed};
    tj_context *context;
    tj_status status = tj_context_create(&(tj_allocator){metered_allocate, metered_release, &m}, &context);
    if (status == TJ_OK) {
      status = use_functions(context);
      tj_context_destroy(context);
    }
    ck_assert_int_eq(m.live, 0);
    if (status == TJ_OK) {
      ck_assert_int_gt(allowed, 5);
      return;
    }
    ck_assert_int_eq(status, TJ_ERROR_MEMORY);
    ck_assert_int_lt(allowed, 100000);
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {every_form, every_failure, walks_are_of_values, walks_need_a_step,
                                every_allocation_can_fail};
  return run_suite(suite_of("functions", tests, sizeof tests / sizeof tests[0]));
}
