/* SPDX-License-Identifier: MIT */
/* One stream of a CUDA device: what is in flight there (rt/flight.h), and the events that tell how it ended.
 *
 * A slot has an event behind it and, on a stream of the queue's own, one before it: the two take its time, which
 * costs the GPU some 2 microseconds a launch, and so is not taken on streams of others. A kernel that fails takes the
 * context with it: the device is lost, and the first launch that has not ended is the one that failed.
 *
 * The context is current for whoever calls. Thread safety: none but that of tj_cuda_queue_lose; the device serializes
 * calls. */
#ifndef TJ_RT_CUDA_QUEUE_H
#define TJ_RT_CUDA_QUEUE_H

#include "rt/cuda/cuda_library.h"
#include "rt/flight.h"

enum { TJ_CUDA_MOST_WORDS = 4096 }; /* more than the 32764 bytes that a kernel's parameters may have */

typedef struct {
  tj_cuda_event begin, end; /* begin NULL: no time is taken */
} tj_cuda_slot;

typedef struct {
  const tj_cuda *cuda;
  tj_cuda_stream stream;
  bool is_borrowed; /* the stream is somebody else's */
  tj_rt_flight flight;
  tj_cuda_slot slot[TJ_RT_SLOTS];
  uint64_t given_up; /* launches before that number that had not ended were given up */
} tj_cuda_queue;

/* A kernel as a launch needs it. */
typedef struct {
  tj_cuda_function function;
  uint32_t dynamic_bytes; /* of shared memory, besides what the code lays out itself */
  uint32_t argument_words;
  bool has_map;
} tj_cuda_kernel;

/* On a stream that is borrowed; NULL: on one that is made. On failure nothing is left to be closed. */
tj_status tj_cuda_queue_open(tj_cuda_queue *queue, const tj_cuda *cuda, const tj_cuda_stream *stream,
                             tj_rt_error *error);
void tj_cuda_queue_close(tj_cuda_queue *queue);

tj_status tj_cuda_queue_launch(tj_cuda_queue *queue, const tj_cuda_kernel *kernel, const tj_rt_dispatch *dispatch,
                               tj_rt_error *error);
tj_status tj_cuda_queue_copy(tj_cuda_queue *queue, const tj_rt_copy *copy, tj_rt_error *error);

/* Loses the device: nothing more is launched, and what is in flight ends as lost. May be called from any thread. */
void tj_cuda_queue_lose(tj_cuda_queue *queue, const char *why);

/* Completes the launches that have ended, without waiting. */
void tj_cuda_queue_progress(tj_cuda_queue *queue);

/* The event behind a launch in flight, by its number; of one that has ended, some other launch's. */
tj_cuda_event tj_cuda_queue_event(const tj_cuda_queue *queue, uint64_t number);

/* Gives up what is in flight: it runs to its end, and then has failed. */
void tj_cuda_queue_give_up(tj_cuda_queue *queue);

/* Waits until nothing is in flight. The failure of a launch without completion is kept. */
void tj_cuda_queue_drain(tj_cuda_queue *queue);

#endif
