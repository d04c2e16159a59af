/* SPDX-License-Identifier: MIT */
/* Work-item n takes vector n of the flat kernel's elements, the fastest mode of which has whole ones: each step once
 * for each element of it, simplified, and then as one where offsets show neighbours. Where the launch brings the
 * mode's extent, so is a variant for those that are multiples of a vector. */
#include "lower/tile/gather_vectors.h"

#include "base/number/power.h"
#include "ir/index/facts.h"
#include "ir/index/substitute.h"
#include "ir/simplify/simplify.h"
#include "lower/kernel/kernel_expressions.h"
#include "lower/kernel/variant.h"
#include "lower/tile/tile_side.h"

typedef struct {
  tj_graph *graph;
  const tj_kernel *flat;
  const tj_target *target;
  uint32_t slots;
  const tj_node *row, *assumed_row; /* the extent of the fastest mode, and in terms of what is assumed */
  const tj_substitution *assumed;   /* NULL: nothing */
  const tj_node *index;             /* of the work-item */
  tj_kernel *kernel;
} widening;

enum { MOST_DEMANDS = 1 };

bool tj_is_gather(const tj_kernel *flat) {
  return flat->index != NULL && flat->step[0].kind == TJ_STEP_LOOKUP;
}

/* How many elements the fastest mode has. */
static const tj_node *row_of(tj_graph *graph, const tj_kernel *flat) {
  uint32_t count;
  return flat->elements != NULL ? tj_tuple_leaves(graph, flat->elements->shape, &count)[0]->value : flat->count;
}

/* Takes expressions of the flat kernel's index to those of the work-item's, for a slot: what the index is along its
 * fastest mode and along the others, and as a whole. */
static void place_slot(const widening *w, uint32_t slot, const tj_node *part[], size_t count) {
  tj_graph *graph = w->graph;
  const tj_node *flat = w->flat->index, *width = tj_int(graph, w->slots);
  const tj_node *vectors = tj_simplified(graph, tj_div(graph, w->assumed_row, width));
  const tj_node *others = tj_div(graph, w->index, vectors);
  const tj_node *place = tj_add(graph, tj_mul(graph, tj_mod(graph, w->index, vectors), width), tj_int(graph, slot));
  const tj_node *whole = tj_add(graph, tj_mul(graph, others, w->assumed_row), place);
  const tj_node *from[3 + MOST_DEMANDS] = {tj_mod(graph, flat, w->row), tj_div(graph, flat, w->row), flat};
  const tj_node *to[3 + MOST_DEMANDS] = {place, others, whole};
  uint32_t assumed = w->assumed != NULL ? w->assumed->count : 0;
  for (uint32_t i = 0; i < assumed; i++) {
    from[3 + i] = w->assumed->from[i];
    to[3 + i] = w->assumed->to[i];
  }
  tj_substitute(graph, &(tj_substitution){from, to, 3 + assumed}, part, count);
}

/* A step's offsets, by slot, and what all of them are valid under: NULL where that is not the same. */
static const tj_node *place_slots(const widening *w, const tj_kernel_step *step, const tj_node *offset[]) {
  tj_graph *graph = w->graph;
  const tj_node **valid = TJ_NEW_ARRAY(graph->job, const tj_node *, w->slots);
  for (uint32_t slot = 0; slot < w->slots; slot++) {
    const tj_node *part[] = {step->access.offset, step->access.valid};
    place_slot(w, slot, part, 2);
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
  tj_substitute(w->graph, w->assumed, &add_step(w->kernel, step, offset[0], valid)->limit, 1);
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

/* The kernel of so many slots, under what is assumed; NULL where there is none. */
static tj_kernel *widened(tj_graph *graph, const tj_kernel *flat, const tj_target *target, uint32_t slots,
                          const tj_substitution *assumed) {
  const tj_node *row = row_of(graph, flat), *part[] = {row, flat->count};
  tj_substitute(graph, assumed, part, 2);
  if (!tj_is_power_of_two(slots) || !tj_facts_divisible(&part[0]->facts, slots) ||
      (slots > 1 && tj_flat_store(flat)->adds))
    return NULL;
  tj_kernel *kernel = TJ_NEW(graph->job, tj_kernel);
  *kernel = *flat;
  kernel->parameter = tj_assumed_parameters(graph, flat, assumed);
  kernel->count = tj_simplified(graph, tj_div(graph, part[1], tj_int(graph, slots)));
  kernel->index = tj_coordinate(graph, "n", kernel->count);
  kernel->step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, (size_t)flat->step_count * slots);
  kernel->step_count = 0;
  kernel->slot_count = slots;
  widening w = {graph, flat, target, slots, row, part[0], assumed, kernel->index, kernel};
  for (uint32_t i = 0; i < flat->step_count; i++) {
    if (!widen_step(&w, &flat->step[i]))
      return NULL;
  }
  tj_kernel_simplify(graph, kernel, NULL);
  return kernel;
}

tj_kernel *tj_gather_in_vectors(tj_graph *graph, const tj_kernel *flat, const tj_target *target, uint32_t slots) {
  return widened(graph, flat, target, slots, NULL);
}

/* Offers the kernel of the widest vectors for rows that are multiples of them, where the launch brings their length,
 * and nothing else of it. */
static void offer_multiples(tj_graph *graph, tj_kernel *flat, const tj_target *target, uint32_t slots) {
  const tj_node *row = row_of(graph, flat);
  tj_demand demand = {row, slots, slots, INT64_MAX};
  tj_demands demands = {&demand, MOST_DEMANDS};
  if (row->op != TJ_OP_SYMBOL || !tj_can_be_met(&demands))
    return;
  tj_substitution assumed = tj_assume(graph, &demands);
  tj_kernel *faster = widened(graph, flat, target, slots, &assumed);
  if (faster != NULL && tj_kernel_fits(graph, faster))
    tj_offer_faster(graph, flat, faster, &demands, "vectors");
}

tj_kernel *tj_gather_widest(tj_graph *graph, tj_kernel *flat, const tj_target *target) {
  uint32_t widest = 1;
  for (uint32_t i = 1; i < flat->step_count && !tj_flat_store(flat)->adds; i++) {
    uint32_t width = tj_target_widest(target, tj_element_bytes(flat, flat->step[i].access.buffer));
    widest = width > widest ? width : widest;
  }
  for (uint32_t slots = widest; slots > 1; slots /= 2) {
    tj_kernel *kernel = tj_gather_in_vectors(graph, flat, target, slots);
    if (kernel != NULL)
      return kernel;
  }
  if (widest > 1)
    offer_multiples(graph, flat, target, widest);
  return flat;
}
