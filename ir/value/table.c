/* SPDX-License-Identifier: MIT */
/* Tables of maps: the domain, its order, and the oracle of each kind of map. */
#include "ir/value/table.h"

#include "ir/map/map.h"

#include <inttypes.h>

static void measure_domain(tj_table *table, int64_t limit) {
  tj_job *job = table->graph->job;
  const tj_tuple *const *leaves = tj_tuple_leaves(table->graph, table->domain, &table->rank);
  table->extent = TJ_NEW_ARRAY(job, int64_t, table->rank + 1);
  table->coordinate = TJ_NEW_ARRAY(job, int64_t, table->rank + 1);
  table->size = 1;
  for (uint32_t i = 0; i < table->rank; i++) {
    if (!tj_is_constant(leaves[i]->value))
      tj_fail(job, TJ_DOMAIN_NOT_CONSTANT, "the domain %s is not constant", tj_tuple_text(job, table->domain));
    table->extent[i] = leaves[i]->value->value;
    if (__builtin_mul_overflow(table->size, table->extent[i], &table->size) || table->size > limit)
      tj_fail(job, TJ_TABLE_LIMIT, "the domain %s has more than %" PRId64 " coordinates",
              tj_tuple_text(job, table->domain), limit);
  }
}

tj_table tj_table_open(tj_graph *graph, const tj_value *value, int64_t limit) {
  tj_map map = tj_map_of_value(graph, value);
  tj_table table = {.graph = graph, .value = value, .domain = map.domain, .output = map.output};
  table.row_major = map.row_major;
  table.has_validity =
      value->kind == TJ_VALUE_VIEW || value->kind == TJ_VALUE_TRANSFORM || value->kind == TJ_VALUE_ADAPTOR;
  table.result_count = tj_tuple_leaf_count(map.output);
  table.result = TJ_NEW_ARRAY(graph->job, int64_t, table.result_count + 1);
  measure_domain(&table, limit);
  return table;
}

void tj_table_advance(tj_table *table) {
  for (uint32_t i = 0; i < table->rank; i++) {
    uint32_t mode = table->row_major ? table->rank - 1 - i : i;
    if (++table->coordinate[mode] < table->extent[mode])
      return;
    table->coordinate[mode] = 0;
  }
}

bool tj_table_evaluate(tj_table *table) {
  tj_graph *graph = table->graph;
  const tj_value *value = table->value;
  bool valid = true;
  tj_spend(graph->job, 1);
  switch (value->kind) {
  case TJ_VALUE_LAYOUT:
    tj_oracle_layout(graph, value->layout, table->coordinate, table->result);
    break;
  case TJ_VALUE_COMPOSED:
    tj_oracle_composed(graph, value->composed, table->coordinate, table->result);
    break;
  case TJ_VALUE_TRANSFORM:
    tj_oracle_transform(graph, value->transform, table->coordinate, table->result, &valid);
    break;
  case TJ_VALUE_ADAPTOR:
    tj_oracle_adaptor(graph, value->adaptor, table->coordinate, table->result, &valid);
    break;
  case TJ_VALUE_DISTRIBUTION:
    tj_oracle_distribution(graph, value->distribution, table->coordinate, table->result);
    break;
  case TJ_VALUE_LINEAR:
    tj_f2_evaluate(graph, value->linear, table->coordinate, table->result);
    break;
  default:
    table->result[0] = tj_oracle_view(graph, value->view, table->coordinate, &valid);
    break;
  }
  return valid;
}

const int64_t *tj_table_print(tj_text *text, const tj_tuple *structure, const int64_t values[]) {
  if (!tj_tuple_is_list(structure)) {
    tj_text_integer(text, *values);
    return values + 1;
  }
  tj_text_char(text, '[');
  for (uint32_t i = 0; i < structure->count; i++) {
    if (i > 0)
      tj_text_char(text, ',');
    values = tj_table_print(text, structure->item[i], values);
  }
  tj_text_char(text, ']');
  return values;
}
