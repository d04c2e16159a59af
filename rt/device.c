/* SPDX-License-Identifier: MIT */
/* Devices: finding the driver for a name, and the checks that all drivers need. */
#include "rt/device.h"

#include "rt/driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tj_rt_driver *const drivers[] = {
#define DRIVER(name) &tj_rt_driver_##name,
#include "rt/driver.def"
#undef DRIVER
};

enum { DRIVER_COUNT = sizeof drivers / sizeof drivers[0] };

/* --- for drivers --- */

tj_status tj_rt_failed(tj_rt_error *error, tj_status status, tj_problem_code code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  error->code = code;
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return status;
}

static void *allocate_with_malloc(void *user, size_t size) {
  (void)user;
  return malloc(size);
}

static void release_with_free(void *user, void *block) {
  (void)user;
  free(block);
}

tj_allocator tj_rt_allocator(const tj_allocator *allocator) {
  return allocator != NULL ? *allocator : (tj_allocator){allocate_with_malloc, release_with_free, NULL};
}

bool tj_rt_read_number(const char *name, unsigned long *number) {
  enum { MOST_DIGITS = 9 };
  const char *digits = name + strcspn(name, ":");
  digits += *digits == ':' ? 1 : 0;
  size_t length = strspn(digits, "0123456789");
  *number = strtoul(digits, NULL, 10);
  return length > 0 && length <= MOST_DIGITS && digits[length] == '\0' && (digits[0] != '0' || length == 1);
}

/* --- names --- */

/* Whether `name` is the prefix alone, or the prefix and a colon and more. */
static bool has_prefix(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(name, prefix, length) == 0 && (name[length] == '\0' || name[length] == ':');
}

tj_status tj_rt_open(const char *name, const tj_allocator *allocator, tj_rt_device **device, tj_rt_error *error) {
  *device = NULL;
  if (name == NULL)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "a device's name is missing");
  for (size_t i = 0; i < DRIVER_COUNT; i++) {
    if (has_prefix(name, drivers[i]->prefix))
      return drivers[i]->open(name, allocator, device, error);
  }
  return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "unknown device %s", name);
}

size_t tj_rt_list(tj_rt_info info[], size_t capacity) {
  size_t count = 0;
  for (size_t i = 0; i < DRIVER_COUNT; i++) {
    size_t written = count < capacity ? count : capacity;
    count += drivers[i]->list(info + written, capacity - written);
  }
  return count;
}

/* --- operations --- */

void tj_rt_close(tj_rt_device *device) {
  if (device != NULL)
    device->operations->close(device);
}

tj_status tj_rt_allocate(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error) {
  *buffer = (tj_rt_buffer){0};
  return device->operations->allocate(device, size, buffer, error);
}

void tj_rt_release(tj_rt_device *device, tj_rt_buffer *buffer) {
  device->operations->release(device, buffer);
  *buffer = (tj_rt_buffer){0};
}

tj_rt_buffer tj_rt_borrow(uint64_t address, size_t size) {
  return (tj_rt_buffer){.address = address, .size = size, .is_borrowed = true};
}

void tj_rt_lose(tj_rt_device *device, const char *why) {
  if (device->operations->lose != NULL)
    device->operations->lose(device, why);
}

tj_status tj_rt_check_range(const tj_rt_buffer *buffer, size_t offset, size_t size, tj_rt_error *error) {
  if (offset <= buffer->size && size <= buffer->size - offset)
    return TJ_OK;
  return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_BUFFER_SIZE, "%zu bytes from offset %zu on, of a buffer of %zu bytes",
                      size, offset, buffer->size);
}

tj_status tj_rt_write(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                      tj_rt_error *error) {
  tj_status status = tj_rt_check_range(buffer, offset, from.size, error);
  if (status != TJ_OK || from.size == 0)
    return status;
  return device->operations->write(device, buffer, offset, from, error);
}

tj_status tj_rt_read(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                     tj_rt_error *error) {
  tj_status status = tj_rt_check_range(buffer, offset, size, error);
  if (status != TJ_OK || size == 0)
    return status;
  return device->operations->read(device, buffer, offset, to, size, error);
}

tj_status tj_rt_load(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel, tj_rt_error *error) {
  *kernel = NULL;
  return device->operations->load(device, code, kernel, error);
}

void tj_rt_unload(tj_rt_device *device, tj_rt_kernel *kernel) {
  if (kernel != NULL)
    device->operations->unload(device, kernel);
}

tj_status tj_rt_encode_map(tj_rt_device *device, const tj_tensor_map *map, void *encoded, tj_rt_error *error) {
  if (device->operations->encode_map == NULL)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, TJ_RT_NO_MAPS, device->info.name);
  return device->operations->encode_map(device, map, encoded, error);
}

/* Makes a completion one of a launch that is in flight. */
static void begin(tj_rt_completion *completion) {
  if (completion == NULL)
    return;
  completion->status = TJ_OK;
  completion->nanoseconds = 0;
  completion->error = (tj_rt_error){0};
  atomic_store(&completion->is_done, false);
}

/* One that nothing will complete has ended. */
static void end(tj_rt_completion *completion, bool is_started) {
  if (completion != NULL && !is_started)
    atomic_store(&completion->is_done, true);
}

tj_status tj_rt_launch(tj_rt_device *device, tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                       tj_rt_error *error) {
  tj_status status = TJ_OK;
  begin(dispatch->completion);
  if (dispatch->workgroup_count > 0)
    status = device->operations->launch(device, kernel, dispatch, error);
  end(dispatch->completion, status == TJ_OK && dispatch->workgroup_count > 0);
  return status;
}

tj_status tj_rt_copy_memory(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error) {
  tj_status status = TJ_OK;
  begin(copy->completion);
  if (copy->size > 0)
    status = device->operations->copy(device, copy, error);
  end(copy->completion, status == TJ_OK && copy->size > 0);
  return status;
}

bool tj_rt_is_done(tj_rt_device *device, tj_rt_completion *completion) {
  if (!atomic_load(&completion->is_done) && device->operations->progress != NULL)
    device->operations->progress(device);
  return atomic_load(&completion->is_done);
}

tj_status tj_rt_finish(tj_rt_device *device, tj_rt_completion *completion, tj_rt_error *error) {
  return tj_rt_finish_watched(device, completion, NULL, error);
}

tj_status tj_rt_finish_watched(tj_rt_device *device, tj_rt_completion *completion, const tj_rt_watch *watch,
                               tj_rt_error *error) {
  if (!atomic_load(&completion->is_done) && device->operations->finish != NULL)
    device->operations->finish(device, completion, watch);
  if (completion->status != TJ_OK)
    *error = completion->error;
  return completion->status;
}

tj_status tj_rt_wait(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error) {
  uint64_t ignored;
  return device->operations->wait(device, nanoseconds != NULL ? nanoseconds : &ignored, error);
}

size_t tj_rt_counters(tj_rt_device *device, tj_rt_counter counters[], size_t capacity) {
  return device->operations->counters != NULL ? device->operations->counters(device, counters, capacity) : 0;
}
