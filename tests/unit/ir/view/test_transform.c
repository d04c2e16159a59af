/* SPDX-License-Identifier: MIT */
/* Transforms: each in both directions, its lengths, its predicate, its errors. */
#include "tests/unit/support/layout_support.h"

static const tj_node *const *read_indices(reader *self, const char *text, uint32_t expected) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(self->graph, read_tuple(self, text), &count);
  ck_assert_uint_eq(count, expected);
  const tj_node **nodes = TJ_NEW_ARRAY(self->graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++)
    nodes[i] = leaves[i]->value;
  return nodes;
}

static const char *text_of(reader *self, const tj_node *const nodes[], uint32_t count) {
  tj_text text = tj_text_begin(self->graph->job);
  tj_text_char(&text, '(');
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(&text, i == 0 ? "%s" : ",%s", nodes[i] == NULL ? "_" : tj_node_text(self->graph->job, nodes[i]));
  tj_text_char(&text, ')');
  return text.data;
}

static void lower_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_transform *transform = read_transform(self, row->args[0]);
  const tj_node *const *upper = read_indices(self, row->args[1], transform->upper_count);
  const tj_node *lower[TJ_MAX_DIMENSIONS];
  tj_transform_lower(self->graph, transform, upper, lower);
  expect_text(text_of(self, lower, transform->lower_count), row->expected, row->guards);
}

static void upper_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_transform *transform = read_transform(self, row->args[0]);
  const tj_node *const *lower = read_indices(self, row->args[1], transform->lower_count);
  const tj_node *upper[TJ_MAX_DIMENSIONS];
  tj_transform_upper(self->graph, transform, lower, upper);
  expect_text(text_of(self, upper, transform->upper_count), row->expected, row->guards);
}

static void valid_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_transform *transform = read_transform(self, row->args[0]);
  const tj_node *const *upper = read_indices(self, row->args[1], transform->upper_count);
  const tj_node *valid = tj_transform_valid(self->graph, transform, upper);
  expect_text(tj_node_text(self->graph->job, valid), row->expected, row->guards);
}

/* The text, the lower and the upper lengths. */
static void make_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_transform *transform = read_transform(self, row->args[0]);
  tj_text text = tj_text_begin(self->graph->job);
  tj_transform_print(&text, transform);
  tj_text_format(&text, " %s", text_of(self, transform->lower_length, transform->lower_count));
  tj_text_format(&text, " %s", text_of(self, transform->upper_length, transform->upper_count));
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(making) {
  static const text_row rows[] = {
      {"pass_through", {"pass_through(60)"}, "pass_through(60) (60) (60)"},
      {"pad", {"pad(3,1,2)"}, "pad(3,1,2) (3) (6)"},
      {"left_pad", {"left_pad(3,1)"}, "left_pad(3,1) (3) (4)"},
      {"right_pad", {"right_pad(3,2)"}, "right_pad(3,2) (3) (5)"},
      {"merge", {"merge(4,5)"}, "merge(4,5) (4,5) (20)"},
      {"merge of a tuple", {"merge((4,5))"}, "merge(4,5) (4,5) (20)"},
      {"unmerge", {"unmerge(3,4,2)"}, "unmerge(3,4,2) (24) (3,4,2)"},
      {"embed", {"embed((2,3),(12,1))"}, "embed((2,3),(12,1)) (_) (2,3)"},
      {"embed of one dimension", {"embed(2,12)"}, "embed((2),(12)) (_) (2)"},
      {"replicate", {"replicate(3,4)"}, "replicate(3,4) () (3,4)"},
      {"offset", {"offset(48,16)"}, "offset(48,16) (_) (48)"},
      {"negative offset", {"offset(48,-16)"}, "offset(48,-16) (_) (48)"},
      {"slice", {"slice(10,2,7)"}, "slice(10,2,7) (10) (5)"},
      {"modulo", {"modulo(4,16)"}, "modulo(4,16) (_) (16)"},
      {"xor", {"xor(4,8)"}, "xor(4,8) (4,8) (4,8)"},
      {"freeze", {"freeze(3)"}, "freeze(3) (_) ()"},
      {"insert", {"insert(5)"}, "insert(5) () (5)"},
      {"cyclic_shift", {"cyclic_shift(4,8)"}, "cyclic_shift(4,8) (4,8) (4,8)"},
      {"symbols", {"pad(M,1,2)"}, "pad(M,1,2) (M) (M + 1 + 2)"},
      {"a rank-1 tuple is its element", {"pad((3),(1),2)"}, "pad(3,1,2) (3) (6)"},
      {"indexing", {"indexing(4,(1,2,3,0))"}, "indexing(4,(1,2,3,0)) (_) (4)"},
      {"indexing with one entry", {"indexing(1,7)"}, "indexing(1,(7)) (_) (1)"},
      {"indexing with parameters", {"indexing(2,(M,0))"}, "indexing(2,(M,0)) (_) (2)"},
      {"indexing of another length", {"indexing(3,(1,2,3,0))"}, "TJ3001"},
      {"indexing without a table", {"indexing(3)"}, "TJ3001"},
      {"indexing of three arguments", {"indexing(2,3,4)"}, "TJ3001"},
      {"indexing with a negative entry", {"indexing(2,(0,-1))"}, "TJ3001"},
      {"indexing of a length that is a parameter", {"indexing(M,(0,1))"}, "TJ3001"},
      {"no arguments", {"merge()"}, "TJ3001"},
      {"too few arguments", {"pad(3,1)"}, "TJ3001"},
      {"too many arguments", {"pass_through(3,1)"}, "TJ3001"},
      {"length 0", {"merge(4,0)"}, "TJ3001"},
      {"negative pad", {"left_pad(4,-1)"}, "TJ3001"},
      {"empty slice", {"slice(10,7,7)"}, "TJ3001"},
      {"slice beyond the end", {"slice(10,7,11)"}, "TJ3001"},
      {"slice before the beginning", {"slice(10,-1,5)"}, "TJ3001"},
      {"embed of different ranks", {"embed((2,3),(12))"}, "TJ3001"},
      {"embed of one tuple", {"embed((2,3))"}, "TJ3001"},
      {"nested lengths", {"merge((4,(5,2)))"}, "TJ3001"},
      {"basis element", {"merge(4,1@0)"}, "TJ3001"},
      {"modulo 0", {"modulo(0,16)"}, "TJ3001"},
      {"freeze at a negative index", {"freeze(-1)"}, "TJ3001"},
      {"xor of one length", {"xor(4)"}, "TJ3001"},
      {"a length that may be 0", {"merge(4,i)"}, "TJ2015"},
      {"a slice that may be too long", {"slice(M,0,64)"}, "TJ2015"},
      {"overflow", {"merge(4611686018427387904,2)"}, "TJ2010"},
  };
  RUN_TEXT_ROWS(rows, make_row);
}
END_TEST

START_TEST(to_lower) {
  static const text_row rows[] = {
      {"pass_through", {"pass_through(60)", "25"}, "(25)"},
      {"pad before", {"pad(3,1,1)", "0"}, "(-1)"},
      {"pad inside", {"pad(3,1,1)", "2"}, "(1)"},
      {"pad after", {"pad(3,1,1)", "4"}, "(3)"},
      {"left_pad", {"left_pad(3,2)", "1"}, "(-1)"},
      {"right_pad", {"right_pad(3,2)", "4"}, "(4)"},
      {"merge", {"merge(4,5)", "13"}, "(2,3)"},
      {"merge beyond its length: the first digit is not reduced", {"merge(4,5)", "29"}, "(5,4)"},
      {"merge of a negative index rounds down", {"merge(4,5)", "-1"}, "(-1,4)"},
      {"merge of one", {"merge(7)", "9"}, "(9)"},
      {"unmerge", {"unmerge(3,4,2)", "(1,3,0)"}, "(14)"},
      {"embed", {"embed((2,3),(12,1))", "(1,2)"}, "(14)"},
      {"embed with negative and zero strides", {"embed((2,3),(-1,0))", "(1,2)"}, "(-1)"},
      {"replicate", {"replicate(3,4)", "(1,2)"}, "()"},
      {"offset 0", {"offset(48,16)", "0"}, "(16)"},
      {"offset 5", {"offset(48,16)", "5"}, "(21)"},
      {"offset 47", {"offset(48,16)", "47"}, "(63)"},
      {"slice", {"slice(10,2,7)", "4"}, "(6)"},
      {"modulo", {"modulo(4,16)", "14"}, "(2)"},
      {"modulo of a negative index", {"modulo(4,16)", "-1"}, "(3)"},
      {"xor", {"xor(4,8)", "(3,6)"}, "(3,5)"},
      {"xor takes the row modulo the length", {"xor(20,8)", "(11,6)"}, "(11,5)"},
      {"xor of a negative index, as in two's complement", {"xor(4,8)", "(3,-2)"}, "(3,-3)"},
      {"xor with a length that is no power of two", {"xor(4,6)", "(3,5)"}, "(3,6)"},
      {"freeze", {"freeze(3)", "()"}, "(3)"},
      {"insert", {"insert(5)", "4"}, "()"},
      {"cyclic_shift", {"cyclic_shift(4,8)", "(3,6)"}, "(3,1)"},
      {"indexing", {"indexing(4,(5,2,2,0))", "0"}, "(5)"},
      {"indexing at the end", {"indexing(4,(5,2,2,1))", "3"}, "(1)"},
      {"indexing before the beginning", {"indexing(4,(5,2,2,1))", "-1"}, "(5)"},
      {"indexing after the end", {"indexing(4,(5,2,2,1))", "4"}, "(1)"},
      {"symbols: merge", {"merge(4,6)", "j"}, "(j/6,j%6)"},
      {"symbols: merge of ones", {"merge(1,24,1)", "j"}, "(j/24,j%24,0)"},
      {"symbols: merge of symbols", {"merge(M,N)", "j"}, "(j/N,j%N)"},
      {"symbols: unmerge", {"unmerge(3,4,2)", "(i,j,1)"}, "(i*8 + j*2 + 1)"},
      {"symbols: embed", {"embed((2,3),(N,1))", "(i,j)"}, "(i*N + j)"},
      {"symbols: pad of 0", {"pad(3,0,1)", "i"}, "(i)"},
      {"symbols: xor", {"xor(16,8)", "(i,j)"}, "(i,j ^ i%8)"},
      {"symbols: xor of what may be negative", {"xor(16,8)", "(i,n)"}, "(i,n/8*8 + (n%8 ^ i%8))"},
      {"overflow", {"embed((2),(9223372036854775807))", "2"}, "TJ2010"},
  };
  RUN_TEXT_ROWS(rows, lower_row);
}
END_TEST

START_TEST(to_upper) {
  static const text_row rows[] = {
      {"pass_through", {"pass_through(60)", "25"}, "(25)"},
      {"pad", {"pad(3,1,1)", "1"}, "(2)"},
      {"merge", {"merge(4,5)", "(2,3)"}, "(13)"},
      {"unmerge", {"unmerge(3,4,2)", "14"}, "(1,3,0)"},
      {"embed", {"embed((2,3),(12,1))", "14"}, "(1,2)"},
      {"embed in any order", {"embed((3,2),(1,12))", "14"}, "(2,1)"},
      {"embed with length 1", {"embed((2,1),(12,0))", "12"}, "(1,0)"},
      {"offset", {"offset(48,16)", "21"}, "(5)"},
      {"slice", {"slice(10,2,7)", "6"}, "(4)"},
      {"xor", {"xor(4,8)", "(3,5)"}, "(3,6)"},
      {"cyclic_shift", {"cyclic_shift(4,8)", "(3,1)"}, "(3,6)"},
      {"freeze", {"freeze(3)", "3"}, "()"},
      {"indexing", {"indexing(4,(5,2,2,0))", "5"}, "(0)"},
      {"modulo that changes nothing", {"modulo(8,8)", "5"}, "(5)"},
      {"symbols: unmerge", {"unmerge(3,4,2)", "j"}, "(j/2/4,j/2%4,j%2)"},
      {"symbols: embed", {"embed((2,3),(12,1))", "j"}, "(j/12,j%12)"},
      {"symbols: merge", {"merge(4,6)", "(i,j)"}, "(i*6 + j)"},
      {"merge: a digit out of range", {"merge(4,5)", "(2,5)"}, "TJ3002"},
      {"unmerge: out of range", {"unmerge(3,4,2)", "24"}, "TJ3002"},
      {"unmerge: negative", {"unmerge(3,4,2)", "-1"}, "TJ3002"},
      {"embed: between the rows", {"embed((2,3),(12,1))", "4"}, "TJ3002"},
      {"embed: overlapping", {"embed((2,3),(1,1))", "2"}, "TJ3002"},
      {"embed: stride 0", {"embed((2,3),(0,1))", "2"}, "TJ3002"},
      {"embed: negative stride", {"embed((2,3),(-3,1))", "2"}, "TJ3002"},
      {"embed: unknown order", {"embed((2,3),(M,N))", "2"}, "TJ3002"},
      {"replicate", {"replicate(3,4)", "()"}, "TJ3002"},
      {"insert", {"insert(4)", "()"}, "TJ3002"},
      {"modulo", {"modulo(4,16)", "2"}, "TJ3002"},
      {"freeze elsewhere", {"freeze(3)", "2"}, "TJ3002"},
      {"slice: before it", {"slice(10,2,7)", "1"}, "TJ3002"},
      {"slice: after it", {"slice(10,2,7)", "7"}, "TJ3002"},
      {"offset: before it", {"offset(48,16)", "15"}, "TJ3002"},
      {"pad: beyond it", {"pad(3,1,1)", "4"}, "TJ3002"},
      {"indexing: not in the table", {"indexing(4,(5,2,2,0))", "3"}, "TJ3002"},
      {"indexing: twice in the table", {"indexing(4,(5,2,2,0))", "2"}, "TJ3002"},
      {"indexing: no permutation", {"indexing(4,(5,2,1,0))", "j"}, "TJ3002"},
      {"cyclic_shift: out of range", {"cyclic_shift(4,8)", "(4,1)"}, "TJ3002"},
  };
  RUN_TEXT_ROWS(rows, upper_row);
}
END_TEST

START_TEST(validity) {
  static const text_row rows[] = {
      {"pad 0", {"pad(3,1,1)", "0"}, "0"},
      {"pad 1", {"pad(3,1,1)", "1"}, "1"},
      {"pad 3", {"pad(3,1,1)", "3"}, "1"},
      {"pad 4", {"pad(3,1,1)", "4"}, "0"},
      {"left_pad", {"left_pad(3,2)", "1"}, "0"},
      {"left_pad inside", {"left_pad(3,2)", "2"}, "1"},
      {"left_pad has no right side", {"left_pad(3,2)", "9"}, "1"},
      {"right_pad", {"right_pad(3,2)", "3"}, "0"},
      {"right_pad inside", {"right_pad(3,2)", "2"}, "1"},
      {"right_pad has no left side", {"right_pad(3,2)", "-1"}, "1"},
      {"others are valid everywhere", {"merge(4,5)", "99"}, "1"},
      {"slice too", {"slice(10,2,7)", "99"}, "1"},
      {"symbols", {"pad(M,1,1)", "j"}, "0 < j & j < M + 1"},
      {"symbols: nothing before", {"pad(M,0,1)", "j"}, "j < M"},
      {"symbols: nothing before, but negative indices", {"pad(M,0,1)", "n"}, "-1 < n & n < M"},
      {"symbols: left", {"left_pad(M,2)", "j"}, "1 < j"},
      {"symbols: right", {"right_pad(M,2)", "j"}, "j < M"},
  };
  RUN_TEXT_ROWS(rows, valid_row);
}
END_TEST

/* --- both directions of every transform, by the oracle --- */

static void next_index(const tj_transform *transform, int64_t upper[]) {
  for (uint32_t i = transform->upper_count; i-- > 0;) {
    if (++upper[i] < transform->upper_length[i]->value)
      return;
    upper[i] = 0;
  }
}

static void check_transform(reader *self, const void *data) {
  const char *text = *(const char *const *)data;
  const tj_transform *transform = read_transform(self, text);
  int64_t upper[TJ_MAX_DIMENSIONS] = {0}, lower[TJ_MAX_DIMENSIONS], size = 1;
  for (uint32_t i = 0; i < transform->upper_count; i++)
    size *= transform->upper_length[i]->value;
  for (int64_t n = 0; n < size; n++, next_index(transform, upper)) {
    const tj_node *up[TJ_MAX_DIMENSIONS], *low[TJ_MAX_DIMENSIONS], *again[TJ_MAX_DIMENSIONS];
    bool is_valid;
    for (uint32_t i = 0; i < transform->upper_count; i++)
      up[i] = tj_int(self->graph, upper[i]);
    tj_oracle_transform(self->graph, transform, upper, lower, &is_valid);
    tj_transform_lower(self->graph, transform, up, low);
    for (uint32_t i = 0; i < transform->lower_count; i++)
      ck_assert_msg(tj_is_int(low[i], lower[i]), "%s", text);
    ck_assert_msg(tj_is_int(tj_transform_valid(self->graph, transform, up), is_valid), "%s", text);
    tj_transform_upper(self->graph, transform, low, again);
    for (uint32_t i = 0; i < transform->upper_count; i++)
      ck_assert_msg(again[i] == up[i], "%s back at %lld", text, (long long)n);
  }
}

START_TEST(round_trips) {
  static const char *const transforms[] = {
      "pass_through(9)",
      "pad(5,2,3)",
      "left_pad(5,2)",
      "right_pad(5,2)",
      "merge(4,1,5)",
      "unmerge(4,1,5)",
      "embed((2,3),(12,1))",
      "embed((3,2,1),(2,7,0))",
      "offset(7,3)",
      "offset(7,-3)",
      "slice(10,2,7)",
      "modulo(9,9)",
      "xor(4,8)",
      "xor(16,8)",
      "cyclic_shift(5,3)",
      "freeze(2)",
      "indexing(4,(3,0,2,1))",
      "indexing(5,(7,5,3,1,0))",
      "indexing(1,(4))",
  };
  for (size_t i = 0; i < sizeof transforms / sizeof *transforms; i++)
    run_row(check_transform, &transforms[i], (tj_problem_code)0);
}
END_TEST

/* --- what rows of the table claim, by the oracle --- */

enum { MOST_INDICES = 128 };

/* Every upper index of a transform, and its lower one. */
typedef struct {
  const tj_transform *transform;
  int64_t upper[MOST_INDICES][4], lower[MOST_INDICES][4];
  bool is_valid[MOST_INDICES];
  unsigned count;
} listing;

static listing list_indices(reader *self, const char *text) {
  listing all = {.transform = read_transform(self, text), .count = 1};
  const tj_transform *transform = all.transform;
  int64_t upper[TJ_MAX_DIMENSIONS] = {0}, lower[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < transform->upper_count; i++)
    all.count *= (unsigned)transform->upper_length[i]->value;
  ck_assert_msg(all.count <= MOST_INDICES, "%s", text);
  for (unsigned n = 0; n < all.count; n++, next_index(transform, upper)) {
    tj_oracle_transform(self->graph, transform, upper, lower, &all.is_valid[n]);
    memcpy(all.upper[n], upper, transform->upper_count * sizeof *upper);
    memcpy(all.lower[n], lower, transform->lower_count * sizeof *lower);
  }
  return all;
}

static bool has_same_lower(const listing *all, unsigned a, unsigned b) {
  return memcmp(all->lower[a], all->lower[b], all->transform->lower_count * sizeof all->lower[a][0]) == 0;
}

static bool keeps_apart(const listing *all) {
  for (unsigned a = 0; a < all->count; a++)
    for (unsigned b = a + 1; b < all->count; b++)
      if (has_same_lower(all, a, b))
        return false;
  return true;
}

/* Whether the lower index is the one of 0 and, for each upper index, so much more as the index 1 alone makes. */
static bool is_linear(const listing *all) {
  for (uint32_t of = 0; of < all->transform->lower_count; of++)
    for (unsigned n = 0; n < all->count; n++) {
      int64_t sum = all->lower[0][of];
      unsigned step = 1;
      for (uint32_t i = all->transform->upper_count; i-- > 0;
           step *= (unsigned)all->transform->upper_length[i]->value)
        if (all->upper[n][i] > 0)
          sum += all->upper[n][i] * (all->lower[step][of] - all->lower[0][of]);
      if (sum != all->lower[n][of])
        return false;
    }
  return true;
}

static bool stays_inside(const listing *all) {
  for (unsigned n = 0; n < all->count; n++)
    for (uint32_t i = 0; all->is_valid[n] && i < all->transform->lower_count; i++) {
      const tj_node *length = all->transform->lower_length[i];
      if (length == NULL || all->lower[n][i] < 0 || all->lower[n][i] >= length->value)
        return false;
    }
  return true;
}

static void check_claims(reader *self, const void *data) {
  const char *text = *(const char *const *)data;
  listing all = list_indices(self, text);
  tj_transform_kind kind = all.transform->kind;
  tj_stage_kind stage = tj_transform_stage(kind);
  bool should_be_linear = stage == TJ_STAGE_AFFINE || stage == TJ_STAGE_PAD || stage == TJ_STAGE_UNUSED;
  ck_assert_msg(is_linear(&all) == should_be_linear, "%s: linear", text);
  ck_assert_msg(stays_inside(&all) || tj_transform_reach_of(kind) == TJ_REACH_ANYWHERE, "%s: reach", text);
  if (tj_transform_images_of(kind) != TJ_IMAGES_BY_STRIDES)
    ck_assert_msg(keeps_apart(&all) == (tj_transform_images_of(kind) == TJ_IMAGES_APART), "%s: images", text);
}

/* One of each, long enough to show what it may do. */
START_TEST(claims) {
  static const char *const transforms[TJ_TRANSFORM_COUNT] = {
      [TJ_TRANSFORM_PASS_THROUGH] = "pass_through(9)",
      [TJ_TRANSFORM_PAD] = "pad(5,2,3)",
      [TJ_TRANSFORM_LEFT_PAD] = "left_pad(5,2)",
      [TJ_TRANSFORM_RIGHT_PAD] = "right_pad(5,2)",
      [TJ_TRANSFORM_MERGE] = "merge(4,3,5)",
      [TJ_TRANSFORM_UNMERGE] = "unmerge(4,3,5)",
      [TJ_TRANSFORM_EMBED] = "embed((3,2,4),(2,7,0))",
      [TJ_TRANSFORM_REPLICATE] = "replicate(3,4)",
      [TJ_TRANSFORM_OFFSET] = "offset(7,-3)",
      [TJ_TRANSFORM_SLICE] = "slice(10,2,7)",
      [TJ_TRANSFORM_MODULO] = "modulo(4,10)",
      [TJ_TRANSFORM_XOR] = "xor(4,8)",
      [TJ_TRANSFORM_FREEZE] = "freeze(2)",
      [TJ_TRANSFORM_INSERT] = "insert(4)",
      [TJ_TRANSFORM_INDEXING] = "indexing(4,(7,2,2,0))",
      [TJ_TRANSFORM_CYCLIC_SHIFT] = "cyclic_shift(4,8)",
  };
  for (size_t i = 0; i < TJ_TRANSFORM_COUNT; i++) {
    ck_assert_msg(transforms[i] != NULL, "%s has no row", tj_transform_name((tj_transform_kind)i));
    run_row(check_claims, &transforms[i], (tj_problem_code)0);
  }
}
END_TEST

/* --- vectors --- */

typedef struct {
  const char *transform;
  int64_t lower_length[3], lower_stride[3], upper_length[3], upper_stride[3];
} vector_row;

static void check_vectors(reader *self, const void *data) {
  const vector_row *row = data;
  const tj_transform *transform = read_transform(self, row->transform);
  int64_t length[TJ_MAX_DIMENSIONS], stride[TJ_MAX_DIMENSIONS];
  tj_transform_vectors(self->graph, transform, row->lower_length, row->lower_stride, length, stride);
  for (uint32_t i = 0; i < transform->upper_count; i++) {
    ck_assert_msg(length[i] == row->upper_length[i], "%s: length %u", row->transform, i);
    ck_assert_msg(stride[i] == row->upper_stride[i], "%s: stride %u", row->transform, i);
  }
}

START_TEST(vectors) {
  static const vector_row rows[] = {
      {"pass_through(8)", {4}, {1}, {4}, {1}},
      {"pad(8,1,1)", {4}, {1}, {-1}, {-1}},
      {"left_pad(8,1)", {4}, {1}, {4}, {1}},
      {"right_pad(8,1)", {4}, {1}, {4}, {1}},
      {"embed((4,2),(2,1))", {4}, {1}, {-1, -1}, {-1, -1}},
      {"merge(4,8)", {2, 4}, {7, 1}, {4}, {1}},
      {"unmerge(4,6)", {4}, {1}, {-1, 2}, {-1, 1}},
      {"unmerge(4,6)", {-1}, {1}, {-1, -1}, {-1, 1}},
      {"unmerge(4,M)", {4}, {1}, {-1, -1}, {-1, 1}},
      {"replicate(2,3)", {0}, {0}, {-1, -1}, {-1, -1}},
      {"insert(2)", {0}, {0}, {-1}, {-1}},
      {"offset(8,1)", {4}, {1}, {-1}, {-1}},
      {"slice(8,1,5)", {4}, {1}, {-1}, {-1}},
      {"modulo(8,16)", {4}, {1}, {-1}, {-1}},
      {"xor(4,8)", {-1, 4}, {-1, 1}, {-1, 4}, {-1, 1}},
      {"cyclic_shift(4,8)", {-1, 4}, {-1, 1}, {-1, -1}, {-1, -1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run_row(check_vectors, &rows[i], (tj_problem_code)0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {making, to_lower, to_upper, validity, round_trips, claims, vectors};
  return run_suite(suite_of("transform", tests, sizeof tests / sizeof *tests));
}
