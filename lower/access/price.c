/* SPDX-License-Identifier: MIT */
/* Prices of kernels: steps evaluated for each lane of a wave, and each step's lanes counted as one instruction.
 *
 * What the launch and a workgroup compute once are the values of the kernel's bindings; the work-items of a wave are
 * then evaluated together, by one evaluator for all steps: the same wave of all workgroups, then the next one, so
 * that little differs from wave to wave, and nothing else is evaluated. What an access has been counted for one wave,
 * it is not for the next where its lanes are as far from each other. Indices that a gather looks up are taken to
 * count up from 0, as those of sources that `tilejit run` is not given: index i is i. */
#include "lower/access/price.h"

#include "base/dma/touched.h"
#include "base/integer.h"
#include "lower/access/box_elements.h"
#include "lower/access/memory_access.h"
#include "lower/access/placed_access.h"
#include "lower/kernel/launched_tile.h"
#include "lower/kernel/loop.h"

#include <string.h>

enum { OFFSET, VALID, BASE, LIMIT, ROOTS /* of a step */ };

/* A workgroup that is counted. */
typedef struct {
  int64_t number, items;
  bool is_inner;  /* its tile is inside the domain */
  int64_t *bound; /* values of the kernel's bindings */
} counted_workgroup;

/* Accesses one behind the other that are made equally often. */
typedef struct {
  const tj_kernel_step *loop; /* the steps' loop that they are in; NULL: none */
  uint32_t begin, end;
  tj_evaluator *evaluator; /* of their roots, all lanes at once; */
  bool is_single;          /* or lane by lane, where that has failed */
} access_part;

/* Accesses, and where the lanes of the wave at hand make them. */
typedef struct {
  access_part *part;
  uint32_t part_count;
  const tj_memory_access *access;
  uint32_t count;
  tj_access_price **price; /* by access */
  bool looks_up;
  const tj_node **root;     /* ROOTS of each access */
  const int64_t **value;    /* of the roots, by root, then by lane */
  int64_t *single;          /* the same where lanes are evaluated one by one, */
  int64_t *lane_value;      /* and for one of them */
  tj_placed_access *placed; /* by access, */
  uint32_t *like;           /* and one before it that has the same price; or itself */
} access_list;

typedef struct {
  tj_graph *graph;
  const tj_kernel *kernel;
  const tj_price_machine *machine;
  tj_bindings bindings;
  int64_t *symbol; /* their values, by index */
  int64_t count;   /* of work-items, */
  int64_t items;   /* and of those of the workgroup at hand */
  access_list outer, inner;
  const tj_node **bound_root; /* of bindings */
  counted_workgroup *workgroup;
  tj_lane_values *given; /* the number of the work-item, what the loop carries, what steps look up */
  uint32_t given_count;
  uint32_t lanes;   /* of the wave at hand */
  int64_t *carried; /* to the next trip, by lane */
  tj_evaluator *bound, *initial, *next;
  tj_price price;
} pricing;

/* --- accesses --- */

/* Waves load whole words that are the same for all their lanes by instructions of their own. */
static bool is_scalar(const pricing *p, const tj_memory_access *access) {
  return access->is_uniform && !access->is_store && access->place->buffer != TJ_LDS && p->machine->wave_size > 1 &&
         access->bytes >= TJ_BANK_BYTES;
}

static tj_access_price *price_like(pricing *p, const tj_access_price *made) {
  for (uint32_t i = 0; i < p->price.access_count; i++) {
    tj_access_price *known = &p->price.access[i];
    if (known->is_store == made->is_store && known->is_scalar == made->is_scalar && known->is_box == made->is_box &&
        known->is_direct == made->is_direct && known->buffer == made->buffer && known->bytes == made->bytes)
      return known;
  }
  p->price.access[p->price.access_count] = *made;
  return &p->price.access[p->price.access_count++];
}

static tj_access_price *price_of(pricing *p, const tj_memory_access *access) {
  const tj_access_price made = {.is_store = access->is_store,
                                .is_direct = access->step->kind == TJ_STEP_DIRECT,
                                .is_scalar = is_scalar(p, access),
                                .buffer = access->place->buffer,
                                .bytes = access->bytes};
  return price_like(p, &made);
}

static tj_access_price *box_price(pricing *p, const tj_kernel_step *step) {
  const tj_access_price made = {.is_box = true,
                                .is_store = step->is_taken,
                                .buffer = step->access.buffer,
                                .bytes = tj_element_bytes(p->kernel, step->access.buffer)};
  return price_like(p, &made);
}

static void set_roots(pricing *p, access_list *list, uint32_t number) {
  const tj_kernel_step *step = list->access[number].step;
  const tj_access *place = list->access[number].place;
  const tj_node **root = &list->root[number * ROOTS], *zero = tj_int(p->graph, 0);
  root[OFFSET] = place->offset;
  root[VALID] = step->access.valid != NULL ? step->access.valid : tj_int(p->graph, 1);
  root[BASE] = place->base != NULL ? place->base : zero;
  root[LIMIT] = step->limit != NULL ? step->limit : zero;
}

/* The last of the accesses before that have the same price; or itself. */
static uint32_t last_like(const access_list *list, uint32_t number) {
  uint32_t i = number;
  while (i > 0 && list->price[i - 1] != list->price[number])
    i--;
  return i > 0 ? i - 1 : number;
}

static void part_accesses(tj_job *job, access_list *list) {
  list->part = TJ_NEW_ARRAY(job, access_part, list->count + 1);
  for (uint32_t i = 0; i < list->count; i++) {
    if (i == 0 || list->access[i].loop != list->access[i - 1].loop)
      list->part[list->part_count++] = (access_part){.loop = list->access[i].loop, .begin = i};
    list->part[list->part_count - 1].end = i + 1;
  }
}

static access_list list_accesses(pricing *p, bool of_inner) {
  tj_job *job = p->graph->job;
  tj_memory_accesses all = tj_list_memory_accesses(p->graph, p->kernel, of_inner, p->machine);
  access_list list = {.access = all.item, .count = all.count};
  const size_t roots = ROOTS * (size_t)list.count;
  list.price = TJ_NEW_ARRAY(job, tj_access_price *, list.count + 1);
  list.root = TJ_NEW_ARRAY(job, const tj_node *, roots + 1);
  list.value = TJ_NEW_ARRAY(job, const int64_t *, roots + 1);
  list.single = tj_arena_raw(&job->arena, TJ_EVAL_LANES * roots + 1, sizeof(int64_t));
  list.lane_value = TJ_NEW_ARRAY(job, int64_t, roots + 1);
  list.like = TJ_NEW_ARRAY(job, uint32_t, list.count + 1);
  list.placed = TJ_NEW_ARRAY(job, tj_placed_access, list.count + 1);
  for (uint32_t i = 0; i < list.count; i++) {
    list.looks_up |= list.access[i].step->kind == TJ_STEP_LOOKUP;
    list.price[i] = price_of(p, &list.access[i]);
    list.like[i] = last_like(&list, i);
    set_roots(p, &list, i);
  }
  part_accesses(job, &list);
  return list;
}

/* --- evaluating --- */

static void note(pricing *p, tj_eval_status status) {
  if (p->price.status == TJ_EVAL_OK)
    p->price.status = status;
}

static int64_t value_of(pricing *p, const tj_node *node) {
  int64_t value = 0;
  note(p, tj_eval_nodes(&node, 1, &p->bindings, &value));
  return value;
}

static void set_symbol(pricing *p, const tj_node *symbol, int64_t value) {
  p->symbol[symbol->symbol->index] = value;
}

/* Where not all roots have a value, those of steps that are valid have to. */
static void evaluate_singly(pricing *p, access_list *list, const access_part *part) {
  for (uint32_t i = part->begin; i < part->end; i++) {
    const tj_node **root = &list->root[i * ROOTS];
    int64_t *value = &list->lane_value[i * ROOTS];
    value[VALID] = value_of(p, root[VALID]);
    if (value[VALID] != 0)
      note(p, tj_eval_nodes(root, ROOTS, &p->bindings, value));
  }
}

static void evaluate_lane(pricing *p, access_list *list, const access_part *part, uint32_t lane) {
  const size_t first = ROOTS * (size_t)part->begin;
  for (uint32_t i = 0; i < p->given_count; i++)
    p->symbol[p->given[i].symbol] = p->given[i].value[lane];
  tj_eval_status status = tj_evaluator_run(part->evaluator, &p->bindings, list->lane_value + first);
  if (status != TJ_EVAL_OK && status != TJ_EVAL_NO_MEMORY)
    evaluate_singly(p, list, part);
  else
    note(p, status);
  for (size_t i = first; i < ROOTS * (size_t)part->end; i++)
    list->single[i * TJ_EVAL_LANES + lane] = list->lane_value[i];
}

/* Has the values of a part's roots come from its evaluator, or from lanes by themselves. */
static void set_values(access_list *list, access_part *part, bool is_single) {
  const size_t first = ROOTS * (size_t)part->begin;
  part->is_single = is_single;
  for (size_t i = first; i < ROOTS * (size_t)part->end; i++)
    list->value[i] = is_single ? &list->single[i * TJ_EVAL_LANES] : tj_evaluator_lanes(part->evaluator, i - first);
}

/* All lanes at once; where that fails, one by one. */
static void evaluate_once(pricing *p, access_list *list, access_part *part) {
  tj_eval_status status = tj_evaluator_run_lanes(part->evaluator, &p->bindings, p->given, p->given_count, p->lanes);
  const bool is_single = status != TJ_EVAL_OK && status != TJ_EVAL_NO_MEMORY;
  if (status == TJ_EVAL_NO_MEMORY)
    note(p, status);
  else if (is_single != part->is_single || list->value[ROOTS * (size_t)part->begin] == NULL)
    set_values(list, part, is_single);
  for (uint32_t lane = 0; lane < p->lanes && is_single; lane++)
    evaluate_lane(p, list, part, lane);
}

/* Of an access's root, by lane. */
static const int64_t *values_of(const access_list *list, uint32_t number, uint32_t root) {
  return list->value[(size_t)number * ROOTS + root];
}

/* Whether the first element of a valid access has a number. */
static bool find_element(const access_list *list, uint32_t number, uint32_t lane, int64_t *element) {
  return !__builtin_add_overflow(values_of(list, number, BASE)[lane], values_of(list, number, OFFSET)[lane],
                                 element) &&
         !__builtin_add_overflow(*element, list->access[number].place->displacement, element);
}

/* The number of the element, as far as an integer of the buffer's type holds it; or the limit. */
static int64_t looked_up(pricing *p, const access_list *list, uint32_t number, uint32_t lane) {
  const int64_t limit = values_of(list, number, LIMIT)[lane];
  tj_dtype dtype = p->kernel->buffer[list->price[number]->buffer].dtype;
  uint32_t bits = tj_dtype_bits(dtype) - (tj_dtype_class_of(dtype) == TJ_CLASS_SIGNED ? 1 : 0);
  int64_t index = limit;
  if (values_of(list, number, VALID)[lane] != 0 && !find_element(list, number, lane, &index))
    note(p, TJ_EVAL_OVERFLOW);
  bool is_held = bits > 62 || index >> bits == 0;
  return is_held && index < limit ? index : limit;
}

static tj_lane_values *given_of(pricing *p, const tj_node *symbol) {
  uint32_t i = 0;
  while (i < p->given_count && p->given[i].symbol != symbol->symbol->index)
    i++;
  p->given_count += i == p->given_count;
  p->given[i].symbol = symbol->symbol->index;
  return &p->given[i];
}

/* Evaluates the steps of a wave: once more after each that others wait for. */
static void evaluate(pricing *p, access_list *list, access_part *part) {
  evaluate_once(p, list, part);
  for (uint32_t i = part->begin; i < part->end && list->looks_up; i++) {
    if (list->access[i].step->kind != TJ_STEP_LOOKUP)
      continue;
    tj_lane_values *found = given_of(p, list->access[i].step->value);
    for (uint32_t lane = 0; lane < p->lanes; lane++)
      found->value[lane] = looked_up(p, list, i, lane);
    evaluate_once(p, list, part);
  }
}

/* Where the lanes of the wave make an access. */
static void place_access(pricing *p, access_list *list, uint32_t number) {
  const tj_node *const *root = &list->root[number * ROOTS];
  const tj_access_values values = {.base = tj_is_int(root[BASE], 0) ? NULL : values_of(list, number, BASE),
                                   .offset = values_of(list, number, OFFSET),
                                   .valid = tj_is_int(root[VALID], 1) ? NULL : values_of(list, number, VALID),
                                   .beyond = list->access[number].place->displacement,
                                   .lanes = p->lanes,
                                   .bytes = tj_element_bytes(p->kernel, list->price[number]->buffer)};
  if (!tj_place_access(&list->placed[number], &values))
    note(p, TJ_EVAL_OVERFLOW);
}

static bool is_run(const access_list *list, uint32_t number) {
  return list->access[number].step->kind == TJ_STEP_RUN;
}

/* Whether it is known that the lanes make an access by as many bytes behind where they made it before: how many. */
static bool find_distance(const pricing *p, const access_list *list, const access_part *part, uint32_t number,
                          int64_t *bytes) {
  const size_t root = ROOTS * (size_t)(number - part->begin);
  int64_t of_base, of_offset, of_truth;
  return !list->looks_up && !part->is_single && !is_run(list, number) &&
         tj_evaluator_moved(part->evaluator, root + VALID, &of_truth) && of_truth == 0 &&
         tj_evaluator_moved(part->evaluator, root + BASE, &of_base) &&
         tj_evaluator_moved(part->evaluator, root + OFFSET, &of_offset) &&
         !__builtin_add_overflow(of_base, of_offset, bytes) &&
         !__builtin_mul_overflow(*bytes, tj_element_bytes(p->kernel, list->price[number]->buffer), bytes);
}

/* --- counting --- */

/* Of the wave at hand: a run is as long as its limit says. Waves with runs have one lane. */
static uint32_t bytes_of(const pricing *p, const access_list *list, uint32_t number) {
  const tj_memory_access *access = &list->access[number];
  int64_t limit = values_of(list, number, LIMIT)[0];
  return is_run(list, number) ? (uint32_t)limit * tj_element_bytes(p->kernel, access->place->buffer) : access->bytes;
}

/* Whether an access counts as one of the same price was when last it was counted, and how far it is from there. */
static bool is_as_counted(const pricing *p, const access_list *list, uint32_t number, uint32_t other, int64_t *far) {
  return !is_run(list, number) &&
         tj_is_as_counted(p->machine, list->price[number], &list->placed[number], &list->placed[other], far);
}

/* Counts an access where it is, unless one like it is counted the same. */
static void count_here(const pricing *p, const access_list *list, uint32_t number) {
  tj_placed_access *placed = &list->placed[number];
  const uint32_t like = list->like[number];
  int64_t far;
  placed->cost = is_as_counted(p, list, number, like, &far)
                     ? list->placed[like].cost
                     : tj_count_access(p->machine, list->price[number], bytes_of(p, list, number), &placed->at);
  placed->counted = placed->at;
  placed->far = 0;
}

/* Whether lanes that have moved together count as they did. */
static bool moves_as_counted(const pricing *p, const access_list *list, const access_part *part, uint32_t number) {
  int64_t bytes;
  return find_distance(p, list, part, number, &bytes) && tj_move_access(&list->placed[number], bytes) &&
         tj_moves_as_counted(p->machine, list->price[number], &list->placed[number]);
}

static void count_access(pricing *p, access_list *list, const access_part *part, uint32_t number) {
  tj_placed_access *placed = &list->placed[number];
  bool is_known = moves_as_counted(p, list, part, number);
  if (!is_known)
    place_access(p, list, number);
  if (placed->at.active == 0 || p->price.status != TJ_EVAL_OK)
    return;
  if (!is_known && !is_as_counted(p, list, number, number, &placed->far))
    count_here(p, list, number);
  tj_cost_add(&list->price[number]->cost, &placed->cost);
}

/* --- waves --- */

/* Numbers the work-items of a wave; those that there are come first. */
static void set_items(pricing *p, int64_t group, uint32_t first) {
  const tj_kernel *kernel = p->kernel;
  const int64_t number = group * kernel->workgroup_size + first;
  const int64_t lanes = tj_least(p->machine->wave_size, tj_least(p->items - first, p->count - number));
  tj_lane_values *items = given_of(p, kernel->index != NULL ? kernel->index : kernel->item);
  p->lanes = lanes > 0 ? (uint32_t)lanes : 0;
  for (uint32_t lane = 0; lane < p->lanes; lane++)
    items->value[lane] = (kernel->index != NULL ? number : first) + lane;
}

static void carry(pricing *p, tj_evaluator *evaluator) {
  const size_t bytes = sizeof p->given->value;
  note(p, tj_evaluator_run_lanes(evaluator, &p->bindings, p->given, p->given_count, p->lanes));
  for (uint32_t i = 0; i < p->kernel->loop->carried_count && p->price.status == TJ_EVAL_OK; i++)
    memcpy(p->carried + (size_t)i * TJ_EVAL_LANES, tj_evaluator_lanes(evaluator, i), bytes);
}

/* Gives what the loop carries its values on the trip at hand, and finds those of the next. */
static void set_carried(pricing *p, int64_t trip) {
  const tj_loop *loop = p->kernel->loop;
  if (loop == NULL)
    return;
  set_symbol(p, loop->counter, trip);
  if (trip == 0)
    carry(p, p->initial);
  for (uint32_t i = 0; i < loop->carried_count; i++)
    memcpy(given_of(p, loop->carried[i].symbol)->value, p->carried + (size_t)i * TJ_EVAL_LANES,
           sizeof p->given->value);
  if (trip + 1 < p->price.counted_trips)
    carry(p, p->next);
}

static uint32_t carried_count(const tj_kernel *kernel) {
  return kernel->loop != NULL ? kernel->loop->carried_count : 0;
}

static void price_part(pricing *p, access_list *list, access_part *part) {
  evaluate(p, list, part);
  for (uint32_t i = part->begin; i < part->end && p->price.status == TJ_EVAL_OK; i++)
    count_access(p, list, part, i);
}

static int64_t trips_of_loop(pricing *p, const tj_kernel_step *loop) {
  return loop != NULL ? value_of(p, loop->limit) : 1;
}

static int64_t trips_of(pricing *p, const access_part *part) {
  return trips_of_loop(p, part->loop);
}

static void price_wave(pricing *p, access_list *list, int64_t group, uint32_t first) {
  set_items(p, group, first);
  for (int64_t trip = 0; trip < p->price.counted_trips && p->lanes > 0; trip++) {
    set_carried(p, trip);
    for (uint32_t i = 0; i < list->part_count; i++) {
      access_part *part = &list->part[i];
      const int64_t trips = trips_of(p, part);
      for (int64_t k = 0; k < trips && p->price.status == TJ_EVAL_OK; k++) {
        if (part->loop != NULL && !tj_is_constant(part->loop->value))
          set_symbol(p, part->loop->value, k);
        price_part(p, list, part);
      }
    }
  }
}

/* --- boxes --- */

static bool touch(const tj_dma_element *element, void *data) {
  tj_dma_touch(data, element);
  return true;
}

static void price_box(pricing *p, const tj_kernel_step *step) {
  tj_dma_touched touched = {.line_bytes = p->machine->line_bytes};
  note(p, tj_visit_box(p->kernel, step, &p->bindings, touch, &touched));
  if (p->price.status != TJ_EVAL_OK)
    return;
  tj_dma_touch_no_more(&touched);
  const tj_cost cost = {
      .instructions = 1, .lines = (int64_t)touched.lines, .least_lines = (int64_t)touched.least_lines};
  tj_cost_add(&box_price(p, step)->cost, &cost);
}

/* The loop in which a step is, from that of the step before. */
static const tj_kernel_step *loop_at(const tj_kernel_step *step, const tj_kernel_step *before) {
  if (step->kind == TJ_STEP_AGAIN)
    return NULL;
  return step->kind == TJ_STEP_LOOP ? step : before;
}

static void price_boxes(pricing *p, bool is_inner) {
  const tj_kernel *kernel = p->kernel;
  const tj_kernel_step *step = is_inner ? kernel->inner_step : kernel->step, *loop = NULL;
  for (uint32_t i = 0; i < (is_inner ? kernel->inner_step_count : kernel->step_count); i++) {
    loop = loop_at(&step[i], loop);
    for (int64_t trip = 0; step[i].kind == TJ_STEP_BOX && trip < trips_of_loop(p, loop); trip++) {
      if (loop != NULL)
        set_symbol(p, loop->value, trip);
      price_box(p, &step[i]);
    }
  }
}

/* --- workgroups --- */

static void set_workgroup(pricing *p, const counted_workgroup *group) {
  const tj_kernel *kernel = p->kernel;
  p->items = group->items;
  if (kernel->index == NULL)
    set_symbol(p, kernel->workgroup, group->number);
  for (uint32_t i = 0; i < kernel->binding_count && kernel->index == NULL; i++)
    set_symbol(p, kernel->binding[i].symbol, group->bound[i]);
}

/* Finds what a workgroup computes once, and whether its tile is inside the domain. */
static void find_workgroup(pricing *p, counted_workgroup *group) {
  const tj_kernel *kernel = p->kernel;
  group->items = kernel->workgroup_size;
  if (kernel->index == NULL) {
    set_symbol(p, kernel->workgroup, group->number);
    group->items = kernel->items != NULL ? value_of(p, kernel->items) : group->items;
    note(p, tj_evaluator_run(p->bound, &p->bindings, group->bound));
    set_workgroup(p, group);
    group->is_inner = kernel->inner != NULL && value_of(p, kernel->inner) != 0;
  }
}

static void list_workgroups(pricing *p) {
  const int64_t counted = p->price.counted_workgroups;
  const size_t bindings = p->kernel->binding_count;
  int64_t *bound = TJ_NEW_ARRAY(p->graph->job, int64_t, (size_t)counted * bindings + 1);
  p->workgroup = TJ_NEW_ARRAY(p->graph->job, counted_workgroup, (size_t)counted + 1);
  for (int64_t i = 0; i < counted; i++)
    p->workgroup[i] = (counted_workgroup){.number = (int64_t)((__int128)i * p->price.workgroups / counted),
                                          .bound = bound + (size_t)i * bindings};
}

static void price_workgroups(pricing *p) {
  const int64_t counted = p->price.counted_workgroups;
  for (int64_t i = 0; i < counted && p->price.status == TJ_EVAL_OK; i++) {
    find_workgroup(p, &p->workgroup[i]);
    price_boxes(p, p->workgroup[i].is_inner);
  }
  for (uint32_t first = 0; first < p->kernel->workgroup_size; first += p->machine->wave_size) {
    for (int64_t i = 0; i < counted && p->price.status == TJ_EVAL_OK; i++) {
      const counted_workgroup *group = &p->workgroup[i];
      set_workgroup(p, group);
      price_wave(p, group->is_inner ? &p->inner : &p->outer, group->number, first);
    }
  }
}

/* --- pricing --- */

/* Boxes of a tile. */
static void count_boxes(pricing *p) {
  const tj_kernel_step *step = p->kernel->step, *loop = NULL;
  for (uint32_t i = 0; i < p->kernel->step_count; i++) {
    loop = loop_at(&step[i], loop);
    if (step[i].kind == TJ_STEP_BOX)
      box_price(p, &step[i])->accesses += trips_of_loop(p, loop);
  }
}

/* How many accesses of each kind a work-item makes: of a tile inside the domain, where there are such tiles; of loops
 * those of one trip, unless parameters say how many there are. */
static void count_accesses(pricing *p, bool has_trips) {
  const access_list *list = p->kernel->inner != NULL ? &p->inner : &p->outer;
  for (uint32_t i = 0; i < list->part_count; i++) {
    int64_t trips = has_trips ? trips_of(p, &list->part[i]) : 1;
    if (__builtin_mul_overflow(trips, p->price.trips, &trips))
      note(p, TJ_EVAL_OVERFLOW);
    for (uint32_t k = list->part[i].begin; k < list->part[i].end; k++) {
      if (__builtin_add_overflow(list->price[k]->accesses, trips, &list->price[k]->accesses))
        note(p, TJ_EVAL_OVERFLOW);
    }
  }
  count_boxes(p);
}

/* Leaves the parameters without values, and what is made of them. */
static void unbind_parameters(pricing *p) {
  const tj_kernel *kernel = p->kernel;
  bool *bound = TJ_NEW_ARRAY(p->graph->job, bool, p->bindings.count + 1);
  memset(bound, true, p->bindings.count);
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    bound[kernel->parameter[i]->symbol->index] = false;
  for (uint32_t i = 0; kernel->launched != NULL && i < TJ_TILE_NUMBERS; i++) {
    if (!tj_is_constant(kernel->launched->number[i]))
      bound[kernel->launched->number[i]->symbol->index] = false;
  }
  p->bindings.bound = bound;
}

static void set_launch(pricing *p, const int64_t parameter[]) {
  const tj_kernel *kernel = p->kernel;
  if (parameter == NULL)
    unbind_parameters(p);
  for (uint32_t i = 0; parameter != NULL && i < kernel->parameter_count; i++)
    set_symbol(p, kernel->parameter[i], parameter[i]);
  note(p, tj_choose_launched(kernel, &p->bindings, p->symbol));
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    if (kernel->binding[i].is_launched)
      set_symbol(p, kernel->binding[i].symbol, value_of(p, kernel->binding[i].value));
  }
  p->count = value_of(p, kernel->count);
  p->price.trips = kernel->loop != NULL ? value_of(p, kernel->loop->trips) : 1;
  p->price.workgroups = p->count / kernel->workgroup_size + (p->count % kernel->workgroup_size != 0);
}

/* How many of `count` parts of `work` each come to about `most`; one at least, where there is one. */
static int64_t sampled(int64_t count, int64_t work, int64_t most) {
  int64_t parts = most / work > 0 ? most / work : 1;
  return count < parts ? count : parts;
}

/* Accesses of a workgroup on a trip of the kernel's loop; INT64_MAX: that is too many to count. */
static int64_t work_of_trip(pricing *p, int64_t most) {
  enum { MOST_TIMES = 16 /* as many as a sample has */ };
  int64_t accesses = 1, own;
  for (uint32_t i = 0; i < p->outer.part_count; i++) {
    const access_part *part = &p->outer.part[i];
    if (__builtin_mul_overflow(trips_of(p, part), part->end - part->begin, &own) ||
        __builtin_add_overflow(accesses, own, &accesses))
      return INT64_MAX;
  }
  return accesses > MOST_TIMES * (most / p->kernel->workgroup_size + 1) ? INT64_MAX
                                                                        : accesses * p->kernel->workgroup_size;
}

/* False: one workgroup is too much. */
static bool sample(pricing *p, int64_t most) {
  int64_t trip = work_of_trip(p, most);
  if (trip == INT64_MAX)
    return false;
  p->price.counted_trips = sampled(p->price.trips, trip, most);
  p->price.counted_workgroups = sampled(p->price.workgroups, trip * p->price.counted_trips, most);
  tj_spend(p->graph->job, (uint64_t)(trip * p->price.counted_trips * p->price.counted_workgroups));
  return true;
}

static void list_bindings(pricing *p) {
  const tj_kernel *kernel = p->kernel;
  p->bound_root = TJ_NEW_ARRAY(p->graph->job, const tj_node *, kernel->binding_count + 1);
  for (uint32_t i = 0; i < kernel->binding_count; i++)
    p->bound_root[i] = kernel->binding[i].value;
}

static pricing open_pricing(tj_graph *graph, const tj_kernel *kernel, const tj_price_machine *machine) {
  tj_job *job = graph->job;
  pricing p = {.graph = graph,
               .kernel = kernel,
               .machine = machine,
               .price = {.trips = 1, .workgroup_size = kernel->workgroup_size}};
  uint32_t carried = carried_count(kernel);
  p.price.lds_bytes = kernel->lds_elements > 0 ? kernel->lds_elements * tj_element_bytes(kernel, TJ_LDS) : 0;
  p.price.access =
      TJ_NEW_ARRAY(job, tj_access_price, 2 * ((size_t)kernel->step_count + kernel->inner_step_count) + 1);
  p.outer = list_accesses(&p, false);
  p.inner = list_accesses(&p, true);
  p.carried = TJ_NEW_ARRAY(job, int64_t, TJ_EVAL_LANES * (size_t)carried + 1);
  p.given = TJ_NEW_ARRAY(job, tj_lane_values, 1 + (size_t)carried + p.outer.count + p.inner.count);
  list_bindings(&p);
  p.symbol = TJ_NEW_ARRAY(job, int64_t, graph->symbol_count + 1);
  p.bindings = (tj_bindings){p.symbol, NULL, graph->symbol_count};
  return p;
}

static void open_evaluator(pricing *p, const tj_node *const root[], size_t count, tj_evaluator **evaluator) {
  note(p, tj_evaluator_create(root, count, evaluator));
}

static void open_parts(pricing *p, access_list *list) {
  for (uint32_t i = 0; i < list->part_count; i++) {
    access_part *part = &list->part[i];
    open_evaluator(p, list->root + ROOTS * (size_t)part->begin, ROOTS * (size_t)(part->end - part->begin),
                   &part->evaluator);
  }
}

static void close_parts(access_list *list) {
  for (uint32_t i = 0; i < list->part_count; i++)
    tj_evaluator_destroy(list->part[i].evaluator);
}

static void open_evaluators(pricing *p) {
  const tj_loop *loop = p->kernel->loop;
  const tj_node *initial[TJ_MOST_CARRIED], *next[TJ_MOST_CARRIED];
  uint32_t carried = carried_count(p->kernel);
  for (uint32_t i = 0; i < carried; i++) {
    initial[i] = loop->carried[i].initial;
    next[i] = loop->carried[i].next;
  }
  open_evaluator(p, initial, carried, &p->initial);
  open_evaluator(p, next, carried, &p->next);
  open_evaluator(p, p->bound_root, p->kernel->binding_count, &p->bound);
  open_parts(p, &p->outer);
  open_parts(p, &p->inner);
}

static void close_evaluators(pricing *p) {
  tj_evaluator *evaluators[] = {p->initial, p->next, p->bound};
  for (size_t i = 0; i < sizeof evaluators / sizeof *evaluators; i++)
    tj_evaluator_destroy(evaluators[i]);
  close_parts(&p->outer);
  close_parts(&p->inner);
}

/* No call that may fail the job is between making the evaluators and giving them back. */
static void count_all(pricing *p) {
  list_workgroups(p);
  open_evaluators(p);
  price_workgroups(p);
  close_evaluators(p);
}

tj_price tj_price_kernel(tj_graph *graph, const tj_kernel *kernel, const tj_price_machine *machine,
                         const int64_t parameter[], int64_t most) {
  pricing p = open_pricing(graph, kernel, machine);
  set_launch(&p, parameter);
  count_accesses(&p, true);
  if (p.price.status == TJ_EVAL_OK && sample(&p, most))
    count_all(&p);
  else
    note(&p, TJ_EVAL_UNBOUND);
  if (p.price.status == TJ_EVAL_NO_MEMORY)
    tj_fail_out_of_memory(graph->job);
  return p.price;
}

tj_price tj_price_of_widths(tj_graph *graph, const tj_kernel *kernel, const tj_price_machine *machine) {
  pricing p = open_pricing(graph, kernel, machine);
  count_accesses(&p, false);
  return p.price;
}
