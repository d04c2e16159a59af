/* SPDX-License-Identifier: MIT */
/* Code generation: a module of LLVM IR becomes optimised IR, assembly, or a relocatable object in memory.
 *
 * A tj_codegen is LLVM's target machine for one target, and its passes. It belongs, like a tj_module, to whoever runs
 * the job's body:
 *
 *     tj_codegen codegen = {0};
 *     … tj_codegen_open(job, &codegen, target) in a job's body; it does nothing when open for the same target …
 *     tj_codegen_close(&codegen);
 *
 * It is worth keeping for many kernels: with the first, passes are set up, and it finds out what it later knows of
 * the target's registers, which takes as long as a small kernel. So there are those that are idle, to be taken and
 * given back:
 *
 *     tj_codegen codegen = {0};
 *     … tj_codegen_take(job, &codegen, idle, target) in a job's body …
 *     tj_codegen_give_back(&codegen, idle);
 *
 * Thread safety: one thread at a time, but for those that are idle, which any thread may take. */
#ifndef TJ_JIT_CODEGEN_H
#define TJ_JIT_CODEGEN_H

#include "lower/emit/module.h"

#include <pthread.h>

/* Begins as {0}. */
typedef struct {
  LLVMTargetMachineRef machine;
  tj_passes *passes;    /* for it; NULL where there is no library of passes */
  const char *pipeline; /* the target's passes */
  uint64_t key;         /* of the target that the machine is for */
} tj_codegen;

/* Makes `codegen` ready for `target`. Fails with TJ5003. */
void tj_codegen_open(tj_job *job, tj_codegen *codegen, const tj_target *target);

/* Gives the machine back. May be called twice. */
void tj_codegen_close(tj_codegen *codegen);

enum { TJ_MOST_IDLE_CODEGENS = 4 };

/* Some of those that have been given back. */
typedef struct {
  pthread_mutex_t lock;
  tj_codegen codegen[TJ_MOST_IDLE_CODEGENS];
  unsigned next; /* to be replaced, where all are there */
} tj_idle_codegens;

void tj_idle_codegens_init(tj_idle_codegens *idle);
void tj_idle_codegens_close(tj_idle_codegens *idle);

/* Opens `codegen`, one that is idle where there is one for the target. Fails with TJ5003. */
void tj_codegen_take(tj_job *job, tj_codegen *codegen, tj_idle_codegens *idle, const tj_target *target);

/* Gives back one that has been taken, if it was opened. */
void tj_codegen_give_back(tj_codegen *codegen, tj_idle_codegens *idle);

/* Runs the passes that pay. Fails with TJ5003. */
void tj_codegen_optimize(tj_job *job, tj_codegen *codegen, tj_module *module);

typedef enum { TJ_CODEGEN_OBJECT, TJ_CODEGEN_ASSEMBLY } tj_codegen_output;

/* The module's machine code, in the job's arena; assembly ends in a zero byte that the size does not count. The
 * module is spent: it can be disposed, and nothing else. Fails with TJ5003. */
tj_bytes tj_codegen_emit(tj_job *job, tj_codegen *codegen, tj_module *module, tj_codegen_output output);

#endif
