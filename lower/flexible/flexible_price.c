/* SPDX-License-Identifier: MIT */
/* What tiles cost memory, in expressions of the launch: the cache lines that their runs touch, by how long these are
 * and by what all of them begin at a multiple of. */
#include "base/machine/processor.h"
#include "ir/layout/arith.h"
#include "lower/flexible/flexible_maker.h"
#include "lower/kernel/arithmetic.h"

static int64_t least_bytes(const tj_flexible *f, uint32_t side) {
  return tj_domain_least_bytes(f->domain, f->kernel, tj_flexible_buffer(f, side), side == TJ_FLEXIBLE_SOURCE);
}

/* What runs step by that go on along a mode, in tiles of a part of it. */
static const tj_node *steps_along(const tj_flexible *f, const tj_flexible_mode *mode, uint32_t side,
                                  const tj_node *part) {
  tj_graph *graph = f->graph;
  const tj_node *step = mode->stride[side].launch, *all = mode->extent.launch;
  const tj_node *steps = tj_or(graph, tj_terse_mul(graph, part, step), tj_terse_mul(graph, all, step));
  return tj_flexible_choice(graph, tj_less(graph, part, all), steps, tj_int(graph, 0));
}

/* The bytes that all of a side's runs begin at a multiple of, as far as the strides of the modes tell along which
 * these are not. */
static const tj_node *grain_of(const tj_flexible *f, const tj_flexible_run *run) {
  tj_graph *graph = f->graph;
  int64_t bytes = least_bytes(f, run->side), line = tj_cache_line_bytes(f->target->processor);
  const tj_node *steps = tj_int(graph, line / bytes);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    if (&f->mode[m] != run->first && &f->mode[m] != run->next)
      steps = tj_or(graph, steps, f->mode[m].stride[run->side].launch);
  }
  if (run->next != NULL)
    steps = tj_or(graph, steps, steps_along(f, run->next, run->side, run->part));
  steps = tj_flexible_at_least(graph, steps, 1);
  const tj_node *higher = tj_and(graph, steps, tj_sub(graph, steps, tj_int(graph, 1)));
  return tj_terse_mul(graph, tj_xor(graph, steps, higher), tj_int(graph, bytes));
}

/* --- runs --- */

static const tj_node *least(const tj_flexible *f, const tj_node *a, const tj_node *b) {
  return a == b ? a : tj_min(f->graph, a, b);
}

tj_flexible_run tj_flexible_run_along(const tj_flexible *f, uint32_t side, const tj_flexible_mode *first,
                                      const tj_node *length) {
  tj_graph *graph = f->graph;
  const tj_node *extent = first->extent.launch, *elements = least(f, extent, length);
  const tj_node *is_whole = tj_terse_both(graph, tj_int(graph, 1), tj_less_equal(graph, extent, elements));
  return (tj_flexible_run){
      .side = side, .first = first, .elements = elements, .goes_on = is_whole, .end = extent, .next = NULL};
}

tj_flexible_run tj_flexible_run_on(const tj_flexible *f, tj_flexible_run run, const tj_flexible_mode *next,
                                   const tj_node *length) {
  enum { MANY = 1 << 12 };
  tj_graph *graph = f->graph;
  tj_flexible_run longer = run;
  if (next == NULL)
    return run;
  const tj_node *stride = next->stride[run.side].launch, *extent = next->extent.launch;
  const tj_node *truth = tj_terse_both(graph, run.goes_on, tj_equal(graph, stride, run.end));
  const tj_node *part = least(f, extent, length);
  const tj_node *elements = tj_terse_mul(graph, tj_flexible_at_most(graph, run.elements, MANY), part);
  longer.elements = tj_flexible_choice(graph, truth, elements, run.elements);
  longer.goes_on = tj_terse_both(graph, truth, tj_less_equal(graph, extent, part));
  longer.end = tj_terse_mul(graph, stride, extent);
  if (run.next != NULL)
    return longer;
  longer.next = next;
  longer.part = tj_flexible_choice(graph, truth, part, tj_int(graph, 1));
  return longer;
}

const tj_node *tj_flexible_lines(const tj_flexible *f, const tj_flexible_run *run, int64_t most) {
  tj_graph *graph = f->graph;
  const tj_node *size = tj_int(graph, least_bytes(f, run->side));
  const tj_node *bytes =
      tj_flexible_at_most(graph, tj_terse_mul(graph, run->elements, size), most * f->target->vector_bytes);
  const tj_node *cut = tj_sub(graph, tj_int(graph, tj_cache_line_bytes(f->target->processor)), grain_of(f, run));
  const tj_node *touched =
      tj_terse_mul(graph, tj_terse_add(graph, bytes, cut), tj_int(graph, TJ_FLEXIBLE_LINE_PARTS));
  return tj_div(graph, touched, bytes);
}
