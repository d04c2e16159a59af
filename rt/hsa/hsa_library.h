/* SPDX-License-Identifier: MIT */
/* The HSA runtime as a library that is opened at run time: its functions by hsa.def, and their errors.
 *
 * Every call has a wrapper tj_hsa_NAME(library, error, …) that returns TJ_OK, or describes the failure. Thread safety
 * is that of HSA. */
#ifndef TJ_RT_HSA_LIBRARY_H
#define TJ_RT_HSA_LIBRARY_H

#include "rt/device.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

typedef struct {
  void *handle; /* of dlopen */
#define CALL(name, parameters, arguments) hsa_status_t(*name) parameters;
#define CALL_PLAIN(name) hsa_status_t (*name)(void);
#define VALUE(result, name, parameters, arguments) result(*name) parameters;
#include "rt/hsa/hsa.def"
#undef CALL
#undef CALL_PLAIN
#undef VALUE
  hsa_status_t (*queue_inactivate)(hsa_queue_t *queue); /* NULL where the library has none */
  /* The simulator's alone; NULL in other libraries. See rt/sim/hsa/hsasim.h. */
  size_t (*message)(const hsa_queue_t *queue, char *text, size_t size);
  size_t (*counters)(const hsa_queue_t *queue, uint64_t counters[], size_t count);
  void (*progress)(const hsa_queue_t *queue, uint64_t *done, uint64_t *total);
} tj_hsa;

/* A library that has these functions, and how it is spoken of where it does not open. */
typedef struct {
  const char *path; /* as for dlopen */
  const char *name; /* HSA library, simulator library */
  tj_problem_code missing;
} tj_hsa_library;

/* Opens a library and finds its functions; fails with library->missing. It stays in the process. */
tj_status tj_hsa_open(tj_hsa *hsa, const tj_hsa_library *library, tj_rt_error *error);

/* Turns a status into an error: exhausted memory TJ6010, code that the agent cannot run TJ6009, the rest TJ6013. */
tj_status tj_hsa_check(const tj_hsa *hsa, hsa_status_t status, const char *function, tj_rt_error *error);

#define TJ_HSA_UNPACK(...) __VA_ARGS__
#define CALL(name, parameters, arguments)                                                                            \
  static inline tj_status tj_hsa_##name(const tj_hsa *hsa, tj_rt_error *error, TJ_HSA_UNPACK parameters) {           \
    return tj_hsa_check(hsa, hsa->name arguments, "hsa_" #name, error);                                              \
  }
#define CALL_PLAIN(name)                                                                                             \
  static inline tj_status tj_hsa_##name(const tj_hsa *hsa, tj_rt_error *error) {                                     \
    return tj_hsa_check(hsa, hsa->name(), "hsa_" #name, error);                                                      \
  }
#define VALUE(result, name, parameters, arguments)
#include "rt/hsa/hsa.def"
#undef CALL
#undef CALL_PLAIN
#undef VALUE

#endif
