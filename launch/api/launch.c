/* SPDX-License-Identifier: MIT */
/* Launches made, given back, and run on devices of the library, waited for or not. */
#include "launch/api/launch.h"

#include "base/machine/target_id.h"
#include "launch/api/fence.h"
#include "launch/api/scratch.h"

#include <string.h>

/* --- creation --- */

static void reserve(tj_job *job, void *data) {
  tj_launch *launch = data;
  const tj_launch_plan *plan = tj_plan_of(launch);
  launch->value = TJ_NEW_ARRAY(job, int64_t, plan->parameter_count + 1);
  launch->bound = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
  launch->given = TJ_NEW_ARRAY(job, bool, plan->parameter_count + 1);
  launch->result = TJ_NEW_ARRAY(job, tj_launch_value, plan->step_count + 1);
  launch->shape = TJ_NEW_ARRAY(job, tj_told_shape, plan->buffer_count + 1);
  launch->memory = TJ_NEW_ARRAY(job, tj_bound_memory, plan->buffer_count + 1);
  launch->address = TJ_NEW_ARRAY(job, uint64_t, plan->buffer_count + 1);
  launch->copy = TJ_NEW_ARRAY(job, tj_rt_buffer, plan->buffer_count + 1);
  launch->block =
      TJ_NEW_ARRAY(job, uint64_t, tj_argument_bytes(tj_launch_block_words(plan), true) / sizeof(uint64_t));
}

tj_status tj_launch_create(tj_context *context, const tj_code *code, tj_launch **launch) {
  tj_launch *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->context = context;
  made->code = code;
  tj_job_init(&made->job, &context->allocator);
  tj_status status = tj_context_run(context, &made->job, reserve, made);
  if (status == TJ_OK)
    *launch = made;
  else
    tj_launch_destroy(made);
  return status;
}

void tj_launch_destroy(tj_launch *launch) {
  if (launch == NULL)
    return;
  tj_job_destroy(&launch->job);
  tj_context_release(launch->context, launch);
}

tj_status tj_launch_perform(tj_launch *launch, void (*body)(tj_job *job, void *data), tj_launch_request request) {
  request.launch = launch;
  request.name = request.name != NULL ? request.name : "";
  return tj_context_run(launch->context, &launch->job, body, &request);
}

/* --- memory of the run --- */

/* What a run works with on a device. Of a launch that is not waited for, all memory is the caller's. */
typedef struct {
  tj_launch *launch;
  tj_device *owner;
  tj_rt_device *device;
  tj_launch_end *end;
  tj_scratch *scratch; /* NULL: none is taken */
  uint32_t copy_count; /* of the launch's copies of host memory: those before that number are made */
  bool is_cancelled;
  tj_rt_error error;
} dispatch;

static void expect(dispatch *d, tj_status status) {
  if (status == TJ_ERROR_MEMORY)
    tj_fail_out_of_memory(&d->launch->job);
  if (status != TJ_OK)
    tj_fail_system(&d->launch->job, d->error.code, "%s", d->error.text);
}

static void check_owner(dispatch *d, uint32_t number) {
  const tj_bound_memory *memory = &d->launch->memory[number];
  if (memory->kind == TJ_BOUND_BUFFER && memory->buffer->device != d->owner)
    tj_fail(&d->launch->job, TJ_KERNEL_ARGUMENT, "the buffer of argument '%s' is of another device",
            tj_plan_of(d->launch)->buffer[number].name);
}

/* A copy of an argument's host memory, on the device for the time of the run. */
static void upload(dispatch *d, uint32_t number) {
  const tj_bound_memory *memory = &d->launch->memory[number];
  tj_rt_buffer *copy = &d->launch->copy[number];
  *copy = (tj_rt_buffer){0};
  d->copy_count = number + 1;
  if (memory->kind != TJ_BOUND_ARRAY)
    return;
  expect(d, tj_rt_allocate(d->device, memory->bytes, copy, &d->error));
  expect(d, tj_rt_write(d->device, copy, 0, (tj_bytes){memory->data, memory->bytes}, &d->error));
}

/* The address of every argument on the device. */
static void provide_memory(dispatch *d) {
  tj_launch *launch = d->launch;
  uint32_t count = tj_plan_of(launch)->buffer_count;
  for (uint32_t i = 0; i < count; i++) {
    tj_launch_check_memory(launch, i);
    check_owner(d, i);
  }
  tj_launch_check_sharing(launch);
  for (uint32_t i = 0; i < count; i++) {
    upload(d, i);
    bool is_copy = launch->memory[i].kind == TJ_BOUND_ARRAY;
    launch->address[i] = is_copy ? launch->copy[i].address : launch->memory[i].address;
  }
}

static void download(dispatch *d) {
  const tj_launch_plan *plan = tj_plan_of(d->launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    const tj_bound_memory *memory = &d->launch->memory[i];
    if (plan->buffer[i].is_written && memory->kind == TJ_BOUND_ARRAY)
      expect(d, tj_rt_read(d->device, &d->launch->copy[i], 0, memory->data, memory->bytes, &d->error));
  }
}

static void release_copies(dispatch *d) {
  for (uint32_t i = 0; i < d->copy_count; i++)
    tj_rt_release(d->device, &d->launch->copy[i]);
}

/* --- dispatch --- */

static void check_target(dispatch *d) {
  tj_target_reason reason;
  if (!tj_target_allows(tj_plan_of(d->launch)->target, d->device->info.target, &reason))
    tj_fail(&d->launch->job, TJ_DEVICE_TARGET, "%s", reason.text);
}

static tj_rt_kernel *load_variant(dispatch *d, uint32_t number) {
  tj_machine_residents *residents = &d->launch->code->image->machine->residents;
  const tj_machine_part *part = tj_launch_require(d->launch, number);
  const tj_launch_plan *plan = tj_plan_of(d->launch);
  tj_rt_kernel *kernel;
  tj_rt_code code = {.symbol = plan->variant[number].symbol,
                     .argument_words = tj_launch_block_words(plan),
                     .has_map = plan->variant[number].map != NULL,
                     .lds_bytes = plan->variant[number].lds_bytes,
                     .vault = d->launch->context->vault};
  if (part->host != NULL)
    code.entry = tj_machine_entry(part, number);
  else
    code.code_object = part->bytes;
  expect(d, tj_resident_kernel(residents, &d->owner->residents, number, &code, &kernel, &d->error));
  return kernel;
}

/* Its address; 0: the launch needs none. */
static uint64_t provide_scratch(dispatch *d) {
  uint32_t bytes = tj_plan_of(d->launch)->scratch_bytes;
  if (bytes == 0)
    return 0;
  expect(d, tj_scratch_take(d->owner, bytes, &d->scratch, &d->error));
  return d->scratch->buffer.address;
}

/* Kernels that are launched later on the device come behind these, and may have the same memory. */
static void return_scratch(dispatch *d) {
  if (d->scratch != NULL)
    tj_scratch_return(d->owner, d->scratch);
}

/* Puts a kernel's tensor map, as the device has it, into the argument block. */
static void encode_map(dispatch *d, const tj_prepared_kernel *kernel) {
  const tj_launch_plan *plan = tj_plan_of(d->launch);
  _Alignas(TJ_TENSOR_MAP_ALIGNMENT) unsigned char encoded[TJ_TENSOR_MAP_BYTES];
  if (plan->variant[kernel->variant].map == NULL)
    return;
  expect(d, tj_rt_encode_map(d->device, &d->launch->map, encoded, &d->error));
  memcpy((unsigned char *)d->launch->block + tj_map_offset(tj_launch_block_words(plan)), encoded, sizeof encoded);
}

static void launch_kernels(dispatch *d, const tj_prepared_launch *prepared) {
  tj_rt_kernel *kernel[TJ_LAUNCH_MOST_KERNELS];
  d->launch->times = (tj_code_times){0};
  for (uint32_t i = 0; i < prepared->count; i++)
    kernel[i] = load_variant(d, prepared->kernel[i].variant);
  for (uint32_t i = 0; i < prepared->count; i++) {
    const tj_prepared_kernel *each = &prepared->kernel[i];
    encode_map(d, each);
    tj_rt_dispatch packet = {d->launch->block, each->workgroups,
                             tj_plan_of(d->launch)->variant[each->variant].workgroup_size, tj_launch_end_add(d->end)};
    expect(d, tj_rt_launch(d->device, kernel[i], &packet, &d->error));
  }
}

static void start(dispatch *d) {
  tj_launch *launch = d->launch;
  check_target(d);
  tj_launch_resolve(launch);
  tj_launch_check_races(launch);
  provide_memory(d);
  for (uint32_t i = 0; i < tj_plan_of(launch)->buffer_count; i++)
    launch->shape[i].has_run = true;
  tj_prepared_launch prepared = tj_launch_ready(launch, launch->address, provide_scratch(d));
  launch_kernels(d, &prepared);
}

static bool goes_on(void *data, uint64_t done, uint64_t total) {
  dispatch *d = data;
  d->is_cancelled = !tj_tell(&d->launch->job.listener, TJ_WAITING_FOR_LAUNCH, done, total);
  return !d->is_cancelled;
}

static void finish(dispatch *d) {
  const tj_rt_watch watch = {goes_on, d};
  tj_status status = tj_launch_end_await(d->device, d->end, &watch, &d->launch->nanoseconds, &d->error);
  if (d->is_cancelled)
    tj_fail_cancelled(&d->launch->job);
  expect(d, status);
  size_t counters = tj_rt_counters(d->device, d->launch->counter, TJ_LAUNCH_COUNTERS);
  d->launch->counter_count = counters < TJ_LAUNCH_COUNTERS ? counters : TJ_LAUNCH_COUNTERS;
}

static void run(tj_job *job, void *data) {
  (void)job;
  dispatch *d = data;
  start(d);
  finish(d);
  download(d);
}

tj_status tj_launch_run(tj_launch *launch, tj_device *device) {
  tj_launch_end end = {.count = 0};
  dispatch d = {.launch = launch, .owner = device, .device = device->rt, .end = &end};
  tj_status status = tj_context_run(launch->context, &launch->job, run, &d);
  tj_launch_end_finish(device->rt, &end);
  return_scratch(&d);
  release_copies(&d);
  return status;
}

/* --- launches that are not waited for --- */

/* Host memory would have to be copied back when the kernel has ended, which nobody waits for. */
static void refuse_arrays(const dispatch *d) {
  const tj_launch_plan *plan = tj_plan_of(d->launch);
  for (uint32_t i = 0; i < plan->buffer_count; i++) {
    if (d->launch->memory[i].kind == TJ_BOUND_ARRAY)
      tj_fail(&d->launch->job, TJ_KERNEL_ARGUMENT, "argument '%s' of a launch that is submitted has no buffer",
              plan->buffer[i].name);
  }
}

static void submit(tj_job *job, void *data) {
  (void)job;
  dispatch *d = data;
  refuse_arrays(d);
  start(d);
}

tj_status tj_launch_submit(tj_launch *launch, tj_device *device, tj_fence **fence) {
  tj_context_forget(launch->context);
  tj_fence *made = tj_fence_create(launch->context, device, launch->code->image);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  dispatch d = {.launch = launch, .owner = device, .device = device->rt, .end = &made->end};
  tj_status status = tj_context_run(launch->context, &launch->job, submit, &d);
  return_scratch(&d);
  if (status == TJ_OK)
    *fence = made;
  else
    tj_fence_destroy(made);
  return status;
}

uint64_t tj_launch_nanoseconds(const tj_launch *launch) {
  return launch->nanoseconds;
}

size_t tj_launch_counter_count(const tj_launch *launch) {
  return launch->counter_count;
}

uint64_t tj_launch_counter(const tj_launch *launch, size_t index, const char **name) {
  *name = launch->counter[index].name;
  return launch->counter[index].value;
}
