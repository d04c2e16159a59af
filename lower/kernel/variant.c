/* SPDX-License-Identifier: MIT */
/* What is assumed of parameters, and the kernels that are faster for it. */
#include "lower/kernel/variant.h"

#include "base/number/parts.h"
#include "ir/index/facts.h"
#include "ir/index/walk.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/kernel_nodes.h"
#include "lower/machine/width.h"

uint32_t tj_narrowest_access(const tj_kernel *kernel, uint32_t buffer) {
  uint32_t width = UINT32_MAX;
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    const tj_kernel_step *step = &kernel->step[i];
    bool moves = step->kind == TJ_STEP_LOAD || step->kind == TJ_STEP_STORE;
    if (moves && step->access.buffer == buffer && step->width < width)
      width = step->width;
  }
  return width;
}

bool tj_kernel_fits(tj_graph *graph, const tj_kernel *kernel) {
  tj_kernel_nodes nodes = tj_kernel_nodes_of(graph, kernel, 1);
  return tj_kernel_nodes_operations(&nodes) <= TJ_KERNEL_MOST_OPERATIONS &&
         tj_widths_fit(graph, nodes.root, nodes.root_count);
}

bool tj_has_wider_accesses(const tj_kernel *a, const tj_kernel *b) {
  bool is_wider = false;
  for (uint32_t i = 0; i < a->buffer_count; i++)
    is_wider = is_wider || tj_narrowest_access(a, i) > tj_narrowest_access(b, i);
  return is_wider;
}

/* --- demands --- */

typedef struct {
  tj_demand *demand;
  uint32_t count, capacity;
} demand_list;

static tj_demand *demand_of(tj_graph *graph, demand_list *list, const tj_node *node) {
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->demand[i].node == node)
      return &list->demand[i];
  }
  if (list->count == list->capacity) {
    tj_demand *larger = TJ_NEW_ARRAY(graph->job, tj_demand, 2 * (size_t)list->capacity + 8);
    for (uint32_t i = 0; i < list->count; i++)
      larger[i] = list->demand[i];
    list->demand = larger;
    list->capacity = 2 * list->capacity + 8;
  }
  list->demand[list->count] = (tj_demand){node, 1, node->facts.low, INT64_MAX};
  return &list->demand[list->count++];
}

static void demand_multiples(tj_graph *graph, demand_list *list, const tj_node *node, int64_t multiple) {
  if (node == NULL)
    return;
  tj_walk walk = tj_walk_nodes(graph, &node, 1);
  for (uint32_t i = 0; i < walk.count; i++) {
    if (walk.node[i]->op == TJ_OP_SYMBOL && !tj_facts_divisible(&walk.node[i]->facts, multiple))
      demand_of(graph, list, walk.node[i])->multiple = multiple;
  }
}

/* The least common multiple of what the node is a multiple of anyway, and of what is demanded, a power of two.
 * 0: too large. */
static int64_t joint_multiple(const tj_demand *demand) {
  int64_t both = tj_facts_content(&demand->node->facts);
  while (both % demand->multiple != 0) {
    if (__builtin_mul_overflow(both, 2, &both))
      return 0;
  }
  return both;
}

/* Whether some value of the node's range meets the demand. */
static bool is_possible(const tj_demand *demand) {
  int64_t both = joint_multiple(demand), high = demand->node->facts.high;
  high = demand->high < high ? demand->high : high;
  if (both == 0)
    return false;
  int64_t rest = high % both;
  return high - (rest < 0 ? rest + both : rest) >= demand->low;
}

bool tj_can_be_met(const tj_demands *demands) {
  for (uint32_t i = 0; i < demands->count; i++) {
    if (!is_possible(&demands->demand[i]))
      return false;
  }
  return true;
}

bool tj_are_met(const tj_demands *demands) {
  bool are_met = true;
  for (uint32_t i = 0; i < demands->count && are_met; i++) {
    const tj_demand *demand = &demands->demand[i];
    const tj_facts *facts = &demand->node->facts;
    are_met = facts->low >= demand->low && facts->high <= demand->high && tj_facts_divisible(facts, demand->multiple);
  }
  return are_met;
}

tj_demands tj_find_demands(tj_graph *graph, const tj_domain *domain, int64_t multiple, const int64_t tile[]) {
  demand_list list = {NULL, 0, 0};
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_mode *mode = &domain->mode[m];
    demand_multiples(graph, &list, mode->extent, multiple);
    demand_multiples(graph, &list, mode->source_stride, multiple);
    demand_multiples(graph, &list, mode->destination_stride, multiple);
    if (tile != NULL && mode->extent->op == TJ_OP_SYMBOL && mode->extent->facts.low < tile[m])
      demand_of(graph, &list, mode->extent)->low = tile[m];
  }
  tj_demands demands = {list.demand, list.count};
  return tj_can_be_met(&demands) ? demands : (tj_demands){NULL, 0};
}

/* False: a term is neither a parameter nor a multiple, or there are too many. */
static bool demand_of_terms(tj_graph *graph, demand_list *list, const tj_node *node, int64_t multiple,
                            unsigned levels) {
  if (node->op == TJ_OP_ADD && levels > 0)
    return demand_of_terms(graph, list, node->arg[0], multiple, levels - 1) &&
           demand_of_terms(graph, list, node->arg[1], multiple, levels - 1);
  if (node->op == TJ_OP_SYMBOL)
    demand_of(graph, list, node)->multiple = multiple;
  return node->op == TJ_OP_SYMBOL || tj_facts_divisible(&node->facts, multiple);
}

/* What a sum that is at most so large leaves each of its parameters, and that it is. False: it has none. */
static bool limit_sum(tj_graph *graph, demand_list *list, const tj_node *sum, int64_t most) {
  for (uint32_t i = 0; i < list->count; i++) {
    int64_t others;
    tj_demand *demand = &list->demand[i];
    if (__builtin_sub_overflow(sum->facts.low, demand->low, &others) ||
        __builtin_sub_overflow(most, others, &demand->high))
      return false;
  }
  if (list->count > 0)
    demand_of(graph, list, sum)->high = most;
  return list->count > 0;
}

tj_demands tj_demands_of_size(tj_graph *graph, const tj_node *size, int64_t multiple, int64_t most) {
  enum { MOST_LEVELS = 8 };
  demand_list list = {NULL, 0, 0};
  if (!demand_of_terms(graph, &list, size, multiple, MOST_LEVELS) ||
      (most != INT64_MAX && !limit_sum(graph, &list, size, most)))
    return (tj_demands){NULL, 0};
  tj_demands demands = {list.demand, list.count};
  return tj_can_be_met(&demands) ? demands : (tj_demands){NULL, 0};
}

tj_demands tj_demands_with(tj_graph *graph, const tj_demands *demands, tj_demand more) {
  tj_demand *demand = TJ_NEW_ARRAY(graph->job, tj_demand, demands->count + 1);
  uint32_t count = 0;
  demand[count++] = more;
  for (uint32_t i = 0; i < demands->count; i++) {
    if (demands->demand[i].node != more.node)
      demand[count++] = demands->demand[i];
  }
  return (tj_demands){demand, count};
}

tj_demands tj_demands_from(tj_graph *graph, const tj_demands *demands, const tj_node *size, int64_t least) {
  tj_demand more = {size, 1, least, INT64_MAX};
  for (uint32_t i = 0; i < demands->count; i++) {
    if (demands->demand[i].node != size)
      continue;
    more = demands->demand[i];
    more.low = more.low > least ? more.low : least;
  }
  return tj_demands_with(graph, demands, more);
}

static const tj_node *symbol_that_meets(tj_graph *graph, const tj_demand *demand) {
  tj_symbol declared = *demand->node->symbol;
  if (demand->low > demand->node->facts.low)
    declared.low = tj_int(graph, demand->low);
  if (demand->high < demand->node->facts.high)
    declared.high = tj_int(graph, demand->high);
  declared.multiple = joint_multiple(demand);
  return tj_symbol_declare(graph, declared);
}

/* An expression, rounded and limited to what is demanded. */
static const tj_node *expression_that_meets(tj_graph *graph, const tj_demand *demand,
                                            const tj_substitution *symbols) {
  const tj_node *node = demand->node, *multiple = tj_int(graph, demand->multiple);
  tj_substitute(graph, symbols, &node, 1);
  if (!tj_facts_divisible(&node->facts, demand->multiple))
    node = tj_mul(graph, tj_div(graph, node, multiple), multiple);
  int64_t low = tj_covered(demand->low, demand->multiple), high = demand->high - demand->high % demand->multiple;
  if (node->facts.low < low)
    node = tj_max(graph, node, tj_int(graph, low));
  return node->facts.high > high ? tj_min(graph, node, tj_int(graph, high)) : node;
}

tj_substitution tj_assume(tj_graph *graph, const tj_demands *demands) {
  tj_substitution assumed = {TJ_NEW_ARRAY(graph->job, const tj_node *, demands->count + 1),
                             TJ_NEW_ARRAY(graph->job, const tj_node *, demands->count + 1), 0};
  for (uint32_t i = 0; i < demands->count; i++) {
    const tj_demand *demand = &demands->demand[i];
    if (demand->node->op != TJ_OP_SYMBOL)
      continue;
    assumed.from[assumed.count] = demand->node;
    assumed.to[assumed.count++] = symbol_that_meets(graph, demand);
  }
  const tj_substitution symbols = assumed;
  for (uint32_t i = 0; i < demands->count; i++) {
    const tj_demand *demand = &demands->demand[i];
    if (demand->node->op == TJ_OP_SYMBOL)
      continue;
    assumed.from[assumed.count] = demand->node;
    assumed.to[assumed.count++] = expression_that_meets(graph, demand, &symbols);
  }
  return assumed;
}

const tj_node *tj_demands_condition(tj_graph *graph, const tj_demands *demands) {
  const tj_node *condition = tj_int(graph, 1);
  for (uint32_t i = 0; i < demands->count; i++) {
    const tj_demand *demand = &demands->demand[i];
    const tj_node *rest = tj_mod(graph, demand->node, tj_int(graph, demand->multiple));
    condition = tj_and(graph, condition, tj_equal(graph, rest, tj_int(graph, 0)));
    condition = tj_and(graph, condition, tj_less_equal(graph, tj_int(graph, demand->low), demand->node));
    if (demand->high != INT64_MAX)
      condition = tj_and(graph, condition, tj_less_equal(graph, demand->node, tj_int(graph, demand->high)));
  }
  return tj_simplified(graph, condition);
}

/* --- kernels --- */

const tj_domain *tj_assumed_domain(tj_graph *graph, const tj_domain *domain, const tj_demands *demands) {
  tj_substitution *assumed = TJ_NEW(graph->job, tj_substitution);
  tj_domain *copy = TJ_NEW(graph->job, tj_domain);
  tj_mode *mode = TJ_NEW_ARRAY(graph->job, tj_mode, domain->count);
  *assumed = tj_assume(graph, demands);
  *copy = *domain;
  copy->mode = mode;
  copy->assumed = assumed;
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_node **parts[] = {&mode[m].extent, &mode[m].source_stride, &mode[m].destination_stride};
    mode[m] = domain->mode[m];
    for (size_t i = 0; i < 3; i++) {
      if (*parts[i] != NULL)
        tj_substitute(graph, assumed, parts[i], 1);
    }
  }
  return copy;
}

const tj_node *const *tj_assumed_parameters(tj_graph *graph, const tj_kernel *kernel,
                                            const tj_substitution *assumed) {
  const tj_node **parameter = TJ_NEW_ARRAY(graph->job, const tj_node *, kernel->parameter_count + 1);
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    parameter[i] = kernel->parameter[i];
  tj_substitute(graph, assumed, parameter, kernel->parameter_count);
  return parameter;
}

tj_kernel *tj_kernel_in_place_of(tj_graph *graph, const tj_kernel *flat, const tj_substitution *assumed) {
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *flat;
  kernel->index = NULL;
  kernel->step = NULL;
  kernel->step_count = 0;
  kernel->faster = NULL;
  kernel->condition = NULL;
  kernel->parameter = tj_assumed_parameters(graph, flat, assumed);
  return kernel;
}

void tj_offer_faster(tj_graph *graph, tj_kernel *kernel, tj_kernel *faster, const tj_demands *demands,
                     const char *suffix) {
  faster->name = tj_string_format(graph->job, "%s.%s", faster->name, suffix);
  kernel->faster = faster;
  kernel->condition = tj_demands_condition(graph, demands);
}

/* --- aligned kernels --- */

static bool is_worth_aligning(const tj_kernel *kernel) {
  tj_kernel aligned = *kernel;
  aligned.is_aligned = true;
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    if (tj_buffer_alignment(&aligned, i) > tj_buffer_alignment(kernel, i))
      return true;
  }
  return false;
}

/* Puts the aligned kernels, of `kernel` up to `last`, between these and the next faster, to be taken under the same
 * condition. */
static void align(tj_graph *graph, const tj_kernel *kernel, tj_kernel *last, const tj_node *condition) {
  const tj_kernel *end = last->faster;
  tj_kernel *first = NULL, **place = &first;
  for (; kernel != end; kernel = kernel->faster) {
    tj_kernel *aligned = *place = TJ_NEW(graph->job, tj_kernel);
    *aligned = *kernel;
    aligned->name = tj_string_format(graph->job, "%s.aligned", kernel->name);
    aligned->is_aligned = true;
    place = &aligned->faster;
  }
  last->faster = first;
  last->condition = condition;
}

void tj_offer_aligned(tj_graph *graph, tj_kernel *kernel) {
  const tj_node *condition = tj_int(graph, 1), *next_condition;
  for (tj_kernel *next; kernel != NULL; kernel = next, condition = next_condition) {
    tj_kernel *last = tj_last_behind(kernel);
    bool is_worth = false;
    next = last->faster;
    next_condition = last->condition;
    for (const tj_kernel *each = kernel; each != next; each = each->faster)
      is_worth = is_worth || is_worth_aligning(each);
    if (is_worth)
      align(graph, kernel, last, condition);
  }
}
