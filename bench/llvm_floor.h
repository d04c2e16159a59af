/* SPDX-License-Identifier: MIT */
/* What LLVM takes for an empty kernel as it comes: its own passes of -O2, its own code generator, in this process. */
#ifndef TJ_BENCH_LLVM_FLOOR_H
#define TJ_BENCH_LLVM_FLOOR_H

typedef struct llvm_floor llvm_floor;

/* NULL where LLVM does not know the target. One thread uses it at a time. */
llvm_floor *llvm_floor_open(const char *target);
void llvm_floor_close(llvm_floor *floor);

/* Microseconds of one module in memory becoming an object, or for NVIDIA's GPUs PTX; negative where it fails. */
double llvm_floor_once(const llvm_floor *floor);

#endif
