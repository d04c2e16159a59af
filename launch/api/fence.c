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
  atomic_init(&made->completion.is_done, true);
  return made;
}

int tj_fence_is_done(tj_fence *fence) {
  return tj_rt_is_done(fence->device->rt, &fence->completion) ? 1 : 0;
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
  tj_status status = tj_rt_finish_watched(fence->device->rt, &fence->completion, &(tj_rt_watch){goes_on, &w}, &error);
  if (w.is_cancelled)
    return tj_context_fail(fence->context, TJ_ERROR_CANCELLED, TJ_CANCELLED, tj_code_title(TJ_CANCELLED));
  if (status != TJ_OK)
    return tj_context_fail(fence->context, status, error.code, error.text);
  if (nanoseconds != NULL)
    *nanoseconds = fence->completion.nanoseconds;
  return TJ_OK;
}

void tj_fence_destroy(tj_fence *fence) {
  if (fence == NULL)
    return;
  tj_rt_error ignored;
  tj_rt_finish(fence->device->rt, &fence->completion, &ignored);
  tj_image_release(fence->image);
  tj_device_release(fence->device);
  tj_context_release(fence->context, fence);
}
