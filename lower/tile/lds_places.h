/* SPDX-License-Identifier: MIT */
/* Where vectors are in LDS. Places that are put together in groups, or swizzled, are quotients, remainders and
 * exclusive ors, of which few simplify to sums; but many are constants apart for all work-items of a workgroup, as
 * their values show: these are one expression. Others are one with the same bits flipped. */
#ifndef TJ_LOWER_LDS_PLACES_H
#define TJ_LOWER_LDS_PLACES_H

#include "ir/layout/layout.h"
#include "lower/tile/slot_values.h"

/* Where a swizzle has simplified places that are not negative, of work-items 0 … items-1 by the symbol `item`:
 * simplified, in parts. */
const tj_parted_sum *tj_places_in_lds(tj_graph *graph, tj_swizzle swizzle, const tj_parted_sum place[],
                                      uint32_t count, const tj_node *item, uint32_t items);

#endif
