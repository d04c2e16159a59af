/* SPDX-License-Identifier: MIT */
/* One user-mode queue of a device: what is in flight there (rt/flight.h), and the signals that tell how it ended.
 *
 * Launches are put into the queue as AQL packets, each with the barrier bit, so that they run one after another. A
 * slot has a completion signal and a copy of the argument block. There are no more packets of all slots than places
 * in the ring, so a launch waits only for the one that had its slot before. When the runtime reports that a kernel
 * failed, all signals of launches that have not ended are set to a value that ends every wait; the queue is then
 * replaced by a new one. Launches run in order, so the first that has not ended is the one that failed. After a fault
 * of memory no new queue helps: the device is lost, which every later call tells. So it is when a queue fails that
 * belongs to somebody else, who has to tell: the runtime reports to the owner alone.
 *
 * Copies in flight take slots like launches, and two packets, between which the copier makes them: a barrier that
 * completes `ready`, and one that waits for `made` and completes `signal`.
 *
 * Thread safety: none but that of the runtime's callback; the device serializes calls. */
#ifndef TJ_RT_HSA_QUEUE_H
#define TJ_RT_HSA_QUEUE_H

#include "rt/flight.h"
#include "rt/hsa/hsa_agent.h"
#include "rt/hsa/hsa_copier.h"
#include "rt/hsa/hsa_fault.h"

#include <stdatomic.h>

typedef struct {
  hsa_signal_t signal;          /* 1 in flight, 0 done, -1 lost */
  _Atomic uint64_t ready, made; /* handles of signals of a copy; 0: the slot has had none yet */
  uint64_t nanoseconds;         /* of the copy */
  void *arguments;              /* owned: kernarg memory */
  size_t capacity;
} tj_hsa_slot;

typedef struct {
  const tj_hsa *hsa;
  hsa_agent_t cpu, gpu;
  hsa_amd_memory_pool_t kernarg;
  hsa_queue_t *queue;
  bool is_borrowed; /* the queue is somebody else's */
  tj_hsa_copier copier;
  double ticks;        /* of the runtime's clock, a nanosecond */
  tj_rt_flight flight; /* lost by a fault of memory, which `watch` tells of, or as somebody else says */
  tj_hsa_slot slot[TJ_RT_SLOTS];
  atomic_int failure; /* an hsa_status_t; 0: none */
  tj_hsa_watch watch;
} tj_hsa_queue;

/* What a launch needs to know of a kernel. */
typedef struct {
  uint64_t object;
  uint32_t kernarg_bytes, group_bytes, private_bytes;
} tj_hsa_kernel;

/* Opens the queue: a new one, or where `given` is not NULL that one, which stays its owner's. On failure nothing is
 * left to be closed. */
tj_status tj_hsa_queue_open(tj_hsa_queue *queue, hsa_queue_t *given, tj_rt_error *error);
void tj_hsa_queue_close(tj_hsa_queue *queue);

/* Puts a launch into the queue. */
tj_status tj_hsa_queue_launch(tj_hsa_queue *queue, const tj_hsa_kernel *kernel, uint32_t argument_bytes,
                              const tj_rt_dispatch *dispatch, tj_rt_error *error);

/* Puts a copy into the queue, between addresses that the agent or the process reaches. */
tj_status tj_hsa_queue_copy(tj_hsa_queue *queue, const tj_rt_copy *copy, tj_rt_error *error);

/* Loses the device: nothing that is in flight ends any more. May be called from any thread. */
void tj_hsa_queue_lose(tj_hsa_queue *queue, const char *why);

/* Completes the launches that have ended, without waiting. */
void tj_hsa_queue_progress(tj_hsa_queue *queue);

/* The signal of a launch in flight, by its number; of one that has ended, some other launch's. */
hsa_signal_t tj_hsa_queue_signal(const tj_hsa_queue *queue, uint64_t number);

/* Waits until the launch of a signal has ended, or a short while. Needs no serialization. */
void tj_hsa_queue_await(const tj_hsa_queue *queue, hsa_signal_t signal);

/* How many workgroups of the launch that runs have begun, and of how many; 0 of 0 where the runtime does not tell. */
void tj_hsa_queue_measure(const tj_hsa_queue *queue, uint64_t *done, uint64_t *total);

/* Gives up everything in flight: as if the kernel that runs had failed. A queue that is somebody else's goes on. */
void tj_hsa_queue_cancel(tj_hsa_queue *queue);

/* Waits until nothing is in flight. The failure of a launch without completion is kept. */
void tj_hsa_queue_drain(tj_hsa_queue *queue);

#endif
