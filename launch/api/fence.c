/* SPDX-License-Identifier: MIT */
/* Fences: waiting for launches and copies in flight, and giving back what they held. Launching is in launch.c,
 * copying in buffer_copy.c. */
#include "launch/api/fence.h"

tj_fence *tj_fence_create(tj_context *context, tj_device *device, tj_image *image) {
  tj_fence *made = tj_context_allocate(context, sizeof *made);
  if (made == NULL)
    return NULL;
  made->context = context;
  made->device = tj_device_retain(device);
  made->image = image != NULL ? tj_image_retain(image) : NULL;
  made->end.count = 0;
  return made;
}

/* --- kernels of a launch --- */

tj_rt_completion *tj_launch_end_add(tj_launch_end *end) {
  tj_rt_completion *completion = &end->each[end->count++];
  *completion = (tj_rt_completion){.status = TJ_OK};
  atomic_init(&completion->is_done, true);
  return completion;
}

tj_status tj_launch_end_await(tj_rt_device *device, tj_launch_end *end, const tj_rt_watch *watch,
                              uint64_t *nanoseconds, tj_rt_error *error) {
  tj_status status = TJ_OK;
  *nanoseconds = 0;
  for (uint32_t i = 0; i < end->count && status == TJ_OK; i++) {
    status = tj_rt_finish_watched(device, &end->each[i], watch, error);
    *nanoseconds += end->each[i].nanoseconds;
  }
  return status;
}

void tj_launch_end_finish(tj_rt_device *device, tj_launch_end *end) {
  tj_rt_error ignored;
  for (uint32_t i = 0; i < end->count; i++)
    tj_rt_finish(device, &end->each[i], &ignored);
}

/* --- fences --- */

int tj_fence_is_done(tj_fence *fence) {
  tj_launch_end *end = &fence->end;
  return end->count == 0 || tj_rt_is_done(fence->device->rt, &end->each[end->count - 1]) ? 1 : 0;
}

typedef struct {
  const tj_listener *listener;
  bool is_cancelled;
} watching;

static bool goes_on(void *data, uint64_t done, uint64_t total) {
  watching *w = data;
  w->is_cancelled = !tj_tell(w->listener, TJ_WAITING_FOR_LAUNCH, done, total);
  return !w->is_cancelled;
}

tj_status tj_fence_wait(tj_fence *fence, uint64_t *nanoseconds) {
  tj_rt_error error;
  tj_context_forget(fence->context);
  watching w = {.listener = &fence->context->listener};
  uint64_t all;
  tj_status status = tj_launch_end_await(fence->device->rt, &fence->end, &(tj_rt_watch){goes_on, &w}, &all, &error);
  if (w.is_cancelled)
    return tj_context_fail(fence->context, TJ_ERROR_CANCELLED, TJ_CANCELLED, tj_code_title(TJ_CANCELLED));
  if (status != TJ_OK)
    return tj_context_fail(fence->context, status, error.code, error.text);
  if (nanoseconds != NULL)
    *nanoseconds = all;
  return TJ_OK;
}

void tj_fence_destroy(tj_fence *fence) {
  if (fence == NULL)
    return;
  tj_launch_end_finish(fence->device->rt, &fence->end);
  tj_image_release(fence->image);
  tj_device_release(fence->device);
  tj_context_release(fence->context, fence);
}
