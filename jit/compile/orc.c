/* SPDX-License-Identifier: MIT */
/* Objects through LLJIT. */
#include "jit/compile/orc.h"

#include "llvm/llvm.h"

#include <stdio.h>

typedef struct LLVMOrcOpaqueLLJIT tj_orc; /* LLVM's name of an LLJIT */

/* About what ORC keeps for one object, its code included. */
enum { ORC_BYTES = 64 * 1024 };

/* Writes what went wrong, if anything did; returns whether it did. */
static bool failed(LLVMErrorRef error, char message[TJ_LINKER_MESSAGE_SIZE]) {
  if (error == NULL)
    return false;
  char *text = LLVMGetErrorMessage(error);
  snprintf(message, TJ_LINKER_MESSAGE_SIZE, "%s", text);
  LLVMDisposeErrorMessage(text);
  return true;
}

/* What the session reports instead of printing it: the cause, where a lookup tells of the consequence. */
static void note_cause(void *message, LLVMErrorRef error) {
  failed(error, message);
}

static void ignore(void *nobody, LLVMErrorRef error) {
  (void)nobody;
  LLVMConsumeError(error);
}

static void report_to(tj_orc *orc, LLVMOrcErrorReporterFunction reporter, char *message) {
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(orc), reporter, message);
}

/* An LLJIT for objects that are compiled already: it is told of a plain processor of this machine's kind, where it
 * would otherwise spend most of its time on finding out which one this is. */
static tj_orc *create_jit(char message[TJ_LINKER_MESSAGE_SIZE]) {
  char *problem = NULL;
  LLVMTargetRef target;
  LLVMTargetMachineRef machine = NULL;
  if (LLVMGetTargetFromTriple(TILEJIT_HOST_TRIPLE, &target, &problem))
    LLVMDisposeMessage(problem);
  else
    machine = LLVMCreateTargetMachine(target, TILEJIT_HOST_TRIPLE, "generic", "", LLVMCodeGenLevelNone, LLVMRelocPIC,
                                      LLVMCodeModelJITDefault);
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  if (machine != NULL)
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder,
                                                  LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  tj_orc *orc = NULL;
  return failed(LLVMOrcCreateLLJIT(&orc, builder), message) ? NULL : orc;
}

static bool load(tj_orc *orc, tj_bytes object, const char *const symbol[], uint32_t count, uintptr_t address[],
                 char message[TJ_LINKER_MESSAGE_SIZE]) {
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object.data, object.size, symbol[0]);
  if (failed(LLVMOrcLLJITAddObjectFile(orc, LLVMOrcLLJITGetMainJITDylib(orc), buffer), message))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    LLVMOrcExecutorAddress found = 0;
    char consequence[TJ_LINKER_MESSAGE_SIZE];
    bool is_missing = failed(LLVMOrcLLJITLookup(orc, &found, symbol[i]), consequence);
    if (is_missing && message[0] == '\0')
      memcpy(message, consequence, sizeof consequence);
    if (is_missing)
      return false;
    address[i] = (uintptr_t)found;
  }
  return true;
}

static void unload_orc(void *orc) {
  LLVMConsumeError(LLVMOrcDisposeLLJIT(orc));
}

static void *load_orc(tj_bytes object, const char *const symbol[], uint32_t count, uintptr_t address[],
                      char message[TJ_LINKER_MESSAGE_SIZE]) {
  if (!tj_llvm_load(message))
    return NULL;
  message[0] = '\0';
  tj_orc *orc = create_jit(message);
  if (orc == NULL)
    return NULL;
  report_to(orc, note_cause, message);
  bool is_loaded = load(orc, object, symbol, count, address, message);
  report_to(orc, ignore, NULL);
  if (is_loaded)
    return orc;
  unload_orc(orc);
  return NULL;
}

const tj_host_linker tj_orc_linker = {load_orc, unload_orc, ORC_BYTES};
