/* SPDX-License-Identifier: MIT */
/* Properties of divides, products and tiles on random layouts: where every element of a tile, a block, a copy or a
 * thread's part lies, and how results are structured. */
#include "tests/unit/support/property_support.h"

enum { CASES = 6000 };

#define TILING_REFUSALS TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP, TJ_NOT_INJECTIVE

/* --- divides and products by a layout --- */

static void prepare_tiling(property_case *self) {
  self->a = random_layout(self, 3);
  self->b = random_layout(self, 2);
}

static void prepare_even_tiling(property_case *self) {
  int64_t extent[4], stride[4];
  for (uint32_t i = 0; i < 4; i++)
    extent[i] = random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, 4);
  self->a = layout_of(self, extent, stride, 4);
  extent[0] = random_power(&self->state, 2);
  extent[1] = random_power(&self->state, 2);
  stride[0] = random_power(&self->state, 2);
  stride[1] = extent[0] * stride[0] * random_power(&self->state, 1);
  self->b = layout_of(self, extent, stride, 2);
}

static void operate_divide(property_case *self) {
  self->result = tj_layout_divide(self->graph, self->a, tj_tiler_of_layout(self->graph, self->b), TJ_TILED_LOGICAL);
  const tj_tuple *size = integer(self, product_of(tj_layout_coalesce(self->graph, self->a).shape));
  self->second = tj_layout_complement(self->graph, self->b, size);
}

/* Whether each of `count` values in order is also among `all` values in order. */
static bool has_all(const int64_t all[], int64_t all_count, const int64_t some[], int64_t count) {
  int64_t k = 0;
  for (int64_t i = 0; i < count; i++) {
    while (k < all_count && all[k] < some[i])
      k++;
    if (k == all_count || all[k] != some[i])
      return false;
  }
  return true;
}

/* The values are 0 … size-1, each once. */
static bool is_permutation(const property_case *self, tj_layout layout, int64_t size) {
  flat_layout flat = flatten(layout);
  const int64_t *values = sorted_values(self, &flat);
  bool all = flat.size == size;
  for (int64_t i = 0; all && i < size; i++)
    all = values[i] == i;
  return all;
}

/* Mode 0 is the layout at the tile, mode 1 at the tile's copies; where the tile divides the layout, these are all of
 * its elements and no others. */
static void check_divide(property_case *self) {
  flat_layout a = flatten(self->a), b = flatten(self->b), copies = flatten(self->second);
  EXPECT(self, is_list(self->result.shape) && self->result.shape->count == 2);
  flat_layout tile = flatten(mode_of(self->result, 0)), rest = flatten(mode_of(self->result, 1));
  flat_layout all = flatten(self->result);
  EXPECT(self, tile.size == b.size && same_structure(self->result.shape, self->result.stride));
  for (int64_t i = 0; i < tile.size; i++)
    EXPECT(self, value_at(&tile, i) == value_at(&a, value_at(&b, i)));
  bool is_even = all.size == a.size || (has_powers_of_two(&a) && has_powers_of_two(&b));
  if (!is_even || !is_permutation(self, pair_of(self, self->b, self->second), a.size))
    return;
  EXPECT(self, rest.size == copies.size);
  for (int64_t i = 0; i < rest.size; i++)
    EXPECT(self, value_at(&rest, i) == value_at(&a, value_at(&copies, i)));
  const int64_t *expected = sorted_values(self, &a), *actual = sorted_values(self, &all);
  EXPECT(self, all.size == a.size && memcmp(expected, actual, (size_t)a.size * sizeof *actual) == 0);
}

/* A layout of one mode, and a tile that need not divide it. */
static void prepare_overhang(property_case *self) {
  self->a = mode_of_integers(self, 1 + random_below(&self->state, 60), 1 + random_below(&self->state, 3));
  self->b = mode_of_integers(self, 1 + random_below(&self->state, 9), random_power(&self->state, 2));
}

/* Whole tiles cover the layout. */
static void check_overhang(property_case *self) {
  flat_layout a = flatten(self->a), all = flatten(self->result), b = flatten(self->b);
  EXPECT(self, all.size >= a.size && all.size < a.size + b.size * b.stride[0]);
  EXPECT(self, has_all(sorted_values(self, &all), all.size, sorted_values(self, &a), a.size));
}

/* Copies at places below the block. */
static void prepare_backwards(property_case *self) {
  prepare_even_tiling(self);
  const tj_tuple *strides[MOST_LEAVES], **end = walk_leaves(self->b.stride, strides);
  for (const tj_tuple **at = strides; at < end; at++)
    *at = integer(self, -(*at)->value->value);
  self->b.stride = tj_tuple_from_leaves(self->graph, self->b.stride, strides);
}

static void operate_product(property_case *self) {
  flat_layout a = flatten(self->a), b = flatten(self->b);
  self->result = tj_layout_multiply(self->graph, self->a, tj_tiler_of_layout(self->graph, self->b), TJ_TILED_LOGICAL);
  int64_t reach = 1;
  for (uint32_t i = 0; i < b.count; i++)
    reach += (b.extent[i] - 1) * llabs(b.stride[i]);
  self->second = tj_layout_complement(self->graph, self->a, integer(self, a.size * reach));
}

/* The block, and its copies where the tiler says, counted by the complement; none overlap. */
static void check_product(property_case *self) {
  flat_layout a = flatten(self->a), b = flatten(self->b), places = flatten(self->second);
  EXPECT(self, is_list(self->result.shape) && self->result.shape->count == 2);
  expect_same(self, mode_of(self->result, 0), self->a);
  flat_layout copies = flatten(mode_of(self->result, 1)), all = flatten(self->result);
  EXPECT(self, copies.size == b.size);
  for (int64_t i = 0; i < b.size; i++)
    EXPECT(self, value_at(&copies, i) == value_at(&places, value_at(&b, i)));
  EXPECT(self, !all_different(self, &a) || !all_different(self, &b) || all_different(self, &all));
}

START_TEST(tilings) {
  static const property properties[] = {
      {"divide", prepare_tiling, operate_divide, check_divide, CASES, 5050, {TILING_REFUSALS}},
      {"divide evenly", prepare_even_tiling, operate_divide, check_divide, CASES, CASES, {TILING_REFUSALS}},
      {"divide unevenly", prepare_overhang, operate_divide, check_overhang, CASES, CASES, {TILING_REFUSALS}},
      {"multiply", prepare_tiling, operate_product, check_product, CASES, 5650, {TILING_REFUSALS}},
      {"multiply evenly", prepare_even_tiling, operate_product, check_product, CASES, CASES, {TILING_REFUSALS}},
      {"multiply backwards", prepare_backwards, operate_product, check_product, CASES, CASES, {TILING_REFUSALS}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- tilers by mode, and the forms of results --- */

/* A tiler for a mode: an extent, a layout, nothing, or for a mode of modes a tiler of tilers. */
static const tj_tiler *random_tiler(property_case *self, tj_layout mode, bool may_skip) {
  uint32_t choice = random_below(&self->state, 4);
  if (choice == 0)
    return tj_tiler_of_layout(self->graph, random_compact(self, 2));
  if (choice == 1 && may_skip)
    return tj_tiler_of_tuple(self->graph, tj_tuple_any(self->graph));
  if (choice != 2 || !is_list(mode.shape))
    return tj_tiler_of_tuple(self->graph, integer(self, random_power(&self->state, 2)));
  const tj_tiler *items[MOST_LEAVES];
  uint32_t count = 1 + random_below(&self->state, mode.shape->count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = random_tiler(self, mode_of(mode, i), may_skip);
  return tj_tiler_of_modes(self->graph, items, count);
}

/* A layout of three modes of powers of two, and tilers for the first one to three. `count` is the operation's. */
static void prepare_modes(property_case *self, bool may_skip) {
  tj_layout modes[3];
  const tj_tiler *items[3];
  int64_t extent[6], stride[6];
  for (uint32_t i = 0; i < 6; i++)
    extent[i] = random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, 6);
  for (uint32_t i = 0; i < 3; i++) {
    modes[i] = layout_of(self, extent + 2 * i, stride + 2 * i, 2);
    items[i] = random_tiler(self, modes[i], may_skip);
  }
  self->a = side_by_side(self, modes, 3);
  self->tiler = tj_tiler_of_modes(self->graph, items, 1 + random_below(&self->state, 3));
  self->flag = random_below(&self->state, 2) == 0;
}

static tj_layout tiled(const property_case *self, tj_layout layout, const tj_tiler *tiler, tj_tiled_form form) {
  return self->flag ? tj_layout_multiply(self->graph, layout, tiler, form)
                    : tj_layout_divide(self->graph, layout, tiler, form);
}

/* What a tiler makes of a layout, mode by mode: at its leaves, the operation by a layout. */
static tj_layout tiled_by_mode(const property_case *self, tj_layout layout, const tj_tiler *tiler) {
  if (tiler->kind == TJ_TILER_ANY)
    return layout;
  if (tiler->kind == TJ_TILER_LAYOUT)
    return tiled(self, layout, tiler, TJ_TILED_LOGICAL);
  if (tiler->kind == TJ_TILER_EXTENT) {
    int64_t extent = tiler->extent->value;
    tj_layout tile = mode_of_integers(self, extent, extent == 1 ? 0 : 1);
    return tiled(self, layout, tj_tiler_of_layout(self->graph, tile), TJ_TILED_LOGICAL);
  }
  tj_layout modes[MOST_LEAVES];
  for (uint32_t i = 0; i < rank_of(layout.shape); i++) {
    modes[i] = mode_of(layout, i);
    if (i < tiler->count)
      modes[i] = tiled_by_mode(self, modes[i], tiler->item[i]);
  }
  return side_by_side(self, modes, rank_of(layout.shape));
}

static void prepare_by_mode(property_case *self) {
  prepare_modes(self, true);
}

static void operate_by_mode(property_case *self) {
  self->result = tiled(self, self->a, self->tiler, TJ_TILED_LOGICAL);
  self->second = tiled_by_mode(self, self->a, self->tiler);
}

static void check_by_mode(property_case *self) {
  expect_same(self, self->result, self->second);
}

/* More modes of a tiler than of the layout. */
static void prepare_too_many(property_case *self) {
  const tj_tiler *items[4];
  prepare_modes(self, true);
  for (uint32_t i = 0; i < 4; i++)
    items[i] = tj_tiler_of_tuple(self->graph, integer(self, 1));
  self->tiler = tj_tiler_of_modes(self->graph, items, 4);
  self->refusal = TJ_RANK;
}

static void prepare_forms(property_case *self) {
  prepare_modes(self, false);
}

static void operate_forms(property_case *self) {
  static const tj_tiled_form forms[] = {TJ_TILED_LOGICAL, TJ_TILED_ZIPPED, TJ_TILED_TILED, TJ_TILED_FLAT};
  for (uint32_t i = 0; i < 4; i++)
    self->form[i] = tiled(self, self->a, self->tiler, forms[i]);
}

/* Tiles and rests of a logical form, gathered by mode. */
static tj_layout gathered(const property_case *self, tj_layout logical, const tj_tiler *tiler) {
  tj_layout tiles[MOST_LEAVES], rests[MOST_LEAVES];
  if (tiler->kind != TJ_TILER_MODES)
    return logical;
  for (uint32_t i = 0; i < logical.shape->count; i++) {
    rests[i] = mode_of(logical, i);
    if (i >= tiler->count)
      continue;
    tj_layout split = gathered(self, rests[i], tiler->item[i]);
    tiles[i] = mode_of(split, 0);
    rests[i] = mode_of(split, 1);
  }
  return pair_of(self, side_by_side(self, tiles, tiler->count), side_by_side(self, rests, logical.shape->count));
}

/* Zipped gathers tiles and rests of the logical form; tiled spreads the rests, flat both. */
static void check_forms(property_case *self) {
  tj_layout zipped = gathered(self, self->form[0], self->tiler), modes[MOST_LEAVES];
  expect_same(self, self->form[1], zipped);
  tj_layout tile = mode_of(zipped, 0), rest = mode_of(zipped, 1);
  uint32_t count = 0, tile_rank = rank_of(tile.shape);
  modes[count++] = tile;
  for (uint32_t i = 0; i < 3; i++)
    modes[count++] = mode_of(rest, i);
  expect_same(self, self->form[2], side_by_side(self, modes, count));
  for (count = 0; tile_rank > 1 && count < tile_rank; count++)
    modes[count] = mode_of(tile, count);
  if (tile_rank == 1)
    modes[count++] = tile;
  for (uint32_t i = 0; i < 3; i++)
    modes[count++] = mode_of(rest, i);
  expect_same(self, self->form[3], side_by_side(self, modes, count));
}

/* Modes without a tiler of their own have a tile where they are pairs of modes only. */
static void prepare_whole(property_case *self) {
  const tj_tiler *items[3];
  self->a = random_compact_modes(self, 3, 3);
  for (uint32_t i = 0; i < 3; i++) {
    const tj_tuple *mode = self->a.shape->item[i];
    bool whole = random_below(&self->state, 3) == 0;
    items[i] = tj_tiler_of_tuple(self->graph, whole ? tj_tuple_any(self->graph) : integer(self, 1));
    if (whole && !(is_list(mode) && mode->count == 2))
      self->refusal = TJ_RANK;
  }
  self->tiler = tj_tiler_of_modes(self->graph, items, 3);
  self->flag = random_below(&self->state, 2) == 0;
}

static void operate_whole(property_case *self) {
  self->result = tiled(self, self->a, self->tiler, TJ_TILED_ZIPPED);
}

static void check_whole(property_case *self) {
  expect_same(self, self->result, gathered(self, tiled_by_mode(self, self->a, self->tiler), self->tiler));
}

START_TEST(forms) {
  static const property properties[] = {
      {"by mode", prepare_by_mode, operate_by_mode, check_by_mode, CASES, 5500, {TILING_REFUSALS}},
      {"too many modes", prepare_too_many, operate_by_mode, check_by_mode, 200, 0, {NO_CODE}},
      {"whole modes", prepare_whole, operate_whole, check_whole, CASES, 2500, {NO_CODE}},
      {"forms", prepare_forms, operate_forms, check_forms, CASES, 5500, {TILING_REFUSALS}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- products by rank --- */

static tj_layout random_list(property_case *self, uint32_t most) {
  int64_t extent[MOST_MODES], stride[MOST_MODES];
  tj_layout modes[MOST_MODES];
  uint32_t count = random_extents(self, extent, most);
  random_strides(&self->state, extent, stride, count);
  for (uint32_t i = 0; i < count; i++)
    modes[i] = mode_of_integers(self, extent[i], stride[i]);
  return side_by_side(self, modes, count);
}

static void prepare_blocks(property_case *self) {
  self->a = random_list(self, 3);
  self->b = random_list(self, 3);
}

/* With modes 1:0 up to a rank. */
static tj_layout padded(const property_case *self, tj_layout layout, uint32_t rank) {
  tj_layout modes[MOST_LEAVES];
  for (uint32_t i = 0; i < rank; i++)
    modes[i] = i < rank_of(layout.shape) ? mode_of(layout, i) : mode_of_integers(self, 1, 0);
  return side_by_side(self, modes, rank);
}

static uint32_t common_rank(const property_case *self) {
  uint32_t a = rank_of(self->a.shape), b = rank_of(self->b.shape);
  return a > b ? a : b;
}

static void operate_blocks(property_case *self) {
  uint32_t rank = common_rank(self);
  const tj_tiler *tiler = tj_tiler_of_layout(self->graph, padded(self, self->b, rank));
  self->result = tj_layout_blocked_product(self->graph, self->a, self->b);
  self->second = tj_layout_raked_product(self->graph, self->a, self->b);
  self->form[0] = tj_layout_multiply(self->graph, padded(self, self->a, rank), tiler, TJ_TILED_LOGICAL);
}

/* Mode i of the block with mode i of the copies: blocked has the block first, raked the copies. */
static void check_blocks(property_case *self) {
  tj_layout blocked[MOST_MODES], raked[MOST_MODES];
  uint32_t rank = common_rank(self);
  for (uint32_t i = 0; i < rank; i++) {
    tj_layout block = mode_of(mode_of(self->form[0], 0), i), copies = mode_of(mode_of(self->form[0], 1), i);
    blocked[i] = pair_of(self, block, copies);
    raked[i] = pair_of(self, copies, block);
  }
  expect_same(self, self->result, side_by_side(self, blocked, rank));
  expect_same(self, self->second, side_by_side(self, raked, rank));
}

/* --- tile_to_shape --- */

/* Strides of the counts of copies in an order, or from the first mode on. */
static void copy_strides(const property_case *self, const int64_t counts[], int64_t strides[], uint32_t rank) {
  for (uint32_t i = 0; i < rank; i++) {
    strides[i] = 1;
    for (uint32_t k = 0; k < rank; k++) {
      bool before =
          self->other == NULL ? k < i : self->other->item[k]->value->value < self->other->item[i]->value->value;
      strides[i] *= before ? counts[k] : 1;
    }
  }
}

/* A compact block, a shape that now and then it does not divide, and perhaps an order. */
static void prepare_tile_to_shape(property_case *self) {
  const tj_tuple *extents[MOST_MODES], *places[MOST_MODES];
  uint32_t order[MOST_MODES], rank = 1 + random_below(&self->state, 3);
  uint32_t shape_rank = rank + (rank < 3 ? random_below(&self->state, 2) : 0);
  self->a = random_compact_modes(self, rank, 2);
  random_order(&self->state, order, shape_rank);
  for (uint32_t i = 0; i < shape_rank; i++) {
    int64_t size = i < rank ? product_of(self->a.shape->item[i]) : 1, odd = random_below(&self->state, 20) == 0;
    int64_t parts[] = {size * (1 + random_below(&self->state, 3)), 1 + random_below(&self->state, 2)};
    parts[0] += odd;
    extents[i] = random_below(&self->state, 4) == 0 ? structured(self, 1, parts, 2) : integer(self, parts[0]);
    places[i] = integer(self, order[i]);
    if (product_of(extents[i]) % size != 0)
      self->refusal = TJ_NOT_DIVISIBLE;
  }
  self->tuple = tj_tuple_list(self->graph, extents, shape_rank);
  if (random_below(&self->state, 2) == 0)
    self->other = tj_tuple_list(self->graph, places, shape_rank);
}

static void operate_tile_to_shape(property_case *self) {
  self->result = tj_tile_to_shape(self->graph, self->a, self->tuple, self->other);
}

/* The coordinate c lies in copy c / block of the block, where it is at c mod block. */
static void check_tile_to_shape(property_case *self) {
  uint32_t rank = self->tuple->count;
  int64_t counts[MOST_MODES], strides[MOST_MODES], size = product_of(self->a.shape);
  tj_layout block = padded(self, self->a, rank);
  for (uint32_t i = 0; i < rank; i++)
    counts[i] = product_of(self->tuple->item[i]) / product_of(block.shape->item[i]);
  copy_strides(self, counts, strides, rank);
  EXPECT(self, is_list(self->result.shape) && self->result.shape->count == rank);
  for (uint32_t i = 0; i < rank; i++) {
    tj_layout made = mode_of(self->result, i), part = mode_of(block, i);
    flat_layout mode = flatten(made), inner = flatten(part);
    EXPECT(self, mode.size == product_of(self->tuple->item[i]) && is_list(made.shape) && made.shape->count == 2);
    EXPECT(self, same_structure(made.shape->item[0], part.shape));
    for (int64_t c = 0; c < mode.size; c++)
      EXPECT(self, value_at(&mode, c) == value_at(&inner, c % inner.size) + size * strides[i] * (c / inner.size));
  }
}

START_TEST(blocks) {
  static const property properties[] = {
      {"blocked and raked", prepare_blocks, operate_blocks, check_blocks, CASES, 5550, {TILING_REFUSALS}},
      {"tile_to_shape", prepare_tile_to_shape, operate_tile_to_shape, check_tile_to_shape, CASES, 5400, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- tiles and parts of tensors --- */

enum { RANK = 3 };

/* The modes of a part of a tensor: at index i of the part, coordinate first + i·step for each mode that varies. */
typedef struct {
  int64_t first, step, count;
} run_of_mode;

/* part(i) + offset = tensor at the coordinates that the runs reach, the first run fastest; what lies beyond the
 * tensor does not count. Run k belongs to mode `mode[k]`. */
static void expect_part(const property_case *self, const run_of_mode runs[], const uint32_t mode[], uint32_t count) {
  flat_layout part = flatten(self->result), modes[RANK];
  int64_t offset = self->offset->value->value, size = 1;
  for (uint32_t k = 0; k < RANK; k++)
    modes[k] = flatten(mode_of(self->a, k));
  for (uint32_t k = 0; k < count; k++)
    size *= runs[k].count;
  EXPECT(self, part.size == size);
  for (int64_t i = 0; i < size; i++) {
    int64_t coordinate[RANK] = {0}, rest = i, expected = 0;
    bool inside = true;
    for (uint32_t k = 0; k < count; rest /= runs[k++].count)
      coordinate[mode[k]] += runs[k].first + rest % runs[k].count * runs[k].step;
    for (uint32_t k = 0; k < RANK; k++) {
      inside = inside && coordinate[k] < modes[k].size;
      expected += value_at(&modes[k], coordinate[k]);
    }
    EXPECT(self, !inside || value_at(&part, i) + offset == expected);
  }
}

static int64_t rounded_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/* `begin` modes of the tensor are tiled. Where modes have modes, these are powers of two, so that tiles divide them.
 */
static void prepare_tensor(property_case *self) {
  tj_layout modes[RANK];
  int64_t extent[2 * RANK], stride[2 * RANK];
  uint32_t leaves[RANK];
  for (uint32_t i = 0; i < RANK; i++) {
    leaves[i] = 1 + random_below(&self->state, 2);
    extent[2 * i] = leaves[i] == 1 ? 1 + random_below(&self->state, 12) : random_power(&self->state, 2);
    extent[2 * i + 1] = leaves[i] == 1 ? 1 : random_power(&self->state, 2);
  }
  compact_strides(&self->state, extent, stride, 2 * RANK);
  for (uint32_t i = 0; i < RANK; i++)
    modes[i] = layout_of(self, extent + 2 * i, stride + 2 * i, leaves[i]);
  self->a = side_by_side(self, modes, RANK);
  self->begin = 2 + random_below(&self->state, 2);
}

/* How many tiles there are in a mode. */
static int64_t tile_count(const property_case *self, uint32_t mode) {
  int64_t size = product_of(self->a.shape->item[mode]);
  return mode < self->begin ? rounded_up(size, self->tuple->item[mode]->value->value) : size;
}

/* Where the tile lies among the tiles: an index, or a coordinate of some modes, where underscores keep all. Now and
 * then outside. */
static const tj_tuple *random_place(property_case *self) {
  const tj_tuple *items[RANK];
  int64_t all = 1;
  for (uint32_t i = 0; i < RANK; i++)
    all *= tile_count(self, i);
  if (random_below(&self->state, 4) == 0)
    return integer(self, random_below(&self->state, (uint32_t)all));
  uint32_t count = 1 + random_below(&self->state, RANK);
  for (uint32_t i = 0; i < count; i++) {
    int64_t at = random_below(&self->state, (uint32_t)tile_count(self, i));
    items[i] = random_below(&self->state, 3) == 0 ? tj_tuple_any(self->graph) : integer(self, at);
  }
  if (random_below(&self->state, 16) == 0) {
    items[count - 1] = integer(self, tile_count(self, count - 1) + 1);
    self->flag = true;
  }
  return tj_tuple_list(self->graph, items, count);
}

static void prepare_local_tile(property_case *self) {
  const tj_tuple *extents[RANK];
  prepare_tensor(self);
  for (uint32_t i = 0; i < self->begin; i++)
    extents[i] = integer(self, random_power(&self->state, 2));
  self->tuple = tj_tuple_list(self->graph, extents, self->begin);
  self->other = random_place(self);
}

static void operate_local_tile(property_case *self) {
  const tj_tiler *tiler = tj_tiler_of_tuple(self->graph, self->tuple);
  self->result = tj_local_tile(self->graph, self->a, tiler, self->other, &self->offset);
}

/* The tile at (q0, q1, …) holds the coordinates q·tile + r, and where q is an underscore one tile after another. */
static void check_local_tile(property_case *self) {
  run_of_mode runs[2 * RANK];
  uint32_t mode[2 * RANK], count = 0;
  int64_t index = is_list(self->other) ? 0 : self->other->value->value;
  EXPECT(self, !self->flag);
  for (; count < self->begin; count++) {
    runs[count] = (run_of_mode){0, 1, self->tuple->item[count]->value->value};
    mode[count] = count;
  }
  for (uint32_t i = 0; i < RANK; i++) {
    int64_t tiles = tile_count(self, i), step = i < self->begin ? runs[i].count : 1;
    bool given = is_list(self->other) && i < self->other->count && self->other->item[i]->kind != TJ_TUPLE_ANY;
    bool kept = is_list(self->other) && !given;
    int64_t at = given ? self->other->item[i]->value->value : kept ? 0 : i + 1 == RANK ? index : index % tiles;
    runs[count] = (run_of_mode){at * step, step, kept ? tiles : 1};
    mode[count++] = i;
    index /= tiles;
  }
  expect_part(self, runs, mode, count);
}

/* Threads in a random order over hierarchical modes; and one of them. */
static void prepare_local_partition(property_case *self) {
  int64_t extent[2 * RANK], stride[2 * RANK];
  tj_layout modes[RANK];
  prepare_tensor(self);
  for (uint32_t i = 0; i < 2 * self->begin; i++)
    extent[i] = random_power(&self->state, 1);
  compact_strides(&self->state, extent, stride, 2 * self->begin);
  for (uint32_t i = 0; i < self->begin; i++)
    modes[i] = layout_of(self, extent + 2 * i, stride + 2 * i, 2);
  self->b = side_by_side(self, modes, self->begin);
  self->number = random_below(&self->state, (uint32_t)product_of(self->b.shape));
}

static void operate_local_partition(property_case *self) {
  self->result = tj_local_partition(self->graph, self->a, self->b, tj_int(self->graph, self->number), &self->offset);
}

/* The coordinate in a mode of what lies at an index of a compact layout. */
static int64_t coordinate_at(tj_layout mode, int64_t index) {
  flat_layout flat = flatten(mode);
  int64_t coordinate = 0, first = 1;
  for (uint32_t i = 0; i < flat.count; first *= flat.extent[i++])
    coordinate += index / flat.stride[i] % flat.extent[i] * first;
  return coordinate;
}

/* The thread at (t0, t1, …) of the threads holds the coordinates t + r·threads; other modes whole. */
static void check_local_partition(property_case *self) {
  run_of_mode runs[RANK];
  const uint32_t mode[RANK] = {0, 1, 2};
  for (uint32_t i = 0; i < RANK; i++) {
    int64_t threads = i < self->begin ? product_of(self->b.shape->item[i]) : 1;
    int64_t first = i < self->begin ? coordinate_at(mode_of(self->b, i), self->number) : 0;
    runs[i] = (run_of_mode){first, threads, rounded_up(product_of(self->a.shape->item[i]), threads)};
  }
  EXPECT(self, is_list(self->result.shape) && self->result.shape->count == RANK);
  expect_part(self, runs, mode, RANK);
}

START_TEST(parts) {
  static const property properties[] = {
      {"local_tile",
       prepare_local_tile,
       operate_local_tile,
       check_local_tile,
       CASES,
       5700,
       {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_NEEDS_FACT, TJ_COORDINATE_RANGE}},
      {"local_partition",
       prepare_local_partition,
       operate_local_partition,
       check_local_partition,
       CASES,
       CASES,
       {TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_NEEDS_FACT}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {tilings, forms, blocks, parts};
  return run_suite(suite_of("algebra_properties_tiling", tests, sizeof tests / sizeof *tests));
}
