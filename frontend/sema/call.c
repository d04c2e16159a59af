/* SPDX-License-Identifier: MIT */
/* Calling functions: evaluating their arguments, checking their number and kinds. */
#include "frontend/sema/call.h"

#include "frontend/names/spelling.h"

#include <inttypes.h>
#include <string.h>

static void check_named(tj_call *call, const tj_ast *argument) {
  call->job->here = argument->span;
  if (!tj_has_word(call->builtin->named, argument->name)) {
    const bool has_any = call->builtin->named[0] != '\0';
    tj_note(call->job, has_any ? "its named arguments are: %s" : "the form is %s",
            has_any ? call->builtin->named : call->builtin->form);
    tj_fail(call->job, TJ_UNKNOWN_ARGUMENT, "%s has no argument '%s'", call->builtin->name, argument->name);
  }
  if (tj_arg_named(call, argument->name) != NULL)
    tj_fail(call->job, TJ_UNKNOWN_ARGUMENT, "'%s' is given twice", argument->name);
}

static void collect_arguments(tj_call *call, const tj_ast *application) {
  const tj_value **args = TJ_NEW_ARRAY(call->job, const tj_value *, application->count);
  tj_span *spans = TJ_NEW_ARRAY(call->job, tj_span, application->count);
  tj_binding *named = TJ_NEW_ARRAY(call->job, tj_binding, application->count);
  call->arg = args;
  call->span = spans;
  call->named = named;
  for (uint32_t i = 1; i < application->count; i++) {
    const tj_ast *argument = application->item[i];
    if (argument->kind == TJ_AST_NAMED) {
      check_named(call, argument);
      const tj_value *value = tj_evaluate_expression(call->scope, argument->item[0]);
      named[call->named_count++] = (tj_binding){.name = argument->name, .value = value, .span = argument->span};
    } else {
      if (call->named_count > 0)
        tj_fail_at(call->job, argument->span, TJ_WRONG_ARITY, "positional arguments come before named ones");
      spans[call->count] = argument->span;
      args[call->count++] = tj_evaluate_expression(call->scope, argument);
    }
  }
}

const tj_value *tj_builtin_call(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application) {
  tj_call call = {.scope = scope, .graph = scope->graph, .job = scope->job, .builtin = builtin};
  bool is_mapping = builtin->function == tj_builtin_mapping;
  scope->mappings += is_mapping;
  collect_arguments(&call, application);
  scope->mappings -= is_mapping;
  scope->job->here = application->span;
  if (call.count < builtin->least || call.count > builtin->most) {
    tj_note(scope->job, "the form is %s", builtin->form);
    tj_fail(scope->job, TJ_WRONG_ARITY, "%s got %" PRIu32 " argument%s", builtin->name, call.count,
            call.count == 1 ? "" : "s");
  }
  return builtin->function(&call);
}

/* --- arguments --- */

static const char *describe(tj_call *call, uint32_t index) {
  return tj_string_format(call->job, "argument %" PRIu32 " of %s", index + 1, call->builtin->name);
}

/* Runs `expression` with the argument's place to blame. */
#define AT_ARGUMENT(call, index, type, expression)                                                                   \
  tj_span outer = (call)->job->here;                                                                                 \
  (call)->job->here = (call)->span[index];                                                                           \
  type result = expression;                                                                                          \
  (call)->job->here = outer;                                                                                         \
  return result

const tj_node *tj_arg_node(tj_call *call, uint32_t index) {
  AT_ARGUMENT(call, index, const tj_node *, tj_need_node(call->graph, call->arg[index], describe(call, index)));
}

int64_t tj_arg_constant(tj_call *call, uint32_t index) {
  AT_ARGUMENT(call, index, int64_t, tj_need_constant(call->graph, call->arg[index], describe(call, index)));
}

const tj_tuple *tj_arg_tuple(tj_call *call, uint32_t index) {
  AT_ARGUMENT(call, index, const tj_tuple *, tj_need_tuple(call->graph, call->arg[index], describe(call, index)));
}

tj_layout tj_arg_layout(tj_call *call, uint32_t index) {
  AT_ARGUMENT(call, index, tj_layout, tj_need_layout(call->graph, call->arg[index], describe(call, index)));
}

tj_layout tj_arg_inner_layout(tj_call *call, uint32_t index) {
  const tj_value *value = call->arg[index];
  return value->kind == TJ_VALUE_COMPOSED ? value->composed->layout : tj_arg_layout(call, index);
}

const tj_value *tj_rewrapped(tj_call *call, uint32_t index, tj_layout result) {
  const tj_value *value = call->arg[index];
  if (value->kind != TJ_VALUE_COMPOSED)
    return tj_value_of_layout(call->graph, result);
  return tj_value_of_parts(call->graph, value->composed->swizzle, value->composed->offset, result);
}

const tj_value *tj_give_integer(tj_call *call, int64_t value) {
  return tj_value_of_node(call->graph, tj_int(call->graph, value));
}

const tj_value *tj_give_tuple(tj_call *call, const tj_tuple *value) {
  return tj_value_of_tuple(call->graph, value);
}

const tj_value *tj_give_layout(tj_call *call, tj_layout value) {
  return tj_value_of_layout(call->graph, value);
}

_Noreturn void tj_fail_arg(tj_call *call, uint32_t index, const char *needed) {
  call->job->here = call->span[index];
  tj_fail_type(call->job, call->arg[index], describe(call, index), needed);
}

const tj_view *tj_arg_view(tj_call *call, uint32_t index) {
  if (call->arg[index]->kind != TJ_VALUE_VIEW)
    tj_fail_arg(call, index, "a view");
  return call->arg[index]->view;
}

const tj_transform *tj_arg_transform(tj_call *call, uint32_t index) {
  if (call->arg[index]->kind != TJ_VALUE_TRANSFORM)
    tj_fail_arg(call, index, "a transform");
  return call->arg[index]->transform;
}

const tj_distribution *tj_arg_distribution(tj_call *call, uint32_t index) {
  if (call->arg[index]->kind != TJ_VALUE_DISTRIBUTION)
    tj_fail_arg(call, index, "a distribution");
  return call->arg[index]->distribution;
}

const tj_value *tj_arg_list(tj_call *call, uint32_t index) {
  if (call->arg[index]->kind != TJ_VALUE_LIST)
    tj_fail_arg(call, index, "a list in brackets");
  return call->arg[index];
}

const tj_binding *tj_arg_binding(const tj_call *call, const char *name) {
  for (uint32_t i = 0; i < call->named_count; i++) {
    if (strcmp(call->named[i].name, name) == 0)
      return &call->named[i];
  }
  return NULL;
}

const tj_value *tj_arg_named(const tj_call *call, const char *name) {
  const tj_binding *given = tj_arg_binding(call, name);
  return given != NULL ? given->value : NULL;
}

const tj_value *tj_arg_blamed(tj_call *call, const char *name) {
  const tj_binding *given = tj_arg_binding(call, name);
  if (given == NULL)
    return NULL;
  call->job->here = given->span;
  return given->value;
}

const tj_tuple *tj_args_as_coordinate(tj_call *call, uint32_t first) {
  uint32_t count = call->count - first;
  if (count == 1)
    return tj_arg_tuple(call, first);
  const tj_tuple **items = TJ_NEW_ARRAY(call->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_arg_tuple(call, first + i);
  return tj_tuple_list(call->graph, items, count);
}
