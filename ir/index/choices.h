/* SPDX-License-Identifier: MIT */
/* Cases of expressions whose symbols have a few values each: param K in {64, 128}, or i in 0..7. */
#ifndef TJ_IR_CHOICES_H
#define TJ_IR_CHOICES_H

#include "ir/index/graph.h"

enum { TJ_MOST_CHOOSING = 4, TJ_MOST_CASES = 64 };

typedef struct {
  const tj_node *symbol[TJ_MOST_CHOOSING];
  uint32_t symbol_count;
  uint32_t case_count; /* the product of how many values each has */
} tj_choices;

/* The symbols of the roots that are declared by their values. False where there are none, or too many cases. */
bool tj_choices_of(tj_graph *graph, const tj_node *const roots[], size_t count, tj_choices *choices);

/* As many of the roots' symbols as make no more cases, those of the fewest values first: what is linear in the others
 * may be a product with them. False where there are none. */
bool tj_choices_of_ranges(tj_graph *graph, const tj_node *const roots[], size_t count, tj_choices *choices);

/* Puts the values of case `number` in the place of the symbols. */
void tj_choices_take(tj_graph *graph, const tj_choices *choices, uint32_t number, const tj_node *roots[],
                     size_t count);

#endif
