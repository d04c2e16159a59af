/* SPDX-License-Identifier: MIT */
/* Contexts: the library's side of the public header. Runs jobs, keeps the last diagnostic, makes blobs. */
#ifndef TJ_JIT_CONTEXT_H
#define TJ_JIT_CONTEXT_H

#include "base/text.h"
#include "jit/compile/codegen.h"

#include <stdbool.h>

struct tj_context {
  tj_allocator allocator;
  bool has_diagnostic;
  tj_diagnostic diagnostic;
  char *strings;      /* owned: what the diagnostic points to; NULL where it points to static text */
  tj_codegen codegen; /* owned: LLVM's target machine of the last compilation */
  tj_cache *cache;    /* retained; NULL: none, or not yet */
  bool has_cache;     /* it has been chosen */
  tj_listener listener;
  tj_importer importer;
};

/* Runs a body in a job, with fresh fuel, and records why it failed. */
tj_status tj_context_run(tj_context *context, tj_job *job, void (*body)(tj_job *job, void *data), void *data);

/* Records a failure that no job reported. Strings are copied. Returns `status`. */
tj_status tj_context_fail(tj_context *context, tj_status status, tj_problem_code code, const char *message);

void tj_context_forget(tj_context *context);

/* The cache of the context's compilations, borrowed; NULL where there is none. */
tj_cache *tj_context_cache(tj_context *context);

/* What `write` writes in a job of its own, as a blob. */
tj_status tj_context_write(tj_context *context, void (*write)(tj_text *text, const void *data), const void *data,
                           tj_blob *blob);

/* Copies into a blob of the context's allocator. */
tj_status tj_context_blob(tj_context *context, const void *data, size_t size, tj_blob *blob);

void *tj_context_allocate(tj_context *context, size_t size); /* zeroed; NULL after recording TJ7001 */
void tj_context_release(tj_context *context, void *block);   /* takes NULL */

#endif
