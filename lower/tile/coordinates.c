/* SPDX-License-Identifier: MIT */
/* Shared symbols, found by all that they say. */
#include "lower/tile/coordinates.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static bool says_the_same(const tj_symbol *a, const tj_symbol *b) {
  return a->low == b->low && a->high == b->high && a->multiple == b->multiple && strcmp(a->name, b->name) == 0;
}

static void keep(tj_graph *graph, tj_coordinates *shared, const tj_node *symbol) {
  if (shared->count == shared->capacity) {
    shared->capacity = 2 * shared->capacity + 16;
    const tj_node **larger = TJ_NEW_ARRAY(graph->job, const tj_node *, shared->capacity);
    for (uint32_t i = 0; i < shared->count; i++)
      larger[i] = shared->symbol[i];
    shared->symbol = larger;
  }
  shared->symbol[shared->count++] = symbol;
}

const tj_node *tj_coordinate_among(tj_graph *graph, tj_coordinates *shared, const char *name, const tj_node *low,
                                   const tj_node *high, int64_t multiple) {
  const tj_symbol wanted = {
      .name = name, .kind = TJ_SYMBOL_COORDINATE, .low = low, .high = high, .multiple = multiple};
  for (uint32_t i = 0; shared != NULL && i < shared->count; i++) {
    if (says_the_same(shared->symbol[i]->symbol, &wanted))
      return shared->symbol[i];
  }
  const tj_node *symbol = tj_symbol_declare(graph, wanted);
  if (shared != NULL)
    keep(graph, shared, symbol);
  return symbol;
}

const tj_node **tj_coordinates_of_domain(tj_graph *graph, tj_coordinates *shared, const tj_domain *domain) {
  const tj_node **coordinate = TJ_NEW_ARRAY(graph->job, const tj_node *, domain->count + 1);
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_node *last = tj_add(graph, domain->mode[m].extent, tj_int(graph, -1));
    const char *name = tj_string_format(graph->job, "d%" PRIu32, m);
    coordinate[m] = tj_coordinate_among(graph, shared, name, tj_int(graph, 0), last, 1);
  }
  return coordinate;
}

const tj_node **tj_coordinates_of_tile(tj_graph *graph, tj_coordinates *shared, const tj_mapping *mapping) {
  uint32_t rank = tj_mapping_rank(mapping);
  const tj_node **coordinate = TJ_NEW_ARRAY(graph->job, const tj_node *, rank + 1);
  for (uint32_t m = 0; m < rank; m++) {
    const tj_node *last = tj_int(graph, tj_mapping_extent(mapping, m) - 1);
    const char *name = tj_string_format(graph->job, "w%" PRIu32, m);
    coordinate[m] = tj_coordinate_among(graph, shared, name, tj_int(graph, 0), last, 1);
  }
  return coordinate;
}
