/* SPDX-License-Identifier: MIT */
/* Layouts put together leaf by leaf. */
#ifndef TJ_IR_LEAVES_H
#define TJ_IR_LEAVES_H

#include "ir/layout/layout.h"

enum { TJ_MOST_LEAVES = 64 };

/* Leaves, or modes of some, side by side: begins as {.count = 0}. */
typedef struct {
  const tj_tuple *shape[TJ_MOST_LEAVES], *stride[TJ_MOST_LEAVES];
  uint32_t count;
} tj_leaves;

/* Another one, which is returned as it is in the shape. */
const tj_tuple *tj_leaves_put(tj_leaves *leaves, const tj_tuple *shape, const tj_tuple *stride);

/* One mode of all: 1:0 where there are none, the leaf where there is one. */
tj_layout tj_leaves_mode(tj_graph *graph, const tj_leaves *leaves);

/* A layout of two such modes. */
tj_layout tj_leaves_pair(tj_graph *graph, const tj_leaves *first, const tj_leaves *second);

#endif
