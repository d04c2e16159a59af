/* SPDX-License-Identifier: MIT */
/* Linking in process: what comes out is a code object, and what is loaded of it is what LLD makes; what goes wrong is
 * said, and threads may link at once. */
#include "jit/compile/link.h"

#include "object/code_object.h"
#include "object/elf.h"
#include "tests/unit/support/harness.h"
#include "tests/unit/support/lld_support.h"
#include "tests/unit/support/objects.h"
#include "tests/unit/support/processors.h"

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

START_TEST(large_constants_come_whole) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, link_large, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* --- beside LLD --- */

static const char small_kernel_ir[] =
    "define amdgpu_kernel void @k%u(ptr addrspace(1) %%p) {\n  store i32 %u, ptr addrspace(1) %%p\n  ret void\n}\n";

/* So many kernels that the tables of symbols have several buckets, and words of a filter. */
static const char *many_kernels_ir(tj_job *job, unsigned count) {
  tj_text ir = tj_text_begin(job);
  tj_text_string(&ir, "target triple = \"amdgcn-amd-amdhsa\"\n");
  for (unsigned i = 0; i < count; i++)
    tj_text_format(&ir, small_kernel_ir, i, i);
  return ir.data;
}

/* The end of what segments take out of the file. */
static size_t loaded_end(tj_job *job, tj_bytes linked) {
  const tj_elf *elf = tj_elf_read(job, linked, TJ_LINK);
  size_t end = 0;
  for (uint32_t i = 0; i < elf->segment_count; i++) {
    tj_bytes bytes = elf->segment[i].bytes;
    size_t last = bytes.size > 0 ? (size_t)((const char *)bytes.data - (const char *)linked.data) + bytes.size : 0;
    end = last > end ? last : end;
  }
  return end;
}

enum { FILE_HEADER = 64, SECTION_TABLE = 40, SECTION_COUNTS = 60 };

/* But for where the section headers are, and how many: the rest of the file is not loaded. */
static void compare_with_lld(tj_job *job, const char *ir, const char *processor) {
  tj_bytes object = make_amdgpu_object(job, ir, processor);
  tj_bytes ours = tj_link(job, object), theirs = link_with_lld(job, object);
  size_t end = loaded_end(job, theirs);
  const char *a = ours.data, *b = theirs.data;
  ck_assert_uint_eq(loaded_end(job, ours), end);
  ck_assert(memcmp(a, b, SECTION_TABLE) == 0);
  ck_assert(memcmp(a + SECTION_TABLE + 8, b + SECTION_TABLE + 8, SECTION_COUNTS - SECTION_TABLE - 8) == 0);
  ck_assert(memcmp(a + FILE_HEADER, b + FILE_HEADER, end - FILE_HEADER) == 0);
}

static void compare_all_with_lld(tj_job *job, void *data) {
  static const unsigned counts[] = {1, 2, 3, 4, 5, 8, 11, 43};
  (void)data;
  for (size_t i = 0; i < SIMULATED_COUNT; i++)
    compare_with_lld(job, kernels_ir, simulated[i]);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    compare_with_lld(job, many_kernels_ir(job, counts[i]), "gfx942");
}

START_TEST(what_is_loaded_is_what_lld_makes) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, compare_all_with_lld, NULL);
  tj_job_destroy(&job);
}
END_TEST

/* --- what is refused --- */

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

static const char writable_ir[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                                  "@there = protected addrspace(1) global i32 7\n"
                                  "define amdgpu_kernel void @k() {\n  ret void\n}\n";

static void link_writable(tj_job *job, void *data) {
  (void)data;
  tj_link(job, make_amdgpu_object(job, writable_ir, "gfx942"));
}

START_TEST(writable_data_is_refused) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_failure(&job, TJ_LINK, link_writable, NULL);
  ck_assert_str_eq(job.problem.message, "the object has writable data");
  tj_job_destroy(&job);
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
      objects_become_code_objects,  linking_is_deterministic,         large_constants_come_whole,
      an_undefined_symbol_is_named, writable_data_is_refused,         only_amdgpu_relocatables_reach_the_linker,
      threads_link_at_once,         what_is_loaded_is_what_lld_makes, /* the last one: left out without LLD */
  };
  return run_suite(suite_of("link", tests, sizeof tests / sizeof *tests - !HAS_LLD));
}
