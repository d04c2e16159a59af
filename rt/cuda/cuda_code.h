/* SPDX-License-Identifier: MIT */
/* PTX and cubins as modules of the CUDA driver, and the kernels in them. What the driver makes of PTX is kept where
 * the code has a vault, and so is made once for all processes. */
#ifndef TJ_RT_CUDA_CODE_H
#define TJ_RT_CUDA_CODE_H

#include "rt/cuda/cuda_queue.h"
#include "rt/modules.h"

/* Loads codes into the context that is current; its data is a tj_cuda_place. */
extern const tj_rt_loader tj_cuda_loader;

typedef struct {
  const tj_cuda *cuda;
  tj_allocator allocator;
  char maker[48]; /* what tells the machine code of this device and driver from others' */
} tj_cuda_place;

/* For a device of the driver's. */
tj_cuda_place tj_cuda_place_of(const tj_cuda *cuda, const tj_allocator *allocator, int device);

/* Finds a kernel of a module, and makes it ready for as much shared memory as code->lds_bytes says. */
tj_status tj_cuda_find_kernel(const tj_cuda *cuda, const tj_rt_module *module, const tj_rt_code *code,
                              tj_cuda_kernel *kernel, tj_rt_error *error);

#endif
