/* SPDX-License-Identifier: MIT */
/* The code objects of a device: one executable for each, however many kernels are loaded from it.
 *
 * Code objects are told apart by where their bytes are, which stay there for as long as a kernel of theirs is loaded.
 *
 * Thread safety: any thread, any function. Loading one code object makes others wait, but no launches. */
#ifndef TJ_RT_HSA_CODE_H
#define TJ_RT_HSA_CODE_H

#include "rt/hsa_queue.h"

#include <pthread.h>

typedef struct tj_hsa_executable tj_hsa_executable;

typedef struct {
  const tj_hsa *hsa;
  hsa_agent_t gpu;
  tj_allocator allocator;
  pthread_mutex_t lock;
  tj_hsa_executable *first; /* of those that are loaded */
} tj_hsa_codes;

void tj_hsa_codes_open(tj_hsa_codes *codes, const tj_hsa *hsa, const tj_allocator *allocator);
/* All executables must have been released. */
void tj_hsa_codes_close(tj_hsa_codes *codes);

/* The executable of a code object, whose bytes are borrowed until it has been released as often as it was retained.
 */
tj_status tj_hsa_executable_retain(tj_hsa_codes *codes, tj_bytes code_object, tj_hsa_executable **executable,
                                   tj_rt_error *error);
void tj_hsa_executable_release(tj_hsa_codes *codes, tj_hsa_executable *executable);

/* Finds a kernel of an executable by its name. */
tj_status tj_hsa_executable_kernel(const tj_hsa_codes *codes, const tj_hsa_executable *executable, const char *name,
                                   tj_hsa_kernel *kernel, tj_rt_error *error);

#endif
