/* SPDX-License-Identifier: MIT */
/* Cursors: placing, moving, reading. */
#include "ir/view/move.h"

#include "ir/layout/arith.h"

bool tj_transform_is_linear(tj_transform_kind kind) {
  tj_stage_kind stage = tj_transform_stage(kind);
  return stage != TJ_STAGE_MERGE && stage != TJ_STAGE_OTHER;
}

static void gather(const tj_node *const from[], const uint32_t ids[], uint32_t count, const tj_node *to[]) {
  for (uint32_t i = 0; i < count; i++)
    to[i] = from[ids[i]];
}

static void scatter(const tj_node *const from[], const uint32_t ids[], uint32_t count, const tj_node *to[]) {
  for (uint32_t i = 0; i < count; i++)
    to[ids[i]] = from[i];
}

static void lower_stage(tj_graph *graph, const tj_stage *stage, const tj_node *const index[],
                        const tj_node *lower[]) {
  const tj_node *upper[TJ_MAX_DIMENSIONS];
  gather(index, stage->upper_id, stage->transform->upper_count, upper);
  tj_transform_lower(graph, stage->transform, upper, lower);
}

void tj_stage_lower(tj_graph *graph, const tj_stage *stage, const tj_node *index[]) {
  const tj_node *lower[TJ_MAX_DIMENSIONS];
  lower_stage(graph, stage, index, lower);
  scatter(lower, stage->lower_id, stage->transform->lower_count, index);
}

tj_cursor tj_cursor_at(tj_graph *graph, const tj_view *view, const tj_node *const coordinate[]) {
  tj_spend(graph->job, (uint64_t)view->hidden_count + view->stage_count);
  tj_cursor cursor = {view, TJ_NEW_ARRAY(graph->job, const tj_node *, view->hidden_count)};
  scatter(coordinate, view->visible, view->rank, cursor.index);
  for (uint32_t s = view->stage_count; s-- > 0;)
    tj_stage_lower(graph, &view->stage[s], cursor.index);
  return cursor;
}

/* l(u + step) - l(u) is l(step) - l(0). */
void tj_transform_linear_change(tj_graph *graph, const tj_transform *transform, const tj_node *const step[],
                                const tj_node *change[]) {
  const tj_node *zero[TJ_MAX_DIMENSIONS], *at_zero[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < transform->upper_count; i++)
    zero[i] = tj_int(graph, 0);
  tj_transform_lower(graph, transform, zero, at_zero);
  tj_transform_lower(graph, transform, step, change);
  for (uint32_t i = 0; i < transform->lower_count; i++)
    change[i] = tj_terse_sub(graph, change[i], at_zero[i]);
}

static bool is_still(const tj_node *const step[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!tj_is_int(step[i], 0))
      return false;
  return true;
}

/* How one stage's lower indices change, where its upper ones have changed already. */
static void change_of_stage(tj_graph *graph, const tj_cursor *cursor, const tj_stage *stage,
                            const tj_node *const moved[], const tj_node *change[]) {
  const tj_transform *transform = stage->transform;
  const tj_node *step[TJ_MAX_DIMENSIONS];
  gather(moved, stage->upper_id, transform->upper_count, step);
  if (tj_transform_is_linear(transform->kind)) {
    tj_transform_linear_change(graph, transform, step, change);
    return;
  }
  if (is_still(step, transform->upper_count)) {
    for (uint32_t i = 0; i < transform->lower_count; i++)
      change[i] = tj_int(graph, 0);
    return;
  }
  lower_stage(graph, stage, cursor->index, change);
  for (uint32_t i = 0; i < transform->lower_count; i++)
    change[i] = tj_terse_sub(graph, change[i], cursor->index[stage->lower_id[i]]);
}

static void add_change(tj_graph *graph, tj_cursor *cursor, const uint32_t ids[], uint32_t count,
                       const tj_node *const moved[]) {
  for (uint32_t i = 0; i < count; i++)
    cursor->index[ids[i]] = tj_terse_add(graph, cursor->index[ids[i]], moved[ids[i]]);
}

void tj_cursor_move(tj_graph *graph, tj_cursor *cursor, const tj_node *const step[]) {
  const tj_view *view = cursor->view;
  tj_spend(graph->job, (uint64_t)view->hidden_count + view->stage_count);
  const tj_node **moved = TJ_NEW_ARRAY(graph->job, const tj_node *, view->hidden_count);
  const tj_node *change[TJ_MAX_DIMENSIONS];
  scatter(step, view->visible, view->rank, moved);
  add_change(graph, cursor, view->visible, view->rank, moved);
  for (uint32_t s = view->stage_count; s-- > 0;) {
    const tj_stage *stage = &view->stage[s];
    change_of_stage(graph, cursor, stage, moved, change);
    scatter(change, stage->lower_id, stage->transform->lower_count, moved);
    add_change(graph, cursor, stage->lower_id, stage->transform->lower_count, moved);
  }
}

const tj_node *tj_cursor_offset(tj_graph *graph, const tj_cursor *cursor) {
  return tj_terse_add(graph, cursor->index[0], cursor->view->offset);
}

static const tj_node *within(tj_graph *graph, const tj_node *index, const tj_node *length) {
  const tj_node *not_negative =
      tj_facts_nonnegative(&index->facts) ? tj_int(graph, 1) : tj_less(graph, tj_int(graph, -1), index);
  bool below = tj_decide_less(graph, index, length) == TJ_YES;
  return below ? not_negative : tj_terse_both(graph, not_negative, tj_less(graph, index, length));
}

const tj_node *tj_cursor_valid(tj_graph *graph, const tj_cursor *cursor) {
  const tj_view *view = cursor->view;
  const tj_node *valid = tj_int(graph, 1), *upper[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < view->rank; i++) {
    uint32_t id = view->visible[i];
    valid = tj_terse_both(graph, valid, within(graph, cursor->index[id], view->hidden_length[id]));
  }
  for (uint32_t s = 0; s < view->stage_count; s++) {
    const tj_transform *transform = view->stage[s].transform;
    gather(cursor->index, view->stage[s].upper_id, transform->upper_count, upper);
    valid = tj_terse_both(graph, valid, tj_transform_valid(graph, transform, upper));
  }
  return valid;
}
