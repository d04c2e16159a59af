/* SPDX-License-Identifier: MIT */
/* Code objects as modules: executables, and the kernels in them. */
#ifndef TJ_RT_HSA_CODE_H
#define TJ_RT_HSA_CODE_H

#include "rt/hsa/hsa_queue.h"
#include "rt/modules.h"

/* Where executables are loaded. */
typedef struct {
  const tj_hsa *hsa;
  hsa_agent_t gpu;
  tj_allocator allocator;
} tj_hsa_place;

/* Loads code objects into executables; its data is a tj_hsa_place. */
extern const tj_rt_loader tj_hsa_loader;

/* Finds a kernel of an executable by its name. */
tj_status tj_hsa_find_kernel(const tj_hsa_place *place, const tj_rt_module *module, const char *name,
                             tj_hsa_kernel *kernel, tj_rt_error *error);

#endif
