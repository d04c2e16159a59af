/* SPDX-License-Identifier: MIT */
/* Text to AST, and AST to text. */
#ifndef TJ_FRONTEND_PARSER_H
#define TJ_FRONTEND_PARSER_H

#include "base/text.h"
#include "frontend/text/ast.h"

#include <stdbool.h>

/* Parses job->source. Fails with TJ1xxx, or TJ7002 and TJ7006 beyond the limits. */
const tj_program_ast *tj_parse(tj_job *job);

/* Text that parses back to the same AST: one item a line, parentheses only where they were written. */
void tj_ast_print(tj_text *text, const tj_program_ast *program);
void tj_ast_print_item(tj_text *text, const tj_item *item); /* with its ; and line end */
void tj_ast_print_expression(tj_text *text, const tj_ast *ast);

/* Same structure, names and numbers, whatever the spans. */
bool tj_ast_equal(const tj_program_ast *a, const tj_program_ast *b);

#endif
