/* SPDX-License-Identifier: MIT */
/* Linking in process: what comes out is a code object, what goes wrong is said, nothing is left open, and threads may
 * link at once. */
#include "jit/compile/link.h"

#include "object/code_object.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/objects.h"
#include "tests/unit/support/processors.h"

#include <dirent.h>
#include <pthread.h>

static void link_each_processor(tj_job *job, void *data) {
  (void)data;
  for (size_t i = 0; i < SIMULATED_COUNT; i++) {
    tj_bytes linked = tj_link(job, make_amdgpu_object(job, kernels_ir, simulated[i]));
    const tj_code_object *object = tj_code_object_parse(job, linked);
    ck_assert_str_eq(object->processor->name, simulated[i]);
    ck_assert_uint_eq(object->kernel_count, 2);
  }
}

START_TEST(objects_become_code_objects) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, link_each_processor, NULL);
  tj_job_destroy(&job);
}
END_TEST

static void link_twice(tj_job *job, void *data) {
  (void)data;
  tj_bytes object = make_amdgpu_object(job, kernels_ir, "gfx942");
  tj_bytes first = tj_link(job, object), second = tj_link(job, object);
  ck_assert_uint_eq(first.size, second.size);
  ck_assert(memcmp(first.data, second.data, first.size) == 0);
}

START_TEST(linking_is_deterministic) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, link_twice, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* More than a pipe holds comes through whole. */
static void link_large(tj_job *job, void *data) {
  (void)data;
  tj_text ir = tj_text_begin(job);
  tj_text_string(&ir, kernels_ir);
  tj_text_string(&ir, "@large = protected addrspace(4) constant [262144 x i64] [");
  for (int i = 0; i < 262144; i++)
    tj_text_format(&ir, "%si64 %d", i == 0 ? "" : ",", i);
  tj_text_string(&ir, "]\n");
  tj_bytes linked = tj_link(job, make_amdgpu_object(job, ir.data, "gfx942"));
  ck_assert_uint_gt(linked.size, 2 << 20);
  const tj_code_object *object = tj_code_object_parse(job, linked);
  const tj_object_symbol *large = tj_code_object_symbol(object, "large");
  ck_assert_ptr_nonnull(large);
  tj_bytes words = tj_code_object_at(object, large->address);
  ck_assert_uint_ge(words.size, 262144 * 8);
  for (size_t i = 0; i < 262144; i++)
    ck_assert_uint_eq(tj_bytes_u64(words, i * 8), i);
}

START_TEST(large_outputs_come_whole) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, link_large, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* A kernel that refers to a variable that nobody defines, of either visibility. */
static const char *const undefined_irs[] = {
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@elsewhere = external hidden addrspace(1) global i32\n"
    "define amdgpu_kernel void @k() {\n  store i32 1, ptr addrspace(1) @elsewhere\n  ret void\n}\n",
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@elsewhere = external addrspace(1) global i32\n"
    "define amdgpu_kernel void @k() {\n  store i32 1, ptr addrspace(1) @elsewhere\n  ret void\n}\n",
};

static void link_undefined(tj_job *job, void *data) {
  tj_link(job, make_amdgpu_object(job, data, "gfx942"));
}

START_TEST(an_undefined_symbol_is_named) {
  for (size_t i = 0; i < 2; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_failure(&job, TJ_LINK, link_undefined, (void *)(uintptr_t)undefined_irs[i]);
    ck_assert_msg(strstr(job.problem.message, "elsewhere") != NULL, "%s", job.problem.message);
    ck_assert_msg(strchr(job.problem.message, '\n') == NULL, "%s", job.problem.message);
    tj_job_destroy(&job);
  }
}
END_TEST

static void link_bytes(tj_job *job, void *data) {
  tj_link(job, *(tj_bytes *)data);
}

static void link_host_object(tj_job *job, void *data) {
  (void)data;
  tj_link(job, make_host_object(job, "define void @f() { ret void }"));
}

static void link_linked(tj_job *job, void *data) {
  (void)data;
  tj_link(job, tj_link(job, make_amdgpu_object(job, kernels_ir, "gfx942")));
}

START_TEST(only_amdgpu_relocatables_reach_the_linker) {
  static const char *const texts[] = {"", "x", "INPUT(/etc/passwd)", "BC\xc0\xde then bitcode", "!<arch>\n"};
  tj_job job;
  tj_job_init(&job, NULL);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tj_bytes bytes = {texts[i], strlen(texts[i])};
    expect_failure(&job, TJ_LINK, link_bytes, &bytes);
  }
  expect_failure(&job, TJ_LINK, link_host_object, NULL);
  expect_failure(&job, TJ_LINK, link_linked, NULL);
  tj_job_destroy(&job);
}
END_TEST

static size_t count_open_files(void) {
  DIR *folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (readdir(folder) != NULL)
    count++;
  closedir(folder);
  return count;
}

/* An allocator that refuses from the Nth allocation on. */
typedef struct {
  int left;
} rationed;

static void *allocate_rationed(void *user, size_t size) {
  rationed *ration = user;
  return ration->left-- > 0 ? malloc(size) : NULL;
}

static void release_rationed(void *user, void *block) {
  (void)user;
  free(block);
}

START_TEST(nothing_stays_open_whatever_fails) {
  tj_job maker;
  tj_job_init(&maker, NULL);
  tj_bytes object = make_amdgpu_object(&maker, kernels_ir, "gfx942");
  size_t before = count_open_files();
  int failures = 0, ends_well = 0;
  for (int n = 0; n < 12 && !ends_well; n++) {
    rationed ration = {n};
    tj_allocator allocator = {allocate_rationed, release_rationed, &ration};
    tj_job job;
    tj_job_init(&job, &allocator);
    tj_status status = tj_job_run(&job, link_bytes, &object);
    ck_assert(status == TJ_OK || status == TJ_ERROR_MEMORY);
    ends_well = status == TJ_OK;
    failures += status != TJ_OK;
    tj_job_destroy(&job);
  }
  tj_job_run(&maker, link_undefined, (void *)(uintptr_t)undefined_irs[0]);
  ck_assert_int_ge(failures, 1);
  ck_assert(ends_well);
  ck_assert_uint_eq(count_open_files(), before);
  tj_job_destroy(&maker);
}
END_TEST

enum { THREADS = 4, LINKS_PER_THREAD = 25 };

typedef struct {
  tj_bytes object, expected;
  int right;
} thread_work;

static void link_and_compare(tj_job *job, void *data) {
  thread_work *work = data;
  tj_bytes linked = tj_link(job, work->object);
  work->right += linked.size == work->expected.size && memcmp(linked.data, work->expected.data, linked.size) == 0;
}

static void *link_in_thread(void *data) {
  for (int i = 0; i < LINKS_PER_THREAD; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    tj_job_run(&job, link_and_compare, data);
    tj_job_destroy(&job);
  }
  return NULL;
}

START_TEST(threads_link_at_once) {
  pthread_t thread[THREADS];
  thread_work work[THREADS];
  tj_job job;
  tj_job_init(&job, NULL);
  for (size_t i = 0; i < THREADS; i++) {
    tj_bytes object = make_amdgpu_object(&job, kernels_ir, simulated[i]);
    work[i] = (thread_work){object, tj_link(&job, object), 0};
  }
  for (size_t i = 0; i < THREADS; i++)
    ck_assert_int_eq(pthread_create(&thread[i], NULL, link_in_thread, &work[i]), 0);
  for (size_t i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    ck_assert_int_eq(work[i].right, LINKS_PER_THREAD);
  }
  tj_job_destroy(&job);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      objects_become_code_objects,
      linking_is_deterministic,
      large_outputs_come_whole,
      an_undefined_symbol_is_named,
      only_amdgpu_relocatables_reach_the_linker,
      nothing_stays_open_whatever_fails,
      threads_link_at_once,
  };
  return run_suite(suite_of("link", tests, sizeof tests / sizeof *tests));
}
