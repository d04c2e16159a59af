/* SPDX-License-Identifier: MIT */
#include "lower/kernel/kernel_expressions.h"

#include "base/text.h"
#include "lower/kernel/final_forms.h"
#include "lower/kernel/loop.h"
#include "lower/machine/width.h"

#include <string.h>

/* --- places --- */

static void add_place(tj_kernel_places *list, const tj_node **place) {
  if (*place != NULL)
    list->place[list->count++] = place;
}

static void add_places(tj_kernel_places *list, tj_kernel_step *step, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    add_place(list, &step[i].value);
    add_place(list, &step[i].limit);
    add_place(list, &step[i].access.base);
    add_place(list, &step[i].access.offset);
    add_place(list, &step[i].access.valid);
    add_place(list, &step[i].from.base);
    add_place(list, &step[i].from.offset);
    add_place(list, &step[i].ahead.base);
    add_place(list, &step[i].ahead.offset);
    for (uint32_t k = 0; k < step[i].word_count; k++)
      add_place(list, &step[i].word[k]);
  }
}

static void add_loop(tj_kernel_places *list, tj_loop *loop) {
  add_place(list, &loop->trips);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    add_place(list, &loop->carried[i].initial);
    add_place(list, &loop->carried[i].next);
  }
}

tj_kernel_places tj_places_of_kernel(tj_graph *graph, tj_kernel *kernel) {
  size_t in_loop = kernel->loop == NULL ? 0 : 1 + 2 * (size_t)kernel->loop->carried_count;
  size_t in_steps = 9 * ((size_t)kernel->step_count + kernel->inner_step_count);
  size_t in_words = tj_words_of_steps(kernel->step, kernel->step_count) +
                    tj_words_of_steps(kernel->inner_step, kernel->inner_step_count);
  size_t most = in_steps + in_words + in_loop + kernel->binding_count + 3;
  tj_kernel_places list = {TJ_RAW_ARRAY(graph->job, const tj_node **, most), 0};
  add_places(&list, kernel->step, kernel->step_count);
  add_places(&list, kernel->inner_step, kernel->inner_step_count);
  for (uint32_t i = 0; i < kernel->binding_count; i++)
    add_place(&list, &kernel->binding[i].value);
  if (kernel->loop != NULL)
    add_loop(&list, kernel->loop);
  add_place(&list, &kernel->inner);
  add_place(&list, &kernel->count);
  add_place(&list, &kernel->items);
  return list;
}

/* --- simplifying and showing --- */

static bool implies(const tj_node *truth, const tj_node *fact, unsigned steps) {
  return truth == fact || (steps > 0 && truth->op == TJ_OP_AND &&
                           (implies(truth->arg[0], fact, steps - 1) || implies(truth->arg[1], fact, steps - 1)));
}

bool tj_surely_implies(const tj_node *truth, const tj_node *fact) {
  enum { MOST_STEPS = 16 };
  return tj_is_always(fact) || (truth != NULL && implies(truth, fact, MOST_STEPS));
}

/* A flat copy's load that is valid wherever its store is need not happen where the store does not. */
static void join_predicates(tj_kernel *kernel) {
  if (kernel->index == NULL || kernel->arrays != NULL || kernel->step[0].kind != TJ_STEP_LOAD)
    return;
  const tj_node *stored = tj_flat_store(kernel)->access.valid;
  for (uint32_t i = 0; i + 1 < kernel->step_count; i++) {
    if (tj_surely_implies(stored, kernel->step[i].access.valid))
      kernel->step[i].access.valid = stored;
  }
}

/* Leaves out stores that never happen; returns how many steps there are without. Of flat kernels, the last step is
 * the store, whatever it does. */
static uint32_t without_idle_stores(tj_kernel_step step[], uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (step[i].kind != TJ_STEP_STORE || !tj_is_int(step[i].access.valid, 0))
      step[kept++] = step[i];
  }
  return kept;
}

static void leave_out_idle_stores(tj_kernel *kernel) {
  if (kernel->index != NULL)
    return;
  kernel->step_count = without_idle_stores(kernel->step, kernel->step_count);
  kernel->inner_step_count = without_idle_stores(kernel->inner_step, kernel->inner_step_count);
}

/* Sums that are put together in another way may have parts that are not known to fit in 64 bits: then the expression
 * is better as it was. */
static bool is_usable(tj_graph *graph, const tj_node *simple, const tj_node *before) {
  return tj_widths_fit(graph, &simple, 1) || !tj_widths_fit(graph, &before, 1);
}

void tj_kernel_simplify(tj_graph *graph, tj_kernel *kernel, tj_trace *trace) {
  tj_kernel_places list = tj_places_of_kernel(graph, kernel);
  const tj_node **roots = TJ_RAW_ARRAY(graph->job, const tj_node *, list.count);
  for (uint32_t i = 0; i < list.count; i++)
    roots[i] = *list.place[i];
  tj_simplify(graph, roots, list.count, trace);
  tj_economize(graph, roots, list.count);
  bool all_fit = tj_widths_fit(graph, roots, list.count);
  for (uint32_t i = 0; i < list.count; i++)
    *list.place[i] = all_fit || is_usable(graph, roots[i], *list.place[i]) ? roots[i] : *list.place[i];
  join_predicates(kernel);
  leave_out_idle_stores(kernel);
  if (kernel->loop != NULL)
    tj_loop_prune(graph, kernel);
}

static void show(tj_named_node named[], uint32_t *count, const char *name, const tj_node *node) {
  if (node != NULL && !(tj_is_constant(node) && strstr(name, "valid") != NULL))
    named[(*count)++] = (tj_named_node){name, node};
}

static void show_loop(tj_job *job, tj_named_node named[], uint32_t *count, const tj_loop *loop) {
  show(named, count, "trips", loop->trips);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    const tj_carried *carried = &loop->carried[i];
    show(named, count, carried->symbol->symbol->name, carried->initial);
    show(named, count, tj_string_format(job, "%s.next", carried->symbol->symbol->name), carried->next);
  }
}

/* Shows where an index is looked up, if `step` does that; returns the first step that does not. */
static const tj_kernel_step *show_lookup(tj_named_node named[], uint32_t *count, const tj_kernel_step *step) {
  if (step->kind != TJ_STEP_LOOKUP)
    return step;
  show(named, count, "lookup.offset", step->access.offset);
  show(named, count, "lookup.valid", step->access.valid);
  return step + 1;
}

const tj_named_node *tj_kernel_expressions(tj_job *job, const tj_kernel *kernel, uint32_t *shown) {
  uint32_t most = 9 + (kernel->loop != NULL ? 2 * kernel->loop->carried_count : 0), count = 0;
  tj_named_node *named = TJ_NEW_ARRAY(job, tj_named_node, most);
  const tj_kernel_step *first = show_lookup(named, &count, kernel->step), *store = tj_flat_store(kernel);
  show(named, &count, "load.offset", first->access.offset);
  show(named, &count, "load.valid", first->access.valid);
  show(named, &count, "value", first->value);
  show(named, &count, "store.offset", store->access.offset);
  show(named, &count, "store.valid", store->access.valid);
  show(named, &count, "count", kernel->count);
  if (kernel->loop != NULL)
    show_loop(job, named, &count, kernel->loop);
  *shown = count;
  return named;
}
