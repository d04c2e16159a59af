/* SPDX-License-Identifier: MIT */
/* Variants that wait: which are compiled for which launches, what they are found by later, and that whoever needs one
 * gets it or hears why not. The kernel turns a matrix around on the host, where it has five variants. */
#include "base/clock.h"
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/library_support.h"

#include <pthread.h>
#include <stdio.h>

enum { NO_DEVICE_MEMORY = 6010, OUT_OF_MEMORY = 7001, CANCELLED = 7007, MOST_EXTENT = 64, THREADS = 6 };

static const char text[] = "param M in 1..4096, N in 1..4096\n"
                           "kernel turned(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)\n";

/* --- one user --- */

typedef struct {
  tj_context *context;
  tj_cache *cache; /* NULL: none */
  tj_device *device;
  tj_code *code;
} session;

/* Compiles as far as nobody launches; false where something fails. */
static bool open_session(session *s, const char *path) {
  tj_cache_options options = {.directory = path, .memory_bytes = TJ_CACHE_NONE};
  *s = (session){0};
  if (tj_context_create(NULL, &s->context) != TJ_OK ||
      (path != NULL && tj_cache_create(NULL, &options, &s->cache) != TJ_OK))
    return false;
  tj_context_set_cache(s->context, s->cache);
  return tj_device_open(s->context, "host", &s->device) == TJ_OK &&
         tj_code_compile_text(s->context, "test", text, sizeof text - 1, NULL, 0,
                              &(tj_compile_options){.target = "host"}, &s->code) == TJ_OK;
}

static void close_session(session *s) {
  tj_code_destroy(s->code);
  tj_device_close(s->device);
  if (s->context != NULL)
    tj_context_destroy(s->context);
  tj_cache_destroy(s->cache);
}

static bool is_turned(const int32_t *src, const int32_t *dst, int64_t rows, int64_t columns) {
  for (int64_t at = 0; at < rows * columns; at++) {
    if (dst[at % columns * rows + at / columns] != src[at])
      return false;
  }
  return true;
}

/* How a launch went, and what it had compiled. */
typedef struct {
  tj_status status;
  bool is_right, has_compiled;
  char symbol[64];
} launched;

static launched launch_on(tj_context *context, tj_device *device, const tj_code *code, int64_t rows,
                          int64_t columns) {
  int32_t src[MOST_EXTENT * MOST_EXTENT], dst[MOST_EXTENT * MOST_EXTENT] = {0};
  size_t bytes = (size_t)(rows * columns) * sizeof *src;
  tj_launch *launch = NULL;
  const tj_recipe *recipe = NULL;
  launched l = {0};
  for (int i = 0; i < MOST_EXTENT * MOST_EXTENT; i++)
    src[i] = i;
  l.status = tj_launch_create(context, code, &launch);
  if (l.status == TJ_OK)
    l.status = tj_launch_set_parameter(launch, "M", rows);
  if (l.status == TJ_OK)
    l.status = tj_launch_set_parameter(launch, "N", columns);
  if (l.status == TJ_OK)
    l.status = tj_launch_prepare(launch, &recipe);
  if (l.status == TJ_OK)
    snprintf(l.symbol, sizeof l.symbol, "%s", recipe->symbol);
  if (l.status == TJ_OK)
    l.status = tj_launch_bind(launch, "src", src, bytes);
  if (l.status == TJ_OK)
    l.status = tj_launch_bind(launch, "dst", dst, bytes);
  if (l.status == TJ_OK)
    l.status = tj_launch_run(launch, device);
  if (l.status == TJ_OK)
    l.has_compiled = tj_launch_times(launch).codegen > 0;
  l.is_right = l.status == TJ_OK && is_turned(src, dst, rows, columns);
  tj_launch_destroy(launch);
  return l;
}

static launched launch(const session *s, int64_t rows, int64_t columns) {
  return launch_on(s->context, s->device, s->code, rows, columns);
}

static tj_cache_stats stats_of(const session *s) {
  return tj_cache_stats_of(s->cache);
}

/* --- what is compiled, and when --- */

static uint64_t sum_of(const tj_code_times *t) {
  return t->cache + t->plan + t->simplify + t->lower + t->passes + t->codegen + t->link + t->check + t->load;
}

/* A launch of two kernels, each of which is compiled by itself. */
START_TEST(times_are_of_all_kernels) {
  static const char split[] = "kernel k(x: f32 @ (1, 1000000):(1000000, 1), s: f32 @ (1, 1):(1, 1)) = { s = sum(x) }";
  tj_context *context = new_context(NULL);
  tj_device *device = open_device(context, "sim:gfx942");
  tj_code *code = compile_for(context, device, split, NULL, 0);
  tj_launch *launch;
  expect_ok(context, tj_launch_create(context, code, &launch), split);
  uint64_t begin = tj_nanoseconds();
  expect_ok(context, tj_launch_compile(launch), split);
  uint64_t taken = tj_nanoseconds() - begin;
  tj_code_times times = tj_launch_times(launch);
  ck_assert_uint_gt(sum_of(&times), taken / 4 * 3);
  ck_assert_uint_le(sum_of(&times), taken);
  expect_ok(context, tj_launch_compile(launch), split);
  times = tj_launch_times(launch);
  ck_assert_uint_eq(sum_of(&times), 0);
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
}
END_TEST

static const struct {
  int64_t rows, columns;
  const char *symbol;
  bool is_new;
} launches[] = {
    {16, 40, "tilejit_turned.blocks", true}, {17, 16, "tilejit_turned.blocks", false},
    {1, 64, "tilejit_turned", true},         {4, 4, "tilejit_turned.small", true},
    {1, 1, "tilejit_turned", false},         {64, 64, "tilejit_turned.blocks", false},
    {5, 40, "tilejit_turned.small", false},
};

enum { LAUNCHES = sizeof launches / sizeof launches[0], TAKEN = 3 };

static void check_launches(const session *s, bool compiles) {
  for (size_t i = 0; i < LAUNCHES; i++) {
    launched l = launch(s, launches[i].rows, launches[i].columns);
    ck_assert_msg(l.is_right, "launch %zu", i);
    ck_assert_str_eq(l.symbol, launches[i].symbol);
    ck_assert_msg(l.has_compiled == (compiles && launches[i].is_new), "launch %zu", i);
  }
}

START_TEST(launches_compile_what_they_take) {
  session s;
  make_folder();
  ck_assert(open_session(&s, folder));
  ck_assert_uint_eq(tj_code_times_of(s.code).codegen, 0);
  ck_assert_uint_gt(tj_code_times_of(s.code).lower, 0);
  check_launches(&s, true);
  ck_assert_uint_eq(stats_of(&s).part_misses, TAKEN);
  ck_assert_uint_eq(stats_of(&s).part_hits, 0);
  close_session(&s);
  remove_folder();
}
END_TEST

START_TEST(variants_are_found_on_disk) {
  session first, second;
  make_folder();
  ck_assert(open_session(&first, folder));
  check_launches(&first, true);
  ck_assert(open_session(&second, folder));
  ck_assert_int_eq(tj_code_origin_of(second.code), TJ_CODE_FROM_DISK);
  check_launches(&second, false);
  ck_assert_uint_eq(stats_of(&second).part_hits, TAKEN);
  ck_assert_uint_eq(stats_of(&second).part_misses, 0);
  close_session(&second);
  close_session(&first);
  remove_folder();
}
END_TEST

/* What does not load is compiled again, and so is what is gone. */
START_TEST(lost_variants_are_compiled_again) {
  session s;
  make_folder();
  ck_assert(open_session(&s, folder));
  check_launches(&s, true);
  close_session(&s);
  ck_assert_uint_eq(visit_files(".part", remove_file, NULL), TAKEN);
  ck_assert(open_session(&s, folder));
  check_launches(&s, true);
  close_session(&s);
  remove_folder();
}
END_TEST

START_TEST(without_a_cache_codes_keep_their_variants) {
  session s;
  ck_assert(open_session(&s, NULL));
  check_launches(&s, true);
  close_session(&s);
}
END_TEST

/* A launch that is told to compile leaves nothing for its run. */
START_TEST(launches_compile_ahead) {
  session s;
  tj_launch *ahead;
  ck_assert(open_session(&s, NULL));
  ck_assert_int_eq(tj_launch_create(s.context, s.code, &ahead), TJ_OK);
  expect_code(s.context, tj_launch_compile(ahead), 6007, "M");
  expect_ok(s.context, tj_launch_set_parameter(ahead, "M", 4), "M");
  expect_ok(s.context, tj_launch_set_parameter(ahead, "N", 4), "N");
  expect_ok(s.context, tj_launch_compile(ahead), "compiling");
  ck_assert_uint_gt(tj_launch_times(ahead).codegen, 0);
  expect_ok(s.context, tj_launch_compile(ahead), "compiling again");
  ck_assert_uint_eq(tj_launch_times(ahead).codegen, 0);
  tj_launch_destroy(ahead);
  ck_assert(!launch(&s, 4, 4).has_compiled);
  close_session(&s);
}
END_TEST

/* --- all of them --- */

static const char *const targets[] = {"gfx942", "gfx1100", "sm_90", "host"};

/* Others get the object that the compiler emits, before and after launches. */
START_TEST(bytes_have_all_variants) {
  const char *target = targets[_i];
  tj_context *context = new_context(NULL);
  tj_context_set_cache(context, NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_compile_options options = {.target = target};
  tj_emit form = strncmp(target, "gfx", 3) == 0 ? TJ_EMIT_HSACO : target[0] == 's' ? TJ_EMIT_PTX : TJ_EMIT_OBJECT;
  tj_code *code;
  tj_blob emitted;
  size_t size;
  expect_ok(context, tj_code_compile(program, &options, &code), target);
  expect_ok(context, tj_program_emit(program, &options, form, &emitted), target);
  const void *bytes = tj_code_bytes(code, &size);
  ck_assert_uint_eq(size, emitted.size);
  ck_assert_int_eq(memcmp(bytes, emitted.data, size), 0);
  ck_assert_ptr_eq(tj_code_bytes(code, &size), bytes);
  tj_blob_release(context, &emitted);
  tj_code_destroy(code);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

START_TEST(bytes_serve_launches) {
  session s;
  size_t size;
  ck_assert(open_session(&s, NULL));
  ck_assert(launch(&s, 4, 4).has_compiled);
  ck_assert_ptr_nonnull(tj_code_bytes(s.code, &size));
  check_launches(&s, false);
  close_session(&s);
}
END_TEST

/* --- what goes wrong --- */

static int refuse(void *user, const tj_progress *progress) {
  (void)progress;
  ++*(int *)user;
  return 1;
}

START_TEST(late_compilations_are_cancelled) {
  session s;
  int calls = 0;
  ck_assert(open_session(&s, NULL));
  tj_context_set_progress(s.context, refuse, &calls);
  launched l = launch(&s, 4, 4);
  expect_code(s.context, l.status, CANCELLED, "");
  ck_assert_int_gt(calls, 0);
  tj_context_set_progress(s.context, NULL, NULL);
  ck_assert(launch(&s, 4, 4).is_right);
  close_session(&s);
}
END_TEST

/* Each allocation of a launch that compiles fails in turn, then each of the object of all variants: what failed is
 * tried again, with the same code. */
START_TEST(late_compilations_run_out_of_memory) {
  meter m = {.left = -1};
  tj_allocator allocator = metered(&m);
  tj_context *context = new_context(&allocator);
  tj_context_set_cache(context, NULL);
  tj_device *device = open_device(context, "host");
  tj_code *code = compile_for(context, device, text, NULL, 0);
  size_t size = 0;
  long launched_after = 0, complete_after = 0;
  launched l;
  do {
    m.left = launched_after++;
    l = launch_on(context, device, code, 4, 4);
    if (l.status == TJ_OK)
      ck_assert(l.is_right);
    else
      ck_assert(failure_of(context, l.status) == OUT_OF_MEMORY || failure_of(context, l.status) == NO_DEVICE_MEMORY);
  } while (l.status != TJ_OK);
  do {
    m.left = complete_after++;
    ck_assert((tj_code_bytes(code, &size) == NULL) == (size == 0));
  } while (size == 0);
  m.left = -1;
  ck_assert_int_gt(launched_after, 5);
  ck_assert_int_gt(complete_after, 3);
  check_launches(&(session){.context = context, .device = device, .code = code}, false);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
  ck_assert_int_eq(m.live, 0);
}
END_TEST

/* --- several at once --- */

typedef struct {
  pthread_t thread;
  const session *shared;
  bool is_right;
} worker;

static void *run_worker(void *data) {
  worker *w = data;
  tj_context *context = NULL;
  w->is_right = tj_context_create(NULL, &context) == TJ_OK;
  for (size_t i = 0; w->is_right && i < LAUNCHES; i++) {
    launched l = launch_on(context, w->shared->device, w->shared->code, launches[i].rows, launches[i].columns);
    w->is_right = l.is_right;
  }
  tj_context_destroy(context);
  return NULL;
}

/* One code, many threads: each variant is compiled once. */
START_TEST(threads_share_variants) {
  session s;
  worker workers[THREADS];
  make_folder();
  ck_assert(open_session(&s, folder));
  for (int i = 0; i < THREADS; i++) {
    workers[i] = (worker){.shared = &s};
    ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(workers[i].thread, NULL);
    ck_assert_msg(workers[i].is_right, "thread %d", i);
  }
  check_launches(&s, false);
  close_session(&s);
  remove_folder();
}
END_TEST

int main(void) {
  unsetenv("TILEJIT_CACHE");
  Suite *suite = suite_create("variants");
  TCase *tcase = tcase_create("variants");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, launches_compile_what_they_take);
  tcase_add_test(tcase, variants_are_found_on_disk);
  tcase_add_test(tcase, lost_variants_are_compiled_again);
  tcase_add_test(tcase, without_a_cache_codes_keep_their_variants);
  tcase_add_test(tcase, launches_compile_ahead);
  tcase_add_test(tcase, times_are_of_all_kernels);
  tcase_add_loop_test(tcase, bytes_have_all_variants, 0, sizeof targets / sizeof targets[0]);
  tcase_add_test(tcase, bytes_serve_launches);
  tcase_add_test(tcase, late_compilations_are_cancelled);
  tcase_add_test(tcase, late_compilations_run_out_of_memory);
  tcase_add_test(tcase, threads_share_variants);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
