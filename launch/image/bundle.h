/* SPDX-License-Identifier: MIT */
/* Bundles: images of several kernels, for several targets each, as one file.
 *
 * The file is an entry (entry.h) whose payload is
 *
 *     version       TJ_BUNDLE_VERSION
 *     count         of kernels, each of which is a launch plan and the machine code of all variants, as bytes
 *
 * No two are of one kernel and one target. Code for hosts is for a level of processors, and stands by itself: what
 * `host` means is known where it was compiled alone.
 *
 * A bundle comes from anybody. Its plans are read as those of the cache are, and its code objects are described
 * (object/code_object.h) and held against their plans before a runtime gets them; PTX is text, which drivers read.
 * Code for hosts is checked as far as loading goes; what it does when it runs is its maker's. */
#ifndef TJ_LAUNCH_BUNDLE_H
#define TJ_LAUNCH_BUNDLE_H

#include "launch/image/image.h"

enum { TJ_BUNDLE_VERSION = 1 };

typedef struct {
  const tj_launch_plan *plan;
  tj_bytes image; /* in the file's bytes */
} tj_bundled;

typedef struct {
  const tj_bundled *kernel;
  uint32_t count;
} tj_bundle_list;

/* The file of some images, whose machine code has a part of all variants. Fails with TJ6019 where they cannot be in
 * one bundle. */
void tj_bundle_compose(tj_text *text, const tj_image *const images[], size_t count);

/* What is in a file, whose bytes it borrows, in the job's arena. Fails with TJ6017. */
tj_bundle_list tj_bundle_list_of(tj_job *job, tj_bytes file);

/* The kernel of that name whose code is the best for a target, or for a device that has it; NULL is the only name
 * that there is. Fails with TJ6018. */
const tj_bundled *tj_bundle_choose(tj_job *job, const tj_bundle_list *list, const char *kernel, const char *target);

/* The image of a kernel, with one reference. Fails with TJ6017 where its code is damaged. */
tj_image *tj_bundle_load(tj_job *job, const tj_allocator *allocator, const tj_bundled *kernel);

#endif
