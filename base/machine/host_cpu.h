/* SPDX-License-Identifier: MIT */
/* What tells the CPU of this machine from others, without asking LLVM what it can do. */
#ifndef TJ_BASE_HOST_CPU_H
#define TJ_BASE_HOST_CPU_H

#include <stdint.h>

/* Everything that code generation for this very CPU may depend on, as text: equal only for CPUs that have the same
 * instructions, under an operating system that lets programs use the same of them. */
enum { TJ_HOST_CPU_SIZE = 512 };
void tj_host_cpu_describe(char text[TJ_HOST_CPU_SIZE]);

/* Bytes of its widest vector register. */
uint32_t tj_host_cpu_register_bytes(void);

#endif
