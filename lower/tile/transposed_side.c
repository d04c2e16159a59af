/* SPDX-License-Identifier: MIT */
/* Digits of a side's layout, taken apart into bits, which change places between lanes and slots: sixteen lanes ask
 * for 8 bytes each; lane l gets as element e what lane l / n + e * 16 / n, of n elements, has as element l % n. */
#include "lower/tile/transposed_side.h"

enum { LANE_BITS = 4, MOST_DIGITS = 64 };

typedef struct {
  tj_mapping_digit digit[MOST_DIGITS];
  uint32_t count;
} digit_list;

static void add_digit(digit_list *list, int64_t extent, const tj_mapping_digit *like, int64_t steps) {
  if (list->count < MOST_DIGITS && extent > 1)
    list->digit[list->count++] = (tj_mapping_digit){extent, like->step * steps, like->mode};
}

/* Takes the first `bits` bits of digits apart; false where they are not bits, or repeat elements. What is left
 * follows in `rest`. */
static bool take_bits(const tj_mapping_digit digit[], uint32_t count, uint32_t bits, digit_list *taken,
                      digit_list *rest) {
  for (uint32_t i = 0; i < count; i++) {
    int64_t extent = digit[i].extent, steps = 1;
    for (; taken->count < bits && extent > 1; extent /= 2, steps *= 2) {
      if (extent % 2 != 0 || digit[i].step == 0)
        return false;
      add_digit(taken, 2, &digit[i], steps);
    }
    add_digit(rest, extent, &digit[i], steps);
  }
  return taken->count == bits && rest->count < MOST_DIGITS;
}

static void add_all(digit_list *list, const digit_list *from, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i < end; i++)
    add_digit(list, from->digit[i].extent, &from->digit[i], 1);
}

static const tj_tuple *stride_of(tj_graph *graph, const tj_mapping_digit *digit) {
  if (digit->step == 0 || digit->mode == TJ_MAPPING_INDEX)
    return tj_tuple_constant(graph, digit->step);
  return tj_tuple_basis(graph, tj_int(graph, digit->step), &digit->mode, 1);
}

static void write_digits(tj_graph *graph, const digit_list *list, const tj_tuple **extents,
                         const tj_tuple **strides) {
  const tj_tuple *extent[MOST_DIGITS], *stride[MOST_DIGITS];
  for (uint32_t i = 0; i < list->count; i++) {
    extent[i] = tj_tuple_constant(graph, list->digit[i].extent);
    stride[i] = stride_of(graph, &list->digit[i]);
  }
  *extents = tj_tuple_list(graph, extent, list->count);
  *strides = tj_tuple_list(graph, stride, list->count);
}

bool tj_transposed_side(tj_graph *graph, const tj_mapping_side *side, uint32_t element_bytes,
                        tj_mapping_side *asked) {
  uint32_t bits = element_bytes <= 2 ? (uint32_t)__builtin_ctz(TJ_TRANSPOSED_BYTES / element_bytes) : 0;
  digit_list lanes = {.count = 0}, items = {.count = 0}, vector = {.count = 0}, slots = {.count = 0};
  digit_list asking = {.count = 0}, loaded = {.count = 0};
  uint32_t slot_digits = side->digit_count - side->item_digits;
  if (bits == 0 || side->as != NULL || !take_bits(side->digit, side->item_digits, LANE_BITS, &lanes, &items) ||
      !take_bits(side->digit + side->item_digits, slot_digits, bits, &vector, &slots))
    return false;
  add_all(&asking, &lanes, bits, LANE_BITS);
  add_all(&asking, &vector, 0, bits);
  add_all(&asking, &items, 0, items.count);
  add_all(&loaded, &lanes, 0, bits);
  add_all(&loaded, &slots, 0, slots.count);
  if (asking.count == MOST_DIGITS || loaded.count == MOST_DIGITS)
    return false;
  const tj_tuple *extent[2], *stride[2];
  write_digits(graph, &asking, &extent[0], &stride[0]);
  write_digits(graph, &loaded, &extent[1], &stride[1]);
  *asked =
      tj_mapping_side_of(graph, (tj_layout){tj_tuple_list(graph, extent, 2), tj_tuple_list(graph, stride, 2)}, NULL);
  return asked->items == side->items && asked->slots == side->slots;
}
