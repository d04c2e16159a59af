/* SPDX-License-Identifier: MIT */
/* Opening the HSA runtime, and finding every function of hsa.def in it. */
#include "rt/hsa/hsa_library.h"

#include "base/library.h"

#include <dlfcn.h>

/* The name of the first function that is missing; NULL: none. */
static const char *find_functions(tj_hsa *hsa) {
  const char *missing = NULL;
#define FIND(field, symbol)                                                                                          \
  hsa->field = (__typeof__(hsa->field))tj_library_function_of(hsa->handle, symbol);                                  \
  if (hsa->field == NULL && missing == NULL)                                                                         \
    missing = symbol;
#define CALL(name, parameters, arguments) FIND(name, "hsa_" #name)
#define CALL_PLAIN(name) FIND(name, "hsa_" #name)
#define VALUE(result, name, parameters, arguments) FIND(name, "hsa_" #name)
#include "rt/hsa/hsa.def"
#undef CALL
#undef CALL_PLAIN
#undef VALUE
#undef FIND
  hsa->queue_inactivate =
      (__typeof__(hsa->queue_inactivate))tj_library_function_of(hsa->handle, "hsa_queue_inactivate");
  hsa->message = (__typeof__(hsa->message))tj_library_function_of(hsa->handle, "tj_hsasim_message");
  hsa->counters = (__typeof__(hsa->counters))tj_library_function_of(hsa->handle, "tj_hsasim_counters");
  hsa->progress = (__typeof__(hsa->progress))tj_library_function_of(hsa->handle, "tj_hsasim_progress");
  return missing;
}

tj_status tj_hsa_open(tj_hsa *hsa, const tj_hsa_library *library, tj_rt_error *error) {
  *hsa = (tj_hsa){.handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)};
  if (hsa->handle == NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, library->missing, "no %s: %s", library->name, dlerror());
  const char *missing = find_functions(hsa);
  if (missing != NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, library->missing, "the %s %s has no function %s", library->name,
                        library->path, missing);
  return TJ_OK;
}

/* --- errors --- */

static tj_problem_code code_of(hsa_status_t status) {
  switch (status) {
  case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
    return TJ_DEVICE_MEMORY;
  case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
  case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
  case HSA_STATUS_ERROR_INVALID_ISA:
  case HSA_STATUS_ERROR_INVALID_ISA_NAME:
    return TJ_DEVICE_TARGET;
  default:
    return TJ_HSA_CALL;
  }
}

tj_status tj_hsa_check(const tj_hsa *hsa, hsa_status_t status, const char *name, tj_rt_error *error) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
    return TJ_OK;
  const char *text = NULL;
  if (hsa->status_string(status, &text) != HSA_STATUS_SUCCESS || text == NULL)
    text = "unknown status";
  return tj_rt_failed(error, TJ_ERROR_SYSTEM, code_of(status), "%s: %s", name, text);
}
