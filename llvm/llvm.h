/* SPDX-License-Identifier: MIT */
/* LLVM as a library that is opened when code is first generated or disassembled: its functions by llvm.def, under
 * their own names.
 *
 * Loading LLVM takes several times as long as everything else that a short run does; so nothing here is linked with
 * it, and whoever is about to call its functions calls tj_llvm_open first. Its registries, which are global to the
 * process, and whose own initialisers are not safe under threads, are initialised in the same step.
 *
 * The library is the one that TILEJIT_LLVM_LIBRARY names, or that the process has already; otherwise it is looked for
 * beside the file that this code is in, then where the build has found it, and last where the dynamic linker looks.
 * It stays in the process.
 *
 * Thread safety: any thread, any function. */
#ifndef TJ_LLVM_H
#define TJ_LLVM_H

#include "base/job.h"
#include "base/library.h"
#include "llvm/passes.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

typedef struct {
#define FUNCTION(name) __typeof__(LLVM##name) *name;
#include "llvm/llvm.def"
#undef FUNCTION
  const tj_pass_functions *passes; /* NULL where libtilejit-passes.so is not found, or is for another LLVM */
} tj_llvm_functions;

/* Set by tj_llvm_open, never changed afterwards. */
extern tj_llvm_functions tj_llvm;

/* LLVMContextCreate is tj_llvm.ContextCreate, and so on. */
#include "llvm/llvm_names.h"

/* Makes LLVM's functions callable: code generation for AMDGPU, NVPTX and this host, disassembly for all but NVPTX.
 * Fails with TJ5012 where there is no LLVM. Cheap after the first call. */
void tj_llvm_open(tj_job *job);

/* The same for those who have no job; false, and why in `message`, where there is no LLVM. */
bool tj_llvm_load(char message[TJ_LIBRARY_MESSAGE_SIZE]);

/* Which LLVM tj_llvm_open opens or has opened: what versions and builds to tell apart. It is not loaded for that,
 * unless only the dynamic linker knows where it is. */
enum { TJ_LLVM_IDENTITY_SIZE = 160 };
void tj_llvm_identify(char text[TJ_LLVM_IDENTITY_SIZE]);

#endif
