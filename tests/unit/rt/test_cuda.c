/* SPDX-License-Identifier: MIT */
/* Devices cuda:N against a stub of the driver (tests/cuda/stub_cuda.h): what is asked of it and in which order, that
 * everything is given back, and what is told of each failure. */
#include "base/machine/argument_block.h"
#include "rt/device.h"
#include "tests/cuda/stub_cuda.h"
#include "tests/unit/support/suite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 64, BLOCK = 32 };

/* The stub's functions for tests; it stays in the process, as drivers do. */
static struct {
  void (*reset)(int devices, int capability);
  void (*fail_at)(const char *function, int number, int result);
  stub_cuda_objects (*count)(void);
  const char *(*calls)(void);
  void (*set_version)(int version);
  int (*place)(void);
  void *(*stream)(void);
  void *(*map_address)(void);
  const char *(*map)(void);
  size_t (*dynamic_bytes)(void);
  size_t (*most_dynamic_bytes)(void);
  int (*retain)(void **context, int device); /* what an application calls */
  int (*release)(int device);
  int (*push)(void *context);
  int (*pop)(void **context);
} stub;

static void *symbol(void *handle, const char *name) {
  void *found = dlsym(handle, name);
  ck_assert_msg(found != NULL, "%s", name);
  return found;
}

static void use_stub(int devices, int capability) {
  setenv("TILEJIT_CUDA_LIBRARY", TILEJIT_STUB_CUDA, 1);
  void *handle = dlopen(TILEJIT_STUB_CUDA, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg(handle != NULL, "%s", dlerror());
  *(void **)&stub.reset = symbol(handle, "stub_cuda_reset");
  *(void **)&stub.fail_at = symbol(handle, "stub_cuda_fail");
  *(void **)&stub.count = symbol(handle, "stub_cuda_count");
  *(void **)&stub.calls = symbol(handle, "stub_cuda_calls");
  *(void **)&stub.place = symbol(handle, "stub_cuda_place");
  *(void **)&stub.map_address = symbol(handle, "stub_cuda_map_address");
  *(void **)&stub.map = symbol(handle, "stub_cuda_map");
  *(void **)&stub.stream = symbol(handle, "stub_cuda_stream");
  *(void **)&stub.retain = symbol(handle, "cuDevicePrimaryCtxRetain");
  *(void **)&stub.release = symbol(handle, "cuDevicePrimaryCtxRelease_v2");
  *(void **)&stub.push = symbol(handle, "cuCtxPushCurrent_v2");
  *(void **)&stub.pop = symbol(handle, "cuCtxPopCurrent_v2");
  *(void **)&stub.set_version = symbol(handle, "stub_cuda_set_version");
  *(void **)&stub.dynamic_bytes = symbol(handle, "stub_cuda_dynamic_bytes");
  *(void **)&stub.most_dynamic_bytes = symbol(handle, "stub_cuda_most_dynamic_bytes");
  stub.reset(devices, capability);
}

typedef struct {
  tj_rt_device *device;
  tj_rt_error error;
  tj_rt_buffer buffer;
  tj_rt_kernel *kernel;
} session;

static void expect(session *s, tj_status status) {
  ck_assert_msg(status == TJ_OK, "TJ%04d: %s", (int)s->error.code, s->error.text);
}

static void expect_failure(session *s, tj_status status, tj_problem_code code, const char *text) {
  ck_assert_int_ne(status, TJ_OK);
  ck_assert_msg(s->error.code == code && strstr(s->error.text, text) != NULL, "TJ%04d: %s", (int)s->error.code,
                s->error.text);
}

static tj_rt_code code_of(const char *text, const char *name, uint32_t lds_bytes) {
  return (tj_rt_code){
      .symbol = name, .code_object = {text, strlen(text)}, .argument_words = 2, .lds_bytes = lds_bytes};
}

static void load(session *s, const char *text, const char *name, uint32_t lds_bytes, tj_rt_kernel **kernel) {
  tj_rt_code code = code_of(text, name, lds_bytes);
  expect(s, tj_rt_load(s->device, &code, kernel, &s->error));
}

static const char kernels[] = "add fault";

/* A device with a buffer of zeros and the kernel of that name. */
static session open_session(const char *name) {
  session s = {0};
  uint32_t zeros[ELEMENTS] = {0};
  use_stub(1, 90);
  expect(&s, tj_rt_open("cuda:0", NULL, &s.device, &s.error));
  expect(&s, tj_rt_allocate(s.device, sizeof zeros, &s.buffer, &s.error));
  expect(&s, tj_rt_write(s.device, &s.buffer, 0, (tj_bytes){zeros, sizeof zeros}, &s.error));
  load(&s, kernels, name, 0, &s.kernel);
  return s;
}

/* Everything is given back, whatever happened. */
static void close_session(session *s) {
  tj_rt_unload(s->device, s->kernel);
  tj_rt_release(s->device, &s->buffer);
  tj_rt_close(s->device);
  stub_cuda_objects left = stub.count(), none = {0};
  ck_assert_int_eq(memcmp(&left, &none, sizeof left), 0);
}

static tj_status start(session *s, tj_rt_kernel *kernel, uint64_t amount, tj_rt_completion *completion) {
  uint64_t arguments[] = {s->buffer.address, amount};
  tj_rt_dispatch dispatch = {arguments, ELEMENTS / BLOCK, BLOCK, completion};
  return tj_rt_launch(s->device, kernel, &dispatch, &s->error);
}

static void expect_elements(session *s, uint32_t value) {
  uint32_t found[ELEMENTS];
  expect(s, tj_rt_read(s->device, &s->buffer, 0, found, sizeof found, &s->error));
  for (int i = 0; i < ELEMENTS; i++)
    ck_assert_uint_eq(found[i], value);
}

/* --- what happens --- */

START_TEST(devices_are_described) {
  use_stub(2, 90);
  tj_rt_info info[16];
  size_t count = tj_rt_list(info, 16), first = count;
  for (size_t i = count; i-- > 0;)
    first = strcmp(info[i].name, "cuda:0") == 0 ? i : first;
  ck_assert_uint_eq(first + 2, count);
  ck_assert_str_eq(info[first + 1].name, "cuda:1");
  ck_assert_str_eq(info[first].target, "sm_90");
  ck_assert_str_eq(info[first].description, "Stub 10");
  ck_assert_str_eq(info[first].bus, "0000:0a:00.0");
  ck_assert_str_eq(info[first].uuid, "GPU-0a0b0c0d-0e0f-1011-1213-141516171819");
  ck_assert_uint_eq(info[first].parallelism, 132);
  ck_assert_uint_eq(info[first].memory, (uint64_t)80 << 30);
}
END_TEST

/* The latest processor that is known and not later than the device's. */
START_TEST(later_devices_run_code_of_earlier_ones) {
  static const struct {
    int capability;
    const char *target;
  } rows[] = {{80, "sm_80"}, {86, "sm_86"}, {92, "sm_90"}, {121, "sm_121"}, {130, "sm_121"}, {50, "sm_50"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    tj_rt_device *device;
    tj_rt_error error;
    use_stub(1, rows[i].capability);
    ck_assert_int_eq(tj_rt_open("cuda:0", NULL, &device, &error), TJ_OK);
    ck_assert_str_eq(device->info.target, rows[i].target);
    tj_rt_close(device);
  }
}
END_TEST

START_TEST(launches_run_in_order) {
  session s = open_session("add");
  tj_rt_completion first, second;
  expect(&s, start(&s, s.kernel, 3, &first));
  ck_assert(!tj_rt_is_done(s.device, &first));
  expect(&s, start(&s, s.kernel, 4, &second));
  expect(&s, tj_rt_finish(s.device, &second, &s.error));
  ck_assert(first.is_done && second.is_done);
  ck_assert_uint_eq(second.nanoseconds, 2000000);
  expect_elements(&s, 7);
  uint64_t nanoseconds;
  expect(&s, tj_rt_wait(s.device, &nanoseconds, &s.error));
  ck_assert_uint_eq(nanoseconds, 4000000);
  ck_assert_str_eq(stub.calls(),
                   "init count stream allocate copy synchronize link add-data complete load find launch launch "
                   "copy synchronize ");
  close_session(&s);
}
END_TEST

/* More than there are slots. */
START_TEST(launches_wait_for_slots) {
  enum { LAUNCHES = 200 };
  session s = open_session("add");
  static tj_rt_completion completion[LAUNCHES];
  for (int i = 0; i < LAUNCHES; i++)
    expect(&s, start(&s, s.kernel, 1, &completion[i]));
  for (int i = 0; i < LAUNCHES; i++)
    expect(&s, tj_rt_finish(s.device, &completion[i], &s.error));
  expect_elements(&s, LAUNCHES);
  close_session(&s);
}
END_TEST

START_TEST(copies_keep_the_order) {
  session s = open_session("add");
  uint32_t found[ELEMENTS] = {0};
  tj_rt_completion copied;
  tj_rt_copy copy = {found, (const void *)(uintptr_t)s.buffer.address, sizeof found, &copied};
  expect(&s, start(&s, s.kernel, 5, NULL));
  expect(&s, tj_rt_copy_memory(s.device, &copy, &s.error));
  expect(&s, start(&s, s.kernel, 1, NULL));
  expect(&s, tj_rt_finish(s.device, &copied, &s.error));
  ck_assert_uint_eq(found[ELEMENTS - 1], 5);
  expect_elements(&s, 6);
  close_session(&s);
}
END_TEST

START_TEST(kernels_share_a_module) {
  session s = open_session("add");
  tj_rt_kernel *again, *other;
  load(&s, kernels, "add", 0, &again);
  load(&s, kernels, "fault", 0, &other);
  ck_assert_int_eq(stub.count().modules, 1);
  tj_rt_unload(s.device, again);
  tj_rt_unload(s.device, other);
  ck_assert_int_eq(stub.count().modules, 1);
  close_session(&s);
}
END_TEST

/* What a workgroup has of shared memory, what the code lays out itself, what a launch gives. */
START_TEST(shared_memory_beyond_what_code_lays_out_is_given) {
  static const struct {
    const char *text;
    uint32_t bytes;
    size_t given;
  } rows[] = {{"add shared 4096", 4096, 0},
              {"add shared 0", 0, 0},
              {"add", 65536, 65536},
              {"add shared 1024", 200 * 1024, 199 * 1024}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    session s = open_session("add");
    tj_rt_kernel *kernel;
    load(&s, rows[i].text, "add", rows[i].bytes, &kernel);
    expect(&s, start(&s, kernel, 1, NULL));
    ck_assert_uint_eq(stub.dynamic_bytes(), rows[i].given);
    ck_assert_uint_eq(stub.most_dynamic_bytes(), rows[i].given);
    expect_elements(&s, 1);
    tj_rt_unload(s.device, kernel);
    close_session(&s);
  }
}
END_TEST

/* Each device has its memory, its code and its launches, whichever was asked last. */
/* Types are those of unsigned integers. */
static const struct {
  uint32_t element_bytes, rank, swizzle;
  const char *made;
} maps[] = {
    {1, 1, 0, "0 (100):() (16) (1) 0 0 0 0"},
    {2, 2, 32, "1 (100,101):(4096) (16,17) (1,1) 0 1 0 0"},
    {4, 3, 64, "2 (100,101,102):(4096,8192) (16,17,18) (1,1,1) 0 2 0 0"},
    {8, 5, 128, "4 (100,101,102,103,104):(4096,8192,12288,16384) (16,17,18,19,20) (1,1,1,1,1) 0 3 0 0"},
};

static tj_tensor_map map_of(size_t row, uint64_t address) {
  tj_tensor_map map = {.element_bytes = maps[row].element_bytes,
                       .rank = maps[row].rank,
                       .address = address,
                       .swizzle = maps[row].swizzle};
  for (uint32_t d = 0; d < map.rank; d++) {
    map.extent[d] = 100 + d;
    map.stride[d] = 4096 * (uint64_t)(d + 1);
    map.box[d] = 16 + d;
    map.element_stride[d] = 1;
  }
  return map;
}

START_TEST(tensor_maps_are_made) {
  session s = open_session("add");
  _Alignas(TJ_TENSOR_MAP_ALIGNMENT) uint8_t encoded[TJ_TENSOR_MAP_BYTES];
  for (size_t row = 0; row < sizeof maps / sizeof *maps; row++) {
    tj_tensor_map map = map_of(row, s.buffer.address);
    expect(&s, tj_rt_encode_map(s.device, &map, encoded, &s.error));
    ck_assert_str_eq(stub.map(), maps[row].made);
    ck_assert_ptr_eq(stub.map_address(), (void *)(uintptr_t)s.buffer.address);
  }
  tj_tensor_map map = map_of(0, s.buffer.address);
  stub.fail_at("encode", 1, 1);
  expect_failure(&s, tj_rt_encode_map(s.device, &map, encoded, &s.error), TJ_CUDA_CALL, "the stub was told to");
  map.element_bytes = 16;
  expect_failure(&s, tj_rt_encode_map(s.device, &map, encoded, &s.error), TJ_DEVICE_TARGET, "16 bytes");
  close_session(&s);
}
END_TEST

START_TEST(other_devices_take_no_tensor_maps) {
  session s = {0};
  _Alignas(TJ_TENSOR_MAP_ALIGNMENT) uint8_t encoded[TJ_TENSOR_MAP_BYTES];
  const tj_tensor_map map = map_of(0, 4096);
  expect(&s, tj_rt_open("host", NULL, &s.device, &s.error));
  expect_failure(&s, tj_rt_encode_map(s.device, &map, encoded, &s.error), TJ_DEVICE_TARGET,
                 "kernels of host take no tensor maps");
  tj_rt_close(s.device);
}
END_TEST

/* A map is a parameter behind the words, wherever in the block it lies. */
START_TEST(launches_pass_tensor_maps) {
  session s = open_session("add");
  tj_rt_kernel *kernel;
  tj_rt_code code = code_of("add bring bring_param_2[128]", "bring", 0);
  _Alignas(TJ_TENSOR_MAP_ALIGNMENT) uint8_t encoded[TJ_TENSOR_MAP_BYTES];
  uint64_t block[(64 + TJ_TENSOR_MAP_BYTES) / 8] = {s.buffer.address, 3};
  const tj_tensor_map map = map_of(2, s.buffer.address);
  tj_rt_dispatch dispatch = {block, 1, BLOCK, NULL};
  code.has_map = true;
  ck_assert_uint_eq(tj_argument_bytes(code.argument_words, true), sizeof block);
  expect(&s, tj_rt_load(s.device, &code, &kernel, &s.error));
  expect(&s, tj_rt_encode_map(s.device, &map, encoded, &s.error));
  expect_failure(&s, tj_rt_launch(s.device, kernel, &dispatch, &s.error), TJ_CUDA_CALL, "cuLaunchKernel");
  memcpy((uint8_t *)block + tj_map_offset(code.argument_words), encoded, sizeof encoded);
  expect(&s, tj_rt_launch(s.device, kernel, &dispatch, &s.error));
  tj_rt_unload(s.device, kernel);
  close_session(&s);
}
END_TEST

START_TEST(kernels_of_many_words_are_none) {
  enum { MANY = 5000 };
  session s = open_session("add");
  tj_rt_kernel *kernel;
  tj_rt_code code = code_of(kernels, "add", 0);
  code.argument_words = MANY;
  expect_failure(&s, tj_rt_load(s.device, &code, &kernel, &s.error), TJ_LAUNCH, "more than 4096 parameters");
  close_session(&s);
}
END_TEST

START_TEST(two_devices_work_at_once) {
  static const char *const names[] = {"cuda:0", "cuda:1"};
  session s[2] = {{0}, {0}};
  use_stub(2, 90);
  for (int i = 0; i < 2; i++) {
    expect(&s[i], tj_rt_open(names[i], NULL, &s[i].device, &s[i].error));
    expect(&s[i], tj_rt_allocate(s[i].device, ELEMENTS * 4, &s[i].buffer, &s[i].error));
    ck_assert_int_eq(stub.place(), i);
  }
  for (int i = 1; i >= 0; i--) {
    uint32_t zeros[ELEMENTS] = {0};
    expect(&s[i], tj_rt_write(s[i].device, &s[i].buffer, 0, (tj_bytes){zeros, sizeof zeros}, &s[i].error));
    load(&s[i], kernels, "add", 0, &s[i].kernel);
  }
  ck_assert_int_eq(stub.count().modules, 2);
  for (int turn = 0; turn < 6; turn++) {
    expect(&s[turn % 2], start(&s[turn % 2], s[turn % 2].kernel, 1 + (uint64_t)turn, NULL));
    ck_assert_int_eq(stub.place(), turn % 2);
  }
  expect_elements(&s[0], 1 + 3 + 5);
  expect_elements(&s[1], 2 + 4 + 6);
  tj_rt_unload(s[0].device, s[0].kernel);
  tj_rt_release(s[0].device, &s[0].buffer);
  tj_rt_close(s[0].device);
  expect_elements(&s[1], 2 + 4 + 6);
  close_session(&s[1]);
}
END_TEST

/* --- what is kept of linked code --- */

/* A vault of one place. */
typedef struct {
  bool is_closed;
  char maker[64], made[1024];
  size_t size;
  int kept, rejected, released;
} place;

static bool find_kept(void *data, const tj_rt_linked_key *key, tj_bytes *made, void **block) {
  place *p = data;
  if (p->is_closed)
    return false;
  if (p->size > 0 && strcmp(p->maker, key->maker) == 0) {
    *made = (tj_bytes){p->made, p->size};
    *block = p;
  }
  return true;
}

static void release_kept(void *data, void *block) {
  ((place *)data)->released += block != NULL;
}

static void keep(void *data, const tj_rt_linked_key *key, tj_bytes made) {
  place *p = data;
  ck_assert(tj_bytes_are(key->code, kernels));
  ck_assert_uint_le(made.size, sizeof p->made);
  snprintf(p->maker, sizeof p->maker, "%s", key->maker);
  memcpy(p->made, made.data, made.size);
  p->size = made.size;
  p->kept++;
}

static void reject(void *data, const tj_rt_linked_key *key) {
  (void)key;
  place *p = data;
  p->size = 0;
  p->rejected++;
}

/* Loads and runs a kernel on a new device, as a process of its own would; what is called for it. */
static const char *run_with(place *p, int version) {
  static char calls[256];
  use_stub(1, 90);
  stub.set_version(version);
  session s = {0};
  uint32_t zeros[ELEMENTS] = {0};
  const tj_rt_vault vault = {find_kept, release_kept, keep, reject, p};
  tj_rt_code code = code_of(kernels, "add", 0);
  code.vault = &vault;
  expect(&s, tj_rt_open("cuda:0", NULL, &s.device, &s.error));
  size_t before = strlen(stub.calls());
  expect(&s, tj_rt_load(s.device, &code, &s.kernel, &s.error));
  snprintf(calls, sizeof calls, "%s", stub.calls() + before);
  expect(&s, tj_rt_allocate(s.device, sizeof zeros, &s.buffer, &s.error));
  expect(&s, tj_rt_write(s.device, &s.buffer, 0, (tj_bytes){zeros, sizeof zeros}, &s.error));
  expect(&s, start(&s, s.kernel, 4, NULL));
  expect_elements(&s, 4);
  close_session(&s);
  return calls;
}

START_TEST(code_is_linked_once) {
  static place p;
  ck_assert_str_eq(run_with(&p, 13000), "link add-data complete load find ");
  ck_assert_str_eq(p.maker, "sm_90 by 13000");
  ck_assert_str_eq(run_with(&p, 13000), "load find ");
  ck_assert_str_eq(run_with(&p, 13010), "link add-data complete load find ");
  ck_assert_str_eq(run_with(&p, 13010), "load find ");
  ck_assert(p.kept == 2 && p.released == 2 && p.rejected == 0);
  memset(p.made + 64, 'x', sizeof kernels);
  ck_assert_str_eq(run_with(&p, 13010), "load link add-data complete load find ");
  ck_assert(p.kept == 3 && p.rejected == 1);
  p.is_closed = true;
  ck_assert_str_eq(run_with(&p, 13000), "link add-data complete load find ");
  ck_assert_int_eq(p.kept, 3);
}
END_TEST

START_TEST(failures_to_link_are_told) {
  static const struct {
    const char *text, *failing, *message;
    tj_problem_code code;
  } rows[] = {{"nothing", NULL, "ptxas: line 1: no kernel", TJ_DEVICE_TARGET},
              {kernels, "link", "cuLinkCreate_v2", TJ_CUDA_CALL},
              {kernels, "add-data", "cuLinkAddData_v2", TJ_CUDA_CALL},
              {kernels, "complete", "cuLinkComplete", TJ_CUDA_CALL},
              {kernels, "load", "cuModuleLoadDataEx", TJ_CUDA_CALL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    static place p;
    const tj_rt_vault vault = {find_kept, release_kept, keep, reject, &p};
    session s = open_session("add");
    tj_rt_kernel *kernel;
    tj_rt_code code = code_of(rows[i].text, "add", 0);
    char text[64];
    code.vault = &vault;
    code.code_object.data = strcpy(text, rows[i].text); /* elsewhere, so that nothing is shared */
    if (rows[i].failing != NULL)
      stub.fail_at(rows[i].failing, 1, 1);
    expect_failure(&s, tj_rt_load(s.device, &code, &kernel, &s.error), rows[i].code, rows[i].message);
    ck_assert_int_eq(p.kept, 0);
    close_session(&s);
  }
}
END_TEST

/* --- contexts and streams of the application's --- */

/* The second of two devices, by its context, given or current, on a stream of the application's or one of its own, on
 * which alone times are taken. */
START_TEST(contexts_and_streams_are_attached) {
  int stream;
  static const struct {
    bool is_current, has_stream, has_own_stream;
  } rows[] = {{false, true, false}, {true, true, false}, {false, false, false}, {true, false, true}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    session s = {0};
    void *context, *popped;
    use_stub(2, 90);
    stub.retain(&context, 11);
    if (rows[i].is_current)
      stub.push(context);
    const tj_rt_cuda_attachment attachment = {.context = rows[i].is_current ? NULL : context,
                                              .stream = rows[i].has_stream ? &stream : NULL,
                                              .has_own_stream = rows[i].has_own_stream};
    expect(&s, tj_rt_attach_cuda(&attachment, NULL, &s.device, &s.error));
    ck_assert_str_eq(s.device->info.name, "cuda:1");
    ck_assert_str_eq(s.device->info.target, "sm_90");
    ck_assert_int_eq(stub.count().streams, rows[i].has_own_stream);
    uint32_t memory[ELEMENTS] = {0};
    s.buffer = tj_rt_borrow((uint64_t)(uintptr_t)memory, sizeof memory);
    load(&s, kernels, "add", 0, &s.kernel);
    expect(&s, start(&s, s.kernel, 3, NULL));
    if (!rows[i].has_own_stream)
      ck_assert_ptr_eq(stub.stream(), attachment.stream);
    ck_assert_int_eq(stub.count().events, rows[i].has_own_stream ? 128 : 64);
    uint64_t nanoseconds;
    expect(&s, tj_rt_wait(s.device, &nanoseconds, &s.error));
    ck_assert_uint_eq(nanoseconds, rows[i].has_own_stream ? 2000000 : 0);
    ck_assert_uint_eq(memory[ELEMENTS - 1], 3);
    tj_rt_unload(s.device, s.kernel);
    tj_rt_release(s.device, &s.buffer);
    tj_rt_close(s.device);
    stub_cuda_objects left = stub.count(), own = {.contexts = 1, .current = rows[i].is_current};
    ck_assert_int_eq(memcmp(&left, &own, sizeof left), 0);
    if (rows[i].is_current)
      stub.pop(&popped);
    stub.release(11);
  }
}
END_TEST

START_TEST(what_cannot_be_attached) {
  session s = {0};
  void *context;
  stub_cuda_objects left, own = {.contexts = 1};
  use_stub(1, 90);
  stub.retain(&context, 10);
  const struct {
    tj_rt_cuda_attachment attachment;
    const char *failing;
    tj_problem_code code;
    const char *text;
  } rows[] = {
      {{.context = NULL}, NULL, TJ_UNKNOWN_DEVICE, "no context of the CUDA driver is current"},
      {{.context = context, .stream = (void *)2}, NULL, TJ_UNKNOWN_DEVICE, "the default stream of each thread"},
      {{.context = context}, "device", TJ_CUDA_CALL, "cuCtxGetDevice"},
      {{.context = context, .has_own_stream = true}, "stream", TJ_CUDA_CALL, "cuStreamCreate"},
      {{.context = context}, "event", TJ_CUDA_CALL, "cuEventCreate"},
      {{.library = "libno-such-driver.so", .context = context}, NULL, TJ_CUDA_LIBRARY, "libno-such-driver.so"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].failing != NULL)
      stub.fail_at(rows[i].failing, 1, 1);
    tj_status status = tj_rt_attach_cuda(&rows[i].attachment, NULL, &s.device, &s.error);
    expect_failure(&s, status, rows[i].code, rows[i].text);
    ck_assert_ptr_null(s.device);
    left = stub.count();
    ck_assert_int_eq(memcmp(&left, &own, sizeof left), 0);
  }
}
END_TEST

/* --- what fails --- */

START_TEST(a_fault_loses_the_device) {
  session s = open_session("add");
  tj_rt_kernel *fault;
  tj_rt_completion before, failed, behind;
  load(&s, kernels, "fault", 0, &fault);
  expect(&s, start(&s, s.kernel, 1, &before));
  expect(&s, start(&s, fault, 0, &failed));
  expect(&s, start(&s, s.kernel, 1, &behind));
  expect(&s, tj_rt_finish(s.device, &before, &s.error));
  expect_failure(&s, tj_rt_finish(s.device, &failed, &s.error), TJ_LAUNCH,
                 "the kernel failed: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered");
  expect_failure(&s, tj_rt_finish(s.device, &behind, &s.error), TJ_LAUNCH, "did not run");
  expect_failure(&s, start(&s, s.kernel, 1, NULL), TJ_LAUNCH, "an illegal memory access");
  uint32_t found;
  expect_failure(&s, tj_rt_read(s.device, &s.buffer, 0, &found, 4, &s.error), TJ_LAUNCH, "an illegal memory access");
  tj_rt_buffer more;
  expect_failure(&s, tj_rt_allocate(s.device, 4, &more, &s.error), TJ_LAUNCH, "an illegal memory access");
  tj_rt_unload(s.device, fault);
  close_session(&s);
}
END_TEST

/* A fault that no completion was asked for is told by the next wait. */
START_TEST(a_wait_tells_what_nobody_asked_for) {
  session s = open_session("fault");
  expect(&s, start(&s, s.kernel, 0, NULL));
  expect_failure(&s, tj_rt_wait(s.device, NULL, &s.error), TJ_LAUNCH, "an illegal memory access");
  close_session(&s);
}
END_TEST

START_TEST(devices_that_are_lost_elsewhere) {
  session s = open_session("add");
  tj_rt_completion completion;
  expect(&s, start(&s, s.kernel, 1, &completion));
  tj_rt_lose(s.device, "the owner says so");
  expect_failure(&s, tj_rt_finish(s.device, &completion, &s.error), TJ_LAUNCH, "the owner says so");
  expect_failure(&s, start(&s, s.kernel, 1, NULL), TJ_LAUNCH, "the owner says so");
  close_session(&s);
}
END_TEST

static bool gives_up(void *data, uint64_t done, uint64_t total) {
  (void)total;
  return (*(int *)data)-- > 0 && done == 0;
}

/* What is given up runs to its end, and has failed; what comes later has not. */
START_TEST(launches_are_given_up) {
  session s = open_session("add");
  int patience = 0;
  const tj_rt_watch watch = {gives_up, &patience};
  tj_rt_completion first, second;
  expect(&s, start(&s, s.kernel, 1, &first));
  expect(&s, start(&s, s.kernel, 1, &second));
  expect_failure(&s, tj_rt_finish_watched(s.device, &first, &watch, &s.error), TJ_LAUNCH, "given up");
  expect_failure(&s, tj_rt_finish(s.device, &second, &s.error), TJ_LAUNCH, "given up");
  expect(&s, start(&s, s.kernel, 1, &first));
  expect(&s, tj_rt_finish(s.device, &first, &s.error));
  close_session(&s);
}
END_TEST

START_TEST(failures_of_calls_have_the_drivers_words) {
  session s = open_session("add");
  tj_rt_buffer more;
  tj_rt_kernel *kernel;
  stub.fail_at("allocate", 1, 2);
  expect_failure(&s, tj_rt_allocate(s.device, 12345, &more, &s.error), TJ_DEVICE_MEMORY, "12345 bytes on cuda:0");
  stub.fail_at("launch", 1, 1);
  expect_failure(&s, start(&s, s.kernel, 1, NULL), TJ_CUDA_CALL,
                 "cuLaunchKernel: CUDA_ERROR_OF_THE_STUB: the stub was told to");
  tj_rt_code code = code_of("nothing", "add", 0);
  expect_failure(&s, tj_rt_load(s.device, &code, &kernel, &s.error), TJ_DEVICE_TARGET, "ptxas: line 1: no kernel");
  code = code_of(kernels, "missing", 0);
  expect_failure(&s, tj_rt_load(s.device, &code, &kernel, &s.error), TJ_CUDA_CALL, "cuModuleGetFunction");
  stub.fail_at("reserve", 1, 1);
  code = code_of(kernels, "add", 1 << 20);
  expect_failure(&s, tj_rt_load(s.device, &code, &kernel, &s.error), TJ_CUDA_CALL, "cuFuncSetAttribute");
  code = (tj_rt_code){.symbol = "add"};
  expect_failure(&s, tj_rt_load(s.device, &code, &kernel, &s.error), TJ_DEVICE_TARGET, "is not for a GPU");
  tj_rt_dispatch dispatch = {&code, (uint64_t)1 << 31, BLOCK, NULL};
  expect_failure(&s, tj_rt_launch(s.device, s.kernel, &dispatch, &s.error), TJ_LAUNCH,
                 "more than one dispatch holds");
  dispatch = (tj_rt_dispatch){&code, 1, 1025, NULL};
  expect_failure(&s, tj_rt_launch(s.device, s.kernel, &dispatch, &s.error), TJ_LAUNCH,
                 "more than one dispatch holds");
  expect(&s, start(&s, s.kernel, 2, NULL));
  expect_elements(&s, 2);
  close_session(&s);
}
END_TEST

/* --- opening --- */

static void expect_no_device(const char *name, tj_problem_code code, const char *text) {
  session s = {0};
  expect_failure(&s, tj_rt_open(name, NULL, &s.device, &s.error), code, text);
  ck_assert_ptr_null(s.device);
}

START_TEST(devices_that_do_not_open) {
  stub_cuda_objects none = {0}, left;
  static const char *const names[] = {"cuda", "cuda:", "cuda:x", "cuda:00", "cuda:-1", "cuda:0 ", "cuda:0:"};
  use_stub(1, 90);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    expect_no_device(names[i], TJ_UNKNOWN_DEVICE, "cuda:0, cuda:1");
  expect_no_device("cuda:1", TJ_UNKNOWN_DEVICE, "unknown device cuda:1");
  static const struct {
    const char *function;
    int number;
    tj_problem_code code;
  } rows[] = {{"init", 1, TJ_NO_AGENT},    {"count", 1, TJ_CUDA_CALL}, {"retain", 1, TJ_CUDA_CALL},
              {"stream", 1, TJ_CUDA_CALL}, {"event", 1, TJ_CUDA_CALL}, {"event", 100, TJ_CUDA_CALL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    stub.reset(1, 90);
    stub.fail_at(rows[i].function, rows[i].number, 1);
    expect_no_device("cuda:0", rows[i].code, "the stub was told to");
    left = stub.count();
    ck_assert_msg(memcmp(&left, &none, sizeof left) == 0, "%s", rows[i].function);
  }
  stub.reset(0, 90);
  expect_no_device("cuda:0", TJ_NO_AGENT, "the CUDA driver has none");
  setenv("TILEJIT_CUDA_LIBRARY", "libtilejit-no-such-library.so", 1);
  expect_no_device("cuda:0", TJ_CUDA_LIBRARY, "no CUDA driver");
  setenv("TILEJIT_CUDA_LIBRARY", "libm.so.6", 1);
  expect_no_device("cuda:0", TJ_CUDA_LIBRARY, "has no function cu");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {devices_are_described,
                                later_devices_run_code_of_earlier_ones,
                                launches_run_in_order,
                                launches_wait_for_slots,
                                copies_keep_the_order,
                                kernels_share_a_module,
                                shared_memory_beyond_what_code_lays_out_is_given,
                                tensor_maps_are_made,
                                other_devices_take_no_tensor_maps,
                                launches_pass_tensor_maps,
                                kernels_of_many_words_are_none,
                                two_devices_work_at_once,
                                code_is_linked_once,
                                failures_to_link_are_told,
                                contexts_and_streams_are_attached,
                                what_cannot_be_attached,
                                a_fault_loses_the_device,
                                a_wait_tells_what_nobody_asked_for,
                                devices_that_are_lost_elsewhere,
                                launches_are_given_up,
                                failures_of_calls_have_the_drivers_words,
                                devices_that_do_not_open};
  return run_suite(suite_of("cuda", tests, sizeof tests / sizeof tests[0]));
}
