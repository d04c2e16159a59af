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

tj_mapping *tj_block_tile(const tj_block_map *map, uint32_t masked) {
  tj_graph *graph = map->graph;
  uint32_t count = map->domain->count;
  int64_t *overlap = TJ_NEW_ARRAY(graph->job, int64_t, count);
  tj_mapping *mapping = tj_mapping_of_tile(graph, tj_domain_layout(graph, map->flat->domain),
                                           tj_tuple_constants(graph, map->reach, count));
  mapping->order = tj_order_of_tiles(graph, map->flat->domain, map->reach, map->by_source);
  for (uint32_t m = 0; m < count; m++) {
    bool is_even = tj_facts_divisible(&map->flat->domain->mode[m].extent->facts, map->reach[m]);
    overlap[m] = m != masked ? map->reach[m] : 0;
    if (m != masked && (!is_even || map->reach[m] % map->size[m] != 0))
      mapping->overlap = overlap;
  }
  return mapping;
}

/* --- blocks --- */

static tj_mapping_digits items_by(const tj_block_map *map, const uint32_t order[]) {
  tj_mapping_digits items = {.count = 0};
  for (uint32_t i = 0; i < map->domain->count; i++)
    tj_mapping_add_digit(&items, map->blocks[order[i]], map->size[order[i]], order[i]);
  return items;
}

/* Row by row, or column by column. */
static tj_mapping_digits slots_by(const tj_block_map *map, bool columns) {
  tj_mapping_digits slots = {.count = 0};
  if (columns)
    tj_mapping_add_digit(&slots, map->depth, map->step, map->across);
  tj_mapping_add_digit(&slots, map->width, 1, map->along);
  if (!columns)
    tj_mapping_add_digit(&slots, map->depth, map->step, map->across);
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

const tj_mapping *tj_block_mapping(const tj_block_map *map) {
  tj_graph *graph = map->graph;
  tj_mapping *mapping = tj_block_tile(map, UINT32_MAX);
  tj_mapping_digits items = items_by(map, map->is_staged || map->is_streamed ? map->by_source : map->by_destination);
  tj_mapping_digits loaded = slots_by(map, false), stored = slots_by(map, tj_block_is_turned(map));
  mapping->load = tj_mapping_side_of_digits(graph, &items, &loaded, NULL);
  mapping->store = map->is_staged ? runs_of(map) : tj_mapping_side_of_digits(graph, &items, &stored, NULL);
  mapping->streams = map->is_streamed;
  if (map->is_staged)
    mapping->lds =
        tj_value_of_layout(graph, tj_layout_make(graph, mapping->tile,
                                                 tj_tuple_constants(graph, map->stage.stride, map->domain->count)));
  return mapping;
}
