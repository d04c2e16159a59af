/* SPDX-License-Identifier: MIT */
/* Several kernels at once. The caller's thread plans each, since a program is one thread's; machine code of all
 * variants is then made by many, each with a target machine of its own. What a thread could not make, the caller's
 * tries again at the end, and tells why it fails. */
#include "jit/compile/program.h"
#include "launch/api/code.h"

#include <pthread.h>
#include <unistd.h>

enum { MOST_THREADS = 64 };

typedef struct {
  tj_context *context;
  tj_code **code;
  size_t count;
  atomic_size_t next; /* of those that nobody has taken */
  atomic_bool is_cancelled;
  atomic_size_t done;
} compiling_all;

/* --- threads --- */

typedef struct {
  tj_context *context;
  const tj_code *code;
} completion;

static void complete(tj_job *job, void *data) {
  const completion *c = data;
  (void)tj_code_require(job, c->code, TJ_ALL_VARIANTS, &(tj_part_order){.context = c->context});
}

/* Takes one and completes it; false where there is none left. */
static bool complete_next(compiling_all *all) {
  size_t i = atomic_fetch_add(&all->next, 1);
  if (i >= all->count || atomic_load(&all->is_cancelled))
    return false;
  tj_job job;
  tj_job_init(&job, &all->context->allocator);
  (void)tj_job_run(&job, complete, &(completion){all->context, all->code[i]});
  tj_job_destroy(&job);
  atomic_fetch_add(&all->done, 1);
  return true;
}

static void *work(void *data) {
  while (complete_next(data))
    ;
  return NULL;
}

/* The caller's thread works, too, and tells how far all are. */
static void work_and_tell(compiling_all *all) {
  do {
    if (!tj_tell(&all->context->listener, "kernels compiled", atomic_load(&all->done), all->count))
      atomic_store(&all->is_cancelled, true);
  } while (complete_next(all));
}

static size_t thread_count(size_t count) {
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  size_t most = processors < 1 ? 1 : processors > MOST_THREADS ? MOST_THREADS : (size_t)processors;
  return count < most ? count : most;
}

static void share_out(compiling_all *all) {
  pthread_t thread[MOST_THREADS];
  size_t others = 0, wanted = thread_count(all->count);
  while (others + 1 < wanted && pthread_create(&thread[others], NULL, work, all) == 0)
    others++;
  work_and_tell(all);
  for (size_t i = 0; i < others; i++)
    pthread_join(thread[i], NULL);
}

/* --- codes --- */

static tj_status begin(tj_program *program, const tj_compile_options options[], compiling_all *all, size_t *begun) {
  tj_status status = TJ_OK;
  for (*begun = 0; status == TJ_OK && *begun < all->count; *begun += status == TJ_OK)
    status = tj_code_begin(program, &options[*begun], &all->code[*begun]);
  return status;
}

static void end(tj_job *job, void *data) {
  const compiling_all *all = data;
  if (atomic_load(&all->is_cancelled))
    tj_fail_cancelled(job);
  for (size_t i = 0; i < all->count; i++)
    complete(job, &(completion){all->context, all->code[i]});
}

tj_status tj_program_compile_all(tj_program *program, const tj_compile_options options[], size_t count,
                                 tj_code *codes[]) {
  tj_context *context = program->context;
  tj_context_forget(context);
  compiling_all all = {.context = context, .count = count};
  all.code = tj_context_allocate(context, count < SIZE_MAX / sizeof *all.code ? count * sizeof *all.code : SIZE_MAX);
  if (all.code == NULL)
    return TJ_ERROR_MEMORY;
  size_t begun;
  tj_status status = begin(program, options, &all, &begun);
  if (status == TJ_OK) {
    share_out(&all);
    status = tj_context_run(context, &program->job, end, &all);
  }
  for (size_t i = 0; i < begun; i++) {
    if (status == TJ_OK)
      codes[i] = all.code[i];
    else
      tj_code_destroy(all.code[i]);
  }
  tj_context_release(context, all.code);
  return status;
}
