/* SPDX-License-Identifier: MIT */
/* The driver hsa: the GPUs of the HSA runtime that is installed, hsa:0, hsa:1, …
 *
 * TILEJIT_HSA_LIBRARY names another library than libhsa-runtime64.so.1. */
#include "rt/driver.h"
#include "rt/hsa_device.h"

#include <stdlib.h>

static tj_hsa_library library(void) {
  const char *chosen = getenv("TILEJIT_HSA_LIBRARY");
  bool is_chosen = chosen != NULL && *chosen != '\0';
  return (tj_hsa_library){is_chosen ? chosen : "libhsa-runtime64.so.1", "HSA library", TJ_HSA_LIBRARY};
}

static tj_status open_hsa(const char *name, const tj_allocator *allocator, tj_rt_device **device,
                          tj_rt_error *error) {
  const char *digits = strcmp(name, "hsa") == 0 ? "0" : name + sizeof "hsa:" - 1;
  char *end;
  unsigned long number = strtoul(digits, &end, 10);
  bool is_number = *digits >= '0' && *digits <= '9' && *end == '\0';
  if (!is_number)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "unknown device %s: the form is hsa:0", name);
  tj_hsa_library hsa = library();
  return tj_hsa_device_open(name, &hsa, NULL, number, allocator, device, error);
}

static size_t list_hsa(tj_rt_info info[], size_t capacity) {
  tj_hsa_library hsa = library();
  return tj_hsa_device_list("hsa", &hsa, false, info, capacity);
}

const tj_rt_driver tj_rt_driver_hsa = {"hsa", open_hsa, list_hsa};
