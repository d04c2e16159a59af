/* SPDX-License-Identifier: MIT */
/* The names that stand in an AST, those before template arguments among them. */
#include "frontend/text/ast.h"

#include <string.h>

/* Chains of operators go down in the loop. */
void tj_ast_each_name(tj_job *job, const tj_ast *ast, void (*visit)(const tj_ast *name, void *data), void *data) {
  while (ast != NULL) {
    tj_spend(job, 1);
    if (ast->kind == TJ_AST_NAME || ast->kind == TJ_AST_TEMPLATE)
      visit(ast, data);
    for (uint32_t i = 1; i < ast->count; i++)
      tj_ast_each_name(job, ast->item[i], visit, data);
    ast = ast->count > 0 ? ast->item[0] : NULL;
  }
}

void tj_item_each_name(tj_job *job, const tj_item *item, void (*visit)(const tj_ast *name, void *data), void *data) {
  const tj_ast *const parts[] = {item->low, item->high, item->multiple, item->choices, item->body, item->mapping};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    tj_ast_each_name(job, parts[i], visit, data);
  for (uint32_t i = 0; i < item->parameter_count; i++)
    tj_ast_each_name(job, item->parameter[i].value, visit, data);
  for (uint32_t i = 0; i < item->argument_count; i++)
    tj_ast_each_name(job, item->argument[i].view, visit, data);
  for (uint32_t i = 0; i < item->statement_count; i++) {
    tj_ast_each_name(job, item->statement[i].value, visit, data);
    tj_ast_each_name(job, item->statement[i].option, visit, data);
  }
}

bool tj_item_has_parameter(const tj_item *item, const char *name) {
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    if (strcmp(item->parameter[i].name, name) == 0)
      return true;
  }
  return false;
}
