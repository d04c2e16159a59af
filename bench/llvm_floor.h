/* SPDX-License-Identifier: MIT */
/* What LLVM takes for an empty kernel as it comes: its own passes of -O2, its own code generator, in this process. */
#ifndef TJ_BENCH_LLVM_FLOOR_H
#define TJ_BENCH_LLVM_FLOOR_H

#include <stddef.h>

/* Microseconds, the median of so many times in a warm process, of a module in memory becoming an object, or for
 * NVIDIA's GPUs PTX; negative where LLVM does not know the target. */
double llvm_floor(const char *target, size_t iterations);

#endif
