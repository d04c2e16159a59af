/* SPDX-License-Identifier: MIT */
/* Walks through views: what is true at all of their places, and what follows at the place after one.
 *
 * The hidden indices of the next place follow without divisions. Where a merge takes an index apart that changes by a
 * step, its digits are symbols, and the index is made of them; at the next place each digit is itself, the step's
 * digit and a carry, less its length where that is too much. So what a loop carries can be held against the view for
 * any number of steps. */
#ifndef TJ_IR_ADVANCE_H
#define TJ_IR_ADVANCE_H

#include "ir/view/view.h"

/* By hidden dimension. */
typedef struct {
  const tj_node *const *now, *const *next;
} tj_advance;

/* Every hidden index after `counter` steps from some start, 0 <= start[i] < box[i], each simplified by itself: facts
 * are sharpest where nothing has to be shared. */
const tj_node *const *tj_view_reach(tj_graph *graph, const tj_view *view, const tj_node *const box[],
                                    const tj_node *const step[], const tj_node *counter);

/* A symbol for a hidden index, of which it is known what its reach shows. */
const tj_node *tj_hidden_symbol(tj_graph *graph, const tj_view *view, uint32_t id, const char *name,
                                const tj_node *reach);

/* The hidden indices at any place and at the next one: expressions of symbols that have the facts of `reach`. */
tj_advance tj_view_advance(tj_graph *graph, const tj_view *view, const tj_node *const reach[],
                           const tj_node *const step[]);

#endif
