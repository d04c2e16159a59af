/* SPDX-License-Identifier: MIT */
/* CuTe's C++ text and prints as values. The parser reads `name<…>` where cute.def has the name; here its rows become
 * calls, so that there is one way to call: types are functions of their template arguments. Names of the program hide
 * make_shape and its like, as they hide functions; types and functions with template arguments are never hidden. */
#include "frontend/sema/sema_cute.h"

#include "base/number/power.h"
#include "frontend/names/cute.h"
#include "frontend/sema/call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const tj_value *tensor_of(tj_scope *scope, const tj_ast *of);

/* --- words --- */

/* Which word an argument is, with or without ( ), where nothing of the program is called so. */
static tj_cute_word word_of(const tj_scope *scope, const tj_ast *ast) {
  if (ast->kind == TJ_AST_APPLY && ast->count == 1)
    ast = ast->item[0];
  bool is_free = ast->kind == TJ_AST_NAME && tj_scope_find(scope, ast->name) == NULL;
  return is_free ? tj_cute_word_of(ast->name) : TJ_CUTE_NO_WORD;
}

bool tj_is_cute_whole(const tj_scope *scope, const tj_ast *ast) {
  return word_of(scope, ast) == TJ_CUTE_WHOLE;
}

/* --- calls --- */

/* How many arguments a keyword's value is. */
static uint32_t count_of_keyword(const tj_ast *value) {
  return value->kind == TJ_AST_LIST ? value->count : 1;
}

/* How many items of a call come before its named arguments, where these are keywords of CuTe's DSL that stand in the
 * order of the function's own arguments; 0: they are not. */
static uint32_t count_before_keywords(const tj_builtin *builtin, const tj_ast *application) {
  uint32_t before = 0;
  while (before < application->count && application->item[before]->kind != TJ_AST_NAMED)
    before++;
  for (uint32_t i = before; i < application->count; i++) {
    const tj_ast *item = application->item[i];
    uint32_t position = item->kind == TJ_AST_NAMED ? tj_cute_position(builtin->name, item->name) : 0;
    if (position == 0 || position != i - 1)
      return 0;
  }
  return before < application->count ? before : 0;
}

/* A call with keywords of CuTe's DSL, with their values where the function has them; other calls as they are. */
static const tj_ast *with_positions(tj_job *job, const tj_builtin *builtin, const tj_ast *application) {
  uint32_t before = count_before_keywords(builtin, application), last = application->count - 1;
  if (before == 0)
    return application;
  const tj_ast *value = application->item[last]->item[0];
  uint32_t count = count_of_keyword(value);
  const tj_ast **item = TJ_NEW_ARRAY(job, const tj_ast *, last + count);
  for (uint32_t i = 0; i < last; i++)
    item[i] = i < before ? application->item[i] : application->item[i]->item[0];
  for (uint32_t i = 0; i < count; i++)
    item[last + i] = value->kind == TJ_AST_LIST ? value->item[i] : value;
  tj_ast *call = TJ_NEW(job, tj_ast);
  *call = *application;
  call->item = item;
  call->count = last + count;
  return call;
}

/* An application, of item 0, of `count` arguments, to be given them. */
static const tj_ast **begin_application(tj_job *job, const tj_ast *at, uint32_t count, tj_ast *application) {
  const tj_ast **item = TJ_NEW_ARRAY(job, const tj_ast *, count + 1);
  *application = (tj_ast){.kind = TJ_AST_APPLY, .span = at->span, .item = item, .count = count + 1};
  item[0] = at;
  return item + 1;
}

static const tj_ast *integer(tj_job *job, int64_t value, tj_span span) {
  tj_ast *ast = TJ_NEW(job, tj_ast);
  *ast = (tj_ast){.kind = TJ_AST_INTEGER, .span = span, .integer = value};
  return ast;
}

const tj_ast *tj_cute_type_in_bits(const tj_scope *scope, const tj_ast *ast) {
  bool is_free = ast->kind == TJ_AST_NAME && tj_scope_find(scope, ast->name) == NULL;
  uint32_t bits = is_free ? tj_cute_element_bits(ast->name) : 0;
  return bits != 0 ? integer(scope->job, bits, ast->span) : ast;
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
  if (!makes_layouts(builtin) || application->count != 3 || application->item[1]->kind == TJ_AST_NAMED)
    return NULL;
  tj_cute_word word = word_of(scope, application->item[2]);
  if (word == TJ_CUTE_ROW_MAJOR)
    return &row_major;
  return word == TJ_CUTE_COLUMN_MAJOR ? builtin : NULL;
}

const tj_value *tj_evaluate_cute_or_builtin(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application) {
  application = with_positions(scope->job, builtin, application);
  const tj_builtin *ordered = order_of(scope, builtin, application);
  tj_ast call = *application;
  if (ordered != NULL) {
    call.count--;
    return tj_builtin_call(scope, ordered, &call);
  }
  bool makes_chain = builtin->function == NULL || builtin->function == tj_builtin_composition;
  if (makes_chain && application->count == 4)
    return chain_of(scope, application);
  if (!tj_cute_has(builtin))
    return tj_builtin_call(scope, builtin, application);
  if (builtin->function == tj_cute_tensor && application->count > 1)
    return tensor_of(scope, application->item[1]);
  if (builtin->function == tj_cute_sizeof && application->count == 2)
    *begin_application(scope->job, application->item[0], 1, &call) =
        tj_cute_type_in_bits(scope, application->item[1]);
  return tj_builtin_call(scope, builtin, &call);
}

/* Of Copy_Atom<UniversalCopy<uint128_t>,half_t> the call UniversalCopy(128, 16), of others that of their own name. */
static const tj_value *atom_of(tj_scope *scope, const tj_ast *ast, bool is_of_instruction) {
  const tj_ast *called = is_of_instruction ? ast->item[0] : ast;
  const uint32_t own = called->kind == TJ_AST_TEMPLATE ? called->count : 0, rest = is_of_instruction ? 1 : ast->count;
  tj_ast call, *name = TJ_NEW(scope->job, tj_ast);
  *name = (tj_ast){.kind = TJ_AST_NAME, .span = called->span, .name = called->name};
  const tj_ast **arg = begin_application(scope->job, name, own + ast->count - rest, &call);
  for (uint32_t i = 0; i < own; i++)
    arg[i] = tj_cute_type_in_bits(scope, called->item[i]);
  for (uint32_t i = rest; i < ast->count; i++)
    arg[own + i - rest] = tj_cute_type_in_bits(scope, ast->item[i]);
  return tj_evaluate_expression(scope, &call);
}

static bool names_instruction(const tj_ast *ast) {
  return ast->count > 0 && (ast->item[0]->kind == TJ_AST_NAME || ast->item[0]->kind == TJ_AST_TEMPLATE);
}

const tj_value *tj_evaluate_cute_type(tj_scope *scope, const tj_ast *ast) {
  const tj_builtin *type = tj_cute_type(ast->name);
  const tj_cute_atom atom = tj_cute_atom_of(ast->name);
  if (atom == TJ_CUTE_ATOM_INSTRUCTION && !names_instruction(ast))
    tj_fail(scope->job, TJ_WRONG_TYPE, "the first argument of %s<…> is an instruction", ast->name);
  if (atom != TJ_CUTE_NO_ATOM)
    return atom_of(scope, ast, atom == TJ_CUTE_ATOM_INSTRUCTION);
  if (type != NULL && type->function == tj_cute_tensor && ast->count == 1)
    return tensor_of(scope, ast->item[0]);
  if (type != NULL && type->function == tj_cute_flag)
    return tj_cute_flag(&(tj_call){.job = scope->job});
  if (type == NULL)
    tj_fail(scope->job, TJ_WRONG_TYPE, "'%s<…>' is a function and needs arguments", ast->name);
  tj_ast call;
  const tj_ast **arg = begin_application(scope->job, ast, ast->count, &call);
  for (uint32_t i = 0; i < ast->count; i++)
    arg[i] = ast->item[i];
  return tj_evaluate_cute_or_builtin(scope, type, &call);
}

/* 1:0, which append and prepend put to a layout where a call says of nothing else. */
static const tj_ast *mode_of_one(tj_job *job, tj_span span) {
  return binary(job, TJ_OPERATOR_LAYOUT, integer(job, 1, span), integer(job, 0, span));
}

const tj_value *tj_evaluate_cute_function(tj_scope *scope, const tj_ast *application) {
  const tj_ast *of = application->item[0];
  uint32_t given = application->count - 1, after = tj_cute_arguments_before(of->name);
  uint32_t own = given < after ? after : given;
  const tj_builtin *builtin = tj_builtin_find(of->name);
  tj_ast call;
  const tj_ast **arg = begin_application(scope->job, application, own + of->count, &call);
  for (uint32_t i = 0; i < own; i++)
    arg[i < after ? i : i + of->count] =
        i < given ? application->item[i + 1] : mode_of_one(scope->job, application->span);
  for (uint32_t i = 0; i < of->count; i++)
    arg[after + i] = tj_cute_type_in_bits(scope, of->item[i]);
  return tj_builtin_call(scope, builtin != NULL ? builtin : tj_builtin_called(of->name), &call);
}

/* --- prints --- */

enum { BYTE = 8 };

static bool is_template(const tj_ast *ast, const char *name) {
  return ast->kind == TJ_AST_TEMPLATE && strcmp(ast->name, name) == 0;
}

static bool is_call(const tj_scope *scope, const tj_ast *ast, const char *name) {
  return ast->kind == TJ_AST_APPLY && ast->item[0]->kind == TJ_AST_NAME && strcmp(ast->item[0]->name, name) == 0 &&
         tj_scope_find(scope, name) == NULL;
}

/* What is printed of a pointer; NULL where nothing is. */
typedef struct {
  const tj_ast *bits, *element, *swizzle;
} pointer;

/* What stands in ptr<element, …, S<B,M,S>>, or in raw_ptr(address: element, …). */
static pointer pointer_of_items(const tj_ast *element, const tj_ast *const item[], uint32_t count) {
  pointer p = {.element = element};
  for (uint32_t i = 0; i < count; i++) {
    if (is_template(item[i], "S"))
      p.swizzle = item[i];
  }
  return p;
}

static bool is_pointer(const tj_scope *scope, const tj_ast *ast, pointer *p) {
  bool is_raw = is_call(scope, ast, "raw_ptr") && ast->count > 1 && ast->item[1]->kind == TJ_AST_BINARY;
  if (is_template(ast, TJ_CUTE_FLAG) && ast->count == 1)
    *p = (pointer){.bits = ast->item[0]};
  else if (is_template(ast, "ptr") && ast->count > 0)
    *p = pointer_of_items(ast->item[0], ast->item + 1, ast->count - 1);
  else if (is_raw)
    *p = pointer_of_items(ast->item[1]->item[1], ast->item + 2, ast->count - 2);
  else
    return false;
  return true;
}

/* A swizzle of bytes as the swizzle of elements of `bits`, where every element moves as a whole. */
static const tj_value *swizzle_of_elements(tj_graph *graph, const tj_value *of, int64_t bits) {
  if (of->kind != TJ_VALUE_SWIZZLE)
    tj_fail_type(graph->job, of, "what stands before a pointer", "a swizzle");
  if (!tj_is_power_of_two(bits))
    tj_fail(graph->job, TJ_NOT_DIVISIBLE,
            "a swizzle of bytes is none of elements of %" PRId64 " bits, which is no power of two", bits);
  int32_t base = of->swizzle.base + __builtin_ctzll(BYTE) - __builtin_ctzll((uint64_t)bits);
  if (base < 0 && of->swizzle.bits > 0)
    tj_fail(graph->job, TJ_NOT_DIVISIBLE,
            "a swizzle of bytes that exchanges bit %d of the address tears elements of %" PRId64 " bits",
            of->swizzle.base, bits);
  return tj_value_of_swizzle(graph, tj_swizzle_make(graph, of->swizzle.bits, base < 0 ? 0 : base, of->swizzle.shift));
}

/* The bits of a type of elements: of C++, or else the first number in its name, as in f16, bf16, f8E4M3FN. */
static int64_t bits_of_type(tj_scope *scope, const tj_ast *type) {
  scope->job->here = type->span;
  const char *name = type->kind == TJ_AST_NAME ? type->name : "", *digit = strpbrk(name, "123456789");
  uint32_t bits = tj_cute_element_bits(name);
  if (bits == 0 && digit == NULL)
    tj_fail(scope->job, TJ_WRONG_TYPE, "a pointer's element must be a type that names its bits, such as f16");
  return bits != 0 ? bits : strtol(digit, NULL, 10);
}

static int64_t bits_of_pointer(tj_scope *scope, const pointer *of) {
  if (of->bits == NULL)
    return bits_of_type(scope, of->element);
  const tj_value *bits = tj_evaluate_expression(scope, of->bits);
  scope->job->here = of->bits->span;
  return tj_need_constant(scope->graph, bits, "an element's number of bits");
}

static const tj_value *swizzle_at_pointer(tj_scope *scope, const tj_ast *swizzle, const pointer *at) {
  const tj_value *of = tj_evaluate_expression(scope, swizzle);
  return swizzle_of_elements(scope->graph, of, bits_of_pointer(scope, at));
}

static const tj_value *coordinate_tensor(tj_scope *scope, const tj_ast *base, const tj_ast *link) {
  const tj_value *origin = tj_evaluate_expression(scope, base);
  const tj_value *of = tj_evaluate_expression(scope, link->item[1]);
  scope->job->here = link->span;
  tj_layout layout = tj_need_layout(scope->graph, of, "what follows a coordinate and 'o'");
  tj_composed *tensor = TJ_NEW(scope->job, tj_composed);
  *tensor = tj_coord_tensor(scope->graph, tj_need_tuple(scope->graph, origin, "a base"), layout);
  return tj_value_of_composed(scope->graph, tensor);
}

/* What stands in tensor<…> or tensor(…): a pointer or a coordinate, and a layout. */
static const tj_value *tensor_of(tj_scope *scope, const tj_ast *of) {
  pointer p;
  bool has_head = of->kind == TJ_AST_BINARY && of->op == TJ_OPERATOR_COMPOSE;
  const tj_ast *head = has_head ? of->item[0] : of;
  bool is_coordinate = head->kind == TJ_AST_TUPLE || head->kind == TJ_AST_INTEGER || head->kind == TJ_AST_NAME;
  if (has_head && is_coordinate)
    return coordinate_tensor(scope, head, of);
  if (has_head && is_pointer(scope, head, &p))
    return tj_evaluate_expression(scope, of);
  tj_fail_at(scope->job, of->span, TJ_WRONG_TYPE, "a tensor is a pointer or a coordinate, 'o' and a layout");
}

const tj_value *tj_evaluate_cute_chain(tj_scope *scope, const tj_ast *const chain[], uint32_t length,
                                       uint32_t *count) {
  const tj_ast *first = chain[0]->item[0], *second = chain[0]->item[1];
  if (chain[0]->op != TJ_OPERATOR_COMPOSE)
    return NULL;
  pointer p;
  *count = 1;
  if (is_call(scope, first, "ArithTuple"))
    return coordinate_tensor(scope, first, chain[0]);
  if (is_pointer(scope, first, &p) && p.swizzle == NULL)
    return tj_evaluate_expression(scope, second);
  if (is_pointer(scope, second, &p) && length > 1 && chain[1]->op == TJ_OPERATOR_COMPOSE)
    return swizzle_at_pointer(scope, first, &p);
  *count = 0;
  return is_pointer(scope, first, &p) ? swizzle_at_pointer(scope, p.swizzle, &p) : NULL;
}
