/* SPDX-License-Identifier: MIT */
/* Tokens to AST, by recursive descent with precedence climbing. It decides only what the grammar in
 * docs/language.md decides: whether names exist and values fit together is the semantic analysis' business.
 *
 * Recursion is bounded by TJ_MAX_NESTING; left-associative chains are built in a loop. Items of a list under
 * construction wait on one stack, `pending`, so that parsing takes linear time and memory. */
#include "frontend/parser.h"

#include "frontend/cute.h"
#include "frontend/lexer.h"
#include "frontend/syntax_error.h"

#include <string.h>

typedef struct {
  tj_job *job;
  tj_lexer lexer;
  tj_token_window window;
  const tj_ast **pending;
  uint32_t pending_count;
  uint32_t pending_capacity;
  uint32_t depth; /* of constructs that are open */
  bool one_item;  /* whether the tuple that ends here has a comma after its only item */
  bool shifts;    /* whether << and >> are operators here: not between the < and > of a tiler */
} tj_parser;

typedef const tj_ast *parse_function(tj_parser *parser);

enum { LOOSEST = 1, ADDITIVE = 7, UNARY = 9 };

static parse_function parse_expression;
static const tj_ast *parse_binary(tj_parser *parser, int loosest);

const char *tj_operator_text(tj_operator op) {
  static const char *const texts[] = {
#define OPERATOR(name, text, precedence) text,
      TJ_OPERATORS(OPERATOR)
#undef OPERATOR
  };
  return texts[op];
}

int tj_operator_precedence(tj_operator op) {
  static const int precedences[] = {
#define OPERATOR(name, text, precedence) precedence,
      TJ_OPERATORS(OPERATOR)
#undef OPERATOR
  };
  return precedences[op];
}

/* Tokens. */

static void advance(tj_parser *parser) {
  tj_token_window *window = &parser->window;
  window->previous = window->current;
  window->current = window->next;
  window->next = tj_lexer_next(&parser->lexer);
}

static tj_token_kind current(const tj_parser *parser) {
  return parser->window.current.kind;
}

static tj_span current_span(const tj_parser *parser) {
  return parser->window.current.span;
}

static bool accept(tj_parser *parser, tj_token_kind kind) {
  if (current(parser) != kind)
    return false;
  advance(parser);
  return true;
}

static _Noreturn void fail_expected(tj_parser *parser, const char *expected) {
  tj_fail_unexpected(&parser->window, expected);
}

static void expect(tj_parser *parser, tj_token_kind kind, const char *purpose) {
  if (!accept(parser, kind))
    fail_expected(parser, tj_string_format(parser->job, "%s %s", tj_token_description(kind), purpose));
}

/* What was read from `begin` to the token before the current one. */
static tj_span span_from(const tj_parser *parser, uint32_t begin) {
  return (tj_span){begin, parser->window.previous.span.end};
}

static const char *token_text(const tj_parser *parser, tj_token token) {
  return tj_string_copy(parser->job, parser->lexer.text + token.span.begin, token.span.end - token.span.begin);
}

static bool is_word(const tj_parser *parser, tj_token token, const char *word) {
  size_t length = token.span.end - token.span.begin;
  return token.kind == TJ_TOKEN_NAME && length == strlen(word) &&
         memcmp(parser->lexer.text + token.span.begin, word, length) == 0;
}

/* `in` and `multiple` are keywords only where they can stand. */
static bool accept_word(tj_parser *parser, const char *word) {
  if (!is_word(parser, parser->window.current, word))
    return false;
  advance(parser);
  return true;
}

static const char *expect_name(tj_parser *parser, const char *what) {
  tj_token token = parser->window.current;
  if (token.kind != TJ_TOKEN_NAME)
    fail_expected(parser, what);
  advance(parser);
  return token_text(parser, token);
}

/* Nodes. */

/* The array `data` of `count` objects, with room for one more. */
static void *with_room(tj_parser *parser, void *data, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity)
    return data;
  *capacity = *capacity * 2 + 4;
  void *larger = tj_arena_alloc(&parser->job->arena, *capacity, size);
  if (count != 0)
    memcpy(larger, data, count * size);
  return larger;
}

static void push(tj_parser *parser, const tj_ast *ast) {
  parser->pending = with_room(parser, parser->pending, parser->pending_count, &parser->pending_capacity, sizeof ast);
  parser->pending[parser->pending_count++] = ast;
}

static _Noreturn void fail_depth(tj_parser *parser, tj_span span) {
  tj_fail_at(parser->job, span, TJ_DEPTH_LIMIT, "nested more than %d levels deep", TJ_MAX_NESTING);
}

/* Opens a level of nesting at the current token. */
static void enter(tj_parser *parser) {
  if (parser->depth == TJ_MAX_NESTING)
    fail_depth(parser, current_span(parser));
  parser->depth++;
}

static void leave(tj_parser *parser) {
  parser->depth--;
}

static bool is_level(tj_ast_kind kind) {
  return kind != TJ_AST_BINARY && kind != TJ_AST_NAMED;
}

static tj_ast *new_leaf(tj_parser *parser, tj_ast_kind kind, tj_span span) {
  tj_ast *ast = TJ_NEW(parser->job, tj_ast);
  ast->kind = kind;
  ast->span = span;
  return ast;
}

/* A node over the items that are pending since there were `first` of them. */
static tj_ast *new_node(tj_parser *parser, tj_ast_kind kind, tj_span span, uint32_t first) {
  tj_ast *ast = new_leaf(parser, kind, span);
  ast->count = parser->pending_count - first;
  ast->item = tj_arena_copy(&parser->job->arena, parser->pending + first, ast->count * sizeof *ast->item);
  for (uint32_t i = 0; i < ast->count; i++)
    if (ast->item[i]->height > ast->height)
      ast->height = ast->item[i]->height;
  ast->height += is_level(kind);
  parser->pending_count = first;
  if (ast->height > TJ_MAX_NESTING)
    fail_depth(parser, span);
  return ast;
}

/* Brackets. */

/* Reads items separated by commas up to the bracket that closes the one at `open`, and leaves them pending. */
static void parse_items(tj_parser *parser, tj_token open, tj_token_kind close, parse_function *parse_item) {
  bool outer = parser->shifts;
  parser->shifts = close != TJ_TOKEN_GREATER;
  bool more = current(parser) != close;
  while (more) {
    push(parser, parse_item(parser));
    more = accept(parser, TJ_TOKEN_COMMA);
  }
  parser->shifts = outer;
  if (accept(parser, close))
    return;
  fail_expected(parser,
                tj_string_format(parser->job, "',' or %s to close the %s at %s", tj_token_description(close),
                                 tj_token_description(open.kind), tj_place_text(parser->job, open.span.begin)));
}

/* A bracketed list, of which the current token is the opening bracket. */
static tj_ast *parse_bracketed(tj_parser *parser, tj_ast_kind kind, tj_token_kind close, parse_function *parse_item) {
  tj_token open = parser->window.current;
  uint32_t first = parser->pending_count;
  enter(parser);
  advance(parser);
  parse_items(parser, open, close, parse_item);
  leave(parser);
  return new_node(parser, kind, span_from(parser, open.span.begin), first);
}

static bool is_literal(const tj_ast *ast) {
  while (ast->kind == TJ_AST_NEGATE || (ast->kind == TJ_AST_BINARY && ast->op == TJ_OPERATOR_BASIS))
    ast = ast->item[0];
  return ast->kind == TJ_AST_INTEGER || ast->kind == TJ_AST_DECIMAL;
}

bool tj_ast_is_bare(const tj_ast *ast) {
  return is_literal(ast) || ast->kind == TJ_AST_NAME || ast->kind == TJ_AST_UNDERSCORE || ast->kind == TJ_AST_TUPLE;
}

/* An item between parentheses; the comma of (x,) is read with x. */
static const tj_ast *parse_tuple_item(tj_parser *parser) {
  bool is_first = parser->window.previous.kind == TJ_TOKEN_OPEN_PARENTHESIS;
  const tj_ast *item = parse_expression(parser);
  parser->one_item =
      is_first && current(parser) == TJ_TOKEN_COMMA && parser->window.next.kind == TJ_TOKEN_CLOSE_PARENTHESIS;
  if (parser->one_item)
    advance(parser);
  return item;
}

/* A tuple, or an expression in parentheses. */
static const tj_ast *parse_parentheses(tj_parser *parser) {
  tj_ast *ast = parse_bracketed(parser, TJ_AST_TUPLE, TJ_TOKEN_CLOSE_PARENTHESIS, parse_tuple_item);
  if (ast->count == 1 && !parser->one_item && !tj_ast_is_bare(ast->item[0]))
    ast->kind = TJ_AST_GROUP;
  return ast;
}

static const tj_ast *parse_tiler(tj_parser *parser) {
  const tj_ast *tiler = parse_bracketed(parser, TJ_AST_TILER, TJ_TOKEN_GREATER, parse_expression);
  if (tiler->count == 0)
    tj_fail_at(parser->job, tiler->span, TJ_UNEXPECTED_TOKEN, "a tiler has at least one mode");
  return tiler;
}

static const tj_ast *parse_swizzle_item(tj_parser *parser) {
  return parse_binary(parser, ADDITIVE);
}

static const tj_ast *parse_swizzle(tj_parser *parser) {
  uint32_t begin = current_span(parser).begin;
  advance(parser);
  if (current(parser) != TJ_TOKEN_LESS)
    fail_expected(parser, "'<' after Sw, as in Sw<3,4,3>");
  tj_ast *swizzle = parse_bracketed(parser, TJ_AST_SWIZZLE, TJ_TOKEN_GREATER, parse_swizzle_item);
  swizzle->span.begin = begin;
  if (swizzle->count != 3)
    tj_fail_at(parser->job, swizzle->span, TJ_UNEXPECTED_TOKEN, "a swizzle has three numbers, B, M and S, not %u",
               swizzle->count);
  return swizzle;
}

/* CuTe's C++ text. */

/* Whether the name that is the current token has template arguments: < that begins no shift, after a name that CuTe
 * gives some. */
static bool begins_template(const tj_parser *parser) {
  const tj_lexer *lexer = &parser->lexer;
  uint32_t after = parser->window.next.span.end;
  if (parser->window.next.kind != TJ_TOKEN_LESS || (after < lexer->length && lexer->text[after] == '<'))
    return false;
  return tj_cute_has_template(token_text(parser, parser->window.current));
}

static void skip_empty_parentheses(tj_parser *parser) {
  if (current(parser) != TJ_TOKEN_OPEN_PARENTHESIS || parser->window.next.kind != TJ_TOKEN_CLOSE_PARENTHESIS)
    return;
  advance(parser);
  advance(parser);
}

/* Leaves out the types of a template that has them and one argument more. */
static void drop_types(tj_ast *ast) {
  uint32_t types = tj_cute_type_count(ast->name);
  if (types == 0 || ast->count != types + 1)
    return;
  ast->item += types;
  ast->count -= types;
}

static const tj_ast *parse_template(tj_parser *parser) {
  tj_token name = parser->window.current;
  advance(parser);
  tj_ast *ast = parse_bracketed(parser, TJ_AST_TEMPLATE, TJ_TOKEN_GREATER, parse_expression);
  ast->name = token_text(parser, name);
  ast->span.begin = name.span.begin;
  drop_types(ast);
  skip_empty_parentheses(parser);
  return ast;
}

/* A printed pointer, as the flag that stands in its place in a type. */
static const tj_ast *parse_pointer(tj_parser *parser) {
  tj_token token = parser->window.current;
  uint32_t first = parser->pending_count;
  tj_ast *bits = new_leaf(parser, TJ_AST_INTEGER, token.span);
  bits->integer = (int64_t)token.integer;
  advance(parser);
  push(parser, bits);
  tj_ast *ast = new_node(parser, TJ_AST_TEMPLATE, token.span, first);
  ast->name = TJ_CUTE_FLAG;
  return ast;
}

/* Operands. */

static const tj_ast *parse_integer(tj_parser *parser) {
  tj_token token = parser->window.current;
  if (token.integer > INT64_MAX)
    tj_fail_at(parser->job, token.span, TJ_BAD_NUMBER, "'%s' is too large", token_text(parser, token));
  tj_ast *ast = new_leaf(parser, TJ_AST_INTEGER, token.span);
  ast->integer = (int64_t)token.integer;
  advance(parser);
  return ast;
}

/* A name, or a decimal number. */
static const tj_ast *parse_word(tj_parser *parser, tj_ast_kind kind) {
  tj_ast *ast = new_leaf(parser, kind, current_span(parser));
  ast->name = token_text(parser, parser->window.current);
  advance(parser);
  return ast;
}

static const tj_ast *parse_underscore(tj_parser *parser) {
  const tj_ast *ast = new_leaf(parser, TJ_AST_UNDERSCORE, current_span(parser));
  advance(parser);
  return ast;
}

/* What the parser expects where an operand must stand: after an operator or a comma, or at a beginning. */
static const char *expected_operand(const tj_parser *parser) {
  tj_token previous = parser->window.previous;
  if (previous.kind == TJ_TOKEN_END || previous.kind == TJ_TOKEN_SEMICOLON)
    return "an item or an expression";
  return tj_string_format(parser->job, "an expression after '%s'", token_text(parser, previous));
}

static const tj_ast *parse_operand(tj_parser *parser) {
  switch (current(parser)) {
  case TJ_TOKEN_INTEGER:
    return parse_integer(parser);
  case TJ_TOKEN_DECIMAL:
    return parse_word(parser, TJ_AST_DECIMAL);
  case TJ_TOKEN_NAME:
    return begins_template(parser) ? parse_template(parser) : parse_word(parser, TJ_AST_NAME);
  case TJ_TOKEN_POINTER:
    return parse_pointer(parser);
  case TJ_TOKEN_UNDERSCORE:
    return parse_underscore(parser);
  case TJ_TOKEN_OPEN_PARENTHESIS:
    return parse_parentheses(parser);
  case TJ_TOKEN_OPEN_BRACKET:
    return parse_bracketed(parser, TJ_AST_LIST, TJ_TOKEN_CLOSE_BRACKET, parse_expression);
  case TJ_TOKEN_LESS:
    return parse_tiler(parser);
  case TJ_TOKEN_SWIZZLE:
    return parse_swizzle(parser);
  default:
    fail_expected(parser, expected_operand(parser));
  }
}

static const tj_ast *parse_argument(tj_parser *parser) {
  if (current(parser) != TJ_TOKEN_NAME || parser->window.next.kind != TJ_TOKEN_EQUALS)
    return parse_expression(parser);
  tj_token name = parser->window.current;
  uint32_t first = parser->pending_count;
  advance(parser);
  advance(parser);
  push(parser, parse_expression(parser));
  tj_ast *named = new_node(parser, TJ_AST_NAMED, span_from(parser, name.span.begin), first);
  named->name = token_text(parser, name);
  return named;
}

static bool can_be_applied(const tj_ast *ast) {
  return ast->kind == TJ_AST_NAME || ast->kind == TJ_AST_TUPLE || ast->kind == TJ_AST_GROUP ||
         ast->kind == TJ_AST_APPLY || ast->kind == TJ_AST_SWIZZLE || ast->kind == TJ_AST_TEMPLATE;
}

/* Whether {} may stand behind it: what can be the name of a type in C++, or an integer that is one. */
static bool can_be_type(const tj_ast *ast) {
  return ast->kind == TJ_AST_NAME || ast->kind == TJ_AST_INTEGER || ast->kind == TJ_AST_UNDERSCORE ||
         ast->kind == TJ_AST_TEMPLATE;
}

/* An operand with the argument lists that follow it. */
static const tj_ast *parse_application(tj_parser *parser) {
  const tj_ast *applied = parse_operand(parser);
  if (can_be_type(applied))
    accept(parser, TJ_TOKEN_BRACES);
  while (current(parser) == TJ_TOKEN_OPEN_PARENTHESIS && can_be_applied(applied)) {
    uint32_t first = parser->pending_count;
    tj_token open = parser->window.current;
    push(parser, applied);
    enter(parser);
    advance(parser);
    parse_items(parser, open, TJ_TOKEN_CLOSE_PARENTHESIS, parse_argument);
    leave(parser);
    applied = new_node(parser, TJ_AST_APPLY, span_from(parser, applied->span.begin), first);
  }
  return applied;
}

/* Operators. */

/* -9223372036854775808, whose magnitude is no integer of its own. */
static const tj_ast *parse_least_integer(tj_parser *parser, uint32_t begin) {
  advance(parser);
  tj_ast *ast = new_leaf(parser, TJ_AST_INTEGER, span_from(parser, begin));
  ast->integer = INT64_MIN;
  return ast;
}

static bool is_minus(tj_token_kind kind) {
  return kind == TJ_TOKEN_MINUS || kind == TJ_TOKEN_STATIC_MINUS;
}

/* A minus sign and its operand. */
static const tj_ast *parse_negation(tj_parser *parser) {
  uint32_t begin = current_span(parser).begin;
  uint32_t first = parser->pending_count;
  enter(parser);
  advance(parser);
  const tj_ast *operand = NULL;
  bool least = current(parser) == TJ_TOKEN_INTEGER && parser->window.current.integer > INT64_MAX;
  if (least)
    operand = parse_least_integer(parser, begin);
  else
    push(parser, parse_binary(parser, UNARY));
  leave(parser);
  return least ? operand : new_node(parser, TJ_AST_NEGATE, span_from(parser, begin), first);
}

/* The operator that begins at the current token, and how many tokens it has; false when none does. */
static bool current_operator(const tj_parser *parser, tj_operator *op, int *tokens) {
  static const struct {
    bool exists;
    tj_operator op;
  } of_token[TJ_TOKEN_COUNT] = {
      [TJ_TOKEN_COMPOSE] = {true, TJ_OPERATOR_COMPOSE}, [TJ_TOKEN_COLON] = {true, TJ_OPERATOR_LAYOUT},
      [TJ_TOKEN_BAR] = {true, TJ_OPERATOR_OR},          [TJ_TOKEN_CARET] = {true, TJ_OPERATOR_XOR},
      [TJ_TOKEN_AMPERSAND] = {true, TJ_OPERATOR_AND},   [TJ_TOKEN_PLUS] = {true, TJ_OPERATOR_ADD},
      [TJ_TOKEN_MINUS] = {true, TJ_OPERATOR_SUB},       [TJ_TOKEN_STAR] = {true, TJ_OPERATOR_MUL},
      [TJ_TOKEN_SLASH] = {true, TJ_OPERATOR_DIV},       [TJ_TOKEN_PERCENT] = {true, TJ_OPERATOR_MOD},
      [TJ_TOKEN_AT] = {true, TJ_OPERATOR_BASIS},        [TJ_TOKEN_LESS] = {true, TJ_OPERATOR_SHL},
      [TJ_TOKEN_GREATER] = {true, TJ_OPERATOR_SHR},
  };
  const tj_token_window *window = &parser->window;
  tj_token_kind kind = window->current.kind;
  bool shift = kind == TJ_TOKEN_LESS || kind == TJ_TOKEN_GREATER;
  *op = of_token[kind].op;
  *tokens = shift ? 2 : 1;
  if (!shift)
    return of_token[kind].exists;
  return parser->shifts && window->next.kind == kind && window->next.span.begin == window->current.span.end;
}

/* An expression of operators that bind at least as tightly as `loosest`. */
static const tj_ast *parse_binary(tj_parser *parser, int loosest) {
  bool negative = loosest <= UNARY && is_minus(current(parser));
  const tj_ast *left = negative ? parse_negation(parser) : parse_application(parser);
  tj_operator op;
  int tokens;
  while (current_operator(parser, &op, &tokens) && tj_operator_precedence(op) >= loosest) {
    uint32_t first = parser->pending_count;
    push(parser, left);
    for (int i = 0; i < tokens; i++)
      advance(parser);
    push(parser, parse_binary(parser, tj_operator_precedence(op) + 1));
    tj_ast *binary = new_node(parser, TJ_AST_BINARY, span_from(parser, left->span.begin), first);
    binary->op = op;
    left = binary;
  }
  return left;
}

static const tj_ast *parse_expression(tj_parser *parser) {
  return parse_binary(parser, LOOSEST);
}

/* Items. */

typedef struct {
  tj_item *item;
  uint32_t count, capacity;
} item_list;

/* A new last item. */
static tj_item *add_item(tj_parser *parser, item_list *list, tj_item_kind kind) {
  list->item = with_room(parser, list->item, list->count, &list->capacity, sizeof *list->item);
  tj_item *item = &list->item[list->count++];
  item->kind = kind;
  return item;
}

/* Reads the name of an item. */
static void parse_item_name(tj_parser *parser, tj_item *item, const char *what) {
  item->name_span = current_span(parser);
  item->name = expect_name(parser, what);
}

static void parse_parameter_facts(tj_parser *parser, tj_item *item) {
  if (accept_word(parser, "in")) {
    item->low = parse_expression(parser);
    expect(parser, TJ_TOKEN_RANGE, "between the bounds of a range");
    item->high = parse_expression(parser);
  }
  if (accept_word(parser, "multiple"))
    item->multiple = parse_expression(parser);
  if (is_word(parser, parser->window.current, "in")) {
    tj_note(parser->job, "the range comes first, and once: param M in 1..4096 multiple 64");
    fail_expected(parser, "',', ';' or another item");
  }
  if (current(parser) == TJ_TOKEN_EQUALS) {
    tj_note(parser->job, "a parameter gets its value when it is bound; define a constant with let");
    fail_expected(parser, "in, multiple, ',' or ';'");
  }
}

static void parse_param(tj_parser *parser, item_list *list) {
  uint32_t begin = current_span(parser).begin;
  advance(parser);
  do {
    tj_item *item = add_item(parser, list, TJ_ITEM_PARAM);
    if (parser->window.previous.kind == TJ_TOKEN_COMMA)
      begin = current_span(parser).begin;
    parse_item_name(parser, item, "a parameter's name");
    parse_parameter_facts(parser, item);
    item->span = span_from(parser, begin);
  } while (accept(parser, TJ_TOKEN_COMMA));
}

static void expect_definition(tj_parser *parser, const char *form) {
  if (current(parser) != TJ_TOKEN_EQUALS)
    tj_note(parser->job, "%s", form);
  expect(parser, TJ_TOKEN_EQUALS, "and a definition");
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
  list->parameter = with_room(parser, list->parameter, list->count, &list->capacity, sizeof *list->parameter);
  tj_ast_parameter *parameter = &list->parameter[list->count];
  uint32_t begin = current_span(parser).begin;
  parameter->name = expect_name(parser, "a parameter's name");
  check_new_parameter(parser, item, parameter->name);
  if (accept(parser, TJ_TOKEN_EQUALS))
    parameter->value = parse_expression(parser);
  parameter->span = span_from(parser, begin);
  item->parameter = list->parameter;
  item->parameter_count = ++list->count;
}

static void parse_function_parameters(tj_parser *parser, tj_item *item) {
  parameter_list list = {0};
  item->kind = TJ_ITEM_FUNCTION;
  do
    parse_function_parameter(parser, item, &list);
  while (accept(parser, TJ_TOKEN_COMMA));
  expect(parser, TJ_TOKEN_CLOSE_PARENTHESIS, "or ',' after a function's parameter");
}

static void parse_let(tj_parser *parser, item_list *list) {
  tj_item *item = add_item(parser, list, TJ_ITEM_LET);
  uint32_t begin = current_span(parser).begin;
  advance(parser);
  parse_item_name(parser, item, "a name after let");
  if (accept(parser, TJ_TOKEN_OPEN_PARENTHESIS))
    parse_function_parameters(parser, item);
  expect_definition(parser, "write let A = (4,8):(8,1), or let f(x, y) = x + y");
  item->body = parse_expression(parser);
  item->span = span_from(parser, begin);
}

typedef struct {
  tj_ast_argument *argument;
  uint32_t count, capacity;
} argument_list;

static tj_ast_argument *add_argument(tj_parser *parser, argument_list *list) {
  list->argument = with_room(parser, list->argument, list->count, &list->capacity, sizeof *list->argument);
  return &list->argument[list->count++];
}

static void expect_argument_mark(tj_parser *parser, tj_token_kind mark, const char *purpose) {
  if (current(parser) != mark)
    tj_note(parser->job, "a kernel's argument is written name: dtype @ view, as in src: f32 @ A");
  expect(parser, mark, purpose);
}

static void parse_kernel_argument(tj_parser *parser, tj_ast_argument *argument) {
  uint32_t begin = current_span(parser).begin;
  argument->name = expect_name(parser, "an argument's name");
  expect_argument_mark(parser, TJ_TOKEN_COLON, "and an element type after the argument's name");
  argument->dtype_span = current_span(parser);
  argument->dtype = expect_name(parser, "an element type, such as f32");
  expect_argument_mark(parser, TJ_TOKEN_AT, "and a view after the element type");
  argument->view = parse_expression(parser);
  argument->span = span_from(parser, begin);
}

static void parse_kernel(tj_parser *parser, item_list *list) {
  tj_item *item = add_item(parser, list, TJ_ITEM_KERNEL);
  uint32_t begin = current_span(parser).begin;
  advance(parser);
  parse_item_name(parser, item, "a kernel's name");
  expect(parser, TJ_TOKEN_OPEN_PARENTHESIS, "and the kernel's arguments");
  argument_list arguments = {0};
  do
    parse_kernel_argument(parser, add_argument(parser, &arguments));
  while (accept(parser, TJ_TOKEN_COMMA));
  expect(parser, TJ_TOKEN_CLOSE_PARENTHESIS, "or ',' after a kernel's argument");
  expect_definition(parser, "write kernel K(src: f32 @ A, dst: f32 @ B) = copy(src, dst)");
  item->argument = arguments.argument;
  item->argument_count = arguments.count;
  item->body = parse_expression(parser);
  item->span = span_from(parser, begin);
}

static void parse_import(tj_parser *parser, item_list *list) {
  tj_item *item = add_item(parser, list, TJ_ITEM_IMPORT);
  uint32_t begin = current_span(parser).begin;
  advance(parser);
  tj_token text = parser->window.current;
  if (text.kind != TJ_TOKEN_STRING)
    fail_expected(parser, "a text in double quotes after import, as in import \"atoms\"");
  advance(parser);
  item->name_span = text.span;
  item->name =
      tj_string_copy(parser->job, parser->lexer.text + text.span.begin + 1, text.span.end - text.span.begin - 2);
  item->span = span_from(parser, begin);
}

static bool parse_item(tj_parser *parser, item_list *list) {
  switch (current(parser)) {
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
  tj_token_kind kind = current(parser);
  tj_token_kind previous = parser->window.previous.kind;
  if (is_closing_bracket(kind))
    tj_note(parser->job, "no bracket is open here: remove the %s", tj_token_description(kind));
  else if (kind == TJ_TOKEN_OPEN_PARENTHESIS && previous == TJ_TOKEN_INTEGER)
    tj_note(parser->job, "an integer cannot be applied; multiply with *; a layout that is applied stands in "
                         "parentheses, as in (4:1)(2)");
  else if (kind == TJ_TOKEN_COMMA)
    tj_note(parser->job, "a tuple stands in parentheses, as in (4,8)");
  else if (begins_expression(kind) && after_item)
    tj_note(parser->job, "put a ; before the program's last expression");
  else if (begins_expression(kind))
    tj_note(parser->job, "an operator is missing, or a ; and let before the name of a definition");
  else if (begins_item(kind))
    tj_note(parser->job, "a bare expression comes last; put the items before it");
  fail_expected(parser, after_item ? "an operator, ';', an item or the end" : "an operator or the end");
}

/* Whether there is one: a text's own, that between it and the next one, or both. */
static bool accept_separator(tj_parser *parser) {
  bool found = accept(parser, TJ_TOKEN_SEMICOLON);
  uint32_t next = current_span(parser).begin;
  const tj_source_piece *piece = tj_source_piece_at(&parser->job->source, next);
  return (piece != NULL && next >= piece->end && accept(parser, TJ_TOKEN_SEMICOLON)) || found;
}

/* Reads items, each with its `;` or without. Returns whether a bare expression may follow. */
static bool parse_item_list(tj_parser *parser, item_list *items) {
  bool separated = true;
  while (parse_item(parser, items))
    separated = accept_separator(parser);
  return separated;
}

/* Whether an expression ends a text that others follow: that is there for what it defines. */
static bool is_passed_over(const tj_parser *parser, const tj_ast *value) {
  const tj_source *source = &parser->job->source;
  return tj_source_piece_at(source, value->span.begin) != tj_source_piece_at(source, current_span(parser).begin);
}

/* Reads items, and the expression that they end in: NULL where there is none, or where others follow. Returns whether
 * nothing does. */
static bool parse_text(tj_parser *parser, item_list *items, const tj_ast **value) {
  bool separated = parse_item_list(parser, items);
  *value = NULL;
  if (current(parser) == TJ_TOKEN_END)
    return true;
  if (!separated)
    fail_after(parser, true);
  *value = parse_expression(parser);
  accept_separator(parser);
  if (current(parser) != TJ_TOKEN_END && !is_passed_over(parser, *value))
    fail_after(parser, false);
  return current(parser) == TJ_TOKEN_END;
}

const tj_program_ast *tj_parse(tj_job *job) {
  tj_parser parser = {.job = job, .lexer = tj_lexer_begin(job), .window = {.job = job}, .shifts = true};
  advance(&parser);
  advance(&parser);
  parser.window.previous = (tj_token){TJ_TOKEN_END, {0, 0}, 0};
  item_list items = {0};
  tj_program_ast *program = TJ_NEW(job, tj_program_ast);
  while (!parse_text(&parser, &items, &program->value))
    ;
  program->item = items.item;
  program->item_count = items.count;
  return program;
}
