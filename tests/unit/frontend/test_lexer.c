/* SPDX-License-Identifier: MIT */
/* Tokens: their kinds, values and places, and the characters and numbers that are none. */
#include "frontend/text/lexer.h"
#include "tests/unit/support/harness.h"

#include <string.h>

enum { MOST_TOKENS = 32 };

typedef struct {
  const char *text;
  size_t length;
  tj_token token[MOST_TOKENS];
  size_t count;
} token_list;

static void lex(tj_job *job, void *data) {
  token_list *list = data;
  job->source = tj_source_of("t", list->text, list->length);
  tj_lexer lexer = tj_lexer_begin(job);
  list->count = 0;
  do
    list->token[list->count] = tj_lexer_next(&lexer);
  while (list->token[list->count++].kind != TJ_TOKEN_END && list->count < MOST_TOKENS);
}

static token_list lex_text(tj_job *job, const char *text) {
  token_list list = {.text = text, .length = strlen(text)};
  expect_success(job, lex, &list);
  return list;
}

START_TEST(kinds_of_tokens) {
  static const struct {
    const char *text;
    tj_token_kind kinds[MOST_TOKENS];
  } cases[] = {
      {"", {TJ_TOKEN_END}},
      {" \t\r\n\v\f # a × comment, 1 + $ \xf0\x9f\x98\x80\n", {TJ_TOKEN_END}},
      {"#", {TJ_TOKEN_END}},
      {"\xef\xbb\xbf"
       "1",
       {TJ_TOKEN_INTEGER, TJ_TOKEN_END}},
      {"param let kernel o Sw",
       {TJ_TOKEN_PARAM, TJ_TOKEN_LET, TJ_TOKEN_KERNEL, TJ_TOKEN_COMPOSE, TJ_TOKEN_SWIZZLE, TJ_TOKEN_END}},
      {"in multiple params oo _o SW sw o1",
       {TJ_TOKEN_NAME, TJ_TOKEN_NAME, TJ_TOKEN_NAME, TJ_TOKEN_NAME, TJ_TOKEN_NAME, TJ_TOKEN_NAME, TJ_TOKEN_NAME,
        TJ_TOKEN_NAME, TJ_TOKEN_END}},
      {"_ _42 _a __ _-1",
       {TJ_TOKEN_UNDERSCORE, TJ_TOKEN_INTEGER, TJ_TOKEN_NAME, TJ_TOKEN_NAME, TJ_TOKEN_STATIC_MINUS, TJ_TOKEN_INTEGER,
        TJ_TOKEN_END}},
      {"_-a", {TJ_TOKEN_UNDERSCORE, TJ_TOKEN_MINUS, TJ_TOKEN_NAME, TJ_TOKEN_END}},
      {"0.5 12.25e-3 1.0E+20", {TJ_TOKEN_DECIMAL, TJ_TOKEN_DECIMAL, TJ_TOKEN_DECIMAL, TJ_TOKEN_END}},
      {"1e5 2E-3 0e+0", {TJ_TOKEN_DECIMAL, TJ_TOKEN_DECIMAL, TJ_TOKEN_DECIMAL, TJ_TOKEN_END}},
      {"0x1e5", {TJ_TOKEN_INTEGER, TJ_TOKEN_END}},
      {"1.5..2", {TJ_TOKEN_DECIMAL, TJ_TOKEN_RANGE, TJ_TOKEN_INTEGER, TJ_TOKEN_END}},
      {"0..9", {TJ_TOKEN_INTEGER, TJ_TOKEN_RANGE, TJ_TOKEN_INTEGER, TJ_TOKEN_END}},
      {"cute::std::_4{}", {TJ_TOKEN_INTEGER, TJ_TOKEN_BRACES, TJ_TOKEN_END}},
      {"smem_ptr[16b](unset) ptr[8b](0x1f)", {TJ_TOKEN_POINTER, TJ_TOKEN_POINTER, TJ_TOKEN_END}},
      {"M..N", {TJ_TOKEN_NAME, TJ_TOKEN_RANGE, TJ_TOKEN_NAME, TJ_TOKEN_END}},
      {"<<>>", {TJ_TOKEN_LESS, TJ_TOKEN_LESS, TJ_TOKEN_GREATER, TJ_TOKEN_GREATER, TJ_TOKEN_END}},
      {"()[],;:=@+-*/%&|^",
       {TJ_TOKEN_OPEN_PARENTHESIS, TJ_TOKEN_CLOSE_PARENTHESIS, TJ_TOKEN_OPEN_BRACKET, TJ_TOKEN_CLOSE_BRACKET,
        TJ_TOKEN_COMMA, TJ_TOKEN_SEMICOLON, TJ_TOKEN_COLON, TJ_TOKEN_EQUALS, TJ_TOKEN_AT, TJ_TOKEN_PLUS,
        TJ_TOKEN_MINUS, TJ_TOKEN_STAR, TJ_TOKEN_SLASH, TJ_TOKEN_PERCENT, TJ_TOKEN_AMPERSAND, TJ_TOKEN_BAR,
        TJ_TOKEN_CARET, TJ_TOKEN_END}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    token_list list = lex_text(&job, cases[i].text);
    for (size_t k = 0; k < list.count; k++)
      ck_assert_msg(list.token[k].kind == cases[i].kinds[k], "%s: token %zu is %s", cases[i].text, k,
                    tj_token_description(list.token[k].kind));
    tj_job_destroy(&job);
  }
}
END_TEST

START_TEST(values_of_integers) {
  static const struct {
    const char *text;
    uint64_t value;
  } cases[] = {
      {"0", 0},
      {"007", 7},
      {"_42", 42},
      {"0x2a", 42},
      {"0XFf", 255},
      {"9223372036854775807", INT64_MAX},
      {"0x7fffffffffffffff", INT64_MAX},
      {"9223372036854775808", (uint64_t)INT64_MAX + 1},
      {"0000000000000000000000000000000000000001", 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    token_list list = lex_text(&job, cases[i].text);
    ck_assert_int_eq(list.token[0].kind, TJ_TOKEN_INTEGER);
    ck_assert_uint_eq(list.token[0].integer, cases[i].value);
    ck_assert_uint_eq(list.token[0].span.end, strlen(cases[i].text));
    tj_job_destroy(&job);
  }
}
END_TEST

START_TEST(places_of_tokens) {
  tj_job job;
  tj_job_init(&job, NULL);
  token_list list = lex_text(&job, " ab # c\n 12..x ");
  static const tj_span spans[] = {{1, 3}, {9, 11}, {11, 13}, {13, 14}, {15, 15}};
  ck_assert_uint_eq(list.count, sizeof spans / sizeof *spans);
  for (size_t i = 0; i < list.count; i++) {
    ck_assert_uint_eq(list.token[i].span.begin, spans[i].begin);
    ck_assert_uint_eq(list.token[i].span.end, spans[i].end);
  }
  tj_job_destroy(&job);
}
END_TEST

START_TEST(what_is_no_token) {
  static const struct {
    const char *text;
    tj_problem_code code;
    uint32_t begin, end;
    const char *message, *note;
  } cases[] = {
      {"a $", TJ_BAD_CHARACTER, 2, 3, "the character '$' has no meaning here", NULL},
      {"1 . 2", TJ_BAD_CHARACTER, 2, 3, "the character '.' has no meaning here",
       "there are no members; a function takes the object, as in size(L); a range is written 0..9, with two dots"},
      {"0...9", TJ_BAD_CHARACTER, 3, 4, NULL, NULL},
      {"2 × 3", TJ_BAD_CHARACTER, 2, 4, "the character '×' (U+00D7) has no meaning here", "multiply with *"},
      {"\x01", TJ_BAD_CHARACTER, 0, 1, "the control character U+0001", NULL},
      {"\x7f", TJ_BAD_CHARACTER, 0, 1, "the control character U+007F", NULL},
      {"?{div=x}", TJ_BAD_NUMBER, 0, 7, "'?{div=x' is no integer", NULL},
      {"12ab", TJ_BAD_NUMBER, 0, 4, "'12ab' is neither an integer nor a name", NULL},
      {"1_000", TJ_BAD_NUMBER, 0, 5, NULL, NULL},
      {"_4x", TJ_BAD_NUMBER, 0, 3, NULL, NULL},
      {"_0x10", TJ_BAD_NUMBER, 0, 5, NULL, NULL},
      {"0x", TJ_BAD_NUMBER, 0, 2, "'0x' has no digits", NULL},
      {"0xfg", TJ_BAD_NUMBER, 0, 4, NULL, NULL},
      {"1.x5", TJ_BAD_NUMBER, 0, 4, "'1.x5' is not a number",
       "a decimal number is written 0.5, 2.5e-3 or 1e5; a range is written 0..9, with two dots"},
      {"7.", TJ_BAD_NUMBER, 0, 2, NULL, NULL},
      {"1.5f", TJ_BAD_NUMBER, 0, 4, NULL, NULL},
      {"1.5e", TJ_BAD_NUMBER, 0, 4, NULL, NULL},
      {"1.5e+", TJ_BAD_NUMBER, 0, 5, NULL, NULL},
      {"1e", TJ_BAD_NUMBER, 0, 2, "'1e' is not a number", NULL},
      {"12eggs", TJ_BAD_NUMBER, 0, 6, NULL, NULL},
      {"1e5x", TJ_BAD_NUMBER, 0, 4, NULL, NULL},
      {"_1e5", TJ_BAD_NUMBER, 0, 4, NULL, NULL},
      {"1.5e2x", TJ_BAD_NUMBER, 0, 6, NULL, NULL},
      {"_1.5", TJ_BAD_NUMBER, 0, 4, NULL, NULL},
      {"0x1.8", TJ_BAD_NUMBER, 0, 5, NULL, NULL},
      {"9223372036854775809", TJ_BAD_NUMBER, 0, 19, "'9223372036854775809' is too large", NULL},
      {"0x8000000000000001", TJ_BAD_NUMBER, 0, 18, NULL, NULL},
      {"99999999999999999999999999999999999999999999999999", TJ_BAD_NUMBER, 0, 50,
       "'9999999999999999999999999999999999999999…' is too large", NULL},
      {"a \xff", TJ_NOT_UTF8, 2, 3, "the byte 0xff is not UTF-8", NULL},
      {"# \xc3(", TJ_NOT_UTF8, 2, 3, NULL, NULL},
      {"# cut \xe2\x88", TJ_NOT_UTF8, 6, 7, NULL, NULL},
      {"\x80", TJ_NOT_UTF8, 0, 1, NULL, NULL},
      {"overlong \xc0\x80", TJ_NOT_UTF8, 9, 10, NULL, NULL},
      {"overlong \xe0\x80\xaf", TJ_NOT_UTF8, 9, 10, NULL, NULL},
      {"surrogate \xed\xa0\x80", TJ_NOT_UTF8, 10, 11, NULL, NULL},
      {"beyond \xf4\x90\x80\x80", TJ_NOT_UTF8, 7, 8, NULL, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    token_list list = {.text = cases[i].text, .length = strlen(cases[i].text)};
    expect_failure(&job, cases[i].code, lex, &list);
    ck_assert_msg(job.problem.span.begin == cases[i].begin && job.problem.span.end == cases[i].end, "%s: at %u..%u",
                  cases[i].text, job.problem.span.begin, job.problem.span.end);
    if (cases[i].message != NULL)
      ck_assert_str_eq(job.problem.message, cases[i].message);
    if (cases[i].note != NULL)
      ck_assert_str_eq(job.problem.note, cases[i].note);
    tj_job_destroy(&job);
  }
}
END_TEST

START_TEST(a_zero_byte_is_reported) {
  tj_job job;
  tj_job_init(&job, NULL);
  token_list list = {.text = "a\0b", .length = 3};
  expect_failure(&job, TJ_NOT_UTF8, lex, &list);
  ck_assert_str_eq(job.problem.message, "a zero byte in the text");
  ck_assert_uint_eq(job.problem.span.begin, 1);
  tj_job_destroy(&job);
}
END_TEST

/* A text of exactly the greatest length is read, one byte more is not. */
START_TEST(length_is_limited) {
  char *text = malloc(TJ_MAX_SOURCE + 1);
  memset(text, ' ', TJ_MAX_SOURCE + 1);
  tj_job job;
  tj_job_init(&job, NULL);
  token_list list = {.text = text, .length = TJ_MAX_SOURCE};
  expect_success(&job, lex, &list);
  list.length++;
  expect_failure(&job, TJ_SOURCE_LIMIT, lex, &list);
  tj_job_destroy(&job);
  free(text);
}
END_TEST

START_TEST(every_kind_is_described) {
  for (int kind = 0; kind < TJ_TOKEN_COUNT; kind++)
    ck_assert_uint_gt(strlen(tj_token_description((tj_token_kind)kind)), 0);
  ck_assert_str_eq(tj_token_description(TJ_TOKEN_OPEN_PARENTHESIS), "'('");
  ck_assert_str_eq(tj_token_description(TJ_TOKEN_LET), "the keyword 'let'");
}
END_TEST

START_TEST(reserved_words) {
  static const char *const reserved[] = {"param", "let", "kernel", "o", "Sw"};
  static const char *const free_names[] = {"in", "multiple", "O", "sw", "Sw1", "lets", ""};
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    ck_assert(tj_is_reserved(reserved[i]));
  for (size_t i = 0; i < sizeof free_names / sizeof *free_names; i++)
    ck_assert(!tj_is_reserved(free_names[i]));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {kinds_of_tokens,   values_of_integers,      places_of_tokens,        what_is_no_token,
                                length_is_limited, a_zero_byte_is_reported, every_kind_is_described, reserved_words};
  return run_suite(suite_of("lexer", tests, sizeof tests / sizeof *tests));
}
