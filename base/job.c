/* SPDX-License-Identifier: MIT */
/* Running a job's body, and leaving it. */
#include "base/job.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

static void *allocate_with_malloc(void *user, size_t size) {
  (void)user;
  return malloc(size);
}

static void release_with_free(void *user, void *block) {
  (void)user;
  free(block);
}

enum { MEMORY_LIMIT_MIB = 1024, FUEL_PER_TELL = 4096 };

void tj_job_init(tj_job *job, const tj_allocator *allocator) {
  *job = (tj_job){.fuel = TJ_DEFAULT_FUEL, .here = TJ_NOWHERE};
  job->allocator = allocator != NULL ? *allocator : (tj_allocator){allocate_with_malloc, release_with_free, NULL};
  tj_arena_init(&job->arena, job, (size_t)MEMORY_LIMIT_MIB << 20);
}

void tj_job_destroy(tj_job *job) {
  tj_arena_destroy(&job->arena);
}

tj_status tj_job_run(tj_job *job, void (*body)(tj_job *job, void *data), void *data) {
  jmp_buf way_out;
  jmp_buf *outer = job->way_out;
  const tj_open_call *calls = job->calls;
  job->way_out = &way_out;
  job->note = NULL;
  if (setjmp(way_out) == 0) {
    body(job, data);
    job->status = TJ_OK;
  }
  job->way_out = outer;
  job->calls = calls;
  return job->status;
}

bool tj_job_try(tj_job *job, void (*body)(tj_job *job, void *data), void *data) {
  tj_status status = tj_job_run(job, body, data);
  if (status != TJ_OK && status != TJ_ERROR_INPUT)
    longjmp(*job->way_out, 1);
  return status == TJ_OK;
}

static const char *note_with_call(tj_job *job, const char *note, const tj_open_call *call) {
  tj_location place = tj_source_locate(&call->source, call->span.begin);
  if (call->function == NULL)
    return tj_string_format(job, "%s; imported at %s:%" PRIu32 ":%" PRIu32, note, place.name, place.line,
                            place.column);
  return tj_string_format(job, "%s; in '%s', called at %s:%" PRIu32 ":%" PRIu32, note, call->function, place.name,
                          place.line, place.column);
}

enum { NAMED_CALLS = 3 };

/* The note, then the open calls from the inside out; of many, the innermost ones and the outermost one. */
static const char *note_with_calls(tj_job *job, const char *note) {
  const tj_open_call *call = job->calls;
  job->calls = NULL; /* there may be no memory for the note */
  for (unsigned i = 0; call != NULL && i < NAMED_CALLS; i++, call = call->outer)
    note = note_with_call(job, note, call);
  if (call == NULL)
    return note;
  while (call->outer != NULL)
    call = call->outer;
  return note_with_call(job, tj_string_format(job, "%s; …", note), call);
}

static _Noreturn void leave(tj_job *job, tj_status status, tj_problem problem) {
  if (job->calls != NULL && status == TJ_ERROR_INPUT)
    problem.note = note_with_calls(job, problem.note);
  job->status = status;
  job->problem = problem;
  job->note = NULL;
  longjmp(*job->way_out, 1);
}

void tj_fail_as(tj_job *job, const tj_job *failed) {
  job->source = failed->source;
  job->calls = NULL;
  leave(job, failed->status, failed->problem);
}

static _Noreturn void leave_with_message(tj_job *job, tj_status status, tj_span span, tj_problem_code code,
                                         const char *format, va_list arguments) {
  const char *note = job->note != NULL ? job->note : tj_code_note(code);
  job->note = NULL;
  tj_text message = tj_text_begin(job);
  tj_text_format_list(&message, format, arguments);
  leave(job, status, (tj_problem){code, span, message.data, note});
}

void tj_fail(tj_job *job, tj_problem_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leave_with_message(job, TJ_ERROR_INPUT, job->here, code, format, arguments);
}

void tj_fail_at(tj_job *job, tj_span span, tj_problem_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leave_with_message(job, TJ_ERROR_INPUT, span, code, format, arguments);
}

void tj_fail_system(tj_job *job, tj_problem_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  leave_with_message(job, TJ_ERROR_SYSTEM, job->here, code, format, arguments);
}

void tj_note(tj_job *job, const char *format, ...) {
  tj_text note = tj_text_begin(job);
  va_list arguments;
  va_start(arguments, format);
  tj_text_format_list(&note, format, arguments);
  va_end(arguments);
  job->note = note.data;
}

static _Noreturn void leave_with_title(tj_job *job, tj_status status, tj_problem_code code) {
  leave(job, status, (tj_problem){code, job->here, tj_code_title(code), tj_code_note(code)});
}

void tj_fail_out_of_memory(tj_job *job) {
  leave_with_title(job, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY);
}

void tj_fail_memory_limit(tj_job *job, size_t limit) {
  (void)limit;
  leave_with_title(job, TJ_ERROR_INPUT, TJ_MEMORY_LIMIT);
}

bool tj_tell(const tj_listener *listener, const char *what, uint64_t done, uint64_t total) {
  return listener->function == NULL || listener->function(listener->user, &(tj_progress){what, done, total}) == 0;
}

void tj_fail_cancelled(tj_job *job) {
  job->here = TJ_NOWHERE;
  leave_with_title(job, TJ_ERROR_CANCELLED, TJ_CANCELLED);
}

void tj_job_refuel(tj_job *job) {
  job->fuel = job->next_tell = TJ_DEFAULT_FUEL;
}

void tj_spend(tj_job *job, uint64_t units) {
  if (job->fuel < units)
    leave_with_title(job, TJ_ERROR_INPUT, TJ_WORK_LIMIT);
  job->fuel -= units;
  if (job->fuel > job->next_tell)
    return;
  job->next_tell = job->fuel > FUEL_PER_TELL ? job->fuel - FUEL_PER_TELL : 0;
  if (!tj_tell(&job->listener, "working", 0, 0))
    tj_fail_cancelled(job);
}
