/* SPDX-License-Identifier: MIT */
/* Which repeats are gathered, by what step indices count, and how large they get.
 *
 * The index of a row counts from the box's first row on, or, along dimensions that are padded, from the tensor's
 * first: boxes may begin before that, and descriptors at elements of the tensor alone. */
#include "lower/dma/gather.h"

#include "base/integer.h"
#include "ir/layout/arith.h"
#include "ir/simplify/simplify.h"

enum { NARROW = 16, WIDE = 32 };

/* A plan whose repeats are being gathered. */
typedef struct {
  tj_graph *graph;
  tj_dma_plan plan;
  tj_dma_lds_order written;
  uint32_t most_rows;
} gatherer;

const tj_node *tj_dma_product(tj_graph *graph, const tj_node *a, const tj_node *b) {
  return tj_simplified(graph, tj_terse_mul(graph, a, b));
}

const tj_node *tj_dma_row_stride(tj_graph *graph, const tj_dma_plan *plan, const tj_dma_repeat *repeat) {
  return tj_dma_product(graph, repeat->step, plan->dimension[repeat->dimension].stride);
}

const tj_node *tj_dma_box_stride(tj_graph *graph, const tj_dma_plan *plan, uint32_t dimension) {
  const tj_dma_dimension *of = &plan->dimension[dimension];
  return tj_dma_product(graph, of->stride, tj_int(graph, of->box));
}

bool tj_dma_is_gathered(const tj_dma_plan *plan, uint32_t dimension) {
  bool is_gathered = false;
  for (uint32_t i = 0; i < plan->repeat_count; i++) {
    const tj_dma_repeat *repeat = &plan->repeat[i];
    is_gathered =
        is_gathered || (repeat->is_gathered && repeat->dimension == dimension && !tj_is_int(repeat->step, 0));
  }
  return is_gathered;
}

/* --- which --- */

/* In the order of LDS. */
static void sort_repeats(tj_dma_plan *plan) {
  for (uint32_t i = 1; i < plan->repeat_count; i++) {
    tj_dma_repeat repeat = plan->repeat[i];
    uint32_t at = i;
    for (; at > 0 && repeat.lds < plan->repeat[at - 1].lds; at--)
      plan->repeat[at] = plan->repeat[at - 1];
    plan->repeat[at] = repeat;
  }
}

/* What is left of a repeat behind its first `count`, in parts of as many; the last one may have less. */
static void part_repeat(gatherer *g, uint32_t number, int64_t count) {
  tj_dma_repeat *repeat = &g->plan.repeat[number], *parts = &g->plan.repeat[g->plan.repeat_count];
  g->plan.parted = g->plan.repeat_count++;
  g->plan.parted_rows = repeat->count;
  *parts = *repeat;
  parts->is_gathered = false;
  parts->step = tj_dma_product(g->graph, repeat->step, tj_int(g->graph, count));
  parts->count = (repeat->count + count - 1) / count;
  parts->lds *= count;
  g->plan.instructions *= parts->count;
  repeat->count = count;
}

/* Whole repeats, and of the last one parts that are as long as one another, but for the last. */
static void take_repeats(gatherer *g) {
  uint32_t count = g->plan.repeat_count;
  g->plan.rows = 1;
  for (uint32_t i = 0; i < count; i++) {
    tj_dma_repeat *repeat = &g->plan.repeat[i];
    int64_t whole = repeat->count, most = g->most_rows / g->plan.rows, parts = (whole + most - 1) / most;
    int64_t taken = (whole + parts - 1) / parts;
    if (taken == 1 || (parts > 1 && g->plan.repeat_count == TJ_DMA_MOST_REPEATS) ||
        !tj_dma_continues_lds(&g->written, repeat->lds))
      return;
    repeat->is_gathered = true;
    g->plan.rows *= (uint32_t)taken;
    g->plan.instructions /= whole;
    g->written.filled *= taken;
    if (parts > 1) {
      part_repeat(g, i, taken);
      return;
    }
  }
}

/* --- indices --- */

/* What indices are sums of multiples of: strides of repeats, and of dimensions that are padded. */
typedef struct {
  const tj_node *node[2 * TJ_DMA_MOST_REPEATS];
  uint32_t count;
} steps;

static steps steps_of(const gatherer *g) {
  steps s = {.count = 0};
  for (uint32_t i = 0; i < g->plan.repeat_count; i++) {
    const tj_dma_repeat *repeat = &g->plan.repeat[i];
    if (!repeat->is_gathered)
      continue;
    s.node[s.count++] = tj_dma_row_stride(g->graph, &g->plan, repeat);
    if (g->plan.dimension[repeat->dimension].is_padded)
      s.node[s.count++] = tj_dma_box_stride(g->graph, &g->plan, repeat->dimension);
  }
  return s;
}

static bool divides_all(tj_graph *graph, const tj_node *divisor, const steps *s) {
  bool divides = tj_decide_less(graph, tj_int(graph, 0), divisor) == TJ_YES;
  for (uint32_t i = 0; i < s->count && divides; i++)
    divides = tj_decide_divides(graph, divisor, s->node[i]) == TJ_YES;
  return divides;
}

/* One that divides all, or the greatest common divisor of constants, or 1. */
static const tj_node *common_step(tj_graph *graph, const steps *s) {
  uint64_t divisor = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    if (divides_all(graph, s->node[i], s))
      return s->node[i];
    divisor = tj_gcd(divisor, tj_is_constant(s->node[i]) ? (uint64_t)s->node[i]->value : 1);
  }
  return tj_int(graph, divisor == 0 ? 1 : (int64_t)divisor);
}

/* How many steps a stride is. */
static const tj_node *steps_in(const gatherer *g, const tj_node *stride) {
  return tj_simplified(g->graph, tj_exact_div(g->graph, stride, g->plan.row_step));
}

/* Behind the largest index of a row that is in the tensor. */
static const tj_node *end_of_rows(const gatherer *g) {
  tj_graph *graph = g->graph;
  const tj_node *one = tj_int(graph, 1), *end = one;
  for (uint32_t i = 0; i < g->plan.repeat_count; i++) {
    const tj_dma_repeat *repeat = &g->plan.repeat[i];
    const tj_node *each = steps_in(g, tj_dma_row_stride(graph, &g->plan, repeat));
    if (repeat->is_gathered && !g->plan.dimension[repeat->dimension].is_padded)
      end = tj_terse_add(graph, end, tj_terse_mul(graph, each, tj_int(graph, repeat->count - 1)));
  }
  for (uint32_t d = 0; d < g->plan.dimension_count; d++) {
    const tj_dma_dimension *of = &g->plan.dimension[d];
    if (!of->is_padded || !tj_dma_is_gathered(&g->plan, d))
      continue;
    const tj_node *last = tj_terse_div(graph, tj_terse_sub(graph, of->extent, one), tj_int(graph, of->box));
    const tj_node *each = steps_in(g, tj_dma_box_stride(graph, &g->plan, d));
    end = tj_terse_add(graph, end, tj_terse_mul(graph, each, last));
  }
  return tj_simplified(graph, end);
}

static bool are_steps_allowed(const gatherer *g, const steps *s) {
  tj_graph *graph = g->graph;
  bool is_allowed = tj_decide_less(graph, g->plan.row_step, tj_int(graph, g->plan.engine->stride_end)) == TJ_YES;
  for (uint32_t i = 0; i < s->count && is_allowed; i++)
    is_allowed = tj_decide_less_equal(graph, tj_int(graph, 0), s->node[i]) == TJ_YES;
  return is_allowed;
}

static void check_stores(gatherer *g) {
  tj_graph *graph = g->graph;
  for (uint32_t i = 0; i < g->plan.repeat_count; i++) {
    const tj_node *stride = tj_dma_row_stride(graph, &g->plan, &g->plan.repeat[i]);
    if (g->plan.repeat[i].is_gathered && tj_decide_less(graph, tj_int(graph, 0), stride) != TJ_YES &&
        g->plan.store_obstacle == NULL)
      g->plan.store_obstacle = "one instruction would store a row several times";
  }
}

/* Whether the plan gathers, by indices of so many bits. */
static bool gathers_by(gatherer *g, uint32_t index_bits) {
  g->most_rows = g->plan.engine->most_rows * NARROW / index_bits;
  take_repeats(g);
  if (g->plan.rows == 1)
    return false;
  steps s = steps_of(g);
  g->plan.row_step = common_step(g->graph, &s);
  if (!are_steps_allowed(g, &s))
    return false;
  g->plan.row_end = end_of_rows(g);
  g->plan.index_bits = index_bits;
  check_stores(g);
  return tj_decide_less(g->graph, g->plan.row_end, tj_int(g->graph, INT64_C(1) << index_bits)) == TJ_YES;
}

void tj_dma_gather(tj_graph *graph, tj_dma_plan *plan, tj_dma_lds_order *written) {
  static const uint32_t bits[] = {NARROW, WIDE};
  for (size_t i = 0; i < sizeof bits / sizeof *bits && plan->rows == 0; i++) {
    gatherer g = {graph, *plan, *written, 0};
    g.plan.parted = TJ_DMA_NO_REPEAT;
    sort_repeats(&g.plan);
    if (!gathers_by(&g, bits[i]))
      continue;
    *plan = g.plan;
    *written = g.written;
  }
}
