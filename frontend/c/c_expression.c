/* SPDX-License-Identifier: MIT */
/* Expressions of C, by precedence, followed as they are read. What C evaluates on a condition only is followed with
 * that condition in the place. */
#include "frontend/c/c_run.h"

#include <string.h>

/* --- operators --- */

typedef struct {
  uint32_t mark;
  int precedence; /* of C: the greater binds tighter */
  tj_c_operation operation;
} infix;

enum { EITHER = 1, BOTH = 2, LEAST_OF_OPERATIONS = 3 };

static const infix infixes[] = {
    {TJ_C_MARK1('|'), 3, TJ_C_BIT_OR},
    {TJ_C_MARK1('^'), 4, TJ_C_BIT_XOR},
    {TJ_C_MARK1('&'), 5, TJ_C_BIT_AND},
    {TJ_C_MARK2('=', '='), 6, TJ_C_EQUAL},
    {TJ_C_MARK2('!', '='), 6, TJ_C_UNEQUAL},
    {TJ_C_MARK1('<'), 7, TJ_C_LESS},
    {TJ_C_MARK1('>'), 7, TJ_C_GREATER},
    {TJ_C_MARK2('<', '='), 7, TJ_C_LESS_EQUAL},
    {TJ_C_MARK2('>', '='), 7, TJ_C_GREATER_EQUAL},
    {TJ_C_MARK2('<', '<'), 8, TJ_C_SHIFT_LEFT},
    {TJ_C_MARK2('>', '>'), 8, TJ_C_SHIFT_RIGHT},
    {TJ_C_MARK1('+'), 9, TJ_C_ADD},
    {TJ_C_MARK1('-'), 9, TJ_C_SUBTRACT},
    {TJ_C_MARK1('*'), 10, TJ_C_MULTIPLY},
    {TJ_C_MARK1('/'), 10, TJ_C_DIVIDE},
    {TJ_C_MARK1('%'), 10, TJ_C_REMAINDER},
};

static const infix *infix_of(uint32_t mark) {
  for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) {
    if (infixes[i].mark == mark)
      return &infixes[i];
  }
  return NULL;
}

bool tj_c_operation_of(uint32_t mark, tj_c_operation *operation) {
  const infix *found = infix_of(mark);
  if (found != NULL)
    *operation = found->operation;
  return found != NULL;
}

void tj_c_nest(tj_c_run *run) {
  if (++run->nesting > TJ_C_MOST_NESTED)
    tj_fail(run->reader.job, TJ_DEPTH_LIMIT, "C that is nested more than %d deep", TJ_C_MOST_NESTED);
}

/* --- operands --- */

static tj_c_integer expression(tj_c_run *run, int least);
static tj_c_integer unary(tj_c_run *run);

/* The first type that it fits; of those without a sign, decimal integers take none by themselves. */
static tj_c_integer literal(tj_c_run *run) {
  tj_c_token token = tj_c_take(&run->reader);
  bool is_unsigned = token.is_unsigned || (!token.is_decimal && !token.is_long && token.integer > INT32_MAX &&
                                           token.integer <= UINT32_MAX);
  bool is_wide = token.is_long || token.integer > (is_unsigned ? UINT32_MAX : INT32_MAX);
  tj_c_kind kind = is_wide ? (is_unsigned ? TJ_C_KIND_UINT64 : TJ_C_KIND_INT64)
                           : (is_unsigned ? TJ_C_KIND_UINT32 : TJ_C_KIND_INT32);
  return (tj_c_integer){tj_int(run->place->graph, token.integer), kind};
}

tj_c_variable *tj_c_find_variable(tj_c_run *run, const tj_c_token *name) {
  for (uint32_t i = run->variable_count; i-- > 0;) {
    if (tj_c_is_name(run->reader.job, name, run->variable[i].name))
      return &run->variable[i];
  }
  return NULL;
}

bool tj_c_is_state(const tj_c_run *run, const tj_c_token *name) {
  return run->function != NULL && run->function->state != NULL &&
         tj_c_is_name(run->reader.job, name, run->function->state_name);
}

tj_c_integer *tj_c_read_field(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  const tj_c_struct *of = run->function->state;
  if (!tj_c_accept(reader, TJ_C_MARK2('-', '>')))
    tj_c_expect(reader, TJ_C_MARK1('.'), "'->' and a field");
  for (uint32_t i = 0; i < of->field_count; i++) {
    if (tj_c_accept_word(reader, of->field[i].name))
      return &run->state[i];
  }
  tj_c_fail_expected(reader, "a field of the struct");
}

static tj_c_integer value_of(tj_c_run *run, const tj_c_integer *value, const tj_c_token *name) {
  if (value->node == NULL)
    tj_fail_at(run->reader.job, name->span, TJ_C_TEXT, "'%.*s' has no value yet",
               (int)(name->span.end - name->span.begin), run->reader.job->source.text + name->span.begin);
  return *value;
}

static const tj_c_constant *find_constant(const tj_c_run *run, const tj_c_token *name) {
  for (uint32_t i = 0; i < run->file->constant_count; i++) {
    if (tj_c_is_name(run->reader.job, name, run->file->constant[i].name))
      return &run->file->constant[i];
  }
  return NULL;
}

static const tj_c_function *find_function(const tj_c_run *run, const tj_c_token *name) {
  for (uint32_t i = 0; i < run->file->function_count; i++) {
    if (tj_c_is_name(run->reader.job, name, run->file->function[i].name))
      return &run->file->function[i];
  }
  return NULL;
}

/* min and max of two, which device code has without a definition; behind the name. */
static tj_c_integer extremum(tj_c_run *run, bool is_least) {
  tj_c_expect(&run->reader, TJ_C_MARK1('('), "'('");
  tj_c_integer a = expression(run, 0);
  tj_c_expect(&run->reader, TJ_C_MARK1(','), "','");
  tj_c_integer b = expression(run, 0);
  tj_c_expect(&run->reader, TJ_C_MARK1(')'), "')'");
  tj_c_integer is_less = tj_c_compute(run->place, TJ_C_LESS, is_least ? a : b, is_least ? b : a);
  return tj_c_choose(run->place, is_less.node, a, b);
}

static tj_c_integer named(tj_c_run *run) {
  tj_c_token name = tj_c_take(&run->reader);
  tj_job *job = run->reader.job;
  const tj_c_variable *variable = tj_c_find_variable(run, &name);
  if (variable != NULL)
    return value_of(run, &variable->value, &name);
  if (tj_c_is_state(run, &name))
    return value_of(run, tj_c_read_field(run), &name);
  const tj_c_constant *constant = find_constant(run, &name);
  if (constant != NULL)
    return constant->value;
  const tj_c_function *function = find_function(run, &name);
  if (function != NULL)
    return tj_c_call_within(run, function);
  if (tj_c_is_name(job, &name, "true") || tj_c_is_name(job, &name, "false"))
    return (tj_c_integer){tj_int(run->place->graph, tj_c_is_name(job, &name, "true")), TJ_C_KIND_BOOL};
  bool is_least = tj_c_is_name(job, &name, "min");
  if (is_least || tj_c_is_name(job, &name, "max"))
    return extremum(run, is_least);
  tj_note(job, "macros are not expanded; constants may be enum, static const int or constexpr int");
  tj_fail_at(job, name.span, TJ_C_TEXT, "'%.*s' is not declared in this file", (int)(name.span.end - name.span.begin),
             job->source.text + name.span.begin);
}

/* A type in parentheses and what it converts, or an expression in parentheses. */
static tj_c_integer parenthesized(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  tj_c_type_read type;
  tj_c_take(reader);
  if (tj_c_read_type(reader, &type)) {
    if (type.form != TJ_C_IS_INTEGER)
      tj_c_fail_expected(reader, "a type of integers");
    tj_c_expect(reader, TJ_C_MARK1(')'), "')' behind the type");
    return tj_c_convert(run->place, unary(run), type.kind);
  }
  tj_c_integer value = expression(run, 0);
  tj_c_expect(reader, TJ_C_MARK1(')'), "')'");
  return value;
}

static tj_c_integer primary(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  tj_c_type_read type;
  if (reader->token.kind == TJ_C_INTEGER)
    return literal(run);
  if (tj_c_is(reader, TJ_C_MARK1('(')))
    return parenthesized(run);
  if (reader->token.kind != TJ_C_NAME)
    tj_c_fail_expected(reader, "an expression of integers");
  if (!tj_c_read_type(reader, &type))
    return named(run);
  if (type.form != TJ_C_IS_INTEGER || !tj_c_is(reader, TJ_C_MARK1('(')))
    tj_c_fail_expected(reader, "'(' and what is converted");
  return tj_c_convert(run->place, parenthesized(run), type.kind);
}

static tj_c_integer unary(tj_c_run *run) {
  tj_c_reader *reader = &run->reader;
  tj_graph *graph = run->place->graph;
  tj_c_integer value, zero = {tj_int(graph, 0), TJ_C_KIND_INT32};
  tj_c_nest(run);
  if (tj_c_accept(reader, TJ_C_MARK1('-')))
    value = tj_c_negate(run->place, unary(run));
  else if (tj_c_accept(reader, TJ_C_MARK1('+')))
    value = tj_c_compute(run->place, TJ_C_ADD, unary(run), zero);
  else if (tj_c_accept(reader, TJ_C_MARK1('~')))
    value = tj_c_complement(run->place, unary(run));
  else if (tj_c_accept(reader, TJ_C_MARK1('!')))
    value = tj_c_of_truth(tj_not(graph, tj_c_truth(run->place, unary(run))));
  else
    value = primary(run);
  run->nesting--;
  return value;
}

/* --- expressions --- */

/* What stands right of && or ||, which counts only where the left does not decide. */
static const tj_node *decided(tj_c_run *run, const tj_node *where, int precedence) {
  const tj_node *reached = run->place->reached;
  run->place->reached = tj_c_both(run->place->graph, reached, where);
  const tj_node *truth = tj_c_truth(run->place, expression(run, precedence + 1));
  run->place->reached = reached;
  return truth;
}

static tj_c_integer both(tj_c_run *run, tj_c_integer left) {
  const tj_node *a = tj_c_truth(run->place, left);
  return tj_c_of_truth(tj_c_both(run->place->graph, a, decided(run, a, BOTH)));
}

static tj_c_integer either(tj_c_run *run, tj_c_integer left) {
  tj_graph *graph = run->place->graph;
  const tj_node *a = tj_c_truth(run->place, left);
  return tj_c_of_truth(tj_c_either(graph, a, decided(run, tj_not(graph, a), EITHER)));
}

static tj_c_integer operations(tj_c_run *run, int least) {
  tj_c_reader *reader = &run->reader;
  tj_c_integer left = unary(run);
  while (reader->token.kind == TJ_C_MARK) {
    tj_c_token token = reader->token;
    const infix *found = infix_of(token.mark);
    bool is_both = token.mark == TJ_C_MARK2('&', '&'), is_either = token.mark == TJ_C_MARK2('|', '|');
    int precedence = found != NULL ? found->precedence : is_both ? BOTH : is_either ? EITHER : 0;
    if (precedence == 0 || precedence < least)
      break;
    tj_c_take(reader);
    if (found == NULL) {
      left = is_both ? both(run, left) : either(run, left);
      continue;
    }
    tj_c_integer right = operations(run, precedence + 1);
    tj_span next = reader->job->here;
    reader->job->here = token.span;
    left = tj_c_compute(run->place, found->operation, left, right);
    reader->job->here = next;
  }
  return left;
}

/* Behind the question mark. */
static tj_c_integer choice(tj_c_run *run, const tj_node *condition) {
  tj_c_place *place = run->place;
  tj_graph *graph = place->graph;
  const tj_node *reached = place->reached;
  place->reached = tj_c_both(graph, reached, condition);
  tj_c_integer then = expression(run, 0);
  tj_c_expect(&run->reader, TJ_C_MARK1(':'), "':'");
  place->reached = tj_c_both(graph, reached, tj_not(graph, condition));
  tj_c_integer otherwise = expression(run, 0);
  place->reached = reached;
  return tj_c_choose(place, condition, then, otherwise);
}

/* Of operators that bind at least so tightly; 0: of all. */
static tj_c_integer expression(tj_c_run *run, int least) {
  tj_c_nest(run);
  tj_c_integer value = operations(run, least > 0 ? least : EITHER);
  if (least == 0 && tj_c_accept(&run->reader, TJ_C_MARK1('?')))
    value = choice(run, tj_c_truth(run->place, value));
  run->nesting--;
  return value;
}

tj_c_integer tj_c_expression_of_run(tj_c_run *run) {
  return expression(run, 0);
}
