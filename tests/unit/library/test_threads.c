/* SPDX-License-Identifier: MIT */
/* Threads that compile and launch at the same time, each with a context of its own: on the host and on every
 * simulated processor, with a cache that all share and without any. Every result is looked at.
 *
 * TILEJIT_TEST_THREADS and TILEJIT_TEST_ROUNDS say how many threads there are, and how often each compiles and
 * launches. The sanitizers see races and leaks. */
#include "tests/unit/support/library_support.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { THREADS = 14, ROUNDS = 4, MOST_THREADS = 256, MESSAGE = 512, MOST_ELEMENTS = 32 * 32 };

static const char *const devices[] = {
    "host",
#define SIMULATED(name, units) "sim:" name,
#include "base/machine/processor.def"
};

enum { DEVICES = sizeof devices / sizeof devices[0] };

static const char program_text[] =
    "param M in 1..4096, N in 1..4096\n"
    "kernel transposed(src: i32 @ (M, N):(N, 1), dst: i32 @ (M, N):(1, M)) = copy(src, dst)\n";

typedef struct {
  pthread_t thread;
  unsigned number, rounds;
  tj_cache *cache; /* NULL: none */
  tj_context *context;
  tj_device *device;
  char message[MESSAGE]; /* of the first failure; "" */
} worker;

/* --- one thread --- */

/* Notes the first failure; false. */
static bool note(worker *w, const char *what) {
  const tj_diagnostic *d = tj_context_diagnostic(w->context);
  if (w->message[0] == '\0')
    snprintf(w->message, MESSAGE, "thread %u, %s: %s: %s", w->number, devices[w->number % DEVICES], what,
             d != NULL ? d->message : "");
  return false;
}

/* The extents of a round, different for neighbouring threads and rounds. */
static void choose_sizes(const worker *w, unsigned round, tj_parameter_value sizes[2]) {
  sizes[0] = (tj_parameter_value){"M", 1 + (w->number * 7 + round) % 31};
  sizes[1] = (tj_parameter_value){"N", 1 + (w->number + round * 5) % 29};
}

static bool launch(worker *w, tj_code *code, const tj_parameter_value sizes[2], bool is_passed, int32_t *src,
                   int32_t *dst) {
  tj_launch *one = NULL;
  size_t bytes = (size_t)(sizes[0].value * sizes[1].value) * sizeof *src;
  if (tj_launch_create(w->context, code, &one) != TJ_OK)
    return note(w, "creating the launch");
  bool done = true;
  for (int i = 0; is_passed && i < 2; i++)
    done = done && tj_launch_set_parameter(one, sizes[i].name, sizes[i].value) == TJ_OK;
  done = done && tj_launch_bind(one, "src", src, bytes) == TJ_OK && tj_launch_bind(one, "dst", dst, bytes) == TJ_OK &&
         tj_launch_run(one, w->device) == TJ_OK;
  tj_launch_destroy(one);
  return done || note(w, "launching");
}

static bool is_transposed(const int32_t *src, const int32_t *dst, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++) {
      if (dst[j * rows + i] != src[i * columns + j])
        return false;
    }
  }
  return true;
}

static bool run_code(worker *w, unsigned round, tj_code *code, const tj_parameter_value sizes[2], bool is_passed) {
  int32_t src[MOST_ELEMENTS], dst[MOST_ELEMENTS];
  for (int32_t i = 0; i < MOST_ELEMENTS; i++) {
    src[i] = (int32_t)(w->number << 24 ^ round << 12) ^ i;
    dst[i] = -1;
  }
  if (!launch(w, code, sizes, is_passed, src, dst))
    return false;
  return is_transposed(src, dst, sizes[0].value, sizes[1].value) || note(w, "a wrong result");
}

/* Compiles and launches: with the sizes fixed in even rounds, and passed at launch in odd ones. */
static bool run_round(worker *w, unsigned round) {
  tj_parameter_value sizes[2];
  choose_sizes(w, round, sizes);
  bool is_passed = round % 2 != 0;
  tj_program *program = NULL;
  tj_code *code = NULL;
  tj_compile_options options = {.kernel = "transposed", .target = tj_device_target(w->device)};
  if (tj_program_create(w->context, "threads", program_text, strlen(program_text), sizes, is_passed ? 0 : 2,
                        &program) != TJ_OK)
    return note(w, "the program");
  bool done = tj_code_compile(program, &options, &code) == TJ_OK || note(w, "compiling");
  tj_program_destroy(program);
  done = done && run_code(w, round, code, sizes, is_passed);
  tj_code_destroy(code);
  return done;
}

static void *run_worker(void *data) {
  worker *w = data;
  if (tj_context_create(NULL, &w->context) != TJ_OK) {
    snprintf(w->message, MESSAGE, "no context");
    return NULL;
  }
  tj_context_set_cache(w->context, w->cache);
  if (tj_device_open(w->context, devices[w->number % DEVICES], &w->device) != TJ_OK)
    note(w, "opening the device");
  for (unsigned round = 0; round < w->rounds && w->message[0] == '\0'; round++)
    run_round(w, round);
  tj_device_close(w->device);
  tj_context_destroy(w->context);
  return NULL;
}

/* --- all of them --- */

static unsigned chosen(const char *name, unsigned otherwise, unsigned most) {
  const char *text = getenv(name);
  unsigned long number = text != NULL ? strtoul(text, NULL, 10) : 0;
  return number == 0 ? otherwise : number > most ? most : (unsigned)number;
}

static tj_cache *memory_cache(void) {
  tj_cache *cache = NULL;
  const tj_cache_options options = {.memory_bytes = 1 << 20, .disk_bytes = TJ_CACHE_NONE};
  ck_assert_int_eq(tj_cache_create(NULL, &options, &cache), TJ_OK);
  return cache;
}

START_TEST(contexts_in_parallel) {
  static worker workers[MOST_THREADS];
  unsigned count = chosen("TILEJIT_TEST_THREADS", THREADS, MOST_THREADS);
  unsigned rounds = chosen("TILEJIT_TEST_ROUNDS", ROUNDS, 100000);
  tj_cache *cache = memory_cache();
  for (unsigned i = 0; i < count; i++) {
    workers[i] = (worker){.number = i, .rounds = rounds, .cache = i / DEVICES % 2 == 0 ? cache : NULL};
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
  }
  for (unsigned i = 0; i < count; i++)
    pthread_join(workers[i].thread, NULL);
  tj_cache_destroy(cache);
  for (unsigned i = 0; i < count; i++)
    ck_assert_str_eq(workers[i].message, "");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {contexts_in_parallel};
  return run_suite(suite_of("threads", tests, sizeof tests / sizeof tests[0]));
}
