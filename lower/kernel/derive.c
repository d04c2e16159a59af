/* SPDX-License-Identifier: MIT */
/* What the launch computes once: magic numbers for divisors, and costly expressions of parameters alone; and where
 * that lies in the argument block. */
#include "lower/kernel/kernel_nodes.h"
#include "lower/machine/width.h"

enum {
  MOST_WORDS = 192,    /* more would crowd the argument block */
  COSTLY_WEIGHT = 100, /* of tj_op_weight: an expression with a division, or several products */
};

typedef struct {
  tj_kernel_nodes nodes;
  tj_derived *derived;
  uint32_t count;
} derivation;

static bool has_word(const derivation *found, tj_derived_kind kind, const tj_node *node) {
  for (uint32_t i = 0; i < found->count; i++) {
    if (found->derived[i].kind == kind && found->derived[i].node == node)
      return true;
  }
  return false;
}

static void derive(derivation *found, tj_derived_kind kind, const tj_node *node) {
  if (found->count < MOST_WORDS && !has_word(found, kind, node))
    found->derived[found->count++] = (tj_derived){.kind = kind, .node = node};
}

/* Both halves, or none. */
static void derive_magic(derivation *found, unsigned bits, const tj_node *divisor) {
  if (bits == 31 || bits == 32) {
    derive(found, bits == 31 ? TJ_DERIVED_MAGIC31 : TJ_DERIVED_MAGIC32, divisor);
  } else if (bits == 64 && found->count + 2 <= MOST_WORDS) {
    derive(found, TJ_DERIVED_MAGIC64, divisor);
    derive(found, TJ_DERIVED_SHIFT64, divisor);
  }
}

static void derive_value(derivation *found, const tj_node *node) {
  if (tj_op_arity(node->op) > 0 && node->weight >= COSTLY_WEIGHT)
    derive(found, TJ_DERIVED_VALUE, node);
}

static void derive_for(derivation *found, const tj_kernel *kernel, const tj_node *node) {
  bool is_division = node->op == TJ_OP_DIV || node->op == TJ_OP_MOD;
  for (unsigned i = 0; i < tj_op_arity(node->op); i++) {
    const tj_node *arg = node->arg[i];
    if (tj_kernel_nodes_level(&found->nodes, arg) != TJ_LEVEL_LAUNCH)
      continue;
    if (is_division && i == 1 && !tj_is_constant(arg))
      derive_magic(found, tj_magic_bits(node), tj_launched_value(kernel, arg));
    derive_value(found, arg);
  }
}

static bool is_passed(const tj_node *node) {
  return tj_is_constant(node) || (node->op == TJ_OP_SYMBOL && node->symbol->kind == TJ_SYMBOL_PARAMETER);
}

static void derive_bindings(derivation *found, const tj_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    const tj_kernel_binding *binding = &kernel->binding[i];
    if (binding->is_launched && !is_passed(binding->value))
      derive(found, TJ_DERIVED_VALUE, binding->value);
  }
}

bool tj_kernel_words_fit(tj_graph *graph, const tj_kernel *kernel, const tj_kernel *more) {
  derivation found = {.derived = TJ_NEW_ARRAY(graph->job, tj_derived, MOST_WORDS)};
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster)
    derive_bindings(&found, each);
  derive_bindings(&found, more);
  return found.count < MOST_WORDS;
}

static void derive_kernel(tj_graph *graph, derivation *found, const tj_kernel *kernel) {
  found->nodes = tj_kernel_nodes_of(graph, kernel, 1);
  derive_bindings(found, kernel);
  for (uint32_t i = 0; i < found->nodes.walk.count; i++) {
    if (found->nodes.level[i] != TJ_LEVEL_LAUNCH)
      derive_for(found, kernel, found->nodes.walk.node[i]);
  }
  for (uint32_t i = 0; i < found->nodes.root_count; i++) {
    if (tj_kernel_nodes_level(&found->nodes, found->nodes.root[i]) == TJ_LEVEL_LAUNCH)
      derive_value(found, found->nodes.root[i]);
  }
}

void tj_kernel_derive(tj_graph *graph, tj_kernel *kernel) {
  derivation found = {.derived = TJ_NEW_ARRAY(graph->job, tj_derived, MOST_WORDS)};
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster)
    derive_kernel(graph, &found, each);
  for (tj_kernel *each = kernel; each != NULL; each = each->faster) {
    each->derived = found.derived;
    each->derived_count = found.count;
  }
}

/* --- halves of words --- */

bool tj_is_half_word(const tj_derived *derived) {
  const tj_node *node = derived->node;
  return derived->kind == TJ_DERIVED_VALUE &&
         (node == NULL || (node->facts.low >= INT32_MIN && node->facts.high <= INT32_MAX));
}

static uint32_t count_halves(const tj_kernel *kernel) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->derived_count; i++)
    count += tj_is_half_word(&kernel->derived[i]);
  return count;
}

void tj_kernel_pack_words(tj_graph *graph, tj_kernel *kernel) {
  tj_derived *packed = TJ_NEW_ARRAY(graph->job, tj_derived, (size_t)kernel->derived_count + 1);
  uint32_t half = 0, whole = count_halves(kernel);
  if (whole < 2)
    return;
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    bool is_half = tj_is_half_word(&kernel->derived[i]);
    tj_derived *place = &packed[is_half ? half++ : whole++];
    *place = kernel->derived[i];
    place->is_upper = is_half && half % 2 == 0;
  }
  for (tj_kernel *each = kernel; each != NULL; each = each->faster)
    each->derived = packed;
}
