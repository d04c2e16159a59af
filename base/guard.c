/* SPDX-License-Identifier: MIT */
/* Releasing what the arena does not own, when a job's body ends and when it fails. */
#include "base/guard.h"

void tj_guard(tj_job *job, void (*body)(tj_job *job, void *data), void (*release)(void *data), void *data) {
  tj_status status = tj_job_run(job, body, data);
  release(data);
  if (status != TJ_OK)
    longjmp(*job->way_out, 1);
}
