/* SPDX-License-Identifier: MIT */
/* Images: kernels ready to be launched, shared by codes and by the cache.
 *
 * An image is a launch plan and machine code. The machine code may serve several images: kernels that are written
 * differently and mean the same. A fresh compilation and a cached one make their images in one way, from bytes.
 *
 * Both count references and are immutable; any thread may retain and release them. Their memory comes from the
 * allocator given at creation, which must serve until the last reference is gone. */
#ifndef TJ_LAUNCH_IMAGE_H
#define TJ_LAUNCH_IMAGE_H

#include "launch/image/host_code.h"
#include "launch/image/launch_plan.h"
#include "launch/image/resident.h"

#include <stdatomic.h>

typedef struct {
  tj_allocator allocator;
  atomic_uint references;
  tj_host_code *host;             /* the host's, loaded; NULL for GPUs, whose devices load `bytes` */
  tj_bytes bytes;                 /* the code object; on the host, the relocatable object; in this block of memory */
  tj_machine_residents residents; /* its kernels on devices */
} tj_machine;

/* Machine code with one reference; the plan's symbols are looked up in the host's, which `linker` loads where it does
 * not stand by itself (host_code.h). The bytes are copied. Fails as the job: TJ5003 where the host's code does not
 * load. */
tj_machine *tj_machine_load(tj_job *job, const tj_allocator *allocator, tj_bytes bytes, const tj_launch_plan *plan,
                            const tj_host_linker *linker);
/* Whether another process can load it, without a linker. */
bool tj_machine_stands_by_itself(const tj_machine *machine);
tj_machine *tj_machine_retain(tj_machine *machine);
void tj_machine_release(tj_machine *machine); /* takes NULL */

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
/* The image that was written, by whomever. NULL where the bytes are none; fails as tj_machine_load without a linker.
 */
tj_image *tj_image_read(tj_job *job, const tj_allocator *allocator, tj_reader *reader);

tj_image *tj_image_retain(tj_image *image);
void tj_image_release(tj_image *image); /* takes NULL */

/* About how much memory the image takes, its machine code included. */
size_t tj_image_size(const tj_image *image);

#endif
