/* SPDX-License-Identifier: MIT */
/* Tiles of flexible kernels: how far their ends may be away, so that offsets fit; where they begin, and how many
 * there are. */
#include "ir/layout/arith.h"
#include "lower/flexible/flexible_maker.h"

/* Of a tile's number and its length. */
static const int64_t most_product = (int64_t)1 << 31;

/* --- reaches --- */

/* Modes of a tile besides the first of either side. */
static uint32_t further_modes(const tj_flexible *f) {
  uint32_t count = 0;
  for (uint32_t i = TJ_TILE_NEXT_LOADED; i < TJ_TILE_AXES; i++)
    count += f->axis[i].mode != TJ_FLEXIBLE_NONE ? 1 : 0;
  return count > 0 ? count : 1;
}

/* Bytes of the widest element that moves. */
static uint32_t widest_element(const tj_flexible *f) {
  uint32_t widest = 1;
  for (uint32_t side = 0; side < tj_flexible_sides(f); side++) {
    uint32_t own = tj_element_bytes(f->kernel, tj_flexible_buffer(f, side));
    widest = own > widest ? own : widest;
  }
  return widest;
}

/* Whether the masks of accesses may be the bounds of resources, which tiles do not reach over then. */
static bool is_bounded(const tj_flexible *f) {
  bool has_masks = false;
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i < f->form_count; i++)
    has_masks = has_masks || tj_flexible_has_form(f, i);
  return has_masks && f->target->resource != NULL;
}

/* Elements that the other end of a tile along a mode may be away on either side: all modes together, and so all of a
 * work-item's offset, stay below 2^32 bytes, or below half of what a resource has. */
static int64_t reach_of(const tj_flexible *f, uint32_t mode) {
  bool is_first =
      mode == tj_flexible_first(f, TJ_FLEXIBLE_SOURCE) || mode == tj_flexible_first(f, TJ_FLEXIBLE_DESTINATION);
  int64_t half = is_bounded(f) ? TJ_RESOURCE_BYTES / (f->turns ? 8 : 4) : (int64_t)1 << 31;
  int64_t bytes = is_first ? half : f->turns ? half / 4 : half / further_modes(f);
  return bytes / widest_element(f);
}

void tj_flexible_set_reaches(tj_flexible *f) {
  for (uint32_t m = 0; m < f->domain->count; m++)
    f->mode[m].reach = reach_of(f, m);
}

static void demand_reach(tj_flexible *f, const tj_flexible_mode *mode, const tj_measure *stride) {
  tj_graph *graph = f->graph;
  if (tj_is_int(stride->launch, 0) || tj_is_int(stride->launch, 1))
    return;
  const tj_node *last = tj_terse_sub(graph, mode->length, tj_int(graph, 1));
  tj_flexible_demand_between(f, tj_terse_mul(graph, last, stride->launch), 0, mode->reach - 1);
}

/* Sums that are bounded stay small beyond the domain, too. */
static void demand_bounds(tj_flexible *f, const tj_flexible_mode *mode) {
  tj_graph *graph = f->graph;
  const tj_node *last = tj_terse_sub(graph, mode->length, tj_int(graph, 1));
  for (uint32_t i = TJ_FLEXIBLE_BOUNDS; i < f->form_count; i++)
    tj_flexible_demand_between(f, tj_terse_mul(graph, last, mode->stride[i].launch), 0, TJ_FLEXIBLE_MOST_BOUND);
}

/* Where the tile begins along a mode of `tiles` tiles, as its number says. */
static const tj_node *first_of_tile(tj_flexible *f, const tj_flexible_mode *mode, const tj_node *number) {
  tj_graph *graph = f->graph;
  if (mode->length == NULL)
    return number;
  tj_measure length = tj_flexible_measure(f, "tile", mode->length, 1, TJ_FLEXIBLE_MOST_EXTENT, 1);
  if (mode->is_cut)
    return tj_flexible_product(f, number, length.name, TJ_FLEXIBLE_MOST_EXTENT);
  const tj_node *rest = tj_flexible_at_least(graph, tj_terse_sub(graph, mode->extent.launch, mode->length), 0);
  tj_measure last = tj_flexible_measure(f, "last", rest, 0, TJ_FLEXIBLE_MOST_EXTENT, 1);
  return tj_flexible_least(f, tj_flexible_product(f, number, length.name, most_product), last);
}

static const tj_node *tiles_along(tj_flexible *f, const tj_flexible_mode *mode) {
  return mode->length == NULL ? mode->extent.launch : tj_flexible_parts(f->graph, mode->extent.launch, mode->length);
}

const tj_node *tj_flexible_part(tj_flexible *f, const tj_flexible_mode *mode, uint32_t form, const tj_node *digit) {
  const tj_node *stride = mode->stride[form].name;
  if (tj_is_int(stride, 1))
    return digit;
  return tj_flexible_product(f, digit, stride, form < TJ_FLEXIBLE_BOUNDS ? mode->reach : TJ_FLEXIBLE_MOST_BOUND);
}

int64_t tj_flexible_slot_limit(const tj_flexible *f, uint32_t form) {
  if (form >= TJ_FLEXIBLE_BOUNDS)
    return TJ_FLEXIBLE_MOST_BOUND;
  return is_bounded(f) ? TJ_RESOURCE_BYTES / 2 / widest_element(f) : (int64_t)1 << 40;
}

static int64_t limit_of(uint32_t form) {
  return form < TJ_FLEXIBLE_BOUNDS ? TJ_FLEXIBLE_MOST_OFFSET : TJ_FLEXIBLE_MOST_BOUND;
}

/* The part of a tile's beginning along a mode in all forms. */
static void add_to_bases(tj_flexible *f, const tj_flexible_mode *mode, const tj_node *first) {
  for (uint32_t i = 0; i < f->form_count; i++) {
    if (!tj_flexible_has_form(f, i))
      continue;
    const tj_node *part = tj_flexible_product(f, first, mode->stride[i].name, limit_of(i));
    f->form[i].base = tj_terse_add(f->graph, f->form[i].base, part);
  }
}

static const tj_node *named_base(tj_flexible *f, const char *name, const tj_node *base, int64_t limit) {
  if (tj_is_constant(base))
    return base;
  const tj_node *low = tj_int(f->graph, base->facts.low < 0 ? -limit : 0), *high = tj_int(f->graph, limit);
  const tj_node *symbol = tj_symbol_create(f->graph, name, TJ_SYMBOL_COORDINATE, low, high, 1);
  tj_flexible_bind(f, symbol, base, false);
  return symbol;
}

/* The modes, those of the tile first, then in the destination's order: workgroups that follow each other are
 * neighbours. */
static tj_flexible_modes order_modes(const tj_flexible *f) {
  tj_flexible_modes order = {.mode = {f->axis[TJ_TILE_LOADED].mode}, .count = 1};
  tj_flexible_add_mode(&order, f->axis[TJ_TILE_NEXT_LOADED].mode);
  tj_flexible_add_mode(&order, tj_flexible_first(f, TJ_FLEXIBLE_DESTINATION));
  tj_flexible_add_axes(f, &order);
  for (uint32_t i = 0; i < f->domain->count; i++)
    tj_flexible_add_mode(&order, f->order[TJ_FLEXIBLE_DESTINATION][i]);
  return order;
}

static const char *name_of_form(uint32_t form) {
  static const char *const names[] = {"from", "to", "with"};
  return form >= TJ_FLEXIBLE_BOUNDS ? "within" : names[form < TJ_FLEXIBLE_SIDES ? form : TJ_FLEXIBLE_SIDES];
}

void tj_flexible_place_tiles(tj_flexible *f) {
  tj_graph *graph = f->graph;
  const tj_flexible_modes order = order_modes(f);
  const tj_node *all = tj_int(graph, 1), *rest = f->kernel->workgroup;
  for (uint32_t i = 0; i < order.count; i++) {
    tj_flexible_mode *mode = &f->mode[order.mode[i]];
    const tj_node *tiles = tiles_along(f, mode);
    all = tj_flexible_at_most(
        graph, tj_terse_mul(graph, all, tj_flexible_at_most(graph, tiles, TJ_FLEXIBLE_MOST_WORKGROUPS + 1)),
        TJ_FLEXIBLE_MOST_WORKGROUPS + 1);
    tj_measure divisor = tj_flexible_measure(f, "tiles", tiles, 1, TJ_FLEXIBLE_MOST_WORKGROUPS, 1);
    const tj_node *number = i + 1 < order.count ? tj_terse_mod(graph, rest, divisor.name) : rest;
    rest = i + 1 < order.count ? tj_terse_div(graph, rest, divisor.name) : rest;
    add_to_bases(f, mode, first_of_tile(f, mode, number));
    if (mode->length == NULL)
      continue;
    for (uint32_t k = 0; k < tj_flexible_sides(f); k++)
      demand_reach(f, mode, &mode->stride[k]);
    if (mode->is_cut)
      demand_bounds(f, mode);
  }
  tj_flexible_demand_between(f, all, 1, TJ_FLEXIBLE_MOST_WORKGROUPS);
  f->kernel->count = tj_mul(graph, all, tj_int(graph, f->items));
  for (uint32_t i = 0; i < f->form_count; i++) {
    if (tj_flexible_has_form(f, i))
      f->form[i].base = named_base(f, name_of_form(i), f->form[i].base, limit_of(i));
  }
}
