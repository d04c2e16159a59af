/* SPDX-License-Identifier: MIT */
/* Compiled kernels behind the public header. */
#ifndef TJ_JIT_CODE_H
#define TJ_JIT_CODE_H

#include "jit/compile/program.h"
#include "jit/image/image.h"

struct tj_code {
  tj_context *context; /* borrowed */
  tj_image *image;     /* retained */
  tj_code_origin origin;
  tj_code_times times;
};

#endif
