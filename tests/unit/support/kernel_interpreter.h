/* SPDX-License-Identifier: MIT */
/* Kernels, step by step, on integers: what compiled code has to do, and what it must never do.
 *
 * Every work-item of every workgroup takes its steps by the oracle for index expressions. An element of the source is
 * its number plus 1. Accesses are checked to lie inside their buffers, vectors to be aligned; two stores to one
 * element of the destination, or within one phase to one element of LDS, are a race; what nobody has written is never
 * stored, and what goes straight into LDS never loaded before a barrier has waited for it. Boxes come as the decoder
 * of their engine's instructions says.
 */
#ifndef TJ_TESTS_KERNEL_INTERPRETER_H
#define TJ_TESTS_KERNEL_INTERPRETER_H

#include "ir/index/eval.h"
#include "lower/access/box_elements.h"
#include "lower/kernel/launched_tile.h"
#include "tests/unit/support/exchange_interpreter.h"
#include "tests/unit/support/harness.h"

#include <string.h>

enum { NOBODYS = INT64_MIN, INTERPRETED_BUFFERS = 2 };

/* Elements, and how often each has been stored to. */
typedef struct {
  int64_t *value;
  uint32_t *stores;
  uint32_t *coming; /* the number, from 1 on, of the step that brings it and has not been waited for, among those that
                       bring something as they are taken; 0: none */
  int64_t count;
} element_memory;

/* Steps, ready to be evaluated. */
typedef struct {
  const tj_kernel_step *step;
  uint32_t count;
  tj_evaluator *evaluator;
  int64_t *root; /* of each step: offset, predicate, base; offset and base of where it is from */
} step_list;

typedef struct {
  const tj_kernel *kernel;
  const char *name; /* for messages */
  element_memory buffer[INTERPRETED_BUFFERS], lds;
  step_list steps, inner_steps;
  int64_t *symbol;
  uint32_t symbol_count;
  int64_t *slot;         /* by work-item, then by slot */
  uint32_t inner_groups; /* workgroups that took the steps for tiles inside the domain */
  bool keeps_slots;      /* work-items still have their slots after a barrier */
  uint32_t brought;      /* steps of the workgroup so far that bring something straight into LDS */
  bool has_unaligned;    /* vectors of buffers need no alignment */
} interpreter;

static inline element_memory new_memory(int64_t count) {
  element_memory made = {malloc((size_t)count * 8 + 8), malloc((size_t)count * 4 + 4), calloc((size_t)count + 1, 4),
                         count};
  for (int64_t i = 0; i < count; i++)
    made.value[i] = NOBODYS;
  memset(made.stores, 0, (size_t)count * 4);
  return made;
}

static inline void free_memory(element_memory *memory) {
  free(memory->value);
  free(memory->stores);
  free(memory->coming);
}

static inline int64_t node_value(const interpreter *self, const tj_node *node) {
  int64_t value = 0;
  tj_bindings bindings = {.value = self->symbol, .count = self->symbol_count};
  ck_assert_int_eq(tj_eval_nodes(&node, 1, &bindings, &value), TJ_EVAL_OK);
  return value;
}

enum { ROOTS = 5 }; /* of a step */

static inline bool brings(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_DIRECT || step->kind == TJ_STEP_BOX;
}

static inline bool is_of_loop(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_LOOP || step->kind == TJ_STEP_AGAIN;
}

/* Whether all work-items have to have come to a step: in loops, to the beginning of a trip. */
static inline bool ends_phase(const tj_kernel_step *step) {
  return step->kind == TJ_STEP_BARRIER || step->kind == TJ_STEP_EXCHANGE || is_of_loop(step);
}

static inline bool has_access(const tj_kernel_step *step) {
  return !ends_phase(step) && step->kind != TJ_STEP_BOX;
}

static inline step_list prepare(const tj_kernel_step step[], uint32_t count) {
  step_list list = {step, count, NULL, NULL};
  if (count == 0)
    return list;
  const tj_node **nodes = calloc(ROOTS * (size_t)count, sizeof *nodes);
  uint32_t first = 0;
  while (!has_access(&step[first]))
    first++;
  for (uint32_t i = 0; i < count; i++) {
    bool is_access = has_access(&step[i]);
    const tj_access *access = &step[is_access ? i : first].access;
    nodes[ROOTS * i] = access->offset;
    nodes[ROOTS * i + 1] = access->valid;
    nodes[ROOTS * i + 2] = access->base != NULL ? access->base : access->offset;
    nodes[ROOTS * i + 3] = is_access && step[i].kind == TJ_STEP_DIRECT ? step[i].from.offset : access->offset;
    nodes[ROOTS * i + 4] = is_access && step[i].from.base != NULL ? step[i].from.base : access->offset;
  }
  ck_assert_int_eq(tj_evaluator_create(nodes, ROOTS * (size_t)count, &list.evaluator), TJ_EVAL_OK);
  list.root = calloc(ROOTS * (size_t)count, sizeof *list.root);
  free(nodes);
  return list;
}

static inline void dispose(step_list *list) {
  if (list->count > 0)
    tj_evaluator_destroy(list->evaluator);
  free(list->root);
}

/* The first element of a step's access. */
static inline int64_t place_of(const tj_kernel_step *step, const int64_t root[]) {
  return root[0] + (step->access.base != NULL ? root[2] : 0) + step->access.displacement;
}

/* `symbol` holds the parameters' values, and room for every symbol of the graph. */
static inline void open_interpreter(interpreter *self, const tj_kernel *kernel, const char *name, int64_t symbol[],
                                    uint32_t symbol_count) {
  *self = (interpreter){.kernel = kernel, .name = name, .symbol = symbol, .symbol_count = symbol_count};
  ck_assert_uint_le(kernel->buffer_count, INTERPRETED_BUFFERS);
  for (uint32_t b = 0; b < kernel->buffer_count; b++) {
    self->buffer[b] = new_memory(node_value(self, kernel->buffer[b].element_count));
    for (int64_t i = 0; i < self->buffer[b].count && kernel->buffer[b].is_read; i++)
      self->buffer[b].value[i] = i + 1;
  }
  self->slot = calloc((size_t)kernel->workgroup_size * kernel->slot_count, sizeof *self->slot);
  self->steps = prepare(kernel->step, kernel->step_count);
  self->inner_steps = prepare(kernel->inner_step, kernel->inner != NULL ? kernel->inner_step_count : 0);
}

static inline void close_interpreter(interpreter *self) {
  for (uint32_t b = 0; b < self->kernel->buffer_count; b++)
    free_memory(&self->buffer[b]);
  dispose(&self->steps);
  dispose(&self->inner_steps);
  free(self->slot);
}

static inline void check_place(const interpreter *self, const tj_kernel_step *step, const element_memory *memory,
                               int64_t offset) {
  ck_assert_msg(offset >= 0 && offset + step->width <= memory->count, "%s: %u elements at %ld of %ld", self->name,
                step->width, (long)offset, (long)memory->count);
  ck_assert_msg((self->has_unaligned && memory != &self->lds) || offset % step->width == 0,
                "%s: a vector of %u at %ld", self->name, step->width, (long)offset);
}

static inline void take_load(const interpreter *self, const tj_kernel_step *step, const element_memory *from,
                             int64_t slot[], const int64_t root[2]) {
  if (root[1] != 0)
    check_place(self, step, from, place_of(step, root));
  for (uint32_t k = 0; k < step->width && root[1] != 0; k++)
    ck_assert_msg(from->coming[place_of(step, root) + k] == 0, "%s: element %ld of LDS has not come yet", self->name,
                  (long)place_of(step, root) + k);
  for (uint32_t k = 0; k < step->width; k++)
    slot[step->slot + k * step->slot_step] =
        root[1] != 0 ? from->value[place_of(step, root) + k] : self->kernel->fill;
}

static inline void take_store(const interpreter *self, const tj_kernel_step *step, element_memory *to,
                              const int64_t slot[], const int64_t root[2]) {
  if (root[1] == 0)
    return;
  check_place(self, step, to, place_of(step, root));
  for (uint32_t k = 0; k < step->width; k++) {
    int64_t value = slot[step->slot + k * step->slot_step], at = place_of(step, root) + k;
    ck_assert_msg(value != NOBODYS, "%s: element %ld gets what nobody has written", self->name, (long)at);
    ck_assert_msg(to->stores[at]++ == 0, "%s: element %ld is stored twice", self->name, (long)at);
    to->value[at] = value;
  }
}

/* From a buffer straight into LDS, by the step of a number. */
static inline void take_direct(interpreter *self, const tj_kernel_step *step, uint32_t number, const int64_t root[]) {
  const element_memory *from = &self->buffer[step->from.buffer];
  int64_t first = root[3] + (step->from.base != NULL ? root[4] : 0) + step->from.displacement;
  if (root[1] == 0)
    return;
  check_place(self, step, from, first);
  check_place(self, step, &self->lds, place_of(step, root));
  for (uint32_t k = 0; k < step->width; k++) {
    int64_t at = place_of(step, root) + k;
    ck_assert_msg(self->lds.stores[at]++ == 0, "%s: element %ld of LDS is stored twice", self->name, (long)at);
    self->lds.value[at] = from->value[first + k];
    self->lds.coming[at] = number;
  }
}

/* A box on its way. */
typedef struct {
  interpreter *self;
  const element_memory *from;
  uint32_t bytes; /* of an element of either memory */
  uint64_t came;  /* bytes */
  uint32_t number;
} box_visit;

/* Each part of an element comes from the same place of its source; what counts is the first. */
static inline void take_part(box_visit *visit, const tj_dma_element *element, uint64_t beyond) {
  interpreter *self = visit->self;
  int64_t to = (int64_t)((element->lds + beyond) / visit->bytes);
  int64_t from = (int64_t)((element->address + beyond) / visit->bytes);
  uint64_t part = (element->lds + beyond) % visit->bytes;
  ck_assert_msg(to < self->lds.count, "%s: element %ld of LDS", self->name, (long)to);
  ck_assert_msg(element->is_filled || from < visit->from->count, "%s: element %ld of the source", self->name,
                (long)from);
  ck_assert(element->is_filled || (element->address + beyond) % visit->bytes == part);
  int64_t value = element->is_filled ? 0 : visit->from->value[from];
  if (part == 0)
    ck_assert_msg(self->lds.stores[to]++ == 0, "%s: element %ld of LDS comes twice", self->name, (long)to);
  else
    ck_assert_msg(self->lds.value[to] == value, "%s: parts of element %ld of LDS", self->name, (long)to);
  self->lds.value[to] = value;
  self->lds.coming[to] = visit->number;
}

static inline bool take_element(const tj_dma_element *element, void *data) {
  box_visit *visit = data;
  const tj_box_map *map = visit->self->kernel->map;
  ck_assert(map == NULL || element->lds + element->element_bytes <= map->barrier);
  visit->came += element->element_bytes;
  uint32_t step = element->element_bytes < visit->bytes ? element->element_bytes : visit->bytes;
  for (uint32_t beyond = 0; beyond < element->element_bytes; beyond += step)
    take_part(visit, element, beyond);
  return true;
}

/* Once for the workgroup. */
static inline void take_box(interpreter *self, const tj_kernel_step *step, uint32_t number) {
  box_visit visit = {self, &self->buffer[step->access.buffer], tj_dtype_bits(self->kernel->carried) / 8, 0, number};
  tj_bindings bindings = {.value = self->symbol, .count = self->symbol_count};
  ck_assert_int_eq(tj_visit_box(self->kernel, step, &bindings, take_element, &visit), TJ_EVAL_OK);
  ck_assert_msg(visit.came > 0 && (self->kernel->map == NULL || visit.came == tj_box_bytes(self->kernel->map)),
                "%s: a box of %lu bytes", self->name, (unsigned long)visit.came);
}

/* One work-item's steps of a phase; of a tiled kernel, `item` is its number in its workgroup, otherwise in all. */
static inline void run_item(interpreter *self, const step_list *list, uint32_t begin, uint32_t end, int64_t item) {
  const tj_kernel *kernel = self->kernel;
  int64_t *slot = self->slot + item % kernel->workgroup_size * kernel->slot_count;
  self->symbol[(kernel->index != NULL ? kernel->index : kernel->item)->symbol->index] = item;
  bool keeps_slots = begin > 0 && (self->keeps_slots || list->step[begin - 1].kind != TJ_STEP_BARRIER);
  uint32_t number = self->brought;
  for (uint32_t i = 0; i < kernel->slot_count && !keeps_slots; i++)
    slot[i] = NOBODYS;
  tj_bindings bindings = {.value = self->symbol, .count = self->symbol_count};
  ck_assert_int_eq(tj_evaluator_run(list->evaluator, &bindings, list->root), TJ_EVAL_OK);
  for (uint32_t i = begin; i < end; i++) {
    const tj_kernel_step *step = &list->step[i];
    number += brings(step);
    if (step->kind == TJ_STEP_BOX) {
      if (item == 0)
        take_box(self, step, number);
      continue;
    }
    element_memory *memory = step->access.buffer == TJ_LDS ? &self->lds : &self->buffer[step->access.buffer];
    if (step->kind == TJ_STEP_DIRECT)
      take_direct(self, step, number, list->root + ROOTS * (size_t)i);
    else if (step->kind == TJ_STEP_LOAD)
      take_load(self, step, memory, slot, list->root + ROOTS * (size_t)i);
    else
      take_store(self, step, memory, slot, list->root + ROOTS * (size_t)i);
  }
}

static inline void run_exchange(interpreter *self, const tj_exchange *exchange) {
  uint32_t slots = self->kernel->slot_count;
  for (uint32_t first = 0; first < self->kernel->workgroup_size; first += exchange->lanes)
    exchange_slots(exchange, self->slot + (size_t)first * slots, slots, NOBODYS);
}

/* All but what the last steps bring that a barrier need not wait for. */
static inline void await_steps(interpreter *self, const tj_kernel_step *barrier) {
  ck_assert_uint_le(barrier->number, self->brought);
  for (int64_t i = 0; i < self->lds.count; i++)
    self->lds.coming[i] = self->lds.coming[i] > self->brought - barrier->number ? self->lds.coming[i] : 0;
  memset(self->lds.stores, 0, (size_t)self->lds.count * sizeof *self->lds.stores);
}

/* A loop that is open. */
typedef struct {
  uint32_t begin;
  int64_t trip;
} loop_run;

static inline uint32_t begin_loop(interpreter *self, const step_list *list, uint32_t begin, loop_run *loop) {
  *loop = (loop_run){begin, 0};
  self->symbol[list->step[begin].value->symbol->index] = 0;
  ck_assert_int_ge(node_value(self, list->step[begin].limit), 1);
  return begin;
}

/* Returns the step after which it goes on. */
static inline uint32_t end_trip(interpreter *self, const step_list *list, uint32_t again, loop_run *loop) {
  const tj_kernel_step *begin = &list->step[loop->begin];
  if (++loop->trip == node_value(self, begin->limit))
    return again;
  self->symbol[begin->value->symbol->index] = loop->trip;
  return loop->begin;
}

/* What happens between phases. Returns the step after which the next one begins. */
static inline uint32_t end_phase(interpreter *self, const step_list *list, uint32_t end, loop_run *loop) {
  const tj_kernel_step *step = &list->step[end];
  switch (step->kind) {
  case TJ_STEP_EXCHANGE:
    run_exchange(self, step->exchange);
    return end;
  case TJ_STEP_LOOP:
    return begin_loop(self, list, end, loop);
  case TJ_STEP_AGAIN:
    return end_trip(self, list, end, loop);
  default:
    await_steps(self, step);
    return end;
  }
}

static inline void run_workgroup(interpreter *self, int64_t number) {
  const tj_kernel *kernel = self->kernel;
  self->symbol[kernel->workgroup->symbol->index] = number;
  for (uint32_t i = 0; i < kernel->binding_count; i++)
    self->symbol[kernel->binding[i].symbol->symbol->index] = node_value(self, kernel->binding[i].value);
  self->lds = new_memory(kernel->lds_elements);
  bool is_inner = kernel->inner != NULL && node_value(self, kernel->inner) != 0;
  const step_list *list = is_inner ? &self->inner_steps : &self->steps;
  self->inner_groups += is_inner;
  loop_run loop = {0, 0};
  self->brought = 0;
  for (uint32_t begin = 0, end; begin < list->count; begin = end + 1) {
    end = begin;
    while (end < list->count && !ends_phase(&list->step[end]))
      end++;
    for (uint32_t item = 0; item < kernel->workgroup_size; item++)
      run_item(self, list, begin, end, item);
    for (uint32_t i = begin; i < end; i++)
      self->brought += brings(&list->step[i]);
    if (end < list->count)
      end = end_phase(self, list, end, &loop);
  }
  free_memory(&self->lds);
}

/* A kernel, all of it. */
static inline void interpret(interpreter *self) {
  tj_bindings bindings = {.value = self->symbol, .count = self->symbol_count};
  ck_assert_int_eq(tj_choose_launched(self->kernel, &bindings, self->symbol), TJ_EVAL_OK);
  int64_t count = node_value(self, self->kernel->count);
  for (int64_t item = 0; self->kernel->index != NULL && item < count; item++)
    run_item(self, &self->steps, 0, self->steps.count, item);
  if (self->kernel->index != NULL)
    return;
  ck_assert_int_eq(count % self->kernel->workgroup_size, 0);
  for (int64_t group = 0; group < count / self->kernel->workgroup_size; group++)
    run_workgroup(self, group);
}

#endif
