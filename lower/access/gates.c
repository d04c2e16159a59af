/* SPDX-License-Identifier: MIT */
/* Gates, found from the end: what needs a slot, and behind which mask. Steps that one gate alone needs wait until the
 * first store of it, as far as nothing between gives others the slots that they have to do with. */
#include "lower/access/gates.h"

#include "ir/array/array.h"
#include "lower/access/slot_use.h"
#include "lower/kernel/kernel_expressions.h"

#include <string.h>

typedef struct {
  const tj_kernel *kernel;
  tj_kernel_step *step;
  uint32_t count;
  const tj_node *always;
  const tj_node **needed; /* by slot: the mask of all that need it; NULL: nobody does; always: no such mask */
  const tj_node **gate;   /* by step: the mask of all that need what it gives; NULL: none */
} gate_finder;

/* --- who needs what --- */

/* The mask of two; NULL: there is no such need. */
static const tj_node *both(const gate_finder *f, const tj_node *one, const tj_node *other) {
  if (one == NULL || other == NULL)
    return one == NULL ? other : one;
  return one == other ? one : f->always;
}

static void need_slots(const gate_finder *f, uint32_t slot, uint32_t width, uint32_t step, const tj_node *mask) {
  for (uint32_t k = 0; k < width; k++)
    f->needed[slot + k * step] = both(f, f->needed[slot + k * step], mask);
}

/* The mask of all that need what a step gives; from there on backwards nobody does. */
static const tj_node *taken_by(const gate_finder *f, const tj_kernel_step *step) {
  const tj_node *mask = NULL;
  for (uint32_t k = 0; k < step->width; k++) {
    const tj_node **own = &f->needed[step->slot + k * step->slot_step];
    mask = both(f, mask, *own);
    *own = NULL;
  }
  return mask;
}

static const tj_node *mask_of(const gate_finder *f, const tj_kernel_step *store) {
  bool has_gate = !store->access.is_bounded && !tj_is_always(store->access.valid);
  return has_gate ? store->access.valid : f->always;
}

static void find_of_store(const gate_finder *f, const tj_kernel_step *step) {
  const tj_arithmetic *arithmetic = &f->kernel->arithmetic;
  bool joins = arithmetic->slots > 0 && step->access.buffer != TJ_LDS;
  for (uint32_t i = 0; i < (joins ? arithmetic->count : 1); i++)
    need_slots(f, step->slot + i * arithmetic->slots, step->width, step->slot_step, mask_of(f, step));
}

/* Whether a computation takes what its slots had. */
static bool goes_on(const tj_kernel_step *step) {
  return step->compute->combine != TJ_ARRAY_OP_COUNT || !tj_is_always(step->access.valid);
}

/* Of what lanes take from each other, all have to be there. */
static const tj_node *find_of_computation(const gate_finder *f, const tj_kernel_step *step) {
  const tj_computation *compute = step->compute;
  const tj_node *mask = taken_by(f, step);
  if (mask == NULL)
    return NULL;
  if (compute->across > 0 || !tj_is_always(step->access.valid))
    mask = f->always;
  if (goes_on(step))
    need_slots(f, step->slot, step->width, step->slot_step, mask);
  for (uint32_t i = 0; i < compute->count; i++)
    need_slots(f, compute->slot[i], compute->varies[i] ? step->width : 1, 1, mask);
  return mask;
}

static bool is_lds_load(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOAD && step->access.buffer == TJ_LDS && !step->transposes;
}

static const tj_node *find_of_step(const gate_finder *f, const tj_kernel_step *step) {
  const tj_node *mask = NULL;
  switch (step->kind) {
  case TJ_STEP_STORE:
    find_of_store(f, step);
    break;
  case TJ_STEP_COMPUTE:
    mask = find_of_computation(f, step);
    break;
  case TJ_STEP_VALUE:
    mask = taken_by(f, step);
    break;
  case TJ_STEP_LOAD:
    mask = taken_by(f, step);
    mask = is_lds_load(step) && mask != NULL && tj_surely_implies(mask, step->access.valid) ? mask : NULL;
    break;
  case TJ_STEP_EXCHANGE:
  case TJ_STEP_LOOKUP:
  case TJ_STEP_LOOP:
  case TJ_STEP_AGAIN:
  case TJ_STEP_BARRIER:
    need_slots(f, 0, f->kernel->slot_count, 1, f->always);
    break;
  case TJ_STEP_RUN:
  case TJ_STEP_DIRECT:
  case TJ_STEP_PREFETCH:
  case TJ_STEP_BOX:
    break;
  }
  return mask != f->always ? mask : NULL;
}

/* Whether there is a gate that loads from LDS go into. */
static bool find_gates(const gate_finder *f) {
  bool is_any = false;
  for (uint32_t i = f->count; i-- > 0;) {
    f->gate[i] = find_of_step(f, &f->step[i]);
    is_any |= f->gate[i] != NULL && is_lds_load(&f->step[i]);
  }
  return is_any;
}

/* --- order --- */

/* Steps in their order, and those that wait for their gate. */
typedef struct {
  const gate_finder *finder;
  tj_kernel_step *made;
  uint32_t made_count;
  uint32_t *waiting; /* numbers */
  uint32_t waiting_count;
} gathering;

static bool takes(const tj_kernel_step *step, uint32_t slot) {
  const tj_computation *compute = step->kind == TJ_STEP_COMPUTE ? step->compute : NULL;
  bool is_taken = false;
  for (uint32_t i = 0; compute != NULL && i < compute->count && !is_taken; i++)
    is_taken = slot - compute->slot[i] < (compute->varies[i] ? step->width : 1);
  return is_taken;
}

/* Whether one gives slots that the other has to do with. */
static bool gives_to(const tj_kernel *kernel, const tj_kernel_step *one, const tj_kernel_step *other) {
  bool is_given = false;
  for (uint32_t k = 0; tj_gives_slots(one) && k < one->width && !is_given; k++) {
    uint32_t slot = one->slot + k * one->slot_step;
    bool has_slots = tj_gives_slots(other) || other->kind == TJ_STEP_STORE;
    is_given = (has_slots && tj_step_has_slot(kernel, other, slot)) || takes(other, slot);
  }
  return is_given;
}

/* Whether a step has to come behind one that waits: another gate's, or none's. */
static bool follows(const gathering *g, uint32_t number, uint32_t waiting) {
  const gate_finder *f = g->finder;
  const tj_kernel_step *one = &f->step[number], *other = &f->step[waiting];
  return f->gate[number] != f->gate[waiting] && (gives_to(f->kernel, one, other) || gives_to(f->kernel, other, one));
}

/* Whether a step may change what others load from LDS, or waits for all before it. */
static bool ends_waiting(const tj_kernel_step *step) {
  switch (step->kind) {
  case TJ_STEP_STORE:
    return step->access.buffer == TJ_LDS;
  case TJ_STEP_VALUE:
  case TJ_STEP_LOAD:
  case TJ_STEP_COMPUTE:
  case TJ_STEP_PREFETCH:
    return false;
  case TJ_STEP_LOOKUP:
  case TJ_STEP_RUN:
  case TJ_STEP_DIRECT:
  case TJ_STEP_BOX:
  case TJ_STEP_EXCHANGE:
  case TJ_STEP_LOOP:
  case TJ_STEP_AGAIN:
  case TJ_STEP_BARRIER:
    break;
  }
  return true;
}

static bool has_to_follow(const gathering *g, uint32_t number) {
  bool follows_any = ends_waiting(&g->finder->step[number]);
  for (uint32_t i = 0; i < g->waiting_count && !follows_any; i++)
    follows_any = follows(g, number, g->waiting[i]);
  return follows_any;
}

/* Those of a gate wait no longer; NULL: of all gates. */
static void let_go(gathering *g, const tj_node *gate) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < g->waiting_count; i++) {
    uint32_t number = g->waiting[i];
    if (gate != NULL && g->finder->gate[number] != gate)
      g->waiting[kept++] = number;
    else
      g->made[g->made_count++] = g->finder->step[number];
  }
  g->waiting_count = kept;
}

static void gather_step(gathering *g, uint32_t number) {
  const gate_finder *f = g->finder;
  if (f->step[number].kind == TJ_STEP_STORE)
    let_go(g, mask_of(f, &f->step[number]));
  if (has_to_follow(g, number))
    let_go(g, NULL);
  if (f->gate[number] != NULL)
    g->waiting[g->waiting_count++] = number;
  else
    g->made[g->made_count++] = f->step[number];
}

static void gather(tj_graph *graph, const gate_finder *f) {
  gathering g = {.finder = f,
                 .made = TJ_NEW_ARRAY(graph->job, tj_kernel_step, f->count + 1),
                 .waiting = TJ_NEW_ARRAY(graph->job, uint32_t, f->count + 1)};
  for (uint32_t i = 0; i < f->count; i++) {
    tj_spend(graph->job, 1 + g.waiting_count);
    if (f->gate[i] != NULL && is_lds_load(&f->step[i]))
      f->step[i].access.valid = f->gate[i];
    gather_step(&g, i);
  }
  let_go(&g, NULL);
  memcpy(f->step, g.made, f->count * sizeof *f->step);
}

static void gather_steps(tj_graph *graph, const tj_kernel *kernel, tj_kernel_step step[], uint32_t count) {
  gate_finder f = {.kernel = kernel,
                   .step = step,
                   .count = count,
                   .always = tj_int(graph, 1),
                   .needed = TJ_NEW_ARRAY(graph->job, const tj_node *, kernel->slot_count + 1),
                   .gate = TJ_NEW_ARRAY(graph->job, const tj_node *, count + 1)};
  tj_spend(graph->job, count);
  if (find_gates(&f))
    gather(graph, &f);
}

void tj_gather_gates(tj_graph *graph, tj_kernel *kernel, const tj_target *target) {
  for (; kernel != NULL && target->wave_size > 1; kernel = kernel->faster) {
    gather_steps(graph, kernel, kernel->step, kernel->step_count);
    gather_steps(graph, kernel, kernel->inner_step, kernel->inner_step_count);
  }
}
