/* SPDX-License-Identifier: MIT */
/* Which modes are rows, which columns, and in which order: by the strides of the first destination. */
#include "lower/array/array_space.h"
#include "lower/array/array_extreme.h"

#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

#include <inttypes.h>

static const tj_array_program *program_of(const tj_array_space *space) {
  return space->arrays->program;
}

/* --- strides --- */

static const tj_node *layout_stride(const tj_operand *operand, uint32_t mode) {
  if (operand->value->kind != TJ_VALUE_LAYOUT)
    return NULL;
  const tj_tuple *stride = tj_tuple_mode(operand->value->layout.stride, mode);
  return stride->kind == TJ_TUPLE_INTEGER ? stride->value : NULL;
}

/* The product of the extents from `begin` to before `end`. */
static const tj_node *product(tj_graph *graph, const tj_operand *operand, uint32_t begin, uint32_t end) {
  const tj_node *all = tj_int(graph, 1);
  for (uint32_t i = begin; i < end; i++)
    all = tj_terse_mul(graph, all, operand->extent[i]);
  return all;
}

/* How far one step along a mode moves; NULL: that is not known. */
static const tj_node *stride_of(const tj_array_space *space, uint32_t argument, uint32_t mode) {
  const tj_operand *operand = &space->arrays->operand[argument];
  if ((space->varies[argument] >> mode & 1) == 0)
    return tj_int(space->graph, 0);
  const tj_node *stride = layout_stride(operand, mode);
  if (stride != NULL || operand->value->kind == TJ_VALUE_LAYOUT)
    return stride;
  if (tj_operand_is_row_major(space->graph, operand))
    return product(space->graph, operand, mode + 1, operand->rank);
  if (tj_operand_is_column_major(space->graph, operand))
    return product(space->graph, operand, 0, mode);
  return NULL;
}

/* --- order --- */

/* Whether a step along mode a is surely no longer than one along mode b. */
static bool goes_before(const tj_array_space *space, uint32_t primary, uint32_t a, uint32_t b) {
  const tj_node *left = stride_of(space, primary, a), *right = stride_of(space, primary, b);
  if (left == NULL || right == NULL || tj_is_int(left, 0))
    return false;
  return tj_is_int(right, 0) || tj_prove_less_equal(space->graph, left, right);
}

/* The destination that varies the most; what is reduced to nothing is stored last. */
static uint32_t primary_of(const tj_array_space *space) {
  uint32_t best = program_of(space)->store[0].argument;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    if (space->is_array[i] && __builtin_popcountll(space->varies[i]) > __builtin_popcountll(space->varies[best]))
      best = i;
  }
  return best;
}

/* Sorted by the primary's strides, smallest first, from the last mode on; those of one element are left out. */
static tj_array_axis sorted_modes(const tj_array_space *space, uint32_t primary, uint64_t among) {
  const tj_array_program *program = program_of(space);
  tj_array_axis axis = {.count = 0};
  for (uint32_t m = program->rank; m-- > 0;) {
    if ((among >> m & 1) == 0 || tj_is_int(program->extent[m], 1))
      continue;
    uint32_t at = axis.count++;
    for (; at > 0 && goes_before(space, primary, m, axis.mode[at - 1]) &&
           !goes_before(space, primary, axis.mode[at - 1], m);
         at--)
      axis.mode[at] = axis.mode[at - 1];
    axis.mode[at] = m;
  }
  return axis;
}

static void set_size(const tj_array_space *space, tj_array_axis *axis) {
  axis->size = tj_int(space->graph, 1);
  for (uint32_t i = 0; i < axis->count; i++)
    axis->size = tj_terse_mul(space->graph, axis->size, program_of(space)->extent[axis->mode[i]]);
  axis->size = tj_simplified(space->graph, axis->size);
}

/* An argument that indices address. */
typedef struct {
  uint32_t argument, indices, dimension;
  bool is_stored, adds;
} indexed_argument;

static void each_indexed(tj_array_space *space, void (*act)(tj_array_space *, const indexed_argument *)) {
  const tj_array_program *program = program_of(space);
  for (uint32_t i = 0; i < program->store_count; i++) {
    const tj_array_store *store = &program->store[i];
    if (store->is_indexed)
      act(space, &(indexed_argument){store->argument, store->indices, store->dimension, true, store->adds});
  }
  for (uint32_t i = 0; i < program->gather_count; i++) {
    const tj_array_gather *gather = &program->gather[i];
    act(space, &(indexed_argument){gather->array->of, gather->indices, gather->dimension, .is_stored = false,
                                   .adds = false});
  }
}

static bool is_indexed_along(const tj_array_space *space, uint32_t argument, uint32_t mode) {
  return space->lookup[argument].limit != NULL && space->lookup[argument].dimension == mode;
}

/* Whether an array goes on along mode `next` where it ends along the one before. */
static bool steps_on(const tj_array_space *space, uint32_t argument, uint32_t mode, uint32_t next) {
  tj_graph *graph = space->graph;
  const tj_node *stride = stride_of(space, argument, mode), *further = stride_of(space, argument, next);
  return stride != NULL && further != NULL &&
         tj_prove_equal(graph, tj_mul(graph, stride, program_of(space)->extent[mode]), further);
}

static bool is_indexed_mode(const tj_array_space *space, uint32_t mode) {
  uint32_t i = 0;
  while (i < space->argument_count && !(space->is_array[i] && is_indexed_along(space, i, mode)))
    i++;
  return i < space->argument_count;
}

/* Whether every array goes on along mode `next` where it ends along those before. */
static bool continues(const tj_array_space *space, uint32_t mode, uint32_t next) {
  bool is = !is_indexed_mode(space, mode) && !is_indexed_mode(space, next);
  for (uint32_t i = 0; i < space->argument_count && is; i++)
    is = !space->is_array[i] || steps_on(space, i, mode, next);
  return is;
}

/* Between the columns and what follows along mode `next`. False: where an array that has had the same elements again
 * would have others. */
static bool find_seam(const tj_array_space *space, uint32_t next, tj_array_seam *seam) {
  uint64_t inside = tj_array_axis_modes(&space->columns);
  uint32_t last = space->columns.mode[space->columns.count - 1];
  *seam = (tj_array_seam){space->columns.size, .is_even = true, .times = tj_int(space->graph, 1)};
  for (uint32_t i = 0; i < space->argument_count; i++) {
    uint64_t varies = space->is_array[i] ? space->varies[i] & inside : 0;
    if (varies == 0 || steps_on(space, i, last, next))
      continue;
    bool goes_on = (space->varies[i] >> next & 1) != 0;
    if (goes_on && varies != inside && (varies >> space->columns.mode[0] & 1) != 0)
      return false;
    seam->is_even = false;
    seam->returns = seam->returns || !goes_on;
  }
  return true;
}

static void add_mode(tj_array_space *space, tj_array_axis *axis, uint32_t mode) {
  axis->mode[axis->count++] = mode;
  axis->size = tj_simplified(space->graph, tj_terse_mul(space->graph, axis->size, program_of(space)->extent[mode]));
}

/* Whether elements of some array may not be there: which are, would be a question of remainders behind a seam. */
static bool has_masks(const tj_array_space *space) {
  tj_graph *graph = space->graph;
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_operand *operand = &space->arrays->operand[i];
    if (!space->is_array[i] || operand->view == NULL)
      continue;
    const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, operand->rank + 1);
    for (uint32_t m = 0; m < operand->rank; m++)
      item[m] = tj_tuple_integer(graph, tj_coordinate(graph, "k", operand->extent[m]));
    const tj_tuple *at = tj_tuple_is_list(operand->shape) ? tj_tuple_list(graph, item, operand->rank) : item[0];
    if (!tj_is_int(tj_simplified(graph, tj_operand_raw_access(graph, operand, at).valid), 1))
      return true;
  }
  return false;
}

/* Whether columns may be so few that those of a further mode join them, as long as 31 bits count them all. */
static bool joins(const tj_array_space *space, uint32_t next, int64_t least) {
  const tj_node *size = space->columns.size, *extent = program_of(space)->extent[next];
  int64_t all;
  return size->facts.low < least && !__builtin_mul_overflow(size->facts.high, extent->facts.high, &all) &&
         all <= INT32_MAX && !is_indexed_mode(space, space->columns.mode[0]) && !is_indexed_mode(space, next) &&
         !has_masks(space);
}

/* Adds the seam before mode `next`, if that joins the columns. */
static bool add_seam(tj_array_space *space, uint32_t next, int64_t least) {
  tj_array_seam *seam = &space->seam[space->seam_count];
  bool is_there = joins(space, next, least) && find_seam(space, next, seam);
  space->seam_count += is_there ? 1 : 0;
  return is_there;
}

/* Columns are the fastest modes, as far as all arrays step through them together, or else with seams. */
static void part_modes(tj_array_space *space, const tj_array_axis *all, int64_t least) {
  uint32_t inner = 0;
  space->columns.size = space->rows.size = tj_int(space->graph, 1);
  for (; inner < all->count; inner++) {
    uint32_t next = all->mode[inner];
    bool is_on = inner == 0 || (program_of(space)->index_modes == 0 && continues(space, all->mode[inner - 1], next));
    if (!is_on && !add_seam(space, next, least))
      break;
    add_mode(space, &space->columns, next);
    for (uint32_t i = 0; i < space->seam_count; i++)
      space->seam[i].times = tj_terse_mul(space->graph, space->seam[i].times, program_of(space)->extent[next]);
  }
  for (; inner < all->count; inner++)
    add_mode(space, &space->rows, all->mode[inner]);
}

/* --- elements --- */

/* The digits of an axis' linear coordinate. */
static void set_digits(tj_array_space *space, const tj_array_axis *axis, const tj_node *linear) {
  const tj_node *const *extent = program_of(space)->extent;
  for (uint32_t i = 0; i < axis->count; i++) {
    bool is_last = i + 1 == axis->count;
    space->digit[axis->mode[i]] = is_last ? linear : tj_mod(space->graph, linear, extent[axis->mode[i]]);
    linear = is_last ? linear : tj_div(space->graph, linear, extent[axis->mode[i]]);
    tj_facts known = {.low = 0, .high = extent[axis->mode[i]]->facts.high - 1, .modulus = 1};
    if (is_last && extent[axis->mode[i]]->facts.high != INT64_MAX && i > 0)
      tj_sharpen_facts(space->digit[axis->mode[i]], &known);
  }
}

static const tj_node *coordinate_along(const tj_array_space *space, uint32_t argument, uint32_t mode) {
  if (is_indexed_along(space, argument, mode))
    return space->lookup[argument].found;
  return (space->varies[argument] >> mode & 1) != 0 ? space->digit[mode] : tj_int(space->graph, 0);
}

static void simplify_access(tj_graph *graph, tj_access *access) {
  const tj_node *part[] = {access->offset, access->valid};
  tj_simplify(graph, part, 2, NULL);
  access->offset = part[0];
  access->valid = part[1];
}

/* Only indices that are found are followed. */
static tj_access access_of(const tj_array_space *space, uint32_t argument) {
  tj_graph *graph = space->graph;
  const tj_operand *operand = &space->arrays->operand[argument];
  const tj_tuple **item = TJ_NEW_ARRAY(graph->job, const tj_tuple *, operand->rank + 1);
  for (uint32_t m = 0; m < operand->rank; m++)
    item[m] = tj_tuple_integer(graph, coordinate_along(space, argument, m));
  const tj_tuple *at = tj_tuple_is_list(operand->shape) ? tj_tuple_list(graph, item, operand->rank) : item[0];
  tj_access access = tj_operand_access(graph, operand, space->arrays->buffer[argument], at);
  const tj_array_lookup *lookup = &space->lookup[argument];
  if (lookup->found != NULL)
    access.valid = tj_terse_both(graph, tj_less(graph, lookup->found, lookup->limit), access.valid);
  simplify_access(graph, &access);
  return access;
}

/* The symbol of the same index of as long a dimension; NULL: this is the first. */
static const tj_node *find_same(const tj_array_space *space, const tj_array_lookup *lookup) {
  for (uint32_t i = 0; i < space->argument_count; i++) {
    const tj_array_lookup *other = &space->lookup[i];
    if (other->found != NULL && other->limit == lookup->limit && other->access.buffer == lookup->access.buffer &&
        other->access.offset == lookup->access.offset && other->access.valid == lookup->access.valid)
      return other->found;
  }
  return NULL;
}

static void set_lookup(tj_array_space *space, const indexed_argument *indexed) {
  tj_graph *graph = space->graph;
  tj_array_lookup *lookup = &space->lookup[indexed->argument];
  const tj_operand *indices = &space->arrays->operand[indexed->indices];
  bool varies = (space->varies[indexed->argument] >> lookup->dimension & 1) != 0;
  const tj_node *number = varies ? space->digit[lookup->dimension] : tj_int(graph, 0);
  lookup->access = tj_operand_access(graph, indices, space->arrays->buffer[indexed->indices],
                                     tj_operand_coordinate(graph, indices, number));
  simplify_access(graph, &lookup->access);
  lookup->found = find_same(space, lookup);
  if (lookup->found == NULL)
    lookup->found = tj_symbol_create(graph, indexed->is_stored ? "scattered" : "gathered", TJ_SYMBOL_COORDINATE,
                                     tj_int(graph, 0), lookup->limit, 1);
}

static void set_varying(tj_array_space *space, uint32_t argument) {
  const tj_operand *operand = &space->arrays->operand[argument];
  for (uint32_t m = 0; m < operand->rank; m++) {
    if (!tj_is_int(operand->extent[m], 1))
      space->varies[argument] |= (uint64_t)1 << m;
  }
}

/* As many indices as elements along the dimension. */
static void set_indexed(tj_array_space *space, const indexed_argument *indexed) {
  uint64_t mode = (uint64_t)1 << indexed->dimension;
  const tj_operand *operand = space->arrays->operand;
  bool varies = !tj_is_int(operand[indexed->indices].size, 1);
  space->varies[indexed->argument] = (space->varies[indexed->argument] & ~mode) | (varies ? mode : 0);
  space->lookup[indexed->argument] = (tj_array_lookup){.limit = operand[indexed->argument].extent[indexed->dimension],
                                                       .dimension = indexed->dimension,
                                                       .adds = indexed->adds};
}

static void set_arguments(tj_array_space *space) {
  const tj_array_program *program = program_of(space);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    if (array->op != TJ_ARRAY_BUFFER || space->is_array[array->of])
      continue;
    space->is_array[array->of] = true;
    set_varying(space, array->of);
  }
  each_indexed(space, set_indexed);
}

static uint32_t count_arguments(const tj_array_program *program) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    count = array->op == TJ_ARRAY_BUFFER && array->of >= count ? array->of + 1 : count;
  }
  return count;
}

tj_array_space tj_array_space_of(tj_graph *graph, const tj_kernel *kernel, int64_t least) {
  const tj_array_program *program = kernel->arrays->program;
  tj_array_space space = {.graph = graph, .arrays = kernel->arrays, .argument_count = count_arguments(program)};
  space.varies = TJ_NEW_ARRAY(graph->job, uint64_t, space.argument_count + 1);
  space.access = TJ_NEW_ARRAY(graph->job, tj_access, space.argument_count + 1);
  space.lookup = TJ_NEW_ARRAY(graph->job, tj_array_lookup, space.argument_count + 1);
  space.is_array = TJ_NEW_ARRAY(graph->job, bool, space.argument_count + 1);
  space.digit = TJ_NEW_ARRAY(graph->job, const tj_node *, program->rank + 1);
  space.combination = tj_array_combinations(graph, program);
  space.is_reduced = program->reduced != 0;
  set_arguments(&space);
  uint32_t primary = primary_of(&space);
  if (space.is_reduced) {
    space.columns = sorted_modes(&space, primary, program->reduced);
    space.rows = sorted_modes(&space, primary, ~program->reduced);
    set_size(&space, &space.rows);
    set_size(&space, &space.columns);
  } else {
    tj_array_axis all = sorted_modes(&space, primary, UINT64_MAX);
    part_modes(&space, &all, least);
  }
  space.row = tj_coordinate(graph, "i", space.rows.size);
  space.column = tj_coordinate(graph, "j", space.columns.size);
  for (uint32_t m = 0; m < program->rank; m++)
    space.digit[m] = tj_int(graph, 0);
  set_digits(&space, &space.rows, space.row);
  set_digits(&space, &space.columns, space.column);
  each_indexed(&space, set_lookup);
  for (uint32_t i = 0; i < space.argument_count; i++) {
    if (space.is_array[i])
      space.access[i] = access_of(&space, i);
  }
  return space;
}

uint64_t tj_array_axis_modes(const tj_array_axis *axis) {
  uint64_t modes = 0;
  for (uint32_t i = 0; i < axis->count; i++)
    modes |= (uint64_t)1 << axis->mode[i];
  return modes;
}

bool tj_array_goes_along(const tj_array_space *space, uint32_t argument, const tj_array_axis *axis) {
  return (space->varies[argument] & tj_array_axis_modes(axis)) != 0;
}

bool tj_array_has_columns(const tj_array_space *space, uint32_t argument) {
  return space->is_array[argument] && tj_array_goes_along(space, argument, &space->columns);
}

const tj_array_seam *tj_array_returning_seam(const tj_array_space *space) {
  uint32_t i = 0;
  while (i < space->seam_count && !space->seam[i].returns)
    i++;
  return i < space->seam_count ? &space->seam[i] : NULL;
}

bool tj_array_index_changes(const tj_array_space *space, uint32_t argument) {
  const tj_array_lookup *lookup = &space->lookup[argument];
  uint64_t modes = space->varies[argument] & tj_array_axis_modes(&space->columns);
  return lookup->found != NULL && (modes >> lookup->dimension & 1) != 0;
}

/* Modes, by bit, of more than one element. */
static uint64_t long_modes(const tj_array *array) {
  uint64_t modes = 0;
  for (uint32_t m = 0; m < array->rank; m++)
    modes |= tj_is_int(array->extent[m], 1) ? 0 : (uint64_t)1 << m;
  return modes;
}

/* Arguments come before what is made of them. What is stored may repeat what it is made of. */
uint64_t tj_array_varies(const tj_array_space *space, const tj_array *array) {
  const tj_array_program *program = program_of(space);
  uint64_t *varies = TJ_NEW_ARRAY(space->graph->job, uint64_t, program->count);
  for (uint32_t i = 0; i <= array->number; i++) {
    const tj_array *each = program->array[i];
    if (each->op == TJ_ARRAY_BUFFER)
      varies[i] = space->varies[each->of];
    if (each->op == TJ_ARRAY_INDEX)
      varies[i] = (uint64_t)1 << each->of;
    if (each->op == TJ_ARRAY_CAST)
      varies[i] = long_modes(each);
    for (uint32_t k = 0; k < tj_array_arity(each->op); k++)
      varies[i] |= varies[each->arg[k]->number];
    varies[i] &= ~each->modes;
  }
  return varies[array->number];
}
