/* SPDX-License-Identifier: MIT */
/* Sides of mappings as expressions: where coordinates add up, one for all slots, and what each adds. */
#include "lower/tile/held_side.h"

#include "base/number/keys.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/shape/slot_order.h"
#include "lower/tile/slot_values.h"

#include <string.h>

static const tj_node *is_below(tj_graph *graph, const tj_node *number, int64_t limit) {
  return number->facts.high < limit ? tj_int(graph, 1) : tj_less(graph, number, tj_int(graph, limit));
}

/* Whether a work-item is an item of the side. A layout says of no more work-items than it has coordinates which items
 * they are: the numbers beyond would be those of others. */
static const tj_node *is_item(tj_graph *graph, const tj_mapping_side *side, const tj_node *work_item,
                              const tj_node *item) {
  const tj_node *exists = is_below(graph, item, side->items);
  if (side->as == NULL || side->as->kind != TJ_VALUE_LAYOUT)
    return exists;
  int64_t known = tj_mapping_block(graph, side->as);
  const tj_node *has_number = is_below(graph, work_item, known);
  return known == side->items ? has_number : tj_and(graph, has_number, exists);
}

/* Passes have to be the same for all work-items, those without an item included. */
tj_holding tj_hold(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side,
                   const tj_node *work_item) {
  const tj_node *item = tj_mapping_item(graph, side, work_item), *exists = is_item(graph, side, work_item, item);
  bool stays_inside = !tj_is_int(exists, 1) && mapping->passes > 1;
  return (tj_holding){side, item, tj_mapping_item_digits(graph, side, item, stays_inside), exists};
}

static bool repeats(const tj_mapping_digit digit[], uint32_t count) {
  bool is_any = false;
  for (uint32_t i = 0; i < count; i++)
    is_any = is_any || (digit[i].step == 0 && digit[i].extent > 1);
  return is_any;
}

/* Whether all digits of a coordinate that repeat elements are 0. */
static const tj_node *is_first(tj_graph *graph, const tj_mapping_digit digit[], uint32_t count, const tj_node *at) {
  const tj_node *truth = tj_int(graph, 1), *zero = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *extent = tj_int(graph, digit[i].extent);
    if (digit[i].step == 0 && digit[i].extent > 1)
      truth = tj_and(graph, truth, tj_equal(graph, tj_mod(graph, at, extent), zero));
    at = tj_div(graph, at, extent);
  }
  return tj_simplified(graph, truth);
}

/* Takes what is there of each slot's element to whether it is the slot's to pass on: the first of those that hold it.
 * Of most sides, that is the same for all slots. */
static void make_responsible(tj_graph *graph, const tj_holding *held, const tj_node *active[]) {
  const tj_mapping_side *side = held->side;
  const tj_mapping_digit *digit = side->digit + side->item_digits;
  const uint32_t digits = side->digit_count - side->item_digits;
  const bool is_repeated = repeats(digit, digits);
  const tj_node *always = tj_int(graph, 1);
  const tj_node *holder =
      repeats(side->digit, side->item_digits) ? is_first(graph, side->digit, side->item_digits, held->item) : always;
  const tj_node *holds = tj_and(graph, held->exists, holder), *was_there = NULL, *was_first = NULL;
  for (uint32_t slot = 0; slot < side->slots; slot++) {
    const tj_node *first = is_repeated ? is_first(graph, digit, digits, tj_int(graph, slot)) : always;
    bool is_as_before = active[slot] == was_there && first == was_first;
    was_there = active[slot];
    was_first = first;
    active[slot] = is_as_before ? active[slot - 1] : tj_and(graph, holds, tj_and(graph, was_there, first));
  }
  tj_simplify(graph, active, side->slots, NULL);
}

/* By slot, the coordinates in the tile, and whether there is such an element. */
typedef struct {
  const tj_node **active;
  const tj_node *const **digit;
} slot_places;

static slot_places new_places(tj_job *job, uint32_t slots) {
  return (slot_places){TJ_RAW_ARRAY(job, const tj_node *, slots), TJ_RAW_ARRAY(job, const tj_node *const *, slots)};
}

/* What a slot adds to the coordinate along a mode, as an expression of which there is one. */
static const tj_node *sum_of(tj_graph *graph, tj_keys *sums, const tj_node *known[], const tj_node *const first[],
                             uint32_t mode, int64_t added) {
  const uint32_t sum = tj_key_number(sums, tj_key_mix(tj_key_mix(0, mode), (uint64_t)added));
  if (known[sum] == NULL)
    known[sum] = tj_simple_plus(graph, first[mode], added);
  return known[sum];
}

/* Where coordinates add up: those of the first slot, and constants, of which a mode has few. */
static slot_places find_places_by_sum(tj_graph *graph, const tj_mapping *mapping, const tj_holding *held) {
  uint32_t rank = tj_mapping_rank(mapping), slots = held->side->slots;
  slot_places places = new_places(graph->job, slots);
  const tj_node **place = TJ_RAW_ARRAY(graph->job, const tj_node *, (size_t)slots *rank + 1),
                **known = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)slots *rank + 1),
                **first = TJ_RAW_ARRAY(graph->job, const tj_node *, rank + 1);
  memcpy(first, tj_mapping_at(graph, mapping, held->side, held->item_digits, 0, false).digit, rank * sizeof *first);
  tj_simplify(graph, first, rank, NULL);
  const tj_node *always = tj_int(graph, 1);
  tj_keys sums = tj_keys_make(graph->job);
  int64_t added[2][TJ_MAX_DIMENSIONS]; /* of a slot, and of the one before it */
  for (uint32_t slot = 0; slot < slots; slot++) {
    int64_t *own = added[slot % 2], *before = added[(slot + 1) % 2];
    const tj_node **digit = place + (size_t)slot * rank;
    memset(own, 0, rank * sizeof *own);
    tj_mapping_add_slot(held->side, slot, own);
    places.active[slot] = always;
    places.digit[slot] = digit;
    for (uint32_t m = 0; m < rank; m++) {
      const bool is_as_before = slot > 0 && own[m] == before[m];
      digit[m] = is_as_before ? (digit - rank)[m] : sum_of(graph, &sums, known, first, m, own[m]);
    }
  }
  return places;
}

/* What reaches beyond the tile begins earlier, or is left out. */
static slot_places find_places(tj_graph *graph, const tj_mapping *mapping, const tj_holding *held, bool leaves_out) {
  uint32_t rank = tj_mapping_rank(mapping), slots = held->side->slots;
  slot_places places = new_places(graph->job, slots);
  const tj_node **all = TJ_RAW_ARRAY(graph->job, const tj_node *, (size_t)slots *(rank + 1));
  for (uint32_t slot = 0; slot < slots; slot++) {
    tj_mapping_place place = tj_mapping_at(graph, mapping, held->side, held->item_digits, slot, leaves_out);
    all[slot] = place.is_there;
    places.digit[slot] = memcpy(all + slots + (size_t)slot * rank, place.digit, rank * sizeof *all);
  }
  tj_simplify(graph, all, (size_t)slots * (rank + 1), NULL);
  memcpy(places.active, all, slots * sizeof *all);
  return places;
}

tj_tile_side tj_tile_side_held(tj_graph *graph, const tj_mapping *mapping, const tj_holding *held, bool leaves_out) {
  const slot_places places = tj_mapping_adds_up(graph, mapping, held->side)
                                 ? find_places_by_sum(graph, mapping, held)
                                 : find_places(graph, mapping, held, leaves_out);
  make_responsible(graph, held, places.active);
  tj_tile_side side = {.slot_count = held->side->slots, .digit = places.digit, .active = places.active};
  side.order = tj_slot_orders(graph, held->side, &side.order_count);
  return side;
}
