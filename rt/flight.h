/* SPDX-License-Identifier: MIT */
/* What a GPU's queue has in flight: launches and copies, which run one after another, and what is told of those that
 * end badly.
 *
 * Each has a number and, until it has ended, a slot, to which a queue adds what it needs itself. A queue that has no
 * free slot waits for its oldest launch. The launch that fails is told why, and those behind it that they did not
 * run; where a launch has no completion, whoever waits or reads next is told. A device that is lost tells so from
 * then on.
 *
 * Thread safety: none but that of losing and of asking whether a device is lost; the device serializes calls. */
#ifndef TJ_RT_FLIGHT_H
#define TJ_RT_FLIGHT_H

#include "rt/device.h"

#include <pthread.h>

enum { TJ_RT_SLOTS = 64 };

typedef struct {
  uint64_t launched, ended; /* how many: launches have numbers, and slots modulo TJ_RT_SLOTS */
  uint64_t nanoseconds;     /* of launches that ended since the last wait; copies are none */
  struct {
    bool is_copy;
    tj_rt_completion *completion; /* borrowed: the caller's; NULL: none */
  } slot[TJ_RT_SLOTS];
  pthread_mutex_t losing; /* held by whoever finds the device lost: `loss` tells why */
  atomic_bool is_lost;
  tj_rt_error loss;
  bool is_described; /* the launch that failed has ended: those behind it are innocent */
  tj_rt_error error; /* what went wrong, to be told by the next wait or read; code 0: nothing */
} tj_rt_flight;

void tj_rt_flight_open(tj_rt_flight *flight);
/* Waits for who is losing the device. */
void tj_rt_flight_close(tj_rt_flight *flight);

static inline uint32_t tj_rt_slot_of(uint64_t number) {
  return number % TJ_RT_SLOTS;
}

static inline bool tj_rt_flight_is_empty(const tj_rt_flight *flight) {
  return flight->ended == flight->launched;
}

static inline bool tj_rt_flight_is_full(const tj_rt_flight *flight) {
  return flight->launched - flight->ended == TJ_RT_SLOTS;
}

/* Gives the next slot to a launch, or to a copy. */
void tj_rt_flight_begin(tj_rt_flight *flight, tj_rt_completion *completion, bool is_copy);

/* Takes out the oldest launch, which has ended: well, or with an error. */
void tj_rt_flight_end(tj_rt_flight *flight, tj_status status, const tj_rt_error *error, uint64_t nanoseconds);

/* Whether a launch that ends badly does so because one before it has, and says so; from the first on, they do. */
bool tj_rt_flight_is_innocent(tj_rt_flight *flight, tj_rt_error *error);

/* Keeps an error for the next wait or read, where there is none yet. */
void tj_rt_flight_keep(tj_rt_flight *flight, const tj_rt_error *error);

/* Loses the device, where it is not lost yet, for which the first reason stays: returns whether this is the first,
 * with `losing` held until tj_rt_flight_lost. May be called from any thread. */
bool tj_rt_flight_lose(tj_rt_flight *flight, const tj_rt_error *why);
void tj_rt_flight_lost(tj_rt_flight *flight);

/* TJ6008 once the device is lost. */
tj_status tj_rt_flight_check(tj_rt_flight *flight, tj_rt_error *error);

/* Tells, once, what went wrong since it was last asked; of a device that is lost, always. */
tj_status tj_rt_flight_result(tj_rt_flight *flight, tj_rt_error *error);

/* How long launches took since it was last asked. */
uint64_t tj_rt_flight_take_time(tj_rt_flight *flight);

#endif
