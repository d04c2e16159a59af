/* SPDX-License-Identifier: MIT */
/* The host as a device: names, buffers, launches on all cores, from several threads, and what fails how. */
#include "rt/host_pool.h"
#include "tests/unit/support/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORKGROUP = 64 };

static tj_rt_device *open_host(void) {
  tj_rt_device *device;
  tj_rt_error error;
  ck_assert_int_eq(tj_rt_open("host", NULL, &device, &error), TJ_OK);
  return device;
}

/* --- names --- */

static const char *const unknown[] = {"", "hos", "hostess", "host:0", "host:", "gpu", "HOST"};

START_TEST(test_unknown_devices) {
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    tj_rt_device *device;
    tj_rt_error error;
    ck_assert_int_eq(tj_rt_open(unknown[i], NULL, &device, &error), TJ_ERROR_INPUT);
    ck_assert_int_eq(error.code, TJ_UNKNOWN_DEVICE);
    ck_assert_ptr_null(device);
    ck_assert_ptr_nonnull(strstr(error.text, unknown[i]));
  }
}
END_TEST

START_TEST(test_list) {
  tj_rt_info info[8];
  size_t count = tj_rt_list(info, 8);
  ck_assert_uint_ge(count, 1);
  ck_assert_str_eq(info[0].name, "host");
  ck_assert_str_eq(info[0].target, "host");
  ck_assert_uint_ge(info[0].parallelism, 1);
  ck_assert_uint_gt(info[0].memory, 0);
  ck_assert_uint_eq(tj_rt_list(NULL, 0), count);
}
END_TEST

/* --- buffers --- */

START_TEST(test_buffers) {
  tj_rt_device *device = open_host();
  tj_rt_buffer buffer, empty;
  tj_rt_error error;
  ck_assert_int_eq(tj_rt_allocate(device, 1000, &buffer, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_allocate(device, 0, &empty, &error), TJ_OK);
  ck_assert_uint_eq(buffer.address % 256, 0);
  char read[8] = {0};
  ck_assert_int_eq(tj_rt_write(device, &buffer, 992, (tj_bytes){"abcdefgh", 8}, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_read(device, &buffer, 993, read, 7, &error), TJ_OK);
  ck_assert_str_eq(read, "bcdefgh");
  ck_assert_int_eq(tj_rt_write(device, &buffer, 993, (tj_bytes){"abcdefgh", 8}, &error), TJ_ERROR_INPUT);
  ck_assert_int_eq(error.code, TJ_BUFFER_SIZE);
  ck_assert_int_eq(tj_rt_read(device, &buffer, SIZE_MAX, read, 2, &error), TJ_ERROR_INPUT);
  ck_assert_int_eq(tj_rt_read(device, &empty, 0, read, 1, &error), TJ_ERROR_INPUT);
  ck_assert_int_eq(tj_rt_read(device, &empty, 0, read, 0, &error), TJ_OK);
  tj_rt_release(device, &buffer);
  tj_rt_release(device, &buffer);
  tj_rt_release(device, &empty);
  tj_rt_close(device);
}
END_TEST

START_TEST(test_no_memory) {
  tj_rt_device *device = open_host();
  tj_rt_buffer buffer;
  tj_rt_error error;
  ck_assert_int_eq(tj_rt_allocate(device, SIZE_MAX - 8, &buffer, &error), TJ_ERROR_SYSTEM);
  ck_assert_int_eq(error.code, TJ_DEVICE_MEMORY);
  tj_rt_close(device);
}
END_TEST

/* An allocator that refuses from the Nth request on. */
typedef struct {
  int left;
} stingy;

static void *allocate_stingily(void *user, size_t size) {
  stingy *state = user;
  return state->left-- > 0 ? malloc(size) : NULL;
}

static void release_stingily(void *user, void *block) {
  (void)user;
  free(block);
}

/* Each allocation of opening a device and loading a kernel fails in turn, and nothing is lost. */
START_TEST(test_failing_allocations) {
  for (int allowed = 0; allowed < 2; allowed++) {
    stingy state = {allowed};
    tj_allocator allocator = {allocate_stingily, release_stingily, &state};
    tj_rt_device *device;
    tj_rt_error error;
    ck_assert_int_eq(tj_rt_open("host", &allocator, &device, &error), TJ_ERROR_MEMORY);
    ck_assert_int_eq(error.code, TJ_OUT_OF_MEMORY);
    ck_assert_ptr_null(device);
  }
}
END_TEST

/* --- launches --- */

typedef struct {
  uint64_t counts; /* address of one byte for each workgroup */
  uint64_t calls;  /* address of an atomic counter */
} arguments;

/* Counts each workgroup; any that runs twice, or not at all, shows. */
static void count_workgroups(const void *block, uint64_t begin, uint64_t end) {
  const arguments *given = block;
  unsigned char *counts = (unsigned char *)(uintptr_t)given->counts;
  for (uint64_t i = begin; i < end; i++)
    counts[i]++;
  atomic_fetch_add((atomic_uint *)(uintptr_t)given->calls, 1);
}

static tj_rt_kernel *load_counter(tj_rt_device *device) {
  tj_rt_code code = {.symbol = "count", .entry = count_workgroups, .argument_words = sizeof(arguments) / 8};
  tj_rt_kernel *kernel;
  tj_rt_error error;
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_OK);
  return kernel;
}

/* Launches `workgroups` and checks that each ran once; returns how many calls of the kernel that took. */
static unsigned check_launch(tj_rt_device *device, tj_rt_kernel *kernel, size_t workgroups) {
  unsigned char *counts = calloc(workgroups + 2, 1);
  atomic_uint calls = 0;
  arguments block = {(uint64_t)(uintptr_t)(counts + 1), (uint64_t)(uintptr_t)&calls};
  tj_rt_dispatch dispatch = {&block, workgroups, WORKGROUP, NULL};
  tj_rt_error error;
  ck_assert_int_eq(tj_rt_launch(device, kernel, &dispatch, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_wait(device, NULL, &error), TJ_OK);
  for (size_t i = 0; i < workgroups + 2; i++)
    ck_assert_uint_eq(counts[i], i > 0 && i <= workgroups);
  free(counts);
  return calls;
}

static const size_t launches[] = {0, 1, 3, 511, 512, 1000, 12345, 1000003};

/* Every workgroup runs exactly once. */
START_TEST(test_launches) {
  tj_rt_device *device = open_host();
  tj_rt_kernel *kernel = load_counter(device);
  for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++)
    ck_assert_uint_ge(check_launch(device, kernel, launches[i]), launches[i] > 0);
  tj_rt_unload(device, kernel);
  tj_rt_close(device);
}
END_TEST

/* Which threads ran workgroups that take a while: the caller, and others. */
typedef struct {
  pthread_t caller;
  atomic_uint by_caller, by_others;
} witness;

static void take_a_while(const void *block, uint64_t begin, uint64_t end) {
  witness *w = *(witness *const *)block;
  struct timespec pause = {0, 200000};
  for (uint64_t i = begin; i < end; i++) {
    nanosleep(&pause, NULL);
    atomic_fetch_add(pthread_equal(pthread_self(), w->caller) ? &w->by_caller : &w->by_others, 1);
  }
}

/* Workgroups that turn out to take long are shared out, however few work-items they have; by one thread, they are
 * not. */
static void check_sharing(const char *threads, bool is_shared) {
  setenv("TILEJIT_HOST_THREADS", threads, 1);
  tj_rt_device *device = open_host();
  tj_rt_code code = {.symbol = "take_a_while", .entry = take_a_while};
  tj_rt_kernel *kernel;
  tj_rt_error error;
  witness w = {.caller = pthread_self()};
  const void *block = &w;
  tj_rt_dispatch dispatch = {&block, 128, 1, NULL};
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_launch(device, kernel, &dispatch, &error), TJ_OK);
  ck_assert_uint_eq(w.by_caller + w.by_others, 128);
  ck_assert_int_eq(w.by_others > 0, is_shared && sysconf(_SC_NPROCESSORS_ONLN) > 1);
  tj_rt_unload(device, kernel);
  tj_rt_close(device);
  unsetenv("TILEJIT_HOST_THREADS");
}

START_TEST(test_sharing) {
  check_sharing("2", true);
  check_sharing("1", false);
}
END_TEST

static void *launch_often(void *data) {
  tj_rt_device *device = data;
  tj_rt_kernel *kernel = load_counter(device);
  for (size_t i = 0; i < 60; i++)
    check_launch(device, kernel, 100 * i);
  tj_rt_unload(device, kernel);
  return NULL;
}

/* Launches of several threads on one device. */
START_TEST(test_threads) {
  enum { THREADS = 4 };
  tj_rt_device *device = open_host();
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, launch_often, device), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
  tj_rt_close(device);
}
END_TEST

/* A pool of any number of threads, also far more than there are cores, used and ended at once. */
START_TEST(test_pools) {
  static const uint32_t sizes[] = {0, 1, 2, 3, 17};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    unsigned char counts[1000] = {0};
    atomic_uint calls = 0;
    arguments block = {(uint64_t)(uintptr_t)counts, (uint64_t)(uintptr_t)&calls};
    tj_host_pool *pool =
        tj_host_pool_create(sizes[i], (tj_allocator){allocate_stingily, release_stingily, &(stingy){1}});
    ck_assert_ptr_nonnull(pool);
    for (unsigned round = 1; round <= 20; round++) {
      tj_host_pool_run(pool, (tj_host_work){count_workgroups, &block, 1000, 0});
      for (size_t j = 0; j < 1000; j++)
        ck_assert_uint_eq(counts[j], round);
    }
    tj_host_pool_destroy(pool);
  }
}
END_TEST

static void spin(const void *block, uint64_t begin, uint64_t end) {
  (void)block;
  for (volatile uint64_t i = begin * 100000; i < end * 100000; i++)
    ;
}

/* The time of launches adds up until it is asked for. */
START_TEST(test_time) {
  tj_rt_device *device = open_host();
  tj_rt_code code = {.symbol = "spin", .entry = spin};
  tj_rt_kernel *kernel;
  tj_rt_error error;
  uint64_t nanoseconds;
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_OK);
  tj_rt_dispatch dispatch = {NULL, 4, WORKGROUP, NULL};
  ck_assert_int_eq(tj_rt_launch(device, kernel, &dispatch, &error), TJ_OK);
  ck_assert_int_eq(tj_rt_wait(device, &nanoseconds, &error), TJ_OK);
  ck_assert_uint_gt(nanoseconds, 0);
  ck_assert_int_eq(tj_rt_wait(device, &nanoseconds, &error), TJ_OK);
  ck_assert_uint_eq(nanoseconds, 0);
  tj_rt_unload(device, kernel);
  tj_rt_close(device);
}
END_TEST

/* Code for a GPU is refused. */
START_TEST(test_foreign_code) {
  tj_rt_device *device = open_host();
  tj_rt_code code = {.symbol = "k", .code_object = {"\177ELF", 4}};
  tj_rt_kernel *kernel;
  tj_rt_error error;
  ck_assert_int_eq(tj_rt_load(device, &code, &kernel, &error), TJ_ERROR_INPUT);
  ck_assert_int_eq(error.code, TJ_DEVICE_TARGET);
  ck_assert_ptr_null(kernel);
  tj_rt_unload(device, NULL);
  tj_rt_close(device);
  tj_rt_close(NULL);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      test_unknown_devices, test_list,    test_buffers, test_no_memory, test_failing_allocations, test_launches,
      test_sharing,         test_threads, test_pools,   test_time,      test_foreign_code,
  };
  return run_suite(suite_of("host", tests, sizeof tests / sizeof tests[0]));
}
