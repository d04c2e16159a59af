/* SPDX-License-Identifier: MIT */
/* From kernels to bytes: of each variant the nodes of its expressions, each after what it is made of, then what it
 * does, which names nodes by their numbers, from 1 on; 0: there is none. Nodes stand where they are first used: their
 * order in the graph, which depends on the program's text, does not matter. Of what the launch alone computes,
 * nothing but facts is written: what it is stands in the launch plan. */
#include "jit/kernel/kernel_bytes.h"

#include "launch/image/serial.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/array_kernel.h"
#include "lower/lanes/exchange.h"

/* Whoever adds a field to these structs also writes it below, unless no machine code depends on it. Sizes are those
 * where pointers have 8 bytes. */
#define WRITES_EVERY_FIELD(type, bytes, function)                                                                    \
  _Static_assert(sizeof(void *) != 8 || sizeof(type) == (bytes), #function " writes every field of " #type)
WRITES_EVERY_FIELD(tj_facts, 48, write_facts);
WRITES_EVERY_FIELD(tj_symbol, 64, write_symbol); /* but its number */
WRITES_EVERY_FIELD(tj_access, 40, write_access);
WRITES_EVERY_FIELD(tj_kernel_buffer, 40, write_buffer); /* that lowering reads */
WRITES_EVERY_FIELD(tj_derived, 16, write_launch);
WRITES_EVERY_FIELD(tj_kernel_binding, 24, write_bindings);
WRITES_EVERY_FIELD(tj_computation, 48, write_computation);
WRITES_EVERY_FIELD(tj_kernel_step, 200, write_step);
WRITES_EVERY_FIELD(tj_exchange_step, 48, write_exchange_step);
WRITES_EVERY_FIELD(tj_exchange_part, 40, write_exchange);
WRITES_EVERY_FIELD(tj_exchange, 72, write_exchange); /* but prices, and what target and step say */
WRITES_EVERY_FIELD(tj_arithmetic, 72, write_program);
WRITES_EVERY_FIELD(tj_carried, 24, write_loop);
WRITES_EVERY_FIELD(tj_loop, 32, write_loop);
WRITES_EVERY_FIELD(tj_box_map, 136, write_map);   /* but what the launch makes it of */
WRITES_EVERY_FIELD(tj_kernel, 400, write_kernel); /* but mappings, their reasons, races, conditions, launched tiles */

enum { NODE_PARTS = 3 }; /* that a node is made of, at most */

typedef struct {
  tj_graph *graph;
  const tj_kernel *kernel;
  tj_text nodes, text; /* of the variant at hand */
  uint32_t *number;    /* by node id: of all nodes of all variants, from 1 on; 0: not written yet */
  uint32_t count;      /* of these, */
  uint32_t before;     /* and of those of the variants before */
  const tj_node **stack;
  uint32_t height, capacity;
} kernel_writer;

static void write_signed(tj_text *text, int64_t value) {
  tj_write_number(text, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

/* --- nodes --- */

static bool is_written(const kernel_writer *w, const tj_node *node) {
  return w->number[node->id] > w->before;
}

static void push(kernel_writer *w, const tj_node *node) {
  if (node == NULL || is_written(w, node))
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
static unsigned parts_of(const tj_node *node, const tj_node *part[NODE_PARTS]) {
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

static uint32_t number_of(const kernel_writer *w, const tj_node *node) {
  return node != NULL && is_written(w, node) ? w->number[node->id] - w->before : 0;
}

static void write_symbol(kernel_writer *w, const tj_symbol *symbol) {
  tj_write_u8(&w->nodes, (uint8_t)symbol->kind);
  tj_write_string(&w->nodes, symbol->name);
  write_signed(&w->nodes, symbol->multiple);
  tj_write_number(&w->nodes, symbol->choice_count);
  for (uint32_t i = 0; i < symbol->choice_count; i++)
    write_signed(&w->nodes, symbol->choice[i]);
}

/* The graph may know more than arguments show. As a signed integer, bits that are 0 above others are short. */
static void write_facts(kernel_writer *w, const tj_facts *facts) {
  write_signed(&w->nodes, facts->low);
  write_signed(&w->nodes, facts->high);
  write_signed(&w->nodes, facts->modulus);
  write_signed(&w->nodes, facts->residue);
  write_signed(&w->nodes, (int64_t)facts->zeros);
  tj_write_number(&w->nodes, facts->ones);
}

static void write_one(kernel_writer *w, const tj_node *node) {
  const tj_node *part[NODE_PARTS];
  unsigned count = parts_of(node, part);
  tj_write_u8(&w->nodes, (uint8_t)node->op);
  if (node->op == TJ_OP_CONSTANT)
    write_signed(&w->nodes, node->value);
  if (node->op == TJ_OP_SYMBOL)
    write_symbol(w, node->symbol);
  for (unsigned i = 0; i < count; i++)
    tj_write_number(&w->nodes, number_of(w, part[i]));
  if (node->op != TJ_OP_CONSTANT)
    write_facts(w, &node->facts);
  w->number[node->id] = ++w->count;
}

/* Whether the stack's top has all its parts written; pushes those that are not. */
static bool is_ready(kernel_writer *w, const tj_node *node) {
  const tj_node *part[NODE_PARTS];
  uint32_t height = w->height;
  for (unsigned i = parts_of(node, part); i-- > 0;)
    push(w, part[i]);
  return w->height == height;
}

/* A node's number; the node, and what it is made of, are written among the nodes where they are new. */
static void write_node(kernel_writer *w, const tj_node *node) {
  push(w, node);
  while (w->height > 0) {
    const tj_node *top = w->stack[w->height - 1];
    if (!is_written(w, top) && !is_ready(w, top))
      continue;
    if (!is_written(w, top))
      write_one(w, top);
    w->height--;
  }
  tj_write_number(&w->text, number_of(w, node));
}

/* The number of a node that work-items get from the launch; where it is not written, as one of which facts are known.
 */
static void write_launched(kernel_writer *w, const tj_node *node) {
  if (node != NULL && !tj_is_constant(node) && !is_written(w, node)) {
    tj_write_u8(&w->nodes, TJ_OP_COUNT);
    write_facts(w, &node->facts);
    w->number[node->id] = ++w->count;
  }
  write_node(w, node);
}

/* --- steps --- */

/* Of steps without one all fields are 0. */
static bool is_access(const tj_access *access) {
  return access->offset != NULL || access->base != NULL || access->valid != NULL || access->buffer != 0 ||
         access->displacement != 0 || access->is_bounded;
}

static void write_access(kernel_writer *w, const tj_access *access) {
  bool is_any = is_access(access);
  tj_write_u8(&w->text, (uint8_t)(is_any + (access->is_bounded ? 2 : 0)));
  if (!is_any)
    return;
  tj_write_number(&w->text, (uint32_t)(access->buffer + 1)); /* LDS: 0 */
  write_node(w, access->base);
  write_node(w, access->offset);
  write_node(w, access->valid);
  write_signed(&w->text, access->displacement);
}

static void write_array_number(kernel_writer *w, const tj_array *array) {
  tj_write_number(&w->text, array != NULL ? array->number + 1 : 0);
}

/* Arrays are named by their numbers in the kernel's program. */
static void write_computation(kernel_writer *w, const tj_computation *compute) {
  write_array_number(w, compute->array);
  tj_write_number(&w->text, (uint32_t)compute->combine);
  tj_write_number(&w->text, compute->across);
  tj_write_u32(&w->text, compute->count);
  for (uint32_t i = 0; i < compute->count; i++) {
    write_array_number(w, compute->input[i]);
    tj_write_number(&w->text, compute->slot[i]);
    tj_write_u8(&w->text, compute->varies[i]);
  }
}

static void write_exchange_step(kernel_writer *w, const tj_exchange_step *step) {
  tj_write_number(&w->text, step->kind);
  tj_write_number(&w->text, step->lanes);
  tj_write_number(&w->text, step->elements);
  tj_write_number(&w->text, step->lane_bit);
  tj_write_number(&w->text, step->element_bit);
  tj_write_u32(&w->text, step->words);
  for (uint32_t i = 0; i < step->words; i++) {
    tj_write_number(&w->text, step->from[i]);
    tj_write_u8(&w->text, step->map[i].offset);
    for (uint32_t bit = 0; bit < TJ_LANE_BITS; bit++)
      tj_write_u8(&w->text, step->map[i].basis[bit]);
  }
}

static void write_numbers_of(kernel_writer *w, const uint32_t number[], uint32_t count) {
  tj_write_u32(&w->text, count);
  for (uint32_t i = 0; i < count; i++)
    tj_write_number(&w->text, number[i]);
}

static void write_exchange(kernel_writer *w, const tj_exchange *exchange) {
  tj_write_u32(&w->text, exchange->part_count);
  tj_write_number(&w->text, exchange->word_elements);
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
  tj_write_u8(&w->text, (uint8_t)step->kind);
  write_access(w, &step->access);
  write_access(w, &step->from);
  write_access(w, &step->ahead);
  write_node(w, step->value);
  write_node(w, step->limit);
  tj_write_number(&w->text, step->width);
  tj_write_number(&w->text, step->slot);
  tj_write_number(&w->text, step->slot_step);
  tj_write_u8(&w->text, (uint8_t)(step->adds + 2 * step->transposes + 4 * step->is_kept + 8 * step->is_taken));
  tj_write_number(&w->text, step->multiple);
  tj_write_number(&w->text, step->number);
  tj_write_u32(&w->text, step->word_count);
  for (uint32_t i = 0; i < step->word_count; i++)
    write_node(w, step->word[i]);
  tj_write_u8(&w->text, step->compute != NULL);
  if (step->compute != NULL)
    write_computation(w, step->compute);
  if (step->kind == TJ_STEP_EXCHANGE)
    write_exchange(w, step->exchange);
}

static void write_steps(kernel_writer *w, const tj_kernel_step *step, uint32_t count) {
  tj_write_u32(&w->text, count);
  for (uint32_t i = 0; i < count; i++)
    write_step(w, &step[i]);
}

/* --- programs --- */

/* Numbers of the launch are in the words that say where their bits are. */
static const tj_node *integer_of(kernel_writer *w, const tj_array *array) {
  if (array->op == TJ_ARRAY_SCALAR)
    return array->integer;
  bool is_of_copy = array->op == TJ_ARRAY_INTEGER && w->kernel->arrays == NULL;
  return is_of_copy ? tj_arithmetic_integer(w->graph, w->kernel, array) : NULL;
}

static void write_array(kernel_writer *w, const tj_array *array) {
  uint64_t real;
  memcpy(&real, &array->real, sizeof real);
  tj_write_number(&w->text, array->op);
  tj_write_number(&w->text, array->dtype);
  tj_write_number(&w->text, array->of);
  tj_write_number(&w->text, array->modes);
  tj_write_u64(&w->text, real);
  for (uint32_t i = 0; i < tj_array_arity(array->op); i++)
    tj_write_number(&w->text, array->arg[i]->number);
  write_node(w, integer_of(w, array));
}

static void write_program(kernel_writer *w) {
  const tj_array_program *program = tj_kernel_program(w->kernel);
  const tj_arithmetic *arithmetic = &w->kernel->arithmetic;
  tj_write_u8(&w->text, program != NULL);
  if (program == NULL)
    return;
  tj_write_u32(&w->text, program->count);
  for (uint32_t i = 0; i < program->count; i++)
    write_array(w, program->array[i]);
  tj_write_u32(&w->text, program->store_count);
  for (uint32_t i = 0; i < program->store_count; i++) {
    tj_write_number(&w->text, program->store[i].argument);
    tj_write_number(&w->text, program->store[i].value->number);
  }
  tj_write_u8(&w->text, (uint8_t)arithmetic->when);
  tj_write_number(&w->text, arithmetic->slots);
  tj_write_u32(&w->text, arithmetic->count);
  for (uint32_t i = 0; i < arithmetic->count; i++)
    tj_write_number(&w->text, arithmetic->element[i]->number);
  tj_write_u32(&w->text, arithmetic->single_count);
  for (uint32_t i = 0; i < arithmetic->single_count; i++) {
    tj_write_number(&w->text, arithmetic->single[i]->number);
    tj_write_number(&w->text, arithmetic->single_buffer[i]);
  }
}

/* --- kernels --- */

static void write_buffer(kernel_writer *w, const tj_kernel_buffer *buffer) {
  tj_write_string(&w->text, buffer->name);
  tj_write_number(&w->text, buffer->dtype);
  tj_write_u8(&w->text, (uint8_t)(buffer->is_read + 2 * buffer->is_written + 4 * buffer->is_scratch));
}

static void write_arguments(kernel_writer *w) {
  const tj_kernel *kernel = w->kernel;
  tj_write_u32(&w->text, kernel->parameter_count);
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    write_node(w, kernel->parameter[i]);
  tj_write_u32(&w->text, kernel->buffer_count);
  for (uint32_t i = 0; i < kernel->buffer_count; i++)
    write_buffer(w, &kernel->buffer[i]);
}

static void write_bindings(kernel_writer *w) {
  const tj_kernel *kernel = w->kernel;
  tj_write_u32(&w->text, kernel->binding_count);
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    write_node(w, kernel->binding[i].symbol);
    tj_write_u8(&w->text, kernel->binding[i].is_launched);
    if (!kernel->binding[i].is_launched)
      write_node(w, kernel->binding[i].value);
  }
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

static void write_slots(kernel_writer *w) {
  const tj_kernel *kernel = w->kernel;
  tj_write_u32(&w->text, kernel->slot_count);
  tj_write_number(&w->text, kernel->carried);
  tj_write_u8(&w->text, kernel->slot_dtype != NULL);
  for (uint32_t i = 0; kernel->slot_dtype != NULL && i < kernel->slot_count; i++)
    tj_write_u8(&w->text, (uint8_t)kernel->slot_dtype[i]);
}

/* The rank is 0 where there is no map. */
static void write_map(kernel_writer *w, const tj_box_map *map) {
  tj_write_u8(&w->text, map != NULL ? (uint8_t)map->rank : 0);
  if (map == NULL)
    return;
  tj_write_number(&w->text, map->element_bytes);
  for (uint32_t d = 0; d < map->rank; d++)
    tj_write_number(&w->text, map->box[d]);
  tj_write_number(&w->text, map->barrier);
}

/* After all that work-items compute. Words that are for other variants have no node here. */
static void write_launch(kernel_writer *w) {
  const tj_kernel *kernel = w->kernel;
  write_launched(w, kernel->count);
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    if (kernel->binding[i].is_launched)
      write_launched(w, kernel->binding[i].value);
  }
  tj_write_u32(&w->text, kernel->derived_count);
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    tj_write_u8(&w->text, (uint8_t)kernel->derived[i].kind);
    tj_write_u8(&w->text, kernel->derived[i].is_upper);
    tj_write_number(&w->text, number_of(w, kernel->derived[i].node));
  }
}

static void write_kernel(kernel_writer *w) {
  const tj_kernel *kernel = w->kernel;
  tj_write_string(&w->text, kernel->name);
  write_arguments(w);
  write_node(w, kernel->index);
  write_node(w, kernel->workgroup);
  write_node(w, kernel->item);
  if (kernel->index != NULL)
    write_node(w, kernel->count);
  tj_write_number(&w->text, kernel->workgroup_size);
  write_node(w, kernel->items);
  write_slots(w);
  tj_write_number(&w->text, kernel->lds_elements);
  write_map(w, kernel->map);
  tj_write_u8(&w->text, (uint8_t)(kernel->is_streamed + 2 * kernel->follows + 4 * kernel->is_aligned +
                                  8 * (kernel->arrays != NULL)));
  write_signed(&w->text, kernel->fill);
  write_bindings(w);
  write_loop(w, kernel->loop);
  write_program(w);
  write_steps(w, kernel->step, kernel->step_count);
  write_node(w, kernel->inner);
  write_steps(w, kernel->inner_step, kernel->inner_step_count);
  write_launch(w);
}

/* --- variants --- */

static void write_variant(kernel_writer *w, tj_text *all) {
  w->nodes = tj_text_begin(w->graph->job);
  w->text = tj_text_begin(w->graph->job);
  w->before = w->count;
  write_kernel(w);
  tj_spend(w->graph->job, w->count - w->before);
  tj_write_u32(all, w->count - w->before);
  tj_write_bytes(all, (tj_bytes){w->nodes.data, w->nodes.length});
  tj_write_bytes(all, (tj_bytes){w->text.data, w->text.length});
}

/* As launch plans have them: the fastest first. */
tj_bytes tj_kernel_write(tj_graph *graph, const tj_kernel *kernel) {
  kernel_writer w = {.graph = graph, .number = TJ_NEW_ARRAY(graph->job, uint32_t, graph->node_count + 1)};
  uint32_t count = 0, number = 0;
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster)
    count++;
  const tj_kernel **variant = TJ_NEW_ARRAY(graph->job, const tj_kernel *, count);
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster)
    variant[count - ++number] = each;
  tj_text all = tj_text_begin(graph->job);
  tj_write_u32(&all, count);
  for (number = 0; number < count; number++) {
    w.kernel = variant[number];
    write_variant(&w, &all);
  }
  return (tj_bytes){all.data, all.length};
}
