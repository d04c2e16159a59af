/* SPDX-License-Identifier: MIT */
/* A device behind an HSA runtime, whichever library that is: the part that the drivers hsa and sim share. */
#ifndef TJ_RT_HSA_DEVICE_H
#define TJ_RT_HSA_DEVICE_H

#include "rt/hsa/hsa_agent.h"

/* Opens agent `number` of the library's GPU agents; where `target` is not NULL, the number-th of those on which code
 * of that target ID runs (gfx942). library->missing without it, TJ6012 without any GPU agent, TJ6001 without that
 * one.
 */
tj_status tj_hsa_device_open(const char *name, const tj_hsa_library *library, const char *target,
                             unsigned long number, const tj_allocator *allocator, tj_rt_device **device,
                             tj_rt_error *error);

/* Opens the GPU agent of a handle, on a queue of it that is borrowed, where there is one. TJ6001 without it. */
tj_status tj_hsa_device_attach(const tj_hsa_library *library, const tj_rt_attachment *attachment,
                               const tj_allocator *allocator, tj_rt_device **device, tj_rt_error *error);

/* Describes the library's GPU agents. Device names are `prefix` and the agent's number; or, where they go
 * `by_target`, its processor, or its target ID where an agent before it has the same processor, and
 * they have no place on a bus. */
size_t tj_hsa_device_list(const char *prefix, const tj_hsa_library *library, bool by_target, tj_rt_info info[],
                          size_t capacity);

#endif
