/* SPDX-License-Identifier: MIT */
/* The CUDA driver as a library that is opened at run time: its functions by cuda.def, and their errors.
 *
 * Every call has a wrapper tj_cuda_NAME(library, error, …) that returns TJ_OK, or describes the failure in the
 * driver's words. Thread safety is that of the driver, whose functions act on the context that is current for the
 * thread. */
#ifndef TJ_RT_CUDA_LIBRARY_H
#define TJ_RT_CUDA_LIBRARY_H

#include "rt/device.h"

typedef struct tj_cuda_context_of *tj_cuda_context;
typedef struct tj_cuda_stream_of *tj_cuda_stream;
typedef struct tj_cuda_event_of *tj_cuda_event;
typedef struct tj_cuda_module_of *tj_cuda_module;
typedef struct tj_cuda_link_of *tj_cuda_link;
typedef struct tj_cuda_function_of *tj_cuda_function;

/* Numbers of the driver's interface. */
enum {
  TJ_CUDA_SUCCESS = 0,
  TJ_CUDA_OUT_OF_MEMORY = 2,
  TJ_CUDA_NO_DEVICE = 100,
  TJ_CUDA_INVALID_IMAGE = 200,
  TJ_CUDA_NO_BINARY_FOR_GPU = 209,
  TJ_CUDA_INVALID_PTX = 218,
  TJ_CUDA_UNSUPPORTED_PTX = 222,
  TJ_CUDA_NOT_READY = 600,

  TJ_CUDA_MULTIPROCESSOR_COUNT = 16,
  TJ_CUDA_CAPABILITY_MAJOR = 75,
  TJ_CUDA_CAPABILITY_MINOR = 76,

  TJ_CUDA_FUNCTION_SHARED_BYTES = 1,
  TJ_CUDA_FUNCTION_DYNAMIC_SHARED_BYTES = 8,

  TJ_CUDA_JIT_ERROR_LOG = 5,
  TJ_CUDA_JIT_ERROR_LOG_SIZE = 6,

  TJ_CUDA_LINK_PTX = 1,

  TJ_CUDA_STREAM_NON_BLOCKING = 1,

  TJ_CUDA_TENSOR_U8 = 0,
  TJ_CUDA_TENSOR_U16 = 1,
  TJ_CUDA_TENSOR_U32 = 2,
  TJ_CUDA_TENSOR_U64 = 4,
  TJ_CUDA_TENSOR_PLAIN = 0,       /* no swizzle; one of rows of 32 bytes is 1, of 64 bytes 2, of 128 bytes 3: */
  TJ_CUDA_TENSOR_SWIZZLE_LOG = 4, /* the binary logarithm less 4 */

  TJ_CUDA_EVENT_DISABLE_TIMING = 2
};

typedef struct {
  void *handle; /* of dlopen */
#define CALL(name, symbol, parameters, arguments) int(*name) parameters;
#include "rt/cuda/cuda.def"
#undef CALL
} tj_cuda;

/* Opens a library as dlopen takes it, finds its functions and starts the driver; NULL: the one that
 * TILEJIT_CUDA_LIBRARY names, or libcuda.so.1. TJ6020 without it, TJ6012 where it has no GPU. It stays in the
 * process.
 */
tj_status tj_cuda_open(tj_cuda *cuda, const char *library, tj_rt_error *error);

/* Turns a result into an error: exhausted memory TJ6010, code that the device cannot run TJ6009, the rest TJ6021. */
tj_status tj_cuda_check(const tj_cuda *cuda, int result, const char *function, tj_rt_error *error);

/* The default stream of whichever thread calls. */
#define TJ_CUDA_STREAM_PER_THREAD ((void *)2)

#define TJ_CUDA_UNPACK(...) __VA_ARGS__
#define CALL(name, symbol, parameters, arguments)                                                                    \
  static inline tj_status tj_cuda_##name(const tj_cuda *cuda, tj_rt_error *error, TJ_CUDA_UNPACK parameters) {       \
    return tj_cuda_check(cuda, cuda->name arguments, symbol, error);                                                 \
  }
#include "rt/cuda/cuda.def"
#undef CALL

#endif
