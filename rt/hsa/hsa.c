/* SPDX-License-Identifier: MIT */
/* The driver hsa: the GPUs of the HSA runtime that is installed, hsa:0, hsa:1, …
 *
 * TILEJIT_HSA_LIBRARY names another library than libhsa-runtime64.so.1. */
#include "rt/driver.h"
#include "rt/hsa/hsa_device.h"

#include <stdlib.h>

static tj_hsa_library library(void) {
  const char *chosen = getenv("TILEJIT_HSA_LIBRARY");
  bool is_chosen = chosen != NULL && *chosen != '\0';
  return (tj_hsa_library){is_chosen ? chosen : "libhsa-runtime64.so.1", "HSA library", TJ_HSA_LIBRARY};
}

static tj_status open_hsa(const char *name, const tj_allocator *allocator, tj_rt_device **device,
                          tj_rt_error *error) {
  unsigned long number;
  if (!tj_rt_read_number(name, &number))
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE,
                        "unknown device %.100s: GPUs are hsa:0, hsa:1 and so on, in decimal", name);
  tj_hsa_library hsa = library();
  return tj_hsa_device_open(name, &hsa, NULL, number, allocator, device, error);
}

tj_status tj_rt_attach(const tj_rt_attachment *attachment, const tj_allocator *allocator, tj_rt_device **device,
                       tj_rt_error *error) {
  tj_hsa_library hsa = library();
  if (attachment->library != NULL)
    hsa.path = attachment->library;
  *device = NULL;
  return tj_hsa_device_attach(&hsa, attachment, allocator, device, error);
}

static size_t list_hsa(tj_rt_info info[], size_t capacity) {
  tj_hsa_library hsa = library();
  return tj_hsa_device_list("hsa", &hsa, false, info, capacity);
}

const tj_rt_driver tj_rt_driver_hsa = {"hsa", open_hsa, list_hsa};
