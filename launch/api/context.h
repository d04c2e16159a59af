/* SPDX-License-Identifier: MIT */
/* Contexts: the library's side of the public headers. Runs jobs, keeps the last diagnostic, makes blobs. A context of
 * the whole library begins with one (jit/compile/compiler.h). */
#ifndef TJ_LAUNCH_CONTEXT_H
#define TJ_LAUNCH_CONTEXT_H

#include "base/text.h"
#include "launch/image/machine.h"
#include "rt/device.h"

#include <stdbool.h>

struct tj_context {
  tj_allocator allocator;
  bool has_diagnostic;
  tj_diagnostic diagnostic;
  char *strings; /* owned: what the diagnostic points to; NULL where it points to static text */
  tj_arena_chunk *memory; /* owned: what the last long job has left for the next one; NULL: nothing */
  tj_listener listener;
  tj_importer importer;
  const tj_rt_vault *vault;           /* where drivers keep what they make of codes; NULL: nowhere */
  void (*close)(tj_context *context); /* gives back what the context is the beginning of; NULL: nothing */
  tj_part_maker make_part; /* of machine code, for a tj_part_order; NULL: nothing here compiles. On any thread */
};

/* What a part of machine code is made with. */
typedef struct {
  tj_context *context;
  tj_code_times times; /* to which is added what is made; zeros where nothing was */
} tj_part_order;

/* A context, in zeroed memory of `size` bytes. */
tj_status tj_context_make(const tj_allocator *allocator, size_t size, void (*close)(tj_context *context),
                          tj_context **context);

/* Runs a body in a job, with fresh fuel, and records why it failed. */
tj_status tj_context_run(tj_context *context, tj_job *job, void (*body)(tj_job *job, void *data), void *data);

/* A job that takes over the memory that the last one has left, and its end. */
void tj_context_begin_job(tj_context *context, tj_job *job);
void tj_context_end_job(tj_context *context, tj_job *job);

/* Records a failure that no job reported. Strings are copied. Returns `status`. */
tj_status tj_context_fail(tj_context *context, tj_status status, tj_problem_code code, const char *message);

void tj_context_forget(tj_context *context);

/* What `write` writes in a job of its own, as a blob. */
tj_status tj_context_write(tj_context *context, void (*write)(tj_text *text, const void *data), const void *data,
                           tj_blob *blob);

/* Copies into a blob of the context's allocator. */
tj_status tj_context_blob(tj_context *context, const void *data, size_t size, tj_blob *blob);

void *tj_context_allocate(tj_context *context, size_t size); /* zeroed; NULL after recording TJ7001 */
void tj_context_release(tj_context *context, void *block);   /* takes NULL */

#endif
