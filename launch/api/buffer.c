/* SPDX-License-Identifier: MIT */
/* Buffers: memory of a device, or of others on it; writing and reading it. */
#include "launch/api/buffer.h"

static tj_status result(tj_context *context, tj_status status, const tj_rt_error *error) {
  return status == TJ_OK ? TJ_OK : tj_context_fail(context, status, error->code, error->text);
}

tj_status tj_buffer_create(tj_context *context, tj_device *device, size_t bytes, tj_buffer **buffer) {
  tj_context_forget(context);
  tj_buffer *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  tj_rt_error error;
  tj_status status = tj_rt_allocate(device->rt, bytes, &made->memory, &error);
  if (status != TJ_OK) {
    tj_context_release(context, made);
    return result(context, status, &error);
  }
  made->context = context;
  made->device = tj_device_retain(device);
  *buffer = made;
  return TJ_OK;
}

tj_status tj_buffer_import(tj_context *context, tj_device *device, void *address, size_t bytes,
                           tj_release_function release, void *user, tj_buffer **buffer) {
  tj_context_forget(context);
  if (address == NULL && bytes > 0)
    return tj_context_fail(context, TJ_ERROR_INPUT, TJ_POINTER, "the address of the memory is none");
  tj_buffer *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  *made = (tj_buffer){.context = context,
                      .device = tj_device_retain(device),
                      .memory = tj_rt_borrow((uint64_t)(uintptr_t)address, bytes),
                      .release = release,
                      .user = user};
  *buffer = made;
  return TJ_OK;
}

void tj_buffer_destroy(tj_buffer *buffer) {
  if (buffer == NULL)
    return;
  tj_rt_release(buffer->device->rt, &buffer->memory);
  if (buffer->release != NULL)
    buffer->release(buffer->user);
  tj_device_release(buffer->device);
  tj_context_release(buffer->context, buffer);
}

size_t tj_buffer_size(const tj_buffer *buffer) {
  return buffer->memory.size;
}

void *tj_buffer_address(const tj_buffer *buffer) {
  return (void *)(uintptr_t)buffer->memory.address;
}

tj_status tj_buffer_write(tj_buffer *buffer, size_t offset, const void *data, size_t bytes) {
  tj_rt_error error;
  tj_context_forget(buffer->context);
  tj_status status = tj_rt_write(buffer->device->rt, &buffer->memory, offset, (tj_bytes){data, bytes}, &error);
  return result(buffer->context, status, &error);
}

tj_status tj_buffer_read(tj_buffer *buffer, size_t offset, void *data, size_t bytes) {
  tj_rt_error error;
  tj_context_forget(buffer->context);
  tj_status status = tj_rt_read(buffer->device->rt, &buffer->memory, offset, data, bytes, &error);
  return result(buffer->context, status, &error);
}
