/* SPDX-License-Identifier: MIT */
/* What a kernel relies on in the addresses of its buffers. */
#ifndef TJ_LOWER_ALIGNMENT_H
#define TJ_LOWER_ALIGNMENT_H

#include "lower/kernel/kernel.h"

/* The alignment of a step's address in bytes: a power of two. Of LDS, as far as the offset's facts show. Of a buffer,
 * that of an element, which is all that loads and stores need; but stores that bypass caches are vectors only where
 * they are aligned, so of them, and of all accesses of kernels that are aligned, it is as far as facts show, if the
 * buffer begins at a multiple of tj_buffer_alignment. */
uint32_t tj_step_alignment(const tj_kernel *kernel, const tj_kernel_step *step);

/* Whether the number of a step's first element is a multiple of so many, as far as facts or the kernel's condition
 * show. */
bool tj_step_begins_at_multiple(const tj_kernel *kernel, const tj_kernel_step *step, uint32_t elements);

/* What the address of buffer number `buffer` has to be a multiple of, in bytes, for the kernel to be right: a power
 * of two, at least the size of an element. */
uint32_t tj_buffer_alignment(const tj_kernel *kernel, uint32_t buffer);

#endif
