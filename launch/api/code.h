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

#endif
