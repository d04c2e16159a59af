/* SPDX-License-Identifier: MIT */
/* LLD's ELF linker as one C function, in link.cpp. Only link.c calls it. */
#ifndef TJ_JIT_LLD_H
#define TJ_JIT_LLD_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the linker with `count` arguments, the first of which names the flavour (ld.lld). Returns whether it
 * succeeded. What it said is cut to `capacity` bytes and ends in a zero byte. Serialised within the process. */
bool tj_lld_link(const char *const *argument, size_t count, char *message, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
