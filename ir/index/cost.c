/* SPDX-License-Identifier: MIT */
/* What expressions cost: weights of operations, and counts of the operations that a set of expressions needs. */
#include "ir/index/cost.h"

#include "base/number/power.h"

typedef enum { KIND_NONE, KIND_ADD, KIND_MUL, KIND_DIV, KIND_MOD, KIND_SELECT, KIND_BIT } kind;

static const kind kinds[] = {
#define OP(name, arity, text, kind, doc) KIND_##kind,
#include "base/number/op.def"
#undef OP
};

int tj_exponent_of(const tj_node *node) {
  if (!tj_is_constant(node) || !tj_is_power_of_two(node->value))
    return -1;
  return __builtin_ctzll((unsigned long long)node->value);
}

static bool is_negation(const tj_node *node) {
  return node->op == TJ_OP_MUL && (tj_is_int(node->arg[0], -1) || tj_is_int(node->arg[1], -1));
}

uint32_t tj_op_weight(tj_op op, const tj_node *const args[]) {
  switch (op) {
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return tj_exponent_of(args[1]) >= 0 ? TJ_WEIGHT_POWER : TJ_WEIGHT_QUOTIENT;
  case TJ_OP_MUL:
    if (tj_is_int(args[0], -1) || tj_is_int(args[1], -1))
      return TJ_WEIGHT_NEGATION;
    return tj_exponent_of(args[0]) >= 0 || tj_exponent_of(args[1]) >= 0 ? TJ_WEIGHT_POWER : TJ_WEIGHT_PRODUCT;
  case TJ_OP_ADD:
  case TJ_OP_LESS:
  case TJ_OP_EQUAL:
    return TJ_WEIGHT_SIMPLE;
  case TJ_OP_SELECT:
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    return TJ_WEIGHT_CHOICE;
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return TJ_WEIGHT_BITWISE;
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
  case TJ_OP_COUNT:
    break;
  }
  return 0;
}

static void count_operation(tj_op_counts *counts, tj_op op) {
  switch (kinds[op]) {
  case KIND_DIV:
    counts->div++;
    return;
  case KIND_MOD:
    counts->mod++;
    return;
  case KIND_MUL:
    counts->mul++;
    return;
  case KIND_ADD:
    counts->add++;
    return;
  case KIND_BIT:
    counts->bit++;
    return;
  case KIND_SELECT:
    counts->select++;
    return;
  case KIND_NONE:
    return;
  }
}

/* A sum that subtracts makes the negation free. */
static void mark_subtracted(const tj_node *sum, uint32_t mark) {
  for (unsigned i = 0; i < 2; i++)
    if (is_negation(sum->arg[i])) {
      tj_memo_of(sum->arg[i])->visit = mark;
      return;
    }
}

tj_op_counts tj_count_ops(tj_graph *graph, const tj_node *const roots[], size_t count) {
  const tj_walk walk = tj_walk_briefly(graph, roots, count);
  const uint32_t subtracted = ++graph->visit;
  tj_op_counts counts = {0};
  for (uint32_t i = 0; i < walk.count; i++)
    if (walk.node[i]->op == TJ_OP_ADD)
      mark_subtracted(walk.node[i], subtracted);
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *node = walk.node[i];
    if (!is_negation(node))
      count_operation(&counts, node->op);
    else if (tj_memo_of(node)->visit != subtracted)
      counts.add++;
  }
  return counts;
}

static uint32_t others(const tj_op_counts *counts) {
  return counts->add + counts->bit + counts->select;
}

bool tj_is_costlier(const tj_op_counts *a, const tj_op_counts *b) {
  enum { DIVISION_LESS = 16, PRODUCT_LESS = 3, PRODUCT_MORE = 8 };
  const int64_t divisions = (int64_t)a->div + a->mod - b->div - b->mod, products = (int64_t)a->mul - b->mul;
  const int64_t rest = (int64_t)others(a) - others(b);
  return divisions > 0 ||
         DIVISION_LESS * divisions + (products > 0 ? PRODUCT_MORE : PRODUCT_LESS) * products + rest > 0;
}
