/* What expressions cost: weights of operations, and counts of the operations that a set of expressions needs. */
#include "ir/walk.h"

typedef enum { KIND_NONE, KIND_ADD, KIND_MUL, KIND_DIV, KIND_MOD, KIND_SELECT, KIND_BIT } kind;

static const kind kinds[] = {
#define OP(name, arity, text, kind, doc) KIND_##kind,
#include "ir/op.def"
#undef OP
};

static bool is_power_of_two(const tj_node *node) {
  return tj_is_constant(node) && node->value > 0 && (node->value & (node->value - 1)) == 0;
}

static bool is_negation(const tj_node *node) {
  return node->op == TJ_OP_MUL && (tj_is_int(node->arg[0], -1) || tj_is_int(node->arg[1], -1));
}

uint32_t tj_op_weight(tj_op op, const tj_node *const args[]) {
  enum { SIMPLE = 8, POWER = 9, BITWISE = 10, CHOICE = 12, PRODUCT = 40, QUOTIENT = 160, NEGATION = 2 };
  switch (op) {
  case TJ_OP_DIV:
  case TJ_OP_MOD:
    return is_power_of_two(args[1]) ? POWER : QUOTIENT;
  case TJ_OP_MUL:
    if (tj_is_int(args[0], -1) || tj_is_int(args[1], -1))
      return NEGATION;
    return is_power_of_two(args[0]) || is_power_of_two(args[1]) ? POWER : PRODUCT;
  case TJ_OP_ADD:
  case TJ_OP_LESS:
  case TJ_OP_EQUAL:
    return SIMPLE;
  case TJ_OP_SELECT:
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    return CHOICE;
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return BITWISE;
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
static void mark_subtracted(tj_graph *graph, const tj_node *sum, uint32_t mark) {
  for (unsigned i = 0; i < 2; i++)
    if (is_negation(sum->arg[i])) {
      tj_memo_of(graph, sum->arg[i])->visit = mark;
      return;
    }
}

tj_op_counts tj_count_ops(tj_graph *graph, const tj_node *const roots[], size_t count) {
  tj_op_counts counts = {0};
  tj_walk walk = tj_walk_nodes(graph, roots, count);
  uint32_t subtracted = ++graph->visit;
  for (uint32_t i = walk.count; i-- > 0;) {
    const tj_node *node = walk.node[i];
    if (node->op == TJ_OP_ADD)
      mark_subtracted(graph, node, subtracted);
    if (!is_negation(node))
      count_operation(&counts, node->op);
    else if (tj_memo_of(graph, node)->visit != subtracted)
      counts.add++;
  }
  return counts;
}
