/* Host code through LLJIT, one for each object: loaded code shares nothing, so it needs no locks and can be unloaded
 * by whoever drops the last reference. Calls of memcpy and the like resolve to this process. */
#include "jit/orc.h"

#include "jit/llvm.h"

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/TargetMachine.h>
#include <stdatomic.h>
#include <stdio.h>

struct tj_host_code {
  tj_allocator allocator;
  atomic_uint references;
  LLVMOrcLLJITRef jit; /* owned; NULL until loading got that far */
  uint32_t count;
  tj_host_entry entry[];
};

enum { MESSAGE_SIZE = 256 };

/* Writes what went wrong, if anything did; returns whether it did. */
static bool failed(LLVMErrorRef error, char message[MESSAGE_SIZE]) {
  if (error == NULL)
    return false;
  char *text = LLVMGetErrorMessage(error);
  snprintf(message, MESSAGE_SIZE, "%s", text);
  LLVMDisposeErrorMessage(text);
  return true;
}

static bool look_up(tj_host_code *code, uint32_t index, const char *symbol, char message[MESSAGE_SIZE]) {
  LLVMOrcExecutorAddress address = 0;
  if (failed(LLVMOrcLLJITLookup(code->jit, &address, symbol), message))
    return false;
  code->entry[index] = (tj_host_entry)(uintptr_t)address;
  return true;
}

/* An LLJIT for objects that are compiled already: it is told of a plain processor of this machine's kind, where it
 * would otherwise spend most of its time on finding out which one this is. */
static bool create_jit(tj_host_code *code, char message[MESSAGE_SIZE]) {
  char *triple = LLVMGetDefaultTargetTriple(), *problem = NULL;
  LLVMTargetRef target;
  LLVMTargetMachineRef machine = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &problem))
    LLVMDisposeMessage(problem);
  else
    machine = LLVMCreateTargetMachine(target, triple, "generic", "", LLVMCodeGenLevelNone, LLVMRelocPIC,
                                      LLVMCodeModelJITDefault);
  LLVMDisposeMessage(triple);
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  if (machine != NULL)
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                  LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  if (!failed(LLVMOrcCreateLLJIT(&code->jit, builder), message))
    return true;
  code->jit = NULL;
  return false;
}

static bool load(tj_host_code *code, tj_bytes object, const char *const symbol[], char message[MESSAGE_SIZE]) {
  if (!create_jit(code, message))
    return false;
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data, object.size, symbol[0]);
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(code->jit);
  if (failed(LLVMOrcLLJITAddObjectFile(code->jit, library, buffer), message))
    return false;
  for (uint32_t i = 0; i < code->count; i++) {
    if (!look_up(code, i, symbol[i], message))
      return false;
  }
  return true;
}

tj_host_code *tj_host_code_load(tj_job *job, tj_bytes object, const char *const symbol[], uint32_t count) {
  tj_llvm_initialize();
  size_t size = sizeof(tj_host_code) + count * sizeof(tj_host_entry);
  tj_host_code *code = job->allocator.allocate(job->allocator.user, size);
  if (code == NULL)
    tj_fail_out_of_memory(job);
  *code = (tj_host_code){.allocator = job->allocator, .references = 1, .count = count};
  char message[MESSAGE_SIZE];
  if (!load(code, object, symbol, message)) {
    tj_host_code_release(code);
    tj_fail(job, TJ_CODEGEN, "loading host code: %s", message);
  }
  return code;
}

tj_host_entry tj_host_code_entry(const tj_host_code *code, uint32_t index) {
  return code->entry[index];
}

tj_host_code *tj_host_code_retain(tj_host_code *code) {
  atomic_fetch_add_explicit(&code->references, 1, memory_order_relaxed);
  return code;
}

void tj_host_code_release(tj_host_code *code) {
  if (code == NULL || atomic_fetch_sub_explicit(&code->references, 1, memory_order_acq_rel) != 1)
    return;
  if (code->jit != NULL)
    LLVMConsumeError(LLVMOrcDisposeLLJIT(code->jit));
  code->allocator.release(code->allocator.user, code);
}
