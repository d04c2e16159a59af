/* SPDX-License-Identifier: MIT */
/* Arguments of a launch: what they need, and what is bound to them. */
#include "launch/api/launch.h"

#include <inttypes.h>
#include <string.h>

uint32_t tj_launch_find_buffer(tj_launch *launch, const char *name) {
  const tj_launch_plan *plan = tj_plan_of(launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    if (strcmp(plan->buffer[i].name, name) == 0)
      return i;
  }
  tj_fail(&launch->job, TJ_KERNEL_ARGUMENT, "kernel '%s' has no argument '%s'", plan->kernel, name);
}

/* --- what they need --- */

static void describe_argument(tj_job *job, void *data) {
  const tj_launch_request *r = data;
  tj_launch *launch = r->launch;
  const tj_launch_plan *plan = tj_plan_of(launch);
  if (r->index >= plan->buffer_count)
    tj_fail(job, TJ_KERNEL_ARGUMENT, "kernel '%s' has %" PRIu32 " arguments", plan->kernel, plan->buffer_count);
  tj_launch_resolve(launch);
  const tj_launch_buffer *buffer = &plan->buffer[r->index];
  int64_t *lengths = TJ_NEW_ARRAY(job, int64_t, buffer->rank + 1);
  for (uint32_t i = 0; i < buffer->rank; i++)
    lengths[i] = tj_launch_evaluate(launch, buffer->extent[i]);
  launch->argument = tj_code_argument(launch->code, r->index);
  launch->argument.element_count = tj_launch_evaluate(launch, buffer->element_count);
  launch->argument.lengths = lengths;
}

tj_status tj_launch_argument(tj_launch *launch, size_t index, const tj_argument **argument) {
  tj_status status = tj_launch_perform(launch, describe_argument, (tj_launch_request){.index = index});
  if (status == TJ_OK)
    *argument = &launch->argument;
  return status;
}

static size_t needed_bytes(tj_launch *launch, const tj_launch_buffer *buffer) {
  int64_t elements = tj_launch_evaluate(launch, buffer->element_count);
  size_t bytes;
  if (__builtin_mul_overflow(elements, tj_dtype_bits(buffer->dtype) / 8, &bytes))
    tj_fail(&launch->job, TJ_BUFFER_SIZE, "'%s' needs more bytes than there are addresses", buffer->name);
  return bytes;
}

static bool is_on_device(const tj_bound_memory *memory) {
  return memory->kind == TJ_BOUND_BUFFER || memory->kind == TJ_BOUND_POINTER;
}

static uint64_t address_of(const tj_bound_memory *memory) {
  return is_on_device(memory) ? memory->address : (uint64_t)(uintptr_t)memory->data;
}

void tj_launch_check_memory(tj_launch *launch, uint32_t number) {
  const tj_launch_buffer *buffer = &tj_plan_of(launch)->buffer[number];
  const tj_bound_memory *memory = &launch->memory[number];
  if (memory->kind == TJ_BOUND_NOTHING) {
    tj_note(&launch->job, "bind an array, a buffer or a pointer to it");
    tj_fail(&launch->job, TJ_KERNEL_ARGUMENT, "argument '%s' has no array", buffer->name);
  }
  size_t needed = needed_bytes(launch, buffer);
  if (memory->bytes < needed)
    tj_fail(&launch->job, TJ_BUFFER_SIZE, "'%s' needs %zu bytes, the array has %zu", buffer->name, needed,
            memory->bytes);
  if (memory->kind != TJ_BOUND_BUFFER && address_of(memory) == 0 && needed > 0)
    tj_fail(&launch->job, TJ_POINTER, "the address of '%s' is none", buffer->name);
}

/* --- memory that two share --- */

/* Whether what the kernel reaches through one argument begins before the end of what it reaches through another. */
static bool begins_before_end(tj_launch *launch, uint32_t one, uint32_t other) {
  size_t needed = needed_bytes(launch, &tj_plan_of(launch)->buffer[other]);
  return address_of(&launch->memory[one]) < address_of(&launch->memory[other]) + needed;
}

static bool overlap(tj_launch *launch, uint32_t a, uint32_t b) {
  const tj_bound_memory *memory = launch->memory;
  bool are_comparable = memory[a].kind != TJ_BOUND_NOTHING && memory[b].kind != TJ_BOUND_NOTHING &&
                        is_on_device(&memory[a]) == is_on_device(&memory[b]);
  return are_comparable && begins_before_end(launch, a, b) && begins_before_end(launch, b, a);
}

void tj_launch_check_sharing(tj_launch *launch) {
  const tj_launch_buffer *buffer = tj_plan_of(launch)->buffer;
  for (uint32_t b = 0; b < tj_plan_of(launch)->buffer_count; b++) {
    for (uint32_t a = 0; a < b; a++) {
      if ((!buffer[a].is_written && !buffer[b].is_written) || !overlap(launch, a, b))
        continue;
      tj_note(&launch->job, "bind memory that does not overlap");
      tj_fail(&launch->job, TJ_KERNEL_ARGUMENT, "arguments '%s' and '%s' share memory, and it is written",
              buffer[a].name, buffer[b].name);
    }
  }
}

/* --- binding --- */

static void bind_memory(tj_job *job, void *data) {
  (void)job;
  const tj_launch_request *r = data;
  uint32_t number = tj_launch_find_buffer(r->launch, r->name);
  tj_launch_resolve(r->launch);
  r->launch->memory[number] = r->memory;
  tj_launch_check_memory(r->launch, number);
}

static tj_status bind(tj_launch *launch, const char *argument, tj_bound_memory memory) {
  return tj_launch_perform(launch, bind_memory, (tj_launch_request){.name = argument, .memory = memory});
}

tj_status tj_launch_bind(tj_launch *launch, const char *argument, void *data, size_t bytes) {
  return bind(launch, argument, (tj_bound_memory){.kind = TJ_BOUND_ARRAY, .data = data, .bytes = bytes});
}

tj_status tj_launch_bind_buffer(tj_launch *launch, const char *argument, tj_buffer *buffer) {
  return tj_launch_bind_buffer_at(launch, argument, buffer, 0);
}

static void refuse_offset(tj_job *job, void *data) {
  const tj_launch_request *r = data;
  tj_fail(job, TJ_BUFFER_SIZE, "'%s' begins at byte %zu, of a buffer of %zu bytes", r->name, r->index,
          r->memory.bytes);
}

tj_status tj_launch_bind_buffer_at(tj_launch *launch, const char *argument, tj_buffer *buffer, size_t offset) {
  size_t bytes = tj_buffer_size(buffer);
  if (offset > bytes)
    return tj_launch_perform(launch, refuse_offset,
                             (tj_launch_request){.name = argument, .index = offset, .memory = {.bytes = bytes}});
  return bind(launch, argument,
              (tj_bound_memory){.kind = TJ_BOUND_BUFFER,
                                .buffer = buffer,
                                .address = buffer->memory.address + offset,
                                .bytes = bytes - offset});
}

tj_status tj_launch_bind_pointer(tj_launch *launch, const char *argument, void *address, size_t bytes) {
  return bind(launch, argument,
              (tj_bound_memory){.kind = TJ_BOUND_POINTER, .address = (uint64_t)(uintptr_t)address, .bytes = bytes});
}
