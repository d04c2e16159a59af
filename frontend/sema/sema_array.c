/* SPDX-License-Identifier: MIT */
/* What expressions of arrays mean, in the bodies of kernels.
 *
 * Names are, in this order, those that let gives in the body, arguments of the kernel, and what the program defines:
 * integers, and functions, whose bodies are then arrays of their parameters. An argument that has been written stands
 * for what was stored, rounded to its type. */
#include "frontend/sema/sema_array.h"

#include "frontend/names/builtin.h"
#include "frontend/names/spelling.h"
#include "ir/layout/arith.h"

#include <inttypes.h>
#include <string.h>

/* --- arguments --- */

static tj_dtype dtype_of(tj_array_frame *f, const tj_kernel_argument *argument) {
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

static uint32_t rank_of(tj_array_frame *f, uint32_t number) {
  return tj_tuple_rank(shape_of(f->graph, f->argument[number].view));
}

static const tj_node **extents_of(tj_array_frame *f, uint32_t number) {
  const tj_tuple *shape = shape_of(f->graph, f->argument[number].view);
  uint32_t rank = tj_tuple_rank(shape);
  const tj_node **extent = TJ_NEW_ARRAY(f->job, const tj_node *, rank + 1);
  if (rank > TJ_ARRAY_MOST_MODES)
    tj_fail_at(f->job, f->argument[number].span, TJ_WORK_LIMIT, "an array has at most %d modes", TJ_ARRAY_MOST_MODES);
  for (uint32_t i = 0; i < rank; i++)
    extent[i] = tj_tuple_product(f->graph, tj_tuple_mode(shape, i));
  return extent;
}

const tj_array *tj_frame_buffer(tj_array_frame *f, uint32_t number) {
  const tj_kernel_argument *argument = &f->argument[number];
  return tj_array_buffer(f->graph, f->program, number, argument->name, dtype_of(f, argument), extents_of(f, number),
                         rank_of(f, number));
}

/* A number of the launch: a symbol that has its bits. */
static const tj_array *scalar_array(tj_array_frame *f, const tj_kernel_argument *argument) {
  tj_dtype dtype = dtype_of(f, argument);
  if (dtype != TJ_DTYPE_f32 && dtype != TJ_DTYPE_f64)
    tj_fail_at(f->job, argument->dtype_span, TJ_KERNEL_ARGUMENT,
               "numbers of a launch are f32 or f64; '%s' is %s, and an integer is a parameter", argument->name,
               argument->dtype);
  const tj_node *symbol =
      tj_symbol_declare(f->graph, (tj_symbol){.name = argument->name, .kind = TJ_SYMBOL_PARAMETER, .multiple = 1});
  return tj_array_scalar(f->graph, f->program, symbol, dtype);
}

static const tj_array *argument_array(tj_array_frame *f, uint32_t number) {
  tj_kernel_argument *argument = &f->argument[number];
  if (f->buffer[number] == NULL) {
    f->buffer[number] = argument->view != NULL ? tj_frame_buffer(f, number) : scalar_array(f, argument);
    argument->is_read = true;
  }
  return f->buffer[number];
}

/* --- names --- */

static const tj_array *array_of_value(tj_array_frame *f, const tj_value *value) {
  return tj_array_integer(f->graph, f->program, tj_need_node(f->graph, value, "a number"));
}

uint32_t tj_frame_argument(const tj_array_frame *f, const char *name) {
  uint32_t i = 0;
  while (i < f->kernel->argument_count && strcmp(f->argument[i].name, name) != 0)
    i++;
  return i;
}

const tj_named_array *tj_frame_name(const tj_array_frame *f, const char *name) {
  for (uint32_t i = f->count; i-- > 0;) {
    if (strcmp(f->name[i].name, name) == 0)
      return &f->name[i];
  }
  return NULL;
}

static bool is_later(const tj_array_frame *f, const char *name) {
  for (uint32_t i = 0; f->kernel != NULL && i < f->kernel->statement_count; i++) {
    if (f->kernel->statement[i].is_let && strcmp(f->kernel->statement[i].name, name) == 0)
      return true;
  }
  return false;
}

static _Noreturn void fail_unknown_name(const tj_array_frame *f, const char *name) {
  tj_misspelling of = tj_misspelling_of(name);
  for (uint32_t i = 0; i < f->count; i++)
    tj_misspelling_try(&of, f->name[i].name);
  for (uint32_t i = 0; f->kernel != NULL && i < f->kernel->argument_count; i++)
    tj_misspelling_try(&of, f->argument[i].name);
  tj_scope_try_names(f->scope, &of);
  tj_fail_unknown_name(f->job, &of);
}

static bool is_array_name(const tj_array_frame *f, const char *name) {
  return tj_frame_name(f, name) != NULL ||
         (f->kernel != NULL && tj_frame_argument(f, name) < f->kernel->argument_count);
}

static const tj_array *evaluate_name(tj_array_frame *f, const tj_ast *ast) {
  const tj_named_array *own = tj_frame_name(f, ast->name);
  if (own != NULL)
    return own->array;
  uint32_t argument = f->kernel != NULL ? tj_frame_argument(f, ast->name) : 0;
  if (f->kernel != NULL && argument < f->kernel->argument_count)
    return argument_array(f, argument);
  const tj_binding *binding = tj_scope_find(f->scope, ast->name);
  if (binding != NULL && binding->value != NULL)
    return array_of_value(f, binding->value);
  if (is_later(f, ast->name)) {
    tj_note(f->job, "put the let before the statements that use it");
    tj_fail(f->job, TJ_UNKNOWN_NAME, "'%s' is used before it is defined", ast->name);
  }
  fail_unknown_name(f, ast->name);
}

/* --- functions --- */

static void note_functions(tj_array_frame *f) {
  tj_note(f->job, "docs/arrays.md lists what statements are made of, and what each function takes");
}

static void check_arity(tj_array_frame *f, const tj_ast *ast, uint32_t least, uint32_t most) {
  uint32_t count = ast->count - 1;
  for (uint32_t i = 1; i < ast->count; i++) {
    if (ast->item[i]->kind == TJ_AST_NAMED)
      tj_fail_at(f->job, ast->item[i]->span, TJ_UNKNOWN_ARGUMENT, "%s has no argument '%s'", ast->item[0]->name,
                 ast->item[i]->name);
  }
  if (count < least || count > most) {
    note_functions(f);
    tj_fail(f->job, TJ_WRONG_ARITY, "%s got %" PRIu32 " argument%s", ast->item[0]->name, count,
            count == 1 ? "" : "s");
  }
}

/* The number of a mode, whether there is one or not; what fails from here on fails there. */
static int64_t constant_mode(tj_array_frame *f, const tj_ast *ast) {
  if (ast->kind == TJ_AST_NAME && is_array_name(f, ast->name))
    tj_fail_at(f->job, ast->span, TJ_WRONG_TYPE, "a mode is an integer, and '%s' an array", ast->name);
  const tj_value *value = tj_evaluate_expression(f->scope, ast);
  f->job->here = ast->span;
  return tj_need_constant(f->graph, value, "a mode");
}

static uint32_t evaluate_mode(tj_array_frame *f, const tj_ast *ast, uint32_t rank) {
  const int64_t mode = constant_mode(f, ast);
  if (mode < 0 || mode >= rank)
    tj_fail(f->job, TJ_ARRAY_REDUCTION, "there is no mode %" PRId64 " of %" PRIu32, mode, rank);
  return (uint32_t)mode;
}

/* Whether indices do not have their extents yet (tj_evaluate_statements). */
static bool is_sketch(const tj_array_frame *f) {
  return f->program->rank == 0 && f->program->index_modes != 0;
}

/* Modes of one element are as they would be afterwards. */
static uint64_t evaluate_modes(tj_array_frame *f, const tj_ast *ast, const tj_array *array) {
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

/* The modes of a kernel's reductions, of which the array has one element along those that are no modes of its own.
 * Where those of reductions so far are a part of its own ones, statements are followed once more. */
static uint64_t modes_of_all(tj_array_frame *f, const tj_ast *ast, const tj_array *array, uint64_t modes) {
  const uint64_t all = f->program->reduced;
  if (modes == 0 || all == 0)
    return modes;
  bool are_part = (modes & ~all) == 0;
  for (uint64_t left = all & ~modes; left != 0 && are_part; left &= left - 1)
    are_part = tj_is_int(array->extent[__builtin_ctzll(left)], 1);
  bool are_more = (all & ~modes) == 0;
  if (!are_part && !are_more)
    tj_fail(f->job, TJ_ARRAY_REDUCTION, "%s is over other modes than another reduction", ast->item[0]->name);
  return are_part ? all : modes;
}

/* The array at the first coordinate along some modes, and elsewhere -0, which changes no sum. */
static const tj_array *once_along(tj_array_frame *f, const tj_array *array, uint64_t modes) {
  const tj_array *zero = tj_array_number(f->graph, f->program, 0);
  for (; modes != 0; modes &= modes - 1) {
    const tj_array *index[] = {tj_array_index(f->graph, f->program, (uint32_t)__builtin_ctzll(modes)), zero};
    const tj_array *part[] = {tj_array_apply(f->graph, f->program, TJ_ARRAY_eq, index), array,
                              tj_array_number(f->graph, f->program, -0.0)};
    array = tj_array_apply(f->graph, f->program, TJ_ARRAY_select, part);
  }
  return array;
}

/* What is reduced, and over which modes; none: what has no other element along them. */
typedef struct {
  const tj_array *array;
  uint64_t modes;
} reduced_array;

static const tj_array *reduced(tj_array_frame *f, const tj_ast *ast, tj_array_op op, reduced_array *of) {
  check_arity(f, ast, 1, TJ_ARRAY_MOST_MODES + 1);
  of->array = tj_frame_evaluate(f, ast->item[1]);
  f->job->here = ast->span;
  of->modes = evaluate_modes(f, ast, of->array);
  const uint64_t all = modes_of_all(f, ast, of->array, of->modes);
  const bool is_sum = op == TJ_ARRAY_SUM;
  return tj_array_reduce(f->graph, f->program, op, is_sum ? once_along(f, of->array, all & ~of->modes) : of->array,
                         all);
}

static const tj_array *evaluate_sum(tj_array_frame *f, const tj_ast *ast) {
  return reduced(f, ast, TJ_ARRAY_SUM, &(reduced_array){0});
}

static const tj_array *evaluate_mean(tj_array_frame *f, const tj_ast *ast) {
  reduced_array of;
  const tj_array *sum = reduced(f, ast, TJ_ARRAY_SUM, &of);
  const tj_node *count = tj_int(f->graph, 1);
  for (uint64_t left = of.modes; left != 0; left &= left - 1)
    count = tj_terse_mul(f->graph, count, of.array->extent[__builtin_ctzll(left)]);
  const tj_array *part[] = {sum, tj_array_integer(f->graph, f->program, count)};
  return of.modes == 0 ? sum : tj_array_apply(f->graph, f->program, TJ_ARRAY_div, part);
}

_Noreturn void tj_frame_fail_index(tj_array_frame *f, tj_span at, int64_t mode) {
  tj_note(f->job, "index(k) is the place of each element along mode k, the first of which is 0");
  tj_fail_at(f->job, at, TJ_ARRAY_REDUCTION, "the arrays have no mode %" PRId64, mode);
}

/* How many modes the arrays have is known behind all statements. */
static const tj_array *evaluate_index(tj_array_frame *f, const tj_ast *ast) {
  check_arity(f, ast, 1, 1);
  const int64_t mode = constant_mode(f, ast->item[1]);
  if (mode < 0 || mode >= TJ_ARRAY_MOST_MODES)
    tj_frame_fail_index(f, ast->item[1]->span, mode);
  return tj_array_index(f->graph, f->program, (uint32_t)mode);
}

static const tj_array *apply_row(tj_array_frame *f, const tj_ast *ast, tj_array_op op) {
  const tj_array *argument[TJ_ARRAY_MOST_ARGUMENTS];
  uint32_t arity = tj_array_arity(op);
  check_arity(f, ast, arity, arity);
  for (uint32_t i = 0; i < arity; i++)
    argument[i] = tj_frame_evaluate(f, ast->item[1 + i]);
  f->job->here = ast->span;
  return tj_array_apply(f->graph, f->program, op, argument);
}

/* Whether an argument is an integer: a mode, where arrays might be. */
static bool is_mode(tj_array_frame *f, const tj_ast *ast) {
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
  if (ast->kind != TJ_AST_NAME || tj_frame_name(f, ast->name) != NULL)
    return false;
  bool is_argument = f->kernel != NULL && tj_frame_argument(f, ast->name) < f->kernel->argument_count;
  const tj_binding *binding = is_argument ? NULL : tj_scope_find(f->scope, ast->name);
  return binding != NULL && binding->value != NULL;
}

static const tj_array *extremum(tj_array_frame *f, const tj_ast *ast, tj_array_op of_two, tj_array_op of_many) {
  if (ast->count == 3 && !is_mode(f, ast->item[2]))
    return apply_row(f, ast, of_two);
  return reduced(f, ast, of_many, &(reduced_array){0});
}

static const tj_array *evaluate_max(tj_array_frame *f, const tj_ast *ast) {
  return extremum(f, ast, TJ_ARRAY_max, TJ_ARRAY_LARGEST);
}

static const tj_array *evaluate_min(tj_array_frame *f, const tj_ast *ast) {
  return extremum(f, ast, TJ_ARRAY_min, TJ_ARRAY_SMALLEST);
}

/* The body of a function of the program, of arrays. */
static const tj_array *call_function(tj_array_frame *f, const tj_ast *ast, const struct tj_function *function) {
  enum { MOST_DEPTH = 64 };
  const tj_item *item = tj_function_item(function);
  tj_scope outer = *tj_function_scope(function);
  tj_array_frame body = {
      .graph = f->graph, .job = f->job, .program = f->program, .scope = &outer, .depth = f->depth + 1};
  body.name = TJ_NEW_ARRAY(f->job, tj_named_array, item->parameter_count + 1);
  if (body.depth > MOST_DEPTH)
    tj_fail(f->job, TJ_DEPTH_LIMIT, "calls of functions nested more than %d levels deep", MOST_DEPTH);
  const tj_ast **given = TJ_NEW_ARRAY(f->job, const tj_ast *, item->parameter_count + 1);
  tj_function_arguments(f->job, function, ast, given);
  for (uint32_t i = 0; i < item->parameter_count; i++) {
    const tj_array *array =
        given[i] != NULL ? tj_frame_evaluate(f, given[i]) : array_of_value(f, tj_function_otherwise(function, i));
    body.name[body.count++] = (tj_named_array){item->parameter[i].name, array};
  }
  const tj_open_call call = tj_function_open(f->job, function, ast);
  f->job->calls = &call;
  const tj_array *array = tj_frame_evaluate(&body, item->body);
  tj_function_close(f->job, &call);
  return array;
}

static const tj_array *evaluate_cast(tj_array_frame *f, const tj_ast *ast, tj_dtype dtype) {
  check_arity(f, ast, 1, 1);
  if (tj_dtype_class_of(dtype) == TJ_CLASS_BITS)
    tj_fail(f->job, TJ_NO_CONVERSION, "elements of %s are bits, not numbers", ast->item[0]->name);
  return tj_array_cast(f->graph, f->program, tj_frame_evaluate(f, ast->item[1]), dtype);
}

/* --- indices --- */

tj_indexed tj_frame_indices(tj_array_frame *f, const char *name, const tj_ast *ast, uint32_t argument) {
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

const tj_node **tj_frame_extents(tj_array_frame *f, uint32_t argument, uint32_t indices, uint32_t dimension) {
  const tj_node **extent = extents_of(f, argument);
  extent[dimension] = tj_tuple_product(f->graph, shape_of(f->graph, f->argument[indices].view));
  return extent;
}

static uint32_t find_gathered(tj_array_frame *f, const tj_ast *ast) {
  uint32_t argument = f->kernel == NULL || ast->kind != TJ_AST_NAME ? 0 : tj_frame_argument(f, ast->name);
  f->job->here = ast->span;
  if (f->kernel == NULL || ast->kind != TJ_AST_NAME || argument == f->kernel->argument_count)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "gather, in a kernel's body, reads one of its arguments by name");
  if (f->argument[argument].view == NULL)
    tj_fail(f->job, TJ_KERNEL_ARGUMENT, "gather: '%s' is a number, and has no elements", ast->name);
  return argument;
}

static const tj_array *add_gather(tj_array_frame *f, tj_array_gather gather) {
  tj_array_program *program = f->program;
  const tj_kernel_argument *argument = &f->argument[gather.argument];
  const char *name = tj_string_format(f->job, "gather(%s, [%s, %" PRIu32 "])", argument->name,
                                      f->argument[gather.indices].name, gather.dimension);
  if (program->gather == NULL)
    program->gather = TJ_NEW_ARRAY(f->job, tj_array_gather, TJ_ARRAY_MOST);
  gather.array = tj_array_buffer(
      f->graph, program, f->kernel->argument_count + program->gather_count, name, dtype_of(f, argument),
      tj_frame_extents(f, gather.argument, gather.indices, gather.dimension), rank_of(f, gather.argument));
  program->gather[program->gather_count++] = gather;
  return gather.array;
}

/* gather(argument, indices), or gather(argument, [indices, dimension]) */
static const tj_array *evaluate_gather(tj_array_frame *f, const tj_ast *ast) {
  check_arity(f, ast, 2, 2);
  uint32_t argument = find_gathered(f, ast->item[1]);
  f->job->here = ast->span;
  tj_indexed indexed = tj_frame_indices(f, "gather", ast->item[2], argument);
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
  const tj_array *(*evaluate)(tj_array_frame *, const tj_ast *);
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

static _Noreturn void fail_unknown_function(const tj_array_frame *f, const char *name) {
  if (tj_builtin_find(name) != NULL) {
    tj_note(f->job, "let n = %s(…) outside of the kernel gives an integer that its statements may use", name);
    tj_fail(f->job, TJ_WRONG_TYPE, "%s is no function of arrays", name);
  }
  tj_misspelling of = tj_misspelling_of(name);
  for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
    tj_misspelling_try(&of, words[i].name);
  for (uint32_t op = 0; op < TJ_ARRAY_OP_COUNT; op++)
    tj_misspelling_try(&of, tj_array_op_name((tj_array_op)op));
  tj_scope_try_names(f->scope, &of);
  tj_fail_unknown_function(f->job, &of);
}

static const tj_array *evaluate_application(tj_array_frame *f, const tj_ast *ast) {
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
  fail_unknown_function(f, name);
}

/* --- operators --- */

static bool find_operator(const tj_ast *ast, tj_array_op *op) {
  return ast->kind == TJ_AST_BINARY && tj_array_find_function(tj_operator_text(ast->op), 2, op);
}

/* A chain, which may be as long as the text, from its leftmost operand on. */
static const tj_array *evaluate_chain(tj_array_frame *f, const tj_ast *ast) {
  size_t length = 0;
  tj_array_op op;
  for (const tj_ast *left = ast; find_operator(left, &op); left = left->item[0])
    length++;
  const tj_ast **chain = TJ_NEW_ARRAY(f->job, const tj_ast *, length);
  for (size_t i = length; i-- > 0; ast = ast->item[0])
    chain[i] = ast;
  const tj_array *part[2] = {tj_frame_evaluate(f, ast), NULL};
  for (size_t i = 0; i < length; i++) {
    part[1] = tj_frame_evaluate(f, chain[i]->item[1]);
    f->job->here = chain[i]->span;
    (void)find_operator(chain[i], &op);
    part[0] = tj_array_apply(f->graph, f->program, op, part);
  }
  return part[0];
}

const tj_array *tj_frame_evaluate(tj_array_frame *f, const tj_ast *ast) {
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
    return tj_frame_evaluate(f, ast->item[0]);
  case TJ_AST_APPLY:
    return evaluate_application(f, ast);
  case TJ_AST_NEGATE: {
    const tj_array *argument = tj_frame_evaluate(f, ast->item[0]);
    return tj_array_apply(f->graph, f->program, TJ_ARRAY_neg, &argument);
  }
  case TJ_AST_TUPLE:
    if (ast->count == 1)
      return tj_frame_evaluate(f, ast->item[0]);
    break;
  case TJ_AST_BINARY:
    if (find_operator(ast, &op))
      return evaluate_chain(f, ast);
    note_functions(f);
    tj_fail(f->job, TJ_WRONG_TYPE, "arrays have the operators + - * /, not '%s'", tj_operator_text(ast->op));
  default:
    break;
  }
  tj_fail(f->job, TJ_WRONG_TYPE, "an array or a number is needed here");
}
