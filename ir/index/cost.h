/* SPDX-License-Identifier: MIT */
/* What operations cost: weights in the measure that the simplifier decreases, and costs of whole graphs. */
#ifndef TJ_IR_COST_H
#define TJ_IR_COST_H

#include "ir/index/graph.h"
#include "ir/index/walk.h"

/* Weights of operations in an expression taken as a tree: see tj_op_weight. */
enum {
  TJ_WEIGHT_NEGATION = 2,
  TJ_WEIGHT_SIMPLE = 8, /* sums, comparisons */
  TJ_WEIGHT_POWER = 9,  /* products, quotients and remainders by a constant power of two */
  TJ_WEIGHT_BITWISE = 10,
  TJ_WEIGHT_CHOICE = 12,
  TJ_WEIGHT_PRODUCT = 40,
  TJ_WEIGHT_QUOTIENT = 160,
};

/* What one operation weighs: divisions and modulos most, then multiplications, then the rest; by a constant power of
 * two they weigh as much as the shift or mask that they become. The arguments matter for that alone. */
uint32_t tj_op_weight(tj_op op, const tj_node *const args[]);

/* Whether operations `a` cost more than operations `b`: more divisions and modulos do; a division less is worth 16
 * other operations, a multiplication less 3 of them, and a multiplication more costs 8. */
bool tj_is_costlier(const tj_op_counts *a, const tj_op_counts *b);

/* n for the constant 2^n, -1 for anything else. */
int tj_exponent_of(const tj_node *node);

#endif
