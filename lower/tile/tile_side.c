/* SPDX-License-Identifier: MIT */
/* Vectors of a side's slots. */
#include "lower/tile/tile_side.h"

#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/tile/slot_values.h"

enum { MOST_PARTS = 4 };

/* What a vector has to be. */
typedef struct {
  tj_graph *graph;
  const tj_domain *domain;
  uint32_t width;
  tj_alignment alignment;
} shape;

const tj_node *tj_side_active(tj_graph *graph, const tj_side *side, uint32_t slot) {
  if (side->tile->active == NULL)
    return tj_int(graph, 1);
  return side->tile->active[side->tile->strided != NULL ? 0 : slot];
}

/* --- strides --- */

uint32_t tj_longest_vector(const tj_mapping_digit *digit) {
  enum { MOST_LANES = 64 };
  return tj_is_power_of_two(digit->extent) && digit->extent <= MOST_LANES ? (uint32_t)digit->extent : 1;
}

bool tj_slots_are_run(const tj_mapping_side *side, const tj_node *const stride[]) {
  int64_t have = 1;
  for (uint32_t i = side->item_digits; i < side->digit_count; have *= side->digit[i++].extent) {
    const tj_mapping_digit *d = &side->digit[i];
    if (d->extent > 1 && (have % d->step != 0 || !tj_is_int(stride[d->mode], have / d->step)))
      return false;
  }
  return true;
}

/* Steps of constant strides are a displacement; those of others are the same for all work-items. */
void tj_side_stride(tj_graph *graph, tj_side *side, tj_tile_element first, const tj_node *const stride[],
                    uint32_t modes) {
  for (uint32_t slot = 0; slot < side->tile->slot_count; slot++) {
    tj_access *access = &side->element[slot].access;
    const tj_node *base = tj_int(graph, 0);
    int64_t distance[TJ_MAX_DIMENSIONS] = {0};
    tj_mapping_add_slot(side->tile->strided, slot, distance);
    side->element[slot] = first;
    for (uint32_t m = 0; m < modes; m++) {
      if (distance[m] > 0 && tj_is_constant(stride[m]) && stride[m]->value >= 0)
        access->displacement += distance[m] * stride[m]->value;
      else if (distance[m] > 0)
        base = tj_add(graph, base, tj_mul(graph, stride[m], tj_int(graph, distance[m])));
    }
    access->base = tj_is_int(base, 0) ? NULL : base;
  }
  side->is_run = tj_slots_are_run(side->tile->strided, stride);
}

/* Whether the slots order[0 … width-1] are one after the other by strides. */
static bool are_strided_neighbours(const tj_side *side, const uint32_t order[], uint32_t width) {
  const tj_access *first = &side->element[order[0]].access;
  for (uint32_t k = 1; k < width; k++) {
    const tj_access *next = &side->element[order[k]].access;
    if (next->base != first->base || next->displacement != first->displacement + k)
      return false;
  }
  return true;
}

/* --- vectors --- */

/* Which vector of the buffer an offset is in: node / width. Of an exclusive or, that of its parts, which are looked
 * into `depth` times. */
static const tj_node *vector_number(tj_graph *graph, const tj_node *node, uint32_t width, unsigned depth) {
  if (node->op != TJ_OP_XOR || depth == 0)
    return tj_simplified(graph, tj_div(graph, node, tj_int(graph, width)));
  const tj_node *part[] = {vector_number(graph, node->arg[0], width, depth - 1),
                           vector_number(graph, node->arg[1], width, depth - 1)};
  return tj_simplified(graph, tj_xor(graph, part[0], part[1]));
}

/* Whether an offset is `distance` beyond an aligned one: by sums, or, of swizzled ones, by bits. */
static bool is_beyond(tj_graph *graph, const tj_node *first, const tj_node *node, uint32_t distance, uint32_t width) {
  const tj_node *vector = tj_int(graph, width);
  if (tj_prove_equal(graph, node, tj_add(graph, first, tj_int(graph, distance))))
    return true;
  return tj_facts_divisible(&first->facts, width) &&
         tj_is_int(tj_simplified(graph, tj_mod(graph, node, vector)), distance) &&
         vector_number(graph, node, width, MOST_PARTS) == vector_number(graph, first, width, MOST_PARTS);
}

bool tj_parts_are_in_turn(tj_graph *graph, const tj_parted_sum offset[], uint32_t width) {
  for (uint32_t k = 1; k < width; k++) {
    if (!tj_is_plainly_beyond(offset[k], offset[0], k) &&
        !is_beyond(graph, tj_whole_value(graph, offset[0]), tj_whole_value(graph, offset[k]), k, width))
      return false;
  }
  return true;
}

bool tj_parts_are_neighbours(tj_graph *graph, const tj_parted_sum offset[], uint32_t width) {
  return tj_facts_divisible(&tj_whole_value(graph, offset[0])->facts, width) &&
         tj_parts_are_in_turn(graph, offset, width);
}

static const tj_parted_sum *parted(tj_graph *graph, const tj_node *const offset[], uint32_t width) {
  tj_parted_sum *part = TJ_NEW_ARRAY(graph->job, tj_parted_sum, width);
  for (uint32_t k = 0; k < width; k++)
    part[k] = tj_part_value(graph, offset[k]);
  return part;
}

bool tj_are_in_turn(tj_graph *graph, const tj_node *const offset[], uint32_t width) {
  return tj_parts_are_in_turn(graph, parted(graph, offset, width), width);
}

bool tj_are_neighbours(tj_graph *graph, const tj_node *const offset[], uint32_t width) {
  return tj_parts_are_neighbours(graph, parted(graph, offset, width), width);
}

tj_access tj_element_access(tj_graph *graph, const tj_tile_element *element) {
  tj_access access = element->access;
  access.offset = tj_simple_plus(graph, access.offset, element->constant);
  return access;
}

/* Whether the digits of the slots along a mode are all inside the extent, or none is. */
static bool share_edge(const shape *vector, const tj_node *const digit[], const tj_node *extent) {
  bool is_same = true;
  for (uint32_t k = 1; k < vector->width; k++)
    is_same = is_same && digit[k] == digit[0];
  return is_same || (tj_facts_divisible(&extent->facts, vector->width) &&
                     tj_are_neighbours(vector->graph, digit, vector->width));
}

/* Whether slots are evenly far apart, so that one step can name them. */
static bool are_even(const uint32_t order[], uint32_t width) {
  for (uint32_t k = 2; k < width; k++) {
    if (order[k] - order[k - 1] != order[1] - order[0])
      return false;
  }
  return true;
}

static bool share_edges(const shape *vector, const tj_side *side, const uint32_t order[]) {
  if (side->edges == 0)
    return true;
  const tj_node **digit = TJ_NEW_ARRAY(vector->graph->job, const tj_node *, vector->width);
  for (uint32_t m = 0; m < vector->domain->count; m++) {
    for (uint32_t k = 0; k < vector->width; k++)
      digit[k] = side->element[order[k]].digit[m];
    if ((side->edges >> m & 1) != 0 && !share_edge(vector, digit, vector->domain->mode[m].extent))
      return false;
  }
  return true;
}

static bool is_base_even(const shape *vector, const tj_access *access) {
  return vector->alignment == TJ_ANYWHERE || access->base == NULL ||
         tj_facts_divisible(&access->base->facts, vector->width);
}

/* Whether all slots of a vector hold something, and have something in the view, or none does. */
static bool share_predicates(const shape *vector, const tj_side *side, const uint32_t order[]) {
  for (uint32_t k = 1; k < vector->width; k++) {
    if (side->element[order[k]].access.valid != side->element[order[0]].access.valid ||
        tj_side_active(vector->graph, side, order[k]) != tj_side_active(vector->graph, side, order[0]))
      return false;
  }
  return true;
}

static const tj_parted_sum *offsets_of(const shape *vector, const tj_side *side, const uint32_t order[]) {
  tj_parted_sum *offset = TJ_NEW_ARRAY(vector->graph->job, tj_parted_sum, vector->width);
  for (uint32_t k = 0; k < vector->width; k++) {
    const tj_tile_element *element = &side->element[order[k]];
    offset[k] = (tj_parted_sum){element->access.offset, element->constant};
  }
  return offset;
}

/* Whether the slots order[0 … width-1] are one vector. */
static bool is_vector(const shape *vector, const tj_side *side, const uint32_t order[]) {
  const tj_access *first = &side->element[order[0]].access;
  if (!share_predicates(vector, side, order) || !are_even(order, vector->width))
    return false;
  if (tj_is_int(first->valid, 0))
    return true;
  if (side->tile->strided != NULL)
    return are_strided_neighbours(side, order, vector->width);
  const tj_parted_sum *offset = offsets_of(vector, side, order);
  const bool are_next = vector->alignment == TJ_ALIGNED
                            ? tj_parts_are_neighbours(vector->graph, offset, vector->width)
                            : tj_parts_are_in_turn(vector->graph, offset, vector->width);
  return is_base_even(vector, first) && are_next && share_edges(vector, side, order);
}

static bool are_vectors(const shape *vector, const tj_side *side) {
  uint32_t slots = side->tile->slot_count;
  if (slots % vector->width != 0)
    return false;
  for (uint32_t i = 0; i < slots; i += vector->width) {
    if (!is_vector(vector, side, side->order + i))
      return false;
  }
  return true;
}

/* Of strided slots, the digit that comes first in an order. */
static uint32_t longest_in_order(const tj_tile_side *tile, uint32_t order, uint32_t most) {
  const tj_mapping_side *side = tile->strided;
  for (uint32_t i = side != NULL ? side->item_digits : 0; side != NULL && i < side->digit_count; i++) {
    if (side->digit[i].extent > 1 && order-- == 0)
      return tj_longest_vector(&side->digit[i]);
  }
  return side != NULL ? 1 : most;
}

void tj_side_choose_vectors(tj_graph *graph, const tj_domain *domain, tj_side *side, uint32_t most,
                            tj_alignment alignment) {
  const uint32_t *order = side->tile->order[0];
  uint32_t widest = 1;
  for (uint32_t i = 0; i < side->tile->order_count; i++) {
    shape vector = {graph, domain, longest_in_order(side->tile, i, most), alignment};
    side->order = side->tile->order[i];
    while (vector.width > widest && !are_vectors(&vector, side))
      vector.width /= 2;
    order = vector.width > widest ? side->order : order;
    widest = vector.width > widest ? vector.width : widest;
  }
  side->order = order;
  side->width = widest;
}
