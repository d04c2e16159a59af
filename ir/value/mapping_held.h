/* SPDX-License-Identifier: MIT */
/* What work-items hold, in numbers: for searches that ask for all of them at once. What tj_mapping_at says in
 * expressions is said here for each work-item and slot; one mapping is held against the other by test_mapping_held.
 */
#ifndef TJ_IR_MAPPING_HELD_H
#define TJ_IR_MAPPING_HELD_H

#include "ir/value/mapping.h"

/* A number that digits add up to, in the parts of the item and of the slot. */
typedef struct {
  const int64_t *of_item, *of_slot; /* by work-item, by slot */
  int64_t limit;                    /* elements are where the sum is less than it */
} tj_held_sum;

/* One side, as the work-items of a workgroup hold it. */
typedef struct {
  const tj_mapping *mapping;
  uint32_t rank; /* of the tile */
  uint32_t work_items, slots;
  bool reaches_beyond;      /* some digits would lead beyond the tile */
  bool gives_index;         /* the only coordinate is the tile's index */
  const tj_held_sum *place; /* by mode of the tile: the coordinate; or the index */
  const tj_held_sum *bound; /* what else has to stay below its limit */
  uint32_t bound_count;
  const bool *is_holder; /* by work-item: it is an item, the first of those that hold the same */
  const bool *is_first;  /* by slot: the same among the item's slots */
} tj_held;

/* Digits that would lead beyond the tile begin earlier, or, with `leaves_out`, have no
 * element there. */
tj_held tj_mapping_held(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side, uint32_t work_items,
                        bool leaves_out);

/* Whether there is an element that is the slot's to pass on. */
static inline bool tj_held_has(const tj_held *held, uint32_t work_item, uint32_t slot) {
  bool is_there = held->is_holder[work_item] && held->is_first[slot];
  for (uint32_t i = 0; i < held->bound_count && is_there; i++)
    is_there = held->bound[i].of_item[work_item] + held->bound[i].of_slot[slot] < held->bound[i].limit;
  return is_there;
}

/* Whether two slots have elements for the same work-items. */
static inline bool tj_held_together(const tj_held *held, uint32_t slot, uint32_t other) {
  bool is_same = held->is_first[slot] == held->is_first[other];
  for (uint32_t i = 0; i < held->bound_count && is_same; i++)
    is_same = held->bound[i].of_slot[slot] == held->bound[i].of_slot[other];
  return is_same;
}

/* Its coordinate in the tile, by mode. */
void tj_held_at(const tj_held *held, uint32_t work_item, uint32_t slot, int64_t place[]);

/* Whether every work-item holds the same elements on both sides. */
bool tj_held_alike(tj_job *job, const tj_held *a, const tj_held *b);

#endif
