/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: copies, of bytes and of boxes, now or when signals allow. Those in flight are made one
 * after another. */
#include "rt/sim/hsa/hsa_service.h"
#include "rt/sim/hsa/hsa_state.h"

#include <stdlib.h>

/* Planes of rows of bytes. */
typedef struct {
  unsigned char *to;
  const unsigned char *from;
  size_t to_pitch, to_slice, from_pitch, from_slice;
  size_t width, height, depth;
} box;

typedef struct {
  tj_sim_task task;
  box box;
  hsa_signal_t completion; /* retained, as those that it waits for are */
  uint32_t waited_count;
  hsa_signal_t waited[];
} copy;

static tj_sim_service copier = TJ_SIM_SERVICE;
static atomic_bool notes_times;

static void copy_box(const box *b) {
  for (size_t z = 0; z < b->depth; z++) {
    for (size_t y = 0; y < b->height; y++)
      memmove(b->to + z * b->to_slice + y * b->to_pitch, b->from + z * b->from_slice + y * b->from_pitch, b->width);
  }
}

hsa_status_t hsa_memory_copy(void *dst, const void *src, size_t size) {
  if (size > 0 && (dst == NULL || src == NULL))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (size > 0)
    memmove(dst, src, size);
  return HSA_STATUS_SUCCESS;
}

/* --- copies in flight --- */

static bool is_due(const tj_sim_task *task) {
  const copy *c = (const copy *)task;
  for (uint32_t i = 0; i < c->waited_count; i++) {
    if (atomic_load(&tj_sim_signal_of(c->waited[i])->value) != 0)
      return false;
  }
  return true;
}

static bool make(tj_sim_task *task) {
  const copy *c = (const copy *)task;
  uint64_t begin = tj_sim_now();
  copy_box(&c->box);
  bool is_noted = atomic_load(&notes_times);
  tj_sim_signal_complete(c->completion, is_noted ? begin : 0, is_noted ? tj_sim_now() : 0);
  return false;
}

static void release(tj_sim_task *task) {
  copy *c = (copy *)task;
  for (uint32_t i = 0; i < c->waited_count; i++)
    tj_sim_signal_release(tj_sim_signal_of(c->waited[i]));
  tj_sim_signal_release(tj_sim_signal_of(c->completion));
  free(c);
}

static hsa_status_t submit(const box *b, const hsa_signal_t *waited, uint32_t waited_count, hsa_signal_t completion) {
  copy *c = malloc(sizeof *c + waited_count * sizeof *c->waited);
  if (c == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *c = (copy){{NULL, is_due, make, release}, *b, completion, waited_count};
  tj_sim_signal_retain(tj_sim_signal_of(completion));
  for (uint32_t i = 0; i < waited_count; i++) {
    c->waited[i] = waited[i];
    tj_sim_signal_retain(tj_sim_signal_of(waited[i]));
  }
  return tj_sim_service_submit(&copier, &c->task) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static hsa_status_t check_signals(const hsa_signal_t *waited, uint32_t waited_count, hsa_signal_t completion) {
  if (!tj_sim_is_initialized())
    return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (waited_count > 0 && waited == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < waited_count; i++) {
    if (waited[i].handle == 0)
      return HSA_STATUS_ERROR_INVALID_SIGNAL;
  }
  return completion.handle == 0 ? HSA_STATUS_ERROR_INVALID_SIGNAL : HSA_STATUS_SUCCESS;
}

/* Both ends must be memory that HSA knows: the application's own is locked first. */
static bool is_known(const void *block, size_t size) {
  tj_sim_range range;
  return tj_sim_memory_find((uint64_t)(uintptr_t)block, size, &range);
}

hsa_status_t hsa_amd_memory_async_copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
                                       size_t size, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
                                       hsa_signal_t completion_signal) {
  if (!tj_sim_is_agent(dst_agent.handle) || !tj_sim_is_agent(src_agent.handle))
    return HSA_STATUS_ERROR_INVALID_AGENT;
  if (size > 0 && (!is_known(dst, size) || !is_known(src, size)))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status = check_signals(dep_signals, num_dep_signals, completion_signal);
  const box b = {.to = dst, .from = src, .width = size, .height = 1, .depth = size > 0 ? 1 : 0};
  return status != HSA_STATUS_SUCCESS ? status : submit(&b, dep_signals, num_dep_signals, completion_signal);
}

/* --- boxes --- */

/* Where the box of a pitched block begins, and how many bytes there are from there to its end; false where that is
 * more than can be counted, or rows or planes overlap. */
static bool place(const hsa_pitched_ptr_t *block, const hsa_dim3_t *offset, const hsa_dim3_t *range, size_t *begin,
                  size_t *extent) {
  size_t rows = 0, planes = 0, row, plane;
  bool is_too_large = __builtin_mul_overflow((size_t)offset->y, block->pitch, &row) ||
                      __builtin_mul_overflow((size_t)offset->z, block->slice, &plane) ||
                      __builtin_add_overflow(row, plane, begin) ||
                      __builtin_add_overflow(*begin, (size_t)offset->x, begin) ||
                      __builtin_mul_overflow((size_t)range->y - 1, block->pitch, &rows) ||
                      __builtin_add_overflow(rows, (size_t)range->x, &rows) ||
                      __builtin_mul_overflow((size_t)range->z - 1, block->slice, &planes) ||
                      __builtin_add_overflow(rows, planes, extent);
  bool has_overlap = (range->y > 1 && block->pitch < range->x) || (range->z > 1 && block->slice < rows);
  return !is_too_large && !has_overlap;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
                                            const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
                                            const hsa_dim3_t *range, hsa_agent_t copy_agent,
                                            hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
                                            const hsa_signal_t *dep_signals, hsa_signal_t completion_signal) {
  (void)dir;
  if (dst == NULL || dst_offset == NULL || src == NULL || src_offset == NULL || range == NULL)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (tj_sim_agent_processor(copy_agent.handle) == NULL)
    return HSA_STATUS_ERROR_INVALID_AGENT;
  box b = {.to_pitch = dst->pitch, .to_slice = dst->slice, .from_pitch = src->pitch, .from_slice = src->slice};
  if (range->x > 0 && range->y > 0 && range->z > 0) {
    size_t to, from, to_extent, from_extent;
    if (!place(dst, dst_offset, range, &to, &to_extent) || !place(src, src_offset, range, &from, &from_extent))
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    b.to = (unsigned char *)dst->base + to;
    b.from = (const unsigned char *)src->base + from;
    b.width = range->x, b.height = range->y, b.depth = range->z;
    if (!is_known(b.to, to_extent) || !is_known(b.from, from_extent))
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  hsa_status_t status = check_signals(dep_signals, num_dep_signals, completion_signal);
  return status != HSA_STATUS_SUCCESS ? status : submit(&b, dep_signals, num_dep_signals, completion_signal);
}

/* --- times, and the end --- */

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable) {
  atomic_store(&notes_times, enable);
  return HSA_STATUS_SUCCESS;
}

void tj_sim_end_copies(void) {
  tj_sim_service_end(&copier);
  atomic_store(&notes_times, false);
}
