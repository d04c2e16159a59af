/* SPDX-License-Identifier: MIT */
/* Reports of tiled kernels: each variant with its condition, its mapping on one line, and its steps.
 *
 * g is the number of a workgroup, t that of a work-item in it, n a linear coordinate; slots are what a work-item
 * holds. A mapping that is printed can be written into the program. */
#include "jit/inspect/report.h"

#include "ir/index/print.h"
#include "ir/value/mapping.h"
#include "lower/kernel/alignment.h"
#include "lower/kernel/arithmetic.h"
#include "lower/lanes/exchange.h"

#include <inttypes.h>

typedef struct {
  tj_text *text;
  const tj_kernel *kernel;
} printer;

/* What launches compute may be long. */
enum { MOST_TEXT = 400 };

static void print_node(tj_text *text, const tj_node *node) {
  tj_node_print_brief(text, node, MOST_TEXT);
}

static void print_line(tj_text *text, const char *name) {
  tj_text_format(text, "  %-12s ", name);
}

static void print_node_line(tj_text *text, const char *name, const tj_node *node) {
  print_line(text, name);
  print_node(text, node);
  tj_text_char(text, '\n');
}

/* --- steps --- */

/* "slot 3", "slots 0-3", "slots 0, 4 … 12": those of a step. */
static void print_slots(tj_text *text, const tj_kernel_step *step) {
  uint32_t last = step->slot + (step->width - 1) * step->slot_step;
  if (step->width == 1)
    tj_text_format(text, "slot %" PRIu32, step->slot);
  else if (step->slot_step == 1)
    tj_text_format(text, "slots %" PRIu32 "-%" PRIu32, step->slot, last);
  else
    tj_text_format(text, "slots %" PRIu32 ", %" PRIu32 " … %" PRIu32, step->slot, step->slot + step->slot_step, last);
}

static bool is_zero(const tj_node *node) {
  return node == NULL || tj_is_int(node, 0);
}

/* src[base + offset + displacement], where valid */
static void print_access(const printer *p, const tj_access *access) {
  const bool is_sum = !is_zero(access->base) + !is_zero(access->offset) + (access->displacement > 0) > 1;
  bool is_begun = false;
  tj_text_string(p->text, access->buffer == TJ_LDS ? "lds[" : p->kernel->buffer[access->buffer].name);
  tj_text_string(p->text, access->buffer == TJ_LDS ? "" : "[");
  const tj_node *part[] = {access->base, access->offset};
  for (size_t i = 0; i < 2; i++) {
    if (is_zero(part[i]))
      continue;
    tj_text_string(p->text, is_begun ? " + " : "");
    (is_sum ? tj_node_print_term : tj_node_print_brief)(p->text, part[i], MOST_TEXT);
    is_begun = true;
  }
  if (access->displacement > 0 || !is_begun)
    tj_text_format(p->text, "%s%" PRId64, is_begun ? " + " : "", access->displacement);
  tj_text_char(p->text, ']');
}

static void print_valid(tj_text *text, const tj_access *access) {
  if (tj_is_int(access->valid, 1))
    return;
  tj_text_string(text, " where ");
  print_node(text, access->valid);
}

static void print_move(const printer *p, const tj_kernel_step *step) {
  bool is_load = step->kind == TJ_STEP_LOAD;
  print_line(p->text, is_load ? "  load" : "  store");
  if (is_load)
    print_slots(p->text, step);
  else
    print_access(p, &step->access);
  tj_text_string(p->text, step->adds ? " += " : " = ");
  if (is_load)
    print_access(p, &step->access);
  else
    print_slots(p->text, step);
  tj_text_string(p->text, step->transposes ? ", transposed" : "");
  print_valid(p->text, &step->access);
}

static void print_value(const printer *p, const tj_kernel_step *step) {
  print_line(p->text, "  value");
  print_slots(p->text, step);
  tj_text_string(p->text, " = ");
  print_node(p->text, step->value);
}

static void print_lookup(const printer *p, const tj_kernel_step *step) {
  print_line(p->text, "  lookup");
  print_node(p->text, step->value);
  tj_text_string(p->text, " = ");
  print_access(p, &step->access);
  print_valid(p->text, &step->access);
  tj_text_string(p->text, ", else ");
  print_node(p->text, step->limit);
}

static void print_run(const printer *p, const tj_kernel_step *step) {
  print_line(p->text, "  run");
  print_node(p->text, step->limit);
  tj_text_string(p->text, " elements from ");
  print_access(p, &step->access);
  tj_text_string(p->text, " on = from ");
  print_access(p, &step->from);
  tj_text_string(p->text, " on");
  print_valid(p->text, &step->access);
}

static void print_direct(const printer *p, const tj_kernel_step *step) {
  print_line(p->text, "  direct");
  print_access(p, &step->access);
  tj_text_string(p->text, " = ");
  print_access(p, &step->from);
  tj_text_format(p->text, ", %" PRIu32, step->width);
  print_valid(p->text, &step->access);
}

static void print_prefetch(const printer *p, const tj_kernel_step *step) {
  print_line(p->text, "  prefetch");
  print_access(p, &step->access);
  print_valid(p->text, &step->access);
}

static void print_compute(const printer *p, const tj_kernel_step *step) {
  const tj_computation *compute = step->compute;
  print_line(p->text, "  compute");
  print_slots(p->text, step);
  tj_text_string(p->text, " = ");
  if (compute->combine != TJ_ARRAY_OP_COUNT)
    tj_text_format(p->text, "%s with ", tj_array_op_name((tj_array_op)compute->combine));
  if (compute->array != NULL)
    tj_array_print(p->text, compute->array);
  else
    tj_text_format(p->text, "slot %" PRIu32, compute->slot[0]);
  if (compute->across > 0)
    tj_text_format(p->text, " of the lane %" PRIu32 " away", compute->across);
  print_valid(p->text, &step->access);
}

static void print_words(const printer *p, const tj_kernel_step *step, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(p->text, i > 0 ? ", " : "");
    print_node(p->text, step->word[i]);
  }
}

static void print_box(const printer *p, const tj_kernel_step *step) {
  const tj_box_map *map = p->kernel->map;
  print_line(p->text, "  box");
  tj_text_format(p->text, step->is_taken ? "%s = lds" : "lds = %s", p->kernel->buffer[step->access.buffer].name);
  if (map == NULL) {
    tj_text_format(p->text, ", %" PRIu32 " words: ", step->word_count);
    print_words(p, step, step->word_count);
    return;
  }
  tj_text_string(p->text, " at (");
  print_words(p, step, map->rank);
  tj_text_string(p->text, "), to byte ");
  print_node(p->text, step->word[map->rank]);
}

static void print_exchange(const printer *p, const tj_exchange *exchange) {
  print_line(p->text, "  exchange");
  tj_exchange_print(p->text, exchange);
}

static void print_trips(const printer *p, const tj_kernel_step *step) {
  print_line(p->text, "  loop");
  print_node(p->text, step->value);
  tj_text_string(p->text, " below ");
  print_node(p->text, step->limit);
}

static void print_step(const printer *p, const tj_kernel_step *step) {
  switch (step->kind) {
  case TJ_STEP_VALUE:
    print_value(p, step);
    break;
  case TJ_STEP_LOAD:
  case TJ_STEP_STORE:
    print_move(p, step);
    break;
  case TJ_STEP_LOOKUP:
    print_lookup(p, step);
    break;
  case TJ_STEP_RUN:
    print_run(p, step);
    break;
  case TJ_STEP_DIRECT:
    print_direct(p, step);
    break;
  case TJ_STEP_PREFETCH:
    print_prefetch(p, step);
    break;
  case TJ_STEP_COMPUTE:
    print_compute(p, step);
    break;
  case TJ_STEP_BOX:
    print_box(p, step);
    break;
  case TJ_STEP_EXCHANGE:
    print_exchange(p, step->exchange);
    break;
  case TJ_STEP_LOOP:
    print_trips(p, step);
    break;
  case TJ_STEP_AGAIN:
    tj_text_string(p->text, "    again");
    break;
  case TJ_STEP_BARRIER:
    tj_text_string(p->text, "    barrier");
    if (step->number > 0)
      tj_text_format(p->text, "    %" PRIu32 " go on", step->number);
    break;
  }
  tj_text_char(p->text, '\n');
}

static void print_steps(const printer *p, const tj_kernel_step steps[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    print_step(p, &steps[i]);
}

static void print_all_steps(const printer *p) {
  const tj_kernel *kernel = p->kernel;
  if (kernel->inner != NULL) {
    print_node_line(p->text, "where", kernel->inner);
    print_steps(p, kernel->inner_step, kernel->inner_step_count);
    tj_text_string(p->text, "  elsewhere\n");
  } else {
    tj_text_string(p->text, "  steps\n");
  }
  print_steps(p, kernel->step, kernel->step_count);
}

/* --- variants --- */

/* Why a variant has no mapping that could be written. */
static const char *other_way(tj_job *job, const tj_kernel *kernel) {
  if (kernel->arrays != NULL)
    return tj_string_format(job, "none: %s", kernel->tile);
  return kernel->index != NULL ? "none: work-items compute what they store, and copy nothing"
                               : "none: the launch computes the tile's shape";
}

static void print_mapping(tj_text *text, const tj_kernel *kernel) {
  print_line(text, "mapping");
  if (kernel->mapping != NULL)
    tj_mapping_print(text, kernel->mapping);
  else
    tj_text_string(text, other_way(text->job, kernel));
  tj_text_char(text, '\n');
  if (kernel->mapping != NULL && kernel->arrays != NULL) {
    print_line(text, "tile");
    tj_text_format(text, "%s\n", kernel->tile);
  }
}

static void print_loop(tj_text *text, const tj_loop *loop) {
  for (uint32_t i = 0; i < loop->carried_count; i++) {
    print_line(text, "carried");
    print_node(text, loop->carried[i].symbol);
    tj_text_string(text, " = ");
    print_node(text, loop->carried[i].initial);
    tj_text_string(text, ", then ");
    print_node(text, loop->carried[i].next);
    tj_text_char(text, '\n');
  }
  print_node_line(text, "trips", loop->trips);
}

static void print_bindings(tj_text *text, const tj_kernel *kernel) {
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    print_line(text, "let");
    print_node(text, kernel->binding[i].symbol);
    tj_text_string(text, " = ");
    print_node(text, kernel->binding[i].value);
    tj_text_char(text, '\n');
  }
}

void tj_report_alignment(const tj_kernel *variant, tj_text *text) {
  for (uint32_t i = 0; i < variant->buffer_count; i++) {
    uint32_t alignment = tj_buffer_alignment(variant, i);
    if (alignment > tj_element_bytes(variant, i))
      tj_text_format(text, "%saddress of %s %% %" PRIu32 " = 0", text->length > 0 ? " & " : "",
                     variant->buffer[i].name, alignment);
  }
}

static void print_condition(tj_text *text, tj_job *job, const tj_kernel *variant, const tj_node *condition) {
  tj_text words = tj_text_begin(job);
  if (variant->follows)
    tj_text_string(&words, "the kernel above has run");
  else if (condition != NULL && !tj_is_int(condition, 1))
    print_node(&words, condition);
  tj_report_alignment(variant, &words);
  if (words.length == 0)
    tj_text_string(&words, tj_kernel_has_variants(variant) ? "no variant below is taken" : "always");
  tj_text_format(text, "  %-12s %s\n", "when", words.data);
}

/* What elements become on their way; nothing where they are only converted. */
static void print_arithmetic(tj_text *text, const tj_kernel *kernel) {
  const tj_arithmetic *arithmetic = &kernel->arithmetic;
  if (arithmetic->when == TJ_COMPUTED_NEVER)
    return;
  bool is_loaded = arithmetic->when == TJ_COMPUTED_LOADING;
  for (uint32_t i = 0; i < (is_loaded ? 1 : arithmetic->program->store_count); i++) {
    print_line(text, is_loaded ? "loaded as" : "stored as");
    tj_array_print(text, arithmetic->program->store[i].value);
    tj_text_char(text, '\n');
  }
}

static void print_numbers(tj_text *text, const uint32_t number[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tj_text_format(text, "%s%" PRIu32, i > 0 ? "," : "(", number[i]);
  tj_text_char(text, ')');
}

static void print_nodes(tj_text *text, const tj_node *const node[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    tj_text_string(text, i > 0 ? "," : "(");
    print_node(text, node[i]);
  }
  tj_text_string(text, count > 0 ? ")" : "()");
}

/* Dimension 0 has no stride. */
static void print_map(tj_text *text, const tj_kernel *kernel) {
  const tj_box_map *map = kernel->map;
  if (map == NULL)
    return;
  print_line(text, "tensor map");
  tj_text_format(text, "%s from byte ", kernel->buffer[map->buffer].name);
  print_node(text, map->offset);
  tj_text_format(text, " on, of %" PRIu32 " bytes: extents ", map->element_bytes);
  print_nodes(text, map->extent, map->rank);
  tj_text_string(text, ", strides ");
  print_nodes(text, map->stride, map->rank - 1);
  tj_text_string(text, ", boxes ");
  print_numbers(text, map->box, map->rank);
  if (map->swizzle > 0)
    tj_text_format(text, ", swizzled by %" PRIu32 " bytes", map->swizzle);
  tj_text_char(text, '\n');
}

/* `condition` is what the variant is taken under; NULL: where no other one is. */
static void print_variant(const tj_kernel *kernel, const tj_node *condition, const tj_target *target, tj_text *text) {
  printer p = {text, kernel};
  tj_text_format(text, "kernel %s for %s\n", kernel->name, target->name);
  print_condition(text, text->job, kernel, condition);
  print_node_line(text, "work-items", kernel->count);
  tj_text_format(text, "  %-12s %" PRIu32 " work-items\n", "workgroup", kernel->workgroup_size);
  if (kernel->items != NULL)
    print_node_line(text, "of them work", kernel->items);
  if (kernel->lds_elements > 0)
    tj_text_format(text, "  %-12s %" PRIu32 " bytes\n", "lds",
                   kernel->lds_elements * tj_dtype_bits(kernel->carried) / 8);
  print_mapping(text, kernel);
  print_map(text, kernel);
  print_arithmetic(text, kernel);
  print_bindings(text, kernel);
  if (kernel->loop != NULL)
    print_loop(text, kernel->loop);
  print_all_steps(&p);
}

void tj_report_tiled(const tj_kernel *kernel, const tj_target *target, tj_text *text) {
  const tj_node *condition = NULL;
  for (; kernel != NULL; kernel = kernel->faster) {
    print_variant(kernel, condition, target, text);
    condition = kernel->condition;
  }
}
