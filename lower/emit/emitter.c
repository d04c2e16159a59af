/* SPDX-License-Identifier: MIT */
/* Emitters: what they need to know of a kernel before its function begins. */
#include "lower/emit/emit.h"
#include "lower/kernel/arithmetic.h"
#include "lower/kernel/loop.h"

static bool is_coordinate(const tj_kernel *kernel, const tj_node *node) {
  for (uint32_t i = 0; i < kernel->binding_count; i++) {
    if (kernel->binding[i].symbol == node)
      return true;
  }
  return node == kernel->index || node == kernel->workgroup || node == kernel->item ||
         tj_is_looked_up(kernel, node) || tj_is_trip(kernel, node) ||
         (kernel->loop != NULL && tj_loop_changes(kernel->loop, node));
}

static void check_symbols(const tj_emitter *emitter) {
  const tj_walk *walk = &emitter->nodes.walk;
  for (uint32_t i = 0; i < walk->count; i++) {
    bool is_known = walk->node[i]->op != TJ_OP_SYMBOL || is_coordinate(emitter->kernel, walk->node[i]);
    for (uint32_t j = 0; j < emitter->kernel->parameter_count && !is_known; j++)
      is_known = walk->node[i] == emitter->kernel->parameter[j];
    if (!is_known)
      tj_fail(emitter->job, TJ_MISSING_PARAMETER, "%s is neither a parameter of kernel %s nor one of its coordinates",
              walk->node[i]->symbol->name, emitter->kernel->name);
  }
}

static void check_size(const tj_emitter *emitter) {
  uint32_t operations = tj_kernel_nodes_operations(&emitter->nodes);
  if (operations > TJ_KERNEL_MOST_OPERATIONS)
    tj_fail(emitter->job, TJ_WORK_LIMIT, "kernel %s takes %u operations for each work-item, more than %d",
            emitter->kernel->name, operations, TJ_KERNEL_MOST_OPERATIONS);
}

/* Whether a target has instructions for bf16; elsewhere they are bits, of which lower/emit/convert.c makes f32, and
 * which GlobalISel takes as well. */
static bool knows_bfloats(const tj_target *target) {
  return target->has_bfloat_arithmetic || target->has_bfloat_rounding;
}

static void init_types(tj_emitter *emitter) {
  emitter->i1 = LLVMInt1TypeInContext(emitter->context);
  emitter->i8 = LLVMInt8TypeInContext(emitter->context);
  emitter->i16 = LLVMInt16TypeInContext(emitter->context);
  emitter->i32 = LLVMInt32TypeInContext(emitter->context);
  emitter->i64 = LLVMInt64TypeInContext(emitter->context);
  emitter->f16 = LLVMHalfTypeInContext(emitter->context);
  emitter->bf16 = knows_bfloats(emitter->target) ? LLVMBFloatTypeInContext(emitter->context) : emitter->i16;
  emitter->f32 = LLVMFloatTypeInContext(emitter->context);
  emitter->f64 = LLVMDoubleTypeInContext(emitter->context);
  emitter->b128 = LLVMVectorType(emitter->i32, 4);
  emitter->pointer = LLVMPointerTypeInContext(emitter->context, emitter->target->global_address_space);
  emitter->nothing = LLVMVoidTypeInContext(emitter->context);
}

static bool has_double_scalar(const tj_array_program *program) {
  for (uint32_t i = 0; program != NULL && i < program->count; i++) {
    if (program->array[i]->op == TJ_ARRAY_SCALAR && program->array[i]->dtype == TJ_DTYPE_f64)
      return true;
  }
  return false;
}

/* Whether the lower halves of all NaNs in f32 are 0, where that is of use: what comes from memory was bf16, scratch
 * memory has what is made of it, and numbers of the launch are made so (lower/steps/emit_compute.c). */
static bool has_short_nans(const tj_kernel *kernel, const tj_target *target) {
  bool is_used = false;
  for (uint32_t i = 0; i < kernel->buffer_count; i++) {
    const tj_kernel_buffer *buffer = &kernel->buffer[i];
    bool is_short = buffer->dtype == TJ_DTYPE_bf16 || tj_dtype_class_of(buffer->dtype) != TJ_CLASS_FLOAT;
    if (buffer->is_read && !buffer->is_scratch && !is_short)
      return false;
    is_used = is_used || (buffer->is_written && buffer->dtype == TJ_DTYPE_bf16);
  }
  return is_used && target->keeps_nans && !has_double_scalar(tj_kernel_program(kernel));
}

void tj_emitter_init(tj_emitter *emitter, tj_graph *graph, tj_module *module, const tj_kernel *kernel,
                     const tj_target *target) {
  *emitter = (tj_emitter){
      .job = graph->job,
      .graph = graph,
      .target = target,
      .kernel = kernel,
      .context = module->context,
      .module = module->module,
      .builder = module->builder,
      .nodes = tj_kernel_nodes_of(graph, kernel, tj_uniform_lanes(target)),
      .has_short_nans = has_short_nans(kernel, target),
  };
  const tj_target_family *family = target->family;
  emitter->is_selected_whole =
      family->selects_whole != NULL && family->selects_whole(target, kernel, &emitter->nodes);
  check_size(emitter);
  check_symbols(emitter);
  tj_check_widths(graph, emitter->nodes.root, emitter->nodes.root_count);
  tj_kernel_nodes_schedule(graph, &emitter->nodes);
  emitter->value = TJ_NEW_ARRAY(graph->job, LLVMValueRef, emitter->nodes.walk.count);
  init_types(emitter);
}
