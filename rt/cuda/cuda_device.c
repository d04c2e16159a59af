/* SPDX-License-Identifier: MIT */
/* An NVIDIA GPU as a device (rt/gpu.h): opening it, its memory. Codes are in cuda_code.c, launches in cuda_queue.c.
 *
 * The context is the device's primary one, which other users of the driver in this process share, or one of theirs.
 * It is current for the time of a call, and what was current before is so again afterwards. */
#include "rt/cuda/cuda_device.h"

#include "base/machine/processor.h"
#include "rt/cuda/cuda_code.h"
#include "rt/driver.h"
#include "rt/gpu.h"

#include <stdio.h>
#include <time.h>

typedef struct {
  tj_rt_gpu gpu;
  tj_cuda cuda;
  int number; /* the driver's */
  tj_cuda_context context;
  bool is_attached; /* the context is somebody else's */
  tj_cuda_queue queue;
  tj_cuda_place place;
} cuda_device;

typedef struct {
  tj_rt_kernel head;
  tj_cuda_kernel kernel;
} cuda_kernel;

static cuda_device *device_of(tj_rt_gpu *gpu) {
  return (cuda_device *)gpu;
}

/* A context that does not become current is lost, as calls will tell. */
static void enter(tj_rt_gpu *gpu) {
  cuda_device *d = device_of(gpu);
  d->cuda.context_push(d->context);
}

static void leave(tj_rt_gpu *gpu) {
  tj_cuda_context before;
  device_of(gpu)->cuda.context_pop(&before);
}

/* --- memory --- */

static tj_status allocate_memory(tj_rt_gpu *gpu, size_t size, uint64_t *address, tj_rt_error *error) {
  return tj_cuda_memory_allocate(&device_of(gpu)->cuda, error, address, size);
}

static void release_memory(tj_rt_gpu *gpu, uint64_t address) {
  device_of(gpu)->cuda.memory_free(address);
}

static tj_status copy_now(tj_rt_gpu *gpu, uint64_t to, uint64_t from, size_t size, tj_rt_error *error) {
  cuda_device *d = device_of(gpu);
  tj_status status = tj_cuda_copy_async(&d->cuda, error, to, from, size, d->queue.stream);
  return status == TJ_OK ? tj_cuda_stream_synchronize(&d->cuda, error, d->queue.stream) : status;
}

/* --- the queue --- */

static tj_status find_kernel(tj_rt_gpu *gpu, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error) {
  return tj_cuda_find_kernel(&device_of(gpu)->cuda, kernel->module, code, &((cuda_kernel *)kernel)->kernel, error);
}

/* Without interleaving, and with zeros beyond the tensor. */
static tj_status encode_map(tj_rt_gpu *gpu, const tj_tensor_map *map, void *encoded, tj_rt_error *error) {
  static const int types[] = {
      [1] = TJ_CUDA_TENSOR_U8, [2] = TJ_CUDA_TENSOR_U16, [4] = TJ_CUDA_TENSOR_U32, [8] = TJ_CUDA_TENSOR_U64};
  const tj_cuda *cuda = &device_of(gpu)->cuda;
  if (cuda->tensor_map_encode_tiled == NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_CUDA_LIBRARY, "this CUDA driver makes no tensor maps");
  if (map->element_bytes >= sizeof types / sizeof *types)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, "tensor maps have no elements of %" PRIu32 " bytes",
                        map->element_bytes);
  int swizzle = map->swizzle == 0 ? TJ_CUDA_TENSOR_PLAIN : __builtin_ctz(map->swizzle) - TJ_CUDA_TENSOR_SWIZZLE_LOG;
  return tj_cuda_tensor_map_encode_tiled(cuda, error, encoded, types[map->element_bytes], map->rank,
                                         (void *)(uintptr_t)map->address, map->extent, map->stride, map->box,
                                         map->element_stride, 0, swizzle, 0, 0);
}

static tj_status launch(tj_rt_gpu *gpu, const tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  return tj_cuda_queue_launch(&device_of(gpu)->queue, &((const cuda_kernel *)kernel)->kernel, dispatch, error);
}

static tj_status copy_memory(tj_rt_gpu *gpu, const tj_rt_copy *copy, tj_rt_error *error) {
  return tj_cuda_queue_copy(&device_of(gpu)->queue, copy, error);
}

static void progress(tj_rt_gpu *gpu) {
  tj_cuda_queue_progress(&device_of(gpu)->queue);
}

static void drain(tj_rt_gpu *gpu) {
  tj_cuda_queue_drain(&device_of(gpu)->queue);
}

static void give_up(tj_rt_gpu *gpu) {
  tj_cuda_queue_give_up(&device_of(gpu)->queue);
}

static void lose(tj_rt_gpu *gpu, const char *why) {
  tj_cuda_queue_lose(&device_of(gpu)->queue, why);
}

static uint64_t event_of(tj_rt_gpu *gpu, uint64_t number) {
  return (uint64_t)(uintptr_t)tj_cuda_queue_event(&device_of(gpu)->queue, number);
}

static void await(tj_rt_gpu *gpu, uint64_t sign, bool is_short) {
  enum { QUERIES = 2000, PAUSE_NANOSECONDS = 50000 };
  const tj_cuda *cuda = &device_of(gpu)->cuda;
  tj_cuda_event event = (void *)(uintptr_t)sign;
  int result = TJ_CUDA_NOT_READY;
  if (!is_short)
    result = cuda->event_synchronize(event);
  for (int i = 0; i < QUERIES && result == TJ_CUDA_NOT_READY; i++)
    result = cuda->event_query(event);
  if (result == TJ_CUDA_NOT_READY)
    nanosleep(&(struct timespec){0, PAUSE_NANOSECONDS}, NULL);
}

static void close_queue(tj_rt_gpu *gpu) {
  tj_cuda_queue_close(&device_of(gpu)->queue);
}

static void release_context(tj_rt_gpu *gpu) {
  const cuda_device *d = device_of(gpu);
  if (!d->is_attached)
    d->cuda.primary_context_release(d->number);
}

static const tj_rt_gpu_driver driver = {
    .kernel_bytes = sizeof(cuda_kernel),
    .enter = enter,
    .leave = leave,
    .close = close_queue,
    .leave_for_good = release_context,
    .allocate = allocate_memory,
    .release = release_memory,
    .copy_now = copy_now,
    .find = find_kernel,
    .encode_map = encode_map,
    .launch = launch,
    .copy = copy_memory,
    .progress = progress,
    .drain = drain,
    .give_up = give_up,
    .lose = lose,
    .sign_of = event_of,
    .await = await,
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
  snprintf(d->gpu.head.info.name, sizeof d->gpu.head.info.name, "cuda:%lu", number);
  return status;
}

/* The name under which a device of the driver would be opened. */
static void name_device(cuda_device *d) {
  int count, device;
  tj_rt_error ignored;
  snprintf(d->gpu.head.info.name, sizeof d->gpu.head.info.name, "cuda");
  if (count_devices(&d->cuda, &count, &ignored) != TJ_OK)
    return;
  for (int i = 0; i < count; i++)
    if (d->cuda.device_get(&device, i) == TJ_CUDA_SUCCESS && device == d->number)
      snprintf(d->gpu.head.info.name, sizeof d->gpu.head.info.name, "cuda:%d", i);
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
  enter(&d->gpu);
  status = tj_cuda_context_get_device(&d->cuda, error, &d->number);
  leave(&d->gpu);
  name_device(d);
  return status;
}

static tj_status open_queue(cuda_device *d, const tj_rt_cuda_attachment *attachment, tj_rt_error *error) {
  const tj_cuda_stream given = attachment != NULL ? attachment->stream : NULL;
  enter(&d->gpu);
  tj_status status = tj_cuda_queue_open(&d->queue, &d->cuda,
                                        attachment == NULL || attachment->has_own_stream ? NULL : &given, error);
  leave(&d->gpu);
  if (status != TJ_OK)
    release_context(&d->gpu);
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
  *d = (cuda_device){.number = 0};
  tj_rt_gpu_begin(&d->gpu, &driver, &d->queue.flight, &tj_cuda_loader, &d->place, &allocator);
  tj_status status = open_chosen(d, which, error);
  if (status != TJ_OK) {
    tj_rt_gpu_end(&d->gpu);
    return status;
  }
  describe(&d->cuda, d->number, &d->gpu.head.info);
  d->place = tj_cuda_place_of(&d->cuda, &allocator, d->number);
  *device = &d->gpu.head;
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
