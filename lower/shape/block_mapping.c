/* SPDX-License-Identifier: MIT */
/* Blocks as mappings.
 *
 * The slots of an item are its block: a row's elements first, then rows, then panels as they are loaded; as they are
 * stored, those that turn around to a vector first. The items are the blocks of the tile, numbered along one mode
 * after the other. Where a tile is staged, it is stored run by run: an item's slots are what lies side by side in the
 * destination. Whatever ends beyond its tile, or beyond the domain, begins earlier. */
#include "lower/shape/block_mapping.h"

#include "ir/index/facts.h"
#include "ir/value/value.h"
#include "lower/shape/tile_order.h"

_Static_assert((int)TJ_SHAPE_MOST_MODES <= (int)TJ_MAPPING_MOST_DIGITS, "a side has room for a digit of each mode");

/* --- tiles --- */

tj_mapping *tj_mapping_of_tiles(tj_graph *graph, const tj_domain *domain, const tj_shape_problem *problem,
                                const tj_block_shape *shape, uint32_t masked) {
  int64_t *overlap = TJ_NEW_ARRAY(graph->job, int64_t, domain->count);
  tj_mapping *mapping = tj_mapping_of_tile(graph, tj_domain_layout(graph, domain),
                                           tj_tuple_constants(graph, shape->reach, domain->count));
  mapping->order = tj_order_of_tiles(graph, domain, shape->reach, problem->order[TJ_SOURCE]);
  for (uint32_t m = 0; m < domain->count; m++) {
    bool is_even = tj_facts_divisible(&domain->mode[m].extent->facts, shape->reach[m]);
    overlap[m] = m != masked ? shape->reach[m] : 0;
    if (m != masked && (!is_even || shape->reach[m] % shape->size[m] != 0))
      mapping->overlap = overlap;
  }
  return mapping;
}

/* --- blocks --- */

static tj_mapping_digits items_by(const tj_shape_problem *problem, const tj_block_shape *shape, tj_side_name side) {
  tj_mapping_digits items = {.count = 0};
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[side][i];
    tj_mapping_add_digit(&items, tj_block_count(shape, mode), shape->size[mode], mode);
  }
  return items;
}

/* Row by row, or column by column. */
static tj_mapping_digits slots_by(const tj_block_shape *shape, bool columns) {
  tj_mapping_digits slots = {.count = 0};
  if (columns)
    tj_mapping_add_digit(&slots, shape->depth, shape->step, shape->across);
  tj_mapping_add_digit(&slots, shape->width, 1, shape->along);
  if (!columns)
    tj_mapping_add_digit(&slots, shape->depth, shape->step, shape->across);
  tj_mapping_add_digit(&slots, shape->panels, shape->width, shape->along);
  return slots;
}

static tj_mapping_side runs_of(tj_graph *graph, const tj_shape_problem *problem, const tj_block_shape *shape) {
  tj_mapping_digits part[2] = {{.count = 0}, {.count = 0}};
  for (uint32_t i = 0; i < problem->count; i++) {
    uint32_t mode = problem->order[TJ_DESTINATION][i];
    tj_mapping_add_digit(&part[i < shape->stage.modes ? 1 : 0], shape->reach[mode], 1, mode);
  }
  return tj_mapping_side_of_digits(graph, &part[0], &part[1], NULL);
}

const tj_mapping *tj_mapping_of_blocks(tj_graph *graph, const tj_domain *domain, const tj_shape_problem *problem,
                                       const tj_block_shape *shape) {
  tj_mapping *mapping = tj_mapping_of_tiles(graph, domain, problem, shape, UINT32_MAX);
  bool by_source = shape->is_staged || shape->is_streamed;
  tj_mapping_digits items = items_by(problem, shape, by_source ? TJ_SOURCE : TJ_DESTINATION);
  tj_mapping_digits loaded = slots_by(shape, false), stored = slots_by(shape, tj_shape_turns(problem));
  mapping->load = tj_mapping_side_of_digits(graph, &items, &loaded, NULL);
  mapping->store =
      shape->is_staged ? runs_of(graph, problem, shape) : tj_mapping_side_of_digits(graph, &items, &stored, NULL);
  mapping->streams = shape->is_streamed;
  if (shape->is_staged)
    mapping->lds = tj_value_of_layout(
        graph, tj_layout_make(graph, mapping->tile, tj_tuple_constants(graph, shape->stage.stride, problem->count)));
  return mapping;
}
