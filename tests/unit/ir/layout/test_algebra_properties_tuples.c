/* SPDX-License-Identifier: MIT */
/* Properties of integer tuples on random inputs: relations of structure, leaves and items, limits of size and depth,
 * division mode by mode. */
#include "tests/unit/support/property_support.h"

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
  items[tuple->count] = random_below(&self->state, 2) == 0 ? integer(self, 1) : tj_tuple_list(self->graph, NULL, 0);
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

static uint32_t depth_of(const tj_tuple *tuple) {
  uint32_t depth = 0;
  for (uint32_t i = 0; is_list(tuple) && i < tuple->count; i++) {
    uint32_t below = 1 + depth_of(tuple->item[i]);
    depth = below > depth ? below : depth;
  }
  return depth;
}

static void check_parts(property_case *self) {
  const tj_tuple *leaves[MOST_LEAVES], *items[MOST_LEAVES], *each[MOST_LEAVES];
  uint32_t count = (uint32_t)(walk_leaves(self->tuple, leaves) - leaves), found, rank = rank_of(self->tuple);
  const tj_tuple *const *actual = tj_tuple_leaves(self->graph, self->tuple, &found);
  EXPECT(self, found == count && tj_tuple_leaf_count(self->tuple) == count && tj_tuple_rank(self->tuple) == rank);
  EXPECT(self, memcmp(actual, leaves, count * sizeof *leaves) == 0 && self->tuple->depth == depth_of(self->tuple));
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

/* A tuple in itself, again and again, `count` times each, perhaps between integers (`flag`): as deep and as large as
 * tuples may be, or more. */
static void prepare_growth(property_case *self) {
  static const uint32_t most[] = {0, 300, 20, 13};
  self->count = 1 + random_below(&self->state, 3);
  self->number = random_below(&self->state, most[self->count]);
  self->flag = random_below(&self->state, 2) == 0;
  int64_t size = 1;
  for (int64_t i = 0; i < self->number && self->refusal == NO_CODE; i++) {
    size = self->count * size + (self->flag ? 3 : 1);
    self->refusal = size > TJ_MAX_TUPLE_SIZE ? TJ_WORK_LIMIT : i >= TJ_MAX_TUPLE_DEPTH ? TJ_DEPTH_LIMIT : NO_CODE;
  }
}

static void operate_growth(property_case *self) {
  const tj_tuple *one = integer(self, 1), *grown = one;
  for (int64_t i = 0; i < self->number; i++) {
    const tj_tuple *items[] = {one, grown, grown, grown, one};
    uint32_t first = self->flag ? 0 : 1;
    items[self->count + 1] = one;
    grown = tj_tuple_list(self->graph, items + first, (uint32_t)self->count + 2 - 2 * first);
  }
  self->begin = tj_tuple_leaf_count(grown);
  self->end = grown->depth;
}

static void check_growth(property_case *self) {
  uint32_t leaves = 1;
  for (int64_t i = 0; i < self->number; i++)
    leaves = leaves * (uint32_t)self->count + (self->flag ? 2 : 0);
  EXPECT(self, self->begin == leaves && self->end == self->number);
}

/* Of what are no integers there is no product. */
static void prepare_no_product(property_case *self) {
  const tj_tuple *any = tj_tuple_any(self->graph), *basis = tj_tuple_at(self->graph, integer(self, 2), 1);
  const tj_tuple *items[] = {integer(self, 3), random_below(&self->state, 2) == 0 ? any : basis};
  self->tuple = tj_tuple_list(self->graph, items, 2);
  self->refusal = TJ_WRONG_TYPE;
}

static void operate_product(property_case *self) {
  self->node = tj_tuple_product(self->graph, self->tuple);
}

START_TEST(structure) {
  static const property properties[] = {
      {"relations", prepare_related, operate_nothing, check_relations, CASES, CASES, {NO_CODE}},
      {"growth", prepare_growth, operate_growth, check_growth, 500, 250, {NO_CODE}},
      {"no product", prepare_no_product, operate_product, operate_nothing, 100, 0, {NO_CODE}},
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

int main(void) {
  const TTest *const tests[] = {structure, division};
  return run_suite(suite_of("algebra_properties_tuples", tests, sizeof tests / sizeof *tests));
}
