/* SPDX-License-Identifier: MIT */
/* Tuples: construction, structure, arithmetic, text. */
#include "tests/unit/support/layout_support.h"

static void print_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *tuple = read_tuple(self, row->args[0]);
  expect_text(tj_tuple_text(self->graph->job, tuple), row->expected, row->guards);
}

START_TEST(text) {
  static const text_row rows[] = {
      {"integer", {"7"}, "7"},
      {"rank 1 is not its element", {"(7)"}, "(7)"},
      {"empty", {"()"}, "()"},
      {"nested", {"((2,4),8)"}, "((2,4),8)"},
      {"negative", {"(-1,2)"}, "(-1,2)"},
      {"symbols", {"(M,(N,_))"}, "(M,(N,_))"},
      {"basis, innermost mode first", {"(1@0,(1@0@1,1@1@1))"}, "(1@0,(1@0@1,1@1@1))"},
      {"deep basis", {"2@3@1@0"}, "2@3@1@0"},
      {"symbolic coefficient", {"M@1"}, "M@1"},
  };
  RUN_TEXT_ROWS(rows, print_row);
}
END_TEST

static void add_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *sum = tj_tuple_add(self->graph, read_tuple(self, row->args[0]), read_tuple(self, row->args[1]));
  expect_text(tj_tuple_text(self->graph->job, sum), row->expected, row->guards);
}

START_TEST(sums) {
  static const text_row rows[] = {
      {"integers", {"2", "3"}, "5"},
      {"basis elements become tuples", {"1@0", "2@1"}, "(1,2)"},
      {"the shorter is extended", {"(1,2)", "5@3"}, "(1,2,0,5)"},
      {"nested", {"1@0@1", "3@1@1"}, "(0,(1,3))"},
      {"zero and a basis element", {"0", "1@1"}, "(0,1)"},
      {"zero meets a tuple inside", {"(0,1)", "1@1@0"}, "((0,1),1)"},
      {"integer and tuple", {"1", "1@0"}, "TJ2021"},
      {"integer and tuple inside", {"1@0", "1@0@0"}, "TJ2021"},
      {"underscore", {"_", "1"}, "TJ2021"},
      {"no pointless additions", {"M", "0"}, "M"},
  };
  RUN_TEXT_ROWS(rows, add_row);
}
END_TEST

static void scale_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *scaled = tj_tuple_scale(self->graph, read_node(self, row->args[0]), read_tuple(self, row->args[1]));
  expect_text(tj_tuple_text(self->graph->job, scaled), row->expected, row->guards);
}

START_TEST(scaling) {
  static const text_row rows[] = {
      {"tuple", {"3", "(1,(2,0))"}, "(3,(6,0))"},       {"basis", {"3", "2@1@0"}, "6@1@0"},
      {"by a symbol", {"M", "(1,0,1@1)"}, "(M,0,M@1)"}, {"overflow", {"9223372036854775807", "2"}, "TJ2010"},
      {"underscore", {"2", "(1,_)"}, "TJ2005"},
  };
  RUN_TEXT_ROWS(rows, scale_row);
}
END_TEST

static void product_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_node *product = tj_tuple_product(self->graph, read_tuple(self, row->args[0]));
  expect_text(tj_node_text(self->graph->job, product), row->expected, row->guards);
}

START_TEST(products) {
  static const text_row rows[] = {
      {"integer", {"5"}, "5"},
      {"nested", {"((2,3),4)"}, "24"},
      {"empty", {"()"}, "1"},
      {"symbol alone", {"(1,(M))"}, "M"},
      {"overflow", {"(4611686018427387904,2)"}, "TJ2010"},
      {"basis", {"(1@0)"}, "TJ2005"},
      {"underscore", {"(1,_)"}, "TJ2005"},
  };
  RUN_TEXT_ROWS(rows, product_row);
}
END_TEST

typedef struct {
  const char *guards, *a, *b;
  bool equal, congruent, weakly_congruent, compatible;
} relation_row;

static void check_relations(reader *self, const void *data) {
  const relation_row *row = data;
  const tj_tuple *a = read_tuple(self, row->a), *b = read_tuple(self, row->b);
  ck_assert_msg(tj_tuple_equal(a, b) == row->equal, "%s: equal", row->guards);
  ck_assert_msg(tj_tuple_equal(b, a) == row->equal, "%s: equal, exchanged", row->guards);
  ck_assert_msg(tj_tuple_congruent(a, b) == row->congruent, "%s: congruent", row->guards);
  ck_assert_msg(tj_tuple_congruent(b, a) == row->congruent, "%s: congruent, exchanged", row->guards);
  ck_assert_msg(tj_tuple_weakly_congruent(a, b) == row->weakly_congruent, "%s: weakly congruent", row->guards);
  ck_assert_msg(tj_tuple_compatible(self->graph, a, b) == row->compatible, "%s: compatible", row->guards);
}

START_TEST(relations) {
  static const relation_row rows[] = {
      {"same", "(2,(3,4))", "(2,(3,4))", true, true, true, true},
      {"other leaf", "(2,3)", "(2,4)", false, true, true, false},
      {"an integer is coarser", "24", "(2,(3,4))", false, false, true, true},
      {"and not the other way", "(2,(3,4))", "24", false, false, false, false},
      {"partly coarser", "(2,12)", "(2,(3,4))", false, false, true, true},
      {"sizes must agree mode by mode", "(4,6)", "(2,(3,4))", false, false, true, false},
      {"rank 1 is not its element", "(4)", "4", false, false, false, false},
      {"its element is coarser", "4", "(4)", false, false, true, true},
      {"ranks", "(2,2)", "(2,2,1)", false, false, false, false},
      {"symbols", "(M,N)", "(M,(1,N))", false, false, true, true},
      {"different symbols", "(M,N)", "(N,M)", false, true, true, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    run_row(check_relations, &rows[i], 0);
}
END_TEST

static void compare_basis(reader *self, const void *data) {
  (void)data;
  ck_assert(tj_tuple_equal(read_tuple(self, "2@1@0"), read_tuple(self, "2@1@0")));
  ck_assert(!tj_tuple_equal(read_tuple(self, "2@1@0"), read_tuple(self, "2@0@1")));
  ck_assert(!tj_tuple_equal(read_tuple(self, "2@1@0"), read_tuple(self, "2@1")));
  ck_assert(!tj_tuple_equal(read_tuple(self, "2@1"), read_tuple(self, "3@1")));
  ck_assert(!tj_tuple_equal(read_tuple(self, "2@1"), read_tuple(self, "2")));
  ck_assert(!tj_tuple_equal(read_tuple(self, "_"), read_tuple(self, "2")));
  ck_assert(tj_tuple_equal(read_tuple(self, "_"), read_tuple(self, "_")));
  const tj_tuple *basis = read_tuple(self, "2@1@0");
  ck_assert_uint_eq(basis->count, 2);
  ck_assert_uint_eq(basis->path[0], 0);
  ck_assert_uint_eq(basis->path[1], 1);
}

START_TEST(basis_elements) {
  run_row(compare_basis, NULL, 0);
}
END_TEST

static void take_apart(reader *self, const void *data) {
  (void)data;
  const tj_tuple *tuple = read_tuple(self, "((2,4),8,((16)))");
  ck_assert_uint_eq(tj_tuple_rank(tuple), 3);
  ck_assert_uint_eq(tuple->depth, 3);
  ck_assert_uint_eq(tj_tuple_leaf_count(tuple), 4);
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(self->graph, tuple, &count);
  ck_assert_uint_eq(count, 4);
  ck_assert(tj_tuple_equal(tj_tuple_from_leaves(self->graph, tuple, leaves), tuple));
  expect_text(tj_tuple_text(self->graph->job, tj_tuple_flatten(self->graph, tuple)), "(2,4,8,16)", "flatten");
  ck_assert_ptr_eq(tj_tuple_mode(leaves[0], 0), leaves[0]);
  const tj_tuple *zeros = tj_tuple_repeat_like(self->graph, tuple, tj_tuple_constant(self->graph, 0));
  expect_text(tj_tuple_text(self->graph->job, zeros), "((0,0),0,((0)))", "repeat_like");
}

START_TEST(structure) {
  run_row(take_apart, NULL, 0);
}
END_TEST

static void nest_deeply(reader *self, const void *data) {
  uint32_t levels = *(const uint32_t *)data;
  const tj_tuple *tuple = tj_tuple_constant(self->graph, 1);
  for (uint32_t i = 0; i < levels; i++)
    tuple = tj_tuple_list(self->graph, &tuple, 1);
  ck_assert_uint_eq(tuple->depth, levels);
}

static void double_often(reader *self, const void *data) {
  (void)data;
  const tj_tuple *tuple = tj_tuple_constant(self->graph, 1);
  for (uint32_t i = 0; i < 200; i++)
    tuple = tj_tuple_list(self->graph, (const tj_tuple *const[]){tuple, tuple}, 2);
}

START_TEST(limits) {
  uint32_t deepest = TJ_MAX_TUPLE_DEPTH, too_deep = TJ_MAX_TUPLE_DEPTH + 1;
  run_row(nest_deeply, &deepest, 0);
  run_row(nest_deeply, &too_deep, TJ_DEPTH_LIMIT);
  run_row(double_often, NULL, TJ_WORK_LIMIT);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {text, sums, scaling, products, relations, basis_elements, structure, limits};
  return run_suite(suite_of("tuple", tests, sizeof tests / sizeof *tests));
}
