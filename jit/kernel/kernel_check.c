/* SPDX-License-Identifier: MIT */
/* What lowering takes for granted of kernels that planning has made, asked of those that come from bytes. */
#include "jit/kernel/kernel_check.h"

#include "base/dma/decode.h"
#include "base/dma/engine.h"
#include "base/number/power.h"
#include "ir/index/facts.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/array_kernel.h"
#include "lower/lanes/exchange.h"

#include <string.h>

void tj_kernel_refuse(tj_job *job) {
  tj_fail(job, TJ_CODEGEN, "the bytes of a kernel that waits to be compiled are damaged");
}

enum { MOST_WIDTH = 64 }; /* of a vector */

typedef struct {
  tj_graph *graph;
  const tj_target *target;
  const tj_kernel *kernel;
  bool *is_given; /* by slot: a step has given it an element */
  bool is_in_loop;
} checker;

static void expect(const checker *c, bool holds) {
  if (!holds)
    tj_kernel_refuse(c->graph->job);
}

static bool is_symbol(const tj_node *node) {
  return node->op == TJ_OP_SYMBOL;
}

static void expect_truth(const checker *c, const tj_node *node) {
  expect(c, node == NULL || tj_is_truth(node));
}

/* --- slots --- */

/* So many slots from one on, of one type; they may go backwards. */
static void expect_slots(const checker *c, uint32_t slot, uint32_t count, uint32_t step, bool are_given) {
  expect(c, count > 0 && count <= c->kernel->slot_count && slot < c->kernel->slot_count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = slot + i * step;
    expect(c, at < c->kernel->slot_count && tj_slot_dtype(c->kernel, at) == tj_slot_dtype(c->kernel, slot) &&
                  (!are_given || c->is_given[at]));
  }
}

static void give_slots(const checker *c, const tj_kernel_step *step) {
  expect_slots(c, step->slot, step->width, step->slot_step, false);
  for (uint32_t i = 0; i < step->width; i++)
    c->is_given[step->slot + i * step->slot_step] = true;
}

/* --- accesses --- */

static void check_access(const checker *c, const tj_access *access) {
  const tj_kernel *kernel = c->kernel;
  const int64_t most = INT64_MAX / 64; /* as bytes it fits */
  expect(c, access->buffer == TJ_LDS ? kernel->lds_elements > 0 : access->buffer < kernel->buffer_count);
  expect(c, access->offset != NULL && access->displacement >= 0 && access->displacement <= most);
  expect(c, !access->is_bounded || (c->target->resource != NULL && access->buffer != TJ_LDS));
  expect_truth(c, access->valid);
}

static uint32_t bits_of(const checker *c, const tj_access *access) {
  return 8 * tj_element_bytes(c->kernel, access->buffer);
}

static tj_dtype dtype_at(const checker *c, const tj_access *access) {
  return access->buffer == TJ_LDS ? c->kernel->carried : c->kernel->buffer[access->buffer].dtype;
}

/* What elements have for their arithmetic as they leave a buffer, or enter one. */
static void expect_conversion(const checker *c, const tj_access *access, tj_dtype slot, tj_computed when) {
  const tj_arithmetic *arithmetic = &c->kernel->arithmetic;
  tj_dtype own = dtype_at(c, access);
  if (access->buffer == TJ_LDS || arithmetic->when != when) {
    expect(c, tj_dtype_converts(own, slot));
    return;
  }
  const tj_array *value = when == TJ_COMPUTED_LOADING ? arithmetic->program->store[0].value
                                                      : tj_arithmetic_value(c->kernel, access->buffer);
  tj_dtype to = when == TJ_COMPUTED_LOADING ? slot : own;
  tj_dtype from = when == TJ_COMPUTED_LOADING ? own : slot;
  expect(c, value != NULL && tj_dtype_converts(value->dtype, to) && arithmetic->element[0]->dtype == from);
}

static void check_load(const checker *c, const tj_kernel_step *step) {
  enum { TRANSPOSED_BITS = 64 };
  check_access(c, &step->access);
  if (step->transposes)
    expect(c, c->target->transposes_lds && step->access.buffer == TJ_LDS && !step->access.is_bounded &&
                  step->width * bits_of(c, &step->access) == TRANSPOSED_BITS && bits_of(c, &step->access) <= 16);
  give_slots(c, step);
  expect_conversion(c, &step->access, tj_slot_dtype(c->kernel, step->slot), TJ_COMPUTED_LOADING);
}

static void check_store(const checker *c, const tj_kernel_step *step) {
  const tj_arithmetic *arithmetic = &c->kernel->arithmetic;
  check_access(c, &step->access);
  bool joins = arithmetic->slots > 0 && step->access.buffer != TJ_LDS;
  for (uint32_t i = 0; i < (joins ? arithmetic->count : 1); i++) {
    uint64_t slot = step->slot + (uint64_t)i * arithmetic->slots;
    expect(c, slot < c->kernel->slot_count);
    expect_slots(c, (uint32_t)slot, step->width, step->slot_step, true);
    expect(c, !joins || arithmetic->element[i]->dtype == tj_slot_dtype(c->kernel, (uint32_t)slot));
  }
  expect_conversion(c, &step->access, tj_slot_dtype(c->kernel, step->slot), TJ_COMPUTED_STORING);
  if (step->adds)
    expect(c, step->width == 1 && bits_of(c, &step->access) == 32 && step->access.buffer != TJ_LDS);
}

static void check_two_places(const checker *c, const tj_kernel_step *step) {
  check_access(c, &step->access);
  check_access(c, &step->from);
  expect(c, !step->access.is_bounded && !step->from.is_bounded);
  if (step->kind == TJ_STEP_RUN) {
    expect(c, step->limit != NULL && c->target->wave_size == 1);
    expect_conversion(c, &step->from, c->kernel->carried, TJ_COMPUTED_LOADING);
    expect_conversion(c, &step->access, c->kernel->carried, TJ_COMPUTED_STORING);
    if (step->ahead.offset != NULL)
      check_access(c, &step->ahead);
    return;
  }
  expect(c, c->target->direct != NULL && step->access.buffer == TJ_LDS && step->from.buffer != TJ_LDS &&
                bits_of(c, &step->access) == bits_of(c, &step->from));
}

static void check_lookup(const checker *c, const tj_kernel_step *step) {
  check_access(c, &step->access);
  expect(c, step->value != NULL && step->limit != NULL && step->access.buffer != TJ_LDS &&
                tj_dtype_class_of(c->kernel->buffer[step->access.buffer].dtype) <= TJ_CLASS_UNSIGNED);
}

/* --- arrays --- */

static bool is_leaf_of_numbers(const tj_array *array) {
  return array->op == TJ_ARRAY_NUMBER || array->op == TJ_ARRAY_SCALAR || array->op == TJ_ARRAY_INTEGER;
}

/* Whether all that an array is made of is there. A copy has numbers of its own, and reduces single elements. */
static bool can_be_made(const tj_array *array, const bool given[], bool is_of_copy) {
  uint32_t arity = tj_array_arity(array->op), there = 0;
  if (array->op == TJ_ARRAY_NUMBER || (is_of_copy && is_leaf_of_numbers(array)))
    return true;
  for (uint32_t i = 0; i < arity; i++)
    there += given[array->arg[i]->number];
  return arity > 0 && there == arity && (is_of_copy || !tj_array_is_reduction(array->op));
}

/* A value of what is given, by number of array. */
static void expect_computable(const checker *c, const tj_array *value, bool given[], bool is_of_copy) {
  const tj_array_program *program = tj_kernel_program(c->kernel);
  for (uint32_t i = 0; i <= value->number; i++)
    given[i] = given[i] || can_be_made(program->array[i], given, is_of_copy);
  expect(c, given[value->number]);
}

static bool is_number(tj_dtype dtype) {
  return tj_dtype_class_of(dtype) != TJ_CLASS_BITS;
}

/* Functions, and results of reductions, are floats as wide as numbers of the language are. */
static bool has_arithmetic(tj_dtype dtype) {
  return dtype == TJ_DTYPE_f32 || dtype == TJ_DTYPE_f64;
}

static bool is_dtype_of(tj_array_op op, tj_dtype dtype) {
  switch (op) {
  case TJ_ARRAY_BUFFER:
    return true;
  case TJ_ARRAY_SCALAR:
  case TJ_ARRAY_CAST:
    return is_number(dtype);
  case TJ_ARRAY_NUMBER:
    return dtype == TJ_DTYPE_f64;
  case TJ_ARRAY_INTEGER:
  case TJ_ARRAY_INDEX:
    return dtype == TJ_DTYPE_i64;
  case TJ_ARRAY_FMA:
    return has_arithmetic(dtype) || dtype == TJ_DTYPE_i64;
  default:
    return has_arithmetic(dtype);
  }
}

/* Raw bits go into functions nowhere. */
static void check_types(const checker *c) {
  const tj_array_program *program = tj_kernel_program(c->kernel);
  for (uint32_t i = 0; program != NULL && i < program->count; i++) {
    const tj_array *array = program->array[i];
    expect(c, is_dtype_of(array->op, array->dtype));
    for (uint32_t k = 0; k < tj_array_arity(array->op); k++)
      expect(c, is_number(array->arg[k]->dtype));
  }
}

/* What slots hold: elements of the array, as they are or converted. */
static bool holds(const checker *c, uint32_t slot, const tj_array *array) {
  tj_dtype dtype = tj_slot_dtype(c->kernel, slot);
  return array != NULL ? tj_dtype_converts(array->dtype, dtype) : is_number(dtype);
}

static bool can_combine(tj_array_op op) {
  return op == TJ_ARRAY_add || op == TJ_ARRAY_mul || op == TJ_ARRAY_min || op == TJ_ARRAY_max ||
         op == TJ_ARRAY_LARGER || op == TJ_ARRAY_FARTHER;
}

static void check_input(const checker *c, const tj_kernel_step *step, uint32_t input) {
  const tj_computation *compute = step->compute;
  uint32_t slot = compute->slot[input], bits = tj_dtype_bits(tj_slot_dtype(c->kernel, slot));
  expect(c, holds(c, slot, compute->input[input]));
  expect(c, compute->across == 0 || (step->width == 1 && (bits == 32 || bits == 64)));
}

static void check_compute(const checker *c, const tj_kernel_step *step) {
  const tj_computation *compute = step->compute;
  const tj_array_program *program = tj_kernel_program(c->kernel);
  expect(c, compute != NULL && program != NULL && (compute->array != NULL || compute->count > 0));
  expect(c, compute->across < c->target->wave_size &&
                (compute->across == 0 ||
                 (tj_is_power_of_two(compute->across) && c->target->family->emit_across != NULL)));
  bool *given = TJ_NEW_ARRAY(c->graph->job, bool, (size_t)program->count + 1);
  for (uint32_t i = 0; i < compute->count; i++) {
    expect_slots(c, compute->slot[i], compute->varies[i] ? step->width : 1, 1, true);
    check_input(c, step, i);
    if (compute->input[i] != NULL)
      given[compute->input[i]->number] = true;
  }
  if (compute->array != NULL)
    expect_computable(c, compute->array, given, false);
  bool combines = compute->combine != TJ_ARRAY_OP_COUNT;
  expect(c, step->access.valid != NULL && (!combines || can_combine((tj_array_op)compute->combine)));
  expect_truth(c, step->access.valid);
  if (combines || !tj_is_int(step->access.valid, 1)) {
    expect_slots(c, step->slot, step->width, step->slot_step, true);
    expect(c, combines ? has_arithmetic(tj_slot_dtype(c->kernel, step->slot))
                       : tj_dtype_class_of(tj_slot_dtype(c->kernel, step->slot)) == TJ_CLASS_FLOAT);
  }
  give_slots(c, step);
  expect(c, holds(c, step->slot, compute->array != NULL ? compute->array : compute->input[0]));
}

static bool is_parameter(const tj_kernel *kernel, const tj_node *node) {
  uint32_t i = 0;
  while (i < kernel->parameter_count && kernel->parameter[i] != node)
    i++;
  return i < kernel->parameter_count;
}

/* An array that stands for the first element of a buffer of its type. */
static void check_single(const checker *c, const tj_array *array, uint32_t buffer) {
  expect(c, array->op == TJ_ARRAY_BUFFER && is_number(array->dtype) && buffer < c->kernel->buffer_count);
  expect(c, c->kernel->buffer[buffer].is_read && c->kernel->buffer[buffer].dtype == array->dtype);
}

static void check_arithmetic(const checker *c) {
  const tj_arithmetic *arithmetic = &c->kernel->arithmetic;
  const tj_array_program *program = arithmetic->program;
  if (program == NULL) {
    expect(c, arithmetic->when == TJ_COMPUTED_NEVER && arithmetic->slots == 0);
    return;
  }
  expect(c, arithmetic->count > 0 && program->store_count > 0);
  expect(c, arithmetic->slots > 0 ? arithmetic->when == TJ_COMPUTED_STORING : arithmetic->count == 1);
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    expect(c, array->op != TJ_ARRAY_INTEGER || array->integer != NULL);
    expect(c, array->op != TJ_ARRAY_SCALAR || is_parameter(c->kernel, array->integer));
  }
  for (uint32_t i = 0; i < arithmetic->single_count; i++)
    check_single(c, arithmetic->single[i], arithmetic->single_buffer[i]);
  for (uint32_t i = 0; i < program->store_count; i++) {
    bool *given = TJ_NEW_ARRAY(c->graph->job, bool, (size_t)program->count + 1);
    for (uint32_t k = 0; k < arithmetic->count; k++)
      given[arithmetic->element[k]->number] = true;
    for (uint32_t k = 0; k < arithmetic->single_count; k++)
      given[arithmetic->single[k]->number] = true;
    expect_computable(c, program->store[i].value, given, true);
  }
}

/* --- other steps --- */

static void check_exchange_part(const checker *c, const tj_exchange *exchange, const tj_exchange_part *part) {
  uint32_t elements = exchange->word_elements, count = part->loads;
  expect(c, tj_is_power_of_two(part->loads) && tj_is_power_of_two(part->stores) && part->loads % elements == 0 &&
                part->stores % elements == 0);
  for (uint32_t i = 0; i < part->step_count; i++) {
    const tj_exchange_step *step = &part->step[i];
    expect(c, step->kind == TJ_EXCHANGE_MOVE || (tj_is_power_of_two(count) && step->words == 0));
    expect(c, step->kind != TJ_EXCHANGE_CHOICE || (step->elements < count && step->lanes < c->target->wave_size));
    expect(c, step->kind != TJ_EXCHANGE_SWAP ||
                  (1u << step->element_bit < count && 1u << step->element_bit >= elements));
    for (uint32_t word = 0; word < step->words; word++) {
      tj_lane_way way;
      expect(c, step->from[word] < count && tj_lane_find_way(&exchange->processor, &step->map[word], &way));
    }
    count = step->kind == TJ_EXCHANGE_MOVE ? step->words * elements : count;
  }
  expect(c, count == part->stores);
}

static void check_exchange(const checker *c, const tj_kernel_step *step) {
  const tj_exchange *exchange = step->exchange;
  uint32_t bits = tj_dtype_bits(c->kernel->carried);
  expect(c, c->kernel->item != NULL && c->target->wave_size > 1 && tj_is_power_of_two(exchange->word_elements) &&
                exchange->word_elements * bits <= (bits > 32 ? bits : 32) &&
                (exchange->word_elements == 1 || c->target->family->emit_bytes != NULL));
  for (uint32_t i = 0; i < exchange->part_count; i++) {
    const tj_exchange_part *part = &exchange->part[i];
    check_exchange_part(c, exchange, part);
    for (uint32_t k = 0; k < part->loads; k++)
      expect_slots(c, part->loaded[k], 1, 1, true);
    for (uint32_t k = 0; k < part->stores; k++)
      c->is_given[part->stored[k]] = true;
  }
}

static bool takes_maps(const tj_target *target) {
  const tj_dma_engine *engine = tj_dma_engine_of(target->processor);
  return engine != NULL && engine->kind == TJ_DMA_TENSOR_MAP;
}

/* The driver makes such maps, and the barrier, which counts the bytes of boxes, lies in LDS. */
static void check_map(const checker *c, const tj_box_map *map) {
  enum { BARRIER_BYTES = 8 };
  uint64_t bytes = (uint64_t)c->kernel->lds_elements * (tj_dtype_bits(c->kernel->carried) / 8);
  expect(c, takes_maps(c->target) && tj_dma_allows_boxes(map->element_bytes, 0, map->box, map->rank) &&
                map->barrier % BARRIER_BYTES == 0 && bytes <= UINT32_MAX &&
                (uint64_t)map->barrier + BARRIER_BYTES <= bytes);
}

static void check_box(const checker *c, const tj_kernel_step *step) {
  enum { LEAST_WORDS = 12, MOST_WORDS = 20 }; /* of a descriptor */
  const tj_box_map *map = c->kernel->map;
  expect(c, c->target->family->emit_box != NULL && step->access.buffer < c->kernel->buffer_count);
  if (takes_maps(c->target))
    expect(c, map != NULL && step->word_count == map->rank + 1);
  else
    expect(c, step->word_count >= LEAST_WORDS && step->word_count <= MOST_WORDS);
  expect(c, !step->is_taken || map == NULL);
}

static void begin_trips(checker *c, const tj_kernel_step *step) {
  expect(c, !c->is_in_loop && step->value != NULL && step->limit != NULL && step->slot_step > 0 &&
                step->slot_step <= MOST_WIDTH);
  for (uint32_t i = 0; i < step->width / step->slot_step; i++)
    expect_slots(c, step->slot + i * step->slot_step, step->slot_step, 1, true);
  c->is_in_loop = true;
}

/* --- steps --- */

static void check_step(checker *c, const tj_kernel_step *step) {
  switch (step->kind) {
  case TJ_STEP_VALUE:
    expect(c, step->value != NULL && step->width == 1);
    give_slots(c, step);
    expect(c, tj_dtype_bits(tj_slot_dtype(c->kernel, step->slot)) <= 64);
    break;
  case TJ_STEP_LOAD:
    check_load(c, step);
    break;
  case TJ_STEP_STORE:
    check_store(c, step);
    break;
  case TJ_STEP_LOOKUP:
    check_lookup(c, step);
    break;
  case TJ_STEP_RUN:
  case TJ_STEP_DIRECT:
    check_two_places(c, step);
    break;
  case TJ_STEP_PREFETCH:
    check_access(c, &step->access);
    expect(c, step->access.buffer != TJ_LDS);
    break;
  case TJ_STEP_COMPUTE:
    check_compute(c, step);
    break;
  case TJ_STEP_BOX:
    check_box(c, step);
    break;
  case TJ_STEP_EXCHANGE:
    check_exchange(c, step);
    break;
  case TJ_STEP_LOOP:
    begin_trips(c, step);
    break;
  case TJ_STEP_AGAIN:
    expect(c, c->is_in_loop);
    c->is_in_loop = false;
    break;
  case TJ_STEP_BARRIER:
    expect(c, c->kernel->index == NULL && (!c->is_in_loop || c->target->keeps_slots));
    break;
  }
}

static void check_steps(checker *c, const tj_kernel_step step[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    bool has_width = step[i].kind <= TJ_STEP_COMPUTE && step[i].kind != TJ_STEP_RUN;
    expect(c, step[i].number <= count);
    expect(c, !has_width || (tj_is_power_of_two(step[i].width) && step[i].width <= MOST_WIDTH));
    check_step(c, &step[i]);
  }
  expect(c, !c->is_in_loop);
}

/* --- kernels --- */

static void check_symbols(const checker *c) {
  const tj_kernel *kernel = c->kernel;
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    expect(c, is_symbol(kernel->parameter[i]));
  if (kernel->index != NULL)
    expect(c, kernel->inner == NULL && kernel->items == NULL);
  else
    expect(c, kernel->workgroup != NULL && kernel->item != NULL && kernel->loop == NULL);
  for (uint32_t i = 0; kernel->loop != NULL && i < kernel->loop->carried_count; i++)
    expect(c, is_symbol(kernel->loop->carried[i].symbol));
}

void tj_kernel_check(tj_graph *graph, const tj_target *target, const tj_kernel *kernel) {
  enum { MOST_WORK_ITEMS = 1024 };
  checker c = {.graph = graph, .target = target, .kernel = kernel};
  expect(&c, kernel->workgroup_size > 0 && (target->wave_size == 1 || kernel->workgroup_size <= MOST_WORK_ITEMS));
  if (kernel->map != NULL)
    check_map(&c, kernel->map);
  check_symbols(&c);
  check_types(&c);
  check_arithmetic(&c);
  expect_truth(&c, kernel->inner);
  c.is_given = TJ_NEW_ARRAY(graph->job, bool, (size_t)kernel->slot_count + 1);
  check_steps(&c, kernel->inner_step, kernel->inner_step_count);
  memset(c.is_given, 0, kernel->slot_count * sizeof *c.is_given);
  check_steps(&c, kernel->step, kernel->step_count);
}
