/* CK Tile's own results (tests/vectors/ck_dev.jsonl): descriptors and vector lengths.
 *
 * Every descriptor is evaluated three ways at every coordinate: by the oracle, by its index expressions of symbols,
 * and by its index expressions of constants; lengths, sizes, raw offsets and validity must be CK's. */
#include "ir/eval.h"
#include "tests/unit/layout_support.h"

#include <jansson.h>
#include <stdio.h>

/* --- views from JSON --- */

static const tj_tuple *tuple_of_json(reader *self, const json_t *array) {
  const tj_tuple *items[TJ_MAX_DIMENSIONS];
  uint32_t count = (uint32_t)json_array_size(array);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_tuple_constant(self->graph, json_integer_value(json_array_get(array, i)));
  return tj_tuple_list(self->graph, items, count);
}

static int64_t number(const json_t *object, const char *key, int64_t otherwise) {
  const json_t *value = json_object_get(object, key);
  return value == NULL ? otherwise : json_integer_value(value);
}

static const tj_view *base_of_json(reader *self, const json_t *base) {
  tj_graph *graph = self->graph;
  const char *type = json_string_value(json_object_get(base, "type"));
  const tj_tuple *lengths = tuple_of_json(self, json_object_get(base, "lengths"));
  int64_t vector_length = number(base, "guaranteed_vector_length", -1);
  int64_t vector_stride = number(base, "guaranteed_vector_stride", -1);
  if (strcmp(type, "packed") == 0)
    return tj_view_packed(graph, lengths, NULL, vector_length, vector_stride);
  if (strcmp(type, "aligned") == 0)
    return tj_view_aligned(graph, lengths, tj_int(graph, number(base, "align", 0)), NULL, vector_length,
                           vector_stride);
  const tj_tuple *strides = tuple_of_json(self, json_object_get(base, "strides"));
  return tj_view_strided(graph, lengths, strides, NULL, vector_length, vector_stride);
}

static tj_transform_kind kind_of_name(const char *name) {
  for (int kind = 0; kind < TJ_TRANSFORM_COUNT; kind++)
    if (strcmp(tj_transform_name((tj_transform_kind)kind), name) == 0)
      return (tj_transform_kind)kind;
  ck_abort_msg("unknown transform %s", name);
}

/* A transform's arguments are its JSON keys, in this order. */
static const tj_transform *transform_of_json(reader *self, const json_t *object) {
  static const char *const keys[] = {"modulus", "length", "lengths", "strides", "left",
                                     "right",   "begin",  "end",     "offset",  "index"};
  const tj_tuple *args[4];
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const json_t *value = json_object_get(object, keys[i]);
    if (value == NULL)
      continue;
    args[count++] =
        json_is_array(value) ? tuple_of_json(self, value) : tj_tuple_constant(self->graph, json_integer_value(value));
  }
  tj_transform_kind kind = kind_of_name(json_string_value(json_object_get(object, "op")));
  return tj_transform_make(self->graph, kind, args, count);
}

static const uint32_t *numbers_of_json(reader *self, const json_t *array, uint32_t *count) {
  *count = (uint32_t)json_array_size(array);
  uint32_t *numbers = TJ_NEW_ARRAY(self->graph->job, uint32_t, *count);
  for (uint32_t i = 0; i < *count; i++)
    numbers[i] = (uint32_t)json_integer_value(json_array_get(array, i));
  return numbers;
}

static const tj_view *stage_of_json(reader *self, const tj_view *view, const json_t *stage) {
  tj_view_step steps[TJ_MAX_DIMENSIONS];
  const json_t *transforms = json_object_get(stage, "transforms");
  uint32_t count = (uint32_t)json_array_size(transforms);
  for (uint32_t i = 0; i < count; i++) {
    const json_t *lower = json_array_get(json_object_get(stage, "lower"), i);
    const json_t *upper = json_array_get(json_object_get(stage, "upper"), i);
    steps[i].transform = transform_of_json(self, json_array_get(transforms, i));
    steps[i].lower = numbers_of_json(self, lower, &steps[i].lower_count);
    steps[i].upper = numbers_of_json(self, upper, &steps[i].upper_count);
  }
  return tj_view_transform(self->graph, view, steps, count);
}

static const tj_view *view_of_json(reader *self, const json_t *row) {
  const tj_view *view = base_of_json(self, json_object_get(row, "base"));
  const json_t *stages = json_object_get(row, "stages");
  for (size_t i = 0; i < json_array_size(stages); i++)
    view = stage_of_json(self, view, json_array_get(stages, i));
  return view;
}

/* --- checks --- */

static const char *name_of(const json_t *row) {
  return json_string_value(json_object_get(row, "name"));
}

static uint64_t check_lengths(reader *self, const tj_view *view, const json_t *row, int64_t lengths[]) {
  const json_t *expected = json_object_get(row, "lengths");
  const tj_tuple *actual = tj_view_lengths(self->graph, view);
  ck_assert_msg(json_array_size(expected) == view->rank, "%s: rank", name_of(row));
  uint64_t size = 1;
  for (uint32_t i = 0; i < view->rank; i++) {
    lengths[i] = json_integer_value(json_array_get(expected, i));
    ck_assert_msg(tj_is_int(actual->item[i]->value, lengths[i]), "%s: length %u", name_of(row), i);
    size *= (uint64_t)lengths[i];
  }
  int64_t space = number(row, "element_space_size", -1);
  ck_assert_msg(tj_is_int(view->space_size, space), "%s: element_space_size", name_of(row));
  return size;
}

/* The row-major coordinate of a linear index. */
static void coordinate_of(uint64_t index, const int64_t lengths[], uint32_t rank, int64_t coordinate[]) {
  for (uint32_t i = rank; i-- > 0;) {
    coordinate[i] = (int64_t)(index % (uint64_t)lengths[i]);
    index /= (uint64_t)lengths[i];
  }
}

static void check_value(const json_t *row, uint64_t index, const char *how, int64_t offset, bool valid) {
  const json_t *expected = json_array_get(json_object_get(row, "table"), index);
  bool expected_valid = json_integer_value(json_array_get(json_object_get(row, "valid"), index)) != 0;
  ck_assert_msg(valid == expected_valid, "%s at %u by %s: valid", name_of(row), (unsigned)index, how);
  if (!json_is_null(expected))
    ck_assert_msg(offset == json_integer_value(expected), "%s at %u by %s: %lld, not %lld", name_of(row),
                  (unsigned)index, how, (long long)offset, (long long)json_integer_value(expected));
}

static void check_constants(reader *self, const tj_view *view, const json_t *row, uint64_t index,
                            const int64_t coordinate[]) {
  const tj_node *nodes[TJ_MAX_DIMENSIONS];
  for (uint32_t i = 0; i < view->rank; i++)
    nodes[i] = tj_int(self->graph, coordinate[i]);
  const tj_node *offset = tj_view_offset(self->graph, view, nodes);
  const tj_node *valid = tj_view_valid(self->graph, view, nodes, true);
  ck_assert(tj_is_constant(offset) && tj_is_constant(valid));
  check_value(row, index, "constants", offset->value, valid->value != 0);
}

static void check_symbols(const tj_map *map, const json_t *row, uint64_t index, const int64_t coordinate[],
                          uint32_t rank, uint32_t first_symbol) {
  int64_t bindings_value[128] = {0}, values[2] = {0, 1};
  for (uint32_t i = 0; i < rank; i++)
    bindings_value[first_symbol + i] = coordinate[i];
  tj_bindings bindings = {bindings_value, NULL, first_symbol + rank};
  const tj_node *roots[] = {map->output->value, map->valid};
  ck_assert_int_eq(tj_eval_nodes(roots, map->valid == NULL ? 1 : 2, &bindings, values), TJ_EVAL_OK);
  check_value(row, index, "symbols", values[0], values[1] != 0);
}

static void check_descriptor(reader *self, const void *data) {
  const json_t *row = data;
  const tj_view *view = view_of_json(self, row);
  int64_t lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS];
  uint64_t size = check_lengths(self, view, row, lengths);
  ck_assert_uint_eq(size, json_array_size(json_object_get(row, "table")));
  uint32_t first_symbol = self->graph->symbol_count;
  tj_map map = tj_map_of_view(self->graph, view);
  for (uint64_t index = 0; index < size; index++) {
    coordinate_of(index, lengths, view->rank, coordinate);
    bool valid;
    int64_t offset = tj_oracle_view(self->graph, view, coordinate, &valid);
    check_value(row, index, "the oracle", offset, valid);
    check_constants(self, view, row, index, coordinate);
    check_symbols(&map, row, index, coordinate, view->rank, first_symbol);
  }
}

static void check_vector(reader *self, const void *data) {
  const json_t *row = data;
  const tj_view *view = view_of_json(self, row);
  int64_t lengths[TJ_MAX_DIMENSIONS], strides[TJ_MAX_DIMENSIONS];
  check_lengths(self, view, row, lengths);
  tj_view_vectors(self->graph, view, lengths, strides);
  for (uint32_t i = 0; i < view->rank; i++) {
    int64_t length = json_integer_value(json_array_get(json_object_get(row, "vector_lengths"), i));
    int64_t stride = json_integer_value(json_array_get(json_object_get(row, "vector_strides"), i));
    ck_assert_msg(lengths[i] == length && strides[i] == stride, "%s: vector of dimension %u", name_of(row), i);
  }
}

static unsigned check_rows(const char *kind, void (*body)(reader *, const void *)) {
  FILE *file = fopen(TILEJIT_TEST_DATA "/vectors/ck_dev.jsonl", "r");
  ck_assert_msg(file != NULL, "cannot open the vectors");
  char *line = NULL;
  size_t capacity = 0;
  unsigned count = 0;
  while (getline(&line, &capacity, file) > 0) {
    json_t *row = json_loads(line, 0, NULL);
    ck_assert_ptr_nonnull(row);
    if (strcmp(json_string_value(json_object_get(row, "kind")), kind) == 0) {
      run_row(body, row, (tj_problem_code)0);
      count++;
    }
    json_decref(row);
  }
  free(line);
  fclose(file);
  return count;
}

START_TEST(descriptors) {
  ck_assert_uint_eq(check_rows("descriptor", check_descriptor), 390);
}
END_TEST

START_TEST(vectors) {
  ck_assert_uint_eq(check_rows("vector", check_vector), 85);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {descriptors, vectors};
  return run_suite(suite_of("vectors_ck", tests, sizeof tests / sizeof *tests));
}
