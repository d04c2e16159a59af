/* SPDX-License-Identifier: MIT */
/* Keys of the cache: requests and kernels as bytes, and what this compiler is. */
#include "jit/cache/cache_key.h"

#include "base/build_id.h"
#include "launch/image/launch_plan.h"
#include "launch/image/serial.h"
#include "llvm/llvm.h"

#include <stdio.h>

/* --- the compiler --- */

void tj_compiler_identity(char identity[TJ_COMPILER_IDENTITY_SIZE]) {
  char ours[TJ_BUILD_ID_SIZE], llvm[TJ_LLVM_IDENTITY_SIZE];
  void *here;
  void (*self)(char *) = tj_compiler_identity;
  memcpy(&here, &self, sizeof here);
  tj_build_id_of_place(here, ours);
  tj_llvm_identify(llvm);
  snprintf(identity, TJ_COMPILER_IDENTITY_SIZE, "tilejit %s %s, plan %d, code %d, %s", TJ_VERSION, ours,
           TJ_LAUNCH_PLAN_VERSION, TJ_MACHINE_VERSION, llvm);
}

/* --- texts --- */

static void write_target(tj_text *text, const tj_target *target) {
  tj_write_string(text, target->name);
  tj_write_string(text, target->triple);
  tj_write_string(text, target->processor);
  tj_write_string(text, target->features);
  tj_write_string(text, target->passes);
  tj_write_u32(text, target->code_object_version);
}

tj_bytes tj_cache_text_key(tj_job *job, const char *identity, const tj_text_request *request) {
  tj_text key = tj_text_begin(job);
  tj_write_string(&key, identity);
  write_target(&key, request->target);
  tj_write_u8(&key, request->kernel != NULL);
  tj_write_string(&key, request->kernel != NULL ? request->kernel : "");
  tj_write_u64(&key, request->fixed_count);
  for (size_t i = 0; i < request->fixed_count; i++) {
    tj_write_string(&key, request->fixed[i].name);
    tj_write_u64(&key, (uint64_t)request->fixed[i].value);
  }
  tj_write_bytes(&key, request->text);
  return (tj_bytes){key.data, key.length};
}

/* --- parts --- */

tj_bytes tj_cache_part_key(tj_job *job, const char *identity, const tj_target *target, const tj_machine *machine,
                           uint32_t number) {
  tj_text key = tj_text_begin(job);
  tj_write_string(&key, identity);
  write_target(&key, target);
  tj_write_u32(&key, number);
  tj_write_bytes(&key, machine->kernel);
  return (tj_bytes){key.data, key.length};
}

/* --- kernels --- */

tj_bytes tj_cache_kernel_key(tj_job *job, const char *identity, tj_bytes kernel, const tj_target *target) {
  tj_text key = tj_text_begin(job);
  tj_write_string(&key, identity);
  write_target(&key, target);
  tj_text_add(&key, kernel.data, kernel.size);
  return (tj_bytes){key.data, key.length};
}
