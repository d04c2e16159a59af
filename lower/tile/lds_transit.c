/* SPDX-License-Identifier: MIT */
/* From the digits of a tile's slots to elements of LDS, and to the passes in which they are there. */
#include "lower/tile/lds_transit.h"

#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "lower/shape/slot_order.h"
#include "lower/tile/lds_places.h"
#include "lower/tile/slot_values.h"
#include "lower/tile/transposed_side.h"

#include <string.h>

typedef struct {
  tj_graph *graph;
  const tj_tiling *tiling;
  uint32_t element_bytes;
  uint32_t widest; /* elements of a vector */
  uint32_t passes; /* of which the sides have slots */
} stager;

static const tj_mapping *mapping_of(const stager *st) {
  return st->tiling->mapping;
}

/* --- passes --- */

/* Whether the vectors of a side are each in the share of one pass. */
static bool are_shared_out(const stager *st, const tj_side *side) {
  uint32_t slots = side->tile->slot_count, share = slots / st->passes;
  for (uint32_t i = 0; i < slots; i++) {
    if (side->order[i] / share != i / share)
      return false;
  }
  return slots % st->passes == 0 && share % side->width == 0;
}

/* --- slots --- */

/* The same slots, as far as they are moved in one pass. */
static tj_side in_pass(stager *st, const tj_side *all, const tj_node *const pass_of[], uint32_t pass) {
  tj_graph *graph = st->graph;
  uint32_t slots = all->tile->slot_count;
  const tj_node **valid = TJ_NEW_ARRAY(graph->job, const tj_node *, slots);
  tj_side s = *all;
  for (uint32_t slot = 0; slot < slots; slot++) {
    const tj_node *all_valid = all->element[slot].access.valid;
    bool is_as_before =
        slot > 0 && all_valid == all->element[slot - 1].access.valid && pass_of[slot] == pass_of[slot - 1];
    valid[slot] = is_as_before ? valid[slot - 1]
                               : tj_and(graph, all_valid, tj_equal(graph, pass_of[slot], tj_int(graph, pass)));
  }
  tj_simplify(graph, valid, slots, NULL);
  s.element = tj_arena_copy(&graph->job->arena, all->element, slots * sizeof *all->element);
  for (uint32_t slot = 0; slot < slots; slot++)
    s.element[slot].access.valid = valid[slot];
  return s;
}

/* The side's slots, by pass, as far as they are moved in each. */
static tj_side *by_pass(stager *st, const tj_side *all) {
  tj_side *in = TJ_NEW_ARRAY(st->graph->job, tj_side, st->passes);
  const tj_node *const *pass_of =
      tj_passes_of_slots(st->graph, mapping_of(st), st->passes, all->tile->digit, all->tile->slot_count);
  for (uint32_t pass = 0; pass < st->passes; pass++)
    in[pass] = in_pass(st, all, pass_of, pass);
  return in;
}

/* The element of LDS of a coordinate in the tile: in its part, before the swizzle, and where the part begins. Parts
 * that are there at the same time lie one after the other; the next ones take their places in turn. */
typedef struct {
  const tj_node *within, *part;
} lds_place;

/* Parts of a tile: how far each goes along the mode of passes, how far apart they lie, how many are there at a time.
 */
typedef struct {
  const tj_node *extent, *pitch, *count;
} lds_parts;

static lds_parts parts_of(stager *st) {
  tj_graph *graph = st->graph;
  const tj_mapping *mapping = mapping_of(st);
  return (lds_parts){tj_int(graph, tj_mapping_part_extent(mapping, tj_mapping_pass_mode(mapping))),
                     tj_int(graph, tj_mapping_lds_pitch(graph, mapping)),
                     tj_int(graph, tj_mapping_lds_parts(mapping, st->passes))};
}

static lds_place place_in_lds(stager *st, const tj_node *const digit[]) {
  tj_graph *graph = st->graph;
  const tj_mapping *mapping = mapping_of(st);
  const lds_parts parts = parts_of(st);
  uint32_t rank = tj_mapping_rank(mapping), last = tj_mapping_pass_mode(mapping);
  const tj_node **within = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  memcpy(within, digit, rank * sizeof *within);
  within[last] = tj_mod(graph, digit[last], parts.extent);
  const tj_node *number = tj_mod(graph, tj_div(graph, digit[last], parts.extent), parts.count);
  return (lds_place){tj_simplified(graph, tj_mapping_lds_at(graph, mapping, within)),
                     tj_simplified(graph, tj_mul(graph, number, parts.pitch))};
}

static tj_slot_digits digits_of(stager *st, const tj_node *const *const digit[], uint32_t count) {
  const tj_mapping *mapping = mapping_of(st);
  return (tj_slot_digits){tj_coordinates_of_tile(st->graph, st->tiling->shared, mapping), tj_mapping_rank(mapping),
                          digit, count};
}

/* The accesses of slots where the layout has them without its swizzle. */
static void place_slots(stager *st, tj_side *s, const tj_side *active) {
  tj_graph *graph = st->graph;
  const tj_slot_digits at = digits_of(st, s->tile->digit, s->tile->slot_count);
  const lds_place any = place_in_lds(st, at.symbol);
  const tj_parted_sum *offset =
      tj_parts_at_slots(graph, &at, tj_simplified(graph, tj_add(graph, any.within, any.part)));
  s->element = TJ_RAW_ARRAY(graph->job, tj_tile_element, at.slots);
  for (uint32_t slot = 0; slot < at.slots; slot++) {
    const tj_node *valid = tj_side_active(graph, active, slot);
    s->element[slot] = (tj_tile_element){
        {.buffer = TJ_LDS, .offset = offset[slot].rest, .valid = valid}, offset[slot].constant, NULL};
  }
}

/* The first elements of vectors, by which these are named, without the layout's swizzle: in their parts. */
static const tj_parted_sum *places_of_vectors(stager *st, const tj_side *s, const tj_node *const **part) {
  tj_graph *graph = st->graph;
  const uint32_t vectors = s->tile->slot_count / s->width;
  const tj_node *const **digit = TJ_RAW_ARRAY(graph->job, const tj_node *const *, vectors);
  for (uint32_t i = 0; i < vectors; i++)
    digit[i] = s->tile->digit[s->order[i * s->width]];
  const tj_slot_digits at = digits_of(st, digit, vectors);
  const lds_place any = place_in_lds(st, at.symbol);
  *part = tj_at_slots(graph, &at, any.part);
  return tj_parts_at_slots(graph, &at, any.within);
}

static bool are_constants_apart(const tj_side *s) {
  bool are = true;
  for (uint32_t i = 0; i < s->tile->slot_count && are; i += s->width)
    are = s->element[s->order[i]].access.offset == s->element[s->order[0]].access.offset;
  return are;
}

/* Moves vectors to where the swizzle has them, in as few expressions as their values allow. */
static void place_vectors(stager *st, tj_side *s) {
  tj_graph *graph = st->graph;
  const tj_tiling *tiling = st->tiling;
  const tj_swizzle swizzle = tj_mapping_lds_swizzle(mapping_of(st));
  const uint32_t vectors = s->tile->slot_count / s->width;
  const tj_node *const *part;
  if (swizzle.bits == 0 && are_constants_apart(s))
    return;
  const tj_parted_sum *within = places_of_vectors(st, s, &part),
                      *placed =
                          tj_places_in_lds(graph, swizzle, within, vectors, tiling->item, tiling->workgroup_size);
  for (uint32_t i = 0; i < vectors; i++) {
    tj_tile_element *element = &s->element[s->order[i * s->width]];
    element->access.offset = tj_simplified(graph, tj_add(graph, placed[i].rest, part[i]));
    element->constant = placed[i].constant;
  }
}

bool tj_lds_strides(tj_graph *graph, const tj_mapping *mapping, const tj_node *stride[]) {
  const tj_tuple *strides = tj_value_layout(mapping->lds)->stride;
  uint32_t rank = tj_mapping_rank(mapping);
  bool is_flat = mapping->lds->kind == TJ_VALUE_LAYOUT && tj_mapping_lds_is_by_mode(graph, mapping);
  for (uint32_t m = 0; m < rank && is_flat; m++) {
    is_flat = strides->item[m]->kind == TJ_TUPLE_INTEGER;
    stride[m] = strides->item[m]->value;
  }
  return is_flat;
}

/* The elements of a side in LDS that strides tell apart, in the widest vectors of any alignment. */
static tj_side strided_in_lds(stager *st, const tj_side *side) {
  tj_graph *graph = st->graph;
  uint32_t modes = st->tiling->domain->count;
  const tj_node **stride = TJ_NEW_ARRAY(graph->job, const tj_node *, modes);
  tj_side s = {.tile = side->tile, .element = TJ_NEW_ARRAY(graph->job, tj_tile_element, side->tile->slot_count)};
  tj_tile_element first = {.digit = side->tile->digit[0]};
  first.access = (tj_access){.buffer = TJ_LDS,
                             .offset = tj_simplified(graph, tj_mapping_lds_at(graph, mapping_of(st), first.digit)),
                             .valid = tj_side_active(graph, side, 0)};
  tj_lds_strides(graph, mapping_of(st), stride);
  tj_side_stride(graph, &s, first, stride, modes);
  tj_side_choose_vectors(graph, st->tiling->domain, &s, UINT32_MAX, TJ_ANYWHERE);
  return s;
}

/* A side's slots in LDS, in the widest vectors that the layout shows. */
static tj_side in_lds(stager *st, const tj_side *side) {
  tj_graph *graph = st->graph;
  tj_side s = {.tile = side->tile};
  if (side->tile->strided != NULL)
    return strided_in_lds(st, side);
  tj_swizzle swizzle = tj_mapping_lds_swizzle(mapping_of(st));
  uint32_t widest = st->widest;
  while (swizzle.bits > 0 && widest >> swizzle.base > 1)
    widest /= 2;
  place_slots(st, &s, side);
  tj_side_choose_vectors(graph, st->tiling->domain, &s, widest, TJ_ALIGNED);
  place_vectors(st, &s);
  return s;
}

/* What goes straight into LDS is where the layout says without its swizzle: that is in what is loaded. */
static tj_side placed_in_lds(stager *st, const tj_side *load) {
  const tj_tile_side *placed = st->tiling->placed;
  tj_side s = {.tile = placed, .order = load->order, .width = st->tiling->direct};
  place_slots(st, &s, load);
  return s;
}

/* What goes straight into LDS to where the layout says, in the vectors in which it is loaded or parts of them. */
static tj_side loaded_into_lds(stager *st, const tj_side *load) {
  tj_tile_side *tile = TJ_NEW(st->graph->job, tj_tile_side);
  const uint32_t **order = TJ_NEW(st->graph->job, const uint32_t *);
  stager as_loaded = *st;
  as_loaded.widest = load->width;
  *order = load->order;
  *tile = *load->tile;
  tile->order = order;
  tile->order_count = 1;
  const tj_side side = {.tile = tile};
  return in_lds(&as_loaded, &side);
}

static tj_side into_lds(stager *st, const tj_side *load) {
  if (st->tiling->direct == 0)
    return in_lds(st, load);
  return st->tiling->placed != NULL ? placed_in_lds(st, load) : loaded_into_lds(st, load);
}

/* What is known of a layout in LDS that nobody had to choose. */
static const tj_stage_choice *given_choice(stager *st) {
  const tj_mapping *mapping = mapping_of(st);
  tj_stage_choice *choice = TJ_NEW(st->graph->job, tj_stage_choice);
  choice->layout.bytes = (uint32_t)tj_mapping_lds_size(st->graph, mapping, st->tiling->passes) * st->element_bytes;
  return choice;
}

static bool has_no_masks(const tj_side *side) {
  for (uint32_t slot = 0; slot < side->tile->slot_count; slot++) {
    if (!tj_is_always(side->element[slot].access.valid))
      return false;
  }
  return true;
}

/* Takes loads that transpose where others would move less at a time. */
static void transpose(const stager *st, tj_staging *staging) {
  stager narrow = *st;
  narrow.widest = TJ_TRANSPOSED_BYTES / st->element_bytes;
  if (st->tiling->asked == NULL || st->tiling->passes > 1 || staging->out.width >= narrow.widest)
    return;
  const tj_side asked = {.tile = st->tiling->asked};
  tj_side out = in_lds(&narrow, &asked);
  if (out.width < narrow.widest || !has_no_masks(&out))
    return;
  staging->out = out;
  staging->transposes = true;
}

bool tj_plan_staging(tj_graph *graph, const tj_tiling *tiling, const tj_target *target, uint32_t element_bytes,
                     const tj_side *load, const tj_side *store, tj_staging *staging) {
  stager st = {graph, tiling, element_bytes, tj_target_widest(target, element_bytes),
               tiling->pass != NULL ? 1 : tiling->passes};
  if (!are_shared_out(&st, store))
    return false;
  tj_side in = into_lds(&st, load), out = in_lds(&st, store);
  if (!are_shared_out(&st, &out))
    return false;
  *staging = (tj_staging){
      .in = by_pass(&st, &in), .out = out, .choice = tiling->choice != NULL ? tiling->choice : given_choice(&st)};
  transpose(&st, staging);
  return true;
}

/* --- the order of lanes --- */

enum { GRANULE = 4, GRANULE_BITS = 3, GRANULES = 1 << GRANULE_BITS }; /* lanes that are served together anyhow */

/* The rank of each granule of half a wave among those that wide loads are served with. */
static void rank_granules(const tj_bank_model *model, uint32_t rank[GRANULES]) {
  uint64_t lanes[TJ_BANK_MOST_PHASES];
  uint32_t next = 0;
  tj_bank_phases(model, false, TJ_BANK_BYTES * 4, UINT32_MAX, lanes);
  for (uint32_t phase = 0; phase < TJ_BANK_MOST_PHASES; phase++) {
    for (uint32_t granule = 0; granule < GRANULES; granule++) {
      if ((lanes[phase] >> (granule * GRANULE) & 1) != 0)
        rank[granule] = next++;
    }
  }
}

/* Whether a rank is the exclusive or of those of the granule's bits. */
static bool is_linear(const uint32_t rank[GRANULES]) {
  for (uint32_t granule = 0; granule < GRANULES; granule++) {
    uint32_t sum = 0;
    for (uint32_t bit = 0; bit < GRANULE_BITS; bit++)
      sum ^= (granule >> bit & 1) != 0 ? rank[1u << bit] : 0;
    if (sum != rank[granule])
      return false;
  }
  return true;
}

static bool is_in_order(const uint32_t rank[GRANULES]) {
  for (uint32_t granule = 0; granule < GRANULES; granule++) {
    if (rank[granule] != granule)
      return false;
  }
  return true;
}

const tj_value *tj_staging_order(tj_graph *graph, const tj_target *target) {
  enum { LANE_BITS = 2, BITS = LANE_BITS + GRANULE_BITS };
  const tj_bank_model *model = tj_bank_model_of(target->processor);
  uint32_t rank[GRANULES];
  if (model == NULL)
    return NULL;
  rank_granules(model, rank);
  if (is_in_order(rank) || !is_linear(rank))
    return NULL;
  uint64_t basis[BITS] = {1, 2};
  for (uint32_t bit = 0; bit < GRANULE_BITS; bit++)
    basis[LANE_BITS + bit] = (uint64_t)rank[1u << bit] * GRANULE;
  return tj_value_of_linear(
      graph, tj_f2_make(graph, tj_tuple_constant(graph, 1 << BITS), tj_tuple_constant(graph, 0), basis, true));
}
