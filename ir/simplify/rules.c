/* SPDX-License-Identifier: MIT */
/* The table of rules, and what the rules of all groups share. */
#include "ir/simplify/rules.h"

#include "ir/index/print.h"

#define RULE(name, root, statement, condition, ...)                                                                  \
  static const char *const examples_of_##name[] = {__VA_ARGS__, NULL};
#include "ir/simplify/rules.def"
#undef RULE

static const tj_rule rules[] = {
#define RULE(name, root, statement, condition, ...)                                                                  \
  {#name, TJ_OP_##root, tj_rule_##name, statement, condition, examples_of_##name},
#include "ir/simplify/rules.def"
#undef RULE
};

size_t tj_rule_count(void) {
  return sizeof rules / sizeof *rules;
}

const tj_rule *tj_rule_at(size_t index) {
  return &rules[index];
}

const char *tj_rule_text(tj_rewriter *rewriter, const tj_node *node) {
  return tj_node_brief(rewriter->graph->job, node);
}

const tj_node *tj_rule_in_order(tj_rewriter *rewriter, const tj_node *node) {
  const tj_node *a = node->arg[0], *b = node->arg[1];
  const bool is_in_order = tj_is_constant(b) || (!tj_is_constant(a) && a->id <= b->id);
  const tj_node *args[3] = {b, a, NULL};
  return is_in_order ? NULL : tj_node_make(rewriter->graph, node->op, args);
}

bool tj_rule_in_range(tj_rewriter *rewriter, const tj_linear *form, const tj_node *divisor) {
  if (!tj_prove_nonnegative(rewriter->graph, form))
    return false;
  tj_sum room = tj_sum_of(-1);
  tj_sum_add(&room, tj_linear_of(rewriter->graph, divisor), 1);
  tj_sum_add(&room, form, -1);
  tj_linear difference = tj_sum_form(&room);
  return !room.failed && tj_prove_nonnegative(rewriter->graph, &difference);
}
