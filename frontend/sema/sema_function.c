/* SPDX-License-Identifier: MIT */
/* Functions of a program: let f(x, y=1) = expression.
 *
 * A call is the body's value with the arguments' values in place of the parameters. What else the body mentions is
 * looked up once, where the function is defined, and so are the values of parameters that a call leaves out: a name
 * that is defined later, or where the call stands, changes nothing. A function is no value, and not defined in its
 * own body; so calls end, and how deeply they nest is bounded. */
#include "frontend/names/cute.h"
#include "frontend/names/spelling.h"
#include "frontend/sema/call.h"
#include "frontend/sema/sema.h"

#include <inttypes.h>
#include <string.h>

typedef struct tj_function {
  const tj_item *item;
  tj_source source;                 /* of the body */
  tj_scope outer;                   /* what the body mentions, but for the parameters */
  const tj_value *const *otherwise; /* for each parameter, where a call gives none; NULL: every call gives one */
} tj_function;

/* --- definitions --- */

static void count_name(const tj_ast *name, void *data) {
  (void)name;
  ++*(uint32_t *)data;
}

typedef struct {
  const tj_scope *from;
  tj_function *function;
} capture;

static void check_known(const capture *c, const tj_ast *name) {
  if (name->kind == TJ_AST_TEMPLATE || tj_builtin_find(name->name) != NULL ||
      tj_cute_word_of(name->name) != TJ_CUTE_NO_WORD || tj_cute_element_bits(name->name) != 0 ||
      tj_is_array_function(name->name))
    return;
  c->from->job->here = name->span;
  if (strcmp(name->name, c->function->item->name) == 0) {
    tj_note(c->from->job, "functions are not recursive");
    tj_fail(c->from->job, TJ_UNKNOWN_NAME, "'%s' is not defined in its own body", name->name);
  }
  tj_misspelling of = tj_misspelling_of(name->name);
  tj_scope_try_names(c->from, &of);
  for (uint32_t i = 0; i < c->function->item->parameter_count; i++)
    tj_misspelling_try(&of, c->function->item->parameter[i].name);
  tj_fail_unknown_name(c->from->job, &of);
}

static void capture_name(const tj_ast *name, void *data) {
  const capture *c = data;
  if (tj_item_has_parameter(c->function->item, name->name) || tj_scope_find(&c->function->outer, name->name) != NULL)
    return;
  const tj_binding *binding = tj_scope_find(c->from, name->name);
  if (binding != NULL)
    tj_scope_define(&c->function->outer, *binding);
  else
    check_known(c, name);
}

static const tj_value *const *values_otherwise(tj_scope *scope, const tj_item *item) {
  const tj_value **values = TJ_NEW_ARRAY(scope->job, const tj_value *, item->parameter_count + 1);
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    if (item->parameter[i].value != NULL)
      values[i] = tj_evaluate_expression(scope, item->parameter[i].value);
  }
  return values;
}

const tj_function *tj_function_define(tj_scope *scope, const tj_item *item) {
  tj_function *function = TJ_NEW(scope->job, tj_function);
  uint32_t names = 0;
  tj_ast_each_name(scope->job, item->body, count_name, &names);
  function->item = item;
  function->source = scope->job->source;
  function->outer = tj_scope_open(scope->graph, names);
  capture c = {scope, function};
  tj_ast_each_name(scope->job, item->body, capture_name, &c);
  function->otherwise = values_otherwise(scope, item);
  return function;
}

const tj_item *tj_function_item(const tj_function *function) {
  return function->item;
}

const tj_scope *tj_function_scope(const tj_function *function) {
  return &function->outer;
}

const tj_value *tj_function_otherwise(const tj_function *function, uint32_t parameter) {
  return function->otherwise[parameter];
}

tj_open_call tj_function_open(tj_job *job, const tj_function *function, const tj_ast *application) {
  tj_open_call call = {function->item->name, job->source, application->span, job->calls};
  job->source = function->source;
  return call;
}

void tj_function_close(tj_job *job, const tj_open_call *call) {
  job->source = call->source;
  job->calls = call->outer;
  job->here = call->span;
}

/* --- calls --- */

enum { FUEL_PER_CALL = 64 };

static const char *form_of(tj_job *job, const tj_item *item) {
  const char *form = "";
  for (uint32_t i = 0; i < item->parameter_count; i++)
    form = tj_string_format(job, "%s%s%s%s", form, i == 0 ? "" : ", ", item->parameter[i].name,
                            item->parameter[i].value != NULL ? "=…" : "");
  return tj_string_format(job, "%s(%s)", item->name, form);
}

static uint32_t find_parameter(const tj_item *item, const char *name) {
  uint32_t i = 0;
  while (i < item->parameter_count && strcmp(item->parameter[i].name, name) != 0)
    i++;
  return i;
}

/* The number of the parameter that argument `index` of an application gives. */
static uint32_t parameter_of(tj_job *job, const tj_item *item, const tj_ast *application, uint32_t index) {
  const tj_ast *argument = application->item[index];
  job->here = argument->span;
  if (argument->kind == TJ_AST_NAMED) {
    uint32_t parameter = find_parameter(item, argument->name);
    if (parameter < item->parameter_count)
      return parameter;
    tj_note(job, "the form is %s", form_of(job, item));
    tj_fail(job, TJ_UNKNOWN_ARGUMENT, "%s has no parameter '%s'", item->name, argument->name);
  }
  if (index > 1 && application->item[index - 1]->kind == TJ_AST_NAMED)
    tj_fail(job, TJ_WRONG_ARITY, "positional arguments come before named ones");
  return index - 1;
}

static _Noreturn void fail_arity(tj_job *job, const tj_item *item, const tj_ast *application) {
  uint32_t count = application->count - 1;
  job->here = application->span;
  tj_note(job, "the form is %s", form_of(job, item));
  tj_fail(job, TJ_WRONG_ARITY, "%s got %" PRIu32 " argument%s", item->name, count, count == 1 ? "" : "s");
}

void tj_function_arguments(tj_job *job, const tj_function *function, const tj_ast *application,
                           const tj_ast *given[]) {
  const tj_item *item = function->item;
  if (application->count - 1 > item->parameter_count)
    fail_arity(job, item, application);
  for (uint32_t i = 1; i < application->count; i++) {
    const tj_ast *argument = application->item[i];
    uint32_t parameter = parameter_of(job, item, application, i);
    if (given[parameter] != NULL)
      tj_fail(job, TJ_UNKNOWN_ARGUMENT, "'%s' is given twice", item->parameter[parameter].name);
    given[parameter] = argument->kind == TJ_AST_NAMED ? argument->item[0] : argument;
  }
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    if (given[i] == NULL && function->otherwise[i] == NULL)
      fail_arity(job, item, application);
  }
}

/* A value for each parameter. */
static const tj_value *const *collect_arguments(tj_scope *scope, const tj_function *function,
                                                const tj_ast *application) {
  uint32_t count = function->item->parameter_count;
  const tj_ast **given = TJ_NEW_ARRAY(scope->job, const tj_ast *, count + 1);
  const tj_value **values = TJ_NEW_ARRAY(scope->job, const tj_value *, count + 1);
  tj_function_arguments(scope->job, function, application, given);
  for (uint32_t i = 0; i < count; i++)
    values[i] = given[i] != NULL ? tj_evaluate_expression(scope, given[i]) : function->otherwise[i];
  return values;
}

/* The scope of the body: parameters, and around them what the function keeps. */
static tj_scope scope_of_body(const tj_scope *caller, const tj_function *function, const tj_value *const values[]) {
  const tj_item *item = function->item;
  tj_scope scope = tj_scope_open(caller->graph, item->parameter_count);
  scope.outer = &function->outer;
  scope.height = caller->height + item->body->height + 1;
  for (uint32_t i = 0; i < item->parameter_count; i++)
    tj_scope_define(
        &scope, (tj_binding){.name = item->parameter[i].name, .value = values[i], .span = item->parameter[i].span});
  return scope;
}

/* The body's value with a value for each parameter; `application` is the call. */
static const tj_value *call_with(tj_scope *scope, const tj_function *function, const tj_ast *application,
                                 const tj_value *const values[]) {
  tj_job *job = scope->job;
  tj_spend(job, FUEL_PER_CALL);
  tj_scope body = scope_of_body(scope, function, values);
  job->here = application->span;
  if (body.height > TJ_MAX_NESTING)
    tj_fail(job, TJ_DEPTH_LIMIT, "calls of functions nested more than %d levels deep", TJ_MAX_NESTING);
  const tj_open_call call = tj_function_open(job, function, application);
  job->calls = &call;
  const tj_value *value = tj_evaluate_expression(&body, function->item->body);
  tj_function_close(job, &call);
  return value;
}

const tj_value *tj_function_call(tj_scope *scope, const tj_function *function, const tj_ast *application) {
  return call_with(scope, function, application, collect_arguments(scope, function, application));
}

/* --- filter_tuple --- */

static uint32_t count_of_modes(tj_call *call, uint32_t index) {
  const tj_value *of = call->arg[index];
  switch (of->kind) {
  case TJ_VALUE_TUPLE:
    return tj_tuple_rank(of->tuple);
  case TJ_VALUE_LAYOUT:
    return tj_tuple_rank(of->layout.shape);
  case TJ_VALUE_LIST:
  case TJ_VALUE_TILER:
    return of->count;
  default:
    tj_fail_arg(call, index, "a tuple, a layout, a list or a tiler");
  }
}

/* What filter_tuple is called with, but for the function. */
static tj_call filtered_of(tj_scope *scope, const tj_ast *application) {
  uint32_t count = application->count - 2;
  const tj_value **args = TJ_NEW_ARRAY(scope->job, const tj_value *, count);
  tj_span *spans = TJ_NEW_ARRAY(scope->job, tj_span, count);
  for (uint32_t i = 0; i < count; i++) {
    spans[i] = application->item[i + 1]->span;
    args[i] = tj_evaluate_expression(scope, application->item[i + 1]);
  }
  return (tj_call){.scope = scope,
                   .graph = scope->graph,
                   .job = scope->job,
                   .arg = args,
                   .span = spans,
                   .count = count,
                   .builtin = tj_builtin_find("filter_tuple")};
}

static const tj_value *mode_of(tj_call *call, uint32_t index, uint32_t mode) {
  const tj_value *args[] = {call->arg[index], tj_give_integer(call, mode)};
  const tj_span spans[] = {call->span[index], call->span[index]};
  tj_call get = *call;
  get.arg = args;
  get.span = spans;
  get.count = 2;
  return tj_args_part(&get);
}

/* The function that is the last argument: one of the program, of as many parameters as there are others. */
static const tj_function *filter_of(tj_scope *scope, const tj_ast *application, uint32_t count) {
  const tj_ast *name = application->item[application->count - 1];
  const tj_binding *binding = tj_scope_find(scope, name->name);
  scope->job->here = name->span;
  if (binding == NULL || binding->value != NULL)
    tj_fail(scope->job, TJ_WRONG_TYPE, "the last argument of filter_tuple is a function of the program, not '%s'",
            name->name);
  if (binding->function->item->parameter_count != count)
    tj_fail(scope->job, TJ_WRONG_ARITY, "%s has %" PRIu32 " parameters, and gets %" PRIu32 " in filter_tuple",
            name->name, binding->function->item->parameter_count, count);
  return binding->function;
}

const tj_value *tj_evaluate_filter(tj_scope *scope, const tj_ast *application) {
  tj_call call = filtered_of(scope, application);
  const tj_function *function = filter_of(scope, application, call.count);
  uint32_t modes = count_of_modes(&call, 0), total = 0, capacity = modes + 4;
  const tj_tuple **items = TJ_NEW_ARRAY(scope->job, const tj_tuple *, capacity);
  for (uint32_t mode = 0; mode < modes; mode++) {
    const tj_value **values = TJ_NEW_ARRAY(scope->job, const tj_value *, call.count);
    for (uint32_t i = 0; i < call.count; i++)
      values[i] = mode_of(&call, i, mode);
    const tj_value *kept = call_with(scope, function, application, values);
    if (kept->kind != TJ_VALUE_TUPLE || !tj_tuple_is_list(kept->tuple))
      tj_fail(scope->job, TJ_WRONG_TYPE,
              "the function of filter_tuple gives tuples, as in (x,): '%s' gave something else",
              function->item->name);
    if (total + kept->tuple->count > capacity) {
      const tj_tuple **more = TJ_NEW_ARRAY(scope->job, const tj_tuple *, 2 * (total + kept->tuple->count));
      memcpy(more, items, total * sizeof *items);
      items = more;
      capacity = 2 * (total + kept->tuple->count);
    }
    for (uint32_t i = 0; i < kept->tuple->count; i++)
      items[total++] = kept->tuple->item[i];
  }
  return tj_value_of_tuple(scope->graph, tj_tuple_list(scope->graph, items, total));
}
