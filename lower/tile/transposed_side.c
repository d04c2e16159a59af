/* SPDX-License-Identifier: MIT */
/* Digits of a side's layout, taken apart into bits, which change places between lanes and slots: sixteen lanes ask
 * for 8 bytes each; lane l gets as element e what lane l / n + e * 16 / n, of n elements, has as element l % n. */
#include "lower/tile/transposed_side.h"

enum { LANE_BITS = 4 };

/* Takes the first `bits` bits of digits apart; false where they are not bits, or repeat elements. What is left
 * follows in `rest`. */
static bool take_bits(const tj_mapping_digit digit[], uint32_t count, uint32_t bits, tj_mapping_digits *taken,
                      tj_mapping_digits *rest) {
  for (uint32_t i = 0; i < count; i++) {
    int64_t extent = digit[i].extent, steps = 1;
    for (; taken->count < bits && extent > 1; extent /= 2, steps *= 2) {
      if (extent % 2 != 0 || digit[i].step == 0)
        return false;
      tj_mapping_add_digit(taken, 2, digit[i].step * steps, digit[i].mode);
    }
    tj_mapping_add_digit(rest, extent, digit[i].step * steps, digit[i].mode);
  }
  return taken->count == bits;
}

static void add_all(tj_mapping_digits *list, const tj_mapping_digits *from, uint32_t begin, uint32_t end) {
  list->lacks_some = list->lacks_some || from->lacks_some;
  for (uint32_t i = begin; i < end; i++)
    tj_mapping_add_digit(list, from->digit[i].extent, from->digit[i].step, from->digit[i].mode);
}

bool tj_transposed_side(tj_graph *graph, const tj_mapping_side *side, uint32_t element_bytes,
                        tj_mapping_side *asked) {
  uint32_t bits = element_bytes <= 2 ? (uint32_t)__builtin_ctz(TJ_TRANSPOSED_BYTES / element_bytes) : 0;
  tj_mapping_digits lanes = {.count = 0}, items = {.count = 0}, vector = {.count = 0}, slots = {.count = 0};
  tj_mapping_digits asking = {.count = 0}, loaded = {.count = 0};
  uint32_t slot_digits = side->digit_count - side->item_digits;
  if (bits == 0 || side->as != NULL || !take_bits(side->digit, side->item_digits, LANE_BITS, &lanes, &items) ||
      !take_bits(side->digit + side->item_digits, slot_digits, bits, &vector, &slots))
    return false;
  add_all(&asking, &lanes, bits, LANE_BITS);
  add_all(&asking, &vector, 0, bits);
  add_all(&asking, &items, 0, items.count);
  add_all(&loaded, &lanes, 0, bits);
  add_all(&loaded, &slots, 0, slots.count);
  *asked = tj_mapping_side_of_digits(graph, &asking, &loaded, NULL);
  return asked->items == side->items && asked->slots == side->slots;
}
