/* SPDX-License-Identifier: MIT */
/* From a kernel's definition to what each work-item does.
 *
 * domain.c says which coordinates a linear coordinate stands for, operand.c which elements these are. Every access is
 * inside its buffer wherever its predicate holds: by the view's structure where that shows it, by one more comparison
 * where it does not. */
#include "lower/plan/plan.h"

#include "ir/index/substitute.h"
#include "ir/index/walk.h"
#include "ir/layout/arith.h"
#include "ir/view/structure.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/domain.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/machine/width.h"
#include "lower/mapping/flat_mapping.h"
#include "lower/mapping/mapped.h"
#include "lower/plan/gather.h"
#include "lower/plan/plan_arrays.h"
#include "lower/plan/race.h"
#include "lower/plan/walk_view.h"

#include <inttypes.h>
#include <string.h>

/* --- kernels --- */

/* Every expression whose value a launch needs: the kernel's own, the sizes of its buffers, what decides on races. */
static const tj_node **launch_roots(tj_graph *graph, tj_kernel *kernel, size_t *count) {
  tj_kernel_places own = tj_places_of_kernel(graph, kernel);
  const tj_array_program *arrays = kernel->arithmetic.program;
  size_t most = own.count + TJ_RACE_NODES + (arrays != NULL ? arrays->count : 0);
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    most += 1 + kernel->buffer[i].rank;
  const tj_node **roots = TJ_NEW_ARRAY(graph->job, const tj_node *, most);
  *count = 0;
  for (uint32_t i = 0; i < own.count; i++)
    roots[(*count)++] = *own.place[i];
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    roots[(*count)++] = kernel->buffer[i].element_count;
    for (uint32_t k = 0; k < kernel->buffer[i].rank; k++)
      roots[(*count)++] = kernel->buffer[i].extent[k];
  }
  *count += tj_race_nodes(kernel->race, roots + *count);
  *count += tj_arithmetic_integers(graph, kernel, roots + *count);
  return roots;
}

/* Marks the symbols that expressions are made of. */
static void mark_symbols(tj_graph *graph, const tj_node *const roots[], size_t count, bool *used) {
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (walk.node[i]->op == TJ_OP_SYMBOL)
      used[walk.node[i]->symbol->index] = true;
  }
}

/* A launch knows parameters by their names alone. */
static void check_names(tj_graph *graph, const tj_kernel *kernel) {
  tj_spend(graph->job, (uint64_t)kernel->parameter_count * kernel->parameter_count);
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    const char *name = kernel->parameter[i]->symbol->name;
    for (uint32_t k = 0; k < i; k++) {
      if (strcmp(kernel->parameter[k]->symbol->name, name) == 0)
        tj_fail(graph->job, TJ_PARAMETER_TWICE, "kernel '%s' depends on two parameters '%s'", kernel->name, name);
    }
  }
}

/* The parameters that the kernel depends on, directly or through the facts of one that it depends on. */
static void set_parameters(tj_graph *graph, tj_kernel *kernel, const tj_program_values *program) {
  bool *used = TJ_NEW_ARRAY(graph->job, bool, graph->symbol_count + 1);
  const tj_array_program *arrays = tj_kernel_program(kernel);
  uint32_t scalars = arrays != NULL ? arrays->count : 0;
  const tj_node **symbols = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)program->parameter_count + scalars + 1);
  size_t count;
  const tj_node **roots = launch_roots(graph, kernel, &count);
  mark_symbols(graph, roots, count, used);
  for (uint32_t i = program->parameter_count; i-- > 0;) {
    const tj_node *node = program->parameter[i].node;
    if (tj_is_constant(node) || !used[node->symbol->index])
      continue;
    const tj_node *part[TJ_MOST_SYMBOL_PARTS];
    mark_symbols(graph, part, tj_symbol_parts(node->symbol, part), used);
  }
  for (uint32_t i = 0; i < program->parameter_count; i++) {
    const tj_node *node = program->parameter[i].node;
    if (!tj_is_constant(node) && used[node->symbol->index])
      symbols[kernel->parameter_count++] = node;
  }
  tj_add_scalar_parameters(kernel, symbols);
  kernel->parameter = kernel->arithmetic.parameter = symbols;
  check_names(graph, kernel);
}

static tj_kernel *new_kernel(tj_graph *graph, const char *name, const tj_operand *destination) {
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  kernel->name = name;
  kernel->workgroup_size = TJ_WORKGROUP_SIZE;
  kernel->count = destination->size;
  kernel->index = tj_coordinate(graph, "n", destination->size);
  return kernel;
}

static tj_kernel_buffer buffer_of(tj_graph *graph, const char *name, const tj_operand *operand) {
  return (tj_kernel_buffer){.name = name,
                            .element_count = operand->element_count,
                            .extent = operand->extent,
                            .rank = operand->rank,
                            .is_row_major = tj_operand_is_row_major(graph, operand),
                            .is_column_major = tj_operand_is_column_major(graph, operand)};
}

static bool is_destination(const tj_kernel_definition *definition, uint32_t argument) {
  bool is_further = false;
  for (uint32_t i = definition->other_sources; i < definition->other_count; i++)
    is_further = is_further || definition->other[i] == argument;
  return is_further || argument == definition->destination;
}

static void set_buffers(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                        const tj_operand operands[]) {
  tj_kernel_buffer *buffers = TJ_NEW_ARRAY(graph->job, tj_kernel_buffer, definition->argument_count);
  for (uint32_t i = 0; i < definition->argument_count; i++) {
    const tj_kernel_argument *argument = &definition->argument[i];
    buffers[i] = buffer_of(graph, argument->name, &operands[i]);
    if (!tj_dtype_find(argument->dtype, &buffers[i].dtype))
      tj_fail_at(graph->job, argument->dtype_span, TJ_UNKNOWN_DTYPE, "there is no element type '%s'",
                 argument->dtype);
    buffers[i].is_written = is_destination(definition, i);
    bool is_summed = buffers[i].is_written && definition->scatter == TJ_SCATTER_ADDS;
    buffers[i].is_read = definition->body == TJ_BODY_COPY && (!buffers[i].is_written || is_summed);
  }
  kernel->buffer = buffers;
  kernel->buffer_count = definition->argument_count;
}

static const tj_operand *make_operands(tj_graph *graph, const tj_kernel_definition *definition) {
  tj_operand *operands = TJ_NEW_ARRAY(graph->job, tj_operand, definition->argument_count);
  for (uint32_t i = 0; i < definition->argument_count; i++) {
    graph->job->here = definition->argument[i].span;
    operands[i] = tj_operand_make(graph, definition->argument[i].view);
    tj_operand_check_inside(graph, &operands[i]);
    if (definition->arrays != NULL)
      tj_check_apart(graph, &definition->argument[i], &operands[i]);
  }
  return operands;
}

static bool fill_fits(int64_t fill, tj_dtype dtype) {
  uint32_t bits = tj_dtype_bits(dtype);
  switch (tj_dtype_class_of(dtype)) {
  case TJ_CLASS_SIGNED:
    return bits == 64 || (fill >= -((int64_t)1 << (bits - 1)) && fill < (int64_t)1 << (bits - 1));
  case TJ_CLASS_UNSIGNED:
  case TJ_CLASS_BITS:
    return fill >= 0 && (bits >= 64 || fill < (int64_t)1 << bits);
  case TJ_CLASS_FLOAT:
    return true;
  }
  return false;
}

static void check_copy(tj_graph *graph, const tj_kernel_definition *definition, const tj_kernel *kernel) {
  tj_dtype from = kernel->buffer[definition->source].dtype;
  tj_dtype to = kernel->buffer[definition->destination].dtype;
  graph->job->here = definition->body_span;
  if (!tj_dtype_converts(from, to))
    tj_fail(graph->job, TJ_NO_CONVERSION, "%s does not convert to %s", tj_dtype_name(from), tj_dtype_name(to));
  if (!fill_fits(definition->fill, from))
    tj_fail(graph->job, TJ_KERNEL_FILL, "%" PRId64 " does not fit in %s", definition->fill, tj_dtype_name(from));
}

/* --- races --- */

/* Whether it takes more than the destination to show that the kernel has no races. */
static bool may_race(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                     const tj_operand operands[]) {
  graph->job->here = definition->argument[definition->destination].span;
  bool is_apart = tj_race_is_apart(graph, &operands[definition->destination]);
  kernel->races = definition->may_race && !is_apart ? TJ_RACES_MEANT : TJ_RACES_NONE;
  return !definition->may_race && !is_apart;
}

static void judge(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                  const tj_race_map *map) {
  tj_race_judge(graph, kernel, map, definition->argument[definition->destination].name, definition->destination);
}

static void judge_copy(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                       const tj_operand operands[]) {
  if (!may_race(graph, kernel, definition, operands))
    return;
  const tj_operand *destination = &operands[definition->destination];
  const tj_domain domain = tj_domain_as_written(graph, &operands[definition->source], destination);
  const tj_operand to = tj_race_operand(graph, destination),
                   from = tj_race_operand(graph, &operands[definition->source]);
  const tj_node *const *at = tj_race_coordinates(graph, domain.profile);
  tj_race_map map = {.domain = domain.profile,
                     .at = at,
                     .row_major = destination->view != NULL,
                     .destination = tj_domain_at_leaves(graph, &domain, &to, false, definition->destination, at),
                     .source = {tj_domain_at_leaves(graph, &domain, &from, true, definition->source, at)},
                     .sources = 1};
  map.element = tj_domain_at_leaves(graph, &domain, destination, false, definition->destination, at).offset;
  judge(graph, kernel, definition, &map);
}

static void judge_gather(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                         const tj_operand operands[]) {
  if (!may_race(graph, kernel, definition, operands))
    return;
  tj_race_map map = tj_gather_race_map(graph, kernel, definition, operands);
  judge(graph, kernel, definition, &map);
}

/* The destination by itself, whose own linear coordinate says which value it gets. */
static tj_race_map linear_map(tj_graph *graph, const tj_kernel_definition *definition, const tj_operand *destination,
                              const tj_node **linear) {
  tj_race_map map = {.domain = destination->shape,
                     .at = tj_race_coordinates(graph, destination->shape),
                     .row_major = destination->view != NULL,
                     .sources = 1};
  uint32_t count;
  const tj_tuple *const *extent = tj_tuple_leaves(graph, destination->shape, &count);
  const tj_tuple **leaf = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count + 1);
  *linear = tj_int(graph, 0);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t place = map.row_major ? i : count - 1 - i;
    *linear = tj_terse_add(graph, tj_terse_mul(graph, *linear, extent[place]->value), map.at[place]);
    leaf[i] = tj_tuple_integer(graph, map.at[i]);
  }
  const tj_tuple *at = tj_tuple_from_leaves(graph, destination->shape, leaf);
  tj_operand to = tj_race_operand(graph, destination);
  map.destination = tj_operand_access(graph, &to, definition->destination, at);
  map.element = tj_operand_access(graph, destination, definition->destination, at).offset;
  return map;
}

/* Which elements are stored, indices say that only the launch has. Of a dimension whose indices differ, each element
 * is of one coordinate where it is so of the whole domain; and indices that are one element are the same. */
static void judge_scatter(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                          const tj_operand operands[]) {
  const tj_node *linear;
  if (definition->scatter == TJ_SCATTER_ADDS) {
    kernel->races = TJ_RACES_NONE;
    return;
  }
  if (may_race(graph, kernel, definition, operands)) {
    tj_race_map map = linear_map(graph, definition, &operands[definition->destination], &linear);
    map.source[0] = (tj_access){.offset = linear, .valid = tj_int(graph, 1)};
    judge(graph, kernel, definition, &map);
  }
  if (!definition->may_race)
    tj_check_indices_apart(graph, &definition->argument[definition->indices], &operands[definition->indices], NULL);
  kernel->races = definition->may_race ? TJ_RACES_MEANT : TJ_RACES_OF_INDICES;
}

static void judge_offsets(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                          const tj_operand operands[], const tj_operand *of) {
  if (!may_race(graph, kernel, definition, operands))
    return;
  const tj_node *linear;
  tj_race_map map = linear_map(graph, definition, &operands[definition->destination], &linear);
  tj_operand from = tj_race_operand(graph, of);
  map.source[0] = tj_operand_raw_access(graph, &from, tj_operand_coordinate(graph, &from, linear));
  judge(graph, kernel, definition, &map);
}

/* `value` is an expression of the work-item and the trip. */
static void judge_walk(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                       const tj_operand operands[], const tj_node *value) {
  if (!may_race(graph, kernel, definition, operands))
    return;
  const tj_node *linear, *trips = kernel->loop->trips;
  tj_race_map map = linear_map(graph, definition, &operands[definition->destination], &linear);
  const tj_node *from[] = {kernel->index, kernel->loop->counter};
  const tj_node *to[] = {tj_terse_div(graph, linear, trips), tj_terse_mod(graph, linear, trips)};
  tj_substitute(graph, &(tj_substitution){from, to, 2}, &value, 1);
  map.source[0] = (tj_access){.offset = value, .valid = tj_int(graph, 1)};
  judge(graph, kernel, definition, &map);
}

/* --- bodies --- */

static void set_steps(tj_graph *graph, tj_kernel *kernel, tj_kernel_step first, tj_kernel_step second) {
  tj_kernel_step *steps = TJ_NEW_ARRAY(graph->job, tj_kernel_step, 2);
  steps[0] = first;
  steps[1] = second;
  kernel->step = steps;
  kernel->step_count = 2;
  kernel->slot_count = 1;
}

static tj_kernel_step scalar_step(tj_step_kind kind, tj_access access) {
  return (tj_kernel_step){.kind = kind, .access = access, .width = 1, .slot_step = 1};
}

/* What a mapping cuts tiles from: dimensions as they are, unless it says otherwise. */
static const tj_domain *domain_of_tiles(tj_graph *graph, const tj_kernel_definition *definition,
                                        const tj_sides *sides) {
  const tj_layout *given = definition->mapping->domain;
  tj_domain *domain = TJ_NEW(graph->job, tj_domain);
  graph->job->here = definition->load_span;
  *domain = given != NULL ? tj_domain_as_given(graph, sides, given) : tj_domain_of_dimensions(graph, sides);
  return domain;
}

/* The order of a copy's linear coordinate: its own, or that of a mapping of one mode. */
static const tj_domain *domain_of_elements(tj_graph *graph, const tj_kernel_definition *definition,
                                           const tj_sides *sides) {
  bool is_given =
      definition->mapping != NULL && definition->mapping->domain != NULL && tj_mapping_rank(definition->mapping) == 1;
  tj_domain *domain = TJ_NEW(graph->job, tj_domain);
  graph->job->here = is_given ? definition->load_span : graph->job->here;
  *domain =
      is_given ? tj_domain_in_order(graph, sides, definition->mapping->domain) : tj_domain_of_modes(graph, sides);
  return domain;
}

static void plan_gather(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                        const tj_operand operands[]) {
  kernel->step = tj_gather_steps(graph, kernel, definition, operands);
  kernel->step_count = TJ_GATHER_STEPS;
  kernel->slot_count = 1;
  kernel->elements = tj_gather_elements(graph, kernel, definition, operands);
  if (definition->mapping == NULL)
    return;
  if (tj_mapping_neighbours(definition->mapping) == 0)
    tj_fail_at(
        graph->job, definition->load_span, TJ_MAPPING,
        "with indices, work-items move neighbours of one mode: tile=(n), load=(n,1):(1@0,0), or for vectors of w "
        "elements tile=(n*w), load=(n,w):(w@0,1@0), perhaps domain, and nothing else");
  kernel->mapped = tj_mapped_make(graph, definition, NULL);
}

/* What all elements have in common, wherever they are. */
static void set_conversion(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition) {
  check_copy(graph, definition, kernel);
  kernel->fill = definition->fill;
  kernel->carried = tj_arithmetic_carried(definition, kernel);
  kernel->arithmetic = tj_arithmetic_make(graph, definition, kernel);
}

/* The operands of a copy; further ones are repeated along modes where they have one element. */
static tj_sides sides_of(tj_graph *graph, const tj_kernel_definition *definition, const tj_operand operands[]) {
  tj_operand *other = TJ_NEW_ARRAY(graph->job, tj_operand, definition->other_count + 1);
  tj_sides sides = {&operands[definition->source], &operands[definition->destination], other,
                    definition->other_count};
  for (uint32_t i = 0; i < definition->other_count; i++)
    other[i] = tj_operand_repeated(graph, &operands[definition->other[i]], sides.destination);
  return sides;
}

/* Loads of all sources, and stores, that of the destination itself last. */
static void set_movement(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                         const tj_domain *domain) {
  const tj_node *const *digits = tj_domain_digits(graph, domain, kernel->index);
  uint32_t others = domain->other_count;
  tj_kernel_step *step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, others + 2);
  tj_set_source_slots(graph, kernel, 1);
  step[0] = scalar_step(TJ_STEP_LOAD, tj_domain_at(graph, domain, TJ_OPERAND_SOURCE, definition->source, digits));
  for (uint32_t i = 0; i < others; i++) {
    bool is_source = i < definition->other_sources;
    tj_access access = tj_domain_at(graph, domain, TJ_OPERAND_OTHERS + i, definition->other[i], digits);
    step[1 + i] = scalar_step(is_source ? TJ_STEP_LOAD : TJ_STEP_STORE, access);
    step[1 + i].slot = is_source ? 1 + i : 0;
  }
  step[1 + others] = scalar_step(
      TJ_STEP_STORE, tj_domain_at(graph, domain, TJ_OPERAND_DESTINATION, definition->destination, digits));
  kernel->step = step;
  kernel->step_count = others + 2;
}

static void plan_copy(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                      const tj_operand operands[]) {
  set_conversion(graph, kernel, definition);
  if (definition->indices != TJ_NO_ARGUMENT) {
    plan_gather(graph, kernel, definition, operands);
    if (definition->scatter == TJ_SCATTER_NONE)
      judge_gather(graph, kernel, definition, operands);
    else
      judge_scatter(graph, kernel, definition, operands);
    return;
  }
  tj_sides sides = sides_of(graph, definition, operands);
  const tj_domain *domain = domain_of_elements(graph, definition, &sides);
  kernel->domain = domain;
  kernel->elements = tj_domain_linear_layout(graph, domain);
  set_movement(graph, kernel, definition, domain);
  judge_copy(graph, kernel, definition, operands);
  if (definition->mapping != NULL)
    kernel->mapped = tj_mapped_make(graph, definition, domain_of_tiles(graph, definition, &sides));
}

static void set_range(tj_dtype dtype, int64_t *low, int64_t *high) {
  uint32_t bits = tj_dtype_bits(dtype);
  bool is_signed = tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED;
  *high = bits == 64 ? INT64_MAX : ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
  *low = is_signed ? -*high - 1 : 0;
}

static void check_offset_type(tj_graph *graph, tj_dtype dtype, const tj_node *value) {
  tj_dtype_class class = tj_dtype_class_of(dtype);
  if (class != TJ_CLASS_SIGNED && class != TJ_CLASS_UNSIGNED)
    tj_fail(graph->job, TJ_OFFSET_TYPE, "offsets are integers; %s is not", tj_dtype_name(dtype));
  int64_t low, high;
  set_range(dtype, &low, &high);
  const tj_facts *facts = &tj_simplified(graph, value)->facts;
  if (facts->low < low || facts->high > high) {
    bool fits = facts->low >= INT32_MIN && facts->high <= INT32_MAX;
    tj_note(graph->job, "use %s for the destination of offsets", fits ? "i32 or i64" : "i64");
    tj_fail(graph->job, TJ_OFFSET_TYPE, "%s does not hold offsets from %" PRId64 " to %" PRId64, tj_dtype_name(dtype),
            facts->low, facts->high);
  }
}

/* The offset of the map at a linear coordinate, -1 where it is not valid. */
static const tj_node *offset_value(tj_graph *graph, const tj_operand *map, const tj_node *index) {
  tj_access access = tj_operand_raw_access(graph, map, tj_operand_coordinate(graph, map, index));
  bool is_always = tj_is_int(access.valid, 1);
  return is_always ? access.offset : tj_select(graph, access.valid, access.offset, tj_int(graph, -1));
}

/* The product of extents. */
static const tj_node *size_of_box(tj_graph *graph, const tj_node *const lengths[], uint32_t count) {
  const tj_node *size = tj_int(graph, 1);
  for (uint32_t i = 0; i < count; i++)
    size = tj_terse_mul(graph, size, lengths[i]);
  return size;
}

/* The coordinate in a box of a linear one, whose last dimension is the fastest. */
static const tj_node *const *place_in_box(tj_graph *graph, const tj_node *const lengths[], uint32_t count,
                                          const tj_node *index) {
  const tj_node **place = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1);
  for (uint32_t i = count; i-- > 0;) {
    place[i] = i > 0 ? tj_terse_mod(graph, index, lengths[i]) : index;
    index = i > 0 ? tj_terse_div(graph, index, lengths[i]) : NULL;
  }
  return place;
}

static const tj_node *offset_or_nothing(tj_graph *graph, tj_walked place) {
  return tj_is_int(place.valid, 1) ? place.offset : tj_select(graph, place.valid, place.offset, tj_int(graph, -1));
}

static void check_size_of_walk(tj_graph *graph, const tj_kernel *kernel, const tj_operand *destination) {
  const tj_node *size = tj_terse_mul(graph, kernel->count, kernel->loop->trips);
  if (!tj_prove_equal(graph, size, destination->size))
    tj_fail(graph->job, TJ_DOMAIN_MISMATCH, "the walk has %s places, the destination %s elements",
            tj_describe(graph, size), tj_describe(graph, destination->size));
}

/* Work-item n stores the offsets from start n on: element n * trips + k of the destination is that of place k. */
static void plan_walk(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                      const tj_operand operands[]) {
  const tj_path *path = definition->walk;
  const tj_view *view = tj_view_structured(graph, definition->map->view, NULL);
  const tj_operand *destination = &operands[definition->destination];
  graph->job->here = definition->body_span;
  kernel->count = size_of_box(graph, path->start_lengths, view->rank);
  kernel->index = tj_coordinate(graph, "n", kernel->count);
  kernel->loop = tj_loop_make(graph, path->trips);
  check_size_of_walk(graph, kernel, destination);
  tj_view_walk walk = {view, place_in_box(graph, path->start_lengths, view->rank, kernel->index), path->start_lengths,
                       path->step};
  const tj_node *value = offset_or_nothing(graph, tj_walk_view(graph, kernel->loop, &walk));
  kernel->carried = kernel->buffer[definition->destination].dtype;
  const tj_node *direct = offset_or_nothing(graph, tj_walk_directly(graph, kernel->loop, &walk));
  check_offset_type(graph, kernel->carried, direct);
  const tj_node *linear = tj_add(graph, tj_terse_mul(graph, kernel->index, path->trips), kernel->loop->counter);
  tj_access store = tj_operand_access(graph, destination, definition->destination,
                                      tj_operand_coordinate(graph, destination, linear));
  store.offset = tj_loop_reduced(graph, kernel->loop, "to", store.offset);
  set_steps(graph, kernel, tj_step_of_value(value), scalar_step(TJ_STEP_STORE, store));
  tj_loop_prune(graph, kernel);
  judge_walk(graph, kernel, definition, operands, direct);
}

static void plan_offsets(tj_graph *graph, tj_kernel *kernel, const tj_kernel_definition *definition,
                         const tj_operand operands[]) {
  const tj_operand *destination = &operands[definition->destination];
  graph->job->here = definition->body_span;
  tj_operand map = tj_operand_make(graph, definition->map);
  if (!tj_prove_equal(graph, map.size, destination->size))
    tj_fail_domains(graph, &map, destination);
  const tj_node *value = offset_value(graph, &map, kernel->index);
  const tj_tuple *at = tj_operand_coordinate(graph, destination, kernel->index);
  tj_access store = tj_operand_access(graph, destination, definition->destination, at);
  kernel->carried = kernel->buffer[definition->destination].dtype;
  check_offset_type(graph, kernel->carried, value);
  set_steps(graph, kernel, tj_step_of_value(value), scalar_step(TJ_STEP_STORE, store));
  judge_offsets(graph, kernel, definition, operands, &map);
}

static tj_kernel *plan_body(tj_graph *graph, const tj_kernel_definition *definition) {
  const tj_operand *operands = make_operands(graph, definition);
  bool scatters = definition->scatter != TJ_SCATTER_NONE;
  tj_kernel *kernel =
      new_kernel(graph, definition->name, &operands[scatters ? definition->source : definition->destination]);
  set_buffers(graph, kernel, definition, operands);
  if (definition->body == TJ_BODY_COPY)
    plan_copy(graph, kernel, definition, operands);
  else if (definition->walk != NULL)
    plan_walk(graph, kernel, definition, operands);
  else
    plan_offsets(graph, kernel, definition, operands);
  return kernel;
}

/* Statements as they are, and, where there is one, as a copy of several sources. */
static tj_kernel *plan_statements(tj_graph *graph, const tj_program_values *program,
                                  const tj_kernel_definition *definition, const tj_kernel_definition *copy) {
  tj_kernel *kernel = tj_plan_arrays(graph, definition);
  if (copy == NULL)
    return kernel;
  kernel->copy = plan_body(graph, copy);
  set_parameters(graph, kernel->copy, program);
  return kernel;
}

tj_kernel *tj_plan_kernel(tj_graph *graph, const tj_program_values *program, const tj_kernel_definition *definition) {
  const tj_kernel_definition *movement =
      definition->body == TJ_BODY_ARRAYS ? tj_arrays_as_copy(graph, definition) : definition;
  bool is_chosen = movement != NULL && (movement->other_count == 0 || movement->mapping != NULL);
  tj_kernel *kernel = is_chosen ? plan_body(graph, movement) : plan_statements(graph, program, definition, movement);
  graph->job->here = definition->span;
  set_parameters(graph, kernel, program);
  graph->job->here = TJ_NOWHERE;
  return kernel;
}

tj_kernel *tj_plan_offsets(tj_graph *graph, const tj_program_values *program, const tj_value *map) {
  tj_operand operand = tj_operand_make(graph, map);
  tj_kernel *kernel = new_kernel(graph, "offsets", &operand);
  const tj_node *value = offset_value(graph, &operand, kernel->index);
  const tj_facts *facts = &tj_simplified(graph, value)->facts;
  tj_kernel_buffer *buffer = TJ_NEW(graph->job, tj_kernel_buffer);
  bool narrow = facts->low >= INT32_MIN && facts->high <= INT32_MAX;
  const bool is_single = operand.rank <= 1; /* of layouts, whose first mode is the fastest, it is a list */
  *buffer = (tj_kernel_buffer){.name = "dst",
                               .dtype = narrow ? TJ_DTYPE_i32 : TJ_DTYPE_i64,
                               .is_written = true,
                               .element_count = operand.size,
                               .extent = operand.extent,
                               .rank = operand.rank,
                               .is_row_major = operand.view != NULL || is_single,
                               .is_column_major = is_single};
  kernel->buffer = buffer;
  kernel->buffer_count = 1;
  kernel->carried = buffer->dtype;
  tj_access store = {.offset = kernel->index, .valid = tj_int(graph, 1)};
  set_steps(graph, kernel, tj_step_of_value(value), scalar_step(TJ_STEP_STORE, store));
  set_parameters(graph, kernel, program);
  return kernel;
}
