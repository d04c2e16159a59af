/* SPDX-License-Identifier: MIT */
/* What unit tests share: expecting what a job's body comes to, failures by their code. Suites are in suite.h. */
#ifndef TJ_TESTS_HARNESS_H
#define TJ_TESTS_HARNESS_H

#include "base/job.h"
#include "tests/unit/support/suite.h"

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

#endif
