/* SPDX-License-Identifier: MIT */
/* Each allocation of a piece of work fails in turn: the work says so, or does all the same what it should; nothing is
 * kept; and the next call has not noticed.
 *
 * Thousands of allocations are made at a few places. So one fails of each path of callers (failing_memory.h), evenly
 * chosen where there are more than MOST_FAILURES; all of them fail where TILEJIT_TEST_ALLOCATIONS=all. */
#ifndef TJ_TESTS_ALLOCATION_SWEEP_H
#define TJ_TESTS_ALLOCATION_SWEEP_H

#include "tests/unit/support/failing_memory.h"
#include "tests/unit/support/suite.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How a piece of work ended. */
typedef struct {
  bool is_done;    /* or it said that there is no memory */
  char wrong[200]; /* what it said or did that it should not; "": nothing */
  uint64_t digest; /* of what it made, which must be the same always; of what was not done, any */
} outcome;

typedef struct {
  const char *name;
  outcome (*use)(const void *row);
  const void *row;
  size_t most_failures;
} swept_work;

static inline uint64_t digest_of(uint64_t digest, const void *data, size_t size) {
  for (size_t i = 0; i < size; i++)
    digest = (digest ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
  return digest;
}

/* Uses it once; memory is failing as the caller has said. */
static inline outcome use_swept(const swept_work *work, const outcome *expected, long failing, long *count) {
  long held;
  outcome e = work->use(work->row);
  *count = stop_failing(&held);
  ck_assert_msg(e.wrong[0] == '\0', "%s: %s, where allocation %ld of %ld fails", work->name, e.wrong, failing,
                *count);
  ck_assert_msg(held == 0, "%s keeps %ld blocks where allocation %ld of %ld fails", work->name, held, failing,
                *count);
  ck_assert_msg(expected == NULL || !e.is_done || e.digest == expected->digest,
                "%s: another result where allocation %ld of %ld fails", work->name, failing, *count);
  return e;
}

static inline bool fails_where(const swept_work *work, long failing, const outcome *expected) {
  long count;
  fail_allocation(failing);
  return !use_swept(work, expected, failing, &count).is_done;
}

static inline long sweep_paths(const swept_work *work, const outcome *expected) {
  const long *number;
  size_t paths = first_of_paths(&number), step = (paths + work->most_failures - 1) / work->most_failures;
  long refused = 0;
  for (size_t i = 0; i < paths; i += step)
    refused += fails_where(work, number[i], expected);
  return refused;
}

static inline long sweep_all(const swept_work *work, const outcome *expected, long count) {
  long refused = 0;
  for (long failing = 0; failing < count; failing++)
    refused += fails_where(work, failing, expected);
  return refused;
}

static inline void sweep(const swept_work *work) {
  const char *wanted = getenv("TILEJIT_TEST_ALLOCATIONS");
  long count;
  fail_allocation(-1);
  (void)work->use(work->row); /* what the process keeps is made */
  (void)stop_failing(&count);
  trace_allocations();
  outcome expected = use_swept(work, NULL, -1, &count);
  ck_assert_msg(expected.is_done, "%s: no memory", work->name);
  bool all = wanted != NULL && strcmp(wanted, "all") == 0;
  long refused = all ? sweep_all(work, &expected, count) : sweep_paths(work, &expected);
  ck_assert_msg(refused > 0, "%s: no failure was told", work->name);
  ck_assert_msg(!fails_where(work, -1, &expected), "%s: no memory after the failures", work->name);
}

#endif
