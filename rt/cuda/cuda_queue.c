/* SPDX-License-Identifier: MIT */
/* Launches in flight on a stream: put there, waited for, taken out, and what is told of those that fail. */
#include "rt/cuda/cuda_queue.h"

#include "base/machine/argument_block.h"

/* --- losing --- */

static void lose(tj_cuda_queue *queue, const tj_rt_error *why) {
  if (tj_rt_flight_lose(&queue->flight, why))
    tj_rt_flight_lost(&queue->flight);
}

void tj_cuda_queue_lose(tj_cuda_queue *queue, const char *why) {
  tj_rt_error error;
  tj_rt_failed(&error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the device is lost: %.400s", why);
  lose(queue, &error);
}

/* To a kernel that failed with this result. */
static void lose_to(tj_cuda_queue *queue, int result) {
  tj_rt_error reason, error;
  tj_cuda_check(queue->cuda, result, "the kernel failed", &reason);
  tj_rt_failed(&error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "%.400s", reason.text);
  lose(queue, &error);
}

/* --- opening and closing --- */

static void destroy_event(const tj_cuda_queue *queue, tj_cuda_event event) {
  if (event != NULL)
    queue->cuda->event_destroy(event);
}

static void destroy(tj_cuda_queue *queue) {
  for (uint32_t i = 0; i < TJ_RT_SLOTS; i++) {
    destroy_event(queue, queue->slot[i].begin);
    destroy_event(queue, queue->slot[i].end);
  }
  if (queue->stream != NULL && !queue->is_borrowed)
    queue->cuda->stream_destroy(queue->stream);
  tj_rt_flight_close(&queue->flight);
}

static tj_status create_events(const tj_cuda_queue *queue, tj_cuda_slot *slot, tj_rt_error *error) {
  if (queue->is_borrowed)
    return tj_cuda_event_create(queue->cuda, error, &slot->end, TJ_CUDA_EVENT_DISABLE_TIMING);
  tj_status status = tj_cuda_event_create(queue->cuda, error, &slot->begin, 0);
  return status == TJ_OK ? tj_cuda_event_create(queue->cuda, error, &slot->end, 0) : status;
}

tj_status tj_cuda_queue_open(tj_cuda_queue *queue, const tj_cuda *cuda, const tj_cuda_stream *stream,
                             tj_rt_error *error) {
  *queue = (tj_cuda_queue){.cuda = cuda, .stream = stream != NULL ? *stream : NULL, .is_borrowed = stream != NULL};
  tj_rt_flight_open(&queue->flight);
  tj_status status = TJ_OK;
  if (stream == NULL)
    status = tj_cuda_stream_create(cuda, error, &queue->stream, TJ_CUDA_STREAM_NON_BLOCKING);
  for (uint32_t i = 0; i < TJ_RT_SLOTS && status == TJ_OK; i++)
    status = create_events(queue, &queue->slot[i], error);
  if (status != TJ_OK)
    destroy(queue);
  return status;
}

void tj_cuda_queue_close(tj_cuda_queue *queue) {
  destroy(queue);
}

/* --- ending --- */

static tj_cuda_slot *slot_of(tj_cuda_queue *queue, uint64_t number) {
  return &queue->slot[tj_rt_slot_of(number)];
}

tj_cuda_event tj_cuda_queue_event(const tj_cuda_queue *queue, uint64_t number) {
  return queue->slot[tj_rt_slot_of(number)].end;
}

static uint64_t time_of(const tj_cuda_queue *queue, const tj_cuda_slot *slot) {
  float milliseconds = 0;
  if (slot->begin == NULL)
    return 0;
  if (queue->cuda->event_elapsed_time(&milliseconds, slot->begin, slot->end) != TJ_CUDA_SUCCESS)
    return 0;
  return milliseconds > 0 ? (uint64_t)((double)milliseconds * 1e6) : 0;
}

/* Why the oldest launch ends badly, if it does: it was given up, or the device is lost, the first by its own fault.
 */
static tj_status describe_end(tj_cuda_queue *queue, tj_rt_error *error) {
  tj_rt_flight *flight = &queue->flight;
  if (!atomic_load(&flight->is_lost)) {
    if (flight->ended >= queue->given_up)
      return TJ_OK;
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the launch was given up");
  }
  return tj_rt_flight_is_innocent(flight, error) ? TJ_ERROR_SYSTEM : tj_rt_flight_check(flight, error);
}

/* Takes the oldest launch, which has ended with this result, out of the queue. */
static void retire(tj_cuda_queue *queue, int result) {
  tj_rt_error error;
  if (result != TJ_CUDA_SUCCESS)
    lose_to(queue, result);
  tj_status status = describe_end(queue, &error);
  uint64_t nanoseconds = status == TJ_OK ? time_of(queue, slot_of(queue, queue->flight.ended)) : 0;
  tj_rt_flight_end(&queue->flight, status, &error, nanoseconds);
}

void tj_cuda_queue_progress(tj_cuda_queue *queue) {
  while (!tj_rt_flight_is_empty(&queue->flight)) {
    int result = queue->cuda->event_query(slot_of(queue, queue->flight.ended)->end);
    if (result == TJ_CUDA_NOT_READY)
      return;
    retire(queue, result);
  }
}

static void retire_oldest(tj_cuda_queue *queue) {
  retire(queue, queue->cuda->event_synchronize(slot_of(queue, queue->flight.ended)->end));
}

void tj_cuda_queue_drain(tj_cuda_queue *queue) {
  while (!tj_rt_flight_is_empty(&queue->flight))
    retire_oldest(queue);
}

void tj_cuda_queue_give_up(tj_cuda_queue *queue) {
  queue->given_up = queue->flight.launched;
}

/* --- launching --- */

/* The slot of the next launch, its first event recorded, if it has one. */
static tj_status begin(tj_cuda_queue *queue, tj_cuda_slot **slot, tj_rt_error *error) {
  tj_status status = tj_rt_flight_check(&queue->flight, error);
  if (status != TJ_OK)
    return status;
  if (tj_rt_flight_is_full(&queue->flight))
    retire_oldest(queue);
  *slot = slot_of(queue, queue->flight.launched);
  if ((*slot)->begin == NULL)
    return TJ_OK;
  return tj_cuda_event_record(queue->cuda, error, (*slot)->begin, queue->stream);
}

/* The slot is the launch's from here on; where its second event is not recorded, nothing of it can be told. */
static tj_status end(tj_cuda_queue *queue, tj_cuda_slot *slot, tj_rt_completion *completion, bool is_copy,
                     tj_rt_error *error) {
  tj_status status = tj_cuda_event_record(queue->cuda, error, slot->end, queue->stream);
  if (status != TJ_OK) {
    tj_cuda_queue_lose(queue, error->text);
    return status;
  }
  tj_rt_flight_begin(&queue->flight, completion, is_copy);
  return TJ_OK;
}

static tj_status check_size(const tj_rt_dispatch *dispatch, tj_rt_error *error) {
  enum { MOST_ITEMS = 1024 };
  if (dispatch->workgroup_count <= INT32_MAX && dispatch->workgroup_size > 0 &&
      dispatch->workgroup_size <= MOST_ITEMS)
    return TJ_OK;
  return tj_rt_failed(error, TJ_ERROR_INPUT, TJ_LAUNCH, TJ_RT_NO_PACKET, dispatch->workgroup_count,
                      dispatch->workgroup_size);
}

/* Where each parameter lies. They are not given as one buffer: drivers take none with a tensor map in it. */
static void list_parameters(const tj_cuda_kernel *kernel, const tj_rt_dispatch *dispatch, void *parameter[]) {
  unsigned char *block = (unsigned char *)(uintptr_t)dispatch->arguments;
  for (uint32_t i = 0; i < kernel->argument_words; i++)
    parameter[i] = block + i * sizeof(uint64_t);
  if (kernel->has_map)
    parameter[kernel->argument_words] = block + tj_map_offset(kernel->argument_words);
}

static tj_status submit(tj_cuda_queue *queue, const tj_cuda_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  void *parameter[TJ_CUDA_MOST_WORDS + 1];
  list_parameters(kernel, dispatch, parameter);
  return tj_cuda_launch_kernel(queue->cuda, error, kernel->function, (unsigned)dispatch->workgroup_count, 1, 1,
                               dispatch->workgroup_size, 1, 1, kernel->dynamic_bytes, queue->stream, parameter, NULL);
}

tj_status tj_cuda_queue_launch(tj_cuda_queue *queue, const tj_cuda_kernel *kernel, const tj_rt_dispatch *dispatch,
                               tj_rt_error *error) {
  tj_cuda_slot *slot;
  tj_status status = check_size(dispatch, error);
  if (status == TJ_OK)
    status = begin(queue, &slot, error);
  if (status == TJ_OK)
    status = submit(queue, kernel, dispatch, error);
  if (status == TJ_OK)
    status = end(queue, slot, dispatch->completion, false, error);
  return status;
}

tj_status tj_cuda_queue_copy(tj_cuda_queue *queue, const tj_rt_copy *copy, tj_rt_error *error) {
  tj_cuda_slot *slot;
  tj_status status = begin(queue, &slot, error);
  if (status == TJ_OK)
    status = tj_cuda_copy_async(queue->cuda, error, (uint64_t)(uintptr_t)copy->to, (uint64_t)(uintptr_t)copy->from,
                                copy->size, queue->stream);
  if (status == TJ_OK)
    status = end(queue, slot, copy->completion, true, error);
  return status;
}
