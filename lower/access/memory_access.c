/* SPDX-License-Identifier: MIT */
/* Steps compared by their expressions, of which equal ones are the same nodes. */
#include "lower/access/memory_access.h"

#include "lower/kernel/alignment.h"
#include "lower/kernel/displace.h"
#include "lower/kernel/kernel_nodes.h"
#include "lower/kernel/repeats.h"

enum { WORD = 4, MOST_BYTES = 16 };

typedef struct {
  tj_graph *graph;
  const tj_kernel *kernel;
  const tj_price_machine *machine;
  tj_kernel_nodes nodes;
  tj_memory_accesses made;
  const tj_kernel_step *loop; /* the one at hand; NULL: there is none */
  uint32_t phase;             /* the first since the last barrier, or since a loop began or ended */
} listing;

static bool is_access(const tj_kernel_step *step) {
  switch (step->kind) {
  case TJ_STEP_LOAD:
  case TJ_STEP_STORE:
  case TJ_STEP_LOOKUP:
    return true;
  case TJ_STEP_RUN:
  case TJ_STEP_DIRECT:
  case TJ_STEP_VALUE:
  case TJ_STEP_PREFETCH:
  case TJ_STEP_COMPUTE:
  case TJ_STEP_BOX:
  case TJ_STEP_EXCHANGE:
  case TJ_STEP_LOOP:
  case TJ_STEP_AGAIN:
  case TJ_STEP_BARRIER:
    break;
  }
  return false;
}

static bool has_two_places(const tj_memory_access *access) {
  return tj_step_has_two_places(access->step);
}

static bool is_store(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_STORE;
}

/* Whether two steps are valid together and begin a constant apart, and how far. */
static bool go_together(tj_graph *graph, const tj_kernel_step *a, const tj_kernel_step *b, int64_t *distance) {
  if (a->kind != b->kind || a->kind == TJ_STEP_LOOKUP || a->access.buffer != b->access.buffer ||
      a->access.base != b->access.base || a->access.valid != b->access.valid)
    return false;
  tj_displaced from = tj_displace(graph, a->access.offset), to = tj_displace(graph, b->access.offset);
  *distance = b->access.displacement + to.displacement - a->access.displacement - from.displacement;
  return from.rest == to.rest;
}

static bool is_repeated(const listing *l, const tj_kernel_step *step) {
  for (uint32_t i = l->phase; i < l->made.count; i++) {
    if (step->kind != TJ_STEP_LOOKUP && !has_two_places(&l->made.item[i]) &&
        tj_is_same_access(l->made.item[i].step, step))
      return true;
  }
  return false;
}

/* Whether so many bytes from a step's first element on are one access: of kernels that rely on alignments, only where
 * that element is aligned to them. */
static bool may_be_one(const tj_kernel *kernel, const tj_kernel_step *first, uint32_t bytes) {
  uint32_t vector = bytes <= 2 * WORD ? bytes : MOST_BYTES;
  return !kernel->is_aligned ||
         tj_step_begins_at_multiple(kernel, first, vector / tj_element_bytes(kernel, first->access.buffer));
}

/* Adds whole words of memory to the access before, which they go on. */
static bool is_joined(const listing *l, const tj_kernel_step *step, uint32_t bytes) {
  if (l->made.count == l->phase || step->access.buffer == TJ_LDS || step->adds || bytes % WORD != 0)
    return false;
  tj_memory_access *last = &l->made.item[l->made.count - 1];
  if (has_two_places(last))
    return false;
  int64_t distance;
  if (!go_together(l->graph, last->step, step, &distance) || last->bytes % WORD != 0 ||
      last->bytes + bytes > MOST_BYTES ||
      distance != last->bytes / tj_element_bytes(l->kernel, step->access.buffer) ||
      !may_be_one(l->kernel, last->step, last->bytes + bytes))
    return false;
  last->bytes += bytes;
  return true;
}

static bool is_uniform(const listing *l, const tj_node *node) {
  return node == NULL || tj_kernel_nodes_is_uniform(&l->nodes, node);
}

static void add_access(listing *l, const tj_kernel_step *step, const tj_access *place, bool stores) {
  l->made.item[l->made.count++] =
      (tj_memory_access){.step = step,
                         .place = place,
                         .loop = l->loop,
                         .is_store = stores,
                         .is_uniform = is_uniform(l, place->offset) && is_uniform(l, step->access.valid),
                         .bytes = step->width * tj_element_bytes(l->kernel, place->buffer)};
}

/* Whether a sum becomes of what is loaded first, for want of an instruction that adds in memory. */
static bool is_sum_of_load(const listing *l, const tj_kernel_step *step) {
  return step->adds && !l->machine->has_float_sums &&
         tj_dtype_class_of(l->kernel->buffer[step->access.buffer].dtype) == TJ_CLASS_FLOAT;
}

static void add_step(listing *l, const tj_kernel_step *step) {
  uint32_t bytes = step->width * tj_element_bytes(l->kernel, step->access.buffer);
  if (is_repeated(l, step) || is_joined(l, step, bytes))
    return;
  if (is_sum_of_load(l, step))
    add_access(l, step, &step->access, false);
  add_access(l, step, &step->access, is_store(step));
}

static void add_both(listing *l, const tj_kernel_step *step) {
  add_access(l, step, &step->from, false);
  add_access(l, step, &step->access, true);
}

tj_memory_accesses tj_list_memory_accesses(tj_graph *graph, const tj_kernel *kernel, bool of_inner,
                                           const tj_price_machine *machine) {
  const tj_kernel_step *step = of_inner ? kernel->inner_step : kernel->step;
  uint32_t count = of_inner ? kernel->inner_step_count : kernel->step_count;
  listing l = {.graph = graph,
               .kernel = kernel,
               .machine = machine,
               .nodes = tj_kernel_nodes_of(graph, kernel, machine->uniform_lanes)};
  l.made.item = TJ_NEW_ARRAY(graph->job, tj_memory_access, 2 * (size_t)count + 1);
  tj_spend(graph->job, count);
  for (uint32_t i = 0; i < count; i++) {
    bool begins = step[i].kind == TJ_STEP_LOOP, ends = step[i].kind == TJ_STEP_AGAIN;
    if (begins || ends)
      l.loop = begins ? &step[i] : NULL;
    if (begins || ends || step[i].kind == TJ_STEP_BARRIER)
      l.phase = l.made.count;
    else if (tj_step_has_two_places(&step[i]))
      add_both(&l, &step[i]);
    else if (is_access(&step[i]))
      add_step(&l, &step[i]);
  }
  return l.made;
}
