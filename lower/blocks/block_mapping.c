/* SPDX-License-Identifier: MIT */
/* Blocks as mappings, and back.
 *
 * The slots of an item are its block: a row's elements first, then rows, then panels as they are loaded; as they are
 * stored, those that turn around to a vector first. The items are the blocks of the tile, numbered along one mode
 * after the other. Where a tile is staged, it is stored run by run: an item's slots are what lies side by side in the
 * destination. Whatever ends beyond its tile, or beyond the domain, begins earlier. */
#include "lower/blocks/block_mapping.h"

#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/value/value.h"

enum { MOST_ROWS = 512 /* of a block, of a vector each */ };

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

/* --- blocks to mappings --- */

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

/* --- mappings to blocks --- */

/* The digits of a side's items, or of its slots. False: some are the tile's index, repeat elements, or are too many.
 */
static bool read_digits(const tj_mapping_side *side, bool of_items, tj_mapping_digits *list) {
  uint32_t begin = of_items ? 0 : side->item_digits, end = of_items ? side->item_digits : side->digit_count;
  list->count = 0;
  for (uint32_t i = begin; i < end; i++) {
    const tj_mapping_digit *d = &side->digit[i];
    if (d->extent == 1)
      continue;
    if (d->mode == TJ_MAPPING_INDEX || d->step == 0 || list->count == TJ_MAPPING_MOST_DIGITS)
      return false;
    list->digit[list->count++] = *d;
  }
  return true;
}

typedef struct {
  tj_mapping_digits items, slots;
} side_digits;

/* Of mappings in one pass, whose work-items are their items. */
static bool read_sides(const tj_block_map *map, const tj_mapping *mapping, side_digits *load, side_digits *store) {
  return mapping->passes == 1 && mapping->load.as == NULL && mapping->store.as == NULL &&
         tj_mapping_rank(mapping) == map->domain->count && read_digits(&mapping->load, true, &load->items) &&
         read_digits(&mapping->load, false, &load->slots) && read_digits(&mapping->store, true, &store->items) &&
         read_digits(&mapping->store, false, &store->slots);
}

static bool is_digit(const tj_mapping_digits *list, uint32_t i, int64_t step, uint32_t mode) {
  return i < list->count && list->digit[i].step == step && list->digit[i].mode == mode;
}

static bool are_same(const tj_mapping_digits *a, const tj_mapping_digits *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; i < a->count && same; i++)
    same = is_digit(b, i, a->digit[i].step, a->digit[i].mode) && a->digit[i].extent == b->digit[i].extent;
  return same;
}

/* Takes digit *i, if it has that step and mode; returns its extent, or 1. */
static int64_t take_digit(const tj_mapping_digits *list, uint32_t *i, int64_t step, uint32_t mode) {
  return is_digit(list, *i, step, mode) ? list->digit[(*i)++].extent : 1;
}

/* Rows of the source, of one vector after the other, or of panels of vectors. */
static bool read_block(tj_block_map *map, const tj_mapping_digits *slots) {
  uint32_t first = map->by_destination[0], i = 0;
  map->along = map->by_source[0];
  map->across = first;
  map->panels = map->step = 1;
  map->width = take_digit(slots, &i, 1, map->along);
  if (map->along != first) {
    map->depth = take_digit(slots, &i, 1, first);
    map->panels = take_digit(slots, &i, map->width, map->along);
  } else if (is_digit(slots, i, map->width, first)) {
    map->step = map->width;
    map->depth = take_digit(slots, &i, map->width, first);
  } else {
    map->across = map->domain->count > 1 ? map->by_destination[1] : first;
    map->depth = take_digit(slots, &i, 1, map->across);
  }
  return i == slots->count && tj_is_power_of_two(map->width) && map->width <= TJ_BLOCK_MOST_LANES;
}

/* The blocks of the tile, of which the items are numbered along one mode after the other. */
static bool read_items(tj_block_map *map, const tj_mapping_digits *items) {
  for (uint32_t m = 0; m < map->domain->count; m++) {
    map->size[m] = map->blocks[m] = 1;
    map->reach[m] = tj_mapping_extent(map->mapping, m);
  }
  map->size[map->along] = map->width * map->panels;
  if (map->across != map->along || map->step != 1)
    map->size[map->across] = map->step * map->depth;
  for (uint32_t i = 0; i < items->count; i++) {
    const tj_mapping_digit *d = &items->digit[i];
    if (map->blocks[d->mode] > 1 || d->step != map->size[d->mode])
      return false;
    map->blocks[d->mode] = d->extent;
  }
  for (uint32_t m = 0; m < map->domain->count; m++) {
    if (tj_divided_up(map->reach[m], map->size[m]) != map->blocks[m])
      return false;
  }
  return true;
}

/* The same items store their blocks, turned around or as they are. */
static bool read_stored_block(tj_block_map *map, const tj_mapping_digits *slots, const tj_mapping_digits *loaded) {
  uint32_t i = 0;
  if (!tj_block_is_turned(map))
    return are_same(slots, loaded);
  int64_t rows = take_digit(slots, &i, 1, map->across);
  int64_t width = take_digit(slots, &i, 1, map->along), panels = take_digit(slots, &i, width, map->along);
  return i == slots->count && map->depth == rows && width * panels == map->width * map->panels;
}

/* Whether runs are of elements side by side in the destination. */
static bool are_side_by_side(const tj_block_map *map) {
  int64_t have = 1;
  for (uint32_t i = 0; i < map->stage.modes; i++) {
    uint32_t mode = map->by_destination[i];
    if (!tj_is_int(tj_block_stride(map, mode, false), have) ||
        (i > 0 && !tj_block_is_whole(map, map->by_destination[i - 1])))
      return false;
    have *= map->reach[mode];
  }
  return have == map->stage.run;
}

/* Other items store, each a run: all that the tile has along the destination's first modes. */
static bool read_runs(tj_block_map *map, const tj_mapping_digits *items, const tj_mapping_digits *slots) {
  tj_block_staging *stage = &map->stage;
  uint32_t i = 0;
  stage->run = stage->runs = 1;
  for (stage->modes = 0; stage->modes < map->domain->count && (i < slots->count || stage->modes == 0); stage->modes++)
    stage->run *= take_digit(slots, &i, 1, map->by_destination[stage->modes]);
  for (uint32_t k = 0; k < items->count; k++) {
    if (items->digit[k].step != 1 || items->digit[k].extent != tj_mapping_extent(map->mapping, items->digit[k].mode))
      return false;
    stage->runs *= items->digit[k].extent;
  }
  return i == slots->count && are_side_by_side(map);
}

/* Where runs lie in LDS as they do in the destination, and what is put there is vectors. */
static bool read_lds(tj_block_map *map) {
  const tj_layout *lds = tj_value_layout(map->mapping->lds);
  int64_t have = 1;
  if (map->mapping->lds->kind != TJ_VALUE_LAYOUT || !tj_tuple_is_list(lds->stride) ||
      lds->stride->count != map->domain->count)
    return false;
  for (uint32_t m = 0; m < map->domain->count; m++) {
    if (lds->stride->item[m]->kind != TJ_TUPLE_INTEGER)
      return false;
    map->stage.stride[m] = lds->stride->item[m]->value->value;
  }
  for (uint32_t i = 0; i < map->stage.modes; i++) {
    uint32_t mode = map->by_destination[i];
    if (map->reach[mode] > 1 && map->stage.stride[mode] != have)
      return false;
    have *= map->reach[mode];
  }
  return true;
}

/* Whether what is beyond the domain begins earlier, as whole tiles. */
static bool is_moved_back(const tj_block_map *map, const tj_mapping *mapping, uint32_t mode) {
  const tj_facts *extent = &tj_block_extent(map, mode)->facts;
  int64_t reach = tj_mapping_extent(mapping, mode);
  return extent->low >= reach && (tj_facts_divisible(extent, reach) || tj_mapping_overlap(mapping, mode) == reach);
}

/* Whether rows turn around by powers of two, and so few are moved that code can do it without a loop. */
static bool is_of_registers(const tj_block_map *map) {
  bool can_turn = tj_is_power_of_two(map->depth) && map->depth <= TJ_BLOCK_MOST_LANES;
  return map->depth * map->panels <= MOST_ROWS && (can_turn || !tj_block_is_turned(map));
}

bool tj_block_read(tj_block_map *map, const tj_mapping *mapping) {
  side_digits load, store;
  map->mapping = mapping;
  map->is_staged = mapping->lds != NULL;
  map->is_streamed = mapping->streams;
  if (!read_sides(map, mapping, &load, &store) || !read_block(map, &load.slots) || !read_items(map, &load.items))
    return false;
  bool is_read = map->is_staged
                     ? read_runs(map, &store.items, &store.slots) && read_lds(map)
                     : are_same(&store.items, &load.items) && read_stored_block(map, &store.slots, &load.slots);
  for (uint32_t m = 0; m < map->domain->count && is_read; m++)
    is_read = is_moved_back(map, mapping, m);
  return is_read && is_of_registers(map);
}

/* --- mappings to rows --- */

/* The items are the rows of the box: all that the tile has along modes other than the rows'. */
static bool read_box(const tj_block_map *map, const tj_mapping *mapping, const tj_mapping_digits *items,
                     uint32_t mode[]) {
  for (uint32_t i = 0; i < items->count; i++) {
    const tj_mapping_digit *d = &items->digit[i];
    if (d->mode == map->by_source[0] || d->step != 1 || d->extent != tj_mapping_extent(mapping, d->mode) ||
        !is_moved_back(map, mapping, d->mode))
      return false;
    mode[i] = d->mode;
  }
  return true;
}

/* The slots are a row, or a piece of one, which is cut to what there is. */
static bool is_piece(const tj_block_map *map, const tj_mapping *mapping, const tj_mapping_digits *slots) {
  uint32_t along = map->by_source[0];
  return slots->count == 1 && is_digit(slots, 0, 1, along) &&
         slots->digit[0].extent == tj_mapping_extent(mapping, along) &&
         (tj_facts_divisible(&tj_block_extent(map, along)->facts, slots->digit[0].extent) ||
          tj_mapping_overlap(mapping, along) == 0);
}

bool tj_row_read(const tj_block_map *map, const tj_mapping *mapping, uint32_t mode[], uint32_t *count) {
  side_digits load, store;
  bool is_read = mapping->lds == NULL && map->by_source[0] == map->by_destination[0] &&
                 read_sides(map, mapping, &load, &store) && are_same(&load.items, &store.items) &&
                 are_same(&load.slots, &store.slots) && is_piece(map, mapping, &load.slots) &&
                 read_box(map, mapping, &load.items, mode);
  *count = is_read ? load.items.count : 0;
  return is_read;
}
