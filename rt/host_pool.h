/* SPDX-License-Identifier: MIT */
/* The host's threads: run the workgroups of one launch after another on all cores.
 *
 * Thread safety: any thread may call tj_host_pool_run; runs of one pool happen one after another. */
#ifndef TJ_RT_HOST_POOL_H
#define TJ_RT_HOST_POOL_H

#include "rt/device.h"

typedef struct tj_host_pool tj_host_pool;

/* One launch. */
typedef struct {
  tj_rt_entry entry;
  const void *arguments;
  uint64_t workgroup_count;
  uint64_t first; /* workgroup; those before it have run */
} tj_host_work;

/* A pool that is to use `thread_count` threads, the caller's included. They are created by the first run. NULL: no
 * memory. */
tj_host_pool *tj_host_pool_create(uint32_t thread_count, tj_allocator allocator);
/* Ends the threads. */
void tj_host_pool_destroy(tj_host_pool *pool);

/* Returns when all workgroups have run. Where threads cannot be created, the others do their work. */
void tj_host_pool_run(tj_host_pool *pool, tj_host_work work);

#endif
