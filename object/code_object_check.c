/* SPDX-License-Identifier: MIT */
/* Checking code objects against themselves, and those that the compiler has just made against what it meant to make.
 */
#include "object/code_object.h"

#include <inttypes.h>

/* A number that two sources state. */
typedef struct {
  const char *what;
  uint64_t in_metadata;
  uint64_t expected;
} agreement;

static void check_metadata(tj_job *job, const char *kernel, const tj_kernel_metadata *metadata,
                           const tj_kernel_descriptor *descriptor, tj_problem_code code) {
  const agreement pairs[] = {
      {"an argument block of", metadata->kernarg_bytes, descriptor->kernarg_bytes},
      {"LDS bytes of", metadata->group_segment_bytes, descriptor->group_segment_bytes},
      {"scratch bytes of", metadata->private_segment_bytes, descriptor->private_segment_bytes},
      {"a wave size of", metadata->wave_size, descriptor->wave_size},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (pairs[i].in_metadata != pairs[i].expected)
      tj_fail(job, code, "kernel %.100s: its metadata has %s %" PRIu64 " instead of %" PRIu64, kernel, pairs[i].what,
              pairs[i].in_metadata, pairs[i].expected);
}

/* As amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-. */
static bool is_for(const char *isa, const char *target) {
  char said[TJ_TARGET_ID_SIZE];
  tj_target_id id;
  tj_target_reason reason;
  const char *text = tj_target_id_in_isa(isa);
  if (text == NULL || !tj_target_id_parse(text, &id, &reason))
    return false;
  tj_target_id_write(&id, said);
  return strcmp(said, target) == 0;
}

void tj_code_object_agree(tj_job *job, const tj_code_object *object, tj_problem_code code) {
  if (!object->has_metadata)
    return;
  if (object->metadata_target[0] != '\0' && !is_for(object->metadata_target, object->target_id))
    tj_fail(job, code, "its metadata are for %.100s, its header is for %s", object->metadata_target,
            object->target_id);
  for (uint32_t i = 0; i < object->kernel_count; i++) {
    const tj_kernel_code *kernel = &object->kernel[i];
    if (kernel->metadata == NULL)
      tj_fail(job, code, "kernel %.100s: its metadata are missing", kernel->name);
    check_metadata(job, kernel->name, kernel->metadata, &kernel->descriptor, code);
  }
}

static void check_arguments(tj_job *job, const char *kernel, const tj_kernel_metadata *metadata) {
  for (uint32_t i = 0; i < metadata->argument_count; i++) {
    const tj_metadata_argument *argument = &metadata->argument[i];
    if (argument->is_hidden)
      tj_fail(job, TJ_CODEGEN, "kernel %s has the hidden argument %s", kernel, argument->value_kind);
    if ((uint64_t)argument->offset + argument->size > metadata->kernarg_bytes)
      tj_fail(job, TJ_CODEGEN, "kernel %s: argument %" PRIu32 " lies outside the argument block", kernel, i);
  }
}

void tj_code_object_check(tj_job *job, const tj_code_object *object, const char *kernel, uint32_t kernarg_bytes) {
  const tj_kernel_code *code = tj_code_object_kernel(object, kernel);
  if (code == NULL)
    tj_fail(job, TJ_CODEGEN, "kernel %s is not in the code object", kernel);
  if (code->metadata == NULL)
    tj_fail(job, TJ_CODEGEN, "kernel %s has no metadata", kernel);
  if (code->descriptor.kernarg_bytes != kernarg_bytes)
    tj_fail(job, TJ_CODEGEN, "kernel %s takes %" PRIu32 " bytes of arguments instead of %" PRIu32, kernel,
            code->descriptor.kernarg_bytes, kernarg_bytes);
  tj_code_object_agree(job, object, TJ_CODEGEN);
  check_arguments(job, kernel, code->metadata);
}
