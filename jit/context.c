/* Contexts and diagnostics of the public library. */
#include "jit/context.h"

#include <stdarg.h>
#include <stdio.h>
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

tj_status tj_context_create(const tj_allocator *allocator, tj_context **context) {
  tj_job job;
  tj_job_init(&job, allocator);
  tj_context *created = job.allocator.allocate(job.allocator.user, sizeof *created);
  if (created == NULL)
    return TJ_ERROR_MEMORY;
  *created = (tj_context){.allocator = job.allocator};
  *context = created;
  return TJ_OK;
}

void tj_context_forget(tj_context *context) {
  tj_context_release(context, context->strings);
  context->strings = NULL;
  context->has_diagnostic = false;
}

void tj_context_destroy(tj_context *context) {
  if (context == NULL)
    return;
  tj_context_forget(context);
  tj_codegen_close(&context->codegen);
  context->allocator.release(context->allocator.user, context);
}

const tj_diagnostic *tj_context_diagnostic(const tj_context *context) {
  return context->has_diagnostic ? &context->diagnostic : NULL;
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
  job->fuel = TJ_DEFAULT_FUEL;
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

/* --- formatting --- */

typedef struct {
  char *buffer;
  size_t size, length;
  bool colour;
} writer;

static void __attribute__((format(printf, 2, 3))) put(writer *out, const char *format, ...) {
  size_t left = out->length < out->size ? out->size - out->length : 0;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(left > 0 ? out->buffer + out->length : NULL, left, format, arguments);
  va_end(arguments);
  out->length += length > 0 ? (size_t)length : 0;
}

static const char *paint(const writer *out, const char *code) {
  return out->colour ? code : "";
}

#define RED "\033[1;31m"
#define GREEN "\033[1;32m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

enum { MOST_SHOWN = 118 };

/* The window of a long source line that has the column in it, so that the caret stays under what is to blame. */
static size_t window_begin(const tj_diagnostic *diagnostic) {
  size_t length = strlen(diagnostic->source_line);
  size_t column = diagnostic->column - 1;
  if (length <= MOST_SHOWN || column < MOST_SHOWN / 2)
    return 0;
  size_t begin = column - MOST_SHOWN / 2;
  return begin < length ? begin : length;
}

static void put_caret(writer *out, const tj_diagnostic *diagnostic) {
  size_t begin = window_begin(diagnostic);
  const char *line = diagnostic->source_line + begin;
  size_t shown = strnlen(line, MOST_SHOWN);
  size_t indent = diagnostic->column - 1 - begin;
  put(out, "  %.*s\n  ", (int)shown, line);
  for (size_t i = 0; i < indent; i++)
    put(out, "%c", i < shown && line[i] == '\t' ? '\t' : ' ');
  put(out, "%s^", paint(out, GREEN));
  for (size_t i = 1; i < diagnostic->length && indent + i < shown; i++)
    put(out, "~");
  put(out, "%s\n", paint(out, PLAIN));
}

size_t tj_diagnostic_format(const tj_diagnostic *diagnostic, int colour, char *buffer, size_t size) {
  writer out = {buffer, size, 0, colour != 0};
  put(&out, "%s%s", paint(&out, BOLD), diagnostic->file);
  if (diagnostic->line > 0)
    put(&out, ":%u:%u", diagnostic->line, diagnostic->column);
  put(&out, ": %serror:%s TJ%04u: %s\n", paint(&out, RED), paint(&out, PLAIN), diagnostic->code, diagnostic->message);
  bool has_line =
      diagnostic->line > 0 && diagnostic->column >= 1 && diagnostic->column - 1 <= strlen(diagnostic->source_line);
  if (has_line)
    put_caret(&out, diagnostic);
  put(&out, "  %snote:%s %s\n", paint(&out, BOLD), paint(&out, PLAIN), diagnostic->note);
  return out.length;
}
