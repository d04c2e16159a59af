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
  uint32_t depth;             /* of constructs that are open */
  bool one_item;              /* whether the tuple that ends here has a comma after its only item */
  bool has_conditions;        /* whether a < b ? x : y is an expression here: in declarations of C++ */
  bool shifts;                /* whether << and >> are operators here: not between the < and > of a tiler */
  tj_token_kind separator;    /* of the items of the brackets that were read last */
  struct tj_dynamic *dynamic; /* integers that are written ?, in the order of the text (parse_facts.c) */
  uint32_t dynamic_count;
  uint32_t dynamic_capacity;
  uint32_t dynamic_names; /* one more than the largest n of which dn is a name of the text */
  const tj_ast **assumed; /* the calls of assume so far */
  uint32_t assumed_count;
  uint32_t assumed_capacity;
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
/* An expression, or name=expression. */
const tj_ast *tj_parse_argument(tj_parser *parser);
/* A list in braces, of which the current token is the opening one. */
const tj_ast *tj_parse_braces(tj_parser *parser);

/* --- parse_facts.c --- */

/* The current token, a ?, as the name of a parameter of its own. */
const tj_ast *tj_parse_dynamic(tj_parser *parser);
/* Says of each ? of a shape that it is positive. */
void tj_dynamic_are_extents(tj_parser *parser, const tj_ast *shape);
/* Keeps the names d0, d1, … that the text has itself from being given. */
void tj_dynamic_sees(tj_parser *parser, tj_token token);
/* Keeps assume(M, …) for the parameter M, which may be any name yet. */
void tj_facts_see(tj_parser *parser, const tj_ast *application);
/* Drops what was kept since there were `first` of them, and is of the function's own parameters. */
void tj_facts_leave(tj_parser *parser, const tj_item *function, uint32_t first);
/* The parameters that were written ?, *dynamic_count of them, and behind them `item`, whose parameters have what is
 * assumed of them; *count is how many items there are. */
const tj_item *tj_facts_stated(tj_parser *parser, tj_item *item, uint32_t *count, uint32_t *dynamic_count);

#endif
