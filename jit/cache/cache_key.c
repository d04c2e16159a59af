/* SPDX-License-Identifier: MIT */
/* Keys of the cache: requests and kernels as bytes, and what this compiler is. */
#include "jit/cache/cache_key.h"

#include "base/build_id.h"
#include "launch/image/launch_plan.h"
#include "launch/image/serial.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/array_kernel.h"
#include "lower/lanes/exchange.h"
#include "llvm/llvm.h"

#include <stdio.h>

/* --- the compiler --- */

void tj_compiler_identity(char identity[TJ_COMPILER_IDENTITY_SIZE]) {
  char ours[TJ_BUILD_ID_SIZE], llvm[TJ_LLVM_IDENTITY_SIZE];
  void *here;
  void (*self)(char *) = tj_compiler_identity;
  memcpy(&here, &self, sizeof here);
  tj_build_id_of_place(here, ours);
  tj_llvm_identify(llvm);
  snprintf(identity, TJ_COMPILER_IDENTITY_SIZE, "tilejit %s %s, plan %d, code %d, %s", TJ_VERSION, ours,
           TJ_LAUNCH_PLAN_VERSION, TJ_MACHINE_VERSION, llvm);
}

/* --- texts --- */

static void write_target(tj_text *text, const tj_target *target) {
  tj_write_string(text, target->name);
  tj_write_string(text, target->triple);
  tj_write_string(text, target->processor);
  tj_write_string(text, target->features);
  tj_write_string(text, target->passes);
  tj_write_u32(text, target->code_object_version);
}

tj_bytes tj_cache_text_key(tj_job *job, const char *identity, const tj_text_request *request) {
  tj_text key = tj_text_begin(job);
  tj_write_string(&key, identity);
  write_target(&key, request->target);
  tj_write_u8(&key, request->kernel != NULL);
  tj_write_string(&key, request->kernel != NULL ? request->kernel : "");
  tj_write_u64(&key, request->fixed_count);
  for (size_t i = 0; i < request->fixed_count; i++) {
    tj_write_string(&key, request->fixed[i].name);
    tj_write_u64(&key, (uint64_t)request->fixed[i].value);
  }
  tj_write_bytes(&key, request->text);
  return (tj_bytes){key.data, key.length};
}

/* --- parts --- */

tj_bytes tj_cache_part_key(tj_job *job, const char *identity, const tj_target *target, const tj_machine *machine,
                           uint32_t number) {
  tj_text key = tj_text_begin(job);
  tj_write_string(&key, identity);
  write_target(&key, target);
  tj_write_u32(&key, number);
  tj_write_bytes(&key, machine->ir);
  return (tj_bytes){key.data, key.length};
}

/* --- kernels --- */

/* Whoever adds a field to these structs also writes it below, unless no machine code depends on it. Sizes are those
 * where pointers have 8 bytes. */
#define WRITES_EVERY_FIELD(type, bytes, function)                                                                    \
  _Static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes), #function " writes every field of " #type)
WRITES_EVERY_FIELD(tj_access, 40, write_access);
WRITES_EVERY_FIELD(tj_kernel_buffer, 40, write_buffer); /* that lowering reads */
WRITES_EVERY_FIELD(tj_derived, 16, write_kernel);
WRITES_EVERY_FIELD(tj_kernel_binding, 24, write_kernel);
WRITES_EVERY_FIELD(tj_computation, 48, write_computation);
WRITES_EVERY_FIELD(tj_kernel_step, 200, write_step);
WRITES_EVERY_FIELD(tj_exchange_step, 48, write_exchange_step);
WRITES_EVERY_FIELD(tj_exchange_part, 40, write_exchange);
WRITES_EVERY_FIELD(tj_exchange, 72, write_exchange); /* but prices, and what target and step say */
WRITES_EVERY_FIELD(tj_arithmetic, 48, write_program);
WRITES_EVERY_FIELD(tj_carried, 24, write_loop);
WRITES_EVERY_FIELD(tj_loop, 32, write_loop);
WRITES_EVERY_FIELD(tj_launched_tile, 408, write_tile);
WRITES_EVERY_FIELD(tj_box_map, 136, write_map);
WRITES_EVERY_FIELD(tj_kernel, 376, write_kernel); /* but its mappings, their reasons and its races */

/* A kernel's expressions are written where they are first used, arguments before users, and from then on named by
 * their number. So their order in the graph, which depends on the program's text, does not matter. */
typedef struct {
  tj_graph *graph;
  const tj_kernel *kernel;
  tj_text text;
  uint32_t *number; /* by node id: 1 + the number; 0: not written yet */
  uint32_t count;
  const tj_node **stack;
  uint32_t height, capacity;
} kernel_writer;

static void push(kernel_writer *w, const tj_node *node) {
  if (node == NULL || w->number[node->id] != 0)
    return;
  if (w->height == w->capacity) {
    w->capacity = w->capacity > 0 ? 2 * w->capacity : 256;
    const tj_node **larger = TJ_NEW_ARRAY(w->graph->job, const tj_node *, w->capacity);
    if (w->height > 0)
      memcpy(larger, w->stack, w->height * sizeof *larger);
    w->stack = larger;
  }
  w->stack[w->height++] = node;
}

/* What a node is made of: arguments, or the bounds and the divisor of a symbol. Returns how many. */
static unsigned parts_of(const tj_node *node, const tj_node *part[3]) {
  if (node->op == TJ_OP_SYMBOL) {
    part[0] = node->symbol->low;
    part[1] = node->symbol->high;
    part[2] = node->symbol->divisor;
    return 3;
  }
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    part[i] = node->arg[i];
  return tj_op_arity(node->op);
}

enum { NO_NUMBER = 0 };
enum { ROLE_INDEX, ROLE_WORKGROUP, ROLE_ITEM, ROLE_PARAMETER, ROLE_OTHER };

static uint8_t role_of(const kernel_writer *w, const tj_node *node) {
  const tj_kernel *kernel = w->kernel;
  if (node == kernel->index)
    return ROLE_INDEX;
  if (node == kernel->workgroup)
    return ROLE_WORKGROUP;
  if (node == kernel->item)
    return ROLE_ITEM;
  return node->symbol->kind == TJ_SYMBOL_PARAMETER ? ROLE_PARAMETER : ROLE_OTHER;
}

static void write_symbol(kernel_writer *w, const tj_node *node) {
  tj_write_u8(&w->text, role_of(w, node));
  tj_write_string(&w->text, node->symbol->name);
  tj_write_u64(&w->text, (uint64_t)node->symbol->multiple);
}

static void write_one(kernel_writer *w, const tj_node *node) {
  const tj_node *part[3];
  unsigned count = parts_of(node, part);
  tj_write_u8(&w->text, (uint8_t)node->op);
  if (node->op == TJ_OP_CONSTANT)
    tj_write_u64(&w->text, (uint64_t)node->value);
  if (node->op == TJ_OP_SYMBOL)
    write_symbol(w, node);
  for (unsigned i = 0; i < count; i++)
    tj_write_u32(&w->text, part[i] != NULL ? w->number[part[i]->id] : NO_NUMBER);
  w->number[node->id] = ++w->count;
}

/* Whether the stack's top has all its parts written; pushes those that are not. */
static bool is_ready(kernel_writer *w, const tj_node *node) {
  const tj_node *part[3];
  uint32_t height = w->height;
  for (unsigned i = parts_of(node, part); i-- > 0;)
    push(w, part[i]);
  return w->height == height;
}

/* A node's number; the node, and what it is made of, are written before it where they are new. */
static void write_node(kernel_writer *w, const tj_node *node) {
  push(w, node);
  while (w->height > 0) {
    const tj_node *top = w->stack[w->height - 1];
    if (w->number[top->id] == 0 && !is_ready(w, top))
      continue;
    if (w->number[top->id] == 0)
      write_one(w, top);
    w->height--;
  }
  tj_write_u8(&w->text, TJ_OP_COUNT);
  tj_write_u32(&w->text, node != NULL ? w->number[node->id] : NO_NUMBER);
}

static void write_buffer(kernel_writer *w, const tj_kernel_buffer *buffer) {
  tj_write_string(&w->text, buffer->name);
  tj_write_u32(&w->text, buffer->dtype);
  tj_write_u8(&w->text, buffer->is_read);
  tj_write_u8(&w->text, buffer->is_written);
  tj_write_u8(&w->text, buffer->is_scratch);
  write_node(w, buffer->element_count);
}

static void write_access(kernel_writer *w, const tj_access *access) {
  tj_write_u32(&w->text, access->buffer);
  tj_write_u8(&w->text, access->is_bounded);
  write_node(w, access->base);
  tj_write_u64(&w->text, (uint64_t)access->displacement);
  write_node(w, access->offset);
  write_node(w, access->valid);
}

/* Arrays are named by their numbers in the kernel's program. */
static void write_computation(kernel_writer *w, const tj_computation *compute) {
  tj_write_u8(&w->text, compute != NULL);
  if (compute == NULL)
    return;
  tj_write_u32(&w->text, compute->array != NULL ? compute->array->number + 1 : 0);
  tj_write_u32(&w->text, (uint32_t)compute->combine);
  tj_write_u32(&w->text, compute->across);
  tj_write_u32(&w->text, compute->count);
  for (uint32_t i = 0; i < compute->count; i++) {
    tj_write_u32(&w->text, compute->input[i] != NULL ? compute->input[i]->number + 1 : 0);
    tj_write_u32(&w->text, compute->slot[i]);
    tj_write_u8(&w->text, compute->varies[i]);
  }
}

static void write_exchange_step(kernel_writer *w, const tj_exchange_step *step) {
  tj_write_u32(&w->text, step->kind);
  tj_write_u32(&w->text, step->lanes);
  tj_write_u32(&w->text, step->elements);
  tj_write_u32(&w->text, step->lane_bit);
  tj_write_u32(&w->text, step->element_bit);
  tj_write_u32(&w->text, step->words);
  for (uint32_t i = 0; i < step->words; i++) {
    tj_write_u32(&w->text, step->from[i]);
    tj_write_u8(&w->text, step->map[i].offset);
    for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++)
      tj_write_u8(&w->text, step->map[i].basis[bit]);
  }
}

static void write_numbers_of(kernel_writer *w, const uint32_t number[], uint32_t count) {
  tj_write_u32(&w->text, count);
  for (uint32_t i = 0; i < count; i++)
    tj_write_u32(&w->text, number[i]);
}

static void write_exchange(kernel_writer *w, const tj_exchange *exchange) {
  tj_write_u32(&w->text, exchange->part_count);
  tj_write_u32(&w->text, exchange->word_elements);
  for (uint32_t i = 0; i < exchange->part_count; i++) {
    const tj_exchange_part *part = &exchange->part[i];
    write_numbers_of(w, part->loaded, part->loads);
    write_numbers_of(w, part->stored, part->stores);
    tj_write_u32(&w->text, part->step_count);
    for (uint32_t k = 0; k < part->step_count; k++)
      write_exchange_step(w, &part->step[k]);
  }
}

static void write_step(kernel_writer *w, const tj_kernel_step *step) {
  tj_write_u32(&w->text, step->kind);
  write_access(w, &step->access);
  write_access(w, &step->from);
  write_access(w, &step->ahead);
  write_node(w, step->value);
  write_node(w, step->limit);
  write_computation(w, step->compute);
  tj_write_u32(&w->text, step->width);
  tj_write_u32(&w->text, step->slot);
  tj_write_u32(&w->text, step->slot_step);
  tj_write_u8(&w->text, step->adds);
  tj_write_u8(&w->text, step->transposes);
  tj_write_u8(&w->text, step->is_kept);
  tj_write_u32(&w->text, step->multiple);
  tj_write_u32(&w->text, step->number);
  tj_write_u32(&w->text, step->word_count);
  for (uint32_t i = 0; i < step->word_count; i++)
    write_node(w, step->word[i]);
  if (step->kind == TJ_STEP_EXCHANGE)
    write_exchange(w, step->exchange);
}

static void write_array(kernel_writer *w, const tj_array *array) {
  uint64_t real;
  memcpy(&real, &array->real, sizeof real);
  tj_write_u32(&w->text, array->op);
  tj_write_u32(&w->text, array->dtype);
  tj_write_u32(&w->text, array->of);
  tj_write_u64(&w->text, array->modes);
  tj_write_u64(&w->text, real);
  for (uint32_t i = 0; i < tj_array_arity(array->op); i++)
    tj_write_u32(&w->text, array->arg[i]->number);
}

/* Numbers of the launch are in the words that say where their bits are. */
static void write_numbers(kernel_writer *w, const tj_kernel *kernel, const tj_array_program *program) {
  for (uint32_t i = 0; i < program->count; i++) {
    const tj_array *array = program->array[i];
    if (array->op == TJ_ARRAY_SCALAR)
      write_node(w, array->integer);
    if (array->op == TJ_ARRAY_INTEGER && kernel->arrays == NULL)
      write_node(w, tj_arithmetic_integer(w->graph, kernel, array));
  }
}

static void write_program(kernel_writer *w, const tj_kernel *kernel) {
  const tj_array_program *program = tj_kernel_program(kernel);
  tj_write_u32(&w->text, kernel->arithmetic.when);
  tj_write_u32(&w->text, kernel->arithmetic.slots);
  tj_write_u32(&w->text, kernel->arithmetic.count);
  for (uint32_t i = 0; i < kernel->arithmetic.count; i++)
    tj_write_u32(&w->text, kernel->arithmetic.element[i]->number);
  tj_write_u32(&w->text, program != NULL ? program->count + 1 : 0);
  if (program == NULL)
    return;
  for (uint32_t i = 0; i < program->count; i++)
    write_array(w, program->array[i]);
  for (uint32_t i = 0; i < program->store_count; i++) {
    tj_write_u32(&w->text, program->store[i].argument);
    tj_write_u32(&w->text, program->store[i].value->number);
  }
  write_numbers(w, kernel, program);
}

static void write_slots(kernel_writer *w, const tj_kernel *kernel) {
  tj_write_u8(&w->text, kernel->slot_dtype != NULL);
  for (uint32_t i = 0; kernel->slot_dtype != NULL && i < kernel->slot_count; i++)
    tj_write_u32(&w->text, kernel->slot_dtype[i]);
}

static void write_arguments(kernel_writer *w, const tj_kernel *kernel) {
  tj_write_u32(&w->text, kernel->parameter_count);
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    write_node(w, kernel->parameter[i]);
  tj_write_u32(&w->text, kernel->buffer_count);
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    write_buffer(w, &kernel->buffer[i]);
  tj_write_u32(&w->text, kernel->derived_count);
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    tj_write_u32(&w->text, kernel->derived[i].kind);
    write_node(w, kernel->derived[i].node);
  }
}

static void write_steps(kernel_writer *w, const tj_kernel_step *step, uint32_t count) {
  tj_write_u32(&w->text, count);
  for (uint32_t i = 0; i < count; i++)
    write_step(w, &step[i]);
}

static void write_loop(kernel_writer *w, const tj_loop *loop) {
  tj_write_u8(&w->text, loop != NULL);
  if (loop == NULL)
    return;
  write_node(w, loop->counter);
  write_node(w, loop->trips);
  tj_write_u32(&w->text, loop->carried_count);
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    write_node(w, loop->carried[i].symbol);
    write_node(w, loop->carried[i].initial);
    write_node(w, loop->carried[i].next);
  }
}

static void write_tile(kernel_writer *w, const tj_launched_tile *tile) {
  tj_write_u8(&w->text, tile != NULL);
  if (tile == NULL)
    return;
  for (uint32_t i = 0; i < TJ_TILE_WORDS; i++)
    tj_write_u32(&w->text, tile->tile.word[i]);
  for (uint32_t i = 0; i < TJ_TILE_INPUTS; i++)
    write_node(w, tile->input[i]);
  for (uint32_t i = 0; i < TJ_TILE_NUMBERS; i++)
    write_node(w, tile->number[i]);
}

static void write_map(kernel_writer *w, const tj_box_map *map) {
  tj_write_u32(&w->text, map != NULL ? map->rank : 0);
  if (map == NULL)
    return;
  tj_write_u32(&w->text, map->buffer);
  tj_write_u32(&w->text, map->element_bytes);
  tj_write_u32(&w->text, map->swizzle);
  tj_write_u32(&w->text, map->alignment);
  tj_write_u32(&w->text, map->barrier);
  write_node(w, map->offset);
  for (uint32_t d = 0; d < map->rank; d++) {
    write_node(w, map->extent[d]);
    tj_write_u32(&w->text, map->box[d]);
    if (d > 0)
      write_node(w, map->stride[d - 1]);
  }
}

static void write_kernel(kernel_writer *w, const tj_kernel *kernel) {
  tj_write_string(&w->text, kernel->name);
  write_arguments(w, kernel);
  write_node(w, kernel->index);
  write_node(w, kernel->workgroup);
  write_node(w, kernel->item);
  write_node(w, kernel->count);
  tj_write_u32(&w->text, kernel->workgroup_size);
  write_node(w, kernel->items);
  tj_write_u32(&w->text, kernel->slot_count);
  tj_write_u32(&w->text, kernel->carried);
  tj_write_u32(&w->text, kernel->lds_elements);
  write_map(w, kernel->map);
  tj_write_u8(&w->text, kernel->is_streamed);
  tj_write_u8(&w->text, kernel->follows);
  tj_write_u8(&w->text, kernel->is_aligned);
  tj_write_u64(&w->text, (uint64_t)kernel->fill);
  tj_write_u32(&w->text, kernel->binding_count);
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    write_node(w, kernel->binding[i].symbol);
    write_node(w, kernel->binding[i].value);
    tj_write_u8(&w->text, kernel->binding[i].is_launched);
  }
  write_tile(w, kernel->launched);
  write_loop(w, kernel->loop);
  write_program(w, kernel);
  write_slots(w, kernel);
  write_steps(w, kernel->step, kernel->step_count);
  write_node(w, kernel->inner);
  write_steps(w, kernel->inner_step, kernel->inner_step_count);
  if (kernel->faster != NULL)
    write_node(w, kernel->condition);
}

tj_bytes tj_cache_kernel_key(tj_graph *graph, const char *identity, const tj_kernel *kernel,
                             const tj_target *target) {
  kernel_writer w = {.graph = graph, .text = tj_text_begin(graph->job)};
  w.number = TJ_NEW_ARRAY(graph->job, uint32_t, graph->node_count + 1);
  tj_write_string(&w.text, identity);
  write_target(&w.text, target);
  for (w.kernel = kernel; w.kernel != NULL; w.kernel = w.kernel->faster)
    write_kernel(&w, w.kernel);
  tj_spend(graph->job, w.count);
  return (tj_bytes){w.text.data, w.text.length};
}
