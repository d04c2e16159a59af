/* SPDX-License-Identifier: MIT */
/* The memory accesses among a kernel's steps, as machine code makes them: what is moved twice between two barriers is
 * moved once, words side by side that are moved one after the other are moved together, what is the same for a
 * workgroup may be loaded once for a wave; what memory does not add itself is loaded before the sum is exchanged for
 * it. */
#ifndef TJ_LOWER_MEMORY_ACCESS_H
#define TJ_LOWER_MEMORY_ACCESS_H

#include "lower/access/price.h"

typedef struct {
  const tj_kernel_step *step; /* the first of those that it makes */
  const tj_access *place;     /* of that step: one of its two, if it has two */
  const tj_kernel_step *loop; /* of the steps, whose every trip makes it; NULL: it is in none */
  bool is_store, is_uniform;
  uint32_t bytes; /* of a work-item; of a run: at most */
} tj_memory_access;

/* In the job's arena. */
typedef struct {
  tj_memory_access *item;
  uint32_t count;
} tj_memory_accesses;

/* Those of the kernel's `step`, or of its `inner_step`. */
tj_memory_accesses tj_list_memory_accesses(tj_graph *graph, const tj_kernel *kernel, bool of_inner,
                                           const tj_price_machine *machine);

#endif
