/* SPDX-License-Identifier: MIT */
/* Facts of parameters that stand in expressions.
 *
 * Integers that CuTe's DSL prints as ?, ?{i64}, ?{div=8}: each is a parameter of its own, d0, d1, … in the order of
 * its text, with the facts that are printed: 32 bits, or 64, the divisor, and that extents are positive. Programs
 * mean what they would with these parameters in front of them. Where texts are joined, as those that are compared,
 * the first ? of each is one integer, and so on.
 *
 * assume(M, multiple=8): M has the fact as if `param` said it. */
#include "frontend/text/parse.h"

#include <string.h>

/* --- integers that are not known --- */

typedef struct tj_dynamic {
  tj_ast *name; /* has no name before the text is read */
  int64_t multiple;
  bool is_wide, is_extent;
} tj_dynamic;

/* Extents and strides of 64 bits keep sizes of tensors in range. */
enum { WIDE_BITS = 62, BITS = 31, MOST_DIGITS = 6 };

const tj_ast *tj_parse_dynamic(tj_parser *parser) {
  tj_token token = parser->window.current;
  parser->dynamic = tj_parse_with_room(parser, parser->dynamic, parser->dynamic_count, &parser->dynamic_capacity,
                                       sizeof *parser->dynamic);
  tj_ast *name = TJ_NEW(parser->job, tj_ast);
  *name = (tj_ast){.kind = TJ_AST_NAME, .span = token.span, .integer = parser->dynamic_count};
  bool is_wide = strstr(tj_parse_token_text(parser, token), "i64") != NULL;
  parser->dynamic[parser->dynamic_count++] = (tj_dynamic){name, (int64_t)token.integer, is_wide, false};
  tj_parse_advance(parser);
  return name;
}

void tj_dynamic_are_extents(tj_parser *parser, const tj_ast *shape) {
  if (shape->kind == TJ_AST_NAME && shape->name == NULL)
    parser->dynamic[shape->integer].is_extent = true;
  if (shape->kind != TJ_AST_TUPLE)
    return;
  for (uint32_t i = 0; i < shape->count; i++)
    tj_dynamic_are_extents(parser, shape->item[i]);
}

void tj_dynamic_sees(tj_parser *parser, tj_token token) {
  const char *text = parser->lexer.text + token.span.begin;
  uint32_t length = token.span.end - token.span.begin, number = 0;
  if (token.kind != TJ_TOKEN_NAME || text[0] != 'd' || length < 2 || length > MOST_DIGITS)
    return;
  for (uint32_t i = 1; i < length; i++) {
    if (text[i] < '0' || text[i] > '9')
      return;
    number = number * 10 + (uint32_t)(text[i] - '0');
  }
  if (number >= parser->dynamic_names)
    parser->dynamic_names = number + 1;
}

/* As the parser reads it, of negative numbers the negation. */
static const tj_ast *number_at(tj_parser *parser, tj_span span, int64_t value) {
  tj_ast *ast = TJ_NEW(parser->job, tj_ast);
  *ast = (tj_ast){.kind = TJ_AST_INTEGER, .span = span, .integer = value};
  if (value >= 0)
    return ast;
  const tj_ast **item = TJ_NEW(parser->job, const tj_ast *);
  *item = number_at(parser, span, -value);
  *ast = (tj_ast){.kind = TJ_AST_NEGATE, .span = span, .item = item, .count = 1, .height = 1};
  return ast;
}

static tj_item parameter_of(tj_parser *parser, const tj_dynamic *dynamic) {
  tj_span span = dynamic->name->span;
  int64_t end = (int64_t)1 << (dynamic->is_wide ? WIDE_BITS : BITS);
  return (tj_item){.kind = TJ_ITEM_PARAM,
                   .name = dynamic->name->name,
                   .span = span,
                   .name_span = span,
                   .low = number_at(parser, span, dynamic->is_extent ? 1 : -end),
                   .high = number_at(parser, span, end - 1),
                   .multiple = dynamic->multiple > 1 ? number_at(parser, span, dynamic->multiple) : NULL};
}

/* --- assume --- */

void tj_facts_see(tj_parser *parser, const tj_ast *application) {
  const tj_ast *function = application->item[0];
  bool is_assume = function->kind == TJ_AST_NAME && function->name != NULL && strcmp(function->name, "assume") == 0;
  if (!is_assume || application->count < 2 || application->item[1]->kind != TJ_AST_NAME)
    return;
  parser->assumed = tj_parse_with_room(parser, parser->assumed, parser->assumed_count, &parser->assumed_capacity,
                                       sizeof *parser->assumed);
  parser->assumed[parser->assumed_count++] = application;
}

void tj_facts_leave(tj_parser *parser, const tj_item *function, uint32_t first) {
  uint32_t kept = first;
  for (uint32_t i = first; i < parser->assumed_count; i++) {
    const char *name = parser->assumed[i]->item[1]->name;
    if (name == NULL || !tj_item_has_parameter(function, name))
      parser->assumed[kept++] = parser->assumed[i];
  }
  parser->assumed_count = kept;
}

/* The stricter of two bounds, of which either may be NULL: `function` of both. */
static const tj_ast *both_bounds(tj_parser *parser, const tj_ast *a, const tj_ast *b, const char *function) {
  if (a == NULL || b == NULL)
    return a == NULL ? b : a;
  tj_ast *name = TJ_NEW(parser->job, tj_ast), *call = TJ_NEW(parser->job, tj_ast);
  const tj_ast **item = TJ_NEW_ARRAY(parser->job, const tj_ast *, 3);
  *name = (tj_ast){.kind = TJ_AST_NAME, .span = b->span, .name = function};
  *call = (tj_ast){.kind = TJ_AST_APPLY, .span = b->span, .item = item, .count = 3, .height = a->height + 1};
  item[0] = name;
  item[1] = a;
  item[2] = b;
  return call;
}

/* The least common multiple of two positive integers; the first where it does not fit. */
static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b, product;
  while (y != 0) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  return __builtin_mul_overflow(a, b / x, &product) ? a : product;
}

/* A parameter's multiple, with one more number that it is a multiple of, as far as that can be said. */
static const tj_ast *both_multiples(tj_parser *parser, const tj_ast *a, const tj_ast *b) {
  if (a == NULL || b == NULL)
    return a == NULL ? b : a;
  if (a->kind != TJ_AST_INTEGER || a->integer < 1 || b->integer < 1)
    return a;
  return number_at(parser, b->span, common_multiple(a->integer, b->integer));
}

/* The number that a named argument is; NULL where there is none. What is no number yet is only checked. */
static const tj_ast *number_called(const tj_ast *application, const char *name) {
  for (uint32_t i = 2; i < application->count; i++) {
    const tj_ast *argument = application->item[i];
    if (argument->kind == TJ_AST_NAMED && strcmp(argument->name, name) == 0 &&
        argument->item[0]->kind == TJ_AST_INTEGER)
      return argument->item[0];
  }
  return NULL;
}

/* Adds what one call assumes of a parameter. A range needs both ends: an end that nobody names is that of integers of
 * 62 bits. */
static void assume(tj_parser *parser, tj_item *item, const tj_ast *application) {
  tj_span span = application->span;
  const tj_ast *multiple = number_called(application, "multiple");
  const tj_ast *low = number_called(application, "low"), *high = number_called(application, "high");
  multiple = multiple == NULL ? number_called(application, "divby") : multiple;
  item->multiple = both_multiples(parser, item->multiple, multiple);
  if ((low == NULL && high == NULL) || item->choices != NULL)
    return;
  int64_t end = (int64_t)1 << WIDE_BITS;
  item->low = both_bounds(parser, item->low, low != NULL ? low : number_at(parser, span, -end), "max");
  item->high = both_bounds(parser, item->high, high != NULL ? high : number_at(parser, span, end - 1), "min");
}

static void assume_all(tj_parser *parser, tj_item *item, uint32_t count) {
  for (uint32_t i = 0; i < parser->assumed_count; i++) {
    const char *name = parser->assumed[i]->item[1]->name;
    tj_spend(parser->job, count);
    for (uint32_t k = 0; k < count; k++)
      if (item[k].kind == TJ_ITEM_PARAM && strcmp(item[k].name, name) == 0)
        assume(parser, &item[k], parser->assumed[i]);
  }
}

/* --- both --- */

/* Numbers the integers of each text, and gives those of one number, which are one integer, the facts of all: the
 * first of them is that integer, at the number's place. Returns how many there are. */
static uint32_t number_dynamics(tj_parser *parser) {
  tj_dynamic *dynamic = parser->dynamic;
  const tj_source_piece *of = NULL;
  uint32_t distinct = 0;
  for (uint32_t i = 0, number = 0; i < parser->dynamic_count; i++, number++) {
    const tj_source_piece *piece = tj_source_piece_at(&parser->job->source, dynamic[i].name->span.begin);
    number = piece != of ? 0 : number;
    of = piece;
    dynamic[i].name->name = tj_string_format(parser->job, "d%u", parser->dynamic_names + number);
    dynamic[i].name->integer = 0;
    if (number == distinct) {
      dynamic[distinct++] = dynamic[i];
      continue;
    }
    tj_dynamic *same = &dynamic[number];
    same->multiple = common_multiple(same->multiple, dynamic[i].multiple);
    same->is_wide = same->is_wide && dynamic[i].is_wide;
    same->is_extent = same->is_extent || dynamic[i].is_extent;
  }
  return distinct;
}

const tj_item *tj_facts_stated(tj_parser *parser, tj_item *item, uint32_t *count, uint32_t *dynamic_count) {
  uint32_t before = *dynamic_count = number_dynamics(parser);
  tj_item *all = before == 0 ? item : TJ_NEW_ARRAY(parser->job, tj_item, before + *count);
  for (uint32_t i = 0; i < before; i++)
    all[i] = parameter_of(parser, &parser->dynamic[i]);
  if (before > 0 && *count > 0)
    memcpy(all + before, item, *count * sizeof *item);
  *count += before;
  assume_all(parser, all, *count);
  return all;
}
