/* SPDX-License-Identifier: MIT */
/* Fences: what is left of a launch until somebody asks how it ended. A fence holds what the launch in flight needs:
 * the device and the machine code, and with both the kernel that is loaded. */
#ifndef TJ_LAUNCH_FENCE_H
#define TJ_LAUNCH_FENCE_H

#include "launch/api/context.h"
#include "launch/api/public_device.h"
#include "launch/image/image.h"

/* How the kernels of a launch, or a copy, end; those that are begun, in their order. */
typedef struct {
  tj_rt_completion each[TJ_LAUNCH_MOST_KERNELS];
  uint32_t count;
} tj_launch_end;

/* What the next one is launched with. */
tj_rt_completion *tj_launch_end_add(tj_launch_end *end);
/* Returns when the last one has ended, with how, and how long all took on the device. */
tj_status tj_launch_end_await(tj_rt_device *device, tj_launch_end *end, const tj_rt_watch *watch,
                              uint64_t *nanoseconds, tj_rt_error *error);
/* Returns when none is in flight. */
void tj_launch_end_finish(tj_rt_device *device, tj_launch_end *end);

struct tj_fence {
  tj_context *context; /* borrowed */
  tj_device *device;   /* retained */
  tj_image *image;     /* retained; NULL: of a copy */
  tj_launch_end end;
};

/* `image` may be NULL. NULL where there is no memory. */
tj_fence *tj_fence_create(tj_context *context, tj_device *device, tj_image *image);

/* What is told of a launch that is waited for. */
#define TJ_WAITING_FOR_LAUNCH "workgroups executed"

#endif
