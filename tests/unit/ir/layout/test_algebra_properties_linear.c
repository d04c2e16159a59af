/* SPDX-License-Identifier: MIT */
/* Properties of linear maps over F2 on random inputs: application, composition, inverses, ranks and kernels, all by
 * enumeration, and the way from layouts and swizzles to linear maps and back. */
#include "tests/unit/support/property_support.h"

enum { CASES = 5000, MOST_WORDS = 32 };

/* --- linear maps --- */

/* A map of values x, (x, y) or (x, (y, z)), its bases random, now and then dependent, and its domain of modes. */
static const tj_f2 *random_map(property_case *self, uint32_t domain_bits, uint32_t components, uint32_t value_bits) {
  uint64_t basis[MOST_WORDS];
  const tj_tuple *extents[MOST_LEAVES], *zeros[] = {integer(self, 0), integer(self, 0)};
  uint32_t count = 0;
  const tj_tuple *pair = tj_tuple_list(self->graph, zeros, 2);
  for (uint32_t i = 0; i < domain_bits * components; i++)
    basis[i] = random_below(&self->state, UINT32_C(1) << value_bits);
  if (domain_bits > 1 && random_below(&self->state, 3) == 0)
    memcpy(basis, basis + (domain_bits - 1) * components, components * sizeof *basis);
  for (uint32_t bits = 0, left = domain_bits; left > 0; left -= bits) {
    bits = 1 + random_below(&self->state, left);
    extents[count++] = integer(self, INT64_C(1) << bits);
  }
  uint64_t structure = next_random(&self->state) | 1;
  const tj_tuple *domain =
      count == 0 ? integer(self, 1) : random_structure(self->graph, &structure, extents, count, 1);
  if (components == 3)
    zeros[1] = pair;
  const tj_tuple *codomain = components == 1 ? zeros[0] : tj_tuple_list(self->graph, zeros, 2);
  return tj_f2_make(self->graph, domain, codomain, basis, false);
}

static void prepare_map(property_case *self) {
  self->map = random_map(self, random_below(&self->state, 7), 1 + random_below(&self->state, 2),
                         1 + random_below(&self->state, 4));
}

/* The value at an index: the XOR of the bases of its bits. */
static void value_of_map(const tj_f2 *map, int64_t index, int64_t value[]) {
  memset(value, 0, map->component_count * sizeof *value);
  for (uint32_t bit = 0; index >> bit != 0; bit++)
    for (uint32_t i = 0; (index >> bit & 1) != 0 && i < map->component_count; i++)
      value[i] ^= (int64_t)map->basis[bit * map->component_count + i];
}

/* The leaves of a value as one number, so that equal values are equal numbers. */
static int64_t packed(const int64_t value[], uint32_t count) {
  int64_t all = 0;
  for (uint32_t i = 0; i < count; i++)
    all = all << 10 | value[i];
  return all;
}

static int64_t packed_value(const tj_f2 *map, int64_t index) {
  int64_t value[MOST_LEAVES];
  value_of_map(map, index, value);
  return packed(value, map->component_count);
}

static int64_t map_size(const tj_f2 *map) {
  return INT64_C(1) << map->bit_count;
}

/* How many values there are, and how many coordinates have the value 0. */
static void count_values(const property_case *self, const tj_f2 *map, int64_t *different, int64_t *zeros) {
  int64_t size = map_size(map), *values = TJ_NEW_ARRAY(self->job, int64_t, size);
  *zeros = 0;
  for (int64_t i = 0; i < size; i++) {
    values[i] = packed_value(map, i);
    *zeros += values[i] == 0;
  }
  qsort(values, (size_t)size, sizeof *values, compare_values);
  *different = 1;
  for (int64_t i = 1; i < size; i++)
    *different += values[i] != values[i - 1];
}

/* The index, in the domain, of the coordinate whose leaves are given. */
static int64_t index_of(const tj_tuple *domain, const int64_t digits[]) {
  const tj_tuple *extents[MOST_LEAVES];
  int64_t index = 0, first = 1;
  uint32_t count = (uint32_t)(walk_leaves(domain, extents) - extents);
  for (uint32_t i = 0; i < count; first *= extents[i++]->value->value)
    index += digits[i] * first;
  return index;
}

static int64_t value_as_index(const tj_f2 *map, const tj_tuple *domain, int64_t index) {
  int64_t value[MOST_LEAVES];
  value_of_map(map, index, value);
  return index_of(domain, value);
}

static void operate_map(property_case *self) {
  self->number = tj_f2_rank(self->graph, self->map);
  self->map_result = tj_f2_kernel(self->graph, self->map);
  self->other_map = tj_f2_by_index(self->graph, self->map);
}

/* 2^rank values; the kernel is all coordinates of value 0, each once; and the same map of one integer. */
static void check_map(property_case *self) {
  int64_t different, zeros, kernel_values, kernel_zeros;
  count_values(self, self->map, &different, &zeros);
  EXPECT(self, INT64_C(1) << self->number == different && map_size(self->map_result) == zeros);
  count_values(self, self->map_result, &kernel_values, &kernel_zeros);
  EXPECT(self, kernel_values == zeros && same_structure(self->map_result->codomain, self->map->domain));
  for (int64_t i = 0; i < zeros; i++)
    EXPECT(self, packed_value(self->map, value_as_index(self->map_result, self->map->domain, i)) == 0);
  EXPECT(self, !is_list(self->other_map->domain) && map_size(self->other_map) == map_size(self->map));
  EXPECT(self, self->other_map->domain->value->value == map_size(self->map));
  for (int64_t i = 0; i < map_size(self->map); i++)
    EXPECT(self, packed_value(self->other_map, i) == packed_value(self->map, i));
}

/* Bits and largest values of components. */
static void check_values(property_case *self) {
  int64_t largest[2] = {0}, value[2];
  for (int64_t i = 0; i < map_size(self->map); i++) {
    value_of_map(self->map, i, value);
    for (uint32_t k = 0; k < self->map->component_count; k++)
      largest[k] = value[k] > largest[k] ? value[k] : largest[k];
  }
  for (uint32_t k = 0; k < self->map->component_count; k++) {
    EXPECT(self, tj_f2_largest(self->graph, self->map, k) == (uint64_t)largest[k]);
    EXPECT(self, largest[k] >> tj_f2_value_bits(self->map, k) == 0);
    EXPECT(self, largest[k] == 0 || largest[k] >> (tj_f2_value_bits(self->map, k) - 1) == 1);
  }
}

/* At an index, at a coordinate, and bit by bit. */
static void check_application(property_case *self) {
  int64_t expected[2], value[2], digits[MOST_LEAVES];
  const tj_tuple *extents[MOST_LEAVES], *leaves[MOST_LEAVES], *values[2];
  uint32_t count = (uint32_t)(walk_leaves(self->map->domain, extents) - extents);
  for (int64_t index = 0; index < map_size(self->map); index++) {
    int64_t rest = index;
    for (uint32_t i = 0; i < count; rest /= extents[i++]->value->value) {
      digits[i] = rest % extents[i]->value->value;
      leaves[i] = integer(self, digits[i]);
    }
    const tj_tuple *coordinate = tj_tuple_from_leaves(self->graph, self->map->domain, leaves);
    const tj_tuple *by_index = tj_f2_apply(self->graph, self->map, integer(self, index));
    const tj_tuple *by_coordinate = tj_f2_apply(self->graph, self->map, coordinate);
    value_of_map(self->map, index, expected);
    tj_arena_mark before = tj_arena_here(&self->job->arena);
    tj_f2_evaluate(self->graph, self->map, digits, value);
    tj_arena_mark after = tj_arena_here(&self->job->arena);
    EXPECT(self, memcmp(&before, &after, sizeof before) == 0);
    EXPECT(self, memcmp(value, expected, self->map->component_count * sizeof *value) == 0);
    expect_tuple(self, by_coordinate, by_index);
    EXPECT(self, same_structure(by_index, self->map->codomain));
    walk_leaves(by_index, values);
    for (uint32_t i = 0; i < self->map->component_count; i++)
      EXPECT(self, values[i]->value->value == expected[i]);
  }
}

/* An index outside, or a parameter that may be negative. */
static void prepare_outside(property_case *self) {
  prepare_map(self);
  uint32_t choice = random_below(&self->state, 3);
  self->tuple = integer(self, choice == 0 ? -1 : map_size(self->map));
  self->refusal = TJ_COORDINATE_RANGE;
  if (choice != 2)
    return;
  const tj_node *index =
      tj_symbol_create(self->graph, "i", TJ_SYMBOL_PARAMETER, tj_int(self->graph, -1), tj_int(self->graph, 0), 1);
  self->tuple = tj_tuple_integer(self->graph, index);
  self->refusal = TJ_NEGATIVE_BITS;
}

static void operate_outside(property_case *self) {
  self->answer = tj_f2_apply(self->graph, self->map, self->tuple);
}

/* Values of the inner map as coordinates of the outer. */
static void prepare_compose(property_case *self) {
  uint32_t components = 1 + random_below(&self->state, 3), value_bits = 1 + random_below(&self->state, 2);
  self->map = random_map(self, random_below(&self->state, 6), components, value_bits);
  uint64_t basis[16];
  const tj_tuple *extents[] = {integer(self, 4), integer(self, 4)}, *zero = integer(self, 0);
  for (uint32_t i = 0; i < 6; i++)
    basis[i] = random_below(&self->state, 32);
  if (components == 3)
    extents[1] = tj_tuple_list(self->graph, extents, 2);
  const tj_tuple *domain = components == 1 ? integer(self, 16) : tj_tuple_list(self->graph, extents, 2);
  self->other_map = tj_f2_make(self->graph, domain, zero, basis, false);
}

static void check_compose_maps(property_case *self) {
  const char *obstacle;
  self->map_result = tj_f2_compose(self->graph, self->other_map, self->map, &obstacle);
  EXPECT(self, self->map_result != NULL && same_tuple(self->map_result->domain, self->map->domain));
  for (int64_t i = 0; i < map_size(self->map); i++)
    EXPECT(self, packed_value(self->map_result, i) ==
                     packed_value(self->other_map, value_as_index(self->map, self->other_map->domain, i)));
}

/* Inner values of more bits, or of another structure, than the outer domain. */
static void check_no_composition(property_case *self) {
  const char *obstacle = NULL;
  bool too_many = false;
  const tj_tuple *extents[] = {integer(self, 2), integer(self, 2)};
  bool list = is_list(self->map->codomain);
  for (uint32_t i = 0; i < self->map->component_count; i++)
    too_many = too_many || tj_f2_value_bits(self->map, i) > (list ? 1 : 2);
  bool fits = !list || self->map->component_count == 2;
  const tj_tuple *domain = list ? tj_tuple_list(self->graph, extents, 2) : integer(self, 4);
  const tj_f2 *outer = tj_f2_make(self->graph, domain, integer(self, 0), (const uint64_t[]){1, 2}, false);
  bool composes = tj_f2_compose(self->graph, outer, self->map, &obstacle) != NULL;
  EXPECT(self, composes == (fits && !too_many) && (composes || obstacle != NULL));
  const tj_f2 *deeper =
      tj_f2_make(self->graph, tj_tuple_list(self->graph, extents, 1), integer(self, 0), (const uint64_t[]){1}, false);
  EXPECT(self, !list || tj_f2_compose(self->graph, deeper, self->map, &obstacle) == NULL);
}

/* R with map(R(i)) = i as far as the bits are reached, and R(map(i)) = i. */
static void operate_right_inverse(property_case *self) {
  self->map_result = tj_f2_right_inverse(self->graph, self->map);
}

static bool has_value(const tj_f2 *map, int64_t value) {
  for (int64_t i = 0; i < map_size(map); i++)
    if (packed_value(map, i) == value)
      return true;
  return false;
}

static void check_right_inverse(property_case *self) {
  const tj_f2 *back = self->map_result;
  const tj_tuple *extents[2];
  uint32_t count = (uint32_t)(walk_leaves(back->domain, extents) - extents);
  EXPECT(self, count == self->map->component_count && same_structure(back->domain, self->map->codomain));
  for (int64_t i = 0; i < map_size(back); i++)
    EXPECT(self, value_as_index(self->map, back->domain, value_as_index(back, self->map->domain, i)) == i);
  for (uint32_t k = 0; k < count; k++) {
    int64_t next[2] = {0};
    next[k] = extents[k]->value->value;
    EXPECT(self, !has_value(self->map, packed(next, count)));
  }
}

static void prepare_injective(property_case *self) {
  prepare_map(self);
  int64_t different, zeros;
  count_values(self, self->map, &different, &zeros);
  self->refusal = zeros > 1 ? TJ_NOT_INJECTIVE : NO_CODE;
}

static void operate_left_inverse(property_case *self) {
  self->map_result = tj_f2_left_inverse(self->graph, self->map);
}

static void check_left_inverse(property_case *self) {
  const tj_f2 *back = self->map_result;
  EXPECT(self, same_structure(back->domain, self->map->codomain));
  for (int64_t i = 0; i < map_size(self->map); i++)
    EXPECT(self, value_as_index(back, self->map->domain, value_as_index(self->map, back->domain, i)) == i);
}

/* Two components, of so many bits each that together they may be more than an index has. */
static void prepare_many_bits(property_case *self) {
  uint64_t basis[4] = {0}, bits = 0;
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t top = 29 + random_below(&self->state, 4);
    basis[3 * i] = UINT64_C(1) << top;
    bits += top + 1;
  }
  const tj_tuple *zeros[] = {integer(self, 0), integer(self, 0)};
  self->map = tj_f2_make(self->graph, integer(self, 4), tj_tuple_list(self->graph, zeros, 2), basis, false);
  self->refusal = bits > TJ_MAX_F2_BITS ? TJ_NOT_INJECTIVE : NO_CODE;
}

static void check_many_bits(property_case *self) {
  const tj_f2 *back = self->map_result;
  uint32_t first = tj_f2_value_bits(self->map, 0);
  EXPECT(self, back->bit_count == first + tj_f2_value_bits(self->map, 1) && !back->extends);
  for (uint32_t bit = 0; bit < back->bit_count; bit++)
    EXPECT(self, back->basis[bit] == (bit + 1 == first ? 1 : bit + 1 == back->bit_count ? 2 : 0));
}

/* A bijection onto a box, or one bit short of it. */
static void prepare_bijection(property_case *self) {
  prepare_map(self);
  int64_t different, zeros, box = 1;
  count_values(self, self->map, &different, &zeros);
  for (uint32_t i = 0; i < self->map->component_count; i++)
    box <<= tj_f2_value_bits(self->map, i);
  self->refusal = different == map_size(self->map) && box == different ? NO_CODE : TJ_NOT_INJECTIVE;
}

static void operate_inverse(property_case *self) {
  self->map_result = tj_f2_inverse(self->graph, self->map);
}

static void check_inverse(property_case *self) {
  check_left_inverse(self);
  check_right_inverse(self);
}

/* A copy is equal; one with another bit, another domain or codomain is not. */
static void check_equal(property_case *self) {
  const tj_f2 *map = self->map;
  uint64_t basis[MOST_WORDS] = {0};
  uint32_t words = map->bit_count * map->component_count;
  memcpy(basis, map->basis, words * sizeof *basis);
  EXPECT(self, tj_f2_equal(map, tj_f2_make(self->graph, map->domain, map->codomain, basis, false)));
  const tj_tuple *deeper = tj_tuple_list(self->graph, &map->domain, 1);
  EXPECT(self, !tj_f2_equal(map, tj_f2_make(self->graph, deeper, map->codomain, basis, false)));
  const tj_tuple *other = tj_tuple_list(self->graph, &map->codomain, 1);
  EXPECT(self, !tj_f2_equal(map, tj_f2_make(self->graph, map->domain, other, basis, false)));
  if (words == 0)
    return;
  basis[random_below(&self->state, words)] ^= 1;
  EXPECT(self, !tj_f2_equal(map, tj_f2_make(self->graph, map->domain, map->codomain, basis, false)));
}

START_TEST(linear_maps) {
  static const property properties[] = {
      {"rank and kernel", prepare_map, operate_map, check_map, CASES, CASES, {NO_CODE}},
      {"values", prepare_map, operate_nothing, check_values, CASES, CASES, {NO_CODE}},
      {"application", prepare_map, operate_nothing, check_application, CASES / 5, CASES / 5, {NO_CODE}},
      {"outside", prepare_outside, operate_outside, operate_nothing, 500, 0, {NO_CODE}},
      {"composition", prepare_compose, operate_nothing, check_compose_maps, CASES, CASES, {NO_CODE}},
      {"no composition", prepare_map, operate_nothing, check_no_composition, CASES, CASES, {NO_CODE}},
      {"right inverse", prepare_map, operate_right_inverse, check_right_inverse, CASES, CASES, {NO_CODE}},
      {"left inverse", prepare_injective, operate_left_inverse, check_left_inverse, CASES, 2100, {NO_CODE}},
      {"left inverse of many bits", prepare_many_bits, operate_left_inverse, check_many_bits, 500, 100, {NO_CODE}},
      {"inverse", prepare_bijection, operate_inverse, check_inverse, CASES, 950, {NO_CODE}},
      {"equal", prepare_map, operate_nothing, check_equal, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- layouts as linear maps, and back --- */

static void prepare_bit_layout(property_case *self) {
  self->a = random_bit_layout(self, 1 + random_below(&self->state, 4));
  if (random_below(&self->state, 8) == 0)
    self->a = random_layout(self, 3);
  if (random_below(&self->state, 8) == 0)
    self->a = with_signs(self, self->a);
}

/* Whether the layout's value at each coordinate is the XOR of those at the coordinate's bits. */
static bool is_linear(const flat_layout *flat) {
  for (int64_t i = 0; i < flat->size; i++) {
    int64_t sum = 0;
    for (int64_t bit = 1; bit <= i; bit *= 2)
      sum ^= (i & bit) != 0 ? value_at(flat, bit) : 0;
    if (sum != value_at(flat, i))
      return false;
  }
  return true;
}

static bool has_even_extents(const flat_layout *flat) {
  for (uint32_t i = 0; i < flat->count; i++)
    if ((flat->extent[i] & (flat->extent[i] - 1)) != 0)
      return false;
  return true;
}

static bool descends(const flat_layout *flat) {
  for (uint32_t i = 0; i < flat->count; i++)
    if (flat->stride[i] < 0 && flat->extent[i] > 1)
      return true;
  return false;
}

/* A layout is what it was, but that a mode of one element has the stride 0. */
static void expect_again(const property_case *self, tj_layout again, tj_layout before) {
  const tj_tuple *extents[MOST_LEAVES], *strides[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(before.shape, extents) - extents);
  walk_leaves(before.stride, strides);
  for (uint32_t i = 0; i < count; i++)
    if (extents[i]->value->value == 1 || strides[i]->value->value == 0)
      strides[i] = integer(self, 0);
  expect_same(self, again, (tj_layout){before.shape, tj_tuple_from_leaves(self->graph, before.stride, strides)});
}

/* A map where all extents are powers of two, no mode descends, and the values are linear; and the layout again. */
static void check_of_layout(property_case *self) {
  const char *obstacle = NULL;
  flat_layout a = flatten(self->a);
  self->map = tj_f2_of_layout(self->graph, self->a, &obstacle);
  EXPECT(self, (self->map != NULL) == (has_even_extents(&a) && !descends(&a) && is_linear(&a)));
  EXPECT(self, (self->map == NULL) == (obstacle != NULL));
  if (self->map == NULL)
    return;
  for (int64_t i = 0; i < a.size; i++)
    EXPECT(self, packed_value(self->map, i) == value_at(&a, i));
  const tj_composed *again = tj_layout_of_f2(self->graph, self->map, &obstacle);
  EXPECT(self, again != NULL && again->swizzle.bits == 0 && product_of(again->layout.shape) == a.size);
  expect_again(self, again->layout, self->a);
}

/* Swizzles of layouts, whose maps are layouts with the same values again, swizzled where they must be. */
static void prepare_swizzled(property_case *self) {
  int64_t extent[4], stride[4];
  for (uint32_t i = 0; i < 4; i++)
    extent[i] = random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, 4);
  self->a = layout_of(self, extent, stride, 4);
  int64_t offset = random_below(&self->state, 8) == 0;
  self->composed = (tj_composed){random_swizzle(self, SWIZZLE_BITS), integer(self, offset), self->a};
}

static void check_swizzled(property_case *self) {
  const char *obstacle = NULL;
  flat_layout a = flatten(self->a);
  self->map = tj_f2_of_composed(self->graph, &self->composed, &obstacle);
  EXPECT(self, (self->map != NULL) == (self->composed.offset->value->value == 0));
  if (self->map == NULL)
    return;
  for (int64_t i = 0; i < a.size; i++)
    EXPECT(self, packed_value(self->map, i) == swizzled(self->composed.swizzle, value_at(&a, i)));
  const tj_composed *again = tj_layout_of_f2(self->graph, self->map, &obstacle);
  EXPECT(self, again != NULL && again->offset->value->value == 0);
  flat_layout back = flatten(again->layout);
  for (int64_t i = 0; i < a.size; i++)
    EXPECT(self, swizzled(again->swizzle, value_at(&back, i)) == packed_value(self->map, i));
}

/* Coordinate tensors have components that the layout's values lack: of ((x, y), z, w) some. */
static void prepare_basis(property_case *self) {
  static const uint32_t path[4][2] = {{0, 0}, {0, 1}, {1, 0}, {2, 0}};
  const tj_tuple *shape[3], *stride[3], *zero = integer(self, 0);
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t component = random_below(&self->state, 4);
    shape[i] = integer(self, random_power(&self->state, 2));
    stride[i] = tj_tuple_basis(self->graph, tj_int(self->graph, INT64_C(1) << (2 * i)), path[component],
                               component < 2 ? 2 : 1);
  }
  self->a = (tj_layout){tj_tuple_list(self->graph, shape, 3), tj_tuple_list(self->graph, stride, 3)};
  const tj_tuple *zeros[] = {tj_tuple_list(self->graph, (const tj_tuple *[]){zero, zero}, 2), zero, zero};
  self->composed = (tj_composed){.offset = tj_tuple_list(self->graph, zeros, 3), .layout = self->a};
}

static void check_basis(property_case *self) {
  const char *obstacle = NULL;
  self->map = tj_f2_of_composed(self->graph, &self->composed, &obstacle);
  EXPECT(self, self->map != NULL && self->map->component_count == 4);
  for (int64_t i = 0; i < map_size(self->map); i++) {
    int64_t value[4], expected[4] = {0}, rest = i;
    for (uint32_t k = 0; k < 3; k++) {
      int64_t extent = self->a.shape->item[k]->value->value;
      const tj_tuple *stride = self->a.stride->item[k];
      expected[stride->path[0] == 0 ? stride->path[1] : 1 + stride->path[0]] += rest % extent * stride->value->value;
      rest /= extent;
    }
    value_of_map(self->map, i, value);
    EXPECT(self, memcmp(value, expected, sizeof value) == 0);
  }
  const tj_f2 *narrow = tj_f2_of_layout(self->graph, self->a, &obstacle);
  const tj_composed *again = tj_layout_of_f2(self->graph, narrow, &obstacle);
  EXPECT(self, again != NULL && again->swizzle.bits == 0);
  expect_again(self, again->layout, self->a);
}

/* The value (x, y) of a layout of basis strides at an index. */
static void pair_value_at(const property_case *self, tj_layout layout, int64_t index, int64_t value[2]) {
  const tj_tuple *extents[MOST_LEAVES], *strides[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(layout.shape, extents) - extents);
  EXPECT(self, walk_leaves(layout.stride, strides) - strides == count);
  value[0] = value[1] = 0;
  for (uint32_t i = 0; i < count; index /= extents[i++]->value->value) {
    int64_t step = index % extents[i]->value->value * strides[i]->value->value;
    bool is_basis = strides[i]->kind == TJ_TUPLE_BASIS;
    EXPECT(self, is_basis ? strides[i]->count == 1 : strides[i]->value->value == 0);
    value[is_basis ? strides[i]->path[0] : 0] += step;
  }
}

/* Random linear maps: a layout has the values, or none has. */
static void check_layout_of_map(property_case *self) {
  const char *obstacle = NULL;
  const tj_composed *found = tj_layout_of_f2(self->graph, self->map, &obstacle);
  EXPECT(self, (found == NULL) == (obstacle != NULL));
  if (found == NULL)
    return;
  self->result = found->layout;
  EXPECT(self, product_of(self->result.shape) == map_size(self->map));
  bool is_pair = self->map->component_count == 2;
  EXPECT(self, !is_pair || found->swizzle.bits == 0);
  for (int64_t i = 0; i < map_size(self->map); i++) {
    int64_t value[2];
    if (is_pair)
      pair_value_at(self, self->result, i, value);
    else
      value[0] = swizzled(found->swizzle, value_of(self->result, integer(self, i)));
    EXPECT(self, packed(value, is_pair ? 2 : 1) == packed_value(self->map, i));
  }
}

/* --- maps of all integers --- */

static void prepare_extending(property_case *self) {
  self->swizzle = random_swizzle(self, SWIZZLE_BITS);
  self->other_swizzle = random_swizzle(self, SWIZZLE_BITS);
  self->number = (int64_t)(next_random(&self->state) >> 40);
}

static int64_t extended_value(const tj_f2 *map, int64_t value) {
  int64_t low = value & (map_size(map) - 1);
  return packed_value(map, low) ^ (value ^ low);
}

static int64_t applied(const property_case *self, const tj_f2 *map, int64_t value) {
  return tj_f2_apply(self->graph, map, integer(self, value))->value->value;
}

/* No fewer bits would do: the map is the identity from some bit on, and the last of its bits is not by itself. */
static bool has_fewest_bits(const tj_f2 *map) {
  int64_t last = map_size(map) / 2;
  bool stays = map->bit_count > 0 && packed_value(map, last) == last;
  for (int64_t bit = 1; bit < last; bit *= 2)
    stays = stays && (packed_value(map, bit) & last) == 0;
  return !stays;
}

/* A swizzle as a map of all integers, two composed, and inverses, which of two swizzles are those of each. */
static void check_extending(property_case *self) {
  const char *obstacle;
  const tj_f2 *a = tj_f2_of_swizzle(self->graph, self->swizzle);
  const tj_f2 *b = tj_f2_of_swizzle(self->graph, self->other_swizzle);
  const tj_f2 *both = tj_f2_compose(self->graph, a, b, &obstacle);
  int64_t at = self->number, once = swizzled(self->swizzle, at);
  EXPECT(self, a->extends && both->extends && extended_value(a, at) == once && applied(self, a, at) == once);
  int64_t twice = swizzled(self->swizzle, swizzled(self->other_swizzle, at));
  EXPECT(self, extended_value(both, at) == twice && applied(self, both, at) == twice);
  const tj_f2 *backs[] = {tj_f2_inverse(self->graph, both), tj_f2_left_inverse(self->graph, both),
                          tj_f2_right_inverse(self->graph, both)};
  EXPECT(self, has_fewest_bits(a) && has_fewest_bits(both));
  for (uint32_t i = 0; i < 3; i++) {
    EXPECT(self, backs[i]->extends && extended_value(backs[i], twice) == at && has_fewest_bits(backs[i]));
    EXPECT(self, tj_f2_compose(self->graph, backs[i], both, &obstacle)->bit_count == 0);
  }
  EXPECT(self, tj_f2_equal(both, tj_f2_compose(self->graph, a, b, &obstacle)));
}

/* A map of all integers that misses some bit: none of them has a right inverse. */
static void prepare_missing_bit(property_case *self) {
  uint64_t basis[4];
  uint32_t missed = random_below(&self->state, 4);
  for (uint32_t i = 0; i < 4; i++)
    basis[i] = random_below(&self->state, 16) & ~(UINT64_C(1) << missed);
  self->map = tj_f2_make(self->graph, integer(self, 16), integer(self, 0), basis, true);
  self->refusal = TJ_NOT_INJECTIVE;
}

/* A swizzle of about as many bits as a map may have. */
static void prepare_wide(property_case *self) {
  int32_t distance = 1 + (int32_t)random_below(&self->state, 30), bits = 60 + (int32_t)random_below(&self->state, 4);
  self->swizzle = (tj_swizzle){1, bits - 1 - distance, random_below(&self->state, 2) == 0 ? distance : -distance};
  self->count = bits;
  self->number = (int64_t)(next_random(&self->state) >> 2);
  self->refusal = bits > TJ_MAX_F2_BITS ? TJ_NOT_LINEAR : NO_CODE;
}

static void operate_wide(property_case *self) {
  self->map = tj_f2_of_swizzle(self->graph, self->swizzle);
}

static void check_wide(property_case *self) {
  EXPECT(self, self->map->extends && self->map->bit_count == self->count);
  EXPECT(self, extended_value(self->map, self->number) == swizzled(self->swizzle, self->number));
}

/* Below 2^bits, where no value leaves it. */
static void check_restricted(property_case *self) {
  const tj_f2 *map = tj_f2_of_swizzle(self->graph, self->swizzle);
  for (uint32_t bits = 0; bits < SWIZZLE_BITS + 3; bits++) {
    const tj_f2 *part = tj_f2_restrict(self->graph, map, bits);
    EXPECT(self, (part != NULL) == (bits >= map->bit_count));
    if (part == NULL)
      continue;
    EXPECT(self, !part->extends && part->bit_count == bits);
    for (int64_t i = 0; i < INT64_C(1) << bits; i++)
      EXPECT(self, packed_value(part, i) == swizzled(self->swizzle, i));
  }
  const tj_f2 *most = tj_f2_restrict(self->graph, map, TJ_MAX_F2_BITS);
  EXPECT(self, most != NULL && packed_value(most, self->number) == swizzled(self->swizzle, self->number));
  EXPECT(self, tj_f2_restrict(self->graph, map, TJ_MAX_F2_BITS + 1) == NULL);
}

/* A swizzle on either side of a map of a box. */
static void prepare_mixed(property_case *self) {
  prepare_extending(self);
  uint32_t bits = 1 + random_below(&self->state, 6);
  self->map = random_map(self, bits, 1, 1 + random_below(&self->state, 6));
}

static void check_mixed(property_case *self) {
  const char *obstacle;
  const tj_f2 *outer = tj_f2_of_swizzle(self->graph, self->swizzle);
  const tj_f2 *after = tj_f2_compose(self->graph, outer, self->map, &obstacle);
  EXPECT(self, after != NULL && !after->extends);
  for (int64_t i = 0; i < map_size(self->map); i++)
    EXPECT(self, packed_value(after, i) == swizzled(self->swizzle, packed_value(self->map, i)));
  const tj_f2 *flat = tj_f2_by_index(self->graph, self->map);
  const tj_f2 *before = tj_f2_compose(self->graph, flat, outer, &obstacle);
  EXPECT(self, (before != NULL) == (outer->bit_count <= flat->bit_count));
  for (int64_t i = 0; before != NULL && i < map_size(flat); i++)
    EXPECT(self, packed_value(before, i) == packed_value(flat, swizzled(self->swizzle, i)));
}

START_TEST(conversions) {
  static const property properties[] = {
      {"of layouts", prepare_bit_layout, operate_nothing, check_of_layout, CASES, CASES, {NO_CODE}},
      {"of swizzled layouts", prepare_swizzled, operate_nothing, check_swizzled, CASES, CASES, {NO_CODE}},
      {"of basis layouts", prepare_basis, operate_nothing, check_basis, CASES / 5, CASES / 5, {NO_CODE}},
      {"to layouts", prepare_map, operate_nothing, check_layout_of_map, CASES, CASES, {NO_CODE}},
      {"of swizzles", prepare_extending, operate_nothing, check_extending, CASES, CASES, {NO_CODE}},
      {"of wide swizzles", prepare_wide, operate_wide, check_wide, 500, 300, {NO_CODE}},
      {"not onto", prepare_missing_bit, operate_right_inverse, operate_nothing, 500, 0, {NO_CODE}},
      {"restricted", prepare_extending, operate_nothing, check_restricted, CASES / 10, CASES / 10, {NO_CODE}},
      {"mixed", prepare_mixed, operate_nothing, check_mixed, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {linear_maps, conversions};
  return run_suite(suite_of("algebra_properties_linear", tests, sizeof tests / sizeof *tests));
}
