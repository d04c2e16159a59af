/* SPDX-License-Identifier: MIT */
/* Guarded work: a body that may fail while something outside the arena is held, and the release of that something.
 *
 * A failure leaves a job's body by longjmp, past every function in between; so whoever holds a file or an LLVM handle
 * across calls that may fail runs them through here. */
#ifndef TJ_BASE_GUARD_H
#define TJ_BASE_GUARD_H

#include "base/job.h"

/* Runs body(job, data), then release(data), in either case; if the body failed, then fails in the same way. */
void tj_guard(tj_job *job, void (*body)(tj_job *job, void *data), void (*release)(void *data), void *data);

#endif
