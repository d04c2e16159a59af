/* SPDX-License-Identifier: MIT */
/* Relocatable objects for this machine, loaded through LLVM's ORC: whatever they refer to. Calls of memcpy and the
 * like resolve to this process.
 *
 * Thread safety: each has an LLJIT of its own, so that loaded code shares nothing, needs no locks, and can be
 * unloaded by any thread. */
#ifndef TJ_JIT_ORC_H
#define TJ_JIT_ORC_H

#include "launch/image/host_code.h"

extern const tj_host_linker tj_orc_linker;

#endif
