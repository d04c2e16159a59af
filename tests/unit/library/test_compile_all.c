/* SPDX-License-Identifier: MIT */
/* Several kernels of a program at once: the code of each is that of one compiled alone, all come or none, and what
 * goes wrong is told as if each had been asked for by itself. */
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/library_support.h"

#include <pthread.h>

enum { UNKNOWN_KERNEL = 4009, UNKNOWN_TARGET = 5001, NO_MEMORY = 7001, CANCELLED = 7007 };

static const char text[] = "param M in 1..4096, N in 1..4096\n"
                           "kernel turned(src: i32 @ (M,N):(N,1), dst: i32 @ (M,N):(1,M)) = copy(src, dst)\n"
                           "kernel flat(src: i32 @ (64,8):(1,64), dst: i32 @ (64,8):(1,64)) = copy(src, dst)\n"
                           "kernel numbers(dst: i32 @ packed((9,5))) = offsets(dst, packed((9,5)))\n";

static const tj_compile_options options[] = {
    {"turned", "gfx942"}, {"turned", "host"},    {"flat", "gfx942"}, {"numbers", "sm_90"},
    {"flat", "host"},     {"numbers", "gfx90a"}, {"flat", "sm_80"},  {"turned", "gfx1100"},
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static tj_emit form_of(const char *target) {
  return strncmp(target, "gfx", 3) == 0 ? TJ_EMIT_HSACO : target[0] == 's' ? TJ_EMIT_PTX : TJ_EMIT_OBJECT;
}

static void destroy(tj_code *codes[], size_t count) {
  for (size_t i = 0; i < count; i++)
    tj_code_destroy(codes[i]);
}

static void check_code(tj_program *program, tj_context *context, const tj_code *code, const tj_compile_options *as) {
  tj_blob emitted;
  size_t size;
  expect_ok(context, tj_program_emit(program, as, form_of(as->target), &emitted), as->kernel);
  const void *bytes = tj_code_bytes(code, &size);
  ck_assert_str_eq(tj_code_kernel(code), as->kernel);
  ck_assert_msg(size == emitted.size && memcmp(bytes, emitted.data, size) == 0, "%s for %s", as->kernel, as->target);
  tj_blob_release(context, &emitted);
}

START_TEST(all_are_as_alone) {
  tj_context *context = new_context(NULL);
  tj_context_set_cache(context, NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_code *codes[OPTIONS];
  expect_ok(context, tj_program_compile_all(program, options, OPTIONS, codes), "all");
  for (size_t i = 0; i < OPTIONS; i++)
    check_code(program, context, codes[i], &options[i]);
  destroy(codes, OPTIONS);
  expect_ok(context, tj_program_compile_all(program, options, 0, codes), "none");
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

START_TEST(launches_have_nothing_to_compile) {
  tj_context *context = new_context(NULL);
  tj_context_set_cache(context, NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_code *codes[OPTIONS];
  expect_ok(context, tj_program_compile_all(program, options, OPTIONS, codes), "all");
  for (size_t i = 0; i < OPTIONS; i++) {
    tj_launch *launch;
    ck_assert_int_eq(tj_launch_create(context, codes[i], &launch), TJ_OK);
    for (size_t p = 0; p < tj_code_parameter_count(codes[i]); p++)
      expect_ok(context, tj_launch_set_parameter(launch, tj_code_parameter(codes[i], p).name, 100), "a parameter");
    expect_ok(context, tj_launch_compile(launch), "compiling");
    ck_assert_uint_eq(tj_launch_times(launch).codegen, 0);
    tj_launch_destroy(launch);
  }
  destroy(codes, OPTIONS);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

/* The second time nothing is compiled, whichever way it is asked for. */
START_TEST(the_cache_has_all) {
  make_folder();
  tj_cache_options where = {.directory = folder, .memory_bytes = TJ_CACHE_NONE};
  tj_context *context = new_context(NULL);
  tj_cache *cache;
  tj_code *codes[OPTIONS];
  ck_assert_int_eq(tj_cache_create(NULL, &where, &cache), TJ_OK);
  tj_context_set_cache(context, cache);
  tj_program *program = new_program(context, text, NULL, 0);
  expect_ok(context, tj_program_compile_all(program, options, OPTIONS, codes), "all");
  destroy(codes, OPTIONS);
  tj_cache_stats before = tj_cache_stats_of(cache);
  expect_ok(context, tj_program_compile_all(program, options, OPTIONS, codes), "again");
  for (size_t i = 0; i < OPTIONS; i++)
    ck_assert_int_eq(tj_code_origin_of(codes[i]), TJ_CODE_FROM_DISK);
  destroy(codes, OPTIONS);
  tj_cache_stats after = tj_cache_stats_of(cache);
  ck_assert_uint_eq(after.part_misses, before.part_misses);
  ck_assert_uint_eq(after.misses, before.misses);
  tj_program_destroy(program);
  tj_cache_destroy(cache);
  tj_context_destroy(context);
  remove_folder();
}
END_TEST

static const struct {
  tj_compile_options options;
  unsigned code;
} failures[] = {
    {{"nothing", "gfx942"}, UNKNOWN_KERNEL},
    {{"flat", "gfx9999"}, UNKNOWN_TARGET},
};

/* Wherever it stands, what is wrong leaves no codes. */
START_TEST(one_failure_is_that_of_all) {
  tj_context *context = new_context(NULL);
  tj_context_set_cache(context, NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  for (size_t place = 0; place < 3; place++) {
    tj_compile_options wrong[] = {options[0], options[2], options[3]};
    tj_code *codes[3] = {NULL, NULL, NULL};
    wrong[place] = failures[_i].options;
    expect_code(context, tj_program_compile_all(program, wrong, 3, codes), failures[_i].code, "");
    ck_assert(codes[0] == NULL && codes[1] == NULL && codes[2] == NULL);
  }
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

/* --- progress --- */

typedef struct {
  uint64_t calls, most, last;
} listener;

static int listen(void *user, const tj_progress *progress) {
  listener *l = user;
  if (strcmp(progress->what, "kernels compiled") != 0)
    return 0;
  ck_assert_uint_eq(progress->total, OPTIONS);
  ck_assert_uint_ge(progress->done, l->last);
  l->last = progress->done;
  return ++l->calls > l->most;
}

START_TEST(all_are_told_of_and_cancelled) {
  tj_context *context = new_context(NULL);
  tj_context_set_cache(context, NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_code *codes[OPTIONS];
  listener patient = {.most = UINT64_MAX}, impatient = {.most = 0};
  tj_context_set_progress(context, listen, &impatient);
  expect_code(context, tj_program_compile_all(program, options, OPTIONS, codes), CANCELLED, "");
  tj_context_set_progress(context, listen, &patient);
  expect_ok(context, tj_program_compile_all(program, options, OPTIONS, codes), "all");
  ck_assert_uint_gt(patient.calls, 0);
  destroy(codes, OPTIONS);
  tj_program_destroy(program);
  tj_context_destroy(context);
}
END_TEST

/* --- memory --- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *allocate_in_turn(void *user, size_t size) {
  pthread_mutex_lock(&turn);
  void *block = metered_allocate(user, size);
  pthread_mutex_unlock(&turn);
  return block;
}

static void release_in_turn(void *user, void *block) {
  pthread_mutex_lock(&turn);
  metered_release(user, block);
  pthread_mutex_unlock(&turn);
}

/* Memory ends after ever more allocations, on whichever thread that is. */
START_TEST(memory_runs_out) {
  enum { AT_ONCE = 3, STEP = 7 };
  meter m = {.left = -1};
  tj_allocator allocator = {allocate_in_turn, release_in_turn, &m};
  tj_context *context = new_context(&allocator);
  tj_context_set_cache(context, NULL);
  tj_program *program = new_program(context, text, NULL, 0);
  tj_code *codes[AT_ONCE];
  tj_status status;
  long allowed = 0;
  do {
    m.left = allowed;
    status = tj_program_compile_all(program, options + 1, AT_ONCE, codes);
    allowed += STEP;
    m.left = -1;
    ck_assert(status == TJ_OK || failure_of(context, status) == NO_MEMORY);
  } while (status != TJ_OK);
  ck_assert_int_gt(allowed, 2 * STEP);
  destroy(codes, AT_ONCE);
  tj_program_destroy(program);
  tj_context_destroy(context);
  ck_assert_int_eq(m.live, 0);
}
END_TEST

int main(void) {
  unsetenv("TILEJIT_CACHE");
  Suite *suite = suite_create("compile_all");
  TCase *tcase = tcase_create("compile_all");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, all_are_as_alone);
  tcase_add_test(tcase, launches_have_nothing_to_compile);
  tcase_add_test(tcase, the_cache_has_all);
  tcase_add_loop_test(tcase, one_failure_is_that_of_all, 0, sizeof failures / sizeof failures[0]);
  tcase_add_test(tcase, all_are_told_of_and_cancelled);
  tcase_add_test(tcase, memory_runs_out);
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
