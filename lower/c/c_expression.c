/* SPDX-License-Identifier: MIT */
/* The text of each node from the texts of its arguments, arguments first, so that there is no recursion. */
#include "lower/c/c_expression.h"

#include "ir/index/cost.h"
#include "ir/index/facts.h"
#include "ir/index/walk.h"
#include "lower/c/c_piece.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
  tj_job *job;
  const tj_function *function;
  tj_walk walk;
  tj_c_piece *made; /* by position in the walk */
  bool *is_named;   /* gets a statement of its own */
  bool has_one_root;
  tj_text statements;
  uint32_t named_count;
  tj_c_expression out;
} writer;

/* --- types --- */

const char *tj_c_type_name(tj_c_type type) {
  static const char *const names[] = {"int32_t", "uint32_t", "int64_t"};
  return names[type];
}

tj_c_type tj_c_type_of_width(tj_width width) {
  if (width.bits == 64)
    return TJ_C_INT64;
  return width.is_signed ? TJ_C_INT32 : TJ_C_UINT32;
}

tj_c_type tj_c_type_of(const tj_node *node) {
  return tj_c_type_of_width(tj_width_of(&node, 1));
}

static bool fits(int64_t value, tj_c_type type) {
  static const struct {
    int64_t low, high;
  } range[] = {{INT32_MIN, INT32_MAX}, {0, UINT32_MAX}, {INT64_MIN, INT64_MAX}};
  return value >= range[type].low && value <= range[type].high;
}

const char *tj_c_literal(tj_job *job, int64_t value, tj_c_type type) {
  if (type == TJ_C_UINT32)
    return tj_string_format(job, "%" PRId64 "u", value);
  if (type == TJ_C_INT32 && value == INT32_MIN)
    return "(-2147483647 - 1)";
  if (value == INT64_MIN)
    return "(-9223372036854775807LL - 1)";
  return tj_string_format(job, type == TJ_C_INT32 ? "%" PRId64 : "%" PRId64 "LL", value);
}

const char *tj_c_routine_name(tj_job *job, tj_c_routine routine, tj_c_type type) {
  static const char *const names[] = {
#define ROUTINE(name, text, meaning, body) text,
#include "base/number/c_routine.def"
#undef ROUTINE
  };
  return tj_string_format(job, "tilejit_%s_%s", names[routine], type == TJ_C_INT64 ? "int64" : "int32");
}

/* --- operands --- */

static tj_c_piece piece_of(const writer *w, const tj_node *node) {
  return w->made[tj_walk_find(&w->walk, node)];
}

static tj_c_piece atom(const char *text) {
  return (tj_c_piece){text, TJ_C_ATOM};
}

static const char *placed(const writer *w, tj_c_piece p, int binding) {
  return tj_c_placed(w->job, p, binding);
}

/* A node's value as `type`, in which it fits. */
static tj_c_piece converted(const writer *w, const tj_node *node, tj_c_type type) {
  if (tj_is_constant(node))
    return (tj_c_piece){tj_c_literal(w->job, node->value, type), node->value < 0 ? TJ_C_UNARY : TJ_C_ATOM};
  tj_c_piece p = piece_of(w, node);
  if (tj_c_type_of(node) == type)
    return p;
  return (tj_c_piece){tj_string_format(w->job, "(%s)%s", tj_c_type_name(type), placed(w, p, TJ_C_UNARY)), TJ_C_UNARY};
}

static const char *operand(const writer *w, const tj_node *node, tj_c_type type, int binding) {
  return placed(w, converted(w, node, type), binding);
}

/* The value of an operation computed in `type`, as what the node's type is. */
static tj_c_piece result_of(const writer *w, const tj_node *node, tj_c_type type, tj_c_piece p) {
  tj_c_type own = tj_c_type_of(node);
  if (own == type)
    return p;
  return (tj_c_piece){tj_string_format(w->job, "(%s)%s", tj_c_type_name(own), placed(w, p, TJ_C_UNARY)), TJ_C_UNARY};
}

static tj_c_piece infix(const writer *w, const tj_node *node, tj_c_type type, const char *sign, int binding, int left,
                        int right) {
  const char *a = operand(w, node->arg[0], type, left), *b = operand(w, node->arg[1], type, right);
  return (tj_c_piece){tj_string_format(w->job, "%s %s %s", a, sign, b), binding};
}

static tj_c_piece call(writer *w, tj_c_routine routine, tj_c_type type, const char *a, const char *b) {
  w->out.calls_routines = true;
  w->out.is_used[routine][type] = true;
  return atom(tj_string_format(w->job, "%s(%s, %s)", tj_c_routine_name(w->job, routine, type), a, b));
}

/* --- sums --- */

/* Whether the node is c * x with c < 0, of which -c * x can be written in `type`. */
static bool is_negative_product(const writer *w, const tj_node *node, tj_c_type type) {
  if (node->op != TJ_OP_MUL || w->is_named[tj_walk_find(&w->walk, node)] || type == TJ_C_UINT32)
    return false;
  const tj_node *constant = tj_is_constant(node->arg[0]) ? node->arg[0] : node->arg[1];
  const tj_node *factor = constant == node->arg[0] ? node->arg[1] : node->arg[0];
  if (!tj_is_constant(constant) || constant->value >= 0 || node->facts.low == INT64_MIN)
    return false;
  return fits(-node->facts.low, type) && fits(-node->facts.high, type) && fits(-constant->value, type) &&
         fits(factor->facts.low, type) && fits(factor->facts.high, type);
}

/* -node, for what is subtracted. */
static const char *negated(const writer *w, const tj_node *node, tj_c_type type) {
  if (tj_is_constant(node))
    return tj_c_literal(w->job, -node->value, type);
  const tj_node *constant = tj_is_constant(node->arg[0]) ? node->arg[0] : node->arg[1];
  const tj_node *factor = constant == node->arg[0] ? node->arg[1] : node->arg[0];
  if (constant->value == -1)
    return operand(w, factor, type, TJ_C_PRODUCT);
  return tj_string_format(w->job, "%s * %s", operand(w, factor, type, TJ_C_PRODUCT),
                          tj_c_literal(w->job, -constant->value, type));
}

static bool is_subtrahend(const writer *w, const tj_node *node, tj_c_type type) {
  if (tj_is_constant(node))
    return node->value < 0 && node->value > INT64_MIN && fits(-node->value, type);
  return is_negative_product(w, node, type);
}

static tj_c_piece write_sum(const writer *w, const tj_node *node, tj_c_type type) {
  for (unsigned i = 2; i-- > 0;) {
    if (!is_subtrahend(w, node->arg[i], type))
      continue;
    const char *from = operand(w, node->arg[1 - i], type, TJ_C_SUM);
    return (tj_c_piece){tj_string_format(w->job, "%s - %s", from, negated(w, node->arg[i], type)), TJ_C_SUM};
  }
  return infix(w, node, type, "+", TJ_C_SUM, TJ_C_SUM, TJ_C_PRODUCT);
}

/* --- divisions --- */

/* Whether C's division gives the same. */
static bool divides_as_c(const tj_node *node, tj_width width) {
  const tj_node *divisor = node->arg[1];
  return width.is_unsigned ||
         (tj_is_constant(divisor) && divisor->value > 0 && tj_facts_divisible(&node->arg[0]->facts, divisor->value));
}

static tj_c_piece write_quotient(writer *w, const tj_node *node, tj_c_type type) {
  int log = tj_exponent_of(node->arg[1]);
  if (divides_as_c(node, tj_width_of_operation(node)))
    return infix(w, node, type, "/", TJ_C_PRODUCT, TJ_C_PRODUCT, TJ_C_UNARY);
  const char *a = operand(w, node->arg[0], type, TJ_C_TERNARY), *b = operand(w, node->arg[1], type, TJ_C_TERNARY);
  if (log >= 0)
    return call(w, TJ_C_FLOOR_SHIFT, type, a, tj_string_format(w->job, "%d", log));
  return call(w, node->arg[1]->facts.low >= 1 ? TJ_C_FLOOR_DIVIDE : TJ_C_SIGNED_DIVIDE, type, a, b);
}

static tj_c_piece write_remainder(writer *w, const tj_node *node, tj_c_type type) {
  if (tj_width_of_operation(node).is_unsigned)
    return infix(w, node, type, "%", TJ_C_PRODUCT, TJ_C_PRODUCT, TJ_C_UNARY);
  if (tj_exponent_of(node->arg[1]) >= 0) {
    const char *mask = tj_c_literal(w->job, node->arg[1]->value - 1, type);
    return (tj_c_piece){tj_string_format(w->job, "%s & %s", operand(w, node->arg[0], type, TJ_C_UNARY), mask),
                        TJ_C_LOOSE};
  }
  const char *a = operand(w, node->arg[0], type, TJ_C_TERNARY), *b = operand(w, node->arg[1], type, TJ_C_TERNARY);
  return call(w, node->arg[1]->facts.low >= 1 ? TJ_C_FLOOR_MODULO : TJ_C_SIGNED_MODULO, type, a, b);
}

/* --- shifts --- */

/* What C says of shifting left holds for what is not negative; the others are multiplied. */
static tj_c_piece write_shift_left(const writer *w, const tj_node *node, tj_c_type *type) {
  if (node->arg[0]->facts.low >= 0)
    return (tj_c_piece){tj_string_format(w->job, "%s << %s", operand(w, node->arg[0], *type, TJ_C_UNARY),
                                         operand(w, node->arg[1], tj_c_type_of(node->arg[1]), TJ_C_UNARY)),
                        TJ_C_LOOSE};
  *type = TJ_C_INT64;
  return (tj_c_piece){tj_string_format(w->job, "%s * (1LL << %s)", operand(w, node->arg[0], *type, TJ_C_PRODUCT),
                                       operand(w, node->arg[1], tj_c_type_of(node->arg[1]), TJ_C_UNARY)),
                      TJ_C_PRODUCT};
}

static tj_c_piece write_shift_right(writer *w, const tj_node *node, tj_c_type type) {
  tj_c_type amount = tj_c_type_of(node->arg[1]);
  if (node->arg[0]->facts.low < 0)
    return call(w, TJ_C_FLOOR_SHIFT, type, operand(w, node->arg[0], type, TJ_C_TERNARY),
                operand(w, node->arg[1], TJ_C_INT32, TJ_C_TERNARY));
  return (tj_c_piece){tj_string_format(w->job, "%s >> %s", operand(w, node->arg[0], type, TJ_C_UNARY),
                                       operand(w, node->arg[1], amount, TJ_C_UNARY)),
                      TJ_C_LOOSE};
}

/* --- truths and choices --- */

static bool gives_truth(const tj_node *node) {
  return node->op == TJ_OP_LESS || node->op == TJ_OP_EQUAL;
}

/* A condition in a place that asks for `binding`. */
static const char *condition(const writer *w, const tj_node *node, int binding) {
  bool is_test = gives_truth(node) || node->op == TJ_OP_AND || node->op == TJ_OP_OR;
  if (is_test && !tj_is_constant(node) && tj_is_truth(node))
    return operand(w, node, TJ_C_INT32, binding);
  const char *text = operand(w, node, tj_c_type_of(node), TJ_C_UNARY);
  return placed(w, (tj_c_piece){tj_string_format(w->job, "%s != 0", text), TJ_C_COMPARISON}, binding);
}

/* Of truths, C's && and ||. */
static tj_c_piece write_bits(const writer *w, const tj_node *node, tj_c_type type) {
  static const char *const signs[] = {[TJ_OP_AND] = "&", [TJ_OP_OR] = "|", [TJ_OP_XOR] = "^"};
  bool is_on_truths = tj_is_truth(node->arg[0]) && tj_is_truth(node->arg[1]);
  if (!is_on_truths || node->op == TJ_OP_XOR)
    return infix(w, node, type, signs[node->op], TJ_C_LOOSE, TJ_C_UNARY, TJ_C_UNARY);
  int binding = node->op == TJ_OP_AND ? TJ_C_BOTH : TJ_C_EITHER;
  const char *a = condition(w, node->arg[0], TJ_C_COMPARISON), *b = condition(w, node->arg[1], TJ_C_COMPARISON);
  return (tj_c_piece){tj_string_format(w->job, "%s %s %s", a, binding == TJ_C_BOTH ? "&&" : "||", b), binding};
}

static tj_c_piece write_extremum(const writer *w, const tj_node *node, tj_c_type type) {
  const char *a = operand(w, node->arg[0], type, TJ_C_SUM), *b = operand(w, node->arg[1], type, TJ_C_SUM);
  const char *sign = node->op == TJ_OP_MIN ? "<" : ">";
  return (tj_c_piece){tj_string_format(w->job, "%s %s %s ? %s : %s", a, sign, b, a, b), TJ_C_TERNARY};
}

static tj_c_piece write_choice(const writer *w, const tj_node *node, tj_c_type type) {
  return (tj_c_piece){tj_string_format(w->job, "%s ? %s : %s", condition(w, node->arg[0], TJ_C_COMPARISON),
                                       operand(w, node->arg[1], type, TJ_C_SUM),
                                       operand(w, node->arg[2], type, TJ_C_SUM)),
                      TJ_C_TERNARY};
}

/* --- nodes --- */

static tj_c_piece write_operation(writer *w, const tj_node *node) {
  tj_c_type type = tj_c_type_of_width(tj_width_of_operation(node));
  tj_c_piece p = {NULL, TJ_C_ATOM};
  switch (node->op) {
  case TJ_OP_ADD:
    p = write_sum(w, node, type);
    break;
  case TJ_OP_MUL:
    p = infix(w, node, type, "*", TJ_C_PRODUCT, TJ_C_PRODUCT, TJ_C_UNARY);
    break;
  case TJ_OP_DIV:
    p = write_quotient(w, node, type);
    break;
  case TJ_OP_MOD:
    p = write_remainder(w, node, type);
    break;
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    p = write_extremum(w, node, type);
    break;
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
    p = write_bits(w, node, type);
    break;
  case TJ_OP_SHL:
    p = write_shift_left(w, node, &type);
    break;
  case TJ_OP_SHR:
    p = write_shift_right(w, node, type);
    break;
  case TJ_OP_LESS:
  case TJ_OP_EQUAL:
    return infix(w, node, type, node->op == TJ_OP_LESS ? "<" : "==", TJ_C_COMPARISON, TJ_C_SUM, TJ_C_SUM);
  case TJ_OP_SELECT:
    p = write_choice(w, node, type);
    break;
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
  case TJ_OP_COUNT:
    break;
  }
  return result_of(w, node, type, p);
}

static const char *name_of(const writer *w, const tj_node *symbol) {
  for (uint32_t i = 0; i < w->function->argument_count; i++) {
    if (w->function->argument[i].symbol == symbol)
      return w->function->argument[i].name;
  }
  for (uint32_t i = 0; i < w->function->state_count; i++) {
    if (w->function->state[i].symbol == symbol)
      return tj_string_format(w->job, "walk->%s", w->function->state[i].name);
  }
  tj_fail(w->job, TJ_INTERNAL, "%s is no argument of function %s", symbol->symbol->name, w->function->name);
}

/* Gives the value a name. The comment is what facts say of it. */
static tj_c_piece name_piece(writer *w, const tj_node *node, tj_c_piece p) {
  const char *name = tj_string_format(w->job, "t%u", w->named_count++);
  tj_text_format(&w->statements, "  const %s %s = %s; /* %" PRId64 " .. %" PRId64 " */\n",
                 tj_c_type_name(tj_c_type_of(node)), name, p.text, node->facts.low, node->facts.high);
  return atom(name);
}

static tj_c_piece write_node(writer *w, uint32_t position) {
  enum { LONGEST = 80 };
  const tj_node *node = w->walk.node[position];
  if (node->op == TJ_OP_CONSTANT)
    return (tj_c_piece){tj_c_literal(w->job, node->value, tj_c_type_of(node)),
                        node->value < 0 ? TJ_C_UNARY : TJ_C_ATOM};
  if (node->op == TJ_OP_SYMBOL)
    return w->is_named[position] ? name_piece(w, node, atom(name_of(w, node))) : atom(name_of(w, node));
  tj_c_piece p = write_operation(w, node);
  bool is_last = w->has_one_root && position + 1 == w->walk.count;
  w->is_named[position] = w->is_named[position] || (strlen(p.text) > LONGEST && !is_last);
  return w->is_named[position] ? name_piece(w, node, p) : p;
}

/* What several users need, and what a choice between two values would write twice. */
static void find_named(writer *w) {
  uint32_t *uses = TJ_NEW_ARRAY(w->job, uint32_t, w->walk.count);
  for (uint32_t i = 0; i < w->walk.count; i++) {
    const tj_node *node = w->walk.node[i];
    uint32_t each = node->op == TJ_OP_MIN || node->op == TJ_OP_MAX ? 2 : 1;
    for (unsigned k = 0; k < tj_op_arity(node->op); k++)
      uses[tj_walk_find(&w->walk, node->arg[k])] += each;
  }
  for (uint32_t i = 0; i < w->walk.count; i++)
    w->is_named[i] = uses[i] > 1 && tj_op_arity(w->walk.node[i]->op) > 0;
}

static void write_nodes(writer *w) {
  for (uint32_t i = 0; i < w->walk.count; i++)
    w->made[i] = write_node(w, i);
  w->out.statements = w->statements.data;
}

static writer begin_writing(tj_graph *graph, const tj_function *function, const tj_node *const roots[],
                            uint32_t count) {
  writer w = {.job = graph->job, .function = function, .walk = tj_walk_nodes(graph, roots, count)};
  tj_spend(graph->job, w.walk.count);
  w.made = TJ_NEW_ARRAY(w.job, tj_c_piece, w.walk.count);
  w.is_named = TJ_NEW_ARRAY(w.job, bool, w.walk.count);
  w.statements = tj_text_begin(w.job);
  find_named(&w);
  return w;
}

tj_c_expression tj_c_expression_of(tj_graph *graph, const tj_function *function, const tj_node *root) {
  writer w = begin_writing(graph, function, &root, 1);
  w.has_one_root = true;
  write_nodes(&w);
  w.out.result = piece_of(&w, root).text;
  return w.out;
}

tj_c_expression tj_c_expressions_of(tj_graph *graph, const tj_function *function, const tj_node *const roots[],
                                    uint32_t count, const char *result[]) {
  writer w = begin_writing(graph, function, roots, count);
  for (uint32_t i = 0; i < count; i++)
    w.is_named[tj_walk_find(&w.walk, roots[i])] = true;
  write_nodes(&w);
  for (uint32_t i = 0; i < count; i++)
    result[i] = piece_of(&w, roots[i]).text;
  return w.out;
}
