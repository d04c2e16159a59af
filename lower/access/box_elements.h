/* SPDX-License-Identifier: MIT */
/* What a box that an engine brings has of its buffer, and where in LDS, by its words and the kernel's tensor map. */
#ifndef TJ_LOWER_BOX_ELEMENTS_H
#define TJ_LOWER_BOX_ELEMENTS_H

#include "base/dma/decode.h"
#include "ir/index/eval.h"
#include "lower/kernel/kernel.h"

/* Visits the elements of the BOX step where symbols are bound so, of a buffer at address 0: none where its words are
 * not what an engine may be given. Otherwise why they have no values. */
tj_eval_status tj_visit_box(const tj_kernel *kernel, const tj_kernel_step *step, const tj_bindings *bindings,
                            tj_dma_visitor visit, void *data);

#endif
