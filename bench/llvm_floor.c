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

struct llvm_floor {
  const family *family;
  LLVMTargetMachineRef machine;
};

llvm_floor *llvm_floor_open(const char *target) {
  const family *f = family_of(target);
  LLVMTargetMachineRef machine = f != NULL ? open_machine(f, target) : NULL;
  llvm_floor *floor = machine != NULL ? malloc(sizeof *floor) : NULL;
  if (floor != NULL)
    *floor = (llvm_floor){f, machine};
  else if (machine != NULL)
    LLVMDisposeTargetMachine(machine);
  return floor;
}

void llvm_floor_close(llvm_floor *floor) {
  if (floor != NULL)
    LLVMDisposeTargetMachine(floor->machine);
  free(floor);
}

double llvm_floor_once(const llvm_floor *floor) {
  LLVMTargetMachineRef machine = floor->machine;
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = empty_kernel(context, floor->family);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMMemoryBufferRef object = NULL;
  char *message = NULL;
  double begin = now();
  LLVMErrorRef error = LLVMRunPasses(module, "default<O2>", machine, options);
  bool is_made = LLVMTargetMachineEmitToMemoryBuffer(machine, module, floor->family->file, &message, &object) == 0;
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
