/* SPDX-License-Identifier: MIT */
/* Mappings that launches complete. Which numbers they choose nobody knows here; that a side holds its tile once is
 * seen mode by mode: where one digit ends, the next begins, and the last ends with the tile. */
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"
#include "ir/value/value.h"

#include <inttypes.h>

/* --- numbers that a launch chooses --- */

static const char *const names[TJ_MAPPING_SHARES] = {"items", "slots"};

const tj_node *tj_mapping_share(tj_graph *graph, tj_mapping_share_kind kind, uint32_t mode) {
  static const int64_t most[TJ_MAPPING_SHARES] = {TJ_MAPPING_MOST_ITEMS, TJ_MAPPING_MOST_SLOTS};
  enum { ALL = TJ_MAPPING_SHARES * TJ_MAX_DIMENSIONS };
  if (graph->shares == NULL)
    graph->shares = TJ_NEW_ARRAY(graph->job, const tj_node *, ALL);
  const tj_node **share = &graph->shares[kind * TJ_MAX_DIMENSIONS + mode];
  if (*share == NULL)
    *share = tj_symbol_create(graph, tj_string_format(graph->job, "%s(%" PRIu32 ")", names[kind], mode),
                              TJ_SYMBOL_COORDINATE, tj_int(graph, 1), tj_int(graph, most[kind]), 1);
  return *share;
}

/* Whether the node is one of those of the mode. */
static bool is_share_of(const tj_graph *graph, const tj_node *node, uint32_t mode) {
  bool is_share = false;
  for (uint32_t kind = 0; kind < TJ_MAPPING_SHARES && graph->shares != NULL; kind++)
    is_share = is_share || node == graph->shares[kind * TJ_MAX_DIMENSIONS + mode];
  return is_share;
}

static bool is_share(const tj_graph *graph, const tj_node *node) {
  bool found = false;
  for (uint32_t mode = 0; mode < TJ_MAX_DIMENSIONS && !found; mode++)
    found = is_share_of(graph, node, mode);
  return found;
}

static bool mentions_share(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaf = tj_tuple_leaves(graph, tuple, &count);
  for (uint32_t i = 0; i < count; i++) {
    if (leaf[i]->kind == TJ_TUPLE_ANY)
      continue;
    tj_walk walk = tj_walk_nodes(graph, &leaf[i]->value, 1);
    for (uint32_t k = 0; k < walk.count; k++) {
      if (is_share(graph, walk.node[k]))
        return true;
    }
  }
  return false;
}

static bool layout_mentions_share(tj_graph *graph, const tj_layout *layout) {
  return layout != NULL && (mentions_share(graph, layout->shape) || mentions_share(graph, layout->stride));
}

static const tj_layout *map_layout(const tj_value *map) {
  return map != NULL ? tj_value_layout(map) : NULL;
}

bool tj_mapping_is_launched(tj_graph *graph, const tj_mapping_parts *parts) {
  const tj_layout *const layout[] = {parts->load, parts->store, parts->domain, parts->order, map_layout(parts->lds)};
  bool mentions = graph->shares != NULL && parts->tile != NULL && mentions_share(graph, parts->tile);
  for (size_t i = 0; i < sizeof layout / sizeof layout[0] && graph->shares != NULL; i++)
    mentions = mentions || layout_mentions_share(graph, layout[i]);
  return mentions;
}

/* --- sides --- */

typedef struct {
  tj_graph *graph;
  const char *name; /* load or store */
  const tj_tuple *const *extent, *const *stride;
  uint32_t count;
} reading;

static void check_leaf(const reading *self, uint32_t i) {
  tj_job *job = self->graph->job;
  const tj_tuple *stride = self->stride[i];
  if (tj_is_int(self->extent[i]->value, 1))
    return;
  if (stride->kind != TJ_TUPLE_BASIS || stride->count != 1 || stride->path[0] >= TJ_MAX_DIMENSIONS)
    tj_fail(job, TJ_MAPPING, "%s: stride %s is no multiple of 1@mode", self->name, tj_tuple_text(job, stride));
  if (!tj_is_constant(self->extent[i]->value) && !is_share_of(self->graph, self->extent[i]->value, stride->path[0]))
    tj_fail(job, TJ_MAPPING,
            "%s: extent %s is neither a constant nor items(%" PRIu32 ") or slots(%" PRIu32
            "), along whose mode it is",
            self->name, tj_tuple_text(job, self->extent[i]), stride->path[0], stride->path[0]);
}

static reading read_side(tj_graph *graph, const char *name, const tj_layout *layout) {
  reading self = {.graph = graph, .name = name};
  if (!tj_tuple_is_list(layout->shape) || layout->shape->count != 2)
    tj_fail(graph->job, TJ_MAPPING, "%s has two modes, (item, slot); %s has %" PRIu32, name,
            tj_layout_text(graph->job, *layout), tj_tuple_rank(layout->shape));
  self.extent = tj_tuple_leaves(graph, layout->shape, &self.count);
  self.stride = tj_tuple_leaves(graph, layout->stride, &self.count);
  for (uint32_t i = 0; i < self.count; i++)
    check_leaf(&self, i);
  return self;
}

static bool is_along(const reading *self, uint32_t i, uint32_t mode) {
  return !tj_is_int(self->extent[i]->value, 1) && self->stride[i]->path[0] == mode;
}

/* The digit along the mode that begins where others end; none: the number of digits. */
static uint32_t digit_at(const reading *self, uint32_t mode, const tj_node *place) {
  uint32_t i = 0;
  while (i < self->count && (!is_along(self, i, mode) || tj_simplified(self->graph, self->stride[i]->value) != place))
    i++;
  return i;
}

static void check_mode(const reading *self, uint32_t mode, const tj_tuple *extent) {
  tj_graph *graph = self->graph;
  const tj_node *place = tj_int(graph, 1);
  uint32_t along = 0, i;
  for (uint32_t k = 0; k < self->count; k++)
    along += is_along(self, k, mode);
  for (; along > 0 && (i = digit_at(self, mode, place)) < self->count; along--)
    place = tj_simplified(graph, tj_mul(graph, place, self->extent[i]->value));
  if (along > 0 || place != tj_simplified(graph, extent->value))
    tj_fail(graph->job, TJ_MAPPING_COVER,
            "%s: along mode %" PRIu32 ", digits do not each begin where another ends, from 1 to the tile's %s",
            self->name, mode, tj_tuple_text(graph->job, extent));
}

static tj_mapping_side make_side(const reading *self, const tj_mapping *mapping, const tj_layout *layout) {
  uint32_t rank = tj_mapping_rank(mapping);
  for (uint32_t i = 0; i < self->count; i++) {
    if (!tj_is_int(self->extent[i]->value, 1) && self->stride[i]->path[0] >= rank)
      tj_fail(self->graph->job, TJ_MAPPING_COVER,
              "%s has strides along mode %" PRIu32 "; the tile has %" PRIu32 " mode%s", self->name,
              self->stride[i]->path[0], rank, rank == 1 ? "" : "s");
  }
  for (uint32_t m = 0; m < rank; m++)
    check_mode(self, m, mapping->tile->item[m]);
  return (tj_mapping_side){.layout = *layout};
}

/* --- mappings --- */

static void check_parts(tj_graph *graph, const tj_mapping_parts *parts) {
  tj_job *job = graph->job;
  if (parts->tile == NULL || (parts->load == NULL && parts->store == NULL))
    tj_fail(job, TJ_MAPPING, "a mapping with items(mode) or slots(mode) has tile=, and load= or store=");
  if (parts->lds != NULL || parts->load_as != NULL || parts->store_as != NULL || parts->order != NULL ||
      parts->passes != 1 || parts->buffers != 1 || parts->is_direct || parts->by_dma || parts->dma_stores ||
      layout_mentions_share(graph, parts->domain))
    tj_fail(
        job, TJ_MAPPING,
        "a mapping with items(mode) or slots(mode), in load, store and tile, has no lds, load_as, store_as, order, "
        "passes, buffers, direct, dma or dma_store");
  if (parts->overlap == NULL || parts->overlap->kind != TJ_TUPLE_INTEGER || !tj_is_int(parts->overlap->value, 1))
    tj_fail(job, TJ_MAPPING, "tiles of which the launch chooses the shape are moved back inside: overlap=1");
}

static const tj_tuple *read_tile(tj_graph *graph, const tj_tuple *tile) {
  tile = tj_tuple_is_list(tile) ? tile : tj_tuple_list(graph, &tile, 1);
  if (tile->count == 0 || tile->count > TJ_MAX_DIMENSIONS)
    tj_fail(graph->job, TJ_MAPPING, "a tile has 1 to %d modes, not %" PRIu32, TJ_MAX_DIMENSIONS, tile->count);
  for (uint32_t m = 0; m < tile->count; m++) {
    if (tile->item[m]->kind != TJ_TUPLE_INTEGER)
      tj_fail(graph->job, TJ_MAPPING, "extent %s of the tile is no integer",
              tj_tuple_text(graph->job, tile->item[m]));
  }
  return tile;
}

const tj_mapping *tj_mapping_make_launched(tj_graph *graph, const tj_mapping_parts *parts) {
  check_parts(graph, parts);
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  const tj_layout *load = parts->load != NULL ? parts->load : parts->store;
  const tj_layout *store = parts->store != NULL ? parts->store : parts->load;
  *mapping = (tj_mapping){.is_launched = true,
                          .domain = parts->domain,
                          .tile = read_tile(graph, parts->tile),
                          .passes = 1,
                          .streams = parts->streams};
  if (mapping->domain != NULL)
    tj_mapping_check_domain(graph, mapping->domain, mapping->tile->count);
  reading loaded = read_side(graph, "load", load), stored = read_side(graph, "store", store);
  mapping->load = make_side(&loaded, mapping, load);
  mapping->store = make_side(&stored, mapping, store);
  return mapping;
}

/* --- comparing --- */

static const tj_tuple *simplified_tuple(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaf = tj_tuple_leaves(graph, tuple, &count);
  const tj_tuple **made = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    const tj_node *value = tj_simplified(graph, leaf[i]->value);
    made[i] = leaf[i]->kind == TJ_TUPLE_BASIS ? tj_tuple_basis(graph, value, leaf[i]->path, leaf[i]->count)
                                              : tj_tuple_integer(graph, value);
  }
  return tj_tuple_from_leaves(graph, tuple, made);
}

static bool is_same_layout(tj_graph *graph, tj_layout a, tj_layout b) {
  return tj_tuple_equal(simplified_tuple(graph, a.shape), simplified_tuple(graph, b.shape)) &&
         tj_tuple_equal(simplified_tuple(graph, a.stride), simplified_tuple(graph, b.stride));
}

bool tj_mapping_is_same(tj_graph *graph, const tj_mapping *a, const tj_mapping *b) {
  return is_same_layout(graph, a->load.layout, b->load.layout) &&
         is_same_layout(graph, a->store.layout, b->store.layout);
}

_Noreturn void tj_mapping_fail_launched(tj_graph *graph, const tj_mapping *possible) {
  tj_text text = tj_text_begin(graph->job);
  tj_mapping_print(&text, possible);
  tj_note(graph->job, "with these modes and vectors: %s", text.data);
  tj_fail(graph->job, TJ_MAPPING, "the launch cannot choose items and slots of such a mapping");
}
