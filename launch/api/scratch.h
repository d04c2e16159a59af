/* SPDX-License-Identifier: MIT */
/* Scratch memory of launches: what kernels that run one behind the other pass on.
 *
 * It is a device's. What is asked of a device happens in the order in which it is asked, so that a block serves one
 * launch after the other, and is returned as soon as all kernels of a launch are asked for; two threads that launch
 * at once have a block each.
 *
 * Thread safety: any thread. */
#ifndef TJ_LAUNCH_SCRATCH_H
#define TJ_LAUNCH_SCRATCH_H

#include "launch/api/public_device.h"

struct tj_scratch {
  tj_scratch *next; /* of those that nobody has */
  tj_rt_buffer buffer;
};

/* At least so many bytes, of any content; to be returned. */
tj_status tj_scratch_take(tj_device *device, size_t bytes, tj_scratch **scratch, tj_rt_error *error);
void tj_scratch_return(tj_device *device, tj_scratch *scratch);

#endif
