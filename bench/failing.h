/* SPDX-License-Identifier: MIT */
/* Benchmarks end at the first thing that goes wrong, and say what it was. */
#ifndef TJ_BENCH_FAILING_H
#define TJ_BENCH_FAILING_H

#include "tilejit/runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void fail(const char *text) {
  fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
  exit(1);
}

static inline void expect(tj_context *context, tj_status status) {
  if (status == TJ_OK)
    return;
  const tj_diagnostic *d = tj_context_diagnostic(context);
  fail(d != NULL ? d->message : "out of memory");
}

#endif
