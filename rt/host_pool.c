/* SPDX-License-Identifier: MIT */
/* A pool of threads with one piece of work at a time, which is handed out in chunks of workgroups.
 *
 * `state` guards everything but the next workgroup, which is an atomic counter; `turn` is held throughout a run, so
 * that runs of different callers follow one another. A worker sleeps until the generation changes, takes chunks until
 * none are left, and reports back; the run ends with the last report. */
#include "rt/host_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

struct tj_host_pool {
  tj_allocator allocator;
  uint32_t worker_limit;
  uint32_t worker_count; /* how many threads there are, besides callers */
  pthread_mutex_t turn;
  pthread_mutex_t state;
  pthread_cond_t has_work;
  pthread_cond_t is_done;
  tj_host_work work;
  uint64_t chunk;
  atomic_uint_fast64_t next;
  uint64_t generation; /* of the work */
  uint32_t busy;       /* workers that have not reported back */
  bool is_ending;
  pthread_t worker[];
};

/* --- work --- */

static void take_chunks(tj_host_pool *pool) {
  tj_host_work work = pool->work;
  for (;;) {
    uint64_t begin = atomic_fetch_add_explicit(&pool->next, pool->chunk, memory_order_relaxed);
    if (begin >= work.workgroup_count)
      return;
    uint64_t left = work.workgroup_count - begin;
    work.entry(work.arguments, begin, begin + (left < pool->chunk ? left : pool->chunk));
  }
}

/* Waits for the next generation; false when the pool ends. */
static bool await_work(tj_host_pool *pool, uint64_t *generation) {
  pthread_mutex_lock(&pool->state);
  while (pool->generation == *generation && !pool->is_ending)
    pthread_cond_wait(&pool->has_work, &pool->state);
  *generation = pool->generation;
  bool goes_on = !pool->is_ending;
  pthread_mutex_unlock(&pool->state);
  return goes_on;
}

static void report_back(tj_host_pool *pool) {
  pthread_mutex_lock(&pool->state);
  if (--pool->busy == 0)
    pthread_cond_signal(&pool->is_done);
  pthread_mutex_unlock(&pool->state);
}

static void *work_in_pool(void *data) {
  tj_host_pool *pool = data;
  uint64_t generation = 0;
  while (await_work(pool, &generation)) {
    take_chunks(pool);
    report_back(pool);
  }
  return NULL;
}

/* --- threads --- */

/* Workers leave signals to the program's own threads. */
static void create_workers(tj_host_pool *pool) {
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  while (pool->worker_count < pool->worker_limit &&
         pthread_create(&pool->worker[pool->worker_count], NULL, work_in_pool, pool) == 0)
    pool->worker_count++;
  pthread_sigmask(SIG_SETMASK, &previous, NULL);
}

tj_host_pool *tj_host_pool_create(uint32_t thread_count, tj_allocator allocator) {
  uint32_t workers = thread_count > 0 ? thread_count - 1 : 0;
  tj_host_pool *pool = allocator.allocate(allocator.user, sizeof *pool + workers * sizeof pool->worker[0]);
  if (pool == NULL)
    return NULL;
  *pool = (tj_host_pool){.allocator = allocator, .worker_limit = workers};
  pthread_mutex_init(&pool->turn, NULL);
  pthread_mutex_init(&pool->state, NULL);
  pthread_cond_init(&pool->has_work, NULL);
  pthread_cond_init(&pool->is_done, NULL);
  return pool;
}

void tj_host_pool_destroy(tj_host_pool *pool) {
  pthread_mutex_lock(&pool->state);
  pool->is_ending = true;
  pthread_cond_broadcast(&pool->has_work);
  pthread_mutex_unlock(&pool->state);
  for (uint32_t i = 0; i < pool->worker_count; i++)
    pthread_join(pool->worker[i], NULL);
  pthread_cond_destroy(&pool->is_done);
  pthread_cond_destroy(&pool->has_work);
  pthread_mutex_destroy(&pool->state);
  pthread_mutex_destroy(&pool->turn);
  pool->allocator.release(pool->allocator.user, pool);
}

/* --- runs --- */

/* Several chunks for each thread, so that an uneven load evens out. */
static uint64_t chunk_of(const tj_host_pool *pool, uint64_t workgroup_count) {
  enum { CHUNKS_PER_THREAD = 8 };
  uint64_t chunk = workgroup_count / ((uint64_t)CHUNKS_PER_THREAD * (pool->worker_count + 1));
  return chunk > 0 ? chunk : 1;
}

static void hand_out(tj_host_pool *pool, tj_host_work work) {
  pthread_mutex_lock(&pool->state);
  pool->work = work;
  pool->chunk = chunk_of(pool, work.workgroup_count - work.first);
  atomic_store_explicit(&pool->next, work.first, memory_order_relaxed);
  pool->generation++;
  pool->busy = pool->worker_count;
  pthread_cond_broadcast(&pool->has_work);
  pthread_mutex_unlock(&pool->state);
}

static void await_reports(tj_host_pool *pool) {
  pthread_mutex_lock(&pool->state);
  while (pool->busy > 0)
    pthread_cond_wait(&pool->is_done, &pool->state);
  pthread_mutex_unlock(&pool->state);
}

void tj_host_pool_run(tj_host_pool *pool, tj_host_work work) {
  pthread_mutex_lock(&pool->turn);
  create_workers(pool);
  hand_out(pool, work);
  take_chunks(pool);
  await_reports(pool);
  pthread_mutex_unlock(&pool->turn);
}
