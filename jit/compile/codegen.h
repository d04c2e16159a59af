/* SPDX-License-Identifier: MIT */
/* Code generation: a module of LLVM IR becomes optimised IR, assembly, or a relocatable object in memory.
 *
 * A tj_codegen is LLVM's target machine for one target. It is worth keeping for many kernels, and belongs, like a
 * tj_module, to whoever runs the job's body:
 *
 *     tj_codegen codegen = {0};
 *     … tj_codegen_open(job, &codegen, target) in a job's body; it does nothing when open for the same target …
 *     tj_codegen_close(&codegen);
 *
 * Thread safety: one thread at a time. */
#ifndef TJ_JIT_CODEGEN_H
#define TJ_JIT_CODEGEN_H

#include "lower/emit/module.h"

/* Begins as {0}. */
typedef struct {
  LLVMTargetMachineRef machine;
  const char *passes;             /* the target's */
  const char *const *idle_passes; /* likewise */
  uint64_t key;                   /* of the target that the machine is for */
} tj_codegen;

/* Makes `codegen` ready for `target`. Fails with TJ5003. */
void tj_codegen_open(tj_job *job, tj_codegen *codegen, const tj_target *target);

/* Gives the machine back. May be called twice. */
void tj_codegen_close(tj_codegen *codegen);

/* Runs the passes that pay. Fails with TJ5003. */
void tj_codegen_optimize(tj_job *job, tj_codegen *codegen, tj_module *module);

typedef enum { TJ_CODEGEN_OBJECT, TJ_CODEGEN_ASSEMBLY } tj_codegen_output;

/* The module's machine code, in the job's arena; assembly ends in a zero byte that the size does not count. The
 * module is spent: it can be disposed, and nothing else. Fails with TJ5003. */
tj_bytes tj_codegen_emit(tj_job *job, tj_codegen *codegen, tj_module *module, tj_codegen_output output);

#endif
