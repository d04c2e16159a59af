/* SPDX-License-Identifier: MIT */
/* Devices behind the public header. */
#ifndef TJ_LAUNCH_PUBLIC_DEVICE_H
#define TJ_LAUNCH_PUBLIC_DEVICE_H

#include "launch/image/resident.h"

typedef struct tj_scratch tj_scratch;

/* Scratch memory that no launch has (scratch.h). */
typedef struct {
  pthread_mutex_t lock;
  tj_scratch *first;
} tj_device_scratch;

struct tj_device {
  tj_allocator allocator; /* of the context that opened it */
  atomic_uint holders;    /* whoever opened it, buffers, fences: the last one closes it */
  tj_rt_device *rt;
  tj_device_residents residents; /* kernels that are loaded */
  tj_device_scratch scratch;
};

void tj_device_scratch_open(tj_device_scratch *idle);
void tj_device_scratch_close(tj_device *device);

tj_device *tj_device_retain(tj_device *device);
void tj_device_release(tj_device *device);

#endif
