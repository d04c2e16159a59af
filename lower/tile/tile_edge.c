/* SPDX-License-Identifier: MIT */
/* What of tiles is beyond the domain, or would be and is moved back. */
#include "lower/tile/tile_edge.h"

#include "base/integer.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "ir/value/mapping.h"

static const tj_node *extent_of(const tj_tiling *tiling, uint32_t mode) {
  return tiling->domain->mode[mode].extent;
}

static bool is_divided(const tj_tiling *tiling, uint32_t mode) {
  return tj_facts_divisible(&extent_of(tiling, mode)->facts, tj_tile_extent(tiling, mode));
}

/* Whether the last tile along a mode is moved back inside the domain as a whole. */
static bool is_moved_back(const tj_tiling *tiling, uint32_t mode) {
  return tj_tile_piece(tiling, mode) == tj_tile_extent(tiling, mode);
}

/* Whether parts of the last tile are. */
static bool has_pieces(const tj_tiling *tiling, uint32_t mode) {
  return tj_tile_piece(tiling, mode) > 0 && !is_moved_back(tiling, mode);
}

static int64_t multiple_of_begin(const tj_tiling *tiling, uint32_t mode) {
  int64_t tile = tj_tile_extent(tiling, mode), content = tj_facts_content(&extent_of(tiling, mode)->facts);
  return is_moved_back(tiling, mode) ? (int64_t)tj_gcd((uint64_t)tile, (uint64_t)content) : tile;
}

int64_t tj_tile_extent(const tj_tiling *tiling, uint32_t mode) {
  return tj_mapping_extent(tiling->mapping, mode);
}

int64_t tj_tile_piece(const tj_tiling *tiling, uint32_t mode) {
  int64_t piece = tj_mapping_overlap(tiling->mapping, mode);
  return !is_divided(tiling, mode) && extent_of(tiling, mode)->facts.low >= piece ? piece : 0;
}

bool tj_tile_has_edge(const tj_tiling *tiling, uint32_t mode) {
  return !is_divided(tiling, mode) && tj_tile_piece(tiling, mode) == 0;
}

uint64_t tj_tile_edges(const tj_tiling *tiling) {
  uint64_t edges = 0;
  for (uint32_t m = 0; m < tiling->domain->count; m++)
    edges |= (uint64_t)tj_tile_has_edge(tiling, m) << m;
  return edges;
}

tj_tile_base tj_tile_base_of(tj_graph *graph, const tj_tiling *tiling, uint32_t mode, const tj_node *tile) {
  const tj_node *cut = tj_int(graph, tj_tile_extent(tiling, mode)), *extent = extent_of(tiling, mode);
  bool is_whole = !tj_tile_has_edge(tiling, mode) && !has_pieces(tiling, mode);
  const tj_node *last = tj_sub(graph, extent, is_whole ? cut : tj_int(graph, 1));
  const tj_node *value = tj_mul(graph, tile, cut);
  if (is_moved_back(tiling, mode))
    value = tj_min(graph, value, last);
  return (tj_tile_base){tj_simplified(graph, value), last, multiple_of_begin(tiling, mode)};
}

const tj_node *tj_tile_coordinate(tj_graph *graph, const tj_tiling *tiling, uint32_t mode, const tj_node *base,
                                  const tj_node *within) {
  if (!has_pieces(tiling, mode))
    return tj_add(graph, base, within);
  int64_t size = tj_tile_piece(tiling, mode);
  const tj_node *piece = tj_int(graph, size), *last = tj_sub(graph, extent_of(tiling, mode), piece);
  const tj_node *begin = tj_mul(graph, tj_div(graph, within, piece), piece);
  const tj_node *first = tj_min(graph, tj_add(graph, base, begin), last);
  return tj_add(graph, first, tj_mod(graph, within, piece));
}
