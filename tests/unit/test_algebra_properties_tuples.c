/* Properties of integer tuples, of basis strides and of coordinate tensors on random inputs: relations of structure,
 * division mode by mode, sums with zero extension, and layouts whose values are coordinates. */
#include "tests/unit/property_support.h"

enum { CASES = 5000 };

/* --- relations of structure --- */

/* A tuple in which some integers became tuples of the same product: a finer one. */
static const tj_tuple *refined(property_case *self, const tj_tuple *tuple) {
  const tj_tuple *items[MOST_LEAVES];
  if (!is_list(tuple)) {
    if (random_below(&self->state, 3) != 0)
      return tuple;
    const tj_tuple *parts[] = {integer(self, 1), tuple, integer(self, 1)};
    if (tuple->value->value % 2 == 0) {
      parts[0] = integer(self, 2);
      parts[1] = integer(self, tuple->value->value / 2);
    }
    return tj_tuple_list(self->graph, parts, 2 + random_below(&self->state, 2));
  }
  for (uint32_t i = 0; i < tuple->count; i++)
    items[i] = refined(self, tuple->item[i]);
  return tj_tuple_list(self->graph, items, tuple->count);
}

/* A tuple with one item more, one less, or another integer, somewhere. */
static const tj_tuple *damaged(property_case *self, const tj_tuple *tuple) {
  const tj_tuple *items[MOST_LEAVES];
  if (!is_list(tuple))
    return integer(self, tuple->value->value + 1);
  memcpy(items, tuple->item, tuple->count * sizeof *items);
  items[tuple->count] = integer(self, 1);
  uint32_t choice = random_below(&self->state, 4), at = random_below(&self->state, tuple->count);
  if (choice == 0)
    return tj_tuple_list(self->graph, items, tuple->count + 1);
  if (choice == 1)
    return tj_tuple_list(self->graph, items, tuple->count - 1);
  items[at] = damaged(self, items[at]);
  return tj_tuple_list(self->graph, items, tuple->count);
}

static void prepare_related(property_case *self) {
  self->tuple = random_shape(self, 5);
  self->other = self->tuple;
  uint32_t choice = random_below(&self->state, 4);
  if (choice > 0)
    self->other = refined(self, self->other);
  if (choice > 1)
    self->other = damaged(self, self->other);
  if (random_below(&self->state, 4) == 0) {
    const tj_tuple *other = self->other;
    self->other = self->tuple;
    self->tuple = other;
  }
}

/* A tuple as text, with every integer as x: its structure. */
static void write_structure(char **text, const tj_tuple *tuple) {
  if (!is_list(tuple)) {
    *(*text)++ = 'x';
    return;
  }
  *(*text)++ = '(';
  for (uint32_t i = 0; i < tuple->count; i++)
    write_structure(text, tuple->item[i]);
  *(*text)++ = ')';
}

/* The end of the tuple that begins at `text`. */
static const char *end_of(const char *text) {
  int depth = 0;
  do {
    depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    text++;
  } while (depth > 0);
  return text;
}

/* Whether `fine` has `coarse`'s structure with anything in the place of an x. */
static bool fits(const char *coarse, const char *fine) {
  for (; *coarse != '\0'; coarse++) {
    if (*coarse == 'x' && *fine != ')' && *fine != '\0')
      fine = end_of(fine);
    else if (*coarse != *fine++)
      return false;
  }
  return *fine == '\0';
}

/* The products of `tuple` that stand against the leaves of `coarse`, which it fits, are these leaves. */
static bool same_sizes(const tj_tuple *coarse, const tj_tuple *tuple) {
  if (!is_list(coarse))
    return coarse->value->value == product_of(tuple);
  for (uint32_t i = 0; i < coarse->count; i++)
    if (!same_sizes(coarse->item[i], tuple->item[i]))
      return false;
  return true;
}

static void check_relations(property_case *self) {
  char coarse[512] = {0}, fine[512] = {0}, *end = coarse;
  write_structure(&end, self->tuple);
  end = fine;
  write_structure(&end, self->other);
  bool is_finer = fits(coarse, fine), same = strcmp(coarse, fine) == 0;
  EXPECT(self, tj_tuple_congruent(self->tuple, self->other) == same);
  EXPECT(self, tj_tuple_weakly_congruent(self->tuple, self->other) == is_finer);
  bool sizes = is_finer && same_sizes(self->tuple, self->other);
  EXPECT(self, tj_tuple_compatible(self->graph, self->tuple, self->other) == sizes);
  bool equal = strcmp(tj_tuple_text(self->job, self->tuple), tj_tuple_text(self->job, self->other)) == 0;
  EXPECT(self, tj_tuple_equal(self->tuple, self->other) == equal);
}

/* --- leaves and items --- */

static void check_parts(property_case *self) {
  const tj_tuple *leaves[MOST_LEAVES], *items[MOST_LEAVES], *each[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(self->tuple, leaves) - leaves), found, rank = rank_of(self->tuple);
  const tj_tuple *const *actual = tj_tuple_leaves(self->graph, self->tuple, &found);
  EXPECT(self, found == count && tj_tuple_leaf_count(self->tuple) == count && tj_tuple_rank(self->tuple) == rank);
  EXPECT(self, memcmp(actual, leaves, count * sizeof *leaves) == 0);
  expect_tuple(self, tj_tuple_from_leaves(self->graph, self->tuple, leaves), self->tuple);
  EXPECT(self, tj_tuple_product(self->graph, self->tuple)->value == product_of(self->tuple));
  for (uint32_t i = 0; i < rank; i++) {
    items[i] = item_of(self->tuple, rank - 1 - i);
    each[i] = integer(self, product_of(item_of(self->tuple, i)));
    EXPECT(self, tj_tuple_mode(self->tuple, i) == item_of(self->tuple, i));
  }
  bool list = is_list(self->tuple);
  const tj_tuple *backwards = list ? tj_tuple_list(self->graph, items, rank) : self->tuple;
  expect_tuple(self, tj_tuple_reverse(self->graph, self->tuple), backwards);
  expect_tuple(self, tj_tuple_product_each(self->graph, self->tuple), tj_tuple_list(self->graph, each, rank));
  const tj_tuple *flat = list ? tj_tuple_list(self->graph, leaves, count) : self->tuple;
  expect_tuple(self, tj_tuple_flatten(self->graph, self->tuple), flat);
  expect_tuple(self, tj_tuple_unflatten(self->graph, flat, self->tuple), self->tuple);
  const tj_tuple *ones = tj_tuple_repeat_like(self->graph, self->tuple, integer(self, 7));
  EXPECT(self, same_structure(ones, self->tuple));
  walk_leaves(ones, leaves);
  for (uint32_t i = 0; i < count; i++)
    EXPECT(self, leaves[i]->value->value == 7);
}

START_TEST(structure) {
  static const property properties[] = {
      {"relations", prepare_related, operate_nothing, check_relations, CASES, CASES, {NO_CODE}},
      {"parts", prepare_shape, operate_nothing, check_parts, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

/* --- division of shapes --- */

/* Two tuples of one structure; now and then the second is an integer, or has fewer items. */
static void prepare_division(property_case *self) {
  int64_t a[4], b[4];
  uint32_t count = 1 + random_below(&self->state, 4);
  for (uint32_t i = 0; i < count; i++) {
    bool even = random_below(&self->state, 6) != 0;
    a[i] = even ? random_power(&self->state, 4) : 1 + random_below(&self->state, 9);
    b[i] = even ? random_power(&self->state, 4) : 1 + random_below(&self->state, 9);
  }
  uint64_t shape = next_random(&self->state) | 1;
  self->tuple = structured(self, shape, a, count);
  self->other = structured(self, shape, b, count);
  self->count = random_below(&self->state, 3);
  if (self->count == 1)
    self->other = integer(self, b[0] * 4);
  if (self->count == 2 && is_list(self->other))
    self->other = tj_tuple_list(self->graph, self->other->item, self->other->count - 1);
}

/* The quotients that an operation gives, an integer divisor going through the items from the first on, and what is
 * left of it to the next. NULL where it refuses. */
typedef int64_t (*quotient)(int64_t a, int64_t b); /* 0: none */

static const tj_tuple *divided(const property_case *self, const tj_tuple *a, const tj_tuple *b, quotient divide) {
  const tj_tuple *items[MOST_LEAVES];
  if (!is_list(a)) {
    int64_t value = divide(a->value->value, product_of(b));
    return value == 0 ? NULL : integer(self, value);
  }
  int64_t left = is_list(b) ? 0 : b->value->value;
  for (uint32_t i = 0; i < a->count; i++) {
    items[i] = a->item[i];
    if (!is_list(b))
      items[i] = divided(self, a->item[i], integer(self, left), divide);
    else if (i < b->count)
      items[i] = divided(self, a->item[i], b->item[i], divide);
    if (items[i] == NULL)
      return NULL;
    if (!is_list(b) && i + 1 < a->count)
      left = divide(left, product_of(a->item[i]));
    if (!is_list(b) && left == 0)
      return NULL;
  }
  return tj_tuple_list(self->graph, items, a->count);
}

static int64_t quotient_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

static int64_t quotient_of_shapes(int64_t a, int64_t b) {
  return a % b == 0 ? a / b : b % a == 0 ? 1 : 0;
}

static int64_t multiple_above(int64_t a, int64_t b) {
  return (a + b - 1) / b * b;
}

/* Missing items of the divisor leave theirs alone; a tuple does not divide an integer's items. */
static void operate_ceil_div(property_case *self) {
  self->answer = tj_tuple_ceil_div(self->graph, self->tuple, self->other);
}

static void check_ceil_div(property_case *self) {
  expect_tuple(self, self->answer, divided(self, self->tuple, self->other, quotient_up));
}

static void prepare_shape_div(property_case *self) {
  prepare_division(self);
  if (self->count == 2 && is_list(self->tuple))
    self->refusal = TJ_NOT_CONGRUENT;
  else if (divided(self, self->tuple, self->other, quotient_of_shapes) == NULL)
    self->refusal = TJ_NOT_DIVISIBLE;
}

static void operate_shape_div(property_case *self) {
  self->answer = tj_shape_div(self->graph, self->tuple, self->other);
}

static void check_shape_div(property_case *self) {
  expect_tuple(self, self->answer, divided(self, self->tuple, self->other, quotient_of_shapes));
}

static void prepare_round_up(property_case *self) {
  prepare_division(self);
  if (is_list(self->tuple) != is_list(self->other))
    self->refusal = TJ_NOT_CONGRUENT;
}

static void operate_round_up(property_case *self) {
  self->answer = tj_tuple_round_up(self->graph, self->tuple, self->other);
}

static void check_round_up(property_case *self) {
  expect_tuple(self, self->answer, divided(self, self->tuple, self->other, multiple_above));
}

/* A divisor that is not positive. */
static void prepare_bad_divisor(property_case *self) {
  self->tuple = integer(self, 1 + random_below(&self->state, 9));
  self->other = integer(self, -(int64_t)random_below(&self->state, 3));
  self->number = random_below(&self->state, 3);
  self->refusal = TJ_BAD_SHAPE;
}

static void operate_bad_divisor(property_case *self) {
  void (*const operations[])(property_case *) = {operate_ceil_div, operate_shape_div, operate_round_up};
  operations[self->number](self);
}

/* Of all integers in both. */
static void prepare_gcd(property_case *self) {
  int64_t values[4], common = 1 + random_below(&self->state, 6);
  for (uint32_t i = 0; i < 4; i++)
    values[i] = common * ((int64_t)random_below(&self->state, 40) - 10);
  self->tuple = structured(self, next_random(&self->state) | 1, values, 2);
  self->other = structured(self, next_random(&self->state) | 1, values + 2, 2);
}

static void operate_gcd(property_case *self) {
  self->number = tj_tuple_gcd(self->graph, self->tuple, self->other);
}

static void check_gcd(property_case *self) {
  const tj_tuple *values[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(self->other, walk_leaves(self->tuple, values)) - values);
  int64_t largest = 0;
  for (int64_t divisor = 1; divisor <= 300; divisor++) {
    bool divides = true, any = false;
    for (uint32_t i = 0; i < count; i++) {
      divides = divides && values[i]->value->value % divisor == 0;
      any = any || values[i]->value->value != 0;
    }
    largest = divides && any ? divisor : largest;
  }
  EXPECT(self, self->number == largest);
}

START_TEST(division) {
  static const property properties[] = {
      {"ceil_div", prepare_division, operate_ceil_div, check_ceil_div, CASES, CASES, {NO_CODE}},
      {"shape_div", prepare_shape_div, operate_shape_div, check_shape_div, CASES, 3100, {NO_CODE}},
      {"round_up", prepare_round_up, operate_round_up, check_round_up, CASES, 3800, {NO_CODE}},
      {"bad divisors", prepare_bad_divisor, operate_bad_divisor, operate_nothing, 500, 0, {NO_CODE}},
      {"gcd", prepare_gcd, operate_gcd, check_gcd, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

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

START_TEST(sums) {
  static const property properties[] = {
      {"add", prepare_terms, operate_add, check_add, CASES, CASES, {TJ_BASIS_MISMATCH}},
      {"at", prepare_terms, operate_nothing, check_at, CASES, CASES, {NO_CODE}},
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
      {"offset", prepare_offset, operate_tensor, check_offset, CASES, CASES, {NO_CODE}},
  };
  RUN_PROPERTIES(properties);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {structure, division, sums, coordinates};
  return run_suite(suite_of("algebra_properties_tuples", tests, sizeof tests / sizeof *tests));
}
