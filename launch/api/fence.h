/* SPDX-License-Identifier: MIT */
/* Fences: what is left of a launch until somebody asks how it ended. A fence holds what the launch in flight needs:
 * the device and the machine code, and with both the kernel that is loaded. */
#ifndef TJ_LAUNCH_FENCE_H
#define TJ_LAUNCH_FENCE_H

#include "launch/api/context.h"
#include "launch/api/public_device.h"
#include "launch/image/image.h"

struct tj_fence {
  tj_context *context;         /* borrowed */
  tj_device *device;           /* retained */
  tj_image *image;             /* retained; NULL: of a copy */
  tj_rt_completion completion; /* done until something is launched with it */
};

/* `image` may be NULL. NULL where there is no memory. */
tj_fence *tj_fence_create(tj_context *context, tj_device *device, tj_image *image);

/* What is told of a launch that is waited for. */
#define TJ_WAITING_FOR_LAUNCH "workgroups executed"

#endif
