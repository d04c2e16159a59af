/* SPDX-License-Identifier: MIT */
/* CuTe's C++ text and prints as values. The parser reads `name<…>` where cute.def has the name; here its rows become
 * calls, so that there is one way to call: types are functions of their template arguments. Names of the program hide
 * make_shape and its like, as they hide functions; types and functions with template arguments are never hidden. */
#include "frontend/cute.h"

#include "frontend/spelling.h"
#include "ir/layout/algebra.h"

#include <inttypes.h>
#include <string.h>

/* --- what the rows make --- */

static const tj_value *tuple(tj_call *call) {
  const tj_tuple **items = TJ_NEW_ARRAY(call->job, const tj_tuple *, call->count);
  for (uint32_t i = 0; i < call->count; i++)
    items[i] = tj_arg_tuple(call, i);
  return tj_give_tuple(call, tj_tuple_list(call->graph, items, call->count));
}

static const tj_value *tiler(tj_call *call) {
  return tj_value_of_items(call->graph, TJ_VALUE_TILER, call->arg, call->count);
}

static const tj_value *integer(tj_call *call) {
  return tj_value_of_node(call->graph, tj_arg_node(call, 0));
}

static const tj_value *swizzle(tj_call *call) {
  int64_t bits = tj_arg_constant(call, 0), base = tj_arg_constant(call, 1);
  int64_t shift = call->count > 2 ? tj_arg_constant(call, 2) : bits;
  return tj_value_of_swizzle(call->graph, tj_swizzle_make(call->graph, bits, base, shift));
}

/* The layout of a shape, last mode fastest. */
static const tj_value *row_major(tj_call *call) {
  const tj_tuple *shape = tj_arg_tuple(call, 0);
  return tj_give_layout(call, tj_layout_make(call->graph, shape, tj_compact_row_major(call->graph, shape)));
}

static const tj_value *flag(tj_call *call) {
  tj_fail(call->job, TJ_WRONG_TYPE, "a pointer, or %s, stands only before 'o' and a layout", TJ_CUTE_FLAG);
}

/* --- the rows --- */

typedef struct {
  tj_builtin call;
  uint32_t types; /* how many template arguments that are types come first */
} cute_type;

typedef struct {
  const char *name;
  uint32_t after; /* how many arguments stand before the template's */
} cute_function;

static const char group[] = "CuTe's C++ text";

static const cute_type types[] = {
#define CUTE_TYPE(name, least, most, types, function, doc, example, value)                                           \
  {{#name, group, #name "<…>", "", doc, example, value, "", "", least, most, function}, types},
#include "frontend/cute.def"
};

static const tj_builtin calls[] = {
#define CUTE_CALL(name, least, most, function, doc, example, value)                                                  \
  {#name, group, #name "(…)", "", doc, example, value, "", "", least, most, function},
#include "frontend/cute.def"
};

static const cute_function functions[] = {
#define CUTE_FUNCTION(name, after, example, value) {#name, after},
#include "frontend/cute.def"
};

static const cute_type *find_type(const char *name) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].call.name, name) == 0)
      return &types[i];
  return NULL;
}

static const cute_function *find_function(const char *name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strcmp(functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}

const tj_builtin *tj_cute_call(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0)
      return &calls[i];
  return NULL;
}

bool tj_cute_is_function(const char *name) {
  return find_function(name) != NULL;
}

bool tj_cute_has_template(const char *name) {
  return find_type(name) != NULL || find_function(name) != NULL;
}

uint32_t tj_cute_type_count(const char *name) {
  const cute_type *type = find_type(name);
  return type != NULL ? type->types : 0;
}

/* --- words --- */

static const char wholes[] = "X Underscore";
static const char column_major[] = "LayoutLeft GenColMajor";
static const char row_majors[] = "LayoutRight GenRowMajor";

bool tj_cute_is_word(const char *name) {
  return tj_has_word(wholes, name) || tj_has_word(column_major, name) || tj_has_word(row_majors, name);
}

/* Whether an argument is one of the words, with or without ( ), and nothing of the program is called so. */
static bool is_word(const tj_scope *scope, const tj_ast *ast, const char *words) {
  if (ast->kind == TJ_AST_APPLY && ast->count == 1)
    ast = ast->item[0];
  return ast->kind == TJ_AST_NAME && tj_has_word(words, ast->name) && tj_scope_find(scope, ast->name) == NULL;
}

static const tj_ast *whole_or_itself(tj_scope *scope, const tj_ast *ast) {
  if (!is_word(scope, ast, wholes))
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

static const tj_builtin *order_of(const tj_scope *scope, const tj_builtin *builtin, const tj_ast *application) {
  static const tj_builtin compact = {"layout", group,    "layout(shape, LayoutRight{})", "", "", "", "", "", "", 1,
                                     1,        row_major};
  bool has_order = makes_layouts(builtin) && application->count == 3;
  if (has_order && is_word(scope, application->item[2], row_majors))
    return &compact;
  return has_order && is_word(scope, application->item[2], column_major) ? builtin : NULL;
}

const tj_value *tj_cute_or_builtin(tj_scope *scope, const tj_builtin *builtin, const tj_ast *application) {
  const tj_builtin *ordered = order_of(scope, builtin, application);
  tj_ast call = *application;
  if (ordered != NULL) {
    call.count--;
    return tj_builtin_call(scope, ordered, &call);
  }
  if (builtin->group != group)
    return tj_builtin_call(scope, builtin, application);
  if (builtin->function == NULL && application->count == 4)
    return chain_of(scope, application);
  const tj_ast **arg = begin_application(scope->job, application, application->count - 1, &call);
  for (uint32_t i = 1; i < application->count; i++)
    arg[i - 1] = whole_or_itself(scope, application->item[i]);
  return tj_builtin_call(scope, builtin, &call);
}

const tj_value *tj_cute_type(tj_scope *scope, const tj_ast *ast) {
  const cute_type *type = find_type(ast->name);
  if (type == NULL)
    tj_fail(scope->job, TJ_WRONG_TYPE, "'%s<…>' is a function and needs arguments", ast->name);
  tj_ast call;
  const tj_ast **arg = begin_application(scope->job, ast, ast->count, &call);
  for (uint32_t i = 0; i < ast->count; i++)
    arg[i] = ast->item[i];
  return tj_cute_or_builtin(scope, &type->call, &call);
}

const tj_value *tj_cute_function(tj_scope *scope, const tj_ast *application) {
  const tj_ast *of = application->item[0];
  uint32_t given = application->count - 1, after = find_function(of->name)->after;
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

const tj_value *tj_cute_chain(tj_scope *scope, const tj_ast *const chain[], uint32_t length, uint32_t *count) {
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
