/* SPDX-License-Identifier: MIT */
/* Leaves become modes, and these layouts. */
#include "ir/layout/leaves.h"

const tj_tuple *tj_leaves_put(tj_leaves *leaves, const tj_tuple *shape, const tj_tuple *stride) {
  leaves->stride[leaves->count] = stride;
  return leaves->shape[leaves->count++] = shape;
}

tj_layout tj_leaves_mode(tj_graph *graph, const tj_leaves *leaves) {
  return tj_layout_of_leaves(graph, leaves->shape, leaves->stride, leaves->count);
}

tj_layout tj_leaves_pair(tj_graph *graph, const tj_leaves *first, const tj_leaves *second) {
  tj_layout mode[] = {tj_leaves_mode(graph, first), tj_leaves_mode(graph, second)};
  return tj_layout_concat(graph, mode, 2);
}
