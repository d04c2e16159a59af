/* SPDX-License-Identifier: MIT */
/* CK Tile's own distributions (tests/vectors/ck_dev.jsonl): lengths, the tile coordinate of every (p…, y…),
 * registers.
 *
 * Every coordinate is evaluated by the oracle of distributions, by the oracle of adaptors, by index expressions plain
 * and simplified, and by the (thread, value) layout. */
#include "ir/index/eval.h"
#include "ir/map/distribution.h"
#include "ir/simplify/simplify.h"
#include "tests/unit/support/vector_support.h"

static uint32_t read_integers(const json_t *array, int64_t integers[]) {
  for (size_t i = 0; i < json_array_size(array); i++)
    integers[i] = json_integer_value(json_array_get(array, i));
  return (uint32_t)json_array_size(array);
}

static tj_lengths read_lengths(reader *self, const json_t *array) {
  int64_t *lengths = TJ_NEW_ARRAY(self->graph->job, int64_t, json_array_size(array));
  uint32_t count = read_integers(array, lengths);
  return (tj_lengths){lengths, count};
}

static tj_partition read_dimensions(reader *self, const json_t *major, const json_t *minor) {
  tj_rh *dimensions = TJ_NEW_ARRAY(self->graph->job, tj_rh, json_array_size(major));
  for (size_t i = 0; i < json_array_size(major); i++)
    dimensions[i] = (tj_rh){(uint32_t)json_integer_value(json_array_get(major, i)),
                            (uint32_t)json_integer_value(json_array_get(minor, i))};
  return (tj_partition){dimensions, (uint32_t)json_array_size(major)};
}

static const tj_distribution *distribution_of_json(reader *self, const json_t *row) {
  tj_lengths rh[TJ_MAX_RH + 1] = {read_lengths(self, json_object_get(row, "rs"))};
  tj_partition p[TJ_MAX_RH];
  const json_t *hs = json_object_get(row, "hs"), *major = json_object_get(row, "ps_to_rhs_major");
  const json_t *minor = json_object_get(row, "ps_to_rhs_minor");
  uint32_t x_count = (uint32_t)json_array_size(hs), p_count = (uint32_t)json_array_size(major);
  for (uint32_t i = 0; i < x_count; i++)
    rh[i + 1] = read_lengths(self, json_array_get(hs, i));
  for (uint32_t i = 0; i < p_count; i++)
    p[i] = read_dimensions(self, json_array_get(major, i), json_array_get(minor, i));
  tj_partition y =
      read_dimensions(self, json_object_get(row, "ys_to_rhs_major"), json_object_get(row, "ys_to_rhs_minor"));
  return tj_distribution_make(self->graph, rh, x_count, p, p_count, y.dimension, y.count);
}

static void check_integers(const json_t *row, const char *key, const int64_t actual[], uint32_t count) {
  int64_t expected[TJ_MAX_DIMENSIONS];
  ck_assert_msg(read_integers(json_object_get(row, key), expected) == count, "%s: %s", name_of(row), key);
  for (uint32_t i = 0; i < count; i++)
    ck_assert_msg(actual[i] == expected[i], "%s: %s", name_of(row), key);
}

static void check_x(const json_t *row, const json_t *expected, const int64_t x[], uint32_t count, const char *how) {
  ck_assert_uint_eq(json_array_size(expected), count);
  for (uint32_t i = 0; i < count; i++)
    ck_assert_msg(x[i] == json_integer_value(json_array_get(expected, i)), "%s by %s: x%u is %lld, not %lld",
                  name_of(row), how, i, (long long)x[i], (long long)json_integer_value(json_array_get(expected, i)));
}

/* Index expressions of a map, ready to be evaluated. */
typedef struct {
  tj_evaluator *evaluator;
  uint32_t first_symbol, rank;
} expressions;

static expressions expressions_of(reader *self, const tj_distribution *d, bool simplified) {
  const tj_node *roots[TJ_MAX_DIMENSIONS];
  expressions e = {NULL, self->graph->symbol_count, d->p_count + d->y_count};
  tj_map map = tj_map_of_distribution(self->graph, d);
  for (uint32_t i = 0; i < d->x_count; i++) {
    roots[i] = map.output->item[i]->value;
    if (simplified)
      roots[i] = tj_simplified(self->graph, roots[i]);
  }
  ck_assert_int_eq(tj_evaluator_create(roots, d->x_count, &e.evaluator), TJ_EVAL_OK);
  return e;
}

static void evaluate(const expressions *e, const int64_t coordinate[], int64_t x[]) {
  int64_t values[256] = {0};
  memcpy(values + e->first_symbol, coordinate, e->rank * sizeof *values);
  tj_bindings bindings = {values, NULL, e->first_symbol + e->rank};
  ck_assert_int_eq(tj_evaluator_run(e->evaluator, &bindings, x), TJ_EVAL_OK);
}

static void check_registers(reader *self, const tj_distribution *d, const json_t *row) {
  const json_t *table = json_object_get(row, "d_table");
  check_integers(row, "d_lengths", d->y_length, d->y_count);
  tj_layout registers = tj_distribution_registers(self->graph, d);
  for (size_t n = 0; n < json_array_size(table); n++) {
    int64_t coordinate[TJ_MAX_DIMENSIONS], value;
    coordinate_of(n, d->y_length, d->y_count, coordinate);
    tj_oracle_layout(self->graph, registers, coordinate, &value);
    ck_assert_int_eq(value, json_integer_value(json_array_get(table, n)));
  }
}

/* The tile coordinate by the (thread, value) layout: its value is the colexicographic index. */
static void by_tv_layout(reader *self, const tj_distribution *d, tj_layout tv, const int64_t coordinate[],
                         int64_t x[]) {
  int64_t thread = 0, value = 0;
  for (uint32_t i = 0; i < d->p_count; i++)
    thread = thread * d->p_length[i] + coordinate[i];
  for (uint32_t i = 0; i < d->y_count; i++)
    value = value * d->y_length[i] + coordinate[d->p_count + i];
  const tj_tuple *pair[] = {tj_tuple_constant(self->graph, thread), tj_tuple_constant(self->graph, value)};
  int64_t index = tj_layout_apply(self->graph, tv, tj_tuple_list(self->graph, pair, 2))->value->value;
  for (uint32_t i = 0; i < d->x_count; i++) {
    x[i] = index % d->x_length[i];
    index /= d->x_length[i];
  }
}

static void check_distribution(reader *self, const void *data) {
  const json_t *row = data;
  const tj_distribution *d = distribution_of_json(self, row);
  check_integers(row, "p_lengths", d->p_length, d->p_count);
  check_integers(row, "y_lengths", d->y_length, d->y_count);
  check_integers(row, "x_lengths", d->x_length, d->x_count);
  check_registers(self, d, row);
  const tj_adaptor *adaptor = tj_distribution_adaptor(self->graph, d);
  tj_layout tv = tj_distribution_tv_layout(self->graph, d);
  expressions plain = expressions_of(self, d, false), simplified = expressions_of(self, d, true);
  const json_t *table = json_object_get(row, "table");
  uint64_t stride = (uint64_t)number(row, "stride", 1);
  int64_t lengths[TJ_MAX_DIMENSIONS], coordinate[TJ_MAX_DIMENSIONS], x[TJ_MAX_DIMENSIONS];
  memcpy(lengths, d->p_length, d->p_count * sizeof *lengths);
  memcpy(lengths + d->p_count, d->y_length, d->y_count * sizeof *lengths);
  for (size_t n = 0; n < json_array_size(table); n++) {
    const json_t *expected = json_array_get(table, n);
    bool valid;
    coordinate_of(n * stride, lengths, plain.rank, coordinate);
    tj_oracle_distribution(self->graph, d, coordinate, x);
    check_x(row, expected, x, d->x_count, "the oracle");
    tj_oracle_adaptor(self->graph, adaptor, coordinate, x, &valid);
    check_x(row, expected, x, d->x_count, "the oracle of adaptors");
    evaluate(&plain, coordinate, x);
    check_x(row, expected, x, d->x_count, "index expressions");
    evaluate(&simplified, coordinate, x);
    check_x(row, expected, x, d->x_count, "simplified index expressions");
    if (n % 16 == 0) {
      by_tv_layout(self, d, tv, coordinate, x);
      check_x(row, expected, x, d->x_count, "the (thread, value) layout");
    }
  }
  tj_evaluator_destroy(plain.evaluator);
  tj_evaluator_destroy(simplified.evaluator);
}

START_TEST(distributions_of_ck) {
  ck_assert_uint_eq(check_rows("distribution", check_distribution), 130);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {distributions_of_ck};
  return run_suite(suite_of("vectors_distribution", tests, sizeof tests / sizeof *tests));
}
