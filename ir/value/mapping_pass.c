/* SPDX-License-Identifier: MIT */
/* Passes that are alike: mappings of a part of the tile that is like all others. */
#include "ir/value/mapping.h"

/* What digits along a mode below one of them add up to, at most. */
static int64_t reach_below(const tj_mapping_side *side, uint32_t mode, const tj_mapping_digit *of) {
  int64_t reach = 0;
  for (uint32_t i = 0; i < side->digit_count; i++) {
    const tj_mapping_digit *each = &side->digit[i];
    if (each != of && each->mode == mode)
      reach += (each->extent - 1) * each->step;
  }
  return reach;
}

/* Whether a digit of slots tells all passes apart, by whole numbers of its steps, which no other digit reaches. */
static bool tells_passes(const tj_mapping *mapping, const tj_mapping_side *side, const tj_mapping_digit *digit) {
  uint32_t mode = tj_mapping_pass_mode(mapping);
  int64_t extent = tj_mapping_extent(mapping, mode), part = tj_mapping_part_extent(mapping, mode);
  return digit >= side->digit + side->item_digits && digit->mode == mode && digit->step > 0 &&
         part % digit->step == 0 && digit->extent == extent / digit->step &&
         reach_below(side, mode, digit) < digit->step;
}

/* The side with the first part of the slots; false where these are not alike. */
static bool side_of_pass(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side,
                         tj_mapping_side *made) {
  tj_mapping_digits items = {.count = 0}, slots = {.count = 0};
  bool is_found = false;
  for (uint32_t i = 0; i < side->digit_count; i++) {
    const tj_mapping_digit *digit = &side->digit[i];
    bool tells = tells_passes(mapping, side, digit);
    tj_mapping_add_digit(i < side->item_digits ? &items : &slots, digit->extent / (tells ? mapping->passes : 1),
                         digit->step, digit->mode);
    is_found = is_found || tells;
  }
  *made = tj_mapping_side_of_digits(graph, &items, &slots, side->as);
  made->lanes = side->lanes;
  return is_found && made->items == side->items && made->slots == side->slots / mapping->passes;
}

const tj_mapping *tj_mapping_of_pass(tj_graph *graph, const tj_mapping *mapping) {
  tj_mapping *made = TJ_NEW(graph->job, tj_mapping);
  *made = *mapping;
  made->tile = tj_mapping_part(graph, mapping);
  made->passes = 1;
  made->ahead = 0;
  made->overlap = NULL;
  bool are_alike = mapping->passes > 1 && side_of_pass(graph, mapping, &mapping->load, &made->load) &&
                   side_of_pass(graph, mapping, &mapping->store, &made->store);
  return are_alike ? made : NULL;
}
