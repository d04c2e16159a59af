/* SPDX-License-Identifier: MIT */
/* Bundles: written, taken apart, and the code of one kernel. */
#include "launch/image/bundle.h"

#include "base/machine/host_level.h"
#include "base/machine/processor.h"
#include "base/machine/target_id.h"
#include "launch/image/entry.h"
#include "object/code_object.h"
#include "object/cubin.h"

enum { LEAST_IMAGE_BYTES = 2 * sizeof(uint64_t) };

static bool is_same(const tj_launch_plan *a, const tj_launch_plan *b) {
  return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->target, b->target) == 0;
}

/* Whether code is for this very processor, whichever that was. */
static bool is_for_one_host(const tj_launch_plan *plan) {
  return tj_target_is_host(plan->target) && tj_host_level_find(plan->target) < 0;
}

/* --- writing --- */

static const tj_machine_part *whole_of(const tj_image *image) {
  return tj_machine_find(image->machine, TJ_ALL_VARIANTS);
}

static void check_portable(tj_job *job, const tj_image *image) {
  const tj_launch_plan *plan = image->plan;
  if (is_for_one_host(plan)) {
    tj_note(job, "compile it for a level of processors, such as x86-64-v3");
    tj_fail(job, TJ_BUNDLE_CODE, "the code of kernel '%s' is for this processor alone", plan->kernel);
  }
  if (!tj_machine_part_stands_by_itself(whole_of(image)))
    tj_fail(job, TJ_BUNDLE_CODE, "the code of kernel '%s' for %s calls functions of the process", plan->kernel,
            plan->target);
}

static void check_images(tj_job *job, const tj_image *const images[], size_t count) {
  for (size_t i = 0; i < count; i++) {
    check_portable(job, images[i]);
    for (size_t k = 0; k < i; k++) {
      if (is_same(images[i]->plan, images[k]->plan))
        tj_fail(job, TJ_BUNDLE_CODE, "two kernels '%s' for %s", images[i]->plan->kernel, images[i]->plan->target);
    }
  }
}

void tj_bundle_compose(tj_text *text, const tj_image *const images[], size_t count) {
  tj_text payload = tj_text_begin(text->job);
  check_images(text->job, images, count);
  tj_write_u32(&payload, TJ_BUNDLE_VERSION);
  tj_write_u32(&payload, (uint32_t)count);
  for (size_t i = 0; i < count; i++) {
    tj_write_bytes(&payload, images[i]->plan_bytes);
    tj_write_bytes(&payload, whole_of(images[i])->bytes);
  }
  unsigned char header[TJ_ENTRY_HEADER_BYTES];
  tj_entry_header(header, TJ_ENTRY_BUNDLE, &(tj_entry){.payload = {payload.data, payload.length}});
  tj_text_add(text, (const char *)header, sizeof header);
  tj_text_add(text, payload.data, payload.length);
}

/* --- reading --- */

static tj_bytes payload_of(tj_job *job, tj_bytes file) {
  tj_entry entry = {0};
  switch (tj_entry_read(file, TJ_ENTRY_BUNDLE, &entry)) {
  case TJ_ENTRY_WHOLE:
    if (entry.key.size == 0)
      return entry.payload;
    break;
  case TJ_ENTRY_FOREIGN:
    tj_fail(job, TJ_BUNDLE, "these bytes are no bundle");
  case TJ_ENTRY_OTHER_VERSION:
    tj_fail(job, TJ_BUNDLE, "the bundle was made by another version of tilejit");
  case TJ_ENTRY_DAMAGED:
    break;
  }
  tj_fail(job, TJ_BUNDLE, "the bundle is damaged");
}

static const tj_launch_plan *read_plan(tj_job *job, tj_bytes bytes) {
  tj_reader reader = {.bytes = bytes};
  if (tj_read_u32(&reader) != TJ_LAUNCH_PLAN_VERSION)
    tj_fail(job, TJ_BUNDLE, "the bundle has a kernel of another version of tilejit");
  reader.at = 0;
  const tj_launch_plan *plan = tj_launch_plan_read(job, &reader);
  return plan != NULL && reader.at == bytes.size && !is_for_one_host(plan) ? plan : NULL;
}

static tj_bundled read_kernel(tj_job *job, tj_reader *reader) {
  size_t begin = reader->at;
  tj_bytes plan = tj_read_bytes(reader);
  (void)tj_read_bytes(reader);
  tj_bundled kernel = {.plan = reader->is_failed ? NULL : read_plan(job, plan)};
  if (kernel.plan == NULL)
    tj_fail(job, TJ_BUNDLE, "the bundle is damaged");
  kernel.image = tj_bytes_slice(reader->bytes, begin, reader->at - begin);
  return kernel;
}

static void check_names(tj_job *job, const tj_bundled kernel[], uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    tj_spend(job, i);
    for (uint32_t k = 0; k < i; k++) {
      if (is_same(kernel[i].plan, kernel[k].plan))
        tj_fail(job, TJ_BUNDLE, "the bundle has two kernels '%s' for %s", kernel[i].plan->kernel,
                kernel[i].plan->target);
    }
  }
}

tj_bundle_list tj_bundle_list_of(tj_job *job, tj_bytes file) {
  tj_reader reader = {.bytes = payload_of(job, file)};
  if (tj_read_u32(&reader) != TJ_BUNDLE_VERSION)
    tj_fail(job, TJ_BUNDLE, "the bundle was made by another version of tilejit");
  uint32_t count = tj_read_count(&reader, LEAST_IMAGE_BYTES);
  tj_bundled *kernel = TJ_NEW_ARRAY(job, tj_bundled, count + 1);
  for (uint32_t i = 0; i < count; i++)
    kernel[i] = read_kernel(job, &reader);
  if (reader.is_failed || reader.at != reader.bytes.size)
    tj_fail(job, TJ_BUNDLE, "the bundle is damaged");
  check_names(job, kernel, count);
  return (tj_bundle_list){kernel, count};
}

/* --- choosing --- */

static const char *only_name(tj_job *job, const tj_bundle_list *list) {
  if (list->count == 0)
    tj_fail(job, TJ_BUNDLE_KERNEL, "the bundle is empty");
  for (uint32_t i = 1; i < list->count; i++) {
    if (strcmp(list->kernel[i].plan->kernel, list->kernel[0].plan->kernel) != 0)
      tj_fail(job, TJ_BUNDLE_KERNEL, "the bundle has several kernels, among them '%s' and '%s': name one",
              list->kernel[0].plan->kernel, list->kernel[i].plan->kernel);
  }
  return list->kernel[0].plan->kernel;
}

/* Larger for code that is made for fewer devices. */
static int specialty(const char *target) {
  tj_target_id id;
  tj_target_reason ignored;
  tj_shared_memory memory;
  int fixed = tj_host_level_find(target);
  if (!tj_target_id_parse(target, &id, &ignored))
    return fixed;
  if (tj_shared_memory_of(id.processor, &memory))
    fixed += (int)memory.generation + id.is_cubin;
  for (unsigned i = 0; i < TJ_TARGET_FEATURE_COUNT; i++)
    fixed += id.feature[i] == TJ_FEATURE_ON || id.feature[i] == TJ_FEATURE_OFF;
  return fixed;
}

static bool is_better(const tj_bundled *one, const tj_bundled *other) {
  return other == NULL || specialty(one->plan->target) > specialty(other->plan->target);
}

/* gfx90a, gfx942 */
static const char *targets_of(tj_job *job, const tj_bundle_list *list, const char *kernel) {
  tj_text text = tj_text_begin(job);
  for (uint32_t i = 0; i < list->count; i++) {
    if (strcmp(list->kernel[i].plan->kernel, kernel) == 0)
      tj_text_format(&text, "%s%s", text.length > 0 ? ", " : "", list->kernel[i].plan->target);
  }
  return text.data;
}

_Noreturn static void refuse(tj_job *job, const tj_bundle_list *list, const char *kernel, const char *target) {
  const char *targets = targets_of(job, list, kernel);
  if (targets[0] == '\0')
    tj_fail(job, TJ_BUNDLE_KERNEL, "the bundle has no kernel '%s'", kernel);
  tj_fail(job, TJ_BUNDLE_KERNEL, "the bundle has kernel '%s' for %s, none of which runs on %s", kernel, targets,
          target);
}

const tj_bundled *tj_bundle_choose(tj_job *job, const tj_bundle_list *list, const char *kernel, const char *target) {
  const char *name = kernel != NULL ? kernel : only_name(job, list);
  const tj_bundled *best = NULL;
  tj_target_reason ignored;
  for (uint32_t i = 0; i < list->count; i++) {
    const tj_bundled *each = &list->kernel[i];
    if (strcmp(each->plan->kernel, name) == 0 && tj_target_allows(each->plan->target, target, &ignored) &&
        is_better(each, best))
      best = each;
  }
  if (best == NULL)
    refuse(job, list, name, target);
  return best;
}

/* --- loading --- */

typedef struct {
  const tj_allocator *allocator;
  const tj_bundled *kernel;
  tj_image *image;
} loading;

static void check_variant(tj_job *job, const tj_code_object *object, const tj_launch_plan *plan,
                          const tj_launch_variant *variant) {
  tj_code_object_check(job, object, variant->symbol, tj_launch_argument_bytes(plan, variant));
  const tj_kernel_code *code = tj_code_object_kernel(object, variant->symbol);
  if (code->descriptor.group_segment_bytes != variant->lds_bytes)
    tj_fail(job, TJ_CODEGEN, "kernel %s has another number of LDS bytes", variant->symbol);
  if (variant->workgroup_size > code->metadata->max_flat_workgroup_size)
    tj_fail(job, TJ_CODEGEN, "kernel %s takes no workgroups of that size", variant->symbol);
}

/* The code object is of the plan's target, and has its kernels. */
static void check_code_object(tj_job *job, const tj_launch_plan *plan, tj_bytes bytes) {
  const tj_code_object *object = tj_code_object_parse(job, bytes);
  if (strcmp(object->target_id, plan->target) != 0)
    tj_fail(job, TJ_CODEGEN, "code for %s instead of %s", object->target_id, plan->target);
  for (uint32_t i = 0; i < plan->variant_count; i++)
    check_variant(job, object, plan, &plan->variant[i]);
}

/* PTX is text, which is the driver's to read. */
static void check_text(tj_job *job, tj_bytes bytes) {
  if (bytes.size == 0 || memchr(bytes.data, '\0', bytes.size) != NULL)
    tj_fail(job, TJ_CODEGEN, "the code is no text");
}

/* The cubin is for the plan's processor, and has its kernels, which lay out no more shared memory than it says. */
static void check_cubin(tj_job *job, const tj_launch_plan *plan, const tj_shared_memory *memory, tj_bytes bytes) {
  const tj_cubin *cubin = tj_cubin_parse(job, bytes);
  if (cubin->capability != memory->generation)
    tj_fail(job, TJ_CODEGEN, "code for sm_%u instead of %s", cubin->capability, plan->target);
  for (uint32_t i = 0; i < plan->variant_count; i++) {
    const tj_cubin_kernel *kernel = tj_cubin_find(cubin, plan->variant[i].symbol);
    if (kernel == NULL || kernel->shared_bytes > plan->variant[i].lds_bytes)
      tj_fail(job, TJ_CODEGEN, "kernel %s is not there, or has another number of bytes of shared memory",
              plan->variant[i].symbol);
  }
}

static void check_code(tj_job *job, const tj_launch_plan *plan, tj_bytes bytes) {
  tj_target_id id;
  tj_target_reason ignored;
  tj_shared_memory memory;
  bool is_read = tj_target_id_parse(plan->target, &id, &ignored);
  bool is_nvidias = is_read && tj_shared_memory_of(id.processor, &memory) && memory.maker == TJ_MAKER_NVIDIA;
  if (is_nvidias && id.is_cubin)
    check_cubin(job, plan, &memory, bytes);
  else if (is_nvidias)
    check_text(job, bytes);
  else if (!tj_target_is_host(plan->target))
    check_code_object(job, plan, bytes);
}

/* The image comes last, since it belongs to no arena. */
static void load(tj_job *job, void *data) {
  loading *l = data;
  tj_reader reader = {.bytes = l->kernel->image};
  tj_bytes plan = tj_read_bytes(&reader), code = tj_read_bytes(&reader);
  check_code(job, l->kernel->plan, code);
  tj_machine *machine = tj_machine_load(job, l->allocator, code, l->kernel->plan, NULL);
  l->image = tj_image_create(l->allocator, plan, machine);
  tj_machine_release(machine);
}

tj_image *tj_bundle_load(tj_job *job, const tj_allocator *allocator, const tj_bundled *kernel) {
  loading l = {.allocator = allocator, .kernel = kernel};
  if (!tj_job_try(job, load, &l))
    tj_fail(job, TJ_BUNDLE, "kernel '%s' for %s: %s", kernel->plan->kernel, kernel->plan->target,
            job->problem.message);
  if (l.image == NULL)
    tj_fail_out_of_memory(job);
  return l.image;
}
