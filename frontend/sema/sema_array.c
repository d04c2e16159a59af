/* SPDX-License-Identifier: MIT */
/* What the statements of a kernel mean: arrays by name, destinations and what goes there.
 *
 * Names are, in this order, those that let gives in the body, arguments of the kernel, and what the program defines:
 * integers, and functions, whose bodies are then arrays of their parameters. An argument that has been written stands
 * for what was stored, rounded to its type. */
#include "frontend/names/spelling.h"
#include "frontend/sema/sema.h"
#include "ir/array/array.h"
#include "ir/layout/arith.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  const char *name;
  const tj_array *array;
} named_array;

/* Where names are looked up: a body of statements, or a function that is called there. */
typedef struct frame {
  tj_graph *graph;
  tj_job *job;
  tj_array_program *program;
  tj_scope *scope; /* what the program defines */
  named_array *name;
  uint32_t count;
  uint32_t depth;        /* of calls */
  const tj_item *kernel; /* NULL in functions */
  const tj_kernel_definition *definition;
  tj_kernel_argument *argument; /* of the kernel */
  const tj_array **buffer;      /* by argument: what its name stands for; NULL: not mentioned yet */
} frame;

static const tj_array *evaluate(frame *f, const tj_ast *ast);

/* --- arguments --- */

static tj_dtype dtype_of(frame *f, const tj_kernel_argument *argument) {
  tj_dtype dtype;
  if (!tj_dtype_find(argument->dtype, &dtype))
    tj_fail_at(f->job, argument->dtype_span, TJ_UNKNOWN_DTYPE, "there is no element type '%s'", argument->dtype);
  if (tj_dtype_class_of(dtype) == TJ_CLASS_BITS)
    tj_fail_at(f->job, argument->dtype_span, TJ_NO_CONVERSION, "elements of %s are bits, not numbers",
               argument->dtype);
  return dtype;
}

static const tj_tuple *shape_of(tj_graph *graph, const tj_value *view) {
  return view->kind == TJ_VALUE_VIEW ? tj_view_lengths(graph, view->view) : tj_value_layout(view)->shape;
}

static uint32_t rank_of(frame *f, uint32_t number) {
  return tj_tuple_rank(shape_of(f->graph, f->argument[number].view));
}

static const tj_node **extents_of(frame *f, uint32_t number) {
  const tj_tuple *shape = shape_of(f->graph, f->argument[number].view);
  uint32_t rank = tj_tuple_rank(shape);
  const tj_node **extent = TJ_NEW_ARRAY(f->job, const tj_node *, rank + 1);
  if (rank > TJ_ARRAY_MOST_MODES)
    tj_fail_at(f->job, f->argument[number].span, TJ_WORK_LIMIT, "an array has at most %d modes", TJ_ARRAY_MOST_MODES);
  for (uint32_t i = 0; i < rank; i++)
    extent[i] = tj_tuple_product(f->graph, tj_tuple_mode(shape, i));
  return extent;
}

static const tj_array *buffer_array(frame *f, uint32_t number) {
  const tj_kernel_argument *argument = &f->argument[number];
  return tj_array_buffer(f->graph, f->program, number, argument->name, dtype_of(f, argument), extents_of(f, number),
                         rank_of(f, number));
}

/* A number of the launch: a symbol that has its bits. */
static const tj_array *scalar_array(frame *f, const tj_kernel_argument *argument) {
  tj_dtype dtype = dtype_of(f, argument);
  if (dtype != TJ_DTYPE_f32 && dtype != TJ_DTYPE_f64)
    tj_fail_at(f->job, argument->dtype_span, TJ_KERNEL_ARGUMENT,
               "numbers of a launch are f32 or f64; '%s' is %s, and an integer is a parameter", argument->name,
               argument->dtype);
  const tj_node *symbol =
      tj_symbol_declare(f->graph, (tj_symbol){.name = argument->name, .kind = TJ_SYMBOL_PARAMETER, .multiple = 1});
  return tj_array_scalar(f->graph, f->program, symbol, dtype);
}

static const tj_array *argument_array(frame *f, uint32_t number) {
  tj_kernel_argument *argument = &f->argument[number];
  if (f->buffer[number] == NULL) {
    f->buffer[number] = argument->view != NULL ? buffer_array(f, number) : scalar_array(f, argument);
    argument->is_read = true;
  }
  return f->buffer[number];
}

/* --- names --- */

static const tj_array *array_of_value(frame *f, const tj_value *value) {
  return tj_array_integer(f->graph, f->program, tj_need_node(f->graph, value, "a number"));
}

static uint32_t find_argument(const frame *f, const char *name) {
  uint32_t i = 0;
  while (i < f->kernel->argument_count && strcmp(f->argument[i].name, name) != 0)
    i++;
  return i;
}

static const named_array *find_name(const frame *f, const char *name) {
  for (uint32_t i = f->count; i-- > 0;) {
    if (strcmp(f->name[i].name, name) == 0)
      return &f->name[i];
  }
  return NULL;
}

static bool is_later(const frame *f, const char *name) {
  for (uint32_t i = 0; f->kernel != NULL && i < f->kernel->statement_count; i++) {
    if (f->kernel->statement[i].is_let && strcmp(f->kernel->statement[i].name, name) == 0)
      return true;
  }
  return false;
}

static const tj_array *evaluate_name(frame *f, const tj_ast *ast) {
  const named_array *own = find_name(f, ast->name);
  if (own != NULL)
    return own->array;
  uint32_t argument = f->kernel != NULL ? find_argument(f, ast->name) : 0;
  if (f->kernel != NULL && argument < f->kernel->argument_count)
    return argument_array(f, argument);
  const tj_binding *binding = tj_scope_find(f->scope, ast->name);
  if (binding != NULL && binding->value != NULL)
    return array_of_value(f, binding->value);
  if (is_later(f, ast->name)) {
    tj_note(f->job, "put the let before the statements that use it");
    tj_fail(f->job, TJ_UNKNOWN_NAME, "'%s' is used before it is defined", ast->name);
  }
  tj_fail_unknown_name(f->job, ast->name);
}

/* --- functions --- */

static void check_arity(frame *f, const tj_ast *ast, uint32_t least, uint32_t most) {
  uint32_t count = ast->count - 1;
  for (uint32_t i = 1; i < ast->count; i++) {
    if (ast->item[i]->kind == TJ_AST_NAMED)
      tj_fail_at(f->job, ast->item[i]->span, TJ_UNKNOWN_ARGUMENT, "%s has no argument '%s'", ast->item[0]->name,
                 ast->item[i]->name);
  }
  if (count < least || count > most)
    tj_fail(f->job, TJ_WRONG_ARITY, "%s got %" PRIu32 " argument%s", ast->item[0]->name, count,
            count == 1 ? "" : "s");
}

/* The number of a mode, whether there is one or not; what fails from here on fails there. */
static int64_t constant_mode(frame *f, const tj_ast *ast) {
  const tj_value *value = tj_evaluate_expression(f->scope, ast);
  f->job->here = ast->span;
  return tj_need_constant(f->graph, value, "a mode");
}

static uint32_t evaluate_mode(frame *f, const tj_ast *ast, uint32_t rank) {
  const int64_t mode = constant_mode(f, ast);
  if (mode < 0 || mode >= rank)
    tj_fail(f->job, TJ_ARRAY_REDUCTION, "there is no mode %" PRId64 " of %" PRIu32, mode, rank);
  return (uint32_t)mode;
}

/* Whether indices do not have their extents yet (tj_evaluate_statements). */
static bool is_sketch(const frame *f) {
  return f->program->rank == 0 && f->program->index_modes != 0;
}

/* Modes of one element are as they would be afterwards. */
static uint64_t evaluate_modes(frame *f, const tj_ast *ast, const tj_array *array) {
  uint64_t modes = 0;
  if (array->rank == 0 && is_sketch(f))
    return 0;
  if (array->rank == 0)
    tj_fail(f->job, TJ_ARRAY_REDUCTION, "%s of a number, which has no modes", ast->item[0]->name);
  for (uint32_t i = 2; i < ast->count; i++)
    modes |= (uint64_t)1 << evaluate_mode(f, ast->item[i], array->rank);
  if (ast->count == 2)
    modes = ((uint64_t)1 << array->rank) - 1;
  for (uint32_t i = 0; i < array->rank; i++) {
    if (tj_is_int(array->extent[i], 1))
      modes &= ~((uint64_t)1 << i);
  }
  f->job->here = ast->span;
  return modes;
}

static const tj_array *reduced(frame *f, const tj_ast *ast, tj_array_op op, uint64_t *modes) {
  check_arity(f, ast, 1, TJ_ARRAY_MOST_MODES + 1);
  const tj_array *array = evaluate(f, ast->item[1]);
  f->job->here = ast->span;
  *modes = evaluate_modes(f, ast, array);
  if (*modes != 0 && f->program->reduced != 0 && f->program->reduced != *modes)
    tj_fail(f->job, TJ_ARRAY_REDUCTION, "%s is over other modes than a reduction before it", ast->item[0]->name);
  return tj_array_reduce(f->graph, f->program, op, array, *modes);
}

static const tj_array *evaluate_sum(frame *f, const tj_ast *ast) {
  uint64_t modes;
  return reduced(f, ast, TJ_ARRAY_SUM, &modes);
}

static const tj_array *evaluate_mean(frame *f, const tj_ast *ast) {
  uint64_t modes;
  const tj_array *sum = reduced(f, ast, TJ_ARRAY_SUM, &modes);
  const tj_node *count = tj_int(f->graph, 1);
  for (uint64_t left = modes; left != 0; left &= left - 1)
    count = tj_terse_mul(f->graph, count, sum->arg[0]->extent[__builtin_ctzll(left)]);
  const tj_array *part[] = {sum, tj_array_integer(f->graph, f->program, count)};
  return modes == 0 ? sum : tj_array_apply(f->graph, f->program, TJ_ARRAY_div, part);
}

static _Noreturn void fail_index(frame *f, tj_span at, int64_t mode) {
  tj_note(f->job, "index(k) is the place of each element along mode k, the first of which is 0");
  tj_fail_at(f->job, at, TJ_ARRAY_REDUCTION, "the arrays have no mode %" PRId64, mode);
}

/* How many modes the arrays have is known behind all statements. */
static const tj_array *evaluate_index(frame *f, const tj_ast *ast) {
  check_arity(f, ast, 1, 1);
  const int64_t mode = constant_mode(f, ast->item[1]);
  if (mode < 0 || mode >= TJ_ARRAY_MOST_MODES)
    fail_index(f, ast->item[1]->span, mode);
  return tj_array_index(f->graph, f->program, (uint32_t)mode);
}

static const tj_array *apply_row(frame *f, const tj_ast *ast, tj_array_op op) {
  const tj_array *argument[TJ_ARRAY_MOST_ARGUMENTS];
  uint32_t arity = tj_array_arity(op);
  check_arity(f, ast, arity, arity);
  for (uint32_t i = 0; i < arity; i++)
    argument[i] = evaluate(f, ast->item[1 + i]);
  f->job->here = ast->span;
  return tj_array_apply(f->graph, f->program, op, argument);
}

/* Whether an argument is an integer: a mode, where arrays might be. */
static bool is_mode(frame *f, const tj_ast *ast) {
  switch (ast->kind) {
  case TJ_AST_INTEGER:
    return true;
  case TJ_AST_NEGATE:
  case TJ_AST_GROUP:
    return is_mode(f, ast->item[0]);
  case TJ_AST_TUPLE:
    return ast->count == 1 && is_mode(f, ast->item[0]);
  case TJ_AST_BINARY:
    return is_mode(f, ast->item[0]) && is_mode(f, ast->item[1]);
  default:
    break;
  }
  if (ast->kind != TJ_AST_NAME || find_name(f, ast->name) != NULL)
    return false;
  bool is_argument = f->kernel != NULL && find_argument(f, ast->name) < f->kernel->argument_count;
  const tj_binding *binding = is_argument ? NULL : tj_scope_find(f->scope, ast->name);
  return binding != NULL && binding->value != NULL;
}

static const tj_array *extremum(frame *f, const tj_ast *ast, tj_array_op of_two, tj_array_op of_many) {
  uint64_t modes;
  if (ast->count == 3 && !is_mode(f, ast->item[2]))
    return apply_row(f, ast, of_two);
  return reduced(f, ast, of_many, &modes);
}

static const tj_array *evaluate_max(frame *f, const tj_ast *ast) {
  return extremum(f, ast, TJ_ARRAY_max, TJ_ARRAY_LARGEST);
}

static const tj_array *evaluate_min(frame *f, const tj_ast *ast) {
  return extremum(f, ast, TJ_ARRAY_min, TJ_ARRAY_SMALLEST);
}

/* The body of a function of the program, of arrays. */
static const tj_array *call_function(frame *f, const tj_ast *ast, const struct tj_function *function) {
  enum { MOST_DEPTH = 64 };
  const tj_item *item = tj_function_item(function);
  tj_scope outer = *tj_function_scope(function);
  frame body = {.graph = f->graph, .job = f->job, .program = f->program, .scope = &outer, .depth = f->depth + 1};
  body.name = TJ_NEW_ARRAY(f->job, named_array, item->parameter_count + 1);
  if (body.depth > MOST_DEPTH)
    tj_fail(f->job, TJ_DEPTH_LIMIT, "calls of functions nested more than %d levels deep", MOST_DEPTH);
  const tj_ast **given = TJ_NEW_ARRAY(f->job, const tj_ast *, item->parameter_count + 1);
  tj_function_arguments(f->job, function, ast, given);
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    const tj_array *array =
        given[i] != NULL ? evaluate(f, given[i]) : array_of_value(f, tj_function_otherwise(function, i));
    body.name[body.count++] = (named_array){item->parameter[i].name, array};
  }
  const tj_open_call call = tj_function_open(f->job, function, ast);
  f->job->calls = &call;
  const tj_array *array = evaluate(&body, item->body);
  tj_function_close(f->job, &call);
  return array;
}

static const tj_array *evaluate_cast(frame *f, const tj_ast *ast, tj_dtype dtype) {
  check_arity(f, ast, 1, 1);
  if (tj_dtype_class_of(dtype) == TJ_CLASS_BITS)
    tj_fail(f->job, TJ_NO_CONVERSION, "elements of %s are bits, not numbers", ast->item[0]->name);
  return tj_array_cast(f->graph, f->program, evaluate(f, ast->item[1]), dtype);
}

/* --- indices --- */

/* The indices of an argument, which become read: [indices, dimension], or indices of dimension 0. */
static tj_indexed find_indices(frame *f, const char *name, const tj_ast *ast, uint32_t argument) {
  tj_indexed indexed = tj_evaluate_indices(f->scope, f->definition, name, ast);
  uint32_t rank = rank_of(f, argument);
  if (f->argument[indexed.argument].view == NULL)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "%s: '%s' is a number, and indices are a buffer", name,
            f->argument[indexed.argument].name);
  if (indexed.dimension >= rank)
    tj_fail(f->job, TJ_DOMAIN_MISMATCH, "%s: there is no dimension %" PRIu32 " of %" PRIu32, name, indexed.dimension,
            rank);
  f->argument[indexed.argument].is_read = true;
  return indexed;
}

/* An argument's extents where indices say which elements along a dimension are meant: as many as there are. */
static const tj_node **indexed_extents(frame *f, uint32_t argument, uint32_t indices, uint32_t dimension) {
  const tj_node **extent = extents_of(f, argument);
  extent[dimension] = tj_tuple_product(f->graph, shape_of(f->graph, f->argument[indices].view));
  return extent;
}

static uint32_t find_gathered(frame *f, const tj_ast *ast) {
  uint32_t argument = f->kernel == NULL || ast->kind != TJ_AST_NAME ? 0 : find_argument(f, ast->name);
  f->job->here = ast->span;
  if (f->kernel == NULL || ast->kind != TJ_AST_NAME || argument == f->kernel->argument_count)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "gather, in a kernel's body, reads one of its arguments by name");
  if (f->argument[argument].view == NULL)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "gather: '%s' is a number, and has no elements", ast->name);
  return argument;
}

static const tj_array *add_gather(frame *f, tj_array_gather gather) {
  tj_array_program *program = f->program;
  const tj_kernel_argument *argument = &f->argument[gather.argument];
  const char *name = tj_string_format(f->job, "gather(%s, [%s, %" PRIu32 "])", argument->name,
                                      f->argument[gather.indices].name, gather.dimension);
  if (program->gather == NULL)
    program->gather = TJ_NEW_ARRAY(f->job, tj_array_gather, TJ_ARRAY_MOST);
  gather.array = tj_array_buffer(
      f->graph, program, f->kernel->argument_count + program->gather_count, name, dtype_of(f, argument),
      indexed_extents(f, gather.argument, gather.indices, gather.dimension), rank_of(f, gather.argument));
  program->gather[program->gather_count++] = gather;
  return gather.array;
}

/* gather(argument, indices), or gather(argument, [indices, dimension]) */
static const tj_array *evaluate_gather(frame *f, const tj_ast *ast) {
  check_arity(f, ast, 2, 2);
  uint32_t argument = find_gathered(f, ast->item[1]);
  f->job->here = ast->span;
  tj_indexed indexed = find_indices(f, "gather", ast->item[2], argument);
  f->argument[argument].is_read = true;
  for (uint32_t i = 0; i < f->program->gather_count; i++) {
    const tj_array_gather *other = &f->program->gather[i];
    if (other->argument == argument && other->indices == indexed.argument && other->dimension == indexed.dimension)
      return other->array;
  }
  return add_gather(f, (tj_array_gather){argument, indexed.argument, indexed.dimension, NULL, ast->span});
}

/* --- applications --- */

typedef struct {
  const char *name;
  const tj_array *(*evaluate)(frame *, const tj_ast *);
} word;

/* What is not computed element by element. */
static const word words[] = {{"sum", evaluate_sum}, {"mean", evaluate_mean},   {"max", evaluate_max},
                             {"min", evaluate_min}, {"index", evaluate_index}, {"gather", evaluate_gather}};

static const word *find_word(const char *name) {
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcmp(words[i].name, name) == 0)
      return &words[i];
  }
  return NULL;
}

bool tj_is_array_function(const char *name) {
  tj_array_op op;
  tj_dtype dtype;
  return find_word(name) != NULL || tj_dtype_find(name, &dtype) || tj_array_find_function(name, 0, &op);
}

static const tj_array *evaluate_application(frame *f, const tj_ast *ast) {
  const char *name = ast->item[0]->kind == TJ_AST_NAME ? ast->item[0]->name : NULL;
  tj_array_op op;
  tj_dtype dtype;
  if (name == NULL)
    tj_fail(f->job, TJ_WRONG_TYPE, "only functions are applied in statements of arrays");
  const tj_binding *binding = tj_scope_find(f->scope, name);
  if (binding != NULL && binding->function != NULL)
    return call_function(f, ast, binding->function);
  const word *own = find_word(name);
  if (own != NULL)
    return own->evaluate(f, ast);
  if (tj_dtype_find(name, &dtype))
    return evaluate_cast(f, ast, dtype);
  if (tj_array_find_function(name, 0, &op))
    return apply_row(f, ast, op);
  tj_fail_unknown_function(f->job, name);
}

/* --- operators --- */

static bool find_operator(const tj_ast *ast, tj_array_op *op) {
  return ast->kind == TJ_AST_BINARY && tj_array_find_function(tj_operator_text(ast->op), 2, op);
}

/* A chain, which may be as long as the text, from its leftmost operand on. */
static const tj_array *evaluate_chain(frame *f, const tj_ast *ast) {
  size_t length = 0;
  tj_array_op op;
  for (const tj_ast *left = ast; find_operator(left, &op); left = left->item[0])
    length++;
  const tj_ast **chain = TJ_NEW_ARRAY(f->job, const tj_ast *, length);
  for (size_t i = length; i-- > 0; ast = ast->item[0])
    chain[i] = ast;
  const tj_array *part[2] = {evaluate(f, ast), NULL};
  for (size_t i = 0; i < length; i++) {
    part[1] = evaluate(f, chain[i]->item[1]);
    f->job->here = chain[i]->span;
    (void)find_operator(chain[i], &op);
    part[0] = tj_array_apply(f->graph, f->program, op, part);
  }
  return part[0];
}

static const tj_array *evaluate(frame *f, const tj_ast *ast) {
  tj_array_op op;
  tj_spend(f->job, 1);
  f->job->here = ast->span;
  switch (ast->kind) {
  case TJ_AST_INTEGER:
  case TJ_AST_DECIMAL:
    return tj_array_number(f->graph, f->program, tj_evaluate_number(f->scope, ast, "a number").real);
  case TJ_AST_NAME:
    return evaluate_name(f, ast);
  case TJ_AST_GROUP:
    return evaluate(f, ast->item[0]);
  case TJ_AST_APPLY:
    return evaluate_application(f, ast);
  case TJ_AST_NEGATE: {
    const tj_array *argument = evaluate(f, ast->item[0]);
    return tj_array_apply(f->graph, f->program, TJ_ARRAY_neg, &argument);
  }
  case TJ_AST_TUPLE:
    if (ast->count == 1)
      return evaluate(f, ast->item[0]);
    break;
  case TJ_AST_BINARY:
    if (find_operator(ast, &op))
      return evaluate_chain(f, ast);
    tj_fail(f->job, TJ_WRONG_TYPE, "arrays have the operators + - * /, not '%s'", tj_operator_text(ast->op));
  default:
    break;
  }
  tj_fail(f->job, TJ_WRONG_TYPE, "an array or a number is needed here");
}

/* --- statements --- */

static void define(frame *f, const tj_ast_statement *statement) {
  f->job->here = statement->option != NULL ? statement->option->span : statement->name_span;
  if (statement->option != NULL)
    tj_fail(f->job, TJ_UNKNOWN_ARGUMENT, "let has no argument '%s'", statement->option->name);
  if (find_name(f, statement->name) != NULL || find_argument(f, statement->name) < f->kernel->argument_count)
    tj_fail(f->job, TJ_REDEFINED_NAME, "'%s' is already defined", statement->name);
  const tj_array *array = evaluate(f, statement->value);
  f->name[f->count++] = (named_array){statement->name, array};
}

static void check_destination(frame *f, uint32_t number, const tj_ast_statement *statement) {
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
static void set_indices(frame *f, const tj_ast *option, tj_array_store *store) {
  f->job->here = option->span;
  store->is_indexed = true;
  store->adds = strcmp(option->name, "scatter_add") == 0;
  if (!store->adds && strcmp(option->name, "scatter") != 0) {
    tj_note(f->job, "it may have scatter=indices or scatter_add=indices; a mapping stands behind the braces");
    tj_fail(f->job, TJ_UNKNOWN_ARGUMENT, "a statement has no argument '%s'", option->name);
  }
  tj_indexed indexed = find_indices(f, option->name, option->item[0], store->argument);
  store->indices = indexed.argument;
  store->dimension = indexed.dimension;
}

/* An argument by the coordinates that statements speak of: it has as many along a dimension as there are indices. */
static const tj_array *addressed_array(frame *f, uint32_t number) {
  const tj_array *own = buffer_array(f, number);
  const tj_array_store *indexed = tj_array_indexed_store(f->program, number);
  if (indexed == NULL)
    return own;
  tj_array *array = tj_arena_copy(&f->job->arena, own, sizeof *own);
  array->extent = indexed_extents(f, number, indexed->indices, indexed->dimension);
  return array;
}

static void check_only_read(frame *f, uint32_t indices) {
  if (f->argument[indices].is_written)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "indices are an argument of their own; '%s' is written",
            f->argument[indices].name);
}

/* Which elements are loaded or stored only the launch knows, so that nothing else of the kernel can be about them. */
static void check_indices(frame *f) {
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

static void store(frame *f, const tj_ast_statement *statement) {
  tj_array_store *made = &f->program->store[f->program->store_count];
  uint32_t number = find_argument(f, statement->name);
  check_destination(f, number, statement);
  const tj_array *value = evaluate(f, statement->value);
  *made = (tj_array_store){.argument = number, .value = value, .span = statement->span};
  if (statement->option != NULL)
    set_indices(f, statement->option, made);
  f->program->store_count++;
  const tj_array *own = addressed_array(f, number);
  f->job->here = statement->span;
  if (!tj_array_fits(f->graph, made->value, own->extent, own->rank))
    tj_fail(f->job, TJ_ARRAY_DOMAIN, "'%s' has the shape %s, and is to be an array of shape %s", statement->name,
            tj_array_shape_text(f->graph, own), tj_array_shape_text(f->graph, made->value));
  f->argument[number].is_written = true;
  made->value = tj_array_saturating(f->graph, f->program, made->value, own->dtype);
  if (!made->is_indexed)
    f->buffer[number] = tj_array_stored(f->graph, f->program, made->value, own->dtype, own->extent, own->rank);
}

/* --- the shape of all --- */

static void join_extent(frame *f, const tj_kernel_argument *argument, const tj_array *array, uint32_t mode) {
  const tj_node **own = &f->program->extent[mode], *other = array->extent[mode];
  if (tj_is_int(*own, 1))
    *own = other;
  else if (!tj_is_int(other, 1) && !tj_surely_equal(f->graph, *own, other))
    tj_fail_at(f->job, argument->span, TJ_ARRAY_DOMAIN,
               "'%s' has the extent %s in mode %" PRIu32 ", an argument before it %s", array->name,
               tj_describe(f->graph, other), mode, tj_describe(f->graph, *own));
}

/* Indices are no arrays, unless a statement mentions them, too. */
static bool is_array(const frame *f, uint32_t argument) {
  return f->argument[argument].view != NULL && (f->buffer[argument] != NULL || f->argument[argument].is_written);
}

static void join_shape(frame *f, const tj_kernel_argument *argument, const tj_array *array) {
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
static void join_shapes(frame *f) {
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
static bool is_its_own_affair(const frame *f, const tj_array *array) {
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
static void check_in_place(frame *f) {
  for (uint32_t i = 0; i < f->kernel->argument_count; i++) {
    if (!f->argument[i].is_read || !f->argument[i].is_written || is_its_own_affair(f, buffer_array(f, i)))
      continue;
    const tj_array *array = buffer_array(f, i);
    for (uint32_t m = 0; m < array->rank; m++) {
      if (!tj_surely_equal(f->graph, array->extent[m], f->program->extent[m]))
        tj_fail_at(f->job, f->argument[i].span, TJ_ARRAY_STATEMENT,
                   "'%s' is read by others while it is written, and does not have the shape of all arrays together",
                   f->argument[i].name);
    }
  }
}

static void check_index_modes(frame *f) {
  const uint64_t modes = f->program->index_modes;
  const uint32_t last = modes != 0 ? 63 - (uint32_t)__builtin_clzll(modes) : 0;
  if (modes != 0 && last >= f->program->rank)
    fail_index(f, f->kernel->span, last);
}

static void follow(frame *f) {
  const tj_item *item = f->kernel;
  f->name = TJ_NEW_ARRAY(f->job, named_array, item->statement_count + 1);
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

/* Statements once more, with indices of the extents that all arrays together were found to have. */
static void follow_with_extents(frame *f) {
  const tj_array_program *sketch = f->program;
  f->program = TJ_NEW(f->job, tj_array_program);
  f->program->rank = sketch->rank;
  f->program->extent = sketch->extent;
  follow(f);
}

const tj_array_program *tj_evaluate_statements(tj_scope *scope, const tj_kernel_definition *kernel,
                                               const tj_item *item, tj_kernel_argument argument[]) {
  frame f = {.graph = scope->graph,
             .job = scope->job,
             .program = TJ_NEW(scope->job, tj_array_program),
             .scope = scope,
             .kernel = item,
             .definition = kernel,
             .argument = argument};
  follow(&f);
  join_shapes(&f);
  check_index_modes(&f);
  if (f.program->index_modes != 0)
    follow_with_extents(&f);
  check_in_place(&f);
  f.job->here = TJ_NOWHERE;
  return f.program;
}
