/* SPDX-License-Identifier: MIT */
/* From mappings to tilings, on the host.
 *
 * A block is what a work-item moves in vector registers: its slots, of which neighbours in the source are loaded
 * together, and neighbours in the destination stored, turned around in between. What is stored goes straight to the
 * destination, or is put together in LDS first, from which whole runs go, one for each work-item. Further
 * destinations take the same vectors straight from registers. That offsets are sums of digits and strides is proved
 * for all elements at once: only the first one of a work-item is an expression. */
#include "lower/blocks/blocks.h"

#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "lower/kernel/variant.h"
#include "lower/shape/slot_order.h"
#include "lower/tile/lds_transit.h"
#include "lower/tile/tiling.h"

#include <string.h>

enum {
  MOST_SLOTS = 1 << 15,
  STREAM_ALIGNMENT = 16 /* bytes: of vectors that are streamed from registers */
};
static const int64_t LARGEST_EXTENT = (int64_t)1 << 48;

/* --- copies --- */

static bool is_even(const tj_domain *domain) {
  bool is_even = domain->count > 0 && domain->count <= TJ_SHAPE_MOST_MODES;
  for (uint32_t m = 0; m < domain->count && is_even; m++) {
    const tj_mode *mode = &domain->mode[m];
    is_even = mode->extent->facts.low > 0 && mode->extent->facts.low <= LARGEST_EXTENT &&
              mode->source_stride != NULL && mode->destination_stride != NULL;
  }
  return is_even;
}

bool tj_block_describe(tj_block_copy *copy) {
  if (copy->domain == NULL || !is_even(copy->domain))
    return false;
  copy->problem = tj_shape_problem_of(copy->graph, copy->flat, copy->domain, copy->target);
  return true;
}

bool tj_block_has_whole_vectors(const tj_block_copy *copy, int64_t width) {
  uint32_t first = copy->problem.order[TJ_DESTINATION][0];
  int64_t aligned =
      STREAM_ALIGNMENT / tj_element_bytes(copy->flat, tj_flat_buffer(copy->flat, TJ_OPERAND_DESTINATION));
  for (uint32_t m = 0; m < copy->domain->count; m++) {
    if (m != first && !tj_facts_divisible(&copy->domain->mode[m].destination_stride->facts, aligned))
      return false;
  }
  return width == copy->problem.register_bytes / copy->problem.moved_bytes &&
         tj_facts_divisible(&tj_block_extent(copy, first)->facts, width);
}

/* --- mappings --- */

bool tj_block_is_moved_back(const tj_block_copy *copy, const tj_mapping *mapping, uint32_t mode) {
  const tj_facts *extent = &tj_block_extent(copy, mode)->facts;
  int64_t reach = tj_mapping_extent(mapping, mode);
  return extent->low >= reach && (tj_facts_divisible(extent, reach) || tj_mapping_overlap(mapping, mode) == reach);
}

/* --- digits --- */

/* Whether no slots along a mode lead beyond the tile, or to where a larger digit begins. */
static bool stays_inside(const tj_mapping *mapping, const tj_mapping_side *side, uint32_t mode) {
  uint32_t found[TJ_MAPPING_MOST_DIGITS];
  uint32_t count = tj_mapping_digits_along(side->digit, side->digit_count, mode, found);
  int64_t limit = tj_mapping_extent(mapping, mode);
  for (uint32_t i = 0; i < count; i++) {
    const tj_mapping_digit *d = &side->digit[found[i]];
    if (found[i] >= side->item_digits && d->extent * d->step > limit)
      return false;
    limit = d->step;
  }
  return true;
}

/* Whether slots are as far apart in all items, of which each is the only one that has its elements. */
static bool has_fixed_slots(const tj_mapping *mapping, const tj_mapping_side *side) {
  bool is_fixed = side->as == NULL && side->digit_count <= TJ_MAPPING_MOST_DIGITS;
  for (uint32_t i = 0; i < side->digit_count && is_fixed; i++)
    is_fixed = side->digit[i].extent == 1 || (side->digit[i].mode != TJ_MAPPING_INDEX && side->digit[i].step > 0);
  for (uint32_t m = 0; m < tj_mapping_rank(mapping) && is_fixed; m++)
    is_fixed = stays_inside(mapping, side, m);
  return is_fixed;
}

/* Whether slots have a digit that a register holds, or there is only one. */
static bool may_be_vectors(const tj_mapping_side *side) {
  bool may_be = side->slots == 1;
  for (uint32_t i = side->item_digits; i < side->digit_count; i++)
    may_be = may_be || tj_longest_vector(&side->digit[i]) > 1;
  return may_be && side->slots <= MOST_SLOTS;
}

static bool has_digit(const tj_mapping_side *side, uint32_t begin, uint32_t end, const tj_mapping_digit *digit) {
  bool has = digit->extent == 1;
  for (uint32_t i = begin; i < end; i++)
    has = has || (side->digit[i].extent == digit->extent && side->digit[i].step == digit->step &&
                  side->digit[i].mode == digit->mode);
  return has;
}

/* Whether items have the same elements on both sides, in slots of some order. */
static bool stay_with_items(const tj_mapping *mapping) {
  const tj_mapping_side *load = &mapping->load, *store = &mapping->store;
  bool stay = load->items == store->items && load->slots == store->slots && load->item_digits == store->item_digits;
  for (uint32_t i = 0; i < load->digit_count && stay; i++) {
    bool is_item = i < load->item_digits;
    stay = has_digit(store, is_item ? i : store->item_digits, is_item ? i + 1 : store->digit_count, &load->digit[i]);
  }
  return stay;
}

/* --- blocks --- */

typedef struct {
  const tj_block_copy *copy;
  const tj_mapping *mapping;
  const tj_node *item;
  uint32_t items; /* of a workgroup */
} block_tile;

static uint64_t modes_of_slots(const tj_mapping_side *side) {
  uint64_t modes = 0;
  for (uint32_t i = side->item_digits; i < side->digit_count; i++)
    modes |= side->digit[i].extent > 1 ? (uint64_t)1 << side->digit[i].mode : 0;
  return modes;
}

/* Whether all operands step evenly along the modes of slots, and so does a layout in LDS; and nothing is beyond the
 * domain. */
static bool is_strided(const block_tile *t) {
  const tj_block_copy *copy = t->copy;
  const tj_node *stride[TJ_SHAPE_MOST_MODES];
  bool is = t->mapping->lds != NULL ? tj_lds_strides(copy->graph, t->mapping, stride) : stay_with_items(t->mapping);
  for (uint32_t m = 0; m < copy->domain->count && is; m++)
    is = tj_block_is_moved_back(copy, t->mapping, m);
  for (uint32_t i = 0; i < TJ_OPERAND_OTHERS + copy->domain->other_count && is; i++) {
    const tj_mapping_side *side = i == TJ_OPERAND_DESTINATION ? &t->mapping->store : &t->mapping->load;
    is = tj_domain_is_even(copy->graph, copy->domain, i, modes_of_slots(side));
  }
  return is;
}

/* A side with so many of its slots, the first ones. */
static tj_tile_side tile_side(const block_tile *t, const tj_mapping_side *side, uint32_t slots) {
  tj_graph *graph = t->copy->graph;
  uint32_t modes = t->copy->domain->count;
  const tj_node *const *digits = tj_mapping_item_digits(graph, side, t->item, false);
  const tj_node **place = TJ_NEW_ARRAY(graph->job, const tj_node *, modes + 1);
  const tj_node *const **first = TJ_NEW(graph->job, const tj_node *const *);
  memcpy(place, tj_mapping_at(graph, t->mapping, side, digits, 0, false).digit, modes * sizeof *place);
  place[modes] = t->items > side->items ? tj_less(graph, t->item, tj_int(graph, side->items)) : tj_int(graph, 1);
  tj_simplify(graph, place, modes + 1, NULL);
  *first = place;
  return (tj_tile_side){.slot_count = slots, .digit = first, .active = place + modes, .strided = side};
}

static tj_tiling tiling_of(const block_tile *t) {
  tj_graph *graph = t->copy->graph;
  const tj_mapping_side *load = &t->mapping->load;
  bool is_staged = t->mapping->lds != NULL;
  tj_tiling tiling = {.domain = t->copy->domain,
                      .item = t->item,
                      .workgroup_size = t->items,
                      .load = tile_side(t, load, load->slots),
                      .is_staged = is_staged,
                      .has_runs = is_staged,
                      .passes = 1,
                      .mapping = t->mapping};
  tiling.load.order = tj_slot_orders(graph, load, &tiling.load.order_count);
  tiling.store = tiling.load;
  if (is_staged) {
    tiling.store = tile_side(t, &t->mapping->store, 1);
    tiling.store.order = tiling.load.order;
    tiling.store.order_count = 1;
  }
  return tiling;
}

/* Vectors that bypass the caches, as far as they go straight from registers, have to be surely whole. */
static bool may_stream(const block_tile *t, const tj_kernel *kernel) {
  uint32_t destination = tj_flat_buffer(t->copy->flat, TJ_OPERAND_DESTINATION);
  return !t->mapping->streams || t->mapping->lds != NULL ||
         tj_block_has_whole_vectors(t->copy, tj_narrowest_access(kernel, destination));
}

static tj_kernel *blocks_as_mapped(const tj_block_copy *copy, const tj_mapping *mapping) {
  uint32_t items = mapping->load.items > mapping->store.items ? mapping->load.items : mapping->store.items;
  const block_tile t = {copy, mapping, tj_coordinate(copy->graph, "t", tj_int(copy->graph, items)), items};
  if (!may_be_vectors(&mapping->load) || !is_strided(&t))
    return NULL;
  const tj_tiling tiling = tiling_of(&t);
  tj_kernel *kernel = tj_tile_kernel(copy->graph, copy->flat, &tiling, copy->target);
  return kernel != NULL && may_stream(&t, kernel) && tj_kernel_fits(copy->graph, kernel) ? kernel : NULL;
}

tj_kernel *tj_block_kernel(const tj_block_copy *copy, const tj_mapping *mapping) {
  if (mapping->is_launched)
    return tj_row_kernel(copy, mapping);
  if (mapping->passes > 1 || tj_mapping_rank(mapping) != copy->domain->count ||
      !has_fixed_slots(mapping, &mapping->load) || !has_fixed_slots(mapping, &mapping->store))
    return NULL;
  tj_kernel *blocks = blocks_as_mapped(copy, mapping);
  return blocks == NULL && stay_with_items(mapping) ? tj_row_kernel(copy, mapping) : blocks;
}
