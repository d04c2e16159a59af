/* SPDX-License-Identifier: MIT */
/* CK Tile's own results (tests/vectors/ck_dev.jsonl): descriptors and vector lengths.
 *
 * Every descriptor is evaluated three ways at every coordinate: by the oracle, by its index expressions of symbols,
 * and by its index expressions of constants; lengths, sizes, raw offsets and validity must be CK's. */
#include "ir/index/eval.h"
#include "tests/unit/support/vector_support.h"

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
