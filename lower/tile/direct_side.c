/* SPDX-License-Identifier: MIT */
/* From a place in LDS to the coordinate of the element that is there: the exclusive or that a swizzle is undoes
 * itself, and the leaves of a compact layout are digits of the place. */
#include "lower/tile/direct_side.h"

#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "lower/lds/direct.h"
#include "lower/shape/slot_order.h"

#include <string.h>

/* A place in LDS: in which unit of the swizzle, and where in that it was, and is. */
typedef struct {
  tj_graph *graph;
  const tj_node *plain, *unit, *within;
  int64_t size; /* of a unit */
} swizzled_place;

static const tj_node *digit_of(tj_graph *graph, const tj_node *place, int64_t stride, int64_t extent) {
  return tj_mod(graph, tj_div(graph, place, tj_int(graph, stride)), tj_int(graph, extent));
}

static swizzled_place swizzle(tj_graph *graph, tj_swizzle how, const tj_node *plain) {
  const tj_node *size = tj_int(graph, (int64_t)1 << (how.bits + how.base)), *step = tj_int(graph, 1 << how.base);
  const tj_node *within = tj_mod(graph, plain, size);
  const tj_node *moved = digit_of(graph, plain, (int64_t)1 << (how.base + how.shift), (int64_t)1 << how.bits);
  return (swizzled_place){graph, plain, tj_div(graph, plain, size), tj_xor(graph, within, tj_mul(graph, moved, step)),
                          size->value};
}

/* The digit of a leaf: units that are whole within it, or it within them, come apart from what the swizzle moves. */
static const tj_node *leaf_digit(const swizzled_place *place, const tj_lds_leaf *leaf) {
  tj_graph *graph = place->graph;
  int64_t end = leaf->stride * leaf->extent;
  if (leaf->stride % place->size == 0)
    return digit_of(graph, place->plain, leaf->stride, leaf->extent);
  if (place->size % end == 0)
    return digit_of(graph, place->within, leaf->stride, leaf->extent);
  if (place->size % leaf->stride == 0 && end % place->size == 0) {
    const tj_node *units = tj_mod(graph, place->unit, tj_int(graph, end / place->size));
    return tj_add(graph, tj_mul(graph, units, tj_int(graph, place->size / leaf->stride)),
                  tj_div(graph, place->within, tj_int(graph, leaf->stride)));
  }
  const tj_node *whole = tj_add(graph, tj_mul(graph, place->unit, tj_int(graph, place->size)), place->within);
  return digit_of(graph, whole, leaf->stride, leaf->extent);
}

/* The coordinate, by mode, of what is in a place. */
static const tj_node *const *coordinate_of(const swizzled_place *place, const tj_lds_leaf leaf[], uint32_t count,
                                           uint32_t rank) {
  tj_graph *graph = place->graph;
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  for (uint32_t m = 0; m < rank; m++)
    digit[m] = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *step = tj_mul(graph, leaf_digit(place, &leaf[i]), tj_int(graph, leaf[i].step));
    digit[leaf[i].mode] = tj_add(graph, digit[leaf[i].mode], step);
  }
  tj_simplify(graph, digit, rank, NULL);
  return digit;
}

/* The same with `distance` added along a mode. */
static const tj_node *const *moved_along(tj_graph *graph, const tj_node *const digit[], uint32_t rank, uint32_t mode,
                                         const tj_node *distance) {
  const tj_node **moved = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  memcpy(moved, digit, rank * sizeof *moved);
  moved[mode] = tj_simplified(graph, tj_add(graph, digit[mode], distance));
  return moved;
}

/* A coordinate in the tile as one in the part that goes there in a pass, and where that begins along its mode. */
typedef struct {
  const tj_node *const *within;
  const tj_node *first;
  uint32_t mode;
} part_place;

static part_place part_at(tj_graph *graph, const tj_mapping *mapping, const tj_node *const digit[]) {
  uint32_t mode = tj_mapping_pass_mode(mapping);
  const tj_node *extent = tj_int(graph, tj_mapping_part_extent(mapping, mode));
  const tj_node *first = tj_mul(graph, tj_div(graph, digit[mode], extent), extent);
  const tj_node *back = tj_mul(graph, first, tj_int(graph, -1));
  return (part_place){moved_along(graph, digit, tj_mapping_rank(mapping), mode, back), first, mode};
}

static uint32_t first_mode(const tj_lds_leaf leaf[], uint32_t count) {
  uint32_t i = 0;
  while (i + 1 < count && leaf[i].stride != 1)
    i++;
  return leaf[i].mode;
}

tj_tile_side tj_direct_side(tj_graph *graph, const tj_mapping *mapping, const tj_tile_side *placed, uint32_t vector) {
  uint32_t count, rank = tj_mapping_rank(mapping), slots = placed->slot_count;
  const tj_lds_leaf *leaf = tj_lds_leaves(graph, mapping, &count);
  tj_swizzle how = tj_mapping_lds_swizzle(mapping);
  const tj_node *const **digit = TJ_NEW_ARRAY(graph->job, const tj_node *const *, slots);
  const uint32_t **order = TJ_NEW_ARRAY(graph->job, const uint32_t *, 1);
  tj_tile_side side = *placed;
  order[0] = tj_slots_as_they_are(graph->job, slots);
  side.order = order;
  side.order_count = 1;
  if (how.bits == 0)
    return side;
  for (uint32_t slot = 0; slot < slots; slot += vector) {
    const part_place at = part_at(graph, mapping, placed->digit[slot]);
    swizzled_place place = swizzle(graph, how, tj_mapping_lds_at(graph, mapping, at.within));
    digit[slot] = moved_along(graph, coordinate_of(&place, leaf, count, rank), rank, at.mode, at.first);
    for (uint32_t k = 1; k < vector; k++)
      digit[slot + k] = moved_along(graph, digit[slot], rank, first_mode(leaf, count), tj_int(graph, k));
  }
  side.digit = digit;
  return side;
}
