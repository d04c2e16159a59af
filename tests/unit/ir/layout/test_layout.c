/* SPDX-License-Identifier: MIT */
/* Layouts: construction, application, slices, sizes, swizzles. */
#include "tests/unit/support/layout_support.h"

#include <stdio.h>

static void expect_layout(reader *self, tj_layout layout, const text_row *row) {
  expect_text(tj_layout_text(self->graph->job, layout), row->expected, row->guards);
}

static void expect_tuple(reader *self, const tj_tuple *tuple, const text_row *row) {
  expect_text(tj_tuple_text(self->graph->job, tuple), row->expected, row->guards);
}

static void expect_node(reader *self, const tj_node *node, const text_row *row) {
  expect_text(tj_node_text(self->graph->job, node), row->expected, row->guards);
}

static void make_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_layout layout = tj_layout_make(self->graph, read_tuple(self, row->args[0]), read_tuple(self, row->args[1]));
  expect_layout(self, layout, row);
}

START_TEST(construction) {
  static const text_row rows[] = {
      {"integers", {"4", "1"}, "4:1"},
      {"rank 1", {"(4)", "(1)"}, "(4):(1)"},
      {"nested", {"((2,4),8)", "((1,16),2)"}, "((2,4),8):((1,16),2)"},
      {"basis strides", {"(3,(2,3))", "(1@0,(1@0@1,1@1@1))"}, "(3,(2,3)):(1@0,(1@0@1,1@1@1))"},
      {"zero among basis strides", {"(3,2)", "(1@0,0)"}, "(3,2):(1@0,0)"},
      {"symbols", {"(M,N)", "(N,1)"}, "(M,N):(N,1)"},
      {"empty", {"()", "()"}, "():()"},
      {"negative stride", {"4", "-1"}, "4:-1"},
      {"rank", {"(2,3)", "(1)"}, "TJ2011"},
      {"structure", {"(2,3)", "(1,(1))"}, "TJ2011"},
      {"rank 1 is not its element", {"(4)", "1"}, "TJ2011"},
      {"extent 0", {"(2,0)", "(1,2)"}, "TJ2012"},
      {"negative extent", {"-3", "1"}, "TJ2012"},
      {"symbol that may be 0", {"(2,i)", "(1,2)"}, "TJ2012"},
      {"integer and basis strides", {"(2,3)", "(1,1@0)"}, "TJ2021"},
      {"basis strides of different depth", {"(2,3)", "(1@0,1@0@0)"}, "TJ2021"},
      {"underscore as extent", {"(2,_)", "(1,2)"}, "TJ2005"},
      {"underscore as stride", {"(2,3)", "(1,_)"}, "TJ2005"},
      {"basis element as extent", {"1@0", "1"}, "TJ2005"},
  };
  RUN_TEXT_ROWS(rows, make_row);
}
END_TEST

static void of_shape_row(reader *self, const void *data) {
  const text_row *row = data;
  expect_layout(self, tj_layout_of_shape(self->graph, read_tuple(self, row->args[0])), row);
}

START_TEST(compact) {
  static const text_row rows[] = {
      {"integer", {"4"}, "4:1"},
      {"first mode fastest", {"(2,3)"}, "(2,3):(1,2)"},
      {"nested", {"((2,4),8)"}, "((2,4),8):((1,2),8)"},
      {"extent 1 has stride 0, as in CuTe", {"(1,4,1,2)"}, "(1,4,1,2):(0,1,0,4)"},
      {"symbols", {"(M,N,2)"}, "(M,N,2):(1,M,M*N)"},
      {"overflow", {"(4611686018427387904,4611686018427387904)"}, "TJ2010"},
      {"extent 0", {"(2,0)"}, "TJ2012"},
  };
  RUN_TEXT_ROWS(rows, of_shape_row);
}
END_TEST

static void apply_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_layout layout = read_layout(self, row->args[0]);
  expect_tuple(self, tj_layout_apply(self->graph, layout, read_tuple(self, row->args[1])), row);
}

START_TEST(application) {
  static const text_row rows[] = {
      {"(3,2):(2,3) at 5 is f(2)+f(3)", {"(3,2):(2,3)", "5"}, "7"},
      {"the two parts", {"(3,2):(2,3)", "2"}, "4"},
      {"and the other", {"(3,2):(2,3)", "3"}, "3"},
      {"congruent", {"(3,2):(2,3)", "(2,1)"}, "7"},
      {"mixed", {"((2,4),8):((1,16),2)", "(5,3)"}, "39"},
      {"mixed, nested", {"((2,4),8):((1,16),2)", "((1,2),3)"}, "39"},
      {"integral coordinate of a nested layout", {"((2,4),8):((1,16),2)", "29"}, "39"},
      {"an integral coordinate extends the last mode", {"(3,2):(2,3)", "6"}, "6"},
      {"even where its extent is 1", {"(4,1):(1,7)", "5"}, "8"},
      {"rank 1", {"(4):(3)", "(2)"}, "6"},
      {"basis strides give coordinates", {"(M,N):(1@0,1@1)", "(2,3)"}, "(2,3)"},
      {"exchanged", {"(M,N):(1@1,1@0)", "(2,3)"}, "(3,2)"},
      {"scaled", {"(M,N):(2@0,1@1)", "(2,3)"}, "(4,3)"},
      {"hierarchical", {"(3,(2,3)):(1@0,(1@0@1,1@1@1))", "(2,(1,2))"}, "(2,(1,2))"},
      {"hierarchical at an index", {"(3,(2,3)):(1@0,(1@0@1,1@1@1))", "17"}, "(2,(1,2))"},
      {"a single basis mode", {"4:2@1", "3"}, "(0,6)"},
      {"the codomain stays where a coordinate is 0", {"(4,5):(1@1,1@0)", "0"}, "(0,0)"},
      {"symbols", {"(M,N):(N,1)", "(i,j)"}, "i*N + j"},
      {"entry beyond its mode", {"(3,2):(2,3)", "(3,0)"}, "TJ2014"},
      {"negative entry", {"(3,2):(2,3)", "(-1,0)"}, "TJ2014"},
      {"negative index", {"(3,2):(2,3)", "-1"}, "TJ2014"},
      {"entry beyond a nested mode", {"((2,4),8):((1,16),2)", "(8,0)"}, "TJ2014"},
      {"rank", {"(3,2):(2,3)", "(1,1,0)"}, "TJ2013"},
      {"structure", {"(3,2):(2,3)", "((1),1)"}, "TJ2013"},
      {"tuple for an integer mode", {"4:1", "(1)"}, "TJ2013"},
      {"underscore", {"(3,2):(2,3)", "(_,1)"}, "TJ2005"},
      {"basis element", {"(3,2):(2,3)", "1@0"}, "TJ2005"},
      {"overflow", {"(4):(4611686018427387904)", "(2)"}, "TJ2010"},
  };
  RUN_TEXT_ROWS(rows, apply_row);
}
END_TEST

START_TEST(symbolic_application) {
  static const text_row rows[] = {
      {"congruent", {"(M,N):(1,M)", "(i,j)"}, "i + j*M"},
      {"no zero strides, no products by 1", {"(2,16,4):(1,0,2)", "(1,i,n)"}, "1 + n*2"},
      {"index: the last mode is not reduced", {"(4,8):(8,1)", "j"}, "j%4*8 + j/4"},
      {"index of a nested layout", {"((2,4),8):((1,16),2)", "j"}, "j%2 + j/2%4*16 + j/2/4*2"},
      {"extents 1 need no digit", {"(1,4,2):(0,2,1)", "j"}, "j%4*2 + j/4"},
      {"symbolic extents", {"(M,N):(N,1)", "j"}, "j%M*N + j/M"},
      {"coordinates", {"(M,N):(1@0,1@1)", "j"}, "(j%M,j/M)"},
  };
  RUN_TEXT_ROWS(rows, apply_row);
}
END_TEST

static void slice_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *offset;
  tj_layout layout = read_layout(self, row->args[0]);
  tj_layout slice = tj_layout_slice(self->graph, layout, read_tuple(self, row->args[1]), &offset);
  tj_text text = tj_text_begin(self->graph->job);
  tj_layout_print(&text, slice);
  tj_text_string(&text, " + ");
  tj_tuple_print(&text, offset);
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(slices) {
  static const text_row rows[] = {
      {"row", {"(2,3):(3,1)", "(1,_)"}, "(3):(1) + 3"},
      {"column", {"(2,3):(3,1)", "(_,2)"}, "(2):(3) + 2"},
      {"modes stay whole", {"((2,4),8):((1,16),2)", "(_,3)"}, "((2,4)):((1,16)) + 6"},
      {"inside a mode", {"((2,4),8):((1,16),2)", "((1,_),_)"}, "(4,8):(16,2) + 1"},
      {"index into a mode", {"((2,4),8):((1,16),2)", "(5,_)"}, "(8):(2) + 33"},
      {"everything", {"(2,3):(3,1)", "_"}, "(2,3):(3,1) + 0"},
      {"everything by mode", {"(2,(3,1)):(3,(1,1))", "(_,_)"}, "(2,(3,1)):(3,(1,1)) + 0"},
      {"nothing", {"(2,3):(3,1)", "(1,2)"}, "():() + 5"},
      {"symbol", {"(M,N):(N,1)", "(i,_)"}, "(N):(1) + i*N"},
      {"coordinates move their base", {"(4,5):(1@0,1@1)", "(2,_)"}, "(5):(1@1) + (2,0)"},
      {"structure", {"(2,3):(3,1)", "(_,(1,2))"}, "TJ2027"},
      {"rank", {"(2,3):(3,1)", "(_,1,_)"}, "TJ2027"},
      {"range", {"(2,3):(3,1)", "(_,3)"}, "TJ2014"},
  };
  RUN_TEXT_ROWS(rows, slice_row);
}
END_TEST

static void size_row(reader *self, const void *data) {
  const text_row *row = data;
  expect_node(self, tj_layout_size(self->graph, read_layout(self, row->args[0])), row);
}

static void cosize_row(reader *self, const void *data) {
  const text_row *row = data;
  expect_node(self, tj_layout_cosize(self->graph, read_layout(self, row->args[0])), row);
}

static void coshape_row(reader *self, const void *data) {
  const text_row *row = data;
  expect_tuple(self, tj_layout_coshape(self->graph, read_layout(self, row->args[0])), row);
}

START_TEST(sizes) {
  static const text_row size_rows[] = {
      {"product", {"((2,4),8):((1,16),2)"}, "64"},
      {"empty", {"():()"}, "1"},
      {"symbols", {"(M,(N,1)):(1,(M,0))"}, "M*N"},
      {"overflow", {"(4611686018427387904,2):(1,1)"}, "TJ2010"},
  };
  static const text_row cosize_rows[] = {
      {"compact", {"(3,2):(2,1)"}, "6"},
      {"with holes", {"(3,2):(7,1)"}, "16"},
      {"stride 0", {"(3,2):(0,1)"}, "2"},
      {"negative strides count by their amount, as in CuTe", {"(3,2):(-2,1)"}, "6"},
      {"coordinates", {"(3,2):(1@0,2@1)"}, "9"},
      {"symbol", {"M:2"}, "(M - 1)*2 + 1"},
  };
  static const text_row coshape_rows[] = {
      {"integer", {"(3,2):(7,1)"}, "16"},
      {"by component", {"(3,(2,3)):(1@0,(1@0@1,2@1@1))"}, "(3,(2,5))"},
  };
  RUN_TEXT_ROWS(size_rows, size_row);
  RUN_TEXT_ROWS(cosize_rows, cosize_row);
  RUN_TEXT_ROWS(coshape_rows, coshape_row);
}
END_TEST

static void idx2crd_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *stride = row->args[2] == NULL ? NULL : read_tuple(self, row->args[2]);
  expect_tuple(self, tj_idx2crd(self->graph, read_tuple(self, row->args[0]), read_tuple(self, row->args[1]), stride),
               row);
}

static void crd2idx_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_tuple *stride = row->args[2] == NULL ? NULL : read_tuple(self, row->args[2]);
  expect_tuple(self, tj_crd2idx(self->graph, read_tuple(self, row->args[0]), read_tuple(self, row->args[1]), stride),
               row);
}

START_TEST(indices_and_coordinates) {
  static const text_row to_coordinate[] = {
      {"colexicographic", {"7", "(3,4)"}, "(1,2)"},
      {"nested", {"23", "((2,3),4)"}, "((1,2),3)"},
      {"integer shape", {"7", "9"}, "7"},
      {"by strides in any order", {"19", "(4,8)", "(8,1)"}, "(2,3)"},
      {"extent 1 gives 0 whatever its stride", {"5", "(1,8)", "(0,1)"}, "(0,5)"},
      {"one stride for all", {"14", "(3,4)", "2"}, "(1,2)"},
      {"by mode", {"(5,2)", "((2,4),8)"}, "((1,2),2)"},
      {"symbol", {"j", "(4,8)", "(8,1)"}, "(j/8%4,j%8)"},
      {"symbol without strides", {"j", "(4,8)"}, "(j%4,j/4)"},
      {"symbol and extent 1", {"j", "(1,24)", "(5,1)"}, "(0,j%24)"},
      {"stride 0", {"5", "(2,8)", "(0,1)"}, "TJ2009"},
      {"structure", {"5", "(2,8)", "(1,(2))"}, "TJ2011"},
      {"coordinate structure", {"(1,2,3)", "(2,8)", "(1,2)"}, "TJ2013"},
  };
  static const text_row to_index[] = {
      {"colexicographic", {"(1,2)", "(3,4)"}, "7"},
      {"nested", {"((1,2),3)", "((2,3),4)"}, "23"},
      {"mixed", {"(5,3)", "((2,3),4)"}, "23"},
      {"index", {"7", "(3,4)"}, "7"},
      {"by strides", {"(2,3)", "(4,8)", "(8,1)"}, "19"},
      {"symbols", {"(i,j)", "(M,N)"}, "i + j*M"},
      {"no range check", {"(5,0)", "(3,4)"}, "5"},
      {"structure", {"(1,2)", "(3,4)", "(1)"}, "TJ2011"},
      {"coordinate structure", {"(1,2,3)", "(3,4)"}, "TJ2013"},
  };
  RUN_TEXT_ROWS(to_coordinate, idx2crd_row);
  RUN_TEXT_ROWS(to_index, crd2idx_row);
}
END_TEST

static void mode_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_layout layout = read_layout(self, row->args[0]);
  expect_layout(self, tj_layout_mode(self->graph, layout, (uint32_t)atoi(row->args[1])), row);
}

static void take_layouts_apart(reader *self, const void *data) {
  (void)data;
  tj_layout layout = read_layout(self, "((2,4),8):((1,16),2)");
  tj_layout modes[] = {tj_layout_mode(self->graph, layout, 0), tj_layout_mode(self->graph, layout, 1)};
  ck_assert(tj_layout_equal(tj_layout_concat(self->graph, modes, 2), layout));
  ck_assert(!tj_layout_equal(layout, read_layout(self, "((2,4),8):((1,16),4)")));
  ck_assert(!tj_layout_equal(layout, read_layout(self, "((2,8),8):((1,16),2)")));
  ck_assert(tj_layout_equal(tj_layout_flatten(self->graph, layout), read_layout(self, "(2,4,8):(1,16,2)")));
}

START_TEST(modes) {
  static const text_row rows[] = {
      {"list", {"((2,4),8):((1,16),2)", "0"}, "(2,4):(1,16)"},
      {"integer", {"4:2", "0"}, "4:2"},
      {"outside", {"(4,5):(1,4)", "2"}, "TJ2028"},
  };
  RUN_TEXT_ROWS(rows, mode_row);
  run_row(take_layouts_apart, NULL, 0);
}
END_TEST

/* --- swizzles --- */

static tj_swizzle read_swizzle(reader *self, const char *text) {
  long long bits, base, shift;
  ck_assert_int_eq(sscanf(text, "%lld,%lld,%lld", &bits, &base, &shift), 3);
  return tj_swizzle_make(self->graph, bits, base, shift);
}

static void swizzle_row(reader *self, const void *data) {
  const text_row *row = data;
  const tj_node *value = read_node(self, row->args[1]);
  expect_node(self, tj_swizzle_apply(self->graph, read_swizzle(self, row->args[0]), value), row);
}

START_TEST(swizzles) {
  static const text_row rows[] = {
      {"nothing to move", {"3,4,3", "127"}, "127"},
      {"row 1", {"3,4,3", "128"}, "144"},
      {"row 7", {"3,4,3", "1023"}, "911"},
      {"shift to the left", {"1,0,-1", "1"}, "3"},
      {"no bits", {"0,4,3", "1023"}, "1023"},
      {"symbol", {"3,4,3", "M"}, "M ^ (M & 896) >> 3"},
      {"symbol to the left", {"1,0,-1", "i"}, "i ^ (i & 1) << 1"},
      {"widest", {"31,0,32", "4294967296"}, "4294967297"},
      {"negative value", {"3,4,3", "-1"}, "TJ2018"},
      {"value that may be negative", {"3,4,3", "n"}, "TJ2018"},
      {"even without bits", {"0,4,3", "n"}, "TJ2018"},
      {"fields overlap", {"3,4,2", "0"}, "TJ2016"},
      {"negative bits", {"-1,4,3", "0"}, "TJ2016"},
      {"negative base", {"1,-4,3", "0"}, "TJ2016"},
      {"too wide", {"31,1,32", "0"}, "TJ2016"},
      {"least shift", {"1,0,-9223372036854775808", "0"}, "TJ2016"},
      {"most bits", {"9223372036854775807,9223372036854775807,9223372036854775807", "0"}, "TJ2016"},
  };
  RUN_TEXT_ROWS(rows, swizzle_row);
}
END_TEST

static void composed_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_composed composed = {read_swizzle(self, row->args[0]), read_tuple(self, row->args[1]),
                          read_layout(self, row->args[2])};
  if (row->args[3] != NULL) {
    expect_tuple(self, tj_composed_apply(self->graph, &composed, read_tuple(self, row->args[3])), row);
    return;
  }
  tj_text text = tj_text_begin(self->graph->job);
  tj_composed_print(&text, &composed);
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(composed_layouts) {
  static const text_row rows[] = {
      {"text", {"3,4,3", "0", "(8,64):(64,1)"}, "Sw<3,4,3> o 0 o (8,64):(64,1)"},
      {"text with an offset", {"2,0,-3", "5", "8:1"}, "Sw<2,0,-3> o 5 o 8:1"},
      {"value", {"3,0,3", "0", "(8,8):(8,1)", "(1,0)"}, "9"},
      {"value with an offset", {"3,0,3", "8", "(8,8):(8,1)", "(1,0)"}, "18"},
      {"symbols", {"3,0,3", "0", "(8,8):(8,1)", "(i,j)"}, "i*8 + j ^ (i*8 + j & 56) >> 3"},
      {"tuples have no bits", {"3,0,3", "0", "(8,8):(1@0,1@1)", "(1,0)"}, "TJ2005"},
  };
  RUN_TEXT_ROWS(rows, composed_row);
}
END_TEST

static void print_swizzle(reader *self, tj_swizzle swizzle, const text_row *row) {
  tj_text text = tj_text_begin(self->graph->job);
  tj_swizzle_print(&text, swizzle);
  expect_text(text.data, row->expected, row->guards);
}

/* The composition is the composition, bit by bit. */
static void compose_swizzles_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_swizzle a = read_swizzle(self, row->args[0]), b = read_swizzle(self, row->args[1]);
  tj_swizzle both;
  if (!tj_swizzle_compose(a, b, &both)) {
    expect_text("none", row->expected, row->guards);
    return;
  }
  for (int64_t i = 0; i < 1024; i++) {
    const tj_node *value = tj_int(self->graph, i);
    const tj_node *twice = tj_swizzle_apply(self->graph, a, tj_swizzle_apply(self->graph, b, value));
    ck_assert_ptr_eq(tj_swizzle_apply(self->graph, both, value), twice);
  }
  print_swizzle(self, both, row);
}

static void layout_of_swizzle_row(reader *self, const void *data) {
  const text_row *row = data;
  tj_layout layout = read_layout(self, row->args[0]);
  tj_swizzle swizzle = read_swizzle(self, row->args[1]);
  tj_composed composed = {.offset = tj_tuple_constant(self->graph, 0), .layout = layout};
  if (!tj_layout_compose_swizzle(self->graph, layout, swizzle, &composed.swizzle)) {
    expect_text("none", row->expected, row->guards);
    return;
  }
  for (int64_t i = 0; i < tj_layout_size(self->graph, layout)->value; i++) {
    const tj_tuple *index = tj_tuple_constant(self->graph, i);
    const tj_node *moved = tj_swizzle_apply(self->graph, swizzle, index->value);
    const tj_tuple *expected = tj_layout_apply(self->graph, layout, tj_tuple_integer(self->graph, moved));
    ck_assert(tj_tuple_equal(tj_composed_apply(self->graph, &composed, index), expected));
  }
  print_swizzle(self, composed.swizzle, row);
}

static void upcast_swizzle_row(reader *self, const void *data) {
  const text_row *row = data;
  print_swizzle(self, tj_swizzle_upcast(self->graph, read_swizzle(self, row->args[0]), atoll(row->args[1])), row);
}

static void downcast_swizzle_row(reader *self, const void *data) {
  const text_row *row = data;
  print_swizzle(self, tj_swizzle_downcast(self->graph, read_swizzle(self, row->args[0]), atoll(row->args[1])), row);
}

START_TEST(swizzle_algebra) {
  static const text_row compose_rows[] = {
      {"fields that meet", {"1,0,3", "1,1,3"}, "Sw<2,0,3>"},
      {"fields that cancel", {"2,0,3", "1,0,3"}, "Sw<1,1,3>"},
      {"itself", {"3,0,3", "3,0,3"}, "Sw<0,0,0>"},
      {"to the left", {"1,0,-3", "1,1,-3"}, "Sw<2,0,-3>"},
      {"with nothing", {"0,0,3", "2,1,3"}, "Sw<2,1,3>"},
      {"another shift", {"1,0,3", "1,0,4"}, "none"},
      {"fields apart", {"1,0,4", "1,2,4"}, "none"},
      {"one reads what the other changes", {"1,0,1", "1,1,1"}, "none"},
  };
  static const text_row layout_rows[] = {
      {"identity", {"64:1", "2,0,3"}, "Sw<2,0,3>"},
      {"scaled", {"64:4", "2,0,3"}, "Sw<2,2,3>"},
      {"row-major", {"(8,8):(8,1)", "3,0,3"}, "Sw<3,0,-3>"},
      {"extents 1", {"(8,1,8):(8,5,1)", "3,0,3"}, "Sw<3,0,-3>"},
      {"fields that fall apart", {"(2,2,16):(2,16,32)", "2,0,2"}, "none"},
      {"bits in another order", {"(2,2,16):(2,1,4)", "2,0,2"}, "none"},
      {"no powers of two", {"(8,6):(6,1)", "1,0,3"}, "none"},
      {"bits that overlap", {"(8,8):(1,1)", "1,0,3"}, "none"},
      {"outside the layout", {"8:1", "1,0,3"}, "none"},
      {"coordinates", {"(8,8):(1@0,1@1)", "1,0,3"}, "none"},
  };
  static const text_row up[] = {
      {"base", {"3,4,3", "8"}, "Sw<3,1,3>"},
      {"bits when the base is used up", {"3,1,3", "4"}, "Sw<2,0,3>"},
      {"all bits", {"1,0,3", "16"}, "Sw<0,0,3>"},
      {"no power of two", {"3,4,3", "3"}, "TJ2031"},
  };
  static const text_row down[] = {
      {"base", {"3,1,3", "8"}, "Sw<3,4,3>"},
      {"too wide", {"20,10,30", "16"}, "TJ2016"},
  };
  RUN_TEXT_ROWS(compose_rows, compose_swizzles_row);
  RUN_TEXT_ROWS(layout_rows, layout_of_swizzle_row);
  RUN_TEXT_ROWS(up, upcast_swizzle_row);
  RUN_TEXT_ROWS(down, downcast_swizzle_row);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {construction,   compact,
                                application,    symbolic_application,
                                slices,         sizes,
                                modes,          indices_and_coordinates,
                                swizzles,       composed_layouts,
                                swizzle_algebra};
  return run_suite(suite_of("layout", tests, sizeof tests / sizeof *tests));
}
