/* SPDX-License-Identifier: MIT */
/* Displacements: the constant part of an offset, which machines add for nothing. */
#ifndef TJ_LOWER_DISPLACE_H
#define TJ_LOWER_DISPLACE_H

#include "ir/index/graph.h"

/* rest + displacement, where neither is negative. */
typedef struct {
  const tj_node *rest;
  int64_t displacement;
} tj_displaced;

/* Takes the constant out of an offset: of a sum, or of bits that come together without carries. Offsets that may be
 * negative stay as they are. */
tj_displaced tj_displace(tj_graph *graph, const tj_node *offset);

#endif
