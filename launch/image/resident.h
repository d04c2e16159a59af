/* SPDX-License-Identifier: MIT */
/* Kernels that stay on devices: what a device has once loaded of machine code is used by every launch from then on,
 * until the machine code goes or the device closes.
 *
 * Each resident is in two lists, its machine code's and its device's, and either end takes it out of both. Locks are
 * taken in this order: the device's, then the machine code's. Machine code that goes begins at the other end, so it
 * announces itself as a visitor of the device first, under its own lock, and a device that closes waits for visitors.
 *
 * Thread safety: any thread, any function, under the conditions that each states. */
#ifndef TJ_LAUNCH_RESIDENT_H
#define TJ_LAUNCH_RESIDENT_H

#include "rt/device.h"

#include <pthread.h>

typedef struct tj_resident tj_resident;

typedef struct {
  tj_resident *next;
  tj_resident **at; /* what refers to this one */
} tj_resident_link;

/* The residents of machine code. */
typedef struct {
  pthread_mutex_t lock;
  tj_resident *first;
} tj_machine_residents;

/* The residents of a device. */
typedef struct {
  tj_rt_device *device;
  tj_allocator allocator;
  pthread_mutex_t lock;
  pthread_cond_t left; /* a visitor has */
  atomic_uint visitors;
  tj_resident *first;
} tj_device_residents;

void tj_machine_residents_open(tj_machine_residents *machine);
/* Unloads its kernels everywhere. None of them may be in flight, and nobody may ask for one any more. */
void tj_machine_residents_close(tj_machine_residents *machine);

void tj_device_residents_open(tj_device_residents *device, tj_rt_device *rt, const tj_allocator *allocator);
/* Unloads all kernels of the device, after those that are in flight, and before it closes. Nobody may ask for one any
 * more. */
void tj_device_residents_close(tj_device_residents *device);

/* The kernel of that number of the machine code, on the device; loaded from `code` the first time. Borrowed: valid as
 * long as both are. */
tj_status tj_resident_kernel(tj_machine_residents *machine, tj_device_residents *device, uint32_t number,
                             const tj_rt_code *code, tj_rt_kernel **kernel, tj_rt_error *error);

#endif
