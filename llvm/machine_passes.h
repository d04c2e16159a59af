/* SPDX-License-Identifier: MIT */
/* LLVM's passes from IR to machine code, without those that find nothing in our kernels, as one C function:
 * machine_passes.cpp, which is a library by itself, libtilejit-passes.so, since LLVM's C++ cannot be called without
 * being linked with it. Without that library all passes run, which takes longer and makes next to the same code. */
#ifndef TJ_LLVM_MACHINE_PASSES_H
#define TJ_LLVM_MACHINE_PASSES_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

/* Makes the module's machine code, which becomes `buffer`, for the caller to dispose. `idle` has the names of passes
 * that are left out, in LLVM's words, and ends in NULL; NULL: none. Returns whether the target has such output. The
 * module is spent. */
typedef bool (*tj_machine_passes)(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *const idle[],
                                  LLVMCodeGenFileType output, LLVMMemoryBufferRef *buffer);

/* The name of that function in the library. */
#define TJ_MACHINE_PASSES "tj_run_machine_passes"

#endif
