/* SPDX-License-Identifier: MIT */
/* Evaluates partitions, and follows their coordinates through maps, by the oracle of tables. */
#include "jit/inspect/thread_values.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_TABLE = 1 << 20 };

/* --- partitions --- */

static int64_t product_of(const int64_t length[], uint32_t count) {
  int64_t product = 1;
  for (uint32_t i = 0; i < count; i++)
    product *= length[i];
  return product;
}

static int64_t threads_of(tj_graph *graph, const tj_value *value, const tj_table *table) {
  if (value->kind == TJ_VALUE_DISTRIBUTION)
    return product_of(value->distribution->p_length, value->distribution->p_count);
  const tj_node *threads = tj_tuple_product(graph, tj_tuple_mode(table->domain, 0));
  return tj_constant_value(graph, threads, "the number of threads");
}

/* Where the n-th coordinate of the table belongs: values are fastest in those of distributions, threads in others. */
static int64_t number_of(const tj_thread_values *held, const tj_table *table, int64_t n) {
  return table->row_major ? n : n % held->threads * held->values + n / held->threads;
}

tj_thread_values tj_thread_values_of(tj_graph *graph, const tj_value *value) {
  if (value->kind != TJ_VALUE_DISTRIBUTION && value->kind != TJ_VALUE_LAYOUT && value->kind != TJ_VALUE_COMPOSED &&
      value->kind != TJ_VALUE_LINEAR)
    tj_fail(graph->job, TJ_WRONG_TYPE, "%s is neither a (thread, value) layout nor a distribution",
            tj_value_kind_name(value->kind));
  tj_table table = tj_table_open(graph, value, MOST_TABLE);
  tj_thread_values held = {.threads = threads_of(graph, value, &table), .components = table.result_count};
  held.values = table.size / held.threads;
  int64_t *coordinate = TJ_NEW_ARRAY(graph->job, int64_t, table.size * held.components + 1);
  for (int64_t n = 0; n < table.size; n++, tj_table_advance(&table)) {
    tj_table_evaluate(&table);
    memcpy(&coordinate[number_of(&held, &table, n) * held.components], table.result,
           held.components * sizeof *coordinate);
  }
  held.coordinate = coordinate;
  return held;
}

/* --- places --- */

tj_tile_map tj_tile_map_of(tj_graph *graph, const tj_value *map) {
  tj_tile_map tile = {.table = tj_table_open(graph, map, MOST_TABLE)};
  if (tile.table.result_count != 1)
    tj_fail(graph->job, TJ_WRONG_TYPE, "the map of the tile has %u integers for a coordinate, not an element",
            tile.table.result_count);
  tile.element = TJ_NEW_ARRAY(graph->job, int64_t, tile.table.size + 1);
  tile.is_known = TJ_NEW_ARRAY(graph->job, bool, tile.table.size + 1);
  return tile;
}

/* At the table's coordinate, whose index is known. */
static int64_t element_at(tj_tile_map *tile, int64_t index) {
  if (!tile->is_known[index])
    tile->element[index] = tj_table_evaluate(&tile->table) ? tile->table.result[0] : TJ_NO_PLACE;
  tile->is_known[index] = true;
  return tile->element[index];
}

/* Which leaves of a map's domain the components of a coordinate are indices of. */
typedef struct {
  tj_table *table;
  const tj_thread_values *held;
  uint32_t *end; /* by component: the leaf behind its last one */
} follower;

static follower follow(tj_table *table, const tj_thread_values *held) {
  tj_job *job = table->graph->job;
  follower f = {table, held, TJ_NEW_ARRAY(job, uint32_t, held->components)};
  uint32_t rank = tj_tuple_rank(table->domain), end = 0;
  bool by_leaf = held->components == table->rank;
  if (held->components != 1 && held->components != rank && !by_leaf)
    tj_fail(job, TJ_COORDINATE_STRUCTURE, "coordinates in the tile have %u entries, and its map has %u modes: %s",
            held->components, rank, tj_tuple_text(job, table->domain));
  for (uint32_t i = 0; i < held->components; i++) {
    end += by_leaf ? 1 : tj_tuple_leaf_count(tj_tuple_mode(table->domain, i));
    f.end[i] = held->components == 1 ? table->rank : end;
  }
  return f;
}

static _Noreturn void fail_outside(const follower *f, int64_t n) {
  const tj_thread_values *held = f->held;
  bool is_index = held->components == 1;
  tj_text text = tj_text_begin(f->table->graph->job);
  tj_text_string(&text, is_index ? "index " : "(");
  for (uint32_t i = 0; i < held->components; i++)
    tj_text_format(&text, "%s%" PRId64, i > 0 ? "," : "", held->coordinate[n * held->components + i]);
  tj_fail(f->table->graph->job, TJ_COORDINATE_RANGE,
          "value %" PRId64 " of thread %" PRId64 " is at %s%s, which is not in the tile %s", n % held->values,
          n / held->values, text.data, is_index ? "" : ")", tj_tuple_text(f->table->graph->job, f->table->domain));
}

/* Enters the n-th coordinate, and gives its index; -1 where it is not in the domain. */
static int64_t enter(const follower *f, int64_t n) {
  tj_table *table = f->table;
  int64_t place = 0, size = 1;
  for (uint32_t i = 0, leaf = 0; i < f->held->components; i++) {
    int64_t index = f->held->coordinate[n * f->held->components + i];
    for (; leaf < f->end[i] && index >= 0; leaf++) {
      table->coordinate[leaf] = index % table->extent[leaf];
      index /= table->extent[leaf];
      place += table->coordinate[leaf] * size;
      size *= table->extent[leaf];
    }
    if (index != 0)
      return -1;
  }
  return place;
}

const int64_t *tj_thread_places(tj_tile_map *tile, const tj_thread_values *held) {
  follower f = follow(&tile->table, held);
  int64_t count = held->threads * held->values;
  int64_t *place = TJ_NEW_ARRAY(tile->table.graph->job, int64_t, count + 1);
  for (int64_t n = 0; n < count; n++) {
    int64_t index = enter(&f, n);
    if (index < 0)
      fail_outside(&f, n);
    place[n] = element_at(tile, index);
  }
  return place;
}

bool tj_threads_hold_run(const tj_thread_values *held, const int64_t place[], const uint32_t order[],
                         uint32_t count) {
  for (int64_t thread = 0; thread < held->threads; thread++) {
    const int64_t *of_thread = place + thread * held->values;
    int64_t first = of_thread[order[0]];
    if (first != TJ_NO_PLACE && first % count != 0)
      return false;
    for (uint32_t i = 1; i < count; i++) {
      if (of_thread[order[i]] != (first != TJ_NO_PLACE ? first + i : TJ_NO_PLACE))
        return false;
    }
  }
  return true;
}
