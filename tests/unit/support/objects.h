/* SPDX-License-Identifier: MIT */
/* Machine code for tests: LLVM IR text to relocatable objects, through LLVM's C API. */
#ifndef TJ_TESTS_OBJECTS_H
#define TJ_TESTS_OBJECTS_H

#include "base/bytes.h"
#include "base/job.h"
#include "base/text.h"
#include "llvm/llvm.h"

#include <check.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

/* Two kernels and a constant: `store` has LDS, a barrier, a branch, quarter-rate multiplies and 12 bytes of explicit
 * arguments; `hidden` has hidden arguments. */
static const char kernels_ir[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@tile = internal addrspace(3) global [256 x i32] poison\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "declare void @llvm.amdgcn.s.barrier()\n"
    "define amdgpu_kernel void @store(ptr addrspace(1) %out, i32 %n) #0 {\n"
    "  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"
    "  %item = call i32 @llvm.amdgcn.workitem.id.x()\n"
    "  %base = shl i32 %group, 8\n"
    "  %i = add i32 %base, %item\n"
    "  %in = getelementptr [256 x i32], ptr addrspace(3) @tile, i32 0, i32 %item\n"
    "  store i32 %i, ptr addrspace(3) %in\n"
    "  call void @llvm.amdgcn.s.barrier()\n"
    "  %guard = icmp ult i32 %i, %n\n"
    "  br i1 %guard, label %then, label %done\n"
    "then:\n"
    "  %other = xor i32 %item, 1\n"
    "  %from = getelementptr [256 x i32], ptr addrspace(3) @tile, i32 0, i32 %other\n"
    "  %v = load i32, ptr addrspace(3) %from\n"
    "  %wide = zext i32 %v to i64\n"
    "  %product = mul i64 %wide, 2863311531\n"
    "  %high = lshr i64 %product, 33\n"
    "  %quotient = trunc i64 %high to i32\n"
    "  %to = getelementptr i32, ptr addrspace(1) %out, i32 %i\n"
    "  store i32 %quotient, ptr addrspace(1) %to\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define amdgpu_kernel void @hidden(ptr addrspace(1) %out) #1 {\n"
    "  %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "  %v = load i32, ptr addrspace(4) %p\n"
    "  store i32 %v, ptr addrspace(1) %out\n"
    "  ret void\n"
    "}\n"
    "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"1,256\" \"amdgpu-no-implicitarg-ptr\" "
    "\"amdgpu-no-dispatch-ptr\" \"amdgpu-no-queue-ptr\" \"amdgpu-no-dispatch-id\" \"amdgpu-no-workgroup-id-y\" "
    "\"amdgpu-no-cluster-id-y\" \"amdgpu-no-cluster-id-z\" \"amdgpu-no-workgroup-id-z\" \"amdgpu-no-workitem-id-y\" "
    "\"amdgpu-no-workitem-id-z\" "
    "\"uniform-work-group-size\"=\"true\" }\n"
    "attributes #1 = { \"amdgpu-flat-work-group-size\"=\"1,64\" }\n"
    "!llvm.module.flags = !{!0}\n"
    "!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n";

static inline LLVMTargetMachineRef machine_for(const char *triple, const char *processor, const char *features) {
  char reason[TJ_LIBRARY_MESSAGE_SIZE], *message = NULL;
  LLVMTargetRef target;
  ck_assert_msg(tj_llvm_load(reason), "%s", reason);
  LLVMInitializeAMDGPUAsmParser();
  if (LLVMGetTargetFromTriple(triple, &target, &message))
    ck_abort_msg("%s", message);
  return LLVMCreateTargetMachine(target, triple, processor, features, LLVMCodeGenLevelAggressive, LLVMRelocPIC,
                                 LLVMCodeModelDefault);
}

/* The relocatable object of a module, in the job's arena. */
static inline tj_bytes make_object(tj_job *job, const char *ir, const char *triple, const char *processor,
                                   const char *features) {
  char *message = NULL;
  LLVMTargetMachineRef machine = machine_for(triple, processor, features);
  LLVMContextRef context = LLVMContextCreate();
  LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "test");
  LLVMMemoryBufferRef object;
  LLVMModuleRef module;
  if (LLVMParseIRInContext(context, text, &module, &message))
    ck_abort_msg("%s", message);
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
    ck_abort_msg("%s", message);
  size_t size = LLVMGetBufferSize(object);
  tj_bytes bytes = {tj_arena_copy(&job->arena, LLVMGetBufferStart(object), size), size};
  LLVMDisposeMemoryBuffer(object);
  LLVMDisposeModule(module);
  LLVMDisposeTargetMachine(machine);
  LLVMContextDispose(context);
  return bytes;
}

static inline tj_bytes make_amdgpu_object(tj_job *job, const char *ir, const char *processor) {
  return make_object(job, ir, "amdgcn-amd-amdhsa", processor, "");
}

static inline tj_bytes make_host_object(tj_job *job, const char *ir) {
  return make_object(job, ir, TILEJIT_HOST_TRIPLE, "", "");
}

#endif
