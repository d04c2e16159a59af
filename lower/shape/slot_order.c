/* SPDX-License-Identifier: MIT */
/* Orders of slots, by digit and by pass. */
#include "lower/shape/slot_order.h"

#include "ir/simplify/simplify.h"

/* The slots with one digit as the innermost, the others as they are: of `length` values, `step` slots apart. */
static const uint32_t *order_along(tj_job *job, uint32_t slots, uint32_t length, uint32_t step) {
  uint32_t *order = TJ_RAW_ARRAY(job, uint32_t, slots);
  for (uint32_t i = 0; i < slots; i++) {
    uint32_t outer = i / length;
    order[i] = outer / step * step * length + i % length * step + outer % step;
  }
  return order;
}

const uint32_t *tj_slots_as_they_are(tj_job *job, uint32_t slots) {
  return order_along(job, slots, 1, 1);
}

const uint32_t *const *tj_slot_orders(tj_graph *graph, const tj_mapping_side *side, uint32_t *count) {
  uint32_t leaves, step = 1;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, side->layout.shape->item[1], &leaves);
  const uint32_t **order = TJ_RAW_ARRAY(graph->job, const uint32_t *, leaves + 1);
  *count = 0;
  for (uint32_t i = 0; i < leaves; i++) {
    uint32_t length = (uint32_t)extent[i]->value->value;
    if (length > 1)
      order[(*count)++] = order_along(graph->job, side->slots, length, step);
    step *= length;
  }
  if (*count == 0)
    order[(*count)++] = tj_slots_as_they_are(graph->job, side->slots);
  return order;
}

/* The pass of each slot, of several: parts of a mode's coordinates. */
static void find_passes(tj_graph *graph, const tj_node *const *const digit[], uint32_t mode, const tj_node *part,
                        const tj_node *pass[], uint32_t slots) {
  for (uint32_t slot = 0; slot < slots; slot++) {
    bool is_as_before = slot > 0 && digit[slot][mode] == digit[slot - 1][mode];
    pass[slot] = is_as_before ? pass[slot - 1] : tj_div(graph, digit[slot][mode], part);
  }
  tj_simplify(graph, pass, slots, NULL);
}

const tj_node *const *tj_passes_of_slots(tj_graph *graph, const tj_mapping *mapping, uint32_t passes,
                                         const tj_node *const *const digit[], uint32_t slots) {
  uint32_t parted = tj_mapping_pass_mode(mapping);
  const tj_node *part = tj_int(graph, tj_mapping_extent(mapping, parted) / passes);
  const tj_node **pass = TJ_RAW_ARRAY(graph->job, const tj_node *, slots);
  if (passes > 1)
    find_passes(graph, digit, parted, part, pass, slots);
  for (uint32_t slot = 0; slot < slots && passes == 1; slot++)
    pass[slot] = tj_int(graph, 0);
  return pass;
}

bool tj_passes_are_equal(tj_job *job, const uint32_t pass[], uint32_t slots, uint32_t passes) {
  uint32_t *count = TJ_NEW_ARRAY(job, uint32_t, passes);
  for (uint32_t slot = 0; slot < slots; slot++) {
    if (pass[slot] >= passes)
      return false;
    count[pass[slot]]++;
  }
  for (uint32_t p = 0; p < passes; p++) {
    if ((uint64_t)count[p] * passes != slots)
      return false;
  }
  return true;
}

uint32_t *tj_slots_by_pass(tj_job *job, const uint32_t order[], const uint32_t pass[], uint32_t slots,
                           uint32_t passes) {
  uint32_t *sorted = TJ_RAW_ARRAY(job, uint32_t, slots), count = 0;
  for (uint32_t p = 0; p < passes; p++) {
    for (uint32_t i = 0; i < slots; i++) {
      if (pass[order[i]] == p)
        sorted[count++] = order[i];
    }
  }
  return sorted;
}
