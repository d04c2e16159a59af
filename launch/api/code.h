/* SPDX-License-Identifier: MIT */
/* Compiled kernels behind the public header. */
#ifndef TJ_LAUNCH_CODE_H
#define TJ_LAUNCH_CODE_H

#include "launch/api/context.h"
#include "launch/image/image.h"

struct tj_code {
  tj_context *context; /* borrowed */
  tj_image *image;     /* retained */
  tj_code_origin origin;
  tj_code_times times;
};

/* The part of the code that has a variant, made with the order's context where it waits. Fails with TJ5003, TJ7007.
 */
const tj_machine_part *tj_code_require(tj_job *job, const tj_code *code, uint32_t number, tj_part_order *order);

#endif
