/* SPDX-License-Identifier: MIT */
/* Tokens: the words of the language, as token.def lists them. */
#ifndef TJ_FRONTEND_TOKEN_H
#define TJ_FRONTEND_TOKEN_H

#include "base/source.h"

typedef enum {
#define TOKEN(name, description) TJ_TOKEN_##name,
#define KEYWORD(name, text) TJ_TOKEN_##name,
#define MARK(name, character) TJ_TOKEN_##name,
#include "frontend/text/token.def"
#undef TOKEN
#undef KEYWORD
#undef MARK
  TJ_TOKEN_COUNT
} tj_token_kind;

/* `integer` is the magnitude of an INTEGER: at most 2^63, of which the parser accepts 2^63 only after a minus. */
typedef struct {
  tj_token_kind kind;
  tj_span span;
  uint64_t integer;
} tj_token;

/* How messages call a kind of token: "a name", "','", "the keyword 'let'". */
const char *tj_token_description(tj_token_kind kind);

#endif
