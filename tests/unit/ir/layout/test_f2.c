/* SPDX-License-Identifier: MIT */
/* Linear maps over F2: random layouts and swizzles as matrices, against the oracle and against definitions. */
#include "ir/layout/f2.h"
#include "ir/value/value.h"
#include "tests/unit/support/layout_support.h"

enum { CASES = 3000, MOST_MODES = 4 };

static tj_swizzle random_swizzle(uint64_t *state) {
  int32_t bits = (int32_t)random_below(state, 4), shift = bits + (int32_t)random_below(state, 3);
  return (tj_swizzle){bits, (int32_t)random_below(state, 4), random_below(state, 2) == 0 ? shift : -shift};
}

/* Extents of powers of two; strides that permute bits, now and then 0. */
static tj_layout random_layout(reader *self, uint64_t *state) {
  uint32_t count = 1 + random_below(state, MOST_MODES), next = 0;
  const tj_tuple *shape[MOST_MODES], *stride[MOST_MODES];
  for (uint32_t k = 0; k < count; k++) {
    uint32_t bits = random_below(state, 4);
    shape[k] = tj_tuple_constant(self->graph, INT64_C(1) << bits);
    stride[k] = tj_tuple_constant(self->graph, random_below(state, 6) == 0 ? 0 : INT64_C(1) << next);
    next += bits;
    uint32_t other = random_below(state, k + 1);
    const tj_tuple *extent = shape[k], *moved = stride[k];
    shape[k] = shape[other];
    stride[k] = stride[other];
    shape[other] = extent;
    stride[other] = moved;
  }
  return tj_layout_make(self->graph, tj_tuple_list(self->graph, shape, count),
                        tj_tuple_list(self->graph, stride, count));
}

static const tj_f2 *linear(reader *self, const tj_composed *composed) {
  const char *obstacle;
  const tj_f2 *map = tj_f2_of_composed(self->graph, composed, &obstacle);
  ck_assert_msg(map != NULL, "%s", obstacle);
  return map;
}

/* The leaves of the coordinate with a linear index. */
static void digits_of(reader *self, const tj_tuple *domain, int64_t index, int64_t digit[]) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(self->graph, domain, &count);
  for (uint32_t i = 0; i < count; index /= extents[i++]->value->value)
    digit[i] = index % extents[i]->value->value;
}

static int64_t value_of(reader *self, const tj_f2 *map, int64_t index) {
  int64_t digit[64], value[8];
  digits_of(self, map->domain, index, digit);
  tj_f2_evaluate(self->graph, map, digit, value);
  return value[0];
}

/* --- random maps against the oracle --- */

typedef struct {
  void (*check)(reader *self, uint64_t *state);
  uint64_t state;
} property;

static void run_case(reader *self, const void *data) {
  property *tested = *(property *const *)data;
  tested->check(self, &tested->state);
}

static void run_property(void (*check)(reader *self, uint64_t *state)) {
  property self = {check, UINT64_C(0x9e3779b97f4a7c15)}, *data = &self;
  for (unsigned i = 0; i < CASES; i++)
    run_row(run_case, &data, (tj_problem_code)0);
}

/* By the oracle, by bases, by application to a number, and back as a layout. */
static void check_values(reader *self, uint64_t *state) {
  tj_graph *graph = self->graph;
  tj_composed composed = {random_swizzle(state), tj_tuple_constant(graph, 0), random_layout(self, state)};
  const tj_f2 *map = linear(self, &composed);
  const char *obstacle;
  const tj_composed *back = tj_layout_of_f2(graph, map, &obstacle);
  ck_assert_msg(back != NULL, "%s", obstacle);
  for (int64_t i = 0; i < tj_layout_size(graph, composed.layout)->value; i++) {
    int64_t digit[64], expected;
    digits_of(self, map->domain, i, digit);
    tj_oracle_composed(graph, &composed, digit, &expected);
    const tj_tuple *index = tj_tuple_constant(graph, i);
    ck_assert_int_eq(value_of(self, map, i), expected);
    ck_assert(tj_is_int(tj_f2_apply(graph, map, index)->value, expected));
    ck_assert(tj_is_int(tj_composed_apply(graph, back, index)->value, expected));
  }
}

/* A linear map of which the bases are random: any rank. */
static const tj_f2 *random_map(reader *self, uint64_t *state, uint32_t value_bits) {
  uint64_t basis[8];
  uint32_t bits = random_below(state, 7);
  for (uint32_t i = 0; i < bits; i++)
    basis[i] = random_below(state, 1U << value_bits);
  return tj_f2_make(self->graph, tj_tuple_constant(self->graph, INT64_C(1) << bits),
                    tj_tuple_constant(self->graph, 0), basis, false);
}

static void check_compositions(reader *self, uint64_t *state) {
  tj_graph *graph = self->graph;
  const char *obstacle;
  tj_composed composed = {random_swizzle(state), tj_tuple_constant(graph, 0), random_layout(self, state)};
  const tj_f2 *a = linear(self, &composed), *b = random_map(self, state, 6);
  const tj_f2 *both = tj_f2_compose(graph, a, b, &obstacle);
  bool fits = tj_f2_value_bits(b, 0) <= a->bit_count;
  ck_assert_int_eq(both != NULL, fits);
  for (int64_t i = 0; fits && i < INT64_C(1) << b->bit_count; i++)
    ck_assert_int_eq(value_of(self, both, i), value_of(self, a, value_of(self, b, i)));
}

static void check_swizzles(reader *self, uint64_t *state) {
  tj_graph *graph = self->graph;
  const char *obstacle;
  tj_swizzle a = random_swizzle(state), b = random_swizzle(state), single;
  const tj_f2 *both = tj_f2_compose(graph, tj_f2_of_swizzle(graph, a), tj_f2_of_swizzle(graph, b), &obstacle);
  bool is_single = tj_swizzle_compose(a, b, &single);
  for (int64_t i = 0; i < 2048; i++) {
    const tj_node *twice = tj_swizzle_apply(graph, a, tj_swizzle_apply(graph, b, tj_int(graph, i)));
    ck_assert_ptr_eq(tj_f2_apply(graph, both, tj_tuple_constant(graph, i))->value, twice);
    if (is_single)
      ck_assert_ptr_eq(tj_swizzle_apply(graph, single, tj_int(graph, i)), twice);
  }
}

/* Rank, kernel and largest value are what enumeration finds. */
static void check_rank(reader *self, uint64_t *state) {
  tj_graph *graph = self->graph;
  const tj_f2 *map = random_map(self, state, 6), *kernel = tj_f2_kernel(graph, map);
  bool seen[64] = {false};
  int64_t distinct = 0, zeros = 0, largest = 0;
  for (int64_t i = 0; i < INT64_C(1) << map->bit_count; i++) {
    int64_t value = value_of(self, map, i);
    distinct += !seen[value];
    seen[value] = true;
    zeros += value == 0;
    largest = value > largest ? value : largest;
  }
  ck_assert_int_eq(INT64_C(1) << tj_f2_rank(graph, map), distinct);
  ck_assert_int_eq(INT64_C(1) << kernel->bit_count, zeros);
  ck_assert_int_eq((int64_t)tj_f2_largest(graph, map, 0), largest);
  for (int64_t i = 0; i < zeros; i++) {
    ck_assert_int_eq(value_of(self, map, value_of(self, kernel, i)), 0);
    ck_assert(i == 0 || value_of(self, kernel, i) != 0);
  }
}

static void check_inverses(reader *self, uint64_t *state) {
  tj_graph *graph = self->graph;
  const tj_f2 *map = random_map(self, state, 6), *right = tj_f2_right_inverse(graph, map);
  for (int64_t i = 0; i < INT64_C(1) << right->bit_count; i++)
    ck_assert_int_eq(value_of(self, map, value_of(self, right, i)), i);
  if (right->bit_count < tj_f2_value_bits(map, 0)) {
    for (int64_t i = 0; i < INT64_C(1) << map->bit_count; i++)
      ck_assert_int_ne(value_of(self, map, i), INT64_C(1) << right->bit_count);
  }
  if (tj_f2_rank(graph, map) < map->bit_count)
    return;
  const tj_f2 *left = tj_f2_left_inverse(graph, map);
  for (int64_t i = 0; i < INT64_C(1) << map->bit_count; i++)
    ck_assert_int_eq(value_of(self, left, value_of(self, map, i)), i);
}

START_TEST(values) {
  run_property(check_values);
}
END_TEST

START_TEST(compositions) {
  run_property(check_compositions);
}
END_TEST

START_TEST(swizzles) {
  run_property(check_swizzles);
}
END_TEST

START_TEST(ranks) {
  run_property(check_rank);
}
END_TEST

START_TEST(inverses) {
  run_property(check_inverses);
}
END_TEST

/* --- rows --- */

static void print_map(const tj_f2 *map, const char *obstacle, reader *self, const text_row *row) {
  tj_text text = tj_text_begin(self->graph->job);
  if (map == NULL)
    tj_text_string(&text, obstacle);
  else
    tj_f2_print(&text, map);
  expect_text(text.data, row->expected, row->guards);
}

static void layout_row(reader *self, const void *data) {
  const text_row *row = data;
  const char *obstacle;
  const tj_f2 *map = tj_f2_of_layout(self->graph, read_layout(self, row->args[0]), &obstacle);
  print_map(map, obstacle, self, row);
}

START_TEST(layouts) {
  static const text_row rows[] = {
      {"modes", {"(4,8):(8,1)"}, "linear([[8, 16], [1, 2, 4]])"},
      {"nested", {"((2,2),8):((1,16),2)"}, "linear([[[1], [16]], [2, 4, 8]])"},
      {"coordinates", {"(2,4):(1@1@0,2@1)"}, "linear([[((0,1),0)], [((0,0),2), ((0,0),4)]])"},
      {"strides of several bits", {"(2,2):(5,2)"}, "linear([[5], [2]])"},
      {"negative strides of extent 1", {"(1,2):(-3,2)"}, "linear([[], [2]])"},
      {"extents", {"(4,6):(1,4)"}, "extent 6 is no power of two"},
      {"carries inside a mode", {"4:3"}, "bits of the mode 4:3 carry into each other, or into those of others"},
      {"carries between modes",
       {"(4,2):(1,2)"},
       "bits of the mode 2:2 carry into each other, or into those of others"},
      {"negative strides", {"4:-1"}, "stride -1 is negative"},
      {"parameters", {"M:1"}, "the mode M:1 depends on parameters"},
      {"symbolic strides", {"2:M"}, "the mode 2:M depends on parameters"},
  };
  RUN_TEXT_ROWS(rows, layout_row);
}
END_TEST

static void apply_row(reader *self, const void *data) {
  const text_row *row = data;
  const char *obstacle;
  const tj_f2 *map = tj_f2_of_layout(self->graph, read_layout(self, row->args[0]), &obstacle);
  expect_text(tj_tuple_text(self->graph->job, tj_f2_apply(self->graph, map, read_tuple(self, row->args[1]))),
              row->expected, row->guards);
}

START_TEST(application) {
  static const text_row rows[] = {
      {"an index", {"(4,8):(8,1)", "13"}, "11"},          {"a coordinate", {"(4,8):(8,1)", "(1,3)"}, "11"},
      {"a symbol", {"16:4", "i"}, "(i & 15) << 2"},       {"coordinates", {"(2,4):(1@0,2@1)", "(1,3)"}, "(1,6)"},
      {"outside", {"(4,8):(8,1)", "32"}, "TJ2014"},       {"negative", {"(4,8):(8,1)", "-1"}, "TJ2014"},
      {"what may be negative", {"16:4", "n"}, "TJ2018"},  {"structure", {"(4,8):(8,1)", "(1,2,3)"}, "TJ2013"},
      {"underscore", {"(4,8):(8,1)", "(1,_)"}, "TJ2005"},
  };
  RUN_TEXT_ROWS(rows, apply_row);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {values, compositions, swizzles, ranks, inverses, layouts, application};
  return run_suite(suite_of("f2", tests, sizeof tests / sizeof *tests));
}
