/* SPDX-License-Identifier: MIT */
/* Chooses instructions step by step: the one that moves the most values from the next one on. */
#include "jit/lds/lds_access.h"

#include <stdlib.h>
#include <string.h>

static const tj_lds_instruction instructions[] = {
#define LDS_LANES(name, maker, first, last, is_store, bytes)                                                         \
  {name, TJ_MAKER_##maker, first, last, is_store, 1, bytes, bytes, "", ""},
#define LDS_MATRIX(name, maker, first, last, is_store, lanes, lane_bytes, bytes, address, place)                     \
  {name, TJ_MAKER_##maker, first, last, is_store, lanes, lane_bytes, bytes, address, place},
#include "jit/lds/lds_instruction.def"
#undef LDS_LANES
#undef LDS_MATRIX
};

enum { INSTRUCTIONS = sizeof instructions / sizeof instructions[0] };

/* --- the bits of a row --- */

/* The number whose bits a row names, of a lane and a byte in its registers. */
static uint32_t number_of(const char *bits, uint32_t lane, uint32_t byte) {
  uint32_t number = 0, bit = 0;
  for (const char *at = bits; *at != '\0'; at += at[2] == ' ' ? 3 : 2) {
    uint32_t from = *at == 'l' ? lane : byte;
    number |= (from >> (at[1] - '0') & 1) << bit++;
  }
  return number;
}

/* Whether the bytes of an element stay together. */
static bool keeps_elements(const tj_lds_instruction *is, uint32_t element_bytes) {
  for (uint32_t byte = 1; byte < element_bytes; byte *= 2) {
    if (number_of(is->place, 0, byte) != byte)
      return false;
  }
  return true;
}

/* --- whether an instruction can move values --- */

/* A wave, and the values that an instruction would move for it. */
typedef struct {
  const tj_lds_plan *plan;
  const tj_lds_instruction *is;
  const uint32_t *order;
  uint32_t count;
  int64_t wave;
} attempt;

/* Finds the addresses of a wave in what lanes hold; false where no addresses give them that. */
static bool find_addresses(const attempt *a, tj_lds_request *request) {
  const tj_lds_plan *plan = a->plan;
  int64_t per_address = a->is->bytes / plan->element_bytes;
  request->active = 0;
  for (uint32_t lane = 0; lane < plan->lanes; lane++) {
    const int64_t *of_thread = plan->place + (a->wave * plan->lanes + lane) * plan->held->values;
    for (uint32_t i = 0; i < a->count; i++) {
      uint32_t byte = i * plan->element_bytes, from = number_of(a->is->address, lane, byte);
      if (of_thread[a->order[i]] == TJ_NO_PLACE)
        return false;
      int64_t first = of_thread[a->order[i]] - number_of(a->is->place, lane, byte) / plan->element_bytes;
      bool is_known = (request->active >> from & 1) != 0;
      if (first % per_address != 0 || (is_known && request->element[from] != first))
        return false;
      request->active |= 1ull << from;
      request->element[from] = first;
    }
  }
  return true;
}

static bool moves_matrices(attempt a) {
  const tj_lds_plan *plan = a.plan;
  tj_lds_request request;
  if (a.is->lanes != plan->lanes || plan->held->threads % plan->lanes != 0 ||
      !keeps_elements(a.is, plan->element_bytes))
    return false;
  for (a.wave = 0; a.wave < tj_lds_wave_count(plan); a.wave++) {
    if (!find_addresses(&a, &request))
      return false;
  }
  return true;
}

/* Whether it moves so many values from the first one on. */
static bool moves(const tj_lds_plan *plan, const tj_lds_instruction *is, const uint32_t order[], uint32_t left) {
  uint32_t count = is->lane_bytes / plan->element_bytes;
  if (count == 0 || count > left)
    return false;
  if (is->lanes == 1)
    return tj_threads_hold_run(plan->held, plan->place, order, count);
  return moves_matrices((attempt){.plan = plan, .is = is, .order = order, .count = count});
}

/* --- plans --- */

static bool has_instruction(const tj_shared_memory *memory, bool is_store, const tj_lds_instruction *is) {
  return is->maker == memory->maker && is->is_store == is_store && is->first <= memory->generation &&
         memory->generation <= is->last;
}

/* The one that moves the most; of several the first. NULL: none moves any. */
static const tj_lds_instruction *find_instruction(tj_job *job, const tj_lds_plan *plan,
                                                  const tj_shared_memory *memory, bool is_store, uint32_t first) {
  const tj_lds_instruction *best = NULL;
  uint32_t left = (uint32_t)plan->held->values - first;
  for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
    const tj_lds_instruction *is = &instructions[i];
    if (!has_instruction(memory, is_store, is) || (best != NULL && is->lane_bytes <= best->lane_bytes))
      continue;
    tj_spend(job, (uint64_t)plan->held->threads);
    if (moves(plan, is, plan->order + first, left))
      best = is;
  }
  return best;
}

static void add_steps(tj_job *job, tj_lds_plan *plan, const tj_shared_memory *memory, bool is_store) {
  tj_lds_step *step = TJ_NEW_ARRAY(job, tj_lds_step, plan->held->values + 1);
  plan->step = step;
  for (uint32_t first = 0; first < plan->held->values;) {
    const tj_lds_instruction *is = find_instruction(job, plan, memory, is_store, first);
    if (is == NULL)
      tj_fail(job, TJ_WRONG_TYPE, "no access moves an element of %u bytes", plan->element_bytes);
    uint32_t count = is->lane_bytes / plan->element_bytes;
    step[plan->step_count++] = (tj_lds_step){is, first, count};
    first += count;
  }
}

typedef struct {
  int64_t place;
  uint32_t value;
} placed_value;

static int by_place(const void *a, const void *b) {
  const placed_value *x = a, *y = b;
  if (x->place != y->place)
    return x->place < y->place ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

/* The values in the order in which the first thread has them in memory, or in their own. */
static const uint32_t *order_values(tj_job *job, const tj_lds_plan *plan, bool is_sorted) {
  uint32_t count = (uint32_t)plan->held->values, *order = TJ_NEW_ARRAY(job, uint32_t, count + 1);
  placed_value *value = TJ_NEW_ARRAY(job, placed_value, count + 1);
  for (uint32_t i = 0; i < count; i++)
    value[i] = (placed_value){plan->place[i], i};
  if (is_sorted)
    qsort(value, count, sizeof *value, by_place);
  for (uint32_t i = 0; i < count; i++)
    order[i] = value[i].value;
  return order;
}

tj_lds_plan tj_lds_plan_of(tj_graph *graph, const tj_shared_memory *memory, bool is_store, uint32_t element_bytes,
                           const tj_thread_values *held, const int64_t place[]) {
  tj_lds_plan best = {.step_count = UINT32_MAX};
  for (unsigned is_sorted = 0; is_sorted < 2; is_sorted++) {
    tj_lds_plan plan = {.held = held, .place = place, .element_bytes = element_bytes, .lanes = memory->lanes};
    plan.order = order_values(graph->job, &plan, is_sorted != 0);
    add_steps(graph->job, &plan, memory, is_store);
    if (plan.step_count < best.step_count)
      best = plan;
  }
  return best;
}

/* --- requests --- */

int64_t tj_lds_wave_count(const tj_lds_plan *plan) {
  return (plan->held->threads + plan->lanes - 1) / plan->lanes;
}

tj_lds_request tj_lds_request_of(const tj_lds_plan *plan, const tj_lds_step *step, int64_t wave) {
  tj_lds_request request = {.active = 0};
  if (step->is->lanes > 1) {
    find_addresses(&(attempt){plan, step->is, plan->order + step->first, step->count, wave}, &request);
    return request;
  }
  int64_t first = wave * plan->lanes;
  for (uint32_t lane = 0; lane < plan->lanes && first + lane < plan->held->threads; lane++) {
    int64_t place = plan->place[(first + lane) * plan->held->values + plan->order[step->first]];
    if (place == TJ_NO_PLACE)
      continue;
    request.active |= 1ull << lane;
    request.element[lane] = place;
  }
  return request;
}
