/* SPDX-License-Identifier: MIT */
/* The driver sim: simulated GPUs, sim:gfx942 and so on, through the HSA library that belongs to this project.
 *
 * libtilejit-hsasim.so is looked for beside the file that this code is in, in the folders near it where a build or an
 * installation puts it, then where the build was configured to install it (for programs elsewhere that are linked
 * with the static library), and last where the dynamic linker looks. */
#include "rt/driver.h"
#include "rt/hsa/hsa_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SIMULATOR "libtilejit-hsasim.so"

enum { PATH_CAPACITY = 4096 };

/* The file that this code is in: the library, or the program that it is linked into. The linker knows a program by
 * the word that started it, which is no path from here where the program has changed its folder. */
static bool find_own_file(char *path, size_t size) {
  Dl_info info;
  void *here;
  size_t (*self)(tj_rt_info[], size_t) = tj_rt_driver_sim.list;
  memcpy(&here, &self, sizeof here);
  bool is_path = dladdr(here, &info) != 0 && info.dli_fname != NULL && strchr(info.dli_fname, '/') != NULL;
  char *resolved = is_path ? realpath(info.dli_fname, NULL) : NULL;
  if (resolved == NULL)
    resolved = realpath("/proc/self/exe", NULL);
  bool is_found = resolved != NULL && strlen(resolved) < size;
  if (is_found)
    memcpy(path, resolved, strlen(resolved) + 1);
  free(resolved);
  return is_found;
}

/* Whether the simulator is in BASE/FOLDER; then `path` is its path. */
static bool has_simulator(const char *base, const char *folder, char *path, size_t size) {
  int length = snprintf(path, size, "%s%s/" SIMULATOR, base, folder);
  return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

static void find_simulator(char *path, size_t size) {
  static const char *const folders[] = {"", "/..", "/" TILEJIT_LIBRARIES_NEARBY,
                                        "/" TILEJIT_LIBRARIES_NEARBY "/tilejit"};
  char own[PATH_CAPACITY];
  bool has_own = find_own_file(own, sizeof own);
  if (has_own)
    *strrchr(own, '/') = '\0';
  for (size_t i = 0; has_own && i < sizeof folders / sizeof folders[0]; i++) {
    if (has_simulator(own, folders[i], path, size))
      return;
  }
  if (!has_simulator(TILEJIT_LIBRARY_FOLDER, "", path, size))
    snprintf(path, size, SIMULATOR);
}

/* The simulator as a library to open; its path is written to `path`. */
static tj_hsa_library library(char *path, size_t size) {
  find_simulator(path, size);
  return (tj_hsa_library){path, "simulator library", TJ_SIMULATOR_LIBRARY};
}

static tj_status open_sim(const char *name, const tj_allocator *allocator, tj_rt_device **device,
                          tj_rt_error *error) {
  char path[PATH_CAPACITY + 64];
  const char *target = name + sizeof "sim" - 1;
  if (*target++ != ':' || *target == '\0')
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE,
                        "unknown device %.100s: simulated GPUs are named by their target, as sim:gfx942", name);
  tj_hsa_library simulator = library(path, sizeof path);
  return tj_hsa_device_open(name, &simulator, target, 0, allocator, device, error);
}

static size_t list_sim(tj_rt_info info[], size_t capacity) {
  char path[PATH_CAPACITY + 64];
  tj_hsa_library simulator = library(path, sizeof path);
  return tj_hsa_device_list("sim", &simulator, true, info, capacity);
}

const tj_rt_driver tj_rt_driver_sim = {"sim", open_sim, list_sim};
