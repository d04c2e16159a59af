/* SPDX-License-Identifier: MIT */
/* Images and machine code: creation and reference counts. */
#include "launch/image/image.h"

#include "base/machine/target_id.h"

/* --- machine code --- */

typedef struct {
  tj_machine *machine;
  const tj_launch_plan *plan;
  const tj_host_linker *linker;
} loading;

static void load_host_code(tj_job *job, void *data) {
  loading *l = data;
  const char **symbol = TJ_NEW_ARRAY(job, const char *, l->plan->variant_count);
  for (uint32_t i = 0; i < l->plan->variant_count; i++)
    symbol[i] = l->plan->variant[i].symbol;
  l->machine->host = tj_host_code_load(job, l->machine->bytes, l->linker, symbol, l->plan->variant_count);
}

static tj_machine *create_machine(const tj_allocator *allocator, tj_bytes bytes) {
  tj_machine *machine = allocator->allocate(allocator->user, sizeof *machine + bytes.size);
  if (machine == NULL)
    return NULL;
  if (bytes.size > 0)
    memcpy(machine + 1, bytes.data, bytes.size);
  *machine = (tj_machine){.allocator = *allocator, .references = 1, .bytes = {machine + 1, bytes.size}};
  tj_machine_residents_open(&machine->residents);
  return machine;
}

/* Loading runs in a job of the machine code's allocator, since the handle outlives `job`. */
tj_machine *tj_machine_load(tj_job *job, const tj_allocator *allocator, tj_bytes bytes, const tj_launch_plan *plan,
                            const tj_host_linker *linker) {
  tj_machine *machine = create_machine(allocator, bytes);
  if (machine == NULL)
    tj_fail_out_of_memory(job);
  if (!tj_target_is_host(plan->target))
    return machine;
  tj_job inner;
  tj_job_init(&inner, allocator);
  tj_status status = tj_job_run(&inner, load_host_code, &(loading){machine, plan, linker});
  const char *message = status == TJ_ERROR_INPUT ? tj_string_format(job, "%s", inner.problem.message) : "";
  tj_job_destroy(&inner);
  if (status == TJ_OK)
    return machine;
  tj_machine_release(machine);
  if (status == TJ_ERROR_MEMORY)
    tj_fail_out_of_memory(job);
  tj_fail(job, TJ_CODEGEN, "%s", message);
}

bool tj_machine_stands_by_itself(const tj_machine *machine) {
  return machine->host == NULL || tj_host_code_stands_by_itself(machine->host);
}

tj_machine *tj_machine_retain(tj_machine *machine) {
  atomic_fetch_add_explicit(&machine->references, 1, memory_order_relaxed);
  return machine;
}

void tj_machine_release(tj_machine *machine) {
  if (machine == NULL || atomic_fetch_sub_explicit(&machine->references, 1, memory_order_acq_rel) != 1)
    return;
  tj_machine_residents_close(&machine->residents);
  tj_host_code_unload(machine->host);
  machine->allocator.release(machine->allocator.user, machine);
}

/* --- images --- */

static void read_plan(tj_job *job, void *data) {
  tj_image *image = data;
  image->plan_bytes.data = tj_arena_copy(&job->arena, image->plan_bytes.data, image->plan_bytes.size);
  tj_reader reader = {.bytes = image->plan_bytes};
  image->plan = tj_launch_plan_read(job, &reader);
}

tj_image *tj_image_create(const tj_allocator *allocator, tj_bytes plan, tj_machine *machine) {
  tj_image *image = allocator->allocate(allocator->user, sizeof *image);
  if (image == NULL)
    return NULL;
  *image = (tj_image){.references = 1, .plan_bytes = plan, .machine = tj_machine_retain(machine)};
  tj_job_init(&image->job, allocator);
  if (tj_job_run(&image->job, read_plan, image) == TJ_OK && image->plan != NULL)
    return image;
  tj_image_release(image);
  return NULL;
}

void tj_image_write(tj_text *text, const tj_image *image) {
  tj_write_bytes(text, image->plan_bytes);
  tj_write_bytes(text, image->machine->bytes);
}

tj_image *tj_image_read(tj_job *job, const tj_allocator *allocator, tj_reader *reader) {
  tj_reader plan_reader = {.bytes = tj_read_bytes(reader)};
  tj_bytes machine_bytes = tj_read_bytes(reader);
  const tj_launch_plan *plan = tj_launch_plan_read(job, &plan_reader);
  if (reader->is_failed || plan == NULL)
    return NULL;
  tj_machine *machine = tj_machine_load(job, allocator, machine_bytes, plan, NULL);
  tj_image *image = tj_image_create(allocator, plan_reader.bytes, machine);
  tj_machine_release(machine);
  return image;
}

tj_image *tj_image_retain(tj_image *image) {
  atomic_fetch_add_explicit(&image->references, 1, memory_order_relaxed);
  return image;
}

void tj_image_release(tj_image *image) {
  if (image == NULL || atomic_fetch_sub_explicit(&image->references, 1, memory_order_acq_rel) != 1)
    return;
  tj_allocator allocator = image->job.allocator;
  tj_machine_release(image->machine);
  tj_job_destroy(&image->job);
  allocator.release(allocator.user, image);
}

size_t tj_image_size(const tj_image *image) {
  const tj_machine *machine = image->machine;
  size_t loaded = machine->host != NULL ? tj_host_code_size(machine->host) : 0;
  return sizeof *image + image->job.arena.total + sizeof *machine + machine->bytes.size + loaded;
}
