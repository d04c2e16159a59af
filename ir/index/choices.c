/* SPDX-License-Identifier: MIT */
/* Cases are numbered with the first symbol's values fastest. */
#include "ir/index/choices.h"

#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/index/walk.h"

/* How many values a symbol has; UINT32_MAX for many. */
static uint32_t values_of(const tj_node *symbol) {
  const tj_facts *facts = &symbol->facts;
  int64_t reach;
  if (symbol->symbol->choice_count > 0)
    return symbol->symbol->choice_count;
  if (!tj_facts_bounded(facts) || __builtin_sub_overflow(facts->high, facts->low, &reach) || facts->modulus < 1 ||
      reach / facts->modulus >= TJ_MOST_CASES)
    return UINT32_MAX;
  return (uint32_t)(reach / facts->modulus) + 1;
}

static int64_t value_of(const tj_node *symbol, uint32_t number) {
  return symbol->symbol->choice_count > 0 ? symbol->symbol->choice[number]
                                          : symbol->facts.low + number * symbol->facts.modulus;
}

static bool fits(const tj_choices *choices, const tj_node *symbol) {
  return choices->symbol_count < TJ_MOST_CHOOSING && values_of(symbol) <= TJ_MOST_CASES / choices->case_count;
}

static void add(tj_choices *choices, const tj_node *symbol) {
  choices->symbol[choices->symbol_count++] = symbol;
  choices->case_count *= values_of(symbol);
}

bool tj_choices_of(tj_graph *graph, const tj_node *const roots[], size_t count, tj_choices *choices) {
  *choices = (tj_choices){.case_count = 1};
  if (!graph->has_choices)
    return false;
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i];
    if (node->op != TJ_OP_SYMBOL || node->symbol->choice_count == 0)
      continue;
    if (!fits(choices, node))
      return false;
    add(choices, node);
  }
  return choices->symbol_count > 0;
}

static bool has(const tj_choices *choices, const tj_node *symbol) {
  for (uint32_t i = 0; i < choices->symbol_count; i++) {
    if (choices->symbol[i] == symbol)
      return true;
  }
  return false;
}

bool tj_choices_of_ranges(tj_graph *graph, const tj_node *const roots[], size_t count, tj_choices *choices) {
  *choices = (tj_choices){.case_count = 1};
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  const tj_node *fewest;
  do {
    fewest = NULL;
    for (uint32_t i = 0; i < walk.count; i++) {
      const tj_node *node = walk.node[i];
      if (node->op == TJ_OP_SYMBOL && !has(choices, node) && fits(choices, node) &&
          (fewest == NULL || values_of(node) < values_of(fewest)))
        fewest = node;
    }
    if (fewest != NULL)
      add(choices, fewest);
  } while (fewest != NULL);
  return choices->symbol_count > 0;
}

void tj_choices_take(tj_graph *graph, const tj_choices *choices, uint32_t number, const tj_node *roots[],
                     size_t count) {
  const tj_node *symbols[TJ_MOST_CHOOSING], *value[TJ_MOST_CHOOSING];
  for (uint32_t i = 0; i < choices->symbol_count; i++) {
    uint32_t count_of_values = values_of(choices->symbol[i]);
    symbols[i] = choices->symbol[i];
    value[i] = tj_int(graph, value_of(choices->symbol[i], number % count_of_values));
    number /= count_of_values;
  }
  const tj_substitution substitution = {symbols, value, choices->symbol_count};
  tj_substitute(graph, &substitution, roots, count);
}
