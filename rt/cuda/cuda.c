/* SPDX-License-Identifier: MIT */
/* The driver cuda: NVIDIA's GPUs, cuda:0, cuda:1, … as the CUDA driver numbers them.
 *
 * TILEJIT_CUDA_LIBRARY names another library than libcuda.so.1. */
#include "rt/cuda/cuda_device.h"
#include "rt/driver.h"

static tj_status open_cuda(const char *name, const tj_allocator *allocator, tj_rt_device **device,
                           tj_rt_error *error) {
  unsigned long number;
  if (!tj_rt_read_number(name, &number))
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE,
                        "unknown device %.100s: NVIDIA's GPUs are cuda:0, cuda:1 and so on, in decimal", name);
  return tj_cuda_device_open(number, allocator, device, error);
}

tj_status tj_rt_attach_cuda(const tj_rt_cuda_attachment *attachment, const tj_allocator *allocator,
                            tj_rt_device **device, tj_rt_error *error) {
  *device = NULL;
  return tj_cuda_device_attach(attachment, allocator, device, error);
}

const tj_rt_driver tj_rt_driver_cuda = {"cuda", open_cuda, tj_cuda_device_list};
