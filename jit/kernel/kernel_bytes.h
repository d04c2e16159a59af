/* SPDX-License-Identifier: MIT */
/* Kernels as bytes, and kernels again.
 *
 * What is written is all that machine code depends on, in a form that does not depend on how a program was written:
 * so it is what the cache knows kernels by. And it is all that lowering takes: so it is what waits until a launch
 * takes a variant, in this process or another. Each variant is written by itself, with expressions of its own, and is
 * read by itself. */
#ifndef TJ_JIT_KERNEL_BYTES_H
#define TJ_JIT_KERNEL_BYTES_H

#include "base/bytes.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* A kernel and its faster ones, simplified, their derived words found; in the job's arena. */
tj_bytes tj_kernel_write(tj_graph *graph, const tj_kernel *kernel);

/* What is lowered of the bytes for `target`: the variant that a launch plan numbers so, without those behind it or
 * faster ones, or all (TJ_ALL_VARIANTS). Strings are in the bytes, which may be any: TJ5003 where they are no kernel,
 * or an error that makes such an expression impossible. */
tj_kernel *tj_kernel_read(tj_graph *graph, const tj_target *target, tj_bytes bytes, uint32_t number);

#endif
