/* SPDX-License-Identifier: MIT */
/* The operations of devices, by those of a driver's queue. */
#include "rt/gpu.h"

static tj_rt_gpu *gpu_of(tj_rt_device *device) {
  return (tj_rt_gpu *)device;
}

static void enter(tj_rt_gpu *gpu) {
  if (gpu->driver->enter != NULL)
    gpu->driver->enter(gpu);
}

static void leave(tj_rt_gpu *gpu) {
  if (gpu->driver->leave != NULL)
    gpu->driver->leave(gpu);
}

void tj_rt_gpu_lock(tj_rt_gpu *gpu) {
  pthread_mutex_lock(&gpu->lock);
  enter(gpu);
}

void tj_rt_gpu_unlock(tj_rt_gpu *gpu) {
  leave(gpu);
  pthread_mutex_unlock(&gpu->lock);
}

/* --- buffers --- */

static tj_status allocate_buffer(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  uint64_t address = 0;
  tj_status status = tj_rt_flight_check(gpu->flight, error);
  if (status != TJ_OK)
    return status;
  enter(gpu);
  status = gpu->driver->allocate(gpu, size > 0 ? size : 1, &address, error);
  leave(gpu);
  if (status != TJ_OK && error->code == TJ_DEVICE_MEMORY)
    return tj_rt_failed(error, status, TJ_DEVICE_MEMORY, "no memory for a buffer of %zu bytes on %s", size,
                        gpu->head.info.name);
  if (status == TJ_OK)
    *buffer = (tj_rt_buffer){.address = address, .size = size, .handle = (void *)(uintptr_t)address};
  return status;
}

static void release_buffer(tj_rt_device *device, tj_rt_buffer *buffer) {
  tj_rt_gpu *gpu = gpu_of(device);
  if (buffer->handle == NULL && !buffer->is_borrowed)
    return;
  tj_rt_gpu_lock(gpu);
  gpu->driver->drain(gpu);
  if (!buffer->is_borrowed)
    gpu->driver->release(gpu, buffer->address);
  tj_rt_gpu_unlock(gpu);
}

static tj_status write_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                              tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  tj_rt_gpu_lock(gpu);
  gpu->driver->drain(gpu);
  tj_status status = tj_rt_flight_check(gpu->flight, error);
  if (status == TJ_OK)
    status = gpu->driver->copy_now(gpu, buffer->address + offset, (uint64_t)(uintptr_t)from.data, from.size, error);
  tj_rt_gpu_unlock(gpu);
  return status;
}

static tj_status read_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                             tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  tj_rt_gpu_lock(gpu);
  gpu->driver->drain(gpu);
  tj_status status = tj_rt_flight_result(gpu->flight, error);
  if (status == TJ_OK)
    status = gpu->driver->copy_now(gpu, (uint64_t)(uintptr_t)to, buffer->address + offset, size, error);
  tj_rt_gpu_unlock(gpu);
  return status;
}

/* --- waiting --- */

typedef struct {
  uint64_t sign, done, total;
} view;

/* Whether launches before that number have ended; otherwise what tells the end of the last of them, and how far the
 * one that runs is. */
static bool look(tj_rt_gpu *gpu, uint64_t end, view *seen) {
  *seen = (view){0};
  tj_rt_gpu_lock(gpu);
  gpu->driver->progress(gpu);
  bool is_over = gpu->flight->ended >= end;
  if (!is_over)
    seen->sign = gpu->driver->sign_of(gpu, end - 1);
  if (!is_over && gpu->driver->measure != NULL)
    gpu->driver->measure(gpu, &seen->done, &seen->total);
  tj_rt_gpu_unlock(gpu);
  return is_over;
}

static void give_up(tj_rt_gpu *gpu, uint64_t end) {
  tj_rt_gpu_lock(gpu);
  if (gpu->flight->ended < end)
    gpu->driver->give_up(gpu);
  tj_rt_gpu_unlock(gpu);
}

/* Waits until launches before that number have ended. `watch` may be NULL. */
static void wait_until(tj_rt_gpu *gpu, uint64_t end, const tj_rt_watch *watch) {
  view seen;
  while (!look(gpu, end, &seen)) {
    if (watch != NULL && !watch->goes_on(watch->data, seen.done, seen.total)) {
      give_up(gpu, end);
      watch = NULL;
    }
    enter(gpu);
    gpu->driver->await(gpu, seen.sign, watch != NULL);
    leave(gpu);
  }
}

static void finish(tj_rt_device *device, tj_rt_completion *completion, const tj_rt_watch *watch) {
  wait_until(gpu_of(device), completion->number + 1, watch);
}

static tj_status wait_for_all(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  tj_rt_gpu_lock(gpu);
  gpu->driver->drain(gpu);
  tj_status status = tj_rt_flight_result(gpu->flight, error);
  *nanoseconds = tj_rt_flight_take_time(gpu->flight);
  tj_rt_gpu_unlock(gpu);
  return status;
}

/* Another thread that holds the lock makes progress itself. */
static void progress(tj_rt_device *device) {
  tj_rt_gpu *gpu = gpu_of(device);
  if (pthread_mutex_trylock(&gpu->lock) != 0)
    return;
  enter(gpu);
  gpu->driver->progress(gpu);
  tj_rt_gpu_unlock(gpu);
}

/* --- kernels --- */

static void release_module(tj_rt_gpu *gpu, tj_rt_module *module) {
  enter(gpu);
  tj_rt_module_release(&gpu->modules, module);
  leave(gpu);
}

static void unload_kernel(tj_rt_device *device, tj_rt_kernel *kernel) {
  tj_rt_gpu *gpu = gpu_of(device);
  wait_until(gpu, kernel->end, NULL);
  release_module(gpu, kernel->module);
  gpu->allocator.release(gpu->allocator.user, kernel);
}

static tj_status find_kernel(tj_rt_gpu *gpu, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error) {
  enter(gpu);
  tj_status status = tj_rt_module_retain(&gpu->modules, code, &kernel->module, error);
  if (status == TJ_OK) {
    status = gpu->driver->find(gpu, kernel, code, error);
    if (status != TJ_OK)
      tj_rt_module_release(&gpu->modules, kernel->module);
  }
  leave(gpu);
  return status;
}

static tj_status load_kernel(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel,
                             tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  if (code->code_object.size == 0)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, "the code of %s is not for a GPU", code->symbol);
  tj_status status = tj_rt_flight_check(gpu->flight, error);
  if (status != TJ_OK)
    return status;
  tj_rt_kernel *loaded = gpu->allocator.allocate(gpu->allocator.user, gpu->driver->kernel_bytes);
  if (loaded == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  memset(loaded, 0, gpu->driver->kernel_bytes);
  status = find_kernel(gpu, loaded, code, error);
  if (status == TJ_OK)
    *kernel = loaded;
  else
    gpu->allocator.release(gpu->allocator.user, loaded);
  return status;
}

/* --- launches --- */

static tj_status launch(tj_rt_device *device, tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  tj_rt_gpu_lock(gpu);
  tj_status status = gpu->driver->launch(gpu, kernel, dispatch, error);
  kernel->end = gpu->flight->launched;
  tj_rt_gpu_unlock(gpu);
  return status;
}

static tj_status copy_memory(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  tj_rt_gpu_lock(gpu);
  tj_status status = gpu->driver->copy(gpu, copy, error);
  tj_rt_gpu_unlock(gpu);
  return status;
}

static void lose(tj_rt_device *device, const char *why) {
  tj_rt_gpu *gpu = gpu_of(device);
  gpu->driver->lose(gpu, why);
}

static tj_status encode_map(tj_rt_device *device, const tj_tensor_map *map, void *encoded, tj_rt_error *error) {
  tj_rt_gpu *gpu = gpu_of(device);
  if (gpu->driver->encode_map == NULL)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, TJ_RT_NO_MAPS, gpu->head.info.name);
  enter(gpu);
  tj_status status = gpu->driver->encode_map(gpu, map, encoded, error);
  leave(gpu);
  return status;
}

static size_t read_counters(tj_rt_device *device, tj_rt_counter counters[], size_t capacity) {
  tj_rt_gpu *gpu = gpu_of(device);
  if (gpu->driver->counters == NULL)
    return 0;
  tj_rt_gpu_lock(gpu);
  size_t count = gpu->driver->counters(gpu, counters, capacity);
  tj_rt_gpu_unlock(gpu);
  return count;
}

/* --- opening and closing --- */

static void close_device(tj_rt_device *device) {
  tj_rt_gpu *gpu = gpu_of(device);
  tj_rt_gpu_lock(gpu);
  gpu->driver->drain(gpu);
  gpu->driver->close(gpu);
  tj_rt_gpu_unlock(gpu);
  gpu->driver->leave_for_good(gpu);
  tj_rt_gpu_end(gpu);
}

void tj_rt_gpu_begin(tj_rt_gpu *gpu, const tj_rt_gpu_driver *driver, tj_rt_flight *flight, const tj_rt_loader *loader,
                     void *loader_data, const tj_allocator *allocator) {
  static const tj_rt_operations operations = {
      .close = close_device,
      .allocate = allocate_buffer,
      .release = release_buffer,
      .write = write_buffer,
      .read = read_buffer,
      .load = load_kernel,
      .unload = unload_kernel,
      .launch = launch,
      .copy = copy_memory,
      .lose = lose,
      .wait = wait_for_all,
      .progress = progress,
      .finish = finish,
      .counters = read_counters,
      .encode_map = encode_map,
  };
  gpu->head.operations = &operations;
  gpu->driver = driver;
  gpu->allocator = *allocator;
  gpu->flight = flight;
  pthread_mutex_init(&gpu->lock, NULL);
  tj_rt_modules_open(&gpu->modules, loader, loader_data, allocator);
}

void tj_rt_gpu_end(tj_rt_gpu *gpu) {
  tj_rt_modules_close(&gpu->modules);
  pthread_mutex_destroy(&gpu->lock);
  gpu->allocator.release(gpu->allocator.user, gpu);
}
