/* SPDX-License-Identifier: MIT */
/* Every name of CuTe and CK Tile that a table has gets its advice, and none hides another. Of the
 * functions only CuTe's slice has the name of a transform, whose arguments it takes, too. */
#include "base/text.h"
#include "frontend/names/builtin.h"
#include "frontend/names/cute.h"
#include "frontend/names/spelling.h"
#include "tests/unit/support/suite.h"

#include <string.h>

/* Calls `check` with each of the names, and what must stand in the advice. */
static void for_each_name(tj_job *job, const char *names, const char *advice,
                          void (*check)(tj_job *job, const char *name, const char *advice)) {
  for (size_t length; *names != '\0'; names += length + (names[length] == ' ')) {
    length = strcspn(names, " ");
    check(job, tj_string_copy(job, names, length), advice);
  }
}

static const char *advice_on(tj_job *job, const char *name) {
  const tj_misspelling of = tj_misspelling_of(name);
  return tj_advice_on_name(job, &of);
}

static void expect_advice(tj_job *job, const char *name, const char *advice) {
  const char *found = advice_on(job, name);
  ck_assert_msg(found != NULL && strstr(found, advice) != NULL, "%s: %s, not %s", name, found, advice);
}

/* Types of integers make them of what they are given, and get advice elsewhere. */
static void expect_advice_on_stranger(tj_job *job, const char *name, const char *advice) {
  const tj_builtin *function = tj_builtin_find(name);
  ck_assert_msg(function == NULL || function->function == tj_cute_integer, "%s is a function", name);
  expect_advice(job, name, advice);
}

/* Names that a function has here, too, need none. */
static void expect_function_or_advice(tj_job *job, const char *name, const char *form) {
  if (tj_builtin_find(name) == NULL)
    expect_advice(job, name, form);
}

static void check_tables(tj_job *job, void *data) {
  (void)data;
#define FOREIGN(names, of, advice) for_each_name(job, names, advice, expect_advice_on_stranger);
#include "frontend/names/foreign.def"
#undef FOREIGN
  const tj_builtin *function;
  for (size_t i = 0; (function = tj_builtin_at(i)) != NULL; i++) {
    bool is_hidden = tj_builtin_find(function->name) != function;
    ck_assert_msg(!is_hidden || strcmp(function->name, "slice") == 0, "%s has two rows", function->name);
    if (is_hidden)
      continue;
    for_each_name(job, function->cute, function->form, expect_function_or_advice);
    for_each_name(job, function->ck, function->form, expect_function_or_advice);
  }
}

START_TEST(every_name_gets_its_advice) {
  tj_job job;
  tj_job_init(&job, NULL);
  ck_assert_int_eq(tj_job_run(&job, check_tables, NULL), TJ_OK);
  tj_job_destroy(&job);
}
END_TEST

static void check_spelling(tj_job *job, void *data) {
  (void)data;
  expect_advice(job, "coalese", "did you mean 'coalesce'?");
  expect_advice(job, "unmege", "did you mean 'unmerge'?");
  expect_advice(job, "szie", "did you mean 'size'?");
  tj_misspelling of = tj_misspelling_of("tilr");
  const char *const own[] = {"tilr", "tile_of", "til", "tiler"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    tj_misspelling_try(&of, own[i]);
  ck_assert_str_eq(tj_advice_on_name(job, &of), "did you mean 'til'?");
  tj_misspelling short_name = tj_misspelling_of("M");
  tj_misspelling_try(&short_name, "N");
  ck_assert_ptr_null(short_name.nearest);
  ck_assert_ptr_null(advice_on(job, "M"));
  ck_assert_ptr_null(advice_on(job, "nothing_like_this"));
  ck_assert_ptr_null(advice_on(job, "a_name_that_is_longer_than_any_of_a_function"));
  ck_assert(tj_has_word("ab abc", "abc") && tj_has_word("ab", "ab"));
  ck_assert(!tj_has_word("ab abc", "b") && !tj_has_word("ab abc", "a") && !tj_has_word("", "a"));
  ck_assert(!tj_has_word("ab abc", "") && !tj_has_word("", ""));
}

START_TEST(misspelt_names_get_the_nearest) {
  tj_job job;
  tj_job_init(&job, NULL);
  ck_assert_int_eq(tj_job_run(&job, check_spelling, NULL), TJ_OK);
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {every_name_gets_its_advice, misspelt_names_get_the_nearest};
  return run_suite(suite_of("spelling", tests, sizeof tests / sizeof *tests));
}
