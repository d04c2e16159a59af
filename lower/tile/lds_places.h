/* SPDX-License-Identifier: MIT */
/* Where a swizzle has what lies in LDS. Swizzled places are exclusive ors, of which few simplify to sums; but many are
 * constants apart for all work-items of a workgroup, as their values show: these are one expression. */
#ifndef TJ_LOWER_LDS_SWIZZLE_H
#define TJ_LOWER_LDS_SWIZZLE_H

#include "ir/layout/layout.h"
#include "lower/tile/slot_values.h"

/* The places of simplified ones that are not negative, of work-items 0 … items-1 by the symbol `item`. */
const tj_parted_sum *tj_swizzled_places(tj_graph *graph, tj_swizzle swizzle, const tj_parted_sum place[],
                                        uint32_t count, const tj_node *item, uint32_t items);

#endif
