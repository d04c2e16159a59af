/* SPDX-License-Identifier: MIT */
/* Arguments whose rows begin alike, and from where on vectors of them are taken. */
#include "lower/array/array_lines.h"

#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/access/price.h"
#include "lower/array/array_cuts.h"

/* The element of an argument's row that its first column has; NULL: its columns are not side by side, all rows are
 * one, or an index says where the row is. */
static const tj_node *begin_of(const tj_array_space *space, uint32_t argument) {
  tj_graph *graph = space->graph;
  bool is_one = !tj_array_goes_along(space, argument, &space->rows);
  if (!tj_array_has_columns(space, argument) || is_one || space->lookup[argument].found != NULL)
    return NULL;
  const tj_node *offset = space->access[argument].offset;
  const tj_node *begin = tj_array_at_column(space, offset, tj_int(graph, 0));
  const tj_node *rest = tj_sub(graph, tj_sub(graph, offset, begin), space->column);
  return tj_is_int(tj_simplified(graph, rest), 0) ? begin : NULL;
}

/* How many elements further rows begin that begin at `other`, if that is a number; otherwise NULL. */
static const tj_node *distance(tj_graph *graph, const tj_node *begin, const tj_node *other) {
  const tj_node *beyond = other != NULL ? tj_simplified(graph, tj_sub(graph, other, begin)) : NULL;
  return beyond != NULL && tj_is_constant(beyond) ? beyond : NULL;
}

void tj_array_find_begin(tj_array_space *space) {
  tj_graph *graph = space->graph;
  const uint32_t count = space->argument_count;
  const tj_node **begin = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  uint32_t most = 0;
  for (uint32_t i = 0; i < count; i++)
    begin[i] = begin_of(space, i);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t alike = 0;
    for (uint32_t k = 0; k < count && begin[i] != NULL; k++)
      alike += distance(graph, begin[i], begin[k]) != NULL ? 1 : 0;
    space->begin = alike > most ? begin[i] : space->begin;
    most = alike > most ? alike : most;
  }
  space->beyond = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t i = 0; i < count && space->begin != NULL; i++)
    space->beyond[i] = distance(graph, space->begin, begin[i]);
}

int64_t tj_array_most_begun(const tj_array_space *space, const tj_target *target) {
  bool are_alike = space->begin != NULL;
  for (uint32_t i = 0; i < space->argument_count && are_alike; i++)
    are_alike = !tj_array_has_columns(space, i) || space->beyond[i] != NULL;
  int64_t of_wave = space->begin != NULL ? (int64_t)target->wave_size * TJ_ARRAY_MOST_COLUMNS : 0;
  return are_alike ? INT64_MAX : of_wave;
}

/* Elements of a line, of the smallest ones that rows have. */
static uint32_t elements_of_line(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target) {
  uint32_t line = tj_price_machine_of(target).line_bytes, elements = 1;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    uint32_t own = tj_array_has_columns(space, i) ? line / tj_element_bytes(kernel, space->arrays->buffer[i]) : 1;
    elements = own > elements ? own : elements;
  }
  return elements;
}

/* Whether of a row's bytes more are in vectors that begin so than in others. */
static bool are_most_alike(const tj_array_space *space, const tj_kernel *kernel) {
  uint32_t alike = 0, others = 0;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    uint32_t *bytes = space->beyond[i] != NULL ? &alike : &others;
    *bytes += tj_array_has_columns(space, i) ? tj_element_bytes(kernel, space->arrays->buffer[i]) : 0;
  }
  return alike > others;
}

uint32_t tj_array_begins_at(const tj_array_space *space, const tj_kernel *kernel, const tj_target *target,
                            const tj_array_shape *shape) {
  const tj_node *size = space->columns.size;
  bool is_plain = shape->apart == NULL && shape->staged == 0 && space->seam_count == 0;
  uint32_t width = shape->width, begins = width;
  bool may_begin = target->has_unaligned_vectors || size->facts.high <= tj_array_most_begun(space, target);
  if (space->begin == NULL || !may_begin || !is_plain || width == 1 || tj_facts_divisible(&size->facts, width) ||
      shape->lanes < 2 * width)
    return 0;
  if (tj_facts_divisible(&space->begin->facts, width))
    return target->has_unaligned_vectors ? 0 : width;
  uint32_t most = elements_of_line(space, kernel, target);
  while (2 * begins <= most && 2 * begins + width - 2 <= shape->lanes)
    begins *= 2;
  bool is_worth_it = target->needs_aligned_vectors || (2 * begins >= most && are_most_alike(space, kernel));
  return is_worth_it ? begins : 0;
}
