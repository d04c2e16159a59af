/* SPDX-License-Identifier: MIT */
/* Copies that are not waited for, and copies from buffer to buffer, on one device or between two. */
#include "launch/api/buffer.h"
#include "launch/api/fence.h"

enum { PART = 1 << 20 };

/* So many bytes of a buffer. */
typedef struct {
  tj_buffer *buffer;
  size_t offset, bytes;
} part;

static tj_status check_part(tj_context *context, part p) {
  tj_rt_error error;
  tj_status status = tj_rt_check_range(&p.buffer->memory, p.offset, p.bytes, &error);
  return status == TJ_OK ? TJ_OK : tj_context_fail(context, status, error.code, error.text);
}

static char *address_of(part p) {
  return (char *)tj_buffer_address(p.buffer) + p.offset;
}

/* --- in flight --- */

static tj_status submit(tj_context *context, tj_device *device, tj_rt_copy copy, tj_fence **fence) {
  tj_rt_error error;
  tj_fence *made = tj_fence_create(context, device, NULL);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  copy.completion = tj_launch_end_add(&made->end);
  tj_status status = tj_rt_copy_memory(device->rt, &copy, &error);
  if (status == TJ_OK) {
    *fence = made;
    return TJ_OK;
  }
  tj_fence_destroy(made);
  return tj_context_fail(context, status, error.code, error.text);
}

tj_status tj_buffer_submit_write(tj_buffer *buffer, size_t offset, const void *data, size_t bytes, tj_fence **fence) {
  part to = {buffer, offset, bytes};
  tj_context_forget(buffer->context);
  tj_status status = check_part(buffer->context, to);
  if (status != TJ_OK)
    return status;
  return submit(buffer->context, buffer->device, (tj_rt_copy){address_of(to), data, bytes, NULL}, fence);
}

tj_status tj_buffer_submit_read(tj_buffer *buffer, size_t offset, void *data, size_t bytes, tj_fence **fence) {
  part from = {buffer, offset, bytes};
  tj_context_forget(buffer->context);
  tj_status status = check_part(buffer->context, from);
  if (status != TJ_OK)
    return status;
  return submit(buffer->context, buffer->device, (tj_rt_copy){data, address_of(from), bytes, NULL}, fence);
}

/* --- from buffer to buffer --- */

static tj_status check_parts(tj_context *context, part to, part from) {
  tj_status status = check_part(context, to);
  if (status == TJ_OK)
    status = check_part(context, from);
  if (status != TJ_OK)
    return status;
  uint64_t begin = to.buffer->memory.address + to.offset, other = from.buffer->memory.address + from.offset;
  if (begin < other + from.bytes && other < begin + to.bytes)
    return tj_context_fail(context, TJ_ERROR_INPUT, TJ_POINTER,
                           "what is copied overlaps the place that it is copied to");
  return TJ_OK;
}

tj_status tj_buffer_submit_copy(tj_buffer *to, size_t to_offset, tj_buffer *from, size_t from_offset, size_t bytes,
                                tj_fence **fence) {
  tj_context *context = to->context;
  part destination = {to, to_offset, bytes}, source = {from, from_offset, bytes};
  tj_context_forget(context);
  tj_status status = check_parts(context, destination, source);
  if (status != TJ_OK)
    return status;
  if (to->device != from->device)
    return tj_context_fail(context, TJ_ERROR_INPUT, TJ_KERNEL_ARGUMENT,
                           "a copy that is submitted is between buffers of two devices");
  return submit(context, to->device, (tj_rt_copy){address_of(destination), address_of(source), bytes, NULL}, fence);
}

static tj_status copy_on_device(part to, part from) {
  tj_fence *fence;
  tj_status status = tj_buffer_submit_copy(to.buffer, to.offset, from.buffer, from.offset, to.bytes, &fence);
  if (status != TJ_OK)
    return status;
  status = tj_fence_wait(fence, NULL);
  tj_fence_destroy(fence);
  return status;
}

/* By way of the process's memory, part by part. */
static tj_status copy_between_devices(part to, part from) {
  size_t most = to.bytes < PART ? to.bytes : PART;
  void *block = tj_context_allocate(to.buffer->context, most + 1);
  tj_rt_error error;
  tj_status status = block != NULL ? TJ_OK : TJ_ERROR_MEMORY;
  for (size_t done = 0; status == TJ_OK && done < to.bytes; done += most) {
    size_t size = to.bytes - done < most ? to.bytes - done : most;
    status = tj_rt_read(from.buffer->device->rt, &from.buffer->memory, from.offset + done, block, size, &error);
    if (status == TJ_OK)
      status =
          tj_rt_write(to.buffer->device->rt, &to.buffer->memory, to.offset + done, (tj_bytes){block, size}, &error);
    if (status != TJ_OK)
      tj_context_fail(to.buffer->context, status, error.code, error.text);
  }
  tj_context_release(to.buffer->context, block);
  return status;
}

tj_status tj_buffer_copy(tj_buffer *to, size_t to_offset, tj_buffer *from, size_t from_offset, size_t bytes) {
  part destination = {to, to_offset, bytes}, source = {from, from_offset, bytes};
  tj_context_forget(to->context);
  if (to->device == from->device)
    return copy_on_device(destination, source);
  tj_status status = check_parts(to->context, destination, source);
  return status == TJ_OK ? copy_between_devices(destination, source) : status;
}
