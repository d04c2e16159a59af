/* SPDX-License-Identifier: MIT */
/* From a tiling to steps: offsets and predicates of every element, vectors where these show neighbours, LDS between
 * two sides that differ. */
#include "lower/tile/tiling.h"

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/repeats.h"
#include "lower/kernel/variant.h"
#include "lower/lds/direct.h"
#include "lower/shape/tile_order.h"
#include "lower/tile/slot_values.h"
#include "lower/tile/tile_edge.h"
#include "lower/tile/tile_maker.h"

#include <inttypes.h>

/* --- tiles --- */

/* A symbol for where a tile begins along a mode, of which all expressions are made. */
static const tj_node *bind_base(tj_tile_maker *maker, uint32_t mode, const tj_node *tile) {
  tj_graph *graph = maker->graph;
  const tj_tile_base begin = tj_tile_base_of(graph, maker->tiling, mode, tile);
  if (tj_is_constant(begin.value))
    return begin.value;
  const char *name = tj_string_format(graph->job, "b%" PRIu32, mode);
  const tj_node *symbol = tj_coordinate_among(graph, maker->tiling->shared, name, tj_int(graph, 0),
                                              tj_simplified(graph, begin.last), begin.multiple);
  maker->kernel->binding[maker->kernel->binding_count++] =
      (tj_kernel_binding){.symbol = symbol, .value = begin.value};
  return symbol;
}

/* Where the tile of a workgroup begins. */
static void place_tile(tj_tile_maker *maker) {
  tj_graph *graph = maker->graph;
  uint32_t count = tj_tile_modes(maker);
  const tj_node **reach = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t m = 0; m < count; m++)
    reach[m] = tj_int(graph, tj_tile_extent(maker->tiling, m));
  maker->tiles = tj_tiles_of(graph, maker->tiling->domain, reach);
  maker->kernel->count = tj_mul(graph, maker->tiles.count, tj_int(graph, maker->tiling->workgroup_size));
  const tj_node *last = tj_add(graph, maker->tiles.count, tj_int(graph, -1));
  maker->kernel->workgroup = tj_coordinate_among(graph, maker->tiling->shared, "g", tj_int(graph, 0), last, 1);
  maker->kernel->binding = TJ_NEW_ARRAY(graph->job, tj_kernel_binding, count + 1);
  maker->base = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  const tj_tiling *tiling = maker->tiling;
  const tj_node *const *place =
      tj_mapping_tile(graph, tiling->mapping, maker->tiles.along, tiling->domain->assumed, maker->kernel->workgroup);
  for (uint32_t m = count; m-- > 0;)
    maker->base[m] = bind_base(maker, m, place[m]);
}

/* --- elements --- */

/* Whether an element of the tile is beyond the domain in every tile. */
static bool is_nowhere(const tj_tile_maker *maker, const tj_node *const digit[]) {
  for (uint32_t m = 0; m < tj_tile_modes(maker); m++) {
    if (digit[m]->facts.low >= maker->tiling->domain->mode[m].extent->facts.high)
      return true;
  }
  return false;
}

bool tj_tile_is_straight(const tj_tile_maker *maker, uint32_t operand) {
  bool turns = maker->tiling->is_staged || maker->tiling->exchange != NULL;
  return turns && operand >= TJ_OPERAND_OTHERS && !tj_is_source(maker->kernel, operand) &&
         (maker->tiling->has_runs || tj_domain_other_is_straight(maker->tiling->domain, operand - TJ_OPERAND_OTHERS));
}

/* Whether an operand has the slots of the load side. */
static bool is_loaded(const tj_tile_maker *maker, uint32_t operand) {
  return operand == TJ_OPERAND_SOURCE || tj_tile_is_straight(maker, operand);
}

static const tj_tile_side *tile_of(const tj_tile_maker *maker, uint32_t operand) {
  return is_loaded(maker, operand) ? &maker->tiling->load : &maker->tiling->store;
}

/* What is at any coordinate of the domain: simplified before tiles take coordinates apart, where modes of several
 * leaves are still whole. Coordinates beyond the domain, where nothing moves, may have other offsets than views say.
 */
static void find_accesses(tj_tile_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_tiling *tiling = maker->tiling;
  maker->coordinate = tj_coordinates_of_domain(graph, tiling->shared, tiling->domain);
  maker->any = TJ_NEW_ARRAY(graph->job, tj_access, tj_tile_operands(maker));
  for (uint32_t i = 0; i < tj_tile_operands(maker); i++) {
    tj_access *any = &maker->any[i];
    *any = tj_domain_at(graph, tiling->domain, i, tj_flat_buffer(maker->flat, i), maker->coordinate);
    any->offset = tj_simplified(graph, any->offset);
    any->valid = tj_simplified(graph, any->valid);
  }
}

tj_access tj_tile_access_at(tj_tile_maker *maker, const tj_access *any, const tj_node *const digit[]) {
  const tj_substitution placed = {maker->coordinate, (const tj_node **)digit, tj_tile_modes(maker)};
  tj_access access = *any;
  const tj_node *part[] = {access.offset, access.valid};
  tj_substitute(maker->graph, &placed, part, 2);
  access.offset = part[0];
  access.valid = part[1];
  return access;
}

/* A coordinate in the tile, from one in the part of the first pass where passes are alike. */
static const tj_node *within_tile(const tj_tile_maker *maker, uint32_t mode, const tj_node *digit) {
  const tj_mapping *mapping = maker->tiling->mapping;
  if (maker->tiling->pass == NULL || mode != tj_mapping_pass_mode(mapping))
    return digit;
  const tj_node *part = tj_int(maker->graph, tj_mapping_part_extent(mapping, mode));
  return tj_terse_add(maker->graph, digit, tj_mul(maker->graph, maker->tiling->pass, part));
}

/* How many elements have offsets of their own: those of other slots are strides away. */
static uint32_t own_elements(const tj_tile_side *tile) {
  return tile->strided != NULL ? 1 : tile->slot_count;
}

/* The coordinates in the domain of a side's slots, by mode and slot. */
static const tj_node *const *const *digits_by_mode(tj_tile_maker *maker, const tj_tile_side *tile) {
  tj_graph *graph = maker->graph;
  const tj_slot_digits within = {tj_coordinates_of_tile(graph, maker->tiling->shared, maker->tiling->mapping),
                                 tj_tile_modes(maker), tile->digit, own_elements(tile)};
  const tj_node *const **digit = TJ_NEW_ARRAY(graph->job, const tj_node *const *, within.modes + 1);
  for (uint32_t m = 0; m < within.modes; m++) {
    const tj_node *any =
        tj_tile_coordinate(graph, maker->tiling, m, maker->base[m], within_tile(maker, m, within.symbol[m]));
    digit[m] = tj_at_slots(graph, &within, tj_simplified(graph, any));
  }
  return digit;
}

/* The same by slot and mode. */
static const tj_node *const *const *digits_by_slot(tj_tile_maker *maker, const tj_tile_side *tile) {
  const tj_node *const *const *by_mode = digits_by_mode(maker, tile);
  uint32_t modes = tj_tile_modes(maker);
  const tj_node *const **digit = TJ_RAW_ARRAY(maker->graph->job, const tj_node *const *, own_elements(tile) + 1);
  const tj_node **all = TJ_RAW_ARRAY(maker->graph->job, const tj_node *, (size_t)own_elements(tile) * modes + 1);
  for (uint32_t slot = 0; slot < own_elements(tile); slot++) {
    for (uint32_t m = 0; m < modes; m++)
      all[(size_t)slot * modes + m] = by_mode[m][slot];
    digit[slot] = all + (size_t)slot * modes;
  }
  return digit;
}

static void make_elements(tj_tile_maker *maker, tj_side *s, const tj_tile_side *tile, const tj_access *any) {
  tj_graph *graph = maker->graph;
  const tj_access nowhere = {.buffer = any->buffer, .offset = tj_int(graph, 0), .valid = tj_int(graph, 0)};
  const tj_slot_digits at = {maker->coordinate, tj_tile_modes(maker), digits_by_slot(maker, tile),
                             own_elements(tile)};
  if (tile->strided != NULL)
    tj_domain_bound_digits(graph, maker->tiling->domain, at.digit[0]);
  const tj_parted_sum *offset = tj_parts_at_slots(graph, &at, any->offset);
  const tj_node *const *valid = tj_at_slots(graph, &at, any->valid);
  s->tile = tile;
  s->edges = tj_tile_edges(maker->tiling);
  s->element = TJ_NEW_ARRAY(graph->job, tj_tile_element, tile->slot_count);
  for (uint32_t slot = 0; slot < own_elements(tile); slot++) {
    const bool is_somewhere = !is_nowhere(maker, at.digit[slot]);
    const tj_access access = {.buffer = any->buffer, .offset = offset[slot].rest, .valid = valid[slot]};
    s->element[slot] =
        (tj_tile_element){is_somewhere ? access : nowhere, is_somewhere ? offset[slot].constant : 0, at.digit[slot]};
  }
}

/* Whether an expression depends on where the tile is, or the part of a pass. */
static bool depends_on_tile(const tj_tile_maker *maker, const tj_node *node) {
  tj_walk walk = tj_walk_briefly(maker->graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (walk.node[i] == maker->tiling->pass)
      return true;
    for (uint32_t k = 0; k < maker->kernel->binding_count; k++) {
      if (walk.node[i] == maker->kernel->binding[k].symbol)
        return true;
    }
  }
  return false;
}

static const tj_parted_sum *offsets_of(const tj_tile_maker *maker, const tj_side *s) {
  tj_parted_sum *offset = TJ_RAW_ARRAY(maker->graph->job, tj_parted_sum, s->tile->slot_count + 1);
  for (uint32_t slot = 0; slot < s->tile->slot_count; slot++)
    offset[slot] = (tj_parted_sum){s->element[slot].access.offset, s->element[slot].constant};
  return offset;
}

/* Whether what is left of the offsets without the base does not depend on the tile. */
static bool is_shareable(tj_tile_maker *maker, const tj_parted_sum rest[], uint32_t slots) {
  for (uint32_t slot = 0; slot < slots; slot++) {
    if ((slot == 0 || rest[slot].rest != rest[slot - 1].rest) && depends_on_tile(maker, rest[slot].rest))
      return false;
  }
  return tj_are_small(rest, slots);
}

/* Takes the base, which all elements of a tile share, out of their offsets, where these are large and it comes out.
 */
static void share_base(tj_tile_maker *maker, tj_side *s, const tj_node *base) {
  tj_graph *graph = maker->graph;
  uint32_t slots = s->tile->slot_count;
  const tj_parted_sum *offset = offsets_of(maker, s);
  if (tj_are_small(offset, slots))
    return;
  base = tj_simplified(graph, base);
  const tj_parted_sum *rest = tj_parts_minus(graph, offset, slots, base);
  if (!is_shareable(maker, rest, slots))
    return;
  for (uint32_t slot = 0; slot < slots; slot++) {
    s->element[slot].access.base = base;
    s->element[slot].access.offset = rest[slot].rest;
    s->element[slot].constant = rest[slot].constant;
  }
}

/* Takes the other elements from the first one, by an operand's strides. */
static void stride_side(tj_tile_maker *maker, tj_side *s, uint32_t operand) {
  tj_graph *graph = maker->graph;
  const tj_domain *domain = maker->tiling->domain;
  const tj_tile_element *first = &s->element[0];
  const tj_tile_element whole = {tj_element_access(graph, first), 0, first->digit};
  const tj_node **stride = TJ_NEW_ARRAY(graph->job, const tj_node *, domain->count + 1);
  for (uint32_t m = 0; m < domain->count; m++)
    stride[m] = tj_domain_stride(domain, operand, m);
  tj_substitute(graph, domain->assumed, stride, domain->count);
  tj_simplify(graph, stride, domain->count, NULL);
  tj_side_stride(graph, s, whole, stride, domain->count);
}

/* Where the tile begins, or its part where passes are alike. */
static const tj_node *const *beginning_of(const tj_tile_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_node **begin = TJ_NEW_ARRAY(graph->job, const tj_node *, tj_tile_modes(maker) + 1);
  for (uint32_t m = 0; m < tj_tile_modes(maker); m++)
    begin[m] = tj_terse_add(graph, maker->base[m], within_tile(maker, m, tj_int(graph, 0)));
  return begin;
}

static void make_side(tj_tile_maker *maker, uint32_t operand) {
  tj_side *s = &maker->side[operand];
  const tj_access *any = &maker->any[operand];
  make_elements(maker, s, tile_of(maker, operand), any);
  if (s->tile->strided != NULL)
    stride_side(maker, s, operand);
  else
    share_base(maker, s, tj_tile_access_at(maker, any, beginning_of(maker)).offset);
}

/* How wide vectors of an operand may be, which stay in the passes that their slots go in: what goes straight into
 * LDS, as wide as its places have been found to be. */
static uint32_t widest_of(const tj_tile_maker *maker, uint32_t operand) {
  if (tile_of(maker, operand)->strided != NULL)
    return UINT32_MAX;
  bool is_direct = operand == TJ_OPERAND_SOURCE && maker->tiling->direct > 0;
  uint32_t widest =
      tj_target_widest(maker->target, tj_element_bytes(maker->kernel, tj_flat_buffer(maker->flat, operand)));
  uint32_t slots =
      tile_of(maker, operand)->slot_count / (is_loaded(maker, operand) ? 1 : tj_tile_shares(maker->tiling));
  widest = is_direct ? maker->tiling->direct : widest;
  while (slots % widest != 0)
    widest /= 2;
  return widest;
}

static void choose_vectors(tj_tile_maker *maker, uint32_t operand) {
  tj_side_choose_vectors(maker->graph, maker->tiling->domain, &maker->side[operand], widest_of(maker, operand),
                         maker->target->has_unaligned_vectors ? TJ_ANYWHERE : TJ_ALIGNED);
}

enum { BARRIER_BYTES = 16 }; /* as much room as a barrier of any target takes, in whole elements */

/* Finds the way through LDS; false where the tile does not fit there, with the barrier of its boxes. */
static bool plan_stage(tj_tile_maker *maker) {
  uint32_t bytes = tj_element_bytes(maker->kernel, TJ_LDS);
  if (!tj_plan_staging(maker->graph, maker->tiling, maker->target, bytes, &maker->side[TJ_OPERAND_SOURCE],
                       &maker->side[TJ_OPERAND_DESTINATION], &maker->staging))
    return false;
  maker->kernel->lds_elements =
      (uint32_t)tj_mapping_lds_size(maker->graph, maker->tiling->mapping, maker->tiling->passes);
  if (maker->tiling->has_runs)
    maker->kernel->lds_elements += maker->target->block_bytes / bytes;
  else
    maker->kernel->stage = maker->staging.choice;
  maker->kernel->map = maker->boxes[0].map;
  if (maker->kernel->map != NULL)
    maker->kernel->lds_elements = (maker->kernel->map->barrier + BARRIER_BYTES) / bytes;
  return tj_kernel_lds_bytes(maker->kernel) <= maker->target->lds_bytes;
}

/* --- straight into LDS --- */

static const char stored_too[] = "elements are stored before they are in LDS, too";

static bool has_straight(const tj_tile_maker *maker) {
  bool is_any = false;
  for (uint32_t i = 0; i < tj_tile_operands(maker); i++)
    is_any = is_any || tj_tile_is_straight(maker, i);
  return is_any;
}

/* Why work-items do not load elements straight into LDS. */
static const char *obstacle_of_direct(tj_tile_maker *maker) {
  const char *obstacle = tj_direct_obstacle_of_loads(maker->flat, maker->any[TJ_OPERAND_SOURCE].valid);
  return obstacle == NULL && has_straight(maker) ? stored_too : obstacle;
}

static tj_box_tile box_tile_of(const tj_tile_maker *maker) {
  return (tj_box_tile){.tiling = maker->tiling,
                       .target = maker->target,
                       .flat = maker->flat,
                       .base = maker->base,
                       .coordinate = maker->coordinate,
                       .any = maker->any};
}

/* Why no engine brings them there; NULL: maker->boxes do. */
static const char *obstacle_of_dma(tj_tile_maker *maker) {
  const tj_box_tile tile = box_tile_of(maker);
  return has_straight(maker) ? stored_too : tj_boxes_that_load(maker->graph, &tile, maker->boxes);
}

/* Why no engine takes the tile out of LDS; NULL: maker->taken does. */
static const char *obstacle_of_dma_store(tj_tile_maker *maker) {
  const tj_box_tile tile = box_tile_of(maker);
  return tj_boxes_that_store(maker->graph, &tile, &maker->taken);
}

/* Why the vectors that go straight into LDS do not; NULL: they do. Nobody chooses narrower ones than there could be.
 */
static const char *obstacle_of_width(tj_tile_maker *maker) {
  uint32_t width = maker->staging.in[0].width, bytes = width * tj_element_bytes(maker->kernel, TJ_LDS);
  if (width > maker->side[TJ_OPERAND_SOURCE].width || (width < maker->tiling->direct && !maker->tiling->is_given))
    return tj_string_format(maker->graph->job,
                            "the %" PRIu32 " elements that a work-item loads at a time are not surely neighbours in "
                            "the source",
                            maker->tiling->direct);
  if (!tj_direct_has(maker->target->direct, bytes))
    return tj_string_format(maker->graph->job,
                            "work-items have %" PRIu32 " bytes that are surely neighbours in the source and in LDS; "
                            "%s does not load so few",
                            bytes, maker->target->name);
  return NULL;
}

/* Whether a tiling that `is_so` can be, as far as an obstacle tells. TJ4020 where it has to be. */
static bool may_be(tj_tile_maker *maker, bool is_so, const char *what,
                   const char *(*obstacle_of)(tj_tile_maker *maker)) {
  const char *obstacle = is_so ? obstacle_of(maker) : NULL;
  if (obstacle != NULL && maker->tiling->is_given)
    tj_fail(maker->graph->job, TJ_MAPPING, "%s: %s", what, obstacle);
  return obstacle == NULL;
}

/* --- strides --- */

enum { MOST_VECTORS = 512 /* of a work-item: code moves them without a loop */ };

/* Whether what strides tell apart are vectors, and not too many; with runs where there are to be some. */
static bool has_strided_vectors(const tj_tile_maker *maker) {
  const tj_side *load = &maker->side[TJ_OPERAND_SOURCE], *store = &maker->side[TJ_OPERAND_DESTINATION];
  bool are_vectors = load->tile->slot_count / load->width <= MOST_VECTORS;
  if (maker->tiling->has_runs && !(store->is_run && maker->staging.out.is_run))
    return false;
  for (uint32_t i = TJ_OPERAND_OTHERS; i < tj_tile_operands(maker); i++)
    are_vectors = are_vectors && maker->side[i].width > 1;
  uint32_t stored = maker->tiling->has_runs ? maker->staging.in[0].width : store->width;
  return are_vectors && (load->tile->slot_count == 1 || load->width > 1 || stored > 1);
}

/* --- kernels --- */

static uint32_t slots_of(const tj_tiling *tiling) {
  uint32_t loads = tj_tile_goes_straight(tiling) ? 0 : tiling->load.slot_count, stores = tiling->store.slot_count,
           passes = tiling->passes;
  if (passes > 1)
    return loads + stores / tj_tile_shares(tiling);
  return loads > stores ? loads : stores;
}

static tj_kernel *new_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling) {
  tj_kernel *kernel = tj_kernel_in_place_of(graph, flat, tiling->domain->assumed);
  kernel->item = tiling->item;
  kernel->workgroup_size = tiling->workgroup_size;
  tj_set_source_slots(graph, kernel, slots_of(tiling));
  kernel->mapping = tiling->mapping;
  kernel->is_streamed = tiling->mapping->streams;
  return kernel;
}

/* Whether a tile is all inside the domain; NULL: every tile is, without looking. */
static const tj_node *inner_truth(tj_tile_maker *maker) {
  tj_graph *graph = maker->graph;
  const tj_node *truth = NULL;
  for (uint32_t m = 0; m < tj_tile_modes(maker); m++) {
    if (!tj_tile_has_edge(maker->tiling, m))
      continue;
    const tj_node *end = tj_add(graph, maker->base[m], tj_int(graph, tj_tile_extent(maker->tiling, m)));
    const tj_node *fits = tj_less_equal(graph, end, maker->tiling->domain->mode[m].extent);
    truth = truth == NULL ? fits : tj_and(graph, truth, fits);
  }
  return truth != NULL ? tj_simplified(graph, truth) : NULL;
}

/* Finds the vectors of an operand where no edge parts neighbours. */
static void widen_inside(tj_tile_maker *maker, uint32_t operand) {
  maker->side[operand].edges = 0;
  if (maker->side[operand].width < widest_of(maker, operand))
    choose_vectors(maker, operand);
}

/* Steps without masks, unless no access moves more than an element: that does not pay for the code. */
static void add_unmasked_steps(tj_tile_maker *maker) {
  tj_side *side = maker->side;
  maker->side = tj_arena_copy(&maker->graph->job->arena, side, tj_tile_operands(maker) * sizeof *side);
  for (uint32_t i = 0; i < tj_tile_operands(maker); i++)
    widen_inside(maker, i);
  maker->is_inner = true;
  if (maker->side[TJ_OPERAND_SOURCE].width > 1 || maker->side[TJ_OPERAND_DESTINATION].width > 1) {
    tj_tile_make_steps(maker);
    maker->kernel->inner_step = maker->step;
    maker->kernel->inner_step_count = maker->step_count;
  }
  maker->is_inner = false;
  maker->side = side;
}

/* Tiles inside the domain do without masks, unless all tiles are at its edge. */
static void add_inner_steps(tj_tile_maker *maker) {
  tj_kernel *kernel = maker->kernel;
  const tj_node *inner = inner_truth(maker);
  bool has_masks = !maker->tiling->by_dma || !maker->tiling->dma_stores;
  if (inner == NULL || tj_is_constant(inner) || !has_masks)
    return;
  add_unmasked_steps(maker);
  kernel->inner = kernel->inner_step != NULL ? inner : NULL;
}

tj_kernel *tj_tile_kernel(tj_graph *graph, const tj_kernel *flat, const tj_tiling *tiling, const tj_target *target) {
  tj_tile_maker maker = {
      .graph = graph, .tiling = tiling, .target = target, .flat = flat, .kernel = new_kernel(graph, flat, tiling)};
  place_tile(&maker);
  find_accesses(&maker);
  maker.side = TJ_NEW_ARRAY(graph->job, tj_side, tj_tile_operands(&maker));
  maker.boxes = TJ_NEW_ARRAY(graph->job, tj_boxes, tiling->passes);
  for (uint32_t i = 0; i < tj_tile_operands(&maker); i++)
    make_side(&maker, i);
  for (uint32_t i = 0; i < tj_tile_operands(&maker); i++)
    choose_vectors(&maker, i);
  bool is_direct = tiling->direct > 0;
  if (!may_be(&maker, is_direct, "direct", obstacle_of_direct) ||
      !may_be(&maker, tiling->by_dma, "dma", obstacle_of_dma) ||
      !may_be(&maker, tiling->dma_stores, "dma_store", obstacle_of_dma_store) ||
      (tiling->is_staged && ((tiling->passes > 1 && !target->keeps_slots) || !plan_stage(&maker))) ||
      !may_be(&maker, is_direct, "direct", obstacle_of_width) ||
      (tiling->load.strided != NULL && !has_strided_vectors(&maker)))
    return NULL;
  add_inner_steps(&maker);
  tj_tile_make_steps(&maker);
  maker.kernel->step = maker.step;
  maker.kernel->step_count = maker.step_count;
  if (!tiling->is_draft)
    tj_kernel_simplify(graph, maker.kernel, NULL);
  tj_leave_out_repeats(graph, maker.kernel);
  return maker.kernel;
}
