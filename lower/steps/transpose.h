/* SPDX-License-Identifier: MIT */
/* Blocks of elements that turn around in registers, on machines that permute the lanes of vectors. */
#ifndef TJ_LOWER_TRANSPOSE_H
#define TJ_LOWER_TRANSPOSE_H

#include "lower/steps/steps.h"

/* Before a store: where its slots are the same lane of as many loaded vectors, puts the elements of all these vectors
 * into others that stores can take whole, and has the slots say so. Otherwise, or where the target permutes no
 * vectors, nothing happens. */
void tj_emit_transposed(tj_emitter *emitter, const tj_kernel_step *store);

#endif
