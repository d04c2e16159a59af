/* SPDX-License-Identifier: MIT */
/* Masks that the bounds of resources take over.
 *
 * GPUs have instructions that are given a resource, an address and a length, and an offset: a load from beyond the
 * length gives zeros, a store there does nothing. An access that is not valid everywhere needs no branch then, and no
 * register that holds the fill: its offset is put beyond the length where it is not valid, which is one selection for
 * all accesses that differ by constants. */
#ifndef TJ_LOWER_BOUNDED_H
#define TJ_LOWER_BOUNDED_H

#include "lower/kernel/kernel.h"
#include "lower/machine/target.h"

/* A base in two: what a resource begins at, and integers that are not negative, and small enough to be skipped by the
 * scalar of an instruction. */
enum { TJ_BASE_PARTS = 4 };
typedef struct {
  const tj_node *anchor; /* NULL: 0 */
  const tj_node *part[TJ_BASE_PARTS];
  uint32_t count;
} tj_base_parts;

tj_base_parts tj_split_base(const tj_node *base);

/* Has resources take over the masks of a kernel's accesses, and of its faster ones', where all of these are right,
 * the fill is zeros, and it takes fewer instructions than branches. */
void tj_bound_accesses(tj_graph *graph, tj_kernel *kernel, const tj_target *target);

#endif
