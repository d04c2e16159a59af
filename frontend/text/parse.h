/* SPDX-License-Identifier: MIT */
/* What the parsers of items and of expressions share: tokens, and room for lists. */
#ifndef TJ_FRONTEND_PARSE_H
#define TJ_FRONTEND_PARSE_H

#include "frontend/text/lexer.h"
#include "frontend/text/parser.h"
#include "frontend/text/syntax_error.h"

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

/* The current token, and where it stands. */
tj_token_kind tj_parse_current(const tj_parser *parser);
tj_span tj_parse_current_span(const tj_parser *parser);
void tj_parse_advance(tj_parser *parser);

/* Goes on where the current token is of the kind; expect fails where it is not. */
bool tj_parse_accept(tj_parser *parser, tj_token_kind kind);
void tj_parse_expect(tj_parser *parser, tj_token_kind kind, const char *purpose);
_Noreturn void tj_parse_fail_expected(tj_parser *parser, const char *expected);

/* What was read from `begin` to the token before the current one. */
tj_span tj_parse_span_from(const tj_parser *parser, uint32_t begin);
const char *tj_parse_token_text(const tj_parser *parser, tj_token token);
bool tj_parse_is_word(const tj_parser *parser, tj_token token, const char *word);

/* The array `data` of `count` objects, with room for one more. */
void *tj_parse_with_room(tj_parser *parser, void *data, uint32_t count, uint32_t *capacity, size_t size);

/* An expression of any operators. */
const tj_ast *tj_parse_expression(tj_parser *parser);

#endif
