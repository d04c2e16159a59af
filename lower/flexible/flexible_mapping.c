/* SPDX-License-Identifier: MIT */
/* Mappings of flexible tiles: made leaf by leaf, with the numbers that the launch chooses; and what one that is given
 * says of modes and widths. The rest of it follows from these: another form is refused. */
#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "ir/value/value.h"
#include "lower/flexible/flexible_maker.h"

#include <inttypes.h>

/* --- numbers of the launch --- */

static void add_share(tj_flexible *f, tj_flexible_share share) {
  f->share[f->share_count++] = share;
}

const tj_node *tj_flexible_items(tj_flexible *f, uint32_t axis) {
  const tj_flexible_axis *a = &f->axis[axis];
  if (a->mode == TJ_FLEXIBLE_NONE || a->most == 1)
    return tj_int(f->graph, 1);
  const tj_node *symbol = tj_mapping_share(f->graph, TJ_MAPPING_ITEMS, a->mode);
  add_share(f, (tj_flexible_share){.symbol = symbol, .launch = a->items, .most = a->most});
  return symbol;
}

const tj_node *tj_flexible_slots(tj_flexible *f, uint32_t axis) {
  const tj_flexible_axis *a = &f->axis[axis];
  const tj_node *launch = tj_flexible_power(f->graph, a->log);
  if (!a->has_slots)
    return launch;
  const tj_node *symbol = tj_mapping_share(f->graph, TJ_MAPPING_SLOTS, a->mode);
  int64_t most = (int64_t)1 << a->most_log;
  add_share(f, (tj_flexible_share){.symbol = symbol, .launch = launch, .log = a->log, .most = most});
  return symbol;
}

void tj_flexible_group(tj_flexible *f, const tj_tuple *group, const tj_node *launch, int64_t most) {
  if (group != NULL && tj_tuple_is_list(group))
    add_share(f, (tj_flexible_share){.group = group, .launch = launch, .most = most});
}

/* --- layouts --- */

static const tj_tuple *put_leaf(tj_flexible *f, tj_leaves *list, const tj_node *extent, uint32_t mode,
                                const tj_node *step) {
  return tj_leaves_put(list, tj_tuple_integer(f->graph, extent), tj_tuple_basis(f->graph, step, &mode, 1));
}

const tj_tuple *tj_flexible_put(tj_flexible *f, tj_leaves *list, const tj_node *extent, uint32_t axis,
                                const tj_node *step) {
  uint32_t mode = f->axis[axis].mode;
  if (mode == TJ_FLEXIBLE_NONE || tj_is_int(extent, 1))
    return NULL;
  return put_leaf(f, list, extent, mode, step);
}

void tj_flexible_put_vector(tj_flexible *f, tj_leaves *list, uint32_t side) {
  put_leaf(f, list, tj_int(f->graph, f->width[side]), tj_flexible_first(f, side), tj_int(f->graph, 1));
}

const tj_tuple *tj_flexible_put_list(tj_flexible *f, tj_leaves *list, const tj_leaves *group) {
  if (group->count == 0)
    return NULL;
  tj_layout mode = tj_leaves_mode(f->graph, group);
  return tj_leaves_put(list, mode.shape, mode.stride);
}

/* As far as the side's digits reach along each mode. */
static const tj_tuple *tile_of(tj_flexible *f, tj_layout side) {
  tj_graph *graph = f->graph;
  const tj_node *extent[TJ_FLEXIBLE_MODES];
  const tj_tuple *item[TJ_FLEXIBLE_MODES];
  uint32_t count;
  const tj_tuple *const *shape = tj_tuple_leaves(graph, side.shape, &count);
  const tj_tuple *const *stride = tj_tuple_leaves(graph, side.stride, &count);
  for (uint32_t m = 0; m < f->domain->count; m++)
    extent[m] = tj_int(graph, 1);
  for (uint32_t i = 0; i < count; i++) {
    if (stride[i]->kind == TJ_TUPLE_BASIS)
      extent[stride[i]->path[0]] = tj_mul(graph, extent[stride[i]->path[0]], shape[i]->value);
  }
  for (uint32_t m = 0; m < f->domain->count; m++)
    item[m] = tj_tuple_integer(graph, tj_simplified(graph, extent[m]));
  return tj_tuple_list(graph, item, f->domain->count);
}

/* The given mapping's modes and widths are those of the one that is made; anything else is, too, or nothing is. */
static void check_given(const tj_flexible *f) {
  tj_graph *graph = f->graph;
  if (tj_mapping_is_same(graph, f->given, f->mapping))
    return;
  tj_mapping_fail_launched(graph, f->mapping);
}

void tj_flexible_set_mapping(tj_flexible *f, const tj_leaves load[2], const tj_leaves store[2]) {
  tj_graph *graph = f->graph;
  f->mapping = TJ_NEW(graph->job, tj_mapping);
  *f->mapping = (tj_mapping){.is_launched = true, .domain = tj_domain_layout(graph, f->domain), .passes = 1};
  f->mapping->load.layout = tj_leaves_pair(graph, &load[0], &load[1]);
  f->mapping->store.layout = tj_leaves_pair(graph, &store[0], &store[1]);
  f->mapping->tile = tile_of(f, f->mapping->load.layout);
  f->kernel->mapping = f->mapping;
  if (f->given != NULL)
    check_given(f);
}

/* --- what is given --- */

/* The mode along which a side has vectors, and how long these are. */
static uint32_t read_vectors(tj_flexible *f, uint32_t side, tj_layout layout) {
  tj_job *job = f->graph->job;
  uint32_t count, most = f->target->vector_bytes / tj_element_bytes(f->kernel, tj_flexible_buffer(f, side));
  const tj_tuple *extent = tj_tuple_leaves(f->graph, layout.shape->item[1], &count)[0];
  const tj_tuple *stride = tj_tuple_leaves(f->graph, layout.stride->item[1], &count)[0];
  int64_t width = tj_is_constant(extent->value) ? extent->value->value : 0;
  if (stride->kind != TJ_TUPLE_BASIS || !tj_is_int(stride->value, 1) || stride->path[0] >= f->domain->count ||
      width > most || !tj_is_power_of_two(width))
    tj_fail(job, TJ_MAPPING,
            "slots of %s begin with the elements of a vector, w:1@mode, of a power of two up to %" PRIu32,
            side == TJ_FLEXIBLE_SOURCE ? "load" : "store", most);
  f->width[side] = (uint32_t)width;
  return stride->path[0];
}

static bool is_share(const tj_flexible *f, const tj_node *extent, uint32_t mode) {
  return !tj_is_constant(extent) && mode < f->domain->count &&
         (extent == tj_mapping_share(f->graph, TJ_MAPPING_ITEMS, mode) ||
          extent == tj_mapping_share(f->graph, TJ_MAPPING_SLOTS, mode));
}

/* A mode of the tile, in the first free place of those that it may have, unless it has one; of rows, which come last.
 */
static void place_mode(tj_flexible *f, uint32_t mode, bool is_row) {
  uint32_t i = f->turns && is_row ? TJ_TILE_NEXT_STORED : TJ_TILE_NEXT_LOADED, end = f->turns ? i + 1 : TJ_TILE_AXES;
  if (tj_flexible_axis_of(f, mode) < TJ_TILE_AXES)
    return;
  while (i < end && f->axis[i].mode != TJ_FLEXIBLE_NONE)
    i++;
  if (i == end)
    tj_fail(f->graph->job, TJ_MAPPING, "the tile has more modes than a launch shares out");
  f->axis[i].mode = mode;
}

void tj_flexible_read_given(tj_flexible *f) {
  tj_layout load = f->given->load.layout, store = f->given->store.layout;
  uint32_t count, loaded = read_vectors(f, TJ_FLEXIBLE_SOURCE, load),
                  stored = read_vectors(f, TJ_FLEXIBLE_DESTINATION, store);
  tj_flexible_set_first(f, loaded, stored);
  const tj_tuple *const *extent = tj_tuple_leaves(f->graph, load.shape, &count);
  const tj_tuple *const *stride = tj_tuple_leaves(f->graph, load.stride, &count);
  bool is_row = false;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t mode = stride[i]->kind == TJ_TUPLE_BASIS ? stride[i]->path[0] : TJ_FLEXIBLE_NONE;
    is_row = is_row || extent[i]->value == tj_mapping_share(f->graph, TJ_MAPPING_ITEMS, stored);
    if (is_share(f, extent[i]->value, mode))
      place_mode(f, mode, is_row);
  }
}
