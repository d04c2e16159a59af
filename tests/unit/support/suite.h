/* SPDX-License-Identifier: MIT */
/* Suites: of a few tests, or of one test and many cases, run in this process (no fork, so that sanitizers and
 * debuggers see it). */
#ifndef TJ_TESTS_SUITE_H
#define TJ_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Check writes a file at each assertion that holds, to say how far a test had come that crashed: half of the time of
 * tests that compare many elements. */
#define _mark_point(file, line) ((void)0)

enum { SUITE_SECONDS = 500 };

/* Runs one suite, and gives main's result. */
static inline int run_suite(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A suite of one test, which runs `count` times, with _i from 0 on. */
static inline Suite *suite_of_cases(const char *name, const TTest *test, int count) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  tcase_set_timeout(tcase, SUITE_SECONDS);
  tcase_add_loop_test(tcase, test, 0, count);
  suite_add_tcase(suite, tcase);
  return suite;
}

/* A suite with one case of the given tests. */
static inline Suite *suite_of(const char *name, const TTest *const tests[], size_t count) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  tcase_set_timeout(tcase, SUITE_SECONDS);
  for (size_t i = 0; i < count; i++)
    tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  return suite;
}

#endif
