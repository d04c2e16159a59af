/* SPDX-License-Identifier: MIT */
/* Copies in flight: a thread of a device that makes them one after another, each when what was asked before it has
 * ended.
 *
 * A copy has two signals. `ready` begins at 1: 0 has it made, a negative value has it given up. `made`, also 1,
 * becomes 0 in either case, and only then the copier has done with its memory. So a queue can wait for copies, and
 * copies for the queue, without either knowing more of the other.
 *
 * Thread safety: any thread, any function, but closing, which is the last. */
#ifndef TJ_RT_HSA_COPIER_H
#define TJ_RT_HSA_COPIER_H

#include "rt/hsa/hsa_library.h"

#include <pthread.h>

enum { TJ_HSA_MOST_COPIES = 64 };

typedef struct {
  void *to;
  const void *from;
  size_t size;
  hsa_signal_t ready, made;
  uint64_t *nanoseconds; /* how long the copy takes; written before `made` is 0 */
} tj_hsa_copy;

typedef struct {
  const tj_hsa *hsa;
  /* Called in the copier's thread with the status of a copy that failed, before `made` is 0. */
  void (*failed)(hsa_status_t status, void *data);
  void *data;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t changed;
  pthread_t thread;
  bool is_running, is_closing;
  tj_hsa_copy copy[TJ_HSA_MOST_COPIES]; /* a ring */
  uint64_t asked, taken;
} tj_hsa_copier;

void tj_hsa_copier_open(tj_hsa_copier *copier, const tj_hsa *hsa, void (*failed)(hsa_status_t status, void *data),
                        void *data);
/* All copies must have been made. */
void tj_hsa_copier_close(tj_hsa_copier *copier);

/* Begins a copy; at most TJ_HSA_MOST_COPIES may be in flight. The thread starts with the first. TJ7001 where it does
 * not. */
tj_status tj_hsa_copier_begin(tj_hsa_copier *copier, const tj_hsa_copy *copy, tj_rt_error *error);

#endif
