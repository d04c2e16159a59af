/* What is assumed of parameters, and the kernels that are faster for it. */
#include "lower/faster.h"

#include "ir/facts.h"
#include "ir/simplify.h"
#include "ir/walk.h"
#include "lower/kernel_nodes.h"
#include "lower/width.h"

uint32_t tj_narrowest_access(const tj_kernel *kernel, tj_step_kind kind) {
  uint32_t width = UINT32_MAX;
  for (uint32_t i = 0; i < kernel->step_count; i++) {
    const tj_kernel_step *step = &kernel->step[i];
    if (step->kind == kind && step->access.buffer != TJ_LDS && step->width < width)
      width = step->width;
  }
  return width;
}

bool tj_kernel_fits(tj_graph *graph, const tj_kernel *kernel) {
  tj_kernel_nodes nodes = tj_kernel_nodes_of(graph, kernel);
  return tj_widths_fit(graph, nodes.root, nodes.root_count);
}

/* What a symbol is a multiple of, if of `multiple`, a power of two, as well. 0: no value of its range is. */
static int64_t joint_multiple(const tj_node *node, int64_t multiple) {
  int64_t both = node->symbol->multiple, high = node->facts.high;
  while (both % multiple != 0) {
    if (__builtin_mul_overflow(both, 2, &both))
      return 0;
  }
  int64_t rest = high % both, most = high - (rest < 0 ? rest + both : rest);
  return most >= node->facts.low ? both : 0;
}

static const tj_node *with_multiple(tj_graph *graph, const tj_symbol *symbol, int64_t multiple) {
  return tj_symbol_create(graph, symbol->name, symbol->kind, symbol->low, symbol->high, multiple);
}

tj_substitution tj_assume_multiples(tj_graph *graph, const tj_domain *domain, int64_t multiple) {
  size_t count = 0;
  const tj_node **node = TJ_NEW_ARRAY(graph->job, const tj_node *, 3 * (size_t)domain->count);
  for (uint32_t m = 0; m < domain->count; m++) {
    const tj_node *parts[] = {domain->mode[m].extent, domain->mode[m].source_stride,
                              domain->mode[m].destination_stride};
    for (size_t i = 0; i < 3; i++) {
      if (parts[i] != NULL)
        node[count++] = parts[i];
    }
  }
  tj_walk walk = tj_walk_nodes(graph, node, count);
  tj_substitution assumed = {TJ_NEW_ARRAY(graph->job, const tj_node *, walk.count + 1),
                             TJ_NEW_ARRAY(graph->job, const tj_node *, walk.count + 1), 0};
  for (uint32_t i = 0; i < walk.count; i++) {
    const tj_node *symbol = walk.node[i];
    if (symbol->op != TJ_OP_SYMBOL || tj_facts_divisible(&symbol->facts, multiple))
      continue;
    int64_t both = joint_multiple(symbol, multiple);
    if (both == 0)
      continue;
    assumed.from[assumed.count] = symbol;
    assumed.to[assumed.count++] = with_multiple(graph, symbol->symbol, both);
  }
  return assumed;
}

static const tj_node *condition_of(tj_graph *graph, const tj_substitution *assumed, int64_t multiple) {
  const tj_node *condition = tj_int(graph, 1);
  for (uint32_t i = 0; i < assumed->count; i++) {
    const tj_node *rest = tj_mod(graph, assumed->from[i], tj_int(graph, multiple));
    condition = tj_and(graph, condition, tj_equal(graph, rest, tj_int(graph, 0)));
  }
  return tj_simplified(graph, condition);
}

const tj_domain *tj_assumed_domain(tj_graph *graph, const tj_domain *domain, const tj_substitution *assumed) {
  tj_domain *copy = TJ_NEW(graph->job, tj_domain);
  tj_mode *mode = TJ_NEW_ARRAY(graph->job, tj_mode, domain->count);
  *copy = *domain;
  copy->mode = mode;
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

void tj_offer_faster(tj_graph *graph, tj_kernel *kernel, tj_kernel *faster, const tj_substitution *assumed,
                     int64_t multiple) {
  bool is_faster =
      faster != NULL && (tj_narrowest_access(faster, TJ_STEP_LOAD) > tj_narrowest_access(kernel, TJ_STEP_LOAD) ||
                         tj_narrowest_access(faster, TJ_STEP_STORE) > tj_narrowest_access(kernel, TJ_STEP_STORE));
  if (!is_faster)
    return;
  faster->name = tj_string_format(graph->job, "%s.vectors", kernel->name);
  kernel->faster = faster;
  kernel->condition = condition_of(graph, assumed, multiple);
}
