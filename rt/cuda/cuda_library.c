/* SPDX-License-Identifier: MIT */
/* Opening the CUDA driver, and finding every function of cuda.def in it. */
#include "rt/cuda/cuda_library.h"

#include "base/library.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The name of the first function that is missing; NULL: none. */
static const char *find_functions(tj_cuda *cuda) {
  const char *missing = NULL;
#define CALL(name, symbol, parameters, arguments)                                                                    \
  cuda->name = (__typeof__(cuda->name))tj_library_function_of(cuda->handle, symbol);                                 \
  if (cuda->name == NULL && missing == NULL)                                                                         \
    missing = symbol;
#define LATER_CALL(name, symbol, parameters, arguments)                                                              \
  cuda->name = (__typeof__(cuda->name))tj_library_function_of(cuda->handle, symbol);
#include "rt/cuda/cuda.def"
#undef CALL
  return missing;
}

static const char *library_path(void) {
  const char *chosen = getenv("TILEJIT_CUDA_LIBRARY");
  return chosen != NULL && *chosen != '\0' ? chosen : "libcuda.so.1";
}

static tj_status start(const tj_cuda *cuda, tj_rt_error *error) {
  tj_rt_error reason;
  if (tj_cuda_init(cuda, &reason, 0) != TJ_OK)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_NO_AGENT, "no GPU was found: %.400s", reason.text);
  return TJ_OK;
}

tj_status tj_cuda_open(tj_cuda *cuda, const char *library, tj_rt_error *error) {
  const char *path = library != NULL ? library : library_path();
  *cuda = (tj_cuda){.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
  if (cuda->handle == NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_CUDA_LIBRARY, "no CUDA driver: %s", dlerror());
  const char *missing = find_functions(cuda);
  if (missing != NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_CUDA_LIBRARY, "the CUDA driver %s has no function %s", path,
                        missing);
  return start(cuda, error);
}

/* --- errors --- */

static tj_problem_code code_of(int result) {
  switch (result) {
  case TJ_CUDA_OUT_OF_MEMORY:
    return TJ_DEVICE_MEMORY;
  case TJ_CUDA_INVALID_IMAGE:
  case TJ_CUDA_NO_BINARY_FOR_GPU:
  case TJ_CUDA_INVALID_PTX:
  case TJ_CUDA_UNSUPPORTED_PTX:
    return TJ_DEVICE_TARGET;
  default:
    return TJ_CUDA_CALL;
  }
}

tj_status tj_cuda_check(const tj_cuda *cuda, int result, const char *function, tj_rt_error *error) {
  if (result == TJ_CUDA_SUCCESS)
    return TJ_OK;
  const char *name = NULL, *text = NULL;
  if (cuda->get_error_name(result, &name) != TJ_CUDA_SUCCESS || name == NULL)
    name = "unknown error";
  if (cuda->get_error_string(result, &text) != TJ_CUDA_SUCCESS || text == NULL)
    text = "the driver does not know it";
  return tj_rt_failed(error, TJ_ERROR_SYSTEM, code_of(result), "%s: %s: %s", function, name, text);
}
