/* SPDX-License-Identifier: MIT */
/* Host code: a relocatable object for this machine, loaded into this process.
 *
 * There are two ways. Objects that refer to nothing outside of themselves, as kernels mostly do, are laid out in
 * pages by host_pages.h within microseconds; all others go through LLVM's ORC, orc.h, which links anything, and takes
 * ten times as long.
 *
 * Thread safety: host code is immutable once loaded, and runs on any thread; whoever loaded it unloads it, once it no
 * longer runs. */
#ifndef TJ_JIT_HOST_CODE_H
#define TJ_JIT_HOST_CODE_H

#include "base/bytes.h"
#include "base/job.h"

typedef struct tj_host_code tj_host_code;

/* Runs the work-items of workgroups begin … end-1. `arguments` is the argument block of kernel.h, 8-byte aligned. */
typedef void (*tj_host_entry)(const void *arguments, uint64_t workgroup_begin, uint64_t workgroup_end);

/* Loads an object and looks up its kernels, which are called symbol[0 … count-1] (see tj_target_symbol). The handle
 * outlives the job, and takes its memory from the job's allocator. Fails with TJ5003. */
tj_host_code *tj_host_code_load(tj_job *job, tj_bytes object, const char *const symbol[], uint32_t count);

/* The same of an object that this process has not made: ORC, which takes what it is given for right, is not asked. */
tj_host_code *tj_host_code_restore(tj_job *job, tj_bytes object, const char *const symbol[], uint32_t count);

/* Whether the object could be restored, too. */
bool tj_host_code_is_restorable(const tj_host_code *code);

/* The kernel that was called symbol[index]. Valid until the code is unloaded. */
tj_host_entry tj_host_code_entry(const tj_host_code *code, uint32_t index);

/* About how much memory the loaded code takes. */
size_t tj_host_code_size(const tj_host_code *code);

/* NULL: nothing happens. */
void tj_host_code_unload(tj_host_code *code);

#endif
