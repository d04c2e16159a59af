/* SPDX-License-Identifier: MIT */
/* One stream of a CUDA device: launches in flight, their order, their failures.
 *
 * Launches and copies run one after another. Each takes a slot, which has an event behind it and, on a stream of the
 * queue's own, one before it: the two take its time, which costs the GPU some 2 microseconds a launch, and so is not
 * taken on streams of others. Where all slots are taken, a launch waits for the one that had its slot before. A kernel that fails takes the context
 * with it: the device is lost, the first launch that has not ended is the one that failed, and those behind it did
 * not run.
 *
 * The context is current for whoever calls. Thread safety: none but that of tj_cuda_queue_lose; the device serializes
 * calls. */
#ifndef TJ_RT_CUDA_QUEUE_H
#define TJ_RT_CUDA_QUEUE_H

#include "rt/cuda/cuda_library.h"

#include <pthread.h>

enum { TJ_CUDA_SLOTS = 64 };

typedef struct {
  tj_cuda_event begin, end; /* begin NULL: no time is taken */
  bool is_copy;
  tj_rt_completion *completion; /* borrowed: the caller's; NULL: none */
} tj_cuda_slot;

typedef struct {
  const tj_cuda *cuda;
  tj_cuda_stream stream;
  bool is_borrowed; /* the stream is somebody else's */
  tj_cuda_slot slot[TJ_CUDA_SLOTS];
  uint64_t launched, ended; /* how many: launches have numbers, and slots modulo TJ_CUDA_SLOTS */
  uint64_t given_up;        /* launches before that number that had not ended were given up */
  uint64_t nanoseconds;     /* of launches that ended since the last wait */
  pthread_mutex_t losing;   /* held by whoever finds the device lost: `loss` tells why */
  atomic_bool is_lost;
  tj_rt_error loss;
  bool is_described; /* the launch that failed has ended: those behind it are innocent */
  tj_rt_error error; /* what went wrong, to be told by the next wait or read; code 0: nothing */
} tj_cuda_queue;

/* A kernel as a launch needs it. */
typedef struct {
  tj_cuda_function function;
  uint32_t dynamic_bytes; /* of shared memory, besides what the code lays out itself */
  size_t argument_bytes;
} tj_cuda_kernel;

/* On a stream that is borrowed; NULL: on one that is made. On failure nothing is left to be closed. */
tj_status tj_cuda_queue_open(tj_cuda_queue *queue, const tj_cuda *cuda, const tj_cuda_stream *stream,
                             tj_rt_error *error);
void tj_cuda_queue_close(tj_cuda_queue *queue);

/* TJ6008 once the device is lost. */
tj_status tj_cuda_queue_check(tj_cuda_queue *queue, tj_rt_error *error);

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

/* Waits until nothing is in flight. The failure of a launch without completion is kept in queue->error. */
void tj_cuda_queue_drain(tj_cuda_queue *queue);

/* Tells, once, what went wrong since it was last asked; of a device that is lost, always. */
tj_status tj_cuda_queue_result(tj_cuda_queue *queue, tj_rt_error *error);

#endif
