/* SPDX-License-Identifier: MIT */
/* LLVM's passes for one target machine, set up once and run on one module after the other: those that make IR
 * cheaper, and those from IR to machine code, without the ones that find nothing in our kernels. To set them up takes
 * longer than to run them on a small kernel.
 *
 * passes.cpp is a library by itself, libtilejit-passes.so, since LLVM's C++ cannot be called without being linked
 * with it. Without that library all passes run, and are set up for each module, which takes longer and makes next to
 * the same code. */
#ifndef TJ_LLVM_PASSES_H
#define TJ_LLVM_PASSES_H

#include <llvm-c/TargetMachine.h>
#include <stdbool.h>

/* A function's attribute: passes that find nothing in it, a comma between them: those of IR by the names of their
 * classes, those to machine code as LLVM's -opt-disable calls them. Only such as code is right without. */
#define TJ_IDLE_IN_FUNCTION "tilejit-idle-passes"

/* A function's attribute: its instructions are selected by GlobalISel; with the value TJ_FIXED, it only moves elements,
 * and launches bring it no numbers. */
#define TJ_SELECTED_WHOLE "tilejit-selected-whole"
#define TJ_FIXED "fixed"

/* Names of passes to machine code that are left out, as LLVM says them; "NAME #2" is the second one of that name, and
 * no other. Each list ends in NULL, or is NULL. */
typedef struct {
  const char *const *always;
  const char *const *in_whole; /* besides, where a function has the attribute TJ_SELECTED_WHOLE */
  const char *const *in_fixed; /* besides, where all of a module have it, with the value TJ_FIXED */
} tj_idle_passes;

typedef struct tj_passes tj_passes;

/* What the library has. Thread safety: one thread at a time for one machine, and what was created for it. Modules may
 * have any context. */
typedef struct {
  /* For modules of the machine, which has to stay until they are disposed. `pipeline` is in the words of LLVM's pass
   * builder. Passes that are not in `idle` are left out of functions that have the attribute TJ_IDLE_IN_FUNCTION.
   * NULL where LLVM does not know what the pipeline says. */
  tj_passes *(*create)(LLVMTargetMachineRef machine, const char *pipeline, const tj_idle_passes *idle);
  void (*optimize)(tj_passes *passes, LLVMModuleRef module);
  /* Makes the module's machine code, which becomes `buffer`, for the caller to dispose. Returns whether the target
   * has such output. The module is spent. */
  bool (*generate)(tj_passes *passes, LLVMModuleRef module, LLVMCodeGenFileType output, LLVMMemoryBufferRef *buffer);
  void (*dispose)(tj_passes *passes);
} tj_pass_functions;

/* The name of the library's functions, which are a tj_pass_functions. */
#define TJ_PASS_FUNCTIONS "tj_pass_functions_of_llvm"

#endif
