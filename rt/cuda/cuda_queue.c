/* SPDX-License-Identifier: MIT */
/* Launches in flight on a stream: put there, waited for, taken out, and what is told of those that fail. */
#include "rt/cuda/cuda_queue.h"

/* --- losing --- */

static void lose(tj_cuda_queue *queue, tj_status (*describe)(tj_cuda_queue *, const void *, tj_rt_error *),
                 const void *data) {
  pthread_mutex_lock(&queue->losing);
  if (!atomic_load(&queue->is_lost)) {
    describe(queue, data, &queue->loss);
    atomic_store(&queue->is_lost, true);
  }
  pthread_mutex_unlock(&queue->losing);
}

static tj_status describe_word(tj_cuda_queue *queue, const void *data, tj_rt_error *error) {
  (void)queue;
  return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the device is lost: %.400s", (const char *)data);
}

static tj_status describe_result(tj_cuda_queue *queue, const void *data, tj_rt_error *error) {
  tj_rt_error reason;
  tj_cuda_check(queue->cuda, *(const int *)data, "the kernel failed", &reason);
  return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "%.400s", reason.text);
}

void tj_cuda_queue_lose(tj_cuda_queue *queue, const char *why) {
  lose(queue, describe_word, why);
}

tj_status tj_cuda_queue_check(tj_cuda_queue *queue, tj_rt_error *error) {
  if (!atomic_load(&queue->is_lost))
    return TJ_OK;
  *error = queue->loss;
  return TJ_ERROR_SYSTEM;
}

/* --- opening and closing --- */

static void destroy_event(const tj_cuda_queue *queue, tj_cuda_event event) {
  if (event != NULL)
    queue->cuda->event_destroy(event);
}

static void destroy(tj_cuda_queue *queue) {
  for (uint32_t i = 0; i < TJ_CUDA_SLOTS; i++) {
    destroy_event(queue, queue->slot[i].begin);
    destroy_event(queue, queue->slot[i].end);
  }
  if (queue->stream != NULL && !queue->is_borrowed)
    queue->cuda->stream_destroy(queue->stream);
  pthread_mutex_destroy(&queue->losing);
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
  pthread_mutex_init(&queue->losing, NULL);
  tj_status status = TJ_OK;
  if (stream == NULL)
    status = tj_cuda_stream_create(cuda, error, &queue->stream, TJ_CUDA_STREAM_NON_BLOCKING);
  for (uint32_t i = 0; i < TJ_CUDA_SLOTS && status == TJ_OK; i++)
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
  return &queue->slot[number % TJ_CUDA_SLOTS];
}

tj_cuda_event tj_cuda_queue_event(const tj_cuda_queue *queue, uint64_t number) {
  return queue->slot[number % TJ_CUDA_SLOTS].end;
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
  if (!atomic_load(&queue->is_lost)) {
    if (queue->ended >= queue->given_up)
      return TJ_OK;
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the launch was given up");
  }
  if (queue->is_described)
    return tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the kernel did not run: a launch before it failed");
  queue->is_described = true;
  *error = queue->loss;
  return TJ_ERROR_SYSTEM;
}

/* Takes the oldest launch, which has ended with this result, out of the queue. */
static void retire(tj_cuda_queue *queue, int result) {
  if (result != TJ_CUDA_SUCCESS)
    lose(queue, describe_result, &result);
  tj_rt_error error;
  tj_cuda_slot *slot = slot_of(queue, queue->ended);
  tj_rt_completion *completion = slot->completion;
  tj_status status = describe_end(queue, &error);
  uint64_t nanoseconds = status == TJ_OK ? time_of(queue, slot) : 0;
  queue->nanoseconds += slot->is_copy ? 0 : nanoseconds;
  queue->ended++;
  slot->completion = NULL;
  if (status != TJ_OK && completion == NULL && queue->error.code == 0)
    queue->error = error;
  if (completion == NULL)
    return;
  completion->status = status;
  completion->nanoseconds = nanoseconds;
  if (status != TJ_OK)
    completion->error = error;
  atomic_store(&completion->is_done, true);
}

void tj_cuda_queue_progress(tj_cuda_queue *queue) {
  while (queue->ended < queue->launched) {
    int result = queue->cuda->event_query(slot_of(queue, queue->ended)->end);
    if (result == TJ_CUDA_NOT_READY)
      return;
    retire(queue, result);
  }
}

static void retire_oldest(tj_cuda_queue *queue) {
  retire(queue, queue->cuda->event_synchronize(slot_of(queue, queue->ended)->end));
}

void tj_cuda_queue_drain(tj_cuda_queue *queue) {
  while (queue->ended < queue->launched)
    retire_oldest(queue);
}

void tj_cuda_queue_give_up(tj_cuda_queue *queue) {
  queue->given_up = queue->launched;
}

tj_status tj_cuda_queue_result(tj_cuda_queue *queue, tj_rt_error *error) {
  if (queue->error.code == 0)
    return tj_cuda_queue_check(queue, error);
  *error = queue->error;
  queue->error = (tj_rt_error){0};
  return TJ_ERROR_SYSTEM;
}

/* --- launching --- */

/* The slot of the next launch, its first event recorded, if it has one. */
static tj_status begin(tj_cuda_queue *queue, tj_cuda_slot **slot, tj_rt_error *error) {
  tj_status status = tj_cuda_queue_check(queue, error);
  if (status != TJ_OK)
    return status;
  if (queue->launched - queue->ended == TJ_CUDA_SLOTS)
    retire_oldest(queue);
  *slot = slot_of(queue, queue->launched);
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
  slot->is_copy = is_copy;
  slot->completion = completion;
  if (completion != NULL)
    completion->number = queue->launched;
  queue->launched++;
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

static tj_status submit(tj_cuda_queue *queue, const tj_cuda_kernel *kernel, const tj_rt_dispatch *dispatch,
                        tj_rt_error *error) {
  size_t size = kernel->argument_bytes;
  void *arguments = (void *)(uintptr_t)dispatch->arguments;
  void *extra[] = {(void *)TJ_CUDA_PARAMETERS_POINTER, arguments, (void *)TJ_CUDA_PARAMETERS_SIZE, &size,
                   (void *)TJ_CUDA_PARAMETERS_END};
  return tj_cuda_launch_kernel(queue->cuda, error, kernel->function, (unsigned)dispatch->workgroup_count, 1, 1,
                               dispatch->workgroup_size, 1, 1, kernel->dynamic_bytes, queue->stream, NULL, extra);
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
