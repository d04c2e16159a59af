/* SPDX-License-Identifier: MIT */
/* Evaluating expressions: literals, names, operators, application of values. */
#include "frontend/names/cute.h"
#include "frontend/names/spelling.h"
#include "frontend/sema/call.h"
#include "frontend/sema/sema.h"
#include "frontend/sema/sema_cute.h"
#include "ir/index/facts.h"

#include <inttypes.h>
#include <string.h>

/* --- values as what a place needs --- */

_Noreturn void tj_fail_type(tj_job *job, const tj_value *value, const char *what, const char *needed) {
  tj_fail(job, TJ_WRONG_TYPE, "%s must be %s, not %s", what, needed, tj_value_kind_name(value->kind));
}

const tj_tuple *tj_need_tuple(tj_graph *graph, const tj_value *value, const char *what) {
  if (value->kind != TJ_VALUE_TUPLE)
    tj_fail_type(graph->job, value, what, "an integer or a tuple");
  return value->tuple;
}

static const tj_tuple *strip_rank_one(const tj_tuple *tuple) {
  while (tuple->kind == TJ_TUPLE_LIST && tuple->count == 1)
    tuple = tuple->item[0];
  return tuple;
}

const tj_node *tj_need_node(tj_graph *graph, const tj_value *value, const char *what) {
  if (value->kind != TJ_VALUE_TUPLE)
    tj_fail_type(graph->job, value, what, "an integer");
  const tj_tuple *tuple = strip_rank_one(value->tuple);
  if (tuple->kind != TJ_TUPLE_INTEGER)
    tj_fail(graph->job, TJ_WRONG_TYPE, "%s must be an integer, not %s", what, tj_tuple_text(graph->job, tuple));
  return tuple->value;
}

int64_t tj_need_constant(tj_graph *graph, const tj_value *value, const char *what) {
  return tj_constant_value(graph, tj_need_node(graph, value, what), what);
}

tj_layout tj_need_layout(tj_graph *graph, const tj_value *value, const char *what) {
  if (value->kind == TJ_VALUE_LAYOUT)
    return value->layout;
  if (value->kind != TJ_VALUE_TUPLE)
    tj_fail_type(graph->job, value, what, "a layout");
  return tj_layout_of_shape(graph, value->tuple);
}

/* --- literals --- */

static const tj_value *const *evaluate_items(tj_scope *scope, const tj_ast *ast) {
  const tj_value **items = TJ_NEW_ARRAY(scope->job, const tj_value *, ast->count);
  for (uint32_t i = 0; i < ast->count; i++)
    items[i] = tj_evaluate_expression(scope, ast->item[i]);
  return items;
}

/* Whether values in parentheses are a tiler, as CuTe prints one: layouts and tilers, perhaps beside integers. */
static bool are_tiler(const tj_value *const values[], uint32_t count) {
  bool has_layout = false;
  for (uint32_t i = 0; i < count; i++) {
    bool is_layout = values[i]->kind == TJ_VALUE_LAYOUT || values[i]->kind == TJ_VALUE_TILER;
    if (!is_layout && values[i]->kind != TJ_VALUE_TUPLE)
      return false;
    has_layout = has_layout || is_layout;
  }
  return has_layout;
}

static const tj_value *evaluate_tuple(tj_scope *scope, const tj_ast *ast) {
  const tj_value *const *values = evaluate_items(scope, ast);
  if (ast->count == 1 && values[0]->kind != TJ_VALUE_TUPLE && tj_ast_is_bare(ast->item[0]))
    return values[0];
  if (are_tiler(values, ast->count))
    return tj_value_of_items(scope->graph, TJ_VALUE_TILER, values, ast->count);
  const tj_tuple **items = TJ_NEW_ARRAY(scope->job, const tj_tuple *, ast->count);
  for (uint32_t i = 0; i < ast->count; i++) {
    scope->job->here = ast->item[i]->span;
    items[i] = tj_need_tuple(scope->graph, values[i], "an item of a tuple");
  }
  return tj_value_of_tuple(scope->graph, tj_tuple_list(scope->graph, items, ast->count));
}

static const tj_value *evaluate_swizzle(tj_scope *scope, const tj_ast *ast) {
  static const char *const fields[] = {"a swizzle's bits", "a swizzle's base", "a swizzle's shift"};
  const tj_value *const *values = evaluate_items(scope, ast);
  int64_t number[3];
  for (uint32_t i = 0; i < 3; i++) {
    scope->job->here = ast->item[i]->span;
    number[i] = tj_need_constant(scope->graph, values[i], fields[i]);
  }
  scope->job->here = ast->span;
  return tj_value_of_swizzle(scope->graph, tj_swizzle_make(scope->graph, number[0], number[1], number[2]));
}

static const tj_value *evaluate_name(tj_scope *scope, const tj_ast *ast) {
  const tj_binding *binding = tj_scope_find(scope, ast->name);
  if (binding != NULL && binding->value != NULL)
    return binding->value;
  if (tj_is_cute_whole(scope, ast))
    return tj_value_of_tuple(scope->graph, tj_tuple_any(scope->graph));
  scope->job->here = ast->span;
  const tj_builtin *function = tj_builtin_find(ast->name);
  bool is_integer_type = function != NULL && function->function == tj_cute_integer;
  if (binding != NULL || (function != NULL && !is_integer_type))
    tj_fail(scope->job, TJ_WRONG_TYPE, "'%s' is a function and needs arguments", ast->name);
  tj_misspelling of = tj_misspelling_of(ast->name);
  tj_scope_try_names(scope, &of);
  tj_fail_unknown_name(scope->job, &of);
}

/* --- operators --- */

static const tj_value *negate(tj_graph *graph, const tj_value *value) {
  const tj_node *minus_one = tj_int(graph, -1);
  const tj_tuple *tuple = strip_rank_one(tj_need_tuple(graph, value, "the operand of -"));
  return tj_value_of_tuple(graph, tj_tuple_scale(graph, minus_one, tuple));
}

static bool is_structured(const tj_value *value) {
  return value->kind == TJ_VALUE_TUPLE && strip_rank_one(value->tuple)->kind != TJ_TUPLE_INTEGER;
}

static const tj_value *add_tuples(tj_graph *graph, const tj_tuple *a, const tj_tuple *b) {
  return tj_value_of_tuple(graph, tj_tuple_add(graph, a, b));
}

static const tj_value *structured_arithmetic(tj_scope *scope, const tj_ast *ast, const tj_value *a,
                                             const tj_value *b) {
  tj_graph *graph = scope->graph;
  const tj_tuple *left = tj_need_tuple(graph, a, "the left operand");
  const tj_tuple *right = tj_need_tuple(graph, b, "the right operand");
  switch (ast->op) {
  case TJ_OPERATOR_ADD:
    return add_tuples(graph, left, right);
  case TJ_OPERATOR_SUB:
    return add_tuples(graph, left, tj_tuple_scale(graph, tj_int(graph, -1), right));
  case TJ_OPERATOR_MUL:
    if (!is_structured(a))
      return tj_value_of_tuple(graph, tj_tuple_scale(graph, tj_need_node(graph, a, "a factor"), right));
    if (!is_structured(b))
      return tj_value_of_tuple(graph, tj_tuple_scale(graph, tj_need_node(graph, b, "a factor"), left));
    break;
  default:
    break;
  }
  tj_fail(scope->job, TJ_WRONG_TYPE, "'%s' needs integers, not tuples", tj_operator_text(ast->op));
}

typedef const tj_node *(*integer_operation)(tj_graph *graph, const tj_node *a, const tj_node *b);

static const integer_operation integer_operations[] = {
    [TJ_OPERATOR_ADD] = tj_add, [TJ_OPERATOR_SUB] = tj_sub, [TJ_OPERATOR_MUL] = tj_mul, [TJ_OPERATOR_DIV] = tj_div,
    [TJ_OPERATOR_MOD] = tj_mod, [TJ_OPERATOR_AND] = tj_and, [TJ_OPERATOR_OR] = tj_or,   [TJ_OPERATOR_XOR] = tj_xor,
    [TJ_OPERATOR_SHL] = tj_shl, [TJ_OPERATOR_SHR] = tj_shr, [TJ_OPERATOR_BASIS] = NULL};

static const tj_value *arithmetic(tj_scope *scope, const tj_ast *ast, const tj_value *a, const tj_value *b) {
  if (is_structured(a) || is_structured(b))
    return structured_arithmetic(scope, ast, a, b);
  const char *what = tj_string_format(scope->job, "an operand of '%s'", tj_operator_text(ast->op));
  const tj_node *left = tj_need_node(scope->graph, a, what);
  const tj_node *right = tj_need_node(scope->graph, b, what);
  return tj_value_of_node(scope->graph, integer_operations[ast->op](scope->graph, left, right));
}

/* One side of s:d. Parentheses around an operator, as in (M*N):(1), make a tuple of one where the other side is one.
 */
static const tj_tuple *side_of_layout(tj_graph *graph, const tj_ast *ast, const tj_tuple *side,
                                      const tj_tuple *other) {
  bool beside_one = tj_tuple_is_list(other) && other->count == 1 && !tj_tuple_is_list(other->item[0]);
  if (ast->kind != TJ_AST_GROUP || tj_tuple_is_list(side) || !beside_one)
    return side;
  return tj_tuple_list(graph, &side, 1);
}

static const tj_value *make_layout(tj_scope *scope, const tj_ast *ast, const tj_value *a, const tj_value *b) {
  const tj_tuple *left = tj_need_tuple(scope->graph, a, "a shape");
  const tj_tuple *right = tj_need_tuple(scope->graph, b, "a stride");
  const tj_tuple *shape = side_of_layout(scope->graph, ast->item[0], left, right);
  const tj_tuple *stride = side_of_layout(scope->graph, ast->item[1], right, left);
  return tj_value_of_layout(scope->graph, tj_layout_make(scope->graph, shape, stride));
}

/* c@k: one more, outer, mode in front of the path of the basis element or integer c. */
static const tj_value *make_basis(tj_scope *scope, const tj_value *a, const tj_value *b) {
  int64_t mode = tj_need_constant(scope->graph, b, "the mode of a basis element");
  const tj_tuple *element = strip_rank_one(tj_need_tuple(scope->graph, a, "the coefficient of a basis element"));
  if (mode < 0 || mode >= TJ_MAX_TUPLE_DEPTH)
    tj_fail(scope->job, TJ_RANK, "a basis element's mode is 0 to %d, not %" PRId64, TJ_MAX_TUPLE_DEPTH - 1, mode);
  if (element->kind != TJ_TUPLE_INTEGER && element->kind != TJ_TUPLE_BASIS)
    tj_fail(scope->job, TJ_WRONG_TYPE, "the coefficient of a basis element must be an integer");
  uint32_t inner = element->kind == TJ_TUPLE_BASIS ? element->count : 0;
  if (inner + 1 >= TJ_MAX_TUPLE_DEPTH)
    tj_fail(scope->job, TJ_DEPTH_LIMIT, "a basis element has at most %d modes", TJ_MAX_TUPLE_DEPTH - 1);
  uint32_t *path = TJ_NEW_ARRAY(scope->job, uint32_t, inner + 1);
  path[0] = (uint32_t)mode;
  if (inner > 0)
    memcpy(path + 1, element->path, inner * sizeof *path);
  return tj_value_of_tuple(scope->graph, tj_tuple_basis(scope->graph, element->value, path, inner + 1));
}

static const tj_value *evaluate_binary(tj_scope *scope, const tj_ast *ast, const tj_value *a, const tj_value *b) {
  scope->job->here = ast->span;
  switch (ast->op) {
  case TJ_OPERATOR_COMPOSE:
    return tj_compose_values(scope->graph, a, b);
  case TJ_OPERATOR_LAYOUT:
    return make_layout(scope, ast, a, b);
  case TJ_OPERATOR_BASIS:
    return make_basis(scope, a, b);
  default:
    return arithmetic(scope, ast, a, b);
  }
}

/* Whether links i and i+1 of a chain are the two compositions of Sw<B,M,S> o offset o layout: (swizzle o offset) has
 * no value of its own. */
static bool is_swizzle_with_offset(const tj_ast *const chain[], uint32_t i, uint32_t length, const tj_value *left,
                                   const tj_value *right) {
  return left->kind == TJ_VALUE_SWIZZLE && right->kind == TJ_VALUE_TUPLE && i + 1 < length &&
         chain[i]->op == TJ_OPERATOR_COMPOSE && chain[i + 1]->op == TJ_OPERATOR_COMPOSE;
}

static const tj_value *swizzle_with_offset(tj_scope *scope, const tj_ast *ast, tj_swizzle swizzle,
                                           const tj_value *offset) {
  const tj_value *layout = tj_evaluate_expression(scope, ast->item[1]);
  scope->job->here = ast->span;
  if (layout->kind != TJ_VALUE_LAYOUT)
    tj_fail_type(scope->job, layout, "what follows a swizzle's offset", "a layout");
  const tj_node *node = tj_need_node(scope->graph, offset, "a swizzle's offset");
  return tj_value_of_parts(scope->graph, swizzle, tj_tuple_integer(scope->graph, node), layout->layout);
}

/* The binary nodes of a left-associative chain, innermost first; *first is the leftmost operand. */
static const tj_ast *const *links_of(tj_job *job, const tj_ast *ast, const tj_ast **first, uint32_t *length) {
  *length = 0;
  for (*first = ast; (*first)->kind == TJ_AST_BINARY; *first = (*first)->item[0])
    ++*length;
  const tj_ast **chain = TJ_NEW_ARRAY(job, const tj_ast *, *length);
  for (uint32_t i = *length; i-- > 0; ast = ast->item[0])
    chain[i] = ast;
  return chain;
}

static const tj_value *evaluate_chain(tj_scope *scope, const tj_ast *ast) {
  const tj_ast *first;
  uint32_t length;
  const tj_ast *const *chain = links_of(scope->job, ast, &first, &length);
  uint32_t begun = 0;
  const tj_value *value = length > 0 ? tj_evaluate_cute_chain(scope, chain, length, &begun) : NULL;
  if (value == NULL)
    value = tj_evaluate_expression(scope, first);
  for (uint32_t i = begun; i < length; i++) {
    const tj_value *right = tj_evaluate_expression(scope, chain[i]->item[1]);
    if (is_swizzle_with_offset(chain, i, length, value, right)) {
      value = swizzle_with_offset(scope, chain[i + 1], value->swizzle, right);
      i++;
    } else {
      value = evaluate_binary(scope, chain[i], value, right);
    }
  }
  return value;
}

/* --- application --- */

static const tj_tuple *coordinate_of(tj_graph *graph, const tj_value *const args[], uint32_t count) {
  if (count == 1)
    return tj_need_tuple(graph, args[0], "a coordinate");
  const tj_tuple **items = TJ_NEW_ARRAY(graph->job, const tj_tuple *, count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tj_need_tuple(graph, args[i], "a coordinate");
  return tj_tuple_list(graph, items, count);
}

static const tj_value *apply_layout(tj_graph *graph, tj_layout layout, const tj_tuple *coordinate) {
  const tj_tuple *dropped;
  if (tj_tuple_has_any(coordinate))
    return tj_value_of_layout(graph, tj_layout_slice(graph, layout, coordinate, &dropped));
  return tj_value_of_tuple(graph, tj_layout_apply(graph, layout, coordinate));
}

static const tj_value *apply_composed(tj_graph *graph, const tj_composed *composed, const tj_tuple *coordinate) {
  if (!tj_tuple_has_any(coordinate))
    return tj_value_of_tuple(graph, tj_composed_apply(graph, composed, coordinate));
  const tj_tuple *fixed;
  tj_layout kept = tj_layout_slice(graph, composed->layout, coordinate, &fixed);
  const tj_tuple *offset = tj_tuple_add(graph, composed->offset, fixed);
  return tj_value_of_parts(graph, composed->swizzle, offset, kept);
}

const tj_node *const *tj_need_indices(tj_graph *graph, const tj_tuple *coordinate, uint32_t rank, const char *what) {
  if (tj_tuple_rank(coordinate) != rank)
    tj_fail(graph->job, TJ_COORDINATE_STRUCTURE, "the %s has %" PRIu32 " dimensions, the coordinate %" PRIu32, what,
            rank, tj_tuple_rank(coordinate));
  const char *index = tj_string_format(graph->job, "an index of the %s", what);
  const tj_node **nodes = TJ_NEW_ARRAY(graph->job, const tj_node *, rank);
  for (uint32_t i = 0; i < rank; i++)
    nodes[i] = tj_need_node(graph, tj_value_of_tuple(graph, tj_tuple_mode(coordinate, i)), index);
  return nodes;
}

const tj_node *const *tj_view_coordinate(tj_graph *graph, const tj_view *view, const tj_tuple *coordinate) {
  return tj_need_indices(graph, coordinate, view->rank, "view");
}

/* The bottom coordinate, as a tuple. */
static const tj_value *apply_adaptor(tj_graph *graph, const tj_adaptor *adaptor, const tj_tuple *coordinate,
                                     const char *what) {
  const tj_node *lower[TJ_MAX_DIMENSIONS], *valid;
  tj_adaptor_lower(graph, adaptor, tj_need_indices(graph, coordinate, adaptor->rank, what), lower, &valid);
  return tj_value_of_tuple(graph, tj_tuple_integers(graph, lower, adaptor->bottom_rank));
}

const tj_value *tj_apply_value(tj_graph *graph, const tj_value *function, const tj_value *const args[],
                               uint32_t count) {
  if (count == 0)
    tj_fail(graph->job, TJ_WRONG_ARITY, "an application needs at least one argument");
  switch (function->kind) {
  case TJ_VALUE_LAYOUT:
    return apply_layout(graph, function->layout, coordinate_of(graph, args, count));
  case TJ_VALUE_COMPOSED:
    return apply_composed(graph, function->composed, coordinate_of(graph, args, count));
  case TJ_VALUE_LINEAR:
    return tj_value_of_tuple(graph, tj_f2_apply(graph, function->linear, coordinate_of(graph, args, count)));
  case TJ_VALUE_SWIZZLE:
    if (count != 1)
      tj_fail(graph->job, TJ_WRONG_ARITY, "a swizzle takes one integer");
    return tj_value_of_node(
        graph, tj_swizzle_apply(graph, function->swizzle, tj_need_node(graph, args[0], "a swizzle's argument")));
  case TJ_VALUE_VIEW:
    return tj_value_of_node(
        graph, tj_view_offset(graph, function->view,
                              tj_view_coordinate(graph, function->view, coordinate_of(graph, args, count))));
  case TJ_VALUE_ADAPTOR:
    return apply_adaptor(graph, function->adaptor, coordinate_of(graph, args, count), "adaptor");
  case TJ_VALUE_DISTRIBUTION:
    return apply_adaptor(graph, tj_distribution_adaptor(graph, function->distribution),
                         coordinate_of(graph, args, count), "distribution");
  default:
    if (function->kind == TJ_VALUE_TUPLE)
      tj_note(graph->job,
              "an application binds tighter than ':'; a layout that is applied stands in parentheses, as in "
              "((4,8):(8,1))(2,3)");
    tj_fail_type(graph->job, function, "what is applied",
                 "a layout, a swizzle, a linear map, a view, an adaptor or a distribution");
  }
}

static const tj_value *call_builtin(tj_scope *scope, const tj_ast *ast) {
  const tj_ast *function = ast->item[0];
  const tj_builtin *builtin = tj_builtin_find(function->name);
  bool takes_function = ast->count > 2 && ast->item[ast->count - 1]->kind == TJ_AST_NAME;
  if (builtin != NULL && builtin->function == tj_builtin_filter_tuple && takes_function)
    return tj_evaluate_filter(scope, ast);
  if (builtin != NULL)
    return tj_evaluate_cute_or_builtin(scope, builtin, ast);
  scope->job->here = function->span;
  tj_misspelling of = tj_misspelling_of(function->name);
  tj_scope_try_names(scope, &of);
  tj_fail_unknown_function(scope->job, &of);
}

static const tj_value *evaluate_application(tj_scope *scope, const tj_ast *ast) {
  const tj_ast *function = ast->item[0];
  const tj_binding *binding = function->kind == TJ_AST_NAME ? tj_scope_find(scope, function->name) : NULL;
  if (binding != NULL && binding->value == NULL)
    return tj_function_call(scope, binding->function, ast);
  if (function->kind == TJ_AST_TEMPLATE && tj_cute_is_function(function->name))
    return tj_evaluate_cute_function(scope, ast);
  if (tj_is_cute_whole(scope, ast))
    return tj_value_of_tuple(scope->graph, tj_tuple_any(scope->graph));
  if (function->kind == TJ_AST_NAME && binding == NULL)
    return call_builtin(scope, ast);
  const tj_value *applied = tj_evaluate_expression(scope, function);
  bool is_constant_call = function->kind == TJ_AST_NAME && ast->count == 1 && applied->kind == TJ_VALUE_TUPLE;
  if (is_constant_call)
    return applied;
  const tj_value **args = TJ_NEW_ARRAY(scope->job, const tj_value *, ast->count);
  for (uint32_t i = 1; i < ast->count; i++) {
    if (ast->item[i]->kind == TJ_AST_NAMED)
      tj_fail_at(scope->job, ast->item[i]->span, TJ_UNKNOWN_ARGUMENT, "an application takes no named arguments");
    args[i - 1] = tj_evaluate_expression(scope, ast->item[i]);
  }
  scope->job->here = ast->span;
  return tj_apply_value(scope->graph, applied, args, ast->count - 1);
}

const tj_value *tj_evaluate_expression(tj_scope *scope, const tj_ast *ast) {
  tj_spend(scope->job, 1);
  scope->job->here = ast->span;
  switch (ast->kind) {
  case TJ_AST_INTEGER:
    return tj_value_of_node(scope->graph, tj_int(scope->graph, ast->integer));
  case TJ_AST_DECIMAL:
    tj_note(scope->job, "decimal numbers stand only for scale and bias of a copy");
    tj_fail(scope->job, TJ_BAD_NUMBER, "'%s' is not an integer", ast->name);
  case TJ_AST_NAME:
    return evaluate_name(scope, ast);
  case TJ_AST_UNDERSCORE:
    return tj_value_of_tuple(scope->graph, tj_tuple_any(scope->graph));
  case TJ_AST_TUPLE:
    return evaluate_tuple(scope, ast);
  case TJ_AST_GROUP:
    return tj_evaluate_expression(scope, ast->item[0]);
  case TJ_AST_LIST:
    return tj_value_of_items(scope->graph, TJ_VALUE_LIST, evaluate_items(scope, ast), ast->count);
  case TJ_AST_TILER:
    return tj_value_of_items(scope->graph, TJ_VALUE_TILER, evaluate_items(scope, ast), ast->count);
  case TJ_AST_SWIZZLE:
    return evaluate_swizzle(scope, ast);
  case TJ_AST_TEMPLATE:
    return tj_evaluate_cute_type(scope, ast);
  case TJ_AST_NEGATE: {
    const tj_value *operand = tj_evaluate_expression(scope, ast->item[0]);
    scope->job->here = ast->span;
    return negate(scope->graph, operand);
  }
  case TJ_AST_BINARY:
    return evaluate_chain(scope, ast);
  case TJ_AST_APPLY:
    return evaluate_application(scope, ast);
  case TJ_AST_NAMED:
    break;
  }
  tj_fail(scope->job, TJ_UNEXPECTED_TOKEN, "a named argument stands only among the arguments of a function");
}
