/* SPDX-License-Identifier: MIT */
/* Modules: one kernel, or one function by itself, as LLVM IR.
 *
 * LLVM's handles are not the arena's, and a failure leaves a job's body by longjmp. So a tj_module is owned by
 * whoever runs the body, outside of it:
 *
 *     tj_module module = {0};
 *     tj_status status = tj_job_run(job, body, …);      calls tj_module_lower(job, &module, …), codegen, …
 *     tj_module_dispose(&module);                        in every case
 *
 * Thread safety: each module has an LLVM context of its own, so modules share nothing. */
#ifndef TJ_LOWER_MODULE_H
#define TJ_LOWER_MODULE_H

#include "base/bytes.h"
#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"
#include "lower/plan/function.h"
#include "llvm/llvm.h"

enum { TJ_MODULE_MESSAGE_SIZE = 512 };

/* Begins as {0}, but for whether it is nameless. */
typedef struct {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  bool is_nameless;           /* but for arguments, values and blocks have names only in text that is read */
  LLVMMemoryBufferRef buffer; /* what codegen is about to copy */
  char *text;                 /* likewise; LLVM's string */
  char message[TJ_MODULE_MESSAGE_SIZE]; /* the first error that LLVM reported; "" without one */
} tj_module;

/* Lowers `kernel` for `target` into an empty module, which must not move until it is disposed. Fails with TJ4006
 * where an expression may not fit in 64 bits, with TJ7003 where there are too many operations for LLVM. */
void tj_module_lower(tj_graph *graph, tj_module *module, const tj_kernel *kernel, const tj_target *target);

/* Lowers a simplified function, under the same conditions. */
void tj_module_lower_function(tj_graph *graph, tj_module *module, const tj_function *function,
                              const tj_target *target);

/* Where a target's kernel is a function that calls another one for the work, the name of that. */
#define TJ_WORK_FORMAT "%s.work"

/* TJ_IR_STATS(X) calls X(name, meaning) for every figure of a kernel's IR. */
#define TJ_IR_STATS(X)                                                                                               \
  X(ir_instructions, "instructions of LLVM's IR that the machine code is made of")                                   \
  X(ir_accesses, "loads and stores among them")

typedef struct {
#define FIGURE(name, meaning) uint64_t name;
  TJ_IR_STATS(FIGURE)
#undef FIGURE
} tj_ir_stats;

/* Of a kernel of the module, as it is now. */
tj_ir_stats tj_module_stats(tj_job *job, const tj_module *module, const tj_kernel *kernel, const tj_target *target);

/* Hides from what selects instructions that which it is wrong about: constants 0 of sums for a target that
 * takes_sums_for_signs, shifts and upper halves of offsets for one that has_signed_offsets. The optimizer's passes
 * have to have run, which find more of them. */
void tj_module_hide(tj_job *job, tj_module *module, const tj_target *target);

/* The module as LLVM's text, in the job's arena. */
const char *tj_module_text(tj_job *job, tj_module *module);

/* The module as LLVM's bitcode, likewise. */
tj_bytes tj_module_bitcode(tj_job *job, tj_module *module);

/* Fails with TJ5003 when LLVM has reported an error since the module began; `what` was being done. */
void tj_module_check(tj_job *job, tj_module *module, const char *what);

/* Gives everything back; the module is {0} again. May be called twice. */
void tj_module_dispose(tj_module *module);

#endif
