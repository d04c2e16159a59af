/* SPDX-License-Identifier: MIT */
/* What the HIP runtime and tilejit do in one process, on simulated GPUs; run_hip.py calls it by what it is to do:
 *
 *     devices    a line for each of HIP's devices, and for each of tilejit's hsa:N: number, PCI bus, target
 *     fills      HIP's own kernels fill and copy blocks of every alignment; each byte is compared
 *     values     streams wait for values, and write them
 *     shared     tilejit's device launches on HIP's memory, HIP copies tilejit's; whichever goes first
 *     threads    two threads with a stream each, on as many devices as there are
 *     stray      a kernel that leaves memory: HIP says what the simulator says, and aborts
 *
 * Exit status 0: all is right. */
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__
#endif
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilejit/tilejit.h>

enum {
  SIZE = 1 << 14,
  ROWS = 60,
  COLUMNS = 44,
  ELEMENTS = ROWS * COLUMNS,
  BYTES = ELEMENTS * 4,
  THREADS = 2,
  ROUNDS = 4
};

static const char program_text[] =
    "kernel transpose(src: f32 @ (60,44):(44,1), dst: f32 @ (60,44):(1,60)) = copy(src, dst)";

/* --- failures --- */

static void expect(int is_right, const char *what) {
  if (is_right)
    return;
  fprintf(stderr, "hip_client: %s\n", what);
  exit(1);
}

static void expect_hip(hipError_t error, const char *call) {
  if (error != hipSuccess)
    fprintf(stderr, "%s: ", hipGetErrorString(error));
  expect(error == hipSuccess, call);
}

#define HIP(call) expect_hip(call, #call)

static void expect_tj(const tj_context *context, tj_status status) {
  char text[1024] = "out of memory\n";
  if (status == TJ_OK)
    return;
  if (context != NULL && tj_context_diagnostic(context) != NULL)
    tj_diagnostic_format(tj_context_diagnostic(context), 0, text, sizeof text);
  expect(0, text);
}

/* --- devices --- */

static void show_devices(void) {
  tj_context *context;
  int count;
  char bus[32], name[32];
  HIP(hipGetDeviceCount(&count));
  for (int i = 0; i < count; i++) {
    hipDeviceProp_t properties;
    HIP(hipGetDeviceProperties(&properties, i));
    HIP(hipDeviceGetPCIBusId(bus, sizeof bus, i));
    printf("hip:%d %s %s\n", i, bus, properties.gcnArchName);
  }
  expect_tj(NULL, tj_context_create(NULL, &context));
  tj_device *device;
  snprintf(name, sizeof name, "hsa:0");
  for (int i = 0; tj_device_open(context, name, &device) == TJ_OK; snprintf(name, sizeof name, "hsa:%d", ++i)) {
    printf("%s %s %s\n", name, tj_device_properties_of(device).bus, tj_device_target(device));
    tj_device_close(device);
  }
  tj_context_destroy(context);
}

/* --- HIP's own kernels --- */

/* A block of the device's, and what it should hold. */
typedef struct {
  uint8_t *device, *wanted;
} block;

static block open_block(unsigned seed) {
  block b = {.wanted = malloc(SIZE)};
  expect(b.wanted != NULL, "memory");
  for (unsigned i = 0; i < SIZE; i++)
    b.wanted[i] = (uint8_t)(i * 31 + i / 253 + seed);
  HIP(hipMalloc((void **)&b.device, SIZE));
  HIP(hipMemcpy(b.device, b.wanted, SIZE, hipMemcpyHostToDevice));
  return b;
}

static void check_block(const block *b, hipStream_t stream, const char *what) {
  uint8_t *found = malloc(SIZE);
  expect(found != NULL, "memory");
  HIP(hipMemcpyAsync(found, b->device, SIZE, hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  expect(memcmp(found, b->wanted, SIZE) == 0, what);
  free(found);
}

static void close_block(block *b) {
  HIP(hipFree(b->device));
  free(b->wanted);
}

static void fill(block *b, size_t begin, size_t count, unsigned width, unsigned value, hipStream_t stream) {
  for (size_t i = 0; i < count; i++)
    memcpy(b->wanted + begin + i * width, &value, width);
  if (width == 1)
    HIP(hipMemsetD8Async(b->device + begin, (unsigned char)value, count, stream));
  else if (width == 2)
    HIP(hipMemsetD16Async(b->device + begin, (unsigned short)value, count, stream));
  else
    HIP(hipMemsetD32Async(b->device + begin, (int)value, count, stream));
}

static void copy(block *to, size_t to_begin, const block *from, size_t from_begin, size_t size, hipStream_t stream) {
  memcpy(to->wanted + to_begin, from->wanted + from_begin, size);
  HIP(hipMemcpyAsync(to->device + to_begin, from->device + from_begin, size, hipMemcpyDeviceToDevice, stream));
}

static void copy_rows(block *to, size_t to_pitch, const block *from, size_t from_pitch, size_t width, size_t height,
                      hipStream_t stream) {
  for (size_t y = 0; y < height; y++)
    memcpy(to->wanted + y * to_pitch, from->wanted + y * from_pitch, width);
  HIP(hipMemcpy2DAsync(to->device, to_pitch, from->device, from_pitch, width, height, hipMemcpyDeviceToDevice,
                       stream));
}

static void check_fills(void) {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  block a = open_block(1), b = open_block(2);
  for (unsigned width = 1; width <= 4; width *= 2) {
    for (size_t begin = 0; begin < 64; begin += 20 + width)
      fill(&a, begin * width, 1 + begin * 7, width, 0x5a6b7c8d + (unsigned)begin, stream);
  }
  check_block(&a, stream, "fills");
  for (size_t begin = 0; begin < 6; begin++) {
    for (size_t size = 1; size < SIZE / 2; size = size * 5 + begin)
      copy(&b, begin * 3, &a, begin, size, stream);
  }
  check_block(&b, stream, "copies");
  copy_rows(&a, 96, &b, 128, 64, 50, stream);
  copy_rows(&b, 61, &a, 127, 59, 33, stream);
  check_block(&a, stream, "copies of rows");
  check_block(&b, stream, "copies of odd rows");
  close_block(&a);
  close_block(&b);
  HIP(hipStreamDestroy(stream));
}

static void check_values(void) {
  enum { FILL = 9 };
  hipStream_t waiting, writing;
  void *value;
  HIP(hipStreamCreate(&waiting));
  HIP(hipStreamCreateWithPriority(&writing, hipStreamDefault, -1));
  HIP(hipExtMallocWithFlags(&value, 8, hipMallocSignalMemory));
  block b = open_block(1);
  HIP(hipStreamWaitValue64(waiting, value, 5, hipStreamWaitValueGte, UINT64_MAX));
  fill(&b, 0, SIZE, 1, FILL, waiting);
  expect(hipStreamQuery(waiting) == hipErrorNotReady, "the stream waits");
  HIP(hipStreamWriteValue64(writing, value, 7, 0));
  check_block(&b, waiting, "a fill behind a value");
  close_block(&b);
  HIP(hipFree(value));
  HIP(hipStreamDestroy(waiting));
  HIP(hipStreamDestroy(writing));
}

/* --- kernels of tilejit --- */

typedef struct {
  tj_context *context;
  tj_code *code;
  tj_launch *launch;
  float *host, *from, *to; /* the last two HIP's */
} kernel;

static kernel open_kernel(int device) {
  kernel k = {.host = malloc(BYTES)};
  hipDeviceProp_t properties;
  tj_program *program;
  expect(k.host != NULL, "memory");
  HIP(hipSetDevice(device));
  HIP(hipGetDeviceProperties(&properties, device));
  expect_tj(NULL, tj_context_create(NULL, &k.context));
  expect_tj(k.context, tj_program_create(k.context, "test", program_text, strlen(program_text), NULL, 0, &program));
  tj_compile_options options = {.target = properties.gcnArchName};
  expect_tj(k.context, tj_code_compile(program, &options, &k.code));
  expect_tj(k.context, tj_launch_create(k.context, k.code, &k.launch));
  tj_program_destroy(program);
  HIP(hipMalloc((void **)&k.from, BYTES));
  HIP(hipMalloc((void **)&k.to, BYTES));
  for (int i = 0; i < ELEMENTS; i++)
    k.host[i] = (float)(i + 1);
  HIP(hipMemcpy(k.from, k.host, BYTES, hipMemcpyHostToDevice));
  return k;
}

static void close_kernel(kernel *k) {
  HIP(hipFree(k->from));
  HIP(hipFree(k->to));
  tj_launch_destroy(k->launch);
  tj_code_destroy(k->code);
  tj_context_destroy(k->context);
  free(k->host);
}

static void check_transposed(const kernel *k, const float *found, const char *what) {
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < COLUMNS; j++)
      expect(found[j * ROWS + i] == k->host[i * COLUMNS + j], what);
  }
}

static void launch_on(const kernel *k, hipModule_t module, hipStream_t stream) {
  const tj_recipe *recipe;
  hipFunction_t function;
  expect_tj(k->context, tj_launch_bind_pointer(k->launch, "src", k->from, BYTES));
  expect_tj(k->context, tj_launch_bind_pointer(k->launch, "dst", k->to, BYTES));
  expect_tj(k->context, tj_launch_prepare(k->launch, &recipe));
  HIP(hipModuleGetFunction(&function, module, recipe->symbol));
  size_t size = recipe->kernarg_bytes;
  void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)recipe->kernarg, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  HIP(hipModuleLaunchKernel(function, (unsigned)(recipe->grid[0] / recipe->block[0]), 1, 1,
                            (unsigned)recipe->block[0], 1, 1, 0, stream, NULL, extra));
}

static void load(const kernel *k, hipModule_t *module) {
  size_t size;
  HIP(hipModuleLoadData(module, tj_code_bytes(k->code, &size)));
}

/* --- one process --- */

static void check_shared(void) {
  float *found = malloc(BYTES);
  expect(found != NULL, "memory");
  kernel k = open_kernel(0);
  tj_device *device;
  tj_buffer *from, *to, *own;
  expect_tj(k.context, tj_device_open(k.context, "hsa:0", &device));
  expect_tj(k.context, tj_buffer_import(k.context, device, k.from, BYTES, NULL, NULL, &from));
  expect_tj(k.context, tj_buffer_import(k.context, device, k.to, BYTES, NULL, NULL, &to));
  expect_tj(k.context, tj_buffer_create(k.context, device, BYTES, &own));
  HIP(hipMemset(k.to, 0xff, BYTES));
  HIP(hipDeviceSynchronize());
  expect_tj(k.context, tj_launch_bind_buffer(k.launch, "src", from));
  expect_tj(k.context, tj_launch_bind_buffer(k.launch, "dst", to));
  expect_tj(k.context, tj_launch_run(k.launch, device));
  HIP(hipMemcpy(found, k.to, BYTES, hipMemcpyDeviceToHost));
  check_transposed(&k, found, "tilejit's device on HIP's memory");
  expect_tj(k.context, tj_launch_bind_buffer(k.launch, "dst", own));
  expect_tj(k.context, tj_launch_run(k.launch, device));
  memset(found, 0xff, BYTES);
  HIP(hipMemcpy(found, tj_buffer_address(own), BYTES, hipMemcpyDefault));
  check_transposed(&k, found, "HIP's copy of tilejit's memory");
  tj_buffer_destroy(from);
  tj_buffer_destroy(to);
  tj_buffer_destroy(own);
  tj_device_close(device);
  HIP(hipMemset(k.to, 0xff, BYTES));
  hipModule_t module;
  load(&k, &module);
  launch_on(&k, module, NULL);
  HIP(hipMemcpy(found, k.to, BYTES, hipMemcpyDeviceToHost));
  check_transposed(&k, found, "HIP's stream after tilejit's device");
  HIP(hipModuleUnload(module));
  close_kernel(&k);
  free(found);
}

static void *run_thread(void *data) {
  int number = *(const int *)data, count;
  float *found = malloc(BYTES);
  expect(found != NULL, "memory");
  HIP(hipGetDeviceCount(&count));
  kernel k = open_kernel(number % count);
  hipModule_t module;
  hipStream_t stream;
  hipEvent_t done;
  load(&k, &module);
  HIP(hipStreamCreate(&stream));
  HIP(hipEventCreate(&done));
  for (int round = 0; round < ROUNDS; round++) {
    HIP(hipMemsetAsync(k.to, 0xff, BYTES, stream));
    launch_on(&k, module, stream);
    HIP(hipMemcpyAsync(found, k.to, BYTES, hipMemcpyDeviceToHost, stream));
    HIP(hipEventRecord(done, stream));
    HIP(hipEventSynchronize(done));
    check_transposed(&k, found, "a thread's stream");
  }
  HIP(hipEventDestroy(done));
  HIP(hipStreamDestroy(stream));
  HIP(hipModuleUnload(module));
  close_kernel(&k);
  free(found);
  return NULL;
}

static void check_threads(void) {
  pthread_t thread[THREADS];
  int number[THREADS];
  HIP(hipInit(0));
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    expect(pthread_create(&thread[i], NULL, run_thread, &number[i]) == 0, "a thread");
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(thread[i], NULL);
}

static void run_stray(void) {
  kernel k = open_kernel(0);
  hipModule_t module;
  load(&k, &module);
  k.to += ELEMENTS / 2;
  launch_on(&k, module, NULL);
  HIP(hipDeviceSynchronize());
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    void (*run)(void);
  } rows[] = {{"devices", show_devices}, {"fills", check_fills},     {"values", check_values},
              {"shared", check_shared},  {"threads", check_threads}, {"stray", run_stray}};
  for (size_t i = 0; count == 2 && i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(words[1], rows[i].name) != 0)
      continue;
    rows[i].run();
    return 0;
  }
  expect(0, "devices, fills, values, shared, threads or stray");
}
