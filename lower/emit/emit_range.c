/* SPDX-License-Identifier: MIT */
/* Two comparisons as one: that a value is above something, which is a constant or the same for a workgroup, and below
 * something else. Of unsigned integers, the value less the first that is in the range is below the count of those
 * that are: what would be below zero is above all others. An offset mostly needs that difference, too. */
#include "lower/emit/emit.h"

#include "ir/index/linear.h"

/* The truth low < value + more & value < end, for what a workgroup has as `low`. */
typedef struct {
  const tj_node *low, *value, *end;
  int64_t more;
} value_range;

/* Whether differences of such values fit in signed integers of so many bits. */
static bool has_room(const tj_node *node, unsigned bits) {
  const int64_t most = (int64_t)1 << (bits - 2);
  return node->facts.low >= -most && node->facts.high <= most;
}

static tj_width width_of_range(const value_range *range) {
  const tj_node *all[] = {range->low, range->value, range->end};
  return tj_width_of(all, 3);
}

/* Whether some value may be in it, as far as bounds tell: the count of those that are is not negative. */
static bool has_count(const tj_emitter *emitter, const value_range *range) {
  tj_sum count = tj_sum_of(range->more - 1);
  tj_sum_add(&count, tj_linear_of(emitter->graph, range->end), 1);
  tj_sum_add(&count, tj_linear_of(emitter->graph, range->low), -1);
  const tj_linear form = tj_sum_form(&count);
  return !count.failed && tj_linear_range(&form).low >= 0;
}

/* Whether the sum is the value and a small constant. */
static bool is_value_and_more(const tj_node *sum, const tj_node *value, int64_t *more) {
  const tj_parted_sum parts = tj_part_sum(sum);
  const int64_t most = 1 << 16;
  *more = sum == value ? 0 : parts.constant;
  return sum == value || (parts.rest == value && *more >= -most && *more <= most);
}

static bool is_range(const tj_emitter *emitter, const tj_node *above, const tj_node *below, value_range *range) {
  if (above->op != TJ_OP_LESS || below->op != TJ_OP_LESS)
    return false;
  *range = (value_range){.low = above->arg[0], .value = below->arg[0], .end = below->arg[1]};
  if (!is_value_and_more(above->arg[1], range->value, &range->more) || tj_is_constant(range->value))
    return false;
  unsigned bits = width_of_range(range).bits;
  bool is_shared =
      tj_is_constant(range->low) || tj_kernel_nodes_level(&emitter->nodes, range->low) <= TJ_LEVEL_WORKGROUP;
  return is_shared && has_room(range->low, bits) && has_room(range->value, bits) && has_room(range->end, bits) &&
         has_count(emitter, range);
}

static bool range_of(const tj_emitter *emitter, const tj_node *node, value_range *range) {
  return node->op == TJ_OP_AND && (is_range(emitter, node->arg[0], node->arg[1], range) ||
                                   is_range(emitter, node->arg[1], node->arg[0], range));
}

bool tj_emits_range(const tj_emitter *emitter, const tj_node *node) {
  value_range range;
  return range_of(emitter, node, &range);
}

LLVMValueRef tj_emit_range(tj_emitter *emitter, const tj_node *node) {
  value_range range;
  if (!range_of(emitter, node, &range))
    return NULL;
  tj_width width = width_of_range(&range);
  LLVMValueRef more = tj_emit_int(emitter, width.bits, 1 - range.more);
  LLVMValueRef first = LLVMBuildAdd(emitter->builder, tj_emit_operand(emitter, range.low, width), more, "");
  LLVMValueRef value = LLVMBuildSub(emitter->builder, tj_emit_operand(emitter, range.value, width), first, "");
  LLVMValueRef count = LLVMBuildSub(emitter->builder, tj_emit_operand(emitter, range.end, width), first, "");
  return LLVMBuildICmp(emitter->builder, LLVMIntULT, value, count, "");
}
