/* SPDX-License-Identifier: MIT */
/* A job: one unit of work, with its memory, its source, its limits and its way out.
 *
 * Everything between text and object file is computed inside a job. Memory comes from the job's arena and is given
 * back at once. A stage that cannot go on calls tj_fail, which records a problem and leaves the job's body at once,
 * back to the tj_job_run that started it; so no function between the two needs to pass errors on, and none may hold
 * anything that the arena does not own. (Handles of LLVM are owned by structs that the caller of tj_job_run
 * disposes: see lower/emit/module.h.)
 *
 * Work is bounded: stages spend fuel in proportion to what they do, and a job without fuel fails with TJ7003. Now and
 * then whoever asked for the work is told of it, and may cancel it: the job fails with TJ7007.
 *
 * Thread safety: a job is used by one thread at a time; jobs share nothing. */
#ifndef TJ_BASE_JOB_H
#define TJ_BASE_JOB_H

#include "base/arena.h"
#include "base/diag.h"
#include "tilejit/tilejit.h"

#include <setjmp.h>
#include <stdbool.h>

typedef struct tj_job tj_job;

/* Whom to tell of long work; NULL: nobody. */
typedef struct {
  tj_progress_function function;
  void *user;
} tj_listener;

/* A call of a function of the program whose body is being evaluated, or an import whose text is: the note of a
 * failure in there names it. */
typedef struct tj_open_call {
  const char *function; /* NULL: an import */
  tj_source source;     /* of the call; the job's own source is the body's */
  tj_span span;
  const struct tj_open_call *outer;
} tj_open_call;

/* Who finds the texts that programs import; NULL: nobody. */
typedef struct {
  tj_read_function function;
  void *user;
} tj_importer;

struct tj_job {
  tj_allocator allocator;
  tj_arena arena;
  tj_source source;   /* what spans refer to */
  tj_span here;       /* the place that tj_fail blames: kept up to date by whoever walks the AST */
  uint64_t fuel;      /* units of work left */
  uint64_t next_tell; /* the fuel at which the listener is told next */
  tj_listener listener;
  tj_importer importer;
  tj_status status;          /* how the last tj_job_run ended */
  tj_problem problem;        /* why, when status is not TJ_OK */
  const char *note;          /* the note of the next failure; NULL: the code's own */
  jmp_buf *way_out;          /* set while tj_job_run runs */
  const tj_open_call *calls; /* the innermost one; NULL: none */
};

enum { TJ_DEFAULT_FUEL = 20 * 1000 * 1000 };

/* A job with the given allocator (NULL: malloc and free). Needs no memory, so cannot fail. */
void tj_job_init(tj_job *job, const tj_allocator *allocator);
void tj_job_destroy(tj_job *job);

/* Runs body(job, data). Returns TJ_OK, or the status of the failure that ended it, described in job->problem.
 * May be nested: an inner run's failure ends at the inner run. */
tj_status tj_job_run(tj_job *job, void (*body)(tj_job *job, void *data), void *data);

/* The same within the job's body, for an attempt that the input may not allow; then it is false, and job->problem
 * says why. Where it fails for another reason (memory, a cancellation), so does the body. */
bool tj_job_try(tj_job *job, void (*body)(tj_job *job, void *data), void *data);

/* Ends the job's body: the input is wrong in the way that `code` names, at job->here. */
_Noreturn void tj_fail(tj_job *job, tj_problem_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same at a given place. */
_Noreturn void tj_fail_at(tj_job *job, tj_span span, tj_problem_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The device or the system failed (status TJ_ERROR_SYSTEM), not the input. */
_Noreturn void tj_fail_system(tj_job *job, tj_problem_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Says what would make it right, in place of the code's own note, for the tj_fail that follows at once. */
void tj_note(tj_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the job's body as the last body of another job ended, or of the job itself, at the place where that failed. */
_Noreturn void tj_fail_as(tj_job *job, const tj_job *failed);

_Noreturn void tj_fail_out_of_memory(tj_job *job);
_Noreturn void tj_fail_memory_limit(tj_job *job, size_t limit);

/* As much fuel as a job begins with. */
void tj_job_refuel(tj_job *job);
/* Takes `units` of fuel; fails with TJ7003 when there is not enough. Tells the listener after every so many. */
void tj_spend(tj_job *job, uint64_t units);

/* Tells the listener how far the work is. False where it is to end: by tj_fail_cancelled, once that is possible.
 * `what` is static; `total` may be 0. */
bool tj_tell(const tj_listener *listener, const char *what, uint64_t done, uint64_t total);
_Noreturn void tj_fail_cancelled(tj_job *job);

#endif
