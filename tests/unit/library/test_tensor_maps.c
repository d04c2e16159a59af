/* SPDX-License-Identifier: MIT */
/* Launches of kernels with tensor maps, on the stub of the CUDA driver: what a map is made of, in launches and in
 * recipes, from parameters and addresses; and that it is made before the kernel is launched. */
#include "tests/cuda/stub_cuda.h"
#include "tests/unit/support/library_support.h"

#include <dlfcn.h>
#include <stdio.h>

/* Rows of N halves, from the third on: the tensor begins 2 * N elements behind the argument's address. */
static const char program_text[] =
    "param M in 3..4096, N in 8..4096 multiple 8 "
    "kernel k(src: f16 @ transform(packed((M,N)), [slice(M,2,M), pass_through(N)], [[0],[1]], [[0],[1]]), "
    "dst: f16 @ (M-2,N):(1,M-2)) = copy(src, dst, mapping=mapping(tile=(32,64), "
    "store=((4,8),(8,8)):((8@0,8@1),(1@0,1@1)), lds=Sw<3,3,3> o 0 o (32,64):(64,1), dma=1))";

enum { ROWS = 100, COLUMNS = 776, OFFSET = 2 * COLUMNS * 2, BYTES = ROWS * COLUMNS * 2 };

static struct {
  void (*reset)(int devices, int capability);
  const char *(*calls)(void);
  const char *(*map)(void);
  void *(*map_address)(void);
  void (*fail_at)(const char *function, int number, int result);
} stub;

static void use_stub(void) {
  setenv("TILEJIT_CUDA_LIBRARY", TILEJIT_STUB_CUDA, 1);
  void *handle = dlopen(TILEJIT_STUB_CUDA, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(handle != NULL, "%s", dlerror());
  *(void **)&stub.reset = dlsym(handle, "stub_cuda_reset");
  *(void **)&stub.calls = dlsym(handle, "stub_cuda_calls");
  *(void **)&stub.map = dlsym(handle, "stub_cuda_map");
  *(void **)&stub.map_address = dlsym(handle, "stub_cuda_map_address");
  *(void **)&stub.fail_at = dlsym(handle, "stub_cuda_fail");
  stub.reset(1, 90);
}

typedef struct {
  tj_context *context;
  tj_device *device;
  tj_code *code;
  tj_launch *launch;
  tj_buffer *source, *destination;
} session;

static session open_session(void) {
  session s;
  use_stub();
  s.context = new_context(NULL);
  expect_ok(s.context, tj_device_open(s.context, "cuda:0", &s.device), "cuda:0");
  s.code = compile_for(s.context, s.device, program_text, NULL, 0);
  expect_ok(s.context, tj_launch_create(s.context, s.code, &s.launch), "k");
  expect_ok(s.context, tj_launch_set_parameter(s.launch, "M", ROWS), "M");
  expect_ok(s.context, tj_launch_set_parameter(s.launch, "N", COLUMNS), "N");
  expect_ok(s.context, tj_buffer_create(s.context, s.device, BYTES, &s.source), "src");
  expect_ok(s.context, tj_buffer_create(s.context, s.device, BYTES, &s.destination), "dst");
  return s;
}

static void bind(const session *s) {
  expect_ok(s->context, tj_launch_bind_buffer(s->launch, "src", s->source), "src");
  expect_ok(s->context, tj_launch_bind_buffer(s->launch, "dst", s->destination), "dst");
}

static void close_session(session *s) {
  tj_launch_destroy(s->launch);
  tj_buffer_destroy(s->source);
  tj_buffer_destroy(s->destination);
  tj_code_destroy(s->code);
  tj_device_close(s->device);
  tj_context_destroy(s->context);
}

/* The last of a recipe's words. */
static const tj_kernarg *map_word(const session *s) {
  const tj_recipe *recipe;
  expect_ok(s->context, tj_launch_prepare(s->launch, &recipe), "a recipe");
  const tj_kernarg *word = &recipe->word[recipe->word_count - 1];
  ck_assert_int_eq(word->kind, TJ_KERNARG_TENSOR_MAP);
  ck_assert_str_eq(word->name, "src");
  ck_assert_uint_eq(word->offset % TJ_TENSOR_MAP_ALIGNMENT, 0);
  ck_assert_uint_ge(word->offset, word[-1].offset + word[-1].bytes);
  ck_assert_uint_eq(word->offset + word->bytes, recipe->kernarg_bytes);
  ck_assert_int_eq(word->is_bound, 0);
  for (size_t i = 0; i + 1 < recipe->word_count; i++)
    ck_assert_ptr_null(recipe->word[i].map);
  return word;
}

START_TEST(launches_make_maps) {
  session s = open_session();
  bind(&s);
  const char *before = stub.calls();
  size_t length = strlen(before);
  expect_ok(s.context, tj_launch_run(s.launch, s.device), "k");
  const char *encoded = strstr(stub.calls() + length, "encode "),
             *launched = strstr(stub.calls() + length, "launch ");
  ck_assert_msg(encoded != NULL && launched != NULL && encoded < launched, "%s", stub.calls());
  ck_assert_str_eq(stub.map(), "1 (776,98):(1552) (64,32) (1,1) 0 3 0 0");
  const tj_kernarg *word = map_word(&s);
  ck_assert_uint_eq(word->map->address, (uintptr_t)stub.map_address());
  expect_ok(s.context, tj_launch_set_parameter(s.launch, "N", 8), "N");
  expect_ok(s.context, tj_launch_run(s.launch, s.device), "k");
  ck_assert_str_eq(stub.map(), "1 (8,98):(16) (64,32) (1,1) 0 3 0 0");
  close_session(&s);
}
END_TEST

START_TEST(recipes_tell_maps) {
  session s = open_session();
  const tj_kernarg *word = map_word(&s);
  ck_assert_uint_eq(word->map->address, OFFSET);
  ck_assert_uint_eq(word->map->element_bytes, 2);
  ck_assert_uint_eq(word->map->rank, 2);
  ck_assert_uint_eq(word->map->extent[0], COLUMNS);
  ck_assert_uint_eq(word->map->extent[1], ROWS - 2);
  ck_assert_uint_eq(word->map->stride[0], COLUMNS * 2);
  ck_assert_uint_eq(word->map->box[0], 64);
  ck_assert_uint_eq(word->map->box[1], 32);
  ck_assert_uint_eq(word->map->swizzle, 128);
  close_session(&s);
}
END_TEST

START_TEST(failures_to_make_maps_are_told) {
  enum { CUDA_CALL = 6021 };
  session s = open_session();
  bind(&s);
  stub.fail_at("encode", 1, 1);
  expect_code(s.context, tj_launch_run(s.launch, s.device), CUDA_CALL, "cuTensorMapEncodeTiled");
  expect_ok(s.context, tj_launch_run(s.launch, s.device), "k");
  close_session(&s);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {launches_make_maps, recipes_tell_maps, failures_to_make_maps_are_told};
  return run_suite(suite_of("tensor_maps", tests, sizeof tests / sizeof tests[0]));
}
