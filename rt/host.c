/* SPDX-License-Identifier: MIT */
/* The host as a device: buffers are this process's memory, kernels are functions.
 *
 * A launch has ended when it returns, so there is never anything to wait for. Small launches run in the caller's
 * thread, since waking others would take longer than the work; the rest run in a pool on all cores. How much work a
 * workgroup is differs by orders of magnitude, so the caller runs some and looks at the clock. */
#include "base/clock.h"
#include "rt/driver.h"
#include "rt/host_pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Launches that take less time, or have fewer workgroups and work-items, run in the caller's thread. */
enum { INLINE_NANOSECONDS = 50000, INLINE_WORKGROUPS = 64, INLINE_WORK_ITEMS = 32768 };
enum { BUFFER_ALIGNMENT = 256, LARGE_PAGE = 2 << 20 };

typedef struct {
  tj_rt_device device;
  tj_allocator allocator;
  tj_host_pool *pool;
  atomic_uint_fast64_t nanoseconds; /* of launches since the last wait */
} host_device;

struct tj_rt_kernel {
  tj_rt_entry entry;
};

static void *allocate(const host_device *host, size_t size) {
  return host->allocator.allocate(host->allocator.user, size);
}

static void release(const host_device *host, void *block) {
  host->allocator.release(host->allocator.user, block);
}

/* --- buffers --- */

/* Asks for large pages in the whole of them that lie in a large block: tensors are walked through with large strides,
 * and would need more translations than a CPU keeps. */
static void prefer_large_pages(void *block, size_t size) {
  const uintptr_t page = (uintptr_t)LARGE_PAGE;
  uintptr_t begin = ((uintptr_t)block + page - 1) / page * page, end = ((uintptr_t)block + size) / page * page;
  if (begin < end)
    madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

static tj_status allocate_buffer(tj_rt_device *device, size_t size, tj_rt_buffer *buffer, tj_rt_error *error) {
  host_device *host = (host_device *)device;
  void *block = size > SIZE_MAX - BUFFER_ALIGNMENT ? NULL : allocate(host, size + BUFFER_ALIGNMENT);
  if (block == NULL)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_DEVICE_MEMORY, "no memory for a buffer of %zu bytes", size);
  prefer_large_pages(block, size);
  uint64_t address = ((uint64_t)(uintptr_t)block + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
  *buffer = (tj_rt_buffer){.address = address, .size = size, .handle = block};
  return TJ_OK;
}

static void release_buffer(tj_rt_device *device, tj_rt_buffer *buffer) {
  if (buffer->handle != NULL)
    release((host_device *)device, buffer->handle);
}

static unsigned char *bytes_of(const tj_rt_buffer *buffer, size_t offset) {
  return (unsigned char *)(uintptr_t)buffer->address + offset;
}

static tj_status write_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, tj_bytes from,
                              tj_rt_error *error) {
  (void)device, (void)error;
  memcpy(bytes_of(buffer, offset), from.data, from.size);
  return TJ_OK;
}

static tj_status read_buffer(tj_rt_device *device, const tj_rt_buffer *buffer, size_t offset, void *to, size_t size,
                             tj_rt_error *error) {
  (void)device, (void)error;
  memcpy(to, bytes_of(buffer, offset), size);
  return TJ_OK;
}

/* --- kernels --- */

static tj_status load_kernel(tj_rt_device *device, const tj_rt_code *code, tj_rt_kernel **kernel,
                             tj_rt_error *error) {
  if (code->entry == NULL)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_DEVICE_TARGET, "the code of %s is not for the host", code->symbol);
  tj_rt_kernel *loaded = allocate((host_device *)device, sizeof *loaded);
  if (loaded == NULL)
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  loaded->entry = code->entry;
  *kernel = loaded;
  return TJ_OK;
}

static void unload_kernel(tj_rt_device *device, tj_rt_kernel *kernel) {
  release((host_device *)device, kernel);
}

static bool has_few_work_items(const tj_rt_dispatch *dispatch) {
  uint64_t work_items;
  bool is_huge = __builtin_mul_overflow(dispatch->workgroup_count, dispatch->workgroup_size, &work_items);
  return !is_huge && work_items < INLINE_WORK_ITEMS;
}

/* Runs a small part of many workgroups, or all if it is done so quickly. Returns how many have run. */
static uint64_t run_first(const tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch) {
  uint64_t count = dispatch->workgroup_count, part = count / INLINE_WORKGROUPS;
  if (part == 0 && !has_few_work_items(dispatch))
    return 0;
  uint64_t begin = tj_nanoseconds();
  kernel->entry(dispatch->arguments, 0, part);
  bool is_short = (tj_nanoseconds() - begin) * INLINE_WORKGROUPS < INLINE_NANOSECONDS;
  if (!is_short)
    return part;
  kernel->entry(dispatch->arguments, part, count);
  return count;
}

static void complete(tj_rt_completion *completion, uint64_t nanoseconds) {
  if (completion == NULL)
    return;
  completion->nanoseconds = nanoseconds;
  atomic_store(&completion->is_done, true);
}

static tj_status launch(tj_rt_device *device, tj_rt_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  (void)error;
  host_device *host = (host_device *)device;
  uint64_t begin = tj_nanoseconds(), count = dispatch->workgroup_count, first = run_first(kernel, dispatch);
  if (first < count)
    tj_host_pool_run(host->pool, (tj_host_work){kernel->entry, dispatch->arguments, count, first});
  uint64_t nanoseconds = tj_nanoseconds() - begin;
  atomic_fetch_add_explicit(&host->nanoseconds, nanoseconds, memory_order_relaxed);
  complete(dispatch->completion, nanoseconds);
  return TJ_OK;
}

static tj_status copy_memory(tj_rt_device *device, const tj_rt_copy *copy, tj_rt_error *error) {
  (void)device, (void)error;
  uint64_t begin = tj_nanoseconds();
  memcpy(copy->to, copy->from, copy->size);
  complete(copy->completion, tj_nanoseconds() - begin);
  return TJ_OK;
}

static tj_status wait_for_all(tj_rt_device *device, uint64_t *nanoseconds, tj_rt_error *error) {
  (void)error;
  *nanoseconds = atomic_exchange_explicit(&((host_device *)device)->nanoseconds, 0, memory_order_relaxed);
  return TJ_OK;
}

/* --- devices --- */

static void close_host(tj_rt_device *device) {
  host_device *host = (host_device *)device;
  tj_host_pool_destroy(host->pool);
  release(host, host);
}

static const tj_rt_operations operations = {
    .close = close_host,
    .allocate = allocate_buffer,
    .release = release_buffer,
    .write = write_buffer,
    .read = read_buffer,
    .load = load_kernel,
    .unload = unload_kernel,
    .launch = launch,
    .copy = copy_memory,
    .wait = wait_for_all,
};

/* The cores that this process may use. */
static uint32_t count_cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return (uint32_t)CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (uint32_t)online : 1;
}

/* As many as TILEJIT_HOST_THREADS says, but no more than there are cores; all of these where it says nothing. */
static uint32_t count_threads(void) {
  const char *text = getenv("TILEJIT_HOST_THREADS");
  uint32_t cores = count_cores();
  long wanted = text != NULL ? strtol(text, NULL, 10) : 0;
  return wanted > 0 && wanted < (long)cores ? (uint32_t)wanted : cores;
}

/* What the kernel calls the CPU; "this CPU" where it does not say. */
static void describe_processor(char *description, size_t size) {
  snprintf(description, size, "this CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL)
    return;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || value == NULL)
      continue;
    value[strcspn(value, "\n")] = '\0';
    snprintf(description, size, "%.*s", (int)size - 1, value + 1 + strspn(value + 1, " "));
    break;
  }
  fclose(file);
}

static tj_rt_info describe_host(void) {
  tj_rt_info info = {.name = "host", .target = "host", .parallelism = count_threads()};
  describe_processor(info.description, sizeof info.description);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  info.memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
  return info;
}

static tj_status open_host(const char *name, const tj_allocator *given, tj_rt_device **device, tj_rt_error *error) {
  if (strcmp(name, "host") != 0)
    return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_UNKNOWN_DEVICE, "unknown device %s: there is one host", name);
  tj_allocator allocator = tj_rt_allocator(given);
  tj_rt_info info = describe_host();
  host_device *host = allocator.allocate(allocator.user, sizeof *host);
  tj_host_pool *pool = tj_host_pool_create(info.parallelism, allocator);
  if (host == NULL || pool == NULL) {
    if (pool != NULL)
      tj_host_pool_destroy(pool);
    if (host != NULL)
      allocator.release(allocator.user, host);
    return tj_rt_failed(error, TJ_ERROR_MEMORY, TJ_OUT_OF_MEMORY, "out of memory");
  }
  *host = (host_device){.device = {&operations, info}, .allocator = allocator, .pool = pool};
  *device = &host->device;
  return TJ_OK;
}

static size_t list_host(tj_rt_info info[], size_t capacity) {
  if (capacity > 0)
    info[0] = describe_host();
  return 1;
}

const tj_rt_driver tj_rt_driver_host = {"host", open_host, list_host};
