/* SPDX-License-Identifier: MIT */
/* Linking: a relocatable AMDGPU object becomes a code object that a GPU's loader takes.
 *
 * The linker is LLD, in this process. It reads a memory file and writes a pipe, both named through /proc/self/fd and
 * out of other users' reach; no file is created and no process is started.
 *
 * LLD trusts what compilers write: only give it what this process has compiled. tj_link itself refuses what is no
 * whole AMDGPU relocatable, but damage inside of sections could make LLD end the process.
 *
 * Thread safety: may be called from any thread. LLD has state that is global to the process, so links run one after
 * another. A program that uses LLD itself in the same process must not do so at the same time. */
#ifndef TJ_JIT_LINK_H
#define TJ_JIT_LINK_H

#include "base/bytes.h"
#include "base/job.h"

/* The shared object made of one relocatable object; the result lives in the job's arena. Fails with TJ5004 and the
 * linker's messages when the object is damaged, or refers to a symbol that it does not define. */
tj_bytes tj_link(tj_job *job, tj_bytes object);

#endif
