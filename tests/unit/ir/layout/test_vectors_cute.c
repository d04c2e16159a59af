/* SPDX-License-Identifier: MIT */
/* CuTe C++'s own results (tests/vectors/cute_dev.jsonl), structure included.
 *
 * One row of `operations` for each operation of the file. Where a row has a table of values, the result layout must
 * have them by constant application, by index expressions of symbols, and by the oracle. */
#include "ir/index/eval.h"
#include "tests/unit/support/layout_support.h"

#include <jansson.h>
#include <stdio.h>

/* What an operation gives: a layout, a composed layout, or a tuple. */
typedef struct {
  enum { IS_LAYOUT, IS_COMPOSED, IS_TUPLE } kind;
  tj_layout layout;
  tj_composed composed;
  const tj_tuple *tuple;
} result;

static result of_layout(tj_layout layout) {
  return (result){.kind = IS_LAYOUT, .layout = layout};
}

static result of_tuple(const tj_tuple *tuple) {
  return (result){.kind = IS_TUPLE, .tuple = tuple};
}

static result of_node(reader *self, const tj_node *node) {
  return of_tuple(tj_tuple_integer(self->graph, node));
}

static result of_number(reader *self, uint32_t number) {
  return of_tuple(tj_tuple_constant(self->graph, number));
}

/* --- arguments --- */

static tj_layout layout_argument(reader *self, const char *text) {
  if (strncmp(text, "identity", 8) == 0)
    return tj_layout_identity(self->graph, read_tuple(self, text + 8));
  return read_layout(self, text);
}

static const tj_tiler *tiler_argument(reader *self, const char *text) {
  const tj_tiler *modes[16];
  uint32_t count = 0;
  if (*text != '<')
    return strchr(text, ':') != NULL ? tj_tiler_of_layout(self->graph, read_layout(self, text))
                                     : tj_tiler_of_tuple(self->graph, read_tuple(self, text));
  while (*text != '>') {
    text++;
    modes[count++] = tj_tiler_of_layout(self->graph, read_layout_part(self, &text));
  }
  return tj_tiler_of_modes(self->graph, modes, count);
}

/* --- operations --- */

#define LAYOUT(i) layout_argument(self, args[i])
#define TUPLE(i) read_tuple(self, args[i])
#define NUMBER(i) strtoll(args[i], NULL, 10)
#define TILER(i) tiler_argument(self, args[i])
#define OPERATION(name, value)                                                                                       \
  static result do_##name(reader *self, const char *const args[], size_t count) {                                    \
    (void)count;                                                                                                     \
    tj_graph *graph = self->graph;                                                                                   \
    (void)graph;                                                                                                     \
    return value;                                                                                                    \
  }

OPERATION(composition, of_layout(tj_layout_compose_tiler(graph, LAYOUT(0), TILER(1))))
OPERATION(coalesce, of_layout(tj_layout_coalesce(graph, LAYOUT(0))))
OPERATION(flatten, of_layout(tj_layout_flatten(graph, LAYOUT(0))))
OPERATION(reverse, of_layout(LAYOUT(0)))
OPERATION(filter, of_layout(tj_layout_filter(graph, LAYOUT(0))))
OPERATION(filter_zeros, of_layout(tj_layout_filter_zeros(graph, LAYOUT(0))))
OPERATION(complement, of_layout(tj_layout_complement(graph, LAYOUT(0), count > 1 ? TUPLE(1) : NULL)))
OPERATION(right_inverse, of_layout(tj_layout_right_inverse(graph, LAYOUT(0))))
OPERATION(left_inverse, of_layout(tj_layout_left_inverse(graph, LAYOUT(0))))
OPERATION(nullspace, of_layout(tj_layout_nullspace(graph, LAYOUT(0))))
OPERATION(max_common_layout, of_layout(tj_layout_max_common(graph, LAYOUT(0), LAYOUT(1))))
OPERATION(max_common_vector, of_node(self, tj_layout_max_common_vector(graph, LAYOUT(0), LAYOUT(1))))
OPERATION(logical_divide, of_layout(tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_LOGICAL)))
OPERATION(zipped_divide, of_layout(tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_ZIPPED)))
OPERATION(tiled_divide, of_layout(tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_TILED)))
OPERATION(flat_divide, of_layout(tj_layout_divide(graph, LAYOUT(0), TILER(1), TJ_TILED_FLAT)))
OPERATION(logical_product, of_layout(tj_layout_multiply(graph, LAYOUT(0), TILER(1), TJ_TILED_LOGICAL)))
OPERATION(zipped_product, of_layout(tj_layout_multiply(graph, LAYOUT(0), TILER(1), TJ_TILED_ZIPPED)))
OPERATION(tiled_product, of_layout(tj_layout_multiply(graph, LAYOUT(0), TILER(1), TJ_TILED_TILED)))
OPERATION(blocked_product, of_layout(tj_layout_blocked_product(graph, LAYOUT(0), LAYOUT(1))))
OPERATION(raked_product, of_layout(tj_layout_raked_product(graph, LAYOUT(0), LAYOUT(1))))
OPERATION(tile_to_shape, of_layout(tj_tile_to_shape(graph, LAYOUT(0), TUPLE(1), count > 2 ? TUPLE(2) : NULL)))
OPERATION(make_ordered_layout, of_layout(tj_layout_ordered(graph, TUPLE(0), TUPLE(1))))
OPERATION(make_identity_layout, of_layout(tj_layout_identity(graph, TUPLE(0))))
OPERATION(upcast, of_layout(tj_layout_upcast(graph, LAYOUT(0), NUMBER(1))))
OPERATION(downcast, of_layout(tj_layout_downcast(graph, LAYOUT(0), NUMBER(1))))
OPERATION(idx2crd, of_tuple(tj_idx2crd(graph, TUPLE(0), TUPLE(1), TUPLE(2))))
OPERATION(layout_at, of_tuple(tj_layout_apply(graph, LAYOUT(0), TUPLE(1))))
OPERATION(size, of_node(self, tj_layout_size(graph, LAYOUT(0))))
OPERATION(cosize, of_node(self, tj_layout_cosize(graph, LAYOUT(0))))
OPERATION(rank, of_number(self, tj_tuple_rank(LAYOUT(0).shape)))
OPERATION(depth, of_number(self, LAYOUT(0).shape->depth))

static result do_swizzle(reader *self, const char *const args[], size_t count) {
  (void)count;
  long long bits, base, shift;
  ck_assert_int_eq(sscanf(args[0], "%lld,%lld,%lld", &bits, &base, &shift), 3);
  result value = {.kind = IS_COMPOSED};
  value.composed.swizzle = tj_swizzle_make(self->graph, bits, base, shift);
  value.composed.offset = tj_tuple_constant(self->graph, 0);
  value.composed.layout = LAYOUT(1);
  return value;
}

typedef struct {
  const char *name;
  result (*run)(reader *self, const char *const args[], size_t count);
  unsigned rows; /* how many the file has */
} operation;

static const operation operations[] = {
    {"blocked_product", do_blocked_product, 42},
    {"coalesce", do_coalesce, 14},
    {"complement", do_complement, 49},
    {"composition", do_composition, 92},
    {"cosize", do_cosize, 14},
    {"depth", do_depth, 11},
    {"downcast", do_downcast, 28},
    {"filter", do_filter, 12},
    {"filter_zeros", do_filter_zeros, 17},
    {"flat_divide", do_flat_divide, 19},
    {"flatten", do_flatten, 14},
    {"idx2crd", do_idx2crd, 67},
    {"layout_at", do_layout_at, 42},
    {"left_inverse", do_left_inverse, 18},
    {"logical_divide", do_logical_divide, 29},
    {"logical_product", do_logical_product, 38},
    {"make_identity_layout", do_make_identity_layout, 21},
    {"make_ordered_layout", do_make_ordered_layout, 35},
    {"max_common_layout", do_max_common_layout, 40},
    {"max_common_vector", do_max_common_vector, 26},
    {"nullspace", do_nullspace, 14},
    {"raked_product", do_raked_product, 39},
    {"rank", do_rank, 10},
    {"reverse", do_reverse, 10},
    {"right_inverse", do_right_inverse, 11},
    {"size", do_size, 12},
    {"swizzle", do_swizzle, 74},
    {"tile_to_shape", do_tile_to_shape, 43},
    {"tiled_divide", do_tiled_divide, 22},
    {"tiled_product", do_tiled_product, 13},
    {"upcast", do_upcast, 9},
    {"zipped_divide", do_zipped_divide, 50},
    {"zipped_product", do_zipped_product, 44},
};

/* --- checks --- */

static const char *text_of(reader *self, const result *value) {
  tj_text text = tj_text_begin(self->graph->job);
  if (value->kind == IS_LAYOUT)
    tj_layout_print(&text, value->layout);
  else if (value->kind == IS_COMPOSED)
    tj_composed_print(&text, &value->composed);
  else
    tj_tuple_print(&text, value->tuple);
  return text.data;
}

/* The leaves of a value in a table: a number, or a nested array of numbers. */
static uint32_t flatten_json(const json_t *value, int64_t leaves[]) {
  if (!json_is_array(value)) {
    leaves[0] = json_integer_value(value);
    return 1;
  }
  uint32_t count = 0;
  for (size_t i = 0; i < json_array_size(value); i++)
    count += flatten_json(json_array_get(value, i), leaves + count);
  return count;
}

enum { MOST_LEAVES = 16 };

typedef struct {
  reader *self;
  const char *what;
  const result *value;
  tj_map map;
  uint32_t first_symbol;
} table_check;

static void expect_leaves(const table_check *check, uint32_t index, const char *how, const int64_t actual[],
                          const int64_t expected[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    ck_assert_msg(actual[i] == expected[i], "%s at %u by %s: %lld, not %lld", check->what, index, how,
                  (long long)actual[i], (long long)expected[i]);
}

static void check_application(const table_check *check, uint32_t index, const int64_t expected[], uint32_t count) {
  tj_graph *graph = check->self->graph;
  const tj_tuple *coordinate = tj_tuple_constant(graph, index);
  const tj_tuple *value = check->value->kind == IS_LAYOUT
                              ? tj_layout_apply(graph, check->value->layout, coordinate)
                              : tj_composed_apply(graph, &check->value->composed, coordinate);
  uint32_t leaf_count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, value, &leaf_count);
  ck_assert_uint_eq(leaf_count, count);
  int64_t actual[MOST_LEAVES];
  for (uint32_t i = 0; i < count; i++)
    actual[i] = leaves[i]->value->value;
  expect_leaves(check, index, "application", actual, expected, count);
}

static void check_oracle(const table_check *check, uint32_t index, const int64_t coordinate[],
                         const int64_t expected[], uint32_t count) {
  int64_t actual[MOST_LEAVES];
  if (check->value->kind == IS_LAYOUT)
    ck_assert_uint_eq(tj_oracle_layout(check->self->graph, check->value->layout, coordinate, actual), count);
  else
    tj_oracle_composed(check->self->graph, &check->value->composed, coordinate, actual);
  expect_leaves(check, index, "the oracle", actual, expected, count);
}

static void check_symbols(const table_check *check, uint32_t index, const int64_t coordinate[], uint32_t symbols,
                          const int64_t expected[], uint32_t count) {
  int64_t bound[64] = {0}, actual[MOST_LEAVES];
  const tj_node *roots[MOST_LEAVES];
  const tj_tuple *const *leaves = tj_tuple_leaves(check->self->graph, check->map.output, NULL);
  for (uint32_t i = 0; i < count; i++)
    roots[i] = leaves[i]->value;
  for (uint32_t i = 0; i < symbols; i++)
    bound[check->first_symbol + i] = coordinate[i];
  tj_bindings bindings = {bound, NULL, check->first_symbol + symbols};
  ck_assert_int_eq(tj_eval_nodes(roots, count, &bindings, actual), TJ_EVAL_OK);
  expect_leaves(check, index, "symbols", actual, expected, count);
}

static void check_table(table_check *check, const json_t *table) {
  reader *self = check->self;
  bool plain = check->value->kind == IS_LAYOUT;
  tj_layout layout = plain ? check->value->layout : check->value->composed.layout;
  uint32_t rank;
  const tj_tuple *const *extents = tj_tuple_leaves(self->graph, layout.shape, &rank);
  check->first_symbol = self->graph->symbol_count;
  check->map =
      plain ? tj_map_of_layout(self->graph, layout) : tj_map_of_composed(self->graph, &check->value->composed);
  ck_assert_int_eq((int64_t)json_array_size(table), tj_layout_size(self->graph, layout)->value);
  for (uint32_t index = 0; index < json_array_size(table); index++) {
    int64_t expected[MOST_LEAVES], coordinate[MOST_LEAVES], rest = index;
    uint32_t count = flatten_json(json_array_get(table, index), expected);
    for (uint32_t i = 0; i < rank; i++) {
      coordinate[i] = rest % extents[i]->value->value;
      rest /= extents[i]->value->value;
    }
    check_application(check, index, expected, count);
    check_oracle(check, index, coordinate, expected, count);
    check_symbols(check, index, coordinate, rank, expected, count);
  }
}

static const operation *find_operation(const char *name) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    if (strcmp(operations[i].name, name) == 0)
      return &operations[i];
  ck_abort_msg("unknown operation %s", name);
}

static const char *string(const json_t *row, const char *key) {
  return json_string_value(json_object_get(row, key));
}

typedef struct {
  reader *self;
  const json_t *row;
  const char *args[4], *what;
  size_t count;
} row_check;

static void check_row_body(tj_job *job, void *data) {
  (void)job;
  row_check *row = data;
  result value = find_operation(string(row->row, "op"))->run(row->self, row->args, row->count);
  expect_text(text_of(row->self, &value), string(row->row, "result"), row->what);
  table_check check = {.self = row->self, .what = row->what, .value = &value};
  const json_t *table = json_object_get(row->row, "table");
  if (table != NULL)
    check_table(&check, table);
}

static void check_row(reader *self, const void *data) {
  row_check row = {.self = self, .row = data, .count = json_array_size(json_object_get(data, "args"))};
  tj_job *job = self->graph->job;
  tj_text what = tj_text_begin(job);
  tj_text_string(&what, string(data, "op"));
  for (size_t i = 0; i < row.count; i++) {
    row.args[i] = json_string_value(json_array_get(json_object_get(data, "args"), i));
    tj_text_format(&what, " %s", row.args[i]);
  }
  row.what = what.data;
  tj_status status = tj_job_run(job, check_row_body, &row);
  ck_assert_msg(status == TJ_OK, "%s: TJ%04d: %s", what.data, (int)job->problem.code, job->problem.message);
}

START_TEST(rows) {
  FILE *file = fopen(TILEJIT_TEST_DATA "/vectors/cute_dev.jsonl", "r");
  ck_assert_msg(file != NULL, "cannot open the vectors");
  unsigned seen[sizeof operations / sizeof *operations] = {0};
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, file) > 0) {
    json_t *row = json_loads(line, 0, NULL);
    ck_assert_ptr_nonnull(row);
    run_row(check_row, row, (tj_problem_code)0);
    seen[find_operation(string(row, "op")) - operations]++;
    json_decref(row);
  }
  free(line);
  fclose(file);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
    ck_assert_msg(seen[i] == operations[i].rows, "%s: %u rows", operations[i].name, seen[i]);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {rows};
  return run_suite(suite_of("vectors_cute", tests, sizeof tests / sizeof *tests));
}
