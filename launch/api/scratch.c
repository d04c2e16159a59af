/* SPDX-License-Identifier: MIT */
/* Blocks of scratch memory that devices keep for the next launch. */
#include "launch/api/scratch.h"

enum { LEAST_BYTES = 64 << 10 };

void tj_device_scratch_open(tj_device_scratch *idle) {
  pthread_mutex_init(&idle->lock, NULL);
  idle->first = NULL;
}

void tj_device_scratch_close(tj_device *device) {
  for (tj_scratch *each = device->scratch.first, *next; each != NULL; each = next) {
    next = each->next;
    tj_rt_release(device->rt, &each->buffer);
    device->allocator.release(device->allocator.user, each);
  }
  pthread_mutex_destroy(&device->scratch.lock);
}

/* One that is large enough; NULL: there is none. */
static tj_scratch *find(tj_device_scratch *idle, size_t bytes) {
  pthread_mutex_lock(&idle->lock);
  tj_scratch **at = &idle->first;
  while (*at != NULL && (*at)->buffer.size < bytes)
    at = &(*at)->next;
  tj_scratch *found = *at;
  if (found != NULL)
    *at = found->next;
  pthread_mutex_unlock(&idle->lock);
  return found;
}

static tj_status make(tj_device *device, size_t bytes, tj_scratch **scratch, tj_rt_error *error) {
  const tj_allocator *allocator = &device->allocator;
  tj_scratch *made = allocator->allocate(allocator->user, sizeof *made);
  if (made == NULL)
    return TJ_ERROR_MEMORY;
  tj_status status = tj_rt_allocate(device->rt, bytes > LEAST_BYTES ? bytes : LEAST_BYTES, &made->buffer, error);
  if (status == TJ_OK)
    *scratch = made;
  else
    allocator->release(allocator->user, made);
  return status;
}

tj_status tj_scratch_take(tj_device *device, size_t bytes, tj_scratch **scratch, tj_rt_error *error) {
  *scratch = find(&device->scratch, bytes);
  return *scratch != NULL ? TJ_OK : make(device, bytes, scratch, error);
}

void tj_scratch_return(tj_device *device, tj_scratch *scratch) {
  pthread_mutex_lock(&device->scratch.lock);
  scratch->next = device->scratch.first;
  device->scratch.first = scratch;
  pthread_mutex_unlock(&device->scratch.lock);
}
