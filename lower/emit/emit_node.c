/* SPDX-License-Identifier: MIT */
/* Index expressions: the value of each node, from the values of its arguments.
 *
 * An operation is computed in 32 bits where facts show that its arguments and its value all fit in signed, or all in
 * unsigned, 32-bit integers, and in 64 bits elsewhere; tj_check_widths has shown that 64 are enough. Truths are i1
 * until somebody counts with them. The walk has arguments before users, so there is no recursion. */
#include "lower/emit/emit.h"

/* --- where values are --- */

/* NULL: it has none yet. */
static LLVMValueRef find_value(const tj_emitter *emitter, const tj_node *node) {
  uint32_t position = tj_kernel_nodes_find(&emitter->nodes, node);
  return position != TJ_NO_POSITION ? emitter->value[position] : NULL;
}

/* Steps that come from bytes may ask for what nobody has computed. */
static LLVMValueRef value_of(const tj_emitter *emitter, const tj_node *node) {
  LLVMValueRef value = find_value(emitter, node);
  if (value == NULL)
    tj_fail(emitter->job, TJ_CODEGEN, "kernel %s uses an expression before it has a value", emitter->kernel->name);
  return value;
}

static void set_value(tj_emitter *emitter, const tj_node *node, LLVMValueRef value) {
  uint32_t position = tj_kernel_nodes_find(&emitter->nodes, node);
  if (position != TJ_NO_POSITION)
    emitter->value[position] = value;
}

/* --- operands --- */

static LLVMValueRef widened(tj_emitter *emitter, LLVMValueRef value, const tj_node *node, LLVMTypeRef type) {
  if (node->facts.low < 0)
    return LLVMBuildSExt(emitter->builder, value, type, "");
  LLVMValueRef wide = LLVMBuildZExt(emitter->builder, value, type, "");
  bool is_extension = LLVMIsAZExtInst(wide) != NULL;
  if (is_extension && LLVMTypeOf(value) == emitter->i32 && node->facts.high <= INT32_MAX)
    LLVMSetNNeg(wide, true);
  return wide;
}

LLVMValueRef tj_emit_operand(tj_emitter *emitter, const tj_node *node, tj_width width) {
  if (tj_is_constant(node))
    return tj_emit_int(emitter, width.bits, node->value);
  LLVMValueRef value = value_of(emitter, node);
  LLVMTypeRef type = tj_emit_int_type(emitter, width.bits);
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(value));
  if (bits < width.bits)
    return widened(emitter, value, node, type);
  return bits > width.bits ? LLVMBuildTrunc(emitter->builder, value, type, "") : value;
}

static bool is_truth_constant(const tj_node *node) {
  return tj_is_int(node, 0) || tj_is_int(node, 1);
}

static bool is_truth_value(const tj_emitter *emitter, const tj_node *node) {
  return !tj_is_constant(node) && LLVMTypeOf(value_of(emitter, node)) == emitter->i1;
}

LLVMValueRef tj_emit_truth(tj_emitter *emitter, const tj_node *node) {
  if (is_truth_constant(node) || is_truth_value(emitter, node))
    return tj_emit_operand(emitter, node, (tj_width){1, false, true});
  tj_width width = tj_width_of(&node, 1);
  LLVMValueRef value = tj_emit_operand(emitter, node, width);
  return LLVMBuildICmp(emitter->builder, LLVMIntNE, value, tj_emit_int(emitter, width.bits, 0), "");
}

/* Whether the operation takes truths to a truth, and one argument at least is an i1 already. */
static bool is_on_truths(const tj_emitter *emitter, const tj_node *node) {
  bool has_value = false;
  for (unsigned i = node->op == TJ_OP_SELECT ? 1 : 0; i < tj_op_arity(node->op); i++) {
    bool is_value = is_truth_value(emitter, node->arg[i]);
    if (!is_value && !is_truth_constant(node->arg[i]))
      return false;
    has_value = has_value || is_value;
  }
  return has_value;
}

/* The width of an operation for which truths may stay truths. */
static tj_width width_with_truths(const tj_emitter *emitter, const tj_node *node) {
  return is_on_truths(emitter, node) ? (tj_width){1, false, true} : tj_width_of_operation(node);
}

/* --- operations --- */

static LLVMValueRef emit_extremum(tj_emitter *emitter, const tj_node *node) {
  bool is_min = node->op == TJ_OP_MIN;
  tj_width width = tj_width_of_operation(node);
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef b = tj_emit_operand(emitter, node->arg[1], width);
  const char *name = width.is_signed ? (is_min ? "llvm.smin" : "llvm.smax") : (is_min ? "llvm.umin" : "llvm.umax");
  return tj_emit_binary_intrinsic(emitter, name, a, b);
}

static LLVMValueRef emit_bitwise(tj_emitter *emitter, const tj_node *node) {
  tj_width width = width_with_truths(emitter, node);
  if (tj_emits_range(emitter, node))
    return tj_emit_range(emitter, node);
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef b = tj_emit_operand(emitter, node->arg[1], width);
  if (node->op == TJ_OP_AND)
    return LLVMBuildAnd(emitter->builder, a, b, "");
  if (node->op == TJ_OP_XOR)
    return LLVMBuildXor(emitter->builder, a, b, "");
  LLVMValueRef either = LLVMBuildOr(emitter->builder, a, b, "");
  bool is_disjoint = (node->arg[0]->facts.zeros | node->arg[1]->facts.zeros) == UINT64_MAX;
  if (is_disjoint && LLVMIsAInstruction(either) != NULL)
    LLVMSetIsDisjoint(either, true);
  return either;
}

static LLVMValueRef emit_shift(tj_emitter *emitter, const tj_node *node) {
  tj_width width = tj_width_of_operation(node);
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef amount = tj_emit_operand(emitter, node->arg[1], width);
  if (node->op == TJ_OP_SHR)
    return width.is_unsigned ? LLVMBuildLShr(emitter->builder, a, amount, "")
                             : LLVMBuildAShr(emitter->builder, a, amount, "");
  LLVMValueRef shifted = LLVMBuildShl(emitter->builder, a, amount, "");
  tj_emit_no_wrap(shifted, width);
  return shifted;
}

static LLVMValueRef emit_comparison(tj_emitter *emitter, const tj_node *node) {
  tj_width width = node->op == TJ_OP_EQUAL ? width_with_truths(emitter, node) : tj_width_of_operation(node);
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef b = tj_emit_operand(emitter, node->arg[1], width);
  LLVMIntPredicate less = width.is_signed ? LLVMIntSLT : LLVMIntULT;
  return LLVMBuildICmp(emitter->builder, node->op == TJ_OP_EQUAL ? LLVMIntEQ : less, a, b, "");
}

static LLVMValueRef emit_select(tj_emitter *emitter, const tj_node *node) {
  tj_width width = width_with_truths(emitter, node);
  LLVMValueRef condition = tj_emit_truth(emitter, node->arg[0]);
  LLVMValueRef then = tj_emit_operand(emitter, node->arg[1], width);
  LLVMValueRef otherwise = tj_emit_operand(emitter, node->arg[2], width);
  return LLVMBuildSelect(emitter->builder, condition, then, otherwise, "");
}

static LLVMValueRef emit_operation(tj_emitter *emitter, const tj_node *node) {
  switch (node->op) {
  case TJ_OP_ADD:
    return tj_emit_sum(emitter, node);
  case TJ_OP_MUL:
    return tj_emit_product(emitter, node);
  case TJ_OP_DIV:
    return tj_emit_quotient(emitter, node);
  case TJ_OP_MOD:
    return tj_emit_remainder(emitter, node);
  case TJ_OP_MIN:
  case TJ_OP_MAX:
    return emit_extremum(emitter, node);
  case TJ_OP_AND:
  case TJ_OP_OR:
  case TJ_OP_XOR:
    return emit_bitwise(emitter, node);
  case TJ_OP_SHL:
  case TJ_OP_SHR:
    return emit_shift(emitter, node);
  case TJ_OP_LESS:
  case TJ_OP_EQUAL:
    return emit_comparison(emitter, node);
  case TJ_OP_SELECT:
    return emit_select(emitter, node);
  case TJ_OP_CONSTANT:
  case TJ_OP_SYMBOL:
  case TJ_OP_COUNT:
    break;
  }
  return NULL;
}

/* --- all nodes --- */

static void emit_position(tj_emitter *emitter, uint32_t position) {
  const tj_node *node = emitter->nodes.walk.node[position];
  if (emitter->value[position] == NULL && tj_op_arity(node->op) > 0)
    emitter->value[position] = emit_operation(emitter, node);
}

/* Whether all arguments have values: those that steps look up later have none yet. */
static bool is_ready(const tj_emitter *emitter, const tj_node *node) {
  bool is_ready = true;
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    is_ready = is_ready && (tj_is_constant(node->arg[i]) || find_value(emitter, node->arg[i]) != NULL);
  return is_ready;
}

static void emit_level(tj_emitter *emitter, tj_level level) {
  const tj_kernel_nodes *nodes = &emitter->nodes;
  emitter->level = level;
  for (uint32_t i = 0; i < nodes->walk.count; i++) {
    uint32_t position = nodes->order[i];
    if (nodes->level[position] == level && is_ready(emitter, nodes->walk.node[position]))
      emit_position(emitter, position);
  }
}

/* A launched binding's value: a parameter, or a derived word. */
static LLVMValueRef launched_value(const tj_emitter *emitter, const tj_node *value) {
  const tj_kernel *kernel = emitter->kernel;
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    if (kernel->parameter[i] == value)
      return emitter->parameter[i];
  }
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    if (kernel->derived[i].kind == TJ_DERIVED_VALUE && kernel->derived[i].node == value)
      return emitter->derived[i];
  }
  tj_fail(emitter->job, TJ_INTERNAL, "a launch passes too few words to kernel %s", kernel->name);
}

static void emit_launched(tj_emitter *emitter, const tj_kernel_binding *binding) {
  LLVMTypeRef type = tj_emit_int_type(emitter, tj_width_of(&binding->symbol, 1).bits);
  LLVMValueRef value = launched_value(emitter, binding->value);
  bool is_signed = binding->value->facts.low < 0;
  set_value(emitter, binding->symbol, LLVMBuildIntCast2(emitter->builder, value, type, is_signed, ""));
}

void tj_emit_launch_nodes(tj_emitter *emitter) {
  const tj_kernel *kernel = emitter->kernel;
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    set_value(emitter, kernel->parameter[i], emitter->parameter[i]);
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    if (kernel->derived[i].kind == TJ_DERIVED_VALUE && kernel->derived[i].node != NULL)
      set_value(emitter, kernel->derived[i].node, emitter->derived[i]);
  }
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    if (kernel->binding[i].is_launched)
      emit_launched(emitter, &kernel->binding[i]);
  }
  emit_level(emitter, TJ_LEVEL_LAUNCH);
}

/* Emits a binding's value, and gives it to the symbol, as wide as the symbol's facts are. */
static void emit_binding(tj_emitter *emitter, const tj_kernel_binding *binding) {
  bool *mark = TJ_NEW_ARRAY(emitter->job, bool, emitter->nodes.walk.count);
  tj_kernel_nodes_mark(&emitter->nodes, binding->value, mark);
  tj_kernel_nodes_spread(&emitter->nodes, mark);
  tj_emit_marked_nodes(emitter, mark);
  set_value(emitter, binding->symbol, tj_emit_operand(emitter, binding->value, tj_width_of(&binding->symbol, 1)));
}

void tj_emit_workgroup_nodes(tj_emitter *emitter, LLVMValueRef workgroup) {
  set_value(emitter, emitter->kernel->workgroup, workgroup);
  emitter->level = TJ_LEVEL_WORKGROUP;
  for (uint32_t i = 0; i < emitter->kernel->binding_count; i++) {
    if (!emitter->kernel->binding[i].is_launched)
      emit_binding(emitter, &emitter->kernel->binding[i]);
  }
  emit_level(emitter, TJ_LEVEL_WORKGROUP);
}

void tj_emit_begin_item_nodes(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value) {
  for (uint32_t i = 0; i < emitter->nodes.walk.count; i++) {
    if (emitter->nodes.level[i] >= TJ_LEVEL_ITEM)
      emitter->value[i] = NULL;
  }
  set_value(emitter, symbol, value);
  emitter->level = TJ_LEVEL_ITEM;
}

void tj_emit_item_nodes(tj_emitter *emitter) {
  emit_level(emitter, TJ_LEVEL_ITEM);
}

void tj_emit_looked_up(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value) {
  set_value(emitter, symbol, value);
}

void tj_emit_carried(tj_emitter *emitter, const tj_node *symbol, LLVMValueRef value) {
  set_value(emitter, symbol, value);
  emitter->level = TJ_LEVEL_TRIP;
}

void tj_emit_marked_nodes(tj_emitter *emitter, const bool *mark) {
  const tj_kernel_nodes *nodes = &emitter->nodes;
  for (uint32_t i = 0; i < nodes->walk.count; i++) {
    if (mark[nodes->order[i]])
      emit_position(emitter, nodes->order[i]);
  }
}
