/* SPDX-License-Identifier: MIT */
#include "llvm_floor.h"

#include "timing.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of a family of targets, which begin alike: its triple, and how it calls kernels. */
typedef struct {
  const char *begins, *triple, *processor; /* NULL: the target itself */
  LLVMCodeGenFileType file;
  unsigned calling_convention;
} family;

enum { C_CALL = 0, PTX_KERNEL = 71, AMDGPU_KERNEL = 91 };

static const family families[] = {
    {"gfx", "amdgcn-amd-amdhsa", NULL, LLVMObjectFile, AMDGPU_KERNEL},
    {"sm_", "nvptx64-nvidia-cuda", NULL, LLVMAssemblyFile, PTX_KERNEL},
    {"host", TILEJIT_HOST_TRIPLE, "", LLVMObjectFile, C_CALL},
};

static const family *family_of(const char *target) {
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    if (strncmp(target, families[i].begins, strlen(families[i].begins)) == 0)
      return &families[i];
  }
  return NULL;
}

static LLVMTargetMachineRef open_machine(const family *f, const char *target) {
  LLVMInitializeAllTargetInfos();
  LLVMInitializeAllTargets();
  LLVMInitializeAllTargetMCs();
  LLVMInitializeAllAsmPrinters();
  LLVMTargetRef found;
  char *error = NULL;
  if (LLVMGetTargetFromTriple(f->triple, &found, &error)) {
    LLVMDisposeMessage(error);
    return NULL;
  }
  return LLVMCreateTargetMachine(found, f->triple, f->processor != NULL ? f->processor : target, "",
                                 LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
}

static LLVMModuleRef empty_kernel(LLVMContextRef context, const family *f) {
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("floor", context);
  LLVMSetTarget(module, f->triple);
  LLVMValueRef kernel =
      LLVMAddFunction(module, "floor", LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0));
  LLVMSetFunctionCallConv(kernel, f->calling_convention);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, kernel, ""));
  LLVMBuildRetVoid(builder);
  LLVMDisposeBuilder(builder);
  return module;
}

static double generate(LLVMTargetMachineRef machine, const family *f) {
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = empty_kernel(context, f);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMMemoryBufferRef object = NULL;
  char *message = NULL;
  double begin = now();
  LLVMErrorRef error = LLVMRunPasses(module, "default<O2>", machine, options);
  bool is_made = LLVMTargetMachineEmitToMemoryBuffer(machine, module, f->file, &message, &object) == 0;
  double duration = is_made && error == NULL ? now() - begin : -1;
  LLVMConsumeError(error);
  LLVMDisposeMessage(message);
  if (object != NULL)
    LLVMDisposeMemoryBuffer(object);
  LLVMDisposePassBuilderOptions(options);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return duration;
}

double llvm_floor(const char *target, size_t iterations) {
  enum { WARM_UPS = 3 };
  const family *f = family_of(target);
  LLVMTargetMachineRef machine = f != NULL ? open_machine(f, target) : NULL;
  double *durations = malloc((iterations + WARM_UPS) * sizeof *durations), floor = -1;
  if (machine != NULL && durations != NULL) {
    for (size_t i = 0; i < iterations + WARM_UPS; i++)
      durations[i] = generate(machine, f);
    floor = median(durations + WARM_UPS, iterations);
  }
  if (machine != NULL)
    LLVMDisposeTargetMachine(machine);
  free(durations);
  return floor;
}
