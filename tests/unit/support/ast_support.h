/* SPDX-License-Identifier: MIT */
/* What the tests of the parser share: parsing a text, and dumping an expression with its structure made plain. */
#ifndef TJ_TESTS_AST_SUPPORT_H
#define TJ_TESTS_AST_SUPPORT_H

#include "frontend/text/parser.h"
#include "tests/unit/support/harness.h"

#include <string.h>

typedef struct {
  const char *text;
  size_t length;
  const tj_program_ast *program;
} tj_parsing;

static inline void parse_body(tj_job *job, void *data) {
  tj_parsing *parsing = data;
  job->source = tj_source_of("t", parsing->text, parsing->length);
  parsing->program = tj_parse(job);
}

static inline const tj_program_ast *parse_text(tj_job *job, const char *text) {
  tj_parsing parsing = {text, strlen(text), NULL};
  if (tj_job_run(job, parse_body, &parsing) != TJ_OK)
    ck_abort_msg("%.200s: TJ%04d: %s", text, (int)job->problem.code, job->problem.message);
  return parsing.program;
}

/* Lisp: (op a b), (tuple a b), (apply f a (named n b)) … */
static inline void dump(tj_text *text, const tj_ast *ast) {
  static const char *const heads[] = {
      [TJ_AST_TUPLE] = "tuple",     [TJ_AST_LIST] = "list",   [TJ_AST_TILER] = "tiler",
      [TJ_AST_SWIZZLE] = "swizzle", [TJ_AST_GROUP] = "group", [TJ_AST_NEGATE] = "neg",
      [TJ_AST_APPLY] = "apply",     [TJ_AST_NAMED] = "named", [TJ_AST_BINARY] = "",
  };
  if (ast->kind == TJ_AST_INTEGER) {
    tj_text_integer(text, ast->integer);
    return;
  }
  if (ast->kind == TJ_AST_NAME || ast->kind == TJ_AST_DECIMAL || ast->kind == TJ_AST_UNDERSCORE) {
    tj_text_string(text, ast->kind == TJ_AST_UNDERSCORE ? "_" : ast->name);
    return;
  }
  tj_text_format(text, "(%s", ast->kind == TJ_AST_BINARY ? tj_operator_text(ast->op) : heads[ast->kind]);
  if (ast->kind == TJ_AST_NAMED)
    tj_text_format(text, " %s", ast->name);
  for (uint32_t i = 0; i < ast->count; i++) {
    tj_text_char(text, ' ');
    dump(text, ast->item[i]);
  }
  tj_text_char(text, ')');
}

#endif
