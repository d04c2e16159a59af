/* SPDX-License-Identifier: MIT */
/* Launch plans, made of kernels. */
#include "jit/compile/launch_plan_make.h"

#include "base/integer.h"
#include "ir/index/walk.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/arithmetic.h"
#include "lower/plan/race.h"

/* A plan in the making. */
typedef struct {
  tj_graph *graph;
  const tj_program_values *program;
  const tj_kernel *kernel;
  tj_launch_plan *plan;
  uint32_t *number;       /* of the parameter of a symbol, or of what is chosen, plus 1; 0: it is neither */
  const tj_node **symbol; /* by the number of its parameter; NULL: it is fixed */
  const tj_launched_tile *tile[TJ_LAUNCH_MOST_TILES];
  tj_walk walk; /* the nodes of all expressions: the steps */
  const tj_node **root;
  uint32_t root_count;
} making;

static bool is_passed(const tj_kernel *kernel, const tj_node *node) {
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    if (kernel->parameter[i] == node)
      return true;
  }
  return false;
}

static void add_root(making *m, const tj_node *node) {
  if (node != NULL)
    m->root[m->root_count++] = node;
}

static uint32_t variant_count(const tj_kernel *kernel) {
  uint32_t count = 0;
  for (; kernel != NULL; kernel = kernel->faster)
    count++;
  return count;
}

enum { MAP_NODES = 1 + 2 * TJ_TENSOR_MAP_DIMENSIONS };

static void add_map(making *m, const tj_box_map *map) {
  if (map == NULL)
    return;
  add_root(m, map->offset);
  for (uint32_t d = 0; d < map->rank; d++) {
    add_root(m, map->extent[d]);
    add_root(m, d > 0 ? map->stride[d - 1] : NULL);
  }
}

static uint32_t most_roots(const making *m) {
  uint32_t most =
      TJ_RACE_NODES + 3 * (m->program->parameter_count + m->kernel->parameter_count) + m->kernel->derived_count;
  most += (2 + TJ_TILE_INPUTS + MAP_NODES) * variant_count(m->kernel);
  for (uint32_t i = 0; i < m->kernel->buffer_count; i++)
    most += 1 + m->kernel->buffer[i].rank;
  return most;
}

/* NULL: the value may be any integer. */
static const tj_node *multiple_of(tj_graph *graph, const tj_symbol *symbol) {
  if (symbol->divisor != NULL)
    return symbol->divisor;
  return symbol->multiple > 1 ? tj_int(graph, symbol->multiple) : NULL;
}

/* The buffers that are arguments: but for scratch memory, which is the last. */
static uint32_t argument_count(const tj_kernel *kernel) {
  uint32_t count = kernel->buffer_count;
  return count > 0 && kernel->buffer[count - 1].is_scratch ? count - 1 : count;
}

static void gather_roots(making *m) {
  const tj_kernel *kernel = m->kernel;
  m->root = TJ_NEW_ARRAY(m->graph->job, const tj_node *, most_roots(m));
  for (uint32_t i = 0; i < m->plan->parameter_count; i++) {
    if (m->symbol[i] == NULL)
      continue;
    add_root(m, m->symbol[i]->symbol->low);
    add_root(m, m->symbol[i]->symbol->high);
    add_root(m, multiple_of(m->graph, m->symbol[i]->symbol));
  }
  for (uint32_t i = 0; i < argument_count(kernel); i++) {
    add_root(m, kernel->buffer[i].element_count);
    for (uint32_t k = 0; k < kernel->buffer[i].rank; k++)
      add_root(m, kernel->buffer[i].extent[k]);
  }
  for (uint32_t i = 0; i < kernel->derived_count; i++)
    add_root(m, kernel->derived[i].node);
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster) {
    add_root(m, each->count);
    add_root(m, each->condition);
    for (uint32_t i = 0; each->launched != NULL && i < TJ_TILE_INPUTS; i++)
      add_root(m, each->launched->input[i]);
    add_map(m, each->map);
  }
  m->root_count += tj_race_nodes(kernel->race, m->root + m->root_count);
}

static tj_expression expression_of(const making *m, const tj_node *node) {
  return node != NULL ? tj_walk_find(&m->walk, node) : TJ_NO_EXPRESSION;
}

static tj_launch_parameter parameter_of(const char *name) {
  return (tj_launch_parameter){
      .name = name, .low = TJ_NO_EXPRESSION, .high = TJ_NO_EXPRESSION, .multiple = TJ_NO_EXPRESSION};
}

/* Of a number of a kernel of arrays; 0: the symbol is an integer. */
static uint8_t number_bits_of(const tj_kernel *kernel, const tj_node *symbol) {
  const tj_array_program *program = tj_kernel_program(kernel);
  for (uint32_t i = 0; program != NULL && i < program->count; i++) {
    const tj_array *array = program->array[i];
    if (array->op == TJ_ARRAY_SCALAR && array->integer == symbol)
      return (uint8_t)tj_dtype_bits(array->dtype);
  }
  return 0;
}

static void add_parameter(making *m, tj_launch_parameter parameter[], const tj_node *node) {
  const tj_symbol *symbol = node->symbol;
  parameter[m->plan->parameter_count] = parameter_of(symbol->name);
  parameter[m->plan->parameter_count++].number_bits = number_bits_of(m->kernel, node);
  m->symbol[m->plan->parameter_count - 1] = node;
  m->number[symbol->index] = m->plan->parameter_count;
}

static void add_fixed(making *m, tj_launch_parameter parameter[], const char *name) {
  parameter[m->plan->parameter_count] = parameter_of(name);
  parameter[m->plan->parameter_count++].is_fixed = true;
}

static tj_launch_parameter *make_parameters(making *m) {
  uint32_t most = m->kernel->parameter_count + m->program->parameter_count;
  tj_launch_parameter *parameter = TJ_NEW_ARRAY(m->graph->job, tj_launch_parameter, most + 1);
  m->number = TJ_NEW_ARRAY(m->graph->job, uint32_t, m->graph->symbol_count + 1);
  m->symbol = TJ_NEW_ARRAY(m->graph->job, const tj_node *, most + 1);
  for (uint32_t i = 0; i < m->kernel->parameter_count; i++)
    add_parameter(m, parameter, m->kernel->parameter[i]);
  m->plan->passed_count = m->plan->parameter_count;
  for (const tj_kernel *each = m->kernel->faster; each != NULL; each = each->faster) {
    for (uint32_t i = 0; i < each->parameter_count; i++)
      m->number[each->parameter[i]->symbol->index] = i + 1;
  }
  for (uint32_t i = 0; i < m->program->parameter_count; i++) {
    const tj_node *node = m->program->parameter[i].node;
    if (tj_is_constant(node))
      add_fixed(m, parameter, m->program->parameter[i].name);
    else if (!is_passed(m->kernel, node))
      add_parameter(m, parameter, node);
  }
  m->plan->parameter = parameter;
  return parameter;
}

/* Variants may have one tile. */
static bool has_tile(const making *m, const tj_launched_tile *tile) {
  for (uint32_t i = 0; i < m->plan->tile_count; i++) {
    if (m->tile[i] == tile)
      return true;
  }
  return tile == NULL;
}

/* What is chosen has numbers behind those of parameters. */
static void number_tiles(making *m) {
  for (const tj_kernel *each = m->kernel; each != NULL; each = each->faster) {
    if (has_tile(m, each->launched))
      continue;
    if (m->plan->tile_count == TJ_LAUNCH_MOST_TILES)
      tj_fail(m->graph->job, TJ_INTERNAL, "a launch would choose too many tiles");
    uint32_t first = m->plan->parameter_count + m->plan->tile_count * TJ_TILE_NUMBERS;
    m->tile[m->plan->tile_count++] = each->launched;
    for (uint32_t i = 0; i < TJ_TILE_NUMBERS; i++) {
      const tj_node *number = each->launched->number[i];
      if (!tj_is_constant(number))
        m->number[number->symbol->index] = first + i + 1;
    }
  }
}

static void make_tiles(making *m) {
  tj_launch_tile *tile = TJ_NEW_ARRAY(m->graph->job, tj_launch_tile, m->plan->tile_count + 1);
  for (uint32_t i = 0; i < m->plan->tile_count; i++) {
    tile[i].tile = m->tile[i]->tile;
    for (uint32_t k = 0; k < TJ_TILE_INPUTS; k++)
      tile[i].input[k] = expression_of(m, m->tile[i]->input[k]);
  }
  m->plan->tile = tile;
}

static void set_facts(const making *m, tj_launch_parameter parameter[]) {
  for (uint32_t i = 0; i < m->plan->parameter_count; i++) {
    if (m->symbol[i] == NULL)
      continue;
    const tj_symbol *symbol = m->symbol[i]->symbol;
    parameter[i].low = expression_of(m, symbol->low);
    parameter[i].high = expression_of(m, symbol->high);
    parameter[i].multiple = expression_of(m, multiple_of(m->graph, symbol));
    parameter[i].choice = symbol->choice;
    parameter[i].choice_count = symbol->choice_count;
  }
}

static tj_launch_step step_of(const making *m, const tj_node *node) {
  tj_launch_step step = {.op = node->op};
  if (node->op == TJ_OP_CONSTANT) {
    step.value = node->value;
  } else if (node->op == TJ_OP_SYMBOL) {
    uint32_t number = m->number[node->symbol->index];
    if (number == 0)
      tj_fail(m->graph->job, TJ_INTERNAL, "a launch would need the value of '%s'", node->symbol->name);
    step.parameter = number - 1;
  }
  for (unsigned i = 0; i < tj_op_arity(node->op); i++)
    step.arg[i] = expression_of(m, node->arg[i]);
  return step;
}

static void make_steps(making *m) {
  tj_launch_step *step = TJ_NEW_ARRAY(m->graph->job, tj_launch_step, m->walk.count + 1);
  for (uint32_t i = 0; i < m->walk.count; i++)
    step[i] = step_of(m, m->walk.node[i]);
  m->plan->step = step;
  m->plan->step_count = m->walk.count;
}

static tj_launch_buffer buffer_of(const making *m, const tj_kernel_buffer *buffer) {
  tj_expression *extent = TJ_NEW_ARRAY(m->graph->job, tj_expression, buffer->rank + 1);
  for (uint32_t i = 0; i < buffer->rank; i++)
    extent[i] = expression_of(m, buffer->extent[i]);
  return (tj_launch_buffer){.name = buffer->name,
                            .dtype = buffer->dtype,
                            .is_read = buffer->is_read,
                            .is_written = buffer->is_written,
                            .is_row_major = buffer->is_row_major,
                            .is_column_major = buffer->is_column_major,
                            .element_count = expression_of(m, buffer->element_count),
                            .extent = extent,
                            .rank = buffer->rank};
}

static void make_buffers(making *m) {
  uint32_t count = argument_count(m->kernel);
  tj_launch_buffer *buffer = TJ_NEW_ARRAY(m->graph->job, tj_launch_buffer, count + 1);
  for (uint32_t i = 0; i < count; i++)
    buffer[i] = buffer_of(m, &m->kernel->buffer[i]);
  m->plan->buffer = buffer;
  m->plan->buffer_count = count;
}

static void measure_scratch(making *m) {
  const tj_kernel *kernel = m->kernel;
  uint32_t scratch = argument_count(kernel);
  if (scratch < kernel->buffer_count)
    m->plan->scratch_bytes =
        (uint32_t)kernel->buffer[scratch].element_count->value * tj_element_bytes(kernel, scratch);
}

/* The order of kernel.h: buffers, parameters, derived words. */
static void make_words(making *m) {
  const tj_kernel *kernel = m->kernel;
  m->plan->word_count = tj_kernel_arguments(kernel);
  tj_launch_word *word = TJ_NEW_ARRAY(m->graph->job, tj_launch_word, m->plan->word_count + 1);
  m->plan->word = word;
  uint32_t arguments = argument_count(kernel);
  for (uint32_t i = 0; i < arguments; i++)
    *word++ = (tj_launch_word){.kind = TJ_WORD_BUFFER, .of = i};
  if (arguments < kernel->buffer_count)
    *word++ = (tj_launch_word){.kind = TJ_WORD_SCRATCH};
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    *word++ = (tj_launch_word){.kind = TJ_WORD_PARAMETER, .of = i};
  for (uint32_t i = 0; i < kernel->derived_count; i++) {
    const tj_derived *derived = &kernel->derived[i];
    *word++ = (tj_launch_word){TJ_WORD_DERIVED, derived->kind, derived->is_upper, expression_of(m, derived->node)};
  }
}

/* On the host, the workgroup's own memory is on the stack. */
static uint32_t lds_bytes_of(const tj_kernel *kernel, const tj_target *target) {
  return target->object != TJ_OBJECT_HOST ? tj_kernel_lds_bytes(kernel) : 0;
}

/* As a kernel and those behind it need them. */
static const uint32_t *alignments_of(const making *m, const tj_kernel *kernel) {
  uint32_t *alignment = TJ_NEW_ARRAY(m->graph->job, uint32_t, kernel->buffer_count + 1);
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    alignment[i] = tj_buffer_alignment(kernel, i);
    for (const tj_kernel *each = kernel->faster; each != NULL && each->follows; each = each->faster)
      alignment[i] = tj_more(alignment[i], tj_buffer_alignment(each, i));
  }
  return alignment;
}

static const tj_launch_map *map_of(const making *m, const tj_box_map *map) {
  if (map == NULL)
    return NULL;
  tj_launch_map *made = TJ_NEW(m->graph->job, tj_launch_map);
  *made = (tj_launch_map){.buffer = map->buffer,
                          .element_bytes = map->element_bytes,
                          .rank = map->rank,
                          .swizzle = map->swizzle,
                          .offset = expression_of(m, map->offset)};
  for (uint32_t d = 0; d < map->rank; d++) {
    made->extent[d] = expression_of(m, map->extent[d]);
    made->box[d] = map->box[d];
    if (d > 0)
      made->stride[d - 1] = expression_of(m, map->stride[d - 1]);
  }
  return made;
}

_Static_assert((int)TJ_MOST_KERNELS <= (int)TJ_LAUNCH_MOST_KERNELS, "a launch has room for all kernels");

/* The fastest comes first; the kernel itself, which needs no condition, last. */
static void make_variants(making *m, const tj_target *target) {
  uint32_t number = m->plan->variant_count = variant_count(m->kernel);
  tj_launch_variant *variant = TJ_NEW_ARRAY(m->graph->job, tj_launch_variant, number);
  const tj_node *condition = NULL;
  for (const tj_kernel *each = m->kernel; each != NULL; each = each->faster) {
    variant[--number] = (tj_launch_variant){.symbol = tj_target_symbol(m->graph->job, target, each->name),
                                            .follows = each->follows,
                                            .condition = expression_of(m, condition),
                                            .count = expression_of(m, each->count),
                                            .workgroup_size = each->workgroup_size,
                                            .lds_bytes = lds_bytes_of(each, target),
                                            .alignment = alignments_of(m, each),
                                            .map = map_of(m, each->map)};
    condition = each->condition;
  }
  m->plan->variant = variant;
}

static void make_race(making *m) {
  const tj_race *race = m->kernel->race;
  if (race == NULL)
    return;
  tj_launch_race_mode *mode = TJ_NEW_ARRAY(m->graph->job, tj_launch_race_mode, race->modes + 1);
  for (uint32_t i = 0; i < race->modes; i++) {
    for (uint32_t k = 0; k <= race->sources; k++) {
      const tj_race_term *term = &race->side[i][k];
      mode[i].side[k] = (tj_launch_race_side){expression_of(m, term->begin), expression_of(m, term->end),
                                              expression_of(m, term->stride)};
    }
  }
  tj_launch_race *made = TJ_NEW(m->graph->job, tj_launch_race);
  *made =
      (tj_launch_race){race->destination, race->form, expression_of(m, race->base), race->modes, race->sources, mode};
  m->plan->race = made;
}

const tj_launch_plan *tj_launch_plan_make(tj_graph *graph, const tj_program_values *program, const tj_kernel *kernel,
                                          const tj_target *target) {
  tj_launch_plan *plan = TJ_NEW(graph->job, tj_launch_plan);
  plan->kernel = kernel->name;
  plan->target = target->name;
  making m = {.graph = graph, .program = program, .kernel = kernel, .plan = plan};
  tj_launch_parameter *parameter = make_parameters(&m);
  number_tiles(&m);
  gather_roots(&m);
  m.walk = tj_walk_nodes(graph, m.root, m.root_count);
  tj_spend(graph->job, m.walk.count);
  set_facts(&m, parameter);
  make_steps(&m);
  make_tiles(&m);
  make_buffers(&m);
  measure_scratch(&m);
  make_words(&m);
  make_variants(&m, target);
  make_race(&m);
  return plan;
}
