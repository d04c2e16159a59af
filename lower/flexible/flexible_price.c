/* SPDX-License-Identifier: MIT */
/* What tiles cost memory, in expressions of the launch: the cache lines that runs of a length touch, by what
 * all of them begin at a multiple of. */
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

const tj_node *tj_flexible_grain(const tj_flexible *f, uint32_t side, const tj_flexible_mode *first,
                                 const tj_flexible_mode *next, const tj_node *part) {
  tj_graph *graph = f->graph;
  int64_t bytes = least_bytes(f, side), line = tj_cache_line_bytes(f->target->processor);
  const tj_node *steps = tj_int(graph, line / bytes);
  for (uint32_t m = 0; m < f->domain->count; m++) {
    if (&f->mode[m] != first && &f->mode[m] != next)
      steps = tj_or(graph, steps, f->mode[m].stride[side].launch);
  }
  if (next != NULL)
    steps = tj_or(graph, steps, steps_along(f, next, side, part));
  steps = tj_flexible_at_least(graph, steps, 1);
  const tj_node *higher = tj_and(graph, steps, tj_sub(graph, steps, tj_int(graph, 1)));
  return tj_terse_mul(graph, tj_xor(graph, steps, higher), tj_int(graph, bytes));
}

const tj_node *tj_flexible_lines(const tj_flexible *f, uint32_t side, const tj_node *elements, int64_t most,
                                 const tj_node *grain) {
  tj_graph *graph = f->graph;
  const tj_node *size = tj_int(graph, least_bytes(f, side));
  const tj_node *bytes =
      tj_flexible_at_most(graph, tj_terse_mul(graph, elements, size), most * f->target->vector_bytes);
  const tj_node *cut = tj_sub(graph, tj_int(graph, tj_cache_line_bytes(f->target->processor)), grain);
  const tj_node *touched =
      tj_terse_mul(graph, tj_terse_add(graph, bytes, cut), tj_int(graph, TJ_FLEXIBLE_LINE_PARTS));
  return tj_div(graph, touched, bytes);
}
