/* SPDX-License-Identifier: MIT */
/* Walks through views, from their parts; and the named arguments of offsets(dst, V, step=…, count=…, starts=…). */
#include "frontend/sema/sema.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

#include <inttypes.h>
#include <string.h>

/* --- walks --- */

static void check_at_least_one(tj_scope *scope, const tj_node *value, const char *name) {
  switch (tj_decide_less_equal(scope->graph, tj_int(scope->graph, 1), value)) {
  case TJ_YES:
    return;
  case TJ_NO:
    tj_fail(scope->job, TJ_MOVE_COUNT, "%s is %s, less than 1", name, tj_describe(scope->graph, value));
  default:
    tj_fail_needs(scope->graph, name, value, ">=", tj_int(scope->graph, 1));
  }
}

/* One integer for each dimension of the view. */
static const tj_node *const *integers(tj_scope *scope, const tj_view *view, const tj_value *value, tj_span span,
                                      const char *name) {
  scope->job->here = span;
  return tj_view_coordinate(scope->graph, view, tj_need_tuple(scope->graph, value, name));
}

/* After so many steps every walk has left the view, wherever in it it began. */
static const tj_node *trips_to_leave(tj_scope *scope, const tj_view *view, const tj_node *const step[]) {
  tj_graph *graph = scope->graph;
  const tj_node *least = NULL;
  for (uint32_t i = 0; i < view->rank; i++) {
    const tj_node *length = view->hidden_length[view->visible[i]];
    if (!tj_is_constant(step[i]))
      tj_fail(scope->job, TJ_WRONG_ARITY, "the walk needs count=…, since step %s is no constant",
              tj_describe(graph, step[i]));
    if (step[i]->value == 0 || step[i]->value == INT64_MIN)
      continue;
    const tj_node *stride = tj_int(graph, step[i]->value < 0 ? -step[i]->value : step[i]->value);
    const tj_node *trips = tj_ceil_div(graph, length, stride);
    least = least == NULL ? trips : tj_min(graph, least, trips);
  }
  if (least == NULL)
    tj_fail(scope->job, TJ_WRONG_ARITY, "the walk needs count=…, since it stays where it is");
  return tj_simplified(graph, least);
}

static const tj_node *trips_of(tj_scope *scope, const tj_walk_parts *parts) {
  scope->job->here = parts->count_span;
  const tj_node *trips = tj_need_node(scope->graph, parts->count, "count");
  check_at_least_one(scope, trips, "count");
  return trips;
}

static const tj_node *const *starts_of(tj_scope *scope, const tj_view *view, const tj_walk_parts *parts) {
  if (parts->starts == NULL) {
    const tj_node **lengths = TJ_NEW_ARRAY(scope->job, const tj_node *, view->rank + 1);
    for (uint32_t i = 0; i < view->rank; i++)
      lengths[i] = view->hidden_length[view->visible[i]];
    return lengths;
  }
  const tj_node *const *lengths = integers(scope, view, parts->starts, parts->starts_span, "starts");
  for (uint32_t i = 0; i < view->rank; i++)
    check_at_least_one(scope, lengths[i], "starts");
  return lengths;
}

const tj_path *tj_walk_of(tj_scope *scope, const tj_walk_parts *parts) {
  scope->job->here = parts->map_span;
  if (parts->map->kind != TJ_VALUE_VIEW) {
    tj_note(scope->job, "view(L) is a layout L as a view");
    tj_fail_type(scope->job, parts->map, "what is walked", "a view");
  }
  tj_path *walk = TJ_NEW(scope->job, tj_path);
  walk->view = parts->map->view;
  walk->step = integers(scope, walk->view, parts->step, parts->step_span, "step");
  walk->trips = parts->count != NULL ? trips_of(scope, parts) : trips_to_leave(scope, walk->view, walk->step);
  walk->start_lengths = starts_of(scope, walk->view, parts);
  return walk;
}

/* --- kernels --- */

enum { STEP, COUNT, STARTS, MAY_RACE, OPTIONS };

static const char *const names[OPTIONS] = {"step", "count", "starts", "may_race"};

static unsigned find_name(const char *name) {
  unsigned i = 0;
  while (i < OPTIONS && strcmp(names[i], name) != 0)
    i++;
  return i;
}

static void collect(tj_scope *scope, const tj_ast *body, const tj_ast *given[OPTIONS]) {
  for (uint32_t i = 3; i < body->count; i++) {
    const tj_ast *ast = body->item[i];
    scope->job->here = ast->span;
    if (ast->kind != TJ_AST_NAMED)
      tj_fail(scope->job, TJ_WRONG_ARITY, "offsets takes a destination and a view");
    unsigned which = find_name(ast->name);
    if (which == OPTIONS)
      tj_fail(scope->job, TJ_UNKNOWN_ARGUMENT, "offsets has no argument '%s'", ast->name);
    if (given[which] != NULL)
      tj_fail(scope->job, TJ_UNKNOWN_ARGUMENT, "'%s' is given twice", ast->name);
    given[which] = ast->item[0];
  }
}

static const tj_value *evaluate(tj_scope *scope, const tj_ast *ast, tj_span *span) {
  if (ast == NULL)
    return NULL;
  *span = ast->span;
  return tj_evaluate_expression(scope, ast);
}

const tj_path *tj_evaluate_walk(tj_scope *scope, const tj_value *map, const tj_ast *body, bool *may_race) {
  const tj_ast *given[OPTIONS] = {NULL};
  collect(scope, body, given);
  *may_race = given[MAY_RACE] != NULL && tj_evaluate_truth(scope, given[MAY_RACE], names[MAY_RACE]);
  bool is_given = given[STEP] != NULL || given[COUNT] != NULL || given[STARTS] != NULL;
  if (!is_given)
    return map->kind == TJ_VALUE_WALK ? map->walk : NULL;
  scope->job->here = body->span;
  for (unsigned i = STEP; i <= COUNT; i++) {
    if (given[i] == NULL)
      tj_fail(scope->job, TJ_WRONG_ARITY, "offsets along a walk needs %s=…", names[i]);
  }
  tj_walk_parts parts = {.map = map, .map_span = body->item[2]->span};
  parts.step = evaluate(scope, given[STEP], &parts.step_span);
  parts.count = evaluate(scope, given[COUNT], &parts.count_span);
  parts.starts = evaluate(scope, given[STARTS], &parts.starts_span);
  return tj_walk_of(scope, &parts);
}
