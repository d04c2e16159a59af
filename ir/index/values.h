/* SPDX-License-Identifier: MIT */
/* Tables of expressions of one symbol: what is proved by looking at all values. */
#ifndef TJ_IR_VALUES_H
#define TJ_IR_VALUES_H

#include "ir/index/graph.h"

/* Values of so many expressions, at least one, where a symbol is 0 … reach-1: value[i * reach + k] is what expression
 * i is where it is k. NULL where they mention other symbols, or an operation has no value. In the job's arena. */
const int64_t *tj_values_along(tj_graph *graph, const tj_node *const node[], uint32_t count, const tj_node *symbol,
                               uint32_t reach);

#endif
