/* SPDX-License-Identifier: MIT */
/* Devices of the public library. */
#include "launch/api/public_device.h"

#include "base/json.h"
#include "launch/api/context.h"

#include <inttypes.h>

enum { MOST_DEVICES = 64 };

/* --- devices --- */

/* Opens the device that `which` tells. */
typedef tj_status (*open_function)(const void *which, const tj_allocator *allocator, tj_rt_device **device,
                                   tj_rt_error *error);

static tj_status open_named(const void *which, const tj_allocator *allocator, tj_rt_device **device,
                            tj_rt_error *error) {
  return tj_rt_open(which, allocator, device, error);
}

static tj_status open_agent(const void *which, const tj_allocator *allocator, tj_rt_device **device,
                            tj_rt_error *error) {
  return tj_rt_attach(which, allocator, device, error);
}

static tj_status open_context(const void *which, const tj_allocator *allocator, tj_rt_device **device,
                              tj_rt_error *error) {
  return tj_rt_attach_cuda(which, allocator, device, error);
}

static tj_status open_device(tj_context *context, open_function open, const void *which, tj_device **device) {
  tj_context_forget(context);
  tj_device *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  made->allocator = context->allocator;
  atomic_init(&made->holders, 1);
  tj_rt_error error;
  tj_status status = open(which, &context->allocator, &made->rt, &error);
  if (status == TJ_OK) {
    tj_device_residents_open(&made->residents, made->rt, &made->allocator);
    tj_device_scratch_open(&made->scratch);
    *device = made;
    return TJ_OK;
  }
  tj_context_release(context, made);
  return tj_context_fail(context, status, error.code, error.text);
}

tj_status tj_device_open(tj_context *context, const char *name, tj_device **device) {
  return open_device(context, open_named, name, device);
}

tj_status tj_device_attach(tj_context *context, const tj_hsa_attachment *hsa, tj_device **device) {
  return open_device(context, open_agent, &(tj_rt_attachment){hsa->library, hsa->agent, hsa->queue}, device);
}

tj_status tj_device_attach_cuda(tj_context *context, const tj_cuda_attachment *cuda, tj_device **device) {
  tj_rt_cuda_attachment which = {cuda->library, cuda->context, cuda->stream, cuda->has_own_stream != 0};
  return open_device(context, open_context, &which, device);
}

void tj_device_lose(tj_device *device, const char *why) {
  tj_rt_lose(device->rt, why);
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
  tj_device_scratch_close(device);
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

tj_device_properties tj_device_properties_of(const tj_device *device) {
  const tj_rt_info *info = &device->rt->info;
  return (tj_device_properties){.name = info->name,
                                .target = info->target,
                                .description = info->description,
                                .bus = info->bus,
                                .uuid = info->uuid,
                                .parallelism = info->parallelism,
                                .memory = info->memory};
}

/* --- texts --- */

typedef struct {
  const tj_rt_info *info;
  size_t count;
} device_list;

static device_list list_devices(tj_job *job) {
  tj_rt_info *info = TJ_NEW_ARRAY(job, tj_rt_info, MOST_DEVICES);
  size_t count = tj_rt_list(info, MOST_DEVICES);
  return (device_list){info, count < MOST_DEVICES ? count : MOST_DEVICES};
}

static void write_device(tj_text *text, const tj_rt_info *info) {
  bool is_host = strcmp(info->target, "host") == 0;
  tj_text_format(text, "%-12s %-24s %-24s %3" PRIu32 " %s", info->name, info->target, info->description,
                 info->parallelism, is_host ? "cores" : "compute units");
  if (info->memory != 0)
    tj_text_format(text, ", %.1f GiB", (double)info->memory / (1 << 30));
  if (info->bus[0] != '\0')
    tj_text_format(text, ", PCI %s", info->bus);
  if (info->uuid[0] != '\0')
    tj_text_format(text, ", %s", info->uuid);
  tj_text_char(text, '\n');
}

static void write_devices(tj_text *text, const void *data) {
  (void)data;
  device_list devices = list_devices(text->job);
  for (size_t i = 0; i < devices.count; i++)
    write_device(text, &devices.info[i]);
}

/* What is not known is null. */
static void write_known(tj_json *json, const char *key, const char *value) {
  tj_json_member(json, key, value[0] != '\0' ? value : NULL);
}

static void write_device_as_json(tj_json *json, const tj_rt_info *info) {
  tj_json_open(json, '{');
  tj_json_member(json, "name", info->name);
  write_known(json, "target", info->target);
  write_known(json, "description", info->description);
  tj_json_number(json, "parallelism", info->parallelism);
  if (info->memory != 0)
    tj_json_number(json, "memory", (int64_t)info->memory);
  else
    tj_json_member(json, "memory", NULL);
  write_known(json, "bus", info->bus);
  write_known(json, "uuid", info->uuid);
  tj_json_close(json, '}');
}

static void write_devices_as_json(tj_text *text, const void *data) {
  (void)data;
  device_list devices = list_devices(text->job);
  tj_json json = tj_json_begin(text);
  tj_json_open(&json, '[');
  for (size_t i = 0; i < devices.count; i++)
    write_device_as_json(&json, &devices.info[i]);
  tj_json_close(&json, ']');
  tj_text_char(text, '\n');
}

tj_status tj_device_list(tj_context *context, tj_device_list_form form, tj_blob *text) {
  return tj_context_write(context, form == TJ_DEVICES_JSON ? write_devices_as_json : write_devices, NULL, text);
}
