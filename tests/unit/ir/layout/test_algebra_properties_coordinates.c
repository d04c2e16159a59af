/* SPDX-License-Identifier: MIT */
/* Properties of basis strides and of coordinate tensors on random inputs: sums with zero extension, and layouts whose
 * values are coordinates. */
#include "tests/unit/support/property_support.h"

enum { CASES = 5000 };

/* --- sums of basis elements --- */

/* The components of (x, y, (z, w)) as paths, and a value of that structure. */
enum { COMPONENTS = 4 };

static const uint32_t component_path[COMPONENTS][2] = {{0, 0}, {1, 0}, {2, 0}, {2, 1}};
static const uint32_t component_level[COMPONENTS] = {1, 1, 2, 2};

typedef struct {
  int64_t of[COMPONENTS];
} components;

/* The component of a tuple that a path leads to; 0 where the tuple ends before. */
static int64_t component_at(const property_case *self, const tj_tuple *tuple, uint32_t component) {
  const uint32_t *path = component_path[component], level = component_level[component];
  if (tuple->kind == TJ_TUPLE_BASIS)
    return tuple->count == level && memcmp(tuple->path, path, level * sizeof *path) == 0 ? tuple->value->value : 0;
  for (uint32_t i = 0; i < level; i++) {
    if (!is_list(tuple)) {
      EXPECT(self, tuple->value->value == 0);
      return 0;
    }
    if (path[i] >= tuple->count)
      return 0;
    tuple = tuple->item[path[i]];
  }
  EXPECT(self, tuple->kind == TJ_TUPLE_INTEGER);
  return tuple->value->value;
}

static bool has_components(const property_case *self, const tj_tuple *tuple, components expected) {
  for (uint32_t i = 0; i < COMPONENTS; i++)
    if (component_at(self, tuple, i) != expected.of[i])
      return false;
  return true;
}

static const tj_tuple *random_basis(property_case *self, int64_t coefficient) {
  uint32_t component = random_below(&self->state, COMPONENTS);
  return tj_tuple_basis(self->graph, tj_int(self->graph, coefficient), component_path[component],
                        component_level[component]);
}

/* A basis element, zero, or a tuple of a structure that (x, y, (z, w)) begins with. */
static const tj_tuple *random_term(property_case *self) {
  uint32_t choice = random_below(&self->state, 6);
  if (choice == 0)
    return integer(self, 0);
  if (choice < 4)
    return random_basis(self, (int64_t)random_below(&self->state, 9) - 4);
  const tj_tuple *items[3];
  for (uint32_t i = 0; i < 3; i++)
    items[i] = integer(self, random_below(&self->state, 5));
  if (choice == 5)
    items[2] = tj_tuple_list(self->graph, items, 2);
  return tj_tuple_list(self->graph, items, choice == 5 ? 3 : 1 + random_below(&self->state, 2));
}

static void prepare_terms(property_case *self) {
  self->tuple = random_term(self);
  self->other = random_term(self);
  self->number = (int64_t)random_below(&self->state, 9) - 4;
}

static void operate_add(property_case *self) {
  self->answer = tj_tuple_add(self->graph, self->tuple, self->other);
  self->offset = tj_tuple_scale(self->graph, tj_int(self->graph, self->number), self->tuple);
}

/* As long as it has to be: the items that a term has in the end of the codomain. */
static uint32_t length_of(const tj_tuple *tuple) {
  return tuple->kind == TJ_TUPLE_BASIS ? tuple->path[0] + 1 : is_list(tuple) ? tuple->count : 0;
}

/* Component by component; what is longer decides the length. */
static void check_add(property_case *self) {
  uint32_t left = length_of(self->tuple), right = length_of(self->other);
  const tj_tuple *expanded = tj_tuple_expand_basis(self->graph, self->tuple);
  for (uint32_t i = 0; i < COMPONENTS; i++) {
    int64_t a = component_at(self, self->tuple, i), b = component_at(self, self->other, i);
    EXPECT(self, component_at(self, self->answer, i) == a + b);
    EXPECT(self, component_at(self, self->offset, i) == a * self->number);
    EXPECT(self, component_at(self, expanded, i) == a);
  }
  EXPECT(self, length_of(self->answer) == (left > right ? left : right) && self->answer->kind != TJ_TUPLE_BASIS);
  EXPECT(self, expanded->kind != TJ_TUPLE_BASIS && length_of(expanded) == left);
  EXPECT(self, self->offset->kind == self->tuple->kind);
  EXPECT(self, tj_tuple_equal(self->tuple, self->other) == same_tuple(self->tuple, self->other));
}

/* tuple @ mode, one level further out each time. */
static void check_at(property_case *self) {
  const tj_tuple *element = integer(self, self->number);
  uint32_t path[4];
  for (uint32_t i = 0; i < 4; i++) {
    path[3 - i] = random_below(&self->state, 9);
    element = tj_tuple_at(self->graph, element, path[3 - i]);
    EXPECT(self, element->kind == TJ_TUPLE_BASIS && element->count == i + 1);
    EXPECT(self, memcmp(element->path, path + 3 - i, (i + 1) * sizeof *path) == 0);
    EXPECT(self, element->value->value == self->number);
  }
}

/* An integer that is not 0, or an integer's component, where the other has a tuple. */
static void prepare_mismatch(property_case *self) {
  self->number = 1;
  self->tuple = random_basis(self, 3);
  self->other = integer(self, 5);
  if (random_below(&self->state, 2) == 0) {
    self->tuple = tj_tuple_at(self->graph, integer(self, 3), 2);
    self->other = tj_tuple_at(self->graph, tj_tuple_at(self->graph, integer(self, 3), 1), 2);
  }
  self->refusal = TJ_BASIS_MISMATCH;
}

/* A component so far out that the tuple would be too large, or just not. */
static void prepare_far(property_case *self) {
  self->number = TJ_MAX_RANK - 2 + (int64_t)random_below(&self->state, 4);
  self->tuple = tj_tuple_at(self->graph, integer(self, 7), (uint32_t)self->number);
  self->refusal = self->number >= TJ_MAX_RANK ? TJ_WORK_LIMIT : NO_CODE;
}

static void operate_far(property_case *self) {
  self->answer = tj_tuple_expand_basis(self->graph, self->tuple);
}

static void check_far(property_case *self) {
  EXPECT(self, self->answer->count == self->number + 1 && self->answer->item[self->number]->value->value == 7);
}

START_TEST(sums) {
  static const property properties[] = {
      {"add", prepare_terms, operate_add, check_add, CASES, CASES, {TJ_BASIS_MISMATCH}},
      {"at", prepare_terms, operate_nothing, check_at, CASES, CASES, {NO_CODE}},
      {"far", prepare_far, operate_far, check_far, 40, 10, {NO_CODE}},
      {"mismatches", prepare_mismatch, operate_add, operate_nothing, 500, 0, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- layouts of coordinates --- */

/* Extents, and strides into components of (x, y, (z, w)). */
static tj_layout random_basis_layout(property_case *self, uint32_t most) {
  int64_t extent[MOST_MODES];
  const tj_tuple *shape[MOST_MODES], *stride[MOST_MODES];
  uint32_t count = random_extents(self, extent, most);
  for (uint32_t i = 0; i < count; i++) {
    shape[i] = integer(self, extent[i]);
    stride[i] = random_below(&self->state, 8) == 0 ? integer(self, 0)
                                                   : random_basis(self, (int64_t)random_below(&self->state, 7) - 3);
  }
  uint64_t seed = next_random(&self->state) | 1, again = seed;
  return (tj_layout){random_structure(self->graph, &seed, shape, count, 1),
                     random_structure(self->graph, &again, stride, count, 1)};
}

/* The value of such a layout at an index. */
static components value_at_index(const property_case *self, tj_layout layout, int64_t index) {
  const tj_tuple *extents[MOST_LEAVES], *strides[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(layout.shape, extents) - extents);
  components value = {{0}};
  walk_leaves(layout.stride, strides);
  for (uint32_t i = 0; i < count; i++) {
    int64_t digit = i + 1 == count ? index : index % extents[i]->value->value;
    index /= extents[i]->value->value;
    for (uint32_t k = 0; k < COMPONENTS; k++)
      value.of[k] += digit * component_at(self, strides[i], k);
  }
  return value;
}

static void prepare_basis(property_case *self) {
  self->a = random_basis_layout(self, 4);
  self->b = random_layout(self, 2);
  self->number = random_below(&self->state, (uint32_t)product_of(self->a.shape));
}

static void operate_basis(property_case *self) {
  self->answer = tj_layout_apply(self->graph, self->a, integer(self, self->number));
  self->other = tj_layout_coshape(self->graph, self->a);
  self->tuple = tj_layout_coprofile(self->graph, self->a);
  self->result = tj_layout_coalesce(self->graph, self->a);
}

/* Values, the box that holds them, its structure, and the same with fewer modes; by components. */
static void check_basis(property_case *self) {
  components least = {{0}}, most = {{0}};
  int64_t size = product_of(self->a.shape);
  EXPECT(self, has_components(self, self->answer, value_at_index(self, self->a, self->number)));
  EXPECT(self, product_of(self->result.shape) == size && same_structure(self->tuple, self->other));
  for (int64_t i = 0; i < size; i++) {
    components value = value_at_index(self, self->a, i), few = value_at_index(self, self->result, i);
    EXPECT(self, memcmp(&value, &few, sizeof few) == 0);
    for (uint32_t k = 0; k < COMPONENTS; k++) {
      least.of[k] = value.of[k] < least.of[k] ? value.of[k] : least.of[k];
      most.of[k] = value.of[k] > most.of[k] ? value.of[k] : most.of[k];
    }
  }
  for (uint32_t k = 0; is_list(self->other) && k < COMPONENTS; k++) {
    int64_t extent = component_at(self, self->other, k);
    EXPECT(self, extent == most.of[k] - least.of[k] + 1 || (extent == 0 && most.of[k] == least.of[k]));
  }
}

/* Strides that add up or do not: integers do not add to basis elements unless they are 0, nor an item to its own
 * items. Now and then a stride or an extent that is none. */
static void prepare_strides(property_case *self) {
  const tj_tuple *shape[3], *stride[3], *any = tj_tuple_any(self->graph);
  bool integers = false, bases = false, whole = false, parts = false;
  for (uint32_t i = 0; i < 3; i++) {
    uint32_t choice = random_below(&self->state, 6);
    shape[i] = integer(self, random_extent(&self->state));
    stride[i] = choice < 2 ? integer(self, choice) : random_basis(self, 3);
    if (choice == 5)
      stride[i] = tj_tuple_at(self->graph, integer(self, 3), 2);
    integers = integers || choice == 1;
    bases = bases || choice > 1;
    whole = whole || choice == 5;
    parts = parts || (choice > 1 && stride[i]->count == 2);
  }
  if (bases && (integers || (whole && parts)))
    self->refusal = TJ_BASIS_MISMATCH;
  if (random_below(&self->state, 16) == 0) {
    bool is_extent = random_below(&self->state, 2) == 0;
    (is_extent ? shape : stride)[random_below(&self->state, 3)] = is_extent ? random_basis(self, 1) : any;
    self->refusal = TJ_WRONG_TYPE;
  }
  self->tuple = tj_tuple_list(self->graph, shape, 3);
  self->other = tj_tuple_list(self->graph, stride, 3);
}

static void operate_strides(property_case *self) {
  self->result = tj_layout_make(self->graph, self->tuple, self->other);
}

static void check_strides(property_case *self) {
  expect_same(self, self->result, (tj_layout){self->tuple, self->other});
}

/* A basis layout at integers that another layout gives. */
static void operate_compose(property_case *self) {
  self->result = tj_layout_compose(self->graph, self->a, self->b);
}

static void check_compose(property_case *self) {
  flat_layout b = flatten(self->b);
  EXPECT(self, product_of(self->result.shape) == b.size);
  for (int64_t i = 0; i < b.size; i++) {
    components expected = value_at_index(self, self->a, value_at(&b, i));
    components value = value_at_index(self, self->result, i);
    EXPECT(self, memcmp(&value, &expected, sizeof value) == 0);
  }
}

/* A layout of three modes, which have modes themselves, at the coordinates (x, y, (z, w)) that a basis layout gives.
 */
static void prepare_coordinates(property_case *self) {
  int64_t extent[COMPONENTS], stride[COMPONENTS];
  tj_layout modes[COMPONENTS];
  for (uint32_t i = 0; i < COMPONENTS; i++)
    extent[i] = 8 * random_power(&self->state, 2);
  compact_strides(&self->state, extent, stride, COMPONENTS);
  for (uint32_t i = 0; i < COMPONENTS; i++)
    modes[i] = pair_of(self, mode_of_integers(self, 4, stride[i]), mode_of_integers(self, extent[i] / 4, 1000 + i));
  modes[2] = pair_of(self, modes[2], modes[3]);
  self->a = side_by_side(self, modes, 3);
  const tj_tuple *shape[3], *strides[3];
  for (uint32_t i = 0; i < 3; i++) {
    shape[i] = integer(self, random_power(&self->state, 2));
    strides[i] = random_basis(self, random_power(&self->state, 1));
  }
  self->b = (tj_layout){tj_tuple_list(self->graph, shape, 3), tj_tuple_list(self->graph, strides, 3)};
}

/* A component that the left-hand layout does not have. */
static void prepare_no_coordinates(property_case *self) {
  prepare_coordinates(self);
  self->a = side_by_side(self, (const tj_layout[]){mode_of(self->a, 0)}, 1);
  self->b =
      (tj_layout){integer(self, 2), tj_tuple_at(self->graph, integer(self, 1), 1 + random_below(&self->state, 3))};
  self->refusal = TJ_RANK;
}

/* A's value at (x, y, (z, w)), each within its mode. */
static void check_coordinates(property_case *self) {
  int64_t size = product_of(self->b.shape);
  flat_layout result = flatten(self->result);
  EXPECT(self, result.size == size);
  for (int64_t i = 0; i < size; i++) {
    components at = value_at_index(self, self->b, i);
    const tj_tuple *inner[] = {integer(self, at.of[2]), integer(self, at.of[3])};
    const tj_tuple *items[] = {integer(self, at.of[0]), integer(self, at.of[1]),
                               tj_tuple_list(self->graph, inner, 2)};
    EXPECT(self, value_at(&result, i) == value_of(self->a, tj_tuple_list(self->graph, items, 3)));
  }
}

/* --- coordinate tensors --- */

static void prepare_tensor(property_case *self) {
  prepare_basis(self);
  do
    self->tuple = random_term(self);
  while (self->tuple->kind == TJ_TUPLE_BASIS);
}

static void operate_tensor(property_case *self) {
  self->composed = tj_coord_tensor(self->graph, self->tuple, self->a);
  self->answer = tj_composed_apply(self->graph, &self->composed, integer(self, self->number));
}

/* base + layout, where the base has all components of the layout's values. */
static void check_tensor(property_case *self) {
  components expected = value_at_index(self, self->a, self->number);
  const tj_tuple *leaves[MOST_LEAVES];
  for (uint32_t k = 0; k < COMPONENTS; k++)
    expected.of[k] += component_at(self, self->tuple, k);
  EXPECT(self, has_components(self, self->answer, expected));
  EXPECT(self, same_structure(self->composed.offset, self->answer));
  for (const tj_tuple **end = walk_leaves(self->composed.offset, leaves), **at = leaves; at < end; at++)
    EXPECT(self, (*at)->kind == TJ_TUPLE_INTEGER);
  expect_same(self, self->composed.layout, self->a);
}

/* A base with a _ somewhere, or a swizzle of coordinates: `flag`. */
static void prepare_no_tensor(property_case *self) {
  self->a = random_basis_layout(self, 4);
  self->flag = random_below(&self->state, 2) == 0;
  const tj_tuple *inner[] = {integer(self, 0), self->flag ? integer(self, 3) : tj_tuple_any(self->graph)};
  const tj_tuple *items[] = {integer(self, 1), integer(self, 2), tj_tuple_list(self->graph, inner, 2)};
  self->tuple = tj_tuple_list(self->graph, items, 3);
  self->refusal = TJ_WRONG_TYPE;
}

static void operate_no_tensor(property_case *self) {
  self->composed = tj_coord_tensor(self->graph, self->tuple, self->a);
  self->composed.swizzle = (tj_swizzle){1, 0, 1};
  self->answer = tj_composed_apply(self->graph, &self->composed, integer(self, 0));
}

/* A layout of integers with an offset. */
static void prepare_offset(property_case *self) {
  self->a = random_layout(self, 4);
  self->tuple = integer(self, random_below(&self->state, 100));
  self->number = random_below(&self->state, (uint32_t)product_of(self->a.shape));
}

static void check_offset(property_case *self) {
  flat_layout a = flatten(self->a);
  EXPECT(self, self->answer->kind == TJ_TUPLE_INTEGER);
  EXPECT(self, self->answer->value->value == self->tuple->value->value + value_at(&a, self->number));
}

#define COMPOSITION_REFUSALS TJ_COMPOSITION_STRIDE, TJ_COMPOSITION_SHAPE, TJ_COMPOSITION_OVERLAP

START_TEST(coordinates) {
  static const property properties[] = {
      {"strides", prepare_strides, operate_strides, check_strides, CASES, 1000, {NO_CODE}},
      {"values", prepare_basis, operate_basis, check_basis, CASES, CASES, {NO_CODE}},
      {"compose", prepare_basis, operate_compose, check_compose, CASES, 3800, {COMPOSITION_REFUSALS}},
      {"compose by coordinate",
       prepare_coordinates,
       operate_compose,
       check_coordinates,
       CASES,
       3950,
       {COMPOSITION_REFUSALS}},
      {"no such coordinate", prepare_no_coordinates, operate_compose, operate_nothing, 500, 0, {NO_CODE}},
      {"coord_tensor", prepare_tensor, operate_tensor, check_tensor, CASES, CASES, {TJ_BASIS_MISMATCH}},
      {"no coord_tensor", prepare_no_tensor, operate_no_tensor, operate_nothing, 500, 0, {NO_CODE}},
      {"offset", prepare_offset, operate_tensor, check_offset, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {sums, coordinates};
  return run_suite(suite_of("algebra_properties_coordinates", tests, sizeof tests / sizeof *tests));
}
