/* SPDX-License-Identifier: MIT */
/* Copies that look an index of their source, or of their destination, up in another buffer.
 *
 * Work-items move one element each, in the order of the operand that is not indexed; lower/tile/gather_vectors.h lets
 * them move several. An index that is negative, too large, or not valid itself becomes the length of the dimension,
 * at which the indexed operand is not valid. */
#include "lower/plan/gather.h"

#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "lower/kernel/domain.h"

#include <inttypes.h>

typedef struct {
  tj_graph *graph;
  const tj_kernel *kernel;
  const tj_kernel_definition *definition;
  const tj_operand *source, *indices, *destination;
  const tj_operand *indexed, *other; /* source and destination, or the other way round */
  uint32_t dimension;
  uint32_t *order; /* modes of the other one, as work-items count through them: first fastest */
} gathering;

/* What the copy calls its indices. */
static const char *name_of(const gathering *g) {
  static const char *const names[] = {
      [TJ_SCATTER_NONE] = "gather", [TJ_SCATTER_STORES] = "scatter", [TJ_SCATTER_ADDS] = "scatter_add"};
  return names[g->definition->scatter];
}

static void check_dimension(const gathering *g) {
  tj_graph *graph = g->graph;
  if (g->source->rank != g->destination->rank)
    tj_fail_domains(graph, g->source, g->destination);
  if (g->dimension >= g->source->rank)
    tj_fail(graph->job, TJ_DOMAIN_MISMATCH, "%s: there is no dimension %" PRIu32 " of %" PRIu32, name_of(g),
            g->dimension, g->source->rank);
  if (!tj_prove_equal(graph, g->indices->size, g->other->extent[g->dimension]))
    tj_fail(graph->job, TJ_DOMAIN_MISMATCH, "%s: there are %s indices for the %s's %s", name_of(g),
            tj_describe(graph, g->indices->size), g->other == g->source ? "source" : "destination",
            tj_describe(graph, g->other->extent[g->dimension]));
}

/* Machines add numbers of these types to memory. */
void tj_check_sum(tj_graph *graph, const tj_kernel_buffer *destination) {
  tj_dtype dtype = destination->dtype;
  if (dtype != TJ_DTYPE_f32 && dtype != TJ_DTYPE_i32 && dtype != TJ_DTYPE_u32)
    tj_fail(graph->job, TJ_KERNEL_ARGUMENT, "scatter_add adds to f32, i32 and u32; '%s' has %s", destination->name,
            tj_dtype_name(dtype));
}

void tj_check_indices(tj_graph *graph, const char *name, const tj_kernel_buffer *indices) {
  tj_dtype_class class = tj_dtype_class_of(indices->dtype);
  if (class != TJ_CLASS_SIGNED && class != TJ_CLASS_UNSIGNED)
    tj_fail(graph->job, TJ_KERNEL_ARGUMENT, "%s: indices are integers; %s is not", name,
            tj_dtype_name(indices->dtype));
}

static void check(const gathering *g) {
  g->graph->job->here = g->definition->body_span;
  tj_check_indices(g->graph, name_of(g), &g->kernel->buffer[g->definition->indices]);
  if ((g->source->view != NULL) != (g->destination->view != NULL))
    tj_fail_domains(g->graph, g->source, g->destination);
  if (g->definition->scatter == TJ_SCATTER_ADDS)
    tj_check_sum(g->graph, &g->kernel->buffer[g->definition->destination]);
  check_dimension(g);
  for (uint32_t i = 0; i < g->source->rank; i++) {
    if (i != g->dimension && !tj_prove_equal(g->graph, g->source->extent[i], g->destination->extent[i]))
      tj_fail_domains(g->graph, g->source, g->destination);
  }
}

/* --- the order of elements --- */

/* The last mode is fastest in a view, and in a row-major layout. */
static void set_natural_order(gathering *g) {
  uint32_t rank = g->other->rank;
  bool last_is_fastest = g->other->view != NULL || tj_operand_is_row_major(g->graph, g->other);
  for (uint32_t i = 0; i < rank; i++)
    g->order[i] = last_is_fastest ? rank - 1 - i : i;
}

_Noreturn static void fail_order(const gathering *g, const tj_layout *given) {
  tj_fail_at(g->graph->job, g->definition->load_span, TJ_MAPPING_DOMAIN,
             "domain %s does not have each of the %" PRIu32 " modes of the %s once, whole and as 1@mode",
             tj_layout_text(g->graph->job, *given), g->other->rank, g->other == g->source ? "source" : "destination");
}

static void set_given_order(gathering *g, const tj_layout *given) {
  uint32_t count, rank = g->other->rank;
  const tj_tuple *const *extent = tj_tuple_leaves(g->graph, given->shape, &count);
  const tj_tuple *const *stride = tj_tuple_leaves(g->graph, given->stride, &count);
  bool *taken = TJ_NEW_ARRAY(g->graph->job, bool, rank + 1);
  if (count != rank)
    fail_order(g, given);
  for (uint32_t i = 0; i < rank; i++) {
    bool is_mode = stride[i]->kind == TJ_TUPLE_BASIS && stride[i]->count == 1 && stride[i]->path[0] < rank;
    if (!is_mode || taken[stride[i]->path[0]] ||
        !tj_prove_equal(g->graph, extent[i]->value, g->other->extent[stride[i]->path[0]]))
      fail_order(g, given);
    g->order[i] = stride[i]->path[0];
    taken[g->order[i]] = true;
  }
}

static void set_order(gathering *g) {
  const tj_mapping *mapping = g->definition->mapping;
  g->order = TJ_NEW_ARRAY(g->graph->job, uint32_t, g->other->rank + 1);
  if (mapping != NULL && mapping->domain != NULL)
    set_given_order(g, mapping->domain);
  else
    set_natural_order(g);
}

static gathering gathering_of(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                              const tj_operand operands[]) {
  const tj_operand *source = &operands[definition->source], *destination = &operands[definition->destination];
  bool scatters = definition->scatter != TJ_SCATTER_NONE;
  gathering g = {.graph = graph,
                 .kernel = kernel,
                 .definition = definition,
                 .source = source,
                 .indices = &operands[definition->indices],
                 .destination = destination,
                 .indexed = scatters ? destination : source,
                 .other = scatters ? source : destination,
                 .dimension = definition->indexed_dimension};
  set_order(&g);
  return g;
}

/* The index in each dimension of the operand that is not indexed. */
static const tj_node **digits_of(const gathering *g) {
  uint32_t rank = g->other->rank;
  const tj_node **digit = TJ_NEW_ARRAY(g->graph->job, const tj_node *, rank + 1), *rest = g->kernel->index;
  for (uint32_t i = 0; i < rank; i++) {
    uint32_t mode = g->order[i];
    digit[mode] = i + 1 < rank ? tj_mod(g->graph, rest, g->other->extent[mode]) : rest;
    if (i + 1 < rank)
      rest = tj_div(g->graph, rest, g->other->extent[mode]);
  }
  return digit;
}

const tj_layout *tj_gather_elements(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                                    const tj_operand operands[]) {
  gathering g = gathering_of(graph, kernel, definition, operands);
  uint32_t rank = g.other->rank;
  const tj_tuple **extent = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank + 1),
                 **stride = TJ_NEW_ARRAY(graph->job, const tj_tuple *, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    extent[i] = tj_tuple_integer(graph, g.other->extent[g.order[i]]);
    stride[i] = tj_tuple_basis(graph, tj_int(graph, 1), &g.order[i], 1);
  }
  const tj_tuple *shape = tj_tuple_list(graph, extent, rank), *steps = tj_tuple_list(graph, stride, rank);
  tj_layout *elements = TJ_NEW(graph->job, tj_layout);
  *elements = (tj_layout){tj_tuple_list(graph, &shape, 1), tj_tuple_list(graph, &steps, 1)};
  return rank > 1 ? elements : NULL;
}

static const tj_tuple *coordinate_of(tj_graph *graph, const tj_operand *operand, const tj_node *const digit[]) {
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, operand->rank + 1);
  for (uint32_t i = 0; i < operand->rank; i++)
    items[i] = tj_tuple_integer(graph, digit[i]);
  return tj_tuple_is_list(operand->shape) ? tj_tuple_list(graph, items, operand->rank) : items[0];
}

static tj_kernel_step step_of(tj_step_kind kind, tj_access access) {
  return (tj_kernel_step){.kind = kind, .access = access, .width = 1, .slot_step = 1};
}

static tj_kernel_step lookup_step(const gathering *g, const tj_node *digit) {
  const tj_node *length = g->indexed->extent[g->dimension];
  const tj_tuple *at = tj_operand_coordinate(g->graph, g->indices, digit);
  tj_kernel_step step = step_of(TJ_STEP_LOOKUP, tj_operand_access(g->graph, g->indices, g->definition->indices, at));
  const char *name = g->indexed == g->source ? "gathered" : "scattered";
  step.value = tj_symbol_create(g->graph, name, TJ_SYMBOL_COORDINATE, tj_int(g->graph, 0), length, 1);
  step.limit = length;
  return step;
}

/* The element at digits, if the index of the dimension was found. */
static tj_access found_access(const gathering *g, const tj_operand *operand, uint32_t buffer,
                              const tj_node *const digit[], const tj_kernel_step *lookup) {
  tj_access access = tj_operand_access(g->graph, operand, buffer, coordinate_of(g->graph, operand, digit));
  const tj_node *is_found = tj_less(g->graph, lookup->value, lookup->limit);
  access.valid = tj_is_int(access.valid, 1) ? is_found : tj_and(g->graph, is_found, access.valid);
  return access;
}

tj_kernel_step *tj_gather_steps(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                                const tj_operand operands[]) {
  gathering g = gathering_of(graph, kernel, definition, operands);
  check(&g);
  bool scatters = g.indexed == g.destination;
  tj_kernel_step *steps = TJ_NEW_ARRAY(graph->job, tj_kernel_step, TJ_GATHER_STEPS);
  const tj_node **digit = digits_of(&g),
                **found = tj_arena_copy(&graph->job->arena, digit, g.other->rank * sizeof *digit);
  steps[0] = lookup_step(&g, digit[g.dimension]);
  found[g.dimension] = steps[0].value;
  steps[1] =
      step_of(TJ_STEP_LOAD, found_access(&g, g.source, definition->source, scatters ? digit : found, &steps[0]));
  if (scatters)
    steps[2] = step_of(TJ_STEP_STORE, found_access(&g, g.destination, definition->destination, found, &steps[0]));
  else
    steps[2] = step_of(TJ_STEP_STORE, tj_operand_access(graph, g.destination, definition->destination,
                                                        coordinate_of(graph, g.destination, digit)));
  steps[2].adds = definition->scatter == TJ_SCATTER_ADDS;
  return steps;
}

void tj_check_indices_apart(tj_graph *graph, const tj_kernel_argument *argument, const tj_operand *indices,
                            const char *note) {
  graph->job->here = argument->span;
  if (tj_race_is_apart_by_values(graph, indices) != TJ_NO)
    return;
  if (note != NULL)
    tj_note(graph->job, "%s", note);
  tj_fail(graph->job, TJ_DESTINATION_RACE,
          "two coordinates of '%s' are one element, and what they say the same place", argument->name);
}

tj_race_map tj_gather_race_map(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_definition *definition,
                               const tj_operand operands[]) {
  gathering g = gathering_of(graph, kernel, definition, operands);
  tj_race_map map = {.domain = tj_tuple_integers(graph, g.destination->extent, g.destination->rank),
                     .row_major = g.destination->view != NULL,
                     .sources = 2};
  map.at = tj_race_coordinates(graph, map.domain);
  const tj_node **digit = tj_arena_copy(&graph->job->arena, map.at, g.destination->rank * sizeof *digit);
  const tj_tuple *stored = coordinate_of(graph, g.destination, digit);
  const tj_tuple *looked_up = tj_operand_coordinate(graph, g.indices, digit[g.dimension]);
  tj_operand to = tj_race_operand(graph, g.destination), from = tj_race_operand(graph, g.source),
             index = tj_race_operand(graph, g.indices);
  digit[g.dimension] = tj_int(graph, 0);
  map.destination = tj_operand_access(graph, &to, definition->destination, stored);
  map.element = tj_operand_access(graph, g.destination, definition->destination, stored).offset;
  map.source[0] = tj_operand_access(graph, &index, definition->indices, looked_up);
  map.source[1] = tj_operand_access(graph, &from, definition->source, coordinate_of(graph, g.source, digit));
  return map;
}
