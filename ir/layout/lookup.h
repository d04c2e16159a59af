/* SPDX-License-Identifier: MIT */
/* Tables of integers, looked up at an index. */
#ifndef TJ_IR_LOOKUP_H
#define TJ_IR_LOOKUP_H

#include "ir/index/graph.h"

/* entry[index], for 0 <= index < count; beyond either end, the entry there. An expression of comparisons, in which
 * entries that grow evenly are one alternative. */
const tj_node *tj_lookup(tj_graph *graph, const tj_node *const entry[], uint32_t count, const tj_node *index);

#endif
