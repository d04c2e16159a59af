/* SPDX-License-Identifier: MIT */
/* Tokens ahead, and the many ways to write a type of integers. */
#include "frontend/c/c_reader.h"

#include "base/text.h"

#include <string.h>

/* --- tokens --- */

void tj_c_go(tj_c_reader *reader, uint32_t position) {
  reader->token = tj_c_token_at(reader->job, position);
  reader->job->here = reader->token.span;
}

tj_c_token tj_c_take(tj_c_reader *reader) {
  tj_c_token token = reader->token;
  tj_c_go(reader, token.span.end);
  return token;
}

_Noreturn void tj_c_fail_expected(tj_c_reader *reader, const char *what) {
  tj_span span = reader->token.span;
  if (reader->token.kind == TJ_C_END)
    tj_fail_at(reader->job, span, TJ_C_TEXT, "expected %s, and the text ends", what);
  tj_fail_at(reader->job, span, TJ_C_TEXT, "expected %s, not '%.*s'", what, (int)(span.end - span.begin),
             reader->job->source.text + span.begin);
}

bool tj_c_is(const tj_c_reader *reader, uint32_t mark) {
  return reader->token.kind == TJ_C_MARK && reader->token.mark == mark;
}

bool tj_c_is_word(const tj_c_reader *reader, const char *word) {
  return tj_c_is_name(reader->job, &reader->token, word);
}

bool tj_c_accept(tj_c_reader *reader, uint32_t mark) {
  if (!tj_c_is(reader, mark))
    return false;
  tj_c_take(reader);
  return true;
}

bool tj_c_accept_word(tj_c_reader *reader, const char *word) {
  if (!tj_c_is_word(reader, word))
    return false;
  tj_c_take(reader);
  return true;
}

void tj_c_expect(tj_c_reader *reader, uint32_t mark, const char *what) {
  if (!tj_c_accept(reader, mark))
    tj_c_fail_expected(reader, what);
}

const char *tj_c_read_name(tj_c_reader *reader, const char *what) {
  if (reader->token.kind != TJ_C_NAME)
    tj_c_fail_expected(reader, what);
  tj_span span = tj_c_take(reader).span;
  return tj_string_copy(reader->job, reader->job->source.text + span.begin, span.end - span.begin);
}

void tj_c_skip_block(tj_c_reader *reader) {
  for (uint32_t depth = 1; depth > 0;) {
    if (reader->token.kind == TJ_C_END)
      tj_c_fail_expected(reader, "'}'");
    depth += tj_c_is(reader, TJ_C_MARK1('{'));
    depth -= tj_c_is(reader, TJ_C_MARK1('}'));
    tj_c_take(reader);
  }
}

/* --- types --- */

static bool accept_any(tj_c_reader *reader, const char *const words[], size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (tj_c_accept_word(reader, words[i]))
      return true;
  }
  return false;
}

/* Behind the opening parenthesis. */
static void skip_parentheses(tj_c_reader *reader) {
  for (uint32_t depth = 1; depth > 0;) {
    if (reader->token.kind == TJ_C_END)
      tj_c_fail_expected(reader, "')'");
    depth += tj_c_is(reader, TJ_C_MARK1('('));
    depth -= tj_c_is(reader, TJ_C_MARK1(')'));
    tj_c_take(reader);
  }
}

static bool skip_attribute(tj_c_reader *reader) {
  if (tj_c_accept_word(reader, "__attribute__") || tj_c_accept_word(reader, "__launch_bounds__")) {
    tj_c_expect(reader, TJ_C_MARK1('('), "'('");
    skip_parentheses(reader);
    return true;
  }
  if (!tj_c_accept(reader, TJ_C_MARK2('[', '[')))
    return false;
  while (!tj_c_accept(reader, TJ_C_MARK2(']', ']'))) {
    if (reader->token.kind == TJ_C_END)
      tj_c_fail_expected(reader, "']]'");
    tj_c_take(reader);
  }
  return true;
}

void tj_c_skip_specifiers(tj_c_reader *reader) {
  static const char *const words[] = {"static",
                                      "inline",
                                      "const",
                                      "constexpr",
                                      "extern",
                                      "__inline__",
                                      "__host__",
                                      "__device__",
                                      "volatile",
                                      "__forceinline__",
                                      "TILEJIT_FUNCTION",
                                      "TILEJIT_DECLARATION",
                                      "restrict",
                                      "__restrict__",
                                      "register",
                                      "__inline",
                                      "_Noreturn",
                                      "CUTE_HOST_DEVICE",
                                      "CK_TILE_HOST_DEVICE",
                                      "CK_TILE_DEVICE",
                                      "CUTE_DEVICE",
                                      "noexcept"};
  while (accept_any(reader, words, sizeof words / sizeof *words) || skip_attribute(reader))
    continue;
}

/* Types of a single word. */
static bool accept_type_name(tj_c_reader *reader, tj_c_kind *kind) {
  static const struct {
    const char *name;
    tj_c_kind kind;
  } names[] = {
#define TYPE(name, bits, is_signed, rank, text) {text, TJ_C_KIND_##name},
#include "frontend/c/c_type.def"
#undef TYPE
      {"_Bool", TJ_C_KIND_BOOL},     {"size_t", TJ_C_KIND_UINT64},      {"ptrdiff_t", TJ_C_KIND_INT64},
      {"intptr_t", TJ_C_KIND_INT64}, {"uintptr_t", TJ_C_KIND_UINT64},   {"uint", TJ_C_KIND_UINT32},
      {"index_t", TJ_C_KIND_INT32},  {"long_index_t", TJ_C_KIND_INT64},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (tj_c_accept_word(reader, names[i].name)) {
      *kind = names[i].kind;
      return true;
    }
  }
  return false;
}

/* unsigned long long and its like. */
static bool accept_type_words(tj_c_reader *reader, tj_c_kind *kind) {
  bool is_unsigned = false, is_char = false, is_short = false, is_long = false, is_any = true;
  uint32_t begin = reader->token.span.begin;
  while (is_any) {
    is_any = true;
    if (tj_c_accept_word(reader, "unsigned"))
      is_unsigned = true;
    else if (tj_c_accept_word(reader, "char"))
      is_char = true;
    else if (tj_c_accept_word(reader, "short"))
      is_short = true;
    else if (tj_c_accept_word(reader, "long"))
      is_long = true;
    else
      is_any =
          tj_c_accept_word(reader, "int") || tj_c_accept_word(reader, "signed") || tj_c_accept_word(reader, "const");
  }
  *kind = is_char    ? (is_unsigned ? TJ_C_KIND_UINT8 : TJ_C_KIND_INT8)
          : is_short ? (is_unsigned ? TJ_C_KIND_UINT16 : TJ_C_KIND_INT16)
          : is_long  ? (is_unsigned ? TJ_C_KIND_UINT64 : TJ_C_KIND_INT64)
                     : (is_unsigned ? TJ_C_KIND_UINT32 : TJ_C_KIND_INT32);
  return reader->token.span.begin != begin;
}

static const tj_c_struct *accept_struct(tj_c_reader *reader) {
  tj_c_accept_word(reader, "struct");
  for (uint32_t i = 0; i < reader->struct_count; i++) {
    if (tj_c_accept_word(reader, reader->structs[i].name))
      return &reader->structs[i];
  }
  return NULL;
}

bool tj_c_read_type(tj_c_reader *reader, tj_c_type_read *type) {
  uint32_t begin = reader->token.span.begin;
  *type = (tj_c_type_read){.form = TJ_C_IS_INTEGER};
  tj_c_skip_specifiers(reader);
  if (tj_c_accept_word(reader, "void"))
    type->form = TJ_C_IS_VOID;
  else if (tj_c_accept_word(reader, "auto"))
    type->form = TJ_C_IS_AUTO;
  else if (!accept_type_name(reader, &type->kind) && !accept_type_words(reader, &type->kind)) {
    type->form = TJ_C_IS_STRUCT;
    type->of = accept_struct(reader);
  }
  if (type->form == TJ_C_IS_STRUCT && type->of == NULL) {
    tj_c_go(reader, begin);
    return false;
  }
  tj_c_skip_specifiers(reader);
  return true;
}

tj_c_kind tj_c_read_kind(tj_c_reader *reader) {
  tj_c_type_read type;
  tj_span span = reader->token.span;
  if (!tj_c_read_type(reader, &type))
    tj_c_fail_expected(reader, "a type of integers");
  if (type.form != TJ_C_IS_INTEGER)
    tj_fail_at(reader->job, span, TJ_C_TEXT, "this is no type of integers");
  return type.kind;
}
