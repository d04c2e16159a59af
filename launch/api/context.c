/* SPDX-License-Identifier: MIT */
/* Contexts of the public library: memory, the last diagnostic, blobs. */
#include "launch/api/context.h"

#include <string.h>

void *tj_context_allocate(tj_context *context, size_t size) {
  void *block = context->allocator.allocate(context->allocator.user, size > 0 ? size : 1);
  if (block == NULL)
    tj_context_fail(context, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, tj_code_title(TJ_OUT_OF_MEMORY));
  else
    memset(block, 0, size);
  return block;
}

void tj_context_release(tj_context *context, void *block) {
  if (block != NULL)
    context->allocator.release(context->allocator.user, block);
}

tj_status tj_context_make(const tj_allocator *allocator, size_t size, void (*close)(tj_context *context),
                          tj_context **context) {
  tj_job job;
  tj_job_init(&job, allocator);
  tj_context *made = job.allocator.allocate(job.allocator.user, size);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  memset(made, 0, size);
  made->allocator = job.allocator;
  made->close = close;
  *context = made;
  return TJ_OK;
}

void tj_context_forget(tj_context *context) {
  tj_context_release(context, context->strings);
  context->strings = NULL;
  context->has_diagnostic = false;
}

void tj_context_begin_job(tj_context *context, tj_job *job) {
  tj_job_init(job, &context->allocator);
  tj_arena_begin_with(&job->arena, context->memory);
  context->memory = NULL;
}

void tj_context_end_job(tj_context *context, tj_job *job) {
  context->memory = tj_arena_end(&job->arena, context->memory);
}

static void release_memory(tj_context *context) {
  tj_job job;
  tj_context_begin_job(context, &job);
  tj_job_destroy(&job);
}

void tj_context_destroy(tj_context *context) {
  if (context == NULL)
    return;
  tj_context_forget(context);
  release_memory(context);
  if (context->close != NULL)
    context->close(context);
  context->allocator.release(context->allocator.user, context);
}

const tj_diagnostic *tj_context_diagnostic(const tj_context *context) {
  return context->has_diagnostic ? &context->diagnostic : NULL;
}

void tj_context_set_progress(tj_context *context, tj_progress_function function, void *user) {
  context->listener = (tj_listener){function, user};
}

/* --- recording --- */

enum { LONGEST_LINE = 4096 };

static char *append(char *at, const char *text, size_t length) {
  memcpy(at, text, length);
  at[length] = '\0';
  return at + length + 1;
}

/* Replaces the diagnostic's borrowed strings by copies; by static text where there is no memory for them. */
static void own_strings(tj_context *context, tj_problem_code code, size_t line_length) {
  tj_diagnostic *d = &context->diagnostic;
  size_t lengths[] = {strlen(d->file), strlen(d->message), strlen(d->note), line_length};
  size_t total = lengths[0] + lengths[1] + lengths[2] + lengths[3] + 4;
  char *strings = context->allocator.allocate(context->allocator.user, total);
  context->strings = strings;
  if (strings == NULL) {
    d->file = d->source_line = "";
    d->message = tj_code_title(code);
    d->note = tj_code_note(code);
    return;
  }
  const char **places[] = {&d->file, &d->message, &d->note, &d->source_line};
  for (size_t i = 0; i < 4; i++) {
    char *next = append(strings, *places[i], lengths[i]);
    *places[i] = strings;
    strings = next;
  }
}

tj_status tj_context_fail(tj_context *context, tj_status status, tj_problem_code code, const char *message) {
  tj_context_forget(context);
  context->has_diagnostic = true;
  context->diagnostic = (tj_diagnostic){.status = status,
                                        .code = (unsigned)code,
                                        .file = "tilejit",
                                        .message = message,
                                        .note = tj_code_note(code),
                                        .source_line = ""};
  own_strings(context, code, 0);
  return status;
}

static void record(tj_context *context, const tj_job *job) {
  const tj_problem *problem = &job->problem;
  tj_diagnostic *d = &context->diagnostic;
  size_t line_length = 0;
  tj_context_forget(context);
  context->has_diagnostic = true;
  *d = (tj_diagnostic){.status = job->status,
                       .code = (unsigned)problem->code,
                       .message = problem->message,
                       .note = problem->note,
                       .source_line = ""};
  d->file = job->source.name != NULL ? job->source.name : "tilejit";
  if (tj_span_is_somewhere(problem->span) && job->source.text != NULL) {
    tj_location place = tj_source_locate(&job->source, problem->span.begin);
    size_t length = problem->span.end > problem->span.begin ? problem->span.end - problem->span.begin : 1;
    size_t rest = place.length + 1 - (place.column <= place.length ? place.column : place.length);
    d->file = place.name;
    d->line = place.line;
    d->column = place.column;
    d->length = (uint32_t)(length < rest ? length : rest > 0 ? rest : 1);
    d->source_line = place.text;
    line_length = place.length < LONGEST_LINE ? place.length : LONGEST_LINE;
  }
  own_strings(context, problem->code, line_length);
}

tj_status tj_context_run(tj_context *context, tj_job *job, void (*body)(tj_job *job, void *data), void *data) {
  tj_context_forget(context);
  tj_job_refuel(job);
  job->listener = context->listener;
  job->importer = context->importer;
  job->here = TJ_NOWHERE;
  tj_status status = tj_job_run(job, body, data);
  if (status != TJ_OK)
    record(context, job);
  return status;
}

/* --- blobs --- */

tj_status tj_context_blob(tj_context *context, const void *data, size_t size, tj_blob *blob) {
  char *copy = tj_context_allocate(context, size + 1);
  if (copy == NULL)
    return TJ_ERROR_MEMORY;
  if (size > 0)
    memcpy(copy, data, size);
  *blob = (tj_blob){copy, size};
  return TJ_OK;
}

void tj_blob_release(tj_context *context, tj_blob *blob) {
  tj_context_release(context, blob->data);
  *blob = (tj_blob){NULL, 0};
}

typedef struct {
  void (*write)(tj_text *text, const void *data);
  const void *data;
  tj_text text;
} writing;

static void write_text(tj_job *job, void *data) {
  writing *w = data;
  w->text = tj_text_begin(job);
  w->write(&w->text, w->data);
}

tj_status tj_context_write(tj_context *context, void (*write)(tj_text *text, const void *data), const void *data,
                           tj_blob *blob) {
  tj_job job;
  tj_job_init(&job, &context->allocator);
  writing w = {.write = write, .data = data};
  tj_status status = tj_context_run(context, &job, write_text, &w);
  if (status == TJ_OK)
    status = tj_context_blob(context, w.text.data, w.text.length, blob);
  tj_job_destroy(&job);
  return status;
}
