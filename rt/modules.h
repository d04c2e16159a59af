/* SPDX-License-Identifier: MIT */
/* The codes that are loaded on a device: one module for each, however many kernels are loaded from it.
 *
 * Codes are told apart by where their bytes are, which stay there for as long as a kernel of theirs is loaded.
 *
 * Thread safety: any thread, any function. Loading one code makes others wait, but no launches. */
#ifndef TJ_RT_MODULES_H
#define TJ_RT_MODULES_H

#include "rt/device.h"

#include <pthread.h>

typedef struct tj_rt_module {
  struct tj_rt_module *next;
  uint32_t references;
  tj_bytes code;            /* borrowed */
  const tj_rt_vault *vault; /* while it is being loaded; NULL: none */
  uint64_t handle[2];       /* the driver's; 0: none */
} tj_rt_module;

/* How a driver loads codes. */
typedef struct {
  tj_status (*load)(void *data, tj_rt_module *module, tj_rt_error *error); /* sets handles */
  void (*unload)(void *data, tj_rt_module *module);                        /* those that are set */
} tj_rt_loader;

typedef struct {
  const tj_rt_loader *loader;
  void *data; /* the loader's */
  tj_allocator allocator;
  pthread_mutex_t lock;
  tj_rt_module *first; /* of those that are loaded */
} tj_rt_modules;

void tj_rt_modules_open(tj_rt_modules *modules, const tj_rt_loader *loader, void *data,
                        const tj_allocator *allocator);
/* All modules must have been released. */
void tj_rt_modules_close(tj_rt_modules *modules);

/* The module of a code, whose bytes are borrowed until it has been released as often as it was retained. */
tj_status tj_rt_module_retain(tj_rt_modules *modules, const tj_rt_code *code, tj_rt_module **module,
                              tj_rt_error *error);
void tj_rt_module_release(tj_rt_modules *modules, tj_rt_module *module);

#endif
