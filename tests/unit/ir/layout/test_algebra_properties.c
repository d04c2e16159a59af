/* SPDX-License-Identifier: MIT */
/* Properties of layout algebra on random layouts, where a layout is one map: composition, coalescing, filters,
 * complement, inverses, what two layouts have in common. Each operation is held to what it promises, value by value
 * and in the structure of its result. */
#include "tests/unit/support/property_support.h"

enum { CASES = 8000 };

/* --- composition --- */

static void operate_compose(property_case *self) {
  self->result = tj_layout_compose(self->graph, self->a, self->b);
}

/* `fine` has the structure of `coarse`, and in the place of its integers anything of the same size. */
static bool refines(const tj_tuple *coarse, const tj_tuple *fine) {
  if (!is_list(coarse))
    return product_of(coarse) == product_of(fine);
  bool same = is_list(fine) && coarse->count == fine->count;
  for (uint32_t i = 0; same && i < coarse->count; i++)
    same = refines(coarse->item[i], fine->item[i]);
  return same;
}

static void expect_composition(const property_case *self, tj_layout result, tj_layout left, tj_layout right) {
  flat_layout a = flatten(left), b = flatten(right), both = flatten(result);
  EXPECT(self, refines(right.shape, result.shape));
  for (int64_t c = 0; c < b.size; c++)
    EXPECT(self, value_at(&both, c) == value_at(&a, value_at(&b, c)));
}

/* R(c) = A(B(c)), and R's shape refines B's. */
static void check_compose(property_case *self) {
  expect_composition(self, self->result, self->a, self->b);
}

/* Extents and strides that are powers of two. */
static void prepare_divisible(property_case *self) {
  int64_t extent[4], stride[4];
  for (uint32_t i = 0; i < 4; i++)
    extent[i] = random_power(&self->state, 3);
  compact_strides(&self->state, extent, stride, 4);
  self->a = layout_of(self, extent, stride, 4);
  for (uint32_t i = 0; i < 2; i++) {
    extent[i] = random_power(&self->state, 3);
    stride[i] = random_power(&self->state, 5);
  }
  self->b = layout_of(self, extent, stride, 2);
}

/* The layout with each stride's sign turned where `turn` says so. */
static tj_layout turned(property_case *self, tj_layout layout, bool (*turn)(uint64_t *state)) {
  const tj_tuple *strides[MOST_LEAVES], **end = walk_leaves(layout.stride, strides);
  for (const tj_tuple **at = strides; at < end; at++)
    if (turn(&self->state))
      *at = integer(self, -(*at)->value->value);
  return (tj_layout){layout.shape, tj_tuple_from_leaves(self->graph, layout.stride, strides)};
}

static bool always(uint64_t *state) {
  (void)state;
  return true;
}

static bool sometimes(uint64_t *state) {
  return random_below(state, 3) == 0;
}

/* A layout of integers below 0: there A is minus what it is without the sign. */
static void prepare_backwards(property_case *self) {
  prepare_divisible(self);
  self->b = turned(self, self->b, always);
}

static void prepare_both_ways(property_case *self) {
  prepare_divisible(self);
  self->a = turned(self, self->a, sometimes);
  self->b = turned(self, self->b, sometimes);
}

/* Modes of A composed with a layout, an extent or nothing each; A's last mode has no counterpart. */
static void prepare_by_mode(property_case *self) {
  const tj_tiler *items[2];
  tj_layout parts[2];
  self->a = random_compact_modes(self, 3, 2);
  for (uint32_t i = 0; i < 2; i++) {
    int64_t extent = random_power(&self->state, 2);
    switch (random_below(&self->state, 3)) {
    case 0:
      parts[i] = random_layout(self, 2);
      items[i] = tj_tiler_of_layout(self->graph, parts[i]);
      break;
    case 1:
      parts[i] = mode_of_integers(self, extent, 1);
      items[i] = tj_tiler_of_tuple(self->graph, parts[i].shape);
      break;
    default:
      parts[i] = (tj_layout){tj_tuple_any(self->graph), tj_tuple_any(self->graph)};
      items[i] = tj_tiler_of_tuple(self->graph, parts[i].shape);
    }
  }
  self->b = side_by_side(self, parts, 2);
  self->tiler = tj_tiler_of_modes(self->graph, items, 2);
}

static void operate_by_mode(property_case *self) {
  self->result = tj_layout_compose_tiler(self->graph, self->a, self->tiler);
}

static void check_by_mode(property_case *self) {
  EXPECT(self, is_list(self->result.shape) && self->result.shape->count == 2);
  for (uint32_t i = 0; i < 2; i++) {
    if (self->b.shape->item[i]->kind == TJ_TUPLE_ANY)
      expect_same(self, mode_of(self->result, i), mode_of(self->a, i));
    else
      expect_composition(self, mode_of(self->result, i), mode_of(self->a, i), mode_of(self->b, i));
  }
}

#define COMPOSITION_REFUSALS TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP

START_TEST(composition) {
  static const property properties[] = {
      {"compose", prepare_two, operate_compose, check_compose, CASES, 6050, {COMPOSITION_REFUSALS}},
      {"compose divisible", prepare_divisible, operate_compose, check_compose, CASES, 7200, {COMPOSITION_REFUSALS}},
      {"compose backwards", prepare_backwards, operate_compose, check_compose, CASES, 7200, {COMPOSITION_REFUSALS}},
      {"compose both ways", prepare_both_ways, operate_compose, check_compose, CASES, 4200, {COMPOSITION_REFUSALS}},
      {"by mode", prepare_by_mode, operate_by_mode, check_by_mode, CASES, 7350, {COMPOSITION_REFUSALS}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- coalescing --- */

static void operate_coalesce(property_case *self) {
  self->result = tj_layout_coalesce(self->graph, self->a);
}

/* Extents and strides as they are coalesced by hand; a single mode is an integer, several are flat. */
static void expect_coalesced(const property_case *self, tj_layout part, tj_layout result) {
  flat_layout before = flatten(part), after = flatten(result), expected = coalesced(&before);
  EXPECT(self, expected.count == after.count && is_list(result.shape) == (expected.count > 1));
  EXPECT(self, same_structure(result.shape, result.stride) && result.shape->depth <= 1);
  for (uint32_t i = 0; i < after.count; i++)
    EXPECT(self, after.extent[i] == expected.extent[i] && after.stride[i] == expected.stride[i]);
}

static void check_coalesce(property_case *self) {
  expect_coalesced(self, self->a, self->result);
}

/* Cuts a shape's structure off at random, and drops some last items: a profile that fits it. */
static const tj_tuple *random_profile(property_case *self, const tj_tuple *shape) {
  const tj_tuple *items[MOST_LEAVES];
  if (!is_list(shape) || random_below(&self->state, 4) == 0)
    return integer(self, 1);
  uint32_t count = shape->count - (random_below(&self->state, 4) == 0);
  for (uint32_t i = 0; i < count; i++)
    items[i] = random_profile(self, shape->item[i]);
  return tj_tuple_list(self->graph, items, count);
}

/* A layout, and a profile that fits it or has one mode too many. */
static void prepare_profile(property_case *self) {
  self->a = random_layout(self, MOST_MODES);
  self->tuple = random_profile(self, self->a.shape);
  if (!is_list(self->tuple) || random_below(&self->state, 16) != 0)
    return;
  const tj_tuple *items[MOST_LEAVES];
  uint32_t count = rank_of(self->a.shape) + 1;
  for (uint32_t i = 0; i < count; i++)
    items[i] = integer(self, 1);
  self->tuple = tj_tuple_list(self->graph, items, count);
  self->refusal = TJ_RANK;
}

static void operate_coalesce_by(property_case *self) {
  self->result = tj_layout_coalesce_by(self->graph, self->a, self->tuple);
}

static void expect_coalesced_by(const property_case *self, tj_layout part, const tj_tuple *profile,
                                tj_layout result) {
  if (!is_list(profile)) {
    expect_coalesced(self, part, result);
    return;
  }
  EXPECT(self, is_list(result.shape) && result.shape->count == rank_of(part.shape));
  for (uint32_t i = 0; i < rank_of(part.shape); i++) {
    if (i < profile->count)
      expect_coalesced_by(self, mode_of(part, i), profile->item[i], mode_of(result, i));
    else
      expect_same(self, mode_of(result, i), mode_of(part, i));
  }
}

static void check_coalesce_by(property_case *self) {
  expect_coalesced_by(self, self->a, self->tuple, self->result);
}

/* --- filters --- */

static void operate_filter_zeros(property_case *self) {
  self->result = tj_layout_filter_zeros(self->graph, self->a);
}

/* The layout with extents 1 where strides are 0. */
static void check_filter_zeros(property_case *self) {
  flat_layout a = flatten(self->a), result = flatten(self->result);
  EXPECT(self, same_structure(self->a.shape, self->result.shape));
  EXPECT(self, same_tuple(self->a.stride, self->result.stride));
  for (uint32_t i = 0; i < a.count; i++)
    EXPECT(self, result.extent[i] == (a.stride[i] == 0 ? 1 : a.extent[i]));
}

static tj_layout without_zeros(const property_case *self, tj_layout layout) {
  if (!is_list(layout.shape))
    return layout.stride->value->value == 0 ? (tj_layout){integer(self, 1), layout.stride} : layout;
  tj_layout modes[MOST_LEAVES];
  for (uint32_t i = 0; i < layout.shape->count; i++)
    modes[i] = without_zeros(self, mode_of(layout, i));
  return side_by_side(self, modes, layout.shape->count);
}

static void operate_filter(property_case *self) {
  self->result = tj_layout_filter(self->graph, self->a);
}

static void check_filter(property_case *self) {
  expect_coalesced(self, without_zeros(self, self->a), self->result);
}

static void operate_filter_by(property_case *self) {
  self->result = tj_layout_filter_by(self->graph, self->a, self->tuple);
}

static void check_filter_by(property_case *self) {
  expect_coalesced_by(self, without_zeros(self, self->a), self->tuple, self->result);
}

START_TEST(coalescing) {
  static const property properties[] = {
      {"coalesce", prepare_one, operate_coalesce, check_coalesce, CASES, CASES, {NO_CODE}},
      {"coalesce by profile", prepare_profile, operate_coalesce_by, check_coalesce_by, CASES, 7600, {NO_CODE}},
      {"filter_zeros", prepare_one, operate_filter_zeros, check_filter_zeros, CASES, CASES, {NO_CODE}},
      {"filter", prepare_one, operate_filter, check_filter, CASES, CASES, {NO_CODE}},
      {"filter by profile", prepare_profile, operate_filter_by, check_filter_by, CASES, 7600, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- complement --- */

static void operate_complement(property_case *self) {
  self->result = tj_layout_complement(self->graph, self->a, NULL);
}

static int64_t largest_value(const flat_layout *flat) {
  return value_at(flat, flat->size - 1);
}

/* The complement increases, is coalesced, and together with the layout reaches no element twice; where all is powers
 * of two, it reaches all below the target. Its last copy begins below the target, unless that lies within the layout.
 */
static void expect_complement(property_case *self, int64_t target) {
  flat_layout result = flatten(self->result);
  expect_coalesced(self, self->result, self->result);
  for (int64_t i = 1; i < result.size; i++)
    EXPECT(self, value_at(&result, i) > value_at(&result, i - 1));
  tj_layout filtered = without_zeros(self, self->a);
  flat_layout layout = flatten(filtered);
  if (!all_different(self, &layout))
    return;
  flat_layout both = flatten(pair_of(self, filtered, self->result));
  EXPECT(self, all_different(self, &both));
  const int64_t *values = sorted_values(self, &both);
  for (int64_t i = 0; !self->flag && has_powers_of_two(&layout) && i < target; i++)
    EXPECT(self, i < both.size && values[i] == i);
  int64_t last_copy = (result.extent[result.count - 1] - 1) * result.stride[result.count - 1];
  EXPECT(self, self->flag || largest_value(&layout) >= target || last_copy < target);
}

static void check_complement(property_case *self) {
  flat_layout a = flatten(self->a);
  expect_complement(self, largest_value(&a) + 1);
}

/* Below a number, or a shape; `flag` where quotients are rounded up mode by mode, so that the target is not met. */
static void prepare_target(property_case *self) {
  self->a = random_layout(self, 3);
  self->number = 1 + random_below(&self->state, 300);
  self->tuple = integer(self, self->number);
  if (random_below(&self->state, 2) == 0)
    return;
  self->tuple = random_shape(self, 3);
  self->number = product_of(self->tuple);
  self->flag = count_leaves(self->tuple) > 1;
}

static void operate_complement_to(property_case *self) {
  self->result = tj_layout_complement(self->graph, self->a, self->tuple);
}

static void check_complement_to(property_case *self) {
  expect_complement(self, self->number);
}

/* A mode that goes down: neither a complement nor a left inverse. */
static void prepare_descending(property_case *self) {
  int64_t extent[3], stride[3];
  for (uint32_t i = 0; i < 3; i++)
    extent[i] = 2 + random_below(&self->state, 3);
  compact_strides(&self->state, extent, stride, 3);
  stride[random_below(&self->state, 3)] *= -1;
  self->a = layout_of(self, extent, stride, 3);
  self->flag = random_below(&self->state, 2) == 0;
  self->refusal = TJ_NOT_INJECTIVE;
}

static void operate_descending(property_case *self) {
  self->result =
      self->flag ? tj_layout_complement(self->graph, self->a, NULL) : tj_layout_left_inverse(self->graph, self->a);
}

START_TEST(complements) {
  static const property properties[] = {
      {"complement", prepare_one, operate_complement, check_complement, CASES, 7500, {TJ_NOT_INJECTIVE}},
      {"descending", prepare_descending, operate_descending, operate_nothing, 500, 0, {NO_CODE}},
      {"complement below",
       prepare_target,
       operate_complement_to,
       check_complement_to,
       CASES,
       7800,
       {TJ_NOT_INJECTIVE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- inverses --- */

static void operate_right_inverse(property_case *self) {
  self->result = tj_layout_right_inverse(self->graph, self->a);
}

/* The modes by stride; of equal strides, as exchanging any two that are out of order leaves them. */
static void order_by_stride(const flat_layout *flat, uint32_t order[]) {
  for (uint32_t i = 0; i < flat->count; i++)
    order[i] = i;
  for (uint32_t i = 0; i < flat->count; i++)
    for (uint32_t j = i + 1; j < flat->count; j++)
      if (flat->stride[order[j]] < flat->stride[order[i]]) {
        uint32_t larger = order[i];
        order[i] = order[j];
        order[j] = larger;
      }
}

/* Where the modes of a layout begin that continue each other from stride 1 on. */
static flat_layout continued(const flat_layout *few) {
  flat_layout made = {.size = 1};
  uint32_t order[MOST_LEAVES];
  order_by_stride(few, order);
  for (uint32_t n = 0; n < few->count; n++) {
    uint32_t i = order[n];
    if (few->stride[i] != made.size)
      continue;
    made.stride[made.count] = 1;
    for (uint32_t k = 0; k < i; k++)
      made.stride[made.count] *= few->extent[k];
    made.extent[made.count++] = few->extent[i];
    made.size *= few->extent[i];
  }
  return made;
}

/* layout(R(i)) = i, as far as modes of the coalesced layout continue each other. */
static void check_right_inverse(property_case *self) {
  flat_layout a = flatten(self->a), result = flatten(self->result), few = coalesced(&a), expected = continued(&few);
  expect_coalesced(self, self->result, self->result);
  EXPECT(self, result.size == expected.size);
  for (int64_t i = 0; i < result.size; i++)
    EXPECT(self, value_at(&a, value_at(&result, i)) == i && value_at(&result, i) == value_at(&expected, i));
}

static void operate_left_inverse(property_case *self) {
  self->result = tj_layout_left_inverse(self->graph, self->a);
}

static void check_left_inverse(property_case *self) {
  flat_layout a = flatten(self->a), result = flatten(self->result);
  expect_coalesced(self, self->result, self->result);
  if (!all_different(self, &a))
    return;
  for (int64_t i = 0; i < a.size; i++)
    EXPECT(self, value_at(&result, value_at(&a, i)) == i);
}

/* Of a permutation both inverses are the inverse. */
static void prepare_permutation(property_case *self) {
  self->a = random_compact(self, 5);
}

static void operate_both_inverses(property_case *self) {
  self->result = tj_layout_left_inverse(self->graph, self->a);
  self->second = tj_layout_right_inverse(self->graph, self->a);
}

static void check_both_inverses(property_case *self) {
  flat_layout a = flatten(self->a), left = flatten(self->result), right = flatten(self->second);
  EXPECT(self, left.size == a.size && right.size == a.size);
  for (int64_t i = 0; i < a.size; i++)
    EXPECT(self, value_at(&left, value_at(&a, i)) == i && value_at(&right, value_at(&a, i)) == i);
}

static void operate_nullspace(property_case *self) {
  self->result = tj_layout_nullspace(self->graph, self->a);
}

/* All coordinates of the modes of stride 0, each once. */
static void check_nullspace(property_case *self) {
  flat_layout a = flatten(self->a), result = flatten(self->result);
  int64_t size = 1;
  for (uint32_t i = 0; i < a.count; i++)
    size *= a.stride[i] == 0 ? a.extent[i] : 1;
  EXPECT(self, result.size == size && all_different(self, &result));
  for (int64_t i = 0; i < result.size; i++)
    EXPECT(self, value_at(&result, i) < a.size && value_at(&a, value_at(&result, i)) == 0);
}

START_TEST(inverses) {
  static const property properties[] = {
      {"right_inverse", prepare_one, operate_right_inverse, check_right_inverse, CASES, CASES, {NO_CODE}},
      {"left_inverse", prepare_one, operate_left_inverse, check_left_inverse, CASES, 7550, {TJ_NOT_INJECTIVE}},
      {"inverses", prepare_permutation, operate_both_inverses, check_both_inverses, CASES, CASES, {NO_CODE}},
      {"nullspace", prepare_one, operate_nullspace, check_nullspace, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- what two layouts have in common --- */

/* Two compact layouts, so that they have much in common. */
static void prepare_common(property_case *self) {
  int64_t extent[4], stride[4];
  for (uint32_t i = 0; i < 4; i++)
    extent[i] = random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, 4);
  self->a = layout_of(self, extent, stride, 4);
  if (random_below(&self->state, 4) == 0)
    compact_strides(&self->state, extent, stride, 4);
  if (random_below(&self->state, 4) == 0)
    stride[random_below(&self->state, 4)] *= 2;
  self->b = layout_of(self, extent, stride, 4);
}

static void operate_common(property_case *self) {
  self->result = tj_layout_max_common(self->graph, self->a, self->b);
  self->node = tj_layout_max_common_vector(self->graph, self->a, self->b);
  self->second = tj_layout_right_inverse(self->graph, self->b);
}

/* a(R(i)) = b(R(i)) = i, and no further. */
static void check_common(property_case *self) {
  flat_layout a = flatten(self->a), b = flatten(self->b), result = flatten(self->result);
  flat_layout inverse = flatten(self->second);
  EXPECT(self, self->node->value == result.size);
  expect_coalesced(self, self->result, self->result);
  for (int64_t i = 0; i < result.size; i++) {
    int64_t at = value_at(&result, i);
    EXPECT(self, value_at(&a, at) == i && value_at(&b, at) == i);
  }
  EXPECT(self, result.size == inverse.size || value_at(&a, value_at(&inverse, result.size)) != result.size);
}

/* --- domain_distribute --- */

static void prepare_distribute(property_case *self) {
  self->tuple = random_shape(self, 4);
  self->other = random_shape(self, 2);
}

static void operate_distribute(property_case *self) {
  self->result = tj_domain_distribute(self->graph, self->tuple, self->other);
}

static int64_t greatest_divisor(int64_t a, int64_t b) {
  int64_t divisor = a < b ? a : b;
  while (a % divisor != 0 || b % divisor != 0)
    divisor--;
  return divisor;
}

/* Mode by mode the greatest part of the size that divides the extent, from the mode's first coordinate on. */
static void check_distribute(property_case *self) {
  const tj_tuple *extents[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(self->tuple, extents) - extents);
  int64_t size = product_of(self->other), first = 1;
  flat_layout expected = {.count = count, .size = 1}, result = flatten(self->result);
  expect_coalesced(self, self->result, self->result);
  for (uint32_t i = 0; i < count; i++) {
    int64_t extent = extents[i]->value->value;
    expected.extent[i] = greatest_divisor(extent, size);
    expected.stride[i] = first;
    expected.size *= expected.extent[i];
    size /= expected.extent[i];
    first *= extent;
  }
  EXPECT(self, result.size == expected.size);
  for (int64_t i = 0; i < result.size; i++)
    EXPECT(self, value_at(&result, i) == value_at(&expected, i));
}

START_TEST(common) {
  static const property properties[] = {
      {"max_common of any", prepare_two, operate_common, check_common, CASES, 6500, {COMPOSITION_REFUSALS}},
      {"max_common", prepare_common, operate_common, check_common, CASES, CASES, {COMPOSITION_REFUSALS}},
      {"domain_distribute", prepare_distribute, operate_distribute, check_distribute, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {composition, coalescing, complements, inverses, common};
  return run_suite(suite_of("algebra_properties", tests, sizeof tests / sizeof *tests));
}
