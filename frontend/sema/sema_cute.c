/* SPDX-License-Identifier: MIT */
/* CuTe's C++ text and prints as values. The parser reads `name<…>` where cute.def has the name; here its rows become
 * calls, so that there is one way to call: types are functions of their template arguments. Names of the program hide
 * make_shape and its like, as they hide functions; types and functions with template arguments are never hidden. */
#include "frontend/sema/sema_cute.h"

#include "frontend/names/cute.h"
#include "frontend/sema/call.h"

#include <inttypes.h>
#include <string.h>

/* --- words --- */

/* Which word an argument is, with or without ( ), where nothing of the program is called so. */
static tj_cute_word word_of(const tj_scope *scope, const tj_ast *ast) {
  if (ast->kind == TJ_AST_APPLY && ast->count == 1)
    ast = ast->item[0];
  bool is_free = ast->kind == TJ_AST_NAME && tj_scope_find(scope, ast->name) == NULL;
  return is_free ? tj_cute_word_of(ast->name) : TJ_CUTE_NO_WORD;
}

static const tj_ast *whole_or_itself(tj_scope *scope, const tj_ast *ast) {
  if (word_of(scope, ast) != TJ_CUTE_WHOLE)
    return ast;
  tj_ast *whole = TJ_NEW(scope->job, tj_ast);
  *whole = (tj_ast){.kind = TJ_AST_UNDERSCORE, .span = ast->span};
  return whole;
}

/* --- calls --- */

/* An application, of item 0, of `count` arguments, to be given them. */
static const tj_ast **begin_application(tj_job *job, const tj_ast *at, uint32_t count, tj_ast *application) {
  const tj_ast **item = TJ_NEW_ARRAY(job, const tj_ast *, count + 1);
  *application = (tj_ast){.kind = TJ_AST_APPLY, .span = at->span, .item = item, .count = count + 1};
  item[0] = at;
  return item + 1;
}

static const tj_ast *binary(tj_job *job, tj_operator op, const tj_ast *a, const tj_ast *b) {
  const tj_ast **item = TJ_NEW_ARRAY(job, const tj_ast *, 2);
  item[0] = a;
  item[1] = b;
  tj_ast *ast = TJ_NEW(job, tj_ast);
  *ast = (tj_ast){.kind = TJ_AST_BINARY, .op = op, .span = {a->span.begin, b->span.end}, .item = item, .count = 2};
  return ast;
}

static const tj_value *chain_of(tj_scope *scope, const tj_ast *application) {
  const tj_ast *const *arg = application->item + 1;
  const tj_ast *inner = binary(scope->job, TJ_OPERATOR_COMPOSE, arg[0], arg[1]);
  return tj_evaluate_expression(scope, binary(scope->job, TJ_OPERATOR_COMPOSE, inner, arg[2]));
}

static bool makes_layouts(const tj_builtin *builtin) {
  return builtin->function == tj_builtin_layout || builtin->function == tj_builtin_make_layout;
}

/* layout(shape, order): what a call with the order dropped calls; NULL for other calls. */
static const tj_builtin *order_of(const tj_scope *scope, const tj_builtin *builtin, const tj_ast *application) {
  static const tj_builtin row_major = {
      .name = "layout", .form = "layout(shape, LayoutRight{})", .least = 1, .most = 1, .function = tj_cute_row_major};
  if (!makes_layouts(builtin) || application->count != 3)
    return NULL;
  tj_cute_word word = word_of(scope, application->item[2]);
  if (word == TJ_CUTE_ROW_MAJOR)
    return &row_major;
  return word == TJ_CUTE_COLUMN_MAJOR ? builtin : NULL;
}

const tj_value *tj_evaluate_cute_or_builtin(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application) {
  const tj_builtin *ordered = order_of(scope, builtin, application);
  tj_ast call = *application;
  if (ordered != NULL) {
    call.count--;
    return tj_builtin_call(scope, ordered, &call);
  }
  if (!tj_cute_has(builtin))
    return tj_builtin_call(scope, builtin, application);
  if (builtin->function == NULL && application->count == 4)
    return chain_of(scope, application);
  const tj_ast **arg = begin_application(scope->job, application, application->count - 1, &call);
  for (uint32_t i = 1; i < application->count; i++)
    arg[i - 1] = whole_or_itself(scope, application->item[i]);
  return tj_builtin_call(scope, builtin, &call);
}

const tj_value *tj_evaluate_cute_type(tj_scope *scope, const tj_ast *ast) {
  const tj_builtin *type = tj_cute_type(ast->name);
  if (type == NULL)
    tj_fail(scope->job, TJ_WRONG_TYPE, "'%s<…>' is a function and needs arguments", ast->name);
  tj_ast call;
  const tj_ast **arg = begin_application(scope->job, ast, ast->count, &call);
  for (uint32_t i = 0; i < ast->count; i++)
    arg[i] = ast->item[i];
  return tj_evaluate_cute_or_builtin(scope, type, &call);
}

const tj_value *tj_evaluate_cute_function(tj_scope *scope, const tj_ast *application) {
  const tj_ast *of = application->item[0];
  uint32_t given = application->count - 1, after = tj_cute_arguments_before(of->name);
  const tj_builtin *builtin = tj_builtin_find(of->name);
  tj_ast call;
  const tj_ast **arg = begin_application(scope->job, application, given + of->count, &call);
  for (uint32_t i = 0; i < given; i++)
    arg[i < after ? i : i + of->count] = application->item[i + 1];
  for (uint32_t i = 0; i < of->count; i++)
    arg[(given < after ? given : after) + i] = of->item[i];
  return tj_builtin_call(scope, builtin != NULL ? builtin : tj_builtin_called(of->name), &call);
}

/* --- prints --- */

enum { BYTE = 8 };

static bool is_flag(const tj_ast *ast) {
  return ast->kind == TJ_AST_TEMPLATE && strcmp(ast->name, TJ_CUTE_FLAG) == 0 && ast->count == 1;
}

/* A swizzle of bytes as the swizzle of elements of `bits`, where every element moves as a whole. */
static const tj_value *swizzle_of_elements(tj_graph *graph, const tj_value *of, int64_t bits) {
  if (of->kind != TJ_VALUE_SWIZZLE)
    tj_fail_type(graph->job, of, "what stands before a pointer", "a swizzle");
  if (bits < 1 || (bits & (bits - 1)) != 0)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE,
            "a swizzle of bytes is none of elements of %" PRId64 " bits, which is no power of two", bits);
  int32_t base = of->swizzle.base + __builtin_ctzll(BYTE) - __builtin_ctzll((uint64_t)bits);
  if (base < 0 && of->swizzle.bits > 0)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE,
            "a swizzle of bytes that exchanges bit %d of the address tears elements of %" PRId64 " bits",
            of->swizzle.base, bits);
  return tj_value_of_swizzle(graph, tj_swizzle_make(graph, of->swizzle.bits, base < 0 ? 0 : base, of->swizzle.shift));
}

static int64_t bits_of_flag(tj_scope *scope, const tj_ast *pointer) {
  const tj_value *bits = tj_evaluate_expression(scope, pointer->item[0]);
  scope->job->here = pointer->span;
  return tj_need_constant(scope->graph, bits, "an element's number of bits");
}

static const tj_value *coordinate_tensor(tj_scope *scope, const tj_ast *base, const tj_ast *link) {
  const tj_value *origin = tj_evaluate_expression(scope, base);
  const tj_value *of = tj_evaluate_expression(scope, link->item[1]);
  scope->job->here = link->span;
  tj_layout layout = tj_need_layout(scope->graph, of, "what follows ArithTuple(…) o");
  tj_composed *tensor = TJ_NEW(scope->job, tj_composed);
  *tensor = tj_coord_tensor(scope->graph, tj_need_tuple(scope->graph, origin, "a base"), layout);
  return tj_value_of_composed(scope->graph, tensor);
}

static bool is_arithmetic_tuple(const tj_scope *scope, const tj_ast *ast) {
  return ast->kind == TJ_AST_APPLY && ast->item[0]->kind == TJ_AST_NAME &&
         strcmp(ast->item[0]->name, "ArithTuple") == 0 && tj_scope_find(scope, "ArithTuple") == NULL;
}

const tj_value *tj_evaluate_cute_chain(tj_scope *scope, const tj_ast *const chain[], uint32_t length,
                                       uint32_t *count) {
  const tj_ast *first = chain[0]->item[0], *second = chain[0]->item[1];
  if (chain[0]->op != TJ_OPERATOR_COMPOSE)
    return NULL;
  *count = 1;
  if (is_arithmetic_tuple(scope, first))
    return coordinate_tensor(scope, first, chain[0]);
  if (is_flag(first))
    return tj_evaluate_expression(scope, second);
  if (is_flag(second) && length > 1 && chain[1]->op == TJ_OPERATOR_COMPOSE) {
    const tj_value *of = tj_evaluate_expression(scope, first);
    return swizzle_of_elements(scope->graph, of, bits_of_flag(scope, second));
  }
  *count = 0;
  return NULL;
}
