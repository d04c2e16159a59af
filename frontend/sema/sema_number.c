/* SPDX-License-Identifier: MIT */
/* Numbers of a copy's arithmetic: the one place where programs have fractions.
 *
 * Decimal numbers, the four operations and parentheses are evaluated here, as doubles where they are no integers;
 * whatever else stands among them is an integer constant of the language. */
#include "frontend/sema/sema.h"

#include "base/number/plain_locale.h"

#include <inttypes.h>
#include <math.h>

static tj_number number_of_integer(int64_t value) {
  return (tj_number){true, value, (double)value};
}

/* Of doubles, those that surely are the integer that is meant. */
static tj_number number_of_real(tj_job *job, double value) {
  if (!isfinite(value))
    tj_fail(job, TJ_BAD_NUMBER, "the number is too large");
  if (fabs(value) <= 0x1p53 && value == trunc(value))
    return number_of_integer((int64_t)value);
  return (tj_number){false, 0, value};
}

static bool has_integer_result(tj_operator op, int64_t a, int64_t b, int64_t *result) {
  switch (op) {
  case TJ_OPERATOR_ADD:
    return !__builtin_add_overflow(a, b, result);
  case TJ_OPERATOR_SUB:
    return !__builtin_sub_overflow(a, b, result);
  case TJ_OPERATOR_MUL:
    return !__builtin_mul_overflow(a, b, result);
  default:
    if (b == -1)
      return !__builtin_sub_overflow((int64_t)0, a, result);
    *result = a / b;
    return a % b == 0;
  }
}

static double real_result(tj_operator op, double a, double b) {
  switch (op) {
  case TJ_OPERATOR_ADD:
    return a + b;
  case TJ_OPERATOR_SUB:
    return a - b;
  case TJ_OPERATOR_MUL:
    return a * b;
  default:
    return a / b;
  }
}

static tj_number combined(tj_job *job, tj_operator op, tj_number a, tj_number b) {
  if (op == TJ_OPERATOR_DIV && b.real == 0)
    tj_fail(job, TJ_DIVISION_BY_ZERO, "division by zero");
  int64_t result;
  if (a.is_integer && b.is_integer && has_integer_result(op, a.integer, b.integer, &result))
    return number_of_integer(result);
  return number_of_real(job, real_result(op, a.real, b.real));
}

static bool is_operation(const tj_ast *ast) {
  return ast->kind == TJ_AST_BINARY && (ast->op == TJ_OPERATOR_ADD || ast->op == TJ_OPERATOR_SUB ||
                                        ast->op == TJ_OPERATOR_MUL || ast->op == TJ_OPERATOR_DIV);
}

/* The operations of a chain, which may be as long as the text, from its leftmost operand on. */
static tj_number evaluate_operations(tj_scope *scope, const tj_ast *ast, const char *what) {
  size_t length = 0;
  for (const tj_ast *left = ast; is_operation(left); left = left->item[0])
    length++;
  const tj_ast **chain = TJ_NEW_ARRAY(scope->job, const tj_ast *, length);
  for (size_t i = length; i-- > 0; ast = ast->item[0])
    chain[i] = ast;
  tj_number value = tj_evaluate_number(scope, ast, what);
  for (size_t i = 0; i < length; i++) {
    tj_number right = tj_evaluate_number(scope, chain[i]->item[1], what);
    scope->job->here = chain[i]->span;
    value = combined(scope->job, chain[i]->op, value, right);
  }
  return value;
}

tj_number tj_evaluate_number(tj_scope *scope, const tj_ast *ast, const char *what) {
  tj_spend(scope->job, 1);
  scope->job->here = ast->span;
  if (ast->kind == TJ_AST_DECIMAL)
    return number_of_real(scope->job, tj_read_decimal(ast->name, NULL));
  if (ast->kind == TJ_AST_GROUP || (ast->kind == TJ_AST_TUPLE && ast->count == 1))
    return tj_evaluate_number(scope, ast->item[0], what);
  if (ast->kind == TJ_AST_NEGATE)
    return combined(scope->job, TJ_OPERATOR_MUL, number_of_integer(-1),
                    tj_evaluate_number(scope, ast->item[0], what));
  if (is_operation(ast))
    return evaluate_operations(scope, ast, what);
  const tj_value *value = tj_evaluate_expression(scope, ast);
  scope->job->here = ast->span;
  return number_of_integer(tj_need_constant(scope->graph, value, what));
}

bool tj_evaluate_truth(tj_scope *scope, const tj_ast *ast, const char *what) {
  const tj_value *value = tj_evaluate_expression(scope, ast);
  scope->job->here = ast->span;
  int64_t truth = tj_need_constant(scope->graph, value, what);
  if (truth != 0 && truth != 1)
    tj_fail(scope->job, TJ_WRONG_TYPE, "%s is 0 or 1, not %" PRId64, what, truth);
  return truth == 1;
}
