/* SPDX-License-Identifier: MIT */
/* Images: kernels ready to be launched, shared by codes and by the cache.
 *
 * An image is a launch plan and machine code. A fresh compilation and a cached one make their images in one way, from
 * bytes.
 *
 * Images count references; what they refer to is immutable but for parts of machine code that wait (machine.h). Any
 * thread may retain and release them. Their memory comes from the allocator given at creation, which must serve until
 * the last reference is gone. */
#ifndef TJ_LAUNCH_IMAGE_H
#define TJ_LAUNCH_IMAGE_H

#include "launch/image/machine.h"

typedef struct {
  atomic_uint references;
  tj_job job; /* holds the plan and its bytes */
  const tj_launch_plan *plan;
  tj_bytes plan_bytes; /* the plan as written */
  tj_machine *machine; /* retained */
} tj_image;

/* An image with one reference, from a plan as tj_launch_plan_write wrote it and its machine code, which is retained.
 * NULL where the bytes are no plan, or there is no memory. */
tj_image *tj_image_create(const tj_allocator *allocator, tj_bytes plan, tj_machine *machine);
/* An image as bytes: its plan, then its machine code. */
void tj_image_write(tj_text *text, const tj_image *image);
/* The image that was written. NULL where the bytes are none; fails as tj_machine_read. */
tj_image *tj_image_read(tj_job *job, const tj_allocator *allocator, tj_reader *reader);

tj_image *tj_image_retain(tj_image *image);
void tj_image_release(tj_image *image); /* takes NULL */

/* About how much memory the image takes, its machine code included. */
size_t tj_image_size(const tj_image *image);

#endif
