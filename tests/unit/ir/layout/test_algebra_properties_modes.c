/* SPDX-License-Identifier: MIT */
/* Properties of modes, coordinates and integer tuples on random inputs: taking layouts apart and putting them
 * together, slices, indices and coordinates, sizes, compact strides by order. */
#include "tests/unit/support/property_support.h"

enum { CASES = 5000 };

/* --- lists of modes --- */

/* A layout of several modes, and a range of them that now and then is none. */
static void prepare_range(property_case *self) {
  self->a = random_compact_modes(self, 1 + random_below(&self->state, 5), 2);
  self->b = random_layout(self, 2);
  uint32_t rank = self->a.shape->count;
  self->begin = random_below(&self->state, rank + 1);
  self->end = self->begin + random_below(&self->state, rank - self->begin + 1);
  if (random_below(&self->state, 16) != 0)
    return;
  bool is_long = random_below(&self->state, 2) == 0;
  self->end = is_long ? rank + 1 : self->begin == 0 ? 0 : self->begin - 1;
  if (self->end > rank || self->end < self->begin)
    self->refusal = TJ_RANK;
}

static void operate_group(property_case *self) {
  self->result = tj_layout_group(self->graph, self->a, self->begin, self->end);
}

static void check_group(property_case *self) {
  tj_layout modes[MOST_LEAVES], inner[MOST_LEAVES];
  uint32_t count = 0, inside = 0;
  for (uint32_t i = 0; i < self->a.shape->count; i++) {
    if (i >= self->begin && i < self->end)
      inner[inside++] = mode_of(self->a, i);
    else
      modes[count++] = mode_of(self->a, i);
    if (inside > 0 && i + 1 == self->end)
      modes[count++] = side_by_side(self, inner, inside);
  }
  expect_same(self, self->result, side_by_side(self, modes, count));
}

static void operate_take(property_case *self) {
  self->result = tj_layout_take(self->graph, self->a, self->begin, self->end);
}

static void check_take(property_case *self) {
  tj_layout modes[MOST_LEAVES];
  for (uint32_t i = self->begin; i < self->end; i++)
    modes[i - self->begin] = mode_of(self->a, i);
  expect_same(self, self->result, side_by_side(self, modes, self->end - self->begin));
}

/* A mode, perhaps one that is not there, of a layout that is perhaps a single mode. */
static void prepare_mode(property_case *self) {
  prepare_range(self);
  self->refusal = NO_CODE;
  if (random_below(&self->state, 4) == 0)
    self->a = mode_of_integers(self, 2, 3);
  self->begin = random_below(&self->state, rank_of(self->a.shape) + (random_below(&self->state, 16) == 0));
  if (self->begin >= rank_of(self->a.shape))
    self->refusal = TJ_RANK;
}

static void operate_replace(property_case *self) {
  self->result = tj_layout_replace(self->graph, self->a, self->begin, self->b);
}

static void check_replace(property_case *self) {
  tj_layout modes[MOST_LEAVES];
  for (uint32_t i = 0; i < rank_of(self->a.shape); i++)
    modes[i] = i == self->begin ? self->b : mode_of(self->a, i);
  expect_same(self, self->result, is_list(self->a.shape) ? side_by_side(self, modes, self->a.shape->count) : self->b);
}

static void operate_mode(property_case *self) {
  self->result = tj_layout_mode(self->graph, self->a, self->begin);
}

static void check_mode(property_case *self) {
  expect_same(self, self->result, mode_of(self->a, self->begin));
}

/* Up to a rank: 0 is one more; fewer than there are is refused. */
static void prepare_rank(property_case *self) {
  prepare_mode(self);
  uint32_t rank = rank_of(self->a.shape);
  self->refusal = NO_CODE;
  self->number = random_below(&self->state, 4) == 0 ? 0 : rank + random_below(&self->state, 3);
  if (rank > 1 && random_below(&self->state, 16) == 0) {
    self->number = rank - 1;
    self->refusal = TJ_RANK;
  }
}

static void operate_append(property_case *self) {
  self->result = tj_layout_append(self->graph, self->a, self->b, (uint32_t)self->number);
  self->second = tj_layout_prepend(self->graph, self->a, self->b, (uint32_t)self->number);
}

static void check_append(property_case *self) {
  tj_layout after[MOST_LEAVES], before[MOST_LEAVES];
  uint32_t old = rank_of(self->a.shape), rank = self->number == 0 ? old + 1 : (uint32_t)self->number;
  for (uint32_t i = 0; i < rank; i++) {
    after[i] = i < old ? mode_of(self->a, i) : self->b;
    before[i] = i < rank - old ? self->b : mode_of(self->a, i - (rank - old));
  }
  expect_same(self, self->result, rank == old ? self->a : side_by_side(self, after, rank));
  expect_same(self, self->second, rank == old ? self->a : side_by_side(self, before, rank));
}

/* Modes in any order, again and again. */
static void operate_select(property_case *self) {
  const uint32_t modes[] = {self->begin, self->begin, 0};
  self->result = tj_layout_select(self->graph, self->a, modes, 3);
}

static void check_select(property_case *self) {
  const tj_layout modes[] = {mode_of(self->a, self->begin), mode_of(self->a, self->begin), mode_of(self->a, 0)};
  expect_same(self, self->result, side_by_side(self, modes, 3));
}

static void prepare_zip(property_case *self) {
  self->a = random_compact_modes(self, 1 + random_below(&self->state, 3), 2);
  self->b = random_compact_modes(self, self->a.shape->count, 2);
  if (random_below(&self->state, 8) == 0) {
    self->a = mode_of_integers(self, 4, 1);
  } else if (random_below(&self->state, 8) == 0) {
    self->b = random_compact_modes(self, self->a.shape->count + 1, 2);
    self->refusal = TJ_RANK;
  }
}

static void operate_zip(property_case *self) {
  self->result = tj_layout_zip(self->graph, self->a, self->b);
}

static void check_zip(property_case *self) {
  tj_layout pairs[MOST_LEAVES];
  for (uint32_t i = 0; i < rank_of(self->a.shape); i++)
    pairs[i] = pair_of(self, mode_of(self->a, i), is_list(self->a.shape) ? mode_of(self->b, i) : self->b);
  expect_same(self, self->result, side_by_side(self, pairs, rank_of(self->a.shape)));
}

static void operate_flatten(property_case *self) {
  self->result = tj_layout_flatten(self->graph, self->a);
  self->second = tj_layout_unflatten(self->graph, self->result, self->a.shape);
}

/* The leaves side by side, and back. */
static void check_flatten(property_case *self) {
  flat_layout flat = flatten(self->a);
  tj_layout modes[MOST_LEAVES];
  for (uint32_t i = 0; i < flat.count; i++)
    modes[i] = mode_of_integers(self, flat.extent[i], flat.stride[i]);
  expect_same(self, self->result, is_list(self->a.shape) ? side_by_side(self, modes, flat.count) : self->a);
  expect_same(self, self->second, self->a);
}

/* A profile of one leaf more, or of a list that is not flat. */
static void prepare_bad_profile(property_case *self) {
  self->a = random_layout(self, 3);
  const tj_tuple *more[] = {self->a.shape, integer(self, 1)};
  self->tuple = random_below(&self->state, 2) == 0 ? tj_tuple_list(self->graph, more, 2) : self->a.shape;
  if (self->tuple == self->a.shape)
    self->a = side_by_side(self, &self->a, 1);
  self->refusal =
      self->tuple->leaf_count == self->a.shape->leaf_count && self->a.shape->depth <= 1 ? NO_CODE : TJ_NOT_CONGRUENT;
}

static void operate_unflatten(property_case *self) {
  self->result = tj_layout_unflatten(self->graph, self->a, self->tuple);
}

static void check_unflatten(property_case *self) {
  EXPECT(self, same_structure(self->result.shape, self->tuple));
}

START_TEST(modes) {
  static const property properties[] = {
      {"group", prepare_range, operate_group, check_group, CASES, 4700, {NO_CODE}},
      {"take", prepare_range, operate_take, check_take, CASES, 4700, {NO_CODE}},
      {"replace", prepare_mode, operate_replace, check_replace, CASES, 4850, {NO_CODE}},
      {"mode", prepare_mode, operate_mode, check_mode, CASES, 4850, {NO_CODE}},
      {"append and prepend", prepare_rank, operate_append, check_append, CASES, 4750, {NO_CODE}},
      {"select", prepare_mode, operate_select, check_select, CASES, 4850, {NO_CODE}},
      {"zip", prepare_zip, operate_zip, check_zip, CASES, 4400, {NO_CODE}},
      {"flatten", prepare_one, operate_flatten, check_flatten, CASES, CASES, {NO_CODE}},
      {"unflatten", prepare_bad_profile, operate_unflatten, check_unflatten, 500, 50, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- slices --- */

/* A coordinate of a shape: where it goes deeper, mode by mode; else an integer, or now and then an underscore. Once
 * in a while outside, with the code that says so. */
static const tj_tuple *random_coordinate(property_case *self, const tj_tuple *shape, uint32_t any_of) {
  const tj_tuple *items[MOST_LEAVES];
  if (any_of != 0 && random_below(&self->state, any_of) == 0)
    return tj_tuple_any(self->graph);
  if (!is_list(shape) || random_below(&self->state, 3) == 0) {
    int64_t size = product_of(shape);
    bool outside = random_below(&self->state, 40) == 0;
    if (outside)
      self->refusal = TJ_COORDINATE_RANGE;
    return integer(self, !outside                             ? (int64_t)random_below(&self->state, (uint32_t)size)
                         : random_below(&self->state, 2) == 0 ? -1
                                                              : size);
  }
  uint32_t count = shape->count;
  for (uint32_t i = 0; i < count; i++)
    items[i] = random_coordinate(self, shape->item[i], any_of);
  return tj_tuple_list(self->graph, items, count);
}

/* The coordinate is a list, so that an entry of its own may not exceed its mode. */
static void prepare_slice(property_case *self) {
  self->a = random_compact_modes(self, 1 + random_below(&self->state, 4), 3);
  do {
    self->refusal = NO_CODE;
    self->tuple = random_coordinate(self, self->a.shape, 3);
  } while (!is_list(self->tuple));
}

static void operate_slice(property_case *self) {
  self->result = tj_layout_slice(self->graph, self->a, self->tuple, &self->offset);
  self->second = tj_layout_dice(self->graph, self->tuple, self->a);
}

/* What stands against underscores, and what does not. */
static uint32_t pick(const tj_tuple *coordinate, tj_layout layout, bool any, tj_layout picked[]) {
  if (!is_list(coordinate)) {
    bool is_picked = (coordinate->kind == TJ_TUPLE_ANY) == any;
    picked[0] = layout;
    return is_picked;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < coordinate->count; i++)
    count += pick(coordinate->item[i], mode_of(layout, i), any, picked + count);
  return count;
}

static void check_slice(property_case *self) {
  tj_layout kept[MOST_LEAVES], diced[MOST_LEAVES];
  uint32_t count = pick(self->tuple, self->a, true, kept);
  expect_same(self, self->result, side_by_side(self, kept, count));
  count = pick(self->tuple, self->a, false, diced);
  expect_same(self, self->second, side_by_side(self, diced, count));
  EXPECT(self, self->offset->value->value == value_of(self->a, self->tuple));
}

/* An underscore for the whole layout, or an integer: nothing is left of one of the two. */
static void prepare_whole(property_case *self) {
  self->a = random_layout(self, 4);
  self->number = random_below(&self->state, (uint32_t)product_of(self->a.shape));
  self->flag = random_below(&self->state, 2) == 0;
  self->tuple = self->flag ? tj_tuple_any(self->graph) : integer(self, self->number);
}

static void check_whole(property_case *self) {
  tj_layout none = side_by_side(self, NULL, 0);
  expect_same(self, self->result, self->flag ? self->a : none);
  expect_same(self, self->second, self->flag ? none : self->a);
  EXPECT(self, self->offset->value->value == value_of(self->a, self->tuple));
}

/* A coordinate with one entry too many, in some mode. */
static void prepare_misfit(property_case *self) {
  self->a = random_compact_modes(self, 2, 2);
  const tj_tuple *zeros[] = {integer(self, 0), integer(self, 0), integer(self, 0), integer(self, 0)};
  const tj_tuple *deep[] = {integer(self, 0), tj_tuple_list(self->graph, zeros, 4)};
  self->flag = random_below(&self->state, 2) == 0;
  self->tuple = self->flag ? tj_tuple_list(self->graph, deep, 2) : tj_tuple_list(self->graph, zeros, 3);
  self->number = random_below(&self->state, 6);
  self->refusal = self->number < 2 ? TJ_SLICE_STRUCTURE : TJ_COORDINATE_STRUCTURE;
}

static void operate_misfit(property_case *self) {
  if (self->number == 0)
    tj_layout_slice(self->graph, self->a, self->tuple, &self->offset);
  else if (self->number == 1)
    tj_layout_dice(self->graph, self->tuple, self->a);
  else if (self->number == 2)
    tj_layout_apply(self->graph, self->a, self->tuple);
  else if (self->number == 3)
    tj_crd2idx(self->graph, self->tuple, self->a.shape, NULL);
  else
    tj_idx2crd(self->graph, self->tuple, self->a.shape, self->number == 4 ? NULL : self->a.stride);
}

/* --- application --- */

static void prepare_coordinate(property_case *self) {
  self->a = random_layout(self, 5);
  self->tuple = random_coordinate(self, self->a.shape, 0);
  bool may_exceed = !is_list(self->tuple) && self->tuple->value->value >= 0;
  if (may_exceed)
    self->refusal = NO_CODE;
}

static void operate_apply(property_case *self) {
  self->answer = tj_layout_apply(self->graph, self->a, self->tuple);
}

static void check_apply(property_case *self) {
  EXPECT(self, self->answer->kind == TJ_TUPLE_INTEGER);
  EXPECT(self, self->answer->value->value == value_of(self->a, self->tuple));
}

static void prepare_any(property_case *self) {
  prepare_slice(self);
  const tj_tuple *all[MOST_LEAVES];
  memcpy(all, self->tuple->item, self->tuple->count * sizeof *all);
  all[random_below(&self->state, self->tuple->count)] = tj_tuple_any(self->graph);
  self->tuple = tj_tuple_list(self->graph, all, self->tuple->count);
  self->refusal = TJ_WRONG_TYPE;
}

/* --- indices and coordinates --- */

static void prepare_index(property_case *self) {
  self->a = random_compact(self, 5);
  self->number = random_below(&self->state, (uint32_t)product_of(self->a.shape));
  self->tuple = integer(self, self->number);
}

/* Without strides, with the strides, and with the first of compact strides. */
static void operate_idx2crd(property_case *self) {
  tj_layout compact = tj_layout_of_shape(self->graph, self->a.shape);
  self->answer = tj_idx2crd(self->graph, self->tuple, self->a.shape, NULL);
  self->other = tj_idx2crd(self->graph, self->tuple, self->a.shape, self->a.stride);
  self->offset = tj_idx2crd(self->graph, integer(self, 3 * self->number + 2), self->a.shape, integer(self, 3));
  self->second = (tj_layout){tj_crd2idx(self->graph, self->answer, self->a.shape, NULL),
                             tj_crd2idx(self->graph, self->other, self->a.shape, self->a.stride)};
  self->result = compact;
}

/* The digits give the index back, each below its extent. */
static void check_idx2crd(property_case *self) {
  const tj_tuple *extents[MOST_LEAVES], *digits[MOST_LEAVES], *others[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(self->a.shape, extents) - extents);
  EXPECT(self, same_structure(self->answer, self->a.shape) && same_structure(self->other, self->a.shape));
  walk_leaves(self->answer, digits);
  walk_leaves(self->other, others);
  for (uint32_t i = 0; i < count; i++) {
    EXPECT(self, digits[i]->value->value < extents[i]->value->value && digits[i]->value->value >= 0);
    EXPECT(self, others[i]->value->value < extents[i]->value->value && others[i]->value->value >= 0);
  }
  EXPECT(self, value_of(self->result, self->answer) == self->number);
  EXPECT(self, value_of(self->a, self->other) == self->number);
  EXPECT(self, self->second.shape->value->value == self->number && self->second.stride->value->value == self->number);
  expect_tuple(self, self->offset, self->answer);
}

/* A tuple of indices: each in its mode. */
static void prepare_indices(property_case *self) {
  self->a = random_compact_modes(self, 1 + random_below(&self->state, 3), 3);
  const tj_tuple *items[MOST_LEAVES];
  for (uint32_t i = 0; i < self->a.shape->count; i++)
    items[i] = integer(self, random_below(&self->state, (uint32_t)product_of(self->a.shape->item[i])));
  self->tuple = tj_tuple_list(self->graph, items, self->a.shape->count);
}

static void operate_indices(property_case *self) {
  self->answer = tj_idx2crd(self->graph, self->tuple, self->a.shape, NULL);
  self->other =
      tj_idx2crd(self->graph, self->tuple, self->a.shape, tj_layout_of_shape(self->graph, self->a.shape).stride);
  self->offset = tj_crd2idx(self->graph, self->tuple, self->a.shape, NULL);
}

static void check_indices(property_case *self) {
  int64_t index = 0, first = 1;
  EXPECT(self, same_structure(self->answer, self->a.shape) && same_structure(self->other, self->a.shape));
  for (uint32_t i = 0; i < self->a.shape->count; i++) {
    int64_t at = self->tuple->item[i]->value->value, left = at, digit_first = 1;
    const tj_tuple *extents[MOST_LEAVES], *digits[MOST_LEAVES], *others[MOST_LEAVES];
    uint32_t count = (uint32_t)(walk_leaves(self->a.shape->item[i], extents) - extents);
    walk_leaves(self->answer->item[i], digits);
    walk_leaves(self->other->item[i], others);
    for (uint32_t k = 0; k < count; k++) {
      int64_t extent = extents[k]->value->value;
      EXPECT(self, digits[k]->value->value == left % extent);
      EXPECT(self, others[k]->value->value == at / (first * digit_first) % extent);
      left /= extent;
      digit_first *= extent;
    }
    index += at * first;
    first *= digit_first;
  }
  EXPECT(self, self->offset->value->value == index);
}

/* Indices that may lie beyond their modes, which are as if each were one integer. */
static void prepare_beyond(property_case *self) {
  prepare_indices(self);
  const tj_tuple *items[MOST_LEAVES];
  for (uint32_t i = 0; i < self->tuple->count; i++)
    items[i] = integer(self, random_below(&self->state, 3 * (uint32_t)product_of(self->a.shape->item[i])));
  self->tuple = tj_tuple_list(self->graph, items, self->tuple->count);
}

static void operate_beyond(property_case *self) {
  self->answer = tj_crd2idx(self->graph, self->tuple, self->a.shape, NULL);
}

static void check_beyond(property_case *self) {
  int64_t index = 0, first = 1;
  for (uint32_t i = 0; i < self->tuple->count; i++) {
    int64_t size = product_of(self->a.shape->item[i]);
    index += size == 1 ? 0 : self->tuple->item[i]->value->value * first;
    first *= size;
  }
  EXPECT(self, self->answer->value->value == index);
}

/* Strides of another structure. */
static void prepare_incongruent(property_case *self) {
  prepare_indices(self);
  self->number = random_below(&self->state, 3);
  const tj_tuple *items[] = {self->a.stride, integer(self, 1)};
  self->other = tj_tuple_list(self->graph, items, 2);
  self->refusal = TJ_NOT_CONGRUENT;
}

static void operate_incongruent(property_case *self) {
  if (self->number == 0)
    tj_crd2idx(self->graph, self->tuple, self->a.shape, self->other);
  else if (self->number == 1)
    tj_idx2crd(self->graph, self->tuple, self->a.shape, self->other);
  else
    tj_layout_make(self->graph, self->a.shape, self->other);
}

START_TEST(coordinates) {
  static const property properties[] = {
      {"slice", prepare_slice, operate_slice, check_slice, CASES, 4800, {NO_CODE}},
      {"slice whole", prepare_whole, operate_slice, check_whole, CASES, CASES, {NO_CODE}},
      {"misfits", prepare_misfit, operate_misfit, operate_nothing, 500, 0, {NO_CODE}},
      {"apply", prepare_coordinate, operate_apply, check_apply, CASES, 4750, {NO_CODE}},
      {"apply to _", prepare_any, operate_apply, check_apply, 500, 0, {NO_CODE}},
      {"idx2crd", prepare_index, operate_idx2crd, check_idx2crd, CASES, CASES, {NO_CODE}},
      {"idx2crd of tuples", prepare_indices, operate_indices, check_indices, CASES, CASES, {NO_CODE}},
      {"crd2idx beyond", prepare_beyond, operate_beyond, check_beyond, CASES, CASES, {NO_CODE}},
      {"incongruent", prepare_incongruent, operate_incongruent, operate_nothing, 500, 0, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- sizes --- */

static void operate_sizes(property_case *self) {
  self->count = tj_layout_size(self->graph, self->a)->value;
  self->number = tj_layout_cosize(self->graph, self->a)->value;
  self->answer = tj_layout_coshape(self->graph, self->a);
}

static void prepare_signed(property_case *self) {
  int64_t extent[4], stride[4];
  uint32_t count = random_extents(self, extent, 4);
  for (uint32_t i = 0; i < count; i++)
    stride[i] = (int64_t)random_below(&self->state, 21) - 10;
  self->a = layout_of(self, extent, stride, count);
}

/* From the least value to the greatest. */
static void check_sizes(property_case *self) {
  flat_layout a = flatten(self->a);
  const int64_t *values = sorted_values(self, &a);
  EXPECT(self, self->count == a.size && self->number == values[a.size - 1] - values[0] + 1);
  EXPECT(self, self->answer->kind == TJ_TUPLE_INTEGER && self->answer->value->value == self->number);
}

/* Layouts are equal where both shape and strides are. */
static void check_equal(property_case *self) {
  const tj_layout others[] = {self->a, {self->a.shape, self->b.stride}, {self->b.shape, self->a.stride}, self->b};
  for (uint32_t i = 0; i < 4; i++)
    EXPECT(self, tj_layout_equal(self->a, others[i]) == same_layout(self->a, others[i]));
}

/* --- construction --- */

/* Any tuples of numbers as shape and strides: extents may be 0, structures may differ. */
static void prepare_make(property_case *self) {
  int64_t extent[4], stride[4];
  uint32_t count = random_extents(self, extent, 4);
  for (uint32_t i = 0; i < count; i++)
    stride[i] = (int64_t)random_below(&self->state, 21) - 10;
  uint64_t structure = next_random(&self->state) | 1;
  uint64_t other = random_below(&self->state, 8) == 0 ? next_random(&self->state) | 1 : structure;
  if (random_below(&self->state, 8) == 0)
    extent[random_below(&self->state, count)] = -(int64_t)random_below(&self->state, 2);
  self->tuple = structured(self, structure, extent, count);
  self->other = structured(self, other, stride, count);
  bool is_shape = product_of(self->tuple) > 0;
  for (uint32_t i = 0; i < count; i++)
    is_shape = is_shape && extent[i] > 0;
  self->refusal = !same_structure(self->tuple, self->other) ? TJ_NOT_CONGRUENT : is_shape ? NO_CODE : TJ_BAD_SHAPE;
}

static void operate_make(property_case *self) {
  self->result = tj_layout_make(self->graph, self->tuple, self->other);
}

static void check_make(property_case *self) {
  expect_same(self, self->result, (tj_layout){self->tuple, self->other});
}

/* Extents and strides so large that the layout has 2^62 coordinates or values, or nearly. */
static void prepare_large(property_case *self) {
  int64_t extent[3], stride[3];
  double size = 1, reach = 0;
  for (uint32_t i = 0; i < 3; i++) {
    extent[i] = INT64_C(1) << random_below(&self->state, 30);
    stride[i] = INT64_C(1) << random_below(&self->state, 60);
    size *= (double)extent[i];
    reach += (double)(extent[i] - 1) * (double)stride[i];
    if (random_below(&self->state, 2) == 0)
      stride[i] = -stride[i];
  }
  self->tuple = structured(self, 1, extent, 3);
  self->other = structured(self, 1, stride, 3);
  double limit = (double)TJ_SIZE_LIMIT;
  self->refusal = size >= limit || reach >= limit ? TJ_INTEGER_OVERFLOW : NO_CODE;
}

/* Extents that are positive, or now and then one that is not. */
static void prepare_compact(property_case *self) {
  int64_t extent[4];
  uint32_t count = random_extents(self, extent, 4);
  if (random_below(&self->state, 8) == 0) {
    extent[random_below(&self->state, count)] = -(int64_t)random_below(&self->state, 2);
    self->refusal = TJ_BAD_SHAPE;
  }
  self->tuple = structured(self, next_random(&self->state) | 1, extent, count);
}

static void operate_compact(property_case *self) {
  self->result = tj_layout_of_shape(self->graph, self->tuple);
  self->other = tj_compact_row_major(self->graph, self->tuple);
}

/* Strides in order of the leaves, which `order` gives; 0 for extents 1. */
static void expect_compact(const property_case *self, const tj_tuple *strides, const uint32_t order[]) {
  const tj_tuple *extents[MOST_LEAVES], *found[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(self->tuple, extents) - extents);
  int64_t next = 1;
  EXPECT(self, same_structure(self->tuple, strides));
  walk_leaves(strides, found);
  for (uint32_t n = 0; n < count; n++) {
    int64_t extent = extents[order[n]]->value->value;
    EXPECT(self, found[order[n]]->value->value == (extent == 1 ? 0 : next));
    next *= extent;
  }
}

static void check_compact(property_case *self) {
  uint32_t order[MOST_LEAVES], reverse[MOST_LEAVES], count = count_leaves(self->tuple);
  for (uint32_t i = 0; i < count; i++) {
    order[i] = i;
    reverse[i] = count - 1 - i;
  }
  EXPECT(self, same_tuple(self->result.shape, self->tuple));
  expect_compact(self, self->result.stride, order);
  expect_compact(self, self->other, reverse);
}

/* Modes ranked in a random order, from the first leaf of each to its last; leaves of modes by one of their own. */
static void prepare_ordered(property_case *self) {
  const tj_tuple *items[MOST_MODES];
  uint32_t order[MOST_MODES], rank = 1 + random_below(&self->state, 4);
  self->tuple = random_compact_modes(self, rank, 2).shape;
  random_order(&self->state, order, rank);
  for (uint32_t i = 0; i < rank; i++)
    items[i] = integer(self, 7 * (int64_t)order[i] - 3);
  self->other = tj_tuple_list(self->graph, items, rank);
  if (random_below(&self->state, 16) != 0)
    return;
  bool is_short = random_below(&self->state, 2) == 0;
  items[0] = tj_tuple_any(self->graph);
  self->other = tj_tuple_list(self->graph, is_short ? items + 1 : items, is_short ? rank - 1 : rank);
  self->refusal = is_short ? TJ_NOT_CONGRUENT : TJ_WRONG_TYPE;
}

static void operate_ordered(property_case *self) {
  self->answer = tj_compact_order(self->graph, self->tuple, self->other);
  if (self->refusal == NO_CODE)
    self->result = tj_layout_ordered(self->graph, self->tuple, self->other);
}

static void check_ordered(property_case *self) {
  uint32_t order[MOST_LEAVES], count = 0;
  for (uint32_t place = 0; place < self->tuple->count; place++)
    for (uint32_t i = 0, leaf = 0; i < self->tuple->count; leaf += count_leaves(self->tuple->item[i++]))
      for (uint32_t k = 0; self->other->item[i]->value->value == 7 * (int64_t)place - 3; k++) {
        if (k == count_leaves(self->tuple->item[i]))
          break;
        order[count++] = leaf + k;
      }
  expect_same(self, self->result, (tj_layout){self->tuple, self->answer});
  expect_compact(self, self->answer, order);
}

static void operate_like(property_case *self) {
  self->result = tj_layout_like(self->graph, self->a);
}

/* Compact, in the order of the strides; modes of stride 0 or extent 1 have stride 0, equal strides have one order. */
static void check_like(property_case *self) {
  flat_layout a = flatten(self->a), result = flatten(self->result);
  EXPECT(self, same_tuple(self->a.shape, self->result.shape) && same_structure(self->a.shape, self->result.stride));
  for (uint32_t i = 0; i < a.count; i++) {
    int64_t expected = 1;
    for (uint32_t k = 0; k < a.count; k++)
      expected *= a.stride[k] != 0 && a.stride[k] < a.stride[i] ? a.extent[k] : 1;
    bool is_still = a.stride[i] == 0 || a.extent[i] == 1;
    EXPECT(self, result.stride[i] == (is_still ? 0 : expected));
  }
}

static void operate_identity(property_case *self) {
  self->result = tj_layout_identity(self->graph, self->tuple);
}

/* Each leaf's stride is 1 in the component that the leaf's own place names. */
static void expect_units(const property_case *self, const tj_tuple *strides, const uint32_t path[], uint32_t level) {
  if (!is_list(strides)) {
    bool is_unit = strides->kind == TJ_TUPLE_BASIS && strides->value->value == 1 && strides->count == level &&
                   memcmp(strides->path, path, level * sizeof *path) == 0;
    bool is_one = level == 0 && strides->kind == TJ_TUPLE_INTEGER && strides->value->value == 1;
    EXPECT(self, is_unit || is_one);
    return;
  }
  uint32_t below[16];
  memcpy(below, path, level * sizeof *path);
  for (uint32_t i = 0; i < strides->count; i++) {
    below[level] = i;
    expect_units(self, strides->item[i], below, level + 1);
  }
}

static void check_identity(property_case *self) {
  EXPECT(self, same_tuple(self->result.shape, self->tuple) && same_structure(self->tuple, self->result.stride));
  expect_units(self, self->result.stride, (const uint32_t[]){0}, 0);
}

START_TEST(construction) {
  static const property properties[] = {
      {"equal", prepare_two, operate_nothing, check_equal, CASES, CASES, {NO_CODE}},
      {"sizes", prepare_signed, operate_sizes, check_sizes, CASES, CASES, {NO_CODE}},
      {"make", prepare_make, operate_make, check_make, CASES, 3950, {NO_CODE}},
      {"make large", prepare_large, operate_make, check_make, CASES, 2350, {NO_CODE}},
      {"compact", prepare_compact, operate_compact, check_compact, CASES, 4250, {NO_CODE}},
      {"ordered", prepare_ordered, operate_ordered, check_ordered, CASES, 4650, {NO_CODE}},
      {"like", prepare_one, operate_like, check_like, CASES, CASES, {NO_CODE}},
      {"identity", prepare_shape, operate_identity, check_identity, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {modes, coordinates, construction};
  return run_suite(suite_of("algebra_properties_modes", tests, sizeof tests / sizeof *tests));
}
