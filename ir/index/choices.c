/* SPDX-License-Identifier: MIT */
/* Cases are numbered with the first symbol's values fastest. */
#include "ir/index/choices.h"

#include "ir/index/substitute.h"
#include "ir/index/walk.h"

bool tj_choices_of(tj_graph *graph, const tj_node *const roots[], size_t count, tj_choices *choices) {
  *choices = (tj_choices){.case_count = 1};
  if (!graph->has_choices)
    return false;
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i];
    if (node->op != TJ_OP_SYMBOL || node->symbol->choice_count == 0)
      continue;
    if (choices->symbol_count == TJ_MOST_CHOOSING || node->symbol->choice_count > TJ_MOST_CASES / choices->case_count)
      return false;
    choices->symbol[choices->symbol_count++] = node;
    choices->case_count *= node->symbol->choice_count;
  }
  return choices->symbol_count > 0;
}

void tj_choices_take(tj_graph *graph, const tj_choices *choices, uint32_t number, const tj_node *roots[],
                     size_t count) {
  const tj_node *symbols[TJ_MOST_CHOOSING], *value[TJ_MOST_CHOOSING];
  for (uint32_t i = 0; i < choices->symbol_count; i++) {
    const tj_symbol *symbol = choices->symbol[i]->symbol;
    symbols[i] = choices->symbol[i];
    value[i] = tj_int(graph, symbol->choice[number % symbol->choice_count]);
    number /= symbol->choice_count;
  }
  const tj_substitution substitution = {symbols, value, choices->symbol_count};
  tj_substitute(graph, &substitution, roots, count);
}
