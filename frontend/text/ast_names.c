/* SPDX-License-Identifier: MIT */
/* The names that stand in an AST. */
#include "frontend/text/ast.h"

#include <string.h>

/* Chains of operators go down in the loop. */
void tj_ast_each_name(tj_job *job, const tj_ast *ast, void (*visit)(const tj_ast *name, void *data), void *data) {
  while (ast != NULL) {
    tj_spend(job, 1);
    if (ast->kind == TJ_AST_NAME)
      visit(ast, data);
    for (uint32_t i = 1; i < ast->count; i++)
      tj_ast_each_name(job, ast->item[i], visit, data);
    ast = ast->count > 0 ? ast->item[0] : NULL;
  }
}

bool tj_item_has_parameter(const tj_item *item, const char *name) {
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    if (strcmp(item->parameter[i].name, name) == 0)
      return true;
  }
  return false;
}
