/* SPDX-License-Identifier: MIT */
/* The first two elements along a mode, evaluated where masks begin and end: with all other digits in the middle, but
 * one, which is the first or the last.
 *
 * Whatever a tile is, its units begin with the first coordinate of a mode, so that these two are one vector if any
 * elements are. */
#include "lower/tile/torn.h"

#include "ir/index/eval.h"

enum { OFFSET, VALID, ROOTS };

typedef struct {
  tj_graph *graph;
  const tj_domain *domain;
  const tj_node **coordinate; /* symbols, by mode */
  const tj_node *root[ROOTS];
  tj_evaluator *evaluator;
  tj_bindings bindings;
  int64_t *symbol; /* their values, by index; of others there are none */
  bool *bound;
} sampler;

static int64_t extent_of(const sampler *s, uint32_t mode) {
  return s->domain->mode[mode].extent->value;
}

static void set_digit(sampler *s, uint32_t mode, int64_t digit) {
  uint32_t index = s->coordinate[mode]->symbol->index;
  s->symbol[index] = digit;
  s->bound[index] = true;
}

/* False where the element has no value. */
static bool sample(sampler *s, uint32_t mode, int64_t digit, int64_t value[ROOTS]) {
  set_digit(s, mode, digit);
  return tj_evaluator_run(s->evaluator, &s->bindings, value) == TJ_EVAL_OK;
}

static bool is_pair_torn(sampler *s, uint32_t mode) {
  int64_t first[ROOTS], second[ROOTS];
  if (!sample(s, mode, 0, first) || !sample(s, mode, 1, second))
    return false;
  return first[VALID] != second[VALID] || (first[VALID] != 0 && second[OFFSET] - first[OFFSET] != 1);
}

static bool is_mode_torn(sampler *s, uint32_t mode) {
  for (uint32_t m = 0; m < s->domain->count; m++)
    set_digit(s, m, extent_of(s, m) / 2);
  bool is_torn = is_pair_torn(s, mode);
  for (uint32_t m = 0; m < s->domain->count && !is_torn; m++) {
    set_digit(s, m, 0);
    is_torn = m != mode && is_pair_torn(s, mode);
    set_digit(s, m, extent_of(s, m) - 1);
    is_torn = is_torn || (m != mode && is_pair_torn(s, mode));
    set_digit(s, m, extent_of(s, m) / 2);
  }
  return is_torn;
}

static bool has_neighbours(const tj_domain *domain, bool of_source, uint32_t mode) {
  const tj_node *stride = tj_mode_stride(&domain->mode[mode], of_source);
  return stride == NULL || tj_is_int(stride, 1);
}

static bool are_modes_torn(sampler *s, bool of_source) {
  for (uint32_t m = 0; m < s->domain->count; m++) {
    if (has_neighbours(s->domain, of_source, m) && extent_of(s, m) > 1 && !is_mode_torn(s, m))
      return false;
  }
  return true;
}

static sampler open_sampler(tj_graph *graph, tj_coordinates *shared, const tj_domain *domain, bool of_source,
                            uint32_t buffer) {
  sampler s = {.graph = graph, .domain = domain};
  s.coordinate = tj_coordinates_of_domain(graph, shared, domain);
  uint32_t operand = of_source ? TJ_OPERAND_SOURCE : TJ_OPERAND_DESTINATION;
  tj_access any = tj_domain_at(graph, domain, operand, buffer, s.coordinate);
  s.root[OFFSET] = any.offset;
  s.root[VALID] = any.valid;
  s.symbol = TJ_NEW_ARRAY(graph->job, int64_t, graph->symbol_count + 1);
  s.bound = TJ_NEW_ARRAY(graph->job, bool, graph->symbol_count + 1);
  s.bindings = (tj_bindings){s.symbol, s.bound, graph->symbol_count};
  return s;
}

/* No call that may fail the job is between making the evaluator and giving it back. */
bool tj_is_torn(tj_graph *graph, tj_coordinates *shared, const tj_domain *domain, bool of_source, uint32_t buffer) {
  if (tj_domain_has_own_strides(graph, domain, of_source) || !tj_domain_is_known(domain))
    return false;
  sampler s = open_sampler(graph, shared, domain, of_source, buffer);
  if (tj_evaluator_create(s.root, ROOTS, &s.evaluator) != TJ_EVAL_OK)
    tj_fail_out_of_memory(graph->job);
  bool is_torn = are_modes_torn(&s, of_source);
  tj_evaluator_destroy(s.evaluator);
  return is_torn;
}
