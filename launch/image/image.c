/* SPDX-License-Identifier: MIT */
/* Images: creation, reference counts, and as bytes. */
#include "launch/image/image.h"

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
  tj_machine_write(text, image->machine);
}

tj_image *tj_image_read(tj_job *job, const tj_allocator *allocator, tj_reader *reader) {
  tj_reader plan_reader = {.bytes = tj_read_bytes(reader)};
  const tj_launch_plan *plan = tj_launch_plan_read(job, &plan_reader);
  tj_machine *machine = plan != NULL ? tj_machine_read(job, allocator, reader, plan) : NULL;
  if (machine == NULL)
    return NULL;
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
  return sizeof *image + image->job.arena.total + tj_machine_size(image->machine);
}
