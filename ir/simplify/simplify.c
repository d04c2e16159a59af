/* SPDX-License-Identifier: MIT */
/* The simplifier.
 *
 * How it works. Expressions are rewritten from their leaves to their roots, each node once, however it is shared: a
 * node's arguments become simple first; the node on simple arguments is then offered to the rules whose root is its
 * operation, in the order of the table (rules.def), until one gives something else, which is offered again, until
 * no rule acts. What a node became is remembered in the graph, so that it is never asked again. A rule builds its
 * result with tj_simple2 and tj_simple_sum, which give simple forms; it sees its whole argument, so that matching is
 * plain C on a few fields, and on linear forms (linear.h) where sums are concerned.
 *
 * Sums and products are not rewritten term by term: i + (j + (k + …)) has one linear form, whose atoms are simple.
 * Only where something else needs the sum, or at a root, is it written as an expression again (emit.c), offered to
 * the rules for sums, and simple. Sums of more terms than a form can have are cut into pieces, each an atom of the
 * next.
 *
 * What every rule owes.
 *  1. The value stays the same wherever the symbols' facts hold, in mathematical integers. A rule may use the facts
 *     of its arguments and the proofs of facts.h, and must not compute a constant that overflows: it gives NULL then.
 *  2. The measure gets smaller. The measure of an expression is, first, its weight as a tree (tj_op_weight: quotients
 *     and remainders most, then products, then the rest); where weights are equal, the sum over its nodes of how far
 *     they stand under quotients, remainders and bitwise operations; where that is equal too, whether its operands
 *     are in order. The first two are bounded from below, and order is established once, so that rewriting ends. The
 *     engine refuses a result that weighs more; test_rules.c checks the rest.
 *  3. The result is defined: divisors of new quotients are known not to be zero, operands of bits not negative.
 *
 * Since expressions share, a tree that weighs less can be a graph that costs more. So at the end the operations of
 * input and result are counted; where the result would cost more, quotients and remainders by powers of two are
 * written as the shifts and masks they may have been, and where that does not help the input's root is kept.
 *
 * Work is bounded: nodes made, rules tried by the terms they look at, and steps of proofs are counted in the graph,
 * in units of some 20 ns, and compared with a limit that grows with the input. Beyond it, what was reached so far
 * stands, and the rest stays as it is.
 *
 * How to add a rule: write its row in rules.def, with examples; write its function tj_rule_NAME in the rules_*.c of
 * its group, small, with TJ_BECAUSE for what it learnt from facts; run test_rules, which finds the row by itself, and
 * scripts/generate-docs. */
#include "ir/simplify/simplify.h"

#include "ir/index/cost.h"
#include "ir/index/validate.h"
#include "ir/index/walk.h"
#include "ir/simplify/rules.h"

#include <string.h>

enum { DEEPEST_NESTING = 48, MANY_TERMS = 24 };

/* In units of tj_graph.work. */
enum { FIRST_BUDGET = 100000, BUDGET_PER_NODE = 350, WORK_OF_RULES = 16, WORK_PER_TERM = 4, WORK_PER_FUEL = 32 };

/* --- applying rules --- */

/* Listed once in the life of a graph. */
static const tj_rule_index *index_of_rules(tj_graph *graph) {
  if (graph->rules != NULL)
    return graph->rules;
  tj_rule_index *index = TJ_NEW(graph->job, tj_rule_index);
  for (size_t i = 0; i < tj_rule_count(); i++) {
    int root = tj_rule_at(i)->root;
    if (index->count[root]++ == 0)
      index->first[root] = (uint16_t)i;
  }
  return graph->rules = index;
}

static void record(tj_rewriter *rewriter, const tj_rule *rule, const tj_node *before, const tj_node *after) {
  tj_trace *trace = rewriter->trace;
  if (trace == NULL)
    return;
  if (trace->count == trace->capacity) {
    size_t capacity = trace->capacity == 0 ? 32 : trace->capacity * 2;
    tj_step *larger = TJ_NEW_ARRAY(rewriter->graph->job, tj_step, capacity);
    if (trace->count > 0)
      memcpy(larger, trace->step, trace->count * sizeof *larger);
    trace->step = larger;
    trace->capacity = capacity;
  }
  const char *because = rewriter->because != NULL ? rewriter->because : rule->condition;
  trace->step[trace->count++] = (tj_step){rule->name, before, after, because};
}

static const tj_node *apply_rules_of(tj_rewriter *rewriter, int root, const tj_node *node) {
  const tj_rule *first = tj_rule_at(rewriter->rules->first[root]), *end = first + rewriter->rules->count[root];
  for (const tj_rule *rule = first; rule < end; rule++) {
    rewriter->because = NULL;
    const tj_node *after = rule->function(rewriter, node);
    if (after == NULL || after == node || after->weight > node->weight)
      continue;
    tj_sharpen_facts(after, &node->facts);
    record(rewriter, rule, node, after);
    return after;
  }
  return NULL;
}

/* Rules for sums look at forms alone, so what was just collected from a form that they saw needs them no more. */
static const tj_node *apply_rules_of_operation(tj_rewriter *rewriter, const tj_node *node) {
  if (node == rewriter->settled)
    return NULL;
  const bool is_sum = node->op == TJ_OP_ADD || node->op == TJ_OP_MUL;
  return apply_rules_of(rewriter, is_sum ? TJ_OP_SUM : (int)node->op, node);
}

static uint32_t known_terms(const tj_node *node) {
  const tj_linear *form = tj_memo_of(node)->linear;
  return form == NULL ? 0 : form->count;
}

/* Rules look at the terms of the node, or of its arguments. */
static uint32_t work_of_rules(const tj_node *node) {
  uint32_t terms = known_terms(node);
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    terms += known_terms(node->arg[i]);
  return WORK_OF_RULES + WORK_PER_TERM * terms;
}

static const tj_node *apply_rules(tj_rewriter *rewriter, const tj_node *node) {
  rewriter->graph->work += work_of_rules(node);
  const tj_node *after = apply_rules_of(rewriter, TJ_OP_ANY, node);
  return after != NULL ? after : apply_rules_of_operation(rewriter, node);
}

static bool is_exhausted(const tj_rewriter *rewriter) {
  return rewriter->graph->work >= rewriter->limit;
}

static const tj_node *known_simple(tj_rewriter *rewriter, const tj_node *node) {
  return tj_simple_since(node, rewriter->epoch);
}

static void remember_simple(tj_rewriter *rewriter, const tj_node *node, const tj_node *simple) {
  if (is_exhausted(rewriter))
    return;
  tj_memo *memo = tj_memo_of(node);
  memo->simple = simple;
  memo->epoch = rewriter->epoch;
}

const tj_node *tj_simple(tj_rewriter *rewriter, const tj_node *node) {
  if (tj_is_constant(node))
    return node;
  const tj_node *current = known_simple(rewriter, node);
  if (current != NULL)
    return current;
  if (is_exhausted(rewriter) || rewriter->nesting == DEEPEST_NESTING)
    return node;
  const char *because = rewriter->because;
  rewriter->nesting++;
  current = node;
  for (const tj_node *next = node; next != NULL && !is_exhausted(rewriter);) {
    next = tj_is_constant(current) ? NULL : apply_rules(rewriter, current);
    current = next == NULL ? current : next;
    const tj_node *known = next == NULL ? NULL : known_simple(rewriter, current);
    if (known != NULL) {
      current = known;
      break;
    }
  }
  rewriter->nesting--;
  rewriter->because = because;
  remember_simple(rewriter, node, current);
  remember_simple(rewriter, current, current);
  return current;
}

const tj_node *tj_simple2(tj_rewriter *rewriter, tj_op op, const tj_node *a, const tj_node *b) {
  const tj_node *args[3] = {a, b, NULL};
  if (a == NULL || b == NULL || !tj_is_defined(op, args))
    return NULL;
  return tj_simple(rewriter, tj_node_make(rewriter->graph, op, args));
}

const tj_node *tj_simple_select(tj_rewriter *rewriter, const tj_node *condition, const tj_node *then,
                                const tj_node *otherwise) {
  const tj_node *args[3] = {condition, then, otherwise};
  if (condition == NULL || then == NULL || otherwise == NULL || !tj_is_defined(TJ_OP_SELECT, args))
    return NULL;
  return tj_simple(rewriter, tj_node_make(rewriter->graph, TJ_OP_SELECT, args));
}

const tj_node *tj_simple_sum(tj_rewriter *rewriter, const tj_sum *sum) {
  const tj_node *written = tj_sum_node(rewriter->graph, sum);
  rewriter->collected = written;
  return written == NULL ? NULL : tj_simple(rewriter, written);
}

/* --- from leaves to roots --- */

static const tj_node *draft_of(const tj_node *node) {
  return tj_memo_of(node)->draft;
}

/* The simple form of a node whose draft is made. */
static const tj_node *demand(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *simple = tj_simple(rewriter, draft_of(node));
  tj_sharpen_facts(simple, &node->facts);
  remember_simple(rewriter, node, simple);
  return simple;
}

/* A long sum as the one atom of sums that contain it. */
static const tj_node *demand_sealed(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *simple = demand(rewriter, node);
  if (!tj_is_constant(simple))
    tj_linear_seal(rewriter->graph, simple);
  return simple;
}

static uint32_t term_count(tj_rewriter *rewriter, const tj_node *draft) {
  return tj_linear_of(rewriter->graph, draft)->count;
}

static const tj_node *make2(tj_rewriter *rewriter, tj_op op, const tj_node *a, const tj_node *b) {
  const tj_node *args[3] = {a, b, NULL};
  return tj_node_make(rewriter->graph, op, args);
}

static const tj_node *draft_sum(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *a = draft_of(node->arg[0]), *b = draft_of(node->arg[1]);
  if (term_count(rewriter, a) + term_count(rewriter, b) > MANY_TERMS) {
    bool left_is_longer = term_count(rewriter, a) >= term_count(rewriter, b);
    if (left_is_longer)
      a = demand_sealed(rewriter, node->arg[0]);
    else
      b = demand_sealed(rewriter, node->arg[1]);
  }
  return make2(rewriter, TJ_OP_ADD, a, b);
}

static const tj_node *draft_product(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *a = draft_of(node->arg[0]), *b = draft_of(node->arg[1]);
  if (!tj_is_constant(a) && !tj_is_constant(b)) {
    a = demand(rewriter, node->arg[0]);
    b = demand(rewriter, node->arg[1]);
  }
  const tj_node *draft = make2(rewriter, TJ_OP_MUL, a, b);
  return tj_is_atom(rewriter->graph, draft)
             ? make2(rewriter, TJ_OP_MUL, demand(rewriter, node->arg[0]), demand(rewriter, node->arg[1]))
             : draft;
}

static const tj_node *draft_operation(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *args[3] = {NULL, NULL, NULL};
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    args[i] = demand(rewriter, node->arg[i]);
  return tj_simple(rewriter, tj_node_make(rewriter->graph, node->op, args));
}

static const tj_node *make_draft(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *known = known_simple(rewriter, node);
  if (known != NULL)
    return known;
  switch (node->op) {
  case TJ_OP_CONSTANT:
    return node;
  case TJ_OP_SYMBOL:
    return tj_simple(rewriter, node);
  case TJ_OP_ADD:
    return draft_sum(rewriter, node);
  case TJ_OP_MUL:
    return draft_product(rewriter, node);
  default:
    return draft_operation(rewriter, node);
  }
}

static void simplify_all(tj_rewriter *rewriter, const tj_walk *walk, const tj_node *roots[], size_t count) {
  const uint64_t before = rewriter->graph->work;
  rewriter->limit = before + FIRST_BUDGET + (uint64_t)walk->count * BUDGET_PER_NODE;
  for (uint32_t i = 0; i < walk->count; i++)
    tj_memo_of(walk->node[i])->draft = make_draft(rewriter, walk->node[i]);
  for (size_t i = 0; i < count; i++)
    roots[i] = demand(rewriter, roots[i]);
  tj_spend(rewriter->graph->job, (rewriter->graph->work - before) / WORK_PER_FUEL);
}

/* --- never costlier --- */

/* The operation as a shift or a mask where it is by a power of two, else as it is. */
static const tj_node *as_bits(tj_graph *graph, tj_op op, const tj_node *const args[]) {
  int exponent = tj_op_arity(op) == 2 ? tj_exponent_of(args[1]) : -1;
  const tj_node *amount[3] = {args[0], NULL, NULL};
  if (exponent < 0 || exponent > 62 || (op != TJ_OP_DIV && op != TJ_OP_MOD && op != TJ_OP_MUL) ||
      (op == TJ_OP_MOD && args[0]->facts.low < 0))
    return tj_node_make(graph, op, args);
  amount[1] = tj_int(graph, op == TJ_OP_MOD ? args[1]->value - 1 : exponent);
  return tj_node_make(graph, op == TJ_OP_DIV ? TJ_OP_SHR : op == TJ_OP_MOD ? TJ_OP_AND : TJ_OP_SHL, amount);
}

/* What the inputs have as quotients and remainders stays so. */
static void write_with_bits(tj_graph *graph, const tj_node *const inputs[], const tj_node *roots[], size_t count) {
  const tj_walk walk = tj_walk_nodes(graph, roots, count);
  tj_walk_nodes(graph, inputs, count);
  const uint32_t of_inputs = graph->visit;
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i], *args[3] = {NULL, NULL, NULL}, *written = node;
    for (unsigned k = 0; k < tj_op_arity(node->op); k++)
      args[k] = tj_memo_of(node->arg[k])->draft;
    if (tj_op_arity(node->op) > 0 && tj_memo_of(node)->visit == of_inputs)
      written = tj_node_make(graph, node->op, args);
    else if (tj_op_arity(node->op) > 0)
      written = as_bits(graph, node->op, args);
    tj_sharpen_facts(written, &node->facts);
    tj_memo_of(node)->draft = written;
  }
  for (size_t i = 0; i < count; i++)
    roots[i] = tj_memo_of(roots[i])->draft;
}

/* Root by root, the result where it makes the roots so far cost no more than the input does. */
static void choose_each(tj_graph *graph, const tj_node *const inputs[], const tj_node *results[], size_t count) {
  for (size_t i = 0; i < count; i++) {
    const tj_node *result = results[i];
    const tj_op_counts with_result = tj_count_ops(graph, results, i + 1);
    results[i] = inputs[i];
    const tj_op_counts with_input = tj_count_ops(graph, results, i + 1);
    if (!tj_is_costlier(&with_result, &with_input))
      results[i] = result;
  }
}

static bool are_costlier(tj_graph *graph, const tj_node *const roots[], const tj_op_counts *than, size_t count) {
  const tj_op_counts counts = tj_count_ops(graph, roots, count);
  return tj_is_costlier(&counts, than);
}

static void keep_no_costlier(tj_graph *graph, const tj_node *const inputs[], const tj_node *results[], size_t count) {
  enum { MOST_CHOICES = 32 };
  if (memcmp(results, inputs, count * sizeof *results) == 0)
    return;
  const tj_op_counts before = tj_count_ops(graph, inputs, count);
  if (!are_costlier(graph, results, &before, count))
    return;
  const tj_node **written = tj_arena_copy(&graph->job->arena, results, count * sizeof *results);
  write_with_bits(graph, inputs, written, count);
  if (are_costlier(graph, written, &before, count) && count <= MOST_CHOICES)
    choose_each(graph, inputs, written, count);
  if (are_costlier(graph, written, &before, count))
    memcpy(written, inputs, count * sizeof *written);
  memcpy(results, written, count * sizeof *written);
}

/* Inner nodes may be deeper than expressions may be; results may not. */
static void keep_no_deeper(const tj_node *const inputs[], const tj_node *results[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (results[i]->depth > TJ_MAX_NODE_DEPTH)
      results[i] = inputs[i];
}

static bool are_leaves(const tj_node *const roots[], size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!tj_is_constant(roots[i]))
      return false;
  return true;
}

void tj_simplify(tj_graph *graph, const tj_node *roots[], size_t count, tj_trace *trace) {
  if (are_leaves(roots, count))
    return;
  tj_rewriter rewriter = {.graph = graph, .trace = trace, .rules = index_of_rules(graph)};
  rewriter.epoch = trace == NULL ? 0 : ++graph->epoch;
  const tj_node **inputs = tj_arena_copy(&graph->job->arena, roots, count * sizeof *roots);
  const tj_walk walk = tj_walk_new(graph, roots, count, rewriter.epoch);
  simplify_all(&rewriter, &walk, roots, count);
  keep_no_deeper(inputs, roots, count);
  keep_no_costlier(graph, inputs, roots, count);
  TJ_VALIDATE(graph, roots, count);
}

/* What stopped for lack of work may go on another time; so only what a whole walk has come to is remembered. */
const tj_node *tj_simplified(tj_graph *graph, const tj_node *node) {
  const tj_node *settled = tj_memo_of(node)->settled, *input = node;
  if (settled != NULL)
    return settled;
  tj_simplify(graph, &node, 1, NULL);
  if (tj_memo_of(input)->simple != NULL && tj_memo_of(node)->simple != NULL)
    tj_memo_of(input)->settled = node;
  return node;
}
