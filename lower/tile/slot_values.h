/* SPDX-License-Identifier: MIT */
/* Expressions of coordinates, at the coordinates of slots. Slots of a work-item are mostly constants apart, and what
 * is linear in a coordinate is then, too: such an expression is simplified once for all of them. */
#ifndef TJ_LOWER_SLOT_VALUES_H
#define TJ_LOWER_SLOT_VALUES_H

#include "ir/index/linear.h"

/* The coordinates of slots, simplified: digit[slot][mode], in the place of symbols by mode. */
typedef struct {
  const tj_node *const *symbol;
  uint32_t modes;
  const tj_node *const *const *digit;
  uint32_t slots;
} tj_slot_digits;

/* What a simplified expression of the symbols is at each slot, simplified. */
const tj_node **tj_at_slots(tj_graph *graph, const tj_slot_digits *at, const tj_node *any);

/* The same in parts: an expression, and a constant that comes to it. Few slots' values ever are one expression. */
tj_parted_sum *tj_parts_at_slots(tj_graph *graph, const tj_slot_digits *at, const tj_node *any);

/* Each of the simplified values less an expression, simplified. */
tj_parted_sum *tj_parts_minus(tj_graph *graph, const tj_parted_sum value[], uint32_t slots, const tj_node *less);

/* Whether offsets in elements of any size surely are in 32 bits in bytes, so that machines add them to an address for
 * nothing. */
bool tj_are_small(const tj_parted_sum offset[], uint32_t count);

/* Whether a value is surely so far beyond another, as two slots of a class are; others may be, too. */
bool tj_is_plainly_beyond(tj_parted_sum value, tj_parted_sum other, int64_t distance);

/* A simplified expression in parts: of a constant, 0 and itself. */
tj_parted_sum tj_part_value(tj_graph *graph, const tj_node *simple);
/* And whole again, simplified. */
const tj_node *tj_whole_value(tj_graph *graph, tj_parted_sum part);

/* A simplified expression and a constant, simplified. */
const tj_node *tj_simple_plus(tj_graph *graph, const tj_node *simple, int64_t constant);

#endif
