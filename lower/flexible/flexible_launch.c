/* SPDX-License-Identifier: MIT */
/* Quantities of flexible kernels: expressions of the launch, what it demands of them, the names under which
 * work-items have them, and what these compute of names. */
#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"
#include "lower/flexible/flexible_maker.h"

/* --- quantities of the launch --- */

const tj_node *tj_flexible_at_least(tj_graph *graph, const tj_node *node, int64_t low) {
  return node->facts.low >= low ? node : tj_max(graph, node, tj_int(graph, low));
}

const tj_node *tj_flexible_at_most(tj_graph *graph, const tj_node *node, int64_t high) {
  return node->facts.high <= high ? node : tj_min(graph, node, tj_int(graph, high));
}

void tj_flexible_bind(tj_flexible *f, const tj_node *symbol, const tj_node *value, bool is_launched) {
  tj_kernel *kernel = f->kernel;
  if (kernel->binding_count == f->binding_room) {
    f->binding_room = 2 * f->binding_room + 64;
    tj_kernel_binding *larger = TJ_NEW_ARRAY(f->graph->job, tj_kernel_binding, f->binding_room);
    for (uint32_t i = 0; i < kernel->binding_count; i++)
      larger[i] = kernel->binding[i];
    kernel->binding = larger;
  }
  kernel->binding[kernel->binding_count++] = (tj_kernel_binding){symbol, value, is_launched};
}

tj_measure tj_flexible_measure(tj_flexible *f, const char *name, const tj_node *launch, int64_t low, int64_t high,
                               int64_t multiple) {
  tj_graph *graph = f->graph;
  if (tj_is_constant(launch))
    return (tj_measure){launch, launch};
  for (uint32_t i = 0; i < f->kernel->binding_count; i++) {
    const tj_kernel_binding *same = &f->kernel->binding[i];
    const tj_facts *facts = &same->symbol->facts;
    if (same->value == launch && facts->low == low && facts->high == high &&
        same->symbol->symbol->multiple == multiple)
      return (tj_measure){launch, same->symbol};
  }
  const tj_node *symbol =
      tj_symbol_create(graph, name, TJ_SYMBOL_COORDINATE, tj_int(graph, low), tj_int(graph, high), multiple);
  tj_flexible_bind(f, symbol, launch, true);
  return (tj_measure){launch, symbol};
}

void tj_flexible_demand(tj_flexible *f, const tj_node *truth) {
  f->condition = tj_terse_both(f->graph, f->condition, truth);
}

void tj_flexible_demand_between(tj_flexible *f, const tj_node *node, int64_t low, int64_t high) {
  tj_graph *graph = f->graph;
  if (node->facts.low < low)
    tj_flexible_demand(f, tj_less_equal(graph, tj_int(graph, low), node));
  if (node->facts.high > high)
    tj_flexible_demand(f, tj_less_equal(graph, node, tj_int(graph, high)));
}

void tj_flexible_demand_multiple(tj_flexible *f, const tj_node *node, uint32_t multiple) {
  tj_graph *graph = f->graph;
  if (multiple > 1 && !tj_facts_divisible(&node->facts, multiple))
    tj_flexible_demand(
        f, tj_simplified(graph, tj_equal(graph, tj_mod(graph, node, tj_int(graph, multiple)), tj_int(graph, 0))));
}

const tj_node *tj_flexible_parts(tj_graph *graph, const tj_node *a, const tj_node *b) {
  const tj_node *more = tj_add(graph, a, tj_terse_sub(graph, b, tj_int(graph, 1)));
  return tj_flexible_at_least(graph, tj_terse_div(graph, more, b), 1);
}

const tj_node *tj_flexible_power(tj_graph *graph, const tj_node *log) {
  return tj_flexible_at_least(graph, tj_shl(graph, tj_int(graph, 1), log), 1);
}

const tj_node *tj_flexible_choice(tj_graph *graph, const tj_node *truth, const tj_node *then,
                                  const tj_node *otherwise) {
  if (tj_is_constant(truth))
    return truth->value != 0 ? then : otherwise;
  return then == otherwise ? then : tj_select(graph, truth, then, otherwise);
}

/* --- work-items --- */

static const tj_node *sharpened(const tj_node *node, int64_t low, int64_t high) {
  tj_sharpen_facts(node, &(tj_facts){.low = low, .high = high, .modulus = 1});
  return node;
}

tj_flexible_digits tj_flexible_split(tj_flexible *f, const tj_node *number, tj_measure divisor, int64_t most) {
  enum { SHIFT = 20 };
  tj_graph *graph = f->graph;
  if (tj_is_constant(number) || (tj_is_constant(divisor.launch) && tj_is_power_of_two(divisor.launch->value)))
    return (tj_flexible_digits){.quotient = tj_terse_div(graph, number, divisor.name),
                                .remainder = tj_terse_mod(graph, number, divisor.name)};
  const tj_node *magic = tj_flexible_parts(graph, tj_int(graph, 1 << SHIFT), divisor.launch);
  tj_measure multiplier = tj_flexible_measure(f, "magic", magic, 1, 1 << SHIFT, 1);
  const tj_node *product = tj_mul(graph, number, multiplier.name);
  const tj_node *quotient = sharpened(tj_shr(graph, product, tj_int(graph, SHIFT)), 0, number->facts.high);
  const tj_node *whole = sharpened(tj_mul(graph, quotient, divisor.name), 0, number->facts.high);
  int64_t last = number->facts.high < most - 1 ? number->facts.high : most - 1;
  return (tj_flexible_digits){quotient, sharpened(tj_sub(graph, number, whole), 0, last), divisor};
}

const tj_node *tj_flexible_product(tj_flexible *f, const tj_node *digit, const tj_node *stride, int64_t limit) {
  const tj_node *product = tj_terse_mul(f->graph, digit, stride);
  return product->facts.high < limit ? product : sharpened(product, 0, limit - 1);
}

void tj_flexible_need(tj_flexible *f, uint32_t mode, int64_t elements) {
  f->mode[mode].whole = elements;
  tj_flexible_demand(f, tj_less_equal(f->graph, tj_int(f->graph, elements), f->mode[mode].extent.launch));
}

const tj_node *tj_flexible_least(tj_flexible *f, const tj_node *digit, tj_measure last) {
  if (tj_is_int(last.name, 0) || tj_is_int(digit, 0))
    return tj_int(f->graph, 0);
  return digit->facts.high <= last.name->facts.low ? digit : tj_min(f->graph, digit, last.name);
}

void tj_flexible_gate(tj_flexible *f, const tj_node *number, const tj_node *count, int64_t most) {
  tj_measure limit = tj_flexible_measure(f, "active", count, 1, most, 1);
  bool is_full = number->facts.high < limit.name->facts.low;
  f->gate = is_full ? tj_int(f->graph, 1) : tj_less(f->graph, number, limit.name);
}

void tj_flexible_step(tj_flexible *f, tj_step_kind kind, tj_access access, uint32_t width, uint32_t slot,
                      uint32_t slot_step) {
  tj_kernel *kernel = f->kernel;
  access.valid = access.valid != NULL ? tj_terse_both(f->graph, f->gate, access.valid) : f->gate;
  kernel->step[kernel->step_count++] = (tj_kernel_step){
      .kind = kind, .access = access, .width = width, .slot = slot, .slot_step = width > 1 ? slot_step : 1};
}

void tj_flexible_barrier(tj_flexible *f) {
  f->kernel->step[f->kernel->step_count++] = (tj_kernel_step){.kind = TJ_STEP_BARRIER};
}
