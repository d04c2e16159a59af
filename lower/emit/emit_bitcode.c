/* SPDX-License-Identifier: MIT */
/* Functions as LLVM IR, to be linked into somebody else's module and inlined there.
 *
 * To the emitter, a function's arguments are what parameters are to a kernel, and each of its results is a kernel of
 * one step, which computes it. The functions have no target attributes, so that they go wherever their caller goes;
 * they read and write no memory; what is known of arguments and results stands as ranges. */
#include "lower/emit/emit.h"
#include "lower/plan/function.h"

#include <string.h>

/* --- signatures --- */

static LLVMTypeRef type_of_node(const tj_emitter *emitter, const tj_node *node) {
  return tj_emit_int_type(emitter, tj_width_of(&node, 1).bits);
}

/* Predicates are i32, as they are int32_t in C. */
static LLVMTypeRef type_of_result(const tj_emitter *emitter, const tj_function_result *result) {
  return result->is_predicate ? emitter->i32 : type_of_node(emitter, result->node);
}

static LLVMTypeRef type_of_function(const tj_emitter *emitter, const tj_function *function,
                                    const tj_function_result *result) {
  LLVMTypeRef *types = TJ_NEW_ARRAY(emitter->job, LLVMTypeRef, (size_t)function->argument_count + 1);
  for (uint32_t i = 0; i < function->argument_count; i++)
    types[i] = type_of_node(emitter, function->argument[i].symbol);
  return LLVMFunctionType(type_of_result(emitter, result), types, function->argument_count, false);
}

static void describe(tj_emitter *emitter, LLVMAttributeIndex index, const tj_node *node) {
  tj_emit_flag_attribute(emitter, emitter->function, index, "noundef", 0);
  tj_emit_facts_attribute(emitter, emitter->function, index, tj_width_of(&node, 1).bits, &node->facts);
}

static void add_function(tj_emitter *emitter, const tj_function *function, const tj_function_result *result) {
  static const char *const flags[] = {"alwaysinline", "mustprogress", "nofree", "norecurse",
                                      "nosync",       "nounwind",     "memory", "willreturn"};
  enum { COST_OF_ARGUMENT = 25 };
  tj_spend(emitter->job, (uint64_t)function->argument_count * COST_OF_ARGUMENT);
  LLVMTypeRef type = type_of_function(emitter, function, result);
  emitter->function = LLVMAddFunction(emitter->module, result->name, type);
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    tj_emit_function_flag(emitter, emitter->function, flags[i]);
  describe(emitter, LLVMAttributeReturnIndex, result->node);
  emitter->parameter = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, (size_t)function->argument_count + 1);
  for (uint32_t i = 0; i < function->argument_count; i++) {
    describe(emitter, i + 1, function->argument[i].symbol);
    emitter->parameter[i] = LLVMGetParam(emitter->function, i);
    LLVMSetValueName2(emitter->parameter[i], function->argument[i].name, strlen(function->argument[i].name));
  }
  LLVMPositionBuilderAtEnd(emitter->builder, tj_emit_block(emitter, "entry"));
}

/* --- bodies --- */

static tj_kernel *kernel_of_result(tj_graph *graph, const tj_function *function, const tj_function_result *result) {
  const tj_node **symbols = TJ_NEW_ARRAY(graph->job, const tj_node *, (size_t)function->argument_count + 1);
  for (uint32_t i = 0; i < function->argument_count; i++)
    symbols[i] = function->argument[i].symbol;
  tj_kernel_step *step = TJ_NEW_ARRAY(graph->job, tj_kernel_step, 1);
  *step = (tj_kernel_step){.kind = TJ_STEP_VALUE, .value = result->node, .width = 1};
  tj_kernel *kernel = TJ_NEW_ARRAY(graph->job, tj_kernel, 1);
  *kernel = (tj_kernel){.name = result->name,
                        .parameter = symbols,
                        .parameter_count = function->argument_count,
                        .count = tj_int(graph, 1),
                        .workgroup_size = 1,
                        .step = step,
                        .step_count = 1,
                        .slot_count = 1};
  return kernel;
}

/* Its callers are work-items, so that all it does is what a work-item does. */
static void emit_body(tj_emitter *emitter, const tj_function_result *result) {
  bool *all = TJ_NEW_ARRAY(emitter->job, bool, emitter->nodes.walk.count);
  for (uint32_t i = 0; i < emitter->nodes.walk.count; i++) {
    emitter->nodes.level[i] = TJ_LEVEL_ITEM;
    all[i] = true;
  }
  tj_emit_launch_nodes(emitter);
  emitter->level = TJ_LEVEL_ITEM;
  tj_emit_marked_nodes(emitter, all);
  tj_width width = result->is_predicate ? (tj_width){32, true, true} : tj_width_of(&result->node, 1);
  LLVMBuildRet(emitter->builder, tj_emit_operand(emitter, result->node, width));
}

void tj_emit_index_functions(tj_graph *graph, tj_module *module, const tj_function *function,
                             const tj_target *target) {
  for (uint32_t i = 0; i < function->result_count; i++) {
    const tj_function_result *result = &function->result[i];
    tj_emitter emitter;
    tj_emitter_init(&emitter, graph, module, kernel_of_result(graph, function, result), target);
    add_function(&emitter, function, result);
    emit_body(&emitter, result);
  }
}
