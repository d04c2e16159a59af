/* SPDX-License-Identifier: MIT */
/* Layouts as views, and views as layouts.
 *
 * A view numbers its dimensions as a layout its modes, so that view(L)(i, j) = L(i, j) and layout(V)(i, j) = V(i, j);
 * only the order in which linear coordinates run differs: a view's last dimension is fastest, a layout's first mode.
 */
#ifndef TJ_IR_BRIDGE_H
#define TJ_IR_BRIDGE_H

#include "ir/layout/layout.h"
#include "ir/view/view.h"

/* A dimension for each mode: a mode of several is the merge of its own. TJ3019 for basis strides. */
const tj_view *tj_view_of_layout(tj_graph *graph, tj_layout layout);

/* A mode for each dimension, coalesced (one dimension gives 24:1, or ((6,4)):((1,7)) where it has several digits):
 * TJ3018, naming the obstacle, where the view is no sum of strided digits, does not begin at 0, or is not valid
 * everywhere; TJ2015 where that depends on a parameter. */
tj_layout tj_layout_of_view(tj_graph *graph, const tj_view *view);

#endif
