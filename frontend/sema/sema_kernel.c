/* SPDX-License-Identifier: MIT */
/* What kernel items mean: arguments, and the body that says what the kernel does with them.
 *
 * Views and distributions are evaluated here and checked for their kind; whether they fit each other is for
 * lower/plan/plan.c to find out, but for what only two distributions have to do with each other. */
#include "frontend/names/spelling.h"
#include "frontend/sema/sema.h"
#include "ir/array/array.h"

#include <inttypes.h>
#include <string.h>

/* --- arguments --- */

static bool is_operand(const tj_value *value) {
  return value->kind == TJ_VALUE_LAYOUT || value->kind == TJ_VALUE_COMPOSED || value->kind == TJ_VALUE_VIEW;
}

static const tj_value *need_operand(tj_job *job, const tj_value *value, const char *what) {
  if (!is_operand(value))
    tj_fail_type(job, value, what, "a layout or a view");
  return value;
}

static tj_kernel_argument *evaluate_arguments(tj_scope *scope, const tj_item *item) {
  tj_kernel_argument *arguments = TJ_NEW_ARRAY(scope->job, tj_kernel_argument, item->argument_count);
  for (uint32_t i = 0; i < item->argument_count; i++) {
    const tj_ast_argument *ast = &item->argument[i];
    for (uint32_t k = 0; k < i; k++) {
      if (strcmp(arguments[k].name, ast->name) == 0)
        tj_fail_at(scope->job, ast->span, TJ_KERNEL_ARGUMENT, "the kernel has two arguments '%s'", ast->name);
    }
    arguments[i] = (tj_kernel_argument){
        .name = ast->name, .dtype = ast->dtype, .span = ast->span, .dtype_span = ast->dtype_span};
    if (ast->view == NULL)
      continue;
    arguments[i].view = tj_evaluate_expression(scope, ast->view);
    scope->job->here = ast->view->span;
    need_operand(scope->job, arguments[i].view, "a kernel's argument");
  }
  return arguments;
}

static uint32_t find_argument(tj_scope *scope, const tj_kernel_definition *kernel, const tj_ast *ast) {
  scope->job->here = ast->span;
  if (ast->kind != TJ_AST_NAME)
    tj_fail(scope->job, TJ_KERNEL_BODY, "the name of an argument of kernel '%s' is needed here", kernel->name);
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    if (strcmp(kernel->argument[i].name, ast->name) == 0)
      return i;
  }
  tj_misspelling of = tj_misspelling_of(ast->name);
  for (uint32_t i = 0; i < kernel->argument_count; i++)
    tj_misspelling_try(&of, kernel->argument[i].name);
  tj_note_nearest(scope->job, &of);
  tj_fail(scope->job, TJ_KERNEL_ARGUMENT, "kernel '%s' has no argument '%s'", kernel->name, ast->name);
}

static bool is_used(const tj_kernel_definition *kernel, uint32_t argument) {
  if (kernel->body == TJ_BODY_ARRAYS)
    return kernel->argument[argument].is_read || kernel->argument[argument].is_written;
  return argument == kernel->destination ||
         (kernel->body == TJ_BODY_COPY && (argument == kernel->source || argument == kernel->indices));
}

static void check_all_used(tj_scope *scope, const tj_kernel_definition *kernel) {
  for (uint32_t i = 0; i < kernel->argument_count; i++) {
    bool used = is_used(kernel, i);
    if (!used)
      tj_fail_at(scope->job, kernel->argument[i].span, TJ_KERNEL_ARGUMENT, "the body does not use argument '%s'",
                 kernel->argument[i].name);
  }
}

/* --- options of copy and shuffle --- */

typedef enum {
  OPTION_FILL,
  OPTION_MAPPING,
  OPTION_THROUGH,
  OPTION_FROM,
  OPTION_TO,
  OPTION_SCALE,
  OPTION_BIAS,
  OPTION_GATHER,
  OPTION_SCATTER,
  OPTION_SCATTER_ADD,
  OPTION_MAY_RACE,
  OPTION_COUNT
} option;

enum { OF_COPY = 1, OF_SHUFFLE = 2 };

static const struct {
  const char *name;
  unsigned bodies; /* that have it */
} option_rows[OPTION_COUNT] = {
    [OPTION_FILL] = {"fill", OF_COPY | OF_SHUFFLE},
    [OPTION_MAPPING] = {"mapping", OF_COPY},
    [OPTION_THROUGH] = {"through", OF_COPY},
    [OPTION_FROM] = {"from", OF_SHUFFLE},
    [OPTION_TO] = {"to", OF_SHUFFLE},
    [OPTION_SCALE] = {"scale", OF_COPY | OF_SHUFFLE},
    [OPTION_BIAS] = {"bias", OF_COPY | OF_SHUFFLE},
    [OPTION_GATHER] = {"gather", OF_COPY},
    [OPTION_SCATTER] = {"scatter", OF_COPY},
    [OPTION_SCATTER_ADD] = {"scatter_add", OF_COPY},
    [OPTION_MAY_RACE] = {"may_race", OF_COPY | OF_SHUFFLE},
};

/* A body that moves elements from a source to a destination, and the options that it was given, by number. */
typedef struct {
  const char *name;
  unsigned body;
  const tj_ast *ast;
  const tj_ast *option[OPTION_COUNT];
} movement;

static option find_option(const movement *move, const char *name) {
  unsigned i = 0;
  while (i < OPTION_COUNT && ((option_rows[i].bodies & move->body) == 0 || strcmp(option_rows[i].name, name) != 0))
    i++;
  return (option)i;
}

static void collect_options(tj_scope *scope, movement *move) {
  for (uint32_t i = 3; i < move->ast->count; i++) {
    const tj_ast *ast = move->ast->item[i];
    scope->job->here = ast->span;
    if (ast->kind != TJ_AST_NAMED)
      tj_fail(scope->job, TJ_WRONG_ARITY, "%s takes a source and a destination", move->name);
    option which = find_option(move, ast->name);
    if (which == OPTION_COUNT)
      tj_fail(scope->job, TJ_UNKNOWN_ARGUMENT, "%s has no argument '%s'", move->name, ast->name);
    if (move->option[which] != NULL)
      tj_fail(scope->job, TJ_UNKNOWN_ARGUMENT, "'%s' is given twice", ast->name);
    move->option[which] = ast;
  }
}

static const tj_value *option_value(tj_scope *scope, const movement *move, option which) {
  const tj_value *value = tj_evaluate_expression(scope, move->option[which]->item[0]);
  scope->job->here = move->option[which]->span;
  return value;
}

static const tj_distribution *distribution_option(tj_scope *scope, const movement *move, option which) {
  const tj_value *value = option_value(scope, move, which);
  if (value->kind != TJ_VALUE_DISTRIBUTION)
    tj_fail_type(scope->job, value, option_rows[which].name, "a distribution");
  return value->distribution;
}

static tj_number number_option(tj_scope *scope, const movement *move, option which, int64_t otherwise) {
  const tj_ast *ast = move->option[which];
  if (ast == NULL)
    return (tj_number){true, otherwise, (double)otherwise};
  return tj_evaluate_number(scope, ast->item[0], option_rows[which].name);
}

tj_indexed tj_evaluate_indices(tj_scope *scope, const tj_kernel_definition *kernel, const char *name,
                               const tj_ast *ast) {
  tj_indexed indexed = {.dimension = 0};
  if (ast->kind == TJ_AST_LIST && ast->count == 2) {
    const tj_value *dimension = tj_evaluate_expression(scope, ast->item[1]);
    scope->job->here = ast->item[1]->span;
    int64_t number = tj_need_constant(scope->graph, dimension, "a dimension");
    if (number < 0 || number > INT32_MAX)
      tj_fail(scope->job, TJ_DOMAIN_MISMATCH, "%s: there is no dimension %" PRId64, name, number);
    indexed.dimension = (uint32_t)number;
    ast = ast->item[0];
  }
  indexed.argument = find_argument(scope, kernel, ast);
  return indexed;
}

static void set_indices(tj_scope *scope, tj_kernel_definition *kernel, const tj_ast *given) {
  tj_indexed indexed = tj_evaluate_indices(scope, kernel, given->name, given->item[0]);
  kernel->indices = indexed.argument;
  kernel->indexed_dimension = indexed.dimension;
  if (kernel->indices == kernel->source || kernel->indices == kernel->destination)
    tj_fail(scope->job, TJ_KERNEL_ARGUMENT, "indices are an argument of their own");
}

/* --- copies and shuffles --- */

static void evaluate_movement(tj_scope *scope, tj_kernel_definition *kernel, movement *move) {
  if (move->ast->count < 3)
    tj_fail(scope->job, TJ_WRONG_ARITY, "%s takes a source and a destination", move->name);
  kernel->body = TJ_BODY_COPY;
  kernel->source = find_argument(scope, kernel, move->ast->item[1]);
  kernel->destination = find_argument(scope, kernel, move->ast->item[2]);
  if (kernel->source == kernel->destination)
    tj_fail(scope->job, TJ_KERNEL_ARGUMENT, "the source and the destination of a %s must differ", move->name);
  collect_options(scope, move);
  if (move->option[OPTION_FILL] != NULL)
    kernel->fill = tj_need_constant(scope->graph, option_value(scope, move, OPTION_FILL), "fill");
  if (move->option[OPTION_MAY_RACE] != NULL)
    kernel->may_race = tj_evaluate_truth(scope, move->option[OPTION_MAY_RACE]->item[0], "may_race");
  kernel->scale = number_option(scope, move, OPTION_SCALE, 1);
  kernel->bias = number_option(scope, move, OPTION_BIAS, 0);
}

/* Of options that exclude each other, the one that was given. */
static option exclusive_option(tj_scope *scope, const movement *move, const option among[], uint32_t count) {
  option given = OPTION_COUNT;
  for (uint32_t i = 0; i < count; i++) {
    if (move->option[among[i]] == NULL)
      continue;
    if (given != OPTION_COUNT)
      tj_fail_at(scope->job, move->option[among[i]]->span, TJ_UNKNOWN_ARGUMENT, "copy takes %s or %s, not both",
                 option_rows[given].name, option_rows[among[i]].name);
    given = among[i];
  }
  return given;
}

static const tj_mapping *need_mapping(tj_scope *scope, const tj_value *value) {
  if (value->kind != TJ_VALUE_MAPPING)
    tj_fail_type(scope->job, value, "mapping", "a mapping");
  return value->mapping;
}

static void evaluate_copy(tj_scope *scope, tj_kernel_definition *kernel, const tj_ast *body) {
  static const option sharing[] = {OPTION_MAPPING, OPTION_THROUGH};
  static const option travelling[] = {OPTION_GATHER, OPTION_SCATTER, OPTION_SCATTER_ADD, OPTION_THROUGH};
  movement move = {"copy", OF_COPY, body, {NULL}};
  evaluate_movement(scope, kernel, &move);
  option which = exclusive_option(scope, &move, travelling, sizeof travelling / sizeof *travelling);
  if (which != OPTION_COUNT && which != OPTION_THROUGH)
    set_indices(scope, kernel, move.option[which]);
  kernel->scatter = which == OPTION_SCATTER       ? TJ_SCATTER_STORES
                    : which == OPTION_SCATTER_ADD ? TJ_SCATTER_ADDS
                                                  : TJ_SCATTER_NONE;
  option how = exclusive_option(scope, &move, sharing, sizeof sharing / sizeof *sharing);
  if (how == OPTION_COUNT)
    return;
  kernel->load_span = kernel->store_span = move.option[how]->span;
  if (how == OPTION_MAPPING) {
    kernel->mapping = need_mapping(scope, option_value(scope, &move, OPTION_MAPPING));
    return;
  }
  const tj_distribution *through = distribution_option(scope, &move, OPTION_THROUGH);
  kernel->mapping = tj_mapping_of_distributions(scope->graph, through, through);
}

static int64_t thread_count(const tj_distribution *distribution) {
  int64_t count = 1;
  for (uint32_t p = 0; p < distribution->p_count; p++)
    count *= distribution->p_length[p];
  return count;
}

static const char *tile_text(tj_scope *scope, const tj_distribution *distribution) {
  return tj_tuple_text(scope->job, tj_tuple_constants(scope->graph, distribution->x_length, distribution->x_count));
}

static bool same_tile(const tj_distribution *a, const tj_distribution *b) {
  if (a->x_count != b->x_count)
    return false;
  for (uint32_t i = 0; i < a->x_count; i++) {
    if (a->x_length[i] != b->x_length[i])
      return false;
  }
  return true;
}

static void check_shuffle(tj_scope *scope, const tj_distribution *from, const tj_distribution *to) {
  if (!same_tile(from, to))
    tj_fail(scope->job, TJ_SHUFFLE_MISMATCH, "from has tiles of %s, to has tiles of %s", tile_text(scope, from),
            tile_text(scope, to));
  if (thread_count(from) != thread_count(to))
    tj_fail(scope->job, TJ_SHUFFLE_MISMATCH, "from is shared out among %" PRId64 " threads, to among %" PRId64,
            thread_count(from), thread_count(to));
}

static void evaluate_shuffle(tj_scope *scope, tj_kernel_definition *kernel, const tj_ast *body) {
  movement move = {"shuffle", OF_SHUFFLE, body, {NULL}};
  evaluate_movement(scope, kernel, &move);
  scope->job->here = body->span;
  for (option which = OPTION_FROM; which <= OPTION_TO; which++) {
    if (move.option[which] == NULL)
      tj_fail(scope->job, TJ_WRONG_ARITY, "shuffle needs %s=…, a distribution", option_rows[which].name);
  }
  const tj_distribution *from = distribution_option(scope, &move, OPTION_FROM);
  const tj_distribution *to = distribution_option(scope, &move, OPTION_TO);
  kernel->load_span = move.option[OPTION_FROM]->span;
  kernel->store_span = move.option[OPTION_TO]->span;
  check_shuffle(scope, from, to);
  kernel->mapping = tj_mapping_of_distributions(scope->graph, from, to);
}

/* --- kernels --- */

static void evaluate_offsets(tj_scope *scope, tj_kernel_definition *kernel, const tj_ast *body) {
  if (body->count < 3)
    tj_fail(scope->job, TJ_WRONG_ARITY, "offsets takes a destination and a view");
  kernel->body = TJ_BODY_OFFSETS;
  kernel->destination = find_argument(scope, kernel, body->item[1]);
  kernel->map = tj_evaluate_expression(scope, body->item[2]);
  scope->job->here = body->item[2]->span;
  if (kernel->map->kind != TJ_VALUE_WALK)
    need_operand(scope->job, kernel->map, "the second argument of offsets");
  kernel->walk = tj_evaluate_walk(scope, kernel->map, body, &kernel->may_race);
  if (kernel->walk != NULL)
    kernel->map = tj_value_of_view(scope->graph, kernel->walk->view);
}

static bool is_call_of(const tj_ast *body, const char *name) {
  return body->kind == TJ_AST_APPLY && body->item[0]->kind == TJ_AST_NAME && strcmp(body->item[0]->name, name) == 0;
}

static void check_views(tj_scope *scope, const tj_item *item) {
  for (uint32_t i = 0; i < item->argument_count; i++) {
    if (item->argument[i].view == NULL)
      tj_fail_at(scope->job, item->argument[i].span, TJ_KERNEL_ARGUMENT,
                 "argument '%s' is a number, which only statements use", item->argument[i].name);
  }
}

static void evaluate_arrays(tj_scope *scope, tj_kernel_definition *kernel, const tj_item *item,
                            tj_kernel_argument arguments[]) {
  kernel->body = TJ_BODY_ARRAYS;
  kernel->body_span = item->span;
  kernel->arrays = tj_evaluate_statements(scope, kernel, item, arguments);
  kernel->destination = kernel->arrays->store[0].argument;
  if (item->mapping == NULL)
    return;
  const tj_value *value = tj_evaluate_expression(scope, item->mapping);
  kernel->load_span = kernel->store_span = scope->job->here = item->mapping->span;
  kernel->mapping = need_mapping(scope, value);
}

tj_kernel_definition tj_evaluate_kernel(tj_scope *scope, const tj_item *item) {
  tj_kernel_definition kernel = {.name = item->name, .indices = TJ_NO_ARGUMENT, .span = item->span};
  tj_kernel_argument *arguments = evaluate_arguments(scope, item);
  kernel.argument = arguments;
  kernel.argument_count = item->argument_count;
  if (item->body == NULL) {
    evaluate_arrays(scope, &kernel, item, arguments);
    check_all_used(scope, &kernel);
    return kernel;
  }
  check_views(scope, item);
  kernel.body_span = scope->job->here = item->body->span;
  if (is_call_of(item->body, "copy"))
    evaluate_copy(scope, &kernel, item->body);
  else if (is_call_of(item->body, "offsets"))
    evaluate_offsets(scope, &kernel, item->body);
  else if (is_call_of(item->body, "shuffle"))
    evaluate_shuffle(scope, &kernel, item->body);
  else
    tj_fail(scope->job, TJ_KERNEL_BODY,
            "the body of kernel '%s' is none of copy(…), shuffle(…), offsets(…) and { statements }", item->name);
  check_all_used(scope, &kernel);
  return kernel;
}
