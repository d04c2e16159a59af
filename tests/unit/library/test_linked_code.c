/* SPDX-License-Identifier: MIT */
/* What the driver of an NVIDIA GPU makes of PTX, in the cache: made once for all contexts and processes that share a
 * folder, and never trusted where it is damaged. The driver is the stub of tests/cuda. */
#include "tests/cuda/stub_cuda.h"
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/library_support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { COUNT = 32 };

static const char program_text[] = "kernel add(src: i32 @ 32:1, dst: i32 @ 32:1) = copy(src, dst)";

static struct {
  void (*reset)(int devices, int capability);
  const char *(*calls)(void);
} stub;

static void use_stub(void) {
  unsetenv("TILEJIT_CACHE");
  setenv("TILEJIT_CUDA_LIBRARY", TILEJIT_STUB_CUDA, 1);
  void *handle = dlopen(TILEJIT_STUB_CUDA, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(handle != NULL, "%s", dlerror());
  *(void **)&stub.reset = dlsym(handle, "stub_cuda_reset");
  *(void **)&stub.calls = dlsym(handle, "stub_cuda_calls");
  stub.reset(1, 90);
}

typedef struct {
  bool is_linked;
  uint64_t damaged; /* entries removed */
} outcome;

/* Compiles and launches as a process of its own would: with a context and a cache in memory of its own. The directory
 * "" is none. */
static outcome run_in(const char *directory) {
  tj_context *context;
  tj_cache *cache;
  tj_device *device;
  tj_launch *launch;
  int32_t source[COUNT] = {0}, destination[COUNT];
  use_stub();
  ck_assert_int_eq(tj_context_create(NULL, &context), TJ_OK);
  ck_assert_int_eq(tj_cache_create(NULL, &(tj_cache_options){.directory = directory}, &cache), TJ_OK);
  tj_context_set_cache(context, cache);
  expect_ok(context, tj_device_open(context, "cuda:0", &device), "cuda:0");
  tj_code *code = compile_for(context, device, program_text, NULL, 0);
  expect_ok(context, tj_launch_create(context, code, &launch), "add");
  expect_ok(context, tj_launch_bind(launch, "src", source, sizeof source), "add");
  expect_ok(context, tj_launch_bind(launch, "dst", destination, sizeof destination), "add");
  expect_ok(context, tj_launch_run(launch, device), "add");
  outcome found = {strstr(stub.calls(), "link ") != NULL, tj_cache_stats_of(cache).damaged};
  tj_launch_destroy(launch);
  tj_code_destroy(code);
  tj_device_close(device);
  tj_context_destroy(context);
  tj_cache_destroy(cache);
  return found;
}

static void check_mode(const char *path, void *data) {
  struct stat status;
  ck_assert_int_eq(stat(path, &status), 0);
  ck_assert_int_eq(status.st_mode & 0777, 0600);
  *(off_t *)data = status.st_size;
}

static void change_byte(const char *path, void *data) {
  char byte;
  int file = open(path, O_RDWR);
  ck_assert_int_eq(pread(file, &byte, 1, *(const off_t *)data), 1);
  byte ^= 1;
  ck_assert_int_eq(pwrite(file, &byte, 1, *(const off_t *)data), 1);
  close(file);
}

START_TEST(a_driver_links_once) {
  make_folder();
  ck_assert(run_in(folder).is_linked);
  off_t size = 0;
  ck_assert_uint_eq(visit_files(".linked", check_mode, &size), 1);
  ck_assert(!run_in(folder).is_linked);
  for (off_t at = 0; at < size; at += size / 13) {
    ck_assert_uint_eq(visit_files(".linked", change_byte, &at), 1);
    outcome found = run_in(folder);
    ck_assert_msg(found.is_linked && found.damaged == 1, "byte %lld", (long long)at);
    ck_assert(!run_in(folder).is_linked);
  }
  remove_folder();
}
END_TEST

START_TEST(without_a_folder_each_process_links) {
  ck_assert(run_in("").is_linked);
  ck_assert(run_in("").is_linked);
}
END_TEST

/* What is cleared is made anew, and clearing leaves nothing. */
START_TEST(caches_are_cleared_of_it) {
  make_folder();
  run_in(folder);
  tj_cache *cache;
  ck_assert_int_eq(tj_cache_create(NULL, &(tj_cache_options){.directory = folder}, &cache), TJ_OK);
  size_t entries = visit_files("", NULL, NULL) - visit_files(".written", NULL, NULL);
  ck_assert_uint_eq(tj_cache_stats_of(cache).disk_entries, entries);
  ck_assert_int_eq(tj_cache_clear(cache), TJ_OK);
  tj_cache_destroy(cache);
  ck_assert_uint_eq(visit_files(".linked", NULL, NULL), 0);
  ck_assert(run_in(folder).is_linked);
  remove_folder();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_driver_links_once, without_a_folder_each_process_links, caches_are_cleared_of_it};
  return run_suite(suite_of("linked_code", tests, sizeof tests / sizeof tests[0]));
}
