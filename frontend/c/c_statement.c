/* SPDX-License-Identifier: MIT */
/* Statements of C, followed as they are read. Both branches of an if are followed, each with its condition in the
 * place, and what they leave in variables becomes a choice. */
#include "frontend/c/c_run.h"

#include "base/text.h"

#include <string.h>

static void statement(tj_c_run *run);

/* --- variables --- */

static void declare(tj_c_run *run, const char *name, tj_c_integer value, bool is_auto) {
  if (run->variable_count == TJ_C_MOST_VARIABLES)
    tj_fail(run->reader.job, TJ_WORK_LIMIT, "more than %d variables", TJ_C_MOST_VARIABLES);
  run->variable[run->variable_count++] = (tj_c_variable){name, value, is_auto};
}

/* int32_t a = 1, b; */
static void declaration(tj_c_run *run, const tj_c_type_read *type) {
  tj_c_reader *reader = &run->reader;
  if (type->form != TJ_C_IS_INTEGER && type->form != TJ_C_IS_AUTO)
    tj_c_fail_expected(reader, "a variable that is an integer");
  do {
    bool is_auto = type->form == TJ_C_IS_AUTO;
    const char *name = tj_c_read_name(reader, "the name of a variable");
    tj_c_integer value = {NULL, type->kind};
    if (tj_c_accept(reader, TJ_C_MARK1('='))) {
      value = tj_c_expression_of_run(run);
      value = is_auto ? value : tj_c_convert(run->place, value, type->kind);
    }
    declare(run, name, value, is_auto);
  } while (tj_c_accept(reader, TJ_C_MARK1(',')));
  tj_c_expect(reader, TJ_C_MARK1(';'), "';' behind the declaration");
}

/* The mark without the '=' that it ends in; 0 where it ends in none. */
static uint32_t without_equals(uint32_t mark) {
  if (mark >> 8 == '=')
    return mark & 0xff;
  return mark >> 16 == '=' ? mark & 0xffff : 0;
}

/* What follows the variable or field: = value, += value, ++. */
static void assign(tj_c_run *run, tj_c_integer *to) {
  tj_c_reader *reader = &run->reader;
  tj_c_token token = tj_c_take(reader);
  tj_c_operation operation = TJ_C_ADD;
  tj_c_integer value = {tj_int(run->place->graph, 1), TJ_C_KIND_INT32};
  bool is_step = token.mark == TJ_C_MARK2('+', '+') || token.mark == TJ_C_MARK2('-', '-');
  bool is_plain = token.mark == TJ_C_MARK1('=');
  if (is_step)
    operation = token.mark == TJ_C_MARK2('+', '+') ? TJ_C_ADD : TJ_C_SUBTRACT;
  else if (!is_plain && !tj_c_operation_of(without_equals(token.mark), &operation)) {
    tj_c_go(reader, token.span.begin);
    tj_c_fail_expected(reader, "an assignment");
  }
  if (!is_step)
    value = tj_c_expression_of_run(run);
  if (!is_plain && to->node == NULL)
    tj_fail_at(reader->job, token.span, TJ_C_TEXT, "what is changed has no value yet");
  if (!is_plain)
    value = tj_c_compute(run->place, operation, *to, value);
  *to = tj_c_convert(run->place, value, to->kind);
}

/* --- branches --- */

/* What statements change. */
typedef struct {
  tj_c_integer *variable, *state;
  const tj_node *reached;
} values;

static uint32_t state_size(const tj_c_run *run) {
  return run->function->state != NULL ? run->function->state->field_count : 0;
}

static values save(const tj_c_run *run) {
  tj_job *job = run->reader.job;
  values saved = {TJ_NEW_ARRAY(job, tj_c_integer, (size_t)run->variable_count + 1),
                  TJ_NEW_ARRAY(job, tj_c_integer, (size_t)state_size(run) + 1), run->place->reached};
  tj_spend(job, (uint64_t)run->variable_count + state_size(run));
  for (uint32_t i = 0; i < run->variable_count; i++)
    saved.variable[i] = run->variable[i].value;
  for (uint32_t i = 0; i < state_size(run); i++)
    saved.state[i] = run->state[i];
  return saved;
}

static void restore(tj_c_run *run, const values *saved) {
  for (uint32_t i = 0; i < run->variable_count; i++)
    run->variable[i].value = saved->variable[i];
  for (uint32_t i = 0; i < state_size(run); i++)
    run->state[i] = saved->state[i];
  run->place->reached = saved->reached;
}

/* What a variable is behind both branches: without a value unless it has one in every branch that comes here. */
static tj_c_integer merged(tj_c_run *run, const tj_node *condition, tj_c_integer a, const tj_node *comes_from_a,
                           tj_c_integer b, const tj_node *comes_from_b) {
  if (tj_is_int(comes_from_b, 0))
    return a;
  if (tj_is_int(comes_from_a, 0))
    return b;
  if (a.node == NULL || b.node == NULL)
    return (tj_c_integer){NULL, a.kind};
  return tj_c_choose(run->place, condition, a, b);
}

static void merge(tj_c_run *run, const tj_node *condition, const values *then) {
  const tj_node *other = run->place->reached;
  for (uint32_t i = 0; i < run->variable_count; i++)
    run->variable[i].value = merged(run, condition, then->variable[i], then->reached, run->variable[i].value, other);
  for (uint32_t i = 0; i < state_size(run); i++)
    run->state[i] = merged(run, condition, then->state[i], then->reached, run->state[i], other);
  run->place->reached = tj_c_either(run->place->graph, then->reached, other);
}

/* A statement whose variables go when it ends. */
static void scope(tj_c_run *run) {
  uint32_t count = run->variable_count;
  statement(run);
  run->variable_count = count;
}

/* Behind the word if. */
static void branch(tj_c_run *run) {
  tj_graph *graph = run->place->graph;
  tj_c_accept_word(&run->reader, "constexpr");
  tj_c_expect(&run->reader, TJ_C_MARK1('('), "'('");
  const tj_node *condition = tj_c_truth(run->place, tj_c_expression_of_run(run));
  tj_c_expect(&run->reader, TJ_C_MARK1(')'), "')' behind the condition");
  values before = save(run);
  run->place->reached = tj_c_both(graph, before.reached, condition);
  scope(run);
  values then = save(run);
  restore(run, &before);
  run->place->reached = tj_c_both(graph, before.reached, tj_not(graph, condition));
  if (tj_c_accept_word(&run->reader, "else"))
    scope(run);
  merge(run, condition, &then);
}

/* --- returning --- */

/* A field where the function ends here or has ended before: without a value unless it has one in both. */
static tj_c_integer final_field(tj_c_run *run, tj_c_integer here, tj_c_integer before) {
  if (!run->has_returned)
    return here;
  if (here.node == NULL || before.node == NULL)
    return (tj_c_integer){NULL, here.kind};
  return tj_c_choose(run->place, run->place->reached, here, before);
}

/* Where control comes here, the function ends with what it has by now. */
static void leave(tj_c_run *run, tj_c_integer value) {
  tj_c_place *place = run->place;
  if (run->result.node == NULL)
    run->result = value;
  else if (value.node != NULL)
    run->result = tj_c_choose(place, place->reached, value, run->result);
  for (uint32_t i = 0; i < state_size(run); i++)
    run->final_state[i] = final_field(run, run->state[i], run->final_state[i]);
  run->has_returned = true;
  place->reached = tj_int(place->graph, 0);
}

/* Behind the word return. */
static void return_statement(tj_c_run *run) {
  const tj_c_function *function = run->function;
  tj_c_integer value = {NULL, function->kind};
  if (function->has_value) {
    value = tj_c_expression_of_run(run);
    value = function->is_auto ? value : tj_c_convert(run->place, value, function->kind);
  }
  tj_c_expect(&run->reader, TJ_C_MARK1(';'), "';' behind return");
  leave(run, value);
}

/* --- statements --- */

/* What says that a truth holds. */
static bool accept_assumption(tj_c_run *run) {
  static const char *const words[] = {"TILEJIT_ASSUME", "assert", "__builtin_assume"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (tj_c_accept_word(&run->reader, words[i]))
      return true;
  }
  return false;
}

/* Behind its word. */
static void assumption(tj_c_run *run) {
  tj_span span = run->reader.token.span;
  tj_c_expect(&run->reader, TJ_C_MARK1('('), "'('");
  const tj_node *holds = tj_c_truth(run->place, tj_c_expression_of_run(run));
  tj_c_expect(&run->reader, TJ_C_MARK1(')'), "')'");
  run->reader.job->here = (tj_span){span.begin, run->reader.token.span.begin};
  tj_c_require(run->place, holds, "what is assumed does not hold");
  tj_c_expect(&run->reader, TJ_C_MARK1(';'), "';'");
}

/* An assignment, or an expression whose value is passed over. */
static void simple_statement(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  tj_c_token name = reader->token;
  uint32_t mark = 0;
  if (tj_c_is(reader, TJ_C_MARK2('+', '+')) || tj_c_is(reader, TJ_C_MARK2('-', '-')))
    mark = tj_c_take(reader).mark, name = reader->token;
  tj_c_variable *variable = name.kind == TJ_C_NAME ? tj_c_find_variable(run, &name) : NULL;
  tj_c_integer *to = variable != NULL ? &variable->value : NULL;
  if (name.kind == TJ_C_NAME && to == NULL && tj_c_is_state(run, &name)) {
    tj_c_take(reader);
    to = tj_c_read_field(run);
  } else if (to != NULL)
    tj_c_take(reader);
  if (to != NULL && mark == 0)
    assign(run, to);
  else if (to != NULL && to->node != NULL)
    *to = tj_c_convert(run->place,
                       tj_c_compute(run->place, mark == TJ_C_MARK2('+', '+') ? TJ_C_ADD : TJ_C_SUBTRACT, *to,
                                    (tj_c_integer){tj_int(run->place->graph, 1), TJ_C_KIND_INT32}),
                       to->kind);
  else
    tj_c_expression_of_run(run);
  tj_c_expect(reader, TJ_C_MARK1(';'), "';' behind the statement");
}

/* (void)name; */
static bool accept_void(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  uint32_t begin = reader->token.span.begin;
  if (tj_c_accept(reader, TJ_C_MARK1('(')) && tj_c_accept_word(reader, "void") &&
      tj_c_accept(reader, TJ_C_MARK1(')')) && reader->token.kind == TJ_C_NAME) {
    tj_c_take(reader);
    tj_c_expect(reader, TJ_C_MARK1(';'), "';'");
    return true;
  }
  tj_c_go(reader, begin);
  return false;
}

static void refuse(tj_c_run *run) {
  static const char *const words[] = {"for", "while", "do", "switch", "goto", "break", "continue", "asm"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (tj_c_is_word(&run->reader, words[i]))
      tj_fail(run->reader.job, TJ_C_TEXT, "'%s' is not followed", words[i]);
  }
}

/* Behind the opening brace, up to the closing one. */
static void block(tj_c_run *run) {
  uint32_t count = run->variable_count;
  while (!tj_c_accept(&run->reader, TJ_C_MARK1('}'))) {
    if (run->reader.token.kind == TJ_C_END)
      tj_c_fail_expected(&run->reader, "'}'");
    statement(run);
  }
  run->variable_count = count;
}

static void statement(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  tj_c_type_read type;
  tj_c_nest(run);
  refuse(run);
  if (tj_c_accept(reader, TJ_C_MARK1('{')))
    block(run);
  else if (tj_c_accept_word(reader, "if"))
    branch(run);
  else if (tj_c_accept_word(reader, "return"))
    return_statement(run);
  else if (accept_assumption(run))
    assumption(run);
  else if (reader->token.kind == TJ_C_NAME && tj_c_read_type(reader, &type))
    declaration(run, &type);
  else if (!tj_c_accept(reader, TJ_C_MARK1(';')) && !accept_void(run))
    simple_statement(run);
  run->nesting--;
}

/* --- calls --- */

static tj_c_integer *copy_of_state(const tj_c_run *run) {
  tj_c_integer *copy = TJ_NEW_ARRAY(run->reader.job, tj_c_integer, (size_t)state_size(run) + 1);
  for (uint32_t i = 0; i < state_size(run); i++)
    copy[i].kind = run->state[i].kind;
  return copy;
}

/* Runs to the closing brace: what is left to do there is to return. */
tj_c_integer tj_c_run_body(tj_c_run *run) {
  const tj_node *reached = run->place->reached;
  run->final_state = copy_of_state(run);
  tj_c_go(&run->reader, run->function->body);
  block(run);
  if (run->function->has_value) {
    run->reader.job->here = run->function->span;
    tj_c_require(run->place, tj_not(run->place->graph, run->place->reached), "the function ends without a value");
  } else if (!tj_is_int(run->place->reached, 0))
    leave(run, run->result);
  if (run->function->has_value && run->result.node == NULL)
    tj_fail_at(run->reader.job, run->function->span, TJ_C_TEXT, "function %s returns nothing", run->function->name);
  for (uint32_t i = 0; i < state_size(run); i++)
    run->state[i] = run->final_state[i];
  run->place->reached = reached;
  return run->result;
}

static void declare_parameters(tj_c_run *run, const tj_c_integer argument[]) {
  const tj_c_function *function = run->function;
  for (uint32_t i = 0; i < function->parameter_count; i++)
    declare(run, function->parameter[i].name, tj_c_convert(run->place, argument[i], function->parameter[i].kind),
            false);
}

static tj_c_run run_of(const tj_c_file *file, const tj_c_function *function, tj_c_place *place) {
  tj_job *job = place->graph->job;
  return (tj_c_run){.reader = {.job = job, .structs = file->structs, .struct_count = file->struct_count},
                    .file = file,
                    .function = function,
                    .place = place,
                    .variable = TJ_NEW_ARRAY(job, tj_c_variable, TJ_C_MOST_VARIABLES)};
}

tj_c_integer tj_c_call_within(tj_c_run *run, const tj_c_function *function) {
  tj_c_reader *reader = &run->reader;
  tj_job *job = reader->job;
  tj_c_integer *argument = TJ_NEW_ARRAY(job, tj_c_integer, (size_t)function->parameter_count + 1);
  if (function->state != NULL)
    tj_c_fail_expected(reader, "a function of integers alone");
  if (run->call_depth + 1 > TJ_C_MOST_CALLS)
    tj_fail(job, TJ_DEPTH_LIMIT, "calls of %s are nested more than %d deep", function->name, TJ_C_MOST_CALLS);
  tj_c_expect(reader, TJ_C_MARK1('('), "'('");
  for (uint32_t i = 0; i < function->parameter_count; i++) {
    if (i > 0)
      tj_c_expect(reader, TJ_C_MARK1(','), "',' and another argument");
    argument[i] = tj_c_expression_of_run(run);
  }
  tj_c_expect(reader, TJ_C_MARK1(')'), "')' behind the arguments");
  if (!function->has_value)
    tj_fail_at(job, function->span, TJ_C_TEXT, "function %s has no value", function->name);
  tj_c_run inner = run_of(run->file, function, run->place);
  tj_c_integer value;
  inner.call_depth = run->call_depth + 1;
  inner.nesting = run->nesting;
  declare_parameters(&inner, argument);
  if (!tj_c_call_routine(&inner, &value))
    value = tj_c_run_body(&inner);
  job->here = reader->token.span;
  return value;
}

tj_c_integer tj_c_call(const tj_c_file *file, const tj_c_function *function, tj_c_place *place,
                       const tj_node *const argument[], tj_c_integer state[]) {
  tj_job *job = place->graph->job;
  tj_source before = job->source;
  tj_span here = job->here;
  tj_c_run run = run_of(file, function, place);
  tj_c_integer *given = TJ_NEW_ARRAY(job, tj_c_integer, (size_t)function->parameter_count + 1);
  for (uint32_t i = 0; i < function->parameter_count; i++)
    given[i] = (tj_c_integer){argument[i], TJ_C_KIND_INT64};
  run.state = state;
  job->source = file->source;
  declare_parameters(&run, given);
  tj_c_integer value = tj_c_run_body(&run);
  job->source = before;
  job->here = here;
  return value;
}
