/* SPDX-License-Identifier: MIT */
/* GPUs as devices: buffers, kernels and launches of a device that has one queue (rt/flight.h), whatever its driver.
 *
 * A driver's device begins with a tj_rt_gpu, and its kernels with a tj_rt_kernel. Its functions are called with the
 * device locked and between `enter` and `leave`, but for those of which something else is said. */
#ifndef TJ_RT_GPU_H
#define TJ_RT_GPU_H

#include "rt/flight.h"
#include "rt/modules.h"

typedef struct tj_rt_gpu tj_rt_gpu;

struct tj_rt_kernel {
  tj_rt_module *module; /* retained */
  uint64_t end;         /* all launches of it have a smaller number */
};

typedef struct {
  size_t kernel_bytes;           /* of a driver's kernel */
  void (*enter)(tj_rt_gpu *gpu); /* before calls to the driver's library, whether the device is locked or not; */
  void (*leave)(tj_rt_gpu *gpu); /* NULL: nothing needs to be done */
  void (*close)(tj_rt_gpu *gpu); /* the queue */
  void (*leave_for_good)(tj_rt_gpu *gpu); /* what was opened before the queue; not locked, not entered */
  /* Memory; nothing is in flight. */
  tj_status (*allocate)(tj_rt_gpu *gpu, size_t size, uint64_t *address, tj_rt_error *error); /* not locked */
  void (*release)(tj_rt_gpu *gpu, uint64_t address);
  tj_status (*copy_now)(tj_rt_gpu *gpu, uint64_t to, uint64_t from, size_t size, tj_rt_error *error);
  /* The kernel of a code whose module is loaded. Not locked. */
  tj_status (*find)(tj_rt_gpu *gpu, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error);
  /* As of devices. Not locked. NULL: kernels take none. */
  tj_status (*encode_map)(tj_rt_gpu *gpu, const tj_tensor_map *map, void *encoded, tj_rt_error *error);
  /* The queue. */
  tj_status (*launch)(tj_rt_gpu *gpu, const tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch, tj_rt_error *error);
  tj_status (*copy)(tj_rt_gpu *gpu, const tj_rt_copy *copy, tj_rt_error *error);
  void (*progress)(tj_rt_gpu *gpu);              /* ends what has ended, without waiting */
  void (*drain)(tj_rt_gpu *gpu);                 /* waits until nothing is in flight */
  void (*give_up)(tj_rt_gpu *gpu);               /* what is in flight: it ends badly */
  void (*lose)(tj_rt_gpu *gpu, const char *why); /* not locked, not entered; from any thread */
  /* What tells the end of a launch in flight, by its number; and waiting for that: not locked, so that others can
   * launch meanwhile, until the launch has ended, which may then be another one, or a short while. */
  uint64_t (*sign_of)(tj_rt_gpu *gpu, uint64_t number);
  void (*await)(tj_rt_gpu *gpu, uint64_t sign, bool is_short);
  /* How many workgroups of the launch that runs have begun, and of how many; NULL: not known. */
  void (*measure)(tj_rt_gpu *gpu, uint64_t *done, uint64_t *total);
  /* As of devices: waits for what is in flight where something is counted. NULL: nothing is. */
  size_t (*counters)(tj_rt_gpu *gpu, tj_rt_counter counters[], size_t capacity);
} tj_rt_gpu_driver;

struct tj_rt_gpu {
  tj_rt_device head;
  const tj_rt_gpu_driver *driver;
  tj_allocator allocator;
  pthread_mutex_t lock; /* of the queue */
  tj_rt_flight *flight; /* the queue's */
  tj_rt_modules modules;
};

/* Begins a device that is zeroed and of this allocator: all but its description. */
void tj_rt_gpu_begin(tj_rt_gpu *gpu, const tj_rt_gpu_driver *driver, tj_rt_flight *flight, const tj_rt_loader *loader,
                     void *loader_data, const tj_allocator *allocator);
/* Gives back a device of which nothing is open. */
void tj_rt_gpu_end(tj_rt_gpu *gpu);

void tj_rt_gpu_lock(tj_rt_gpu *gpu);
void tj_rt_gpu_unlock(tj_rt_gpu *gpu);

#endif
