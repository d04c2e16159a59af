/* SPDX-License-Identifier: MIT */
/* The rules of the simplifier: one table, and what a rule is made of.
 *
 * rules.def has a row for each rule; rules_*.c have their functions; simplify.c explains how they are applied, what
 * every rule owes, and how to add one. Documentation and tests walk the table. */
#ifndef TJ_IR_RULES_H
#define TJ_IR_RULES_H

#include "base/text.h"
#include "ir/index/cost.h"
#include "ir/index/facts.h"
#include "ir/index/linear.h"
#include "ir/simplify/simplify.h"

typedef struct tj_rewriter tj_rewriter;

/* Roots besides the operations: any operation; sums and products. */
enum { TJ_OP_ANY = TJ_OP_COUNT, TJ_OP_SUM, TJ_ROOT_COUNT };

/* What the rule makes of `node`, whose operation is the rule's root and whose arguments are simple; NULL where the
 * rule does not apply. */
typedef const tj_node *(*tj_rule_function)(tj_rewriter *rewriter, const tj_node *node);

typedef struct {
  const char *name;
  int root; /* a tj_op, TJ_OP_ANY or TJ_OP_SUM */
  tj_rule_function function;
  const char *statement;       /* (x*d + y)/d = x + y/d */
  const char *condition;       /* when, in words or formulas */
  const char *const *examples; /* programs in the graph form on which the rule acts; ends with NULL */
} tj_rule;

size_t tj_rule_count(void);
const tj_rule *tj_rule_at(size_t index);

/* --- for rules --- */

/* The rows of the table, by root. */
typedef struct tj_rule_index {
  uint16_t first[TJ_ROOT_COUNT], count[TJ_ROOT_COUNT];
} tj_rule_index;

/* A simplification at work. */
struct tj_rewriter {
  tj_graph *graph;
  tj_trace *trace;          /* NULL: not wanted */
  uint32_t epoch;           /* memos of this epoch or later hold */
  uint64_t limit;           /* of the graph's work: beyond it nothing more is tried */
  uint32_t substitutions;   /* nodes that were looked at under a condition */
  int nesting;              /* simple forms that are being computed for other ones */
  const char *because;      /* what the rule at work says of its condition; NULL: nothing */
  const tj_node *collected; /* the last sum that was written in canonical form */
  const tj_node *settled; /* the last that tj_rule_collect wrote, after the other rules for sums had seen its form */
  const tj_rule_index *rules;
};

/* The simple form of a node whose arguments are simple (of a sum or a product: whose atoms are). */
const tj_node *tj_simple(tj_rewriter *rewriter, const tj_node *node);
/* The simple form of an operation on simple arguments; NULL where it is not known to be defined, or where an argument
 * is NULL, so that calls nest. */
const tj_node *tj_simple2(tj_rewriter *rewriter, tj_op op, const tj_node *a, const tj_node *b);
const tj_node *tj_simple_select(tj_rewriter *rewriter, const tj_node *condition, const tj_node *then,
                                const tj_node *otherwise);
/* The simple form of a sum; NULL where the sum failed. */
const tj_node *tj_simple_sum(tj_rewriter *rewriter, const tj_sum *sum);

/* Says what allows the rewrite at work, with the facts at hand; arguments are evaluated only for a trace. */
#define TJ_BECAUSE(rewriter, ...)                                                                                    \
  ((rewriter)->trace != NULL ? (void)((rewriter)->because = tj_string_format((rewriter)->graph->job, __VA_ARGS__))   \
                             : (void)0)

/* A node for TJ_BECAUSE. */
const char *tj_rule_text(tj_rewriter *rewriter, const tj_node *node);

/* Bits that a value that is not negative may have set, of the first 64. */
static inline uint64_t tj_possible_bits(const tj_node *node) {
  return ~node->facts.zeros;
}

/* 0 <= form < divisor. */
bool tj_rule_in_range(tj_rewriter *rewriter, const tj_linear *form, const tj_node *divisor);

/* A commutative operation with its operands in order: older first, constants last; NULL where they are. */
const tj_node *tj_rule_in_order(tj_rewriter *rewriter, const tj_node *node);

/* The terms that two forms have in common, with the constant if it is the same, and what each has besides. */
void tj_rule_common_terms(const tj_linear *a, const tj_linear *b, tj_sum *common, tj_sum *only_a, tj_sum *only_b);

#define RULE(name, root, statement, condition, ...)                                                                  \
  const tj_node *tj_rule_##name(tj_rewriter *rewriter, const tj_node *node);
#include "ir/simplify/rules.def"
#undef RULE

#endif
