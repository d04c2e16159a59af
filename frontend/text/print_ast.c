/* SPDX-License-Identifier: MIT */
/* AST to text that parses back to the same AST, and comparison of ASTs.
 *
 * Both walk the left spine of operator chains in a loop, so that a chain of any length needs no stack; all other
 * recursion is bounded by the parser's limit on nesting. */
#include "frontend/text/parser.h"

#include "frontend/names/cute.h"

#include <string.h>

static void print_items(tj_text *text, const tj_ast *ast, uint32_t first, const char *separator) {
  for (uint32_t i = first; i < ast->count; i++) {
    if (i != first)
      tj_text_string(text, separator);
    tj_ast_print_expression(text, ast->item[i]);
  }
}

static void print_bracketed(tj_text *text, const char *open, const tj_ast *ast, const char *separator,
                            const char *close) {
  tj_text_string(text, open);
  print_items(text, ast, 0, separator);
  tj_text_string(text, close);
}

/* Whether a tuple of one is written (x,), as (x) would be x. */
static bool needs_comma(const tj_ast *tuple) {
  return tuple->count == 1 && !tj_ast_is_bare(tuple->item[0]);
}

/* Whether the first item's text begins with <, which would make a shift of the bracket before it. */
static bool begins_with_tiler(const tj_ast *ast) {
  if (ast->count == 0)
    return false;
  const tj_ast *first = ast->item[0];
  while (first->kind == TJ_AST_BINARY)
    first = first->item[0];
  return first->kind == TJ_AST_TILER;
}

static void print_application(tj_text *text, const tj_ast *ast) {
  tj_ast_print_expression(text, ast->item[0]);
  tj_text_char(text, '(');
  print_items(text, ast, 1, ", ");
  tj_text_char(text, ')');
}

static void print_operator(tj_text *text, tj_operator op) {
  bool tight = op == TJ_OPERATOR_LAYOUT || op == TJ_OPERATOR_BASIS;
  tj_text_format(text, tight ? "%s" : " %s ", tj_operator_text(op));
}

/* The number of operators on the way down the left operands. */
static size_t spine_length(const tj_ast *ast) {
  size_t length = 0;
  for (; ast->kind == TJ_AST_BINARY; ast = ast->item[0])
    length++;
  return length;
}

static void print_chain(tj_text *text, const tj_ast *ast) {
  size_t length = spine_length(ast);
  const tj_ast **spine = TJ_NEW_ARRAY(text->job, const tj_ast *, length);
  for (size_t i = length; i-- > 0; ast = ast->item[0])
    spine[i] = ast;
  tj_ast_print_expression(text, ast);
  for (size_t i = 0; i < length; i++) {
    print_operator(text, spine[i]->op);
    tj_ast_print_expression(text, spine[i]->item[1]);
  }
}

void tj_ast_print_expression(tj_text *text, const tj_ast *ast) {
  switch (ast->kind) {
  case TJ_AST_INTEGER:
    tj_text_integer(text, ast->integer);
    return;
  case TJ_AST_DECIMAL:
  case TJ_AST_NAME:
    tj_text_string(text, ast->name);
    return;
  case TJ_AST_UNDERSCORE:
    tj_text_char(text, '_');
    return;
  case TJ_AST_TUPLE:
    print_bracketed(text, "(", ast, ",", needs_comma(ast) ? ",)" : ")");
    return;
  case TJ_AST_GROUP:
    print_bracketed(text, "(", ast, "", ")");
    return;
  case TJ_AST_LIST:
    print_bracketed(text, "[", ast, ", ", "]");
    return;
  case TJ_AST_TILER:
    print_bracketed(text, "<", ast, ", ", ">");
    return;
  case TJ_AST_SWIZZLE:
    print_bracketed(text, "Sw<", ast, ",", ">");
    return;
  case TJ_AST_TEMPLATE:
    tj_text_string(text, ast->name);
    print_bracketed(text, begins_with_tiler(ast) ? "< " : "<", ast, ",", ">");
    return;
  case TJ_AST_NEGATE:
    print_bracketed(text, "-", ast, "", "");
    return;
  case TJ_AST_BINARY:
    print_chain(text, ast);
    return;
  case TJ_AST_APPLY:
    print_application(text, ast);
    return;
  case TJ_AST_NAMED:
    tj_text_format(text, "%s=", ast->name);
    tj_ast_print_expression(text, ast->item[0]);
    return;
  }
}

static void print_parameter(tj_text *text, const tj_item *item) {
  tj_text_format(text, "param %s", item->name);
  if (item->low != NULL) {
    tj_text_string(text, " in ");
    tj_ast_print_expression(text, item->low);
    tj_text_string(text, "..");
    tj_ast_print_expression(text, item->high);
  }
  for (uint32_t i = 0; item->choices != NULL && i < item->choices->count; i++) {
    tj_text_string(text, i > 0 ? ", " : " in {");
    tj_ast_print_expression(text, item->choices->item[i]);
  }
  if (item->choices != NULL)
    tj_text_char(text, '}');
  if (item->multiple != NULL) {
    tj_text_string(text, " multiple ");
    tj_ast_print_expression(text, item->multiple);
  }
}

static void print_definition(tj_text *text, const tj_item *item) {
  tj_text_string(text, " = ");
  tj_ast_print_expression(text, item->body);
}

static void print_function(tj_text *text, const tj_item *item) {
  tj_text_format(text, "let %s(", item->name);
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    const tj_ast_parameter *parameter = &item->parameter[i];
    tj_text_format(text, "%s%s%s", i == 0 ? "" : ", ", parameter->name, parameter->value != NULL ? "=" : "");
    if (parameter->value != NULL)
      tj_ast_print_expression(text, parameter->value);
  }
  tj_text_char(text, ')');
  print_definition(text, item);
}

static void print_statements(tj_text *text, const tj_item *item) {
  tj_text_string(text, " = {");
  for (uint32_t i = 0; i < item->statement_count; i++) {
    const tj_ast_statement *statement = &item->statement[i];
    tj_text_format(text, " %s%s = ", statement->is_let ? "let " : "", statement->name);
    tj_ast_print_expression(text, statement->value);
    if (statement->option != NULL) {
      tj_text_string(text, ", ");
      tj_ast_print_expression(text, statement->option);
    }
    tj_text_char(text, ';');
  }
  tj_text_string(text, " }");
  if (item->mapping == NULL)
    return;
  tj_text_string(text, ", mapping=");
  tj_ast_print_expression(text, item->mapping);
}

static void print_kernel(tj_text *text, const tj_item *item) {
  tj_text_format(text, "kernel %s(", item->name);
  for (uint32_t i = 0; i < item->argument_count; i++) {
    const tj_ast_argument *argument = &item->argument[i];
    tj_text_format(text, "%s%s: %s", i == 0 ? "" : ", ", argument->name, argument->dtype);
    if (argument->view == NULL)
      continue;
    tj_text_string(text, " @ ");
    tj_ast_print_expression(text, argument->view);
  }
  tj_text_char(text, ')');
  if (item->body == NULL)
    print_statements(text, item);
  else
    print_definition(text, item);
}

/* Of an alias, what is no type is deduced. */
static void print_let(tj_text *text, const tj_item *item) {
  const tj_ast *body = item->body;
  bool is_element = body->kind == TJ_AST_NAME && tj_cute_element_bits(body->name) != 0;
  if (item->is_alias && !is_element && body->kind != TJ_AST_TEMPLATE) {
    tj_text_format(text, "using %s = decltype(", item->name);
    tj_ast_print_expression(text, body);
    tj_text_char(text, ')');
    return;
  }
  tj_text_format(text, "%s %s", item->is_alias ? "using" : "let", item->name);
  print_definition(text, item);
}

void tj_ast_print_item(tj_text *text, const tj_item *item) {
  switch (item->kind) {
  case TJ_ITEM_PARAM:
    print_parameter(text, item);
    break;
  case TJ_ITEM_LET:
    print_let(text, item);
    break;
  case TJ_ITEM_FUNCTION:
    print_function(text, item);
    break;
  case TJ_ITEM_KERNEL:
    print_kernel(text, item);
    break;
  case TJ_ITEM_IMPORT:
    tj_text_format(text, "import \"%s\"", item->name);
    break;
  }
  tj_text_string(text, ";\n");
}

void tj_ast_print(tj_text *text, const tj_program_ast *program) {
  for (uint32_t i = 0; i < program->item_count; i++)
    tj_ast_print_item(text, &program->item[i]);
  if (program->value == NULL)
    return;
  tj_ast_print_expression(text, program->value);
  tj_text_char(text, '\n');
}

/* Comparison. */

static bool names_equal(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool heads_equal(const tj_ast *a, const tj_ast *b) {
  return a->kind == b->kind && a->op == b->op && a->integer == b->integer && a->count == b->count &&
         names_equal(a->name, b->name);
}

/* Goes down the first items in a loop, and into the others by recursion. Either may be NULL. */
static bool expressions_equal(const tj_ast *a, const tj_ast *b) {
  while (a != b) {
    if (a == NULL || b == NULL || !heads_equal(a, b))
      return false;
    for (uint32_t i = 1; i < a->count; i++)
      if (!expressions_equal(a->item[i], b->item[i]))
        return false;
    if (a->count == 0)
      return true;
    a = a->item[0];
    b = b->item[0];
  }
  return true;
}

static bool arguments_equal(const tj_ast_argument *a, const tj_ast_argument *b) {
  return names_equal(a->name, b->name) && names_equal(a->dtype, b->dtype) && expressions_equal(a->view, b->view);
}

static bool statements_equal(const tj_ast_statement *a, const tj_ast_statement *b) {
  return a->is_let == b->is_let && names_equal(a->name, b->name) && expressions_equal(a->value, b->value) &&
         expressions_equal(a->option, b->option);
}

static bool parameters_equal(const tj_ast_parameter *a, const tj_ast_parameter *b) {
  return names_equal(a->name, b->name) && expressions_equal(a->value, b->value);
}

static bool items_equal(const tj_item *a, const tj_item *b) {
  if (a->kind != b->kind || a->is_alias != b->is_alias || !names_equal(a->name, b->name) ||
      a->argument_count != b->argument_count || a->parameter_count != b->parameter_count ||
      a->statement_count != b->statement_count)
    return false;
  for (uint32_t i = 0; i < a->parameter_count; i++)
    if (!parameters_equal(&a->parameter[i], &b->parameter[i]))
      return false;
  for (uint32_t i = 0; i < a->argument_count; i++)
    if (!arguments_equal(&a->argument[i], &b->argument[i]))
      return false;
  for (uint32_t i = 0; i < a->statement_count; i++)
    if (!statements_equal(&a->statement[i], &b->statement[i]))
      return false;
  return expressions_equal(a->low, b->low) && expressions_equal(a->high, b->high) &&
         expressions_equal(a->multiple, b->multiple) && expressions_equal(a->choices, b->choices) &&
         expressions_equal(a->body, b->body) && expressions_equal(a->mapping, b->mapping);
}

bool tj_ast_equal(const tj_program_ast *a, const tj_program_ast *b) {
  if (a->item_count != b->item_count)
    return false;
  for (uint32_t i = 0; i < a->item_count; i++)
    if (!items_equal(&a->item[i], &b->item[i]))
      return false;
  return expressions_equal(a->value, b->value);
}
