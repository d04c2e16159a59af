/* SPDX-License-Identifier: MIT */
/* Properties of swizzles on random inputs: values bit by bit, composition with each other and with layouts, swizzled
 * layouts; and of swizzles and layouts by the sizes of elements. */
#include "tests/unit/support/property_support.h"

enum { CASES = 5000 };

/* Any three numbers, of which some are a swizzle of 63 bits. */
static void prepare_numbers(property_case *self) {
  bool is_wide = random_below(&self->state, 4) == 0;
  self->number = is_wide ? random_below(&self->state, 2) : (int64_t)random_below(&self->state, 40) - 2;
  self->count = (int64_t)random_below(&self->state, is_wide ? 66 : 40) - (is_wide ? 0 : 2);
  self->node = tj_int(self->graph, (int64_t)random_below(&self->state, is_wide ? 3 : 80) - (is_wide ? 1 : 40));
  int64_t shift = self->node->value, distance = shift < 0 ? -shift : shift;
  bool is_swizzle = self->number >= 0 && self->count >= 0 && distance >= self->number &&
                    self->number + self->count + distance <= 63;
  self->refusal = is_swizzle ? NO_CODE : TJ_BAD_SWIZZLE;
}

static void operate_make(property_case *self) {
  self->swizzle = tj_swizzle_make(self->graph, self->number, self->count, self->node->value);
}

static void check_make(property_case *self) {
  EXPECT(self, self->swizzle.bits == self->number && self->swizzle.base == self->count);
  EXPECT(self, self->swizzle.shift == self->node->value);
}

static void prepare_swizzle(property_case *self) {
  self->swizzle = random_swizzle(self, SWIZZLE_BITS);
  self->number = (int64_t)(next_random(&self->state) >> 40);
  self->count = random_power(&self->state, 4);
}

static void operate_apply(property_case *self) {
  self->node = tj_swizzle_apply(self->graph, self->swizzle, tj_int(self->graph, self->number));
}

static void check_apply(property_case *self) {
  EXPECT(self, self->node->value == swizzled(self->swizzle, self->number));
}

static void prepare_negative(property_case *self) {
  prepare_swizzle(self);
  self->number = -1 - self->number;
  self->refusal = TJ_NEGATIVE_BITS;
}

/* Values in units of n: up by n the swizzle of the multiples of n, down by n each n values as one. */
static void operate_cast(property_case *self) {
  self->swizzle_result = tj_swizzle_upcast(self->graph, self->swizzle, self->count);
  self->other_swizzle = tj_swizzle_downcast(self->graph, self->swizzle, self->count);
}

static void check_cast(property_case *self) {
  int64_t wide = swizzled(self->swizzle, self->number * self->count);
  EXPECT(self, swizzled(self->swizzle_result, self->number) == wide / self->count);
  for (int64_t rest = 0; rest < self->count; rest++)
    EXPECT(self, swizzled(self->other_swizzle, self->number * self->count + rest) ==
                     swizzled(self->swizzle, self->number) * self->count + rest);
}

static void prepare_odd_cast(property_case *self) {
  prepare_swizzle(self);
  self->count = 3 * self->count;
  self->flag = random_below(&self->state, 2) == 0;
  self->refusal = TJ_NOT_DIVISIBLE;
}

static void operate_odd_cast(property_case *self) {
  (self->flag ? tj_swizzle_upcast : tj_swizzle_downcast)(self->graph, self->swizzle, self->count);
}

static void prepare_two_swizzles(property_case *self) {
  self->swizzle = random_swizzle(self, SWIZZLE_BITS);
  self->other_swizzle = random_swizzle(self, SWIZZLE_BITS);
  if (random_below(&self->state, 2) == 0)
    self->other_swizzle.shift = self->swizzle.shift;
  if (self->other_swizzle.bits > abs(self->other_swizzle.shift))
    self->other_swizzle.bits = abs(self->other_swizzle.shift);
}

/* The images of single bits; a swizzle is linear, so that they say all. */
static bool composes_to(const property_case *self, tj_swizzle both) {
  for (int64_t bit = 1; bit < INT64_C(1) << (2 * SWIZZLE_BITS); bit *= 2)
    if (swizzled(both, bit) != swizzled(self->swizzle, swizzled(self->other_swizzle, bit)))
      return false;
  return true;
}

static bool some_swizzle_does(const property_case *self, int32_t shift) {
  for (int32_t bits = 0; bits <= abs(shift); bits++)
    for (int32_t base = 0; base < SWIZZLE_BITS; base++)
      if (composes_to(self, (tj_swizzle){bits, base, shift}))
        return true;
  return false;
}

/* The composition where there is one; and there is none where it says so, of two that shift alike. */
static void check_compose(property_case *self) {
  bool composes = tj_swizzle_compose(self->swizzle, self->other_swizzle, &self->swizzle_result);
  EXPECT(self, !composes || composes_to(self, self->swizzle_result));
  bool alike = self->swizzle.shift == self->other_swizzle.shift;
  EXPECT(self, composes || !alike || !some_swizzle_does(self, self->swizzle.shift));
}

static void prepare_layout_of_swizzle(property_case *self) {
  self->a = random_bit_layout(self, 3);
  self->swizzle = random_swizzle(self, SWIZZLE_BITS);
}

/* layout(swizzle(c)) = swizzled(layout(c)); where bits do not move over, no swizzle of the same bits does it. */
static void check_layout_of_swizzle(property_case *self) {
  flat_layout a = flatten(self->a);
  self->flag = tj_layout_compose_swizzle(self->graph, self->a, self->swizzle, &self->swizzle_result);
  for (int64_t c = 0; self->flag && c < a.size; c++)
    EXPECT(self, value_at(&a, swizzled(self->swizzle, c)) == swizzled(self->swizzle_result, value_at(&a, c)));
}

/* A column-major or row-major layout of two modes moves a swizzle's fields over whole. */
static void prepare_two_modes(property_case *self) {
  int64_t rows = 8, columns = 16;
  bool by_column = random_below(&self->state, 2) == 0;
  const tj_layout modes[] = {mode_of_integers(self, rows, by_column ? 1 : columns),
                             mode_of_integers(self, columns, by_column ? rows : 1)};
  self->a = side_by_side(self, modes, 2);
  int32_t bits = (int32_t)random_below(&self->state, 4);
  self->swizzle = (tj_swizzle){bits, 0, random_below(&self->state, 2) == 0 ? 3 : -3};
}

static void check_moves_over(property_case *self) {
  check_layout_of_swizzle(self);
  EXPECT(self, self->flag);
}

/* swizzle(offset + layout(c)) */
static void prepare_composed(property_case *self) {
  self->a = random_compact(self, 4);
  self->composed =
      (tj_composed){random_swizzle(self, SWIZZLE_BITS), integer(self, random_below(&self->state, 64)), self->a};
  self->number = random_below(&self->state, (uint32_t)product_of(self->a.shape));
}

static void operate_composed(property_case *self) {
  self->answer = tj_composed_apply(self->graph, &self->composed, integer(self, self->number));
}

static void check_composed(property_case *self) {
  flat_layout a = flatten(self->a);
  int64_t inner = value_at(&a, self->number) + self->composed.offset->value->value, oracle;
  EXPECT(self, self->answer->value->value == swizzled(self->composed.swizzle, inner));
  int64_t digits[MOST_LEAVES], index = self->number;
  for (uint32_t i = 0; i < a.count; index /= a.extent[i++])
    digits[i] = index % a.extent[i];
  tj_oracle_composed(self->graph, &self->composed, digits, &oracle);
  EXPECT(self, oracle == self->answer->value->value);
}

/* --- what two layouts have in common, of which either may be swizzled --- */

static tj_composed perhaps_swizzled(property_case *self, tj_layout layout) {
  static const int64_t offsets[] = {0, 0, 0, 1, 4, 8, 12, 64};
  tj_composed composed = {.offset = integer(self, 0), .layout = layout};
  if (random_below(&self->state, 4) != 0) {
    composed.swizzle = random_swizzle(self, SWIZZLE_BITS);
    composed.offset = integer(self, offsets[random_below(&self->state, 8)]);
  }
  return composed;
}

static void prepare_common(property_case *self) {
  self->a = random_bit_layout(self, 3);
  self->b = random_below(&self->state, 4) == 0 ? random_bit_layout(self, 3) : self->a;
  self->composed = perhaps_swizzled(self, self->a);
  self->other_composed = random_below(&self->state, 4) == 0 ? self->composed : perhaps_swizzled(self, self->b);
  self->other_composed.layout = self->b;
}

static void operate_common(property_case *self) {
  self->result = tj_composed_max_common(self->graph, &self->composed, &self->other_composed);
  self->node = tj_composed_max_common_vector(self->graph, &self->composed, &self->other_composed);
}

static int64_t composed_at(const tj_composed *composed, int64_t index) {
  flat_layout flat = flatten(composed->layout);
  return swizzled(composed->swizzle, composed->offset->value->value + value_at(&flat, index));
}

/* In both, element i of what they have in common is i after the first; or they agree, swizzle and all. */
static void check_common(property_case *self) {
  flat_layout result = flatten(self->result);
  EXPECT(self, self->node->value == result.size);
  bool agree = true, is_contiguous = true;
  const int64_t first = composed_at(&self->composed, 0), other_first = composed_at(&self->other_composed, 0);
  for (int64_t i = 0; i < result.size; i++) {
    int64_t at = value_at(&result, i);
    int64_t value = composed_at(&self->composed, at), other = composed_at(&self->other_composed, at);
    agree = agree && value == other;
    is_contiguous = is_contiguous && value == first + i && other == other_first + i;
  }
  EXPECT(self, agree || is_contiguous);
}

START_TEST(in_common) {
  static const property properties[] = {
      {"common", prepare_common, operate_common, check_common, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

START_TEST(swizzles) {
  static const property properties[] = {
      {"make", prepare_numbers, operate_make, check_make, CASES, 1450, {NO_CODE}},
      {"apply", prepare_swizzle, operate_apply, check_apply, CASES, CASES, {NO_CODE}},
      {"apply to negative", prepare_negative, operate_apply, check_apply, 500, 0, {NO_CODE}},
      {"cast", prepare_swizzle, operate_cast, check_cast, CASES, CASES, {NO_CODE}},
      {"cast by others", prepare_odd_cast, operate_odd_cast, operate_nothing, 500, 0, {NO_CODE}},
      {"compose", prepare_two_swizzles, operate_nothing, check_compose, CASES, CASES, {NO_CODE}},
      {"layout o swizzle",
       prepare_layout_of_swizzle,
       operate_nothing,
       check_layout_of_swizzle,
       CASES,
       CASES,
       {NO_CODE}},
      {"moved over", prepare_two_modes, operate_nothing, check_moves_over, 1000, 1000, {NO_CODE}},
      {"composed", prepare_composed, operate_composed, check_composed, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- layouts of wider and narrower elements --- */

static void prepare_layout_cast(property_case *self) {
  self->a = random_layout(self, 4);
  if (random_below(&self->state, 4) == 0)
    self->a = with_signs(self, self->a);
  self->count = random_power(&self->state, 3);
}

/* What is 1 · n wide must divide, or be divided by, each stride. */
static void expect_castable(property_case *self) {
  flat_layout a = flatten(self->a);
  for (uint32_t i = 0; i < a.count; i++)
    if (a.stride[i] % self->count != 0 && self->count % a.stride[i] != 0)
      self->refusal = TJ_NOT_DIVISIBLE;
}

static void prepare_upcast(property_case *self) {
  prepare_layout_cast(self);
  expect_castable(self);
}

static void operate_upcast(property_case *self) {
  self->result = tj_layout_upcast(self->graph, self->a, self->count);
}

/* Strides in units of n; what lies within n elements, on either side, is one element: as CuTe, mode by mode. */
static void check_upcast(property_case *self) {
  flat_layout a = flatten(self->a), up = flatten(self->result);
  EXPECT(self, same_structure(self->a.shape, self->result.shape));
  for (uint32_t i = 0; i < a.count; i++) {
    int64_t merged = a.stride[i] == 0 || a.stride[i] % self->count == 0 ? 1 : self->count / llabs(a.stride[i]);
    EXPECT(self, up.extent[i] == (a.extent[i] + merged - 1) / merged);
    EXPECT(self, up.stride[i] == a.stride[i] * merged / self->count || a.stride[i] == 0);
    EXPECT(self, a.stride[i] != 0 || up.stride[i] == 0);
  }
}

static void prepare_downcast(property_case *self) {
  prepare_layout_cast(self);
  flat_layout a = flatten(self->a);
  self->refusal = TJ_NOT_DIVISIBLE;
  for (uint32_t i = 0; i < a.count; i++)
    if (a.stride[i] == 1)
      self->refusal = NO_CODE;
}

static void operate_downcast(property_case *self) {
  self->result = tj_layout_downcast(self->graph, self->a, self->count);
}

/* Mode by mode: what is adjacent gets n times as many, the rest lies n times as far apart. */
static void check_downcast(property_case *self) {
  flat_layout a = flatten(self->a), down = flatten(self->result);
  EXPECT(self, same_structure(self->a.shape, self->result.shape));
  for (uint32_t i = 0; i < a.count; i++) {
    bool adjacent = llabs(a.stride[i]) == 1;
    EXPECT(self, down.extent[i] == a.extent[i] * (adjacent ? self->count : 1));
    EXPECT(self, down.stride[i] == a.stride[i] * (adjacent ? 1 : self->count));
  }
}

/* Bits of elements before and after. */
static void prepare_recast(property_case *self) {
  self->a = random_layout(self, 3);
  self->number = 4 * (1 + random_below(&self->state, 8));
  self->count = 4 * (1 + random_below(&self->state, 8));
}

static void operate_recast(property_case *self) {
  int64_t common = 4;
  for (int64_t divisor = 4; divisor <= 32; divisor += 4)
    if (self->number % divisor == 0 && self->count % divisor == 0)
      common = divisor;
  tj_layout wide = self->count == common ? self->a : tj_layout_upcast(self->graph, self->a, self->count / common);
  self->second = self->number == common ? wide : tj_layout_downcast(self->graph, wide, self->number / common);
  self->result = tj_layout_recast(self->graph, self->a, self->number, self->count);
}

/* Wider first, then narrower. */
static void check_recast(property_case *self) {
  expect_same(self, self->result, self->second);
}

/* No elements, or elements of no bits. */
static void prepare_no_cast(property_case *self) {
  self->a = random_layout(self, 3);
  self->number = random_below(&self->state, 4);
  self->count = -(int64_t)random_below(&self->state, 3);
  self->refusal = TJ_BAD_SHAPE;
}

static void operate_no_cast(property_case *self) {
  if (self->number == 0)
    tj_layout_upcast(self->graph, self->a, self->count);
  else if (self->number == 1)
    tj_layout_downcast(self->graph, self->a, self->count);
  else
    tj_layout_recast(self->graph, self->a, self->number == 2 ? self->count : 8, self->number == 3 ? self->count : 8);
}

START_TEST(layout_casts) {
  static const property properties[] = {
      {"upcast", prepare_upcast, operate_upcast, check_upcast, CASES, 4050, {NO_CODE}},
      {"downcast", prepare_downcast, operate_downcast, check_downcast, CASES, 4000, {NO_CODE}},
      {"recast", prepare_recast, operate_recast, check_recast, CASES, 3550, {TJ_NOT_DIVISIBLE}},
      {"no cast", prepare_no_cast, operate_no_cast, operate_nothing, 500, 0, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {swizzles, in_common, layout_casts};
  return run_suite(suite_of("algebra_properties_swizzles", tests, sizeof tests / sizeof *tests));
}
