/* SPDX-License-Identifier: MIT */
/* Long work through the public header: what is told of it, how it is cancelled, and what works afterwards. Programs
 * that follow one another: what later ones see of earlier ones. */
#include "tests/unit/support/library_support.h"

#include <stdbool.h>

/* --- progress --- */

enum { CANCELLED = 7007 };

/* Someone who listens, and has enough after so many calls; -1: never; or when told of `enough`. */
typedef struct {
  int calls, most;
  const char *enough; /* NULL: nothing */
  const char *what;
  uint64_t last, total;
  bool goes_back;
} listener;

static bool was_told(const listener *l, const char *what) {
  return what != NULL && l->what != NULL && strcmp(l->what, what) == 0;
}

static int listen(void *user, const tj_progress *progress) {
  listener *l = user;
  l->goes_back = l->goes_back || (progress->total > 0 && progress->total == l->total && progress->done < l->last);
  l->what = progress->what;
  l->last = progress->done;
  l->total = progress->total;
  l->calls++;
  return (l->calls > l->most && l->most >= 0) || was_told(l, l->enough);
}

static tj_status prove(tj_context *context) {
  static const char a[] = "param a in 0..1023, b in 0..1023; (a*b)%4097*(a^b)";
  static const char b[] = "param a in 0..1023, b in 0..1023; (b*a)%4097*((a|b)-(a&b))+(a*a*a+a)%2";
  int equal = 0;
  tj_blob text;
  tj_status status = tj_prove(context, NULL, a, b, NULL, 0, TJ_PROOF_TEXT, &equal, &text);
  if (status == TJ_OK) {
    ck_assert_int_eq(equal, 1);
    tj_blob_release(context, &text);
  }
  return status;
}

START_TEST(proofs_are_told_of_and_cancelled) {
  tj_context *context = new_context(NULL);
  listener patient = {.most = -1}, impatient = {.most = 3};
  tj_context_set_progress(context, listen, &patient);
  ck_assert_int_eq(prove(context), TJ_OK);
  ck_assert_str_eq(patient.what, "cases tried");
  ck_assert_uint_eq(patient.total, 1 << 20);
  ck_assert(!patient.goes_back);
  ck_assert_int_gt(patient.calls, 100);

  tj_context_set_progress(context, listen, &impatient);
  tj_status status = prove(context);
  ck_assert_int_eq(status, TJ_ERROR_CANCELLED);
  ck_assert_uint_eq(failure_of(context, status), CANCELLED);
  ck_assert_uint_eq(tj_context_diagnostic(context)->line, 0);

  tj_context_set_progress(context, NULL, NULL);
  ck_assert_int_eq(prove(context), TJ_OK);
  ck_assert_int_eq(impatient.calls, impatient.most + 1);
  tj_context_destroy(context);
}
END_TEST

#define UNBOUNDED "param u in 0..9223372036854775807, v in 0..9223372036854775807, w in 2..9; "

/* Z3, where it is, is asked value by value of what it does not decide at once: bits of integers without bounds. */
START_TEST(values_given_to_a_solver_are_told_of_and_cancelled) {
  static const char a[] = UNBOUNDED "(u ^ v) % w", b[] = UNBOUNDED "((u|v) - (u&v)) % w";
  tj_context *context = new_context(NULL);
  listener impatient = {.most = -1, .enough = "values given to Z3"};
  int equal = 0;
  tj_blob text;
  tj_context_set_progress(context, listen, &impatient);
  tj_status status = tj_prove(context, NULL, a, b, NULL, 0, TJ_PROOF_TEXT, &equal, &text);
  ck_assert_int_eq(status, TJ_ERROR_CANCELLED);
  ck_assert(was_told(&impatient, impatient.enough));
  ck_assert_uint_eq(failure_of(context, status), CANCELLED);
  ck_assert_uint_eq(impatient.total, 8);
  tj_context_destroy(context);
}
END_TEST

START_TEST(bounded_work_is_cancelled) {
  tj_context *context = new_context(NULL);
  tj_program *program = new_program(context, "(1024,1024):(1024,1)", NULL, 0);
  listener impatient = {.most = 2};
  tj_blob table;
  tj_context_set_progress(context, listen, &impatient);
  ck_assert_uint_eq(failure_of(context, tj_program_table(program, TJ_TABLE_VALUES, &table)), CANCELLED);
  tj_context_set_progress(context, NULL, NULL);
  ck_assert_int_eq(tj_program_table(program, TJ_TABLE_VALUES, &table), TJ_OK);
  tj_blob_release(context, &table);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

/* A copy on a simulated device, whose launch runs once under each listener. */
START_TEST(launches_are_cancelled) {
  enum { ELEMENTS = 1 << 20 };
  static const char text[] = "kernel k(src: i32 @ 1048576:1, dst: i32 @ 1048576:1) = copy(src, dst)";
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx942");
  tj_program *program = new_program(context, text, NULL, 0);
  tj_code *code;
  tj_launch *launch;
  int32_t *from = calloc(ELEMENTS, sizeof *from), *to = calloc(ELEMENTS, sizeof *to);
  expect_ok(context, tj_code_compile(program, &(tj_compile_options){"k", "gfx942"}, &code), text);
  expect_ok(context, tj_launch_create(context, code, &launch), text);
  expect_ok(context, tj_launch_bind(launch, "src", from, ELEMENTS * sizeof *from), text);
  expect_ok(context, tj_launch_bind(launch, "dst", to, ELEMENTS * sizeof *to), text);
  for (int i = 0; i < ELEMENTS; i++)
    from[i] = i + 1;

  listener impatient = {.most = 0}, patient = {.most = -1};
  tj_context_set_progress(context, listen, &impatient);
  ck_assert_uint_eq(failure_of(context, tj_launch_run(launch, device)), CANCELLED);
  ck_assert_int_eq(impatient.calls, 1);
  ck_assert_int_eq(to[0], 0);
  tj_context_set_progress(context, listen, &patient);
  expect_ok(context, tj_launch_run(launch, device), text);
  ck_assert(memcmp(from, to, ELEMENTS * sizeof *from) == 0);
  ck_assert_str_eq(patient.what, "workgroups executed");
  ck_assert_uint_gt(patient.total, 1);
  ck_assert_uint_le(patient.last, patient.total);
  ck_assert(!patient.goes_back);

  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_device_close(device);
  tj_context_destroy(context);
  free(from);
  free(to);
}
END_TEST

/* --- programs that follow one another --- */

/* One program after those of the rows above, and its value; NULL: it has none, or fails with the code. */
typedef struct {
  const char *text, *value;
  unsigned code;
} row;

static void check_row(tj_context *context, tj_prelude *prelude, const row *r) {
  tj_program *program;
  tj_blob value;
  tj_status status = tj_program_create_after(prelude, "row", r->text, strlen(r->text), NULL, 0, &program);
  if (r->code != 0) {
    ck_assert_uint_eq(failure_of(context, status), r->code);
    return;
  }
  expect_ok(context, status, r->text);
  ck_assert_int_eq(tj_program_has_value(program), r->value != NULL);
  if (r->value != NULL) {
    expect_ok(context, tj_program_value(program, &value), r->text);
    ck_assert_str_eq(value.data, r->value);
    tj_blob_release(context, &value);
  }
  tj_program_destroy(program);
}

START_TEST(later_programs_see_what_earlier_ones_define) {
  static const row rows[] = {
      {"let A = (4,8):(8,1); let B = A o 4", NULL, 0},
      {"A(1,2)", "10", 0},
      {"C", NULL, 2001},
      {"let A = 7; A", "7", 0},
      {"B(1)", "8", 0},                         /* what was defined before keeps what it was */
      {"let A = A + 1; let A = 3", NULL, 2002}, /* within one program a name is defined once */
      {"A", "7", 0},                            /* a program that fails defines nothing */
      {"param M in 1..8; let C = M*2", NULL, 0},
      {"C + A", "M*2 + 7", 0},
      {"let M = 5; C + M", "M*2 + 5", 0},
      {"", NULL, 0},
  };
  tj_context *context = new_context(NULL);
  tj_prelude *prelude;
  expect_ok(context, tj_prelude_create(context, &prelude), "prelude");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    check_row(context, prelude, &rows[i]);
  tj_prelude_destroy(prelude);
  tj_context_destroy(context);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {proofs_are_told_of_and_cancelled, values_given_to_a_solver_are_told_of_and_cancelled,
                                bounded_work_is_cancelled, launches_are_cancelled,
                                later_programs_see_what_earlier_ones_define};
  return run_suite(suite_of("progress", tests, sizeof tests / sizeof tests[0]));
}
