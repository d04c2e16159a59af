/* SPDX-License-Identifier: MIT */
/* Maps: domains, names of coordinates, expressions, predicates; and the oracle against them. The reader has a
 * parameter i, so that the only coordinate of a map is i_. */
#include "ir/index/eval.h"
#include "tests/unit/support/layout_support.h"

static void describe(reader *self, const tj_map *map, const text_row *row) {
  tj_text text = tj_text_begin(self->graph->job);
  tj_text_string(&text, tj_tuple_text(text.job, map->input));
  tj_text_format(&text, " in %s -> ", tj_tuple_text(text.job, map->domain));
  tj_text_string(&text, tj_tuple_text(text.job, map->output));
  if (map->valid != NULL)
    tj_text_format(&text, " if %s", tj_node_text(text.job, map->valid));
  tj_text_string(&text, map->row_major ? " row-major" : "");
  expect_text(text.data, row->expected, row->guards);
}

static void layout_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_map map = tj_map_of_layout(self->graph, read_layout(self, row->args[0]));
  describe(self, &map, row);
}

START_TEST(layouts) {
  static const text_row rows[] = {
      {"one mode", {"24:2"}, "i_ in 24 -> i_*2"},
      {"rank 1", {"(24):(2)"}, "(i_) in (24) -> i_*2"},
      {"modes", {"(4,8):(8,1)"}, "(i0,i1) in (4,8) -> i0*8 + i1"},
      {"nested", {"((2,4),8):((1,16),2)"}, "((i0,i1),i2) in ((2,4),8) -> i0 + i1*16 + i2*2"},
      {"stride 0", {"(4,8):(0,1)"}, "(i0,i1) in (4,8) -> i1"},
      {"constant", {"(4,8):(0,0)"}, "(i0,i1) in (4,8) -> 0"},
      {"coordinates", {"(4,8):(1@1,2@0)"}, "(i0,i1) in (4,8) -> (i1*2,i0)"},
      {"symbols", {"(M,N):(N,1)"}, "(i0,i1) in (M,N) -> i0*N + i1"},
      {"empty", {"():()"}, "() in () -> 0"},
  };
  RUN_TEXT_ROWS(rows, layout_row);
}
END_TEST

static void composed_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_composed composed = {tj_swizzle_make(self->graph, 1, 0, 2), read_tuple(self, row->args[1]),
                          read_layout(self, row->args[0])};
  tj_map map = tj_map_of_composed(self->graph, &composed);
  describe(self, &map, row);
}

START_TEST(composed_layouts) {
  static const text_row rows[] = {
      {"swizzle", {"(4,8):(8,1)", "0"}, "(i0,i1) in (4,8) -> i0*8 + i1 ^ (i0*8 + i1 & 4) >> 2"},
      {"offset", {"8:1", "3"}, "i_ in 8 -> 3 + i_ ^ (3 + i_ & 4) >> 2"},
      {"what may be negative", {"8:-1", "3"}, "TJ2018"},
  };
  RUN_TEXT_ROWS(rows, composed_row);
}
END_TEST

static void transform_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_map map = tj_map_of_transform(self->graph, read_transform(self, row->args[0]));
  describe(self, &map, row);
}

START_TEST(transforms) {
  static const text_row rows[] = {
      {"several lower dimensions", {"merge(4,6)"}, "(i_) in (24) -> (i_/6,i_%6) row-major"},
      {"one lower dimension", {"unmerge(4,6)"}, "(i0,i1) in (4,6) -> i0*6 + i1 row-major"},
      {"no lower dimension", {"insert(4)"}, "(i_) in (4) -> () row-major"},
      {"no upper dimension", {"freeze(3)"}, "() in () -> 3 row-major"},
      {"predicate", {"pad(3,1,1)"}, "(i_) in (5) -> i_ - 1 if 0 < i_ & i_ < 4 row-major"},
  };
  RUN_TEXT_ROWS(rows, transform_row);
}
END_TEST

static void view_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_view *view = tj_view_packed(self->graph, read_tuple(self, row->args[0]), NULL, -1, -1);
  if (row->args[1] != NULL) {
    uint32_t zero = 0;
    const tj_view_step step = {read_transform(self, row->args[1]), &zero, &zero, 1, 1};
    view = tj_view_transform(self->graph, view, &step, 1);
  }
  tj_map map = tj_map_of_view(self->graph, view);
  describe(self, &map, row);
}

START_TEST(views) {
  static const text_row rows[] = {
      {"packed", {"(3,4)"}, "(i0,i1) in (3,4) -> i0*4 + i1 row-major"},
      {"one dimension", {"(3)"}, "(i_) in (3) -> i_ row-major"},
      {"predicate", {"(3)", "left_pad(3,2)"}, "(i_) in (5) -> i_ - 2 if 1 < i_ row-major"},
      {"symbols", {"(M,N)"}, "(i0,i1) in (M,N) -> i0*N + i1 row-major"},
  };
  RUN_TEXT_ROWS(rows, view_row);
}
END_TEST

/* --- the oracle's own errors --- */

static void evaluate_row(reader *self, const void *data) {
  const text_row *row = data;
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(self->graph, read_tuple(self, row->args[1]), &count);
  int64_t coordinate[8], values[8];
  for (uint32_t i = 0; i < count; i++)
    coordinate[i] = leaves[i]->value->value;
  count = tj_oracle_layout(self->graph, read_layout(self, row->args[0]), coordinate, values);
  tj_text text = tj_text_begin(self->graph->job);
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(&text, "%lld ", (long long)values[i]);
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(oracle) {
  static const text_row rows[] = {
      {"integers", {"((2,4),8):((1,16),2)", "(1,2,3)"}, "39 "},
      {"coordinates, with a component that no stride reaches", {"(4,8):(1@2,2@0)", "(3,5)"}, "10 0 3 "},
      {"nested coordinates", {"(4,8,2):(1@1@0,2@0@0,7@1)", "(3,5,1)"}, "10 3 7 "},
      {"several modes of one component", {"(4,8):(1@0,4@0)", "(3,5)"}, "23 "},
      {"symbols", {"(M,8):(8,1)", "(3,5)"}, "29 "},
      {"symbolic strides", {"(8,M):(M,1)", "(3,5)"}, "TJ2023"},
      {"overflow of a product", {"(4):(4611686018427387904)", "(2)"}, "TJ2010"},
      {"overflow of a sum", {"(2,2):(9223372036854775807,1)", "(1,1)"}, "TJ2010"},
  };
  RUN_TEXT_ROWS(rows, evaluate_row);
}
END_TEST

static void keep_memory(reader *self, const void *data) {
  (void)data;
  tj_layout layout = read_layout(self, "((2,4),8):((1@0,16@0),2@1)");
  const int64_t coordinate[] = {1, 2, 3};
  int64_t values[2];
  tj_oracle_layout(self->graph, layout, coordinate, values);
  size_t before = self->graph->job->arena.total;
  for (int i = 0; i < 100000; i++)
    tj_oracle_layout(self->graph, layout, coordinate, values);
  ck_assert_uint_eq(self->graph->job->arena.total, before);
}

START_TEST(oracle_keeps_no_memory) {
  run_row(keep_memory, NULL, (tj_problem_code)0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {layouts, composed_layouts, transforms, views, oracle, oracle_keeps_no_memory};
  return run_suite(suite_of("map", tests, sizeof tests / sizeof *tests));
}
