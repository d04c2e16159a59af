/* SPDX-License-Identifier: MIT */
/* Bundles behind the public header: compiled kernels as bytes, found by name and target. */
#include "launch/image/bundle.h"

#include "base/file.h"
#include "base/machine/host_level.h"
#include "launch/api/code.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESSAGE_SIZE = 320 };

struct tj_bundle {
  tj_context *context; /* borrowed */
  tj_job job;          /* holds the bytes and what is known of them */
  tj_bundle_list list;
  tj_image **image; /* of each kernel, retained; NULL: not loaded yet */
};

/* --- opening --- */

typedef struct {
  tj_bundle *bundle;
  tj_bytes bytes;
} opening;

/* The list is there once all else is. */
static void list_kernels(tj_job *job, void *data) {
  const opening *o = data;
  tj_bytes copy = {tj_arena_copy(&job->arena, o->bytes.data, o->bytes.size), o->bytes.size};
  tj_bundle_list list = tj_bundle_list_of(job, copy);
  o->bundle->image = TJ_NEW_ARRAY(job, tj_image *, list.count + 1);
  o->bundle->list = list;
}

/* Reads a file into a block of the context's; false with errno. */
static bool read_file(tj_context *context, const char *path, tj_bytes *bytes) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool is_regular = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  bytes->size = is_regular ? (size_t)status.st_size : 0;
  char *data = tj_context_allocate(context, bytes->size);
  bool is_read = is_regular && data != NULL && tj_file_read(file, data, bytes->size);
  int why = errno;
  if (file >= 0)
    close(file);
  bytes->data = data;
  errno = file >= 0 && !is_regular ? EINVAL : why;
  return is_read;
}

static tj_status fail_to_read(tj_context *context, const char *path, int why) {
  char message[MESSAGE_SIZE];
  snprintf(message, sizeof message, "%.200s: %s", path, why != 0 ? strerror(why) : "the file became shorter");
  return tj_context_fail(context, TJ_ERROR_SYSTEM, TJ_FILE_READ, message);
}

tj_status tj_bundle_open(tj_context *context, const void *bytes, size_t size, tj_bundle **bundle) {
  tj_context_forget(context);
  tj_bundle *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->context = context;
  tj_job_init(&made->job, &context->allocator);
  tj_status status = tj_context_run(context, &made->job, list_kernels, &(opening){made, {bytes, size}});
  if (status == TJ_OK)
    *bundle = made;
  else
    tj_bundle_destroy(made);
  return status;
}

tj_status tj_bundle_open_file(tj_context *context, const char *path, tj_bundle **bundle) {
  tj_bytes bytes;
  tj_context_forget(context);
  bool is_read = read_file(context, path, &bytes);
  if (bytes.data == NULL)
    return TJ_ERROR_MEMORY;
  tj_status status =
      is_read ? tj_bundle_open(context, bytes.data, bytes.size, bundle) : fail_to_read(context, path, errno);
  tj_context_release(context, (void *)bytes.data);
  return status;
}

void tj_bundle_destroy(tj_bundle *bundle) {
  if (bundle == NULL)
    return;
  for (uint32_t i = 0; i < bundle->list.count; i++)
    tj_image_release(bundle->image[i]);
  tj_job_destroy(&bundle->job);
  tj_context_release(bundle->context, bundle);
}

/* --- what is in it --- */

size_t tj_bundle_count(const tj_bundle *bundle) {
  return bundle->list.count;
}

tj_bundle_entry tj_bundle_entry_of(const tj_bundle *bundle, size_t index) {
  if (index >= bundle->list.count)
    return (tj_bundle_entry){0};
  const tj_bundled *kernel = &bundle->list.kernel[index];
  return (tj_bundle_entry){kernel->plan->kernel, kernel->plan->target, kernel->image.size};
}

/* --- its code --- */

typedef struct {
  tj_bundle *bundle;
  const char *kernel, *target;
  tj_image *image; /* the bundle's */
} choosing;

static void choose(tj_job *job, void *data) {
  choosing *c = data;
  const tj_bundled *chosen = tj_bundle_choose(job, &c->bundle->list, c->kernel, c->target);
  tj_image **image = &c->bundle->image[chosen - c->bundle->list.kernel];
  if (*image == NULL)
    *image = tj_bundle_load(job, &c->bundle->context->allocator, chosen);
  c->image = *image;
}

tj_status tj_bundle_code(tj_bundle *bundle, const char *kernel, const char *target, tj_code **code) {
  tj_job job;
  tj_job_init(&job, &bundle->context->allocator);
  choosing c = {.bundle = bundle, .kernel = kernel, .target = target};
  tj_status status = tj_context_run(bundle->context, &job, choose, &c);
  tj_job_destroy(&job);
  tj_code *made = status == TJ_OK ? tj_context_allocate(bundle->context, sizeof *made) : NULL;
  if (made == NULL)
    return status != TJ_OK ? status : TJ_ERROR_MEMORY;
  *made = (tj_code){.context = bundle->context, .image = tj_image_retain(c.image), .origin = TJ_CODE_FROM_BUNDLE};
  *code = made;
  return TJ_OK;
}

/* --- making one --- */

const char *tj_bundle_host_target(size_t index) {
  const tj_host_level *level = index <= INT_MAX ? tj_host_level_at((int)index) : NULL;
  return level != NULL ? level->name : NULL;
}

typedef struct {
  tj_context *context;
  const tj_code *const *code;
  size_t count;
} making;

static void write_bundle(tj_text *text, const void *data) {
  const making *m = data;
  const tj_image **image = TJ_NEW_ARRAY(text->job, const tj_image *, m->count + 1);
  for (size_t i = 0; i < m->count; i++) {
    (void)tj_code_require(text->job, m->code[i], TJ_ALL_VARIANTS, &(tj_part_order){.context = m->context});
    image[i] = m->code[i]->image;
  }
  tj_bundle_compose(text, image, m->count);
}

tj_status tj_bundle_write(tj_context *context, const tj_code *const codes[], size_t count, tj_blob *bundle) {
  return tj_context_write(context, write_bundle, &(making){context, codes, count}, bundle);
}
