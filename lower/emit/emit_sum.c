/* SPDX-License-Identifier: MIT */
/* Sums, in an order that machines with waves do with little: what scalars hold is added up there, once for a wave;
 * and products come last, each of which adds what there is so far.
 *
 * A sum's own sums, which nothing else is made of, are taken apart. They have values by then, as all arguments do:
 * LLVM leaves out those that nobody uses. */
#include "lower/emit/emit.h"

#include "ir/index/cost.h"

/* In the order in which they are added. */
typedef enum { VALUE, SHIFTED, PRODUCT, SCALAR, KIND_COUNT } kind;

enum { MOST_TERMS = 16 };
typedef struct {
  const tj_node *term[MOST_TERMS];
  kind kind[MOST_TERMS];
  uint32_t count;
  bool may_wrap; /* on the way to the sum, although that fits: some term is negative */
} terms;

static bool is_in_scalars(const tj_emitter *emitter, const tj_node *node) {
  return tj_is_constant(node) ||
         emitter->nodes.uniform[tj_kernel_nodes_find(&emitter->nodes, node)] == TJ_UNIFORM_IN_SCALARS;
}

static bool is_part(const tj_emitter *emitter, const tj_node *node) {
  return emitter->nodes.is_part[tj_kernel_nodes_find(&emitter->nodes, node)];
}

static kind kind_of(const tj_emitter *emitter, const tj_node *node) {
  if (is_in_scalars(emitter, node))
    return SCALAR;
  if (node->op != TJ_OP_MUL || !is_part(emitter, node))
    return VALUE;
  return tj_exponent_of(node->arg[1]) >= 0 ? SHIFTED : PRODUCT;
}

static void add_term(const tj_emitter *emitter, terms *all, const tj_node *node) {
  all->kind[all->count] = kind_of(emitter, node);
  all->term[all->count++] = node;
  all->may_wrap = all->may_wrap || node->facts.low < 0;
}

/* Whether it is a sum to take apart: not one of fewer bits, which takes less. */
static bool is_inner(const tj_emitter *emitter, const tj_node *node, tj_width width) {
  return node->op == TJ_OP_ADD && !is_in_scalars(emitter, node) && is_part(emitter, node) &&
         tj_width_of_operation(node).bits == width.bits;
}

static terms terms_of(const tj_emitter *emitter, const tj_node *sum, tj_width width) {
  const tj_node *left[MOST_TERMS] = {sum->arg[1], sum->arg[0]};
  uint32_t depth = 2;
  terms all = {.count = 0};
  while (depth > 0) {
    const tj_node *node = left[--depth];
    bool has_room = all.count + depth + 2 <= MOST_TERMS;
    if (has_room && is_inner(emitter, node, width)) {
      left[depth++] = node->arg[1];
      left[depth++] = node->arg[0];
    } else {
      add_term(emitter, &all, node);
    }
  }
  return all;
}

static LLVMValueRef plus(tj_emitter *emitter, const terms *all, tj_width width, LLVMValueRef a, LLVMValueRef b) {
  if (a == NULL || b == NULL)
    return a != NULL ? a : b;
  LLVMValueRef sum = LLVMBuildAdd(emitter->builder, a, b, "");
  if (!all->may_wrap)
    tj_emit_no_wrap(sum, width);
  return sum;
}

/* The sum of the terms from one kind on, up to another; NULL: there are none. */
static LLVMValueRef sum_of_kinds(tj_emitter *emitter, const terms *all, tj_width width, kind first, kind end) {
  LLVMValueRef sum = NULL;
  for (kind each = first; each < end; each++) {
    for (uint32_t i = 0; i < all->count; i++) {
      if (all->kind[i] == each)
        sum = plus(emitter, all, width, sum, tj_emit_operand(emitter, all->term[i], width));
    }
  }
  return sum;
}

static LLVMValueRef emit_as_written(tj_emitter *emitter, const tj_node *node, tj_width width) {
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef sum = LLVMBuildAdd(emitter->builder, a, tj_emit_operand(emitter, node->arg[1], width), "");
  tj_emit_no_wrap(sum, width);
  return sum;
}

LLVMValueRef tj_emit_sum(tj_emitter *emitter, const tj_node *node) {
  tj_width width = tj_width_of_operation(node);
  if (!emitter->is_selected_whole)
    return emit_as_written(emitter, node, width);
  terms all = terms_of(emitter, node, width);
  if (all.count == 2)
    return emit_as_written(emitter, node, width);
  LLVMValueRef lanes = sum_of_kinds(emitter, &all, width, VALUE, SCALAR);
  return plus(emitter, &all, width, lanes, sum_of_kinds(emitter, &all, width, SCALAR, KIND_COUNT));
}
