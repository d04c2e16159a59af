/* SPDX-License-Identifier: MIT */
/* Work-item n takes elements n * slots … n * slots + slots - 1 of the flat kernel: each step once for each of them,
 * simplified, and then as one where offsets show neighbours. */
#include "lower/tile/gather_vectors.h"

#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/tile/tile_side.h"

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_target *target;
  uint32_t slots;
  const tj_node *index; /* of the work-item */
  tj_kernel *kernel;
} widening;

bool tj_is_gather(const tj_kernel *flat) {
  return flat->index != NULL && flat->step[0].kind == TJ_STEP_LOOKUP;
}

/* A step's offsets, by slot, and what all of them are valid under: NULL where that is not the same. */
static const tj_node *place_slots(const widening *w, const tj_kernel_step *step, const tj_node *offset[]) {
  tj_graph *graph = w->graph;
  const tj_node **valid = TJ_NEW_ARRAY(graph->job, const tj_node *, w->slots);
  for (uint32_t slot = 0; slot < w->slots; slot++) {
    const tj_node *from = w->flat->index, *part[] = {step->access.offset, step->access.valid};
    const tj_node *to = tj_mul(graph, w->index, tj_int(graph, w->slots));
    to = tj_add(graph, to, tj_int(graph, slot));
    tj_substitute(graph, &(tj_substitution){&from, &to, 1}, part, 2);
    offset[slot] = part[0];
    valid[slot] = part[1];
  }
  tj_simplify(graph, offset, w->slots, NULL);
  tj_simplify(graph, valid, w->slots, NULL);
  for (uint32_t slot = 1; slot < w->slots; slot++) {
    if (valid[slot] != valid[0])
      return NULL;
  }
  return valid[0];
}

static tj_kernel_step *add_step(tj_kernel *kernel, const tj_kernel_step *like, const tj_node *offset,
                                const tj_node *valid) {
  tj_kernel_step *step = &kernel->step[kernel->step_count++];
  *step = *like;
  step->access.offset = offset;
  step->access.valid = valid;
  return step;
}

/* The index that all slots look up. */
static bool add_lookup(const widening *w, const tj_kernel_step *step, const tj_node *const offset[],
                       const tj_node *valid) {
  for (uint32_t slot = 1; slot < w->slots; slot++) {
    if (offset[slot] != offset[0])
      return false;
  }
  add_step(w->kernel, step, offset[0], valid);
  return true;
}

static bool are_neighbours(const widening *w, const tj_node *const offset[], uint32_t width) {
  return w->target->has_unaligned_vectors ? tj_are_in_turn(w->graph, offset, width)
                                          : tj_are_neighbours(w->graph, offset, width);
}

static bool add_vectors(const widening *w, const tj_kernel_step *step, const tj_node *const offset[],
                        const tj_node *valid) {
  uint32_t widest = tj_target_widest(w->target, tj_element_bytes(w->flat, step->access.buffer));
  uint32_t width = w->slots < widest ? w->slots : widest;
  for (uint32_t slot = 0; slot < w->slots; slot += width) {
    if (!are_neighbours(w, offset + slot, width))
      return false;
    tj_kernel_step *made = add_step(w->kernel, step, offset[slot], valid);
    made->width = width;
    made->slot = slot;
  }
  return true;
}

static bool widen_step(const widening *w, const tj_kernel_step *step) {
  const tj_node **offset = TJ_NEW_ARRAY(w->graph->job, const tj_node *, w->slots);
  const tj_node *valid = place_slots(w, step, offset);
  if (valid == NULL)
    return false;
  return step->kind == TJ_STEP_LOOKUP ? add_lookup(w, step, offset, valid) : add_vectors(w, step, offset, valid);
}

tj_kernel *tj_gather_in_vectors(tj_graph *graph, const tj_kernel *flat, const tj_target *target, uint32_t slots) {
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  if ((slots & (slots - 1)) != 0 || !tj_facts_divisible(&flat->count->facts, slots) ||
      (slots > 1 && tj_flat_store(flat)->adds))
    return NULL;
  *kernel = *flat;
  kernel->count = tj_simplified(graph, tj_div(graph, flat->count, tj_int(graph, slots)));
  kernel->index = tj_coordinate(graph, "n", kernel->count);
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, (size_t)flat->step_count * slots);
  kernel->step_count = 0;
  kernel->slot_count = slots;
  widening w = {graph, flat, target, slots, kernel->index, kernel};
  for (uint32_t i = 0; i < flat->step_count; i++) {
    if (!widen_step(&w, &flat->step[i]))
      return NULL;
  }
  tj_kernel_simplify(graph, kernel, NULL);
  return kernel;
}

tj_kernel *tj_gather_widest(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  uint32_t slots = 1;
  for (uint32_t i = 1; i < flat->step_count && !tj_flat_store(flat)->adds; i++) {
    uint32_t widest = tj_target_widest(target, tj_element_bytes(flat, flat->step[i].access.buffer));
    slots = widest > slots ? widest : slots;
  }
  for (; slots > 1; slots /= 2) {
    tj_kernel *kernel = tj_gather_in_vectors(graph, flat, target, slots);
    if (kernel != NULL)
      return kernel;
  }
  return flat;
}
