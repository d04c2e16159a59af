/* SPDX-License-Identifier: MIT */
/* What the statements of a kernel do: names, destinations, the shape of all arrays together, and what may be in one
 * place. */
#include "frontend/sema/sema_array.h"
#include "ir/layout/arith.h"

#include <inttypes.h>
#include <string.h>

/* --- statements --- */

static void define(tj_array_frame *f, const tj_ast_statement *statement) {
  f->job->here = statement->option != NULL ? statement->option->span : statement->name_span;
  if (statement->option != NULL)
    tj_fail(f->job, TJ_UNKNOWN_ARGUMENT, "let has no argument '%s'", statement->option->name);
  if (tj_frame_name(f, statement->name) != NULL || tj_frame_argument(f, statement->name) < f->kernel->argument_count)
    tj_fail(f->job, TJ_REDEFINED_NAME, "'%s' is already defined", statement->name);
  const tj_array *array = tj_frame_evaluate(f, statement->value);
  f->name[f->count++] = (tj_named_array){statement->name, array};
}

static void check_destination(tj_array_frame *f, uint32_t number, const tj_ast_statement *statement) {
  f->job->here = statement->name_span;
  if (number == f->kernel->argument_count)
    tj_fail(f->job, TJ_ARRAY_STATEMENT, "'%s' is no argument of kernel '%s'; a name of an array is given by let",
            statement->name, f->kernel->name);
  if (f->argument[number].view == NULL)
    tj_fail(f->job, TJ_ARRAY_STATEMENT, "'%s' is a number, and cannot be written", statement->name);
  if (f->argument[number].is_written)
    tj_fail(f->job, TJ_ARRAY_STATEMENT, "'%s' is written twice", statement->name);
}

/* scatter=indices, or scatter_add=indices */
static void set_indices(tj_array_frame *f, const tj_ast *option, tj_array_store *store) {
  f->job->here = option->span;
  store->is_indexed = true;
  store->adds = strcmp(option->name, "scatter_add") == 0;
  if (!store->adds && strcmp(option->name, "scatter") != 0) {
    tj_note(f->job, "it may have scatter=indices or scatter_add=indices; a mapping stands behind the braces");
    tj_fail(f->job, TJ_UNKNOWN_ARGUMENT, "a statement has no argument '%s'", option->name);
  }
  tj_indexed indexed = tj_frame_indices(f, option->name, option->item[0], store->argument);
  store->indices = indexed.argument;
  store->dimension = indexed.dimension;
}

/* An argument by the coordinates that statements speak of: it has as many along a dimension as there are indices. */
static const tj_array *addressed_array(tj_array_frame *f, uint32_t number) {
  const tj_array *own = tj_frame_buffer(f, number);
  const tj_array_store *indexed = tj_array_indexed_store(f->program, number);
  if (indexed == NULL)
    return own;
  tj_array *array = tj_arena_copy(&f->job->arena, own, sizeof *own);
  array->extent = tj_frame_extents(f, number, indexed->indices, indexed->dimension);
  return array;
}

static void check_only_read(tj_array_frame *f, uint32_t indices) {
  if (f->argument[indices].is_written)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "indices are an argument of their own; '%s' is written",
            f->argument[indices].name);
}

/* Which elements are loaded or stored only the launch knows, so that nothing else of the kernel can be about them. */
static void check_indices(tj_array_frame *f) {
  for (uint32_t i = 0; i < f->program->store_count; i++) {
    const tj_array_store *store = &f->program->store[i];
    f->job->here = store->span;
    if (store->is_indexed)
      check_only_read(f, store->indices);
    if (store->is_indexed && f->argument[store->argument].is_read)
      tj_fail(f->job, TJ_ARRAY_STATEMENT, "'%s' is written through indices, and cannot be read",
              f->argument[store->argument].name);
  }
  for (uint32_t i = 0; i < f->program->gather_count; i++) {
    const tj_array_gather *gather = &f->program->gather[i];
    f->job->here = gather->span;
    check_only_read(f, gather->indices);
    if (f->argument[gather->argument].is_written)
      tj_fail(f->job, TJ_ARRAY_STATEMENT, "'%s' is read through indices, and cannot be written",
              f->argument[gather->argument].name);
  }
}

static void store(tj_array_frame *f, const tj_ast_statement *statement) {
  tj_array_store *made = &f->program->store[f->program->store_count];
  uint32_t number = tj_frame_argument(f, statement->name);
  check_destination(f, number, statement);
  const tj_array *value = tj_frame_evaluate(f, statement->value);
  *made = (tj_array_store){.argument = number, .value = value, .span = statement->span};
  if (statement->option != NULL)
    set_indices(f, statement->option, made);
  f->program->store_count++;
  const tj_array *own = addressed_array(f, number);
  f->job->here = statement->span;
  if (!tj_array_fits(f->graph, made->value, own->extent, own->rank))
    tj_fail(f->job, TJ_ARRAY_DOMAIN, "'%s' %s shape %s, and is to be an array of shape %s", statement->name,
            made->is_indexed ? "is written at as many places as there are indices, of" : "has the",
            tj_array_shape_text(f->graph, own), tj_array_shape_text(f->graph, made->value));
  f->argument[number].is_written = true;
  made->value = tj_array_saturating(f->graph, f->program, made->value, own->dtype);
  if (!made->is_indexed)
    f->buffer[number] = tj_array_stored(f->graph, f->program, made->value, own->dtype, own->extent, own->rank);
}

/* --- the shape of all --- */

static void join_extent(tj_array_frame *f, const tj_kernel_argument *argument, const tj_array *array, uint32_t mode) {
  const tj_node **own = &f->program->extent[mode], *other = array->extent[mode];
  if (tj_is_int(*own, 1))
    *own = other;
  else if (!tj_is_int(other, 1) && !tj_surely_equal(f->graph, *own, other))
    tj_fail_at(f->job, argument->span, TJ_ARRAY_DOMAIN,
               "'%s' has the extent %s in mode %" PRIu32 ", an argument before it %s", array->name,
               tj_describe(f->graph, other), mode, tj_describe(f->graph, *own));
}

/* Indices are no arrays, unless a statement mentions them, too. */
static bool is_array(const tj_array_frame *f, uint32_t argument) {
  return f->argument[argument].view != NULL && (f->buffer[argument] != NULL || f->argument[argument].is_written);
}

static void join_shape(tj_array_frame *f, const tj_kernel_argument *argument, const tj_array *array) {
  tj_array_program *program = f->program;
  for (uint32_t m = program->rank; program->rank == 0 && m < array->rank; m++)
    program->extent[m] = tj_int(f->graph, 1);
  if (program->rank != 0 && array->rank != program->rank)
    tj_fail_at(f->job, argument->span, TJ_ARRAY_DOMAIN,
               "'%s' has the shape %s, of %" PRIu32 " modes; an argument before it has %" PRIu32, array->name,
               tj_array_shape_text(f->graph, array), array->rank, program->rank);
  program->rank = array->rank;
  for (uint32_t m = 0; m < array->rank; m++)
    join_extent(f, argument, array, m);
}

/* All arguments have one shape, but for extents of 1. */
static void join_shapes(tj_array_frame *f) {
  tj_array_program *program = f->program;
  program->extent = TJ_NEW_ARRAY(f->job, const tj_node *, TJ_ARRAY_MOST_MODES);
  for (uint32_t i = 0; i < f->kernel->argument_count; i++) {
    if (is_array(f, i))
      join_shape(f, &f->argument[i], addressed_array(f, i));
  }
  for (uint32_t i = 0; i < program->gather_count; i++)
    join_shape(f, &f->argument[program->gather[i].argument], program->gather[i].array);
}

/* Whether what an argument was is of use for what it becomes alone, and not for reductions: others would read it
 * while the first coordinate along modes that it does not have stores it. */
static bool is_its_own_affair(const tj_array_frame *f, const tj_array *array) {
  const tj_array_program *program = f->program;
  bool is_own = true;
  for (uint32_t i = 0; i < program->store_count; i++) {
    const bool *is_part = tj_array_parts(f->graph, program, program->store[i].value);
    is_own = is_own && (program->store[i].argument == array->of || !is_part[array->number]);
  }
  for (uint32_t i = array->number + 1; i < program->count; i++) {
    if (tj_array_is_reduction(program->array[i]->op))
      is_own = is_own && !tj_array_parts(f->graph, program, program->array[i])[array->number];
  }
  return is_own;
}

/* What is read and written in one place is the same element there. */
static void check_in_place(tj_array_frame *f) {
  for (uint32_t i = 0; i < f->kernel->argument_count; i++) {
    if (!f->argument[i].is_read || !f->argument[i].is_written || is_its_own_affair(f, tj_frame_buffer(f, i)))
      continue;
    const tj_array *array = tj_frame_buffer(f, i);
    for (uint32_t m = 0; m < array->rank; m++) {
      if (!tj_surely_equal(f->graph, array->extent[m], f->program->extent[m]))
        tj_fail_at(f->job, f->argument[i].span, TJ_ARRAY_STATEMENT,
                   "'%s' is read by others while it is written, and does not have the shape of all arrays together",
                   f->argument[i].name);
    }
  }
}

static void check_index_modes(tj_array_frame *f) {
  const uint64_t modes = f->program->index_modes;
  const uint32_t last = modes != 0 ? 63 - (uint32_t)__builtin_clzll(modes) : 0;
  if (modes != 0 && last >= f->program->rank)
    tj_frame_fail_index(f, f->kernel->span, last);
}

static void follow(tj_array_frame *f) {
  const tj_item *item = f->kernel;
  f->name = TJ_NEW_ARRAY(f->job, tj_named_array, item->statement_count + 1);
  f->buffer = TJ_NEW_ARRAY(f->job, const tj_array *, item->argument_count + 1);
  f->program->store = TJ_NEW_ARRAY(f->job, tj_array_store, item->statement_count + 1);
  f->count = 0;
  for (uint32_t i = 0; i < item->argument_count; i++)
    f->argument[i].is_read = f->argument[i].is_written = false;
  for (uint32_t i = 0; i < item->statement_count; i++) {
    if (item->statement[i].is_let)
      define(f, &item->statement[i]);
    else
      store(f, &item->statement[i]);
  }
  if (f->program->store_count == 0)
    tj_fail_at(f->job, item->span, TJ_ARRAY_STATEMENT, "kernel '%s' writes no argument", item->name);
  check_indices(f);
}

static bool has_partial_reductions(const tj_array_program *program) {
  bool has = false;
  for (uint32_t i = 0; i < program->count; i++)
    has = has || (tj_array_is_reduction(program->array[i]->op) && program->array[i]->modes != program->reduced);
  return has;
}

/* Statements once more, with indices of the extents that all arrays together were found to have, and reductions over
 * the modes of all of them. */
static void follow_again(tj_array_frame *f) {
  const tj_array_program *sketch = f->program;
  f->program = TJ_NEW(f->job, tj_array_program);
  f->program->rank = sketch->rank;
  f->program->extent = sketch->extent;
  f->program->reduced = sketch->reduced;
  follow(f);
}

const tj_array_program *tj_evaluate_statements(tj_scope *scope, const tj_kernel_definition *kernel,
                                               const tj_item *item, tj_kernel_argument argument[]) {
  tj_array_frame f = {.graph = scope->graph,
                      .job = scope->job,
                      .program = TJ_NEW(scope->job, tj_array_program),
                      .scope = scope,
                      .kernel = item,
                      .definition = kernel,
                      .argument = argument};
  follow(&f);
  join_shapes(&f);
  check_index_modes(&f);
  if (f.program->index_modes != 0 || has_partial_reductions(f.program))
    follow_again(&f);
  check_in_place(&f);
  f.job->here = TJ_NOWHERE;
  return f.program;
}
