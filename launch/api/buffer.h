/* SPDX-License-Identifier: MIT */
/* Buffers behind the public header: memory of a device that outlives a launch. */
#ifndef TJ_LAUNCH_BUFFER_H
#define TJ_LAUNCH_BUFFER_H

#include "launch/api/context.h"
#include "launch/api/public_device.h"

struct tj_buffer {
  tj_context *context;         /* borrowed */
  tj_device *device;           /* retained */
  tj_rt_buffer memory;         /* owned, or its owner's who has it back by `release` */
  tj_release_function release; /* NULL: nobody has */
  void *user;
};

#endif
