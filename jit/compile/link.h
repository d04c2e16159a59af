/* SPDX-License-Identifier: MIT */
/* Linking: a relocatable AMDGPU object becomes a code object that a GPU's loader takes.
 *
 * It is made of what kernels consist of: code, constants, a note, the symbols that others see. There is one shape of
 * shared object for that, in which every byte that is loaded is where LLD would have put it. Writable data, and
 * whatever a loader would have to relocate, no kernel of ours has: an object that needs them is refused.
 *
 * Thread safety: may be called from any thread. */
#ifndef TJ_JIT_LINK_H
#define TJ_JIT_LINK_H

#include "base/bytes.h"
#include "base/job.h"

/* The shared object made of one relocatable object; the result lives in the job's arena. Fails with TJ5004 when the
 * object is damaged, is not of that shape, or refers to a symbol that it does not define. */
tj_bytes tj_link(tj_job *job, tj_bytes object);

#endif
