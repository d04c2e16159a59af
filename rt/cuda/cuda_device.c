/* SPDX-License-Identifier: MIT */
/* An NVIDIA GPU as a device: opening it, its buffers, its kernels. Codes are in cuda_code.c, launches in
 * cuda_queue.c.
 *
 * The context is the device's primary one, which other users of the driver in this process share, or one of theirs.
 * It is current for the time of a call, and what was current before is so again afterwards. */
#include "rt/cuda/cuda_device.h"

#include "base/machine/processor.h"
#include "rt/cuda/cuda_code.h"
#include "rt/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

typedef struct {
  tj_rt_device head;
  tj_allocator allocator;
  tj_cuda cuda;
  int number; /* the driver's */
  tj_cuda_context context;
  bool is_attached;     /* the context is somebody else's */
  pthread_mutex_t lock; /* of the queue */
  tj_cuda_queue queue;
  tj_cuda_place place;
  tj_rt_modules modules;
} cuda_device;

struct tj_rt_kernel {
  tj_rt_module *module; /* retained */
  tj_cuda_kernel kernel;
  uint64_t end; /* all launches of it have a smaller number */
};

static cuda_device *device_of(tj_rt_device *device) {
  return (cuda_device *)device;
}

/* A context that does not become current is lost, as calls will tell. */
static void enter(const cuda_device *d) {
  d->cuda.context_push(d->context);
}

static void leave(const cuda_device *d) {
  tj_cuda_context before;
  d->cuda.context_pop(&before);
}

static void lock(cuda_device *d) {
  pthread_mutex_lock(&d->lock);
  enter(d);
}

static void unlock(cuda_device *d) {
  leave(d);
  pthread_mutex_unlock(&d->lock);
}

/* --- buffers --- */

static tj_status allocate_buffer(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error) {
  cuda_device *d = device_of(device);
  uint64_t address = 0;
  tj_status status = tj_rt_flight_check(&d->queue.flight, error);
  if (status != TJ_OK)
    return status;
  enter(d);
  status = tj_cuda_memory_allocate(&d->cuda, error, &address, size > 0 ? size : 1);
  leave(d);
  if (status != TJ_OK && error->code == TJ_DEVICE_MEMORY)
    return tj_rt_failed(error, status, TJ_DEVICE_MEMORY, "no memory for a buffer of %zu bytes on %s", size,
                        d->head.info.name);
  if (status == TJ_OK)
    *buffer = (tj_rt_buffer){.address = address, .size = size, .handle = (void *)(uintptr_t)address};
  return status;
}

static void release_buffer(tj_rt_device *device, tj_rt_buffer *buffer) {
  cuda_device *d = device_of(device);
  if (buffer->handle == NULL && !buffer->is_borrowed)
    return;
  lock(d);
  tj_cuda_queue_drain(&d->queue);
  if (!buffer->is_borrowed)
    d->cuda.memory_free(buffer->address);
  unlock(d);
}

/* Copies after all that is in flight, and waits. */
static tj_status copy_now(cuda_device *d, uint64_t to, uint64_t from, size_t size, tj_rt_error *error) {
  tj_status status = tj_cuda_copy_async(&d->cuda, error, to, from, size, d->queue.stream);
  return status == TJ_OK ? tj_cuda_stream_synchronize(&d->cuda, error, d->queue.stream) : status;
}

static tj_status write_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                              tj_rt_error *error) {
  cuda_device *d = device_of(device);
  lock(d);
  tj_cuda_queue_drain(&d->queue);
  tj_status status = tj_rt_flight_check(&d->queue.flight, error);
  if (status == TJ_OK)
    status = copy_now(d, buffer->address + offset, (uint64_t)(uintptr_t)from.data, from.size, error);
  unlock(d);
  return status;
}

static tj_status read_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                             tj_rt_error *error) {
  cuda_device *d = device_of(device);
  lock(d);
  tj_cuda_queue_drain(&d->queue);
  tj_status status = tj_rt_flight_result(&d->queue.flight, error);
  if (status == TJ_OK)
    status = copy_now(d, (uint64_t)(uintptr_t)to, buffer->address + offset, size, error);
  unlock(d);
  return status;
}

/* --- waiting --- */

/* Whether launches before that number have ended; otherwise the event behind the last of them. */
static bool look(cuda_device *d, uint64_t end, tj_cuda_event *last) {
  lock(d);
  tj_cuda_queue_progress(&d->queue);
  bool is_over = d->queue.flight.ended >= end;
  *last = tj_cuda_queue_event(&d->queue, end - 1);
  unlock(d);
  return is_over;
}

static void give_up(cuda_device *d, uint64_t end) {
  lock(d);
  if (d->queue.flight.ended < end)
    tj_cuda_queue_give_up(&d->queue);
  unlock(d);
}

/* Waits for the event, or a short while. It may have been given to a later launch meanwhile. */
static void await(const cuda_device *d, tj_cuda_event event, bool is_short) {
  enum { QUERIES = 2000, PAUSE_NANOSECONDS = 50000 };
  int result = TJ_CUDA_NOT_READY;
  enter(d);
  if (!is_short)
    result = d->cuda.event_synchronize(event);
  for (int i = 0; i < QUERIES && result == TJ_CUDA_NOT_READY; i++)
    result = d->cuda.event_query(event);
  leave(d);
  if (result == TJ_CUDA_NOT_READY)
    nanosleep(&(struct timespec){0, PAUSE_NANOSECONDS}, NULL);
}

/* Waits until launches before that number have ended; without the lock, so that others can launch meanwhile. `watch`
 * may be NULL. */
static void wait_until(cuda_device *d, uint64_t end, const tj_rt_watch *watch) {
  tj_cuda_event last;
  while (!look(d, end, &last)) {
    if (watch != NULL && !watch->goes_on(watch->data, 0, 0)) {
      give_up(d, end);
      watch = NULL;
    }
    await(d, last, watch != NULL);
  }
}

/* --- kernels --- */

static void release_module(cuda_device *d, tj_rt_module *module) {
  enter(d);
  tj_rt_module_release(&d->modules, module);
  leave(d);
}

static void unload_kernel(tj_rt_device *device, tj_rt_kernel *kernel) {
  cuda_device *d = device_of(device);
  if (kernel->end > 0)
    wait_until(d, kernel->end, NULL);
  release_module(d, kernel->module);
  d->allocator.release(d->allocator.user, kernel);
}

static tj_status find_kernel(cuda_device *d, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error) {
  enter(d);
  tj_status status = tj_rt_module_retain(&d->modules, code, &kernel->module, error);
  if (status == TJ_OK) {
    status = tj_cuda_find_kernel(&d->cuda, kernel->module, code, &kernel->kernel, error);
    if (status != TJ_OK)
      tj_rt_module_release(&d->modules, kernel->module);
  }
  leave(d);
  return status;
}

static tj_status load_kernel(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel,
                             tj_rt_error *error) {
  cuda_device *d = device_of(device);
  if (code->code_object.size == 0)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, "the code of %s is not for a GPU", code->symbol);
  tj_status status = tj_rt_flight_check(&d->queue.flight, error);
  if (status != TJ_OK)
    return status;
  tj_rt_kernel *loaded = d->allocator.allocate(d->allocator.user, sizeof *loaded);
  if (loaded == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *loaded = (tj_rt_kernel){0};
  status = find_kernel(d, loaded, code, error);
  if (status == TJ_OK)
    *kernel = loaded;
  else
    d->allocator.release(d->allocator.user, loaded);
  return status;
}

/* --- launches --- */

static tj_status launch(tj_rt_device *device, tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  cuda_device *d = device_of(device);
  lock(d);
  tj_status status = tj_cuda_queue_launch(&d->queue, &kernel->kernel, dispatch, error);
  kernel->end = d->queue.flight.launched;
  unlock(d);
  return status;
}

static tj_status copy_memory(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error) {
  cuda_device *d = device_of(device);
  lock(d);
  tj_status status = tj_cuda_queue_copy(&d->queue, copy, error);
  unlock(d);
  return status;
}

static void lose(tj_rt_device *device, const char *why) {
  tj_cuda_queue_lose(&device_of(device)->queue, why);
}

static tj_status wait_for_all(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error) {
  cuda_device *d = device_of(device);
  lock(d);
  tj_cuda_queue_drain(&d->queue);
  tj_status status = tj_rt_flight_result(&d->queue.flight, error);
  *nanoseconds = tj_rt_flight_take_time(&d->queue.flight);
  unlock(d);
  return status;
}

/* Another thread that holds the lock makes progress itself. */
static void progress(tj_rt_device *device) {
  cuda_device *d = device_of(device);
  if (pthread_mutex_trylock(&d->lock) != 0)
    return;
  enter(d);
  tj_cuda_queue_progress(&d->queue);
  unlock(d);
}

static void finish(tj_rt_device *device, tj_rt_completion *completion, const tj_rt_watch *watch) {
  wait_until(device_of(device), completion->number + 1, watch);
}

/* --- opening and closing --- */

static void release_device(cuda_device *d) {
  tj_rt_modules_close(&d->modules);
  pthread_mutex_destroy(&d->lock);
  d->allocator.release(d->allocator.user, d);
}

static void release_context(const cuda_device *d) {
  if (!d->is_attached)
    d->cuda.primary_context_release(d->number);
}

static void close_device(tj_rt_device *device) {
  cuda_device *d = device_of(device);
  lock(d);
  tj_cuda_queue_drain(&d->queue);
  tj_cuda_queue_close(&d->queue);
  unlock(d);
  release_context(d);
  release_device(d);
}

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
};

/* --- descriptions --- */

/* The latest processor that PTX knows here and that is not later than the device's, which runs its code. */
static void name_target(int capability, char *target, size_t size) {
  uint32_t best = 0;
  snprintf(target, size, "sm_%d", capability);
  for (size_t i = 0; i < tj_multiprocessor_count; i++) {
    uint32_t number = tj_multiprocessors[i].memory.generation;
    if (number <= (uint32_t)capability && number > best) {
      best = number;
      snprintf(target, size, "%s", tj_multiprocessors[i].name);
    }
  }
}

static int attribute_of(const tj_cuda *cuda, int attribute, int device) {
  int value = 0;
  return cuda->device_get_attribute(&value, attribute, device) == TJ_CUDA_SUCCESS ? value : 0;
}

/* GPU- and groups of 4, 2, 2, 2 and 6 bytes. */
static void write_uuid(const unsigned char uuid[16], char *text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "GPU");
  for (unsigned i = 0; i < 16; i++) {
    bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    length += (size_t)snprintf(text + length, size - length, begins_group ? "-%02x" : "%02x", uuid[i]);
  }
}

/* Fills everything but the name; what the driver does not tell is left out. */
static void describe(const tj_cuda *cuda, int device, tj_rt_info *info) {
  size_t memory;
  unsigned char uuid[16];
  int major = attribute_of(cuda, TJ_CUDA_CAPABILITY_MAJOR, device);
  name_target(10 * major + attribute_of(cuda, TJ_CUDA_CAPABILITY_MINOR, device), info->target, sizeof info->target);
  info->parallelism = (uint32_t)attribute_of(cuda, TJ_CUDA_MULTIPROCESSOR_COUNT, device);
  if (cuda->device_get_name(info->description, sizeof info->description, device) != TJ_CUDA_SUCCESS)
    info->description[0] = '\0';
  if (cuda->device_total_memory(&memory, device) == TJ_CUDA_SUCCESS)
    info->memory = memory;
  if (cuda->device_get_pci_bus_id(info->bus, sizeof info->bus, device) != TJ_CUDA_SUCCESS)
    info->bus[0] = '\0';
  if (cuda->device_get_uuid(uuid, device) == TJ_CUDA_SUCCESS)
    write_uuid(uuid, info->uuid, sizeof info->uuid);
}

static tj_status count_devices(const tj_cuda *cuda, int *count, tj_rt_error *error) {
  tj_status status = tj_cuda_device_get_count(cuda, error, count);
  if (status == TJ_OK && *count <= 0)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_NO_AGENT, "no GPU was found: the CUDA driver has none");
  return status;
}

/* Which device: one of the driver's, or that of a context. */
typedef struct {
  unsigned long number;
  const tj_rt_cuda_attachment *attachment; /* NULL: by number */
} choice;

/* The primary context of the device of a number. */
static tj_status take_device(cuda_device *d, unsigned long number, tj_rt_error *error) {
  int count;
  tj_status status = count_devices(&d->cuda, &count, error);
  if (status == TJ_OK && number >= (unsigned long)count)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "unknown device cuda:%lu", number);
  if (status == TJ_OK)
    status = tj_cuda_device_get(&d->cuda, error, &d->number, (int)number);
  if (status == TJ_OK)
    status = tj_cuda_primary_context_retain(&d->cuda, error, &d->context, d->number);
  snprintf(d->head.info.name, sizeof d->head.info.name, "cuda:%lu", number);
  return status;
}

/* The name under which a device of the driver would be opened. */
static void name_device(cuda_device *d) {
  int count, device;
  tj_rt_error ignored;
  snprintf(d->head.info.name, sizeof d->head.info.name, "cuda");
  if (count_devices(&d->cuda, &count, &ignored) != TJ_OK)
    return;
  for (int i = 0; i < count; i++)
    if (d->cuda.device_get(&device, i) == TJ_CUDA_SUCCESS && device == d->number)
      snprintf(d->head.info.name, sizeof d->head.info.name, "cuda:%d", i);
}

static tj_status take_context(cuda_device *d, const tj_rt_cuda_attachment *attachment, tj_rt_error *error) {
  tj_status status = TJ_OK;
  d->is_attached = true;
  d->context = attachment->context;
  if (!attachment->has_own_stream && attachment->stream == TJ_CUDA_STREAM_PER_THREAD)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE,
                        "the default stream of each thread is not one stream, which a device needs");
  if (d->context == NULL)
    status = tj_cuda_context_get_current(&d->cuda, error, &d->context);
  if (status == TJ_OK && d->context == NULL)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "no context of the CUDA driver is current");
  if (status != TJ_OK)
    return status;
  enter(d);
  status = tj_cuda_context_get_device(&d->cuda, error, &d->number);
  leave(d);
  name_device(d);
  return status;
}

static tj_status open_queue(cuda_device *d, const tj_rt_cuda_attachment *attachment, tj_rt_error *error) {
  const tj_cuda_stream given = attachment != NULL ? attachment->stream : NULL;
  enter(d);
  tj_status status = tj_cuda_queue_open(&d->queue, &d->cuda,
                                        attachment == NULL || attachment->has_own_stream ? NULL : &given, error);
  leave(d);
  if (status != TJ_OK)
    release_context(d);
  return status;
}

static tj_status open_chosen(cuda_device *d, const choice *which, tj_rt_error *error) {
  const tj_rt_cuda_attachment *attachment = which->attachment;
  tj_status status = tj_cuda_open(&d->cuda, attachment != NULL ? attachment->library : NULL, error);
  if (status == TJ_OK)
    status = attachment != NULL ? take_context(d, attachment, error) : take_device(d, which->number, error);
  return status == TJ_OK ? open_queue(d, attachment, error) : status;
}

static tj_status open_device(const choice *which, const tj_allocator *given, tj_rt_device **device,
                             tj_rt_error *error) {
  tj_allocator allocator = tj_rt_allocator(given);
  cuda_device *d = allocator.allocate(allocator.user, sizeof *d);
  if (d == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *d = (cuda_device){.head = {.operations = &operations}, .allocator = allocator};
  pthread_mutex_init(&d->lock, NULL);
  tj_rt_modules_open(&d->modules, &tj_cuda_loader, &d->place, &allocator);
  tj_status status = open_chosen(d, which, error);
  if (status != TJ_OK) {
    release_device(d);
    return status;
  }
  describe(&d->cuda, d->number, &d->head.info);
  d->place = tj_cuda_place_of(&d->cuda, &allocator, d->number);
  *device = &d->head;
  return TJ_OK;
}

tj_status tj_cuda_device_open(unsigned long number, const tj_allocator *allocator, tj_rt_device **device,
                              tj_rt_error *error) {
  return open_device(&(choice){.number = number}, allocator, device, error);
}

tj_status tj_cuda_device_attach(const tj_rt_cuda_attachment *attachment, const tj_allocator *allocator,
                                tj_rt_device **device, tj_rt_error *error) {
  return open_device(&(choice){.attachment = attachment}, allocator, device, error);
}

size_t tj_cuda_device_list(tj_rt_info info[], size_t capacity) {
  tj_cuda cuda;
  tj_rt_error ignored;
  int count, device;
  if (tj_cuda_open(&cuda, NULL, &ignored) != TJ_OK || count_devices(&cuda, &count, &ignored) != TJ_OK)
    return 0;
  for (int i = 0; i < count && (size_t)i < capacity; i++) {
    info[i] = (tj_rt_info){0};
    snprintf(info[i].name, sizeof info[i].name, "cuda:%d", i);
    if (tj_cuda_device_get(&cuda, &ignored, &device, i) == TJ_OK)
      describe(&cuda, device, &info[i]);
  }
  return (size_t)count;
}
