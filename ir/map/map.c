/* SPDX-License-Identifier: MIT */
/* Maps: layouts, composed layouts, transforms, views and adaptors as index expressions of named coordinates. */
#include "ir/map/map.h"

#include "ir/layout/arith.h"

/* A coordinate symbol for each leaf of the domain. */
static const tj_tuple *coordinates_of(tj_graph *graph, const tj_tuple *domain) {
  uint32_t count;
  const tj_tuple *const *extents = tj_tuple_leaves(graph, domain, &count);
  const tj_tuple **symbols = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++) {
    const char *name = count == 1 ? "i" : tj_string_format(graph->job, "i%u", i);
    symbols[i] = tj_tuple_integer(graph, tj_coordinate(graph, name, extents[i]->value));
  }
  return tj_tuple_from_leaves(graph, domain, symbols);
}

static const tj_node *const *nodes_of(tj_graph *graph, const tj_tuple *tuple) {
  uint32_t count;
  const tj_tuple *const *leaves = tj_tuple_leaves(graph, tuple, &count);
  const tj_node **nodes = TJ_NEW_ARRAY(graph->job, const tj_node *, count);
  for (uint32_t i = 0; i < count; i++)
    nodes[i] = leaves[i]->value;
  return nodes;
}

static const tj_node *unless_always(const tj_node *valid) {
  return tj_is_int(valid, 1) ? NULL : valid;
}

tj_map tj_map_of_layout(tj_graph *graph, tj_layout layout) {
  tj_map map = {.domain = layout.shape, .input = coordinates_of(graph, layout.shape)};
  map.output = tj_layout_apply(graph, layout, map.input);
  return map;
}

tj_map tj_map_of_composed(tj_graph *graph, const tj_composed *composed) {
  tj_map map = {.domain = composed->layout.shape, .input = coordinates_of(graph, composed->layout.shape)};
  map.output = tj_composed_apply(graph, composed, map.input);
  return map;
}

tj_map tj_map_of_linear(tj_graph *graph, const tj_f2 *linear) {
  if (linear->extends)
    tj_fail(graph->job, TJ_NOT_A_MAP, "the domain of a swizzle is all integers");
  tj_map map = {.domain = linear->domain, .input = coordinates_of(graph, linear->domain)};
  map.output = tj_f2_apply(graph, linear, map.input);
  return map;
}

tj_map tj_map_of_transform(tj_graph *graph, const tj_transform *transform) {
  tj_map map = {.domain = tj_tuple_integers(graph, transform->upper_length, transform->upper_count),
                .row_major = true};
  map.input = coordinates_of(graph, map.domain);
  const tj_node *const *upper = nodes_of(graph, map.input);
  const tj_node **lower = TJ_NEW_ARRAY(graph->job, const tj_node *, transform->lower_count);
  tj_transform_lower(graph, transform, upper, lower);
  map.output = transform->lower_count == 1 ? tj_tuple_integer(graph, lower[0])
                                           : tj_tuple_integers(graph, lower, transform->lower_count);
  map.valid = unless_always(tj_transform_valid(graph, transform, upper));
  return map;
}

tj_map tj_map_of_view(tj_graph *graph, const tj_view *view) {
  tj_map map = {.domain = tj_view_lengths(graph, view), .row_major = true};
  map.input = coordinates_of(graph, map.domain);
  const tj_node *const *coordinate = nodes_of(graph, map.input);
  map.output = tj_tuple_integer(graph, tj_view_offset(graph, view, coordinate));
  map.valid = unless_always(tj_view_valid(graph, view, coordinate, false));
  return map;
}

tj_map tj_map_of_adaptor(tj_graph *graph, const tj_adaptor *adaptor) {
  tj_map map = {.domain = tj_adaptor_lengths(graph, adaptor), .row_major = true};
  map.input = coordinates_of(graph, map.domain);
  const tj_node *lower[TJ_MAX_DIMENSIONS], *valid;
  tj_adaptor_lower(graph, adaptor, nodes_of(graph, map.input), lower, &valid);
  map.output = tj_tuple_integers(graph, lower, adaptor->bottom_rank);
  map.valid = unless_always(valid);
  return map;
}
