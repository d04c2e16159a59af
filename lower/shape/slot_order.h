/* SPDX-License-Identifier: MIT */
/* Ways to put the slots of a side in a row, so that vectors may move neighbours. */
#ifndef TJ_LOWER_SLOT_ORDER_H
#define TJ_LOWER_SLOT_ORDER_H

#include "ir/value/mapping.h"

/* As they are. */
const uint32_t *tj_slots_as_they_are(tj_job *job, uint32_t slots);

/* Each digit of the slot that may give vectors as the innermost: the first first, with which slots are as they are.
 */
const uint32_t *const *tj_slot_orders(tj_graph *graph, const tj_mapping_side *side, uint32_t *count);

/* In which of a tile's passes through LDS the element of each slot goes, whose digits these are: expressions. */
const tj_node *const *tj_passes_of_slots(tj_graph *graph, const tj_mapping *mapping, uint32_t passes,
                                         const tj_node *const *const digit[], uint32_t slots);

/* Whether as many slots are in each pass, as pass[] numbers them. */
bool tj_passes_are_equal(tj_job *job, const uint32_t pass[], uint32_t slots, uint32_t passes);

/* Slots in the order of their passes, which are numbered by `pass`; otherwise as they were. */
uint32_t *tj_slots_by_pass(tj_job *job, const uint32_t order[], const uint32_t pass[], uint32_t slots,
                           uint32_t passes);

#endif
