/* SPDX-License-Identifier: MIT */
/* NVIDIA GPUs as devices, by their number. */
#ifndef TJ_RT_CUDA_DEVICE_H
#define TJ_RT_CUDA_DEVICE_H

#include "rt/cuda/cuda_library.h"

/* Opens the device of that number, in its primary context. TJ6001 where the driver has no such device. */
tj_status tj_cuda_device_open(unsigned long number, const tj_allocator *allocator, tj_rt_device **device,
                              tj_rt_error *error);

/* Opens the device of a context of somebody else's, on a stream of it. TJ6001 where there is no context. */
tj_status tj_cuda_device_attach(const tj_rt_cuda_attachment *attachment, const tj_allocator *allocator,
                                tj_rt_device **device, tj_rt_error *error);

/* Describes the driver's devices; none where there is no driver. */
size_t tj_cuda_device_list(tj_rt_info info[], size_t capacity);

#endif
