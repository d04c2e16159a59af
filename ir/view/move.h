/* SPDX-License-Identifier: MIT */
/* Moving through a view: CK Tile's tensor coordinates.
 *
 * A cursor holds the index of every hidden dimension of a view at one place. Moving it by a step of the visible
 * dimensions updates them from the top down: transforms that are linear add what the step amounts to; those that are
 * not (merge, modulo, xor …) are computed anew, and only where the step touches them. */
#ifndef TJ_IR_MOVE_H
#define TJ_IR_MOVE_H

#include "ir/view/view.h"

/* Whether l(u + step) - l(u) is the same for all u, so that steps of the upper indices are steps of the lower ones.
 */
bool tj_transform_is_linear(tj_transform_kind kind);
/* That change of a linear transform, for a step of its upper indices: writes lower_count nodes. */
void tj_transform_linear_change(tj_graph *graph, const tj_transform *transform, const tj_node *const step[],
                                const tj_node *change[]);

/* The lower indices of a stage from its upper ones, both by hidden dimension. */
void tj_stage_lower(tj_graph *graph, const tj_stage *stage, const tj_node *index[]);

typedef struct {
  const tj_view *view;
  const tj_node **index; /* by hidden dimension; [0] is the offset into the buffer, without the view's own */
} tj_cursor;

/* At a coordinate: rank nodes. */
tj_cursor tj_cursor_at(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[]);
/* On by a step: rank nodes. */
void tj_cursor_move(tj_graph *graph, tj_cursor *cursor, const tj_node *const step[]);

/* As tj_view_offset and tj_view_valid, with the range check at the top. */
const tj_node *tj_cursor_offset(tj_graph *graph, const tj_cursor *cursor);
const tj_node *tj_cursor_valid(tj_graph *graph, const tj_cursor *cursor);

#endif
