/* SPDX-License-Identifier: MIT */
/* Which libraries a process opens that runs what another has compiled: none that compile. */
#include "tests/unit/support/folder_support.h"
#include "tests/unit/support/harness.h"
#include "tilejit/tilejit.h"

#include <sys/wait.h>

static const char text[] = "param M in 1..64\nkernel k(dst: i32 @ (M):(1)) = offsets(dst, (M):(3))";
static const char same_kernel[] = "param M in 1..64\nlet L = (M):(3) kernel k(dst: i32 @ (M):(1)) = offsets(dst, L)";

/* Whether a file whose name begins so is in this process. */
static bool is_open(const char *library) {
  char line[PATH_SIZE + 200];
  bool is_found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(maps);
  while (fgets(line, sizeof line, maps) != NULL)
    is_found |= strstr(line, library) != NULL;
  fclose(maps);
  return is_found;
}

static tj_context *open_context(tj_cache **cache) {
  tj_context *context;
  ck_assert_int_eq(tj_context_create(NULL, &context), TJ_OK);
  ck_assert_int_eq(tj_cache_create(NULL, &(tj_cache_options){.directory = folder}, cache), TJ_OK);
  tj_context_set_cache(context, *cache);
  return context;
}

static tj_code *compile(tj_context *context, const char *program, const char *target, tj_code_origin origin) {
  tj_code *code;
  tj_compile_options options = {"k", target};
  ck_assert_int_eq(tj_code_compile_text(context, "k", program, strlen(program), NULL, 0, &options, &code), TJ_OK);
  ck_assert_int_eq(tj_code_origin_of(code), origin);
  return code;
}

static void compile_all(void) {
  tj_cache *cache;
  tj_context *context = open_context(&cache);
  tj_code_destroy(compile(context, text, "host", TJ_CODE_COMPILED));
  tj_code_destroy(compile(context, text, "gfx942", TJ_CODE_COMPILED));
  ck_assert(is_open("libLLVM"));
  tj_context_destroy(context);
  tj_cache_destroy(cache);
}

static void run(tj_context *context, const tj_code *code) {
  enum { COUNT = 7 };
  int32_t stored[COUNT] = {0};
  tj_device *device;
  tj_launch *launch;
  ck_assert_int_eq(tj_device_open(context, "host", &device), TJ_OK);
  ck_assert_int_eq(tj_launch_create(context, code, &launch), TJ_OK);
  ck_assert_int_eq(tj_launch_set_parameter(launch, "M", COUNT), TJ_OK);
  ck_assert_int_eq(tj_launch_bind(launch, "dst", stored, sizeof stored), TJ_OK);
  ck_assert_int_eq(tj_launch_run(launch, device), TJ_OK);
  for (int i = 0; i < COUNT; i++)
    ck_assert_int_eq(stored[i], 3 * i);
  tj_launch_destroy(launch);
  tj_device_close(device);
}

/* In a process of its own, so that this one begins without LLVM. */
static void compile_elsewhere(void) {
  pid_t child = fork();
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    compile_all();
    _exit(0);
  }
  int status;
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}

START_TEST(what_is_cached_runs_without_a_compiler) {
  make_folder();
  compile_elsewhere();
  tj_cache *cache;
  tj_context *context = open_context(&cache);
  tj_code *host = compile(context, text, "host", TJ_CODE_FROM_DISK);
  tj_code *same = compile(context, same_kernel, "host", TJ_CODE_FROM_KERNEL);
  tj_code *gpu = compile(context, text, "gfx942", TJ_CODE_FROM_DISK);
  run(context, host);
  run(context, same);
  ck_assert(!is_open("libLLVM"));
  ck_assert(!is_open("libz3"));
  tj_code_destroy(host);
  tj_code_destroy(same);
  tj_code_destroy(gpu);
  tj_code_destroy(compile(context, same_kernel, "gfx90a", TJ_CODE_COMPILED));
  ck_assert(is_open("libLLVM"));
  tj_context_destroy(context);
  tj_cache_destroy(cache);
  remove_folder();
}
END_TEST

int main(void) {
  unsetenv("TILEJIT_CACHE");
  const TTest *tests[] = {what_is_cached_runs_without_a_compiler};
  return run_suite(suite_of("opened", tests, sizeof tests / sizeof *tests));
}
