/* SPDX-License-Identifier: MIT */
/* The rules of the simplifier, one by one, from their own table: a new row is tested by being there.
 *
 * For each example of each rule: the rule acts on it, each step of the trace keeps the value at every point of the
 * example's domain and decreases the measure, and the result, simplified again, stays as it is. Then the examples
 * are varied, with other constants and expressions in place of symbols, and compared at random points. */
#include "ir/simplify/rules.h"
#include "ir/simplify/simplify.h"
#include "tests/unit/support/index_support.h"

/* --- the measure --- */

/* Grows with operations that stand under quotients, remainders and bitwise operations, quotients counting more. */
static double order_of(const tj_node *node) {
  double sum = 1;
  if (node->op == TJ_OP_DIV)
    return 3 * order_of(node->arg[0]) + order_of(node->arg[1]);
  if (node->op == TJ_OP_MOD)
    return 2 * order_of(node->arg[0]) + order_of(node->arg[1]);
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    sum += order_of(node->arg[i]);
  if (node->op == TJ_OP_AND || node->op == TJ_OP_OR || node->op == TJ_OP_XOR)
    return 2 * sum;
  return sum;
}

/* Same operations, other order of operands. */
static bool is_reordering(const tj_node *before, const tj_node *after) {
  return before->weight == after->weight && order_of(before) == order_of(after);
}

static void check_decrease(tj_job *job, const tj_step *step) {
  const char *what = tj_string_format(job, "%s: %s -> %s", step->rule, tj_node_brief(job, step->before),
                                      tj_node_brief(job, step->after));
  ck_assert_msg(step->after->weight <= step->before->weight, "%s is heavier", what);
  const bool is_smaller =
      step->after->weight < step->before->weight || order_of(step->after) < order_of(step->before);
  ck_assert_msg(is_smaller || is_reordering(step->before, step->after), "%s does not decrease the measure", what);
}

/* --- every point of the domain --- */

static void check_everywhere(tj_graph *graph, const char *what, const tj_node *before, const tj_node *after) {
  const tj_node *both[2] = {before, after};
  point at = symbols_of(graph, both, 2);
  comparison compared = begin_comparison(graph->job, &before, &after, 1);
  uint64_t points = 0;
  const char *wrong = NULL;
  for (bool more = first_point(&at); more && wrong == NULL; more = next_point(&at))
    wrong = wrong_at(&compared, &at, &points);
  end_comparison(&compared);
  ck_assert_msg(wrong == NULL, "%s: %s -> %s: %s", what, tj_node_brief(graph->job, before),
                tj_node_brief(graph->job, after), wrong);
  ck_assert_msg(points > 0, "%s: no point to compare at", what);
}

/* --- one example --- */

typedef struct {
  const tj_rule *rule;
  const char *example;
} rule_case;

static bool trace_has(const tj_trace *trace, const char *rule) {
  for (size_t i = 0; i < trace->count; i++)
    if (strcmp(trace->step[i].rule, rule) == 0)
      return true;
  return false;
}

static void check_example(tj_job *job, void *data) {
  const rule_case *tested = data;
  const tj_rule *rule = tested->rule;
  tj_graph *graph = tj_graph_create(job);
  const tj_node *before = read_root(graph, tested->example), *after = before, *again;
  tj_trace trace = {0};
  tj_simplify(graph, &after, 1, &trace);
  ck_assert_msg(trace_has(&trace, rule->name), "%s does not act on its example: %s -> %s", rule->name,
                tested->example, tj_node_brief(job, after));
  for (size_t i = 0; i < trace.count; i++) {
    check_everywhere(graph, trace.step[i].rule, trace.step[i].before, trace.step[i].after);
    check_decrease(job, &trace.step[i]);
    ck_assert_ptr_nonnull(trace.step[i].because);
  }
  check_everywhere(graph, rule->name, before, after);
  again = tj_simplified(graph, after);
  ck_assert_msg(again == after, "%s: %s -> %s -> %s", rule->name, tested->example, tj_node_brief(job, after),
                tj_node_brief(job, again));
}

START_TEST(rules_act_on_their_examples) {
  const rule_case tested = {tj_rule_at((size_t)_i), NULL};
  for (size_t k = 0; tested.rule->examples[k] != NULL; k++) {
    tj_job job;
    rule_case one = {tested.rule, tested.rule->examples[k]};
    tj_job_init(&job, NULL);
    expect_success(&job, check_example, &one);
    tj_job_destroy(&job);
  }
  ck_assert_msg(tested.rule->examples[0] != NULL, "%s has no example", tested.rule->name);
}
END_TEST

/* --- variations of examples --- */

typedef struct {
  const tj_rule *rule;
  random_source random;
  uint64_t points;
} variation;

static int64_t varied_constant(random_source *random, int64_t value) {
  static const int64_t usual[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 24, 30, 32, 60, 63, 64, -1, -2, -6, 100};
  return random_below(random, 2) == 0 ? value : usual[random_below(random, sizeof usual / sizeof *usual)];
}

/* Something in place of a symbol: itself, a multiple, a sum, a digit. */
static const tj_node *varied_symbol(tj_graph *graph, random_source *random, const tj_node *symbol) {
  const tj_node *by = tj_int(graph, 1 + random_below(random, 12));
  switch (random_below(random, 8)) {
  case 0:
    return tj_mul(graph, symbol, by);
  case 1:
    return tj_add(graph, symbol, by);
  case 2:
    return tj_mod(graph, symbol, by);
  case 3:
    return tj_div(graph, symbol, by);
  default:
    return symbol;
  }
}

/* The expression with other constants and with expressions in place of symbols; NULL where that is not defined. */
static const tj_node *varied(tj_graph *graph, random_source *random, const tj_node *root) {
  tj_walk walk = tj_walk_nodes(graph, &root, 1);
  const tj_node **made = TJ_NEW_ARRAY(graph->job, const tj_node *, graph->node_count);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i], *args[3] = {NULL, NULL, NULL};
    for (unsigned k = 0; k < tj_op_arity(node->op); k++)
      args[k] = made[node->arg[k]->id];
    if (tj_is_constant(node))
      made[node->id] = tj_int(graph, varied_constant(random, node->value));
    else if (node->op == TJ_OP_SYMBOL)
      made[node->id] = varied_symbol(graph, random, node);
    else if (tj_is_defined(node->op, args))
      made[node->id] = tj_node_make(graph, node->op, args);
    else
      return NULL;
  }
  return made[root->id];
}

static void check_variation(tj_job *job, void *data) {
  enum { POINTS = 12 };
  variation *tested = data;
  tj_graph *graph = tj_graph_create(job);
  size_t examples = 0;
  while (tested->rule->examples[examples] != NULL)
    examples++;
  const char *text = tested->rule->examples[random_below(&tested->random, (uint32_t)examples)];
  const tj_node *before = varied(graph, &tested->random, read_root(graph, text));
  if (before == NULL)
    return;
  const tj_node *after = tj_simplified(graph, before);
  point at = symbols_of(graph, &before, 1);
  comparison compared = begin_comparison(job, &before, &after, 1);
  const char *wrong = NULL;
  for (int i = 0; i < POINTS && wrong == NULL; i++)
    if (random_point(&tested->random, &at))
      wrong = wrong_at(&compared, &at, &tested->points);
  end_comparison(&compared);
  ck_assert_msg(wrong == NULL, "%s, varied: %s -> %s: %s", tested->rule->name, tj_node_brief(job, before),
                tj_node_brief(job, after), wrong);
}

START_TEST(rules_keep_values_on_variations) {
  enum { VARIATIONS = 400 };
  variation tested = {tj_rule_at((size_t)_i), {environment_number("TILEJIT_SEED", 1) * 1000 + (uint64_t)_i}, 0};
  for (int i = 0; i < VARIATIONS; i++) {
    tj_job job;
    tj_job_init(&job, NULL);
    expect_success(&job, check_variation, &tested);
    tj_job_destroy(&job);
  }
  ck_assert_msg(tested.points > 0, "%s: nothing was compared", tested.rule->name);
}
END_TEST

/* --- the table itself --- */

START_TEST(rules_are_grouped_and_named_once) {
  for (size_t i = 0; i < tj_rule_count(); i++) {
    bool group_ended = false;
    for (size_t k = i + 1; k < tj_rule_count(); k++) {
      ck_assert_str_ne(tj_rule_at(i)->name, tj_rule_at(k)->name);
      group_ended |= tj_rule_at(k)->root != tj_rule_at(i)->root;
      ck_assert_msg(!group_ended || tj_rule_at(k)->root != tj_rule_at(i)->root, "%s stands apart from its group",
                    tj_rule_at(k)->name);
    }
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("rules");
  TCase *tcase = tcase_create("rules");
  tcase_set_timeout(tcase, 500);
  tcase_add_test(tcase, rules_are_grouped_and_named_once);
  tcase_add_loop_test(tcase, rules_act_on_their_examples, 0, (int)tj_rule_count());
  tcase_add_loop_test(tcase, rules_keep_values_on_variations, 0, (int)tj_rule_count());
  suite_add_tcase(suite, tcase);
  return run_suite(suite);
}
