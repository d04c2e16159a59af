/* SPDX-License-Identifier: MIT */
/* Tokens to the AST of a program: its items and its last expression. parse_expression.c reads the expressions. */
#include "frontend/text/parser.h"

#include "frontend/names/cute.h"
#include "frontend/text/parse.h"

#include <string.h>

/* Items. */

/* `in` and `multiple` are keywords only where they can stand. */
static bool accept_word(tj_parser *parser, const char *word) {
  if (!tj_parse_is_word(parser, parser->window.current, word))
    return false;
  tj_parse_advance(parser);
  return true;
}

static const char *expect_name(tj_parser *parser, const char *what) {
  tj_token token = parser->window.current;
  if (token.kind != TJ_TOKEN_NAME)
    tj_parse_fail_expected(parser, what);
  tj_parse_advance(parser);
  return tj_parse_token_text(parser, token);
}

typedef struct {
  tj_item *item;
  uint32_t count, capacity;
} item_list;

/* A new last item. */
static tj_item *add_item(tj_parser *parser, item_list *list, tj_item_kind kind) {
  list->item = tj_parse_with_room(parser, list->item, list->count, &list->capacity, sizeof *list->item);
  tj_item *item = &list->item[list->count++];
  item->kind = kind;
  return item;
}

/* Reads the name of an item. */
static void parse_item_name(tj_parser *parser, tj_item *item, const char *what) {
  item->name_span = tj_parse_current_span(parser);
  item->name = expect_name(parser, what);
}

/* What stands behind `in`: {64, 128}, or 1..128. */
static void parse_parameter_values(tj_parser *parser, tj_item *item) {
  if (tj_parse_current(parser) == TJ_TOKEN_OPEN_BRACE) {
    item->choices = tj_parse_braces(parser);
  } else if (tj_parse_current(parser) == TJ_TOKEN_BRACES) {
    tj_parse_fail_expected(parser, "at least one value between { and }");
  } else {
    item->low = tj_parse_expression(parser);
    tj_parse_expect(parser, TJ_TOKEN_RANGE, "between the bounds of a range");
    item->high = tj_parse_expression(parser);
  }
}

static void parse_parameter_facts(tj_parser *parser, tj_item *item) {
  if (accept_word(parser, "in"))
    parse_parameter_values(parser, item);
  if (accept_word(parser, "multiple"))
    item->multiple = tj_parse_expression(parser);
  if (tj_parse_is_word(parser, parser->window.current, "in")) {
    tj_note(parser->job, "the range comes first, and once: param M in 1..4096 multiple 64");
    tj_parse_fail_expected(parser, "',', ';' or another item");
  }
  if (tj_parse_current(parser) == TJ_TOKEN_EQUALS) {
    tj_note(parser->job, "a parameter gets its value when it is bound; define a constant with let");
    tj_parse_fail_expected(parser, "in, multiple, ',' or ';'");
  }
}

static void parse_param(tj_parser *parser, item_list *list) {
  uint32_t begin = tj_parse_current_span(parser).begin;
  tj_parse_advance(parser);
  do {
    tj_item *item = add_item(parser, list, TJ_ITEM_PARAM);
    if (parser->window.previous.kind == TJ_TOKEN_COMMA)
      begin = tj_parse_current_span(parser).begin;
    parse_item_name(parser, item, "a parameter's name");
    parse_parameter_facts(parser, item);
    item->span = tj_parse_span_from(parser, begin);
  } while (tj_parse_accept(parser, TJ_TOKEN_COMMA));
}

static void expect_definition(tj_parser *parser, const char *form) {
  if (tj_parse_current(parser) != TJ_TOKEN_EQUALS)
    tj_note(parser->job, "%s", form);
  tj_parse_expect(parser, TJ_TOKEN_EQUALS, "and a definition");
}

typedef struct {
  tj_ast_parameter *parameter;
  uint32_t count, capacity;
} parameter_list;

static void check_new_parameter(tj_parser *parser, const tj_item *item, const char *name) {
  if (tj_item_has_parameter(item, name))
    tj_fail_at(parser->job, parser->window.previous.span, TJ_REDEFINED_NAME, "'%s' has two parameters '%s'",
               item->name, name);
}

static void parse_function_parameter(tj_parser *parser, tj_item *item, parameter_list *list) {
  list->parameter =
      tj_parse_with_room(parser, list->parameter, list->count, &list->capacity, sizeof *list->parameter);
  tj_ast_parameter *parameter = &list->parameter[list->count];
  uint32_t begin = tj_parse_current_span(parser).begin;
  parameter->name = expect_name(parser, "a parameter's name");
  check_new_parameter(parser, item, parameter->name);
  if (tj_parse_accept(parser, TJ_TOKEN_EQUALS))
    parameter->value = tj_parse_expression(parser);
  parameter->span = tj_parse_span_from(parser, begin);
  item->parameter = list->parameter;
  item->parameter_count = ++list->count;
}

static void parse_function_parameters(tj_parser *parser, tj_item *item) {
  parameter_list list = {0};
  item->kind = TJ_ITEM_FUNCTION;
  do
    parse_function_parameter(parser, item, &list);
  while (tj_parse_accept(parser, TJ_TOKEN_COMMA));
  tj_parse_expect(parser, TJ_TOKEN_CLOSE_PARENTHESIS, "or ',' after a function's parameter");
}

/* Whether names and then = are next, of which the current and the next token are the first two. */
static bool is_defined_name(const tj_parser *parser) {
  tj_lexer ahead = parser->lexer;
  tj_token token = parser->window.next;
  while (token.kind == TJ_TOKEN_NAME)
    token = tj_lexer_next(&ahead);
  return token.kind == TJ_TOKEN_EQUALS;
}

/* Whether the current token is a type, or a word before one, of a declaration of C++: constexpr index_t kM = 128, or
 * Tensor gA = make_layout(4, 1). */
static bool begins_declaration(const tj_parser *parser) {
  static const char *const words[] = {"constexpr", "static", "inline", "const", "auto", "index_t", "int", "bool"};
  if (parser->window.next.kind != TJ_TOKEN_NAME)
    return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tj_parse_is_word(parser, parser->window.current, words[i]))
      return true;
  return is_defined_name(parser);
}

/* Whether a definition of Python is next: layout = cute.make_layout(4). */
static bool begins_assignment(const tj_parser *parser) {
  return tj_parse_current(parser) == TJ_TOKEN_NAME && parser->window.next.kind == TJ_TOKEN_EQUALS;
}

/* A declaration of C++, or a definition of Python: what stands before the name says nothing. */
static void parse_declaration(tj_parser *parser, item_list *list) {
  tj_item *item = add_item(parser, list, TJ_ITEM_LET);
  uint32_t begin = tj_parse_current_span(parser).begin;
  while (begins_declaration(parser))
    tj_parse_advance(parser);
  parse_item_name(parser, item, "a name");
  expect_definition(parser, "write let A = (4,8):(8,1), or, as in C++, constexpr auto A = make_layout(4, 1);");
  parser->has_conditions = true;
  item->body = tj_parse_expression(parser);
  parser->has_conditions = false;
  item->span = tj_parse_span_from(parser, begin);
}

/* A definition from its keyword, which is the current token, to its name; its span begins there. */
static tj_item *begin_let(tj_parser *parser, item_list *list, const char *name) {
  tj_item *item = add_item(parser, list, TJ_ITEM_LET);
  item->span = tj_parse_current_span(parser);
  tj_parse_advance(parser);
  parse_item_name(parser, item, name);
  return item;
}

static const char deduced[] = "decltype";

/* Whether the next name is one for a value, as in using L = Layout<Shape<_4,_8>>: for decltype(…), for a type of
 * cute.def, of which all that has template arguments has them here, or for another name. */
static bool names_value(const tj_parser *parser) {
  tj_lexer ahead = parser->lexer;
  tj_token token = tj_lexer_next(&ahead), first = tj_lexer_next(&ahead), next = tj_lexer_next(&ahead);
  bool is_deduced = first.kind == TJ_TOKEN_NAME && tj_parse_is_word(parser, first, deduced);
  bool is_value = token.kind == TJ_TOKEN_EQUALS && first.kind == TJ_TOKEN_NAME &&
                  (next.kind == TJ_TOKEN_LESS || next.kind == TJ_TOKEN_SEMICOLON ||
                   (is_deduced && next.kind == TJ_TOKEN_OPEN_PARENTHESIS));
  for (token = first; is_value && token.kind != TJ_TOKEN_SEMICOLON && token.kind != TJ_TOKEN_END;) {
    is_value = token.kind != TJ_TOKEN_NAME || next.kind != TJ_TOKEN_LESS ||
               tj_cute_has_template(tj_parse_token_text(parser, token));
    token = next;
    next = tj_lexer_next(&ahead);
  }
  return is_value;
}

/* using L = Layout<Shape<_4,_8>>, using M = decltype(coalesce(L{})). */
static void parse_alias(tj_parser *parser, item_list *list) {
  tj_item *item = begin_let(parser, list, "a name after using");
  tj_parse_expect(parser, TJ_TOKEN_EQUALS, "and a type");
  item->is_alias = true;
  bool is_deduced = tj_parse_is_word(parser, parser->window.current, deduced);
  if (is_deduced) {
    tj_parse_advance(parser);
    tj_parse_expect(parser, TJ_TOKEN_OPEN_PARENTHESIS, "after decltype");
  }
  item->body = tj_parse_expression(parser);
  if (is_deduced)
    tj_parse_expect(parser, TJ_TOKEN_CLOSE_PARENTHESIS, "to close decltype(");
  item->span = tj_parse_span_from(parser, item->span.begin);
}

/* Passes over a declaration of C++ that has no value: using P = typename Problem::BlockShape. */
static void skip_using(tj_parser *parser) {
  while (tj_parse_current(parser) != TJ_TOKEN_SEMICOLON && tj_parse_current(parser) != TJ_TOKEN_END)
    tj_parse_advance(parser);
}

static bool begins_using(const tj_parser *parser) {
  return tj_parse_is_word(parser, parser->window.current, "using") && parser->window.next.kind == TJ_TOKEN_NAME;
}

/* An item of C++ or Python; false where there is none. */
static bool parse_foreign_item(tj_parser *parser, item_list *list) {
  bool is_using = begins_using(parser);
  if (is_using && names_value(parser))
    parse_alias(parser, list);
  else if (is_using)
    skip_using(parser);
  else if (begins_assignment(parser) || begins_declaration(parser))
    parse_declaration(parser, list);
  else
    return false;
  return true;
}

static void parse_let(tj_parser *parser, item_list *list) {
  tj_item *item = begin_let(parser, list, "a name after let");
  if (tj_parse_accept(parser, TJ_TOKEN_OPEN_PARENTHESIS))
    parse_function_parameters(parser, item);
  expect_definition(parser, "write let A = (4,8):(8,1), or let f(x, y) = x + y");
  uint32_t assumed = parser->assumed_count;
  item->body = tj_parse_expression(parser);
  item->span = tj_parse_span_from(parser, item->span.begin);
  tj_facts_leave(parser, item, assumed);
}

typedef struct {
  tj_ast_argument *argument;
  uint32_t count, capacity;
} argument_list;

static tj_ast_argument *add_argument(tj_parser *parser, argument_list *list) {
  list->argument = tj_parse_with_room(parser, list->argument, list->count, &list->capacity, sizeof *list->argument);
  return &list->argument[list->count++];
}

static void expect_argument_mark(tj_parser *parser, tj_token_kind mark, const char *purpose) {
  if (tj_parse_current(parser) != mark)
    tj_note(parser->job, "a kernel's argument is written name: dtype @ view, as in src: f32 @ A");
  tj_parse_expect(parser, mark, purpose);
}

static void parse_kernel_argument(tj_parser *parser, tj_ast_argument *argument) {
  uint32_t begin = tj_parse_current_span(parser).begin;
  argument->name = expect_name(parser, "an argument's name");
  expect_argument_mark(parser, TJ_TOKEN_COLON, "and an element type after the argument's name");
  argument->dtype_span = tj_parse_current_span(parser);
  argument->dtype = expect_name(parser, "an element type, such as f32");
  if (tj_parse_current(parser) != TJ_TOKEN_COMMA && tj_parse_current(parser) != TJ_TOKEN_CLOSE_PARENTHESIS) {
    expect_argument_mark(parser, TJ_TOKEN_AT, "and a view after the element type");
    argument->view = tj_parse_expression(parser);
  }
  argument->span = tj_parse_span_from(parser, begin);
}

typedef struct {
  tj_ast_statement *statement;
  uint32_t count, capacity;
} statement_list;

/* , scatter=indices */
static const tj_ast *parse_option(tj_parser *parser) {
  if (!tj_parse_accept(parser, TJ_TOKEN_COMMA))
    return NULL;
  if (tj_parse_current(parser) != TJ_TOKEN_NAME || parser->window.next.kind != TJ_TOKEN_EQUALS)
    tj_parse_fail_expected(parser, "scatter=… or scatter_add=… after an array and ','");
  return tj_parse_argument(parser);
}

static void parse_statement(tj_parser *parser, statement_list *list) {
  list->statement =
      tj_parse_with_room(parser, list->statement, list->count, &list->capacity, sizeof *list->statement);
  tj_ast_statement *statement = &list->statement[list->count++];
  uint32_t begin = tj_parse_current_span(parser).begin;
  statement->is_let = tj_parse_accept(parser, TJ_TOKEN_LET);
  statement->name_span = tj_parse_current_span(parser);
  statement->name = expect_name(parser, "let, the name of an argument, or '}'");
  if (tj_parse_current(parser) != TJ_TOKEN_EQUALS)
    tj_note(parser->job, "statements are let e = exp(x), and y = e + 1 where y is an argument");
  tj_parse_expect(parser, TJ_TOKEN_EQUALS, "and an array");
  statement->value = tj_parse_expression(parser);
  statement->option = parse_option(parser);
  statement->span = tj_parse_span_from(parser, begin);
  (void)tj_parse_accept(parser, TJ_TOKEN_SEMICOLON);
}

/* { let e = exp(x)  y = e / 2 } */
static void parse_statements(tj_parser *parser, tj_item *item) {
  statement_list list = {0};
  while (tj_parse_current(parser) != TJ_TOKEN_CLOSE_BRACE)
    parse_statement(parser, &list);
  tj_parse_advance(parser);
  item->statement = list.statement;
  item->statement_count = list.count;
}

/* , mapping=m */
static const tj_ast *parse_mapping(tj_parser *parser) {
  if (!tj_parse_is_word(parser, parser->window.current, "mapping"))
    tj_parse_fail_expected(parser, "mapping=… after statements and ','");
  tj_parse_advance(parser);
  tj_parse_expect(parser, TJ_TOKEN_EQUALS, "and a mapping");
  return tj_parse_expression(parser);
}

static void parse_kernel(tj_parser *parser, item_list *list) {
  tj_item *item = add_item(parser, list, TJ_ITEM_KERNEL);
  uint32_t begin = tj_parse_current_span(parser).begin;
  tj_parse_advance(parser);
  parse_item_name(parser, item, "a kernel's name");
  tj_parse_expect(parser, TJ_TOKEN_OPEN_PARENTHESIS, "and the kernel's arguments");
  argument_list arguments = {0};
  do
    parse_kernel_argument(parser, add_argument(parser, &arguments));
  while (tj_parse_accept(parser, TJ_TOKEN_COMMA));
  tj_parse_expect(parser, TJ_TOKEN_CLOSE_PARENTHESIS, "or ',' after a kernel's argument");
  expect_definition(parser, "write kernel K(src: f32 @ A, dst: f32 @ B) = copy(src, dst)");
  item->argument = arguments.argument;
  item->argument_count = arguments.count;
  if (tj_parse_accept(parser, TJ_TOKEN_OPEN_BRACE))
    parse_statements(parser, item);
  else if (!tj_parse_accept(parser, TJ_TOKEN_BRACES))
    item->body = tj_parse_expression(parser);
  if (item->body == NULL && tj_parse_accept(parser, TJ_TOKEN_COMMA))
    item->mapping = parse_mapping(parser);
  item->span = tj_parse_span_from(parser, begin);
}

static void parse_import(tj_parser *parser, item_list *list) {
  tj_item *item = add_item(parser, list, TJ_ITEM_IMPORT);
  uint32_t begin = tj_parse_current_span(parser).begin;
  tj_parse_advance(parser);
  tj_token text = parser->window.current;
  if (text.kind != TJ_TOKEN_STRING)
    tj_parse_fail_expected(parser, "a text in double quotes after import, as in import \"atoms\"");
  tj_parse_advance(parser);
  item->name_span = text.span;
  item->name =
      tj_string_copy(parser->job, parser->lexer.text + text.span.begin + 1, text.span.end - text.span.begin - 2);
  item->span = tj_parse_span_from(parser, begin);
}

static bool parse_item(tj_parser *parser, item_list *list) {
  switch (tj_parse_current(parser)) {
  case TJ_TOKEN_PARAM:
    parse_param(parser, list);
    return true;
  case TJ_TOKEN_LET:
    parse_let(parser, list);
    return true;
  case TJ_TOKEN_KERNEL:
    parse_kernel(parser, list);
    return true;
  case TJ_TOKEN_IMPORT:
    parse_import(parser, list);
    return true;
  case TJ_TOKEN_NAME:
    return parse_foreign_item(parser, list);
  default:
    return false;
  }
}

static bool begins_expression(tj_token_kind kind) {
  switch (kind) {
  case TJ_TOKEN_INTEGER:
  case TJ_TOKEN_DECIMAL:
  case TJ_TOKEN_NAME:
  case TJ_TOKEN_UNDERSCORE:
  case TJ_TOKEN_OPEN_PARENTHESIS:
  case TJ_TOKEN_OPEN_BRACKET:
  case TJ_TOKEN_SWIZZLE:
  case TJ_TOKEN_POINTER:
  case TJ_TOKEN_DYNAMIC:
    return true;
  default:
    return false;
  }
}

static bool begins_item(tj_token_kind kind) {
  return kind == TJ_TOKEN_PARAM || kind == TJ_TOKEN_LET || kind == TJ_TOKEN_KERNEL || kind == TJ_TOKEN_IMPORT;
}

static bool is_closing_bracket(tj_token_kind kind) {
  return kind == TJ_TOKEN_CLOSE_PARENTHESIS || kind == TJ_TOKEN_CLOSE_BRACKET;
}

/* Fails at a token that continues nothing, after an item or after the last expression. */
static _Noreturn void fail_after(tj_parser *parser, bool after_item) {
  tj_token_kind kind = tj_parse_current(parser);
  tj_token_kind previous = parser->window.previous.kind;
  if (is_closing_bracket(kind))
    tj_note(parser->job, "no bracket is open here: remove the %s", tj_token_description(kind));
  else if (kind == TJ_TOKEN_OPEN_PARENTHESIS && previous == TJ_TOKEN_INTEGER)
    tj_note(parser->job, "an integer cannot be applied; multiply with *; a layout that is applied stands in "
                         "parentheses, as in (4:1)(2)");
  else if (kind == TJ_TOKEN_DYNAMIC)
    tj_note(parser->job,
            "? is an integer that is known at run time only; choose between integers with choose(c, a, b)");
  else if (kind == TJ_TOKEN_COMMA)
    tj_note(parser->job, "a tuple stands in parentheses, as in (4,8)");
  else if (begins_expression(kind) && after_item)
    tj_note(parser->job, "put a ; before the program's last expression");
  else if (begins_expression(kind))
    tj_note(parser->job, "an operator is missing, or a ; and let before the name of a definition");
  else if (begins_item(kind))
    tj_note(parser->job, "a bare expression comes last; put the items before it");
  tj_parse_fail_expected(parser, after_item ? "an operator, ';', an item or the end" : "an operator or the end");
}

/* Whether there is one: a text's own, that between it and the next one, or both. */
static bool accept_separator(tj_parser *parser) {
  bool found = tj_parse_accept(parser, TJ_TOKEN_SEMICOLON);
  uint32_t next = tj_parse_current_span(parser).begin;
  const tj_source_piece *piece = tj_source_piece_at(&parser->job->source, next);
  return (piece != NULL && next >= piece->end && tj_parse_accept(parser, TJ_TOKEN_SEMICOLON)) || found;
}

/* Whether a line ends between the previous and the current token. */
static bool is_next_line(const tj_parser *parser) {
  uint32_t end = parser->window.previous.span.end, begin = tj_parse_current_span(parser).begin;
  return memchr(parser->lexer.text + end, '\n', begin - end) != NULL;
}

/* Reads items, each with its `;` or without. Returns whether a bare expression may follow: behind Python's, in a line
 * of its own. */
static bool parse_item_list(tj_parser *parser, item_list *items) {
  bool separated = true, is_python = begins_assignment(parser);
  while (parse_item(parser, items)) {
    separated = accept_separator(parser) || (is_python && is_next_line(parser));
    is_python = begins_assignment(parser);
  }
  return separated;
}

/* Whether an expression ends a text that others follow: that is there for what it defines. */
static bool is_passed_over(const tj_parser *parser, const tj_ast *value) {
  const tj_source *source = &parser->job->source;
  return tj_source_piece_at(source, value->span.begin) !=
         tj_source_piece_at(source, tj_parse_current_span(parser).begin);
}

/* Reads items, and the expression that they end in: NULL where there is none, or where others follow. Returns whether
 * nothing does. */
static bool parse_text(tj_parser *parser, item_list *items, const tj_ast **value) {
  bool separated = parse_item_list(parser, items);
  *value = NULL;
  if (tj_parse_current(parser) == TJ_TOKEN_END)
    return true;
  if (!separated)
    fail_after(parser, true);
  tj_token_kind next = parser->window.next.kind;
  if (next == TJ_TOKEN_NAME || next == TJ_TOKEN_INTEGER || next == TJ_TOKEN_SWIZZLE)
    (void)accept_word(parser, "return");
  *value = tj_parse_expression(parser);
  accept_separator(parser);
  if (tj_parse_current(parser) != TJ_TOKEN_END && !is_passed_over(parser, *value))
    fail_after(parser, false);
  return tj_parse_current(parser) == TJ_TOKEN_END;
}

const tj_program_ast *tj_parse(tj_job *job) {
  tj_parser parser = {.job = job, .lexer = tj_lexer_begin(job), .window = {.job = job}, .shifts = true};
  tj_parse_advance(&parser);
  tj_parse_advance(&parser);
  parser.window.previous = (tj_token){TJ_TOKEN_END, {0, 0}, 0};
  item_list items = {0};
  tj_program_ast *program = TJ_NEW(job, tj_program_ast);
  while (!parse_text(&parser, &items, &program->value))
    ;
  program->item_count = items.count;
  program->item = tj_facts_stated(&parser, items.item, &program->item_count, &program->dynamic_count);
  return program;
}
