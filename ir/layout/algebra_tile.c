/* SPDX-License-Identifier: MIT */
/* Layout algebra: tilers, divides, products, and tiles of tensors. */
#include "ir/layout/algebra.h"

#include "ir/layout/arith.h"

/* --- tilers --- */

static tj_tiler *new_tiler(tj_graph *graph, tj_tiler_kind kind) {
  tj_tiler *tiler = TJ_NEW(graph->job, tj_tiler);
  tiler->kind = kind;
  return tiler;
}

const tj_tiler *tj_tiler_of_layout(tj_graph *graph, tj_layout layout) {
  tj_tiler *tiler = new_tiler(graph, TJ_TILER_LAYOUT);
  tiler->layout = layout;
  return tiler;
}

const tj_tiler *tj_tiler_of_modes(tj_graph *graph, const tj_tiler *const items[], uint32_t count) {
  tj_tiler *tiler = new_tiler(graph, TJ_TILER_MODES);
  tiler->count = count;
  tiler->item = count == 0 ? NULL : tj_arena_copy(&graph->job->arena, items, count * sizeof *items);
  return tiler;
}

static const tj_tiler *tiler_of_list(tj_graph *graph, const tj_tuple *list) {
  const tj_tiler **items = TJ_NEW_ARRAY(graph->job, const tj_tiler *, list->count);
  for (uint32_t i = 0; i < list->count; i++)
    items[i] = tj_tiler_of_tuple(graph, list->item[i]);
  return tj_tiler_of_modes(graph, items, list->count);
}

const tj_tiler *tj_tiler_of_tuple(tj_graph *graph, const tj_tuple *tuple) {
  if (tj_tuple_is_list(tuple))
    return tiler_of_list(graph, tuple);
  if (tuple->kind == TJ_TUPLE_ANY)
    return new_tiler(graph, TJ_TILER_ANY);
  tj_tiler *tiler = new_tiler(graph, TJ_TILER_EXTENT);
  tiler->extent = tj_tuple_product(graph, tuple);
  return tiler;
}

static void check_rank(tj_graph *graph, tj_layout layout, const tj_tiler *tiler) {
  uint32_t rank = tj_tuple_rank(layout.shape);
  if (tiler->count > rank)
    tj_fail(graph->job, TJ_RANK, "a tiler of %u modes for %s of rank %u", tiler->count,
            tj_layout_text(graph->job, layout), rank);
}

tj_layout tj_layout_compose_tiler(tj_graph *graph, tj_layout layout, const tj_tiler *tiler) {
  if (tiler->kind == TJ_TILER_ANY)
    return layout;
  if (tiler->kind == TJ_TILER_LAYOUT)
    return tj_layout_compose(graph, layout, tiler->layout);
  if (tiler->kind == TJ_TILER_EXTENT) {
    tj_layout mode = tj_layout_make(graph, tj_tuple_integer(graph, tiler->extent), tj_tuple_constant(graph, 1));
    return tj_layout_compose(graph, layout, mode);
  }
  check_rank(graph, layout, tiler);
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, tiler->count);
  for (uint32_t i = 0; i < tiler->count; i++)
    modes[i] = tj_layout_compose_tiler(graph, tj_layout_mode(graph, layout, i), tiler->item[i]);
  return tj_layout_concat(graph, modes, tiler->count);
}

/* Appends to `kept` the tilers that stand against integers of a projection. */
static uint32_t keep_tilers(tj_graph *graph, const tj_tuple *projection, const tj_tiler *tiler,
                            const tj_tiler *kept[]) {
  if (!tj_tuple_is_list(projection)) {
    kept[0] = tiler;
    return projection->kind != TJ_TUPLE_ANY;
  }
  if (tiler->kind != TJ_TILER_MODES || tiler->count != projection->count)
    tj_fail(graph->job, TJ_SLICE_STRUCTURE, "the projection %s does not fit a tiler of %u modes",
            tj_tuple_text(graph->job, projection), tiler->kind == TJ_TILER_MODES ? tiler->count : 1);
  uint32_t count = 0;
  for (uint32_t i = 0; i < projection->count; i++)
    count += keep_tilers(graph, projection->item[i], tiler->item[i], kept + count);
  return count;
}

const tj_tiler *tj_tiler_dice(tj_graph *graph, const tj_tuple *projection, const tj_tiler *tiler) {
  const tj_tiler **kept = TJ_NEW_ARRAY(graph->job, const tj_tiler *, projection->leaf_count);
  return tj_tiler_of_modes(graph, kept, keep_tilers(graph, projection, tiler, kept));
}

/* --- logical divide and product --- */

static tj_layout pair(tj_graph *graph, tj_layout a, tj_layout b) {
  return tj_layout_concat(graph, (const tj_layout[]){a, b}, 2);
}

/* (the tile, where the tiles begin) */
static tj_layout divide_by_layout(tj_graph *graph, tj_layout layout, tj_layout tile) {
  const tj_tuple *target = tj_layout_coalesce(graph, layout).shape;
  tj_layout rest = tj_layout_complement(graph, tile, target);
  return tj_layout_compose_tiles(graph, layout, tile, rest);
}

/* Whether copies beyond the size of the room stay apart from the block: its last mode, which goes on, steps over all
 * of the block. */
static bool goes_on(tj_graph *graph, tj_layout room, tj_layout block) {
  const tj_tuple *last = tj_tuple_mode(room.stride, tj_tuple_rank(room.stride) - 1);
  const tj_node *reach = tj_layout_cosize(graph, tj_layout_filter(graph, block));
  return tj_decide_less_equal(graph, reach, last->value) == TJ_YES;
}

/* (the block, where its copies begin) */
static tj_layout multiply_by_layout(tj_graph *graph, tj_layout block, tj_layout tiler) {
  const tj_node *reach = tj_layout_cosize(graph, tiler);
  const tj_node *size = tj_terse_mul(graph, tj_layout_size(graph, block), reach);
  tj_layout room = tj_layout_complement(graph, block, tj_tuple_integer(graph, size));
  if (tj_decide_less_equal(graph, reach, tj_layout_size(graph, room)) == TJ_NO && !goes_on(graph, room, block))
    tj_fail(graph->job, TJ_NOT_INJECTIVE,
            "product: there is no room for %s copies between the elements of the block %s", tj_describe(graph, reach),
            tj_layout_text(graph->job, block));
  return pair(graph, block, tj_layout_compose(graph, room, tiler));
}

typedef tj_layout (*by_layout)(tj_graph *graph, tj_layout layout, tj_layout tiler);

/* Applies a tiler: at its layouts and extents `apply`; modes beyond the tiler's stay. */
static tj_layout apply_tiler(tj_graph *graph, tj_layout layout, const tj_tiler *tiler, by_layout apply) {
  if (tiler->kind == TJ_TILER_ANY)
    return layout;
  if (tiler->kind == TJ_TILER_LAYOUT)
    return apply(graph, layout, tiler->layout);
  if (tiler->kind == TJ_TILER_EXTENT)
    return apply(graph, layout, tj_layout_of_shape(graph, tj_tuple_integer(graph, tiler->extent)));
  check_rank(graph, layout, tiler);
  uint32_t rank = tj_tuple_rank(layout.shape);
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, rank);
  for (uint32_t i = 0; i < rank; i++) {
    modes[i] = tj_layout_mode(graph, layout, i);
    if (i < tiler->count)
      modes[i] = apply_tiler(graph, modes[i], tiler->item[i], apply);
  }
  return tj_layout_concat(graph, modes, rank);
}

/* --- zipped, tiled and flat forms --- */

/* ((A,a),(B,b),c) as ((A,B),(a,b,c)), where the tiler has modes. */
static tj_layout unzip(tj_graph *graph, tj_layout layout, const tj_tiler *tiler) {
  uint32_t rank = tj_tuple_rank(layout.shape);
  if (tiler->kind != TJ_TILER_MODES) {
    if (!tj_tuple_is_list(layout.shape) || rank != 2)
      tj_fail(graph->job, TJ_RANK, "%s has no tile to gather: its tiler is _", tj_layout_text(graph->job, layout));
    return layout;
  }
  tj_layout *tiles = TJ_NEW_ARRAY(graph->job, tj_layout, rank), *rests = TJ_NEW_ARRAY(graph->job, tj_layout, rank);
  for (uint32_t i = 0; i < rank; i++) {
    tj_layout mode = tj_layout_mode(graph, layout, i);
    rests[i] = mode;
    if (i < tiler->count) {
      tj_layout split = unzip(graph, mode, tiler->item[i]);
      tiles[i] = tj_layout_mode(graph, split, 0);
      rests[i] = tj_layout_mode(graph, split, 1);
    }
  }
  return pair(graph, tj_layout_concat(graph, tiles, tiler->count), tj_layout_concat(graph, rests, rank));
}

/* Appends a mode, or its modes when it has several. */
static uint32_t spread(tj_graph *graph, tj_layout mode, tj_layout modes[]) {
  uint32_t rank = tj_tuple_rank(mode.shape);
  modes[0] = mode;
  if (rank == 1)
    return 1;
  for (uint32_t i = 0; i < rank; i++)
    modes[i] = tj_layout_mode(graph, mode, i);
  return rank;
}

static tj_layout in_form(tj_graph *graph, tj_layout tiled, const tj_tiler *tiler, tj_tiled_form form) {
  if (form == TJ_TILED_LOGICAL)
    return tiled;
  tj_layout zipped = unzip(graph, tiled, tiler);
  if (form == TJ_TILED_ZIPPED)
    return zipped;
  tj_layout tile = tj_layout_mode(graph, zipped, 0), rest = tj_layout_mode(graph, zipped, 1);
  uint32_t count = 0;
  tj_layout *modes = TJ_NEW_ARRAY(graph->job, tj_layout, tj_tuple_rank(tile.shape) + tj_tuple_rank(rest.shape) + 2);
  if (form == TJ_TILED_FLAT)
    count = spread(graph, tile, modes);
  else
    modes[count++] = tile;
  count += spread(graph, rest, modes + count);
  return tj_layout_concat(graph, modes, count);
}

tj_layout tj_layout_divide(tj_graph *graph, tj_layout layout, const tj_tiler *tiler, tj_tiled_form form) {
  return in_form(graph, apply_tiler(graph, layout, tiler, divide_by_layout), tiler, form);
}

tj_layout tj_layout_multiply(tj_graph *graph, tj_layout block, const tj_tiler *tiler, tj_tiled_form form) {
  return in_form(graph, apply_tiler(graph, block, tiler, multiply_by_layout), tiler, form);
}

/* --- products by rank --- */

/* block and tiler brought to one rank, multiplied: mode 0 is the block, mode 1 its copies. */
static tj_layout multiply_ranks(tj_graph *graph, tj_layout block, tj_layout tiler) {
  uint32_t block_rank = tj_tuple_rank(block.shape), tiler_rank = tj_tuple_rank(tiler.shape);
  uint32_t rank = block_rank > tiler_rank ? block_rank : tiler_rank;
  tj_layout one = {tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  return multiply_by_layout(graph, tj_layout_append(graph, block, one, rank),
                            tj_layout_append(graph, tiler, one, rank));
}

tj_layout tj_layout_blocked_product(tj_graph *graph, tj_layout block, tj_layout tiler) {
  tj_layout product = multiply_ranks(graph, block, tiler);
  return tj_layout_zip(graph, tj_layout_mode(graph, product, 0), tj_layout_mode(graph, product, 1));
}

tj_layout tj_layout_raked_product(tj_graph *graph, tj_layout block, tj_layout tiler) {
  tj_layout product = multiply_ranks(graph, block, tiler);
  return tj_layout_zip(graph, tj_layout_mode(graph, product, 1), tj_layout_mode(graph, product, 0));
}

/* How often each mode of the block fits into the shape. */
static const tj_tuple *repetitions(tj_graph *graph, const tj_tuple *shape, const tj_tuple *block) {
  const tj_tuple **counts = TJ_NEW_ARRAY(graph->job, const tj_tuple *, shape->count);
  for (uint32_t i = 0; i < shape->count; i++) {
    const tj_node *extent = shape->item[i]->value, *size = block->item[i]->value;
    tj_decision divides = tj_decide_divides(graph, size, extent);
    if (divides == TJ_NO)
      tj_fail(graph->job, TJ_NOT_DIVISIBLE, "tile_to_shape: block extent %s does not divide the extent %s of mode %u",
              tj_describe(graph, size), tj_describe(graph, extent), i);
    if (divides == TJ_UNKNOWN)
      tj_fail_needs_divisible(graph, "tile_to_shape", extent, size);
    counts[i] = tj_tuple_integer(graph, tj_exact_div(graph, extent, size));
  }
  return tj_tuple_list(graph, counts, shape->count);
}

tj_layout tj_tile_to_shape(tj_graph *graph, tj_layout block, const tj_tuple *shape, const tj_tuple *order) {
  uint32_t rank = tj_tuple_rank(shape);
  tj_layout one = {tj_tuple_constant(graph, 1), tj_tuple_constant(graph, 0)};
  tj_layout padded = tj_layout_append(graph, block, one, rank);
  const tj_tuple *counts =
      repetitions(graph, tj_tuple_product_each(graph, shape), tj_tuple_product_each(graph, padded.shape));
  tj_layout copies = order == NULL ? tj_layout_of_shape(graph, counts) : tj_layout_ordered(graph, counts, order);
  return tj_layout_blocked_product(graph, padded, copies);
}

/* --- tiles of tensors --- */

/* _, or (_,_,…) for several modes. */
static const tj_tuple *everything(tj_graph *graph, uint32_t rank) {
  const tj_tuple *any = tj_tuple_any(graph);
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t i = 0; i < rank; i++)
    items[i] = any;
  return rank == 1 ? any : tj_tuple_list(graph, items, rank);
}

/* A coordinate of fewer modes, extended with underscores. */
static const tj_tuple *extend(tj_graph *graph, const tj_tuple *coordinate, uint32_t rank) {
  if (!tj_tuple_is_list(coordinate) || coordinate->count >= rank)
    return coordinate;
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank);
  for (uint32_t i = 0; i < rank; i++)
    items[i] = i < coordinate->count ? coordinate->item[i] : tj_tuple_any(graph);
  return tj_tuple_list(graph, items, rank);
}

/* Slices one mode of a zipped layout by a coordinate, and keeps the other. */
static tj_layout slice_mode(tj_graph *graph, tj_layout zipped, uint32_t mode, const tj_tuple *coordinate,
                            const tj_tuple **offset) {
  uint32_t sliced_rank = tj_tuple_rank(tj_layout_mode(graph, zipped, mode).shape);
  uint32_t kept_rank = tj_tuple_rank(tj_layout_mode(graph, zipped, 1 - mode).shape);
  const tj_tuple *items[2];
  items[mode] = extend(graph, coordinate, sliced_rank);
  items[1 - mode] = everything(graph, kept_rank);
  return tj_layout_slice(graph, zipped, tj_tuple_list(graph, items, 2), offset);
}

tj_layout tj_local_tile(tj_graph *graph, tj_layout layout, const tj_tiler *tiler, const tj_tuple *coordinate,
                        const tj_tuple **offset) {
  tj_layout zipped = tj_layout_divide(graph, layout, tiler, TJ_TILED_ZIPPED);
  return slice_mode(graph, zipped, 1, coordinate, offset);
}

/* The coordinate of an index in a compact layout, one integer for each mode. */
static const tj_tuple *flat_coordinate(tj_graph *graph, tj_layout layout, const tj_node *index) {
  const tj_tuple *coordinate = tj_idx2crd(graph, tj_tuple_integer(graph, index), layout.shape, layout.stride);
  if (!tj_tuple_is_list(coordinate))
    return coordinate;
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, coordinate->count);
  for (uint32_t i = 0; i < coordinate->count; i++)
    items[i] = tj_crd2idx(graph, coordinate->item[i], layout.shape->item[i], NULL);
  return coordinate->count == 1 ? items[0] : tj_tuple_list(graph, items, coordinate->count);
}

tj_layout tj_local_partition(tj_graph *graph, tj_layout layout, tj_layout tile, const tj_node *index,
                             const tj_tuple **offset) {
  const tj_tiler *tiler = tj_tiler_of_tuple(graph, tj_tuple_product_each(graph, tile.shape));
  tj_layout zipped = tj_layout_divide(graph, layout, tiler, TJ_TILED_ZIPPED);
  return slice_mode(graph, zipped, 0, flat_coordinate(graph, tile, index), offset);
}
