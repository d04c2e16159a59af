/* SPDX-License-Identifier: MIT */
/* Linear maps over F2 of any kind of map: by structure, or by comparing every value with the XOR of bases. */
#include "base/number/power.h"
#include "ir/value/table.h"

#include <string.h>

enum { ENUMERATION_LIMIT = 1 << 24 };

/* The bases of a map, by its values where one bit of the coordinate is set. False where a value is no value of a
 * linear map. */
static bool read_bases(tj_table *table, uint64_t basis[]) {
  for (uint32_t i = 0; i < table->rank; i++)
    for (int64_t bit = 1; bit < table->extent[i]; bit *= 2, basis += table->result_count) {
      table->coordinate[i] = bit;
      bool valid = tj_table_evaluate(table);
      table->coordinate[i] = 0;
      for (uint32_t k = 0; k < table->result_count; k++) {
        if (!valid || table->result[k] < 0)
          return false;
        basis[k] = (uint64_t)table->result[k];
      }
    }
  return true;
}

static bool has_values_of(tj_table *table, const tj_f2 *map, const char **obstacle) {
  tj_job *job = table->graph->job;
  int64_t *expected = TJ_NEW_ARRAY(job, int64_t, table->result_count + 1);
  for (int64_t n = 0; n < table->size; n++, tj_table_advance(table)) {
    bool valid = tj_table_evaluate(table);
    tj_f2_evaluate(table->graph, map, table->coordinate, expected);
    if (valid && memcmp(expected, table->result, table->result_count * sizeof *expected) == 0)
      continue;
    const tj_tuple **leaves = TJ_NEW_ARRAY(job, const tj_tuple *, table->rank + 1);
    for (uint32_t i = 0; i < table->rank; i++)
      leaves[i] = tj_tuple_constant(table->graph, table->coordinate[i]);
    const tj_tuple *coordinate = tj_tuple_from_leaves(table->graph, table->domain, leaves);
    *obstacle = tj_string_format(job, "its value at %s is not the XOR of those at the coordinate's bits",
                                 tj_tuple_text(job, coordinate));
    return false;
  }
  return true;
}

static const tj_f2 *linear_by_values(tj_graph *graph, const tj_value *value, const char **obstacle) {
  tj_table table = tj_table_open(graph, value, ENUMERATION_LIMIT);
  uint32_t bits = 0;
  for (uint32_t i = 0; i < table.rank; i++) {
    if (!tj_is_power_of_two(table.extent[i])) {
      *obstacle = tj_string_format(graph->job, "length %lld is no power of two", (long long)table.extent[i]);
      return NULL;
    }
    bits += (uint32_t)__builtin_ctzll((uint64_t)table.extent[i]);
  }
  uint64_t *basis = TJ_NEW_ARRAY(graph->job, uint64_t, (size_t)bits * table.result_count + 1);
  if (!read_bases(&table, basis)) {
    *obstacle = "a value is negative or not valid";
    return NULL;
  }
  const tj_tuple *codomain = tj_tuple_repeat_like(graph, table.output, tj_tuple_constant(graph, 0));
  const tj_f2 *map = tj_f2_make(graph, table.domain, codomain, basis, false);
  return has_values_of(&table, map, obstacle) ? map : NULL;
}

const tj_f2 *tj_f2_of_value(tj_graph *graph, const tj_value *value, const char **obstacle) {
  *obstacle = NULL;
  switch (value->kind) {
  case TJ_VALUE_LINEAR:
    return value->linear;
  case TJ_VALUE_LAYOUT:
    return tj_f2_of_layout(graph, value->layout, obstacle);
  case TJ_VALUE_SWIZZLE:
    return tj_f2_of_swizzle(graph, value->swizzle);
  case TJ_VALUE_COMPOSED:
    return tj_f2_of_composed(graph, value->composed, obstacle);
  default:
    return linear_by_values(graph, value, obstacle);
  }
}
