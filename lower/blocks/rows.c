/* SPDX-License-Identifier: MIT */
/* Which rows are copied together.
 *
 * A row is what both sides have side by side: the mode along which they are contiguous, or a piece of it. A workgroup
 * copies a tile of rows, some that follow each other in the destination by some that do in the source, so that short
 * rows fill cache lines and pages on both sides; each is one work-item's run. How many rows make a tile depends on
 * how long they are, which the launch may be the first to know. The last tile of a mode ends where the mode does.
 * Tiles are copied in the order of the source. What is not worth caching bypasses the caches where rows are long. */
#include "lower/blocks/rows.h"

#include "base/number/parts.h"
#include "ir/index/facts.h"
#include "ir/layout/leaves.h"
#include "ir/simplify/simplify.h"
#include "lower/shape/block_mapping.h"

enum {
  PIECE_BYTES = 4096,  /* of a row, at most */
  STORED_BYTES = 256,  /* of rows that follow each other in the destination, about; */
  LOADED_BYTES = 8192, /* and in the source, where lines that follow each other come by themselves */
  MOST_ROWS = 32,      /* of these */
  LONG_BYTES = 256,    /* of rows that are streamed */
  BOX_MODES = 3        /* along which a tile has rows: two of the destination, one of the source */
};

/* --- rows --- */

static uint32_t along(const tj_block_copy *copy) {
  return copy->problem.order[TJ_DESTINATION][0];
}

static const tj_node *elements_of(const tj_block_copy *copy, int64_t bytes) {
  return tj_int(copy->graph, bytes / copy->problem.moved_bytes);
}

/* Pieces of a row that is known are as long as each other, up to a line. */
static int64_t piece_of(const tj_block_copy *copy) {
  const tj_shape_mode *mode = &copy->problem.mode[along(copy)];
  int64_t most = elements_of(copy, PIECE_BYTES)->value, line = elements_of(copy, TJ_BLOCK_LINE_BYTES)->value;
  return tj_shape_is_fixed(mode) ? tj_even_lines(mode->extent, most, line) : most;
}

const tj_node *tj_row_reach(const tj_block_copy *copy, const tj_rows *rows, uint32_t mode) {
  for (uint32_t i = 0; i < rows->count; i++) {
    if (rows->box[i].mode == mode)
      return rows->box[i].length;
  }
  return tj_int(copy->graph, mode == along(copy) ? rows->piece : 1);
}

/* Adds rows along a mode, as many as make up a run together with what it has; returns what it has then. How many are
 * wanted is in a form that shows that there is one. */
static const tj_node *add_mode(const tj_block_copy *copy, tj_rows *rows, uint32_t mode, const tj_node *have,
                               int64_t bytes) {
  tj_graph *graph = copy->graph;
  const tj_node *one = tj_int(graph, 1), *all = elements_of(copy, bytes);
  const tj_node *wanted = tj_add(graph, tj_div(graph, tj_sub(graph, all, one), have), one);
  const tj_node *length = tj_min(graph, tj_min(graph, wanted, tj_block_extent(copy, mode)), tj_int(graph, MOST_ROWS));
  rows->box[rows->count++] = (tj_row_mode){mode, tj_simplified(graph, length)};
  rows->modes |= (uint64_t)1 << mode;
  return tj_mul(graph, have, length);
}

tj_rows tj_rows_of(const tj_block_copy *copy) {
  const tj_node *row = tj_block_extent(copy, along(copy)), *have = row;
  tj_rows rows = {.piece = piece_of(copy)};
  for (uint32_t i = 1; i < copy->domain->count && i < BOX_MODES; i++)
    have = add_mode(copy, &rows, copy->problem.order[TJ_DESTINATION][i], have, STORED_BYTES);
  if (copy->domain->count > 1 && (rows.modes >> copy->problem.order[TJ_SOURCE][1] & 1) == 0)
    add_mode(copy, &rows, copy->problem.order[TJ_SOURCE][1], row, LOADED_BYTES);
  return rows;
}

/* --- mappings --- */

/* Whether the launch computes how many rows a tile has. A row alone, in pieces that are cut, has nothing to compute.
 */
static bool is_launched(const tj_block_copy *copy, const tj_rows *rows) {
  bool is_known = tj_shape_is_fixed(&copy->problem.mode[along(copy)]);
  for (uint32_t i = 0; i < rows->count; i++)
    is_known = is_known && tj_is_constant(rows->box[i].length);
  return rows->count > 0 && !is_known;
}

/* How far a tile reaches along a mode: as far as is known, or as the launch chooses. */
static const tj_node *reach_of(const tj_block_copy *copy, const tj_rows *rows, uint32_t mode) {
  const tj_node *length = tj_row_reach(copy, rows, mode);
  return tj_is_constant(length) ? length : tj_mapping_share(copy->graph, TJ_MAPPING_ITEMS, mode);
}

/* An item for each row of the tile. Those of one row are left out, unless the launch chooses others. */
static tj_layout layout_of(const tj_block_copy *copy, const tj_rows *rows, bool has_all) {
  tj_graph *graph = copy->graph;
  tj_leaves part[] = {{.count = 0}, {.count = 0}};
  for (uint32_t i = 0; i <= rows->count; i++) {
    uint32_t mode = i < rows->count ? rows->box[i].mode : along(copy);
    const tj_node *reach = reach_of(copy, rows, mode);
    if (has_all || !tj_is_int(reach, 1))
      tj_leaves_put(&part[i < rows->count ? 0 : 1], tj_tuple_integer(graph, reach),
                    tj_tuple_basis(graph, tj_int(graph, 1), &mode, 1));
  }
  return tj_leaves_pair(graph, &part[0], &part[1]);
}

static tj_mapping *launched_tile(const tj_block_copy *copy, const tj_rows *rows) {
  const tj_node *reach[TJ_SHAPE_MOST_MODES];
  for (uint32_t mode = 0; mode < copy->domain->count; mode++)
    reach[mode] = reach_of(copy, rows, mode);
  tj_mapping *mapping = tj_mapping_of_tile(copy->graph, tj_domain_layout(copy->graph, copy->domain),
                                           tj_tuple_integers(copy->graph, reach, copy->domain->count));
  mapping->is_launched = true;
  mapping->load.layout = layout_of(copy, rows, true);
  return mapping;
}

static tj_mapping *known_tile(const tj_block_copy *copy, const tj_rows *rows) {
  tj_block_shape tile = {.is_staged = false};
  for (uint32_t mode = 0; mode < copy->domain->count; mode++) {
    tile.reach[mode] = reach_of(copy, rows, mode)->value;
    tile.size[mode] = 1;
  }
  tj_mapping *mapping = tj_mapping_of_tiles(copy->graph, copy->flat->domain, &copy->problem, &tile, along(copy));
  mapping->load = tj_mapping_side_of(copy->graph, layout_of(copy, rows, false), NULL);
  return mapping;
}

const tj_mapping *tj_row_mapping(const tj_block_copy *copy, bool streams) {
  const tj_rows rows = tj_rows_of(copy);
  tj_mapping *mapping = is_launched(copy, &rows) ? launched_tile(copy, &rows) : known_tile(copy, &rows);
  mapping->store = mapping->load;
  mapping->streams = streams;
  return mapping;
}

/* --- streams --- */

/* Truth, whether all rows are whole lines of the destination if one is. */
static const tj_node *are_lines(const tj_block_copy *copy) {
  tj_graph *graph = copy->graph;
  const tj_node *line = elements_of(copy, TJ_BLOCK_LINE_BYTES), *none = tj_int(graph, 0);
  const tj_node *truth = tj_equal(graph, tj_mod(graph, tj_block_extent(copy, along(copy)), line), none);
  if (copy->domain->count == 1)
    return truth;
  const tj_node *distance = copy->domain->mode[copy->problem.order[TJ_DESTINATION][1]].destination_stride;
  return tj_and(graph, truth, tj_equal(graph, tj_mod(graph, distance, line), none));
}

const tj_node *tj_rows_are_streamed(const tj_block_copy *copy) {
  tj_graph *graph = copy->graph;
  const tj_node *elements = copy->flat->buffer[tj_flat_buffer(copy->flat, TJ_OPERAND_DESTINATION)].element_count;
  const tj_node *is_large = tj_less_equal(graph, elements_of(copy, TJ_BLOCK_STREAM_BYTES), elements);
  const tj_node *is_long = tj_less_equal(graph, elements_of(copy, LONG_BYTES), tj_block_extent(copy, along(copy)));
  return tj_simplified(graph, tj_and(graph, is_large, tj_or(graph, is_long, are_lines(copy))));
}
