/* SPDX-License-Identifier: MIT */
/* Launches in flight: slots, ends and losses. */
#include "rt/flight.h"

void tj_rt_flight_open(tj_rt_flight *flight) {
  pthread_mutex_init(&flight->losing, NULL);
}

void tj_rt_flight_close(tj_rt_flight *flight) {
  pthread_mutex_lock(&flight->losing);
  pthread_mutex_unlock(&flight->losing);
  pthread_mutex_destroy(&flight->losing);
}

/* --- slots --- */

void tj_rt_flight_begin(tj_rt_flight *flight, tj_rt_completion *completion, bool is_copy) {
  uint32_t slot = tj_rt_slot_of(flight->launched);
  flight->slot[slot].is_copy = is_copy;
  flight->slot[slot].completion = completion;
  if (completion != NULL)
    completion->number = flight->launched;
  flight->launched++;
}

static void complete(tj_rt_completion *completion, tj_status status, const tj_rt_error *error, uint64_t nanoseconds) {
  completion->status = status;
  completion->nanoseconds = nanoseconds;
  if (status != TJ_OK)
    completion->error = *error;
  atomic_store(&completion->is_done, true);
}

void tj_rt_flight_end(tj_rt_flight *flight, tj_status status, const tj_rt_error *error, uint64_t nanoseconds) {
  uint32_t slot = tj_rt_slot_of(flight->ended);
  tj_rt_completion *completion = flight->slot[slot].completion;
  flight->nanoseconds += flight->slot[slot].is_copy ? 0 : nanoseconds;
  flight->slot[slot].completion = NULL;
  flight->ended++;
  if (completion != NULL)
    complete(completion, status, error, nanoseconds);
  else if (status != TJ_OK)
    tj_rt_flight_keep(flight, error);
}

uint64_t tj_rt_flight_take_time(tj_rt_flight *flight) {
  uint64_t nanoseconds = flight->nanoseconds;
  flight->nanoseconds = 0;
  return nanoseconds;
}

/* --- what goes wrong --- */

bool tj_rt_flight_is_innocent(tj_rt_flight *flight, tj_rt_error *error) {
  bool is_innocent = flight->is_described;
  flight->is_described = true;
  if (is_innocent)
    tj_rt_failed(error, TJ_ERROR_SYSTEM, TJ_LAUNCH, "the kernel did not run: a launch before it failed");
  return is_innocent;
}

void tj_rt_flight_keep(tj_rt_flight *flight, const tj_rt_error *error) {
  if (flight->error.code == 0)
    flight->error = *error;
}

bool tj_rt_flight_lose(tj_rt_flight *flight, const tj_rt_error *why) {
  pthread_mutex_lock(&flight->losing);
  if (atomic_load(&flight->is_lost)) {
    pthread_mutex_unlock(&flight->losing);
    return false;
  }
  flight->loss = *why;
  atomic_store(&flight->is_lost, true);
  return true;
}

void tj_rt_flight_lost(tj_rt_flight *flight) {
  pthread_mutex_unlock(&flight->losing);
}

tj_status tj_rt_flight_check(tj_rt_flight *flight, tj_rt_error *error) {
  if (!atomic_load(&flight->is_lost))
    return TJ_OK;
  *error = flight->loss;
  return TJ_ERROR_SYSTEM;
}

tj_status tj_rt_flight_result(tj_rt_flight *flight, tj_rt_error *error) {
  if (flight->error.code == 0)
    return tj_rt_flight_check(flight, error);
  *error = flight->error;
  flight->error = (tj_rt_error){0};
  return TJ_ERROR_SYSTEM;
}
