/* SPDX-License-Identifier: MIT */
/* Walks of kernels: the named arguments of offsets(dst, V, step=…, count=…, starts=…). */
#include "frontend/sema/sema.h"

#include "ir/layout/arith.h"

#include <inttypes.h>
#include <string.h>

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
static const tj_node *const *integers(tj_scope *scope, const tj_view *view, const tj_ast *ast, const char *name) {
  const tj_value *value = tj_evaluate_expression(scope, ast);
  scope->job->here = ast->span;
  return tj_view_coordinate(scope->graph, view, tj_need_tuple(scope->graph, value, name));
}

static const tj_node *trips_of(tj_scope *scope, const tj_ast *ast) {
  const tj_value *value = tj_evaluate_expression(scope, ast);
  scope->job->here = ast->span;
  const tj_node *trips = tj_need_node(scope->graph, value, names[COUNT]);
  check_at_least_one(scope, trips, names[COUNT]);
  return trips;
}

static const tj_node *const *starts_of(tj_scope *scope, const tj_view *view, const tj_ast *ast) {
  if (ast == NULL) {
    const tj_node **lengths = TJ_NEW_ARRAY(scope->job, const tj_node *, view->rank + 1);
    for (uint32_t i = 0; i < view->rank; i++)
      lengths[i] = view->hidden_length[view->visible[i]];
    return lengths;
  }
  const tj_node *const *lengths = integers(scope, view, ast, names[STARTS]);
  for (uint32_t i = 0; i < view->rank; i++)
    check_at_least_one(scope, lengths[i], names[STARTS]);
  return lengths;
}

const tj_kernel_walk *tj_evaluate_walk(tj_scope *scope, const tj_value *map, const tj_ast *body, bool *may_race) {
  const tj_ast *given[OPTIONS] = {NULL};
  collect(scope, body, given);
  *may_race = given[MAY_RACE] != NULL && tj_evaluate_truth(scope, given[MAY_RACE], names[MAY_RACE]);
  if (given[STEP] == NULL && given[COUNT] == NULL && given[STARTS] == NULL)
    return NULL;
  scope->job->here = body->span;
  for (unsigned i = STEP; i <= COUNT; i++) {
    if (given[i] == NULL)
      tj_fail(scope->job, TJ_WRONG_ARITY, "offsets along a walk needs %s=…", names[i]);
  }
  scope->job->here = body->item[2]->span;
  if (map->kind != TJ_VALUE_VIEW) {
    tj_note(scope->job, "view(L) is a layout L as a view");
    tj_fail_type(scope->job, map, "what is walked", "a view");
  }
  tj_kernel_walk *walk = TJ_NEW(scope->job, tj_kernel_walk);
  walk->step = integers(scope, map->view, given[STEP], names[STEP]);
  walk->trips = trips_of(scope, given[COUNT]);
  walk->start_lengths = starts_of(scope, map->view, given[STARTS]);
  return walk;
}
