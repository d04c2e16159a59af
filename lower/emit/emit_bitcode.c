/* SPDX-License-Identifier: MIT */
/* Functions as LLVM IR, to be linked into somebody else's module and inlined there.
 *
 * To the emitter, a function's arguments and what it sees of a walk's state are what parameters are to a kernel, and
 * what it gives are the steps of a kernel. The functions have no target attributes, so that they go wherever their
 * caller goes; they touch no memory but the state; what is known of arguments and results stands as ranges. */
#include "lower/emit/emit.h"
#include "lower/plan/function.h"

#include <string.h>

/* --- signatures --- */

static LLVMTypeRef type_of_node(const tj_emitter *emitter, const tj_node *node) {
  return tj_emit_int_type(emitter, tj_width_of(&node, 1).bits);
}

/* Predicates are i32, as they are int32_t in C. */
static LLVMTypeRef type_of_result(const tj_emitter *emitter, const tj_function_result *result) {
  if (tj_function_sets_state(result))
    return emitter->nothing;
  return result->is_predicate ? emitter->i32 : type_of_node(emitter, result->node[0]);
}

static LLVMTypeRef type_of_function(const tj_emitter *emitter, const tj_function *function,
                                    const tj_function_result *result) {
  LLVMTypeRef *types = TJ_NEW_ARRAY(emitter->job, LLVMTypeRef, (size_t)function->argument_count + 1);
  unsigned count = 0;
  if (result->state != TJ_STATE_NONE)
    types[count++] = LLVMPointerTypeInContext(emitter->context, 0);
  for (uint32_t i = tj_function_first_argument(function, result); i < function->argument_count; i++)
    types[count++] = type_of_node(emitter, function->argument[i].symbol);
  return LLVMFunctionType(type_of_result(emitter, result), types, count, false);
}

/* As emit_c.c declares it. */
static LLVMTypeRef type_of_state(const tj_emitter *emitter, const tj_function *function) {
  LLVMTypeRef *types = TJ_NEW_ARRAY(emitter->job, LLVMTypeRef, (size_t)function->state_count + 1);
  for (uint32_t i = 0; i < function->state_count; i++)
    types[i] = type_of_node(emitter, function->state[i].symbol);
  return LLVMStructTypeInContext(emitter->context, types, function->state_count, false);
}

static void describe(tj_emitter *emitter, LLVMAttributeIndex index, const tj_node *node) {
  tj_emit_flag_attribute(emitter, emitter->function, index, "noundef", 0);
  tj_emit_facts_attribute(emitter, emitter->function, index, tj_width_of(&node, 1).bits, &node->facts);
}

/* Of memory that pointers among the arguments lead to: LLVM counts reading as 1, writing as 2. */
static uint64_t memory_of(const tj_function_result *result) {
  return (tj_function_reads_state(result) ? 1u : 0u) + (tj_function_sets_state(result) ? 2u : 0u);
}

static void add_function(tj_emitter *emitter, const tj_function *function, const tj_function_result *result) {
  static const char *const flags[] = {"alwaysinline", "mustprogress", "nofree",    "norecurse",
                                      "nosync",       "nounwind",     "willreturn"};
  enum { COST_OF_ARGUMENT = 25 };
  tj_spend(emitter->job, (uint64_t)function->argument_count * COST_OF_ARGUMENT);
  LLVMTypeRef type = type_of_function(emitter, function, result);
  emitter->function = LLVMAddFunction(emitter->module, result->name, type);
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    tj_emit_function_flag(emitter, emitter->function, flags[i]);
  tj_emit_flag_attribute(emitter, emitter->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "memory",
                         memory_of(result));
  if (!tj_function_sets_state(result))
    describe(emitter, LLVMAttributeReturnIndex, result->node[0]);
  LLVMPositionBuilderAtEnd(emitter->builder, tj_emit_block(emitter, "entry"));
}

static LLVMValueRef state_field(const tj_emitter *emitter, const tj_function *function, uint32_t field) {
  return LLVMBuildStructGEP2(emitter->builder, type_of_state(emitter, function), LLVMGetParam(emitter->function, 0),
                             field, function->state[field].name);
}

static void describe_state(tj_emitter *emitter) {
  static const char *const flags[] = {"noundef", "nonnull", "noalias"};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    tj_emit_flag_attribute(emitter, emitter->function, 1, flags[i], 0);
  LLVMSetValueName2(LLVMGetParam(emitter->function, 0), "walk", 4);
}

/* Names what the function is given, in the order of kernel_of_result. */
static void take_arguments(tj_emitter *emitter, const tj_function *function, const tj_function_result *result) {
  size_t most = (size_t)function->argument_count + function->state_count;
  LLVMValueRef *taken = TJ_NEW_ARRAY(emitter->job, LLVMValueRef, most + 1);
  unsigned position = 0;
  emitter->parameter = taken;
  if (result->state != TJ_STATE_NONE) {
    describe_state(emitter);
    position++;
  }
  for (uint32_t i = 0; i < function->state_count && tj_function_reads_state(result); i++)
    *taken++ = LLVMBuildLoad2(emitter->builder, type_of_node(emitter, function->state[i].symbol),
                              state_field(emitter, function, i), "");
  for (uint32_t i = tj_function_first_argument(function, result); i < function->argument_count; i++) {
    LLVMValueRef argument = LLVMGetParam(emitter->function, position++);
    describe(emitter, position, function->argument[i].symbol);
    LLVMSetValueName2(argument, function->argument[i].name, strlen(function->argument[i].name));
    *taken++ = argument;
  }
}

/* --- bodies --- */

static const tj_node *const *symbols_of(tj_graph *graph, const tj_function *function,
                                        const tj_function_result *result, uint32_t *count) {
  size_t most = (size_t)function->argument_count + function->state_count;
  const tj_node **symbols = TJ_NEW_ARRAY(graph->job, const tj_node *, most + 1);
  *count = 0;
  for (uint32_t i = 0; i < function->state_count && tj_function_reads_state(result); i++)
    symbols[(*count)++] = function->state[i].symbol;
  for (uint32_t i = tj_function_first_argument(function, result); i < function->argument_count; i++)
    symbols[(*count)++] = function->argument[i].symbol;
  return symbols;
}

static tj_kernel *kernel_of_result(tj_graph *graph, const tj_function *function, const tj_function_result *result) {
  uint32_t count;
  const tj_node *const *symbols = symbols_of(graph, function, result, &count);
  tj_kernel_step *steps = TJ_NEW_ARRAY(graph->job, tj_kernel_step, (size_t)result->count + 1);
  for (uint32_t i = 0; i < result->count; i++)
    steps[i] = tj_step_of_value(result->node[i]);
  tj_kernel *kernel = TJ_NEW_ARRAY(graph->job, tj_kernel, 1);
  *kernel = (tj_kernel){.name = result->name,
                        .parameter = symbols,
                        .parameter_count = count,
                        .count = tj_int(graph, 1),
                        .workgroup_size = 1,
                        .step = steps,
                        .step_count = result->count,
                        .slot_count = 1};
  return kernel;
}

/* Its callers are work-items, so that all it does is what a work-item does. */
static void emit_nodes(tj_emitter *emitter) {
  bool *all = TJ_NEW_ARRAY(emitter->job, bool, (size_t)emitter->nodes.walk.count + 1);
  for (uint32_t i = 0; i < emitter->nodes.walk.count; i++) {
    emitter->nodes.level[i] = TJ_LEVEL_ITEM;
    all[i] = true;
  }
  tj_emit_launch_nodes(emitter);
  emitter->level = TJ_LEVEL_ITEM;
  tj_emit_marked_nodes(emitter, all);
}

static void emit_state(tj_emitter *emitter, const tj_function *function, const tj_function_result *result) {
  for (uint32_t i = 0; i < result->count; i++) {
    tj_width width = tj_width_of(&function->state[i].symbol, 1);
    LLVMBuildStore(emitter->builder, tj_emit_operand(emitter, result->node[i], width),
                   state_field(emitter, function, i));
  }
  LLVMBuildRetVoid(emitter->builder);
}

static void emit_result(tj_emitter *emitter, const tj_function_result *result) {
  tj_width width = result->is_predicate ? (tj_width){32, true, true} : tj_width_of(result->node, 1);
  LLVMBuildRet(emitter->builder, tj_emit_operand(emitter, result->node[0], width));
}

void tj_emit_index_functions(tj_graph *graph, tj_module *module, const tj_function *function,
                             const tj_target *target) {
  for (uint32_t i = 0; i < function->result_count; i++) {
    const tj_function_result *result = &function->result[i];
    tj_emitter emitter;
    tj_emitter_init(&emitter, graph, module, kernel_of_result(graph, function, result), target);
    add_function(&emitter, function, result);
    take_arguments(&emitter, function, result);
    emit_nodes(&emitter);
    if (tj_function_sets_state(result))
      emit_state(&emitter, function, result);
    else
      emit_result(&emitter, result);
  }
}
