/* SPDX-License-Identifier: MIT */
/* Reads tokens of C from any place of a text, so that a function's body can be read whenever it is called. */
#include "frontend/c/c_token.h"

#include <string.h>

/* The byte at a position; zero beyond the end. */
static char at(const tj_job *job, size_t position) {
  return position < job->source.length ? job->source.text[position] : '\0';
}

static bool begins_with(const tj_job *job, size_t position, const char *text) {
  size_t length = strlen(text);
  return position + length <= job->source.length && memcmp(job->source.text + position, text, length) == 0;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* --- space --- */

/* The end of a line that a backslash may continue. */
static uint32_t end_of_line(const tj_job *job, uint32_t position) {
  while (position < job->source.length && (at(job, position) != '\n' || at(job, (size_t)position - 1) == '\\'))
    position++;
  return position;
}

static uint32_t end_of_comment(tj_job *job, uint32_t begin) {
  uint32_t position = begin + 2;
  while (position < job->source.length && !begins_with(job, position, "*/"))
    position++;
  if (position >= job->source.length)
    tj_fail_at(job, (tj_span){begin, begin + 2}, TJ_C_TEXT, "the comment does not end");
  return position + 2;
}

static uint32_t skip_space(tj_job *job, uint32_t position) {
  while (position < job->source.length) {
    char c = at(job, position);
    if (c == ' ' || (c >= '\t' && c <= '\r'))
      position++;
    else if (c == '#' || begins_with(job, position, "//"))
      position = end_of_line(job, position);
    else if (begins_with(job, position, "/*"))
      position = end_of_comment(job, position);
    else
      break;
  }
  return position;
}

/* --- integers --- */

static int digit_of(char c) {
  if (is_digit(c))
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* The base that a prefix says, and the prefix's length. */
static int base_of(const tj_job *job, uint32_t position, uint32_t *prefix) {
  char next = at(job, (size_t)position + 1);
  *prefix = 0;
  if (at(job, position) != '0')
    return 10;
  *prefix = next == 'x' || next == 'X' || next == 'b' || next == 'B' ? 2 : 0;
  return *prefix == 0 ? 8 : next == 'x' || next == 'X' ? 16 : 2;
}

static bool read_suffix(const tj_job *job, uint32_t *position, tj_c_token *token) {
  for (; is_word(at(job, *position)); (*position)++) {
    char c = at(job, *position);
    token->is_unsigned = token->is_unsigned || c == 'u' || c == 'U';
    token->is_long = token->is_long || c == 'l' || c == 'L';
    if (strchr("uUlL", c) == NULL)
      return false;
  }
  return at(job, *position) != '.';
}

static tj_c_token read_integer(tj_job *job, uint32_t begin) {
  uint32_t prefix, position;
  int base = base_of(job, begin, &prefix);
  tj_c_token token = {.kind = TJ_C_INTEGER, .is_decimal = base == 10};
  bool fits = true;
  for (position = begin + prefix; digit_of(at(job, position)) < base || at(job, position) == '\''; position++) {
    if (at(job, position) != '\'')
      fits = fits && !__builtin_mul_overflow(token.integer, base, &token.integer) &&
             !__builtin_add_overflow(token.integer, digit_of(at(job, position)), &token.integer);
  }
  bool is_whole = read_suffix(job, &position, &token);
  token.span = (tj_span){begin, position};
  if (!is_whole)
    tj_fail_at(job, token.span, TJ_C_TEXT, "this is no integer of C");
  if (!fits)
    tj_fail_at(job, token.span, TJ_C_TEXT, "the integer is more than 9223372036854775807");
  return token;
}

/* --- tokens --- */

static const char *const long_marks[] = {"<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
                                         "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "[[", "]]"};

static tj_c_token read_mark(tj_job *job, uint32_t begin) {
  const char *mark = NULL;
  for (size_t i = 0; i < sizeof long_marks / sizeof *long_marks && mark == NULL; i++)
    mark = begins_with(job, begin, long_marks[i]) ? long_marks[i] : NULL;
  char alone[2] = {at(job, begin)};
  if (mark == NULL && (*alone == '\0' || strchr("+-*/%<>=!&|^~?:;,.(){}[]", *alone) == NULL))
    tj_fail_at(job, (tj_span){begin, begin + 1}, TJ_C_TEXT, "no token of C begins here");
  tj_c_token token = {.kind = TJ_C_MARK};
  mark = mark != NULL ? mark : alone;
  for (uint32_t i = 0; mark[i] != '\0'; i++)
    token.mark |= (uint32_t)(unsigned char)mark[i] << 8 * i;
  token.span = (tj_span){begin, begin + (uint32_t)strlen(mark)};
  return token;
}

static tj_c_token read_string(tj_job *job, uint32_t begin) {
  uint32_t position = begin + 1;
  while (position < job->source.length && at(job, position) != '"' && at(job, position) != '\n')
    position++;
  if (at(job, position) != '"')
    tj_fail_at(job, (tj_span){begin, begin + 1}, TJ_C_TEXT, "the string does not end");
  return (tj_c_token){.kind = TJ_C_STRING, .span = {begin, position + 1}};
}

tj_c_token tj_c_token_at(tj_job *job, uint32_t position) {
  tj_spend(job, 1);
  position = skip_space(job, position);
  char c = at(job, position);
  if (position >= job->source.length)
    return (tj_c_token){.kind = TJ_C_END, .span = {position, position}};
  if (is_digit(c))
    return read_integer(job, position);
  if (c == '"')
    return read_string(job, position);
  if (!is_word(c))
    return read_mark(job, position);
  uint32_t end = position;
  while (is_word(at(job, end)))
    end++;
  return (tj_c_token){.kind = TJ_C_NAME, .span = {position, end}};
}

bool tj_c_is_name(const tj_job *job, const tj_c_token *token, const char *name) {
  size_t length = token->span.end - token->span.begin;
  return token->kind == TJ_C_NAME && strlen(name) == length &&
         memcmp(job->source.text + token->span.begin, name, length) == 0;
}
