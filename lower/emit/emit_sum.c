/* SPDX-License-Identifier: MIT */
/* Sums, in an order of which GlobalISel makes few instructions: what scalars hold is added up there, once for a wave;
 * and products come last, each of which adds what there is so far.
 *
 * A sum's own sums, which nothing else is made of, are taken apart. They have values by then, as all arguments do:
 * LLVM leaves out those that nobody uses. */
#include "lower/emit/emit.h"

#include "ir/index/cost.h"

/* In the order in which they are added. */
typedef enum { VALUE, SHIFTED, PRODUCT, SCALAR, KIND_COUNT } kind;

static bool is_part(const tj_emitter *emitter, const tj_node *node) {
  return emitter->nodes.is_part[tj_kernel_nodes_find(&emitter->nodes, node)];
}

static bool is_in_scalars(const tj_emitter *emitter, const tj_node *node) {
  return tj_kernel_nodes_uniformity(&emitter->nodes, node) == TJ_UNIFORM_IN_SCALARS;
}

static kind kind_of(const tj_emitter *emitter, const tj_node *node) {
  if (is_in_scalars(emitter, node))
    return SCALAR;
  if (node->op != TJ_OP_MUL || !is_part(emitter, node))
    return VALUE;
  return tj_exponent_of(node->arg[1]) >= 0 ? SHIFTED : PRODUCT;
}

/* Not sums of fewer bits, which take less. */
static bool is_taken_apart(const tj_emitter *emitter, const tj_node *part, tj_width width) {
  return part->op == TJ_OP_ADD && !is_in_scalars(emitter, part) && is_part(emitter, part) &&
         tj_width_of_operation(part).bits == width.bits;
}

/* --- terms --- */

enum { MOST_TERMS = 16 };
typedef struct {
  const tj_node *term[MOST_TERMS];
  kind kind[MOST_TERMS]; /* by term */
  uint32_t count;
  tj_width width;
  bool may_wrap; /* on the way to the sum, although that fits: some term is negative */
} terms;

static void add_term(const tj_emitter *emitter, terms *all, const tj_node *node) {
  all->kind[all->count] = kind_of(emitter, node);
  all->term[all->count++] = node;
  all->may_wrap = all->may_wrap || node->facts.low < 0;
}

/* In the sum's order, as far as there is room to take sums among them apart. */
static terms terms_of(const tj_emitter *emitter, const tj_node *sum) {
  const tj_node *left[MOST_TERMS] = {sum->arg[1], sum->arg[0]};
  uint32_t depth = 2;
  terms all = {.width = tj_width_of_operation(sum)};
  while (depth > 0) {
    const tj_node *node = left[--depth];
    bool has_room = all.count + depth + 2 <= MOST_TERMS;
    if (has_room && is_taken_apart(emitter, node, all.width)) {
      left[depth++] = node->arg[1];
      left[depth++] = node->arg[0];
    } else {
      add_term(emitter, &all, node);
    }
  }
  return all;
}

/* --- sums --- */

/* `a` or `b` may be NULL: the other one. */
static LLVMValueRef plus(tj_emitter *emitter, const terms *all, LLVMValueRef a, LLVMValueRef b) {
  if (a == NULL || b == NULL)
    return a != NULL ? a : b;
  LLVMValueRef value = LLVMBuildAdd(emitter->builder, a, b, "");
  if (!all->may_wrap)
    tj_emit_no_wrap(value, all->width);
  return value;
}

/* The sum of the terms from one kind on, up to another; NULL: there are none. */
static LLVMValueRef sum_of_kinds(tj_emitter *emitter, const terms *all, kind first, kind end) {
  LLVMValueRef value = NULL;
  for (kind each = first; each < end; each++) {
    for (uint32_t i = 0; i < all->count; i++) {
      if (all->kind[i] == each)
        value = plus(emitter, all, value, tj_emit_operand(emitter, all->term[i], all->width));
    }
  }
  return value;
}

static LLVMValueRef emit_as_written(tj_emitter *emitter, const tj_node *node) {
  tj_width width = tj_width_of_operation(node);
  LLVMValueRef a = tj_emit_operand(emitter, node->arg[0], width);
  LLVMValueRef sum = LLVMBuildAdd(emitter->builder, a, tj_emit_operand(emitter, node->arg[1], width), "");
  tj_emit_no_wrap(sum, width);
  return sum;
}

LLVMValueRef tj_emit_sum(tj_emitter *emitter, const tj_node *node) {
  if (!emitter->is_selected_whole)
    return emit_as_written(emitter, node);
  const terms all = terms_of(emitter, node);
  if (all.count == 2)
    return emit_as_written(emitter, node);
  LLVMValueRef lanes = sum_of_kinds(emitter, &all, VALUE, SCALAR);
  return plus(emitter, &all, lanes, sum_of_kinds(emitter, &all, SCALAR, KIND_COUNT));
}
