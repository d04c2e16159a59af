/* SPDX-License-Identifier: MIT */
/* Mappings of kernels without tiles, and what tells them from others. */
#include "lower/mapping/flat_mapping.h"

static bool is_plain(const tj_kernel *flat, const tj_kernel_step *step) {
  return step->access.offset == flat->index && tj_is_int(step->access.valid, 1);
}

bool tj_copies_equals(const tj_kernel *flat) {
  return flat->domain != NULL && flat->step_count == 2 && is_plain(flat, tj_flat_load(flat)) &&
         is_plain(flat, tj_flat_store(flat));
}

tj_mapping *tj_mapping_in_order(tj_graph *graph, const tj_kernel *flat, uint32_t slots, uint32_t item_step,
                                uint32_t slot_step) {
  tj_mapping_digits item = {.count = 0}, slot = {.count = 0};
  const int64_t reach = (int64_t)flat->workgroup_size * slots;
  tj_mapping *mapping = tj_mapping_of_tile(graph, flat->elements, tj_tuple_constants(graph, &reach, 1));
  tj_mapping_add_digit(&item, flat->workgroup_size, item_step, 0);
  tj_mapping_add_digit(&slot, slots, slot_step, 0);
  mapping->load = mapping->store = tj_mapping_side_of_digits(graph, &item, &slot, NULL);
  return mapping;
}

const tj_mapping *tj_mapping_of_flat(tj_graph *graph, const tj_kernel *flat) {
  uint32_t slots = tj_source_slots(flat);
  bool is_copy = flat->index != NULL && tj_flat_load(flat)->kind != TJ_STEP_VALUE;
  return is_copy ? tj_mapping_in_order(graph, flat, slots, slots, 1) : NULL;
}

/* Whether a side has one digit of items, and one of so many neighbours; that of one need not step. */
static bool has_neighbours(const tj_mapping_side *side, const tj_mapping *mapping, uint32_t slots) {
  return side->as == NULL && side->slots == slots && (int64_t)side->items * slots == tj_mapping_extent(mapping, 0) &&
         side->item_digits == 1 && side->digit_count == 2 && (side->items == 1 || side->digit[0].step == slots) &&
         (slots == 1 || side->digit[1].step == 1);
}

uint32_t tj_mapping_neighbours(const tj_mapping *mapping) {
  uint32_t slots = mapping->load.slots;
  bool is_plain = tj_mapping_rank(mapping) == 1 && tj_mapping_is_plain(mapping);
  return is_plain && has_neighbours(&mapping->load, mapping, slots) && has_neighbours(&mapping->store, mapping, slots)
             ? slots
             : 0;
}
