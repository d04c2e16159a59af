/* SPDX-License-Identifier: MIT */
/* The driver sim: simulated GPUs, sim:gfx942 and so on, through the HSA library that belongs to this project,
 * libtilejit-hsasim.so. For programs that are linked with the static library it is where the build was configured to
 * install it. */
#include "base/library.h"
#include "rt/driver.h"
#include "rt/hsa/hsa_device.h"

/* The simulator as a library to open; its path is written to `path`. */
static tj_hsa_library library(char path[TJ_LIBRARY_PATH_SIZE]) {
  tj_library_find("libtilejit-hsasim.so", NULL, path);
  return (tj_hsa_library){path, "simulator library", TJ_SIMULATOR_LIBRARY};
}

static tj_status open_sim(const char *name, const tj_allocator *allocator, tj_rt_device **device,
                          tj_rt_error *error) {
  char path[TJ_LIBRARY_PATH_SIZE];
  const char *target = name + sizeof "sim" - 1;
  if (*target++ != ':' || *target == '\0')
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE,
                        "unknown device %.100s: simulated GPUs are named by their target, as sim:gfx942", name);
  tj_hsa_library simulator = library(path);
  return tj_hsa_device_open(name, &simulator, target, 0, allocator, device, error);
}

static size_t list_sim(tj_rt_info info[], size_t capacity) {
  char path[TJ_LIBRARY_PATH_SIZE];
  tj_hsa_library simulator = library(path);
  return tj_hsa_device_list("sim", &simulator, true, info, capacity);
}

const tj_rt_driver tj_rt_driver_sim = {"sim", open_sim, list_sim};
