/* SPDX-License-Identifier: MIT */
/* LLVM's target machines, the passes that pay, and machine code in memory. */
#include "jit/compile/codegen.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* --- target machines --- */

static uint64_t hash_string(uint64_t hash, const char *string) {
  const uint64_t prime = 0x100000001b3;
  for (; *string != '\0'; string++)
    hash = (hash ^ (unsigned char)*string) * prime;
  return (hash ^ 0xff) * prime;
}

/* FNV-1a of everything that makes a target machine; never 0. */
static uint64_t key_of(const tj_target *target) {
  uint64_t hash = hash_string(0xcbf29ce484222325, target->triple);
  hash = hash_string(hash, target->processor);
  return hash_string(hash, target->features) | 1;
}

static void set_this_cpu(LLVMTargetMachineOptionsRef options) {
  char *processor = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  LLVMTargetMachineOptionsSetCPU(options, processor);
  LLVMTargetMachineOptionsSetFeatures(options, features);
  LLVMDisposeMessage(processor);
  LLVMDisposeMessage(features);
}

static void set_processor(LLVMTargetMachineOptionsRef options, const tj_target *target) {
  LLVMTargetMachineOptionsSetCPU(options, target->processor);
  LLVMTargetMachineOptionsSetFeatures(options, target->features);
}

static LLVMTargetMachineRef create_machine(LLVMTargetRef llvm_target, const tj_target *target) {
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  if (strcmp(target->processor, TJ_THIS_CPU) == 0)
    set_this_cpu(options);
  else
    set_processor(options, target);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelDefault);
  LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(llvm_target, target->triple, options);
  LLVMDisposeTargetMachineOptions(options);
  return machine;
}

void tj_codegen_open(tj_job *job, tj_codegen *codegen, const tj_target *target) {
  if (codegen->machine != NULL && codegen->key == key_of(target))
    return;
  tj_codegen_close(codegen);
  tj_llvm_open(job);
  LLVMTargetRef llvm_target;
  char *message;
  if (LLVMGetTargetFromTriple(target->triple, &llvm_target, &message)) {
    LLVMDisposeMessage(message);
    tj_fail(job, TJ_CODEGEN, "this LLVM has no target for %s", target->triple);
  }
  codegen->machine = create_machine(llvm_target, target);
  if (codegen->machine == NULL)
    tj_fail(job, TJ_CODEGEN, "LLVM cannot generate code for %s", target->name);
  codegen->pipeline = target->passes;
  if (tj_llvm.passes != NULL)
    codegen->passes = tj_llvm.passes->create(codegen->machine, target->passes, &target->idle_passes);
  if (tj_llvm.passes != NULL && codegen->passes == NULL)
    tj_fail(job, TJ_CODEGEN, "this LLVM does not have the passes %s", target->passes);
  codegen->key = key_of(target);
}

void tj_codegen_close(tj_codegen *codegen) {
  if (codegen->passes != NULL)
    tj_llvm.passes->dispose(codegen->passes);
  if (codegen->machine != NULL)
    LLVMDisposeTargetMachine(codegen->machine);
  *codegen = (tj_codegen){0};
}

/* --- idle target machines --- */

void tj_idle_codegens_init(tj_idle_codegens *idle) {
  *idle = (tj_idle_codegens){.next = 0};
  pthread_mutex_init(&idle->lock, NULL);
}

void tj_idle_codegens_close(tj_idle_codegens *idle) {
  for (unsigned i = 0; i < TJ_MOST_IDLE_CODEGENS; i++)
    tj_codegen_close(&idle->codegen[i]);
  pthread_mutex_destroy(&idle->lock);
}

static void exchange(tj_codegen *a, tj_codegen *b) {
  tj_codegen first = *a;
  *a = *b;
  *b = first;
}

void tj_codegen_take(tj_job *job, tj_codegen *codegen, tj_idle_codegens *idle, const tj_target *target) {
  uint64_t key = key_of(target);
  pthread_mutex_lock(&idle->lock);
  for (unsigned i = 0; i < TJ_MOST_IDLE_CODEGENS && codegen->key != key; i++) {
    if (idle->codegen[i].key == key)
      exchange(codegen, &idle->codegen[i]);
  }
  pthread_mutex_unlock(&idle->lock);
  tj_codegen_open(job, codegen, target);
}

/* A place that is empty, or else that of one given back before. */
static tj_codegen *choose_place(tj_idle_codegens *idle) {
  for (unsigned i = 0; i < TJ_MOST_IDLE_CODEGENS; i++) {
    if (idle->codegen[i].machine == NULL)
      return &idle->codegen[i];
  }
  return &idle->codegen[idle->next++ % TJ_MOST_IDLE_CODEGENS];
}

void tj_codegen_give_back(tj_codegen *codegen, tj_idle_codegens *idle) {
  if (codegen->machine == NULL)
    return;
  pthread_mutex_lock(&idle->lock);
  exchange(codegen, choose_place(idle));
  pthread_mutex_unlock(&idle->lock);
  tj_codegen_close(codegen);
}

/* --- passes --- */

/* Takes LLVM's error as if it had been reported to the module. */
static void keep_error(tj_module *module, LLVMErrorRef error) {
  if (error == NULL)
    return;
  char *message = LLVMGetErrorMessage(error);
  snprintf(module->message, sizeof module->message, "%s", message);
  LLVMDisposeErrorMessage(message);
}

static void set_data_layout(tj_codegen *codegen, tj_module *module) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(codegen->machine);
  LLVMSetModuleDataLayout(module->module, layout);
  LLVMDisposeTargetData(layout);
}

static void run_pipeline(const tj_codegen *codegen, tj_module *module) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  keep_error(module, LLVMRunPasses(module->module, codegen->pipeline, codegen->machine, options));
  LLVMDisposePassBuilderOptions(options);
}

void tj_codegen_optimize(tj_job *job, tj_codegen *codegen, tj_module *module) {
  set_data_layout(codegen, module);
  if (codegen->passes != NULL)
    tj_llvm.passes->optimize(codegen->passes, module->module);
  else
    run_pipeline(codegen, module);
  tj_module_check(job, module, "optimising");
}

/* --- machine code --- */

static bool generate(const tj_codegen *codegen, tj_module *module, LLVMCodeGenFileType type) {
  if (codegen->passes != NULL)
    return tj_llvm.passes->generate(codegen->passes, module->module, type, &module->buffer);
  char *message = NULL;
  bool has_failed =
      LLVMTargetMachineEmitToMemoryBuffer(codegen->machine, module->module, type, &message, &module->buffer);
  LLVMDisposeMessage(message);
  return !has_failed;
}

tj_bytes tj_codegen_emit(tj_job *job, tj_codegen *codegen, tj_module *module, tj_codegen_output output) {
  set_data_layout(codegen, module);
  LLVMCodeGenFileType type = output == TJ_CODEGEN_OBJECT ? LLVMObjectFile : LLVMAssemblyFile;
  if (!generate(codegen, module, type))
    tj_fail(job, TJ_CODEGEN, "LLVM cannot generate code of this form");
  tj_module_check(job, module, "generating code");
  size_t size = LLVMGetBufferSize(module->buffer);
  const char *copy = tj_string_copy(job, LLVMGetBufferStart(module->buffer), size);
  LLVMDisposeMemoryBuffer(module->buffer);
  module->buffer = NULL;
  return (tj_bytes){copy, size};
}
