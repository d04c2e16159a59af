/* SPDX-License-Identifier: MIT */
/* Which masks are a resource's: decided for all steps of a kernel together, by counting instructions of a wave.
 *
 * What is right: the bytes of every valid access begin fewer than TJ_RESOURCE_BYTES from the base that its workgroup
 * shares, not before it; where the offset may be negative, there is no base, and an access that is valid is inside
 * its buffer. Where offsets are not known to be so small, a variant of the kernel is for buffers that are: what is
 * valid is inside them, and of the rest nothing is asked. Uniform loads, which waves make by scalar instructions,
 * stay what they are. */
#include "lower/access/bounded.h"

#include "base/number/cost.h"
#include "base/text.h"
#include "ir/index/facts.h"
#include "ir/simplify/simplify.h"
#include "lower/access/slot_use.h"
#include "lower/kernel/displace.h"
#include "lower/kernel/kernel_nodes.h"

enum { WORD = 4 };

/* The steps of a kernel, or those of its inner tiles. */
typedef struct {
  tj_graph *graph;
  const tj_kernel *kernel;
  const tj_target *target;
  const tj_kernel_nodes *nodes;
  tj_kernel_step *step;
  uint32_t count;
  tj_access *bounded; /* by step: the access as a resource would have it; offset NULL: it cannot */
  uint32_t *gate;     /* by the first step of a gate: what it costs; 0: nobody has asked */
  bool are_small;     /* buffers have at most TJ_RESOURCE_BYTES */
  bool has_far;       /* a resource could have an access but for how far that may be */
} step_list;

/* --- bases --- */

static bool is_small(const tj_node *node) {
  return node->facts.low >= 0 && node->facts.high < TJ_RESOURCE_BYTES;
}

/* Takes the terms of a sum apart; false where there are too many, or several that are not small. */
static bool split_sum(const tj_node *sum, tj_base_parts *parts) {
  if (sum->op == TJ_OP_ADD && !is_small(sum))
    return split_sum(sum->arg[0], parts) && split_sum(sum->arg[1], parts);
  bool is_part = is_small(sum) && parts->count < TJ_BASE_PARTS;
  if (is_part)
    parts->part[parts->count++] = sum;
  else if (parts->anchor == NULL)
    parts->anchor = sum;
  else
    return false;
  return true;
}

tj_base_parts tj_split_base(const tj_node *base) {
  tj_base_parts parts = {.anchor = NULL};
  bool is_split = base != NULL && !tj_is_int(base, 0) && split_sum(base, &parts) && parts.anchor != NULL;
  return is_split || base == NULL || tj_is_int(base, 0) ? parts : (tj_base_parts){.anchor = base};
}

static int64_t most_skipped(const tj_base_parts *base) {
  int64_t most = 0;
  for (uint32_t i = 0; i < base->count; i++)
    most += base->part[i]->facts.high;
  return most;
}

/* --- what a resource can do --- */

static bool is_moved(const tj_kernel_step *step) {
  return (step->kind == TJ_STEP_LOAD || step->kind == TJ_STEP_STORE) && step->access.buffer != TJ_LDS && !step->adds;
}

static bool is_uniform(const step_list *list, const tj_node *node) {
  return tj_kernel_nodes_is_uniform(list->nodes, node);
}

/* Whether zeros are what a load gives where it is not valid. */
static bool is_filled_with_zeros(const tj_kernel *kernel, const tj_kernel_step *step) {
  tj_dtype dtype = kernel->buffer[step->access.buffer].dtype;
  bool has_zero = tj_dtype_class_of(dtype) != TJ_CLASS_FLOAT || tj_dtype_form(dtype).mantissa > 0;
  return step->kind == TJ_STEP_STORE || (kernel->fill == 0 && has_zero);
}

static bool has_no_base(const tj_access *access) {
  return access->base == NULL || tj_is_int(access->base, 0);
}

/* Whether so many elements of an access are near enough to what its resource begins at. */
static bool is_in_reach(const step_list *list, const tj_access *access, uint32_t width, uint32_t element_bytes) {
  if (list->are_small && has_no_base(access))
    return true;
  const int64_t most = TJ_RESOURCE_BYTES / element_bytes;
  const tj_facts *facts = &access->offset->facts;
  tj_base_parts base = tj_split_base(access->base);
  return facts->low >= -most && facts->high <= most && access->displacement <= most &&
         facts->high + access->displacement + most_skipped(&base) + width <= most &&
         (facts->low >= 0 || (base.anchor == NULL && base.count == 0));
}

/* The access with all constants in its displacement; where it may begin before its base, with none. */
static tj_access placed(tj_graph *graph, tj_access access) {
  if (access.offset->facts.low < 0 && access.displacement > 0) {
    access.offset = tj_simplified(graph, tj_add(graph, access.offset, tj_int(graph, access.displacement)));
    access.displacement = 0;
  }
  if (access.offset->facts.low < 0)
    return access;
  tj_displaced parts = tj_displace(graph, access.offset);
  access.offset = parts.rest;
  access.displacement += parts.displacement;
  return access;
}

/* The access as a resource has it; offset NULL where it cannot. */
static tj_access bounded_access(step_list *list, const tj_kernel_step *step) {
  const tj_access none = {.offset = NULL};
  if (!is_moved(step) || is_uniform(list, step->access.offset) || step->access.valid == NULL ||
      !is_filled_with_zeros(list->kernel, step))
    return none;
  uint32_t bytes = tj_element_bytes(list->kernel, step->access.buffer);
  if (is_in_reach(list, &step->access, step->width, bytes)) {
    tj_access access = placed(list->graph, step->access);
    access.is_bounded = true;
    if (is_in_reach(list, &access, step->width, bytes))
      return access;
  }
  list->has_far = true;
  return none;
}

/* --- gates: neighbours with one mask --- */

static const tj_node *mask_of(const tj_kernel_step *step) {
  return tj_step_has_access(step) && !tj_is_always(step->access.valid) ? step->access.valid : NULL;
}

static uint32_t end_of_gate(const step_list *list, uint32_t begin) {
  uint32_t end = begin + 1;
  while (end < list->count && mask_of(&list->step[end]) == mask_of(&list->step[begin]))
    end++;
  return end;
}

/* Whether a gate is one whose steps resources can all do, and that is not open or closed for all lanes at once. */
static bool is_replaceable(const step_list *list, uint32_t begin, uint32_t end) {
  const tj_node *mask = mask_of(&list->step[begin]);
  bool can = mask != NULL && !tj_is_constant(mask);
  for (uint32_t i = begin; i < end && can; i++)
    can = list->bounded[i].offset != NULL;
  return can;
}

/* The branch, and what fills registers on the way around it. */
static uint32_t cost_of_gate(const step_list *list, uint32_t begin, uint32_t end) {
  uint32_t cost = TJ_INSTRUCTIONS_OF_BRANCH;
  if (list->gate[begin] > 0)
    return list->gate[begin];
  for (uint32_t i = begin; i < end; i++) {
    const tj_kernel_step *step = &list->step[i];
    uint32_t bytes = step->width * tj_element_bytes(list->kernel, step->access.buffer);
    if (step->kind == TJ_STEP_LOAD && tj_is_fill_used(list->kernel, step, list->step + end, list->count - end))
      cost += (bytes + WORD - 1) / WORD;
  }
  return list->gate[begin] = cost;
}

/* --- what resources cost --- */

static bool has_one_resource(const tj_access *a, const tj_access *b) {
  return a->buffer == b->buffer && tj_split_base(a->base).anchor == tj_split_base(b->base).anchor;
}

static bool has_one_base(const tj_access *a, const tj_access *b) {
  return has_one_resource(a, b) && a->base == b->base;
}

static bool has_one_offset(const tj_access *a, const tj_access *b) {
  return a->buffer == b->buffer && a->offset == b->offset && a->valid == b->valid;
}

/* Whether a step before it, of those that are taken, has the same of something. */
static bool is_shared(const step_list *list, const bool is_taken[], uint32_t number,
                      bool (*has_one)(const tj_access *a, const tj_access *b)) {
  for (uint32_t i = 0; i < number; i++) {
    if (is_taken[i] && has_one(&list->bounded[i], &list->bounded[number]))
      return true;
  }
  return false;
}

static uint32_t cost_of_resources(const step_list *list, const bool is_taken[]) {
  uint32_t cost = 1; /* the offset beyond */
  for (uint32_t i = 0; i < list->count; i++) {
    if (!is_taken[i])
      continue;
    cost += is_shared(list, is_taken, i, has_one_resource) ? 0 : TJ_INSTRUCTIONS_OF_RESOURCE;
    cost += is_shared(list, is_taken, i, has_one_offset) ? 0 : 1;
  }
  return cost;
}

/* Instructions that scalars save the accesses that are taken: what displaces an address of 64 bits by more than there
 * is room for in an instruction, or by another part of a base. */
static uint32_t saved_by_scalars(const step_list *list, const bool is_taken[]) {
  uint32_t saved = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    const tj_access *access = &list->bounded[i];
    if (!is_taken[i])
      continue;
    bool is_far =
        access->displacement * tj_element_bytes(list->kernel, access->buffer) >= list->target->resource->address_end;
    bool is_next = is_shared(list, is_taken, i, has_one_resource) && !is_shared(list, is_taken, i, has_one_base);
    saved += is_far || is_next ? TJ_INSTRUCTIONS_OF_DISPLACEMENT : 0;
  }
  return saved;
}

/* --- choosing --- */

/* Takes the gates that begin with an access of the resource of step `number`, and what is always valid of it; returns
 * what the gates cost. */
static uint32_t take_group(const step_list *list, uint32_t number, bool is_taken[]) {
  uint32_t saved = 0;
  for (uint32_t begin = 0, end; begin < list->count; begin = end) {
    end = end_of_gate(list, begin);
    bool is_gate =
        is_replaceable(list, begin, end) && has_one_resource(&list->bounded[begin], &list->bounded[number]);
    saved += is_gate ? cost_of_gate(list, begin, end) : 0;
    for (uint32_t i = begin; i < end; i++) {
      bool is_plain = mask_of(&list->step[i]) == NULL && list->bounded[i].offset != NULL;
      is_taken[i] = is_gate || (is_plain && has_one_resource(&list->bounded[i], &list->bounded[number]));
    }
  }
  return saved;
}

/* Whether an earlier step has the same resource. */
static bool is_known(const step_list *list, uint32_t number) {
  for (uint32_t i = 0; i < number; i++) {
    if (list->bounded[i].offset != NULL && has_one_resource(&list->bounded[i], &list->bounded[number]))
      return true;
  }
  return false;
}

static void bound_taken(const step_list *list, const bool is_taken[]) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (is_taken[i])
      list->step[i].access = list->bounded[i];
  }
}

/* Resource by resource: first those that replace gates, then, where there are such, those that only displace. Returns
 * whether any was taken. */
static bool bound_groups(const step_list *list, bool with_gates) {
  bool *is_taken = TJ_NEW_ARRAY(list->graph->job, bool, list->count + 1), is_any = false;
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->bounded[i].offset == NULL || is_known(list, i))
      continue;
    uint32_t gates = take_group(list, i, is_taken), cost = cost_of_resources(list, is_taken);
    bool is_worth = (gates > 0) == with_gates && gates + saved_by_scalars(list, is_taken) >= cost;
    if (is_worth)
      bound_taken(list, is_taken);
    is_any = is_any || is_worth;
  }
  return is_any;
}

static void bound_steps(step_list *list) {
  list->bounded = TJ_NEW_ARRAY(list->graph->job, tj_access, list->count + 1);
  list->gate = TJ_NEW_ARRAY(list->graph->job, uint32_t, list->count + 1);
  tj_spend(list->graph->job, list->count);
  for (uint32_t i = 0; i < list->count; i++)
    list->bounded[i] = bounded_access(list, &list->step[i]);
  if (bound_groups(list, true))
    bound_groups(list, false);
}

static bool has_masks(const tj_kernel_step step[], uint32_t count) {
  bool is_any = false;
  for (uint32_t i = 0; i < count && !is_any; i++)
    is_any = mask_of(&step[i]) != NULL;
  return is_any;
}

/* Returns whether some accesses may be too far for a resource. */
static bool bound_kernel(tj_graph *graph, const tj_kernel *kernel, const tj_target *target, bool are_small) {
  if (!has_masks(kernel->step, kernel->step_count) && !has_masks(kernel->inner_step, kernel->inner_step_count))
    return false;
  tj_kernel_nodes nodes = tj_kernel_nodes_of(graph, kernel, tj_uniform_lanes(target));
  step_list steps = {.graph = graph,
                     .kernel = kernel,
                     .target = target,
                     .nodes = &nodes,
                     .step = kernel->step,
                     .count = kernel->step_count,
                     .are_small = are_small},
            inner = steps;
  inner.step = kernel->inner_step;
  inner.count = kernel->inner_step_count;
  bound_steps(&steps);
  bound_steps(&inner);
  return steps.has_far || inner.has_far;
}

/* --- small buffers --- */

static tj_kernel_step *copy_of(tj_graph *graph, const tj_kernel_step step[], uint32_t count) {
  return count == 0 ? NULL : tj_arena_copy(&graph->job->arena, step, count * sizeof *step);
}

/* Adds that the buffers are small of which more accesses are bounded than of the same steps before; returns whether
 * there are any. */
static bool add_sizes(tj_graph *graph, const tj_kernel *kernel, const tj_kernel_step before[],
                      const tj_kernel_step step[], uint32_t count, const tj_node **condition) {
  bool is_any = false;
  for (uint32_t i = 0; i < count; i++) {
    if (before[i].access.is_bounded || !step[i].access.is_bounded)
      continue;
    const uint32_t buffer = step[i].access.buffer;
    const tj_node *most = tj_int(graph, TJ_RESOURCE_BYTES / tj_element_bytes(kernel, buffer));
    *condition = tj_and(graph, *condition, tj_less_equal(graph, kernel->buffer[buffer].element_count, most));
    is_any = true;
  }
  return is_any;
}

/* Offers a kernel for small buffers, where more of its masks are resources' then; where all are small, it is the only
 * one. Other variants it has none: a launch asks nothing but its own condition. */
static void offer_small(tj_graph *graph, tj_kernel *kernel, const tj_target *target) {
  tj_kernel *small = TJ_NEW(graph->job, tj_kernel);
  const tj_node *condition = tj_int(graph, 1);
  *small = *kernel;
  small->name = tj_string_format(graph->job, "%s.small", kernel->name);
  small->step = copy_of(graph, kernel->step, kernel->step_count);
  small->inner_step = copy_of(graph, kernel->inner_step, kernel->inner_step_count);
  bound_kernel(graph, small, target, true);
  bool is_more = add_sizes(graph, kernel, kernel->step, small->step, kernel->step_count, &condition);
  is_more |= add_sizes(graph, kernel, kernel->inner_step, small->inner_step, kernel->inner_step_count, &condition);
  condition = tj_simplified(graph, condition);
  if (is_more && tj_is_int(condition, 1)) {
    kernel->step = small->step;
    kernel->inner_step = small->inner_step;
  } else if (is_more) {
    kernel->faster = small;
    kernel->condition = condition;
  }
}

void tj_bound_accesses(tj_graph *graph, tj_kernel *kernel, const tj_target *target) {
  if (target->resource == NULL)
    return;
  bool has_far = false;
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster)
    has_far |= bound_kernel(graph, each, target, false);
  if (kernel->faster == NULL && has_far)
    offer_small(graph, kernel, target);
}
