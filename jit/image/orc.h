/* SPDX-License-Identifier: MIT */
/* Relocatable objects for this machine, loaded through LLVM's ORC: whatever they refer to. Calls of memcpy and the
 * like resolve to this process.
 *
 * Thread safety: each has an LLJIT of its own, so that loaded code shares nothing, needs no locks, and can be
 * unloaded by any thread. */
#ifndef TJ_JIT_ORC_H
#define TJ_JIT_ORC_H

#include "base/bytes.h"

typedef struct LLVMOrcOpaqueLLJIT tj_orc; /* LLVM's name of an LLJIT */

enum { TJ_ORC_MESSAGE_SIZE = 256 };

/* Loads an object, and finds the addresses of symbol[0 … count-1]; NULL, and why in `message`, where that fails. */
tj_orc *tj_orc_load(tj_bytes object, const char *const symbol[], uint32_t count, uintptr_t address[],
                    char message[TJ_ORC_MESSAGE_SIZE]);

/* Takes NULL. */
void tj_orc_unload(tj_orc *orc);

#endif
