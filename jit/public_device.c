/* SPDX-License-Identifier: MIT */
/* Devices and versions of the public library. */
#include "jit/public_device.h"

#include "jit/context.h"

#include <jansson.h>
#include <llvm-c/Core.h>

enum { MOST_DEVICES = 64 };

/* --- devices --- */

tj_status tj_device_open(tj_context *context, const char *name, tj_device **device) {
  tj_context_forget(context);
  tj_device *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->allocator = context->allocator;
  atomic_init(&made->holders, 1);
  tj_rt_error error;
  tj_status status = tj_rt_open(name, &context->allocator, &made->rt, &error);
  if (status == TJ_OK) {
    tj_device_residents_open(&made->residents, made->rt, &made->allocator);
    *device = made;
    return TJ_OK;
  }
  tj_context_release(context, made);
  return tj_context_fail(context, status, error.code, error.text);
}

tj_device *tj_device_retain(tj_device *device) {
  atomic_fetch_add(&device->holders, 1);
  return device;
}

void tj_device_release(tj_device *device) {
  if (atomic_fetch_sub(&device->holders, 1) != 1)
    return;
  tj_allocator allocator = device->allocator;
  tj_device_residents_close(&device->residents);
  tj_rt_close(device->rt);
  allocator.release(allocator.user, device);
}

void tj_device_close(tj_device *device) {
  if (device == NULL)
    return;
  tj_rt_error ignored;
  tj_rt_wait(device->rt, NULL, &ignored);
  tj_device_release(device);
}

const char *tj_device_target(const tj_device *device) {
  return device->rt->info.target;
}

/* --- texts --- */

static void list_devices(tj_text *text, const void *data) {
  (void)data;
  tj_rt_info *info = TJ_NEW_ARRAY(text->job, tj_rt_info, MOST_DEVICES);
  size_t count = tj_rt_list(info, MOST_DEVICES);
  for (size_t i = 0; i < count && i < MOST_DEVICES; i++)
    tj_text_format(text, "%s\t%s\n", info[i].name, info[i].description);
}

tj_status tj_device_list(tj_context *context, tj_blob *text) {
  return tj_context_write(context, list_devices, NULL, text);
}

static void write_versions(tj_text *text, const void *data) {
  (void)data;
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  tj_text_format(text, "tilejit %s\nLLVM %u.%u.%u\njansson %s\n", TJ_VERSION, major, minor, patch,
                 jansson_version_str());
}

tj_status tj_version_text(tj_context *context, tj_blob *text) {
  return tj_context_write(context, write_versions, NULL, text);
}
