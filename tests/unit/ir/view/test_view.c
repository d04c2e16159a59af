/* SPDX-License-Identifier: MIT */
/* Views: bases, stages, offsets, validity, vectors, text, errors. */
#include "tests/unit/support/layout_support.h"

/* --- reading: "packed((4,6))", then stages such as "merge(4,6) : 0,1 : 0" --- */

static const tj_view *read_base(reader *self, const char *text) {
  size_t length = strcspn(text, "(");
  const tj_tuple *args = read_tuple(self, text + length);
  const tj_node *offset = NULL;
  if (strncmp(text, "packed", length) == 0) {
    offset = args->count > 1 ? args->item[1]->value : NULL;
    return tj_view_packed(self->graph, args->item[0], offset, -1, -1);
  }
  offset = args->count > 2 ? args->item[2]->value : NULL;
  if (strncmp(text, "aligned", length) == 0)
    return tj_view_aligned(self->graph, args->item[0], args->item[1]->value, offset, -1, -1);
  int64_t vector_length = args->count > 3 ? args->item[3]->value->value : -1;
  int64_t vector_stride = args->count > 3 ? args->item[4]->value->value : -1;
  return tj_view_strided(self->graph, args->item[0], args->item[1], offset, vector_length, vector_stride);
}

/* "0,1" or "-" for none. */
static const uint32_t *read_numbers(reader *self, const char **text, uint32_t *count) {
  uint32_t *numbers = TJ_NEW_ARRAY(self->graph->job, uint32_t, 16);
  *count = 0;
  if (**text == '-') {
    ++*text;
    return numbers;
  }
  for (;; ++*text) {
    char *end;
    numbers[(*count)++] = (uint32_t)strtoul(*text, &end, 10);
    *text = end;
    if (*end != ',')
      return numbers;
  }
}

static void skip_separator(const char **text) {
  *text += strncmp(*text, " : ", 3) == 0 ? 3 : **text == ' ';
}

static const tj_view *read_stage(reader *self, const tj_view *view, const char *text) {
  tj_view_step steps[8];
  uint32_t count = 0;
  for (; strncmp(text, " : ", 3) != 0; count++) {
    text += *text == ' ';
    steps[count].transform = read_transform_part(self, &text);
  }
  for (uint32_t i = 0; i < count; i++) {
    skip_separator(&text);
    steps[i].lower = read_numbers(self, &text, &steps[i].lower_count);
  }
  for (uint32_t i = 0; i < count; i++) {
    skip_separator(&text);
    steps[i].upper = read_numbers(self, &text, &steps[i].upper_count);
  }
  ck_assert_msg(*text == '\0', "cannot read %s", text);
  return tj_view_transform(self->graph, view, steps, count);
}

/* A base, then at most three stages. */
typedef struct {
  const char *guards;
  const char *base, *stages[3];
  const char *argument; /* a coordinate */
  const char *expected;
} view_row;

static const tj_view *read_view(reader *self, const view_row *row) {
  const tj_view *view = read_base(self, row->base);
  for (int i = 0; i < 3 && row->stages[i] != NULL; i++)
    view = read_stage(self, view, row->stages[i]);
  return view;
}

static void run_view_rows(const view_row rows[], size_t count, void (*body)(reader *, const void *)) {
  for (size_t i = 0; i < count; i++) {
    bool fails = strncmp(rows[i].expected, "TJ", 2) == 0;
    run_row(body, &rows[i], fails ? (tj_problem_code)atoi(rows[i].expected + 2) : (tj_problem_code)0);
  }
}

#define RUN_VIEW_ROWS(rows, body) run_view_rows(rows, sizeof(rows) / sizeof *(rows), body)

/* --- what a view is --- */

static void describe_row(reader *self, const void *data) {
  const view_row *row = data;
  const tj_view *view = read_view(self, row);
  tj_text text = tj_text_begin(self->graph->job);
  tj_text_format(&text, "%s of %s", tj_tuple_text(text.job, tj_view_lengths(self->graph, view)),
                 tj_node_text(text.job, view->space_size));
  tj_text_format(&text, "/%s", tj_node_text(text.job, tj_view_allocation_size(self->graph, view)));
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(lengths_and_sizes) {
  static const view_row rows[] = {
      {"strided", "strided((3,4),(8,1))", {NULL}, NULL, "(3,4) of 20/24"},
      {"packed", "packed((3,4))", {NULL}, NULL, "(3,4) of 12/12"},
      {"aligned", "aligned((4,5),8)", {NULL}, NULL, "(4,5) of 29/32"},
      {"aligned already", "aligned((4,8),8)", {NULL}, NULL, "(4,8) of 32/32"},
      {"aligned in 3 dimensions", "aligned((2,3,5),4)", {NULL}, NULL, "(2,3,5) of 45/48"},
      {"one dimension", "strided(5,3)", {NULL}, NULL, "(5) of 13/15"},
      {"an offset is not part of the space", "packed((3,4),100)", {NULL}, NULL, "(3,4) of 12/12"},
      {"symbols", "strided((M,N),(N,1))", {NULL}, NULL, "(M,N) of 1 + (M - 1)*N + (N - 1)/M*N"},
      {"merge and pass_through",
       "packed((2,6))",
       {"pass_through(2) unmerge(2,3) : 0 1 : 0 1,2"},
       NULL,
       "(2,2,3) of 12/12"},
      {"the block example",
       "packed((64,4,2,64,4))",
       {"pass_through(64) merge(4,2) merge(64,4) : 0 1,2 3,4 : 0 1 2"},
       NULL,
       "(64,8,256) of 131072/131072"},
      {"insert and freeze",
       "packed((4,6))",
       {"freeze(1) pass_through(6) insert(3) : 0 1 - : - 1 0"},
       NULL,
       "(3,6) of 24/24"},
      {"everything frozen", "packed((4,6))", {"freeze(1) freeze(2) : 0 1 : - -"}, NULL, "() of 24/24"},
      {"convolution padding",
       "packed((2,3,8,8))",
       {"pass_through(2) pass_through(3) pad(8,1,1) pad(8,2,0) : 0 1 2 3 : 0 1 2 3"},
       NULL,
       "(2,3,10,10) of 384/384"},
  };
  RUN_VIEW_ROWS(rows, describe_row);
}
END_TEST

static void print_row(reader *self, const void *data) {
  const view_row *row = data;
  tj_text text = tj_text_begin(self->graph->job);
  tj_view_print(&text, read_view(self, row));
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(printing) {
  static const view_row rows[] = {
      {"strided", "strided((3,4),(8,1))", {NULL}, NULL, "strided((3,4),(8,1))"},
      {"one dimension", "strided(5,3)", {NULL}, NULL, "strided((5),(3))"},
      {"packed", "packed((3,4))", {NULL}, NULL, "packed((3,4))"},
      {"offset", "packed((3,4),7)", {NULL}, NULL, "packed((3,4),offset=7)"},
      {"aligned", "aligned((4,5),8)", {NULL}, NULL, "aligned((4,5),8)"},
      {"vector", "strided((3,4),(8,1),0,4,1)", {NULL}, NULL, "strided((3,4),(8,1),vector=(4,1))"},
      {"symbols", "strided((M,N),(N,1))", {NULL}, NULL, "strided((M,N),(N,1))"},
      {"one stage",
       "packed((4,6))",
       {"merge(4,6) : 0,1 : 0"},
       NULL,
       "transform(packed((4,6)), [merge(4,6)], [[0,1]], [[0]])"},
      {"a symbol agrees with itself",
       "packed((4,M))",
       {"merge(4,M) : 0,1 : 0"},
       NULL,
       "transform(packed((4,M)), [merge(4,M)], [[0,1]], [[0]])"},
      {"two stages",
       "packed((5,12))",
       {"slice(5,0,5) pass_through(12) : 0 1 : 1 0", "replicate(2) merge(12,5) : - 0,1 : 0 1"},
       NULL,
       "transform(transform(packed((5,12)), [slice(5,0,5),pass_through(12)], [[0],[1]], [[1],[0]]), "
       "[replicate(2),merge(12,5)], [[],[0,1]], [[0],[1]])"},
  };
  RUN_VIEW_ROWS(rows, print_row);
}
END_TEST

/* --- offsets --- */

static const tj_node *const *read_coordinate(reader *self, const tj_view *view, const char *text) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(self->graph, read_tuple(self, text), &count);
  ck_assert_uint_eq(count, view->rank);
  const tj_node **nodes = TJ_NEW_ARRAY(self->graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++)
    nodes[i] = leaves[i]->value;
  return nodes;
}

/* The offset, and whether it is valid. */
static void offset_row(reader *self, const void *data) {
  const view_row *row = data;
  const tj_view *view = read_view(self, row);
  const tj_node *const *coordinate = read_coordinate(self, view, row->argument);
  const tj_node *offset = tj_view_offset(self->graph, view, coordinate);
  const tj_node *valid = tj_view_valid(self->graph, view, coordinate, true);
  tj_text text = tj_text_begin(self->graph->job);
  tj_text_format(&text, "%s if %s", tj_node_text(text.job, offset), tj_node_text(text.job, valid));
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(offsets) {
  static const view_row rows[] = {
      {"strided", "strided((3,4),(8,1))", {NULL}, "(1,2)", "10 if 1"},
      {"packed", "packed((3,4))", {NULL}, "(1,2)", "6 if 1"},
      {"aligned", "aligned((4,5),8)", {NULL}, "(1,0)", "8 if 1"},
      {"offset", "packed((3,4),100)", {NULL}, "(1,2)", "106 if 1"},
      {"above the top", "packed((3,4))", {NULL}, "(1,4)", "8 if 0"},
      {"below the top", "packed((3,4))", {NULL}, "(1,-1)", "3 if 0"},
      {"transposed", "packed((3,4))", {"pass_through(3) pass_through(4) : 0 1 : 1 0"}, "(2,1)", "6 if 1"},
      {"transposed from below", "packed((3,4))", {"pass_through(4) pass_through(3) : 1 0 : 0 1"}, "(2,1)", "6 if 1"},
      {"pad before", "packed((3))", {"pad(3,1,1) : 0 : 0"}, "(0)", "-1 if 0"},
      {"pad inside", "packed((3))", {"pad(3,1,1) : 0 : 0"}, "(3)", "2 if 1"},
      {"pad after", "packed((3))", {"pad(3,1,1) : 0 : 0"}, "(4)", "3 if 0"},
      {"every pad counts", "packed((3))", {"left_pad(3,1) : 0 : 0", "right_pad(4,1) : 0 : 0"}, "(4)", "3 if 0"},
      {"also the lower one", "packed((3))", {"left_pad(3,1) : 0 : 0", "right_pad(4,1) : 0 : 0"}, "(0)", "-1 if 0"},
      {"slices", "packed((8,9))", {"slice(8,2,5) slice(9,1,4) : 0 1 : 0 1"}, "(1,2)", "30 if 1"},
      {"hidden indices are not checked", "packed((4))", {"offset(4,3) : 0 : 0"}, "(3)", "6 if 1"},
      {"frozen", "packed((4,6))", {"freeze(1) pass_through(6) : 0 1 : - 0"}, "(2)", "8 if 1"},
      {"symbols", "packed((16,32))", {NULL}, "(i,j)", "i*32 + j if 1"},
      {"symbols that may leave the top", "packed((8,24))", {NULL}, "(i,j)", "i*24 + j if i < 8"},
      {"negative symbols", "packed((16,32))", {NULL}, "(n,j)", "n*32 + j if -1 < n"},
      {"a symbolic length", "strided((M,32),(32,1))", {NULL}, "(i,j)", "i*32 + j if i < M"},
      {"merged symbols", "strided((4,6),(8,1))", {"merge(4,6) : 0,1 : 0"}, "(j)", "j/6*8 + j%6 if 1"},
      {"padded symbols", "packed((22))", {"pad(22,1,1) : 0 : 0"}, "(j)", "j - 1 if 0 < j & j < 23"},
  };
  RUN_VIEW_ROWS(rows, offset_row);
}
END_TEST

/* --- vectors --- */

static void vectors_row(reader *self, const void *data) {
  const view_row *row = data;
  const tj_view *view = read_view(self, row);
  int64_t lengths[TJ_MAX_DIMENSIONS], strides[TJ_MAX_DIMENSIONS];
  tj_view_vectors(self->graph, view, lengths, strides);
  tj_text text = tj_text_begin(self->graph->job);
  for (uint32_t i = 0; i < view->rank; i++)
    tj_text_format(&text, "%lld:%lld ", (long long)lengths[i], (long long)strides[i]);
  expect_text(text.data, row->expected, row->guards);
}

START_TEST(vectors) {
  static const view_row rows[] = {
      {"nothing is known of strides", "strided((3,4),(8,1))", {NULL}, NULL, "-1:-1 -1:-1 "},
      {"but of packed views", "packed((3,4))", {NULL}, NULL, "-1:-1 -1:1 "},
      {"a guarantee", "strided((3,4),(8,1),0,4,1)", {NULL}, NULL, "-1:-1 4:1 "},
      {"merged", "strided((3,4),(8,1),0,4,1)", {"merge(3,4) : 0,1 : 0"}, NULL, "4:1 "},
      {"unmerged",
       "strided((3,12),(16,1),0,4,1)",
       {"pass_through(3) unmerge(2,6) : 0 1 : 0 1,2"},
       NULL,
       "-1:-1 -1:-1 2:1 "},
      {"sliced", "strided((3,4),(8,1),0,4,1)", {"pass_through(3) slice(4,0,2) : 0 1 : 0 1"}, NULL, "-1:-1 -1:-1 "},
  };
  RUN_VIEW_ROWS(rows, vectors_row);
}
END_TEST

/* --- errors --- */

START_TEST(errors) {
  static const view_row rows[] = {
      {"strides of another rank", "strided((3,4),(8))", {NULL}, NULL, "TJ3007"},
      {"nested lengths", "packed((3,(4,5)))", {NULL}, NULL, "TJ3007"},
      {"nested strides", "strided((3,4),(8,(1)))", {NULL}, NULL, "TJ3007"},
      {"no dimension", "packed(())", {NULL}, NULL, "TJ3007"},
      {"length 0", "packed((3,0))", {NULL}, NULL, "TJ3007"},
      {"a length that may be 0", "packed((3,i))", {NULL}, NULL, "TJ2015"},
      {"alignment 0", "aligned((3,4),0)", {NULL}, NULL, "TJ3007"},
      {"basis strides", "strided((3,4),(1@0,1@1))", {NULL}, NULL, "TJ3007"},
      {"vector of length 0", "strided((3,4),(4,1),0,0,1)", {NULL}, NULL, "TJ3007"},
      {"too few lower dimensions", "packed((4,6))", {"merge(4,6) : 0 : 0"}, NULL, "TJ3003"},
      {"too many upper dimensions", "packed((4,6))", {"merge(4,6) : 0,1 : 0,1"}, NULL, "TJ3003"},
      {"consumed twice", "packed((4,4))", {"merge(4,4) : 0,0 : 0"}, NULL, "TJ3004"},
      {"never consumed", "packed((4,6))", {"pass_through(4) : 0 : 0"}, NULL, "TJ3004"},
      {"a dimension that is not there", "packed((4,6))", {"merge(4,6) : 0,2 : 0"}, NULL, "TJ3004"},
      {"another length", "packed((4,6))", {"merge(4,5) : 0,1 : 0"}, NULL, "TJ3005"},
      {"a length that may differ", "packed((4,M))", {"merge(4,5) : 0,1 : 0"}, NULL, "TJ2015"},
      {"an upper number twice", "packed((4,6))", {"pass_through(4) pass_through(6) : 0 1 : 0 0"}, NULL, "TJ3006"},
      {"an upper number too large", "packed((4,6))", {"pass_through(4) pass_through(6) : 0 1 : 0 2"}, NULL, "TJ3006"},
  };
  RUN_VIEW_ROWS(rows, print_row);
}
END_TEST

static void check_packed_vector_stride(reader *self, const void *data) {
  (void)data;
  tj_view_packed(self->graph, read_tuple(self, "(4,6)"), NULL, 2, 2);
}

static void make_wide_view(reader *self, const void *data) {
  (void)data;
  const tj_tuple *one = tj_tuple_constant(self->graph, 1), *items[TJ_MAX_DIMENSIONS + 1];
  for (int i = 0; i <= TJ_MAX_DIMENSIONS; i++)
    items[i] = one;
  tj_view_packed(self->graph, tj_tuple_list(self->graph, items, TJ_MAX_DIMENSIONS + 1), NULL, -1, -1);
}

static void chain_many_stages(reader *self, const void *data) {
  (void)data;
  const tj_view *view = read_base(self, "packed((4))");
  for (int i = 0; i < 4000; i++)
    view = read_stage(self, view, "pass_through(4) : 0 : 0");
  const tj_node *three = tj_int(self->graph, 3);
  ck_assert(tj_is_int(tj_view_offset(self->graph, view, &three), 3));
  tj_text text = tj_text_begin(self->graph->job);
  tj_view_print(&text, view);
  ck_assert_uint_gt(text.length, 4000);
}

START_TEST(limits) {
  run_row(check_packed_vector_stride, NULL, TJ_VIEW_ARGUMENT);
  run_row(make_wide_view, NULL, TJ_VIEW_ARGUMENT);
  run_row(chain_many_stages, NULL, (tj_problem_code)0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {lengths_and_sizes, printing, offsets, vectors, errors, limits};
  return run_suite(suite_of("view", tests, sizeof tests / sizeof *tests));
}
