/* SPDX-License-Identifier: MIT */
/* What the tests of CK Tile's own results share: views of JSON rows, and running a body for each row of a kind. */
#ifndef TJ_TESTS_VECTOR_SUPPORT_H
#define TJ_TESTS_VECTOR_SUPPORT_H

#include "tests/unit/support/layout_support.h"

#include <jansson.h>
#include <stdio.h>

/* --- views from JSON --- */

static inline const tj_tuple *tuple_of_json(reader *self, const json_t *array) {
  const tj_tuple *items[TJ_MAX_DIMENSIONS];
  uint32_t count = (uint32_t)json_array_size(array);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_tuple_constant(self->graph, json_integer_value(json_array_get(array, i)));
  return tj_tuple_list(self->graph, items, count);
}

static inline int64_t number(const json_t *object, const char *key, int64_t otherwise) {
  const json_t *value = json_object_get(object, key);
  return value == NULL ? otherwise : json_integer_value(value);
}

static inline const tj_view *base_of_json(reader *self, const json_t *base) {
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

static inline tj_transform_kind kind_of_name(const char *name) {
  for (int kind = 0; kind < TJ_TRANSFORM_COUNT; kind++)
    if (strcmp(tj_transform_name((tj_transform_kind)kind), name) == 0)
      return (tj_transform_kind)kind;
  ck_abort_msg("unknown transform %s", name);
}

/* A transform's arguments are its JSON keys, in this order. */
static inline const tj_transform *transform_of_json(reader *self, const json_t *object) {
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

static inline const uint32_t *numbers_of_json(reader *self, const json_t *array, uint32_t *count) {
  *count = (uint32_t)json_array_size(array);
  uint32_t *numbers = TJ_NEW_ARRAY(self->graph->job, uint32_t, *count);
  for (uint32_t i = 0; i < *count; i++)
    numbers[i] = (uint32_t)json_integer_value(json_array_get(array, i));
  return numbers;
}

static inline const tj_view *stage_of_json(reader *self, const tj_view *view, const json_t *stage) {
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

static inline const tj_view *view_of_json(reader *self, const json_t *row) {
  const tj_view *view = base_of_json(self, json_object_get(row, "base"));
  const json_t *stages = json_object_get(row, "stages");
  for (size_t i = 0; i < json_array_size(stages); i++)
    view = stage_of_json(self, view, json_array_get(stages, i));
  return view;
}

static inline const char *name_of(const json_t *row) {
  return json_string_value(json_object_get(row, "name"));
}

/* The row-major coordinate of a linear index. */
static inline void coordinate_of(uint64_t index, const int64_t lengths[], uint32_t rank, int64_t coordinate[]) {
  for (uint32_t i = rank; i-- > 0;) {
    coordinate[i] = (int64_t)(index % (uint64_t)lengths[i]);
    index /= (uint64_t)lengths[i];
  }
}

static inline unsigned check_rows(const char *kind, void (*body)(reader *, const void *)) {
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

#endif
