/* SPDX-License-Identifier: MIT */
/* LLVM's registries, which are global to the process: initialised once, before anything else of LLVM is used.
 *
 * LLVM's own initialisers are not safe under threads, so nothing else in tilejit calls them. */
#ifndef TJ_JIT_LLVM_H
#define TJ_JIT_LLVM_H

/* Initialises code generation for AMDGPU, NVPTX and this host, disassembly for all but NVPTX. Cheap after the first call; may be
 * called from any thread. */
void tj_llvm_initialize(void);

#endif
