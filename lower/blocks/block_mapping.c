/* SPDX-License-Identifier: MIT */
/* Blocks as mappings.
 *
 * The slots of an item are its block: a row's elements first, then rows, then panels as they are loaded; as they are
 * stored, those that turn around to a vector first. The items are the blocks of the tile, numbered along one mode
 * after the other. Where a tile is staged, it is stored run by run: an item's slots are what lies side by side in the
 * destination. Whatever ends beyond its tile, or beyond the domain, begins earlier. */
#include "lower/blocks/block_mapping.h"

#include "ir/index/facts.h"
#include "ir/value/value.h"
#include "lower/shape/tile_order.h"

_Static_assert((int)TJ_BLOCK_MOST_MODES <= (int)TJ_MAPPING_MOST_DIGITS, "a side has room for a digit of each mode");

/* --- tiles --- */

/* All modes but `masked`, if any, are moved back inside as whole tiles, if any is. */
static const int64_t *overlap_of(const tj_block_map *map, uint32_t masked) {
  int64_t *overlap = TJ_NEW_ARRAY(map->graph->job, int64_t, map->domain->count);
  bool is_needed = false;
  for (uint32_t m = 0; m < map->domain->count; m++) {
    bool is_even = tj_facts_divisible(&map->flat->domain->mode[m].extent->facts, map->reach[m]);
    overlap[m] = m != masked ? map->reach[m] : 0;
    is_needed = is_needed || (m != masked && (!is_even || map->reach[m] % map->size[m] != 0));
  }
  return is_needed ? overlap : NULL;
}

tj_mapping *tj_mapping_of_tile(const tj_block_map *map, uint32_t masked) {
  tj_graph *graph = map->graph;
  const tj_tuple *extent[TJ_BLOCK_MOST_MODES];
  tj_mapping *mapping = TJ_NEW(graph->job, tj_mapping);
  for (uint32_t m = 0; m < map->domain->count; m++)
    extent[m] = tj_tuple_constant(graph, map->reach[m]);
  *mapping = (tj_mapping){.domain = tj_domain_layout(graph, map->flat->domain),
                          .tile = tj_tuple_list(graph, extent, map->domain->count),
                          .passes = 1,
                          .overlap = overlap_of(map, masked),
                          .order = tj_order_of_tiles(map->graph, map->flat->domain, map->reach, map->by_source)};
  return mapping;
}

/* --- blocks --- */

static tj_mapping_digits items_by(const tj_block_map *map, const uint32_t order[]) {
  tj_mapping_digits items = {.count = 0};
  for (uint32_t i = 0; i < map->domain->count; i++)
    tj_mapping_add_digit(&items, map->blocks[order[i]], map->size[order[i]], order[i]);
  return items;
}

static tj_mapping_digits loaded_slots(const tj_block_map *map) {
  tj_mapping_digits slots = {.count = 0};
  tj_mapping_add_digit(&slots, map->width, 1, map->along);
  tj_mapping_add_digit(&slots, map->depth, map->step, map->across);
  tj_mapping_add_digit(&slots, map->panels, map->width, map->along);
  return slots;
}

static tj_mapping_digits stored_slots(const tj_block_map *map) {
  tj_mapping_digits slots = {.count = 0};
  if (!tj_block_is_turned(map))
    return loaded_slots(map);
  tj_mapping_add_digit(&slots, map->depth, 1, map->across);
  tj_mapping_add_digit(&slots, map->width, 1, map->along);
  tj_mapping_add_digit(&slots, map->panels, map->width, map->along);
  return slots;
}

static tj_mapping_side runs_of(const tj_block_map *map) {
  tj_mapping_digits part[2] = {{.count = 0}, {.count = 0}};
  for (uint32_t i = 0; i < map->domain->count; i++) {
    uint32_t mode = map->by_destination[i];
    tj_mapping_add_digit(&part[i < map->stage.modes ? 1 : 0], map->reach[mode], 1, mode);
  }
  return tj_mapping_side_of_digits(map->graph, &part[0], &part[1], NULL);
}

static const tj_value *lds_of(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  const tj_tuple *extent[TJ_BLOCK_MOST_MODES], *stride[TJ_BLOCK_MOST_MODES];
  uint32_t count = map->domain->count;
  for (uint32_t m = 0; m < count; m++) {
    extent[m] = tj_tuple_constant(graph, map->reach[m]);
    stride[m] = tj_tuple_constant(graph, map->stage.stride[m]);
  }
  return tj_value_of_layout(
      graph, tj_layout_make(graph, tj_tuple_list(graph, extent, count), tj_tuple_list(graph, stride, count)));
}

const tj_mapping *tj_block_mapping(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  tj_mapping *mapping = tj_mapping_of_tile(map, UINT32_MAX);
  tj_mapping_digits items = items_by(map, map->is_staged || map->is_streamed ? map->by_source : map->by_destination);
  tj_mapping_digits loaded = loaded_slots(map), stored = stored_slots(map);
  mapping->load = tj_mapping_side_of_digits(graph, &items, &loaded, NULL);
  mapping->store = map->is_staged ? runs_of(map) : tj_mapping_side_of_digits(graph, &items, &stored, NULL);
  mapping->lds = map->is_staged ? lds_of(map) : NULL;
  mapping->streams = map->is_streamed;
  return mapping;
}
