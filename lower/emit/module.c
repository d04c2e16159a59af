/* SPDX-License-Identifier: MIT */
/* Modules: LLVM's handles and what LLVM has to say. */
#include "lower/emit/emit.h"

#include <stdio.h>
#include <string.h>

/* --- what LLVM reports --- */

/* LLVM calls it for every diagnostic; warnings and remarks say nothing that a user could act on. */
static void keep_error(LLVMDiagnosticInfoRef diagnostic, void *user) {
  tj_module *module = user;
  if (LLVMGetDiagInfoSeverity(diagnostic) != LLVMDSError || module->message[0] != '\0')
    return;
  char *description = LLVMGetDiagInfoDescription(diagnostic);
  snprintf(module->message, sizeof module->message, "%s", description);
  LLVMDisposeMessage(description);
}

void tj_module_check(tj_job *job, tj_module *module, const char *what) {
  if (module->message[0] != '\0')
    tj_fail(job, TJ_CODEGEN, "%s: %s", what, module->message);
}

/* Takes an LLVM string that says what is wrong, as if LLVM had reported it. */
static void keep_message(tj_module *module, char *text) {
  snprintf(module->message, sizeof module->message, "%s", text);
  LLVMDisposeMessage(text);
}

static void verify(tj_job *job, tj_module *module) {
#ifdef TJ_DEBUG
  char *text = NULL;
  if (LLVMVerifyModule(module->module, LLVMReturnStatusAction, &text))
    keep_message(module, text);
  else
    LLVMDisposeMessage(text);
#else
  (void)keep_message;
#endif
  tj_module_check(job, module, "verifying the module");
}

/* --- modules --- */

static void open(tj_job *job, tj_module *module, const char *name, const char *triple) {
  tj_llvm_open(job);
  module->context = LLVMContextCreate();
  LLVMContextSetDiscardValueNames(module->context, module->is_nameless);
  LLVMContextSetDiagnosticHandler(module->context, keep_error, module);
  module->module = LLVMModuleCreateWithNameInContext(name, module->context);
  module->builder = LLVMCreateBuilderInContext(module->context);
  LLVMSetTarget(module->module, triple);
}

void tj_module_lower(tj_graph *graph, tj_module *module, const tj_kernel *kernel, const tj_target *target) {
  open(graph->job, module, kernel->name, target->triple);
  for (const tj_kernel *each = kernel; each != NULL; each = each->faster) {
    tj_emitter emitter;
    tj_emitter_init(&emitter, graph, module, each, target);
    target->family->emit_kernel(&emitter);
  }
  verify(graph->job, module);
}

void tj_module_lower_function(tj_graph *graph, tj_module *module, const tj_function *function,
                              const tj_target *target) {
  open(graph->job, module, function->name, target->triple);
  tj_emit_index_functions(graph, module, function, target);
  verify(graph->job, module);
}

const char *tj_module_text(tj_job *job, tj_module *module) {
  module->text = LLVMPrintModuleToString(module->module);
  const char *copy = tj_string_copy(job, module->text, strlen(module->text));
  LLVMDisposeMessage(module->text);
  module->text = NULL;
  return copy;
}

tj_bytes tj_module_bitcode(tj_job *job, tj_module *module) {
  module->buffer = LLVMWriteBitcodeToMemoryBuffer(module->module);
  size_t size = LLVMGetBufferSize(module->buffer);
  const char *copy = tj_string_copy(job, LLVMGetBufferStart(module->buffer), size);
  LLVMDisposeMemoryBuffer(module->buffer);
  module->buffer = NULL;
  return (tj_bytes){copy, size};
}

/* --- counting --- */

static unsigned intrinsic_named(const char *name) {
  return LLVMLookupIntrinsicID(name, strlen(name));
}

/* Loads and stores, those of resources too. */
static bool is_access(LLVMValueRef instruction) {
  LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
  if (opcode != LLVMCall)
    return opcode == LLVMLoad || opcode == LLVMStore;
  unsigned called = LLVMGetIntrinsicID(LLVMGetCalledValue(instruction));
  return called != 0 && (called == intrinsic_named("llvm.amdgcn.raw.ptr.buffer.load") ||
                         called == intrinsic_named("llvm.amdgcn.raw.ptr.buffer.store"));
}

static bool is_in_constants(LLVMValueRef value) {
  LLVMTypeRef type = LLVMTypeOf(value);
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
         LLVMGetPointerAddressSpace(type) == TJ_CONSTANT_ADDRESS_SPACE;
}

/* Integers are loaded from the argument block where other functions have arguments, which are no instructions. */
static bool is_argument(LLVMValueRef instruction) {
  bool is_load = LLVMGetInstructionOpcode(instruction) == LLVMLoad;
  return is_in_constants(is_load ? LLVMGetOperand(instruction, 0) : instruction);
}

static void count_block(tj_ir_stats *stats, LLVMBasicBlockRef block) {
  LLVMValueRef instruction = LLVMGetFirstInstruction(block);
  for (; instruction != NULL; instruction = LLVMGetNextInstruction(instruction)) {
    if (is_argument(instruction))
      continue;
    stats->ir_instructions++;
    stats->ir_accesses += is_access(instruction);
  }
}

static void count_function(tj_ir_stats *stats, LLVMValueRef function) {
  LLVMBasicBlockRef block = function != NULL ? LLVMGetFirstBasicBlock(function) : NULL;
  for (; block != NULL; block = LLVMGetNextBasicBlock(block))
    count_block(stats, block);
}

tj_ir_stats tj_module_stats(tj_job *job, const tj_module *module, const tj_kernel *kernel, const tj_target *target) {
  tj_ir_stats stats = {0};
  count_function(&stats, LLVMGetNamedFunction(module->module, tj_target_symbol(job, target, kernel->name)));
  count_function(&stats, LLVMGetNamedFunction(module->module, tj_string_format(job, TJ_WORK_FORMAT, kernel->name)));
  return stats;
}

/* --- modules that end --- */

void tj_module_dispose(tj_module *module) {
  if (module->text != NULL)
    LLVMDisposeMessage(module->text);
  if (module->buffer != NULL)
    LLVMDisposeMemoryBuffer(module->buffer);
  if (module->builder != NULL)
    LLVMDisposeBuilder(module->builder);
  if (module->module != NULL)
    LLVMDisposeModule(module->module);
  if (module->context != NULL)
    LLVMContextDispose(module->context);
  *module = (tj_module){0};
}
