/* SPDX-License-Identifier: MIT */
/* Loading PTX, which the driver compiles, and finding kernels in what comes out. */
#include "rt/cuda/cuda_code.h"

#include <string.h>

enum { LOG_BYTES = 400 };

static tj_cuda_module handle_of(const tj_rt_module *module) {
  return (tj_cuda_module)(uintptr_t)module->handle[0];
}

/* The first line of what the driver's compiler says, where it says anything. */
static tj_status add_log(tj_status status, const char *log, tj_rt_error *error) {
  tj_rt_error plain = *error;
  size_t length = strcspn(log, "\n");
  if (status == TJ_OK || length == 0)
    return status;
  return tj_rt_failed(error, status, plain.code, "%.100s: %.*s", plain.text, (int)length, log);
}

/* The driver reads text up to its zero, which the code does not have. */
static tj_status load(void *data, tj_rt_module *module, tj_rt_error *error) {
  const tj_cuda_place *place = data;
  tj_cuda_module loaded = NULL;
  char log[LOG_BYTES] = "";
  int options[] = {TJ_CUDA_JIT_ERROR_LOG, TJ_CUDA_JIT_ERROR_LOG_SIZE};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  char *text = place->allocator.allocate(place->allocator.user, module->code.size + 1);
  if (text == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  memcpy(text, module->code.data, module->code.size);
  text[module->code.size] = '\0';
  tj_status status = tj_cuda_module_load(place->cuda, error, &loaded, text, 2, options, values);
  place->allocator.release(place->allocator.user, text);
  module->handle[0] = status == TJ_OK ? (uint64_t)(uintptr_t)loaded : 0;
  log[sizeof log - 1] = '\0';
  return add_log(status, log, error);
}

static void unload(void *data, tj_rt_module *module) {
  const tj_cuda_place *place = data;
  if (module->handle[0] != 0)
    place->cuda->module_unload(handle_of(module));
}

const tj_rt_loader tj_cuda_loader = {load, unload};

/* Shared memory that the code does not lay out itself is given at each launch. */
static tj_status reserve(const tj_cuda *cuda, const tj_rt_code *code, tj_cuda_kernel *kernel, tj_rt_error *error) {
  int laid_out;
  tj_status status =
      tj_cuda_function_get_attribute(cuda, error, &laid_out, TJ_CUDA_FUNCTION_SHARED_BYTES, kernel->function);
  if (status != TJ_OK || (uint32_t)laid_out >= code->lds_bytes)
    return status;
  kernel->dynamic_bytes = code->lds_bytes - (uint32_t)laid_out;
  return tj_cuda_function_set_attribute(cuda, error, kernel->function, TJ_CUDA_FUNCTION_DYNAMIC_SHARED_BYTES,
                                        (int)kernel->dynamic_bytes);
}

tj_status tj_cuda_find_kernel(const tj_cuda *cuda, const tj_rt_module *module, const tj_rt_code *code,
                              tj_cuda_kernel *kernel, tj_rt_error *error) {
  *kernel = (tj_cuda_kernel){.argument_bytes = code->argument_bytes};
  tj_status status = tj_cuda_module_get_function(cuda, error, &kernel->function, handle_of(module), code->symbol);
  return status == TJ_OK ? reserve(cuda, code, kernel, error) : status;
}
