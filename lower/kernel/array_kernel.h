/* SPDX-License-Identifier: MIT */
/* Kernels of arrays: the program, and the views of the buffers that it is about. */
#ifndef TJ_LOWER_ARRAY_KERNEL_H
#define TJ_LOWER_ARRAY_KERNEL_H

#include "ir/array/array.h"
#include "lower/kernel/operand.h"

typedef struct tj_array_kernel {
  const tj_array_program *program;
  const tj_operand *operand; /* by argument, gathers behind them; without a shape: a number */
  const uint32_t *buffer;    /* the number of an argument's buffer */
} tj_array_kernel;

#endif
