/* SPDX-License-Identifier: MIT */
/* LLVM's passes from IR to machine code, without those that find nothing in our kernels, as one C function; in
 * machine_passes.cpp. Only codegen.c calls it. */
#ifndef TJ_JIT_MACHINE_PASSES_H
#define TJ_JIT_MACHINE_PASSES_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the module's machine code, which becomes `buffer`, for the caller to dispose. `idle` has the names of passes
 * that are left out, in LLVM's words, and ends in NULL; NULL: none. Returns whether the target has such output. The
 * module is spent. */
bool tj_run_machine_passes(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *const idle[],
                           LLVMCodeGenFileType output, LLVMMemoryBufferRef *buffer);

#ifdef __cplusplus
}
#endif

#endif
