/* SPDX-License-Identifier: MIT */
/* Tokens to the AST of an expression, by recursive descent with precedence climbing. It decides only what the grammar
 * in docs/language.md decides: whether names exist and values fit together is the semantic analysis' business.
 *
 * Recursion is bounded by TJ_MAX_NESTING; left-associative chains are built in a loop. Items of a list under
 * construction wait on one stack, `pending`, so that parsing takes linear time and memory. */
#include "frontend/text/parse.h"

#include "frontend/names/cute.h"

#include <string.h>

typedef const tj_ast *parse_function(tj_parser *parser);

enum { LOOSEST = 1, ADDITIVE = 7, UNARY = 9 };

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

void tj_parse_advance(tj_parser *parser) {
  tj_token_window *window = &parser->window;
  window->previous = window->current;
  window->current = window->next;
  window->next = tj_lexer_next(&parser->lexer);
  tj_dynamic_sees(parser, window->next);
}

tj_token_kind tj_parse_current(const tj_parser *parser) {
  return parser->window.current.kind;
}

tj_span tj_parse_current_span(const tj_parser *parser) {
  return parser->window.current.span;
}

bool tj_parse_accept(tj_parser *parser, tj_token_kind kind) {
  if (tj_parse_current(parser) != kind)
    return false;
  tj_parse_advance(parser);
  return true;
}

_Noreturn void tj_parse_fail_expected(tj_parser *parser, const char *expected) {
  tj_fail_unexpected(&parser->window, expected);
}

void tj_parse_expect(tj_parser *parser, tj_token_kind kind, const char *purpose) {
  if (!tj_parse_accept(parser, kind))
    tj_parse_fail_expected(parser, tj_string_format(parser->job, "%s %s", tj_token_description(kind), purpose));
}

/* What was read from `begin` to the token before the current one. */
tj_span tj_parse_span_from(const tj_parser *parser, uint32_t begin) {
  return (tj_span){begin, parser->window.previous.span.end};
}

const char *tj_parse_token_text(const tj_parser *parser, tj_token token) {
  return tj_string_copy(parser->job, parser->lexer.text + token.span.begin, token.span.end - token.span.begin);
}

bool tj_parse_is_word(const tj_parser *parser, tj_token token, const char *word) {
  size_t length = token.span.end - token.span.begin;
  return token.kind == TJ_TOKEN_NAME && length == strlen(word) &&
         memcmp(parser->lexer.text + token.span.begin, word, length) == 0;
}

/* Nodes. */

/* The array `data` of `count` objects, with room for one more. */
void *tj_parse_with_room(tj_parser *parser, void *data, uint32_t count, uint32_t *capacity, size_t size) {
  if (count < *capacity)
    return data;
  *capacity = *capacity * 2 + 4;
  void *larger = tj_arena_alloc(&parser->job->arena, *capacity, size);
  if (count != 0)
    memcpy(larger, data, count * size);
  return larger;
}

static void push(tj_parser *parser, const tj_ast *ast) {
  parser->pending =
      tj_parse_with_room(parser, parser->pending, parser->pending_count, &parser->pending_capacity, sizeof ast);
  parser->pending[parser->pending_count++] = ast;
}

static _Noreturn void fail_depth(tj_parser *parser, tj_span span) {
  tj_fail_at(parser->job, span, TJ_DEPTH_LIMIT, "nested more than %d levels deep", TJ_MAX_NESTING);
}

/* Opens a level of nesting at the current token. */
static void enter(tj_parser *parser) {
  if (parser->depth == TJ_MAX_NESTING)
    fail_depth(parser, tj_parse_current_span(parser));
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

/* What separates the items of brackets: semicolons in [A;B], as CuTe's DSL prints tilers. */
static tj_token_kind separator_of(const tj_parser *parser, tj_token_kind close) {
  bool is_tiler = close == TJ_TOKEN_CLOSE_BRACKET && tj_parse_current(parser) == TJ_TOKEN_SEMICOLON;
  return is_tiler ? TJ_TOKEN_SEMICOLON : TJ_TOKEN_COMMA;
}

/* Reads items and what separates them up to the bracket that closes the one at `open`, and leaves them pending. */
static void parse_items(tj_parser *parser, tj_token open, tj_token_kind close, parse_function *parse_item) {
  bool outer = parser->shifts;
  parser->shifts = close != TJ_TOKEN_GREATER;
  tj_token_kind separator = TJ_TOKEN_END;
  bool more = tj_parse_current(parser) != close;
  while (more) {
    push(parser, parse_item(parser));
    separator = separator == TJ_TOKEN_END ? separator_of(parser, close) : separator;
    more = tj_parse_accept(parser, separator);
  }
  parser->shifts = outer;
  parser->separator = separator;
  if (tj_parse_accept(parser, close))
    return;
  tj_token_kind more_of = separator == TJ_TOKEN_END ? TJ_TOKEN_COMMA : separator;
  tj_parse_fail_expected(parser, tj_string_format(parser->job, "%s or %s to close the %s at %s",
                                                  tj_token_description(more_of), tj_token_description(close),
                                                  tj_token_description(open.kind),
                                                  tj_place_text(parser->job, open.span.begin)));
}

/* A bracketed list, of which the current token is the opening bracket. */
static tj_ast *parse_bracketed(tj_parser *parser, tj_ast_kind kind, tj_token_kind close, parse_function *parse_item) {
  tj_token open = parser->window.current;
  uint32_t first = parser->pending_count;
  enter(parser);
  tj_parse_advance(parser);
  parse_items(parser, open, close, parse_item);
  leave(parser);
  return new_node(parser, kind, tj_parse_span_from(parser, open.span.begin), first);
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
  const tj_ast *item = tj_parse_expression(parser);
  parser->one_item = is_first && tj_parse_current(parser) == TJ_TOKEN_COMMA &&
                     parser->window.next.kind == TJ_TOKEN_CLOSE_PARENTHESIS;
  if (parser->one_item)
    tj_parse_advance(parser);
  return item;
}

/* A tuple, or an expression in parentheses. */
static const tj_ast *parse_parentheses(tj_parser *parser) {
  tj_ast *ast = parse_bracketed(parser, TJ_AST_TUPLE, TJ_TOKEN_CLOSE_PARENTHESIS, parse_tuple_item);
  if (ast->count == 1 && !parser->one_item && !tj_ast_is_bare(ast->item[0]))
    ast->kind = TJ_AST_GROUP;
  return ast;
}

/* A list, or a tiler in the brackets of CuTe's DSL. */
static const tj_ast *parse_list(tj_parser *parser) {
  tj_ast *list = parse_bracketed(parser, TJ_AST_LIST, TJ_TOKEN_CLOSE_BRACKET, tj_parse_expression);
  if (parser->separator == TJ_TOKEN_SEMICOLON)
    list->kind = TJ_AST_TILER;
  return list;
}

static const tj_ast *parse_tiler(tj_parser *parser) {
  const tj_ast *tiler = parse_bracketed(parser, TJ_AST_TILER, TJ_TOKEN_GREATER, tj_parse_expression);
  if (tiler->count == 0)
    tj_fail_at(parser->job, tiler->span, TJ_UNEXPECTED_TOKEN, "a tiler has at least one mode");
  return tiler;
}

static const tj_ast *parse_swizzle_item(tj_parser *parser) {
  return parse_binary(parser, ADDITIVE);
}

static const tj_ast *parse_swizzle(tj_parser *parser) {
  uint32_t begin = tj_parse_current_span(parser).begin;
  tj_parse_advance(parser);
  if (tj_parse_current(parser) != TJ_TOKEN_LESS)
    tj_parse_fail_expected(parser, "'<' after Sw, as in Sw<3,4,3>");
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
  return tj_cute_has_template(tj_parse_token_text(parser, parser->window.current));
}

static void skip_empty_parentheses(tj_parser *parser) {
  if (tj_parse_current(parser) != TJ_TOKEN_OPEN_PARENTHESIS || parser->window.next.kind != TJ_TOKEN_CLOSE_PARENTHESIS)
    return;
  tj_parse_advance(parser);
  tj_parse_advance(parser);
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
  tj_parse_advance(parser);
  tj_ast *ast = parse_bracketed(parser, TJ_AST_TEMPLATE, TJ_TOKEN_GREATER, tj_parse_expression);
  ast->name = tj_parse_token_text(parser, name);
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
  tj_parse_advance(parser);
  push(parser, bits);
  tj_ast *ast = new_node(parser, TJ_AST_TEMPLATE, token.span, first);
  ast->name = TJ_CUTE_FLAG;
  return ast;
}

/* Operands. */

static const tj_ast *parse_integer(tj_parser *parser) {
  tj_token token = parser->window.current;
  if (token.integer > INT64_MAX)
    tj_fail_at(parser->job, token.span, TJ_BAD_NUMBER, "'%s' is too large", tj_parse_token_text(parser, token));
  tj_ast *ast = new_leaf(parser, TJ_AST_INTEGER, token.span);
  ast->integer = (int64_t)token.integer;
  tj_parse_advance(parser);
  return ast;
}

/* A name, or a decimal number. */
static const tj_ast *parse_word(tj_parser *parser, tj_ast_kind kind) {
  tj_ast *ast = new_leaf(parser, kind, tj_parse_current_span(parser));
  ast->name = tj_parse_token_text(parser, parser->window.current);
  tj_parse_advance(parser);
  return ast;
}

static const tj_ast *parse_underscore(tj_parser *parser) {
  const tj_ast *ast = new_leaf(parser, TJ_AST_UNDERSCORE, tj_parse_current_span(parser));
  tj_parse_advance(parser);
  return ast;
}

/* What the parser expects where an operand must stand: after an operator or a comma, or at a beginning. */
static const char *expected_operand(const tj_parser *parser) {
  tj_token previous = parser->window.previous;
  if (previous.kind == TJ_TOKEN_END || previous.kind == TJ_TOKEN_SEMICOLON)
    return "an item or an expression";
  return tj_string_format(parser->job, "an expression after '%s'", tj_parse_token_text(parser, previous));
}

static const tj_ast *parse_operand(tj_parser *parser) {
  switch (tj_parse_current(parser)) {
  case TJ_TOKEN_INTEGER:
    return parse_integer(parser);
  case TJ_TOKEN_DECIMAL:
    return parse_word(parser, TJ_AST_DECIMAL);
  case TJ_TOKEN_NAME:
    return begins_template(parser) ? parse_template(parser) : parse_word(parser, TJ_AST_NAME);
  case TJ_TOKEN_POINTER:
    return parse_pointer(parser);
  case TJ_TOKEN_DYNAMIC:
    return tj_parse_dynamic(parser);
  case TJ_TOKEN_UNDERSCORE:
    return parse_underscore(parser);
  case TJ_TOKEN_OPEN_PARENTHESIS:
    return parse_parentheses(parser);
  case TJ_TOKEN_OPEN_BRACKET:
    return parse_list(parser);
  case TJ_TOKEN_LESS:
    return parse_tiler(parser);
  case TJ_TOKEN_SWIZZLE:
    return parse_swizzle(parser);
  default:
    tj_parse_fail_expected(parser, expected_operand(parser));
  }
}

const tj_ast *tj_parse_argument(tj_parser *parser) {
  if (tj_parse_current(parser) != TJ_TOKEN_NAME || parser->window.next.kind != TJ_TOKEN_EQUALS)
    return tj_parse_expression(parser);
  tj_token name = parser->window.current;
  uint32_t first = parser->pending_count;
  tj_parse_advance(parser);
  tj_parse_advance(parser);
  push(parser, tj_parse_expression(parser));
  tj_ast *named = new_node(parser, TJ_AST_NAMED, tj_parse_span_from(parser, name.span.begin), first);
  named->name = tj_parse_token_text(parser, name);
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
    tj_parse_accept(parser, TJ_TOKEN_BRACES);
  while (tj_parse_current(parser) == TJ_TOKEN_OPEN_PARENTHESIS && can_be_applied(applied)) {
    uint32_t first = parser->pending_count;
    tj_token open = parser->window.current;
    push(parser, applied);
    enter(parser);
    tj_parse_advance(parser);
    parse_items(parser, open, TJ_TOKEN_CLOSE_PARENTHESIS, tj_parse_argument);
    leave(parser);
    applied = new_node(parser, TJ_AST_APPLY, tj_parse_span_from(parser, applied->span.begin), first);
    tj_facts_see(parser, applied);
  }
  return applied;
}

/* Operators. */

/* -9223372036854775808, whose magnitude is no integer of its own. */
static const tj_ast *parse_least_integer(tj_parser *parser, uint32_t begin) {
  tj_parse_advance(parser);
  tj_ast *ast = new_leaf(parser, TJ_AST_INTEGER, tj_parse_span_from(parser, begin));
  ast->integer = INT64_MIN;
  return ast;
}

static bool is_minus(tj_token_kind kind) {
  return kind == TJ_TOKEN_MINUS || kind == TJ_TOKEN_STATIC_MINUS;
}

/* A minus sign and its operand. */
static const tj_ast *parse_negation(tj_parser *parser) {
  uint32_t begin = tj_parse_current_span(parser).begin;
  uint32_t first = parser->pending_count;
  enter(parser);
  tj_parse_advance(parser);
  const tj_ast *operand = NULL;
  bool least = tj_parse_current(parser) == TJ_TOKEN_INTEGER && parser->window.current.integer > INT64_MAX;
  if (least)
    operand = parse_least_integer(parser, begin);
  else
    push(parser, parse_binary(parser, UNARY));
  leave(parser);
  return least ? operand : new_node(parser, TJ_AST_NEGATE, tj_parse_span_from(parser, begin), first);
}

/* A call of a function with the arguments that are pending since there were `first` of them. */
static const tj_ast *call_of(tj_parser *parser, const char *name, uint32_t first) {
  const tj_ast *last = parser->pending[parser->pending_count - 1];
  tj_ast *function = new_leaf(parser, TJ_AST_NAME, parser->pending[first]->span);
  tj_span span = {function->span.begin, last->span.end};
  function->name = name;
  push(parser, last);
  memmove(parser->pending + first + 1, parser->pending + first,
          (parser->pending_count - first - 1) * sizeof *parser->pending);
  parser->pending[first] = function;
  return new_node(parser, TJ_AST_APPLY, span, first);
}

/* A function of an expression and an integer. */
static const tj_ast *call_with(tj_parser *parser, const char *name, const tj_ast *of, int64_t value) {
  uint32_t first = parser->pending_count;
  tj_ast *integer = new_leaf(parser, TJ_AST_INTEGER, of->span);
  integer->integer = value;
  push(parser, of);
  push(parser, integer);
  return call_of(parser, name, first);
}

/* !a */
static const tj_ast *parse_inversion(tj_parser *parser) {
  enter(parser);
  tj_parse_advance(parser);
  const tj_ast *inverse = call_with(parser, "eq", parse_binary(parser, UNARY), 0);
  leave(parser);
  return inverse;
}

/* Whether the current token is a pointer that _ joins to the swizzle before it: Sw<3,4,3>_smem_ptr[16b](unset). */
static bool is_joined_pointer(const tj_parser *parser) {
  tj_token token = parser->window.current;
  return token.kind == TJ_TOKEN_POINTER && parser->lexer.text[token.span.begin] == '_' &&
         parser->window.previous.kind == TJ_TOKEN_GREATER;
}

/* Whether && or || of a condition is next. */
static bool is_logical(const tj_parser *parser) {
  const tj_token current = parser->window.current, next = parser->window.next;
  return parser->has_conditions && (current.kind == TJ_TOKEN_AMPERSAND || current.kind == TJ_TOKEN_BAR) &&
         next.kind == current.kind && next.span.begin == current.span.end;
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
  if (is_joined_pointer(parser)) {
    *op = TJ_OPERATOR_COMPOSE;
    *tokens = 0;
    return true;
  }
  if (!shift)
    return of_token[kind].exists && !is_logical(parser);
  return parser->shifts && window->next.kind == kind && window->next.span.begin == window->current.span.end;
}

/* An expression of operators that bind at least as tightly as `loosest`. */
static const tj_ast *parse_binary(tj_parser *parser, int loosest) {
  bool is_unary = loosest <= UNARY;
  bool negative = is_unary && is_minus(tj_parse_current(parser));
  bool inverted = is_unary && parser->has_conditions && tj_parse_current(parser) == TJ_TOKEN_EXCLAMATION;
  const tj_ast *left = negative   ? parse_negation(parser)
                       : inverted ? parse_inversion(parser)
                                  : parse_application(parser);
  tj_operator op;
  int tokens;
  while (current_operator(parser, &op, &tokens) && tj_operator_precedence(op) >= loosest) {
    uint32_t first = parser->pending_count;
    push(parser, left);
    for (int i = 0; i < tokens; i++)
      tj_parse_advance(parser);
    push(parser, parse_binary(parser, tj_operator_precedence(op) + 1));
    tj_ast *binary = new_node(parser, TJ_AST_BINARY, tj_parse_span_from(parser, left->span.begin), first);
    binary->op = op;
    if (op == TJ_OPERATOR_LAYOUT)
      tj_dynamic_are_extents(parser, left);
    left = binary;
  }
  return left;
}

/* Conditions of C++, which only its declarations have: those of integers, as functions of them. */

/* The function that compares as the current token does: none where a bracket closes with it, or a name gets a value.
 */
static const char *accept_comparison(tj_parser *parser) {
  tj_token_kind kind = tj_parse_current(parser);
  bool is_pair = parser->window.next.kind == TJ_TOKEN_EQUALS;
  bool is_less = kind == TJ_TOKEN_LESS, is_greater = kind == TJ_TOKEN_GREATER && parser->shifts;
  bool is_unequal = kind == TJ_TOKEN_EXCLAMATION;
  if (!is_less && !is_greater && !((kind == TJ_TOKEN_EQUALS || is_unequal) && is_pair))
    return NULL;
  tj_parse_advance(parser);
  if (!tj_parse_accept(parser, TJ_TOKEN_EQUALS))
    return is_less ? "lt" : "gt";
  return is_less ? "le" : is_greater ? "ge" : is_unequal ? "ne" : "eq";
}

static const tj_ast *compared(tj_parser *parser, const tj_ast *a) {
  const char *function = accept_comparison(parser);
  if (function == NULL)
    return a;
  uint32_t first = parser->pending_count;
  push(parser, a);
  push(parser, parse_binary(parser, tj_operator_precedence(TJ_OPERATOR_OR)));
  return call_of(parser, function, first);
}

/* a && b, or, more loosely, a || b. */
static const tj_ast *parse_logical(tj_parser *parser, tj_token_kind kind, int loosest) {
  bool is_and = kind == TJ_TOKEN_AMPERSAND;
  const tj_ast *value =
      is_and ? compared(parser, parse_binary(parser, loosest)) : parse_logical(parser, TJ_TOKEN_AMPERSAND, loosest);
  while (is_logical(parser) && tj_parse_current(parser) == kind) {
    uint32_t first = parser->pending_count;
    tj_ast *sure = new_leaf(parser, TJ_AST_INTEGER, value->span);
    sure->integer = !is_and;
    push(parser, call_with(parser, "ne", value, 0));
    tj_parse_advance(parser);
    tj_parse_advance(parser);
    const int tight = tj_operator_precedence(TJ_OPERATOR_OR);
    const tj_ast *other =
        is_and ? compared(parser, parse_binary(parser, tight)) : parse_logical(parser, TJ_TOKEN_AMPERSAND, tight);
    const tj_ast *truth = call_with(parser, "ne", other, 0);
    push(parser, is_and ? truth : sure);
    push(parser, is_and ? sure : truth);
    value = call_of(parser, "choose", first);
  }
  return value;
}

/* a < b ? x : y */
static const tj_ast *parse_conditional(tj_parser *parser, int loosest) {
  const int tight = tj_operator_precedence(TJ_OPERATOR_OR);
  enter(parser);
  const tj_ast *value = parse_logical(parser, TJ_TOKEN_BAR, loosest);
  if (tj_parse_accept(parser, TJ_TOKEN_DYNAMIC)) {
    uint32_t first = parser->pending_count;
    push(parser, value);
    push(parser, parse_conditional(parser, tight));
    tj_parse_expect(parser, TJ_TOKEN_COLON, "and what is where the condition does not hold");
    push(parser, parse_conditional(parser, tight));
    value = call_of(parser, "choose", first);
  }
  leave(parser);
  return value;
}

const tj_ast *tj_parse_expression(tj_parser *parser) {
  return parser->has_conditions ? parse_conditional(parser, LOOSEST) : parse_binary(parser, LOOSEST);
}

const tj_ast *tj_parse_braces(tj_parser *parser) {
  return parse_bracketed(parser, TJ_AST_LIST, TJ_TOKEN_CLOSE_BRACE, tj_parse_expression);
}
