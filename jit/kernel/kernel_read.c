/* SPDX-License-Identifier: MIT */
/* From bytes to kernels. The bytes may come from a file that anybody has written: what lowering relies on without
 * looking is looked at here, and in kernel_check.c, once a variant is there. */
#include "jit/kernel/kernel_bytes.h"

#include "ir/index/facts.h"
#include "jit/kernel/kernel_check.h"
#include "launch/image/machine.h"
#include "launch/image/serial.h"
#include "lower/kernel/array_kernel.h"
#include "lower/lanes/exchange.h"

typedef struct {
  tj_graph *graph;
  const tj_target *target;
  tj_reader in;         /* of what is read now: nodes, or the rest */
  const tj_node **node; /* of the variant at hand, by number - 1 */
  uint32_t count;
  tj_kernel *kernel;
  const tj_array_program *program; /* its program; NULL: none */
} kernel_reader;

/* --- integers --- */

static void expect(const kernel_reader *r, bool holds) {
  if (!holds || r->in.is_failed)
    tj_kernel_refuse(r->graph->job);
}

static uint64_t read_number(kernel_reader *r) {
  uint64_t number = tj_read_number(&r->in);
  expect(r, true);
  return number;
}

static uint32_t read_below(kernel_reader *r, uint64_t end) {
  uint64_t number = read_number(r);
  expect(r, number < end);
  return (uint32_t)number;
}

static uint32_t read_u32(kernel_reader *r) {
  return read_below(r, (uint64_t)UINT32_MAX + 1);
}

static int64_t read_signed(kernel_reader *r) {
  uint64_t number = read_number(r);
  return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

static uint8_t read_bits(kernel_reader *r, uint8_t end) {
  uint8_t bits = tj_read_u8(&r->in);
  expect(r, bits < end);
  return bits;
}

static bool read_bool(kernel_reader *r) {
  return read_bits(r, 2) == 1;
}

/* Of things that take a byte each at least. */
static uint32_t read_count(kernel_reader *r) {
  uint32_t count = tj_read_count(&r->in, 1);
  expect(r, true);
  return count;
}

static const char *read_string(kernel_reader *r) {
  const char *string = tj_read_string(&r->in);
  expect(r, string[0] != '\0');
  return string;
}

/* --- nodes --- */

/* Of the nodes before; NULL: none. */
static const tj_node *read_node(kernel_reader *r) {
  uint32_t number = read_below(r, (uint64_t)r->count + 1);
  return number > 0 ? r->node[number - 1] : NULL;
}

static const tj_node *read_some_node(kernel_reader *r) {
  const tj_node *node = read_node(r);
  expect(r, node != NULL);
  return node;
}

static tj_facts read_facts(kernel_reader *r) {
  tj_facts facts = {.low = read_signed(r), .high = read_signed(r)};
  facts.modulus = read_signed(r);
  facts.residue = read_signed(r);
  facts.zeros = (uint64_t)read_signed(r);
  facts.ones = read_number(r);
  expect(r, facts.low <= facts.high && facts.modulus >= 1 && facts.residue >= 0 && facts.residue < facts.modulus &&
                (facts.zeros & facts.ones) == 0);
  return facts;
}

static const tj_node *read_symbol(kernel_reader *r) {
  tj_symbol symbol = {.kind = (tj_symbol_kind)read_bits(r, TJ_SYMBOL_COORDINATE + 1)};
  symbol.name = read_string(r);
  symbol.multiple = read_signed(r);
  expect(r, tj_bytes_contain(r->in.bytes, r->in.at, symbol.choice_count = read_u32(r)));
  int64_t *choice = TJ_NEW_ARRAY(r->graph->job, int64_t, (size_t)symbol.choice_count + 1);
  for (uint32_t i = 0; i < symbol.choice_count; i++) {
    choice[i] = read_signed(r);
    expect(r, i == 0 || choice[i - 1] < choice[i]);
  }
  symbol.choice = choice;
  symbol.low = read_node(r);
  symbol.high = read_node(r);
  symbol.divisor = read_node(r);
  const tj_node *node = tj_symbol_declare(r->graph, symbol);
  const tj_facts facts = read_facts(r);
  tj_sharpen_facts(node, &facts);
  return node;
}

static const tj_node *read_operation(kernel_reader *r, tj_op op) {
  const tj_node *args[3] = {NULL, NULL, NULL};
  for (unsigned i = 0; i < tj_op_arity(op); i++)
    args[i] = read_some_node(r);
  tj_check_operation(r->graph, op, args);
  const tj_facts facts = read_facts(r);
  return tj_node_restore(r->graph, op, args, &facts);
}

/* What the launch computes. */
static const tj_node *read_launched(kernel_reader *r) {
  const tj_facts facts = read_facts(r);
  return tj_symbol_of_facts(r->graph, "launched", &facts);
}

static const tj_node *read_new_node(kernel_reader *r) {
  tj_op op = (tj_op)read_bits(r, TJ_OP_COUNT + 1);
  if (op == TJ_OP_COUNT)
    return read_launched(r);
  if (op == TJ_OP_CONSTANT)
    return tj_int(r->graph, read_signed(r));
  if (op == TJ_OP_SYMBOL)
    return read_symbol(r);
  return read_operation(r, op);
}

static void read_nodes(kernel_reader *r, uint32_t count, tj_bytes bytes) {
  r->in = (tj_reader){.bytes = bytes};
  r->node = TJ_NEW_ARRAY(r->graph->job, const tj_node *, (size_t)count + 1);
  for (r->count = 0; r->count < count; r->count++)
    r->node[r->count] = read_new_node(r);
  expect(r, r->in.at == bytes.size);
}

/* --- programs --- */

static const tj_array *read_array(kernel_reader *r) {
  uint32_t number = read_below(r, (uint64_t)(r->program != NULL ? r->program->count : 0) + 1);
  return number > 0 ? r->program->array[number - 1] : NULL;
}

static const tj_array *read_some_array(kernel_reader *r, const tj_array_program *program) {
  return program->array[read_below(r, program->count)];
}

static const tj_array *read_new_array(kernel_reader *r, const tj_array_program *program, uint32_t number) {
  tj_array *array = TJ_NEW(r->graph->job, tj_array);
  *array = (tj_array){.number = number, .name = ""};
  array->op = (tj_array_op)read_below(r, TJ_ARRAY_OP_COUNT);
  array->dtype = (tj_dtype)read_below(r, TJ_DTYPE_COUNT);
  array->of = read_u32(r);
  array->modes = read_number(r);
  uint64_t real = tj_read_u64(&r->in);
  memcpy(&array->real, &real, sizeof real);
  for (uint32_t i = 0; i < tj_array_arity(array->op); i++)
    array->arg[i] = program->array[read_below(r, number)];
  array->integer = read_node(r);
  return array;
}

static void read_stores(kernel_reader *r, tj_array_program *program) {
  program->store_count = read_count(r);
  program->store = TJ_NEW_ARRAY(r->graph->job, tj_array_store, (size_t)program->store_count + 1);
  for (uint32_t i = 0; i < program->store_count; i++) {
    program->store[i].argument = read_u32(r);
    program->store[i].value = read_some_array(r, program);
  }
}

static void read_singles(kernel_reader *r, const tj_array_program *program, tj_arithmetic *arithmetic) {
  arithmetic->single_count = read_count(r);
  const tj_array **single = TJ_NEW_ARRAY(r->graph->job, const tj_array *, (size_t)arithmetic->single_count + 1);
  uint32_t *buffer = TJ_NEW_ARRAY(r->graph->job, uint32_t, (size_t)arithmetic->single_count + 1);
  for (uint32_t i = 0; i < arithmetic->single_count; i++) {
    single[i] = read_some_array(r, program);
    buffer[i] = read_u32(r);
  }
  arithmetic->single = single;
  arithmetic->single_buffer = buffer;
}

static void read_arithmetic(kernel_reader *r, const tj_array_program *program, tj_arithmetic *arithmetic) {
  arithmetic->when = (tj_computed)read_bits(r, TJ_COMPUTED_STORING + 1);
  arithmetic->slots = read_u32(r);
  arithmetic->count = read_count(r);
  const tj_array **element = TJ_NEW_ARRAY(r->graph->job, const tj_array *, (size_t)arithmetic->count + 1);
  for (uint32_t i = 0; i < arithmetic->count; i++)
    element[i] = read_some_array(r, program);
  arithmetic->element = element;
  read_singles(r, program, arithmetic);
}

static void read_program(kernel_reader *r, bool is_of_arrays) {
  r->program = NULL;
  if (!read_bool(r))
    return;
  tj_array_program *program = TJ_NEW(r->graph->job, tj_array_program);
  uint32_t count = read_count(r);
  expect(r, count <= TJ_ARRAY_MOST);
  program->array = TJ_NEW_ARRAY(r->graph->job, const tj_array *, (size_t)count + 1);
  for (; program->count < count; program->count++)
    program->array[program->count] = read_new_array(r, program, program->count);
  read_stores(r, program);
  read_arithmetic(r, program, &r->kernel->arithmetic);
  r->program = program;
  if (!is_of_arrays) {
    r->kernel->arithmetic.program = program;
    r->kernel->arithmetic.parameter = r->kernel->parameter;
    return;
  }
  tj_array_kernel *arrays = TJ_NEW(r->graph->job, tj_array_kernel);
  arrays->program = program;
  r->kernel->arrays = arrays;
}

/* --- steps --- */

static tj_access read_access(kernel_reader *r) {
  tj_access access = {.buffer = 0};
  uint8_t bits = read_bits(r, 4);
  if (bits == 0)
    return access;
  access.is_bounded = (bits & 2) != 0;
  access.buffer = read_u32(r) - 1;
  access.base = read_node(r);
  access.offset = read_node(r);
  access.valid = read_node(r);
  access.displacement = read_signed(r);
  return access;
}

static const tj_computation *read_computation(kernel_reader *r) {
  tj_computation *compute = TJ_NEW(r->graph->job, tj_computation);
  compute->array = read_array(r);
  compute->combine = (int)read_below(r, TJ_ARRAY_OP_COUNT + 1);
  compute->across = read_u32(r);
  compute->count = read_count(r);
  const tj_array **input = TJ_NEW_ARRAY(r->graph->job, const tj_array *, (size_t)compute->count + 1);
  uint32_t *slot = TJ_NEW_ARRAY(r->graph->job, uint32_t, (size_t)compute->count + 1);
  bool *varies = TJ_NEW_ARRAY(r->graph->job, bool, (size_t)compute->count + 1);
  for (uint32_t i = 0; i < compute->count; i++) {
    input[i] = read_array(r);
    slot[i] = read_u32(r);
    varies[i] = read_bool(r);
  }
  compute->input = input;
  compute->slot = slot;
  compute->varies = varies;
  return compute;
}

static void read_exchange_step(kernel_reader *r, tj_exchange_step *step) {
  step->kind = (tj_exchange_kind)read_below(r, TJ_EXCHANGE_MOVE + 1);
  step->lanes = read_u32(r);
  step->elements = read_u32(r);
  step->lane_bit = read_below(r, TJ_LANE_BITS);
  step->element_bit = read_below(r, 32);
  step->words = read_count(r);
  uint32_t *from = TJ_NEW_ARRAY(r->graph->job, uint32_t, (size_t)step->words + 1);
  tj_lane_map *map = TJ_NEW_ARRAY(r->graph->job, tj_lane_map, (size_t)step->words + 1);
  for (uint32_t i = 0; i < step->words; i++) {
    from[i] = read_u32(r);
    map[i].offset = read_bits(r, 1 << TJ_LANE_BITS);
    for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++)
      map[i].basis[bit] = read_bits(r, 1 << TJ_LANE_BITS);
  }
  step->from = from;
  step->map = map;
}

static const uint32_t *read_slots_of(kernel_reader *r, uint32_t *count) {
  *count = read_count(r);
  uint32_t *slot = TJ_NEW_ARRAY(r->graph->job, uint32_t, (size_t)*count + 1);
  for (uint32_t i = 0; i < *count; i++)
    slot[i] = read_below(r, r->kernel->slot_count);
  return slot;
}

static const tj_exchange *read_exchange(kernel_reader *r) {
  enum { WORD_BYTES = 4 };
  tj_exchange *exchange = TJ_NEW(r->graph->job, tj_exchange);
  uint32_t bytes = tj_element_bytes(r->kernel, TJ_LDS);
  exchange->part_count = read_count(r);
  exchange->word_elements = read_u32(r);
  exchange->element_words = bytes > WORD_BYTES ? bytes / WORD_BYTES : 1;
  expect(r, tj_shared_memory_of(r->target->processor, &exchange->processor));
  tj_exchange_part *part = TJ_NEW_ARRAY(r->graph->job, tj_exchange_part, (size_t)exchange->part_count + 1);
  for (uint32_t i = 0; i < exchange->part_count; i++) {
    part[i].loaded = read_slots_of(r, &part[i].loads);
    part[i].stored = read_slots_of(r, &part[i].stores);
    part[i].step_count = read_count(r);
    tj_exchange_step *step = TJ_NEW_ARRAY(r->graph->job, tj_exchange_step, (size_t)part[i].step_count + 1);
    for (uint32_t k = 0; k < part[i].step_count; k++)
      read_exchange_step(r, &step[k]);
    part[i].step = step;
  }
  exchange->part = part;
  return exchange;
}

static void read_step(kernel_reader *r, tj_kernel_step *step) {
  step->kind = (tj_step_kind)read_bits(r, TJ_STEP_BARRIER + 1);
  step->access = read_access(r);
  step->from = read_access(r);
  step->ahead = read_access(r);
  step->value = read_node(r);
  step->limit = read_node(r);
  step->width = read_u32(r);
  step->slot = read_u32(r);
  step->slot_step = read_u32(r);
  uint8_t bits = read_bits(r, 16);
  step->adds = (bits & 1) != 0;
  step->transposes = (bits & 2) != 0;
  step->is_kept = (bits & 4) != 0;
  step->is_taken = (bits & 8) != 0;
  step->multiple = read_u32(r);
  step->number = read_u32(r);
  step->word_count = read_count(r);
  step->word = TJ_NEW_ARRAY(r->graph->job, const tj_node *, (size_t)step->word_count + 1);
  for (uint32_t i = 0; i < step->word_count; i++)
    step->word[i] = read_some_node(r);
  if (read_bool(r))
    step->compute = read_computation(r);
  if (step->kind == TJ_STEP_EXCHANGE)
    step->exchange = read_exchange(r);
}

static tj_kernel_step *read_steps(kernel_reader *r, uint32_t *count) {
  *count = read_count(r);
  tj_kernel_step *step = TJ_NEW_ARRAY(r->graph->job, tj_kernel_step, (size_t)*count + 1);
  for (uint32_t i = 0; i < *count; i++)
    read_step(r, &step[i]);
  return step;
}

/* --- kernels --- */

static void read_buffer(kernel_reader *r, tj_kernel_buffer *buffer) {
  buffer->name = read_string(r);
  buffer->dtype = (tj_dtype)read_below(r, TJ_DTYPE_COUNT);
  uint8_t bits = read_bits(r, 8);
  buffer->is_read = (bits & 1) != 0;
  buffer->is_written = (bits & 2) != 0;
  buffer->is_scratch = (bits & 4) != 0;
}

static void read_arguments(kernel_reader *r) {
  tj_kernel *kernel = r->kernel;
  kernel->parameter_count = read_count(r);
  const tj_node **parameter = TJ_NEW_ARRAY(r->graph->job, const tj_node *, (size_t)kernel->parameter_count + 1);
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    parameter[i] = read_some_node(r);
  kernel->parameter = parameter;
  kernel->buffer_count = read_count(r);
  tj_kernel_buffer *buffer = TJ_NEW_ARRAY(r->graph->job, tj_kernel_buffer, (size_t)kernel->buffer_count + 1);
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    read_buffer(r, &buffer[i]);
  kernel->buffer = buffer;
}

static void read_bindings(kernel_reader *r) {
  tj_kernel *kernel = r->kernel;
  kernel->binding_count = read_count(r);
  kernel->binding = TJ_NEW_ARRAY(r->graph->job, tj_kernel_binding, (size_t)kernel->binding_count + 1);
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    kernel->binding[i].symbol = read_some_node(r);
    kernel->binding[i].is_launched = read_bool(r);
    if (!kernel->binding[i].is_launched)
      kernel->binding[i].value = read_some_node(r);
  }
}

static tj_loop *read_loop(kernel_reader *r) {
  if (!read_bool(r))
    return NULL;
  tj_loop *loop = TJ_NEW(r->graph->job, tj_loop);
  loop->counter = read_some_node(r);
  loop->trips = read_some_node(r);
  loop->carried_count = read_count(r);
  loop->carried = TJ_NEW_ARRAY(r->graph->job, tj_carried, (size_t)loop->carried_count + 1);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    loop->carried[i].symbol = read_some_node(r);
    loop->carried[i].initial = read_some_node(r);
    loop->carried[i].next = read_some_node(r);
  }
  return loop;
}

/* A slot takes no byte, so that the count has a bound of its own. */
static void read_slots(kernel_reader *r) {
  tj_kernel *kernel = r->kernel;
  kernel->slot_count = tj_read_u32(&r->in);
  expect(r, kernel->slot_count <= TJ_KERNEL_MOST_SLOTS);
  kernel->carried = (tj_dtype)read_below(r, TJ_DTYPE_COUNT);
  if (!read_bool(r))
    return;
  tj_dtype *dtype = TJ_NEW_ARRAY(r->graph->job, tj_dtype, (size_t)kernel->slot_count + 1);
  for (uint32_t i = 0; i < kernel->slot_count; i++)
    dtype[i] = (tj_dtype)read_bits(r, TJ_DTYPE_COUNT);
  kernel->slot_dtype = dtype;
}

static const tj_box_map *read_map(kernel_reader *r) {
  uint8_t rank = read_bits(r, TJ_TENSOR_MAP_DIMENSIONS + 1);
  if (rank == 0)
    return NULL;
  tj_box_map *map = TJ_NEW(r->graph->job, tj_box_map);
  map->rank = rank;
  map->element_bytes = read_u32(r);
  for (uint32_t d = 0; d < rank; d++)
    map->box[d] = read_u32(r);
  map->barrier = read_u32(r);
  return map;
}

/* Whether the first is the lower half of a word, and the other its upper half. */
static bool are_halves(const tj_derived derived[2]) {
  return !derived[0].is_upper && tj_is_half_word(&derived[0]) && tj_is_half_word(&derived[1]);
}

static void read_launch(kernel_reader *r) {
  tj_kernel *kernel = r->kernel;
  kernel->count = read_some_node(r);
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    if (kernel->binding[i].is_launched)
      kernel->binding[i].value = read_some_node(r);
  }
  kernel->derived_count = read_count(r);
  tj_derived *derived = TJ_NEW_ARRAY(r->graph->job, tj_derived, (size_t)kernel->derived_count + 1);
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    derived[i].kind = (tj_derived_kind)read_bits(r, TJ_DERIVED_SHIFT64 + 1);
    derived[i].is_upper = read_bool(r);
    derived[i].node = read_node(r);
    expect(r, !derived[i].is_upper || (i > 0 && are_halves(&derived[i - 1])));
  }
  kernel->derived = derived;
}

static void read_kernel(kernel_reader *r) {
  tj_kernel *kernel = r->kernel;
  kernel->name = read_string(r);
  read_arguments(r);
  kernel->index = read_node(r);
  kernel->workgroup = read_node(r);
  kernel->item = read_node(r);
  if (kernel->index != NULL)
    kernel->count = read_some_node(r);
  kernel->workgroup_size = read_u32(r);
  kernel->items = read_node(r);
  read_slots(r);
  kernel->lds_elements = read_u32(r);
  kernel->map = read_map(r);
  uint8_t bits = read_bits(r, 16);
  kernel->is_streamed = (bits & 1) != 0;
  kernel->follows = (bits & 2) != 0;
  kernel->is_aligned = (bits & 4) != 0;
  kernel->fill = read_signed(r);
  read_bindings(r);
  kernel->loop = read_loop(r);
  read_program(r, (bits & 8) != 0);
  kernel->step = read_steps(r, &kernel->step_count);
  kernel->inner = read_node(r);
  kernel->inner_step = read_steps(r, &kernel->inner_step_count);
  read_launch(r);
}

/* --- variants --- */

/* A variant as its bytes stand among those of all. */
typedef struct {
  uint32_t nodes;
  tj_bytes node_bytes, bytes;
} variant_bytes;

static tj_kernel *read_variant(kernel_reader *r, const variant_bytes *variant) {
  r->kernel = TJ_NEW(r->graph->job, tj_kernel);
  read_nodes(r, variant->nodes, variant->node_bytes);
  r->in = (tj_reader){.bytes = variant->bytes};
  read_kernel(r);
  expect(r, r->in.at == variant->bytes.size);
  tj_kernel_check(r->graph, r->target, r->kernel);
  return r->kernel;
}

tj_kernel *tj_kernel_read(tj_graph *graph, const tj_target *target, tj_bytes bytes, uint32_t number) {
  kernel_reader r = {.graph = graph, .target = target};
  tj_reader all = {.bytes = bytes};
  uint32_t count = tj_read_count(&all, 1);
  tj_kernel *kernel = NULL;
  for (uint32_t i = 0; i < count; i++) {
    variant_bytes variant = {.nodes = tj_read_u32(&all)};
    variant.node_bytes = tj_read_bytes(&all);
    variant.bytes = tj_read_bytes(&all);
    if (all.is_failed || variant.nodes > variant.node_bytes.size)
      tj_kernel_refuse(graph->job);
    if (number != TJ_ALL_VARIANTS && number != i)
      continue;
    tj_kernel *faster = kernel;
    kernel = read_variant(&r, &variant);
    kernel->faster = faster;
  }
  if (all.is_failed || all.at != bytes.size || kernel == NULL)
    tj_kernel_refuse(graph->job);
  return kernel;
}
