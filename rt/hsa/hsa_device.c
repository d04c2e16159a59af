/* SPDX-License-Identifier: MIT */
/* A GPU behind HSA as a device (rt/gpu.h): opening it, its memory. Code objects are in hsa_code.c, launches in
 * hsa_queue.c. */
#include "rt/hsa/hsa_device.h"

#include "base/machine/argument_block.h"
#include "base/machine/target_id.h"
#include "rt/driver.h"
#include "rt/gpu.h"
#include "rt/hsa/hsa_code.h"
#include "rt/sim/hsa/hsasim.h"

#include <stdio.h>

typedef struct {
  tj_rt_gpu gpu;
  tj_hsa hsa;
  hsa_agent_t agent;
  tj_hsa_pools pools;
  tj_hsa_queue queue;
  tj_hsa_place place;
} hsa_device;

typedef struct {
  tj_rt_kernel head;
  tj_hsa_kernel kernel;
  uint32_t argument_bytes;
} hsa_kernel;

static hsa_device *device_of(tj_rt_gpu *gpu) {
  return (hsa_device *)gpu;
}

/* --- memory --- */

static tj_status allocate_memory(tj_rt_gpu *gpu, size_t size, uint64_t *address, tj_rt_error *error) {
  hsa_device *d = device_of(gpu);
  void *block = NULL;
  tj_status status = tj_hsa_amd_memory_pool_allocate(&d->hsa, error, d->pools.local, size, 0, &block);
  *address = (uint64_t)(uintptr_t)block;
  if (status != TJ_OK)
    error->code = TJ_DEVICE_MEMORY;
  return status;
}

static void release_memory(tj_rt_gpu *gpu, uint64_t address) {
  device_of(gpu)->hsa.amd_memory_pool_free((void *)(uintptr_t)address);
}

static tj_status copy_now(tj_rt_gpu *gpu, uint64_t to, uint64_t from, size_t size, tj_rt_error *error) {
  return tj_hsa_memory_copy(&device_of(gpu)->hsa, error, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
}

/* --- the queue --- */

static tj_status find_kernel(tj_rt_gpu *gpu, tj_rt_kernel *kernel, const tj_rt_code *code, tj_rt_error *error) {
  hsa_kernel *found = (hsa_kernel *)kernel;
  found->argument_bytes = tj_argument_bytes(code->argument_words, code->has_map);
  return tj_hsa_find_kernel(&device_of(gpu)->place, kernel->module, code->symbol, &found->kernel, error);
}

static tj_status launch(tj_rt_gpu *gpu, const tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  const hsa_kernel *launched = (const hsa_kernel *)kernel;
  return tj_hsa_queue_launch(&device_of(gpu)->queue, &launched->kernel, launched->argument_bytes, dispatch, error);
}

static tj_status copy_memory(tj_rt_gpu *gpu, const tj_rt_copy *copy, tj_rt_error *error) {
  return tj_hsa_queue_copy(&device_of(gpu)->queue, copy, error);
}

static void progress(tj_rt_gpu *gpu) {
  tj_hsa_queue_progress(&device_of(gpu)->queue);
}

static void drain(tj_rt_gpu *gpu) {
  tj_hsa_queue_drain(&device_of(gpu)->queue);
}

static void give_up(tj_rt_gpu *gpu) {
  tj_hsa_queue_cancel(&device_of(gpu)->queue);
}

static void lose(tj_rt_gpu *gpu, const char *why) {
  tj_hsa_queue_lose(&device_of(gpu)->queue, why);
}

static uint64_t signal_of(tj_rt_gpu *gpu, uint64_t number) {
  return tj_hsa_queue_signal(&device_of(gpu)->queue, number).handle;
}

/* A short while, always. */
static void await(tj_rt_gpu *gpu, uint64_t sign, bool is_short) {
  (void)is_short;
  tj_hsa_queue_await(&device_of(gpu)->queue, (hsa_signal_t){sign});
}

static void measure(tj_rt_gpu *gpu, uint64_t *done, uint64_t *total) {
  tj_hsa_queue_measure(&device_of(gpu)->queue, done, total);
}

/* The simulator's counters; other runtimes have none. */
static size_t read_counters(tj_rt_gpu *gpu, tj_rt_counter counters[], size_t capacity) {
  static const char *const names[] = {
#define COUNTER(field, meaning) #field,
      TJ_HSASIM_COUNTERS(COUNTER)
#undef COUNTER
  };
  enum { COUNTERS = sizeof names / sizeof names[0] };
  hsa_device *d = device_of(gpu);
  uint64_t values[COUNTERS] = {0};
  if (d->hsa.counters == NULL)
    return 0;
  tj_hsa_queue_drain(&d->queue);
  if (d->queue.queue != NULL)
    d->hsa.counters(d->queue.queue, values, COUNTERS);
  for (size_t i = 0; i < COUNTERS && i < capacity; i++)
    counters[i] = (tj_rt_counter){names[i], values[i]};
  return COUNTERS;
}

static void close_queue(tj_rt_gpu *gpu) {
  tj_hsa_queue_close(&device_of(gpu)->queue);
}

static void shut_down(tj_rt_gpu *gpu) {
  device_of(gpu)->hsa.shut_down();
}

static const tj_rt_gpu_driver driver = {
    .kernel_bytes = sizeof(hsa_kernel),
    .close = close_queue,
    .leave_for_good = shut_down,
    .allocate = allocate_memory,
    .release = release_memory,
    .copy_now = copy_now,
    .find = find_kernel,
    .launch = launch,
    .copy = copy_memory,
    .progress = progress,
    .drain = drain,
    .give_up = give_up,
    .lose = lose,
    .sign_of = signal_of,
    .await = await,
    .measure = measure,
    .counters = read_counters,
};

/* --- opening --- */

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
  d->agent = d->place.gpu = gpu->agent;
  tj_status status = tj_hsa_find_pools(&d->hsa, agents->cpu, gpu->agent, &d->pools, error);
  if (status != TJ_OK)
    return status;
  snprintf(d->gpu.head.info.name, sizeof d->gpu.head.info.name, "%s", name);
  tj_hsa_describe(&d->hsa, agents, (uint32_t)(gpu - agents->gpu), &d->gpu.head.info);
  d->queue.hsa = &d->hsa;
  d->queue.cpu = agents->cpu;
  d->queue.gpu = d->agent;
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
  char name[sizeof d->gpu.head.info.name];
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
  *d = (hsa_device){.place = {.hsa = &d->hsa, .allocator = allocator}};
  tj_rt_gpu_begin(&d->gpu, &driver, &d->queue.flight, &tj_hsa_loader, &d->place, &allocator);
  tj_status status = start_runtime(&d->hsa, library, error);
  if (status == TJ_OK) {
    status = open_choice(d, which, error);
    if (status != TJ_OK)
      d->hsa.shut_down();
  }
  if (status == TJ_OK) {
    *device = &d->gpu.head;
    return TJ_OK;
  }
  tj_rt_gpu_end(&d->gpu);
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
