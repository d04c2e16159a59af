/* SPDX-License-Identifier: MIT */
/* Host code: a relocatable object for this machine, loaded into this process.
 *
 * Objects that refer to nothing outside of themselves but memcpy and its like, as kernels do, are laid out in pages
 * by host_pages.h within microseconds. All others are for a linker that whoever loads them has, if any: the
 * compiler's is LLVM's ORC (jit/compile/orc.h), which links anything, and takes ten times as long.
 *
 * Thread safety: host code is immutable once loaded, and runs on any thread; whoever loaded it unloads it, once it no
 * longer runs. */
#ifndef TJ_LAUNCH_HOST_CODE_H
#define TJ_LAUNCH_HOST_CODE_H

#include "base/bytes.h"
#include "base/job.h"

typedef struct tj_host_code tj_host_code;

/* Runs the work-items of workgroups begin … end-1. `arguments` is the argument block of kernel.h, 8-byte aligned. */
typedef void (*tj_host_entry)(const void *arguments, uint64_t workgroup_begin, uint64_t workgroup_end);

enum { TJ_LINKER_MESSAGE_SIZE = 256 };

/* Who loads what does not stand by itself. */
typedef struct {
  /* Loads an object, and finds the addresses of symbol[0 … count-1]; NULL, and why in `message`, where that fails. */
  void *(*load)(tj_bytes object, const char *const symbol[], uint32_t count, uintptr_t address[],
                char message[TJ_LINKER_MESSAGE_SIZE]);
  void (*unload)(void *loaded);
  size_t bytes; /* about what it keeps for one object, its code included */
} tj_host_linker;

/* Loads an object and looks up its kernels, which are called symbol[0 … count-1] (see tj_target_symbol). `linker`
 * NULL: the object must stand by itself, as those must that this process has not made, since linkers take what they
 * are given for right. The handle outlives the job, and takes its memory from the job's allocator. Fails with TJ5003.
 */
tj_host_code *tj_host_code_load(tj_job *job, tj_bytes object, const tj_host_linker *linker,
                                const char *const symbol[], uint32_t count);

/* Whether the object stands by itself. */
bool tj_host_code_stands_by_itself(const tj_host_code *code);

/* The kernel that was called symbol[index]. Valid until the code is unloaded. */
tj_host_entry tj_host_code_entry(const tj_host_code *code, uint32_t index);

/* About how much memory the loaded code takes. */
size_t tj_host_code_size(const tj_host_code *code);

/* NULL: nothing happens. */
void tj_host_code_unload(tj_host_code *code);

#endif
