/* What unit tests share: a job for each test, and expecting failures by their code. */
#ifndef TJ_TESTS_HARNESS_H
#define TJ_TESTS_HARNESS_H

#include "base/job.h"

#include <check.h>
#include <stdlib.h>

/* Runs body(job, data) and checks that it succeeds; says why when it does not. */
static inline void expect_success(tj_job *job, void (*body)(tj_job *, void *), void *data) {
  if (tj_job_run(job, body, data) != TJ_OK)
    ck_abort_msg("TJ%04d: %s", (int)job->problem.code, job->problem.message);
}

/* Runs body(job, data) and checks that it fails with `code`. */
static inline void expect_failure(tj_job *job, tj_problem_code code, void (*body)(tj_job *, void *), void *data) {
  tj_status status = tj_job_run(job, body, data);
  ck_assert_msg(status != TJ_OK, "TJ%04d was expected, nothing failed", (int)code);
  ck_assert_msg(job->problem.code == code, "TJ%04d was expected, not TJ%04d: %s", (int)code, (int)job->problem.code,
                job->problem.message);
}

/* Runs one suite in this process (no fork, so that sanitizers and debuggers see it), and gives main's result. */
static inline int run_suite(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A suite with one case of the given tests. */
static inline Suite *suite_of(const char *name, const TTest *const tests[], size_t count) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  tcase_set_timeout(tcase, 500);
  for (size_t i = 0; i < count; i++)
    tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  return suite;
}

#endif
