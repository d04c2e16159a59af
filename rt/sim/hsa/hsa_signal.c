/* SPDX-License-Identifier: MIT */
/* The simulated HSA runtime: signals. */
#include "rt/sim/hsa/hsa_state.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

tj_sim_signal *tj_sim_signal_new(int64_t value) {
  tj_sim_signal *signal = calloc(1, sizeof *signal);
  if (signal == NULL)
    return NULL;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&signal->lock, NULL);
  pthread_cond_init(&signal->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  atomic_init(&signal->value, value);
  return signal;
}

void tj_sim_signal_delete(tj_sim_signal *signal) {
  if (signal == NULL)
    return;
  pthread_mutex_lock(&signal->lock);
  pthread_mutex_unlock(&signal->lock);
  pthread_cond_destroy(&signal->changed);
  pthread_mutex_destroy(&signal->lock);
  free(signal);
}

void tj_sim_signal_add(tj_sim_signal *signal, int64_t amount) {
  pthread_mutex_lock(&signal->lock);
  atomic_fetch_add(&signal->value, amount);
  pthread_cond_broadcast(&signal->changed);
  pthread_mutex_unlock(&signal->lock);
}

static void store(tj_sim_signal *signal, int64_t value) {
  pthread_mutex_lock(&signal->lock);
  atomic_store(&signal->value, value);
  pthread_cond_broadcast(&signal->changed);
  pthread_mutex_unlock(&signal->lock);
}

hsa_status_t hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers, const hsa_agent_t *consumers,
                               hsa_signal_t *signal) {
  (void)num_consumers;
  (void)consumers;
  tj_sim_signal *made = tj_sim_signal_new(initial_value);
  if (made == NULL)
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  signal->handle = (uint64_t)(uintptr_t)made;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  if (signal.handle == 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  tj_sim_signal_delete(tj_sim_signal_of(signal));
  return HSA_STATUS_SUCCESS;
}

hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal) {
  return atomic_load(&tj_sim_signal_of(signal)->value);
}

void hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  store(tj_sim_signal_of(signal), value);
}

void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  store(tj_sim_signal_of(signal), value);
}

static bool holds(int64_t value, hsa_signal_condition_t condition, int64_t compare) {
  switch (condition) {
  case HSA_SIGNAL_CONDITION_EQ:
    return value == compare;
  case HSA_SIGNAL_CONDITION_NE:
    return value != compare;
  case HSA_SIGNAL_CONDITION_LT:
    return value < compare;
  default:
    return value >= compare;
  }
}

/* The time `timeout` nanoseconds from now; for very long ones, a time that does not come. */
static struct timespec deadline(uint64_t timeout) {
  static const uint64_t longest = 1000000000u * UINT64_C(1000000000);
  uint64_t at = tj_sim_now() + (timeout > longest ? longest : timeout);
  return (struct timespec){(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
}

hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t handle, hsa_signal_condition_t condition,
                                             hsa_signal_value_t compare_value, uint64_t timeout_hint,
                                             hsa_wait_state_t wait_state_hint) {
  (void)wait_state_hint;
  tj_sim_signal *signal = tj_sim_signal_of(handle);
  struct timespec end = deadline(timeout_hint);
  pthread_mutex_lock(&signal->lock);
  while (!holds(atomic_load(&signal->value), condition, compare_value)) {
    if (pthread_cond_timedwait(&signal->changed, &signal->lock, &end) == ETIMEDOUT)
      break;
  }
  int64_t value = atomic_load(&signal->value);
  pthread_mutex_unlock(&signal->lock);
  return value;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time) {
  (void)agent;
  if (signal.handle == 0)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  time->start = tj_sim_signal_of(signal)->begin;
  time->end = tj_sim_signal_of(signal)->end;
  return HSA_STATUS_SUCCESS;
}
