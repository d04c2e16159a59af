/* SPDX-License-Identifier: MIT */
/* Walks through views: from a view and a step to integers that a loop carries.
 *
 * Where a cursor (ir/view/move.h) computes anew what is not linear, a walk knows beforehand how each hidden index
 * changes from one place to the next: by an amount that is the same on every trip, and by further amounts on trips on
 * which a digit of some merge overflows. Digits are advanced by the digits of the step, with a comparison and a
 * subtraction for each; everything linear follows by sums of those amounts. So a trip has neither divisions nor
 * products. Only behind transforms that are neither linear nor digits (xor, cyclic_shift, indexing), and in merges of
 * an index that changes by many amounts, are indices computed from what is carried. */
#ifndef TJ_LOWER_WALK_VIEW_H
#define TJ_LOWER_WALK_VIEW_H

#include "ir/view/view.h"
#include "lower/kernel/loop.h"

/* The starting points are box[0] × box[1] × … from the view's origin on; a step is the same for all of them, and
 * depends on parameters alone. */
typedef struct {
  const tj_view *view;
  const tj_node *const *start; /* rank expressions of the work-item: 0 <= start[i] < box[i] */
  const tj_node *const *box;
  const tj_node *const *step;
} tj_view_walk;

/* The place that a trip has come to, as expressions of what the loop carries: as tj_view_offset and tj_view_valid
 * with the range check at the top, at start + counter * step. */
typedef struct {
  const tj_node *offset, *valid;
} tj_walked;

/* Adds to the loop what the walk carries. */
tj_walked tj_walk_view(tj_graph *graph, tj_loop *loop, const tj_view_walk *walk);

/* The same place from its coordinate, by divisions where the view has them. */
tj_walked tj_walk_directly(tj_graph *graph, const tj_loop *loop, const tj_view_walk *walk);

#endif
