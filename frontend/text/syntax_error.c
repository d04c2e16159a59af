/* SPDX-License-Identifier: MIT */
/* Messages for text that does not follow the grammar: what was found, what was expected, and, where the tokens look
 * like a common mistake, what to write instead. */
#include "frontend/text/syntax_error.h"

#include "base/text.h"
#include "frontend/names/builtin.h"
#include "frontend/names/spelling.h"
#include "frontend/text/lexer.h"

static bool adjacent(tj_token first, tj_token second) {
  return first.span.end == second.span.begin;
}

static bool is_pair(tj_token first, tj_token second, tj_token_kind a, tj_token_kind b) {
  return first.kind == a && second.kind == b && adjacent(first, second);
}

static bool is_closing(tj_token_kind kind) {
  return kind == TJ_TOKEN_CLOSE_PARENTHESIS || kind == TJ_TOKEN_CLOSE_BRACKET || kind == TJ_TOKEN_GREATER;
}

/* Advice on two adjacent marks that mean something elsewhere: the second does not fit. */
static const char *advice_on_pair(tj_token first, tj_token second) {
  static const struct {
    tj_token_kind first, second;
    const char *advice;
  } rows[] = {
      {TJ_TOKEN_EQUALS, TJ_TOKEN_EQUALS,
       "there is no ==: equal(A, B) compares two maps, eq(a, b) elements of arrays"},
      {TJ_TOKEN_SLASH, TJ_TOKEN_SLASH,
       "division is a single /, and rounds down; comments begin with #, or with // where no value stands before"},
      {TJ_TOKEN_STAR, TJ_TOKEN_STAR, "there is no power operator; 1 << n is the n-th power of two"},
      {TJ_TOKEN_AMPERSAND, TJ_TOKEN_AMPERSAND, "the bitwise and is a single &"},
      {TJ_TOKEN_BAR, TJ_TOKEN_BAR, "the bitwise or is a single |"},
      {TJ_TOKEN_PLUS, TJ_TOKEN_PLUS, "there is no increment; add with a single +"},
      {TJ_TOKEN_LESS, TJ_TOKEN_EQUALS,
       "there is no <=: le(a, b) compares elements of arrays, and param states a range"},
      {TJ_TOKEN_GREATER, TJ_TOKEN_EQUALS,
       "there is no >=: ge(a, b) compares elements of arrays, and param states a range"},
      {TJ_TOKEN_MINUS, TJ_TOKEN_GREATER,
       "a map has no arrow; give a transform its lower and upper dimensions as lists"},
      {TJ_TOKEN_COLON, TJ_TOKEN_COLON, "names have no ::; a layout is written shape:stride"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (is_pair(first, second, rows[i].first, rows[i].second))
      return rows[i].advice;
  return NULL;
}

/* Advice on a token that can stand nowhere in an expression's end or beginning. */
static const char *advice_on_token(tj_token_kind kind) {
  switch (kind) {
  case TJ_TOKEN_COMPOSE:
    return "o composes two layouts, as in A o B, and cannot be a name";
  case TJ_TOKEN_SWIZZLE:
    return "Sw begins a swizzle, as in Sw<3,4,3>, and cannot be a name";
  case TJ_TOKEN_PARAM:
  case TJ_TOKEN_LET:
  case TJ_TOKEN_KERNEL:
  case TJ_TOKEN_IMPORT:
    return "param, let, kernel and import begin an item, and cannot be names";
  case TJ_TOKEN_STRING:
    return "a text in double quotes stands only after import, as in import \"atoms\"";
  case TJ_TOKEN_EQUALS:
    return "a definition begins with let, as in let A = (4,8):(8,1)";
  case TJ_TOKEN_LESS:
  case TJ_TOKEN_GREATER:
    return "the language has no comparisons but lt(a, b), le, gt, ge, eq and ne; < and > enclose tilers <A, B>, and "
           "shifts are << and >>";
  case TJ_TOKEN_OPEN_BRACE:
  case TJ_TOKEN_CLOSE_BRACE:
    return "items are grouped with ( ), lists with [ ]; a value of a C++ type is written Int<4>{}; { } has the "
           "statements of a kernel";
  case TJ_TOKEN_EXCLAMATION:
    return "there is no negation; compare two maps with equal(A, B); declarations of C++ have !a and a != b";
  case TJ_TOKEN_RANGE:
    return "a range stands only after in, as in param i in 0..9";
  default:
    return NULL;
  }
}

static const char *text_of(const tj_token_window *window, tj_token token) {
  return tj_string_copy(window->job, window->job->source.text + token.span.begin, token.span.end - token.span.begin);
}

/* Advice on a name with template arguments, as C++ writes them. */
static const char *advice_on_template(const tj_token_window *window) {
  if (window->previous.kind != TJ_TOKEN_NAME || window->current.kind != TJ_TOKEN_LESS)
    return NULL;
  const char *name = text_of(window, window->previous);
  const tj_builtin *function = tj_builtin_find(name);
  if (function != NULL)
    return tj_string_format(window->job, "all arguments stand in parentheses: %s", function->form);
  const char *known = tj_advice_on_name(window->job, &(tj_misspelling){.name = name});
  if (known != NULL || !adjacent(window->previous, window->current))
    return known;
  return tj_string_format(window->job, "'%s' has no template arguments here, and the language no comparisons", name);
}

static const char *advice(const tj_token_window *window) {
  const char *text = advice_on_pair(window->previous, window->current);
  if (text == NULL)
    text = advice_on_pair(window->current, window->next);
  if (text != NULL)
    return text;
  text = advice_on_template(window);
  if (text != NULL)
    return text;
  if (window->previous.kind == TJ_TOKEN_COMMA && is_closing(window->current.kind))
    return "only a tuple of one ends in a comma, as in (x,): remove the comma, or add what should follow it";
  return advice_on_token(window->current.kind);
}

enum { SHOWN_BYTES = 40 };

/* 'text' of a token, cut when it is long. Only names and integers are long, and those are ASCII. */
static const char *found_text(const tj_token_window *window) {
  tj_token token = window->current;
  const char *text = window->job->source.text + token.span.begin;
  uint32_t length = token.span.end - token.span.begin;
  if (length > SHOWN_BYTES)
    return tj_string_format(window->job, "'%.*s…'", SHOWN_BYTES, text);
  const char *quoted = tj_string_format(window->job, "'%.*s'", (int)length, text);
  bool keyword = token.kind >= TJ_TOKEN_PARAM && token.kind <= TJ_TOKEN_SWIZZLE;
  return keyword ? tj_string_format(window->job, "the keyword %s", quoted) : quoted;
}

void tj_fail_unexpected(const tj_token_window *window, const char *expected) {
  tj_job *job = window->job;
  if (window->current.kind == TJ_TOKEN_END) {
    uint32_t end = window->previous.span.end;
    tj_fail_at(job, (tj_span){end, end}, TJ_UNEXPECTED_END, "end of text: expected %s", expected);
  }
  const char *text = job->note == NULL ? advice(window) : NULL;
  if (text != NULL)
    tj_note(job, "%s", text);
  tj_fail_at(job, window->current.span, TJ_UNEXPECTED_TOKEN, "expected %s, found %s", expected, found_text(window));
}
