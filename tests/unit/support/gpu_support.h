/* SPDX-License-Identifier: MIT */
/* Kernels on simulated GPUs: compiled, linked, loaded, and launched between guards. */
#ifndef TJ_TESTS_GPU_SUPPORT_H
#define TJ_TESTS_GPU_SUPPORT_H

#include "jit/compile/link.h"
#include "object/code_object.h"
#include "rt/device.h"
#include "tests/unit/support/processors.h"
#include "tests/unit/support/random_kernel.h"

#include <stdio.h>

enum { MOST_BUFFERS = 2, GUARD_BYTES = 512 };

/* A device, and a kernel on it. */
typedef struct {
  const char *target;
  tj_rt_device *device;
  tj_rt_error error;
  compiled compiled;
  tj_rt_kernel *loaded;
  random_source source;
  tj_dtype from, to;
  bool derive;
} gpu;

static inline void expect(gpu *run, tj_status status) {
  ck_assert_msg(status == TJ_OK, "%s: TJ%04d: %s", run->target, (int)run->error.code, run->error.text);
}

static inline void open_gpu(gpu *run, const char *target, uint64_t seed) {
  char name[32];
  snprintf(name, sizeof name, "sim:%s", target);
  *run = (gpu){.target = target, .source = random_begin(seed)};
  expect(run, tj_rt_open(name, NULL, &run->device, &run->error));
}

static inline void close_gpu(gpu *run) {
  tj_rt_close(run->device);
  dispose_compiled(&run->compiled);
}

static inline void load_on_gpu(tj_graph *graph, gpu *run, const tj_kernel *kernel) {
  compile_kernel(graph, &run->compiled, kernel, run->target, TJ_CODEGEN_OBJECT);
  tj_bytes linked = tj_link(graph->job, run->compiled.bytes);
  uint32_t argument_bytes = tj_kernel_argument_bytes(kernel);
  tj_code_object_check(graph->job, tj_code_object_parse(graph->job, linked), kernel->name, argument_bytes);
  tj_rt_code code = {.symbol = kernel->name, .code_object = linked, .argument_words = argument_bytes / 8};
  expect(run, tj_rt_load(run->device, &code, &run->loaded, &run->error));
}

/* A buffer's bytes on the caller's side. */
typedef struct {
  void *data;
  size_t size;
} host_bytes;

static inline void check_guards(gpu *run, const tj_rt_buffer *buffer, size_t size) {
  unsigned char after[GUARD_BYTES];
  expect(run, tj_rt_read(run->device, buffer, size, after, GUARD_BYTES, &run->error));
  for (size_t i = 0; i < GUARD_BYTES; i++)
    ck_assert_uint_eq(after[i], 0xa5);
}

static inline void upload(gpu *run, tj_rt_buffer *buffer, host_bytes bytes) {
  unsigned char guard[GUARD_BYTES];
  memset(guard, 0xa5, sizeof guard);
  expect(run, tj_rt_allocate(run->device, bytes.size + GUARD_BYTES, buffer, &run->error));
  expect(run, tj_rt_write(run->device, buffer, 0, (tj_bytes){bytes.data, bytes.size}, &run->error));
  expect(run, tj_rt_write(run->device, buffer, bytes.size, (tj_bytes){guard, GUARD_BYTES}, &run->error));
}

/* Launches the loaded kernel, with the buffers' contents there and back. */
static inline void run_on_gpu(gpu *run, const tj_kernel *kernel, const host_bytes bytes[],
                              const symbol_values *values) {
  tj_rt_buffer buffers[MOST_BUFFERS];
  void *addresses[MOST_BUFFERS];
  uint64_t block[128];
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    upload(run, &buffers[i], bytes[i]);
    addresses[i] = (void *)(uintptr_t)buffers[i].address;
  }
  uint64_t count = fill_arguments(kernel, addresses, values, block);
  tj_rt_dispatch dispatch = {block, (count + kernel->workgroup_size - 1) / kernel->workgroup_size,
                             kernel->workgroup_size, NULL};
  expect(run, tj_rt_launch(run->device, run->loaded, &dispatch, &run->error));
  expect(run, tj_rt_wait(run->device, NULL, &run->error));
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    check_guards(run, &buffers[i], bytes[i].size);
    expect(run, tj_rt_read(run->device, &buffers[i], 0, bytes[i].data, bytes[i].size, &run->error));
    tj_rt_release(run->device, &buffers[i]);
  }
}

static inline void in_job(gpu *run, void (*body)(tj_job *, void *)) {
  tj_job job;
  tj_job_init(&job, NULL);
  expect_success(&job, body, run);
  tj_rt_unload(run->device, run->loaded);
  run->loaded = NULL;
  tj_job_destroy(&job);
}

#endif
