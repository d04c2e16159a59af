/* SPDX-License-Identifier: MIT */
/* A GPU behind HSA as a device: opening it, its buffers, its kernels. Code objects are in hsa_code.c,
 * launches in hsa_queue.c. */
#include "rt/hsa/hsa_device.h"

#include "base/machine/target_id.h"
#include "rt/driver.h"
#include "rt/hsa/hsa_code.h"
#include "rt/sim/hsa/hsasim.h"

#include <pthread.h>
#include <stdio.h>

typedef struct {
  tj_rt_device head;
  tj_allocator allocator;
  tj_hsa hsa;
  hsa_agent_t gpu;
  tj_hsa_pools pools;
  pthread_mutex_t lock; /* of the queue */
  tj_hsa_queue queue;
  tj_hsa_place place;
  tj_rt_modules modules;
} hsa_device;

struct tj_rt_kernel {
  tj_rt_module *executable; /* retained */
  tj_hsa_kernel kernel;
  uint32_t argument_bytes;
  uint64_t end; /* all launches of it have a smaller number */
};

static hsa_device *device_of(tj_rt_device *device) {
  return (hsa_device *)device;
}

static void drain(hsa_device *d) {
  pthread_mutex_lock(&d->lock);
  tj_hsa_queue_drain(&d->queue);
  pthread_mutex_unlock(&d->lock);
}

/* --- buffers --- */

static tj_status allocate_buffer(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error) {
  hsa_device *d = device_of(device);
  void *block = NULL;
  tj_status status = tj_rt_flight_check(&d->queue.flight, error);
  if (status != TJ_OK)
    return status;
  status = tj_hsa_amd_memory_pool_allocate(&d->hsa, error, d->pools.local, size > 0 ? size : 1, 0, &block);
  if (status != TJ_OK)
    return tj_rt_failed(error, status, TJ_DEVICE_MEMORY, "no memory for a buffer of %zu bytes on %s", size,
                        d->head.info.name);
  *buffer = (tj_rt_buffer){.address = (uint64_t)(uintptr_t)block, .size = size, .handle = block};
  return TJ_OK;
}

static void release_buffer(tj_rt_device *device, tj_rt_buffer *buffer) {
  hsa_device *d = device_of(device);
  if (buffer->handle == NULL && !buffer->is_borrowed)
    return;
  drain(d);
  if (!buffer->is_borrowed)
    d->hsa.amd_memory_pool_free(buffer->handle);
}

static char *place_in(const tj_rt_buffer *buffer, size_t offset) {
  return (char *)(uintptr_t)buffer->address + offset;
}

static tj_status write_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                              tj_rt_error *error) {
  hsa_device *d = device_of(device);
  drain(d);
  tj_status status = tj_rt_flight_check(&d->queue.flight, error);
  if (status != TJ_OK)
    return status;
  return tj_hsa_memory_copy(&d->hsa, error, place_in(buffer, offset), from.data, from.size);
}

static tj_status read_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                             tj_rt_error *error) {
  hsa_device *d = device_of(device);
  pthread_mutex_lock(&d->lock);
  tj_hsa_queue_drain(&d->queue);
  tj_status status = tj_rt_flight_result(&d->queue.flight, error);
  pthread_mutex_unlock(&d->lock);
  if (status != TJ_OK)
    return status;
  return tj_hsa_memory_copy(&d->hsa, error, to, place_in(buffer, offset), size);
}

/* --- kernels --- */

/* Whether launches before that number have ended; otherwise a signal to wait for, and how far the one that runs is.
 */
static bool look(hsa_device *d, uint64_t end, hsa_signal_t *last, uint64_t *done, uint64_t *total) {
  pthread_mutex_lock(&d->lock);
  tj_hsa_queue_progress(&d->queue);
  bool is_over = d->queue.flight.ended >= end;
  *last = tj_hsa_queue_signal(&d->queue, end - 1);
  tj_hsa_queue_measure(&d->queue, done, total);
  pthread_mutex_unlock(&d->lock);
  return is_over;
}

static void cancel(hsa_device *d, uint64_t end) {
  pthread_mutex_lock(&d->lock);
  if (d->queue.flight.ended < end)
    tj_hsa_queue_cancel(&d->queue);
  pthread_mutex_unlock(&d->lock);
}

/* Waits until launches before that number have ended; without the lock, so that others can launch meanwhile. `watch`
 * may be NULL. */
static void wait_until(hsa_device *d, uint64_t end, const tj_rt_watch *watch) {
  hsa_signal_t last;
  uint64_t done, total;
  bool goes_on = true;
  while (!look(d, end, &last, &done, &total)) {
    if (watch != NULL && goes_on && !(goes_on = watch->goes_on(watch->data, done, total)))
      cancel(d, end);
    tj_hsa_queue_await(&d->queue, last);
  }
}

static void unload_kernel(tj_rt_device *device, tj_rt_kernel *kernel) {
  hsa_device *d = device_of(device);
  wait_until(d, kernel->end, NULL);
  tj_rt_module_release(&d->modules, kernel->executable);
  d->allocator.release(d->allocator.user, kernel);
}

static tj_status find_kernel(hsa_device *d, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error) {
  tj_status status = tj_rt_module_retain(&d->modules, code, &kernel->executable, error);
  if (status != TJ_OK)
    return status;
  status = tj_hsa_find_kernel(&d->place, kernel->executable, code->symbol, &kernel->kernel, error);
  if (status != TJ_OK)
    tj_rt_module_release(&d->modules, kernel->executable);
  return status;
}

static tj_status load_kernel(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel,
                             tj_rt_error *error) {
  hsa_device *d = device_of(device);
  if (code->code_object.size == 0)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, "the code of %s is not for a GPU", code->symbol);
  tj_status status = tj_rt_flight_check(&d->queue.flight, error);
  if (status != TJ_OK)
    return status;
  tj_rt_kernel *loaded = d->allocator.allocate(d->allocator.user, sizeof *loaded);
  if (loaded == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *loaded = (tj_rt_kernel){.argument_bytes = code->argument_bytes};
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
  hsa_device *d = device_of(device);
  pthread_mutex_lock(&d->lock);
  tj_status status = tj_hsa_queue_launch(&d->queue, &kernel->kernel, kernel->argument_bytes, dispatch, error);
  kernel->end = d->queue.flight.launched;
  pthread_mutex_unlock(&d->lock);
  return status;
}

static tj_status copy_memory(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error) {
  hsa_device *d = device_of(device);
  pthread_mutex_lock(&d->lock);
  tj_status status = tj_hsa_queue_copy(&d->queue, copy, error);
  pthread_mutex_unlock(&d->lock);
  return status;
}

static void lose(tj_rt_device *device, const char *why) {
  tj_hsa_queue_lose(&device_of(device)->queue, why);
}

static tj_status wait_for_all(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error) {
  hsa_device *d = device_of(device);
  pthread_mutex_lock(&d->lock);
  tj_hsa_queue_drain(&d->queue);
  tj_status status = tj_rt_flight_result(&d->queue.flight, error);
  *nanoseconds = tj_rt_flight_take_time(&d->queue.flight);
  pthread_mutex_unlock(&d->lock);
  return status;
}

/* Another thread that holds the lock makes progress itself. */
static void progress(tj_rt_device *device) {
  hsa_device *d = device_of(device);
  if (pthread_mutex_trylock(&d->lock) != 0)
    return;
  tj_hsa_queue_progress(&d->queue);
  pthread_mutex_unlock(&d->lock);
}

static void finish(tj_rt_device *device, tj_rt_completion *completion, const tj_rt_watch *watch) {
  wait_until(device_of(device), completion->number + 1, watch);
}

/* The simulator's counters; other runtimes have none. */
static size_t read_counters(tj_rt_device *device, tj_rt_counter counters[], size_t capacity) {
  static const char *const names[] = {
#define COUNTER(field, meaning) #field,
      TJ_HSASIM_COUNTERS(COUNTER)
#undef COUNTER
  };
  enum { COUNTERS = sizeof names / sizeof names[0] };
  hsa_device *d = device_of(device);
  uint64_t values[COUNTERS] = {0};
  if (d->hsa.counters == NULL)
    return 0;
  pthread_mutex_lock(&d->lock);
  tj_hsa_queue_drain(&d->queue);
  if (d->queue.queue != NULL)
    d->hsa.counters(d->queue.queue, values, COUNTERS);
  pthread_mutex_unlock(&d->lock);
  for (size_t i = 0; i < COUNTERS && i < capacity; i++)
    counters[i] = (tj_rt_counter){names[i], values[i]};
  return COUNTERS;
}

/* --- opening and closing --- */

static void close_device(tj_rt_device *device) {
  hsa_device *d = device_of(device);
  drain(d);
  tj_hsa_queue_close(&d->queue);
  d->hsa.shut_down();
  tj_rt_modules_close(&d->modules);
  pthread_mutex_destroy(&d->lock);
  d->allocator.release(d->allocator.user, d);
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
    .counters = read_counters,
};

/* Opens the library and starts the runtime; a runtime that does not start has no agents to offer. */
static tj_status start_runtime(tj_hsa *hsa, const tj_hsa_library *library, tj_rt_error *error) {
  tj_status status = tj_hsa_open(hsa, library, error);
  if (status != TJ_OK)
    return status;
  tj_rt_error reason;
  if (tj_hsa_init(hsa, &reason) != TJ_OK)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_NO_AGENT, "no GPU agent was found: %.400s", reason.text);
  return TJ_OK;
}

/* The number-th agent on which code of a target ID runs; NULL: of all. */
static const tj_hsa_gpu *choose(const tj_hsa_agents *agents, const char *target, unsigned long number) {
  tj_target_reason reason;
  for (uint32_t i = 0; i < agents->count; i++) {
    bool matches = target == NULL || tj_target_allows(target, agents->gpu[i].target, &reason);
    if (matches && number-- == 0)
      return &agents->gpu[i];
  }
  return NULL;
}

static tj_status find_agents(hsa_device *d, tj_hsa_agents *agents, tj_rt_error *error) {
  tj_status status = tj_hsa_find_agents(&d->hsa, agents, error);
  if (status == TJ_OK && agents->count == 0)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_NO_AGENT, "no GPU agent was found: the HSA runtime has none");
  return status;
}

/* Opens the device on a GPU agent: `gpu`, one of these; NULL: there is none such. */
static tj_status open_gpu(hsa_device *d, const char *name, const tj_hsa_agents *agents, const tj_hsa_gpu *gpu,
                          hsa_queue_t *queue, tj_rt_error *error) {
  if (gpu == NULL)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "unknown device %s", name);
  d->gpu = d->place.gpu = gpu->agent;
  tj_status status = tj_hsa_find_pools(&d->hsa, agents->cpu, gpu->agent, &d->pools, error);
  if (status != TJ_OK)
    return status;
  snprintf(d->head.info.name, sizeof d->head.info.name, "%s", name);
  tj_hsa_describe(&d->hsa, agents, (uint32_t)(gpu - agents->gpu), &d->head.info);
  d->queue.hsa = &d->hsa;
  d->queue.cpu = agents->cpu;
  d->queue.gpu = d->gpu;
  d->queue.kernarg = d->pools.kernarg;
  return tj_hsa_queue_open(&d->queue, queue, error);
}

/* Which agent a device is opened on, and with which queue. */
typedef struct {
  const char *name, *target; /* by number, of those on which code of that target ID runs; NULL: of all */
  unsigned long number;
  const tj_rt_attachment *attachment; /* by handle; NULL: by number */
} choice;

static const tj_hsa_gpu *find_gpu(const tj_hsa_agents *agents, uint64_t handle) {
  for (uint32_t i = 0; i < agents->count; i++) {
    if (agents->gpu[i].agent.handle == handle)
      return &agents->gpu[i];
  }
  return NULL;
}

static tj_status open_choice(hsa_device *d, const choice *which, tj_rt_error *error) {
  tj_hsa_agents agents;
  char name[sizeof d->head.info.name];
  tj_status status = find_agents(d, &agents, error);
  if (status != TJ_OK)
    return status;
  if (which->attachment == NULL)
    return open_gpu(d, which->name, &agents, choose(&agents, which->target, which->number), NULL, error);
  const tj_hsa_gpu *gpu = find_gpu(&agents, which->attachment->agent);
  if (gpu != NULL)
    snprintf(name, sizeof name, "hsa:%u", (unsigned)(gpu - agents.gpu));
  else
    snprintf(name, sizeof name, "of agent 0x%llx", (unsigned long long)which->attachment->agent);
  return open_gpu(d, name, &agents, gpu, which->attachment->queue, error);
}

static tj_status open_device(const tj_hsa_library *library, const choice *which, const tj_allocator *given,
                             tj_rt_device **device, tj_rt_error *error) {
  tj_allocator allocator = tj_rt_allocator(given);
  hsa_device *d = allocator.allocate(allocator.user, sizeof *d);
  if (d == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  *d = (hsa_device){.head = {.operations = &operations}, .allocator = allocator};
  pthread_mutex_init(&d->lock, NULL);
  d->place.hsa = &d->hsa;
  tj_rt_modules_open(&d->modules, &tj_hsa_loader, &d->place, &allocator);
  tj_status status = start_runtime(&d->hsa, library, error);
  if (status == TJ_OK) {
    status = open_choice(d, which, error);
    if (status != TJ_OK)
      d->hsa.shut_down();
  }
  if (status == TJ_OK) {
    *device = &d->head;
    return TJ_OK;
  }
  tj_rt_modules_close(&d->modules);
  pthread_mutex_destroy(&d->lock);
  allocator.release(allocator.user, d);
  return status;
}

tj_status tj_hsa_device_open(const char *name, const tj_hsa_library *library, const char *target,
                             unsigned long number, const tj_allocator *allocator, tj_rt_device **device,
                             tj_rt_error *error) {
  return open_device(library, &(choice){.name = name, .target = target, .number = number}, allocator, device, error);
}

tj_status tj_hsa_device_attach(const tj_hsa_library *library, const tj_rt_attachment *attachment,
                               const tj_allocator *allocator, tj_rt_device **device, tj_rt_error *error) {
  return open_device(library, &(choice){.attachment = attachment}, allocator, device, error);
}

/* hsa:0, or sim:gfx942; sim:gfx942:sramecc+:xnack+ for another of one processor. */
static void name_device(const char *prefix, bool by_target, const tj_hsa_agents *agents, uint32_t number,
                        tj_rt_info *info) {
  const char *target = agents->gpu[number].target;
  char processor[TJ_PROCESSOR_SIZE];
  snprintf(processor, sizeof processor, "%.*s", (int)strcspn(target, ":"), target);
  bool is_first = choose(agents, processor, 0) == &agents->gpu[number];
  if (by_target)
    snprintf(info->name, sizeof info->name, "%.8s:%s", prefix, is_first ? processor : target);
  else
    snprintf(info->name, sizeof info->name, "%.8s:%u", prefix, number);
}

size_t tj_hsa_device_list(const char *prefix, const tj_hsa_library *library, bool by_target, tj_rt_info info[],
                          size_t capacity) {
  tj_hsa hsa;
  tj_rt_error ignored;
  tj_hsa_agents agents;
  if (start_runtime(&hsa, library, &ignored) != TJ_OK)
    return 0;
  if (tj_hsa_find_agents(&hsa, &agents, &ignored) != TJ_OK)
    agents.count = 0;
  for (uint32_t i = 0; i < agents.count && i < capacity; i++) {
    info[i] = (tj_rt_info){0};
    name_device(prefix, by_target, &agents, i, &info[i]);
    tj_hsa_describe(&hsa, &agents, i, &info[i]);
    if (by_target)
      info[i].bus[0] = info[i].uuid[0] = '\0';
  }
  hsa.shut_down();
  return agents.count;
}
