/* SPDX-License-Identifier: MIT */
/* Coordinates of mappings: of an item's slot in the tile, of a workgroup's tile among all. */
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "ir/value/predicate.h"

/* --- the numbers of items --- */

int64_t tj_mapping_block(tj_graph *graph, const tj_value *as) {
  if (as->kind == TJ_VALUE_LAYOUT) {
    const tj_node *size = tj_layout_size(graph, as->layout), *cosize = tj_layout_cosize(graph, as->layout);
    return tj_is_constant(size) && size == cosize && tj_is_injective(graph, as) ? size->value : 0;
  }
  const tj_f2 *map = as->kind == TJ_VALUE_SWIZZLE  ? tj_f2_of_swizzle(graph, as->swizzle)
                     : as->kind == TJ_VALUE_LINEAR ? as->linear
                                                   : NULL;
  if (map == NULL || !map->extends || map->component_count != 1 || tj_f2_rank(graph, map) < map->bit_count)
    return 0;
  for (uint32_t bit = 0; bit < map->bit_count; bit++) {
    if (map->basis[bit] >> map->bit_count != 0)
      return 0;
  }
  return (int64_t)1 << map->bit_count;
}

/* --- digits --- */

uint32_t tj_mapping_digits_along(const tj_mapping_digit digit[], uint32_t digit_count, uint32_t mode,
                                 uint32_t found[]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < digit_count; i++) {
    if (digit[i].mode != mode || digit[i].extent == 1 || digit[i].step == 0)
      continue;
    uint32_t at = count++;
    for (; at > 0 && digit[found[at - 1]].step < digit[i].step; at--)
      found[at] = found[at - 1];
    found[at] = i;
  }
  return count;
}

bool tj_mapping_gives_index(const tj_mapping_digit digit[], uint32_t digit_count) {
  for (uint32_t i = 0; i < digit_count; i++) {
    if (digit[i].mode == TJ_MAPPING_INDEX && digit[i].step != 0 && digit[i].extent > 1)
      return true;
  }
  return false;
}

/* --- coordinates --- */

uint32_t tj_mapping_work_items(tj_graph *graph, const tj_mapping_side *side) {
  int64_t block = side->as != NULL ? tj_mapping_block(graph, side->as) : 1;
  return (uint32_t)((side->items + block - 1) / block * block);
}

const tj_node *tj_mapping_item(tj_graph *graph, const tj_mapping_side *side, const tj_node *work_item) {
  const tj_tuple *at = tj_tuple_integer(graph, work_item);
  if (side->as == NULL)
    return work_item;
  if (side->as->kind == TJ_VALUE_LAYOUT)
    at = tj_layout_apply(graph, side->as->layout, at);
  else if (side->as->kind == TJ_VALUE_SWIZZLE)
    return tj_simplified(graph, tj_swizzle_apply(graph, side->as->swizzle, work_item));
  else
    at = tj_f2_apply(graph, side->as->linear, at);
  return tj_simplified(graph, at->value);
}

const tj_node *const *tj_mapping_item_digits(tj_graph *graph, const tj_mapping_side *side, const tj_node *item,
                                             bool stays_inside) {
  const tj_node **digits = TJ_NEW_ARRAY(graph->job, const tj_node *, side->item_digits + 1);
  uint32_t last = 0;
  for (uint32_t i = 0; i < side->item_digits; i++)
    last = side->digit[i].extent > 1 ? i : last;
  for (uint32_t i = 0; i < side->item_digits; i++) {
    const tj_node *extent = tj_int(graph, side->digit[i].extent);
    if (side->digit[i].extent == 1)
      digits[i] = tj_int(graph, 0);
    else if (i < last)
      digits[i] = tj_mod(graph, item, extent);
    else
      digits[i] = stays_inside ? tj_min(graph, item, tj_int(graph, side->digit[i].extent - 1)) : item;
    item = i < last ? tj_div(graph, item, extent) : item;
  }
  return digits;
}

/* The values of all digits at a slot. */
static const tj_node *const *values_at(tj_graph *graph, const tj_mapping_side *side,
                                       const tj_node *const item_digits[], uint32_t slot) {
  const tj_node **value = TJ_NEW_ARRAY(graph->job, const tj_node *, side->digit_count + 1);
  int64_t rest = slot;
  for (uint32_t i = 0; i < side->digit_count; i++) {
    bool is_item = i < side->item_digits;
    value[i] = is_item ? item_digits[i] : tj_int(graph, rest % side->digit[i].extent);
    rest = is_item ? rest : rest / side->digit[i].extent;
  }
  return value;
}

static const tj_node *stepped(tj_graph *graph, const tj_node *value, int64_t step) {
  return tj_mul(graph, value, tj_int(graph, step));
}

/* Whether digits found[0 …] lead to before a limit. The least of them only matter where the limit is no multiple of
 * those before. */
static const tj_node *is_before(tj_graph *graph, const tj_mapping_side *side, const tj_node *const value[],
                                const uint32_t found[], uint32_t count, int64_t limit) {
  const tj_node *sum = tj_int(graph, 0);
  uint32_t used = 1;
  while (used < count && limit % side->digit[found[used - 1]].step != 0)
    used++;
  int64_t unit = side->digit[found[used - 1]].step;
  for (uint32_t i = 0; i < used; i++)
    sum = tj_add(graph, sum, stepped(graph, value[found[i]], side->digit[found[i]].step / unit));
  return tj_less(graph, sum, tj_int(graph, (limit + unit - 1) / unit));
}

/* The coordinate along a mode; *is_there also says whether it is in the tile, where what is not is left out. */
static const tj_node *place_along(tj_graph *graph, const tj_mapping_side *side, const tj_node *const value[],
                                  uint32_t mode, int64_t limit, const tj_node **is_there) {
  uint32_t *found = TJ_NEW_ARRAY(graph->job, uint32_t, side->digit_count + 1);
  uint32_t count = tj_mapping_digits_along(side->digit, side->digit_count, mode, found);
  const tj_node *sum = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    const tj_mapping_digit *d = &side->digit[found[i]];
    const tj_node *begin = stepped(graph, value[found[i]], d->step);
    if (d->extent * d->step > limit && is_there != NULL)
      *is_there = tj_and(graph, *is_there, is_before(graph, side, value, found + i, count - i, limit));
    else if (d->extent * d->step > limit)
      begin = tj_min(graph, begin, tj_int(graph, limit - d->step));
    sum = tj_add(graph, sum, begin);
    limit = d->step;
  }
  return sum;
}

static const tj_node *const *place_of_index(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side,
                                            const tj_node *const value[]) {
  uint32_t rank = tj_mapping_rank(mapping);
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, rank), *index = tj_int(graph, 0);
  for (uint32_t i = 0; i < side->digit_count; i++)
    index = tj_add(graph, index, stepped(graph, value[i], side->digit[i].step));
  for (uint32_t m = 0; m < rank; m++) {
    digit[m] = m + 1 < rank ? tj_mod(graph, index, mapping->tile->item[m]->value) : index;
    index = tj_div(graph, index, mapping->tile->item[m]->value);
  }
  return digit;
}

tj_mapping_place tj_mapping_at(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side,
                               const tj_node *const item_digits[], uint32_t slot, bool leaves_out) {
  uint32_t rank = tj_mapping_rank(mapping);
  const tj_node *const *value = values_at(graph, side, item_digits, slot), *is_there = tj_int(graph, 1);
  if (tj_mapping_gives_index(side->digit, side->digit_count))
    return (tj_mapping_place){place_of_index(graph, mapping, side, value), is_there};
  const tj_node **digit = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  for (uint32_t m = 0; m < rank; m++)
    digit[m] = place_along(graph, side, value, m, tj_mapping_extent(mapping, m), leaves_out ? &is_there : NULL);
  return (tj_mapping_place){digit, is_there};
}

/* --- what slots add --- */

bool tj_mapping_adds_up(tj_graph *graph, const tj_mapping *mapping, const tj_mapping_side *side) {
  uint32_t *found = TJ_NEW_ARRAY(graph->job, uint32_t, side->digit_count + 1);
  bool adds_up = !tj_mapping_gives_index(side->digit, side->digit_count);
  for (uint32_t m = 0; m < tj_mapping_rank(mapping) && adds_up; m++) {
    uint32_t count = tj_mapping_digits_along(side->digit, side->digit_count, m, found);
    int64_t limit = tj_mapping_extent(mapping, m);
    for (uint32_t i = 0; i < count; i++) {
      adds_up = adds_up && side->digit[found[i]].extent * side->digit[found[i]].step <= limit;
      limit = side->digit[found[i]].step;
    }
  }
  return adds_up;
}

void tj_mapping_add_slot(const tj_mapping_side *side, uint32_t slot, int64_t place[]) {
  for (uint32_t i = side->item_digits; i < side->digit_count; i++) {
    const tj_mapping_digit *d = &side->digit[i];
    if (d->extent > 1 && d->step != 0)
      place[d->mode] += slot % d->extent * d->step;
    slot /= (uint32_t)d->extent;
  }
}

/* --- orders of tiles --- */

/* Leaves of an order: basis elements, or integers of a single mode. */
typedef struct {
  const tj_tuple *const *extent, *const *stride;
  uint32_t count;
} leaves;

static bool is_along(const tj_tuple *stride, uint32_t mode) {
  return stride->kind == TJ_TUPLE_BASIS ? stride->count == 1 && stride->path[0] == mode : mode == 0;
}

/* A leaf along a mode that goes on where those before it have reached; `count` where there is none. */
static uint32_t find_next(tj_graph *graph, const leaves *order, const bool taken[], uint32_t mode,
                          const tj_node *reached) {
  uint32_t i = 0;
  while (i < order->count &&
         (taken[i] || !is_along(order->stride[i], mode) || !tj_prove_equal(graph, order->stride[i]->value, reached)))
    i++;
  return i;
}

/* Takes the leaves that reach 0 … size - 1 along a mode; whether they do. */
static bool fills_mode(tj_graph *graph, const leaves *order, bool taken[], uint32_t mode, const tj_node *size) {
  const tj_node *reached = tj_int(graph, 1);
  for (uint32_t i; (i = find_next(graph, order, taken, mode, reached)) < order->count;) {
    taken[i] = true;
    reached = tj_simplified(graph, tj_mul(graph, reached, order->extent[i]->value));
  }
  return tj_prove_equal(graph, reached, size);
}

/* Whether the values of a layout of basis strides are surely all coordinates of a box, each once: along each mode its
 * digits have to be those of a mixed radix. */
static bool reaches_box(tj_graph *graph, tj_layout order, const tj_tuple *box) {
  leaves all = {.stride = tj_tuple_leaves(graph, order.stride, &all.count)};
  all.extent = tj_tuple_leaves(graph, order.shape, &all.count);
  bool *taken = TJ_NEW_ARRAY(graph->job, bool, all.count + 1), is_filled = true;
  for (uint32_t i = 0; i < all.count; i++) {
    taken[i] = tj_is_int(all.extent[i]->value, 1);
    is_filled = is_filled && (all.stride[i]->kind != TJ_TUPLE_BASIS || all.stride[i]->count == 1);
  }
  for (uint32_t m = 0; m < box->count; m++)
    is_filled = is_filled && fills_mode(graph, &all, taken, m, box->item[m]->value);
  for (uint32_t i = 0; i < all.count; i++)
    is_filled = is_filled && taken[i];
  return is_filled;
}

/* The leaves of a tuple, integers or basis elements, in terms of what is assumed. */
static const tj_tuple *assumed_tuple(tj_graph *graph, const tj_tuple *tuple, const tj_substitution *assumed) {
  uint32_t count;
  const tj_tuple *const *leaf = tj_tuple_leaves(graph, tuple, &count);
  const tj_tuple **made = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *value = leaf[i]->value;
    tj_substitute(graph, assumed, &value, 1);
    made[i] = leaf[i]->kind == TJ_TUPLE_BASIS ? tj_tuple_basis(graph, value, leaf[i]->path, leaf[i]->count)
                                              : tj_tuple_integer(graph, value);
  }
  return tj_tuple_from_leaves(graph, tuple, made);
}

static const tj_node **row_major_tile(tj_graph *graph, const tj_node *const tiles[], uint32_t count,
                                      const tj_node *workgroup) {
  const tj_node **place = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  for (uint32_t m = count; m-- > 0;) {
    place[m] = m > 0 ? tj_mod(graph, workgroup, tiles[m]) : workgroup;
    workgroup = m > 0 ? tj_div(graph, workgroup, tiles[m]) : workgroup;
  }
  return place;
}

static const tj_node **ordered_tile(tj_graph *graph, tj_layout order, const tj_tuple *tiles,
                                    const tj_node *workgroup) {
  if (!reaches_box(graph, order, tiles))
    tj_fail(graph->job, TJ_MAPPING_ORDER, "order %s does not reach each of the %s tiles once",
            tj_layout_text(graph->job, order), tj_tuple_text(graph->job, tiles));
  const tj_tuple *place = tj_layout_apply(graph, order, tj_tuple_integer(graph, workgroup));
  const tj_node **at = TJ_NEW_ARRAY(graph->job, const tj_node *, tiles->count);
  for (uint32_t m = 0; m < tiles->count; m++)
    at[m] = m < tj_tuple_rank(place) ? tj_tuple_mode(place, m)->value : tj_int(graph, 0);
  return at;
}

const tj_node *const *tj_mapping_tile(tj_graph *graph, const tj_mapping *mapping, const tj_node *const tiles[],
                                      const tj_substitution *assumed, const tj_node *workgroup) {
  uint32_t count = tj_mapping_rank(mapping);
  if (mapping->order == NULL)
    return row_major_tile(graph, tiles, count, workgroup);
  const tj_tuple **extent = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t m = 0; m < count; m++)
    extent[m] = tj_tuple_integer(graph, tj_simplified(graph, tiles[m]));
  tj_layout order = {assumed_tuple(graph, mapping->order->shape, assumed),
                     assumed_tuple(graph, mapping->order->stride, assumed)};
  return ordered_tile(graph, order, tj_tuple_list(graph, extent, count), workgroup);
}
