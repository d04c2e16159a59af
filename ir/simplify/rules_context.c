/* SPDX-License-Identifier: MIT */
/* Rules that use what a condition says: inside select(p, x, y), p holds wherever x counts; in p & q, wherever q does.
 *
 * The comparisons of a condition with constants bound expressions, its subjects. A subject that can have one value is
 * replaced by it, another by a symbol that has the subject's facts and those bounds; then the expression is
 * simplified anew, and the subjects are put back. */
#include "ir/simplify/rules.h"

#include "ir/index/walk.h"

enum { MOST_SUBJECTS = 12, MOST_NODES = 128, MOST_SUBSTITUTIONS = 8192 };

/* What is known of an expression where a condition holds. */
typedef struct {
  const tj_node *expression;
  int64_t low, high;
  const tj_node *stand_in; /* a constant, or a symbol */
} subject;

typedef struct {
  subject subject[MOST_SUBJECTS];
  uint32_t count;
} context;

/* --- what a condition says --- */

static void bound(context *known, const tj_node *expression, int64_t low, int64_t high) {
  uint32_t i = 0;
  while (i < known->count && known->subject[i].expression != expression)
    i++;
  if (i == MOST_SUBJECTS)
    return;
  if (i == known->count)
    known->subject[known->count++] = (subject){expression, expression->facts.low, expression->facts.high, NULL};
  subject *found = &known->subject[i];
  found->low = low > found->low ? low : found->low;
  found->high = high < found->high ? high : found->high;
}

/* a < b, or its opposite, where one of them is a constant. */
static void learn_order(context *known, const tj_node *a, const tj_node *b, bool holds) {
  if (tj_is_constant(b) && b->value > INT64_MIN)
    bound(known, a, holds ? INT64_MIN : b->value, holds ? b->value - 1 : INT64_MAX);
  else if (tj_is_constant(a) && a->value < INT64_MAX)
    bound(known, b, holds ? a->value + 1 : INT64_MIN, holds ? INT64_MAX : a->value);
}

static void learn(context *known, const tj_node *condition, bool holds, int depth) {
  const tj_node *const *arg = condition->arg;
  if (condition->op == TJ_OP_AND && holds && depth < MOST_SUBJECTS && tj_is_truth(arg[0]) && tj_is_truth(arg[1])) {
    learn(known, arg[0], true, depth + 1);
    learn(known, arg[1], true, depth + 1);
    return;
  }
  if (condition->op == TJ_OP_LESS)
    learn_order(known, arg[0], arg[1], holds);
  if (condition->op == TJ_OP_EQUAL && holds && tj_is_constant(arg[1]))
    bound(known, arg[0], arg[1]->value, arg[1]->value);
  if (!tj_is_constant(condition))
    bound(known, condition, holds, holds);
}

/* --- standing in --- */

/* False where the condition never holds. */
static bool make_stand_ins(tj_rewriter *rewriter, context *known) {
  tj_graph *graph = rewriter->graph;
  for (uint32_t i = 0; i < known->count; i++) {
    subject *one = &known->subject[i];
    const tj_facts *facts = &one->expression->facts;
    if (one->low > one->high)
      return false;
    if (one->low == one->high) {
      one->stand_in = tj_int(graph, one->low);
      continue;
    }
    const char *name = rewriter->trace == NULL ? "x" : tj_rule_text(rewriter, one->expression);
    const tj_node *low = one->low == INT64_MIN ? NULL : tj_int(graph, one->low);
    const tj_node *high = one->high == INT64_MAX ? NULL : tj_int(graph, one->high);
    one->stand_in = tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, low, high, 1);
    tj_sharpen_facts(one->stand_in, facts);
  }
  return true;
}

static const tj_node *replaced(const context *known, const tj_node *node, bool back) {
  for (uint32_t i = 0; i < known->count; i++) {
    const subject *one = &known->subject[i];
    if (!back && node == one->expression)
      return one->stand_in;
    if (back && node == one->stand_in && !tj_is_constant(node))
      return one->expression;
  }
  return NULL;
}

/* The operation on what its arguments became; sums are made simple by their users. NULL where it is not defined. */
static const tj_node *rebuilt(tj_rewriter *rewriter, const tj_walk *walk, const tj_node *const became[],
                              const tj_node *node) {
  const bool is_sum = node->op == TJ_OP_ADD || node->op == TJ_OP_MUL;
  const tj_node *args[3] = {NULL, NULL, NULL};
  bool is_same = true;
  for (unsigned i = 0; i < tj_op_arity(node->op); i++) {
    args[i] = became[tj_walk_find(walk, node->arg[i])];
    if (args[i] == NULL)
      return NULL;
    is_same = is_same && args[i] == node->arg[i];
    args[i] = is_sum ? args[i] : tj_simple(rewriter, args[i]);
  }
  if (is_same)
    return node;
  if (!tj_is_defined(node->op, args))
    return NULL;
  const tj_node *made = tj_node_make(rewriter->graph, node->op, args);
  return is_sum ? made : tj_simple(rewriter, made);
}

/* The expression with stand-ins for subjects, or `back`; NULL where that is not defined, or too large. */
static const tj_node *substituted(tj_rewriter *rewriter, const context *known, const tj_node *node, bool back) {
  tj_walk walk = tj_walk_nodes(rewriter->graph, &node, 1);
  rewriter->graph->work += walk.count;
  rewriter->substitutions += walk.count;
  if (walk.count > MOST_NODES || rewriter->graph->work >= rewriter->limit)
    return NULL;
  const tj_node *became[MOST_NODES];
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *known_value = replaced(known, walk.node[i], back);
    became[i] = known_value != NULL                  ? known_value
                : tj_op_arity(walk.node[i]->op) == 0 ? walk.node[i]
                                                     : rebuilt(rewriter, &walk, became, walk.node[i]);
  }
  const tj_node *result = became[walk.count - 1];
  return result == NULL ? NULL : tj_simple(rewriter, result);
}

/* What the expression may be where the condition holds, or does not; NULL where that is no simpler. */
static const tj_node *where(tj_rewriter *rewriter, const tj_node *condition, bool holds, const tj_node *node) {
  enum { HEAVIEST = 1 << 12 };
  context known = {.count = 0};
  if (rewriter->substitutions > MOST_SUBSTITUTIONS || tj_is_constant(node) || node->weight > HEAVIEST ||
      (condition->symbols & node->symbols) == 0)
    return NULL;
  learn(&known, condition, holds, 0);
  if (known.count == 0 || !make_stand_ins(rewriter, &known))
    return NULL;
  const tj_node *inside = substituted(rewriter, &known, node, false);
  if (inside == NULL || inside == node)
    return NULL;
  const tj_node *result = substituted(rewriter, &known, inside, true);
  return result == NULL || result->weight >= node->weight ? NULL : result;
}

/* --- rules --- */

const tj_node *tj_rule_select_where(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *const *arg = node->arg;
  const tj_node *then = where(rewriter, arg[0], true, arg[1]);
  const tj_node *otherwise = where(rewriter, arg[0], false, arg[2]);
  if (then == NULL && otherwise == NULL)
    return NULL;
  TJ_BECAUSE(rewriter, "%s is known there", tj_rule_text(rewriter, arg[0]));
  return tj_simple_select(rewriter, arg[0], then == NULL ? arg[1] : then, otherwise == NULL ? arg[2] : otherwise);
}

const tj_node *tj_rule_and_where(tj_rewriter *rewriter, const tj_node *node) {
  for (int i = 0; i < 2 && tj_is_truth(node); i++) {
    const tj_node *given = node->arg[i];
    const tj_node *other = tj_is_truth(given) ? where(rewriter, given, true, node->arg[1 - i]) : NULL;
    if (other == NULL || !tj_is_truth(other))
      continue;
    TJ_BECAUSE(rewriter, "%s where it counts", tj_rule_text(rewriter, given));
    return tj_simple2(rewriter, TJ_OP_AND, given, other);
  }
  return NULL;
}
